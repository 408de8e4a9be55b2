//! The deliberating agents of liar's dice: their candidates, the rules that drop some, and that they see nothing
//! hidden.

use adept_arena::{Agent, Decision, Deliberating, Scratch, open};
use adept_builtin::liars_dice::{Action, DeliberateSettings, Dice, LiarsDice, State};
use adept_game::Kit;
use adept_game::{Afterstate, Deliberation, Game, RowMut, RowSink, Turn, stream};
use rand::RngExt;
use std::fmt::Write;

fn soar(players: &str) -> LiarsDice {
    LiarsDice::named(&format!("liars-dice:soar:{players}")).expect("a game")
}

fn at(game: &LiarsDice, text: &str) -> State {
    game.parse_position(text).unwrap_or_else(|e| panic!("{e}")).0
}

fn weighed(game: &LiarsDice, agent: &str, state: &State) -> Deliberation<Action> {
    let Turn::Player(player) = game.turn(state) else { panic!("no player is to move") };
    let deliberator = game.agents().deliberators.open(agent).expect(agent).expect(agent);
    let mut found = Deliberation::default();
    deliberator.deliberate(game, state, player, &mut found);
    found
}

fn success(game: &LiarsDice, agent: &str, position: &str, action: &str) -> f64 {
    let state = at(game, position);
    let action = game.parse_action(&state, action).unwrap_or_else(|e| panic!("{e}"));
    let found = weighed(game, agent, &state);
    found
        .candidates
        .iter()
        .find(|c| c.action == action)
        .unwrap_or_else(|| panic!("{action:?} not weighed"))
        .success
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found}, expected {expected}");
}

/// The three rules of the paper's figure 3, before they were tuned.
#[test]
fn chances_are_those_behind_the_rules_of_figure_3() {
    let game = soar("2x5");
    // Five 2's with one 2 known and four dice unknown.
    near(success(&game, "paper:P", "2345/3456 @2 4x6", "5x2"), (1.0_f64 / 3.0).powi(4));
    // Five 2's, pushing one 1 and two 2's. Two more are needed from the two rerolled dice and the bidder's single die,
    // which is assumed to be a 1.
    near(success(&game, "paper:PM", "12234/5 @2 2x1", "5x2+122"), 5.0 / 9.0);
    // Two 1's challenged: one known, two unknown, after a push.
    near(success(&game, "paper:P", "33+6/144 @1 2x1+6", "challenge"), 25.0 / 36.0);
}

/// The paper's example: six 4's with two known and nine unknown dice are a deviation of −1, which is risky; with fifteen
/// unknown dice, 1, which is safe. No published agent calls −1 risky.
#[test]
fn the_deviation_of_the_papers_example_is_risky_in_the_paper_only() {
    let class = |agent: &str, position: &str| {
        let game = soar("4x5");
        let state = at(&game, position);
        let bid = game.parse_action(&state, "6x4").unwrap();
        let found = weighed(&game, agent, &state);
        found.candidates.iter().find(|c| c.action == bid).and_then(|c| c.class).expect("a class")
    };
    let (few, many) = ("14/5555/5555/6o @4 5x4", "14/55555/55555/66666 @4 5x4");
    assert_eq!((class("paper:E", few), class("paper:E", many)), ("risky", "safe"));
    assert_eq!((class("E", few), class("E", many)), ("very risky", "safe"));
}

/// Section "Proposal" of the paper: after six 4's, the candidates are six 5's, six 6's, three 1's, seven 2's, seven 3's
/// and seven 4's.
#[test]
fn bids_go_up_to_one_full_count() {
    let game = soar("4x5");
    let bids = |position: &str| -> Vec<String> {
        let state = at(&game, position);
        let found = weighed(&game, "paper:P", &state);
        let text = |a: &Action| game.action_text(&state, a);
        found
            .candidates
            .iter()
            .map(|c| text(&c.action))
            .filter(|t| t.contains('x') && !t.contains('+'))
            .collect()
    };
    let mut found = bids("11111/23456/23456/23456 @1 6x4");
    found.sort();
    assert_eq!(found, ["3x1", "6x5", "6x6", "7x2", "7x3", "7x4"]);
    // Fifteen dice: four 2's are safe, so lower bids are not proposed.
    let mut found = bids("-/23456/23456/23456 @2 2x3");
    found.sort();
    assert_eq!(found, ["2x1", "4x3", "4x4", "4x5", "4x6", "5x2"]);
    let mut found = bids("1/3o/-/2o @1 special");
    found.sort();
    assert_eq!(found, ["1x2", "1x3", "1x4", "1x5", "1x6", "2x1"]);
}

