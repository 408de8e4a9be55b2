//! Liar's dice through its public interface: golden trajectories of every rule, refusals with their reasons, and
//! properties over random games.

use adept_builtin::liars_dice::{Action, Bid, Dice, LiarsDice, Phase, Said, State, Target};
use adept_game::{Game, Kit, Turn, has_public_tree, stream};
use rand::RngExt;
use std::fmt::Write;

fn game(name: &str) -> LiarsDice {
    LiarsDice::named(name).unwrap_or_else(|| panic!("{name} is not a game"))
}

fn at(game: &LiarsDice, text: &str) -> State {
    game.parse_position(text).unwrap_or_else(|e| panic!("{e}")).0
}

fn dice(text: &str) -> Dice {
    let mut dice = Dice::default();
    text.bytes().for_each(|b| dice.0[usize::from(b - b'1')] += 1);
    dice
}

fn legal(game: &LiarsDice, state: &State) -> Vec<Action> {
    let mut actions = vec![Action::Exact; 3];
    game.actions(state, &mut actions);
    actions
}

/// Plays from a position and records the result of each step. A step is an action, `roll DICE…` for the outcomes of
/// chance for one cup after the other, or `start SEAT`.
fn trajectory(name: &str, from: &str, steps: &[&str]) -> String {
    let game = game(name);
    let mut state = at(&game, from);
    let mut text = format!("{}\n", game.position_text(&state));
    for step in steps {
        let chance = step.split_once(' ').filter(|(what, _)| ["roll", "start"].contains(what));
        match chance {
            Some(("start", seat)) => {
                game.apply(&mut state, &Action::Starter(seat.parse::<u8>().expect("a seat") - 1));
            }
            Some((_, cups)) => {
                for cup in cups.split(' ') {
                    assert_eq!(state.phase, Phase::Roll, "nothing to roll in {}", game.position_text(&state));
                    game.apply(&mut state, &Action::Roll(dice(cup)));
                }
            }
            None => {
                let action = game.parse_action(&state, step).unwrap_or_else(|e| panic!("{e}"));
                if let Some(event) = game.texts().event(&game, &state, &action, 0) {
                    writeln!(text, "      {event}").unwrap();
                }
                game.apply(&mut state, &action);
            }
        }
        assert_eq!(at(&game, &game.position_text(&state)), state, "{}", game.position_text(&state));
        let next = match game.turn(&state) {
            Turn::Chance => "chance".into(),
            Turn::Over => "over".into(),
            Turn::Player(p) => format!("seat {}, {} legal", p + 1, legal(&game, &state).len()),
        };
        writeln!(text, "{step:>20}  {}  ({next})", game.position_text(&state)).unwrap();
    }
    text
}

// ------------------------------------------------------------------------------------------- trajectories

#[test]
fn soar_bids_rise_by_rank_and_the_loser_of_a_challenge_begins() {
    insta::assert_snapshot!(
        "soar_bids",
        trajectory(
            "liars-dice:soar:3x5",
            "?????/?????/????? @?",
            &[
                "start 2",
                "roll 11245 33366 22456",
                "2x6",
                "1x1",
                "3x2",
                "3x3",
                "2x1",
                "5x6",
                "3x1",
                "7x2",
                "challenge"
            ],
        )
    );
}

#[test]
fn soar_pushes_expose_dice_and_renew_the_pass() {
    insta::assert_snapshot!(
        "soar_push",
        trajectory(
            "liars-dice:soar:2x5",
            "12255/33336 @1",
            &[
                "2x2+12",
                "roll 225",
                "4x3+333",
                "roll 33",
                "pass",
                "pass",
                "6x2+2",
                "roll 55",
                "6x3+3",
                "roll 6",
                "pass",
                "pass",
                "challenge pass",
            ],
        )
    );
}

#[test]
fn soar_challenges_pass_through_one_pass() {
    let from = "13/224/55566 @1 3x5";
    let play = |last: &str| trajectory("liars-dice:soar:3x5", from, &["pass", last]);
    let all = [
        play("challenge"),
        play("challenge pass"),
        trajectory("liars-dice:soar:3x5", from, &["pass", "pass", "challenge pass before"]),
        trajectory("liars-dice:soar:3x5", from, &["pass", "pass", "challenge pass"]),
        trajectory("liars-dice:soar:2x5", "44/555 @1 pass", &["challenge pass"]),
    ];
    insta::assert_snapshot!("soar_challenges", all.join("\n"));
}

