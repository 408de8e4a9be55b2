//! Cards and sets of cards.

use adept_game::GameError;
use std::fmt;
use std::str::FromStr;

/// Cards of a deck.
pub const DECK: usize = 52;
/// Ranks, from the deuce up, and suits as they are written.
const RANKS: &str = "23456789TJQKA";
const SUITS: &str = "cdhs";

/// A card: 4 · rank + suit, with rank 0 for the deuce to 12 for the ace, and suits clubs, diamonds, hearts, spades.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Card(u8);

impl Card {
    /// The card of this rank, 0 to 12, and suit, 0 to 3. None if there is no such card.
    pub fn new(rank: u8, suit: u8) -> Option<Self> {
        (rank < 13 && suit < 4).then_some(Self(4 * rank + suit))
    }

    /// The card with this number, 0 to 51.
    pub fn of_number(number: u8) -> Option<Self> {
        (usize::from(number) < DECK).then_some(Self(number))
    }

    /// All cards, the deuces first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..DECK as u8).map(Self)
    }

    /// From 0 to 51.
    #[inline]
    pub fn number(self) -> usize {
        self.0.into()
    }

    /// Its number.
    #[inline]
    pub(super) fn byte(self) -> u8 {
        self.0
    }

    /// From 0, the deuce, to 12, the ace.
    #[inline]
    pub fn rank(self) -> u8 {
        self.0 / 4
    }

    /// 0 clubs, 1 diamonds, 2 hearts, 3 spades.
    #[inline]
    pub fn suit(self) -> u8 {
        self.0 % 4
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |letters: &str, at: u8| letters.chars().nth(at.into()).unwrap_or('?');
        write!(f, "{}{}", letter(RANKS, self.rank()), letter(SUITS, self.suit()))
    }
}

impl FromStr for Card {
    type Err = GameError;

    fn from_str(text: &str) -> Result<Self, GameError> {
        let mut letters = text.chars();
        let place = |letters: &str, letter: Option<char>| {
            let letter = letter?;
            letters.chars().position(|l| l.eq_ignore_ascii_case(&letter))
        };
        let card = match (place(RANKS, letters.next()), place(SUITS, letters.next()), letters.next()) {
            (Some(rank), Some(suit), None) => Self::new(rank as u8, suit as u8),
            _ => None,
        };
        card.ok_or_else(|| {
            GameError::new(format!(
                "`{text}` is not a card: write a rank of {RANKS} and a suit of {SUITS}, such as Ah"
            ))
        })
    }
}

/// A set of cards, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CardSet(u64);

impl CardSet {
    /// No cards.
    pub const EMPTY: Self = Self(0);

    /// Adds a card.
    pub fn insert(&mut self, card: Card) {
        self.0 |= 1 << card.0;
    }

    /// Whether the card is in the set.
    pub fn contains(self, card: Card) -> bool {
        self.0 >> card.0 & 1 == 1
    }

    /// Number of cards.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there are no cards.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The cards in order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = Card> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let first = (left != 0).then(|| Card(left.trailing_zeros() as u8));
            left &= left.wrapping_sub(1);
            first
        })
    }
}

impl FromIterator<Card> for CardSet {
    fn from_iter<I: IntoIterator<Item = Card>>(cards: I) -> Self {
        let mut set = Self::EMPTY;
        cards.into_iter().for_each(|card| set.insert(card));
        set
    }
}

/// Reads cards written one after another, with or without spaces: `Ah Kd` or `AhKd`.
///
/// # Errors
/// The first text that is not a card, or a card that comes twice.
pub fn parse_cards(text: &str) -> Result<Vec<Card>, GameError> {
    let letters: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut seen = CardSet::EMPTY;
    let mut cards = Vec::with_capacity(letters.len() / 2);
    for pair in letters.chunks(2) {
        let card: Card = pair.iter().collect::<String>().parse()?;
        if seen.contains(card) {
            return Err(GameError::new(format!("`{text}` has the card {card} twice")));
        }
        seen.insert(card);
        cards.push(card);
    }
    Ok(cards)
}
