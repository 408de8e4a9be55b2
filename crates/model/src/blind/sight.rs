//! The input of the blind learner: bits without meaning.

/// A position as bits without meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sight {
    words: Vec<u64>,
}

impl Sight {
    /// Reads a bit for each number: whether it is above ½.
    pub(super) fn of(numbers: &[f32]) -> Self {
        let mut words = vec![0; numbers.len().div_ceil(64)];
        for (bit, &number) in numbers.iter().enumerate() {
            words[bit / 64] |= u64::from(number > 0.5) << (bit % 64);
        }
        Self { words }
    }

    /// Bits from words of 64 bits each.
    pub(super) fn from_words(words: Vec<u64>) -> Self {
        Self { words }
    }

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The bits that are on, in ascending order.
    pub(super) fn on(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(w, &word)| {
            std::iter::successors((word != 0).then_some(word), |left| {
                let left = left & (left - 1);
                (left != 0).then_some(left)
            })
            .map(move |left| w * 64 + left.trailing_zeros() as usize)
        })
    }

    pub(super) fn is_on(&self, bit: usize) -> bool {
        self.words[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// The bits that differ.
    pub(super) fn changes(&self, other: &Self) -> Self {
        Self { words: self.words.iter().zip(&other.words).map(|(a, b)| a ^ b).collect() }
    }

    pub(super) fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether an odd number of the bits of `set` are on.
    pub(super) fn is_odd(&self, set: &Self) -> bool {
        let both = self.words.iter().zip(&set.words).map(|(a, b)| (a & b).count_ones());
        both.sum::<u32>() % 2 == 1
    }
}
