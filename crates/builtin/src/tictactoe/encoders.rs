//! Tic-tac-toe's encoders. All take the view of the player who just moved: own stones and opponent's stones.

use super::rules::{Position, SYMMETRIES, TicTacToe, completes};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, EncoderFn, RowMut};
use std::sync::Arc;

/// The nine inputs of Wiering & Kröse, section 4.1.1. Adds the last square played for symbolic gates, and the position
/// for tables.
#[derive(Clone, Copy, Debug)]
pub struct Fields;

static FIELDS: [Channel; 3] = [
    Channel::fixed(
        "fields",
        ChannelKind::Dense(9),
        "squares 1..9 row by row: own stone +1, opponent's −1, empty 0",
    ),
    Channel::fixed("square", ChannelKind::Index(9), "last square played, from 0"),
    Channel::fixed(
        "position",
        ChannelKind::Index(19_683),
        "Σ 3^s · (0 empty, 1 own, 2 opponent) over squares s",
    ),
];

impl Encoder<TicTacToe> for Fields {
    fn name(&self) -> &str {
        "fields"
    }

    fn channels(&self) -> &[Channel] {
        &FIELDS
    }

    #[inline]
    fn encode(&self, _: &TicTacToe, after: Afterstate<'_, TicTacToe>, row: RowMut<'_>) {
        let [own, other] = seen_by(after.player, after.state);
        write_fields(own, other, row.dense);
        row.index[0] = after.action.copied().unwrap_or(0).into();
        row.index[1] = ternary(own) + 2 * ternary(other);
    }
}

/// The nine squares as separate bits for each player's stones, so that an own and an opponent's stone are not
/// opposites.
pub(super) fn stones() -> Arc<dyn Encoder<TicTacToe>> {
    let about = "squares 1..9 row by row with an own stone, then those with an opponent's";
    let channel = Channel::fixed("stones", ChannelKind::Bits(18), about);
    let write = |_: &TicTacToe, after: Afterstate<'_, TicTacToe>, row: RowMut<'_>| {
        let sides = seen_by(after.player, after.state).into_iter();
        for (stones, bits) in sides.zip(row.dense.chunks_exact_mut(9)) {
            bits.copy_from_slice(&UNPACKED[usize::from(stones & 511)]);
        }
    };
    Arc::new(EncoderFn::new("stones", vec![channel], write))
}

/// The nine squares in canonical orientation, so that the eight symmetric positions give the same row. Adds the threats
/// that determine TTT's next move.
#[derive(Clone, Copy, Debug)]
pub struct Canonical;

static CANONICAL: [Channel; 3] = [
    Channel::fixed(
        "fields",
        ChannelKind::Dense(9),
        "squares 1..9 of the symmetric position with the largest `position` key: own stone +1, opponent's −1",
    ),
    Channel::fixed(
        "threats",
        ChannelKind::Bits(4),
        "empty squares that complete a line: own at least 1, own at least 2, opponent's at least 1, at least 2",
    ),
    Channel::fixed(
        "position",
        ChannelKind::Index(19_683),
        "Σ 3^s · (0 empty, 1 own, 2 opponent) over squares s, the largest of the eight symmetric positions",
    ),
];

impl Encoder<TicTacToe> for Canonical {
    fn name(&self) -> &str {
        "canonical"
    }

    fn channels(&self) -> &[Channel] {
        &CANONICAL
    }

    fn encode(&self, _: &TicTacToe, after: Afterstate<'_, TicTacToe>, row: RowMut<'_>) {
        let sides = seen_by(after.player, after.state);
        let images = (0..8).map(|k| sides.map(|stones| IMAGES[k][usize::from(stones)]));
        let number = |[own, other]: [u16; 2]| ternary(own) + 2 * ternary(other);
        let [own, other] = images.max_by_key(|image| number(*image)).unwrap_or(sides);
        write_fields(own, other, row.dense);
        for (stones, bits) in [own, other].into_iter().zip(row.dense[9..].chunks_exact_mut(2)) {
            let completing = completes(stones, !(own | other)).count_ones();
            bits[0] = f32::from(u8::from(completing >= 1));
            bits[1] = f32::from(u8::from(completing >= 2));
        }
        row.index[0] = number([own, other]);
    }

    fn needs_action(&self) -> bool {
        false
    }
}

/// The squares: own stone +1, opponent's stone −1, empty 0.
#[inline]
fn write_fields(own: u16, other: u16, dense: &mut [f32]) {
    let (own, other) = (&UNPACKED[usize::from(own & 511)], &UNPACKED[usize::from(other & 511)]);
    if let Some(fields) = dense.first_chunk_mut::<9>() {
        for (i, input) in fields.iter_mut().enumerate() {
            *input = own[i] - other[i];
        }
    }
}

/// The squares of each set as numbers: 1 in the set, otherwise 0.
static UNPACKED: [[f32; 9]; 512] = {
    let mut table = [[0.0; 9]; 512];
    let mut set = 0;
    while set < 512 {
        let mut square = 0;
        while square < 9 {
            if set >> square & 1 == 1 {
                table[set][square] = 1.0;
            }
            square += 1;
        }
        set += 1;
    }
    table
};

/// The image of each set of squares under each symmetry.
static IMAGES: [[u16; 512]; 8] = {
    let mut table = [[0; 512]; 8];
    let mut k = 0;
    while k < 8 {
        let mut set = 1usize;
        while set < 512 {
            let square = SYMMETRIES[k][set.trailing_zeros() as usize];
            table[k][set] = table[k][set & (set - 1)] | 1 << square;
            set += 1;
        }
        k += 1;
    }
    table
};

#[inline]
fn seen_by(player: usize, position: &Position) -> [u16; 2] {
    [position.stones[player], position.stones[1 - player]]
}

/// Σ 3^s over the squares s of a set.
static TERNARY: [u16; 512] = {
    let mut table = [0; 512];
    let mut set = 1usize;
    while set < 512 {
        let lowest = set.trailing_zeros();
        table[set] = table[set & (set - 1)] + 3u16.pow(lowest);
        set += 1;
    }
    table
};

#[inline]
fn ternary(set: u16) -> u64 {
    TERNARY[usize::from(set)].into()
}
