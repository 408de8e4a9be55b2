//! The rules of fixed-limit Texas hold'em: blinds, bets, all-ins, side pots.

use super::cards::Card;
use super::state::{Action, BOARD, Deal, Entry, MAX_PLAYERS, MOST_RAISES, Phase, ROUNDS, State};
use super::strength::{Hand, Strength, Strengths};
use adept_game::GameError;
use rand::{Rng, RngExt};
use std::fmt::Write;

/// Fixed-limit Texas hold'em with these stakes.
///
/// Two cards each; bets before the flop, on three cards, on the turn and on the river; the best five of seven cards win. Bets
/// have a fixed size, and their number in a round is limited.
///
/// A player without enough chips pays what is left and plays for that part of the pot. After a raise of less
/// than half a bet, with the last chips, players who have acted may only call it or fold. It counts as one of the bets of the round,
/// and the next raise adds a full bet, as in PokerKit. Odd chips of a shared pot go to the first winners after the button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holdem {
    pub(super) name: String,
    pub(super) players: u8,
    pub(super) stakes: Stakes,
}

/// Stakes in chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stakes {
    /// Small and big blind.
    pub blinds: [u32; 2],
    /// Size of bets and raises in each round.
    pub bets: [u32; ROUNDS],
    /// Largest number of raises in each round; before the flop without the big blind, later including the first bet.
    pub raises: [u8; ROUNDS],
    /// Chips of each seat at the start; [`NO_LIMIT`] for unlimited chips.
    pub stacks: [u32; MAX_PLAYERS],
}

impl Default for Stakes {
    /// Bets of 10 and 20 as at a $10/$20 table, four bets a round.
    fn default() -> Self {
        Self {
            blinds: [5, 10],
            bets: [10, 10, 20, 20],
            raises: [3, 4, 4, 4],
            stacks: [NO_LIMIT; MAX_PLAYERS],
        }
    }
}

impl Stakes {
    /// The most that a player can pay in a hand.
    pub fn most_paid(&self) -> u32 {
        let bets = self.bets.iter().zip(self.raises).map(|(bet, raises)| bet * u32::from(raises));
        self.blinds[1] + bets.sum::<u32>()
    }
}

/// Stack of a player with unlimited chips.
pub const NO_LIMIT: u32 = u32::MAX;

/// Largest bet, blind or stack in chips.
const MOST_CHIPS: u32 = 1_000_000;

impl Holdem {
    /// A game for 2 to 10 players.
    ///
    /// # Errors
    /// Which number is out of range.
    pub fn new(players: usize, stakes: Stakes) -> Result<Self, GameError> {
        let fault = |what: String| Err(GameError::new(what));
        if !(2..=MAX_PLAYERS).contains(&players) {
            return fault(format!("hold'em has 2 to {MAX_PLAYERS} players, found {players}"));
        }
        let Stakes { blinds: [small, big], bets, raises, stacks } = stakes;
        if small > big || big == 0 || big > MOST_CHIPS {
            return fault(format!(
                "blinds={small}/{big}: the small one is at most the big one, this at most {MOST_CHIPS}"
            ));
        }
        if let Some(bet) = bets.iter().find(|bet| !(1..=MOST_CHIPS).contains(*bet)) {
            return fault(format!("a bet of {bet}: it has 1 to {MOST_CHIPS} chips"));
        }
        if let Some(most) = raises.iter().find(|most| **most > MOST_RAISES) {
            return fault(format!("{most} raises: at most {MOST_RAISES} in a round"));
        }
        let fits = |stack: u32| stack == NO_LIMIT || (big..=MOST_CHIPS).contains(&stack);
        if let Some(stack) = stacks[..players].iter().find(|stack| !fits(**stack)) {
            return fault(format!("stack={stack}: from the big blind, {big}, to {MOST_CHIPS}"));
        }
        let name = name_of(players, &stakes);
        Ok(Self { name, players: players as u8, stakes })
    }

