//! Plays games of the learner against itself or opponents, and learns from them.

use super::record::{Decided, Record};
use super::returns::{Bootstrap, Returns, Step};
use crate::config::{Along, TraceKind};
use adept_arena::search::{Search, SearchOptions};
use adept_arena::values::{certain, class_of};
use adept_arena::{Agent, Decision, Evaluator, LearnerModel, Scratch as Lists, Successors, agents};
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

/// A state whose value a table knows, which ends the game.
struct Known {
    /// The player whose value this is.
    player: usize,
    value: f32,
    /// The distribution over classes of outcomes.
    outcomes: Vec<f32>,
}

/// The target of an online step.
#[derive(Clone, Copy)]
struct Target {
    /// Row of the afterstate in its chain.
    row: u32,
    value: f32,
}

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
    /// Actions in the game so far.
    ply: u32,
    /// Where the game ended, if not by its rules.
    known: Option<Known>,
    stats: GameStats,
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
            ply: 0,
            known: None,
            stats: GameStats::default(),
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
        self.begin(bound, start, settings)?;
        while self.known.is_none() {
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
            let action = match seats.by_seat[player] {
                Some(agent) => {
                    let at = Decision::new(game, &self.state, player);
                    let chosen = seats.agents[agent].choose(at, &mut self.lists, rng);
                    chosen.map_err(|e| ModelError::Unsupported(e.to_string()))?
                }
                None => self.decide(game, bound, player, settings, rng)?,
            };
            self.apply(game, &action, settings);
            self.ply += 1;
        }
        if self.record.is_some() {
            self.write_end(game, settings)?;
        } else {
            self.learn_end(game, bound, settings)?;
        }
        Ok(self.stats)
    }

    /// Begins a game.
    fn begin(
        &mut self,
        bound: &mut LearnerModel<G>,
        start: G::State,
        settings: PlaySettings,
    ) -> Result<(), ModelError> {
        self.state = start;
        for (player, chain) in self.chains.iter_mut().enumerate() {
            chain.clear();
            if settings.traces == TraceKind::Online {
                bound.model.traces()?.cut(player);
            }
        }
        self.rewards.fill(0.0);
        if let Some(record) = &mut self.record {
            record.begin(&self.state);
        }
        (self.ply, self.known, self.stats) = (0, None, GameStats::default());
        Ok(())
    }

    /// Decides for the learner. Adds the decision to its chain or the record; with online traces, steps.
    #[inline]
    fn decide(
        &mut self,
        game: &G,
        bound: &mut LearnerModel<G>,
        player: usize,
        settings: PlaySettings,
        rng: &mut Stream,
    ) -> Result<G::Action, ModelError> {
        let at = Decision::new(game, &self.state, player);
        // With `both`, the first chain holds the decisions of both players.
        let chain = &mut self.chains[if settings.along == Along::Both { 0 } else { player }];
        let explores = settings.temperature.is_none() && rng.random::<f64>() < settings.explore;
        // Values at the first decision are not used: there is no earlier afterstate.
        let is_valued = !explores || !chain.decisions.is_empty();
        let searches = is_valued && self.search.is_some();
        if searches && let Some(search) = self.search.take() {
            let (actions, values) = (&mut self.lists.actions, &mut self.searched);
            self.search = Some(look_ahead(search, bound, at, actions, values));
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
        let known = row.and_then(|row| candidates.known(row));
        self.known = known.map(|(value, p)| Known { player, value, outcomes: p.to_vec() });
        let row = row.filter(|_| self.known.is_none()).map(|row| {
            chain.rows.push_from(&candidates.rows, row as usize);
            chain.rows.len() as u32 - 1
        });
        let value = self.known.as_ref().map_or(values[choice], |known| known.value);
        let best = values.iter().position(|&v| v == greedy).unwrap_or(choice);
        let action = candidates.actions[choice].clone();
        if let Some(classes) = self.head.classes().filter(|_| !searches) {
            for i in [choice, best] {
                outcomes_of(at, classes, candidates, i, &mut self.last, &mut chain.outcomes)?;
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
            let best = (best != choice).then(|| &self.lists.actions[best]);
            let chosen = &self.lists.actions[choice];
            let (buffer, to) = (&mut self.outcomes, &mut chain.outcomes);
            self.search = Some(outcomes_ahead(search, bound, at, chosen, best, buffer, to));
        }
        if let Some(row) = decision.row {
            bound.model.chosen(&chain.rows, row as usize);
        }
        if let Some(record) = &mut self.record {
            // Beside an action that wins, the network was not asked.
            let unasked = !searches && self.head.classes().is_none() && (value, greedy) == (-1.0, 1.0);
            let own = match decision.row.filter(|_| unasked) {
                Some(row) => self.scratch.value_of(&mut *bound.model, chain, row),
                None => value,
            };
            let explored = explores || (settings.temperature.is_some() && decision.cuts);
            record.decides(&Decided { step: decision, own, ply: self.ply, explored, possible }, chain);
        }
        if settings.traces == TraceKind::Online {
            let (learner, scratch) = (&mut *bound.model, &mut self.scratch);
            step_online(learner, chain, player, greedy, settings, scratch, &mut self.stats)?;
        }
        Ok(action)
    }

    /// Writes down how a game ended.
    fn write_end(&mut self, game: &G, settings: PlaySettings) -> Result<(), ModelError> {
        let Some(mut record) = self.record.take() else { return Ok(()) };
        for player in 0..game.players() {
            let end = match self.head.classes() {
                Some(classes) => self.end(game, classes, player)?,
                None => Vec::new(),
            };
            // Without the rewards, and their discount.
            let over = match self.known.is_none() {
                true => Ok(&self.state),
                false => Err(self.outcome(game, player)),
            };
            record.ends(game, player, over, self.result(game, settings, player), &end);
        }
        self.record = Some(record);
        Ok(())
    }

    /// Collects the samples of a game that ended; with online traces, takes the last steps.
    fn learn_end(
        &mut self,
        game: &G,
        bound: &mut LearnerModel<G>,
        settings: PlaySettings,
    ) -> Result<(), ModelError> {
        for (player, chain) in self.chains.iter().enumerate() {
            let player = chain.decisions.last().map_or(player, |last| last.player);
            let z = self.result(game, settings, player);
            if let Some(classes) = self.head.classes() {
                if chain.decisions.is_empty() {
                    continue;
                }
                let end = self.end(game, classes, player)?;
                chain.target_outcomes(&end, &self.head, settings.bootstrap, &mut self.samples);
            } else if settings.traces != TraceKind::Online {
                chain.targets(z, settings.bootstrap, &mut self.samples);
            } else if let Some(&Step { row: Some(row), .. }) = chain.decisions.last() {
                let (learner, target) = (&mut *bound.model, Target { row, value: z });
                follow(learner, chain, player, target, settings, &mut self.scratch, &mut self.stats)?;
            }
        }
        Ok(())
    }

    /// What the end of the game is worth to a player.
    fn outcome(&self, game: &G, player: usize) -> f32 {
        match &self.known {
            Some(known) if known.player == player => known.value,
            Some(known) => -known.value,
            None => (game.utility(&self.state, player) / game.scale()) as f32,
        }
    }

    /// What the game was worth to a player, with the rewards since the last decision.
    fn result(&self, game: &G, settings: PlaySettings, player: usize) -> f32 {
        let z = self.outcome(game, player);
        settings.rewards.map_or(z, |factor| self.rewards[player] + factor * z)
    }

    /// The same as a distribution over classes of outcomes.
    fn end(&self, game: &G, classes: &[OutcomeClass], player: usize) -> Result<Vec<f32>, ModelError> {
        let mut end = Vec::with_capacity(classes.len());
        match &self.known {
            Some(known) if known.player == player => end.extend_from_slice(&known.outcomes),
            Some(known) => self.head.mirrored(&known.outcomes, &mut end),
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
                *reward += factor
                    * ((game.results().reward)(game, &self.state, action, player) / game.scale()) as f32;
            }
        }
        game.apply(&mut self.state, action);
    }
}

