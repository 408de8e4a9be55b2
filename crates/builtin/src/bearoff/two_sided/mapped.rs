//! Memory-mapped files whose blocks are checked when first read.

use super::error::TableError;
use crate::memory::fetch;
use memmap2::Mmap;
use rayon::prelude::*;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use xxhash_rust::xxh3::xxh3_64;

/// A memory-mapped file.
#[derive(Debug)]
pub(super) struct Mapped {
    pub(super) map: Mmap,
    pub(super) path: PathBuf,
    pub(super) values: Range<usize>,
    pub(super) block: usize,
    pub(super) sums: Vec<u64>,
    pub(super) checked: Vec<AtomicBool>,
}

impl Mapped {
    /// The values from this byte on. Checks the block at this byte on first use.
    #[inline]
    pub(super) fn bytes_from(&self, at: usize) -> Result<&[u8], TableError> {
        let block = at / self.block;
        if !self.checked[block].load(Ordering::Relaxed) {
            self.check(block)?;
        }
        Ok(&self.map[self.values.start + at..])
    }

    /// Prefetches the byte at this offset.
    #[inline]
    pub(super) fn fetch(&self, at: usize) {
        fetch(&self.map[self.values.start + at..][..1]);
    }

    #[cold]
    fn check(&self, block: usize) -> Result<(), TableError> {
        let start = self.values.start + block * self.block;
        let end = (start + self.block).min(self.values.end);
        if xxh3_64(&self.map[start..end]) != self.sums[block] {
            let (path, blocks) = (self.path.clone(), self.sums.len());
            return Err(TableError::Damaged { path, block, blocks, start: start as u64, end: end as u64 });
        }
        self.checked[block].store(true, Ordering::Relaxed);
        Ok(())
    }

    /// All values.
    pub(super) fn values(&self) -> &[u8] {
        &self.map[self.values.clone()]
    }

    pub(super) fn check_all(&self) -> Result<(), TableError> {
        let damaged = (0..self.sums.len()).into_par_iter().find_map_first(|block| self.check(block).err());
        damaged.map_or(Ok(()), Err)
    }
}