    /// The stakes.
    pub fn stakes(&self) -> &Stakes {
        &self.stakes
    }

    pub(super) fn seats(&self) -> usize {
        self.players.into()
    }

    /// The seats of the small and the big blind.
    pub fn blind_seats(&self) -> [usize; 2] {
        if self.players == 2 { [1, 0] } else { [0, 1] }
    }

    /// The seat that would act first in a round.
    pub(super) fn first(&self, round: usize) -> usize {
        match (round, self.players) {
            (0, 2) => 1,
            (0, players) => 2 % usize::from(players),
            _ => 0,
        }
    }

    fn chips(&self, state: &State, player: usize) -> u32 {
        self.stakes.stacks[player] - state.paid[player]
    }

    fn everyone(&self) -> u16 {
        ((1u32 << self.players) - 1) as u16
    }

    /// Whether the mover may bet or raise.
    pub(super) fn may_raise(&self, state: &State) -> bool {
        let (round, mover) = (usize::from(state.round), usize::from(state.mover));
        let done = state.bets - u8::from(round == 0);
        if done >= self.stakes.raises[round] || state.has_acted(mover) {
            return false;
        }
        // Another player must be able to pay more, and the mover must have chips beyond the call.
        let mut others = self.everyone() & !state.folded & !state.all_in & !(1 << mover);
        while others != 0 && self.stakes.stacks[others.trailing_zeros() as usize] <= state.level {
            others &= others - 1;
        }
        others != 0 && self.chips(state, mover) > state.to_call(mover)
    }

    pub(super) fn pay(&self, state: &mut State, player: usize, amount: u32) {
        let chips = self.chips(state, player);
        state.paid[player] += amount.min(chips);
        if amount >= chips {
            state.all_in |= 1 << player;
        }
    }

    /// Applies an action of the mover.
    pub(super) fn act(&self, state: &mut State, action: Action) {
        let mover = usize::from(state.mover);
        let owed = state.to_call(mover);
        state.acted |= 1 << mover;
        state.moved |= 1 << mover;
        match action {
            Action::Fold => {
                state.folded |= 1 << mover;
                state.history.push(Entry::Fold);
            }
            Action::Call => {
                self.pay(state, mover, owed);
                state.called |= 1 << mover;
                state.history.push(Entry::Call);
            }
            Action::Raise => {
                let bet = self.stakes.bets[usize::from(state.round)];
                self.pay(state, mover, owed + bet);
                let more = state.paid[mover] - state.level;
                state.level = state.paid[mover];
                state.bets += 1;
                if 2 * more >= bet {
                    state.acted = 1 << mover;
                }
                state.raised_late |= state.called & 1 << mover;
                state.history.push(Entry::Raise);
            }
            Action::Deal(_) => {}
        }
        self.go_on(state);
    }

    /// Finds the next mover, or ends the round or the hand.
    fn go_on(&self, state: &mut State) {
        let left = self.everyone() & !state.folded;
        if left & (left - 1) == 0 {
            state.phase = Phase::Over;
            return;
        }
        let able = left & !state.all_in;
        let seats = self.seats();
        for step in 1..=seats {
            let seat = (usize::from(state.mover) + step) % seats;
            let owes = state.paid[seat] < state.level;
            if able >> seat & 1 == 1 && (owes || !state.has_acted(seat) && self.others_can_act(able, seat)) {
                state.mover = seat as u8;
                state.phase = Phase::Act;
                return;
            }
        }
        self.end_round(state);
    }

    /// Whether another player could answer a bet of this seat.
    fn others_can_act(&self, able: u16, seat: usize) -> bool {
        able & !(1 << seat) != 0
    }

    fn end_round(&self, state: &mut State) {
        state.history.push(Entry::End);
        state.phase = if usize::from(state.round) + 1 == ROUNDS { Phase::Over } else { Phase::Deal };
    }

