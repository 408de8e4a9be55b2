//! Opens encoders and checkpoints by name and binds them to a game.

use crate::encoders::parts::{self, EXPERT, PRIOR, Prior};
use crate::encoders::{Frozen, WithExperts, WithKnown, WithPrior};
use crate::error::OpenError;
use crate::values::GameModel;
use adept_game::{Encoder, Kit, Valuation, stream};
use adept_ground::limits;
use adept_model::checkpoint::{self, Checkpoint, Manifest};
use adept_model::{Optimiser, QuantisedNetwork, names};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The encoder named `name`, or the game's first encoder.
///
/// A part `prior:NAME`, joined by `+`, adds the value channel `prior`: a valuation of the position by the game.
/// `prior:PATH` uses a checkpoint instead; a path that contains `+` stands in double quotes. A part `expert:NAME` adds a value
/// channel with this name: a deliberating agent's estimate for the action.
///
/// The name of the returned encoder pins a prior checkpoint as `prior:PATH@CHECKSUM`. A pinned name opens only that
/// checkpoint.
///
/// # Errors
/// [`OpenError::Unknown`] with the known names. Errors of [`open`] for a prior checkpoint. [`OpenError::Mismatch`] if
/// the path now holds another checkpoint.
pub fn encoder<G: Kit>(game: &G, name: Option<&str>) -> Result<Arc<dyn Encoder<G>>, OpenError> {
    encoder_of(game, name, Named::default())
}

/// Who names an encoder.
#[derive(Clone, Copy, Default)]
struct Named<'a> {
    /// The folder of the checkpoint that names it; none for a config.
    by: Option<&'a Path>,
    /// Checkpoints of which each is the prior of the next.
    depth: usize,
}

fn encoder_of<G: Kit>(
    game: &G,
    name: Option<&str>,
    named: Named<'_>,
) -> Result<Arc<dyn Encoder<G>>, OpenError> {
    let listing = game.encoders();
    let encoders = listing.names();
    let wanted = name.or(encoders.first().map(|e| &*e.name)).unwrap_or_default();
    let (experts, parts): (Vec<&str>, Vec<&str>) =
        parts::parts(wanted).into_iter().partition(|part| part.starts_with(EXPERT));
    let (priors, rest): (Vec<&str>, Vec<&str>) = parts.into_iter().partition(|part| part.starts_with(PRIOR));
    let (tables, own): (Vec<&str>, Vec<&str>) =
        rest.into_iter().partition(|part| parts::known_part(part).is_some());
    let own = own.into_iter().map(|part| parts::from_here(part, named.by)).collect::<Vec<_>>().join("+");
    let names = || encoders.iter().map(|e| &*e.name).collect::<Vec<_>>().join(", ");
    if let Some(added) = experts.first().or(priors.first()).or(tables.first()).filter(|_| own.is_empty()) {
        return Err(OpenError::Unknown(format!(
            "`{added}` adds to an encoder: put one before it, such as `{}+{added}`; {} has {}",
            encoders.first().map_or("bits", |e| &*e.name),
            game.name(),
            names()
        )));
    }
    let unknown = || {
        // A known part with parameters that it does not take: its description names those it does.
        let form = own.split('+').filter_map(|part| part.split_once(':')).find_map(|(head, _)| {
            let mut forms = encoders.iter();
            forms.find(|e| e.name.split(':').next() == Some(head)).map(|e| (&e.name, &e.about))
        });
        // Of several parts, the one that is misspelt; without its parameters, which have no usual spelling.
        let head = |name: &str| name.split(':').next().unwrap_or_default().to_string();
        let is_known = |part: &&str| encoders.iter().any(|e| head(&e.name) == head(part));
        let misspelt = own.split('+').find(|part| !is_known(part));
        if let (Some((name, about)), None) = (form, misspelt) {
            return OpenError::Unknown(format!(
                "{} has no encoder `{own}`; `{name}` is {about}",
                game.name()
            ));
        }
        let part = misspelt.unwrap_or(&own);
        let known: Vec<&str> = encoders.iter().map(|e| &*e.name).collect();
        let hint = names::suggest(&head(part), &known);
        OpenError::Unknown(format!("{} has no encoder `{part}`{hint}", game.name()))
    };
    let found = listing.open(&own).ok_or_else(unknown)?;
    found.fits(game).map_err(OpenError::Unknown)?;
    if found.derives() && !(experts.is_empty() && priors.is_empty() && tables.is_empty()) {
        return Err(OpenError::Unknown(format!(
            "`{wanted}`: the outputs of networks with the encoder `{own}` are no values of positions: leave out priors, experts and tables"
        )));
    }
    let whole = match priors[..] {
        _ if !experts.is_empty() && !priors.is_empty() => {
            return Err(OpenError::Unknown(format!(
                "`{wanted}` names a prior and experts; use one or the other"
            )));
        }
        [] if !experts.is_empty() => with_experts(game, wanted, found, &experts)?,
        [] => found,
        [_] => {
            let given = parts::prior(wanted).map_err(OpenError::Unknown)?.ok_or_else(unknown)?;
            let (prior, valuation) = prior_of(game, given, named)?;
            Arc::new(WithPrior::new(&parts::with_prior(wanted, &prior), found, valuation))
        }
        _ => return Err(OpenError::Unknown(format!("`{wanted}` names more than one prior; use one"))),
    };
    let tables: Vec<&str> = tables.into_iter().filter_map(parts::known_part).collect();
    if tables.is_empty() {
        return Ok(whole);
    }
    // The name of the whole encoder pins a prior; without one, it is the wanted name.
    let name = if priors.is_empty() { wanted.into() } else { whole.name().to_string() };
    Ok(Arc::new(WithKnown::new(game, &name, whole, &tables)?))
}

