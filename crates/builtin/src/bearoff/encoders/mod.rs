//! The bear-off's encoders. All take the view of the player who just moved: this player's side first, then the side to
//! roll.
//!
//! An encoder is a union of parts, such as `one-sided+distribution:8`. A part's numbers for a side do not depend on the
//! other side. They are computed once for every side, so a row takes two table reads.

mod parts;

use super::{Bearoff, OneSided, Side, Within, rank};
use crate::memory::fetch;
use crate::shared::Shared;
use adept_game::{Afterstate, Channel, Encoder, RowMut};
use parts::{FeatureGroup, Solutions};
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

/// Encoder names with one-line descriptions. Names joined by `+` are unions.
pub(super) const ALL: [(&str, &str); 10] = [
    ("bits", "the checkers on each point and borne off, as binary numbers"),
    ("simple", "the bits and 12 inputs counted on the board: one interpretation of the paper's 68 inputs"),
    (
        "one-sided",
        "the bits and 12 inputs from the one-sided solution: another interpretation of the 68 inputs",
    ),
    ("race", "the 12 inputs from the one-sided solution, without the bits"),
    ("rolls", "each side's mean number of rolls: two inputs, enough for a gate"),
    ("counts", "the checkers on each point"),
    (
        "distribution",
        "the first 12 terms of each side's exact roll distribution; distribution:K for the first K",
    ),
    (
        "haste",
        "each side's gain in P(off within k rolls) from aiming at roll k, for k = 1 to 12; haste:K for 1 to K",
    ),
    (
        "phase",
        "for a symbolic gate: 4 cells a side, 16 experts; phase:K for K cells of equal size up to 64 pips and twice the \
         checkers, phase:K:E up to E (112 is the most there are)",
    ),
    (
        "pace",
        "for learned cells: two indices, each side's mean number of rolls in 512 steps of a logarithmic scale; pace:K \
         for K steps",
    ),
];

/// An encoder that builds rows from precomputed features of each side.
#[derive(Debug)]
pub struct Sides {
    name: String,
    parts: Vec<FeatureGroup>,
    channels: Vec<Channel>,
    table: OnceLock<Arc<SideFeatures>>,
}

/// The features of all parts for every side.
#[derive(Debug)]
struct SideFeatures {
    checkers: u8,
    /// Features of each side by rank, part after part.
    floats: Vec<f32>,
    width: usize,
    /// Number of floats of each part. None for parts with cells.
    widths: Vec<usize>,
    cells: Vec<CellFeature>,
}

/// Cell indices of one part.
#[derive(Debug)]
struct CellFeature {
    /// The cell of each side by rank.
    sides: Vec<u16>,
    /// Number of cells.
    count: u64,
    /// Whether each side has an index channel of its own.
    apart: bool,
}

impl Sides {
    /// The encoder named `name`: parts joined by `+`. None if a part is unknown or repeated.
    pub fn parse(name: &str) -> Option<Self> {
        let mut parts: Vec<FeatureGroup> = Vec::new();
        for word in name.split('+') {
            for part in FeatureGroup::parse(word)? {
                if !parts.contains(&part) {
                    parts.push(part);
                }
            }
        }
        let channels: Vec<Channel> = parts.iter().flat_map(FeatureGroup::channels).collect();
        let twice = |(i, c): (usize, &Channel)| channels[..i].iter().any(|d| d.name == c.name);
        if channels.iter().enumerate().any(twice) {
            return None;
        }
        Some(Self { name: name.into(), parts, channels, table: OnceLock::new() })
    }

    fn table(&self, game: &Bearoff) -> &SideFeatures {
        let table = self.table.get_or_init(|| SideFeatures::shared(&self.parts, game.checkers()));
        debug_assert_eq!(table.checkers, game.checkers(), "an encoder serves one game");
        table
    }
}

impl Encoder<Bearoff> for Sides {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    #[inline]
    fn encode(&self, game: &Bearoff, after: Afterstate<'_, Bearoff>, row: RowMut<'_>) {
        let table = self.table(game);
        let sides = &after.state.sides;
        // `map` is not inlined here.
        let (mover, roller) = (sides[after.player].rank(), sides[1 - after.player].rank());
        let [own, other] = [&table.floats[mover * table.width..], &table.floats[roller * table.width..]];
        let (mut first, mut dense) = (0, row.dense);
        for &width in &table.widths {
            let (part, rest) = dense.split_at_mut(width);
            copy_part(&own[first..first + width], part);
            let (part, rest) = rest.split_at_mut(width);
            copy_part(&other[first..first + width], part);
            (first, dense) = (first + width, rest);
        }
        let mut columns = row.index.iter_mut();
        let mut write = |index| columns.by_ref().take(1).for_each(|column| *column = index);
        for cells in &table.cells {
            let (first, second) = (u64::from(cells.sides[mover]), u64::from(cells.sides[roller]));
            if cells.apart {
                write(first);
                write(second);
            } else {
                write(first * cells.count + second);
            }
        }
    }

    #[inline]
    fn fetch(&self, game: &Bearoff, after: Afterstate<'_, Bearoff>) {
        let table = self.table(game);
        let fetch_side = |side: Side| fetch(&table.floats[side.rank() * table.width..][..table.width]);
        fetch_side(after.state.sides[after.player]);
        // All candidates of a decision share the opponent's side, which the decision itself has already read.
        if after.action.is_none() {
            fetch_side(after.state.sides[1 - after.player]);
        }
    }

    fn fetches(&self) -> bool {
        true
    }

    fn needs_action(&self) -> bool {
        false
    }
}

/// Copies the numbers of a part. Widths known at compile time are copied inline, without a call.
#[inline(always)]
fn copy_part(from: &[f32], to: &mut [f32]) {
    match to.len() {
        6 => copy::<6>(from, to),
        12 => copy::<12>(from, to),
        28 => copy::<28>(from, to),
        _ => to.copy_from_slice(from),
    }
}

/// Copies the first N numbers.
#[inline(always)]
fn copy<const N: usize>(from: &[f32], to: &mut [f32]) {
    if let (Some(from), Some(to)) = (from.first_chunk::<N>(), to.first_chunk_mut::<N>()) {
        *to = *from;
    }
}

impl SideFeatures {
    fn shared(parts: &[FeatureGroup], checkers: u8) -> Arc<Self> {
        static TABLES: Shared<(Vec<FeatureGroup>, u8), SideFeatures> = Shared::new();
        let Ok(table) =
            TABLES.get((parts.to_vec(), checkers), || Ok::<_, Infallible>(Self::new(parts, checkers)));
        table
    }

    fn new(parts: &[FeatureGroup], checkers: u8) -> Self {
        let within = parts.iter().find_map(FeatureGroup::within).map(|terms| Within::shared(checkers, terms));
        let solutions = Solutions { one_sided: OneSided::shared(checkers), within };
        let widths: Vec<usize> = parts.iter().map(FeatureGroup::width).filter(|&w| w > 0).collect();
        let sides = || (0..rank::sides(checkers)).map(Side::of_rank);
        let cells = |part: &FeatureGroup| {
            let (count, apart) = part.cells()?;
            Some(CellFeature {
                sides: sides().map(|side| part.cell(side, &solutions)).collect(),
                count,
                apart,
            })
        };
        let mut floats = Vec::with_capacity(rank::sides(checkers) * widths.iter().sum::<usize>());
        for side in sides() {
            parts.iter().for_each(|part| part.write(side, &solutions, &mut floats));
        }
        let cells = parts.iter().filter_map(cells).collect();
        Self { checkers, floats, width: widths.iter().sum(), widths, cells }
    }
}
