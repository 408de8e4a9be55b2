//! Two tiny games, which the examples of this documentation use: [`Nim`] has neither chance nor hidden information, [`Bluff`]
//! has both. They are complete: their source is a template for games of your own.
//!
//! ```
//! use adept_game::laws::{Budget, check};
//! use adept_game::tiny::{Bluff, Nim};
//!
//! assert!(check(&Nim::default(), &Budget::short()).holds());
//! assert!(check(&Bluff, &Budget::short()).holds());
//! ```

use crate::encoder::{Afterstate, Encoder, EncoderFn, Encoders};
use crate::files::ParsedPosition;
use crate::game::{Counting, Game, GameError, Turn};
use crate::kit::Kit;
use crate::public_tree::PublicTree;
use crate::texts::Texts;
use adept_rows::{Channel, ChannelKind, RowMut};
use std::sync::Arc;

/// Nim: a move takes any number of things from one of three heaps; the player who takes the last thing wins.
///
/// ```
/// use adept_game::{Game, tiny::Nim};
///
/// let game = Nim { heaps: [1, 2, 3] };
/// assert_eq!(game.position_text(&game.start()), "1 2 3 @1");
/// assert!(game.parse_position("9 9 9 @1").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nim {
    /// Things in each heap at the start.
    pub heaps: [u8; 3],
}

impl Default for Nim {
    /// Heaps of 3, 4 and 5 things.
    fn default() -> Self {
        Self { heaps: [3, 4, 5] }
    }
}

/// A position of [`Nim`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Heaps {
    /// Things left in each heap.
    pub left: [u8; 3],
    /// The player to move.
    pub mover: usize,
}

/// A move of [`Nim`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Take {
    /// The heap, from 0.
    pub heap: usize,
    /// How many things are taken from it.
    pub count: u8,
}

impl Game for Nim {
    type State = Heaps;
    type Action = Take;
    type Info = Heaps;

    fn name(&self) -> &str {
        "nim"
    }

    fn players(&self) -> usize {
        2
    }

    fn start(&self) -> Heaps {
        Heaps { left: self.heaps, mover: 0 }
    }

    fn turn(&self, state: &Heaps) -> Turn {
        if state.left == [0; 3] { Turn::Over } else { Turn::Player(state.mover) }
    }

    fn actions(&self, state: &Heaps, actions: &mut Vec<Take>) {
        let of = |heap: usize| (1..=state.left[heap]).map(move |count| Take { heap, count });
        actions.clear();
        actions.extend((0..3).flat_map(of));
    }

    fn apply(&self, state: &mut Heaps, take: &Take) {
        state.left[take.heap] -= take.count;
        state.mover = 1 - state.mover;
    }

    fn utility(&self, state: &Heaps, player: usize) -> f64 {
        if player == state.mover { -1.0 } else { 1.0 }
    }

    fn counting(&self) -> Counting {
        Counting::Wins
    }

    fn just_acted(&self, state: &Heaps) -> Option<usize> {
        (state.left != self.heaps).then_some(1 - state.mover)
    }

    fn info(&self, state: &Heaps, _: usize) -> Heaps {
        *state
    }

    fn position_text(&self, state: &Heaps) -> String {
        let Heaps { left: [a, b, c], mover } = state;
        format!("{a} {b} {c} @{}", mover + 1)
    }

    fn parse_position(&self, text: &str) -> Result<ParsedPosition<Self>, GameError> {
        let numbers: Vec<u8> = text.split([' ', '@']).filter_map(|word| word.parse().ok()).collect();
        match numbers[..] {
            [a, b, c, seat @ 1..=2] if a <= self.heaps[0] && b <= self.heaps[1] && c <= self.heaps[2] => {
                Ok((Heaps { left: [a, b, c], mover: usize::from(seat) - 1 }, None))
            }
            _ => Err(GameError::new(format!("`{text}`: write three heaps and who is to move: 3 4 5 @1"))),
        }
    }

    fn action_text(&self, _: &Heaps, take: &Take) -> String {
        format!("{} from {}", take.count, take.heap + 1)
    }
}

impl Kit for Nim {
    fn encoders(&self) -> Encoders<'_, Self> {
        let channel =
            Channel::fixed("heaps", ChannelKind::Dense(3), "things left in each heap, divided by 8");
        let write = |_: &Self, after: Afterstate<'_, Self>, row: RowMut<'_>| {
            (0..3).for_each(|heap| row.dense[heap] = f32::from(after.state.left[heap]) / 8.0);
        };
        EncoderFn::new("heaps", vec![channel], write).listed("the things left in each heap")
    }

    fn is_small(&self) -> bool {
        true
    }
}

