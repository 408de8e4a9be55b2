//! What all reproductions share: how they are offered, and the frame of their reports.

use adept_ground::files::Files;
use adept_lab::reproduction::{Made, ReproduceOptions, Reproduction, Work};
use adept_model::ModelError;
use adept_trainer::run::TrainError;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// A reproduction as a value.
pub(super) struct Paper {
    /// See [`Reproduction::name`].
    pub(super) name: &'static str,
    /// See [`Reproduction::paper`].
    pub(super) about: &'static str,
    /// See [`Reproduction::runs`].
    pub(super) runs: fn(seeds: u64) -> u64,
    /// See [`Reproduction::make`].
    pub(super) make: fn(Work<'_>) -> Result<Made, TrainError>,
}

impl Reproduction for Paper {
    fn name(&self) -> &'static str {
        self.name
    }

    fn paper(&self) -> &'static str {
        self.about
    }

    fn runs(&self, seeds: u64) -> u64 {
        (self.runs)(seeds)
    }

    fn make(&self, work: Work<'_>) -> Result<Made, TrainError> {
        (self.make)(work)
    }
}

/// A report: its results, and what all reports state.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report<T> {
    /// Name of the reproduction.
    name: &'static str,
    /// Seeds per row.
    pub(super) seeds: u64,
    /// Whether the runs were shortened.
    pub(super) quick: bool,
    /// The results.
    #[serde(flatten)]
    pub(super) body: T,
    /// Seconds of the whole command.
    seconds: f64,
    /// Files written.
    pub(super) files: Vec<PathBuf>,
    /// The text of the first file.
    #[serde(skip)]
    text: String,
}

impl<T: Serialize> Report<T> {
    /// A report of work that started at this time.
    pub(super) fn new(name: &'static str, options: &ReproduceOptions, started: Instant, body: T) -> Self {
        Self {
            name,
            seeds: options.seeds,
            quick: options.quick,
            body,
            seconds: started.elapsed().as_secs_f64(),
            files: Vec::new(),
            text: String::new(),
        }
    }

    /// Writes files, each with its name and text, and the report as JSON, which is the second of all.
    pub(super) fn publish(
        mut self,
        options: &ReproduceOptions,
        mut files: Vec<(String, String)>,
    ) -> Result<Self, TrainError> {
        files.insert(1, (format!("{}.json", self.name), String::new()));
        self.files = files.iter().map(|(name, _)| options.out.join(name)).collect();
        files[1].1 = serde_json::to_string_pretty(&self).map_err(ModelError::from)?;
        let disk = Files::default();
        disk.create_folder(&options.out)?;
        for (path, (_, text)) in self.files.iter().zip(&files) {
            disk.replace(path, text.as_bytes())?;
        }
        self.text = files.swap_remove(0).1;
        Ok(self)
    }

    /// The result of a reproduction whose text is its first file.
    pub(super) fn made(&self) -> Result<Made, TrainError> {
        self.with_text(self.text.clone())
    }

    /// The result of a reproduction with this text.
    pub(super) fn with_text(&self, text: String) -> Result<Made, TrainError> {
        Made::with_text(self, text, self.seconds, &self.files)
    }
}
