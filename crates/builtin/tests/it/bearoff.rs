//! The bear-off through its public interface: sides and their numbers, moves, the game, texts, encoders.

use crate::bearoff_common::{at, game, roll, side};
use adept_builtin::bearoff::{
    Action, Bearoff, DicePosition, MAX_CHECKERS, POINTS, Position, ROLLS, Roll, Side, Stage, State, rank,
    rules,
};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, Game, GameInfo, Kit, RowMut, Turn, stream};
use proptest::prelude::*;
use rand::RngExt;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

fn legal(state: &State) -> Vec<Action> {
    let mut actions = vec![Action::Move(Side::EMPTY)];
    game().actions(state, &mut actions);
    actions
}

fn after(state: &State, action: Action) -> State {
    let mut next = *state;
    game().apply(&mut next, &action);
    next
}

fn moves(side: Side, roll: Roll) -> Vec<Side> {
    let mut afterstates = vec![Side::EMPTY];
    rules::afterstates(side, roll, &mut afterstates);
    afterstates
}

/// Every side with at most this many checkers, by enumeration of the points.
fn all_sides(checkers: u8) -> Vec<Side> {
    let mut sides = vec![[0; POINTS]];
    for point in 0..POINTS {
        let with = |counts: &[u8; POINTS]| {
            let counts = *counts;
            let left = checkers - counts.iter().sum::<u8>();
            (0..=left).map(move |n| {
                let mut counts = counts;
                counts[point] = n;
                counts
            })
        };
        sides = sides.iter().flat_map(with).collect();
    }
    sides.into_iter().map(|counts| Side::new(counts).expect("they are few enough")).collect()
}

// ------------------------------------------------------------------------------------- sides and numbers

#[test]
fn sides_and_their_ranks_are_one_to_one() {
    let all = all_sides(MAX_CHECKERS);
    assert_eq!((all.len(), rank::sides(MAX_CHECKERS)), (54_264, 54_264));
    assert_eq!([0, 1, 2, 6, 14].map(rank::sides), [1, 7, 28, 924, 38_760]);
    let mut seen = vec![false; all.len()];
    for side in all {
        let rank = side.rank();
        assert!(!std::mem::replace(&mut seen[rank], true), "{side} and another have rank {rank}");
        assert_eq!(Side::of_rank(rank), side);
        // The rank determines which tables are large enough.
        let least = (0..=MAX_CHECKERS).find(|&n| rank < rank::sides(n));
        assert_eq!(least, Some(side.checkers()), "{side}");
    }
    assert_eq!(Side::EMPTY.rank(), 0);
}

#[test]
fn a_move_always_lowers_the_rank() {
    for side in all_sides(6).into_iter().filter(|s| !s.is_empty()) {
        for roll in ROLLS {
            assert!(moves(side, roll).iter().all(|m| m.rank() < side.rank() && m < &side), "{side} {roll}");
        }
    }
}

#[test]
fn sides_count_checkers_and_pips() {
    let mixed = side("1,0,2,0,0,3");
    assert_eq!((mixed.checkers(), mixed.pips(), mixed.highest()), (6, 25, 6));
    assert_eq!((mixed.on(3), mixed.counts()), (2, [1, 0, 2, 0, 0, 3]));
    assert_eq!((Side::EMPTY.checkers(), Side::EMPTY.pips(), Side::EMPTY.highest()), (0, 0, 0));
    assert_eq!(side("15,0,0,0,0,0").checkers(), 15);
    assert_eq!(Side::new([15, 1, 0, 0, 0, 0]), None);
}

// ------------------------------------------------------------------------------------------------ moves

/// All results of a roll by the literal rules: with either order of the dice, four times for a double, move any checker
/// down by the die, or bear one off from that point, or from a lower one if none is higher.
fn moves_by_the_letter(side: Side, roll: Roll) -> HashSet<[u8; POINTS]> {
    let orders = match (roll.high(), roll.low()) {
        (a, b) if a == b => vec![vec![a; 4]],
        (a, b) => vec![vec![a, b], vec![b, a]],
    };
    let mut found = HashSet::new();
    for dice in orders {
        let mut boards = HashSet::from([side.counts()]);
        for die in dice.into_iter().map(usize::from) {
            let mut next = HashSet::new();
            for board in boards {
                if board == [0; POINTS] {
                    next.insert(board);
                }
                for point in (1..=POINTS).filter(|point| board[point - 1] > 0) {
                    let mut moved = board;
                    moved[point - 1] -= 1;
                    if point > die {
                        moved[point - die - 1] += 1;
                        next.insert(moved);
                    } else if point == die || board[point..].iter().all(|&n| n == 0) {
                        next.insert(moved);
                    }
                }
            }
            boards = next;
        }
        found.extend(boards);
    }
    found
}

