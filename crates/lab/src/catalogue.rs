//! Type-erased games for commands.
//!
//! [`AnyGame`] is implemented once for all games, and compiled where a game is put into a [`Catalogue`]: the built-in
//! games with their catalogue, your own game with your program.

use crate::curves;
use crate::decisions::DecisionOps;
use crate::exact::ExactOps;
use crate::export::ExportOps;
use crate::farm::{self, Locally};
use crate::labelling::LabelOps;
use crate::measure::{self, ClassShares, Cost, Kinds, MeasureOps, Rule};
use crate::pairing::{PairOps, luck_of};
use crate::review::{self, Review, ReviewOptions};
use crate::rollouts::RolloutOps;
use crate::screening::ScreenOps;
use adept_arena::cfr::{self, SolveOptions, Solved};
use adept_arena::opened::{self, AnyModel, Opening};
use adept_arena::{OpenError, Rung, open};
use adept_erased::erased;
use adept_game::laws::{self, Budget};
use adept_game::{
    AddedGame, Audit, Found, GameError, Kit, Recorded, TraceStep, Valuation, outcome_classes,
    writable_records,
};
use adept_model::checkpoint::{Checkpoint, Manifest};
use adept_play::{AnyQuiz, AnyRoom, Input, PlayError, PlayOptions, Played};
use adept_trainer::config::{Config, Games, MeasuredOn, One, Rules, in_either};
use adept_trainer::labels::{self, LabelReport};
use adept_trainer::positions;
use adept_trainer::run::{
    self, AnyTargets, Cancel, Event, Observer, Record, RunEstimate, TrainError, TrainOptions, Unusable,
};
use std::any::Any;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// An observer that forwards events and keeps the exact values of a run's measurements alive, so that a table solved
/// for the run also serves later measurements.
struct OracleKeeper<'a, G: Kit> {
    game: &'a G,
    /// Whether exact values measure the run.
    exact: bool,
    observer: &'a dyn Observer,
    oracle: OnceLock<Option<Arc<dyn Valuation<G>>>>,
}

impl<G: Kit> Observer for OracleKeeper<'_, G> {
    fn event(&self, seed: u64, event: Event<'_>) {
        // The run has already opened them for its measurement.
        if self.exact && matches!(event, Event::Evaluated(_)) {
            self.oracle.get_or_init(|| positions::oracle(self.game).ok());
        }
        self.observer.event(seed, event);
    }
}

/// Every operation of the commands on a game. Errors are those of the functions of the same names.
#[allow(missing_docs, clippy::missing_errors_doc, reason = "each passes on to the function that it names")]
#[erased(pub trait AnyGame: Any + Rules + MeasureOps + ExactOps + ExportOps + DecisionOps + LabelOps + RolloutOps + ScreenOps + PairOps)]
impl<G: Kit> AnyGame for G {
    fn train(
        &self,
        config: &Config,
        seed: u64,
        options: &TrainOptions,
        observer: &dyn Observer,
        cancel: &Cancel,
    ) -> Result<(PathBuf, Record), TrainError> {
        let mut again = options.clone();
        let options = match farm::train(config, seed, options, observer) {
            Ok(elsewhere) => return elsewhere,
            Err(Locally::Start) => options,
            Err(Locally::Resume) => {
                again.resume = true;
                &again
            }
        };
        // Kept until the end of this function.
        let keeper = OracleKeeper {
            game: self,
            exact: config.measured_on() == Some(MeasuredOn::Positions),
            observer,
            oracle: OnceLock::new(),
        };
        let (path, record) = run::train(self, config, seed, options, &keeper, cancel)?;
        if record.finished && options.is_alone {
            cancel.finish();
        }
        if options.ranks.is_first() && curves::is_stale(&path) {
            // The picture is optional: the folder may have become read-only, for example. After a stop request,
            // baselines are not computed.
            if !cancel.requested()
                && curves::References::read(&path).is_none()
                && let Ok(Some(references)) = curves::of_game(self, config, record.r#final.as_ref())
            {
                let _ = references.write(&options.host.files, &path);
            }
            if !cancel.requested()
                && record.finished
                && let Ok(Some(kinds)) = Kinds::of_run(self, config, &path)
            {
                let _ = kinds.write(&options.host.files, &path);
            }
            let _ = curves::write(&options.host.files, &path, &record);
        }
        Ok((path, record))
    }

    /// The references of the figure of runs, as far as they do not depend on a run; `None` if there are none or they cannot be found.
    fn references(&self, config: &Config) -> Option<curves::References> {
        curves::of_game(self, config, None).ok().flatten()
    }

    fn estimate(
        &self,
        config: &Config,
        seed: u64,
        options: &TrainOptions,
        trial: Duration,
    ) -> Result<RunEstimate, TrainError> {
        run::estimate(self, config, seed, options, trial)
    }

    fn check_files(&self, config: &Config) -> Result<(), Unusable> {
        run::check_files(self, config)
    }

    /// Checks the laws of games along random games.
    fn check_laws(&self, budget: &Budget) -> laws::Report {
        laws::check(self, budget)
    }

    /// Checks a rule file or GDL by random games. None for other games.
    fn audit(&self, games: u64) -> Option<Audit> {
        self.rule_text()?.audit(games)
    }

    /// A random game in the notation of GDL. None for other games.
    fn trace(&self, seed: u64) -> Option<Vec<TraceStep>> {
        self.rule_text()?.trace(seed)
    }

    /// The first law relevant to a run of this config that the game violates in a few random games.
    fn broken_law(&self, config: &Config) -> Option<laws::Breach> {
        run::broken_law(self, config)
    }

    /// The meaning of the classes, and their shares in each distribution of positions.
    fn class_shares(&self) -> Result<(String, Vec<ClassShares>), OpenError> {
        measure::class_shares_of(self)
    }

    fn rules_learned(&self, checkpoint: Checkpoint, count: usize) -> Result<Vec<Rule>, TrainError> {
        measure::rules_of(self, checkpoint, count)
    }

    /// Compares an agent with recorded decisions of another program. None if there are no records of it.
    fn recorded(&self, agent: &str, file: &Path) -> Found<Recorded> {
        match self.agents().deliberators.open(agent)? {
            Ok(found) => found.recorded(file),
            Err(error) => Some(Err(error)),
        }
    }

    /// Summarises a file of labelled positions and checks that it agrees with exact values up to `tolerance`.
    fn check_labels(&self, file: &Path, tolerance: f64) -> Result<LabelReport, GameError> {
        labels::check(self, file, tolerance)
    }

    fn cost(&self, checkpoint: Checkpoint, distribution: &str) -> Result<Cost, TrainError> {
        measure::cost_of(self, checkpoint, distribution)
    }

    /// The manifest of an untrained config.
    fn manifest(&self, config: &Config) -> Result<Manifest, TrainError> {
        let encoder = open::encoder(self, config.game.encoder.as_deref())?;
        let whole = serde_json::to_value(config).map_err(|e| OpenError::Unknown(e.to_string()))?;
        let channels = encoder.channels().to_vec();
        let mut manifest = Manifest::new(self.name(), encoder.name(), channels, &config.architecture);
        manifest.head = config.head_of(outcome_classes(self)).map_err(OpenError::from)?;
        Ok(manifest.of(whole, config.seed, adept_trainer::REVISION))
    }

    /// Opens an agent with these settings, to check that it can play.
    fn check_agent(&self, agent: &str, changes: &serde_json::Value) -> Result<(), OpenError> {
        open::agent_with(self, agent, changes).map(drop)
    }

    /// Reviews whole games in a file.
    fn review(
        &self,
        options: &ReviewOptions,
        cancel: &Cancel,
        progress: &(dyn Fn(f64) + Sync),
    ) -> Result<Review, TrainError> {
        review::review_of(self, options, cancel, progress)
    }

    /// Opens an agent for variance reduction, to check that it has values.
    fn check_luck(&self, agent: &str) -> Result<(), OpenError> {
        luck_of(self, agent, false).map(drop)
    }

    fn writes_histories(&self) -> Result<&'static str, GameError> {
        Ok(writable_records(self)?.suffix())
    }

