//! The encoder of hold'em: a player's knowledge at a decision, and a move.

use super::equity::worth;
use super::rules::Holdem;
use super::soarbot::{Flag, Straights, analyse};
use super::state::{Action, Entry, MAX_PLAYERS, ROUNDS, State};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, Game, RowMut};

/// Own cards, board, exact chances, betting so far, and the move.
#[derive(Clone, Debug)]
pub struct Features {
    channels: Vec<Channel>,
}

const RANKS: usize = 13;
/// Number of flags of own cards and board, in enumeration order.
const FLAGS: usize = Flag::BlankOnBoard as usize + 1;
/// Number of buckets of the share of the pot.
const SHARES: u64 = 64;
/// Number of bet counts that a round distinguishes.
const BETS: usize = 5;

impl Features {
    /// Name of the encoder.
    pub const NAME: &str = "features";
}

impl Default for Features {
    fn default() -> Self {
        use ChannelKind::{Bits, Dense, Index};
        let list: [(&str, ChannelKind, &str); 9] = [
            (
                "cards",
                Bits(2 + 2 * RANKS),
                "own cards: 1 suited, 2 pair, 3–15 the higher rank from the deuce, 16–28 the lower one",
            ),
            (
                "chances",
                Dense(4),
                "exact, against one random hand, by enumeration: expected share of the pot, chance to be ahead now, PPot and \
                 NPot, one card ahead (0 on the river)",
            ),
            (
                "texture",
                Bits(FLAGS),
                "hand and board after the flop, as SoarBot's rules name them: pairs, two overcards, trips, draws, dangers",
            ),
            (
                "stakes",
                Dense(4),
                "shares of what a player can lose: to call, own payment, pot of all but oneself; and the amount to call over \
                 the pot after it",
            ),
            (
                "betting",
                Bits(ROUNDS * (BETS + 2)),
                "for each round: number of bets 0 to 4, whether oneself raised, whether others did",
            ),
            (
                "seats",
                Bits(2 * MAX_PLAYERS),
                "players who still act after oneself in a round, 0 to 9; players left, 1 to 10",
            ),
            ("action", Bits(3), "the move: fold, check or call, bet or raise"),
            ("street", Index(ROUNDS as u64), "before the flop, flop, turn, river"),
            ("share", Index(SHARES), "the expected share of the pot in 64 steps, for a gate"),
        ];
        Self {
            channels: list.into_iter().map(|(name, kind, about)| Channel::fixed(name, kind, about)).collect(),
        }
    }
}

/// For each round: the number of bets, whether the player raised, and whether an opponent did.
fn rounds(game: &Holdem, state: &State, player: usize) -> [(usize, bool, bool); ROUNDS] {
    let mut rounds = [(0, false, false); ROUNDS];
    rounds[0].0 = 1;
    // Replays the hand without cards.
    let mut past = game.start();
    game.deal(&mut past, &super::state::Deal::new([]));
    for entry in state.history().entries() {
        let round = &mut rounds[past.round()];
        let action = match entry {
            Entry::Fold => Action::Fold,
            Entry::Call => Action::Call,
            Entry::Raise => {
                round.0 += 1;
                let own = usize::from(past.mover) == player;
                round.1 |= own;
                round.2 |= !own;
                Action::Raise
            }
            Entry::End => {
                game.deal(&mut past, &super::state::Deal::new([]));
                continue;
            }
        };
        game.act(&mut past, action);
    }
    rounds
}

impl Encoder<Holdem> for Features {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn encode(&self, game: &Holdem, before: Afterstate<'_, Holdem>, row: RowMut<'_>) {
        let (state, player) = (before.state, before.player);
        let Some(hole) = state.hole(player) else { return };
        let mut rest = row.dense;
        let mut part = |width: usize| {
            let (part, after) = std::mem::take(&mut rest).split_at_mut(width);
            rest = after;
            part
        };
        let bit = |on: bool| f32::from(u8::from(on));
        let cards = part(2 + 2 * RANKS);
        let [a, b] = hole.map(|card| usize::from(card.rank()));
        cards[0] = bit(hole[0].suit() == hole[1].suit());
        cards[1] = bit(a == b);
        cards[2 + a.max(b)] = 1.0;
        cards[2 + RANKS + a.min(b)] = 1.0;
        let board: Vec<_> = state.board().collect();
        let found = worth(hole, &board);
        let chances = [found.equity, found.now, found.better, found.worse];
        part(4).iter_mut().zip(chances).for_each(|(place, chance)| *place = chance as f32);
        let texture = part(FLAGS);
        if !board.is_empty() {
            let flags = analyse(hole, &board, Straights::Exact);
            flags.write(texture);
        }
        let most = (game.scale() / (game.players() - 1) as f64) as f32;
        let (owed, own, pot) = (state.to_call(player) as f32, state.paid(player) as f32, state.pot() as f32);
        let stakes = [owed / most, own / most, (pot - own) / most, owed / (pot + owed).max(1.0)];
        part(4).copy_from_slice(&stakes);
        let betting = part(ROUNDS * (BETS + 2));
        for (round, (bets, own, others)) in rounds(game, state, player).into_iter().enumerate() {
            if round <= state.round() {
                let place = &mut betting[round * (BETS + 2)..][..BETS + 2];
                place[bets.min(BETS - 1)] = 1.0;
                place[BETS] = bit(own);
                place[BETS + 1] = bit(others);
            }
        }
        let seats = part(2 * MAX_PLAYERS);
        let in_hand = |seat: &usize| !state.has_folded(*seat);
        let first = game.first(state.round());
        let order = |seat: usize| (seat + game.players() - first) % game.players();
        let acts = |seat: &usize| in_hand(seat) && !state.is_all_in(*seat);
        let after = (0..game.players()).filter(|s| acts(s) && order(*s) > order(player)).count();
        let left = (0..game.players()).filter(in_hand).count();
        seats[after.min(MAX_PLAYERS - 1)] = 1.0;
        seats[MAX_PLAYERS + left.clamp(1, MAX_PLAYERS) - 1] = 1.0;
        let action = match before.action {
            Some(Action::Fold) => 0,
            Some(Action::Raise) => 2,
            _ => 1,
        };
        part(3)[action] = 1.0;
        row.index[0] = state.round() as u64;
        row.index[1] = ((found.equity * SHARES as f64) as u64).min(SHARES - 1);
    }
}
