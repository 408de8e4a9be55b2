//! Plays games of the learner against itself or opponents, and learns from them.

use super::record::{Decided, Record};
use super::returns::{Bootstrap, Returns, Step};
use crate::config::{Along, TraceKind};
use adept_arena::search::{Search, SearchOptions};
use adept_arena::successors::{certain, class_of};
use adept_arena::{Agent, Decision, LearnerModel, Scratch as Lists, agents};
use adept_game::{Game, Kit, OutcomeClass, Stream, Turn, draw_index, no_action};
use adept_model::{Head, Learner, ModelError, OutcomeMask, Rows, Samples};
use rand::RngExt;

/// Settings of one game, taken from the schedules.
#[derive(Clone, Copy, Debug)]
pub struct PlaySettings {
    /// λ, γ, and what targets take from the next decision.
    pub bootstrap: Bootstrap,
    /// ε, in [0, 1].
    pub explore: f64,
    /// Temperature of Boltzmann play, which replaces ε-greedy play.
    pub temperature: Option<f64>,
    /// Factor on rewards and on the outcome; `None` if only the outcome counts.
    pub rewards: Option<f32>,
    /// Learning rate.
    pub rate: f32,
    /// How TD(λ) is computed.
    pub traces: TraceKind,
    /// Whose decisions a return runs along.
    pub along: Along,
}

/// Losses of the online steps of a game; zero if samples are collected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GameStats {
    /// Σ ½(target − V)².
    pub loss: f64,
    /// Steps.
    pub samples: u64,
}

/// The player in each seat: the learner (`None`), or the agent with this number.
pub struct Seats<'a, G: Game> {
    /// The agents.
    pub agents: &'a mut [Box<dyn Agent<G>>],
    /// Agent by seat.
    pub by_seat: &'a [Option<usize>],
}

/// One row and its value, reused from step to step.
#[derive(Debug)]
struct Scratch {
    row: Rows,
    value: Vec<f32>,
}

/// The player, the value and the distribution of a state whose value is known, which ends the game.
type Known = Option<(usize, f32, Vec<f32>)>;

/// Plays games and collects samples, or steps online.
pub struct TdPlayer<G: Kit> {
    state: G::State,
    /// What the learner gives.
    head: Head,
    /// A state after an action that ends the game.
    last: G::State,
    chains: Vec<Returns>,
    /// Rewards of each player since the last decision.
    rewards: Vec<f32>,
    lists: Lists<G>,
    scratch: Scratch,
    /// What looks ahead, without the learner's model, and the values that it found.
    search: Option<Search<G, ()>>,
    searched: Vec<f32>,
    outcomes: Vec<f32>,
    /// Samples since the last step.
    pub samples: Samples,
    /// Where games are written down, in place of collecting samples.
    pub(crate) record: Option<Record<G>>,
}

impl<G: Kit> TdPlayer<G> {
    /// A player for rows of these channels. With `search`, it decides by looking ahead, and learns from what it found.
    pub fn new(game: &G, learner: &dyn Learner, search: Option<SearchOptions>) -> Self {
        let chain = || Returns::new(Rows::new(learner.channels()));
        Self {
            state: game.start(),
            head: learner.head().clone(),
            last: game.start(),
            chains: (0..game.players()).map(|_| chain()).collect(),
            rewards: vec![0.0; game.players()],
            lists: Lists::default(),
            scratch: Scratch { row: Rows::new(learner.channels()), value: Vec::new() },
            search: search.map(|options| Search::new(game, (), options)),
            searched: Vec::new(),
            outcomes: Vec::new(),
            samples: Samples::new(learner.channels()),
            record: None,
        }
    }

