//! Rollouts of positions, and the file for resuming them.

use crate::farm::pool_of;
use adept_arena::matches::{ByClass, Net};
use adept_arena::rollout::{Options, Sums, roll_out_all, viewer};
use adept_arena::{Decision, Evaluator, Luck, OpenError, Resolved, inspect, naming};
use adept_erased::erased;
use adept_game::{Kit, Reduction, Turn};
use adept_ground::files::{FileError, Files};
use adept_ground::order::sort_by_highest;
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
    /// What is left out of the games: the cube, or the further games of a match.
    pub without: Reduction,
    /// Number of actions of each position that are rolled out, the best by the agent's values, in place of the position.
    pub candidates: Option<usize>,
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
    /// The action after which the games begin, where candidates are compared.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<Candidate>,
}

/// An action that is compared with others, by games with the same dice.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// The action as text.
    pub action: String,
    /// The equity beyond that of the agent's own choice, which comes first.
    pub beyond_choice: f64,
    /// Its 95 % interval, by the differences of the games with the same dice.
    pub beyond_choice_ci95: [f64; 2],
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
    #[serde(default, skip_serializing_if = "is_false")]
    without_cube: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    one_game: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    candidates: Option<usize>,
    positions: Vec<String>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Content of the file.
#[derive(Serialize, Deserialize)]
struct Saved {
    rollout: Plan,
    /// Sums of each position, or of each candidate of each position, in [−1, 1] for the player to move.
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
        let Reduction { without_cube, one_game } = options.without;
        let mut groups = Vec::with_capacity(positions.len());
        for ((state, _), text) in positions.into_iter().zip(&options.positions) {
            let player = viewer(self, &state).ok_or_else(|| over(text))?;
            let state = match without_cube || one_game {
                true => (self.results().reduced)(self, &state, options.without).map_err(OpenError::from)?,
                false => state,
            };
            groups.push(match options.candidates {
                Some(most) => Group::of_candidates(self, &agent, options.best, &state, most)?,
                None => Group { actions: Vec::new(), starts: vec![(state, player)] },
            });
        }
        let plan = Plan {
            game: self.name().into(),
            agent: options.agent.clone(),
            checkpoint: checksum_of(&agent, options.best)?,
            seed: options.seed,
            truncate: options.truncate,
            without_cube,
            one_game,
            candidates: options.candidates,
            positions: options.positions.clone(),
        };
        let all = groups.iter().map(|group| group.starts.len()).sum();
        let mut saved = begin(plan, all, options)?;
        let files = Files::default();
        let save = |saved: &Saved| -> Result<(), FileError> {
            let Some(out) = &options.out else { return Ok(()) };
            let text = format!("{:#}\n", json!(saved));
            files.replace(out, text.as_bytes())
        };
        let pool = pool_of(options.threads)?;
        let how = Options { trials: options.trials, truncate: options.truncate, seed: options.seed };
        let stop = || cancel.requested();
        let what = match all {
            1 => "rolling out a position".to_string(),
            n => format!("rolling out {n} positions"),
        };
        work::share(&what, 0.0);
        let mut written = Instant::now();
        let mut first = 0;
        for (i, group) in groups.iter().enumerate() {
            let range = first..first + group.starts.len();
            first = range.end;
            let done = saved.sums[range.clone()].to_vec();
            let mut report = |sums: &[Sums]| {
                saved.sums[range.clone()].clone_from_slice(sums);
                let played = sums.first().map_or(options.trials, |sums| sums.equity.deals);
                let share = (i as f64 + played as f64 / options.trials as f64) / groups.len() as f64;
                work::share(&what, share);
                progress(share);
                if written.elapsed() >= PAUSE {
                    save(&saved).map_err(ModelError::from)?;
                    written = Instant::now();
                }
                Ok(())
            };
            let found =
                pool.install(|| roll_out_all(self, &open, &group.starts, &how, done, &stop, &mut report))?;
            saved.sums[range].clone_from_slice(&found);
        }
        // Ends the progress display, also when stopped or with nothing to do.
        work::share(&what, 1.0);
        save(&saved)?;
        let names: Vec<&str> = classes.iter().map(|class| &*class.name).collect();
        let starts = groups.iter().zip(&options.positions).flat_map(|(group, text)| {
            let actions = group.actions.iter().map(Some).chain(std::iter::repeat(None));
            group.starts.iter().zip(actions).map(move |((_, player), action)| (text, *player, action))
        });
        let shown = |((text, player, action), sums): ((&String, usize, Option<&String>), &Sums)| {
            let rollout = || Rollout {
                candidate: action.map(|action| Candidate::new(self, action, sums)),
                ..shown(self, text, sums, player, &names)
            };
            (sums.equity.deals > 1).then(rollout)
        };
        Ok(Rollouts {
            rollouts: starts.zip(&saved.sums).filter_map(shown).collect(),
            finished: saved.sums.iter().all(|sums| sums.equity.deals >= options.trials),
        })
    }
}