    /// Number of cards that chance deals next.
    pub(super) fn cards_to_deal(&self, state: &State) -> usize {
        match state.paid[self.blind_seats()[1]] {
            0 => 2 * self.seats(),
            _ => BOARD[usize::from(state.round) + 1] - usize::from(state.board_cards),
        }
    }

    pub(super) fn deal(&self, state: &mut State, deal: &Deal) {
        let seats = self.seats();
        if state.paid[self.blind_seats()[1]] == 0 {
            let mut cards = deal.cards().map(|card| card.map_or(u8::MAX, Card::byte));
            for seat in 0..seats {
                state.hole[seat] = [cards.next().unwrap_or(u8::MAX), cards.next().unwrap_or(u8::MAX)];
            }
            for (seat, blind) in self.blind_seats().into_iter().zip(self.stakes.blinds) {
                self.pay(state, seat, blind);
            }
            state.level = self.stakes.blinds[1];
            state.bets = 1;
            state.mover = ((self.first(0) + seats - 1) % seats) as u8;
        } else {
            for card in deal.cards() {
                let at = usize::from(state.board_cards);
                if at < state.board.len() {
                    state.board[at] = card.map_or(u8::MAX, Card::byte);
                    state.board_cards += 1;
                }
            }
            state.round += 1;
            state.bets = 0;
            state.acted = 0;
            state.moved = 0;
            state.called = 0;
            state.mover = (seats - 1) as u8;
        }
        self.go_on(state);
    }

    /// Draws a random deal.
    pub(super) fn draw(&self, state: &State, rng: &mut dyn Rng) -> Deal {
        let mut seen = state.seen();
        Deal::new((0..self.cards_to_deal(state)).map(|_| {
            loop {
                let card = Card::of_number(rng.random_range(0..52u8))?;
                if !seen.contains(card) {
                    seen.insert(card);
                    return Some(card);
                }
            }
        }))
    }

    /// Net win or loss of each player in a finished hand, in chips.
    pub fn payoffs(&self, state: &State) -> [i64; MAX_PLAYERS] {
        let seats = self.seats();
        let mut net = [0i64; MAX_PLAYERS];
        for (net, paid) in net.iter_mut().zip(&state.paid) {
            *net = -i64::from(*paid);
        }
        let left = self.everyone() & !state.folded;
        if left & (left - 1) == 0 {
            if left != 0 {
                net[left.trailing_zeros() as usize] += i64::from(state.pot());
            }
            return net;
        }
        let table = Strengths::shared();
        let board = state.board().fold(Hand::default(), Hand::with);
        let mut strengths = [Strength::default(); MAX_PLAYERS];
        for (seat, strength) in strengths.iter_mut().enumerate().take(seats) {
            if let Some([a, b]) = state.hole(seat).filter(|_| left >> seat & 1 == 1) {
                *strength = table.strength(&board.with(a).with(b));
            }
        }
        // One pot per level of payments; usually there is only one.
        let mut below = 0;
        loop {
            let above = (0..seats).filter(|s| left >> s & 1 == 1 && state.paid[*s] > below);
            let Some(top) = above.map(|seat| state.paid[seat]).min() else { break };
            let part = |paid: u32| i64::from(paid.clamp(below, top) - below);
            let pot: i64 = state.paid[..seats].iter().map(|paid| part(*paid)).sum();
            let plays = |s: usize| left >> s & 1 == 1 && state.paid[s] >= top;
            let best = (0..seats).filter(|s| plays(*s)).map(|s| strengths[s]).max();
            let wins = |s: usize| plays(s) && Some(strengths[s]) == best;
            let winners = (0..seats).filter(|s| wins(*s)).count() as i64;
            let mut odd = pot % winners;
            for (seat, net) in net.iter_mut().enumerate().take(seats) {
                if wins(seat) {
                    *net += pot / winners + i64::from(odd > 0);
                    odd -= i64::from(odd > 0);
                }
            }
            below = top;
        }
        net
    }
}

/// Prefix of the names of all rule sets.
pub(super) const PREFIX: &str = "holdem:limit:";

