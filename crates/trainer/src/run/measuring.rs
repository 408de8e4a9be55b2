//! Measures the network of a run, and compares checkpoints by what was measured.

use super::error::TrainError;
use super::evaluation::{Evaluation, Match};
use super::folder::{Score, checkpoint_name};
use super::host::Stopwatch;
use super::plan::Plan;
use super::stagnation::{Exact, Stagnation, StagnationProbe};
use super::start::shared_rows;
use super::steer::Pace;
use crate::config::{Config, Examples, Figure, MeasuredOn, Suite, TdSettings};
use crate::labels::{self, LabelReport};
use crate::positions::{PositionErrors, Tests, With};
use adept_arena::cfr::Decisions;
use adept_arena::exact::{alone, shortest, worst};
use adept_arena::matches::{Deals, Draws, Tally, compete, opening_plies, orders, play_counted};
use adept_arena::{
    Agent, Boltzmann, Equity, ExactError, Grader, Greedy, Guarantee, LearnerModel, OpenError, Random,
    Scratch, SoloGrade, equity, open,
};
use adept_game::{Kit, stream};
use adept_model::{ExpertUse, ModelError, Rows};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An opponent in measurements.
struct EvalOpponent<G: Kit> {
    /// The agent, as text.
    name: String,
    agent: Box<dyn Agent<G>>,
    /// Decisions that open each game at random.
    random_plies: u32,
}

impl<G: Kit> EvalOpponent<G> {
    /// Opens the agent. Where nothing else is said, games open at random if those of this agent with itself repeat each other: what
    /// learns plays greedily too.
    fn open(game: &G, name: &str, config: &Config, seed: u64) -> Result<Self, OpenError> {
        let mut agent = open::agent(game, name)?;
        let plays = config.measures(Suite::Matches) && config.learn.plays_at(0.0).is_none();
        let random_plies = match config.evaluate.random_plies {
            Some(plies) => plies,
            None if plays => opening_plies(game, &mut [&mut *agent], &vec![0; game.players()], seed)?,
            None => 0,
        };
        Ok(Self { name: name.into(), agent, random_plies })
    }
}

/// Games of random play with which results are compared.
const BASELINE_GAMES: u64 = 100;

/// Counts measurements since the best one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Patience {
    best: Option<f64>,
    since: u64,
}

impl Patience {
    /// Records a measurement, where larger is better. Returns the number of measurements since the best.
    fn better(&mut self, merit: f64) -> u64 {
        if self.best.is_none_or(|best| merit > best) {
            *self = Self { best: Some(merit), since: 0 };
        } else {
            self.since += 1;
        }
        self.since
    }
}

/// The moment of a measurement.
pub(super) struct Moment<'a> {
    pub(super) step: u64,
    pub(super) pace: Pace<'a>,
    /// Mean loss per sample since the last measurement.
    pub(super) loss: Option<f64>,
    pub(super) time: &'a Stopwatch,
}

/// Errors on the test positions and the validation positions.
struct Errors {
    test: PositionErrors,
    validation: f64,
    stagnation: Option<Stagnation>,
}

/// How greedy play does, where that is graded exactly.
#[derive(Default)]
struct Grade {
    /// In games for two players.
    guarantee: Option<Guarantee>,
    /// In games for one player.
    alone: Option<SoloGrade>,
}

/// Measures the network of a run.
pub(super) struct Measuring<'a, G: Kit> {
    game: &'a G,
    config: &'a Config,
    seed: u64,
    opponents: Vec<EvalOpponent<G>>,
    /// Random play against the opponents, once it was compared.
    random_baselines: Vec<Match>,
    /// All decisions of the game, if it can list them.
    pub(super) decisions: Option<Arc<Decisions>>,
    tests: Option<Tests>,
    /// The report on the file of examples, if there is one.
    labels: Option<Arc<LabelReport>>,
    /// The guaranteed value of perfect play in each seat, once greedy play was graded.
    optimal_values: Option<Vec<f64>>,
    /// Number of moves of the shortest solution, in a game for one player.
    shortest: Option<u64>,
    /// Rows on which the use of experts is measured, once they are drawn.
    expert_rows: Rows,
    pub(super) stagnation: StagnationProbe,
    pub(super) patience: Patience,
    /// A buffer.
    values: Vec<f32>,
}