#[test]
fn every_decision_explains_itself() {
    let game = soar("3x5");
    let mut text = String::new();
    for (agent, position) in [
        ("PMH", "12455/11235/12356 @2 4x5 4x6"),
        ("soar-app:PH", "55/1123/66 @1 5x2 pass!"),
        ("EMH", "12455/11235/12356 @2 4x5 4x6"),
        ("soar-old:PM", "34/1123/66 @1 special pass!"),
        ("paper:PMH", "12455/11235/12356 @2 4x5 4x6"),
        ("paper:P", "12455/11235/1235 @1"),
        ("paper:PH0", "55/1123/66 @1 5x2 pass!"),
        ("paper:EMH", "12455/11235/12356 @2 4x5 4x6"),
        ("paper:EH", "44/1123/66+6 @3 5x6+6"),
        ("paper:E", "3/4o/12 @1 special 1x3"),
    ] {
        let state = at(&game, position);
        let Turn::Player(player) = game.turn(&state) else { panic!("{position}") };
        let mut agent_ = open::agent(&game, agent).expect(agent);
        writeln!(text, "{agent}: {position}\n{}", agent_.explain(Decision::new(&game, &state, player)))
            .unwrap();
    }
    insta::assert_snapshot!(text);
}

/// Every agent in games of every size chooses legal actions with the probabilities of its policy, and hidden dice do
/// not change them.
#[test]
fn agents_take_legal_actions_by_what_they_know() {
    for name in ["soar:2x5", "soar:4x5", "soar:5x2", "r-post:3x4", "openspiel:2-2:4"] {
        let game = LiarsDice::named(&format!("liars-dice:{name}")).expect("a game");
        let names = game.agents().deliberators.names().to_vec();
        let mut agents: Vec<_> = names.iter().map(|n| open::agent(&game, &n.name).expect(&n.name)).collect();
        let (mut scratch, mut actions, mut p, mut q) =
            (Scratch::default(), Vec::new(), Vec::new(), Vec::new());
        for g in 0..8 {
            let mut rng = stream(g, "deliberate", 0);
            let mut state = game.start();
            loop {
                let player = match game.turn(&state) {
                    Turn::Over => break,
                    Turn::Chance => {
                        let action = game.sample(&state, &mut rng);
                        game.apply(&mut state, &action);
                        continue;
                    }
                    Turn::Player(player) => player,
                };
                let i = rng.random_range(0..agents.len());
                let agent = &mut agents[i];
                game.actions(&state, &mut actions);
                agent.policy(Decision::new(&game, &state, player), &actions, &mut p);
                assert!(
                    (p.iter().sum::<f64>() - 1.0).abs() < 1e-9,
                    "{} {}",
                    agent.name(),
                    game.position_text(&state)
                );
                let mut other = state.clone();
                for seat in other.seats.iter_mut().enumerate().filter(|(s, _)| *s != player).map(|(_, s)| s) {
                    seat.cup = Dice::roll(seat.cup.total(), game.faces(), &mut rng);
                }
                agent.policy(Decision::new(&game, &other, player), &actions, &mut q);
                assert_eq!(p, q, "{} {}", agent.name(), game.position_text(&state));
                let action =
                    agent.choose(Decision::new(&game, &state, player), &mut scratch, &mut rng).unwrap();
                let place = actions.iter().position(|a| *a == action).expect("it is legal");
                assert!(p[place] > 0.0);
                game.apply(&mut state, &action);
            }
        }
    }
}

