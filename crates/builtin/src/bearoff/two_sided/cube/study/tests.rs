use super::*;
use crate::backgammon::cube::study::{Figures, StudyModel, game};
use crate::doubling::CubeAction;
use std::time::Instant;

fn settings(checkers: u8, threads: usize) -> StudySettings {
    StudySettings { checkers, games: 300, seed: 1, threads }
}

/// Pairs of nonempty sides with at most this many checkers.
fn pairs(checkers: u8) -> u64 {
    (rank::sides(checkers) as u64 - 1).pow(2)
}

#[test]
fn each_pair_is_fitted_or_measured() {
    let study = settings(3, 0).run().unwrap();
    assert_eq!(study.models.len(), 9);
    for model in &study.models {
        for figures in model.positions {
            assert_eq!(figures.positions + study.fitted, pairs(3));
        }
        let [centred, own, theirs] = model.games;
        assert!(centred.doubles.all == centred.positions && own.doubles.all == own.positions);
        assert!(theirs.doubles.all == 0 && theirs.moves.all > 0, "{theirs:?}");
        assert!(centred.positions >= 300, "each game begins with the cube in the middle");
    }
    // A third of all pairs is far from a half.
    assert!(study.fitted > pairs(3) / 3 && study.fitted < 2 * pairs(3) / 3);
}

#[test]
fn threads_give_the_same_figures() {
    let [one, three] = [1, 3].map(|threads| settings(3, threads).run().unwrap());
    for (one, three) in one.models.iter().zip(three.models) {
        assert_eq!(
            (&one.efficiencies, one.positions, one.games),
            (&three.efficiencies, three.positions, three.games)
        );
    }
}

fn case(exact: &Exact, position: Position) -> Case {
    let equities = exact.cube.equities(position).unwrap();
    Case::new(&equities, exact.chances(position).unwrap(), false, exact.kind(position))
}

/// The same efficiency for all classes and owners.
fn constant(x: f64) -> Vec<[f64; 3]> {
    vec![[x; 3]; CLASSES.len()]
}

/// The dead cube is the game without a cube.
#[test]
fn an_efficiency_of_0_is_cubeless() {
    let exact = Exact::solve(settings(3, 1)).unwrap();
    let sides = || (1..rank::sides(3)).map(Side::of_rank);
    let mut squares = 0.0;
    let mut figures = Figures::default();
    for position in sides().flat_map(|own| sides().map(move |opponent| Position { own, opponent })) {
        let equities = exact.cube.equities(position).unwrap();
        let cubeless = exact.cubeless.value(position).unwrap();
        squares += (cubeless - equities.no_double(CubeOwner::Centred)).powi(2);
        figures.add(&case(&exact, position), Some(&constant(0.0)), CubeOwner::Centred);
    }
    assert!((figures.rms() - (squares / pairs(3) as f64).sqrt()).abs() < 1e-6);
    assert!(figures.rms() > 0.01);
}

/// The last roll of 4 and 2 against 1 is a double: ND = 10/36, DT = 20/36. With x = .6 it seems to be none.
#[test]
fn the_usual_model_misses_a_double_at_the_last_roll() {
    let exact = Exact::solve(settings(2, 1)).unwrap();
    let position: Position = "0,1,0,1,0,0/1,0,0,0,0,0".parse().unwrap();
    let case = case(&exact, position);
    for (x, missed) in [(0.0, 0), (0.6, 1)] {
        let mut figures = Figures::default();
        figures.add(&case, Some(&constant(x)), CubeOwner::Centred);
        assert_eq!((figures.doubles.wrong, figures.doubles.missed), (0, missed));
        assert!((figures.doubles.lost - f64::from(missed as u32) * 10.0 / 36.0).abs() < 1e-6);
        assert_eq!((figures.takes.all, figures.takes.wrong, figures.takes.missed), (1, 0, 0));
    }
}

#[test]
fn games_end_after_a_pass_or_the_last_checker() {
    let exact = Exact::solve(settings(4, 1)).unwrap();
    for index in 0..100 {
        let visits = game(&exact, 1, index).unwrap();
        assert_eq!(visits[0].owner, CubeOwner::Centred);
        for visit in &visits {
            assert!(!visit.position.is_over());
        }
        let last = visits.last().unwrap();
        let action = exact.cube.equities(last.position).unwrap().action(last.owner);
        assert!(last.roll.is_some() || action == Some(CubeAction::DoublePass));
    }
}

/// Prints the positions of at most 4 checkers a side at which x = .6 loses most.
#[test]
fn largest_losses_are_missed_doubles() {
    let exact = Exact::solve(settings(4, 1)).unwrap();
    let usual = constant(Efficiency::default().bearoff);
    let sides = || (1..rank::sides(4)).map(Side::of_rank);
    let mut losses = Vec::new();
    for position in sides().flat_map(|own| sides().map(move |opponent| Position { own, opponent })) {
        let equities = exact.cube.equities(position).unwrap();
        let mut figures = Figures::default();
        figures.add(&case(&exact, position), Some(&usual), CubeOwner::Centred);
        if figures.doubles.wrong + figures.doubles.missed > 0 {
            losses.push((figures.doubles.lost, position, equities, figures.doubles.missed));
        }
    }
    losses.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (lost, position, equities, missed) in &losses[..30] {
        println!("{position} loses {lost:.4}, missed {missed}: {equities:.4?}");
    }
    assert!(losses[..30].iter().all(|&(lost, _, _, missed)| lost > 0.25 && missed == 1));
}

/// The figures of the page `docs/results/cube.md`, which the command `oracle cube` prints too.
#[test]
#[ignore = "takes half a minute to minutes: ADEPT_CHECKERS=8"]
fn figures_of_all_pairs() {
    let checkers = std::env::var("ADEPT_CHECKERS").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    let clock = Instant::now();
    let study = StudySettings { games: 20_000, ..settings(checkers, 1) }.run().unwrap();
    println!("{checkers} checkers, {} fitted, {:.1} s", study.fitted, clock.elapsed().as_secs_f64());
    for model in &study.models {
        println!("{}: {:.3?}", model.name, model.efficiencies);
    }
    for (name, of) in
        [("pairs", (|m| m.positions) as fn(&StudyModel) -> [Figures; 3]), ("games", |m| m.games)]
    {
        for owner in CubeOwner::ALL {
            for model in &study.models {
                let f = of(model)[owner as usize];
                println!(
                    "{name} {owner} {}: rms {:.6}\n  {:?}\n  {:?}\n  {:?}",
                    model.name,
                    f.rms(),
                    f.doubles,
                    f.takes,
                    f.moves
                );
            }
        }
    }
}
