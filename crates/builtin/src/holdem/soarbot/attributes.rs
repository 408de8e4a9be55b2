//! State attributes that rules read.

use super::super::cards::Card;
use super::super::equity::{preflop, strength_now, worth};
use super::super::rules::Holdem;
use super::super::state::{ROUNDS, State};
use super::flags::{Flag, Flags, Straights, analyse};
use super::profile::{Condition, Number, Profile, Proposed, Relation, Rule, Value};
use std::cell::Cell;

/// Pot odds of a free card.
const FREE: f64 = 9999.0;

/// Odd mixing constant with balanced bits: 2⁶⁴ / the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Position of a player in the order from the button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timing {
    Button,
    Blind,
    Early,
    Middle,
    Late,
}

impl Timing {
    /// The timing of a seat, numbered from the first one after the button.
    fn from_seat(seat: usize, players: usize) -> Self {
        let early = players.saturating_sub(7);
        let middle = players.saturating_sub(4).min(3);
        match seat {
            _ if seat + 1 == players => Self::Button,
            0 | 1 => Self::Blind,
            _ if seat < 2 + early => Self::Early,
            _ if seat < 2 + early + middle => Self::Middle,
            _ => Self::Late,
        }
    }

    fn flag(self) -> Flag {
        [Flag::Button, Flag::Blind, Flag::Early, Flag::Middle, Flag::Late][self as usize]
    }
}

/// The attributes of a decision that rules read.
#[derive(Clone, Debug)]
pub(super) struct Attributes {
    /// The stage, from 0 before the flop.
    pub(super) stage: usize,
    pub(super) hole: [Card; 2],
    pub(super) board: [Card; 5],
    pub(super) board_cards: usize,
    pub(super) flags: Flags,
    pub(super) to_call: f64,
    pub(super) bet_size: f64,
    pub(super) bets: f64,
    pub(super) max_bets: f64,
    pub(super) active: f64,
    pub(super) players: f64,
    pub(super) pot: f64,
    pub(super) unacted: f64,
    /// Probability that the own hand is the best one; computed on demand.
    pub(super) probability: Cell<f64>,
}

impl Attributes {
    /// The attributes of the player, who is to move. `None` if the own cards are not known.
    pub(super) fn new(game: &Holdem, state: &State, player: usize, straights: Straights) -> Option<Self> {
        let (hole, stage) = (state.hole(player)?, state.round());
        let (mut board, mut board_cards) = ([hole[0]; 5], 0);
        for card in state.board() {
            board[board_cards] = card;
            board_cards += 1;
        }
        let mut flags = match board_cards {
            0 => Flags::default(),
            cards => analyse(hole, &board[..cards], straights),
        };
        let [small, big] = game.blind_seats();
        flags.set(Timing::from_seat(player, game.seats()).flag(), true);
        flags.set(Flag::SmallBlind, player == small);
        flags.set(Flag::BigBlind, player == big);
        let left = |seat: &usize| !state.has_folded(*seat);
        let waiting = |seat: &usize| {
            *seat == player || left(seat) && !state.is_all_in(*seat) && !state.has_moved(*seat)
        };
        let raises = game.stakes().raises[stage.min(ROUNDS - 1)];
        let mut attributes = Self {
            stage,
            hole,
            board,
            board_cards,
            flags,
            to_call: f64::from(state.to_call(player)),
            bet_size: f64::from(game.stakes().bets[stage]),
            bets: f64::from(state.bets()),
            max_bets: f64::from(u32::from(raises) + u32::from(stage == 0)),
            active: (0..game.seats()).filter(left).count() as f64,
            players: game.seats() as f64,
            pot: f64::from(state.pot()),
            unacted: (0..game.seats()).filter(waiting).count() as f64,
            probability: Cell::new(f64::NAN),
        };
        attributes.suit();
        Some(attributes)
    }

