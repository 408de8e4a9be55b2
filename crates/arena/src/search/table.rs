//! A table of searched positions, of bounded size.

use adept_ground::limits;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// What a value in the table says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

/// What a search found of a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct What {
    /// For the player to move.
    pub(super) value: f32,
    pub(super) bound: Bound,
    /// Plies searched from here.
    pub(super) plies: u16,
    /// Index of the best action.
    pub(super) best: u32,
    /// Whether an evaluator's value went into it.
    pub(super) open: bool,
}

struct Entry<S> {
    state: S,
    what: What,
    /// The search that wrote it.
    search: u32,
}

/// Positions by hash, one an entry. A new position replaces the one in its place if it was searched as deep, or by an earlier
/// search. The whole state is compared, so that no two positions are confused.
pub(super) struct Table<S> {
    entries: Vec<Option<Entry<S>>>,
    /// How many of the entries are in use. It begins anew with every search, because it decides which positions share a place.
    size: usize,
    used: usize,
    search: u32,
}

/// Entries before the table grows for the first time.
const FIRST: usize = 1 << 10;

impl<S: Clone + Eq + Hash> Table<S> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), size: 0, used: 0, search: 0 }
    }

    /// Forgets all entries, so that what a search finds does not depend on those before it.
    pub(super) fn start(&mut self) {
        self.search = self.search.wrapping_add(1);
        (self.size, self.used) = (0, 0);
        if self.search == 0 {
            self.entries.clear();
        }
    }

    fn place(&self, state: &S) -> usize {
        let mut hasher = FxHasher::default();
        state.hash(&mut hasher);
        // The upper bits depend on all bits of the hash.
        let mixed = hasher.finish().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (64 - self.size.trailing_zeros())) as usize
    }

    /// What this search found of a state.
    #[inline]
    pub(super) fn find(&self, state: &S) -> Option<What> {
        if self.size == 0 {
            return None;
        }
        let entry = self.entries[self.place(state)].as_ref()?;
        (entry.search == self.search && entry.state == *state).then_some(entry.what)
    }

    pub(super) fn store(&mut self, state: &S, what: What) {
        if 2 * self.used >= self.size {
            self.grow();
        }
        let (place, search) = (self.place(state), self.search);
        match &mut self.entries[place] {
            Some(old) if old.search == search && old.what.plies > what.plies && old.state != *state => {}
            Some(old) => {
                self.used += usize::from(old.search != search);
                old.state.clone_from(state);
                (old.what, old.search) = (what, search);
            }
            none => {
                self.used += 1;
                *none = Some(Entry { state: state.clone(), what, search });
            }
        }
    }

    /// Doubles the table, up to its limit.
    fn grow(&mut self) {
        let most = limits::SEARCH_BYTES / size_of::<Option<Entry<S>>>().max(1);
        let wanted = (2 * self.size).max(FIRST);
        if wanted > most.max(FIRST) {
            return;
        }
        let search = self.search;
        let is_present =
            |place: &Option<Entry<S>>| place.as_ref().is_some_and(|entry| entry.search == search);
        let old = self.entries.iter_mut().take(self.size).filter(|place| is_present(place));
        let old: Vec<Entry<S>> = old.filter_map(Option::take).collect();
        if self.entries.len() < wanted {
            self.entries.resize_with(wanted, || None);
        }
        (self.size, self.used) = (wanted, 0);
        for entry in old {
            let place = self.place(&entry.state);
            self.used += usize::from(!is_present(&self.entries[place]));
            self.entries[place] = Some(entry);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(value: f32) -> What {
        What { value, bound: Bound::Exact, plies: 1, best: 0, open: false }
    }

    #[test]
    fn entries_are_found_until_the_next_search() {
        let mut table = Table::new();
        table.start();
        (0..10_000u64).for_each(|n| table.store(&n, exact(n as f32)));
        let found = (0..10_000u64).filter(|n| table.find(n) == Some(exact(*n as f32))).count();
        assert!(found > 6_000, "{found}");
        let deeper = What { value: -1.0, bound: Bound::AtMost, plies: 5, best: 2, open: true };
        table.store(&3, deeper);
        assert_eq!(table.find(&3), Some(deeper));
        table.start();
        assert!((0..10_000).all(|n| table.find(&n).is_none()));
    }

    #[test]
    fn a_table_that_has_grown_keeps_what_a_new_one_keeps() {
        let kept = |table: &mut Table<u64>| -> Vec<bool> {
            table.start();
            (0..3_000u64).for_each(|n| table.store(&n, exact(n as f32)));
            (0..3_000).map(|n| table.find(&n).is_some()).collect()
        };
        let mut grown = Table::new();
        grown.start();
        (0..100_000u64).for_each(|n| grown.store(&n, exact(0.0)));
        assert_eq!(kept(&mut grown), kept(&mut Table::new()));
    }
}
