use super::*;
use crate::backgammon::cube::study::{Figures, StudyModel, game};
use crate::backgammon::exact::chances::ChancesTable;

fn settings(threads: usize) -> StudySettings {
    StudySettings { jacoby: false, positions: 600, games: 200, seed: 1, threads }
}

fn table() -> CubefulTable {
    CubefulTable::solve(1, CubefulTable::WIDTH, 1).unwrap()
}

/// Estimators that know the truth: the chances, and the equities.
fn truths<'a>(chances: &'a ChancesTable, table: &'a CubefulTable) -> Vec<Estimator<'a, Position, GameError>> {
    let known_chances = |positions: &[Position]| -> Result<Vec<Chances>, GameError> {
        positions.iter().map(|&position| known(chances.chances(position), position)).collect()
    };
    let equities = |positions: &[Position]| -> Result<Vec<CubeEquities>, GameError> {
        positions.iter().map(|&position| known(table.equities(position, false), position)).collect()
    };
    vec![
        Estimator { name: "chances".into(), estimate: Estimate::Chances(Box::new(known_chances)) },
        Estimator { name: "equities".into(), estimate: Estimate::Equities(Box::new(equities)) },
    ]
}

#[test]
fn models_are_measured_in_small_games() {
    let table = table();
    let chances = table.chances(1).unwrap();
    let study = settings(0).run(&table, truths(&chances, &table)).unwrap();
    let names: Vec<&str> = study.models.iter().map(|model| &*model.name).collect();
    assert_eq!(names.len(), 13, "{names:?}");
    assert_eq!(names[9..], ["gnubg's x, chances", "class, RMS, chances", "class, loss, chances", "equities"]);
    assert_eq!(study.fitted, 600);
    let model = |name: &str| study.models.iter().find(|model| model.name == name).unwrap();
    for model in &study.models {
        for figures in model.positions {
            assert_eq!(figures.positions, 600);
        }
        let [centred, own, theirs] = model.games;
        // The opening roll is made before anybody may double.
        assert!(centred.doubles.all == centred.positions && own.doubles.all == own.positions);
        assert!(theirs.doubles.all == 0 && centred.moves.all > 0, "{centred:?}");
        assert!(
            centred.doubles.sampled_loss().is_some() && model.positions[0].moves.sampled_excess().is_some()
        );
    }
    // A network that knows the chances is the model of the exact chances.
    for (own, exact) in [
        ("gnubg's x, chances", "gnubg's x"),
        ("class, RMS, chances", "class, RMS"),
        ("class, loss, chances", "class, loss"),
    ] {
        let [own, exact] = [own, exact].map(model);
        assert_eq!((own.positions, own.games), (exact.positions, exact.games));
        assert_eq!(own.efficiencies, exact.efficiencies);
    }
    // One that knows the equities loses nothing.
    for figures in [model("equities").positions, model("equities").games].as_flattened() {
        let Figures { doubles, takes, moves, .. } = figures;
        assert_eq!([doubles.lost, takes.lost, moves.lost], [0.0; 3], "{figures:?}");
        assert_eq!(figures.rms(), 0.0);
    }
    let excess = model("equities").positions[0].doubles.sampled_excess().unwrap();
    assert!(excess.mean < 0.0 && model("gnubg's x").positions[0].doubles.lost > 0.0, "{excess:?}");
    let of_usual = model("gnubg's x").games[0].doubles.sampled_excess().unwrap();
    assert_eq!((of_usual.mean, of_usual.half), (0.0, 0.0));
}

#[test]
fn threads_give_the_same_figures() {
    let table = table();
    let [one, three] = [1, 3].map(|threads| settings(threads).run(&table, Vec::new()).unwrap());
    for (one, three) in one.models.iter().zip(three.models) {
        assert_eq!(
            (&one.efficiencies, one.positions, one.games),
            (&three.efficiencies, three.positions, three.games)
        );
    }
}

