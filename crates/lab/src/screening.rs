//! Accuracy of move filters: how often the best move by a large network is among the first ones by a small network.

use crate::decisions::size;
use crate::own_games;
use adept_arena::{Decision, OpenError};
use adept_erased::erased;
use adept_game::{Kit, stream};
use adept_ground::order::highest_first;
use adept_ground::work;
use adept_trainer::run::{Cancel, TrainError};
use serde::Serialize;
use std::borrow::Cow;

/// Options for measuring a move filter.
#[derive(Clone, Debug)]
pub struct ScreeningOptions {
    /// The filter: a checkpoint or a valuation.
    pub small: String,
    /// The reference whose values count: a checkpoint, a search, or a valuation. It plays the games.
    pub large: String,
    /// Smallest number of decisions with at least two moves.
    pub count: u64,
    /// Numbers of moves that the filter may keep.
    pub keep: Vec<usize>,
    /// Seed of the games.
    pub seed: u64,
}

/// Loss of a filter that keeps `keep` moves.
#[derive(Clone, Debug, Serialize)]
pub struct Kept {
    /// Number of kept moves.
    pub keep: usize,
    /// Share of decisions whose best move is kept, in [0, 1].
    pub found: f64,
    /// Mean loss per decision, in the unit of the game.
    pub loss: f64,
    /// Its 95 % interval, over games.
    pub ci95: [f64; 2],
}

/// Accuracy of a move filter.
#[derive(Clone, Debug, Serialize)]
pub struct Screening {
    /// The filter.
    pub small: String,
    /// The reference.
    pub large: String,
    /// Number of games.
    pub games: u64,
    /// Number of decisions with at least two moves.
    pub decisions: u64,
    /// Mean number of their moves.
    pub moves: f64,
    /// Results by number of kept moves.
    pub keep: Vec<Kept>,
    /// The unit, such as points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Cow<'static, str>>,
}

/// Sums over games, because decisions of a game are not independent.
#[derive(Clone, Debug, Default)]
struct ByGame {
    games: f64,
    losses: f64,
    decisions: f64,
    /// Sums of products.
    loss2: f64,
    both: f64,
    decisions2: f64,
    /// Number of decisions whose best move is kept.
    found: u64,
}

impl ByGame {
    /// Adds a game: the sum of its losses and its number of decisions.
    fn add(&mut self, loss: f64, decisions: f64) {
        self.games += 1.0;
        self.losses += loss;
        self.decisions += decisions;
        self.loss2 += loss * loss;
        self.both += loss * decisions;
        self.decisions2 += decisions * decisions;
    }

    /// The mean loss per decision, and its 95 % interval, that of a ratio of two sums over independent games.
    fn mean(&self) -> (f64, [f64; 2]) {
        let Self { games: n, losses, decisions, loss2, both, decisions2, .. } = *self;
        let mean = losses / decisions;
        let squares = (loss2 - 2.0 * mean * both + mean * mean * decisions2).max(0.0);
        let error = (squares * n / (n - 1.0)).sqrt() / decisions;
        (mean, [-1.96, 1.96].map(|z| mean + z * error))
    }
}

/// What a game measures of move filters.
#[erased(pub trait ScreenOps)]
impl<G: Kit> ScreenOps for G {
    /// Plays games of the large network against itself, in one of twenty decisions with a move drawn from the best four,
    /// and ranks the moves of each decision by the small network. The last game is played to its end.
    ///
    /// # Errors
    /// If one of them has no values, or the work is stopped.
    fn screening(&self, options: &ScreeningOptions, cancel: &Cancel) -> Result<Screening, TrainError> {
        let mut small = own_games::evaluator(self, &options.small, false)?;
        let mut large = own_games::evaluator(self, &options.large, false)?;
        let what = format!("playing games for {} decisions", options.count);
        let mut all = vec![ByGame::default(); options.keep.len()];
        let (mut decisions, mut moves, mut games) = (0, 0, 0);
        let (mut listed, mut thought, mut ranks) = (Vec::new(), Vec::new(), Vec::new());
        // A game may have no choice at all.
        while (decisions < options.count || games < 2) && games < 10 * options.count {
            let mut rng = stream(options.seed, "games for screens", games);
            games += 1;
            let mut here = vec![0.0; options.keep.len()];
            let before = decisions;
            let stop = || cancel.requested();
            own_games::play(self, &mut *large, self.start(), &mut rng, true, &stop, |met, _, rng| {
                let own_games::SelfPlayDecision { state, player, actions, values, order } = met;
                if actions.len() > 1 {
                    small.study(Decision::new(self, state, player), &mut listed, &mut thought);
                    let of = |i: usize| {
                        let place = listed.iter().position(|action| *action == actions[i]);
                        place.map_or(f32::NEG_INFINITY, |place| thought[place])
                    };
                    let worth: Vec<f32> = (0..actions.len()).map(of).collect();
                    ranks.clear();
                    ranks.extend(0..actions.len());
                    highest_first(&worth, &mut ranks);
                    for ((here, all), &keep) in here.iter_mut().zip(&mut all).zip(&options.keep) {
                        let kept =
                            ranks.iter().take(keep).map(|&i| values[i]).fold(f32::NEG_INFINITY, f32::max);
                        let loss = f64::from(values[order[0]] - kept) * size(self);
                        *here += loss;
                        all.found += u64::from(loss == 0.0);
                    }
                    (decisions, moves) = (decisions + 1, moves + actions.len());
                    work::share(&what, (decisions as f64 / options.count as f64).min(0.999));
                }
                Ok(Some(own_games::mostly_best(order, rng)))
            })?;
            if cancel.requested() {
                let message = "stopped before all decisions were ranked".into();
                return Err(TrainError::Interrupted { path: options.small.clone().into(), message });
            }
            all.iter_mut().zip(here).for_each(|(all, loss)| all.add(loss, (decisions - before) as f64));
        }
        if decisions < 2 {
            return Err(
                OpenError::Unknown(format!("games of {} have no decisions to rank", self.name())).into()
            );
        }
        work::share(&what, 1.0);
        let keep = options.keep.iter().zip(all).map(|(&keep, all)| {
            let (loss, ci95) = all.mean();
            Kept { keep, found: all.found as f64 / decisions as f64, loss, ci95 }
        });
        Ok(Screening {
            small: options.small.clone(),
            large: options.large.clone(),
            games,
            decisions,
            moves: moves as f64 / decisions as f64,
            keep: keep.collect(),
            unit: self.counting().unit().map(|unit| unit.name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ByGame;

    /// With equally many decisions per game, the interval is that of the mean of the games.
    #[test]
    fn intervals_are_between_games() {
        let mut all = ByGame::default();
        [1.0, 3.0, 2.0, 2.0].into_iter().for_each(|loss| all.add(loss, 10.0));
        let (mean, [low, high]) = all.mean();
        let error = (2.0f64 / 3.0 / 4.0).sqrt() / 10.0;
        assert!((mean - 0.2).abs() < 1e-12 && (high - low - 2.0 * 1.96 * error).abs() < 1e-12);
    }
}
