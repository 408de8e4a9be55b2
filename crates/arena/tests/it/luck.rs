//! The luck of games: it has mean 0 whatever values it, and by exact values it is all that is random in perfect play.

use adept_arena::matches::{self, Table, Tally, orders};
use adept_arena::{Agent, Decision, Evaluator, Fortune, GameModel, Luck, OpenError, naming, open};
use adept_builtin::backgammon::{self, Backgammon};
use adept_builtin::bearoff::Bearoff;
use adept_game::{Afterstate, Game, Kit, Stream, Turn, Valuation, outcome_classes, stream};
use adept_model::{Architecture, Head, Optimiser, build};
use rand::RngExt;
use rand::seq::IndexedRandom;

fn luck<G: Kit>(game: &G, agent: &str) -> Result<Luck<G>, OpenError> {
    Luck::open(game, &naming::resolve(game, agent, &[])?, false)
}

/// A match of two agents in these seat orders, with the luck of each game by `teller`.
fn played<G: Kit, F: Fortune<G> + 'static>(
    game: &G,
    agents: [&str; 2],
    orders: &[Vec<usize>],
    games: u64,
    teller: impl Fn() -> F + Sync,
) -> Tally {
    let make = || {
        let agents: Vec<Box<dyn Agent<G>>> = agents.map(|name| open::agent(game, name).unwrap()).into();
        Ok::<_, OpenError>(Table { agents, luck: Some(Box::new(teller())) })
    };
    matches::compete(game, make, orders, games, 7, || false).unwrap()
}

/// Every game between perfect players ends with the value of its start, less the luck: 0 in backgammon, where the opening roll
/// decides who begins.
#[test]
fn perfect_play_less_exact_luck_is_the_value_of_the_start() {
    let game = Backgammon::new(2).unwrap();
    let tally = played(&game, ["oracle", "oracle"], &[vec![0, 1]], 400, || luck(&game, "oracle").unwrap());
    assert!(tally.net.error() > 0.04, "{:?}", tally.net);
    assert!(tally.adjusted.mean().abs() < 1e-5 && tally.adjusted.error() < 1e-5, "{:?}", tally.adjusted);
}

/// Positions of the bear-off are drawn by chance that is not listed. Played from both sides, their values cancel.
#[test]
fn chance_that_is_not_listed_is_left_in_the_result() {
    let game = Bearoff::new(4).unwrap();
    let tally =
        played(&game, ["oracle", "normal"], &orders(&[1, 1]), 2000, || luck(&game, "oracle").unwrap());
    let (raw, adjusted) = (tally.net, tally.adjusted);
    assert_eq!((raw.deals, adjusted.deals), (1000, 1000));
    // What remains is what `normal` loses by its errors.
    assert!(adjusted.mean() > -1e-6 && adjusted.mean() < 0.02, "{adjusted:?}");
    assert!((raw.mean() - adjusted.mean()).abs() < 4.0 * raw.error().max(1e-3), "{raw:?} {adjusted:?}");
}

/// Values that have nothing to do with the game.
#[derive(Clone, Copy)]
struct Nonsense;

impl Valuation<Backgammon> for Nonsense {
    fn value(&self, _: &Backgammon, after: Afterstate<'_, Backgammon>) -> f64 {
        f64::from(after.state.sides[after.player].pips() * 37 % 20) / 10.0 - 0.95
    }
}