/// An encoder with deliberating agents of the game as frozen experts.
fn with_experts<G: Kit>(
    game: &G,
    name: &str,
    inner: Arc<dyn Encoder<G>>,
    parts: &[&str],
) -> Result<Arc<dyn Encoder<G>>, OpenError> {
    let all = game.agents().deliberators;
    let known = || all.names().iter().map(|d| &d.name).filter(|name| !name.contains('+'));
    let mut experts = Vec::with_capacity(parts.len());
    for expert in parts.iter().map(|part| &part[EXPERT.len()..]) {
        let Some(channel) = known().find(|name| *name == expert) else {
            let all: Vec<&str> = known().map(|name| &**name).collect();
            return Err(OpenError::Unknown(format!(
                "{} has no deliberating agent `{expert}`{}",
                game.name(),
                names::suggest(expert, &all)
            )));
        };
        if experts.iter().any(|(name, _)| name == channel) {
            return Err(OpenError::Unknown(format!("`{name}` names the expert `{expert}` twice")));
        }
        if let Some(found) = all.open(channel) {
            experts.push((channel.clone(), found?));
        }
    }
    Ok(Arc::new(WithExperts::new(name, inner, experts)))
}

/// A prior, and what the encoder's name says of it. A checkpoint is pinned by its checksum.
fn prior_of<G: Kit>(
    game: &G,
    given: Prior,
    named: Named<'_>,
) -> Result<(Prior, Arc<dyn Valuation<G>>), OpenError> {
    // Exact valuations are excluded: nothing would remain to learn.
    let all = game.values().valuations;
    let known: Vec<&str> =
        all.names().iter().map(|v| &*v.name).filter(|n| !n.starts_with("oracle")).collect();
    let name = &*given.name;
    if given.pinned.is_none()
        && known.contains(&name)
        && let Some(found) = all.open(name)
    {
        let found = found?;
        return Ok((given, found));
    }
    if named.depth >= limits::NESTED_PRIORS {
        return Err(OpenError::Unknown(format!(
            "the prior `{name}` is the prior of a prior, and so on, more than {} deep: does a checkpoint name itself?",
            limits::NESTED_PRIORS
        )));
    }
    let Some(located) = prior_in(&given, named.by)? else {
        let there = match &given.pinned {
            Some(sum) => format!(
                "the checkpoint {sum} must be at this path, relative to the checkpoint that names it or to the current \
                 folder; `adept publish` packs it with the checkpoint"
            ),
            None => format!("priors are {} and any checkpoint folder", known.join(", ")),
        };
        return Err(OpenError::Unknown(format!("{} has no prior `{name}`; {there}", game.name())));
    };
    let checkpoint = checkpoint::read(&located)?;
    let sum = Prior::pin(&checkpoint.manifest.checksum);
    let refuse = |message: String| Err(OpenError::Mismatch { path: located.clone(), message });
    // Check before opening its own encoder, which may name a prior too.
    if let Some(pinned) = given.pinned.as_ref().filter(|pinned| **pinned != sum) {
        return refuse(format!(
            "is checkpoint {sum}, but the prior must be {pinned}; restore that checkpoint, because the network \
             was trained with its values"
        ));
    }
    let (bound, _) = bind_of(game, checkpoint, named.depth + 1)?;
    if bound.encoder().needs_action() {
        return refuse(format!(
            "its encoder `{}` needs moves, but a prior values positions; use a checkpoint with another encoder",
            bound.encoder().name()
        ));
    }
    // A pinned name stays as it is: checkpoints are known by the names in their manifests.
    let name = match (given.pinned, located.to_str()) {
        (Some(_), _) => given.name,
        (None, Some(path)) => path.into(),
        (None, None) => return refuse("its path is not UTF-8: rename the folder".into()),
    };
    Ok((Prior { name, pinned: Some(sum) }, Arc::new(Frozen::new(game, bound)?)))
}

