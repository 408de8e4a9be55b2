//! Which rows of a batch run through which branch of a route.

/// The rows of each branch, one branch after the other.
#[derive(Debug, Default)]
pub(super) struct Selected {
    /// Rows of the batch.
    rows: Vec<u32>,
    /// The same rows by their place in the block around the route.
    local: Vec<u32>,
    /// Where the rows of each branch end.
    ends: Vec<u32>,
}

impl Selected {
    /// Rows of a branch in the batch, and in the block around the route.
    #[inline]
    pub(super) fn branch(&self, b: usize) -> (&[u32], &[u32]) {
        let first = if b == 0 { 0 } else { self.ends[b - 1] as usize };
        let here = first..self.ends[b] as usize;
        (&self.rows[here.clone()], &self.local[here])
    }

    /// Whether the first row of the block runs through that branch.
    pub(super) fn has_first(&self, b: usize) -> bool {
        b < self.ends.len() && self.branch(b).1.first() == Some(&0)
    }

    /// One branch a row: `pick` names it.
    #[inline]
    pub(super) fn pick(&mut self, branches: usize, rows: &[u32], pick: impl Fn(u32) -> usize) {
        // A counting sort, after whose second pass each beginning has become an end.
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

    /// Any branches a row: those for which `runs`, given the place of the row in the block and the branch.
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