impl<'a, G: Kit> Measuring<'a, G> {
    /// Opens the opponents of a config and lists the decisions of the game, if they are measured.
    pub(super) fn new(
        game: &'a G,
        config: &'a Config,
        seed: u64,
        bound: &LearnerModel<G>,
    ) -> Result<Self, TrainError> {
        let against = config.evaluate_against();
        let opponents = against.iter().map(|name| EvalOpponent::open(game, name, config, seed));
        let opponents = opponents.collect::<Result<_, _>>()?;
        let decisions = match config.lists_decisions() {
            true => Some(Arc::new(Decisions::of(game, &**bound.encoder())?)),
            false => None,
        };
        let channels = bound.model.channels();
        Ok(Self {
            game,
            config,
            seed,
            opponents,
            random_baselines: Vec::new(),
            decisions,
            tests: None,
            labels: None,
            optimal_values: None,
            shortest: None,
            expert_rows: Rows::new(channels),
            stagnation: StagnationProbe::new(channels),
            patience: Patience::default(),
            values: Vec::new(),
        })
    }

    /// Reads or draws the test positions.
    pub(super) fn prepare(&mut self, bound: &LearnerModel<G>, say: &dyn Fn(&str)) -> Result<(), TrainError> {
        let (game, config) = (self.game, self.config);
        let file = config.learn.examples().and_then(Examples::file);
        if let Some(path) = file {
            let labels = labels::of_run(game, path)?;
            labels.notes(path).iter().for_each(|note| say(note));
            labels.warnings(path, game.name()).iter().for_each(|warning| say(&format!("warning: {warning}")));
            self.labels = Some(labels);
        }
        if config.measures(Suite::Rms) {
            let tests = Tests::new(game, config, With::of(bound))?;
            let (test, rows) = (tests.test.distinct, tests.test.samples.len());
            // Any distribution repeats some positions; a small one repeats many. What a file repeats has been said.
            if file.is_none() && test * 20 < rows * 19 {
                say(&format!("only {test} of {rows} test positions are distinct: the game has few of them"));
            }
            if !tests.apart {
                say("the game has so few positions that examples and test positions overlap");
            }
            self.tests = Some(tests);
        }
        Ok(())
    }

    /// Measures the network.
    ///
    /// # Errors
    /// [`ModelError::Diverged`] if its values are not finite.
    pub(super) fn measure(
        &mut self,
        bound: &mut LearnerModel<G>,
        at: &Moment<'_>,
    ) -> Result<Evaluation, TrainError> {
        let (config, plan, step, pace) = (self.config, Plan::new(self.config), at.step, at.pace);
        bound.model.reset_usage();
        let plays = config.measures(Suite::Matches);
        let (mut matches, mut equity, mut exploitability) = (Vec::new(), Vec::new(), None);
        let (mut grade, mut errors) = (Grade::default(), None);
        // Games first: a growing table gets its entries in this order.
        let mut suites = Suite::ALL.map(|(suite, _)| suite);
        suites.sort_by_key(|suite| *suite != Suite::Matches);
        for suite in suites.into_iter().filter(|suite| config.measures(*suite)) {
            match suite {
                Suite::Equity => equity = self.equity(bound)?,
                Suite::Grade => grade = self.grade(bound)?,
                Suite::Rms => errors = self.errors(bound)?,
                Suite::Matches => matches = self.matches(bound, pace.temperature(step))?,
                Suite::Exploitability => {
                    exploitability = self.exploitability(bound, pace.temperature(step))?
                }
                // The check of configs refuses them.
                Suite::MoveLoss | Suite::Speed => {}
            }
        }
        let warnings = self.collapses(&matches)?;
        let mut evaluation = Evaluation {
            step,
            loss: at.loss,
            rate: f64::from(pace.rate(step)),
            explore: pace.explore(step),
            lambda: config.learn.td().map(|td| f64::from(td.lambda.at(config.learn.share(step)) as f32)),
            equity,
            grade: grade.guarantee,
            alone: grade.alone,
            matches,
            warnings,
            entries: bound.model.entries().filter(|_| plays),
            exploitability,
            rms: errors.as_ref().map(|errors| errors.test),
            validation: errors.as_ref().map(|errors| errors.validation),
            usage: bound.model.usage(),
            experts: if plan.is_tenth(step) { self.expert_use(bound)? } else { None },
            seconds: at.time.seconds(),
        };
        let stagnation = match errors {
            Some(errors) => errors.stagnation,
            None => self.stagnation.look(self.game, bound, &mut self.values),
        };
        let warning = self.stagnation.count(stagnation, step == plan.length(), pace.rate(step));
        evaluation.warnings.extend(warning);
        Ok(evaluation)
    }

    /// Exact match equity by opponent.
    fn equity(&mut self, bound: &mut LearnerModel<G>) -> Result<Vec<(String, Equity)>, TrainError> {
        let mut all = Vec::with_capacity(self.opponents.len());
        for opponent in &mut self.opponents {
            let found = equity(self.game, &mut Greedy::new(&mut *bound), &mut opponent.agent);
            match found {
                Ok(found) => all.push((opponent.name.clone(), found)),
                // In a measurement only the network can fail to give a policy.
                Err(ExactError::Policy(_)) => return Err(diverged(bound, "value of a position")),
                Err(other) => return Err(other.into()),
            }
        }
        Ok(all)
    }

