//! Index channels, by which gates choose experts: which of several facts holds, and how many do.

use crate::bits::holds;
use adept_game::{Channel, ChannelKind};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Limit on channels, and on facts of a channel.
const CHANNELS: usize = 256;
const FACTS: usize = 4096;

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
    pub(crate) fn fill(&self, facts: &[u64], index: &mut [u64]) {
        for (index, (group, counts)) in index.iter_mut().zip(&self.parts) {
            *index = value(facts, group, *counts);
        }
    }
}
