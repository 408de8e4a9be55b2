//! Initial weights: loads a checkpoint into the whole network or a part of it.

use super::error::TrainError;
use super::feed::OwnGames;
use super::opens::encoder_of;
use crate::config::Config;
use crate::config::Method;
use crate::positions::{Examples, Part, Positions, With, encode, rows_of_own_games, rows_of_random_games};
use adept_arena::{LearnerModel, OpenError, open};
use adept_game::{Kit, outcome_classes, stream};
use adept_ground::work;
use adept_model::checkpoint::{self, Checkpoint, Origin};
use adept_model::{
    Architecture, CellExamples, Channel, Compute, Growth, Head, Learner, ModelError, Rows, Samples, Tensor,
    cluster_gates, find_cells,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;

/// A checkpoint to start from, written `CHECKPOINT` or `PART=CHECKPOINT`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Init {
    /// The part that gets the weights, such as `expert.0`, `expert.1.expert.0` or `net`; `*` stands for each number, as in
    /// `expert.*`. Default: the whole network, or the first expert with the checkpoint's architecture.
    pub part: Option<String>,
    /// Checkpoint or run folder.
    pub path: PathBuf,
}

impl FromStr for Init {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // `net` is short enough to be confused with a path.
        let is_part = |part: &str| {
            part.starts_with("expert")
                || part.starts_with("gate")
                || part == "net"
                || part.starts_with("net.")
        };
        match text.split_once('=') {
            Some((part, path)) if is_part(part) => match path {
                "" => Err(format!("name a checkpoint or run after `{part}=`")),
                path => Ok(Self { part: Some(part.into()), path: path.into() }),
            },
            _ => Ok(Self { part: None, path: text.into() }),
        }
    }
}

/// What a run learns, which a checkpoint must fit.
struct Wanted<'a> {
    game: &'a str,
    encoder: &'a str,
    channels: &'a [Channel],
    head: Head,
    architecture: &'a Architecture,
}

/// A checkpoint that was read and fits.
pub(super) struct Start {
    pub(super) origin: Origin,
    /// Before the names of its weights in the whole network.
    prefix: String,
    weights: Vec<Tensor>,
    /// How it becomes the network of its part, if that is larger.
    growth: Option<Growth>,
}

impl Start {
    /// Reads the checkpoints from which a run starts.
    pub(super) fn read_all<G: Kit>(game: &G, config: &Config, all: &[Init]) -> Result<Vec<Self>, TrainError> {
        let mut starts: Vec<Self> = Vec::new();
        if all.is_empty() {
            return Ok(starts);
        }
        let encoder = encoder_of(game, config)?;
        let head = config.head_of(outcome_classes(game)).map_err(OpenError::from)?;
        let (game, encoder, channels) = (game.name(), encoder.name(), encoder.channels());
        let wanted = Wanted { game, encoder, channels, head, architecture: &config.architecture };
        for init in all {
            let taken: Vec<Option<String>> = starts.iter().map(|s| s.origin.part.clone()).collect();
            starts.extend(Self::read(&wanted, init, taken)?);
        }
        Ok(starts)
    }