#[test]
fn soar_exact_gives_a_die_back_or_takes_one() {
    let all = [
        trajectory("liars-dice:soar:2x5", "1234/11666 @2 3x6", &["4x6", "exact"]),
        trajectory("liars-dice:soar:2x5", "1234/11666 @2 6x6", &["exact"]),
        // No player gets more dice than at the start, and the exact is used up.
        trajectory("liars-dice:soar:2x5", "12346/11666 @2 7x6", &["exact"]),
        // The last die: the next player who is left begins.
        trajectory("liars-dice:soar:3x5", "6o/11666/12 @3 2x6", &["exact"]),
    ];
    insta::assert_snapshot!("soar_exact", all.join("\n"));
}

#[test]
fn soar_special_rounds_come_once_a_player() {
    let all = [
        // Seat 1 loses its second die: ones are not wild in the round that follows, and seat 2 keeps the face.
        trajectory("liars-dice:soar:3x2", "12/34/55 @1 4x6", &["challenge", "roll 2 14 16"]),
        trajectory(
            "liars-dice:soar:3x2",
            "12/34/55 @1 3x6",
            &["4x6", "challenge", "roll 15 4 16", "1x4", "2x4", "3x4"],
        ),
        // Not with two players left, and not the second time.
        trajectory("liars-dice:soar:3x2", "12/-/55 @1 3x6", &["challenge", "roll 1 14"]),
        trajectory("liars-dice:soar:3x2", "12o/36/55 @1 3x6", &["challenge", "roll 2 14 16"]),
    ];
    insta::assert_snapshot!("soar_special", all.join("\n"));
}

#[test]
fn the_last_player_with_dice_wins() {
    let text = trajectory("liars-dice:soar:3x5", "-/2o/66 @2 2x6", &["challenge"]);
    insta::assert_snapshot!("soar_end", text);
    let game = game("liars-dice:soar:3x5");
    let mut state = at(&game, "-/2o/66 @2 3x6");
    game.apply(&mut state, &Target::Bid.into());
    assert_eq!(game.turn(&state), Turn::Over);
    assert_eq!([0, 1, 2].map(|p| game.utility(&state, p)), [-0.5, -0.5, 1.0]);
}

#[test]
fn r_post_opens_by_force_and_raises_by_one() {
    insta::assert_snapshot!(
        "r_post",
        trajectory(
            "liars-dice:r-post:3x6",
            "??????/??????/?????? @?",
            &[
                "start 3",
                "roll 112233 444556 116666",
                "5x6",
                "6x2",
                "7x2",
                "challenge",
                "roll 112233 44455 122334",
                "4x4",
                "5x1",
                "challenge"
            ],
        )
    );
}

#[test]
fn openspiel_is_one_round() {
    let all = [
        trajectory("liars-dice:openspiel:1-1:6", "?/? @1", &["roll 6 2", "1x2", "1x5", "2x2", "liar"]),
        trajectory("liars-dice:openspiel:1-1:6:no-wild", "?/? @1", &["roll 6 2", "1x2", "2x2", "liar"]),
        trajectory("liars-dice:openspiel:2-1:3", "??/? @1", &["roll 13 2", "2x2", "2x3", "liar"]),
    ];
    insta::assert_snapshot!("openspiel", all.join("\n"));
}

// ---------------------------------------------------------------------------------------------- refusals