    /// Exact grades of greedy play.
    fn grade(&mut self, bound: &mut LearnerModel<G>) -> Result<Grade, TrainError> {
        if self.game.players() == 1 {
            let shortest = match self.shortest {
                Some(moves) => moves,
                None => *self.shortest.insert(shortest(self.game)?),
            };
            let alone = alone(self.game, &mut Greedy::new(bound), shortest);
            return Ok(Grade { guarantee: None, alone: Some(alone) });
        }
        let optimal = match &self.optimal_values {
            Some(values) => values.clone(),
            None => self.optimal_values.insert(Grader::new(self.game)?.best(self.game)?).clone(),
        };
        let found = worst(self.game, &mut Greedy::new(&mut *bound));
        let guarantee = match found {
            Ok(found) => Guarantee::of(found, optimal),
            Err(ExactError::Policy(_)) => return Err(diverged(bound, "value of a position")),
            Err(other) => return Err(other.into()),
        };
        Ok(Grade { guarantee: Some(guarantee), alone: None })
    }

    /// Errors on test and validation positions.
    fn errors(&mut self, bound: &mut LearnerModel<G>) -> Result<Option<Errors>, TrainError> {
        let Some(tests) = &self.tests else { return Ok(None) };
        let validation = tests.validation.errors(&mut *bound.model, &mut self.values).rms;
        let test = tests.test.errors(&mut *bound.model, &mut self.values);
        let exact = Exact { spread: tests.test.spread(), rms: test.rms };
        let stagnation = Stagnation::of(&self.values, Some(exact));
        match test.rms.is_nan() {
            true => Err(diverged(bound, "value of a position")),
            false => Ok(Some(Errors { test, validation, stagnation })),
        }
    }

    /// Mean win of a best response.
    fn exploitability(
        &mut self,
        bound: &mut LearnerModel<G>,
        temperature: Option<f64>,
    ) -> Result<Option<f64>, TrainError> {
        let Some(decisions) = &self.decisions else { return Ok(None) };
        bound.model.evaluate(decisions.rows(), &mut self.values);
        let found = decisions.exploitability(&self.values, temperature);
        if found.is_nan() { Err(diverged(bound, "value of an action")) } else { Ok(Some(found)) }
    }

    /// How the experts share positions.
    pub(super) fn expert_use(
        &mut self,
        bound: &mut LearnerModel<G>,
    ) -> Result<Option<ExpertUse>, TrainError> {
        if bound.model.program().is_none_or(|program| !program.has_experts()) {
            return Ok(None);
        }
        // Own games change with the network.
        if self.expert_rows.is_empty() || self.game.positions().is_empty() {
            self.expert_rows = shared_rows(self.game, self.config, bound)?;
        }
        Ok(ExpertUse::of(&mut *bound.model, &self.expert_rows))
    }

    /// Results that are worse than those of random play, or the worst possible.
    fn collapses(&mut self, matches: &[Match]) -> Result<Vec<String>, TrainError> {
        let mut warnings = Vec::new();
        for found in matches.iter().filter(|found| found.games >= BASELINE_GAMES) {
            let baseline = match self.random_baselines.iter().find(|one| one.against == found.against) {
                Some(baseline) => baseline,
                None => {
                    self.random_baselines.push(self.random_baseline(found)?);
                    &self.random_baselines[self.random_baselines.len() - 1]
                }
            };
            let wins_none = found.unit.is_none() && found.score == 0.0;
            if wins_none || found.ci95[1] < baseline.ci95[0] {
                let unit = found.unit.as_deref();
                let said = |score: f64| match unit {
                    Some(unit) => format!("{} {unit}", adept_game::score_text(score, 4)),
                    None => format!("{:.1} %", 100.0 * score),
                };
                warnings.push(format!(
                    "against {} it gets {}, random play {}: if this stays, learning has collapsed; {}",
                    found.against,
                    said(found.score),
                    said(baseline.score),
                    self.config.learn.td().map_or("look at `learn.rate`", TdSettings::against_collapse)
                ));
            }
        }
        Ok(warnings)
    }

    /// Random play against the opponent of a match, with openings of the same length.
    fn random_baseline(&self, found: &Match) -> Result<Match, TrainError> {
        let (game, against) = (self.game, &*found.against);
        let deals = Deals { seed: self.seed, random_plies: found.random_plies };
        let make = || Ok::<_, OpenError>(vec![Box::new(Random) as _, open::agent(game, against)?]);
        let seats = orders(&[1, game.players() - 1]);
        let tally = compete(game, make, &seats, BASELINE_GAMES, deals, || false)?;
        Ok(Match::of(game, against, &tally, found.random_plies))
    }

