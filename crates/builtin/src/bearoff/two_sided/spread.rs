//! A table distributed over ranks: each holds the columns of its own strips.
//!
//! A pass reads only its own columns, so ranks compute independently. The results of a phase belong to other columns,
//! Q[j][i] = −V[i][j], and are exchanged after the phase. In total, each rank sends its share of the table once. Strips
//! are assigned to ranks round-robin, because columns of later levels have more work. Each rank finds and tests claims
//! only in its own columns; the table is the same to the last bit, because claims change no value.

use super::grid::{Cell, Grid, LINE_BYTES, STRIP_LINES};
use super::lanes::{LANES, Line};
use adept_ranks::Ranks;
use std::ops::Range;

/// The distribution of a table over ranks, and its exchange buffers.
pub(super) struct Spread {
    ranks: Ranks,
    /// For each strip of the table: its number on its rank.
    places: Vec<u32>,
    /// Results of the current phase, ordered by destination rank.
    outbox: Vec<Line>,
    inbox: Vec<Line>,
    /// For each strip: its number in the outbox.
    out_places: Vec<u32>,
    /// Largest size of the exchange buffers in bytes.
    boxes: usize,
}

/// Destination of a pass's results.
#[derive(Clone)]
pub(super) struct Target<T> {
    pub(super) grid: Grid<T>,
    /// For each line of columns that this rank computes, the number of its preceding lines; none if rows are those of
    /// the table.
    rows: Option<Vec<u32>>,
}

impl<T: Cell> Target<T> {
    /// Writes directly into the table.
    pub(super) fn table(grid: Grid<T>) -> Self {
        Self { grid, rows: None }
    }

    /// The destination row of the first column of a line.
    pub(super) fn row(&self, line: usize) -> usize {
        T::LANES * self.rows.as_ref().map_or(line, |rows| rows[line] as usize)
    }
}

impl Spread {
    /// Distributes a table of `lines` lines of columns.
    pub(super) fn new(ranks: Ranks, lines: usize) -> Self {
        let strips = lines.div_ceil(STRIP_LINES);
        let places = (0..strips).map(|strip| (strip / ranks.size()) as u32).collect();
        Self { ranks, places, outbox: Vec::new(), inbox: Vec::new(), out_places: vec![0; strips], boxes: 0 }
    }

    /// Largest size of the exchange buffers in bytes.
    pub(super) fn boxes(&self) -> usize {
        self.boxes
    }

    /// The rank that holds a strip.
    fn owner(&self, strip: usize) -> usize {
        strip % self.ranks.size()
    }

    /// The strips of a rank.
    fn strips(&self, rank: usize) -> impl Iterator<Item = usize> + use<> {
        (rank..self.places.len()).step_by(self.ranks.size())
    }

    /// The number of strips of this rank.
    pub(super) fn own_strips(&self) -> usize {
        self.strips(self.ranks.rank()).count()
    }

    /// Whether this rank holds a line of columns.
    pub(super) fn has(&self, line: usize) -> bool {
        self.owner(line / STRIP_LINES) == self.ranks.rank()
    }

    /// A nearby line that this rank holds.
    pub(super) fn near(&self, line: usize) -> usize {
        let size = self.ranks.size();
        let strip = line / STRIP_LINES / size * size + self.ranks.rank();
        strip * STRIP_LINES + line % STRIP_LINES
    }

    /// This rank's part of the table, at `start`.
    pub(super) fn grid<T: Cell>(&self, start: *mut T, rows: usize) -> Grid<T> {
        Grid::placed(start, rows, self.places.as_ptr())
    }

    /// The lines of columns of a rank within a range.
    fn lines_of(&self, rank: usize, lines: Range<usize>) -> impl Iterator<Item = usize> + use<> {
        let size = self.ranks.size();
        lines.filter(move |line| line / STRIP_LINES % size == rank)
    }

    /// The strips that hold these lines, ordered by rank.
    fn targets(&self, lines: &Range<usize>) -> Vec<usize> {
        let strips = lines.start / STRIP_LINES..lines.end.div_ceil(STRIP_LINES);
        let size = self.ranks.size();
        let of = |rank: usize| strips.clone().filter(move |strip| strip % size == rank);
        (0..size).flat_map(of).collect()
    }

