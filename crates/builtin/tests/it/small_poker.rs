//! Kuhn's and Leduc poker: compares every state of the game with the public tree; texts and golden hands.

use adept_builtin::small_poker::{Action, SmallPoker, State};
use adept_game::{Afterstate, Channel, ChannelKind, Game, Kit, PublicTree, RowMut, Turn};
use std::collections::{HashMap, HashSet};

const GAMES: [SmallPoker; 2] = [SmallPoker::KUHN, SmallPoker::LEDUC];

/// Calls `each` with every state and its probability by chance alone.
fn walk(game: &SmallPoker, state: &State, chance: f64, each: &mut impl FnMut(&State, f64)) {
    each(state, chance);
    let mut next = Vec::new();
    match game.turn(state) {
        Turn::Over => return,
        Turn::Chance => {
            assert!(game.outcomes(state, &mut next));
            let sum: f64 = next.iter().map(|(_, p)| p).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        Turn::Player(_) => {
            let mut actions = Vec::new();
            game.actions(state, &mut actions);
            next = actions.into_iter().map(|a| (a, 1.0)).collect();
        }
    }
    for (action, p) in next {
        let mut after = state.clone();
        game.apply(&mut after, &action);
        walk(game, &after, chance * p, each);
    }
}

#[test]
fn moves_are_told_as_verbs() {
    let game = SmallPoker::LEDUC;
    let (mut state, _) = game.parse_position("JQ").unwrap();
    let told = |state: &State, action: Action| game.texts().told(&game, state, &action, "It", false);
    assert_eq!(told(&state, Action::Call), "It checks.");
    assert_eq!(told(&state, Action::Raise), "It bets.");
    game.apply(&mut state, &Action::Raise);
    assert_eq!(told(&state, Action::Call), "It calls.");
    assert_eq!(told(&state, Action::Fold), "It folds.");
    assert_eq!(game.texts().told(&game, &state, &Action::Raise, "You", true), "You raise.");
}

/// The public tree has the same moves, payoffs and probabilities as the game.
#[test]
fn the_public_tree_is_the_game() {
    for game in GAMES {
        let (mut ends, mut chance_of_ends) = (0, HashMap::<_, f64>::new());
        walk(&game, &game.start(), 1.0, &mut |state, chance| {
            let ([Some(a), Some(b)], false) = (state.cards, state.table.rounds.is_empty()) else { return };
            let (table, own) = (&state.table, [usize::from(a), usize::from(b)]);
            assert_eq!(game.state(table, own), *state);
            assert_eq!(game.public_turn(table), game.turn(state));
            let privates = [game.privates(0), game.privates(1)];
            let expected = game.weight(table, own) * privates[0][own[0]] * privates[1][own[1]];
            assert!((expected - chance).abs() < 1e-12, "{}", game.position_text(state));
            let (mut actions, mut found) = (Vec::new(), Vec::new());
            game.actions(state, &mut actions);
            game.public_actions(table, &mut found);
            match game.turn(state) {
                Turn::Player(_) => assert_eq!(found, actions),
                Turn::Chance => assert_eq!(found.len(), 3),
                Turn::Over => {
                    assert!(found.is_empty());
                    assert_eq!(game.payoff(table, own), game.utility(state, 0));
                    assert_eq!(game.utility(state, 0), -game.utility(state, 1));
                    assert!(game.utility(state, 0).abs() <= game.scale());
                    let mut matrix = Vec::new();
                    game.payoffs(table, [3, 3], &mut matrix);
                    let weighted = matrix[own[0] * 3 + own[1]];
                    assert!((weighted - game.weight(table, own) * game.utility(state, 0)).abs() < 1e-12);
                    *chance_of_ends.entry(table.rounds.clone()).or_default() += chance;
                    ends += 1;
                }
            }
        });
        // A sequence of moves can follow every deal.
        assert!(chance_of_ends.values().all(|p| (p - 1.0).abs() < 1e-12));
        // Leduc: a round ends by five sequences with a call and four with a fold; three of nine deals leave two cards.
        assert_eq!(ends, if game == SmallPoker::KUHN { 6 * 5 } else { 9 * 4 + 5 * 9 * (3 * 2 + 6 * 3) });
    }
}

fn width(channels: &[Channel]) -> usize {
    let bits = |channel: &Channel| match channel.kind {
        ChannelKind::Bits(n) => n,
        _ => 0,
    };
    channels.iter().map(bits).sum()
}

/// Texts are read back to the position; rows distinguish exactly the information sets.
#[test]
fn texts_and_rows_stand_for_positions() {
    for game in GAMES {
        let encoders = game.encoders();
        let encoder = encoders.open(&encoders.names()[0].name).unwrap();
        let mut rows: HashMap<Vec<u32>, HashSet<_>> = HashMap::new();
        let mut infos = HashSet::new();
        walk(&game, &game.start(), 1.0, &mut |state, _| {
            let text = game.position_text(state);
            let read = game.parse_position(&text).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(read, (state.clone(), None), "{text}");
            let Turn::Player(player) = game.turn(state) else { return };
            let shown = game.shown_to(state, player);
            assert_eq!(shown.cards[1 - player], None);
            assert_eq!(game.info(&shown, player), game.info(state, player));
            assert_eq!(game.parse_position(&game.position_text(&shown)).unwrap().0, shown);
            let mut actions = Vec::new();
            game.actions(state, &mut actions);
            for action in &actions {
                assert_eq!(game.parse_action(state, &game.action_text(state, action)), Ok(*action));
                let mut dense = vec![0.0; width(encoder.channels())];
                let before = Afterstate { state: &shown, action: Some(action), player };
                encoder.encode(&game, before, RowMut { dense: &mut dense, index: &mut [] });
                let bits = dense.iter().map(|v| v.to_bits()).collect();
                let info = game.info(state, player);
                rows.entry(bits).or_default().insert((info.clone(), *action));
                infos.insert(info);
            }
        });
        assert!(rows.values().all(|of| of.len() == 1));
        assert_eq!(infos.len(), if game == SmallPoker::KUHN { 12 } else { 288 });
    }
}

/// Plays moves from a position and gives the utilities.
fn result(game: SmallPoker, position: &str) -> f64 {
    let (state, _) = game.parse_position(position).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(game.turn(&state), Turn::Over, "{position}");
    game.utility(&state, 0)
}

#[test]
fn golden_hands() {
    let kuhn = |text| result(SmallPoker::KUHN, text);
    assert_eq!(kuhn("KJ cc"), 1.0);
    assert_eq!(kuhn("JK rc"), -2.0);
    assert_eq!(kuhn("JK rf"), 1.0);
    assert_eq!(kuhn("KJ crf"), -1.0);
    assert_eq!(kuhn("QJ crc"), 2.0);
    let leduc = |text| result(SmallPoker::LEDUC, text);
    // A pair beats a king; a tie is split.
    assert_eq!(leduc("JK/J cc/cc"), 1.0);
    assert_eq!(leduc("QQ/K rrc/rrc"), 0.0);
    assert_eq!(leduc("QK/Q rrc/rrc"), 13.0);
    assert_eq!(leduc("KQ/J rc/rf"), 3.0);
    assert_eq!(leduc("KQ crrf"), 3.0);
}

#[test]
fn wrong_texts_say_why() {
    let leduc = SmallPoker::LEDUC;
    for (text, why) in [
        ("JX", "`X` is not a card"),
        ("JKQ", "there are two players"),
        ("JK rrr", "`r` is not legal in `JK rr`"),
        ("JK f", "`f` is not legal"),
        ("JK cx", "`x` is not a move"),
        ("JK cc/", "needs one card"),
        ("JJ/J cc/", "only 2 jack"),
        ("JK/Q r", "comes after the first round"),
        ("JK c c", "too much"),
    ] {
        let error = leduc.parse_position(text).expect_err(text).to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
    let state = leduc.parse_position("JK r").unwrap().0;
    assert_eq!(leduc.parse_action(&state, "raise"), Ok(Action::Raise));
    assert_eq!(leduc.parse_action(&state, "c"), Ok(Action::Call));
    assert!(leduc.parse_action(&state, "check").is_err());
}