    /// Plays one game from `start`. Appends samples to `samples`; with online traces, steps during the game.
    ///
    /// # Errors
    /// [`ModelError::Diverged`] and, for online traces, [`ModelError::Unsupported`].
    pub fn play(
        &mut self,
        game: &G,
        bound: &mut LearnerModel<G>,
        start: G::State,
        seats: Seats<'_, G>,
        settings: PlaySettings,
        rng: &mut Stream,
    ) -> Result<GameStats, ModelError> {
        self.state = start;
        let online = settings.traces == TraceKind::Online;
        for (player, chain) in self.chains.iter_mut().enumerate() {
            chain.clear();
            if online {
                bound.model.traces()?.cut(player);
            }
        }
        self.rewards.fill(0.0);
        if let Some(record) = &mut self.record {
            record.begin(&self.state);
        }
        let (mut stats, mut ply) = (GameStats::default(), 0);
        let mut known: Known = None;
        loop {
            let player = match game.turn(&self.state) {
                Turn::Over => break,
                Turn::Chance => {
                    let action = game.sample(&self.state, rng);
                    if let Some(record) = &mut self.record {
                        record.acts(&action);
                    }
                    game.apply(&mut self.state, &action);
                    continue;
                }
                Turn::Player(player) => player,
            };
            let at = Decision::new(game, &self.state, player);
            if let Some(agent) = seats.by_seat[player] {
                let chosen = seats.agents[agent].choose(at, &mut self.lists, rng);
                let action = chosen.map_err(|e| ModelError::Unsupported(e.to_string()))?;
                self.apply(game, &action, settings);
                ply += 1;
                continue;
            }
            // With `both`, the first chain holds the decisions of both players.
            let chain = &mut self.chains[if settings.along == Along::Both { 0 } else { player }];
            let explores = settings.temperature.is_none() && rng.random::<f64>() < settings.explore;
            // Values at the first decision are not used: there is no earlier afterstate.
            let is_valued = !explores || !chain.decisions.is_empty();
            let searches = is_valued && self.search.is_some();
            if searches && let Some(search) = self.search.take() {
                if bound.encoder().decides() {
                    self.lists.actions.clone_from(&bound.candidates(at).actions);
                } else {
                    game.actions(&self.state, &mut self.lists.actions);
                }
                let (mut search, ()) = search.with(&mut *bound);
                search.search(at, &self.lists.actions);
                self.searched.clone_from(&search.found().values);
                self.search = Some(search.with(()).0);
            }
            // A record has all values.
            let candidates = match (is_valued || self.record.is_some()) && !searches {
                true => bound.decide(at),
                false => bound.candidates(at),
            };
            if candidates.actions.is_empty() {
                return Err(ModelError::Unsupported(no_action(game, &self.state, player).to_string()));
            }
            let values = if searches { &self.searched } else { &candidates.values };
            let greedy = values.iter().fold(f32::NEG_INFINITY, |m, &v| if v > m { v } else { m });
            let choice = match settings.temperature {
                _ if explores => rng.random_range(0..values.len()),
                None => pick_greedy(values, greedy, rng),
                Some(temperature) => {
                    let p = &mut self.lists.probabilities;
                    p.clear();
                    p.resize(values.len(), 0.0);
                    agents::softmax(values, temperature, p);
                    draw_index(&*p, rng)
                }
            };
            let row = candidates.row_of[choice];
            let possible = row.map_or(OutcomeMask::ALL, |row| candidates.possible(row));
            known = row.and_then(|row| candidates.known(row)).map(|(value, p)| (player, value, p.to_vec()));
            let row = row.filter(|_| known.is_none()).map(|row| {
                chain.rows.push_from(&candidates.rows, row as usize);
                chain.rows.len() as u32 - 1
            });
            let value = known.as_ref().map_or(values[choice], |(_, value, _)| *value);
            let best = values.iter().position(|&v| v == greedy).unwrap_or(choice);
            let action = candidates.actions[choice].clone();
            if let Some(classes) = self.head.classes().filter(|_| !searches) {
                for i in [choice, best] {
                    let to = &mut chain.outcomes;
                    if let Some(row) = candidates.row_of[i] {
                        let first = row as usize * classes.len();
                        if let Some((_, p)) = candidates.known(row) {
                            to.extend_from_slice(p);
                            continue;
                        }
                        match candidates.outcomes.get(first..first + classes.len()) {
                            Some(p) => to.extend_from_slice(p),
                            // Not evaluated, because this is the first decision.
                            None => to.resize(to.len() + classes.len(), 0.0),
                        }
                        continue;
                    }
                    self.last.clone_from(&self.state);
                    game.apply(&mut self.last, &candidates.actions[i]);
                    to.extend(certain(classes.len(), class_of(game, classes, &self.last, player)?));
                }
            }
            let reward = std::mem::take(&mut self.rewards[player]);
            let decision = Step { row, value, greedy, reward, player, cuts: value < greedy };
            chain.decisions.push(decision);
            bound.note_weighed();
            if searches
                && self.head.classes().is_some()
                && let Some(search) = self.search.take()
            {
                let (mut search, ()) = search.with(&mut *bound);
                let actions = &self.lists.actions;
                search.outcomes_after(at, &actions[choice], &mut self.outcomes);
                chain.outcomes.extend_from_slice(&self.outcomes);
                if best != choice {
                    search.outcomes_after(at, &actions[best], &mut self.outcomes);
                }
                chain.outcomes.extend_from_slice(&self.outcomes);
                self.search = Some(search.with(()).0);
            }
            if let Some(row) = decision.row {
                bound.model.chosen(&chain.rows, row as usize);
            }
            if let Some(record) = &mut self.record {
                let mut own = value;
                // Beside an action that wins, the network was not asked.
                if let Some(row) = decision.row
                    && !searches
                    && self.head.classes().is_none()
                    && (value, greedy) == (-1.0, 1.0)
                {
                    self.scratch.row.clear();
                    self.scratch.row.push_from(&chain.rows, row as usize);
                    bound.model.evaluate(&self.scratch.row, &mut self.scratch.value);
                    own = self.scratch.value[0];
                }
                let explored = explores || (settings.temperature.is_some() && decision.cuts);
                record.decides(&Decided { step: decision, own, ply, explored, possible }, chain);
            }
            if online {
                let learner = &mut *bound.model;
                step_online(
                    learner,
                    chain,
                    player,
                    decision.greedy,
                    settings,
                    &mut self.scratch,
                    &mut stats,
                )?;
            }
            self.apply(game, &action, settings);
            ply += 1;
            if known.is_some() {
                break;
            }
        }
        if let Some(mut record) = self.record.take() {
            for player in 0..game.players() {
                let end = match self.head.classes() {
                    Some(classes) => self.end(game, classes, &known, player)?,
                    None => Vec::new(),
                };
                // Without the rewards, and their discount.
                let over = match known.is_none() {
                    true => Ok(&self.state),
                    false => Err(self.outcome(game, &known, player)),
                };
                record.ends(game, player, over, (self.result(game, &known, settings, player), &end));
            }
            self.record = Some(record);
            return Ok(stats);
        }
        for (player, chain) in self.chains.iter().enumerate() {
            let player = chain.decisions.last().map_or(player, |last| last.player);
            let z = self.result(game, &known, settings, player);
            if let Some(classes) = self.head.classes() {
                if chain.decisions.is_empty() {
                    continue;
                }
                let end = self.end(game, classes, &known, player)?;
                chain.target_outcomes(&end, &self.head, settings.bootstrap, &mut self.samples);
            } else if !online {
                chain.targets(z, settings.bootstrap, &mut self.samples);
            } else if let Some(&Step { row: Some(row), .. }) = chain.decisions.last() {
                let learner = &mut *bound.model;
                follow(learner, chain, player, (row, z), settings, &mut self.scratch, &mut stats)?;
            }
        }
        Ok(stats)
    }

