//! Rows of numbers by private index, padded with zeros to whole vectors.

/// Numbers in a block: one register of AVX-512, two of AVX2, four of SSE or NEON.
pub(super) const LANES: usize = 8;

/// A block of a row.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Lanes(pub(super) [f64; LANES]);

impl Lanes {
    pub(super) const ZERO: Self = Self::all(0.0);

    pub(super) const fn all(x: f64) -> Self {
        Self([x; LANES])
    }

    #[inline(always)]
    pub(super) fn zip(self, other: Self, mut f: impl FnMut(f64, f64) -> f64) -> Self {
        let mut result = self;
        for (a, b) in result.0.iter_mut().zip(other.0) {
            *a = f(*a, b);
        }
        result
    }

    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    pub(super) fn times(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    /// Whether a number is above 0.
    #[inline(always)]
    pub(super) fn any(self) -> bool {
        self.0.iter().fold(false, |any, x| any | (*x > 0.0))
    }
}

/// Lengths of rows in blocks, for the player that is updated and the opponent. Lengths that are known when the program is
/// compiled leave no loops.
pub(super) trait Width: Copy {
    fn own(self) -> usize;
    fn other(self) -> usize;
}

/// Rows of one block.
#[derive(Clone, Copy)]
pub(super) struct One;

impl Width for One {
    #[inline(always)]
    fn own(self) -> usize {
        1
    }

    #[inline(always)]
    fn other(self) -> usize {
        1
    }
}

/// Rows of any number of blocks.
#[derive(Clone, Copy)]
pub(super) struct Many {
    pub(super) own: usize,
    pub(super) other: usize,
}

impl Width for Many {
    #[inline(always)]
    fn own(self) -> usize {
        self.own
    }

    #[inline(always)]
    fn other(self) -> usize {
        self.other
    }
}

/// A row of `blocks` blocks that starts with `values`.
pub(super) fn padded(values: &[f64], blocks: usize) -> impl Iterator<Item = Lanes> + '_ {
    let at = |k: usize| values.get(k).copied().unwrap_or(0.0);
    (0..blocks).map(move |block| Lanes(std::array::from_fn(|lane| at(block * LANES + lane))))
}