/// The folder of a prior checkpoint that is named by the checkpoint in the folder `by`, or by a config. None if there is nothing
/// at its path. A pinned one is looked for at every place where it may be; if none holds it, the first place that holds
/// another checkpoint is returned.
///
/// # Errors
/// As [`checkpoint::locate`].
pub fn prior_in(prior: &Prior, by: Option<&Path>) -> Result<Option<PathBuf>, OpenError> {
    let (mut first, mut error) = (None, None);
    for place in prior.places(by) {
        let found = match checkpoint::named(&place) {
            Ok(None) => continue,
            found => found.and_then(|_| {
                let located = checkpoint::locate(&place, false)?;
                Ok((Prior::pin(&checkpoint::manifest(&located)?.checksum), located))
            }),
        };
        match (found, &prior.pinned) {
            (Ok((sum, located)), Some(pinned)) if sum == *pinned => return Ok(Some(located)),
            (Ok((_, located)), None) => return Ok(Some(located)),
            (Ok((_, located)), Some(_)) => first = first.or(Some(located)),
            (Err(fault), _) => error = error.or(Some(fault)),
        }
    }
    match (first, error) {
        (None, Some(error)) => Err(error.into()),
        (first, _) => Ok(first),
    }
}

/// Opens a checkpoint, or the latest (or best) checkpoint of a run folder, as an evaluator of this game: the network, with the tables
/// that it names.
///
/// # Errors
/// [`OpenError::Model`] if it is damaged. [`OpenError::Mismatch`] if it belongs to another game, encoder or shape.
pub fn open<G: Kit>(game: &G, path: &Path, best: bool) -> Result<(GameModel<G>, Manifest), OpenError> {
    bind(game, checkpoint::read(&checkpoint::locate(path, best)?)?)
}

/// As [`open`], with these tables of known values, joined by `+`, in place of those that the checkpoint names; `none` for none. Without
/// any, as an agent plays by the checkpoint: see [`with_usual_tables`].
///
/// # Errors
/// As [`open`], or if the game has no such table.
pub fn open_with<G: Kit>(
    game: &G,
    path: &Path,
    best: bool,
    tables: Option<&str>,
) -> Result<(GameModel<G>, Manifest), OpenError> {
    let mut checkpoint = checkpoint::read(&checkpoint::locate(path, best)?)?;
    match tables {
        Some(tables) => {
            checkpoint.manifest.encoder = parts::with_tables(&checkpoint.manifest.encoder, tables);
        }
        None => with_usual_tables(game, &mut checkpoint.manifest),
    }
    bind(game, checkpoint)
}