fn assert_moves(side: Side) {
    for roll in ROLLS {
        let found = moves(side, roll);
        assert!(found.is_sorted_by(|a, b| a < b), "{side} {roll}: ascending, without repeats");
        let counts: HashSet<[u8; POINTS]> = found.into_iter().map(Side::counts).collect();
        assert_eq!(counts, moves_by_the_letter(side, roll), "{side} {roll}");
    }
}

#[test]
fn moves_of_all_sides_of_five_checkers_are_those_of_the_letter() {
    all_sides(5).into_iter().for_each(assert_moves);
}

#[test]
fn moves_of_large_sides_are_those_of_the_letter() {
    let mut rng = stream(1, "large sides", 0);
    for _ in 0..300 {
        let mut counts = [0; POINTS];
        (0..MAX_CHECKERS).for_each(|_| counts[rng.random_range(0..POINTS)] += 1);
        assert_moves(Side::new(counts).expect("they are 15"));
    }
}

#[test]
fn the_rolls_are_twenty_one_of_thirty_six_throws() {
    let throws: Vec<Roll> = (1..=6).flat_map(|a| (1..=6).filter_map(move |b| Roll::new(a, b))).collect();
    for roll in ROLLS {
        assert_eq!(throws.iter().filter(|&&t| t == roll).count(), roll.ways() as usize, "{roll}");
    }
    assert_eq!(HashSet::from(ROLLS).len(), 21);
    assert_eq!((Roll::new(0, 1), Roll::new(7, 1)), (None, None));
}

// ------------------------------------------------------------------------------------------------- game

#[test]
fn the_game_is_one_of_two_players_for_a_point() {
    let game = game();
    assert_eq!((game.name(), game.players(), game.zero_sum(), game.scale()), ("bearoff", 2, true, 1.0));
    assert_eq!(game.checkers(), 14);
    assert_eq!([0, 1, 15, 16].map(|n| Bearoff::new(n).is_some()), [false, true, true, false]);
}

#[test]
fn chance_draws_the_position_then_every_roll() {
    let game = game();
    let start = game.start();
    let mut outcomes = vec![(Action::Move(Side::EMPTY), 1.0)];
    assert_eq!((game.turn(&start), legal(&start), game.just_acted(&start)), (Turn::Chance, vec![], None));
    assert!(!game.outcomes(&start, &mut outcomes) && !game.is_small(), "they are too many to list");

    let position = Position { own: side("1,1,0,0,0,0"), opponent: side("0,0,0,0,0,2") };
    let state = after(&start, Action::Setup(position));
    assert_eq!(state, State { sides: [position.own, position.opponent], player: 0, stage: Stage::Roll });
    assert_eq!((game.turn(&state), legal(&state)), (Turn::Chance, vec![]));
    assert!(game.outcomes(&state, &mut outcomes));
    let rolls: Vec<(Action, f64)> = ROLLS.map(|r| (Action::Roll(r), f64::from(r.ways()) / 36.0)).into();
    assert_eq!(outcomes, rolls);
    assert!((outcomes.iter().map(|o| o.1).sum::<f64>() - 1.0).abs() < 1e-15);

    let state = after(&state, Action::Roll(roll("21")));
    assert_eq!((game.turn(&state), state.stage), (Turn::Player(0), Stage::Move(roll("21"))));
    assert_eq!(legal(&state), ["0,0,0,0,0,0", "1,0,0,0,0,0"].map(|left| Action::Move(side(left))));
    assert!(game.outcomes(&state, &mut outcomes) && outcomes.is_empty());
    assert_eq!(game.just_acted(&state), None, "the dice were last");
}

