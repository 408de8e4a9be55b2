//! Rollouts of positions, and the file for resuming them.

use crate::farm::pool_of;
use adept_arena::matches::{ByClass, Net};
use adept_arena::rollout::{Options, Sums, roll_out, viewer};
use adept_arena::{Luck, OpenError, Resolved, inspect, naming};
use adept_erased::erased;
use adept_game::Kit;
use adept_ground::files::{FileError, Files};
use adept_ground::{limits, work};
use adept_model::{ModelError, checkpoint};
use adept_trainer::run::{Cancel, TrainError};
use adept_trainer::settings::differences;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Options of rollouts.
#[derive(Clone, Debug, Default)]
pub struct RolloutOptions {
    /// The agent that plays both sides: a checkpoint, a search, or a valuation.
    pub agent: String,
    /// Whether to use the best checkpoint of a run instead of the latest.
    pub best: bool,
    /// Positions in the game's text form.
    pub positions: Vec<String>,
    /// Number of games per position, at least 2.
    pub trials: u64,
    /// Number of moves after which a game is truncated; none to play to the end.
    pub truncate: Option<u32>,
    /// Seed of the dice.
    pub seed: u64,
    /// Number of threads; 0 for all cores.
    pub threads: usize,
    /// File of the results so far.
    pub out: Option<PathBuf>,
    /// Whether to resume this file.
    pub resume: bool,
}

/// The result of a position's trials, for the player who moves at once or after chance.
#[derive(Clone, Debug, Serialize)]
pub struct Rollout {
    /// The position as text.
    pub position: String,
    /// The player, from 1.
    pub to_move: usize,
    /// Mean result minus luck: in the unit of the game, otherwise utility.
    pub equity: f64,
    /// Its 95 % interval.
    pub ci95: [f64; 2],
    /// Mean raw result.
    pub raw: f64,
    /// Its 95 % interval.
    pub raw_ci95: [f64; 2],
    /// The unit, such as points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Cow<'static, str>>,
    /// Number of games.
    pub trials: u64,
    /// The probability of each class of results, variance-reduced; empty if the agent only has values.
    pub classes: ByClass<f64>,
    /// Their 95 % intervals.
    pub classes_ci95: ByClass<[f64; 2]>,
}

/// Rollouts of several positions.
#[derive(Clone, Debug, Serialize)]
pub struct Rollouts {
    /// The positions in order, without those that have fewer than two games yet.
    pub rollouts: Vec<Rollout>,
    /// Whether all games were played.
    pub finished: bool,
}

/// Settings that must match to resume. The number of trials may increase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Plan {
    game: String,
    agent: String,
    /// Checksum of the agent's checkpoint, if it is one.
    checkpoint: Option<String>,
    seed: u64,
    truncate: Option<u32>,
    positions: Vec<String>,
}

/// Content of the file.
#[derive(Serialize, Deserialize)]
struct Saved {
    rollout: Plan,
    /// Sums of each position, in [−1, 1] for the player to move.
    sums: Vec<Sums>,
}

/// Interval of writing the file.
const PAUSE: Duration = Duration::from_secs(3);

