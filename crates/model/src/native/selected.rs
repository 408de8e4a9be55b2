//! The rows of a batch that run through each branch of a route.

use super::plan::Select;

/// The rows of each branch, ordered by branch.
#[derive(Debug, Default)]
pub(super) struct Selected {
    /// Row numbers in the batch.
    rows: Vec<u32>,
    /// Positions of the same rows in the enclosing block.
    local: Vec<u32>,
    /// The end of each branch's rows.
    ends: Vec<u32>,
}

impl Selected {
    /// The rows of a branch: their numbers in the batch and their positions in the enclosing block.
    #[inline]
    pub(super) fn branch(&self, b: usize) -> (&[u32], &[u32]) {
        let first = if b == 0 { 0 } else { self.ends[b - 1] as usize };
        let here = first..self.ends[b] as usize;
        (&self.rows[here.clone()], &self.local[here])
    }

    /// The rows of the enclosing block that run through a branch, and their positions in the block unless all do.
    #[inline]
    pub(super) fn rows_of<'a>(
        &'a self,
        select: &Select,
        b: usize,
        all: &'a [u32],
    ) -> (&'a [u32], Option<&'a [u32]>) {
        if matches!(select, Select::All) {
            return (all, None);
        }
        let (rows, local) = self.branch(b);
        (rows, Some(local))
    }

    /// Whether the first row of the block runs through this branch.
    pub(super) fn has_first(&self, b: usize) -> bool {
        b < self.ends.len() && self.branch(b).1.first() == Some(&0)
    }

    /// Selects one branch per row with `pick`.
    #[inline]
    pub(super) fn pick(&mut self, branches: usize, rows: &[u32], pick: impl Fn(u32) -> usize) {
        // A counting sort. `ends` holds the first place of each branch before the second pass, and the end after it.
        self.ends.clear();
        self.ends.resize(branches, 0);
        rows.iter().for_each(|&row| self.ends[pick(row)] += 1);
        let mut first = 0;
        for end in &mut self.ends {
            (*end, first) = (first, first + *end);
        }
        self.rows.resize(rows.len(), 0);
        self.local.resize(rows.len(), 0);
        for (local, &row) in rows.iter().enumerate() {
            let next = &mut self.ends[pick(row)];
            self.rows[*next as usize] = row;
            self.local[*next as usize] = local as u32;
            *next += 1;
        }
    }

    /// Selects any number of branches per row: those for which `runs(position in the block, branch)` is true.
    #[inline]
    pub(super) fn mask(&mut self, branches: usize, rows: &[u32], runs: impl Fn(usize, usize) -> bool) {
        self.rows.clear();
        self.local.clear();
        self.ends.clear();
        for b in 0..branches {
            for (local, &row) in rows.iter().enumerate() {
                if runs(local, b) {
                    self.rows.push(row);
                    self.local.push(local as u32);
                }
            }
            self.ends.push(self.rows.len() as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_in_order_within_their_branch() {
        let mut selected = Selected::default();
        let rows = [4, 7, 1, 9, 2];
        selected.pick(4, &rows, |row| row as usize % 3);
        let branches: Vec<_> = (0..4).map(|b| selected.branch(b)).collect();
        assert_eq!(branches[0], (&[9][..], &[3][..]));
        assert_eq!(branches[1], (&[4, 7, 1][..], &[0, 1, 2][..]));
        assert_eq!(branches[2], (&[2][..], &[4][..]));
        assert_eq!(branches[3], (&[][..], &[][..]));
        assert!(selected.has_first(1) && !selected.has_first(0) && !selected.has_first(3));
        selected.mask(2, &rows, |local, b| b == 1 || local > 2);
        assert_eq!(selected.branch(0), (&[9, 2][..], &[3, 4][..]));
        assert_eq!(selected.branch(1), (&rows[..], &[0, 1, 2, 3, 4][..]));
        assert!(!selected.has_first(2));
    }
}
