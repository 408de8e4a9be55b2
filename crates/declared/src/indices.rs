//! Index channels, by which gates choose experts: which of several facts holds, and how many do.

use crate::bits::holds;
use crate::kit::Ruled;
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, Game, RowMut, Stream, Turn, stream};
use rand::RngExt;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Limit on channels, and on facts of a channel.
const CHANNELS: usize = 256;
const FACTS: usize = 4096;
/// Random games that show which facts exclude each other, and positions taken from each.
const GAMES: u64 = 16;
const KEPT: usize = 32;
/// Number of actions after which a game is aborted.
const LONGEST: usize = 2_000;

/// A group of facts that may become an index channel.
pub(crate) struct Group {
    /// The relation, and the arguments that all facts share.
    pub(crate) name: String,
    /// Description of the facts, in order.
    pub(crate) about: String,
    pub(crate) facts: Vec<u32>,
    /// Whether the channel is the number of facts that hold, instead of which one does.
    pub(crate) counts: bool,
}

/// The index channels of a game.
#[derive(Debug)]
pub(crate) struct Indices {
    pub(crate) channels: Vec<Channel>,
    /// Facts of each channel, and whether they are counted.
    parts: Vec<(Vec<u32>, bool)>,
}

/// Suffix of an encoder's name that adds index channels.
const ADDED: &str = "+indices";

/// The base encoder of a name with index channels: none for index channels alone. None if the name has no index
/// channels.
pub(crate) fn base_of(name: &str) -> Option<Option<&str>> {
    match name {
        "indices" => Some(None),
        _ => name.strip_suffix(ADDED).map(Some),
    }
}

/// An encoder that appends index channels to another one's.
pub(crate) struct Indexed<G: Game> {
    name: String,
    inner: Option<Arc<dyn Encoder<G>>>,
    indices: Arc<Indices>,
    channels: Vec<Channel>,
}

impl<G: Game> Indexed<G> {
    pub(crate) fn new(inner: Option<Arc<dyn Encoder<G>>>, indices: Arc<Indices>) -> Self {
        let mut channels = inner.as_ref().map_or(Vec::new(), |inner| inner.channels().to_vec());
        for channel in &indices.channels {
            let mut channel = channel.clone();
            while channels.iter().any(|other| other.name == channel.name) {
                channel.name = format!("{}@", channel.name).into();
            }
            channels.push(channel);
        }
        let name = inner.as_ref().map_or("indices".into(), |inner| format!("{}{ADDED}", inner.name()));
        Self { name, inner, indices, channels }
    }
}

impl<G: Ruled> Encoder<G> for Indexed<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn fits(&self, game: &G) -> Result<(), String> {
        if self.indices.channels.is_empty() {
            return Err(format!(
                "no facts of {} exclude each other, so `indices` has no channel",
                game.name()
            ));
        }
        self.inner.as_ref().map_or(Ok(()), |inner| inner.fits(game))
    }

    fn encode(&self, game: &G, after: Afterstate<'_, G>, row: RowMut<'_>) {
        let own = row.index.len() - self.indices.parts.len();
        let (index, indices) = row.index.split_at_mut(own);
        self.indices.fill(game.seen(after.state, after.player).as_ref(), indices);
        if let Some(inner) = &self.inner {
            inner.encode(game, after, RowMut { dense: row.dense, index });
        }
    }

    fn needs_action(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.needs_action())
    }
}

/// The value of a channel: the first fact that holds, from 1, or 0 if none does; or how many hold.
fn value(facts: &[u64], group: &[u32], counts: bool) -> u64 {
    let mut holding = group.iter().zip(1..).filter(|(fact, _)| holds(facts, **fact as usize));
    match counts {
        true => holding.count() as u64,
        false => holding.next().map_or(0, |(_, place)| place),
    }
}

