//! Measurements during a run, and the choice of the best checkpoint.

use super::error::TrainError;
use super::experiment::{Experiment, checkpoint_name};
use super::folder::Score;
use super::start::shared_rows;
use crate::config::{Config, Suite, TdSettings};
use crate::positions::{PositionErrors, Set, rows_of_random_games};
use adept_arena::grade::{alone, shortest, worst};
use adept_arena::matches::{ByClass, Draws, Tally, compete, opening_plies, orders, play_counted};
use adept_arena::{
    Agent, Boltzmann, Equity, ExactError, Grader, Greedy, Guarantee, OpenError, Random, Scratch, SoloGrade,
    equity, open,
};
use adept_game::Kit;
use adept_game::stream;
use adept_model::{ExpertUse, ModelError, Usage};
use serde::{Deserialize, Serialize};

/// A measurement during a run: one line of `metrics.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Games learned from, or samples.
    pub step: u64,
    /// Mean loss per sample since the last measurement; `None` without samples.
    pub loss: Option<f64>,
    /// Learning rate at this step.
    pub rate: f64,
    /// ε at this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explore: Option<f64>,
    /// λ at this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// Exact match equity by opponent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equity: Vec<(String, Equity)>,
    /// What greedy play is sure of in each seat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<Guarantee>,
    /// Moves to the solution, in games for one player.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone: Option<SoloGrade>,
    /// Results of played games by opponent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<Match>,
    /// What went wrong, such as results worse than those of random play.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Entries of a growing table, if games are measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<usize>,
    /// Mean win of a best response: (br₀ + br₁) / 2, in units of utility.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exploitability: Option<f64>,
    /// Errors on the test positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rms: Option<PositionErrors>,
    /// Root mean square error on the validation positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<f64>,
    /// How often each expert ran during the measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How the experts share positions of the run's distribution, or of games of the network with itself if the game has
    /// none; ten times in a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experts: Option<ExpertUse>,
    /// Seconds since the start, over all resumes.
    pub seconds: f64,
}

/// Games against one opponent, who takes all other seats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Match {
    /// The opponent.
    pub against: String,
    /// Games.
    pub games: u64,
    /// Points per game, 1 for a win, a fraction of 1 if it is shared; or the mean utility in the unit of the game.
    pub score: f64,
    /// 95 % interval of the score, from the spread between deals.
    pub ci95: [f64; 2],
    /// How many of the games differ. None in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// Decisions drawn at random at the start of each game.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub random_plies: u32,
    /// The unit; `None` for points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The share of each class of results; empty if the game lists none.
    #[serde(default, skip_serializing_if = "ByClass::is_empty")]
    pub classes: ByClass<f64>,
}

fn is_zero(plies: &u32) -> bool {
    *plies == 0
}

/// An opponent in measurements.
pub(super) struct EvalOpponent<G: Kit> {
    /// The agent, as text.
    pub(super) name: String,
    pub(super) agent: Box<dyn Agent<G>>,
    /// Decisions that open each game at random.
    pub(super) random_plies: u32,
}

impl<G: Kit> EvalOpponent<G> {
    /// Opens the agent. Where nothing else is said, games open at random if those of this agent with itself repeat each other: what
    /// learns plays greedily too.
    pub(super) fn open(game: &G, name: &str, config: &Config, seed: u64) -> Result<Self, OpenError> {
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

impl Match {
    /// The result of games against one opponent, of which one agent has a single seat.
    pub fn of<G: Kit>(game: &G, against: &str, tally: &Tally, random_plies: u32) -> Self {
        let unit = game.unit();
        let unit = unit.as_ref();
        Self {
            against: against.into(),
            games: tally.games,
            score: tally.score(unit),
            ci95: tally.uncertainty(unit, game.scale(), 1.0 / game.players() as f64).ci95,
            distinct: Some(tally.distinct.count()),
            random_plies,
            unit: unit.map(|unit| unit.name.to_string()),
            classes: tally.ends.shares(&game.outcome_classes().unwrap_or_default(), game.scale()),
        }
    }
}

/// Games of random play with which results are compared.
const FLOOR_GAMES: u64 = 100;

/// Counts measurements since the best one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Patience {
    best: Option<f64>,
    since: u64,
}

impl<G: Kit> Experiment<'_, G> {
    /// Measures the network after this step, with averaged weights if there are any.
    pub(super) fn evaluate(&mut self, step: u64) -> Result<Evaluation, TrainError> {
        self.shards.average.trade(&mut *self.bound.model)?;
        let found = self.measure(step);
        self.shards.average.trade(&mut *self.bound.model)?;
        found
    }