    fn add_history(&self, text: &str, game: &str) -> Result<AddedGame, GameError> {
        self.records().add(text, game)
    }

    /// The levels of the checkpoint of this name, or of the best agent of the game.
    fn levels(&self, base: Option<&str>) -> Result<Vec<Rung>, OpenError> {
        adept_arena::levels::levels(self, base)
    }

    fn play(
        &self,
        options: &PlayOptions,
        input: &mut dyn Input,
        out: &mut dyn Write,
    ) -> Result<Played, PlayError> {
        let opponent = Path::new(&options.opponent);
        if let Some(kinds) = Kinds::beside(opponent) {
            kinds.caution(opponent, &[], &[]);
        }
        adept_play::play(self, options, input, out)
    }

    /// A quiz, whose answers are judged by an agent, and again by further ones.
    fn quiz(self: Arc<Self>, agents: Vec<String>, best: bool) -> Box<dyn AnyQuiz> {
        adept_play::quiz(self, agents, best)
    }

    fn solve(&self, options: &SolveOptions) -> Result<Solved, OpenError> {
        cfr::solve(self, options)
    }

    /// Opens an agent: a `Box<dyn Agent<G>>`, where `G` is the type of this game.
    fn agent(&self, name: &str) -> Result<Box<dyn Any + Send>, OpenError> {
        Ok(Box::new(open::agent(self, name)?))
    }

    /// Opens an encoder, or the default one: an `Arc<dyn Encoder<G>>`, where `G` is the type of this game.
    fn encoder(&self, name: Option<&str>) -> Result<Box<dyn Any + Send>, OpenError> {
        Ok(Box::new(open::encoder(self, name)?))
    }

    /// Self-play without learning, by a config.
    fn targets(self: Arc<Self>, config: Config, seed: u64) -> Result<Box<dyn AnyTargets>, TrainError> {
        run::targets(self, config, seed)
    }

    /// Binds a checkpoint to this game.
    fn model(self: Arc<Self>, opening: Opening) -> Result<Box<dyn AnyModel>, opened::Error> {
        opening.open(self)
    }

    /// A room that keeps agents open for many sessions and requests. Searches stop after `patience` and answer with
    /// their result so far.
    fn room(self: Arc<Self>, patience: Duration) -> Arc<dyn AnyRoom> {
        adept_play::room(self, patience)
    }
}

/// The games of a program. [`One`] is a single game; a pair of catalogues has the games of both.
pub trait Catalogue: Games {
    /// Finds a rule set by name.
    ///
    /// # Errors
    /// If the game is unknown, or its parameters are wrong.
    fn find(&self, name: &str) -> Result<Arc<dyn AnyGame>, GameError>;
}

impl<G: Kit + Clone> Catalogue for One<G> {
    fn find(&self, name: &str) -> Result<Arc<dyn AnyGame>, GameError> {
        Ok(self.named(name)?)
    }
}

impl<A: Catalogue, B: Catalogue> Catalogue for (A, B) {
    fn find(&self, name: &str) -> Result<Arc<dyn AnyGame>, GameError> {
        let (a, b) = self;
        in_either(name, &a.names(), &b.names(), || a.find(name), || b.find(name))
    }
}
