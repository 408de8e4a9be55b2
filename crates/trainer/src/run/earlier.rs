//! The earlier run in a folder: whether the run that begins may follow it, and how.

use super::error::{Remedy, TrainError};
use super::folder::{Folder, Found, Lock, Opponent, Record};
use super::options::TrainOptions;
use crate::config::{Config, Method, SCREEN};
use adept_arena::naming::{self, Resolved};
use adept_arena::{OpenError, open};
use adept_game::Kit;
use adept_model::checkpoint::{self, Origin};
use serde::{Deserialize, Serialize};

/// The earlier run in the folder of a run.
#[derive(Serialize, Deserialize)]
pub(super) enum Earlier {
    Nothing,
    Finished(Box<Record>),
    Stopped(Box<Record>),
    /// A finished or stopped run that the config makes longer.
    Shorter(Box<Record>),
}

pub(super) fn refused(folder: &Folder, message: impl Into<String>) -> TrainError {
    TrainError::Folder { path: folder.path.clone(), message: message.into() }
}

fn no_run_folder(folder: &Folder, why: &str) -> TrainError {
    refused(folder, format!("cannot be used as a run folder, {why}: choose another"))
}

/// Keeps other processes out of the folder of a run.
pub(super) fn locked(folder: &Folder) -> Result<Lock, TrainError> {
    if let Found::Other(why) = folder.look()? {
        return Err(no_run_folder(folder, &why));
    }
    let in_use = "another process is using this run: wait for it, or choose another folder";
    folder.lock()?.ok_or_else(|| refused(folder, in_use))
}

/// Looks for an earlier run. Fails if this one may not follow it. Without the record with which this one begins, its origins and
/// rules are not compared.
pub(super) fn earlier(
    folder: &Folder,
    config: &Config,
    options: &TrainOptions,
    begins: Option<&Record>,
) -> Result<Earlier, TrainError> {
    let taken = |remedies: &[Remedy], message: String| {
        Err(TrainError::Taken { path: folder.path.clone(), message, remedies: remedies.to_vec() })
    };
    let record = match folder.look()? {
        Found::Nothing => return Ok(Earlier::Nothing),
        Found::Other(why) => return Err(no_run_folder(folder, &why)),
        Found::Run(record) => record,
    };
    let name = &record.name;
    if options.fresh {
        return match record.finished {
            true => {
                taken(&[Remedy::Init], format!("holds the finished run `{name}`, which is never replaced"))
            }
            false => Ok(Earlier::Nothing),
        };
    }
    // Nothing has been learned since the start, so initial weights must be given again to go on.
    let origins = begins.map(|begins| &begins.init[..]);
    let has_nothing = record.latest.is_none() && !record.finished;
    if has_nothing && options.resume && origins.is_some_and(|o| !same_origins(o, &record.init)) {
        let before: Vec<String> = record.init.iter().map(|o| o.path.display().to_string()).collect();
        let message = match before.is_empty() {
            true => format!("holds the run `{name}`, which began without the weights of another"),
            false => format!("holds the run `{name}`, which began with the weights of {}", before.join(", ")),
        };
        let remedies: &[Remedy] =
            if before.is_empty() { &[Remedy::Fresh] } else { &[Remedy::RepeatInit, Remedy::Fresh] };
        return taken(remedies, message);
    }
    // Without a checkpoint there is nothing to lose.
    if has_nothing {
        return Ok(Earlier::Nothing);
    }
    let unfinished = |remedies: &'static [Remedy]| if record.finished { &[] } else { remedies };
    if let Some((then, now)) = record.rules.as_ref().zip(begins.and_then(|begins| begins.rules.as_ref()))
        && then != now
    {
        let what = format!(
            "holds the run `{name}` of a game `{}` with other rules or inputs",
            record.config.game.rules
        );
        return taken(unfinished(&[Remedy::Fresh]), what);
    }
    if origins.is_some_and(|o| !o.is_empty() && !same_origins(o, &record.init)) {
        let what = format!("holds the run `{name}`, which started from other weights: start without them");
        return taken(unfinished(&[Remedy::Fresh]), what);
    }
    if let Some(changed) = begins.and_then(|begins| changed_opponent(&record.opponents, &begins.opponents)) {
        return taken(unfinished(&[Remedy::Fresh]), format!("holds the run `{name}`, {changed}"));
    }
    // Paths may have been given from another folder.
    let then = record.config_beside(config, None);
    let (same, longer) = (then.same_experiment(config), then.is_extended_by(config));
    match (same, record.finished) {
        (true, true) => Ok(Earlier::Finished(record)),
        (false, _) if options.resume && options.extend && longer => Ok(Earlier::Shorter(record)),
        (false, finished) => {
            let (step, games, unit) = (record.step, record.games, record.config.learn.unit());
            let stopped =
                if finished { String::new() } else { format!(", stopped after {step} of {games} {unit}") };
            let what = format!(
                "holds the run `{name}` (seed {}) of another config ({}){stopped}{}",
                record.seed,
                then.differences(config),
                match longer {
                    true => "",
                    // An extended run whose config file has the old length.
                    false if config.is_extended_by(&then) =>
                        "; it was made longer, so give its length in the config or with --set",
                    false if matches!(config.learn.method, Method::Regrets(_)) && options.resume =>
                        "; runs of regrets cannot be made longer",
                    false => "",
                }
            );
            let remedies: &[Remedy] = match (longer, finished) {
                (true, true) => &[Remedy::Extend, Remedy::Init],
                (true, false) => &[Remedy::Extend, Remedy::Fresh, Remedy::Init],
                (false, true) => &[Remedy::Init],
                (false, false) => &[Remedy::Fresh, Remedy::Init],
            };
            taken(remedies, what)
        }
        (true, false) if options.resume => Ok(Earlier::Stopped(record)),
        (true, false) => {
            let (step, games, unit) = (record.step, record.games, record.config.learn.unit());
            let what = format!("holds this run, stopped after {step} of {games} {unit}");
            taken(&[Remedy::Resume, Remedy::Fresh], what)
        }
    }
}