    /// What the end of the game is worth to a player.
    fn outcome(&self, game: &G, known: &Known, player: usize) -> f32 {
        match known {
            Some((knower, value, _)) if *knower == player => *value,
            Some((_, value, _)) => -value,
            None => (game.utility(&self.state, player) / game.scale()) as f32,
        }
    }

    /// What the game was worth to a player, with the rewards since the last decision.
    fn result(&self, game: &G, known: &Known, settings: PlaySettings, player: usize) -> f32 {
        let z = self.outcome(game, known, player);
        settings.rewards.map_or(z, |factor| self.rewards[player] + factor * z)
    }

    /// The same as a distribution over classes of outcomes.
    fn end(
        &self,
        game: &G,
        classes: &[OutcomeClass],
        known: &Known,
        player: usize,
    ) -> Result<Vec<f32>, ModelError> {
        let mut end = Vec::with_capacity(classes.len());
        match known {
            Some((knower, _, p)) if *knower == player => end.extend_from_slice(p),
            Some((_, _, p)) => self.head.mirrored(p, &mut end),
            None => end.extend(certain(classes.len(), class_of(game, classes, &self.state, player)?)),
        }
        Ok(end)
    }

    /// Applies an action and records its rewards.
    #[inline]
    fn apply(&mut self, game: &G, action: &G::Action, settings: PlaySettings) {
        if let Some(record) = &mut self.record {
            record.acts(action);
        }
        if let Some(factor) = settings.rewards {
            for (player, reward) in self.rewards.iter_mut().enumerate() {
                *reward += factor * (game.reward(&self.state, action, player) / game.scale()) as f32;
            }
        }
        game.apply(&mut self.state, action);
    }
}

/// Index of a highest value; ties are broken at random.
#[inline]
fn pick_greedy(values: &[f32], greedy: f32, rng: &mut Stream) -> usize {
    let first = values.iter().position(|&v| v == greedy).unwrap_or(0);
    let others = values[first + 1..].iter().filter(|&&v| v == greedy).count();
    if others == 0 {
        return first;
    }
    let skip = rng.random_range(0..=others);
    values.iter().enumerate().filter(|(_, v)| **v == greedy).nth(skip).map_or(first, |(i, _)| i)
}

