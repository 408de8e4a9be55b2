//! Short move lists in the format of the kernels: one stream of 16-bit words, in the order of computing the rows.

use super::order::GROUP;
use crate::bearoff::{MIXED, ROLLS};

/// The program of a row: the first afterstate of each roll, and the rolls with more afterstates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program<'a> {
    /// The row's index in its group of 32.
    pub(super) place: usize,
    /// Rows to prefetch.
    pub(super) ahead: &'a [u16],
    pub(super) first: &'a [u16; ROLLS.len()],
    /// Rolls with two afterstates: 0, or 1 for a double, then the two rows.
    pub(super) pairs: &'a [[u16; 3]],
    /// Rolls with three afterstates, in the same form.
    pub(super) triples: &'a [[u16; 4]],
    /// Rolls with more afterstates, one after another: twice their number, plus 1 for a double, then the rows.
    pub(super) longer: &'a [u16],
}

/// Words before the afterstates: index and sizes.
const HEAD: usize = 3;

impl<'a> Program<'a> {
    /// Reads the first program of a stream. Returns it and the rest.
    #[inline(always)]
    pub(super) fn read(stream: &'a [u16]) -> (Self, &'a [u16]) {
        let (&[places, short, longer], rest) =
            stream.split_first_chunk::<HEAD>().expect("a program is whole");
        let (first, rest) = rest.split_first_chunk().expect("a program is whole");
        let (pairs, rest) = rest.split_at(3 * usize::from(short & 0xff));
        let (triples, rest) = rest.split_at(4 * usize::from(short >> 8));
        let (longer, rest) = rest.split_at(usize::from(longer));
        let (ahead, rest) = rest.split_at(usize::from(places >> 8));
        let (pairs, triples) = (pairs.as_chunks().0, triples.as_chunks().0);
        (Self { place: usize::from(places & 0xff), ahead, first, pairs, triples, longer }, rest)
    }
}

/// The lists of one row: all afterstates, roll after roll, and the end of each roll.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortLists<'a> {
    pub(super) rows: &'a [u16],
    pub(super) ends: &'a [u16; ROLLS.len()],
}

impl ShortLists<'_> {
    /// Replaces `words` by the program of the row with this index in its group, without prefetches.
    fn encode(self, place: usize, words: &mut Vec<u16>) {
        words.clear();
        words.extend([place as u16, 0, 0]);
        let list = |roll: usize| {
            let start = if roll == 0 { 0 } else { self.ends[roll - 1] };
            &self.rows[usize::from(start)..usize::from(self.ends[roll])]
        };
        // Group the rolls by the length of their lists: two, three, more.
        let mut rolls = [[0; ROLLS.len()]; 3];
        let mut counts = [0; 3];
        for roll in 0..ROLLS.len() {
            let list = list(roll);
            words.push(list[0]);
            if list.len() > 1 {
                let kind = list.len().min(4) - 2;
                rolls[kind][counts[kind]] = roll;
                counts[kind] += 1;
            }
        }
        let [pairs, triples, longer] = counts;
        for roll in rolls[0][..pairs].iter().chain(&rolls[1][..triples]) {
            words.push((*roll >= MIXED).into());
            words.extend_from_slice(list(*roll));
        }
        let start = words.len();
        for &roll in &rolls[2][..longer] {
            words.push((list(roll).len() as u16) << 1 | u16::from(roll >= MIXED));
            words.extend_from_slice(list(roll));
        }
        words[1] = pairs as u16 | (triples as u16) << 8;
        words[2] = (words.len() - start) as u16;
    }
}

/// The programs of the rows so far, level by level.
#[derive(Default)]
pub(super) struct Programs {
    /// Pieces of whole groups: the first row, and its stream.
    pieces: Vec<(usize, Vec<u16>)>,
    /// Programs of a group before sorting.
    group: [Vec<u16>; GROUP],
}

/// Largest number of rows that a row prefetches.
const MOST_AHEAD: usize = 255;

impl Programs {
    /// The stream of the piece that begins at this row.
    #[inline(always)]
    pub(super) fn from(&self, row: usize) -> &[u16] {
        let at = self.pieces.partition_point(|&(first, _)| first < row);
        &self.pieces[at].1
    }

    /// Writes piece `at`, an existing piece or the next one, from the lists of its rows.
    pub(super) fn write<'a>(
        &mut self,
        at: usize,
        rows: std::ops::Range<usize>,
        lists: impl Fn(usize) -> ShortLists<'a>,
        ahead: impl Fn(usize) -> &'a [u16],
    ) {
        if at == self.pieces.len() {
            self.pieces.push((rows.start, Vec::new()));
        }
        let stream = &mut self.pieces[at].1;
        stream.clear();
        for group in rows.step_by(GROUP) {
            for (place, words) in self.group.iter_mut().enumerate() {
                lists(group + place).encode(place, words);
            }
            // Programs of the same shape run in sequence, so that the processor can predict their branches.
            self.group.sort_unstable_by_key(|words| (words[2], words[1], words[0]));
            for (turn, words) in self.group.iter_mut().enumerate() {
                // Prefetches are for the rows one group later, in row order.
                let ahead = ahead(group + turn);
                let ahead = &ahead[..ahead.len().min(MOST_AHEAD)];
                words[0] |= (ahead.len() as u16) << 8;
                stream.extend_from_slice(words);
                stream.extend_from_slice(ahead);
            }
        }
    }
}