/// Bluff: player 1 gets a card from 1 to 3, which the other does not see, and claims to have one of the three. Player 2 believes
/// or doubts it. A believed claim is worth the claim minus 2 to player 1. A doubted one is worth 2 if it is true and −2 if not.
///
/// ```
/// use adept_game::{Game, tiny::{Bluff, Call}};
///
/// let (mut hand, _) = Bluff.parse_position("1 3 -")?; // a bluff: the card is 1, the claim is 3
/// assert_eq!(Bluff.position_text(&Bluff.shown_to(&hand, 1)), "? 3 -");
/// Bluff.apply(&mut hand, &Call::Doubt);
/// assert_eq!(Bluff.utility(&hand, 0), -2.0);
/// # Ok::<(), adept_game::GameError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bluff;

/// A position of [`Bluff`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hand {
    /// The card of player 1.
    pub card: Card,
    /// What is public.
    pub table: Table,
}

/// The card of [`Bluff`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Card {
    /// Not dealt yet.
    None,
    /// Dealt, and not shown to the player who looks.
    Hidden,
    /// Dealt: 1, 2 or 3.
    Dealt(u8),
}

/// The public part of a position of [`Bluff`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Table {
    /// The claim.
    pub claim: Option<u8>,
    /// Whether player 2 believed it.
    pub believed: Option<bool>,
}

/// What happens in [`Bluff`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Chance deals this card.
    Deal(u8),
    /// Player 1 claims to have this card.
    Claim(u8),
    /// Player 2 believes the claim.
    Believe,
    /// Player 2 doubts the claim.
    Doubt,
}

impl Game for Bluff {
    type State = Hand;
    type Action = Call;
    type Info = Hand;

    fn name(&self) -> &str {
        "bluff"
    }

    fn players(&self) -> usize {
        2
    }

    fn start(&self) -> Hand {
        Hand { card: Card::None, table: self.root() }
    }

    fn turn(&self, state: &Hand) -> Turn {
        if state.card == Card::None { Turn::Chance } else { self.public_turn(&state.table) }
    }

    fn actions(&self, state: &Hand, actions: &mut Vec<Call>) {
        actions.clear();
        if state.card != Card::None {
            self.public_actions(&state.table, actions);
        }
    }

    fn apply(&self, state: &mut Hand, call: &Call) {
        match call {
            Call::Deal(card) => state.card = Card::Dealt(*card),
            _ => state.table = self.public_apply(&state.table, call),
        }
    }

    fn outcomes(&self, state: &Hand, outcomes: &mut Vec<(Call, f64)>) -> bool {
        outcomes.clear();
        if state.card == Card::None {
            outcomes.extend((1..=3).map(|card| (Call::Deal(card), 1.0 / 3.0)));
        }
        true
    }

    fn utility(&self, state: &Hand, player: usize) -> f64 {
        let Card::Dealt(card) = state.card else { return 0.0 };
        let first = self.payoff(&state.table, [usize::from(card) - 1, 0]);
        if player == 0 { first } else { -first }
    }

    fn scale(&self) -> f64 {
        2.0
    }

    fn hides(&self) -> bool {
        true
    }

    fn shown_to(&self, state: &Hand, player: usize) -> Hand {
        match state.card {
            Card::Dealt(_) if player == 1 => Hand { card: Card::Hidden, ..*state },
            _ => *state,
        }
    }

    fn info(&self, state: &Hand, player: usize) -> Hand {
        self.shown_to(state, player)
    }

    fn position_text(&self, Hand { card, table }: &Hand) -> String {
        let number = |number: Option<u8>| number.map_or("-".into(), |number| number.to_string());
        let card = match card {
            Card::Hidden => "?".into(),
            Card::Dealt(card) => number(Some(*card)),
            Card::None => number(None),
        };
        let answer = match table.believed {
            None => "-",
            Some(true) => "believed",
            Some(false) => "doubted",
        };
        format!("{card} {} {answer}", number(table.claim))
    }

