//! Luck: what an outcome of chance was worth beyond what could be expected.

use super::decision::{Decision, state_after};
use super::evaluator::Evaluator;
use super::model::GameModel;
use super::successors::{Successors, certain, class_of};
use adept_game::{Game, GameError, Kit, Turn, no_action};
use adept_model::{ModelError, OutcomeClass};

/// Tells the luck of outcomes: what each was worth beyond what could be expected, by a fixed evaluator V.
///
/// For a chance event in state s whose outcomes r have probabilities w(r), let V*(s, r) be the value of the best action after r. The
/// luck of an outcome is V*(s, r) − Σ w(r′) V*(s, r′). Its mean is 0, however good V is and however the players act. So a result
/// less the luck of its game has the mean of the result, and the less spread the better V is.
pub trait Fortune<G: Game>: Send {
    /// The luck of an outcome of chance for player 0, in units of utility. 0 for chance that cannot be judged: it is not listed, or
    /// more chance follows at once.
    ///
    /// # Errors
    /// If the outcome is not one of those that the game lists, or a player has no action.
    fn luck(&mut self, game: &G, state: &G::State, drawn: &G::Action) -> Result<f64, GameError>;
}

/// What a decision or an end of the game after an outcome of chance is worth.
#[derive(Clone, Debug)]
pub struct Prospect<G: Game> {
    /// The outcome; none for a decision that no chance comes before.
    pub outcome: Option<G::Action>,
    /// Its probability.
    pub probability: f64,
    /// Value of the best action after it for player 0, in [−1, 1].
    pub value: f64,
    /// The best action, of equal ones the first; none if the game is over.
    pub best: Option<G::Action>,
    /// The standard error of the value; 0 if it is not an estimate from samples.
    pub error: f64,
}

/// Values all outcomes of chance events by a checkpoint or another evaluator.
pub struct Luck<G: Game> {
    by: By<G>,
    /// The outcomes of the event that was judged last.
    prospects: Vec<Prospect<G>>,
    /// The probability of each class for player 0 after each outcome, `[outcomes, classes]`; empty if only values are known.
    classes: Vec<f32>,
    outcomes: Vec<(G::Action, f64)>,
    listed: Vec<(Option<G::Action>, f64)>,
    /// The standard error of the luck that was told last.
    error: f64,
    /// The mean value over the outcomes of the event that was judged last, in units of utility.
    expected: Option<f64>,
    /// The state after each outcome.
    next: Vec<G::State>,
    actions: Vec<G::Action>,
    values: Vec<f32>,
}

/// What values positions.
enum By<G: Game> {
    /// A network, all actions after all outcomes in one batch.
    Model(Box<GameModel<G>>, Box<Successors<G>>),
    /// Anything else, a decision at a time; and whether its probabilities of classes are asked for too.
    Other(Box<dyn Evaluator<G>>, bool),
}

impl<G: Kit> Luck<G> {
    /// By a network whose output is a value or a distribution over outcomes.
    pub fn of_model(game: &G, bound: GameModel<G>) -> Self {
        let found = Successors::new(game, &*bound.model);
        Self::by(By::Model(Box::new(bound), Box::new(found)))
    }

    /// By any evaluator, a decision at a time.
    pub fn of(evaluator: Box<dyn Evaluator<G>>) -> Self {
        Self::of_evaluator(evaluator, true)
    }

    /// As [`of`](Self::of); `classes` says whether the evaluator is asked for probabilities of classes too.
    pub(crate) fn of_evaluator(evaluator: Box<dyn Evaluator<G>>, classes: bool) -> Self {
        Self::by(By::Other(evaluator, classes))
    }

    fn by(by: By<G>) -> Self {
        let (prospects, classes, outcomes, listed) = Default::default();
        let (next, actions, values) = Default::default();
        Self { by, prospects, classes, outcomes, listed, error: 0.0, expected: None, next, actions, values }
    }

    /// The probability of each class for player 0 after each outcome that was judged last, `[outcomes, classes]`; empty if it knows
    /// values alone.
    pub fn distributions(&self) -> &[f32] {
        &self.classes
    }

