//! State of the blind learner: weights of sets of literals, and the search for sets.
//!
//! A literal is a bit that is on, a variable of which no bit is on, or a parity set that is odd. A feature is a set of
//! literals; it is active where all of them hold. V = tanh(Σ weights of active features), and a step towards a target is
//! shared by the active features.

use super::parity::Operators;
use super::sight::Sight;
use super::variables::Together;
use crate::architecture::Blind;
use rustc_hash::{FxHashMap, FxHashSet};

/// Positions seen before variables and parity sets are looked for.
pub(super) const WARM_UP: u32 = 2_000;
/// Samples between two times at which sets are added.
const GROW: u64 = 200;
/// Sets added at a time.
const AT_ONCE: usize = 16;
/// Samples that a pair needs before it may become a feature, and those that a pair like known ones needs.
const TRIED: f32 = 8.0;
const TRIED_SIMILAR: f32 = 4.0;
/// Minimum distance of the mean error of a pair from 0, in standard errors.
const SURE: f32 = 2.0;
/// Features that are paired with further literals at a sample.
const PAIRED: usize = 24;
/// Maximum number of pairs with statistics.
const PAIRS: usize = 1 << 18;
/// Maximum difference of weights between similar pairs.
const SIMILAR: f32 = 0.15;
/// Samples that a feature needs before it is compared.
const SETTLED: u32 = 32;
/// Maximum number of literals of a feature.
pub(super) const LONGEST: usize = 24;

/// A condition on the bits.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    /// The bit is on.
    On(u16),
    /// No bit of this variable is on.
    NoneOf(u16),
    /// An odd number of these bits is on.
    Odd(Sight),
}

/// A set of literals with its weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Feature {
    /// Ascending.
    pub(super) literals: Vec<u16>,
    pub(super) weight: f32,
    /// Samples in which it was active.
    pub(super) uses: u32,
    /// Number of its relation + 1; 0 if it has none.
    pub(super) relation: u32,
}

/// A binary relation: pairs of bits with similar weights and a similar weight of the pair. Its members share a weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Relation {
    pub(super) weight: f32,
    /// Weights of the bits of its first pair, the smaller one first.
    pub(super) bits: [f32; 2],
}

/// Errors of V where a feature and a further literal hold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pair {
    pub(super) count: f32,
    pub(super) sum: f32,
    pub(super) square: f32,
}

/// The learner, apart from rows and channels: its only inputs are bits and choices.
#[derive(Clone, Debug)]
pub(super) struct Features {
    settings: Blind,
    pub(super) together: Together,
    pub(super) operators: Operators,
    /// Whether variables and parity sets were looked for.
    pub(super) found: bool,
    pub(super) variables: Vec<Vec<u16>>,
    /// Variable + 1 of each bit.
    variable_of: Vec<u16>,
    pub(super) literals: Vec<Literal>,
    pub(super) features: Vec<Feature>,
    numbers: FxHashMap<Vec<u16>, u32>,
    /// Prefixes of features: children by (node, literal). Node 0 is the empty set.
    children: FxHashMap<(u32, u16), u32>,
    /// Feature + 1 of each node.
    ends: Vec<u32>,
    pub(super) relations: Vec<Relation>,
    pub(super) pairs: FxHashMap<(u32, u16), Pair>,
    pub(super) samples: u64,
    /// State of the generator of random sets.
    pub(super) random: u64,
    held: Vec<u16>,
    active: Vec<u32>,
    drawn: Vec<u32>,
}

impl Features {
    pub(super) fn new(settings: &Blind, bits: usize) -> Self {
        let mut features = Self::empty(settings, bits);
        // The empty set holds everywhere.
        features.add(Vec::new());
        if settings.bits {
            (0..bits).for_each(|bit| {
                features.add(vec![bit as u16]);
            });
        }
        features
    }

    /// A learner without any set.
    pub(super) fn empty(settings: &Blind, bits: usize) -> Self {
        Self {
            settings: settings.clone(),
            together: Together::new(bits),
            operators: Operators::default(),
            found: false,
            variables: Vec::new(),
            variable_of: vec![0; bits],
            literals: (0..bits).map(|bit| Literal::On(bit as u16)).collect(),
            features: Vec::new(),
            numbers: FxHashMap::default(),
            children: FxHashMap::default(),
            ends: vec![0],
            relations: Vec::new(),
            pairs: FxHashMap::default(),
            samples: 0,
            random: 0x9e37_79b9_7f4a_7c15,
            held: Vec::new(),
            active: Vec::new(),
            drawn: Vec::new(),
        }
    }

