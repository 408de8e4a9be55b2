//! Decisions of the published agents of liar's dice.
use adept_builtin::liars_dice::LiarsDice;
use adept_game::Kit;
use std::path::Path;

#[test]
fn agreement() {
    let game = LiarsDice::named("liars-dice:soar:2x5").unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/soar-dice-decisions.csv");
    for agent in ["P","PM","PH","PMH","E","EM","EH","EMH","soar-old:P","soar-old:PH","soar-old:PM","soar-old:PMH"] {
        let found = Kit::recorded(&game, agent, &file).unwrap().unwrap();
        println!("{agent}: {} of {} {:.4}", found.agree, found.rows, found.share);
        for d in found.differences.iter().take(16) { println!("   {} {}\n      {}\n      {}", d.line, d.position, d.recorded, d.chosen); }
    }
}