/// Why a run may not begin in its folder, as far as that can be said without its initial weights.
pub fn obstacle(config: &Config, seed: u64, options: &TrainOptions) -> Option<TrainError> {
    let folder = Folder::new(options.folder(config, seed), options.host.files.clone());
    let begin = || -> Result<(), TrainError> {
        if let Found::Run(_) = folder.look()? {
            locked(&folder)?;
        }
        earlier(&folder, &Config { seed, ..config.clone() }, options, None).map(drop)
    };
    begin().err()
}

/// Whether two runs began with the same weights in the same parts.
fn same_origins(a: &[Origin], b: &[Origin]) -> bool {
    let key = |o: &Origin| (o.part.clone(), o.checksum.clone());
    a.iter().map(key).eq(b.iter().map(key))
}

/// How the checkpoints that a run has as opponents differ from those that it had.
pub(super) fn changed_opponent(then: &[Opponent], now: &[Opponent]) -> Option<String> {
    let of = |all: &[Opponent], setting: &str| -> Option<Opponent> {
        all.iter().find(|opponent| opponent.setting == setting).cloned()
    };
    let what = |opponent: Option<Opponent>| match opponent {
        Some(Opponent { agent, checksum, .. }) => {
            format!("`{agent}`, checkpoint {}", open::Prior::pin(&checksum))
        }
        None => "an agent of the game".into(),
    };
    let settings = then.iter().chain(now).map(|opponent| &opponent.setting);
    settings.map(|setting| (setting, of(then, setting), of(now, setting))).find_map(|(setting, then, now)| {
        let sum = |opponent: &Option<Opponent>| opponent.as_ref().map(|o| o.checksum.clone());
        (sum(&then) != sum(&now)).then(|| {
            let role = if setting == SCREEN { "screen" } else { "opponent" };
            format!("whose {role} `{setting}` was {} and is now {}: put it back", what(then), what(now))
        })
    })
}

/// The checkpoints that a config names as agents, as they are now.
pub(super) fn opponents<G: Kit>(game: &G, config: &Config) -> Result<Vec<Opponent>, OpenError> {
    checkpoints_of(config, &|agent| naming::resolve(game, agent, &[]))
}

fn checkpoints_of(
    config: &Config,
    resolve: &dyn Fn(&str) -> Result<Resolved, OpenError>,
) -> Result<Vec<Opponent>, OpenError> {
    let named = config.opponents().into_iter().map(|(setting, agent)| (setting, agent.to_string()));
    // Without a setting, it may still be `random`, of which a folder may have the name.
    let usual = config.evaluate_against().into_iter().filter(|_| config.evaluate.against.is_none());
    let all = named.chain(usual.map(|agent| ("evaluate.against".to_string(), agent)));
    let mut found = Vec::new();
    for (setting, agent) in all {
        let resolved = resolve(&agent)?;
        let screen = resolved.screen.as_deref().map(|folder| (format!("{setting} (its screen)"), folder));
        for (setting, folder) in resolved.folder().map(|folder| (setting, folder)).into_iter().chain(screen) {
            let checksum = checkpoint::manifest(&checkpoint::locate(folder, false)?)?.checksum;
            found.push(Opponent { setting, agent: agent.clone(), checksum });
        }
    }
    Ok(found)
}
