//! Rollouts against exact values: of perfect play, and of a network's own play.

use adept_arena::Luck;
use adept_arena::matches::Net;
use adept_arena::rollout::{Options, Sums, roll_out, roll_out_all};
use adept_arena::{Agent, GameModel, Greedy, OpenError, expected_utilities, naming, open};
use adept_builtin::backgammon::Backgammon;
use adept_builtin::bearoff::Bearoff;
use adept_game::{Afterstate, Game, Kit, outcome_classes, stream};
use adept_model::{Architecture, Head, Optimiser, build};

/// An untrained network on the game's first encoder.
fn network<G: Kit>(game: &G, head: &Head) -> GameModel<G> {
    let encoder = open::encoder(game, None).unwrap();
    let mlp: Architecture = serde_json::from_str(r#"{"mlp": {"hidden": [6]}}"#).unwrap();
    let learner =
        build(&mlp, encoder.channels(), head, Optimiser::default(), &mut stream(3, "test", 0)).unwrap();
    GameModel::new(game, encoder, learner)
}

/// Rolls out a position with player 1 to roll or to move on this many threads, stopped after each report and continued.
fn rolled<G: Kit>(
    game: &G,
    make: impl Fn() -> Luck<G> + Sync,
    text: &str,
    options: Options,
    threads: usize,
) -> Sums {
    let state = game.parse_position(text).unwrap().0;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut sums = Sums::default();
    while sums.equity.deals < options.trials {
        let stopped = std::sync::atomic::AtomicBool::new(false);
        let stop = || stopped.load(std::sync::atomic::Ordering::Relaxed);
        let mut report = |_: &Sums| {
            stopped.store(true, std::sync::atomic::Ordering::Relaxed);
            Ok(())
        };
        let make = || Ok::<_, OpenError>(make());
        sums =
            pool.install(|| roll_out(game, &make, (&state, 0), &options, sums, &stop, &mut report)).unwrap();
    }
    sums
}

fn oracle<G: Kit>(game: &G) -> Luck<G> {
    Luck::open(game, &naming::resolve(game, "oracle", &[]).unwrap(), false).unwrap()
}

/// The exact value of a position for the side to roll.
fn exact<G: Kit>(game: &G, text: &str) -> f64 {
    let state = game.parse_position(text).unwrap().0;
    game.values()
        .valuations
        .open("oracle")
        .unwrap()
        .unwrap()
        .value(game, Afterstate { state: &state, action: None, player: 0 })
}

fn near(net: &Net, value: f64) -> bool {
    (net.mean() - value).abs() < 4.0 * net.error()
}

const PLAIN: Options = Options { trials: 144, truncate: None, seed: 2 };

/// Without luck, each game between perfect players has the exact value of its start.
#[test]
fn perfect_rollouts_have_the_exact_value() {
    let (bearoff, backgammon) = (Bearoff::new(6).unwrap(), Backgammon::new(2).unwrap());
    let check = |sums: Sums, value: f64| {
        assert!((sums.equity.mean() - value).abs() < 1e-5, "{sums:?} instead of {value}");
        assert!(sums.equity.error() < 1e-5 && sums.raw.error() > 0.02 && near(&sums.raw, value), "{sums:?}");
    };
    for text in ["1,1,0,2,0,1/0,2,0,1,1,2", "0,0,1,0,2,1/2,0,0,1,0,1"] {
        check(rolled(&bearoff, || oracle(&bearoff), text, PLAIN, 2), exact(&bearoff, text));
    }
    for text in ["24:1 23:1/24:1 23:1", "bar:1 6:1/bar:1 5:1"] {
        check(rolled(&backgammon, || oracle(&backgammon), text, PLAIN, 2), exact(&backgammon, text));
        let cut = Options { truncate: Some(3), ..PLAIN };
        let sums = rolled(&backgammon, || oracle(&backgammon), text, cut, 2);
        assert!((sums.equity.mean() - exact(&backgammon, text)).abs() < 1e-5, "{sums:?}");
    }
}

/// The equity of a network that plays both sides, which can be had exactly in small bear-offs, and its classes.
#[test]
fn rollouts_find_the_equity_of_an_agents_own_play() {
    let game = Bearoff::new(4).unwrap();
    for head in [Head::Value, Head::Outcomes(outcome_classes(&game).unwrap())] {
        for text in ["0,1,0,1,0,1/1,0,1,0,1,0", "0,1,0,1,0,1/1,0,1,0,1,0 61"] {
            let state = game.parse_position(text).unwrap().0;
            let greedy = || Box::new(Greedy::new(network(&game, &head))) as Box<dyn Agent<Bearoff>>;
            let value = expected_utilities(&game, &state, &mut [greedy(), greedy()]).unwrap()[0];
            let make = || Luck::of_model(&game, network(&game, &head));
            let sums = rolled(&game, make, text, Options { trials: 1296, ..PLAIN }, 2);
            assert!(near(&sums.equity, value) && near(&sums.raw, value), "{value}: {sums:?}");
            assert!(sums.equity.error() < 0.03, "{sums:?}");
            if let [loss, win] = sums.classes[..] {
                assert!((loss.mean() + win.mean() - 1.0).abs() < 1e-5 && near(&win, (1.0 + value) / 2.0));
            }
        }
    }
}

/// Positions that are rolled out together have the sums that each has alone, and their differences are those of the same dice.
#[test]
fn positions_are_compared_with_the_same_dice() {
    let game = Backgammon::new(2).unwrap();
    let head = Head::Outcomes(outcome_classes(&game).unwrap());
    let make = || Luck::of_model(&game, network(&game, &head));
    let texts = ["24:1 23:1/24:1 23:1", "24:1 22:1/24:1 23:1", "24:1 23:1/24:1 23:1"];
    let starts = texts.map(|text| (game.parse_position(text).unwrap().0, 0));
    let options = Options { trials: 144, truncate: None, seed: 4 };
    let done = vec![Sums::default(); starts.len()];
    let opened = || Ok::<_, OpenError>(make());
    let all = roll_out_all(&game, &opened, &starts, &options, done, &|| false, &mut |_| Ok(())).unwrap();
    for (text, sums) in texts.iter().zip(&all) {
        let alone = rolled(&game, make, text, options, 1);
        assert_eq!((alone.beyond_first.deals, sums.beyond_first.deals), (0, 144));
        assert!((sums.equity.mean() - alone.equity.mean()).abs() < 1e-9, "{text}");
        let beyond = sums.equity.mean() - all[0].equity.mean();
        assert!((sums.beyond_first.mean() - beyond).abs() < 1e-9, "{text}: {beyond}");
    }
    // Equal positions have equal games.
    assert_eq!((all[2].beyond_first.sum, all[2].beyond_first.squares), (0.0, 0.0));
    assert!(all[1].beyond_first.error() < all[1].equity.error() * 1.5);
}

/// Neither threads nor stops change a bit, in games with hits and six classes too.
#[test]
fn threads_and_stops_do_not_matter() {
    let game = Backgammon::new(3).unwrap();
    let head = Head::Outcomes(outcome_classes(&game).unwrap());
    let of = |threads, trials, truncate| {
        let options = Options { trials, truncate, seed: 9 };
        let text = "24:1 23:1 22:1/24:1 23:1 22:1";
        rolled(&game, || Luck::of_model(&game, network(&game, &head)), text, options, threads)
    };
    let one = of(1, 100, None);
    assert_eq!((one.equity.deals, one.classes.len()), (100, 6));
    assert_eq!([of(2, 100, None), of(3, 100, None)], [one.clone(), one.clone()]);
    let total: f64 = one.classes.iter().map(Net::mean).sum();
    assert!((total - 1.0).abs() < 1e-5, "{total}");
    let points = [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0];
    let equity: f64 = one.classes.iter().zip(points).map(|(class, points)| class.mean() * points / 3.0).sum();
    assert!((equity - one.equity.mean()).abs() < 1e-5, "{equity} {one:?}");
    // After one move there is nothing left but the network's own expectation.
    assert!(of(2, 24, Some(1)).equity.error() < 1e-6);
}