    /// Plays against every opponent, with the learner in each seat in turn. The dice are the same in every
    /// measurement.
    ///
    /// # Errors
    /// A player to move has no action.
    fn matches(
        &mut self,
        bound: &mut LearnerModel<G>,
        temperature: Option<f64>,
    ) -> Result<Vec<Match>, TrainError> {
        let (game, games, seed) = (self.game, self.config.evaluate.games, self.seed);
        let mut all = Vec::with_capacity(self.opponents.len());
        let players = game.players() as u64;
        for EvalOpponent { name, agent, random_plies } in &mut self.opponents {
            let mut learner: Box<dyn Agent<G> + '_> = match temperature {
                Some(temperature) => Box::new(Boltzmann::new(&mut *bound, temperature)),
                None => Box::new(Greedy::new(&mut *bound)),
            };
            let mut scratch = Scratch::default();
            let mut tally = Tally::new(2);
            // Where utilities count or games open at random, the same dice are played in all seats.
            let orders = if game.counting().unit().is_some() || *random_plies > 0 { players } else { 1 };
            for g in 0..games {
                let mut order = vec![1; game.players()];
                order[(g % players) as usize] = 0;
                let (mut dice, mut choices) =
                    (stream(seed, "measure dice", g / orders), stream(seed, "measure", g));
                let draws = Draws { dice: &mut dice, choices: &mut choices, random_plies: *random_plies };
                let mut agents: [&mut dyn Agent<G>; 2] = [&mut *learner, &mut **agent];
                play_counted(game, &mut agents, &order, draws, &mut scratch, &mut tally, players)
                    .map_err(OpenError::from)?;
            }
            all.push(Match::of(game, name, &tally, *random_plies));
        }
        Ok(all)
    }

    /// Why the run ends with this measurement, if it does before its end: none has been better for as long as the config says.
    pub(super) fn ends_early(&mut self, evaluation: &Evaluation) -> Option<String> {
        let patience = self.config.evaluate.patience?;
        let examples = self.config.learn.shows_examples();
        let error = evaluation.validation.filter(|_| examples).or(evaluation.loss);
        // Errors on the test positions decide nothing.
        let on_others = |(figure, _): &(Figure, f64)| figure.measured_on() != MeasuredOn::Positions;
        let watched = evaluation.watched().filter(on_others).map(|(figure, value)| figure.merit(value));
        let merit = watched.or(error.map(|error| -error));
        let since = merit.map_or(0, |merit| self.patience.better(merit));
        (since >= patience && evaluation.step < Plan::new(self.config).length())
            .then(|| format!("no better measurement in {since}"))
    }

    /// The score of the checkpoint at a measurement.
    pub(super) fn score(&self, evaluation: &Evaluation) -> Score {
        let equity = evaluation.equity.first().map(|(_, first)| first);
        let first = evaluation.matches.first();
        Score {
            checkpoint: checkpoint_name(evaluation.step),
            step: evaluation.step,
            equity: equity.map(|first| first.equity),
            seats: equity.map_or_else(Vec::new, |first| first.seats.clone()),
            rms: evaluation.rms,
            spread: self.tests.as_ref().map(|tests| tests.test.spread()),
            exact: self.labels.as_ref().and_then(|labels| labels.test_rms_error),
            validation: evaluation.validation,
            matches: first.map(|m| m.score),
            grade: evaluation.grade.clone(),
            alone: evaluation.alone,
            unit: first.and_then(|m| m.unit.clone()),
            exploitability: evaluation.exploitability,
            experts: evaluation.experts.clone(),
        }
    }

    /// Whether a checkpoint is better than the best one before. Without a measurement, none is. And a run that learns without exact
    /// values must not use them to choose.
    pub(super) fn is_better(&self, score: &Score, best: Option<&Score>) -> bool {
        match (score.equity, score.validation) {
            (Some(equity), _) => best.and_then(|b| b.equity).is_none_or(|b| equity > b),
            (None, Some(error)) if self.config.learn.shows_examples() => {
                best.and_then(|b| b.validation).is_none_or(|b| error < b)
            }
            _ => false,
        }
    }
}

/// The error for values that are not finite, unless a device is lost, which has its own.
fn diverged<G: Kit>(bound: &mut LearnerModel<G>, what: &str) -> TrainError {
    match bound.model.tensors() {
        Ok(_) => ModelError::Diverged { what: what.into() }.into(),
        Err(lost) => lost.into(),
    }
}
