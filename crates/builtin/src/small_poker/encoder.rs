//! The encoder of small poker: a player's knowledge and a move.

use super::rules::{Action, RANKS, SmallPoker};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, Game, RowMut};

/// Own card, public card, all moves so far, and the move.
#[derive(Clone, Debug)]
pub struct Bets {
    name: String,
    channels: Vec<Channel>,
    /// Largest number of moves in a round.
    longest: usize,
}

const CARDS: usize = RANKS as usize;

impl Bets {
    /// Creates the encoder of a game, named after it: `bets:leduc`.
    pub(super) fn new(game: &SmallPoker) -> Self {
        let (rounds, longest) = (game.bets.len(), game.longest_round());
        let channels = vec![
            Channel::fixed("card", ChannelKind::Bits(CARDS), "the own card: jack, queen, king"),
            Channel::fixed("table", ChannelKind::Bits(CARDS), "the card on the table, if any"),
            Channel::fixed("pair", ChannelKind::Bits(1), "whether both are alike"),
            Channel::fixed(
                "moves",
                ChannelKind::Bits(2 * rounds * longest),
                "each place in each round: check or call, bet or raise",
            ),
            Channel::fixed("seat", ChannelKind::Bits(1), "whether the player is the second one"),
            Channel::fixed("action", ChannelKind::Bits(3), "the move: fold, check or call, bet or raise"),
        ];
        Self { name: format!("bets:{}", game.name()), channels, longest }
    }
}

impl Encoder<SmallPoker> for Bets {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn encode(&self, _: &SmallPoker, before: Afterstate<'_, SmallPoker>, row: RowMut<'_>) {
        let (card, table) = (before.state.cards[before.player], &before.state.table);
        let (cards, rest) = row.dense.split_at_mut(2 * CARDS);
        let set = |bits: &mut [f32], place: usize| {
            if let Some(bit) = bits.get_mut(place) {
                *bit = 1.0;
            }
        };
        for (k, card) in [card, table.board].into_iter().enumerate() {
            if let Some(rank) = card {
                set(cards, k * CARDS + usize::from(rank));
            }
        }
        if card.is_some() && card == table.board {
            set(rest, 0);
        }
        let tail = rest.len() - 4;
        for (r, moves) in table.rounds.iter().enumerate() {
            for (k, action) in moves.iter().enumerate() {
                let kind = usize::from(*action == Action::Raise);
                set(&mut rest[1..tail], 2 * (r * self.longest + k) + kind);
            }
        }
        if before.player == 1 {
            set(rest, tail);
        }
        let action = match before.action {
            Some(Action::Fold) => 0,
            Some(Action::Raise) => 2,
            _ => 1,
        };
        set(rest, tail + 1 + action);
    }
}
