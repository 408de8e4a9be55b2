//! Results of learning agents.

use serde::Serialize;

/// Numbers of games shown in the table.
pub(super) const SHOWN: [u64; 3] = [1_000, 5_000, 35_000];

/// Result of a learning agent.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SoarRow {
    /// Name, such as `PM-0`.
    pub(crate) name: String,
    /// Attenuation of rewards.
    pub(crate) rewards: &'static str,
    /// Number of players: the learner and identical opponents.
    pub(crate) players: usize,
    /// Share of wins against PMH before the first game, over 4000 games.
    pub(crate) untrained: f64,
    /// Share of wins after 1000, 5000 and 35,000 games (a twentieth of them with `quick`), averaged over the
    /// seeds.
    pub(crate) after: Vec<f64>,
    /// Share of wins at the end, averaged over the seeds.
    pub(crate) final_mean: f64,
    /// Standard deviation over the seeds.
    pub(crate) final_sd: f64,
    /// 95 % interval of the final share, over the games of all seeds.
    pub(crate) ci95: [f64; 2],
    /// Mean number of rules at the end.
    pub(crate) rules: f64,
    /// Mean seconds per run.
    pub(crate) seconds: f64,
    /// Share of wins by games learned from, averaged over the seeds.
    pub(crate) curve: Vec<(f64, f64)>,
    /// Number of rules by games learned from.
    pub(crate) rules_curve: Vec<(f64, f64)>,
}

/// Result of a figure.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SoarLearning {
    /// The agents in both settings.
    pub(crate) rows: Vec<SoarRow>,
}