    /// Prepares a phase: this rank computes the rows of `results` in its part of the lines `columns`.
    pub(super) fn begin<T: Cell>(&mut self, columns: Range<usize>, results: Range<usize>) -> Target<T> {
        let mut rows = vec![0; columns.end];
        let mut own = 0;
        for line in self.lines_of(self.ranks.rank(), columns) {
            rows[line] = own;
            own += 1;
        }
        let targets = self.targets(&results);
        for (place, &strip) in targets.iter().enumerate() {
            self.out_places[strip] = place as u32;
        }
        let rows_there = own as usize * T::LANES;
        self.outbox.resize(targets.len() * rows_there * STRIP_LINES, Line([0; LANES]));
        let grid = Grid::placed(self.outbox.as_mut_ptr().cast(), rows_there, self.out_places.as_ptr());
        Target { grid, rows: Some(rows) }
    }

    /// Ends a phase: sends results to the ranks that hold their columns.
    ///
    /// # Safety
    /// `table` is the table of this rank, and no other thread uses it. All writes of the phase are visible to this
    /// thread.
    pub(super) unsafe fn finish<T: Cell>(
        &mut self,
        table: Grid<T>,
        columns: Range<usize>,
        results: Range<usize>,
    ) {
        let (rank, size) = (self.ranks.rank(), self.ranks.size());
        let targets = self.targets(&results);
        let lines: Vec<Vec<usize>> =
            (0..size).map(|rank| self.lines_of(rank, columns.clone()).collect()).collect();
        let count = |rank: usize| targets.iter().filter(|&&strip| self.owner(strip) == rank).count();
        // Bytes of one rank's results in this many strips.
        let bytes =
            |finder: usize, strips: usize| strips * lines[finder].len() * T::LANES * STRIP_LINES * LINE_BYTES;
        let sends: Vec<usize> = (0..size).map(|owner| bytes(rank, count(owner))).collect();
        let receives: Vec<usize> = (0..size).map(|finder| bytes(finder, count(rank))).collect();
        self.inbox.resize(receives.iter().sum::<usize>() / LINE_BYTES, Line([0; LANES]));
        self.boxes = self.boxes.max((self.outbox.len() + self.inbox.len()) * LINE_BYTES);
        exchange(&self.ranks, &self.outbox, &sends, &mut self.inbox, &receives);
        let mut found = &self.inbox[..];
        for (finder, lines) in lines.iter().enumerate() {
            for &strip in targets.iter().filter(|&&strip| self.owner(strip) == rank) {
                let (strip_found, rest) = found.split_at(bytes(finder, 1) / LINE_BYTES);
                found = rest;
                let first = strip * STRIP_LINES;
                let here = results.start.max(first) - first..results.end.min(first + STRIP_LINES) - first;
                for (rows, &line) in strip_found.chunks_exact(T::LANES * STRIP_LINES).zip(lines) {
                    for (k, pair) in rows.chunks_exact(STRIP_LINES).enumerate() {
                        let to: *mut Line = table.line(first, line * T::LANES + k).cast();
                        for at in here.clone() {
                            // SAFETY: this rank has the strip, and the row is in the table.
                            unsafe { to.add(at).write(pair[at]) };
                        }
                    }
                }
            }
        }
    }

    /// Calls `each` on the first rank with all strips in order. Each has `length` bytes; `own` are those of this rank.
    ///
    /// # Errors
    /// The first error of `each`; the remaining strips are then not sent.
    pub(super) fn hand_over<E>(
        &self,
        own: &[u8],
        length: usize,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (size, first) = (self.ranks.size(), self.ranks.is_first());
        let mut failed = None;
        let mut all = Vec::new();
        for round in 0..self.places.len().div_ceil(size) {
            let strips = round * size..self.places.len().min((round + 1) * size);
            let mine = match strips.contains(&(round * size + self.ranks.rank())) {
                true => &own[round * length..(round + 1) * length],
                false => &[],
            };
            let sends: Vec<usize> = (0..size).map(|to| if to == 0 { mine.len() } else { 0 }).collect();
            let receives: Vec<usize> =
                (0..size).map(|rank| if first && rank < strips.len() { length } else { 0 }).collect();
            all.resize(receives.iter().sum(), 0);
            self.ranks.link().exchange(mine, &sends, &mut all, &receives);
            if first && failed.is_none() {
                failed = all.chunks(length).take(strips.len()).find_map(|strip| each(strip).err());
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

/// Exchanges lines with all ranks.
fn exchange(ranks: &Ranks, sent: &[Line], sends: &[usize], received: &mut [Line], receives: &[usize]) {
    // SAFETY: a line is 64 bytes without padding.
    let sent = unsafe { std::slice::from_raw_parts(sent.as_ptr().cast::<u8>(), size_of_val(sent)) };
    let (start, bytes) = (received.as_mut_ptr().cast::<u8>(), size_of_val(received));
    // SAFETY: as above, and any bytes are a line.
    let received = unsafe { std::slice::from_raw_parts_mut(start, bytes) };
    ranks.link().exchange(sent, sends, received, receives);
}