    /// Reads a checkpoint, or the latest one of a run, and finds its parts. It must have the same game and
    /// encoder.
    ///
    /// `taken` are the parts that other checkpoints fill.
    fn read(
        wanted: &Wanted<'_>,
        init: &Init,
        mut taken: Vec<Option<String>>,
    ) -> Result<Vec<Self>, TrainError> {
        let Wanted { game, encoder, channels, head, architecture } = wanted;
        // An unreadable file here is not a fault of the run's own folder.
        let located = checkpoint::locate(&init.path, false).map_err(TrainError::Model)?;
        let from = checkpoint::read(&located).map_err(TrainError::Model)?;
        let found = &from.manifest;
        let mismatch = |message: String| OpenError::Mismatch { path: located.clone(), message };
        if found.quantised.is_some() {
            let message = "is quantised, and does not learn: start from the checkpoint that it was made from";
            return Err(mismatch(message.into()).into());
        }
        if head.classes() != found.head.classes() {
            let message = format!(
                "has the head `{}`, but this experiment has `{}`: its outputs would mean something else",
                found.head.name(),
                head.name()
            );
            return Err(mismatch(message).into());
        }
        if let (Architecture::Modules(_), Architecture::Modules(_)) = (architecture, &found.architecture)
            && open::same_encoder(&found.encoder, encoder)
            && (found.game != *game || found.channels != *channels)
            && init.part.is_none()
        {
            if !taken.is_empty() {
                let message = "comes after another checkpoint: modules are taken from one".into();
                return Err(mismatch(message).into());
            }
            return Ok(vec![Self::modules(architecture, channels, head, from, located)?]);
        }
        let [before, now] = [&*found.encoder, *encoder].map(open::without_tables);
        let same = open::same_encoder(&before, &now);
        // An encoder may add channels to those of the checkpoint, such as classes by which gates choose. Its name then begins alike.
        let adds = now.strip_prefix(&*before).is_some_and(|rest| rest.starts_with('+'));
        let fits = match same {
            true => found.channels == *channels,
            false => adds && channels.len() > found.channels.len() && channels.starts_with(&found.channels),
        };
        if !open::same_game(&found.game, game) || !fits {
            let message = format!(
                "is for {} with the encoder `{}`, but this experiment is for {game} with `{encoder}`: its weights would \
                 mean something else",
                found.game, found.encoder
            );
            return Err(mismatch(message).into());
        }
        let mut starts = Vec::new();
        for part in parts_of(architecture, channels, init.part.as_deref()) {
            let place = place(architecture, &found.architecture, part.as_deref(), channels, head, &taken);
            let (part, growth) =
                place.map_err(|m| mismatch(format!("cannot start this architecture: {m}")))?;
            taken.push(part.clone());
            let prefix = part.as_ref().map_or(String::new(), |part| format!("{part}."));
            let weights =
                from.tensors.iter().filter(|t| !checkpoint::is_of_training(&t.name)).cloned().collect();
            let grown = growth.as_ref().map(Growth::summary);
            let origin = Origin { path: located.clone(), checksum: found.checksum.clone(), part, grown };
            starts.push(Self { origin, prefix, weights, growth });
        }
        Ok(starts)
    }

    /// The modules of another game whose channels are the same here, and are made of the same channels. If all modules have the
    /// same names, also how they are combined.
    fn modules(
        architecture: &Architecture,
        channels: &[Channel],
        head: &Head,
        from: Checkpoint,
        located: PathBuf,
    ) -> Result<Self, TrainError> {
        let program = adept_model::lower(architecture, channels, head)?;
        let other =
            adept_model::lower(&from.manifest.architecture, &from.manifest.channels, &from.manifest.head)?;
        let shared =
            |name: &str| channels.iter().any(|c| c.name == name && from.manifest.channels.contains(c));
        let fits = |t: &Tensor| {
            let here = program.params.iter().any(|p| p.name == t.name && p.shape == t.shape);
            here && match t.name.strip_prefix("module.").and_then(|name| name.rsplitn(3, '.').nth(2)) {
                Some(module) => shared(module),
                None => other.modules == program.modules,
            }
        };
        let weights: Vec<Tensor> = from.tensors.into_iter().filter(fits).collect();
        let named = |t: &Tensor| {
            let name = t.name.strip_prefix("module.")?.strip_suffix(".units.weight")?;
            Some(name.to_string())
        };
        let names: Vec<String> = weights.iter().filter_map(named).collect();
        if names.is_empty() {
            let message = format!(
                "no module of this checkpoint fits: {} need the same inputs and the same number of units",
                program.modules.join(", ")
            );
            return Err(OpenError::Mismatch { path: located, message }.into());
        }
        let part = Some(format!("modules {}", names.join(", ")));
        let origin = Origin { path: located, checksum: from.manifest.checksum, part, grown: None };
        Ok(Self { origin, prefix: String::new(), weights, growth: None })
    }

    /// Copies the weights to their part. The fresh ones of the learner are those of what is new in a network that grows.
    pub(super) fn apply(&self, learner: &mut dyn Learner) -> Result<(), TrainError> {
        let whole = self.origin.part.is_none() && self.growth.is_none();
        let mut state = if whole { Vec::new() } else { learner.tensors()? };
        let mut put = || -> Result<(), ModelError> {
            let grown = self.growth.as_ref().map(|growth| {
                let fresh = state.iter().filter_map(|t| {
                    t.name.strip_prefix(&self.prefix).map(|name| Tensor { name: name.into(), ..t.clone() })
                });
                growth.tensors(&self.weights, &fresh.collect::<Vec<_>>())
            });
            for tensor in grown.transpose()?.as_ref().unwrap_or(&self.weights) {
                let tensor = Tensor { name: format!("{}{}", self.prefix, tensor.name), ..tensor.clone() };
                match state.iter_mut().find(|t| t.name == tensor.name) {
                    Some(place) => *place = tensor,
                    None => state.push(tensor),
                }
            }
            learner.restore(&state)
        };
        put().map_err(|e| OpenError::Mismatch {
            path: self.origin.path.clone(),
            message: format!("cannot start this architecture: {e}"),
        })?;
        Ok(())
    }
}