#[test]
fn players_alternate_and_the_last_mover_wins() {
    let state = at("1,1,0,0,0,0/0,0,0,0,0,2 11");
    let next = after(&state, legal(&state)[0]);
    assert_eq!((game().turn(&next), next.player, game().just_acted(&next)), (Turn::Over, 1, Some(0)));
    assert_eq!([0, 1].map(|player| game().utility(&next, player)), [1.0, -1.0]);
    let state = at("0,0,0,0,1,1/1,0,0,0,0,0 21");
    let next = after(&state, legal(&state)[0]);
    assert_eq!((game().turn(&next), next.player, game().just_acted(&next)), (Turn::Chance, 1, Some(0)));
    let moving = after(&next, Action::Roll(roll("66")));
    assert_eq!(game().turn(&moving), Turn::Player(1));
    let over = after(&moving, Action::Move(Side::EMPTY));
    assert_eq!([0, 1].map(|player| game().utility(&over, player)), [-1.0, 1.0]);
    assert_eq!((game().turn(&over), legal(&over)), (Turn::Over, vec![]));
    let mut outcomes = vec![(Action::Move(Side::EMPTY), 1.0)];
    assert!(game().outcomes(&over, &mut outcomes) && outcomes.is_empty());
    assert_eq!(game().info(&over, 0), over, "nothing is hidden");
}

/// Asserts that a frequency is within five standard deviations of its probability.
fn assert_frequency(name: &str, seen: usize, of: usize, p: f64) {
    let sd = (of as f64 * p * (1.0 - p)).sqrt();
    assert!((seen as f64 - of as f64 * p).abs() < 5.0 * sd, "{name}: {seen} of {of}, expected {p}");
}

#[test]
fn samples_follow_the_probabilities() {
    let mut rng = stream(1, "samples", 0);
    let mut count = |game: Bearoff, state: State, n: usize| {
        let mut seen = HashMap::new();
        (0..n).for_each(|_| *seen.entry(game.sample(&state, &mut rng)).or_insert(0) += 1);
        seen
    };
    let rolls = count(game(), at("1,1,0,0,0,0/0,0,0,0,0,2"), 36_000);
    for roll in ROLLS {
        assert_frequency(
            &roll.to_string(),
            rolls[&Action::Roll(roll)],
            36_000,
            f64::from(roll.ways()) / 36.0,
        );
    }
    // With at most two checkers, there are 27 nonempty sides.
    let small = Bearoff::new(2).expect("two are enough");
    let positions = count(small, small.start(), 72_900);
    assert_eq!(positions.len(), 27 * 27);
    for (position, n) in positions {
        let Action::Setup(p) = position else { panic!("{position:?}") };
        assert!(!p.is_over() && p.checkers() <= 2, "{p}");
        assert_frequency(&p.to_string(), n, 72_900, 1.0 / 729.0);
    }
    // Most of the sides of the whole game have 12 to 14 checkers.
    let positions = count(game(), game().start(), 2000);
    let full = positions.keys().filter(|a| matches!(a, Action::Setup(p) if p.own.checkers() == 14)).count();
    assert_frequency("14 checkers", full, 2000, (38_760.0 - 27_132.0) / 38_759.0);
}

/// The value for the player to roll under optimal play of both, by recursion over the game's rules.
fn value(state: &State, known: &mut HashMap<Position, f64>) -> f64 {
    if game().turn(state) == Turn::Over {
        return game().utility(state, state.player);
    }
    if let Some(value) = known.get(&state.position()) {
        return *value;
    }
    let mut outcomes = Vec::new();
    game().outcomes(state, &mut outcomes);
    let mut mean = 0.0;
    for (roll, p) in outcomes {
        let rolled = after(state, roll);
        let values = legal(&rolled).into_iter().map(|action| -value(&after(&rolled, action), known));
        mean += p * values.fold(f64::NEG_INFINITY, f64::max);
    }
    known.insert(state.position(), mean);
    mean
}