    /// Adds a feature, unless it is there. Returns its number.
    pub(super) fn add(&mut self, literals: Vec<u16>) -> u32 {
        if let Some(&known) = self.numbers.get(&literals) {
            return known;
        }
        let number = self.features.len() as u32;
        let mut node = 0;
        for &literal in &literals {
            let next = self.ends.len() as u32;
            node = *self.children.entry((node, literal)).or_insert(next);
            if node == next {
                self.ends.push(0);
            }
        }
        self.ends[node as usize] = number + 1;
        self.numbers.insert(literals.clone(), number);
        self.features.push(Feature { literals, ..Feature::default() });
        number
    }

    /// Restores variables, and the literals that they define.
    pub(super) fn set_variables(&mut self, variables: Vec<Vec<u16>>) {
        self.variable_of.fill(0);
        for (number, variable) in variables.iter().enumerate() {
            variable.iter().for_each(|&bit| self.variable_of[usize::from(bit)] = number as u16 + 1);
        }
        self.variables = variables;
    }

    fn next_random(&mut self, below: usize) -> usize {
        // SplitMix64.
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % below.max(1) as u64) as usize
    }

    fn holds(&self, literal: &Literal, sight: &Sight) -> bool {
        match literal {
            Literal::On(bit) => sight.is_on(usize::from(*bit)),
            Literal::NoneOf(variable) => {
                !self.variables[usize::from(*variable)].iter().any(|&bit| sight.is_on(usize::from(bit)))
            }
            Literal::Odd(set) => sight.is_odd(set),
        }
    }

    /// Finds the literals that hold and the active features.
    fn look(&mut self, sight: &Sight) {
        let (mut held, mut active) = (std::mem::take(&mut self.held), std::mem::take(&mut self.active));
        held.clear();
        held.extend(sight.on().map(|bit| bit as u16));
        let further = &self.literals[self.variable_of.len()..];
        let first = self.variable_of.len() as u16;
        let number = |(i, _): (usize, &Literal)| first + i as u16;
        held.extend(further.iter().enumerate().filter(|(_, l)| self.holds(l, sight)).map(number));
        active.clear();
        self.descend(0, &held, &mut active);
        (self.held, self.active) = (held, active);
    }

    fn descend(&self, node: u32, held: &[u16], active: &mut Vec<u32>) {
        if let Some(feature) = self.ends[node as usize].checked_sub(1) {
            active.push(feature);
        }
        for (i, &literal) in held.iter().enumerate() {
            if let Some(&child) = self.children.get(&(node, literal)) {
                self.descend(child, &held[i + 1..], active);
            }
        }
    }

    fn relation(&self, feature: &Feature) -> Option<usize> {
        (feature.relation as usize).checked_sub(1)
    }

    fn sum(&self) -> f32 {
        let weight = |&number: &u32| {
            let feature = &self.features[number as usize];
            feature.weight + self.relation(feature).map_or(0.0, |r| self.relations[r].weight)
        };
        self.active.iter().map(weight).sum()
    }

    /// V of a position.
    pub(super) fn value(&mut self, sight: &Sight) -> f32 {
        self.look(sight);
        self.sum().tanh()
    }

    /// Sees the choices of a decision.
    pub(super) fn choices(&mut self, choices: &[Sight]) {
        if self.found || choices.is_empty() {
            return;
        }
        choices.iter().for_each(|choice| self.together.see(choice));
        if self.settings.parity {
            self.operators.see(choices);
        }
        if self.together.seen >= WARM_UP {
            self.find();
        }
    }

    /// Sees the choice of the player.
    pub(super) fn chosen(&mut self, choice: Sight) {
        if !self.found && self.settings.parity {
            self.operators.before = Some(choice);
        }
    }

    /// Looks for variables and parity sets.
    fn find(&mut self) {
        self.found = true;
        if self.settings.variables {
            let variables = self.together.variables();
            let empty: Vec<bool> = variables
                .iter()
                .map(|variable| {
                    let bits = self.variable_of.len();
                    let on = |&bit: &u16| self.together.both[usize::from(bit) * bits + usize::from(bit)];
                    variable.iter().map(on).sum::<u32>() < self.together.seen
                })
                .collect();
            self.set_variables(variables);
            for (number, _) in empty.iter().enumerate().filter(|(_, empty)| **empty) {
                self.add_literal(Literal::NoneOf(number as u16));
            }
        }
        if self.settings.parity {
            self.operators.sets().into_iter().for_each(|set| self.add_literal(Literal::Odd(set)));
        }
        (self.together, self.operators) = (Together::new(0), Operators::default());
    }

    fn add_literal(&mut self, literal: Literal) {
        let number = self.literals.len() as u16;
        self.literals.push(literal);
        self.add(vec![number]);
    }

    /// Takes a step towards a target.
    pub(super) fn learn(&mut self, sight: &Sight, target: f32, weight: f32, rate: f32) {
        self.look(sight);
        let error = target - self.sum().tanh();
        // A relation with k active members counts k times, and moves k steps.
        let mut members: FxHashMap<u32, f32> = FxHashMap::default();
        for &number in &self.active {
            let relation = self.features[number as usize].relation;
            if relation > 0 {
                *members.entry(relation).or_default() += 1.0;
            }
        }
        let moved = self.active.len() as f32 + members.values().map(|k| k * k).sum::<f32>();
        let step = rate * weight * error / moved.max(1.0);
        for i in 0..self.active.len() {
            let feature = &mut self.features[self.active[i] as usize];
            feature.weight += step;
            feature.uses = feature.uses.saturating_add(1);
            if let Some(relation) = (feature.relation as usize).checked_sub(1) {
                self.relations[relation].weight += step;
            }
        }
        self.samples = self.samples.wrapping_add(1);
        self.draw_set();
        if self.features.len() < self.settings.most {
            self.pair(error);
            if self.samples.is_multiple_of(GROW) {
                self.grow();
            }
        }
    }

    /// Stage 2: now and then, a random set of bits that are on together.
    fn draw_set(&mut self) {
        let bits = self.held.iter().filter(|&&l| usize::from(l) < self.variable_of.len()).count();
        let due = self.samples.is_multiple_of(8)
            && self.samples / 8 <= self.settings.sets as u64
            && self.features.len() < self.settings.most;
        if !due || bits < 2 {
            return;
        }
        let size = 2 + self.next_random(3.min(bits - 1));
        let mut set = FxHashSet::default();
        while set.len() < size {
            let one = self.next_random(bits);
            set.insert(self.held[one]);
        }
        let mut set: Vec<u16> = set.into_iter().collect();
        set.sort_unstable();
        self.add(set);
    }

    /// Notes the error for pairs of active features with further literals.
    fn pair(&mut self, error: f32) {
        if !self.settings.relations {
            return;
        }
        let mut drawn = std::mem::take(&mut self.drawn);
        drawn.clear();
        let longest = if self.settings.tuples { LONGEST } else { 1 };
        let fits = |number: &u32| (1..=longest).contains(&self.features[*number as usize].literals.len());
        drawn.extend(self.active.iter().copied().filter(fits));
        for turn in 0..PAIRED.min(drawn.len()) {
            let other = turn + self.next_random(drawn.len() - turn);
            drawn.swap(turn, other);
            let number = drawn[turn];
            let feature = &self.features[number as usize];
            for &literal in &self.held {
                if feature.literals.contains(&literal)
                    || self.numbers.contains_key(&joined(&feature.literals, literal)[..])
                {
                    continue;
                }
                if self.pairs.len() >= PAIRS && !self.pairs.contains_key(&(number, literal)) {
                    continue;
                }
                let pair = self.pairs.entry((number, literal)).or_default();
                pair.count += 1.0;
                pair.sum += error;
                pair.square += error * error;
            }
        }
        self.drawn = drawn;
    }

    /// Stages 4 and 5: the pairs whose errors are surest become features; similar pairs become relations.
    fn grow(&mut self) {
        self.relate();
        // Sets that became features some other way.
        let (features, numbers) = (&self.features, &self.numbers);
        let known = |(feature, literal): (u32, u16)| {
            numbers.contains_key(&joined(&features[feature as usize].literals, literal))
        };
        self.pairs.retain(|key, _| !known(*key));
        let mut ranked: Vec<(f32, (u32, u16))> = Vec::new();
        for (&key, pair) in &self.pairs {
            let mean = pair.sum / pair.count;
            let variance = (pair.square / pair.count - mean * mean).max(1e-4);
            let sure = mean.abs() / (variance / pair.count).sqrt();
            let is_similar = pair.count >= TRIED_SIMILAR && self.relation_like(key, mean).is_some();
            if (pair.count >= TRIED || is_similar) && sure >= SURE && mean.abs() > 0.01 {
                ranked.push((sure * mean.abs(), key));
            }
        }
        // Keys break ties, so the order of the map does not matter.
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let room = self.settings.most - self.features.len().min(self.settings.most);
        for &(_, (feature, literal)) in ranked.iter().take(AT_ONCE.min(room)) {
            let pair = self.pairs[&(feature, literal)];
            let relation = self.relation_like((feature, literal), pair.sum / pair.count);
            let literals = joined(&self.features[feature as usize].literals, literal);
            let before = self.features.len();
            let added = self.add(literals) as usize;
            if let (Some(relation), true) = (relation, added == before) {
                self.features[added].relation = relation as u32 + 1;
            }
        }
        // Errors were those before the new features.
        self.pairs.retain(|_, pair| {
            (pair.count, pair.sum, pair.square) = (0.5 * pair.count, 0.5 * pair.sum, 0.5 * pair.square);
            pair.count >= 0.5
        });
    }

    /// The weights of the literals of a pair, the smaller one first, if they are bits of two variables.
    fn weights(&self, literals: &[u16]) -> Option<[f32; 2]> {
        let [a, b] = literals else { return None };
        let variable =
            |literal: &u16| self.variable_of.get(usize::from(*literal)).copied().filter(|v| *v > 0);
        let (u, v) = (variable(a)?, variable(b)?);
        let weight = |literal: &u16| Some(self.features[*self.numbers.get(&[*literal][..])? as usize].weight);
        let (a, b) = (weight(a)?, weight(b)?);
        (u != v).then_some([a.min(b), a.max(b)])
    }

    /// A relation whose pairs have bits like these, and whose weight has the sign of this error.
    fn relation_like(&self, (feature, literal): (u32, u16), error: f32) -> Option<usize> {
        if self.relations.is_empty() {
            return None;
        }
        let weights = self.weights(&joined(&self.features[feature as usize].literals, literal))?;
        self.relations.iter().position(|r| r.weight * error > 0.0 && near(r.bits, weights))
    }

    /// Gathers pairs with similar bits and a similar weight.
    fn relate(&mut self) {
        let mut loose: Vec<(usize, [f32; 2])> = Vec::new();
        for (number, feature) in self.features.iter().enumerate() {
            if feature.relation == 0
                && feature.uses >= SETTLED
                && let Some(weights) = self.weights(&feature.literals)
            {
                loose.push((number, weights));
            }
        }
        for (i, &(number, weights)) in loose.iter().enumerate() {
            let own = self.features[number].weight;
            let known =
                self.relations.iter().position(|r| near(r.bits, weights) && (r.weight - own).abs() < SIMILAR);
            if let Some(known) = known {
                self.join(number, known);
                continue;
            }
            let like = |&&(other, others): &&(usize, [f32; 2])| {
                let feature = &self.features[other];
                feature.relation == 0 && near(others, weights) && (feature.weight - own).abs() < SIMILAR
            };
            let similar: Vec<usize> = loose[..i].iter().filter(like).map(|(other, _)| *other).collect();
            if self.relations.len() < self.settings.most && !similar.is_empty() {
                self.relations.push(Relation { weight: own, bits: weights });
                let relation = self.relations.len() - 1;
                similar.into_iter().chain([number]).for_each(|member| self.join(member, relation));
            }
        }
    }

    /// Makes a feature a member. Its value stays.
    fn join(&mut self, number: usize, relation: usize) {
        let feature = &mut self.features[number];
        feature.relation = relation as u32 + 1;
        feature.weight -= self.relations[relation].weight;
    }
}

/// A set of literals with one more.
fn joined(literals: &[u16], literal: u16) -> Vec<u16> {
    let at = literals.partition_point(|&other| other < literal);
    literals[..at].iter().copied().chain([literal]).chain(literals[at..].iter().copied()).collect()
}

fn near(a: [f32; 2], b: [f32; 2]) -> bool {
    (a[0] - b[0]).abs() < SIMILAR && (a[1] - b[1]).abs() < SIMILAR
}