/// Positions that are rolled out with the same dice, each seen by a player.
struct Group<G: Kit> {
    /// The actions that lead to them; none if there is one position, which is asked about itself.
    actions: Vec<String>,
    starts: Vec<(G::State, usize)>,
}

impl<G: Kit> Group<G> {
    /// What follows the best actions of a decision by an agent's values, the best first.
    fn of_candidates(
        game: &G,
        agent: &Resolved,
        best: bool,
        state: &G::State,
        most: usize,
    ) -> Result<Self, OpenError> {
        let Turn::Player(player) = game.turn(state) else {
            return Err(OpenError::Unknown(format!(
                "`{}`: nobody decides here, so there are no candidates: add the roll, or ask about the position itself",
                game.position_text(state)
            )));
        };
        let (mut actions, mut values) = (Vec::new(), Vec::new());
        let mut judge = naming::judge(game, agent, best)?.values;
        judge.study(Decision::new(game, state, player), &mut actions, &mut values);
        let mut order: Vec<usize> = (0..actions.len()).collect();
        sort_by_highest(&mut order, &|&at| values[at].into());
        order.truncate(most.max(1));
        let after = |&at: &usize| {
            let mut after = state.clone();
            game.apply(&mut after, &actions[at]);
            (after, player)
        };
        let texts = order.iter().map(|&at| game.action_text(state, &actions[at])).collect();
        Ok(Self { actions: texts, starts: order.iter().map(after).collect() })
    }
}

impl Candidate {
    /// An action with the sums of its games.
    fn new<G: Kit>(game: &G, action: &str, sums: &Sums) -> Self {
        let size = unit_size(game);
        Self {
            action: action.into(),
            beyond_choice: sums.beyond_first.mean() * size,
            beyond_choice_ci95: sums.beyond_first.ci95().map(|end| end * size),
        }
    }
}

/// The scale of a game in its unit, if it has one.
fn unit_size<G: Kit>(game: &G) -> f64 {
    game.scale() / game.counting().unit().map_or(1.0, |unit| unit.size)
}

/// The checksum of an agent's checkpoint, if it has one.
pub(crate) fn checksum_of(agent: &Resolved, best: bool) -> Result<Option<String>, ModelError> {
    let of = |folder| Ok(checkpoint::manifest(&checkpoint::locate(folder, best)?)?.checksum);
    agent.folder().map(of).transpose()
}

/// Converts sums to a result.
fn shown<G: Kit>(game: &G, text: &str, sums: &Sums, player: usize, names: &[&str]) -> Rollout {
    let unit = game.counting().unit();
    let size = unit_size(game);
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
        candidate: None,
    }
}

/// Empty sums of so many positions or candidates, or those of an earlier call.
fn begin(plan: Plan, count: usize, options: &RolloutOptions) -> Result<Saved, TrainError> {
    let empty = vec![Sums::default(); count];
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