    /// Sets the flags of the own cards before the flop.
    pub(super) fn suit(&mut self) {
        let [a, b] = self.hole;
        self.flags.set(Flag::Suited, a.suit() == b.suit());
        self.flags.set(Flag::PairInHole, a.rank() == b.rank());
    }

    pub(super) fn board(&self) -> &[Card] {
        &self.board[..self.board_cards]
    }

    /// HR^(n − 1): the probability of being ahead of all others, if their cards are uniformly random.
    fn best_hand(&self) -> f64 {
        if self.probability.get().is_nan() {
            let one = match self.board() {
                [] => preflop(self.hole),
                board => strength_now(self.hole, board),
            };
            self.probability.set(one.powf(self.active - 1.0));
        }
        self.probability.get()
    }

    /// Pot divided by the amount to call, rounded to two decimals.
    fn pot_odds(&self) -> f64 {
        if self.to_call > 0.0 { (100.0 * self.pot / self.to_call).round() / 100.0 } else { FREE }
    }

    fn potentials(&self) -> (f64, f64) {
        match self.board() {
            board @ ([_, _, _] | [_, _, _, _]) => {
                let worth = worth(self.hole, board);
                (worth.better, worth.worse)
            }
            _ => (0.0, 0.0),
        }
    }

    pub(super) fn number(&self, number: Number, strength: f64) -> f64 {
        // Ranks are counted from 2, the deuce, to 14, the ace.
        let ranks = self.hole.map(|card| f64::from(card.rank()) + 2.0);
        match number {
            Number::Strength => strength,
            Number::BetsToCall => self.to_call / self.bet_size,
            Number::Bets => self.bets,
            Number::MaxBets => self.max_bets,
            Number::Active => self.active,
            Number::Players => self.players,
            Number::Pot => self.pot,
            Number::BetSize => self.bet_size,
            Number::PotOdds => self.pot_odds(),
            Number::Unacted => self.unacted,
            Number::Probability => self.best_hand(),
            Number::Potential => self.potentials().0,
            Number::NegativePotential => self.potentials().1,
            Number::AdjustedOdds => {
                let (better, worse) = self.potentials();
                (self.best_hand() + better - worse) * self.pot_odds()
            }
            Number::High => ranks[0].max(ranks[1]),
            Number::Low => ranks[0].min(ranks[1]),
            Number::Hutchison => hutchison(self.hole),
        }
    }

    /// One line with the exact chances and the pot odds.
    pub(super) fn chances(&self) -> String {
        let worth = worth(self.hole, self.board());
        let mut text = format!(
            "against one random hand: share of the pot {:.3}, ahead now {:.3}",
            worth.equity, worth.now
        );
        if matches!(self.board_cards, 3 | 4) {
            text.push_str(&format!(", better next card {:.3}, worse {:.3}", worth.better, worth.worse));
        }
        if self.to_call > 0.0 {
            text.push_str(&format!("; pot odds {}", self.pot_odds()));
        }
        text
    }

    fn holds(&self, condition: &Condition, flags: Flags, strength: f64) -> bool {
        match condition {
            Condition::Any(any) => flags.0 & any.0 != 0,
            Condition::None(none) => flags.0 & none.0 == 0,
            Condition::Compare(number, relation, value) => {
                let right = match value {
                    Value::Constant(constant) => *constant,
                    Value::Number(number) => self.number(*number, strength),
                };
                relation.holds(self.number(*number, strength), right)
            }
        }
    }

    fn flags_with(&self, maybe: bool, used: bool) -> Flags {
        let mut flags = self.flags;
        flags.set(Flag::Maybe, maybe);
        flags.set(Flag::CheckRaiseUsed, used);
        flags
    }

