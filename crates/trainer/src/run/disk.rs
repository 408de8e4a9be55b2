//! The disk space of a run.

use super::error::TrainError;
use super::learning::Learning;
use super::plan::Plan;
use crate::config::Config;
use adept_game::Kit;
use adept_ground::limits::free_space;
use adept_model::Tensor;
use adept_ranks::Ranks;
use std::path::Path;

/// Approximate bytes of a line of metrics.
const LINE: u64 = 400;
/// Approximate bytes of a manifest and a record.
const TEXTS: u64 = 6000;

/// Bytes that a run needs on disk.
#[derive(Clone, Copy)]
pub(super) struct DiskSpace {
    /// Of a checkpoint.
    pub(super) checkpoint: u64,
    /// Of the folder, at most. A growing table is counted at its current size.
    pub(super) folder: u64,
}

impl DiskSpace {
    /// The space for the run of a config on these ranks.
    pub(super) fn of<G: Kit>(
        learning: &mut Learning<'_, G>,
        config: &Config,
        ranks: &Ranks,
    ) -> Result<Self, TrainError> {
        let plan = Plan::new(config);
        let bytes = |tensors: Vec<Tensor>| tensors.iter().map(Tensor::bytes).sum::<u64>();
        let model = bytes(learning.bound.model.tensors()?);
        // Games played ahead, of all ranks.
        let ahead = bytes(learning.source.state(&Ranks::default())?.tensors);
        let ahead = if learning.source.is_divided() { ahead * ranks.size() as u64 } else { ahead };
        let checkpoint = bytes(learning.tensors()?) + ahead + TEXTS;
        let milestones = config.checkpoints.milestones.map_or(0, |n| plan.times(n));
        // One more exists while it is being written.
        let kept = (config.checkpoints.keep as u64).saturating_add(1).saturating_add(milestones);
        // The best, and its predecessor.
        let best = 2 * (model + TEXTS);
        let lines = plan.times(config.evaluate_every()).saturating_mul(LINE);
        let folder = kept.saturating_mul(checkpoint).saturating_add(lines).saturating_add(best + TEXTS);
        Ok(Self { checkpoint, folder })
    }

    /// Fails if the disk of a folder has too little space.
    pub(super) fn check(self, path: &Path) -> Result<(), TrainError> {
        match free_space(path) {
            Some(free) if free < self.folder => Err(TrainError::Space {
                path: path.into(),
                needed: megabytes(self.folder),
                free: megabytes(free),
            }),
            _ => Ok(()),
        }
    }
}

/// Formats a number of bytes.
fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