/// Number of positions for measuring the use of experts.
const SHARED: usize = 2000;
/// Number of positions for clustering.
const CLUSTERED: usize = 8192;

/// The network of a config with its initial weights: random, and gates as clusters.
pub(super) fn fresh_model<G: Kit>(
    game: &G,
    config: &Config,
    seed: u64,
    compute: Compute,
) -> Result<LearnerModel<G>, TrainError> {
    let encoder = encoder_of(game, config)?;
    let (channels, optimiser) = (encoder.channels().to_vec(), config.learn.optimiser);
    let head = config.head_of(outcome_classes(game)).map_err(OpenError::from)?;
    let mut rng = stream(seed, "init", 0);
    let learner =
        adept_model::build_on(&config.architecture, &channels, &head, optimiser, compute, &mut rng)?;
    let mut bound = LearnerModel::learning(game, encoder, learner);
    begin_with_clusters(game, config, seed, &mut bound)?;
    Ok(bound)
}

/// Initialises gates as clusters of positions from the run's distribution, or of random games if the game has
/// no distribution.
fn begin_with_clusters<G: Kit>(
    game: &G,
    config: &Config,
    seed: u64,
    bound: &mut LearnerModel<G>,
) -> Result<(), TrainError> {
    let mut rng = stream(seed, "clusters", 0);
    let rows = || usual_rows(game, config, bound, Drawn::clustered(seed));
    let gates =
        cluster_gates(&config.architecture, bound.model.channels(), bound.model.head(), rows, &mut rng)?;
    Ok(replace(&mut *bound.model, gates)?)
}

/// How many rows are drawn, and from which streams.
struct Drawn {
    count: usize,
    seed: u64,
    /// Purpose of the stream of random games.
    games: &'static str,
    /// Purpose of the stream of positions.
    positions: &'static str,
}

impl Drawn {
    /// For the clusters of gates.
    fn clustered(seed: u64) -> Self {
        Self { count: CLUSTERED, seed, games: "clustered games", positions: "clustered positions" }
    }

    /// For the use of experts, the same in all runs.
    fn shared() -> Self {
        Self { count: SHARED, seed: 0, games: "shared games", positions: "shared positions" }
    }
}

/// Rows of positions from the run's distribution, or of random games if the game has no distribution.
fn usual_rows<G: Kit>(
    game: &G,
    config: &Config,
    bound: &LearnerModel<G>,
    drawn: Drawn,
) -> Result<Rows, ModelError> {
    let Drawn { count, seed, games, positions: purpose } = drawn;
    if game.positions().is_empty() {
        return Ok(rows_of_random_games(game, bound, count, &mut stream(seed, games, 0)));
    }
    let positions = Positions::new(game, config.learn.distribution());
    let positions = positions.map_err(|e| ModelError::Unsupported(e.to_string()))?;
    let (mut samples, mut rng) = (Samples::new(bound.model.channels()), stream(seed, purpose, 0));
    for _ in 0..count {
        let state = positions.of_part(game, Part::Train, &mut rng);
        encode(game, &**bound.encoder(), &state, &mut samples);
    }
    Ok(samples.rows)
}

/// Rows on which the use of experts is measured: positions of the run's distribution, or of games that the network plays
/// with itself.
pub(super) fn shared_rows<G: Kit>(
    game: &G,
    config: &Config,
    bound: &mut LearnerModel<G>,
) -> Result<Rows, ModelError> {
    if game.positions().is_empty() {
        return Ok(rows_of_own_games(game, bound, SHARED, &mut stream(0, "shared games", 0)));
    }
    usual_rows(game, config, bound, Drawn::shared())
}