    /// The standard error of the luck that was told last; 0 if the values are not estimates from samples.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// The mean value for player 0 over all outcomes of the event whose luck was told last, in units of utility; none if it could not be
    /// judged.
    pub fn expected(&self) -> Option<f64> {
        self.expected
    }

    /// What was judged last, and its distributions.
    pub(crate) fn judged(&self) -> (&[Prospect<G>], &[f32]) {
        (&self.prospects, &self.classes)
    }

    /// The classes whose probabilities it knows; empty if it knows values alone.
    pub fn classes(&self) -> &[OutcomeClass] {
        match &self.by {
            By::Model(bound, _) => bound.classes(),
            By::Other(evaluator, true) => evaluator.classes(),
            By::Other(_, false) => &[],
        }
    }

    /// Values all outcomes of the chance event that comes in this state, or the decision in it. None for chance that is not listed, and
    /// if more chance follows one of its outcomes at once.
    ///
    /// # Errors
    /// If a player has no action, or, with classes, a game ends in none of them.
    pub fn judge(&mut self, game: &G, state: &G::State) -> Result<Option<&[Prospect<G>]>, ModelError> {
        self.prospects.clear();
        self.classes.clear();
        self.listed.clear();
        match game.turn(state) {
            Turn::Chance if !game.outcomes(state, &mut self.outcomes) => return Ok(None),
            Turn::Chance => {
                self.listed.extend(self.outcomes.drain(..).map(|(outcome, p)| (Some(outcome), p)))
            }
            Turn::Player(_) | Turn::Over => self.listed.push((None, 1.0)),
        }
        self.next.resize(self.listed.len(), state.clone());
        for (next, (outcome, _)) in self.next.iter_mut().zip(&self.listed) {
            next.clone_from(state);
            outcome.iter().for_each(|outcome| game.apply(next, outcome));
            if game.turn(next) == Turn::Chance {
                return Ok(None);
            }
        }
        let Self { by, prospects, classes, listed, next, actions, values, .. } = self;
        let for_first = |player, value: f32| if player == 0 { f64::from(value) } else { -f64::from(value) };
        let over = |state: &G::State| game.utility(state, 0) / game.scale();
        let stuck = |state, player| ModelError::Unsupported(no_action(game, state, player).to_string());
        let each = listed.drain(..).zip(next.iter());
        match by {
            By::Model(bound, found) => {
                found.clear();
                for next in next.iter() {
                    if let Turn::Player(player) = game.turn(next) {
                        found.list(&**bound.encoder(), Decision::new(game, next, player));
                    }
                }
                found.evaluate(&mut *bound.model);
                let (head, all, mut branches) = (bound.model.head(), bound.classes(), found.branches());
                for ((outcome, probability), next) in each {
                    let Turn::Player(player) = game.turn(next) else {
                        add_certain(game, all, next, classes)?;
                        let value = over(next);
                        prospects.push(Prospect { outcome, probability, value, best: None, error: 0.0 });
                        continue;
                    };
                    let (_, branch) = branches.next().unwrap_or_default();
                    let first = branch.start;
                    let place =
                        first + first_best(&found.values[branch]).ok_or_else(|| stuck(next, player))?;
                    let best = found.actions[place].clone();
                    match found.row_of[place] {
                        _ if all.is_empty() => {}
                        None => {
                            let after = state_after(game, next, &best);
                            add_certain(game, all, &after, classes)?;
                        }
                        Some(row) => {
                            let own = &found.outcomes[row as usize * all.len()..][..all.len()];
                            match player {
                                0 => classes.extend_from_slice(own),
                                _ => head.mirrored(own, classes),
                            }
                        }
                    }
                    let value = for_first(player, found.values[place]);
                    prospects.push(Prospect { outcome, probability, value, best: Some(best), error: 0.0 });
                }
            }
            By::Other(evaluator, with_classes) => {
                let all = if *with_classes { evaluator.classes().to_vec() } else { Vec::new() };
                let mut own = Vec::new();
                let sure = |state: &G::State, to: &mut Vec<f32>| match all.is_empty() {
                    true => Ok(()),
                    false => class_of(game, &all, state, 0).map(|class| to.extend(certain(all.len(), class))),
                };
                for ((outcome, probability), next) in each {
                    let mut error = 0.0;
                    let (value, best) = match game.turn(next) {
                        Turn::Player(player) => {
                            let at = Decision::new(game, next, player);
                            evaluator.weigh(at, actions, values);
                            let place = first_best(values).ok_or_else(|| stuck(next, player))?;
                            error = evaluator.errors().get(place).copied().map_or(0.0, f64::from);
                            let best = actions.swap_remove(place);
                            if !all.is_empty() {
                                let after = state_after(game, next, &best);
                                if game.turn(&after) == Turn::Over {
                                    sure(&after, classes)?;
                                } else {
                                    evaluator.outcomes(at, &best, &mut own);
                                    let seen =
                                        |class: usize| if player == 0 { class } else { all[class].mirror };
                                    classes.extend((0..all.len()).map(|class| own[seen(class)]));
                                }
                            }
                            (for_first(player, values[place]), Some(best))
                        }
                        Turn::Over | Turn::Chance => {
                            sure(next, classes)?;
                            (over(next), None)
                        }
                    };
                    prospects.push(Prospect { outcome, probability, value, best, error });
                }
            }
        }
        Ok(Some(&self.prospects))
    }
}