    fn measure(&mut self, step: u64) -> Result<Evaluation, TrainError> {
        self.bound.model.reset_usage();
        let mut equities = Vec::with_capacity(self.eval_opponents.len());
        let matches = if self.config.measures(Suite::Matches) { self.matches(step)? } else { Vec::new() };
        for opponent in self.eval_opponents.iter_mut().filter(|_| self.config.measures(Suite::Equity)) {
            let mut greedy = Greedy::new(&mut self.bound);
            match equity(self.game, &mut greedy, &mut opponent.agent) {
                Ok(found) => equities.push((opponent.name.clone(), found)),
                // In a measurement only the network can fail to give a policy …
                Err(ExactError::Policy(_)) => {
                    // … unless a device is lost, which has its own error.
                    self.bound.model.tensors()?;
                    return Err(self.diverged("value of a position".into(), step));
                }
                Err(other) => return Err(other.into()),
            }
        }
        let (grade, alone) = match self.grade() {
            Err(TrainError::Exact(ExactError::Policy(_))) => {
                self.bound.model.tensors()?;
                return Err(self.diverged("value of a position".into(), step));
            }
            found => found?,
        };
        if self.record.optimal.is_none() && grade.as_ref().is_some_and(|grade| grade.optimal) {
            self.record.optimal = Some(step);
        }
        let mut still = None;
        let errors = self.tests.as_ref().map(|tests| {
            let mut errors = |set: &Set| set.errors(&mut *self.bound.model, &mut self.values);
            let (validation, test) = (errors(&tests.validation).rms, errors(&tests.test));
            still = Still::of(&self.values, Some((tests.test.spread(), test.rms)));
            (test, validation)
        });
        if errors.is_some_and(|(test, _)| test.rms.is_nan()) {
            self.bound.model.tensors()?;
            return Err(self.diverged("value of a position".into(), step));
        }
        let share = step as f64 / self.record.games as f64;
        let exploitability = match &self.decisions {
            Some(decisions) if self.config.measures(Suite::Exploitability) => {
                self.bound.model.evaluate(decisions.rows(), &mut self.values);
                Some(decisions.exploitability(&self.values, self.pace().temperature(step)))
            }
            _ => None,
        };
        if exploitability.is_some_and(f64::is_nan) {
            self.bound.model.tensors()?;
            return Err(self.diverged("value of an action".into(), step));
        }
        let warnings = self.collapses(&matches)?;
        let (learn, pace) = (&self.config.learn, self.pace());
        let mut evaluation = Evaluation {
            step,
            loss: (self.samples > 0).then(|| self.loss / self.samples as f64),
            rate: f64::from(pace.rate(step)),
            explore: pace.explore(step),
            lambda: learn.td().map(|td| f64::from(td.lambda.at(share) as f32)),
            equity: equities,
            grade: grade.clone(),
            alone,
            matches,
            warnings,
            entries: self.bound.model.entries().filter(|_| self.config.measures(Suite::Matches)),
            exploitability,
            rms: errors.map(|(test, _)| test),
            validation: errors.map(|(_, validation)| validation),
            usage: self.bound.model.usage(),
            experts: if self.is_tenth(step) { self.expert_use()? } else { None },
            seconds: self.seconds(),
        };
        if self.tests.is_none() {
            still = self.still_in_games();
        }
        self.standing = if still.is_some() { self.standing + 1 } else { 0 };
        let last = step == self.record.games && (2..STANDING).contains(&self.standing);
        if let Some(still) = still.filter(|_| self.standing == STANDING || last) {
            let rate = self.pace().rate(step);
            evaluation.warnings.push(still.warning(self.standing, rate));
        }
        (self.loss, self.samples) = (0.0, 0);
        if let Some(patience) = self.config.evaluate.patience {
            let equity = evaluation.equity.first().map(|(_, first)| first.equity);
            let examples = self.config.learn.shows_examples();
            let error = evaluation.validation.filter(|_| examples).or(evaluation.loss);
            let score = evaluation.matches.first().map(|m| m.score);
            let merit = equity.or(exploitability.map(|e| -e)).or(score).or(error.map(|error| -error));
            let since = merit.map_or(0, |merit| self.patience.better(merit));
            if since >= patience && step < self.record.games {
                self.record.early = Some(format!("no better measurement in {since}"));
            }
        }
        if self.record.early.is_some() && evaluation.experts.is_none() {
            evaluation.experts = self.expert_use()?;
        }
        let first = evaluation.equity.first().map(|(_, first)| first);
        let score = Score {
            checkpoint: checkpoint_name(step),
            step,
            equity: first.map(|first| first.equity),
            seats: first.map_or_else(Vec::new, |first| first.seats.clone()),
            rms: evaluation.rms,
            spread: self.tests.as_ref().map(|tests| tests.test.spread()),
            exact: self.labels.as_ref().and_then(|labels| labels.test_rms_error),
            validation: evaluation.validation,
            matches: evaluation.matches.first().map(|m| m.score),
            grade,
            alone,
            unit: evaluation.matches.first().and_then(|m| m.unit.clone()),
            exploitability,
            experts: evaluation.experts.clone(),
        };
        // Without a measurement, no checkpoint is better than another. And a run that learns without exact
        // values must not use them to choose.
        let best = self.best.as_ref().map(|b| &b.0).or(self.record.best.as_ref());
        let better = match (score.equity, score.validation) {
            (Some(equity), _) => best.and_then(|b| b.equity).is_none_or(|b| equity > b),
            (None, Some(error)) if self.config.learn.shows_examples() => {
                best.and_then(|b| b.validation).is_none_or(|b| error < b)
            }
            _ => false,
        };
        if better {
            self.best = Some((score.clone(), self.bound.model.tensors()?));
        }
        let over = step == self.record.games || self.record.early.is_some();
        if over && self.config.figure().is_some() {
            self.record.r#final = Some(score);
        }
        let line = serde_json::to_string(&evaluation).map_err(ModelError::from)?;
        self.lines.push_str(&line);
        self.lines.push('\n');
        Ok(evaluation)
    }
}