/// Puts tensors in the place of those with the same names.
fn replace(learner: &mut dyn Learner, tensors: Vec<Tensor>) -> Result<(), ModelError> {
    if tensors.is_empty() {
        return Ok(());
    }
    let mut state = learner.tensors()?;
    for tensor in tensors {
        if let Some(place) = state.iter_mut().find(|t| t.name == tensor.name) {
            *place = tensor;
        }
    }
    learner.restore(&state)
}

/// Finds the learned cells of an architecture from the examples of the run, or from rows of its positions if the run
/// has no examples. Parts with weights of other checkpoints keep their cells.
pub(super) fn begin_with_cells<G: Kit>(
    game: &G,
    config: &Config,
    seed: u64,
    bound: &mut LearnerModel<G>,
    origins: &[Origin],
) -> Result<(), TrainError> {
    // What grew was a perceptron: the gates of its experts are new.
    let given = |name: &str| {
        let is_in = |o: &Origin| o.part.as_deref().is_none_or(|part| name.starts_with(&format!("{part}.")));
        origins.iter().any(|origin| origin.grown.is_none() && is_in(origin))
    };
    let (mut rng, channels) = (stream(seed, "cells", 0), bound.model.channels().to_vec());
    let head = bound.model.head().clone();
    let mut from = match OwnGames::new(game, config, seed, bound)? {
        // Weights that were learned before show where a network errs.
        Some(games) => Cellular::Own { games: games.into(), bound: &mut *bound, errs: !origins.is_empty() },
        None if matches!(config.learn.method, Method::Supervised(_)) => {
            Cellular::Examples { game, examples: Examples::new(game, config, seed, With::of(bound))?, bound }
        }
        None => Cellular::Rows(usual_rows(game, config, bound, Drawn::clustered(seed))?),
    };
    let found = find_cells(&config.architecture, &channels, &head, given, &mut from, &mut rng)?;
    drop(from);
    Ok(replace(&mut *bound.model, found)?)
}

/// Examples by which cells are reassigned.
const REASSIGNED: u64 = 1 << 17;

/// Gives each learned cell to the expert that errs least in it, by new examples. `time` numbers the times.
pub(super) fn reassign_cells<G: Kit>(
    game: &G,
    config: &Config,
    seed: u64,
    bound: &mut LearnerModel<G>,
    time: u64,
) -> Result<(), TrainError> {
    let mut samples = Samples::new(bound.model.channels());
    let mut examples = Examples::new(game, config, seed, With::of(bound))?;
    let first = 2 * CELLULAR + time * REASSIGNED;
    examples.fill(game, &**bound.encoder(), first..first + REASSIGNED, &mut samples)?;
    let (tables, _) = adept_model::reassigned_cells(&mut *bound.model.worker()?, &samples)?;
    // With the state of the optimiser.
    let mut state = bound.model.state()?;
    for table in tables {
        if let Some(place) = state.iter_mut().find(|t| t.name == table.name) {
            *place = table;
        }
    }
    Ok(bound.model.restore(&state)?)
}

/// Most positions of own games for cells, whose targets take a while.
const OWN: u64 = 1 << 15;

/// Where the cells of a run come from.
enum Cellular<'a, G: Kit> {
    Examples {
        game: &'a G,
        examples: Examples<G>,
        bound: &'a LearnerModel<G>,
    },
    /// Positions of own games, with the errors of the network against its own targets if it has learned before.
    Own {
        games: Box<OwnGames<'a, G>>,
        bound: &'a mut LearnerModel<G>,
        errs: bool,
    },
    /// Without targets.
    Rows(Rows),
}

/// Number of the first example for cells, far beyond those of the run.
const CELLULAR: u64 = 1 << 62;

