//! Many games side by side, stepped in Rust without the interpreter's lock.
//!
//! Each game draws from a stream of its own, so results depend on the seed alone: not on threads, nor on how many games there are.

use crate::held::{Encoded, Held};
use adept_erased::erased;
use adept_library::game::{Afterstate, Encoder, Kit, Stream, Turn, no_action, stream};
use rand::RngExt;
use std::any::Any;
use std::sync::Arc;

/// Bytes of the states and actions of a batch.
const MOST_BYTES: usize = 4 << 30;
/// Games that one thread steps at least: fewer are not worth a thread.
const LEAST_OF_A_THREAD: usize = 256;
/// Chance events in a row.
const CHANCE: usize = 10_000;

/// What a batch is made with.
pub(crate) struct Options {
    pub(crate) games: usize,
    pub(crate) seed: u64,
    pub(crate) longest: u32,
    pub(crate) threads: usize,
}

/// What a step brought: for each game its rewards, whether it ended, whether it was cut off.
pub(crate) struct Stepped {
    pub(crate) rewards: Vec<f32>,
    pub(crate) over: Vec<bool>,
    pub(crate) cut: Vec<bool>,
}

struct Lane<G: Kit> {
    state: G::State,
    player: u32,
    plies: u32,
    rng: Stream,
    actions: Vec<G::Action>,
}

/// The games of a batch.
pub(crate) struct Lanes<G: Kit> {
    rules: Arc<Held<G>>,
    start: G::State,
    lanes: Vec<Lane<G>>,
    longest: u32,
    threads: usize,
    finished: u64,
    /// Whether a step was left halfway, by an exception of a game.
    broken: bool,
}

impl<G: Kit> Lane<G> {
    /// Lets chance act until a player is to move or the game is over.
    fn settle(&mut self, rules: &Held<G>) -> Result<bool, String> {
        let game = &rules.game;
        for _ in 0..CHANCE {
            match game.turn(&self.state) {
                Turn::Over => return Ok(true),
                Turn::Player(player) => {
                    self.player = player as u32;
                    game.actions(&self.state, &mut self.actions);
                    if self.actions.is_empty() {
                        return Err(no_action(game, &self.state, player).to_string());
                    }
                    return Ok(false);
                }
                Turn::Chance => {
                    let outcome = game.sample(&self.state, &mut self.rng);
                    game.apply(&mut self.state, &outcome);
                }
            }
        }
        Err(format!("{}: more than {CHANCE} chance events in a row", game.name()))
    }

    /// Begins anew, until a player is to move.
    fn restart(&mut self, rules: &Held<G>, start: &G::State) -> Result<(), String> {
        // A game may be over before anyone has moved; not every game.
        for _ in 0..CHANCE {
            self.state.clone_from(start);
            self.plies = 0;
            if !self.settle(rules)? {
                return Ok(());
            }
        }
        Err(format!("{}: {CHANCE} games were over before a player was to move", rules.game.name()))
    }

    /// The place of the action with this number.
    #[inline]
    fn place(&self, rules: &Held<G>, number: i64, places: bool) -> Option<usize> {
        let wanted = usize::try_from(number).ok()?;
        if places || rules.facts.space.is_none() {
            return (wanted < self.actions.len()).then_some(wanted);
        }
        let numbers = rules.game.action_numbers();
        self.actions.iter().position(|action| numbers.number(&rules.game, &self.state, action) == wanted)
    }

    #[inline]
    fn number(&self, rules: &Held<G>, place: usize) -> i64 {
        rules.number(&self.state, &self.actions[place], place) as i64
    }

    #[inline]
    fn drawn(&mut self) -> usize {
        self.rng.random_range(0..self.actions.len() as u32) as usize
    }
}

/// Where a step of some games writes.
struct Part<'a, G: Kit> {
    first: usize,
    lanes: &'a mut [Lane<G>],
    rewards: &'a mut [f32],
    over: &'a mut [bool],
    cut: &'a mut [bool],
}

