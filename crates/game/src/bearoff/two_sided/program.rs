//! Short move lists as the kernels read them: one stream of 16-bit words, in the order in which rows are computed.

use super::order::GROUP;
use crate::bearoff::{MIXED, ROLLS};

/// How a row is computed: the first afterstate of each roll, and the rolls that have more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program<'a> {
    /// The row's place in its group of 32.
    pub(super) place: usize,
    /// Rows that will soon be read and are not in the caches.
    pub(super) ahead: &'a [u16],
    pub(super) first: &'a [u16; ROLLS.len()],
    /// Rolls with two afterstates: 0, or 1 for a double, and the two rows.
    pub(super) pairs: &'a [[u16; 3]],
    /// Rolls with three.
    pub(super) triples: &'a [[u16; 4]],
    /// Rolls with more: twice their number, plus 1 for a double, then the rows; one after the other.
    pub(super) longer: &'a [u16],
}

/// Words before the afterstates: place and sizes.
const HEAD: usize = 3;

impl<'a> Program<'a> {
    /// Reads the first program of a stream; gives it and the rest.
    #[inline(always)]
    pub(super) fn read(stream: &'a [u16]) -> (Self, &'a [u16]) {
        let (&[places, short, longer], rest) =
            stream.split_first_chunk::<HEAD>().expect("a program is whole");
        let (ahead, rest) = rest.split_at(usize::from(places >> 8));
        let (first, rest) = rest.split_first_chunk().expect("a program is whole");
        let (pairs, rest) = rest.split_at(3 * usize::from(short & 0xff));
        let (triples, rest) = rest.split_at(4 * usize::from(short >> 8));
        let (longer, rest) = rest.split_at(usize::from(longer));
        let (pairs, triples) = (pairs.as_chunks().0, triples.as_chunks().0);
        (Self { place: usize::from(places & 0xff), ahead, first, pairs, triples, longer }, rest)
    }
}

/// The lists of one row: all afterstates, roll after roll, and where each roll's end.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortLists<'a> {
    pub(super) rows: &'a [u16],
    pub(super) ends: &'a [u16; ROLLS.len()],
}

impl<'a> ShortLists<'a> {
    fn rolls(self) -> impl Iterator<Item = (bool, &'a [u16])> + Clone {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(self.ends).enumerate().map(move |(roll, (start, &end))| {
            (roll >= MIXED, &self.rows[usize::from(start)..usize::from(end)])
        })
    }

    /// How many rolls have more than three, three, and two afterstates.
    fn shape(self) -> [usize; 3] {
        let count = |sizes: std::ops::RangeInclusive<usize>| {
            self.rolls().filter(|(_, list)| sizes.contains(&list.len())).count()
        };
        [count(4..=usize::MAX), count(3..=3), count(2..=2)]
    }

    /// Appends the program of the row at that place of its group.
    fn write(self, place: usize, ahead: &[u16], stream: &mut Vec<u16>) {
        let [_, triples, pairs] = self.shape();
        let longer = self.rolls().map(|(_, list)| list.len()).filter(|&len| len > 3);
        let words: usize = longer.map(|len| len + 1).sum();
        stream.push(place as u16 | (ahead.len() as u16) << 8);
        stream.push(pairs as u16 | (triples as u16) << 8);
        stream.push(words as u16);
        stream.extend_from_slice(ahead);
        stream.extend(self.rolls().map(|(_, list)| list[0]));
        for size in [2, 3] {
            for (double, list) in self.rolls().filter(|(_, list)| list.len() == size) {
                stream.push(double.into());
                stream.extend_from_slice(list);
            }
        }
        for (double, list) in self.rolls().filter(|(_, list)| list.len() > 3) {
            stream.push((list.len() as u16) << 1 | u16::from(double));
            stream.extend_from_slice(list);
        }
    }
}

/// The programs of the rows so far, level after level.
#[derive(Default)]
pub(super) struct Programs {
    /// First row, and the stream from it on, of pieces of a whole number of groups.
    pieces: Vec<(usize, Vec<u16>)>,
}

/// Most rows that a row fetches ahead.
pub(super) const MOST_AHEAD: usize = 255;

impl Programs {
    /// The stream from that row on, which begins a piece, to the end of the piece.
    #[inline(always)]
    pub(super) fn from(&self, row: usize) -> &[u16] {
        let at = self.pieces.partition_point(|&(first, _)| first < row);
        &self.pieces[at].1
    }

    /// The number of the piece that holds a row.
    pub(super) fn piece_of(&self, row: usize) -> usize {
        self.pieces.partition_point(|&(first, _)| first <= row) - 1
    }

    /// Writes piece `at`, which is one of those there or the next, from the lists of its rows.
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
            // Programs of one shape run one after the other, so that the machine can foresee their loops.
            let mut places: [usize; GROUP] = std::array::from_fn(|place| place);
            places.sort_by_cached_key(|&place| lists(group + place).shape());
            for (turn, place) in places.into_iter().enumerate() {
                // What is fetched ahead is for the rows a group later, in the order of rows.
                let ahead = ahead(group + turn);
                lists(group + place).write(place, &ahead[..ahead.len().min(MOST_AHEAD)], stream);
            }
        }
    }
}