    fn parse_position(&self, text: &str) -> Result<ParsedPosition<Self>, GameError> {
        let fault = || GameError::new(format!("`{text}`: write a card, a claim and an answer: 1 3 doubted"));
        let number = |word: &str| word.parse().ok().filter(|number| (1..=3).contains(number));
        let [card, claim, answer] = text.split(' ').collect::<Vec<_>>()[..] else { return Err(fault()) };
        let card = match card {
            "-" => Card::None,
            "?" => Card::Hidden,
            dealt => Card::Dealt(number(dealt).ok_or_else(fault)?),
        };
        let claim = if claim == "-" { None } else { Some(number(claim).ok_or_else(fault)?) };
        let believed = match answer {
            "-" => None,
            "believed" => Some(true),
            "doubted" => Some(false),
            _ => return Err(fault()),
        };
        let in_order = (card != Card::None || claim.is_none()) && (claim.is_some() || believed.is_none());
        let state = Hand { card, table: Table { claim, believed } };
        if in_order { Ok((state, None)) } else { Err(fault()) }
    }

    fn action_text(&self, _: &Hand, call: &Call) -> String {
        match call {
            Call::Deal(card) => format!("card {card}"),
            Call::Claim(claim) => format!("claim {claim}"),
            Call::Believe => "believe".into(),
            Call::Doubt => "doubt".into(),
        }
    }
}

impl PublicTree for Bluff {
    type Public = Table;

    fn privates(&self, player: usize) -> Vec<f64> {
        if player == 0 { vec![1.0 / 3.0; 3] } else { vec![1.0] }
    }

    fn root(&self) -> Table {
        Table::default()
    }

    fn public_turn(&self, table: &Table) -> Turn {
        match table {
            Table { claim: None, .. } => Turn::Player(0),
            Table { believed: None, .. } => Turn::Player(1),
            _ => Turn::Over,
        }
    }

    fn public_actions(&self, table: &Table, actions: &mut Vec<Call>) {
        actions.clear();
        match self.public_turn(table) {
            Turn::Player(0) => actions.extend((1..=3).map(Call::Claim)),
            Turn::Player(_) => actions.extend([Call::Believe, Call::Doubt]),
            _ => {}
        }
    }

    fn public_apply(&self, table: &Table, call: &Call) -> Table {
        match call {
            Call::Claim(claim) => Table { claim: Some(*claim), ..*table },
            other => Table { believed: Some(*other == Call::Believe), ..*table },
        }
    }

    fn payoff(&self, table: &Table, own: [usize; 2]) -> f64 {
        let claim = table.claim.map_or(0, usize::from);
        match table.believed {
            Some(true) => claim as f64 - 2.0,
            Some(false) if claim == own[0] + 1 => 2.0,
            Some(false) => -2.0,
            None => 0.0,
        }
    }

    fn state(&self, table: &Table, own: [usize; 2]) -> Hand {
        Hand { card: Card::Dealt(own[0] as u8 + 1), table: *table }
    }
}

/// The encoder of [`Bluff`]: the own card, the claim and the answer, a bit each.
struct Bits([Channel; 1]);

impl Encoder<Bluff> for Bits {
    fn name(&self) -> &str {
        "bits"
    }

    fn channels(&self) -> &[Channel] {
        &self.0
    }

    fn encode(&self, game: &Bluff, after: Afterstate<'_, Bluff>, row: RowMut<'_>) {
        // The game hides something, so that the state is the one before the action.
        let table =
            after.action.map_or(after.state.table, |call| game.public_apply(&after.state.table, call));
        let mut set = |bit: u8| row.dense[usize::from(bit)] = 1.0;
        if let (Card::Dealt(card), 0) = (after.state.card, after.player) {
            set(card - 1);
        }
        table.claim.into_iter().for_each(|claim| set(2 + claim));
        table.believed.into_iter().for_each(|believed| set(6 + u8::from(believed)));
    }
}

impl Texts<Bluff> for Bluff {
    fn missing(&self, _: &Bluff, state: &Hand, player: usize) -> Option<&'static str> {
        (player == 0 && state.card == Card::Hidden).then_some("its card")
    }
}

impl Kit for Bluff {
    fn encoders(&self) -> Encoders<'_, Self> {
        const ABOUT: &str = "0-2 own card, 3-5 claim, 6 doubted, 7 believed";
        let encoder: Arc<dyn Encoder<Self>> =
            Arc::new(Bits([Channel::fixed("bits", ChannelKind::Bits(8), ABOUT)]));
        Encoders::one("bits", "the own card, the claim and the answer", encoder)
    }

    fn is_small(&self) -> bool {
        true
    }

    fn texts(&self) -> &dyn Texts<Self> {
        self
    }
}