impl<G: Kit> CellExamples for Cellular<'_, G> {
    fn fill(&mut self, span: Range<u64>, samples: &mut Samples) -> Result<(), ModelError> {
        match self {
            Self::Examples { game, examples, bound } => {
                let span = span.start + CELLULAR..span.end + CELLULAR;
                examples.fill(game, &**bound.encoder(), span, samples)?;
            }
            Self::Own { games, bound, .. } => {
                games.fill(bound, &(span.start + CELLULAR..span.end + CELLULAR), samples)?;
            }
            Self::Rows(rows) => {
                let n = rows.len() as u64;
                span.take_while(|&i| i < n).for_each(|i| samples.rows.push_from(rows, i as usize));
            }
        }
        Ok(())
    }

    fn have_targets(&self) -> bool {
        matches!(self, Self::Examples { .. })
    }

    fn errors(&mut self, samples: &Samples) -> Option<Vec<f32>> {
        let Self::Own { bound, errs: true, .. } = self else { return None };
        let (head, mut outputs) = (bound.model.head().clone(), Vec::new());
        bound.model.outputs(&samples.rows, &mut outputs);
        let width = head.outputs();
        let pairs = samples.targets.chunks_exact(width).zip(outputs.chunks_exact(width));
        Some(pairs.map(|(target, output)| head.error(target, output)).collect())
    }

    fn most(&self) -> u64 {
        match self {
            Self::Own { .. } => OWN,
            Self::Examples { .. } | Self::Rows(_) => u64::MAX,
        }
    }

    fn progress(&mut self, done: f64) {
        work::share("finding the cells of the gate", done);
    }
}

/// The parts that are meant: those that a name with `*` fits, or the only one that may be named.
fn parts_of(wanted: &Architecture, channels: &[Channel], named: Option<&str>) -> Vec<Option<String>> {
    let fits = |name: &str, pattern: &str| {
        let (names, patterns) = (name.split('.'), pattern.split('.'));
        names.clone().count() == patterns.clone().count()
            && names.zip(patterns).all(|(n, p)| p == "*" || n == p)
    };
    let all = wanted.parts(channels).into_iter().map(|(name, _)| name);
    let found: Vec<Option<String>> =
        all.filter(|name| named.is_some_and(|pattern| fits(name, pattern))).map(Some).collect();
    // The error for none is that for a part that is not there.
    if found.is_empty() { vec![named.map(String::from)] } else { found }
}

/// A part of a network, none for the whole, and how a checkpoint grows to it.
type Place = (Option<String>, Option<Growth>);

/// Where weights of the architecture `found` fit into `wanted`. In a part that is not named they fit without growing.
fn place(
    wanted: &Architecture,
    found: &Architecture,
    part: Option<&str>,
    channels: &[Channel],
    head: &Head,
    taken: &[Option<String>],
) -> Result<Place, String> {
    // The whole overlaps with everything; a part overlaps with itself and its inner parts.
    let inside = |a: &str, b: &str| a == b || a.strip_prefix(b).is_some_and(|rest| rest.starts_with('.'));
    let free = |part: Option<&str>| {
        taken.iter().all(|other| match (part, other.as_deref()) {
            (Some(a), Some(b)) => !inside(a, b) && !inside(b, a),
            _ => false,
        })
    };
    let growth = |node: &Architecture| Growth::needed(node, found, channels, head);
    if let Some(part) = part {
        if !free(Some(part)) {
            return Err(format!("another start already fills its part `{part}`"));
        }
        let parts = wanted.parts(channels);
        let Some((_, node)) = parts.iter().find(|(name, _)| name == part) else {
            let known: Vec<String> = parts.into_iter().map(|(name, _)| name).collect();
            return Err(match &known[..] {
                [] => format!("it has no part `{part}`, or any other"),
                known => format!("it has no part `{part}`; there is {}", some_of(known)),
            });
        };
        let why = |why| format!("its part `{part}` is another network: {why}");
        return Ok((Some(part.to_string()), growth(node).map_err(why)?));
    }
    let whole = match growth(wanted) {
        Ok(growth) if free(None) => return Ok((None, growth)),
        Ok(_) => return Err("it replaces the whole network, but another start already fills a part".into()),
        Err(why) => why,
    };
    let parts = wanted.parts(channels);
    let same = |node: &Architecture| node.same_shape(found, channels, head).is_ok();
    match parts.iter().find(|(name, node)| free(Some(name)) && same(node)) {
        Some((name, _)) => Ok((Some(name.clone()), None)),
        None if parts.is_empty() => Err(whole),
        None if parts.iter().any(|(_, node)| same(node)) => {
            Err("other starts already fill every part with this network".into())
        }
        None => {
            let names: Vec<String> = parts.into_iter().map(|(name, _)| name).collect();
            Err(format!("{whole}; none of its parts fits either: {}", some_of(&names)))
        }
    }
}

/// The first few names.
fn some_of(names: &[String]) -> String {
    let shown = names.iter().take(6).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > 6 { format!("{shown}, …") } else { shown }
}