/// Adds the [tables that the game takes by default](adept_game::Values::usual_tables) to a checkpoint that names none: agents play by them, and
/// values of positions come from them. A policy has no values that they could stand for.
pub fn with_usual_tables<G: Kit>(game: &G, manifest: &mut Manifest) {
    let names_some =
        parts::parts(&manifest.encoder).into_iter().any(|part| parts::known_part(part).is_some());
    // Where networks of other rule sets play, one of its own may see what no table knows.
    let derives = || {
        game.results().adapted.is_some()
            && encoder(game, Some(&manifest.encoder)).is_ok_and(|encoder| encoder.derives())
    };
    let usual = game.values().usual_tables.filter(|_| !names_some && !manifest.head.is_policy());
    if let Some(tables) = usual.filter(|_| !derives()) {
        manifest.encoder = parts::with_tables(&manifest.encoder, tables);
    }
}

/// Whether two names mean the same game: they are the same, or name rule files with the same content.
pub fn same_game(a: &str, b: &str) -> bool {
    let rules = |name: &str| limits::read(Path::new(name.strip_prefix("file:")?), limits::CONFIG_BYTES).ok();
    a == b || rules(a).zip(rules(b)).is_some_and(|(a, b)| a == b)
}

/// Binds a loaded checkpoint to its game.
///
/// # Errors
/// [`OpenError::Mismatch`] if it belongs to another game, encoder or shape.
pub fn bind<G: Kit>(game: &G, checkpoint: Checkpoint) -> Result<(GameModel<G>, Manifest), OpenError> {
    bind_of(game, checkpoint, 0)
}

/// As [`bind`], for a checkpoint that is the prior of another, and so on, `depth` times.
fn bind_of<G: Kit>(
    game: &G,
    checkpoint: Checkpoint,
    depth: usize,
) -> Result<(GameModel<G>, Manifest), OpenError> {
    let Checkpoint { path, manifest, tensors } = checkpoint;
    let fail = |message: String| Err(OpenError::Mismatch { path: path.clone(), message });
    let adapted = game.results().adapted.map(|adapted| adapted.game).filter(|game| *game == manifest.game);
    if adapted.is_none() && !same_game(&manifest.game, game.name()) {
        return fail(format!("is a checkpoint for game `{}`, expected `{}`", manifest.game, game.name()));
    }
    if adapted.is_some() && manifest.head.classes().is_none() {
        return fail(format!(
            "has no probabilities of results, by which `{}` values positions: take one with `head = \"outcomes\"`",
            game.name()
        ));
    }
    let named = Named { by: Some(&path), depth };
    let encoder = match encoder_of(game, Some(&manifest.encoder), named) {
        Ok(encoder) => encoder,
        Err(e) => return fail(e.to_string()),
    };
    if encoder.channels() != manifest.channels {
        return fail(format!(
            "its encoder `{}` has other channels in this program; another version wrote the checkpoint",
            manifest.encoder
        ));
    }
    // Before memory is taken for the parameters that the manifest promises.
    if !manifest.architecture.grows() {
        let wanted =
            adept_model::lower(&manifest.architecture, &manifest.channels, &manifest.head)?.parameters();
        let held: usize = tensors.iter().map(|t| t.shape.iter().product::<usize>()).sum();
        if held < wanted {
            return fail(format!(
                "does not match its own architecture: {held} numbers for {wanted} parameters"
            ));
        }
    }
    if manifest.quantised.is_some() {
        return match QuantisedNetwork::open(&manifest, &tensors) {
            Ok(network) => Ok((GameModel::new(game, encoder, Box::new(network)), manifest)),
            Err(e) => fail(format!("cannot be used: {e}")),
        };
    }
    // The checkpoint overwrites the initial parameters, so any stream works.
    let mut rng = stream(0, "open", 0);
    let mut learner = adept_model::build(
        &manifest.architecture,
        &manifest.channels,
        &manifest.head,
        Optimiser::default(),
        &mut rng,
    )?;
    if let Err(e) = learner.restore(&tensors) {
        return fail(format!("does not match its own architecture: {e}"));
    }
    Ok((GameModel::new(game, encoder, learner), manifest))
}