impl Scratch {
    /// The learner's value of a row of a chain.
    fn value_of(&mut self, learner: &mut dyn Learner, chain: &Returns, row: u32) -> f32 {
        self.row.clear();
        self.row.push_from(&chain.rows, row as usize);
        learner.evaluate(&self.row, &mut self.value);
        self.value[0]
    }
}

/// Searches a decision with the learner's model. Lists its actions and what they are worth; gives the search back.
fn look_ahead<G: Kit>(
    search: Search<G, ()>,
    bound: &mut LearnerModel<G>,
    at: Decision<'_, G>,
    actions: &mut Vec<G::Action>,
    values: &mut Vec<f32>,
) -> Search<G, ()> {
    if bound.encoder().decides() {
        actions.clone_from(&bound.candidates(at).actions);
    } else {
        at.game.actions(at.state, actions);
    }
    let mut search = by_learner(search, bound);
    search.search(at, actions);
    values.clone_from(&search.found().values);
    search.with(()).0
}

/// The search, by the values of the learner's model. They are boxed, so that the search is compiled only once per game.
fn by_learner<'a, G: Kit>(
    search: Search<G, ()>,
    bound: &'a mut LearnerModel<G>,
) -> Search<G, Box<dyn Evaluator<G> + 'a>> {
    let values: Box<dyn Evaluator<G> + 'a> = Box::new(bound);
    search.with(values).0
}