/// Measurements in a row without a difference between positions that make learning stand still.
const STANDING: u64 = 3;

/// Rows of random games on which it is seen whether learning stands still, if no positions are measured.
const STILL_ROWS: usize = 256;

/// Fewer rows say nothing.
const STILL_LEAST: usize = 16;

/// Values of many positions that do not tell them apart.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Still {
    /// All positions have this value.
    Same(f32),
    /// Almost all values are at the ends of the range, where the gradient of tanh is 0, and most of them are wrong.
    Saturated,
}

impl Still {
    /// Looks at the values of positions; `known` is the standard deviation of the right values, and the error.
    fn of(values: &[f32], known: Option<(f64, f64)>) -> Option<Self> {
        // A linear output may go beyond, where its gradient is as large as elsewhere.
        let end = |value: &f32| (value.abs() - 1.0).abs() <= 1e-6;
        let (low, high) = values
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
        // Values that are not numbers are a fault of their own.
        if values.len() < STILL_LEAST || !low.is_finite() || known.is_some_and(|(spread, _)| spread < 1e-3) {
            None
        } else if high - low <= 1e-6 {
            Some(Self::Same(low))
        } else if known.is_some_and(|(_, rms)| rms > 0.1)
            && values.iter().filter(|v| end(v)).count() * 100 >= values.len() * 99
        {
            Some(Self::Saturated)
        } else {
            None
        }
    }