#[test]
fn illegal_actions_are_refused_with_the_reason() {
    let cases = [
        (
            "soar:3x5",
            "11245/33366/22456 @1",
            &["0x3", "2x7", "16x2", "challenge", "exact", "3x5+6", "3x5+11245", "raise"][..],
        ),
        ("soar:3x5", "11245/33366/22456 @1 3x1", &["6x6", "3x1", "challenge pass", "challenge pass before"]),
        ("soar:3x5", "11245/33366/22456 @1 3x4 pass!", &["challenge pass before"]),
        ("soar:3x5", "11245/33366/22456 @1 3x4 pass! pass!", &["challenge"]),
        ("soar:2x5", "11245/33366 @1 3x4 pass!", &["challenge", "exact"]),
        ("soar:2x5", "11245/33366 @1 pass! pass!", &["pass", "challenge", "challenge pass before"]),
        ("soar:3x5", "1/33366/22456 @1", &["pass", "1x1+1"]),
        ("soar:3x5", "12x/33366/22456 @3 1x2", &["exact"]),
        ("soar:3x5", "1/33366/22456 @1 special 1x3", &["2x4", "1x4"]),
        ("r-post:2x6", "112233/444556 @2", &["3x4", "4x5", "challenge"]),
        ("r-post:2x6", "112233/444556 @2 4x4", &["6x4", "4x5", "pass", "exact", "5x1+1"]),
        ("openspiel:1-1:6", "5/2 @1", &["liar", "3x1", "1x0", "pass"]),
        ("openspiel:1-1:6", "5/2 @1 1x6", &["1x6", "1x5", "exact"]),
        ("openspiel:1-1:6", "?/? @1", &["1x6"]),
    ];
    let mut text = String::new();
    for (name, position, actions) in cases {
        let game = game(&format!("liars-dice:{name}"));
        let state = at(&game, position);
        writeln!(text, "{name} {position}").unwrap();
        for action in actions {
            let refused = game.parse_action(&state, action).expect_err(action);
            writeln!(text, "  {refused}").unwrap();
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn texts_that_are_no_positions_are_refused() {
    let soar = game("liars-dice:soar:2x5");
    let bad = [
        "",
        "11245 @1",
        "11245/33366",
        "11245/33366 1",
        "11245/33366 @3",
        "11245/333667 @1",
        "11247/33366 @1",
        "11245/- @2",
        "/33366 @1",
        "11245/33366 @?",
        "?????/????? @? 1x2",
        "?????/33366 @1 2x2",
        "33366/????? @1 2x2",
        "11245/33366 @1 2x2+2",
        "124+2/33366 @1",
        "11245/33366 @1 2x2 1x2",
        "11245/33366 @1 challenge",
        "-/33366 @2 2x2",
        "11245/33366 @1 pass pass pass",
    ];
    let errors: Vec<String> = bad.iter().map(|t| soar.parse_position(t).expect_err(t).to_string()).collect();
    insta::assert_snapshot!(errors.join("\n"));
    for name in [
        "liars-dice:",
        "liars-dice:soar:4",
        "liars-dice:soar:1x5",
        "liars-dice:openspiel:1-1:7",
        "liars-dice:r-post:4x0",
        "liars-dice:poker",
    ] {
        assert!(LiarsDice::named(name).is_none(), "{name}");
    }
}

// -------------------------------------------------------------------------------------------- properties

const GAMES: [&str; 8] = [
    "liars-dice:soar:2x5",
    "liars-dice:soar:4x5",
    "liars-dice:soar:6x3",
    "liars-dice:r-post:4x6",
    "liars-dice:r-post:2x1",
    "liars-dice:openspiel:1-1:6",
    "liars-dice:openspiel:2-2:4",
    "liars-dice:openspiel:1-2:6:no-wild",
];

/// Every state of some random games.
fn random_states(game: &LiarsDice, games: u64, mut each: impl FnMut(&State)) {
    for g in 0..games {
        let mut rng = stream(g, "random liar's dice", 0);
        let mut state = game.start();
        loop {
            each(&state);
            let action = match game.turn(&state) {
                Turn::Over => break,
                Turn::Chance => game.sample(&state, &mut rng),
                Turn::Player(_) => {
                    // Mostly small raises, so that rounds are long enough.
                    let legal = legal(game, &state);
                    let few = if rng.random_bool(0.7) { legal.len().min(20) } else { legal.len() };
                    legal[rng.random_range(0..few)]
                }
            };
            game.apply(&mut state, &action);
        }
        let total: f64 = (0..game.players()).map(|p| game.utility(&state, p)).sum();
        assert!(total.abs() < 1e-12, "what one wins the others lose");
    }
}

/// Compares the list of legal actions with the predicate, over all possible actions.
#[test]
fn what_is_listed_is_what_is_not_refused() {
    for name in GAMES {
        let game = game(name);
        let mut states = 0;
        random_states(&game, 30, |state| {
            states += 1;
            if states % 7 != 0 && !state.acts.is_empty() {
                return;
            }
            let listed = legal(&game, state);
            let mover = &state.seats[usize::from(state.mover)];
            let mut pushes = vec![Dice::default()];
            for n in 1..=mover.cup.total() {
                pushes.extend(
                    Dice::outcomes(n, 6)
                        .into_iter()
                        .map(|(d, _)| d)
                        .filter(|d| mover.cup.without(d).is_some()),
                );
            }
            let mut all: Vec<Action> = Vec::new();
            let most = if name.contains("r-post") { 255 } else { state.dice_in_play() + 2 };
            for (count, face) in (0..=most).flat_map(|count| (0..=7).map(move |face| (count, face))) {
                all.extend(pushes.iter().map(|push| Action::Bid { bid: Bid { count, face }, push: *push }));
            }
            let targets = [Target::Bid, Target::Pass, Target::PassBefore].map(Action::Challenge);
            all.extend([Action::Pass, Action::Exact].into_iter().chain(targets));
            let expected: std::collections::HashSet<Action> =
                all.into_iter().filter(|a| game.refuses(state, a).is_none()).collect();
            assert_eq!(listed.len(), expected.len(), "{name} {}", game.position_text(state));
            assert!(listed.iter().all(|a| expected.contains(a)), "{name} {}", game.position_text(state));
            assert_eq!(
                listed.is_empty(),
                !matches!(game.turn(state), Turn::Player(_)),
                "{}",
                game.position_text(state)
            );
        });
    }
}

#[test]
fn texts_of_positions_and_actions_are_read_back() {
    for name in GAMES {
        let game = game(name);
        random_states(&game, 40, |state| {
            let text = game.position_text(state);
            assert_eq!(&at(&game, &text), state, "{name} {text}");
            for action in legal(&game, state) {
                assert_eq!(
                    game.parse_action(state, &game.action_text(state, &action)),
                    Ok(action),
                    "{name} {text}"
                );
            }
        });
    }
}

/// Dice under other cups, and the truth of others' passes, do not change a player's knowledge.
#[test]
fn a_player_knows_the_public_state_and_the_own_cup() {
    for name in GAMES {
        let game = game(name);
        let mut rng = stream(1, "hidden", 0);
        random_states(&game, 20, |state| {
            for player in 0..game.players() {
                let mut other = state.clone();
                for (_, seat) in other.seats.iter_mut().enumerate().filter(|(p, _)| *p != player) {
                    if !seat.cup.is_empty() {
                        seat.cup = Dice::roll(seat.cup.total(), game.faces(), &mut rng);
                    }
                }
                for act in other.acts.iter_mut().filter(|act| usize::from(act.player) != player) {
                    if let Said::Pass { valid } = &mut act.said {
                        *valid = !*valid;
                    }
                }
                assert_eq!(game.info(state, player), game.info(&other, player));
                let own = &mut other.seats[player];
                if !own.cup.is_empty() {
                    own.cup = Dice::roll(own.cup.total(), game.faces(), &mut rng);
                    assert_eq!(
                        own.cup == state.seats[player].cup,
                        game.info(state, player) == game.info(&other, player)
                    );
                }
            }
        });
    }
}

#[test]
fn what_chance_brings_is_listed_with_its_probabilities() {
    let game = game("liars-dice:openspiel:2-1:3");
    let mut outcomes = Vec::new();
    assert!(game.outcomes(&game.start(), &mut outcomes) && has_public_tree(&game));
    let of = |text: &str| outcomes.iter().find(|(a, _)| *a == Action::Roll(dice(text))).expect(text).1;
    assert_eq!(outcomes.len(), 6);
    assert!((of("11") - 1.0 / 9.0).abs() < 1e-15 && (of("13") - 2.0 / 9.0).abs() < 1e-15);
    assert!(!has_public_tree(&self::game("liars-dice:soar:4x5")));
}
