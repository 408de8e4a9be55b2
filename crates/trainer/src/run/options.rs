//! Options of a run.

use super::host::Host;
use super::start::Init;
use super::steer::Steering;
use crate::config::Config;
use adept_model::Engine;
use adept_ranks::Ranks;
use std::path::PathBuf;

/// Options of a run besides its config.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// Run folder; `checkpoints/runs/NAME-SEED` if `None`.
    pub out: Option<PathBuf>,
    /// Continue from the latest checkpoint, if there is one.
    pub resume: bool,
    /// With `resume`: if the config differs from the run's only in a larger length, make the run longer.
    pub extend: bool,
    /// Start anew in place of an unfinished run: its record, measurements, pictures and checkpoints are removed. A finished run is
    /// refused, and so are foreign files.
    pub fresh: bool,
    /// Start from the weights of these checkpoints.
    pub init: Vec<Init>,
    /// The command has no other run, so that it is finished when this one is.
    pub is_alone: bool,
    /// Write a checkpoint and stop after this many seconds.
    pub max_seconds: Option<f64>,
    /// Where other settings are requested while it learns. A run on several ranks refuses that.
    pub steering: Steering,
    /// Also write an event file for TensorBoard. A run that has one keeps it up to date without being told again.
    pub tensorboard: bool,
    /// Threads that compute the shards of a batch; 0 for one per core. Results do not depend on it.
    pub threads: usize,
    /// Also find out where the time goes, for the record. What other runs in this process do at the same time counts too, and one of
    /// them has the profile.
    pub profile: bool,
    /// The ranks that share the work. Every one of them must call the same functions. The first writes the files.
    pub ranks: Ranks,
    /// File system and clock.
    pub host: Host,
}

impl TrainOptions {
    /// The folder of the run of a config with this seed.
    pub(super) fn folder(&self, config: &Config, seed: u64) -> PathBuf {
        let usual = || PathBuf::from("checkpoints/runs").join(format!("{}-{seed}", config.name));
        self.out.clone().unwrap_or_else(usual)
    }

    /// Number of threads for an engine.
    pub(super) fn threads_for(&self, engine: Engine) -> usize {
        match (engine, self.threads) {
            // A device has one queue of work.
            (Engine::Burn, _) => 1,
            (Engine::Native, 0) => std::thread::available_parallelism().map_or(1, usize::from),
            (Engine::Native, threads) => threads,
        }
    }
}
