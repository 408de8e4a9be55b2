//! A hash table of numbers. The entries that they identify are stored elsewhere.

/// Numbers with half of their hashes, so that most comparisons and all growth work without the entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    /// The hash in the upper half, the number + 1 in the lower. 0 is free.
    slots: Vec<u64>,
    count: usize,
}

/// Hashes some words. If only the lowest three bits of the last word differ, so do the hashes: such numbers are
/// adjacent and are mostly looked up in sequence.
#[inline]
pub(crate) fn code(words: impl IntoIterator<Item = u32>) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |code: u64, word: u32| {
        let wide = u128::from(code ^ u64::from(word)) * u128::from(FACTOR);
        wide as u64 ^ (wide >> 64) as u64
    };
    let (mixed, last) = words.into_iter().fold((FACTOR, 0), |(code, last), word| (mix(code, last), word));
    (mix(mixed, last >> 3) >> 32) as u32 & !7 | last & 7
}

impl Slots {
    /// The slot of the number that `is_same` recognises, otherwise the free one where it belongs.
    #[inline]
    fn place(&self, code: u32, mut is_same: impl FnMut(u32) -> bool) -> Result<usize, usize> {
        let last = self.slots.len() - 1;
        let mut at = code as usize & last;
        loop {
            match self.slots[at] {
                0 => return Err(at),
                slot if (slot >> 32) as u32 == code && is_same(slot as u32 - 1) => return Ok(at),
                _ => at = (at + 1) & last,
            }
        }
    }

    /// The number that `is_same` recognises.
    #[inline]
    pub(crate) fn find(&self, code: u32, is_same: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.place(code, is_same).ok().map(|at| self.slots[at] as u32 - 1)
    }

    /// Finds the number that `is_same` recognises, and replaces it by `number` if `replaces`. Otherwise inserts
    /// `number`.
    #[inline]
    pub(crate) fn put(
        &mut self,
        code: u32,
        number: u32,
        replaces: bool,
        is_same: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        if self.count * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let kept = u64::from(code) << 32 | u64::from(number + 1);
        match self.place(code, is_same) {
            Ok(at) => {
                let known = self.slots[at] as u32 - 1;
                if replaces {
                    self.slots[at] = kept;
                }
                Some(known)
            }
            Err(at) => {
                self.slots[at] = kept;
                self.count += 1;
                None
            }
        }
    }

    fn grow(&mut self) {
        let larger = vec![0; (self.slots.len() * 2).max(8)];
        let smaller = std::mem::replace(&mut self.slots, larger);
        for slot in smaller.into_iter().filter(|&slot| slot != 0) {
            if let Err(at) = self.place((slot >> 32) as u32, |_| false) {
                self.slots[at] = slot;
            }
        }
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * 8
    }
}
