//! Encoders. All see the board from the player who just moved: own stones, the other's stones.

use super::rules::{LINES, Position, TicTacToe, squares};
use crate::encoder::{Afterstate, Channel, ChannelKind, Encoder, RowMut};

/// The nine inputs of Wiering & Kröse, section 4.1.1, with the square just played for symbolic gates and
/// the position itself for tables.
#[derive(Clone, Copy, Debug)]
pub struct Fields;

const FIELDS: [Channel; 3] = [
    Channel {
        name: "fields",
        kind: ChannelKind::Dense(9),
        about: "squares 1..9 row by row: own stone +1, the other's −1, empty 0",
    },
    Channel { name: "square", kind: ChannelKind::Index(9), about: "square just played, from 0" },
    Channel {
        name: "position",
        kind: ChannelKind::Index(19_683),
        about: "Σ 3^s · (0 empty, 1 own, 2 other) over squares s",
    },
];

impl Encoder<TicTacToe> for Fields {
    fn name(&self) -> &'static str {
        "fields"
    }

    fn channels(&self) -> &'static [Channel] {
        &FIELDS
    }

    #[inline]
    fn encode(&self, _: &TicTacToe, after: Afterstate<'_, TicTacToe>, row: RowMut<'_>) {
        let [own, other] = seen_by(after.player, after.state);
        for (square, input) in row.dense.iter_mut().take(9).enumerate() {
            *input = f32::from(own >> square & 1) - f32::from(other >> square & 1);
        }
        row.index[0] = after.action.copied().unwrap_or(0).into();
        row.index[1] = ternary(own) + 2 * ternary(other);
    }

    fn needs_action(&self) -> bool {
        true
    }
}

/// Counts of the lines by what stands on them, with the number of stones: the same for all eight
/// symmetric positions, and a dozen numbers instead of nine squares.
#[derive(Clone, Copy, Debug)]
pub struct Lines;

const LINES_CHANNELS: [Channel; 2] = [
    Channel {
        name: "lines",
        kind: ChannelKind::Dense(14),
        about: "1–5: lines with own stones only 1, 2, the other's only 1, 2, and with both, each ÷ 4; \
                6–8: own stone on centre, share of corners, of edges; 9–11: the other's; \
                12: squares where an own line and another own line of one stone cross, ÷ 4; \
                13: the same of the other; 14: stones ÷ 9",
    },
    Channel { name: "stones", kind: ChannelKind::Index(10), about: "stones on the board" },
];

impl Encoder<TicTacToe> for Lines {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn channels(&self) -> &'static [Channel] {
        &LINES_CHANNELS
    }

    fn encode(&self, _: &TicTacToe, after: Afterstate<'_, TicTacToe>, row: RowMut<'_>) {
        let sides = seen_by(after.player, after.state);
        let [own, other] = sides;
        for line in LINES {
            let (a, b) = ((own & line).count_ones() as usize, (other & line).count_ones() as usize);
            match (a, b) {
                (1..=2, 0) => row.dense[a - 1] += 0.25,
                (0, 1..=2) => row.dense[b + 1] += 0.25,
                (1.., 1..) => row.dense[4] += 0.25,
                _ => {}
            }
        }
        for (side, stones) in sides.into_iter().enumerate() {
            let share = |set: u16| (stones & set).count_ones() as f32 / set.count_ones() as f32;
            row.dense[5 + 3 * side] = share(0b000_010_000);
            row.dense[6 + 3 * side] = share(0b101_000_101);
            row.dense[7 + 3 * side] = share(0b010_101_010);
            row.dense[11 + side] = forks(stones, sides[1 - side], after.state.empty()) as f32 / 4.0;
        }
        let stones = (own | other).count_ones();
        row.dense[13] = stones as f32 / 9.0;
        row.index[0] = stones.into();
    }

    fn needs_action(&self) -> bool {
        false
    }
}

/// Empty squares on at least two lines that hold one stone of this side and none of the other.
fn forks(side: u16, other: u16, empty: u16) -> usize {
    squares(empty)
        .filter(|&s| {
            let open = |line: &&u16| {
                **line >> s & 1 == 1 && (**line & side).count_ones() == 1 && **line & other == 0
            };
            LINES.iter().filter(open).count() >= 2
        })
        .count()
}

#[inline]
fn seen_by(player: usize, position: &Position) -> [u16; 2] {
    [position.stones[player], position.stones[1 - player]]
}

/// Σ 3^s over the squares s of a set.
const TERNARY: [u16; 512] = {
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