/// Description of a name's options for messages.
const OPTIONS: &str = "options after the number of players are blinds=5/10, bets=10/20 (or four), cap=4 (bets a round, with the big \
                       blind; or raises=3/4/4/4) and stack=200 (or one for each seat, 200/50), joined by colons";

/// The name of a rule set; it lists only differences from the default.
fn name_of(players: usize, stakes: &Stakes) -> String {
    let usual = Stakes::default();
    let mut name = format!("{PREFIX}{players}");
    let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join("/");
    if stakes.blinds != [stakes.bets[0] / 2, stakes.bets[0]] {
        let _ = write!(name, ":blinds={}", list(&stakes.blinds));
    }
    if stakes.bets != usual.bets {
        let [a, b, c, d] = stakes.bets;
        let _ = write!(name, ":bets={}", if a == b && c == d { list(&[a, c]) } else { list(&stakes.bets) });
    }
    let raises = stakes.raises;
    if raises != usual.raises {
        let _ = match raises {
            [first, a, b, c] if a == b && b == c && u16::from(first) + 1 == u16::from(a) => {
                write!(name, ":cap={a}")
            }
            _ => write!(name, ":raises={}", list(&raises.map(u32::from))),
        };
    }
    let stacks = &stakes.stacks[..players];
    if stacks != &usual.stacks[..players] {
        let same = stacks.iter().all(|stack| *stack == stacks[0]);
        let _ = write!(name, ":stack={}", list(if same { &stacks[..1] } else { stacks }));
    }
    name
}

/// Parses the name of a rule set; none if it belongs to another game.
pub fn named(name: &str) -> Option<Result<Holdem, GameError>> {
    if name != "holdem" && !name.starts_with("holdem:") {
        return None;
    }
    let fault =
        |what: &str| GameError::new(format!("`{name}`: {what}; write {PREFIX}2 to {PREFIX}10; {OPTIONS}"));
    let read = || {
        let mut parts = name.strip_prefix(PREFIX).ok_or_else(|| fault("no such game"))?.split(':');
        let players = parts.next().unwrap_or_default();
        let players: usize =
            players.parse().map_err(|_| fault(&format!("`{players}` is not a number of players")))?;
        let (mut stakes, mut blinds, mut keys) = (Stakes::default(), None, Vec::new());
        for part in parts {
            let wrong = || fault(&format!("`{part}` is not an option"));
            let (key, value) = part.split_once('=').ok_or_else(wrong)?;
            // `raises` is a synonym of `cap`.
            let meant = if key == "raises" { "cap" } else { key };
            if keys.contains(&meant) {
                return Err(fault(&format!("`{part}` comes after another option of its kind")));
            }
            keys.push(meant);
            let numbers: Result<Vec<u32>, _> = value.split('/').map(str::parse).collect();
            let numbers = numbers.map_err(|_| wrong())?;
            let small = |n: u32| u8::try_from(n).map_err(|_| wrong());
            match (key, &numbers[..]) {
                ("blinds", &[small, big]) => blinds = Some([small, big]),
                ("bets", &[low, high]) => stakes.bets = [low, low, high, high],
                ("bets", &[a, b, c, d]) => stakes.bets = [a, b, c, d],
                ("cap", &[cap]) if cap > 0 => {
                    let cap = small(cap)?;
                    stakes.raises = [cap - 1, cap, cap, cap];
                }
                ("raises", &[a, b, c, d]) => stakes.raises = [small(a)?, small(b)?, small(c)?, small(d)?],
                ("stack", &[stack]) => stakes.stacks.fill(stack),
                ("stack", all) if all.len() == players && players <= MAX_PLAYERS => {
                    stakes.stacks[..players].copy_from_slice(all)
                }
                _ => return Err(wrong()),
            }
        }
        stakes.blinds = blinds.unwrap_or([stakes.bets[0] / 2, stakes.bets[0]]);
        Holdem::new(players, stakes).map_err(|e| fault(&e.to_string()))
    };
    Some(read())
}