/// An untrained network of a head on the game's first encoder.
fn network(game: &Backgammon, head: &Head) -> GameModel<Backgammon> {
    let encoder = open::encoder(game, None).unwrap();
    let mlp: Architecture = serde_json::from_str(r#"{"mlp": {"hidden": [6]}}"#).unwrap();
    let mut rng = stream(3, "test", 0);
    let learner = build(&mlp, encoder.channels(), head, Optimiser::default(), &mut rng).unwrap();
    GameModel::new(game, encoder, learner)
}

/// Whoever values luck, and however badly the players act: the mean result stays. Exact values leave less of its spread.
#[test]
fn no_luck_changes_the_mean_of_a_match() {
    let game = Backgammon::new(2).unwrap();
    let value = Head::Value;
    let all: [(&str, f64, Tally); 3] = [
        (
            "exact",
            0.45,
            played(&game, ["oracle", "epsilon:0.2:oracle"], &orders(&[1, 1]), 3000, || {
                luck(&game, "oracle").unwrap()
            }),
        ),
        (
            "untrained",
            1.2,
            played(&game, ["oracle", "epsilon:0.2:oracle"], &orders(&[1, 1]), 3000, || {
                Luck::of_model(&game, network(&game, &value))
            }),
        ),
        (
            "nonsense",
            10.0,
            played(&game, ["oracle", "epsilon:0.2:oracle"], &orders(&[1, 1]), 3000, || {
                Luck::of(Box::new(adept_arena::ByValuation::<Backgammon>(std::sync::Arc::new(Nonsense))))
            }),
        ),
    ];
    for (name, most, tally) in &all {
        let (raw, adjusted) = (tally.net, tally.adjusted);
        assert_eq!(raw, all[0].2.net, "the games are the same");
        // The best estimate is that of the exact values.
        let error = adjusted.error().hypot(all[0].2.adjusted.error());
        assert!(
            (adjusted.mean() - all[0].2.adjusted.mean()).abs() < 4.0 * error.max(1e-9),
            "{name}: {tally:?}"
        );
        assert!((raw.mean() - all[0].2.adjusted.mean()).abs() < 4.0 * raw.error(), "{name}: {tally:?}");
        assert!(adjusted.error() < most * raw.error(), "{name}: {raw:?} {adjusted:?}");
    }
}

/// A state of a random game before a roll, the opening roll among them.
fn before_a_roll(game: &Backgammon, rng: &mut Stream) -> backgammon::State {
    loop {
        let (mut state, mut actions, length) = (game.start(), Vec::new(), rng.random_range(0..60));
        for _ in 0..length {
            let action = match game.turn(&state) {
                Turn::Over => break,
                Turn::Chance => game.sample(&state, rng),
                Turn::Player(_) => {
                    game.actions(&state, &mut actions);
                    *actions.choose(rng).unwrap()
                }
            };
            game.apply(&mut state, &action);
        }
        if game.turn(&state) == Turn::Chance {
            return state;
        }
    }
}

/// All actions of all rolls in one batch give what one decision after the other gives: values, actions, distributions.
#[test]
fn a_batch_judges_as_one_decision_after_the_other() {
    let game = Backgammon::default();
    let classes = Head::Outcomes(outcome_classes(&game).unwrap());
    let mut rng = stream(4, "test", 0);
    for head in [Head::Value, classes] {
        let mut batch = Luck::of_model(&game, network(&game, &head));
        let mut single = Luck::of(Box::new(network(&game, &head)));
        let mut values = network(&game, &head);
        for _ in 0..40 {
            let state = before_a_roll(&game, &mut rng);
            let one = single.judge(&game, &state).unwrap().unwrap().to_vec();
            let many = batch.judge(&game, &state).unwrap().unwrap().to_vec();
            let n = batch.classes().len();
            for (i, (one, many)) in one.iter().zip(&many).enumerate() {
                assert_eq!((one.outcome, one.probability), (many.outcome, many.probability));
                assert!((one.value - many.value).abs() < 1e-5, "{one:?} {many:?}");
                let Some(best) = many.best else { panic!("no roll ends the game") };
                let mut next = state;
                game.apply(&mut next, &many.outcome.unwrap());
                let at = Decision::new(&game, &next, next.player);
                let mut found = Vec::new();
                values.outcomes(at, &best, &mut found);
                if game.turn(&{
                    let mut after = next;
                    game.apply(&mut after, &best);
                    after
                }) == Turn::Over
                    || n == 0
                {
                    continue;
                }
                if next.player == 1 {
                    found.reverse();
                }
                let own = &batch.distributions()[i * n..][..n];
                assert!(own.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-5), "{own:?} {found:?}");
            }
            assert_eq!(batch.distributions().len(), n * many.len());
        }
    }
}