/// The step at the newest decision of a chain. The previous afterstate moves towards the greedy value, which
/// equals the chosen value unless the move explores.
fn step_online(
    learner: &mut dyn Learner,
    chain: &Returns,
    player: usize,
    target: f32,
    settings: PlaySettings,
    scratch: &mut Scratch,
    stats: &mut GameStats,
) -> Result<(), ModelError> {
    let [.., before, now] = &chain.decisions[..] else { return Ok(()) };
    let Some(row) = before.row else { return Ok(()) };
    follow(learner, chain, player, (row, target), settings, scratch, stats)?;
    if now.cuts {
        learner.traces()?.cut(player);
    }
    Ok(())
}

/// e ← λ e + ∇V of this row, then a step of (target − V) along e.
fn follow(
    learner: &mut dyn Learner,
    chain: &Returns,
    player: usize,
    (row, target): (u32, f32),
    settings: PlaySettings,
    scratch: &mut Scratch,
    stats: &mut GameStats,
) -> Result<(), ModelError> {
    scratch.row.clear();
    scratch.row.push_from(&chain.rows, row as usize);
    learner.evaluate(&scratch.row, &mut scratch.value);
    let error = target - scratch.value[0];
    stats.loss += 0.5 * f64::from(error) * f64::from(error);
    stats.samples += 1;
    let traces = learner.traces()?;
    traces.accumulate(player, &scratch.row, 0, settings.bootstrap.lambda);
    traces.follow(player, error, settings.rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_arena::open;
    use adept_builtin::backgammon::Backgammon;
    use adept_game::stream;
    use adept_model::{Architecture, Optimiser, build};

    /// The targets of games of hypergammon without bootstrapping, by game, `[samples, outputs]`.
    fn targets(encoder: &str, head: &Head, along: Along) -> Vec<Vec<f32>> {
        let game = Backgammon::new(3).unwrap();
        let encoder = open::encoder(&game, Some(encoder)).unwrap();
        let architecture: Architecture = serde_json::from_str(r#"{"mlp": {"hidden": [4]}}"#).unwrap();
        let learner =
            build(&architecture, encoder.channels(), head, Optimiser::default(), &mut stream(1, "net", 0));
        let mut bound = LearnerModel::learning(&game, encoder, learner.unwrap());
        let settings = PlaySettings {
            bootstrap: Bootstrap { lambda: 1.0, discount: 1.0, chosen: false, clip: f32::MAX },
            explore: 0.0,
            temperature: None,
            rewards: None,
            rate: 0.1,
            traces: TraceKind::Backward,
            along,
        };
        let mut player = TdPlayer::new(&game, &*bound.model, None);
        let play = |number| {
            player.samples.clear();
            let seats = Seats { agents: &mut [], by_seat: &[None, None] };
            let mut rng = stream(5, "games", number);
            player.play(&game, &mut bound, game.start(), seats, settings, &mut rng).unwrap();
            player.samples.targets.clone()
        };
        (0..60).map(play).collect()
    }

    /// A game ends where a table knows its value, which is the target of both players: not the result of a game played on.
    #[test]
    fn games_end_where_tables_know_the_value() {
        let classes = Head::Outcomes(Backgammon::new(3).unwrap().outcome_classes().unwrap());
        for along in [Along::Both, Along::Own] {
            let [plain, known] = ["points", "points+known:race-8"].map(|name| targets(name, &classes, along));
            let is_certain = |p: &[f32]| p.contains(&1.0);
            let mut open_ends = 0;
            for (plain, known) in plain.iter().zip(&known) {
                assert!(known.len() <= plain.len());
                assert!(plain.chunks(6).all(is_certain));
                let Some(first) = known.chunks(6).next() else { continue };
                let mut mirrored = Vec::new();
                classes.mirrored(first, &mut mirrored);
                let near = |p: &[f32], q: &[f32]| p.iter().zip(q).all(|(p, q)| (p - q).abs() < 1e-6);
                for p in known.chunks(6) {
                    assert!(near(p, first) || near(p, &mirrored), "{along:?}: {p:?} {first:?}");
                }
                open_ends += usize::from(!is_certain(first));
            }
            assert!(open_ends > 5, "{open_ends} of 60 games end with a value of the table");
            let [plain, known] =
                ["points", "points+known:race-8"].map(|name| targets(name, &Head::Value, along));
            let of_result = |z: &f32| (z * 3.0 - (z * 3.0).round()).abs() < 1e-5;
            assert!(plain.iter().flatten().all(of_result) && !known.iter().flatten().all(of_result));
            assert!(known.iter().all(|z| z.iter().all(|v| (v.abs() - z[0].abs()).abs() < 1e-6)));
        }
    }
}