#[test]
fn settings_change_what_they_name_and_nothing_unknown() {
    let game = soar("2x5");
    let of = |name: &str| game.agents().deliberators.open(name).expect(name).expect(name);
    let with = |settings: serde_json::Value| of("paper:E").with_settings(&settings);
    assert!(with(serde_json::json!({ "bid_risky": -1.0 })).is_ok());
    for (faulty, says) in [
        (serde_json::json!({ "bid_risk": 1.0 }), "unknown field `bid_risk`"),
        (serde_json::json!({ "bid_risky": 1.0 }), "bid_risky = 1 is above bid_safe = 0"),
        (serde_json::json!({ "likely": 2 }), "likely = 2: must be a probability"),
        (serde_json::json!({ "temperature": 0.0 }), "temperature = 0"),
        (serde_json::json!([1]), "is not a table of settings"),
    ] {
        let error = with(faulty).err().expect("it is faulty").to_string();
        assert!(error.contains(says), "{error}");
    }
    assert!(DeliberateSettings::named("PX").is_none() && DeliberateSettings::named("").is_none());
    assert!(DeliberateSettings::named("P+").is_none() && DeliberateSettings::named("EMH+").is_some());
    let published = of("E").with_settings(&serde_json::json!({ "bid_risky": -1.0 }));
    assert!(published.err().expect("fixed").to_string().contains("`paper:E` has"));
    let _: Box<dyn Agent<LiarsDice>> = Box::new(Deliberating::new(with(serde_json::Value::Null).expect("E")));
}

struct Rows(usize, Vec<Vec<f32>>);

impl RowSink for Rows {
    fn push(&mut self) -> RowMut<'_> {
        self.1.push(vec![0.0; self.0]);
        let last = self.1.len() - 1;
        // Index column: the phase.
        RowMut { dense: &mut self.1[last], index: Box::leak(Box::new([0])) }
    }
}

/// The last columns of a row are the agents' values: 2p − 1, or −1 for dropped actions. The other columns come from the
/// encoder.
#[test]
fn agents_are_frozen_experts_of_an_encoder() {
    let game = soar("2x5");
    let plain = open::encoder(&game, Some("soar")).unwrap();
    let with = open::encoder(&game, Some("soar+expert:PMH+expert:E")).unwrap();
    let names: Vec<&str> = with.channels().iter().map(|c| c.name.as_ref()).collect();
    assert_eq!(names, ["view", "phase", "deliberated", "PMH", "E"]);
    let mut dropped = 0;
    for position in ["12455/11235 @2 2x5", "3/4 @1 1x3", "11345/22 @1"] {
        let state = at(&game, position);
        let Turn::Player(player) = game.turn(&state) else { panic!("{position}") };
        let (mut actions, mut expected) = (Vec::new(), Vec::new());
        let (mut own, mut rows) = (Rows(57, Vec::new()), Rows(59, Vec::new()));
        plain.decide(&game, &state, player, &mut expected, &mut own);
        with.decide(&game, &state, player, &mut actions, &mut rows);
        assert_eq!(actions, expected);
        let found = ["PMH", "E"].map(|agent| weighed(&game, agent, &state));
        for ((action, row), own) in actions.iter().zip(&rows.1).zip(&own.1) {
            assert_eq!(row[..57], own[..]);
            for (found, value) in found.iter().zip(&row[57..]) {
                let candidate = found.candidates.iter().find(|c| c.action == *action);
                let kept = candidate.filter(|c| c.dropped.is_none());
                dropped += usize::from(kept.is_none());
                assert_eq!(*value, kept.map_or(-1.0, |c| (2.0 * c.success - 1.0) as f32));
            }
            let (mut dense, mut index) = ([0.0; 59], [0]);
            let before = Afterstate { state: &state, action: Some(action), player };
            with.encode(&game, before, RowMut { dense: &mut dense, index: &mut index });
            assert_eq!(dense[..], row[..]);
        }
    }
    assert!(dropped > 0);
    for (name, says) in [
        ("soar+expert:PMX", "has no deliberating agent `PMX`"),
        ("soar+expert:P+expert:P", "twice"),
        ("bear+expert:P", "has no encoder `bear`"),
    ] {
        let error = open::encoder(&game, Some(name)).err().expect(says).to_string();
        assert!(error.contains(says), "{error}");
    }
}
