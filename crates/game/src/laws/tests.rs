//! A game that keeps the laws, and breaks the one that a test asks for.

use super::{Budget, Ends, Law, check};
use crate::{
    Afterstate, Agents, Channel, ChannelKind, EncoderFn, Encoders, Game, GameError, Kit, Listing, Numbering,
    OutcomeClass, OutcomeMask, Results, RowMut, Turn,
};
use std::sync::Arc;

/// What is wrong with the game.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Nothing,
    NoActions,
    TooMany,
    Twice,
    SumOfChance,
    BeyondScale,
    NotZeroSum,
    Position,
    Action,
    Leak,
    HidesNothing,
    Nan,
    Peeks,
    Turn,
    Panics,
    Script,
    Endless,
    Sample,
    Classes,
    Impossible,
    Regained,
    Lopsided,
}

/// Chance deals a card to each player; they bid in turn, and the higher card wins when the bids reach five.
struct Bids(Fault);

/// Cards, 0 before the deal; the sum of the bids; and who is to move.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    cards: [u8; 2],
    sum: u8,
    player: usize,
}

impl Game for Bids {
    type State = State;
    type Action = u8;
    type Info = State;

    fn name(&self) -> &str {
        "bids"
    }

    fn players(&self) -> usize {
        2
    }

    fn start(&self) -> State {
        State { cards: [0; 2], sum: 0, player: 0 }
    }

    fn turn(&self, state: &State) -> Turn {
        match state {
            State { cards: [_, 0], .. } => Turn::Chance,
            State { sum: 5.., .. } if self.0 != Fault::Endless => Turn::Over,
            _ if self.0 == Fault::Turn && state.sum > 1 => Turn::Player(2),
            _ => Turn::Player(state.player),
        }
    }

    fn actions(&self, state: &State, actions: &mut Vec<u8>) {
        actions.clear();
        match self.turn(state) {
            Turn::Player(_) if self.0 == Fault::NoActions && state.sum == 4 => {}
            Turn::Player(_) if self.0 == Fault::Twice => actions.extend([1, 2, 1]),
            Turn::Player(_) if self.0 == Fault::Panics && state.sum == 3 => panic!("no bid is made of three"),
            Turn::Player(_) => actions.extend([1, 2]),
            _ => {}
        }
    }

    fn apply(&self, state: &mut State, action: &u8) {
        match state.cards {
            [0, _] => state.cards[0] = *action,
            [_, 0] => state.cards[1] = *action,
            _ => {
                state.sum = state.sum.saturating_add(*action).min(9);
                state.player = 1 - state.player;
            }
        }
    }

    fn outcomes(&self, _: &State, outcomes: &mut Vec<(u8, f64)>) -> bool {
        let third = if self.0 == Fault::SumOfChance { 0.3 } else { 1.0 / 3.0 };
        outcomes.clear();
        if self.0 != Fault::Sample {
            outcomes.extend([(1, third), (2, third), (3, third)]);
        }
        self.0 != Fault::Sample
    }

    fn utility(&self, state: &State, player: usize) -> f64 {
        let size = if self.0 == Fault::BeyondScale { 2.0 } else { 1.0 };
        let won = state.cards[0].cmp(&state.cards[1]) as i8;
        let won = if self.0 == Fault::NotZeroSum || player == 0 { won } else { -won };
        size * f64::from(won)
    }

    fn hides(&self) -> bool {
        true
    }

    fn shown_to(&self, state: &State, player: usize) -> State {
        let mut shown = state.clone();
        if self.0 != Fault::HidesNothing && shown.cards[1 - player] > 0 {
            shown.cards[1 - player] = 9;
        }
        shown
    }

    fn info(&self, state: &State, player: usize) -> State {
        if self.0 == Fault::Leak { state.clone() } else { self.shown_to(state, player) }
    }

    fn position_text(&self, state: &State) -> String {
        let State { cards: [a, b], sum, player } = state;
        format!("{a} {b} {sum} {player}")
    }

    fn parse_position(&self, text: &str) -> Result<(State, Option<u8>), GameError> {
        let numbers: Vec<u8> = text.split(' ').filter_map(|word| word.parse().ok()).collect();
        let &[a, b, sum, player] = &numbers[..] else { return Err(GameError::new("write four numbers")) };
        let sum = if self.0 == Fault::Position { 0 } else { sum };
        Ok((State { cards: [a, b], sum, player: player.into() }, None))
    }

    fn action_text(&self, _: &State, action: &u8) -> String {
        if self.0 == Fault::Action { "bid".into() } else { action.to_string() }
    }
}

impl Kit for Bids {
    fn action_numbers(&self) -> Numbering<Self> {
        Numbering::at_most(if self.0 == Fault::TooMany { 1 } else { 2 + usize::from(self.0 == Fault::Twice) })
    }

    fn results(&self) -> Results<Self> {
        let classes = |game: &Self| {
            let is_faulty = game.0 == Fault::Classes;
            Ok(if is_faulty { OutcomeClass::loss_win() } else { OutcomeClass::loss_draw_win() })
        };
        Results { possible, ..Results::of(classes) }
    }