#[test]
fn games_begin_with_the_opening_roll() {
    let table = table();
    for jacoby in [false, true] {
        let solved = Exact { table: &table, jacoby };
        let mut doubles = 0;
        for index in 0..100 {
            let visits = game(&solved, 1, index).unwrap();
            let first = &visits[0];
            assert!(first.roll.is_some_and(|roll| !roll.is_double()) && first.owner == CubeOwner::Centred);
            assert_eq!(first.position, Position::start(1));
            assert!(visits.iter().all(|visit| !visit.position.is_over()));
            // Only the first position has no decision about the cube.
            assert!(visits[1..].chunks(2).all(|two| two[0].roll.is_none()));
            doubles += usize::from(visits.iter().any(|visit| visit.owner != CubeOwner::Centred));
        }
        assert!(doubles > 0);
    }
}

/// By the Jacoby rule, a finished game with a centred cube counts one point.
#[test]
fn gammons_count_by_the_owner_of_the_cube() {
    let table = table();
    let over = Position { own: Position::start(1).own, opponent: Side::all_off(1) };
    for (jacoby, centred) in [(false, -3.0), (true, -1.0)] {
        let equities = Exact { table: &table, jacoby }.equities(over).unwrap();
        assert_eq!(CubeOwner::ALL.map(|owner| equities.no_double(owner)), [centred, -3.0, -3.0]);
    }
}

#[test]
fn classes_divide_contact_and_races() {
    let table = table();
    let solved = Exact { table: &table, jacoby: false };
    let side = |places: &[u8]| {
        let mut counts = [0; 26];
        places.iter().for_each(|&place| counts[usize::from(place)] += 1);
        Side::new(counts)
    };
    for (own, opponent, class, usual) in [
        (&[24, 23, 22][..], &[24, 23, 22][..], 0, 0.68),
        (&[24, 5, 4], &[18, 3, 2], 1, 0.68),
        (&[20, 5, 0], &[24, 3, 2], 2, 0.68),
        (&[15, 15, 15], &[9, 9, 9], 3, 0.60625),
        (&[8, 8, 5], &[7, 7, 6], 4, 0.6),
        (&[1, 1, 0], &[7, 7, 6], 5, 0.6),
    ] {
        let position = Position { own: side(own), opponent: side(opponent) };
        let kind = solved.kind(position);
        assert_eq!(kind.class, class, "{position}");
        assert!((f64::from(kind.usual) - usual).abs() < 1e-6, "{position}: {}", kind.usual);
    }
}

/// Figures of the command `oracle cube --game hypergammon`, from the file of a table with the cube.
#[test]
#[ignore = "takes minutes: ADEPT_TABLE=FILE"]
fn figures_of_a_table() {
    let Ok(path) = std::env::var("ADEPT_TABLE") else { return };
    let table = CubefulTable::open(std::path::Path::new(&path)).unwrap();
    let settings = StudySettings { positions: 50_000, games: 2_000, ..settings(0) };
    let study = settings.run(&table, Vec::new()).unwrap();
    for model in &study.models {
        println!("{}: {:.3?}", model.name, model.efficiencies);
    }
    for (name, of) in
        [("positions", (|m| m.positions) as fn(&StudyModel) -> [Figures; 3]), ("games", |m| m.games)]
    {
        for owner in CubeOwner::ALL {
            for model in &study.models {
                let f = of(model)[owner as usize];
                println!("{name} {owner} {}: {} positions, rms {:.5}", model.name, f.positions, f.rms());
                for decisions in [f.doubles, f.takes, f.moves] {
                    let [loss, excess] = [decisions.sampled_loss(), decisions.sampled_excess()];
                    println!(
                        "  {} wrong, {} missed of {}: {loss:.6?} {excess:.6?}",
                        decisions.wrong, decisions.missed, decisions.all
                    );
                }
            }
        }
    }
}