/// Rollouts of a game.
#[erased(pub trait RolloutOps)]
impl<G: Kit> RolloutOps for G {
    /// Rolls out positions of a game. `progress` receives the finished share.
    ///
    /// # Errors
    /// If the agent has no values, the game hides information or is not zero-sum, a position is invalid or over, or the
    /// file holds other rollouts or cannot be written.
    fn roll_out(
        &self,
        options: &RolloutOptions,
        cancel: &Cancel,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Rollouts, TrainError> {
        let agent = naming::resolve(self, &options.agent, &[])?;
        let open = || Luck::open(self, &agent, options.best);
        let classes = open()?.classes().to_vec();
        let positions = inspect::read(self, &options.positions)?;
        let over = |text: &String| {
            OpenError::Unknown(format!("`{text}`: the game is over, so there is nothing to roll out"))
        };
        let starts: Vec<(G::State, usize)> = positions
            .into_iter()
            .zip(&options.positions)
            .map(|((state, _), text)| {
                viewer(self, &state).map(|player| (state, player)).ok_or_else(|| over(text))
            })
            .collect::<Result<_, _>>()?;
        let plan = Plan {
            game: self.name().into(),
            agent: options.agent.clone(),
            checkpoint: checksum_of(&agent, options.best)?,
            seed: options.seed,
            truncate: options.truncate,
            positions: options.positions.clone(),
        };
        let mut saved = begin(plan, options)?;
        let files = Files::default();
        let save = |saved: &Saved| -> Result<(), FileError> {
            let Some(out) = &options.out else { return Ok(()) };
            let text = format!("{:#}\n", json!(saved));
            files.replace(out, text.as_bytes())
        };
        let pool = pool_of(options.threads)?;
        let how = Options { trials: options.trials, truncate: options.truncate, seed: options.seed };
        let stop = || cancel.requested();
        let what = match starts.len() {
            1 => "rolling out a position".to_string(),
            n => format!("rolling out {n} positions"),
        };
        work::share(&what, 0.0);
        let mut written = Instant::now();
        for (i, (state, player)) in starts.iter().enumerate() {
            let done = saved.sums[i].clone();
            let mut report = |sums: &Sums| {
                saved.sums[i].clone_from(sums);
                let share = sums.equity.deals as f64 / options.trials as f64;
                let share = (i as f64 + share) / starts.len() as f64;
                work::share(&what, share);
                progress(share);
                if written.elapsed() >= PAUSE {
                    save(&saved).map_err(ModelError::from)?;
                    written = Instant::now();
                }
                Ok(())
            };
            let found =
                pool.install(|| roll_out(self, &open, (state, *player), &how, done, &stop, &mut report))?;
            saved.sums[i] = found;
        }
        // Ends the progress display, also when stopped or with nothing to do.
        work::share(&what, 1.0);
        save(&saved)?;
        let names: Vec<&str> = classes.iter().map(|class| &*class.name).collect();
        let shown = |((text, sums), (_, player)): ((&String, &Sums), &(G::State, usize))| {
            (sums.equity.deals > 1).then(|| shown(self, text, sums, *player, &names))
        };
        Ok(Rollouts {
            rollouts: options.positions.iter().zip(&saved.sums).zip(&starts).filter_map(shown).collect(),
            finished: saved.sums.iter().all(|sums| sums.equity.deals >= options.trials),
        })
    }
}

/// The checksum of an agent's checkpoint, if it has one.
pub(crate) fn checksum_of(agent: &Resolved, best: bool) -> Result<Option<String>, ModelError> {
    let of = |folder| Ok(checkpoint::manifest(&checkpoint::locate(folder, best)?)?.checksum);
    agent.folder().map(of).transpose()
}

/// Converts sums to a result.
fn shown<G: Kit>(game: &G, text: &str, sums: &Sums, player: usize, names: &[&str]) -> Rollout {
    let unit = game.counting().unit();
    let size = game.scale() / unit.as_ref().map_or(1.0, |unit| unit.size);
    let (scaled, whole) = (|net: &Net| net.mean() * size, |net: &Net| net.ci95().map(|end| end * size));
    let by_class = names.iter().map(|name| name.to_string()).zip(&sums.classes);
    Rollout {
        position: text.into(),
        to_move: player + 1,
        equity: scaled(&sums.equity),
        ci95: whole(&sums.equity),
        raw: scaled(&sums.raw),
        raw_ci95: whole(&sums.raw),
        unit: unit.map(|unit| unit.name),
        trials: sums.equity.deals,
        classes: ByClass(by_class.clone().map(|(name, net)| (name, net.mean())).collect()),
        classes_ci95: ByClass(by_class.map(|(name, net)| (name, net.ci95())).collect()),
    }
}

/// Empty sums, or those of an earlier call.
fn begin(plan: Plan, options: &RolloutOptions) -> Result<Saved, TrainError> {
    let empty = vec![Sums::default(); plan.positions.len()];
    let Some(out) = &options.out else { return Ok(Saved { rollout: plan, sums: empty }) };
    let refuse = |message: &str| Err(TrainError::Folder { path: out.clone(), message: message.into() });
    Files::default().try_file(out)?;
    let text = match limits::read(out, limits::RECORD_BYTES) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Saved { rollout: plan, sums: empty });
        }
        Err(source) => return Err(ModelError::io(out)(source).into()),
    };
    let Some(saved) =
        serde_json::from_slice::<Saved>(&text).ok().filter(|saved| saved.sums.len() == empty.len())
    else {
        return refuse("exists and does not hold rollouts of these positions: name another file");
    };
    if !options.resume {
        return refuse("exists: continue it with --resume, or name another file");
    }
    if saved.rollout != plan {
        let all = differences(&json!(saved.rollout), &json!(plan));
        let first = all.first().map(|difference| difference.cells().join(" "));
        return refuse(&format!("holds other rollouts ({}): name another file", first.unwrap_or_default()));
    }
    if saved.sums.iter().any(|sums| sums.equity.deals > options.trials) {
        return refuse("holds more games than requested: ask for as many, or name another file");
    }
    Ok(saved)
}