#[test]
fn what_cannot_tell_luck_is_refused_with_the_reason() {
    let refusal = |text: &str| luck(&Backgammon::default(), text).map(drop).unwrap_err().to_string();
    assert_eq!(
        refusal("pubeval"),
        "`pubeval` is an agent without values: name a checkpoint or a valuation such as `oracle`"
    );
    let dice = adept_builtin::liars_dice::LiarsDice::named("liars-dice:soar:2x1").unwrap();
    let hidden = luck(&dice, "random").map(drop).unwrap_err().to_string();
    assert!(hidden.contains("hides information"), "{hidden}");
}

/// A match that is stopped anywhere goes on from the last report as if it had not been.
#[test]
fn a_match_goes_on_from_what_was_reported() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let game = Backgammon::new(2).unwrap();
    let orders = orders(&[1, 1]);
    let make = || {
        let agents: Vec<Box<dyn Agent<_>>> =
            ["random", "oracle"].map(|name| open::agent(&game, name).unwrap()).into();
        Ok::<_, OpenError>(Table { agents, luck: Some(Box::new(luck(&game, "oracle").unwrap())) })
    };
    let go_on = |done: Tally, stop: &(dyn Fn() -> bool + Sync)| {
        let mut reports = vec![done.clone()];
        let mut report = |tally: &Tally| {
            reports.push(tally.clone());
            Ok(())
        };
        let deals = matches::Deals::from(7);
        let end = matches::compete_from(&game, &make, &orders, 620, deals, done, &stop, &mut report).unwrap();
        assert_eq!(reports.last(), Some(&end));
        (end, reports)
    };
    let (whole, reports) = go_on(Tally::new(2), &|| false);
    assert!(whole.games == 620 && reports.windows(2).all(|pair| pair[0].games < pair[1].games));
    // Stopped in the middle of a task, which then does not count.
    let asked = AtomicU64::new(0);
    let (part, _) = go_on(Tally::new(2), &|| asked.fetch_add(1, Ordering::Relaxed) > 250);
    assert!(part.games < 620 && part.games.is_multiple_of(50), "{}", part.games);
    let text = serde_json::to_string(&part).unwrap();
    let (rest, _) = go_on(serde_json::from_str(&text).unwrap(), &|| false);
    assert_eq!(rest, whole);
    assert_eq!(go_on(whole.clone(), &|| false).0, whole);
}

/// Decision by decision, probabilities of classes are those of a whole batch.
#[test]
fn classes_are_the_same_a_decision_at_a_time() {
    let game = Backgammon::new(2).unwrap();
    let head = Head::Outcomes(outcome_classes(&game).unwrap());
    let mut batch = Luck::of_model(&game, network(&game, &head));
    let mut single = Luck::of(Box::new(network(&game, &head)));
    assert_eq!(single.classes(), batch.classes());
    let (mut rng, mut state, mut judged) = (stream(5, "test", 0), game.start(), 0);
    let mut actions = Vec::new();
    for _ in 0..400 {
        let action = match game.turn(&state) {
            Turn::Over => {
                state = game.start();
                continue;
            }
            Turn::Chance => {
                let values = |luck: &mut Luck<Backgammon>| -> Vec<f32> {
                    let prospects = luck.judge(&game, &state).unwrap().unwrap();
                    let values: Vec<f32> = prospects.iter().map(|p| p.value as f32).collect();
                    values.into_iter().chain(luck.distributions().iter().copied()).collect()
                };
                let (all, one) = (values(&mut batch), values(&mut single));
                assert!(all.len() == one.len() && all.len().is_multiple_of(7));
                assert!(all.iter().zip(&one).all(|(a, b)| (a - b).abs() < 1e-5), "{all:?} {one:?}");
                judged += 1;
                game.sample(&state, &mut rng)
            }
            Turn::Player(_) => {
                game.actions(&state, &mut actions);
                *actions.choose(&mut rng).unwrap()
            }
        };
        game.apply(&mut state, &action);
    }
    assert!(judged > 100);
}