    fn warning(self, measurements: u64, rate: f32) -> String {
        let saturated = "a saturated output has no gradient, so it stays: start again";
        let (what, cause) = match self {
            Self::Same(value) if (0.999..=1.0).contains(&value.abs()) => {
                (format!("all positions have the value {value:+.4}"), saturated)
            }
            Self::Same(value) => (
                format!("all positions have the value {value:+.4}"),
                "if this stays, nothing is learned: start again",
            ),
            Self::Saturated => ("almost all values are −1 or +1 and many are wrong".into(), saturated),
        };
        format!(
            "learning stands still: in {measurements} measurements {what}; {cause} with a smaller `learn.rate` (now {rate}), \
             `output = \"linear\"` in the architecture, or other initial weights (another seed, a smaller `init`)"
        )
    }
}

impl<G: Kit> Experiment<'_, G> {
    /// Whether a network gives all positions of random games one value.
    fn still_in_games(&mut self) -> Option<Still> {
        if self.bound.model.program().is_none() || self.bound.model.head().is_policy() {
            return None;
        }
        if self.still.is_empty() {
            let mut rng = stream(0, "standing still", 0);
            self.still = rows_of_random_games(self.game, &self.bound, STILL_ROWS, &mut rng);
        }
        self.bound.model.evaluate(&self.still, &mut self.values);
        Still::of(&self.values, None)
    }

    /// Whether a measurement at this step is the first after another tenth of the run.
    fn is_tenth(&self, step: u64) -> bool {
        let tenth = |step: u64| u128::from(step) * 10 / u128::from(self.record.games.max(1));
        let pause = self.config.evaluate_every().max(self.config.learn.batch);
        tenth(step) > tenth(step.saturating_sub(pause)) || step == self.record.games
    }

    /// Exact grades of greedy play, if they are measured.
    fn grade(&mut self) -> Result<(Option<Guarantee>, Option<SoloGrade>), TrainError> {
        if !self.config.measures(Suite::Grade) {
            return Ok((None, None));
        }
        let mut greedy = Greedy::new(&mut self.bound);
        if self.game.players() == 1 {
            let optimum = match self.optimum {
                Some(optimum) => optimum,
                None => *self.optimum.insert(shortest(self.game)?),
            };
            return Ok((None, Some(alone(self.game, &mut greedy, optimum))));
        }
        let best = match &self.sure {
            Some(best) => best.clone(),
            None => self.sure.insert(Grader::new(self.game)?.best(self.game)?).clone(),
        };
        Ok((Some(Guarantee::of(worst(self.game, &mut greedy)?, best)), None))
    }

    /// How the experts share positions.
    fn expert_use(&mut self) -> Result<Option<ExpertUse>, TrainError> {
        if self.bound.model.program().is_none_or(|program| !program.has_experts()) {
            return Ok(None);
        }
        // Own games change with the network.
        if self.shared.is_empty() || self.game.positions().is_empty() {
            self.shared = shared_rows(self.game, self.config, &mut self.bound)?;
        }
        Ok(ExpertUse::of(&mut *self.bound.model, &self.shared))
    }

    /// Results that are worse than those of random play, or the worst possible.
    fn collapses(&mut self, matches: &[Match]) -> Result<Vec<String>, TrainError> {
        let mut warnings = Vec::new();
        for found in matches.iter().filter(|found| found.games >= FLOOR_GAMES) {
            let floor = match self.floors.iter().find(|floor| floor.against == found.against) {
                Some(floor) => floor,
                None => {
                    self.floors.push(self.floor(&found.against)?);
                    &self.floors[self.floors.len() - 1]
                }
            };
            let wins_none = found.unit.is_none() && found.score == 0.0;
            if wins_none || found.ci95[1] < floor.ci95[0] {
                let unit = found.unit.as_deref();
                let said = |score: f64| match unit {
                    Some(unit) => format!("{} {unit}", adept_game::score_text(score, 4)),
                    None => format!("{:.1} %", 100.0 * score),
                };
                warnings.push(format!(
                    "against {} it gets {}, random play {}: if this stays, learning has collapsed; {}",
                    found.against,
                    said(found.score),
                    said(floor.score),
                    self.config.learn.td().map_or("look at `learn.rate`", TdSettings::against_collapse)
                ));
            }
        }
        Ok(warnings)
    }

    /// Random play against an opponent.
    fn floor(&self, against: &str) -> Result<Match, TrainError> {
        let game = self.game;
        let make = || Ok::<_, OpenError>(vec![Box::new(Random) as _, open::agent(game, against)?]);
        let seats = orders(&[1, game.players() - 1]);
        let tally = compete(game, make, &seats, FLOOR_GAMES, self.record.seed, || false)?;
        Ok(Match::of(game, against, &tally, 0))
    }

    /// Plays against every opponent, with the learner in each seat in turn. The dice are the same in every
    /// measurement.
    ///
    /// # Errors
    /// A player to move has no action.
    fn matches(&mut self, step: u64) -> Result<Vec<Match>, TrainError> {
        let temperature = self.pace().temperature(step);
        let (game, games, seed) = (self.game, self.config.evaluate.games, self.record.seed);
        let mut all = Vec::with_capacity(self.eval_opponents.len());
        let players = game.players() as u64;
        for EvalOpponent { name, agent, random_plies } in &mut self.eval_opponents {
            let bound = &mut self.bound;
            let mut learner: Box<dyn Agent<G> + '_> = match temperature {
                Some(temperature) => Box::new(Boltzmann::new(bound, temperature)),
                None => Box::new(Greedy::new(bound)),
            };
            let mut scratch = Scratch::default();
            let mut tally = Tally::new(2);
            // Where utilities count or games open at random, each deal is played in all seats.
            let orders = if game.unit().is_some() || *random_plies > 0 { players } else { 1 };
            for g in 0..games {
                let mut order = vec![1; game.players()];
                order[(g % players) as usize] = 0;
                let (mut dice, mut choices) =
                    (stream(seed, "measure dice", g / orders), stream(seed, "measure", g));
                let draws = Draws { dice: &mut dice, choices: &mut choices, random_plies: *random_plies };
                let mut agents: [&mut dyn Agent<G>; 2] = [&mut *learner, &mut **agent];
                play_counted(game, &mut agents, &order, draws, &mut scratch, &mut tally, orders)
                    .map_err(OpenError::from)?;
            }
            all.push(Match::of(game, name, &tally, *random_plies));
        }
        Ok(all)
    }
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