impl<G: Kit> Lanes<G> {
    pub(crate) fn new(rules: Arc<Held<G>>, options: &Options) -> Result<Self, String> {
        let start = rules.game.start();
        let mut first = Vec::new();
        rules.game.actions(&start, &mut first);
        let of_a_game = size_of::<Lane<G>>() + first.len() * size_of::<G::Action>();
        if options.games.saturating_mul(of_a_game) > MOST_BYTES {
            return Err(format!(
                "n = {}: {of_a_game} bytes for each game of {} are more than {} GiB: take fewer games",
                options.games,
                rules.game.name(),
                MOST_BYTES >> 30
            ));
        }
        let lane = |number| {
            let rng = stream(options.seed, "batch", number as u64);
            let mut lane = Lane { state: start.clone(), player: 0, plies: 0, rng, actions: Vec::new() };
            lane.restart(&rules, &start)?;
            Ok(lane)
        };
        let lanes = (0..options.games).map(lane).collect::<Result<_, String>>()?;
        Ok(Self {
            start,
            lanes,
            longest: options.longest,
            threads: options.threads,
            finished: 0,
            broken: false,
            rules,
        })
    }

    /// Number of games that one thread steps.
    fn of_a_thread(&self) -> usize {
        let n = self.lanes.len();
        n.div_ceil(self.threads.clamp(1, n.div_ceil(LEAST_OF_A_THREAD)))
    }

    /// The places of actions, all of which must be legal.
    fn places(&self, actions: &[i64], places: bool) -> Result<Vec<u32>, String> {
        let n = self.lanes.len();
        if actions.len() != n {
            return Err(format!("{} actions for {n} games: give one for each", actions.len()));
        }
        let rules = &*self.rules;
        let mut found = Vec::with_capacity(n);
        for (game, (lane, &number)) in self.lanes.iter().zip(actions).enumerate() {
            let Some(place) = lane.place(rules, number, places) else {
                let shown = |place| if places { place as i64 } else { lane.number(rules, place) };
                let legal: Vec<String> =
                    (0..lane.actions.len().min(20)).map(|place| shown(place).to_string()).collect();
                let more = if lane.actions.len() > legal.len() { ", …" } else { "" };
                return Err(format!(
                    "actions[{game}] = {number} is not legal in `{}`: {}{more}",
                    rules.game.position_text(&lane.state),
                    legal.join(", ")
                ));
            };
            found.push(place as u32);
        }
        Ok(found)
    }

    fn step_part(
        rules: &Held<G>,
        start: &G::State,
        longest: u32,
        part: Part<'_, G>,
        chosen: Option<&[u32]>,
    ) -> Result<u64, String> {
        let game = &rules.game;
        let (players, mut finished, mut utilities) = (game.players(), 0, Vec::new());
        for (at, lane) in part.lanes.iter_mut().enumerate() {
            let place = chosen.map_or_else(|| lane.drawn(), |chosen| chosen[at] as usize);
            game.apply(&mut lane.state, &lane.actions[place]);
            lane.plies += 1;
            if lane.settle(rules)? {
                game.utilities(&lane.state, &mut utilities);
                let to = &mut part.rewards[at * players..][..players];
                to.iter_mut().zip(&utilities).for_each(|(to, utility)| *to = *utility as f32);
                part.over[at] = true;
            } else if lane.plies >= longest {
                part.cut[at] = true;
            } else {
                continue;
            }
            finished += 1;
            lane.restart(rules, start)?;
        }
        Ok(finished)
    }
}

/// Games without their type.
#[erased(pub(crate) trait AnyBatch: Send)]
impl<G: Kit> AnyBatch for Lanes<G> {
    fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Number of actions with a number; the most actions of a game now, if they have none.
    fn width(&self) -> usize {
        let most = || self.lanes.iter().map(|lane| lane.actions.len()).max().unwrap_or(0);
        self.rules.game.action_numbers().space.unwrap_or_else(most)
    }

    fn to_move(&self) -> Vec<i8> {
        self.lanes.iter().map(|lane| lane.player as i8).collect()
    }

    fn counts(&self) -> Vec<i32> {
        self.lanes.iter().map(|lane| lane.actions.len() as i32).collect()
    }