/// Appends the distributions of the chosen and of the best action, as a search with the learner's model sees them. There is no `best`
/// if it was chosen. `buffer` holds one of them. Gives the search back.
fn outcomes_ahead<G: Kit>(
    search: Search<G, ()>,
    bound: &mut LearnerModel<G>,
    at: Decision<'_, G>,
    chosen: &G::Action,
    best: Option<&G::Action>,
    buffer: &mut Vec<f32>,
    to: &mut Vec<f32>,
) -> Search<G, ()> {
    let mut search = by_learner(search, bound);
    search.outcomes_after(at, chosen, buffer);
    to.extend_from_slice(buffer);
    if let Some(best) = best {
        search.outcomes_after(at, best, buffer);
    }
    to.extend_from_slice(buffer);
    search.with(()).0
}

/// Appends the distribution of a candidate over classes of outcomes. `last` is room for a state that ends the game.
#[inline]
fn outcomes_of<G: Kit>(
    at: Decision<'_, G>,
    classes: &[OutcomeClass],
    candidates: &Successors<G>,
    candidate: usize,
    last: &mut G::State,
    to: &mut Vec<f32>,
) -> Result<(), ModelError> {
    let Some(row) = candidates.row_of[candidate] else {
        last.clone_from(at.state);
        at.game.apply(last, &candidates.actions[candidate]);
        to.extend(certain(classes.len(), class_of(at.game, classes, last, at.player)?));
        return Ok(());
    };
    let first = row as usize * classes.len();
    match (candidates.known(row), candidates.outcomes.get(first..first + classes.len())) {
        (Some((_, p)), _) | (None, Some(p)) => to.extend_from_slice(p),
        // Not evaluated, because this is the first decision.
        (None, None) => to.resize(to.len() + classes.len(), 0.0),
    }
    Ok(())
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
    follow(learner, chain, player, Target { row, value: target }, settings, scratch, stats)?;
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
    target: Target,
    settings: PlaySettings,
    scratch: &mut Scratch,
    stats: &mut GameStats,
) -> Result<(), ModelError> {
    let error = target.value - scratch.value_of(learner, chain, target.row);
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
        let classes = Head::Outcomes(adept_game::outcome_classes(&Backgammon::new(3).unwrap()).unwrap());
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