    /// All strengths that the rules assign to this hand.
    pub(super) fn strengths<'p>(
        &'p self,
        profile: &'p Profile,
        flags: Flags,
    ) -> impl Iterator<Item = f64> + 'p {
        let all = profile.stages[self.stage].strengths.iter();
        all.filter(move |(_, when)| when.iter().all(|c| self.holds(c, flags, f64::INFINITY)))
            .map(|(is, _)| *is)
    }

    /// Calls `each` with every rule that fires; returns the lowest strength.
    pub(super) fn fire<'p>(
        &self,
        profile: &'p Profile,
        (maybe, used): (bool, bool),
        mut each: impl FnMut(&'p Rule),
    ) -> f64 {
        let flags = self.flags_with(maybe, used);
        let strength = self.strengths(profile, flags).fold(f64::INFINITY, f64::min);
        for rule in &profile.stages[self.stage].rules {
            if rule.when.iter().all(|condition| self.holds(condition, flags, strength)) {
                each(rule);
            }
        }
        strength
    }

    /// Hashes which conditions of the stage's rules hold into a key, starting with `begin`. Hidden flags are not set.
    pub(super) fn read(&self, profile: &Profile, begin: u64) -> u64 {
        let flags = self.flags_with(false, false);
        let strength = self.strengths(profile, flags).fold(f64::INFINITY, f64::min);
        let stage = &profile.stages[self.stage];
        let begin = begin.wrapping_mul(MIX) ^ strength.to_bits();
        let conditions = stage.rules.iter().flat_map(|rule| &rule.when);
        conditions.fold(begin.wrapping_mul(MIX), |key, condition| {
            // An odd factor preserves all differences; the rotation brings high bits back down.
            (key.rotate_left(23) ^ u64::from(self.holds(condition, flags, strength))).wrapping_mul(MIX)
        })
    }

    /// Probability of each proposal: fold, call, raise, check-raise. Those with the highest score share it.
    pub(super) fn proposals(&self, profile: &Profile, hidden: (bool, bool)) -> [f64; 4] {
        let (mut best, mut counts) = (f64::NEG_INFINITY, [0.0; 4]);
        self.fire(profile, hidden, |rule| {
            if rule.score > best {
                (best, counts) = (rule.score, [0.0; 4]);
            }
            if rule.score == best {
                counts[rule.action as usize] += 1.0;
            }
        });
        let all: f64 = counts.iter().sum();
        // Without any proposal, the player calls.
        if all == 0.0 { [0.0, 1.0, 0.0, 0.0] } else { counts.map(|n| n / all) }
    }

    /// A condition as text, with the numbers that it compared.
    pub(super) fn text(&self, condition: &Condition, strength: f64) -> Option<String> {
        match condition {
            Condition::Compare(number, relation, value) => {
                let right = match value {
                    Value::Constant(constant) => constant.to_string(),
                    Value::Number(number) => number.name().to_string(),
                };
                let found = (1000.0 * self.number(*number, strength)).round() / 1000.0;
                let shown = if *relation == Relation::Equal {
                    String::new()
                } else {
                    format!(" {} {right}", relation.sign())
                };
                Some(format!("{} {found}{shown}", number.name()))
            }
            Condition::Any(any) => {
                let set = Flags(self.flags.0 & any.0);
                set.names().next().map(Into::into)
            }
            Condition::None(_) => None,
        }
    }
}

/// Hutchison's points of two hole cards.
fn hutchison(hole: [Card; 2]) -> f64 {
    let points = |card: Card| match card.rank() {
        12 => 16,
        11 => 14,
        10 => 13,
        9 => 12,
        8 => 11,
        rank => i32::from(rank) + 2,
    };
    let gap = (i32::from(hole[0].rank()) - i32::from(hole[1].rank())).abs();
    let near = match gap {
        0 => 10,
        1..=3 => 4 - gap,
        _ => 0,
    };
    f64::from(points(hole[0]) + points(hole[1]) + near + if hole[0].suit() == hole[1].suit() { 4 } else { 0 })
}

/// The name of a proposal.
pub(super) fn proposal_name(proposal: usize) -> &'static str {
    [Proposed::Fold, Proposed::Call, Proposed::Raise, Proposed::CheckRaise][proposal].name()
}