    fn encoders(&self) -> Encoders<'_, Self> {
        let write = |game: &Self, after: Afterstate<'_, Self>, row: RowMut<'_>| {
            let seat = if game.0 == Fault::Peeks { 1 - after.player } else { after.player };
            row.dense[0] = after.state.cards[seat].into();
            row.dense[1] = if game.0 == Fault::Nan { f32::NAN } else { after.state.sum.into() };
        };
        let channels = vec![Channel::fixed("all", ChannelKind::Dense(2), "the card and the sum")];
        EncoderFn::new("all", channels, write).listed("the card, the sum and the bid")
    }

    fn agents(&self) -> Agents<'_, Self> {
        let low = |game: &Self, _: &State, actions: &[u8], p: &mut Vec<f64>| {
            p.clear();
            let sure = if game.0 == Fault::Script { 0.5 } else { 1.0 };
            p.extend((0..actions.len()).map(|i| if i == 0 { sure } else { 0.0 }));
        };
        Agents::scripts(Listing::one("low", "bids one", Arc::new(low)))
    }
}

fn possible(game: &Bids, classes: &[OutcomeClass], state: &State, player: usize) -> OutcomeMask {
    let excluded = match game.0 {
        Fault::Impossible if state.sum > 2 => 1.0 - 2.0 * player as f32,
        Fault::Regained if state.sum < 2 => 0.0,
        Fault::Lopsided => 1.0,
        _ => return OutcomeMask::ALL,
    };
    OutcomeMask::from_classes(classes, |class| class.utility != excluded)
}

#[test]
fn a_game_that_keeps_the_laws_is_told_so() {
    let report = check(&Bids(Fault::Nothing), &Budget::default());
    assert!(report.holds() && report.games == 200 && report.left == 0, "{report}");
    assert!(report.to_string().starts_with("bids keeps all laws (200 random games, "), "{report}");
}

#[test]
fn ends_of_random_games_are_counted() {
    let report = check(&Bids(Fault::Nothing), &Budget::default());
    let Ends { games, wins, draws, .. } = &report.ends;
    assert!(*games >= report.games && wins.iter().sum::<u64>() + draws == *games, "{report}");
    assert!(report.ends.length() > 0.0, "{report}");
    let mut ends = Ends::default();
    for (utilities, moves) in [([1.0, -1.0], 5), ([0.0, 0.0], 9), ([-1.0, 1.0], 6), ([-0.5, 0.5], 8)] {
        ends.add(&utilities, moves);
    }
    let text = "won by each player 25.0, 50.0 %, drawn 25.0 %, 7.0 moves on average";
    assert_eq!(ends.to_string(), text);
    let mut alone = Ends::default();
    [1.0, 0.0, -1.0, 0.5].into_iter().for_each(|utility| alone.add(&[utility], 3));
    assert_eq!((alone.shares(), alone.drawn()), (vec![0.5], 0.25));
}

#[test]
fn each_fault_is_found_by_its_law() {
    use Fault::*;
    for (fault, law, found) in [
        (NoActions, Law::Actions, "is to move and has no action"),
        (TooMany, Law::Actions, "there are 2 actions, but `most_actions` is 1"),
        (Twice, Law::Actions, "`1` is listed twice"),
        (SumOfChance, Law::Outcomes, "sum to 0.8"),
        (BeyondScale, Law::Utilities, "outside −1..1"),
        (NotZeroSum, Law::Utilities, "of a zero-sum game sum to"),
        (Position, Law::Texts, "the position reads back as"),
        (Action, Law::Texts, "the action `bid` reads back as"),
        (Leak, Law::Info, "but `info` tells them apart"),
        (HidesNothing, Law::Info, "can tell all positions apart"),
        (Nan, Law::Encoders, "input 1 of channel `all` is NaN, not finite"),
        (Peeks, Law::Encoders, "`all` reads what player"),
        (Turn, Law::Turns, "it is the turn of player 2 of 2"),
        (Panics, Law::NoPanic, "a method panicked: no bid is made of three"),
        (Script, Law::Scripts, "`low` gives probabilities with sum 0.5"),
        (Endless, Law::Ends, "a random game is not over after 10000 actions"),
        (
            Sample,
            Law::NoPanic,
            "bids: it is chance's turn, `outcomes` lists none, and `sample` is not implemented",
        ),
        (Classes, Law::Classes, "is in no class of `results`"),
        (Impossible, Law::Classes, "with `win`, which was not possible in a state on the way"),
        (Regained, Law::Classes, "`draw` is possible for player 0, which it was not before"),
        (Lopsided, Law::Classes, "one of `loss` for player 0 and `win` for player 1 is possible"),
    ] {
        let report = check(&Bids(fault), &Budget::default());
        let breach = report.breaches.iter().find(|breach| breach.law == law);
        let breach = breach.unwrap_or_else(|| panic!("{fault:?}: {report}"));
        assert!(breach.found.contains(found), "{fault:?}: {breach}");
        assert!(
            report.to_string().contains(&format!("seed {}, ply {}", breach.seed, breach.ply)),
            "{report}"
        );
    }
}

#[test]
fn the_last_seeds_are_played() {
    let report = check(&Bids(Fault::Nothing), &Budget { seed: u64::MAX - 1, ..Budget::default() });
    assert!(report.holds() && report.games == 2, "{report}");
}

#[test]
fn the_budget_bounds_games_plies_and_states() {
    let budget = Budget { games: 3, ..Budget::default() };
    assert_eq!(check(&Bids(Fault::Nothing), &budget).games, 3);
    assert_eq!(check(&Bids(Fault::Endless), &Budget { games: 0, ..budget }).breaches, []);
    let short = check(&Bids(Fault::Nothing), &Budget { plies: 2, ..budget });
    assert_eq!((short.games, short.left), (0, 3));
    assert!(check(&Bids(Fault::Nothing), &Budget { states: 20, ..Budget::default() }).states <= 20);
}