/// Groups of facts by names and arguments: for each relation and argument, facts that differ only in this argument; and
/// for each relation, all of its facts.
pub(crate) fn groups(facts: &[(String, Vec<String>)]) -> Vec<Group> {
    let mut relations: Vec<((&str, usize), Vec<u32>)> = Vec::new();
    let mut places = FxHashMap::default();
    for ((name, args), fact) in facts.iter().zip(0..) {
        let key = (name.as_str(), args.len());
        let place = *places.entry(key).or_insert(relations.len());
        if place == relations.len() {
            relations.push((key, Vec::new()));
        }
        relations[place].1.push(fact);
    }
    let mut groups: Vec<Group> = Vec::new();
    for ((name, arity), of_relation) in relations {
        for at in 0..arity {
            let mut places: FxHashMap<Vec<&str>, usize> = FxHashMap::default();
            for &fact in &of_relation {
                let args = &facts[fact as usize].1;
                let rest = args.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, arg)| arg.as_str());
                let place = *places.entry(rest.collect()).or_insert_with_key(|rest| {
                    let name = [&["which", name], &rest[..]].concat().join("-");
                    groups.push(Group { name, about: String::new(), facts: Vec::new(), counts: false });
                    groups.len() - 1
                });
                groups[place].about.push_str(&format!(" {}", args[at]));
                groups[place].facts.push(fact);
            }
        }
        let about = format!("how many facts of `{name}` hold");
        groups.push(Group { name: format!("count-{name}"), about, facts: of_relation, counts: true });
    }
    groups
}

/// Facts after actions in random games, from the view of the player who acted.
pub(crate) fn positions<G: Ruled>(game: &G) -> Vec<SmallVec<[u64; 4]>> {
    let seen = |state: &G::State, player| SmallVec::from_slice(game.seen(state, player).as_ref());
    let (mut found, mut actions) = (Vec::new(), Vec::new());
    for number in 0..GAMES {
        let (mut rng, mut state): (Stream, _) = (stream(0, "index channels", number), game.start());
        // Reservoir sampling over the positions of a game.
        let (first, mut count) = (found.len(), 0);
        for _ in 0..LONGEST {
            match game.turn(&state) {
                Turn::Over => break,
                Turn::Chance => {
                    let outcome = game.sample(&state, &mut rng);
                    game.apply(&mut state, &outcome);
                }
                Turn::Player(player) => {
                    game.actions(&state, &mut actions);
                    let Some(action) = actions.get(rng.random_range(0..actions.len().max(1))) else { break };
                    game.apply(&mut state, action);
                    count += 1;
                    let place = if count <= KEPT { count - 1 } else { rng.random_range(0..count) };
                    match place {
                        _ if count <= KEPT => found.push(seen(&state, player)),
                        place if place < KEPT => found[first + place] = seen(&state, player),
                        _ => {}
                    }
                }
            }
        }
    }
    found
}

impl Indices {
    /// The channels among these groups: mutually exclusive facts, and numbers of facts. Constant channels are dropped.
    pub(crate) fn new(groups: Vec<Group>, positions: &[impl AsRef<[u64]>]) -> Self {
        let (mut channels, mut parts): (Vec<Channel>, Vec<_>) = (Vec::new(), Vec::new());
        for Group { name, about, facts, counts } in groups {
            if channels.len() == CHANNELS || !(2..=FACTS).contains(&facts.len()) {
                continue;
            }
            let most = |facts: &[u32], position: &[u64]| {
                facts.iter().filter(|fact| holds(position, **fact as usize)).count()
            };
            let mut values = BTreeSet::new();
            let excludes = positions.iter().all(|position| {
                values.insert(value(position.as_ref(), &facts, counts));
                counts || most(&facts, position.as_ref()) < 2
            });
            if !excludes || values.len() < 2 {
                continue;
            }
            let taken = channels.iter().filter(|other| other.name.split('@').next() == Some(&*name)).count();
            let name = if taken == 0 { name } else { format!("{name}@{}", taken + 1) };
            let about = if counts { about } else { format!("0: none; else, from 1:{about}") };
            channels.push(Channel::new(name, ChannelKind::Index(facts.len() as u64 + 1)).about(about));
            parts.push((facts, counts));
        }
        Self { channels, parts }
    }

    /// Fills the channels in order.
    fn fill(&self, facts: &[u64], index: &mut [u64]) {
        for (index, (group, counts)) in index.iter_mut().zip(&self.parts) {
            *index = value(facts, group, *counts);
        }
    }
}