/// Reference values, exact to nine digits, for the player to roll.
#[test]
fn best_play_is_worth_what_is_known() {
    let mut known = HashMap::new();
    for (position, expected) in [
        ("1,0,0,0,0,0/1,0,0,0,0,0", 1.0),
        ("0,0,0,0,0,1/1,0,0,0,0,0", 0.5),
        ("0,0,0,0,0,1/0,0,0,0,0,1", 0.625),
        ("1,0,0,0,0,1/1,0,0,0,0,0", -0.166666667),
        ("0,0,0,0,0,2/1,0,0,0,0,0", -0.777777778),
        ("0,0,0,0,0,2/0,0,0,0,0,2", 0.508988698),
        ("0,1,0,0,1,0/0,0,3,0,0,0", 0.890303498),
        ("1,1,1,0,0,0/1,1,1,0,0,0", 0.760802469),
        ("2,0,2,0,0,0/2,0,0,0,0,2", 0.847355586),
        ("4,0,0,0,0,0/4,0,0,0,0,0", 0.722222222),
        ("7,0,0,0,0,0/0,0,4,0,0,0", -0.407610232),
        // With all moves; without apparently dominated ones it would be .501180.
        ("2,0,2,1,0,0/5,0,0,0,0,0", 0.511186),
    ] {
        let found = value(&at(position), &mut known);
        assert!((found - expected).abs() < 5e-7, "{position}: {found}, expected {expected}");
    }
}

/// A random game as a spectator would record it.
fn record(game: Bearoff, seed: u64, boards: bool) -> String {
    let mut rng = stream(seed, "golden", 0);
    let (mut text, mut state) = (String::new(), game.start());
    loop {
        if boards {
            text.push_str(&game.texts().board(&game, &state, &[], 0));
        }
        let _ = write!(text, "{:<34}", game.position_text(&state));
        let (name, action) = match game.turn(&state) {
            Turn::Over => break,
            Turn::Chance => {
                let action = game.sample(&state, &mut rng);
                (game.texts().chance(&game, &state, &action, 0), action)
            }
            Turn::Player(player) => {
                let actions = legal(&state);
                let action = actions[rng.random_range(0..actions.len())];
                let name = game.action_text(&state, &action);
                (format!("player {} takes {name}, 1 of {}", player + 1, actions.len()), action)
            }
        };
        let _ = writeln!(text, "{name}");
        game.apply(&mut state, &action);
    }
    let _ = writeln!(text, "utilities {:+} {:+}", game.utility(&state, 0), game.utility(&state, 1));
    text
}

#[test]
fn golden_games() {
    insta::assert_snapshot!("whole_game", record(game(), 1, false));
    insta::assert_snapshot!("short_game", record(Bearoff::new(4).expect("four are enough"), 2, true));
}

prop_compose! {
    /// A decision of either player, of sides as a game begins with them.
    fn decisions()(own in 1..38_760usize, opponent in 1..38_760usize, k in 0..21usize, player in 0..2usize) -> State {
        State { sides: [Side::of_rank(own), Side::of_rank(opponent)], player, stage: Stage::Move(ROLLS[k]) }
    }
}

proptest! {
    #[test]
    fn the_dice_of_a_decision_give_its_actions(state in decisions()) {
        let Stage::Move(roll) = state.stage else { panic!("{state:?}") };
        let mut afterstates = Vec::new();
        let decision = DicePosition { position: state.position(), roll };
        decision.afterstates(&mut afterstates);
        prop_assert_eq!(legal(&state), afterstates.iter().copied().map(Action::Move).collect::<Vec<_>>());
        for left in afterstates {
            prop_assert_eq!(after(&state, Action::Move(left)).position(), decision.after(left));
        }
    }
}

// -------------------------------------------------------------------------------------------- encoders

fn encoder(name: &str) -> Arc<dyn Encoder<Bearoff>> {
    game().encoders().open(name).expect("there is such an encoder")
}

/// The 56 inputs as digits, one field per word.
fn bits(state: &State, player: usize) -> String {
    let mut dense = vec![0.0; 56];
    let afterstate = Afterstate { state, action: None, player };
    encoder("bits").encode(&game(), afterstate, RowMut { dense: &mut dense, index: &mut [] });
    let digit = |x: &f32| if *x == 1.0 { '1' } else { '0' };
    let field = |f: &[f32]| f.iter().map(digit).collect::<String>();
    dense.chunks_exact(4).map(field).collect::<Vec<_>>().join(" ")
}