/// Appends the distribution that is sure of the class of a finished game for player 0; nothing without classes.
fn add_certain<G: Kit>(
    game: &G,
    classes: &[OutcomeClass],
    state: &G::State,
    to: &mut Vec<f32>,
) -> Result<(), ModelError> {
    if !classes.is_empty() {
        to.extend(certain(classes.len(), class_of(game, classes, state, 0)?));
    }
    Ok(())
}

/// The place of the highest value, of equal ones the first. NaN is never higher.
fn first_best(values: &[f32]) -> Option<usize> {
    (0..values.len()).reduce(|best, i| if values[i] > values[best] { i } else { best })
}

/// The mean value over all outcomes.
pub fn expected<G: Game>(prospects: &[Prospect<G>]) -> f64 {
    let (sum, weight) = prospects
        .iter()
        .fold((0.0, 0.0), |(sum, weight), p| (sum + p.probability * p.value, weight + p.probability));
    sum / weight
}

/// The place of an outcome among those that a game lists.
///
/// # Errors
/// If it is not there.
pub fn place<G: Game>(game: &G, prospects: &[Prospect<G>], drawn: &G::Action) -> Result<usize, GameError> {
    prospects.iter().position(|prospect| prospect.outcome.as_ref() == Some(drawn)).ok_or_else(|| {
        GameError::new(format!(
            "{}: chance gave {drawn:?}, which is not one of its listed outcomes",
            game.name()
        ))
    })
}

impl<G: Kit> Fortune<G> for Luck<G> {
    fn luck(&mut self, game: &G, state: &G::State, drawn: &G::Action) -> Result<f64, GameError> {
        let judged = self.judge(game, state).map_err(|e| GameError::new(e.to_string()))?;
        let Some(prospects) = judged else {
            (self.error, self.expected) = (0.0, None);
            return Ok(0.0);
        };
        let drawn = place(game, prospects, drawn)?;
        let weight: f64 = prospects.iter().map(|prospect| prospect.probability).sum();
        let part = |(i, prospect): (usize, &Prospect<G>)| {
            (f64::from(u8::from(i == drawn)) - prospect.probability / weight) * prospect.error
        };
        let variance: f64 = prospects.iter().enumerate().map(part).map(|error| error * error).sum();
        let mean = expected(prospects);
        let luck = game.scale() * (prospects[drawn].value - mean);
        self.error = game.scale() * variance.sqrt();
        self.expected = Some(game.scale() * mean);
        Ok(luck)
    }
}
