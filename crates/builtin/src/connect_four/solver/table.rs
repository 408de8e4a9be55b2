//! The solver's transposition table: answers by position key.

/// Log2 of the number of entries; at eight bytes each the table takes 8 MiB.
const TABLE_BITS: u32 = 20;
/// Number of low bits of an entry that hold the key. Above them are two bits per goal: missed and reached.
const KEY_BITS: u32 = 49;
/// The key bits of an entry.
const KEY_MASK: u64 = (1 << KEY_BITS) - 1;

/// Stores for some positions whether the mover reaches the goals 0 (a draw) and 1 (a win).
///
/// A slot holds one position; a new position replaces it. An unused slot is zero and has no answers.
pub(super) struct TranspositionTable {
    entries: Vec<u64>,
}

impl TranspositionTable {
    pub(super) fn new() -> Self {
        Self { entries: vec![0; 1 << TABLE_BITS] }
    }

    /// Whether the position with this key reaches `goal`, if known.
    pub(super) fn answer(&self, key: u64, goal: u32) -> Option<bool> {
        let entry = self.entries[slot(key)];
        if entry & KEY_MASK != key {
            return None;
        }
        match (entry >> (KEY_BITS + 2 * goal)) & 0b11 {
            0 => None,
            bits => Some(bits == 0b10),
        }
    }

    /// Records whether the position with this key, below 2^49, reaches `goal`.
    pub(super) fn store(&mut self, key: u64, goal: u32, reached: bool) {
        // A win is also at least a draw, and less than a draw is not a win.
        let bits = match (goal, reached) {
            (0, false) => 0b0101,
            (0, true) => 0b0010,
            (_, false) => 0b0100,
            (_, true) => 0b1010,
        };
        let entry = &mut self.entries[slot(key)];
        if *entry & KEY_MASK != key {
            *entry = key;
        }
        *entry |= bits << KEY_BITS;
    }
}

/// The index of a key: the top bits of a product that mixes all bits of the key.
fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - TABLE_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_follow_from_stored_ones() {
        let keys = [0, 1, KEY_MASK];
        for key in keys {
            let mut table = TranspositionTable::new();
            assert!(keys.iter().all(|&key| table.answer(key, 0).or(table.answer(key, 1)).is_none()));
            table.store(key, 0, true);
            assert_eq!((table.answer(key, 0), table.answer(key, 1)), (Some(true), None));
            table.store(key, 1, false);
            assert_eq!((table.answer(key, 0), table.answer(key, 1)), (Some(true), Some(false)));

            let mut table = TranspositionTable::new();
            table.store(key, 0, false);
            assert_eq!((table.answer(key, 0), table.answer(key, 1)), (Some(false), Some(false)));

            let mut table = TranspositionTable::new();
            table.store(key, 1, false);
            assert_eq!((table.answer(key, 0), table.answer(key, 1)), (None, Some(false)));

            let mut table = TranspositionTable::new();
            table.store(key, 1, true);
            assert_eq!((table.answer(key, 0), table.answer(key, 1)), (Some(true), Some(true)));
        }
    }

    #[test]
    fn another_position_in_the_slot_is_replaced() {
        let mut table = TranspositionTable::new();
        let other = (2..).find(|&key| slot(key) == slot(1)).unwrap();
        table.store(1, 0, true);
        table.store(other, 1, true);
        assert_eq!(table.answer(1, 0), None);
        assert_eq!(table.answer(other, 0), Some(true));
    }
}