#[cfg(test)]
mod tests {
    use super::Still;

    #[test]
    fn what_does_not_tell_positions_apart_stands_still() {
        let apart: Vec<f32> = (0..100).map(|i| i as f32 / 100.0).collect();
        assert_eq!(Still::of(&apart, None), None);
        assert_eq!(Still::of(&[-1.0; 100], None), Some(Still::Same(-1.0)));
        assert_eq!(Still::of(&[0.25; 100], Some((0.5, 0.5))), Some(Still::Same(0.25)));
        // Where all right values are equal, so may be the others. Few rows say nothing.
        assert_eq!(Still::of(&[0.25; 100], Some((0.0, 0.0))), None);
        assert_eq!((Still::of(&[0.25; 10], None), Still::of(&[f32::NAN; 100], None)), (None, None));
        let ends: Vec<f32> = (0..100).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert_eq!(Still::of(&ends, Some((1.0, 0.9))), Some(Still::Saturated));
        let beyond: Vec<f32> = ends.iter().map(|v| 3.0 * v).collect();
        assert_eq!(Still::of(&beyond, Some((1.0, 2.0))), None);
        // A game whose values are won and lost alone may be learned so.
        assert_eq!((Still::of(&ends, Some((1.0, 0.01))), Still::of(&ends, None)), (None, None));
        let warning = Still::Same(-1.0).warning(3, 0.5);
        assert!(
            warning.contains("all positions have the value -1.0000") && warning.contains("(now 0.5)"),
            "{warning}"
        );
    }
}