/// Fields of four bits, lowest first: points 1 to 6 and off, of the player who just moved and of the one to roll.
#[test]
fn golden_rows_of_bits() {
    // Player 1, to roll, has 1, 2, 3 checkers on the points 1 to 3; player 2 has just moved and has 8 on its 6 point.
    let state = at("1,2,3,0,0,0/0,0,0,0,0,8");
    assert_eq!(
        bits(&state, 1),
        // ........ the side that just moved, 6 off .......... the side to roll, 8 off
        "0000 0000 0000 0000 0000 0001 0110 1000 0100 1100 0000 0000 0000 0001"
    );
    // From the other view, the two halves swap.
    assert_eq!(bits(&state, 0), "1000 0100 1100 0000 0000 0000 0001 0000 0000 0000 0000 0000 0001 0110");
    // All of a side on one point: 14 = 2 + 4 + 8.
    let state = at("14,0,0,0,0,0/0,0,0,0,5,4");
    assert_eq!(bits(&state, 1), "0000 0000 0000 0000 1010 0010 1010 0111 0000 0000 0000 0000 0000 0000");
}

/// The inputs of a channel by name, three digits each.
fn inputs(name: &str, channel: &str, text: &str, player: usize) -> String {
    let encoder = encoder(name);
    let widths = encoder.channels().iter().map(|c| match c.kind {
        ChannelKind::Dense(n) | ChannelKind::Bits(n) => n,
        _ => 0,
    });
    let widths: Vec<usize> = widths.collect();
    let mut dense = vec![0.0; widths.iter().sum()];
    let state = at(text);
    let afterstate = Afterstate { state: &state, action: None, player };
    encoder.encode(&game(), afterstate, RowMut { dense: &mut dense, index: &mut [0] });
    let number = encoder.channels().iter().position(|c| c.name == channel).expect("there is such a channel");
    let first: usize = widths[..number].iter().sum();
    dense[first..][..widths[number]].iter().map(|x| format!("{x:.3}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn golden_rows_of_features() {
    // Player 1, to roll: 14 pips, 6 checkers, no gap. Player 2 has just moved: 45 pips, 9 checkers, four gaps.
    let text = "1,2,3,0,0,0/0,0,0,0,9,0";
    // Pips / 20, checkers / 7, half / 4, odd, gaps / 3, on point 1 / 4; the side that moved first.
    assert_eq!(
        inputs("simple", "simple", text, 1),
        "2.250 1.286 1.250 1.000 1.333 0.000 0.700 0.857 0.750 0.000 0.000 0.250"
    );
    assert_eq!(
        inputs("counts", "counts", text, 1),
        "0.000 0.000 0.000 0.000 2.250 0.000 0.250 0.500 0.750 0.000 0.000 0.000"
    );
    // One checker on point 6 goes off with probability 27/36 at once, two on point 1 always.
    let text = "2,0,0,0,0,0/0,0,0,0,0,1";
    assert_eq!(inputs("distribution:2", "distribution", text, 1), "1.500 0.500 2.000 0.000");
    assert_eq!(inputs("distribution:2", "distribution", text, 0), "2.000 0.000 1.500 0.500");
    assert_eq!(inputs("rolls", "rolls", text, 1), "0.417 0.333");
    // Four checkers on 4 and 6 go off within two rolls in 14 cases of 1296 more if they hurry, within three in 16 of 46,656; three
    // on 5 and 6 within two in 2.
    assert_eq!(inputs("haste:3", "haste", "0,0,0,0,1,2/0,0,0,2,0,2", 1)[..18].trim(), "0.000 0.324 0.010");
    assert_eq!(inputs("haste:3", "haste", "0,0,0,0,1,2/0,0,0,2,0,2", 0)[..18].trim(), "0.000 0.046 0.000");
    // Pips / 20, checkers / 7, mean / 3, sd, wastage / 5, odd: mean 1.25 and sd √(.25 · .75).
    assert_eq!(
        inputs("one-sided", "one_sided", text, 1),
        "0.300 0.143 0.417 0.433 0.842 1.000 0.100 0.286 0.333 0.000 1.233 0.000"
    );
}

#[test]
fn unions_put_their_parts_side_by_side() {
    let joined = encoder("one-sided+distribution:3+phase:4");
    let names: Vec<&str> = joined.channels().iter().map(|c| c.name.as_ref()).collect();
    assert_eq!(names, ["bits", "one_sided", "distribution", "phase"]);
    assert_eq!(joined.name(), "one-sided+distribution:3+phase:4");
    let text = "1,2,3,0,0,0/0,0,0,0,9,0";
    for (own, channel) in [
        ("bits", "bits"),
        ("one-sided", "one_sided"),
        ("race", "one_sided"),
        ("distribution:3", "distribution"),
    ] {
        let alone = inputs(own, channel, text, 1);
        assert_eq!(inputs("one-sided+distribution:3+phase:4", channel, text, 1), alone);
    }
    // 45 pips and 9 checkers are 63, 14 and 6 are 26: in steps of 16 the cells 3 and 1, of 28 the cells 2 and 0, of 2 the
    // last one and 13.
    for (phase, cell) in [("phase", 13), ("phase:4", 13), ("phase:4:112", 8), ("phase:8:16", 7 * 8 + 7)] {
        let (state, mut index) = (at(text), [99]);
        let mut dense = vec![0.0; 56 + 12 + 6];
        let after = Afterstate { state: &state, action: None, player: 1 };
        let joined = encoder(&format!("one-sided+distribution:3+{phase}"));
        joined.encode(&game(), after, RowMut { dense: &mut dense, index: &mut index });
        assert_eq!(index, [cell], "{phase}");
    }
    // Means of 1.25 and 1 rolls: (ln 1.75 − ln 1.5) / (ln 14.5 − ln 1.5) is .068, of 512 steps the 34th, of 16 the first.
    for (name, cells) in [("pace", &[34, 0][..]), ("phase+pace:16", &[0, 1, 0])] {
        let (state, mut index) = (at("2,0,0,0,0,0/0,0,0,0,0,1"), vec![99; cells.len()]);
        let after = Afterstate { state: &state, action: None, player: 1 };
        encoder(name).encode(&game(), after, RowMut { dense: &mut [], index: &mut index });
        assert_eq!(index, cells, "{name}");
    }
    for wrong in [
        "",
        "bits+",
        "no",
        "bits:3",
        "distribution:0",
        "distribution:31",
        "distribution:2+distribution:3",
        "haste:0",
        "haste:2+haste:3",
        "phase:1",
        "phase:4:15",
        "phase:4:64:1",
        "pace:15",
        "pace:4097",
    ] {
        assert!(game().encoders().open(wrong).is_none(), "{wrong}");
    }
    assert!(game().encoders().open("simple+one-sided").is_some_and(|e| e.channels().len() == 3));
}

#[test]
fn encoders_are_listed_with_what_they_show() {
    let game = GameInfo::of(&game());
    let names: Vec<&str> = game.encoders.iter().map(|e| e.name.as_ref()).collect();
    assert_eq!(
        names,
        ["bits", "simple", "one-sided", "race", "rolls", "counts", "distribution", "haste", "phase", "pace"]
    );
    let inputs = |place: usize| -> Vec<ChannelKind> {
        encoder(names[place]).channels().iter().map(|c| c.kind).collect()
    };
    assert_eq!(inputs(0), [ChannelKind::Bits(56)]);
    assert_eq!(inputs(1), [ChannelKind::Bits(56), ChannelKind::Dense(12)]);
    assert_eq!(inputs(2), inputs(1));
    assert!(game.scripts.is_empty());
    assert!(names.iter().all(|name| !encoder(name).needs_action()));
}

// ---------------------------------------------------------------------------------------- positions, examples

#[test]
fn drawn_positions_have_numbers_of_their_own() {
    let game = game();
    let draw = game.positions().draw("small").expect("there is such a distribution");
    let mut rng = stream(1, "test", 0);
    let mut numbers = HashMap::new();
    for _ in 0..2000 {
        let state = draw(&mut rng);
        assert_eq!((state.stage, state.player), (Stage::Roll, 0));
        assert_eq!(*numbers.entry((game.positions().number)(&state)).or_insert(state), state);
    }
    assert!(numbers.len() > 1500 && game.positions().draw("no").is_none());
    assert_eq!(game.positions().names()[0].name, "table");
}

/// Every class lists its positions once, and together they are all positions.
#[test]
fn classes_hold_all_positions() {
    let game = Bearoff::new(4).expect("four are enough");
    let mut numbers = HashSet::new();
    let positions = game.positions();
    for class in &positions.classes {
        for number in 0..class.count {
            let state = (class.position)(number);
            assert_eq!((positions.class)(&state), class.class, "{state:?}");
            assert!(!state.is_over() && numbers.insert((positions.number)(&state)), "{state:?} twice");
        }
    }
    // C(10, 6) sides, without the empty one.
    assert_eq!(numbers.len(), 209 * 209);
    let counts: Vec<u64> = positions.classes.iter().map(|class| class.count).collect();
    assert_eq!(counts, [36, 27 * 27 - 36, 83 * 83 - 27 * 27, 209 * 209 - 83 * 83]);
}

/// `even` gives each number of checkers of each side the same share, and so each side of this number.
#[test]
fn even_positions_have_every_number_of_checkers() {
    let game = Bearoff::new(3).expect("three are enough");
    let draw = game.positions().draw("even").expect("there is such a distribution");
    let (mut rng, mut found) = (stream(1, "test", 0), HashMap::new());
    const COUNT: usize = 60_000;
    for _ in 0..COUNT {
        *found.entry(draw(&mut rng).position().own).or_insert(0) += 1;
    }
    // 6, 21 and 56 sides of one, two and three checkers.
    assert_eq!(found.len(), 83);
    for (side, n) in found {
        let share = 1.0 / 3.0 / [6.0, 21.0, 56.0][usize::from(side.checkers()) - 1];
        assert_frequency(&side.to_string(), n, COUNT, share);
    }
}

#[test]
fn fifteen_checkers_are_a_game_of_their_own() {
    let game = Bearoff::named("bearoff:15").expect("it is a game");
    assert_eq!(
        (game.name(), game.checkers(), Bearoff::named("bearoff:14")),
        ("bearoff:15", 15, Some(self::game()))
    );
    assert!(Bearoff::named("bearoff:16").is_none() && Bearoff::named("bearoff:0").is_none());
    let far = "0,0,0,0,0,15/0,0,0,0,0,15";
    let (state, _) = game.parse_position(far).expect("it is a position");
    assert_eq!((game.positions().class)(&state), 15);
    let error = self::game().parse_position(far).unwrap_err().to_string();
    assert!(error.contains("at most 14: `bearoff:15` is the game for it"), "{error}");
    // Every input of every encoder, for the sides of 15 checkers.
    let largest = game.positions().classes.pop().expect("there are classes");
    let encoders = game.encoders();
    for named in encoders.names() {
        let encoder = encoders.open(&named.name).expect("it is listed");
        let floats = encoder.channels().iter().map(|c| c.kind.dense_width());
        let size = |c: &Channel| if let ChannelKind::Index(n) = c.kind { Some(n) } else { None };
        let sizes: Vec<u64> = encoder.channels().iter().filter_map(size).collect();
        let (mut dense, mut index) = (vec![f32::NAN; floats.sum()], vec![u64::MAX; sizes.len()]);
        for state in (0..15_504).map(|i| (largest.position)(i * (largest.count / 15_504))) {
            let after = Afterstate { state: &state, action: None, player: 1 };
            encoder.encode(&game, after, RowMut { dense: &mut dense, index: &mut index });
            assert!(dense.iter().all(|v| (-1.0..=9.0).contains(v)), "{}: {state:?}: {dense:?}", named.name);
            assert!(index.iter().zip(&sizes).all(|(i, n)| i < n), "{}: {state:?}: {index:?}", named.name);
        }
    }
}

/// The positions of a file with their values for the side that just moved, and their lines.
fn examples(text: &str) -> Result<Vec<(State, f64, u64)>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("some.csv");
    std::fs::write(&file, text).expect("it is written");
    let read = game().files().read_examples(&game(), &file);
    let read = read.map_err(|e| e.to_string().replace(&file.display().to_string(), "FILE"))?;
    assert_eq!(game().files().has_values(&game(), &file), Ok(true), "{text}");
    let positions = game().files().read(&game(), &file).unwrap().into_iter().map(|read| read.0);
    assert!(positions.eq(read.iter().map(|example| example.state)), "{text}");
    Ok(read.into_iter().map(|example| (example.state, example.value, example.line)).collect())
}

#[test]
fn examples_are_read_for_the_side_that_just_moved() {
    let head = "own1,own2,own3,own4,own5,own6,opp1,opp2,opp3,opp4,opp5,opp6,value\n";
    let read = |rows: &str| examples(&format!("{head}{rows}"));
    let one = at("1,0,0,0,0,0/0,0,0,0,0,2");
    assert_eq!(read("1,0,0,0,0,0,0,0,0,0,0,2,0.25\n"), Ok(vec![(one, -0.25, 2)]));
    let error = read("1,0,0,0,0,0,0,0,0,0,0,0,1\n").unwrap_err();
    assert!(error.starts_with("FILE: line 2: a side has no checker"), "{error}");
    let error = read("1,0,0,0,0,0,0,0,0,0,0,15,1\n").unwrap_err();
    assert!(error.starts_with("FILE: line 2: a side has 15 checkers, and `bearoff` at most 14"), "{error}");
    let error = read("1,0,0,0,0,0,0,0,0,0,0,2,0,25\n").unwrap_err();
    assert!(
        error.starts_with("FILE: line 2: has 14 fields for 13 columns: between commas write 0.5"),
        "{error}"
    );
    let error = read("1,0,0.5,0,0,0,0,0,0,0,0,2,0\n").unwrap_err();
    assert_eq!(error, "FILE: line 2, column own3: `0.5` is not a number of checkers");
}

#[test]
fn examples_of_other_programs_are_read() {
    let (one, two) = (at("1,0,0,0,0,0/0,0,0,0,0,2"), at("1,1,1,1,1,1/0,0,0,0,0,2"));
    let expected = Ok(vec![(one, -0.5, 2), (two, 0.25, 3)]);
    let (id, xgid) = (one.position().id(), one.position().xgid(None));
    let [other_id, other_xgid] = [two.position().id(), two.position().xgid(None)];
    for text in [
        // Columns in another order, more of them, decimal commas, a byte order mark, lines that end as on Windows.
        "\u{feff}Value;note;opp1;opp2;opp3;opp4;opp5;opp6;own1;own2;own3;own4;own5;own6\r\n\
         0,5;x;0;0;0;0;0;2;1;0;0;0;0;0\r\n-0,25;;0;0;0;0;0;2;1;1;1;1;1;1\r\n",
        &format!("position_id,win\n{id},0.75\n{other_id},0.375\n"),
        &format!("Position ID\tp_win\n{id}\t0,75\n{other_id}\t0,375\n"),
        &format!("xgid,value\n{xgid},0.5\n{other_xgid},-0.25\n"),
        "value,position\n.5,\"1,0,0,0,0,0/0,0,0,0,0,2\"\n-.25,\"1,1,1,1,1,1/0,0,0,0,0,2\"\n",
        "position;value\n1,0,0,0,0,0/0,0,0,0,0,2;0.5\n1,1,1,1,1,1/0,0,0,0,0,2;-0.25\n",
    ] {
        assert_eq!(examples(text), expected, "{text}");
    }
    let rolled = one.position().xgid(Some("65".parse().unwrap()));
    let error = examples(&format!("xgid,value\n{rolled},0.5\n")).unwrap_err();
    assert!(error.contains("has the roll 65; values are those of positions before the roll"), "{error}");
    let error = examples("position,value\n1,0,0,0,0,0/0,0,0,0,0,2,0.5\n").unwrap_err();
    assert!(error.contains("put a position that contains commas in quotation marks"), "{error}");
    let error = examples("own1,own2,own3,own4,own5,own6,opp1,opp2,opp3,opp4,opp5,value\n").unwrap_err();
    assert_eq!(error, "FILE: lacks the columns opp6");
    let error = examples("a,b\n1,2\n").unwrap_err();
    assert!(
        error.starts_with("FILE: the first line is `a,b`; it must name the columns own1,own2"),
        "{error}"
    );
}