    /// The numbers of all legal actions, game after game.
    fn numbers(&self) -> Vec<i64> {
        let each = |lane: &'_ Lane<G>| -> Vec<i64> {
            (0..lane.actions.len()).map(|place| lane.number(&self.rules, place)).collect()
        };
        self.lanes.iter().flat_map(each).collect()
    }

    fn mask(&self) -> Vec<bool> {
        let width = self.width();
        let mut mask = vec![false; width * self.lanes.len()];
        for (lane, row) in self.lanes.iter().zip(mask.chunks_exact_mut(width.max(1))) {
            for place in 0..lane.actions.len() {
                row[lane.number(&self.rules, place) as usize] = true;
            }
        }
        mask
    }

    /// A legal action for each game, drawn uniformly: as numbers, or as places.
    fn random(&mut self, places: bool) -> Vec<i64> {
        let rules = &*self.rules;
        let draw = |lane: &mut Lane<G>| {
            let place = lane.drawn();
            if places { place as i64 } else { lane.number(rules, place) }
        };
        self.lanes.iter_mut().map(draw).collect()
    }

    /// Makes these actions, or random ones.
    fn step(&mut self, actions: Option<&[i64]>, places: bool) -> Result<Stepped, String> {
        let (n, players) = (self.lanes.len(), self.rules.game.players());
        // Before any game is changed.
        let chosen = actions.map(|actions| self.places(actions, places)).transpose()?;
        self.broken = true;
        let mut found =
            Stepped { rewards: vec![0.0; n * players], over: vec![false; n], cut: vec![false; n] };
        let (of_a_thread, longest) = (self.of_a_thread(), self.longest);
        let parts = self
            .lanes
            .chunks_mut(of_a_thread)
            .zip(found.rewards.chunks_mut(of_a_thread * players))
            .zip(found.over.chunks_mut(of_a_thread).zip(found.cut.chunks_mut(of_a_thread)))
            .enumerate()
            .map(|(i, ((lanes, rewards), (over, cut)))| Part {
                first: i * of_a_thread,
                lanes,
                rewards,
                over,
                cut,
            });
        let (rules, start) = (&*self.rules, &self.start);
        let done = on_threads(parts.collect(), |part: Part<'_, G>| {
            let chosen = chosen.as_ref().map(|chosen| &chosen[part.first..][..part.lanes.len()]);
            Self::step_part(rules, start, longest, part, chosen)
        });
        self.finished += done.into_iter().sum::<Result<u64, String>>()?;
        self.broken = false;
        Ok(found)
    }

    /// The rows of all legal actions, game after game.
    fn rows(&self, encoder: Option<&str>) -> Result<Encoded, String> {
        let encoder = self.rules.encoder(encoder)?;
        let count = self.lanes.iter().map(|lane| lane.actions.len()).sum();
        let none = Encoded::new(&*encoder, count, "games")?;
        let parts: Vec<&[Lane<G>]> = self.lanes.chunks(self.of_a_thread()).collect();
        let found = on_threads(parts, |lanes| {
            let mut found = none.empty();
            lanes.iter().for_each(|lane| encode(&self.rules.game, &*encoder, lane, &mut found));
            found
        });
        let joined = found.into_iter().reduce(|mut all, one| {
            all.rows.append(&one.rows);
            all.exact.extend(one.exact);
            all
        });
        Ok(joined.unwrap_or(none))
    }

    /// The state of a game.
    fn state(&self, game: usize) -> &dyn Any {
        &self.lanes[game].state
    }

    fn finished(&self) -> u64 {
        self.finished
    }

    /// Whether a step was left halfway.
    fn is_broken(&self) -> bool {
        self.broken
    }
}

/// Does work on threads of its own, one for each part: a pool would not survive a fork.
fn on_threads<P: Send, R: Send>(parts: Vec<P>, work: impl Fn(P) -> R + Sync) -> Vec<R> {
    if parts.len() == 1 {
        return parts.into_iter().map(work).collect();
    }
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = parts.into_iter().map(|part| scope.spawn(move || work(part))).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Appends the rows of the legal actions of one game.
fn encode<G: Kit>(game: &G, encoder: &dyn Encoder<G>, lane: &Lane<G>, found: &mut Encoded) {
    let (player, hides) = (lane.player as usize, game.hides());
    let mut after = lane.state.clone();
    if encoder.fetches() {
        for action in &lane.actions {
            after.clone_from(&lane.state);
            game.apply(&mut after, action);
            encoder.fetch(game, Afterstate { state: &after, action: Some(action), player });
        }
    }
    for action in &lane.actions {
        let state = if hides {
            &lane.state
        } else {
            after.clone_from(&lane.state);
            game.apply(&mut after, action);
            &after
        };
        found.push(game, encoder, Afterstate { state, action: Some(action), player });
    }
}
