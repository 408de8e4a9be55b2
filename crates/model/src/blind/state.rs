//! The blind learner as tensors, and back.

use super::features::{Features, LONGEST, Literal, Pair, Relation};
use super::parity::{Changes, OPERATORS};
use super::sight::Sight;
use crate::architecture::Blind;
use crate::error::ModelError;
use crate::tensor::{ByName, Tensor};
use adept_ground::limits;

/// Reads positions of a tensor with this name.
type Sights<'a> = dyn Fn(&[u64], &str) -> Result<Vec<Sight>, ModelError> + 'a;

/// Lists of numbers as one list: the length of each before its numbers.
fn flat<'a>(lists: impl IntoIterator<Item = &'a [u16]>) -> Vec<u64> {
    let one = |list: &'a [u16]| [list.len() as u64].into_iter().chain(list.iter().map(|&n| u64::from(n)));
    lists.into_iter().flat_map(one).collect()
}

/// The lists behind one list. None if it ends within a list, or a number is not below `limit`.
fn lists(flat: &[u64], limit: usize) -> Option<Vec<Vec<u16>>> {
    let mut left = flat.iter();
    let mut all = Vec::new();
    while let Some(&length) = left.next() {
        let length = usize::try_from(length).ok().filter(|length| *length <= left.len())?;
        let number = |&n: &u64| u16::try_from(n).ok().filter(|n| usize::from(*n) < limit);
        all.push(left.by_ref().take(length).map(number).collect::<Option<Vec<u16>>>()?);
    }
    Some(all)
}

fn integers(name: &str, data: Vec<u64>) -> Tensor {
    Tensor::u64(name, vec![data.len()], data)
}

fn floats(name: &str, data: Vec<f32>) -> Tensor {
    Tensor::f32(name, vec![data.len()], data)
}

impl Features {
    /// The tensors of a checkpoint.
    pub(super) fn tensors(&self) -> Vec<Tensor> {
        let (mut none, mut odd) = (Vec::new(), Vec::new());
        for literal in &self.literals {
            match literal {
                Literal::On(_) => {}
                Literal::NoneOf(variable) => none.push(u64::from(*variable)),
                Literal::Odd(set) => odd.extend_from_slice(set.words()),
            }
        }
        vec![
            integers("variables", flat(self.variables.iter().map(Vec::as_slice))),
            integers("none", none),
            integers("odd", odd),
            integers("sets", flat(self.features.iter().map(|f| &f.literals[..]))),
            floats("weights", self.features.iter().map(|f| f.weight).collect()),
            integers("member", self.features.iter().map(|f| u64::from(f.relation)).collect()),
            floats("relations", self.relations.iter().map(|r| r.weight).collect()),
            floats("pairs", self.relations.iter().flat_map(|r| r.bits).collect()),
            integers("found", vec![u64::from(self.found)]),
        ]
    }

    /// The tensors of a checkpoint, and the statistics that training resumes from.
    pub(super) fn state(&self) -> Vec<Tensor> {
        let mut state = self.tensors();
        let mut pairs: Vec<_> = self.pairs.iter().collect();
        pairs.sort_by_key(|(key, _)| **key);
        let pair = |of: fn(&Pair) -> f32| pairs.iter().map(|(_, pair)| of(pair)).collect();
        state.extend([
            integers("optimiser.uses", self.features.iter().map(|f| u64::from(f.uses)).collect()),
            integers(
                "optimiser.pairs",
                pairs.iter().flat_map(|((f, l), _)| [u64::from(*f), u64::from(*l)]).collect(),
            ),
            floats("optimiser.count", pair(|p| p.count)),
            floats("optimiser.sum", pair(|p| p.sum)),
            floats("optimiser.square", pair(|p| p.square)),
            integers("optimiser.counters", vec![self.samples, self.random]),
        ]);
        if !self.found {
            let operators = &self.operators;
            state.extend([
                integers("optimiser.seen", vec![u64::from(self.together.seen)]),
                integers("optimiser.both", self.together.both.iter().map(|&n| u64::from(n)).collect()),
                integers(
                    "optimiser.before",
                    operators.before.iter().flat_map(|s| s.words().to_vec()).collect(),
                ),
            ]);
            for (name, changes) in [("alone", &operators.alone), ("majority", &operators.majority)] {
                let words = changes.counts.keys().flatten().copied().collect();
                let mut counts: Vec<u64> = vec![changes.decisions.into(), changes.known.into()];
                counts.extend(changes.counts.values().map(|&n| u64::from(n)));
                state.push(integers(&format!("optimiser.{name}.words"), words));
                state.push(integers(&format!("optimiser.{name}.counts"), counts));
            }
        }
        state
    }

    /// A learner from its tensors. Without the training state, statistics begin anew.
    pub(super) fn restored(settings: &Blind, bits: usize, state: &[Tensor]) -> Result<Self, ModelError> {
        let named = ByName::new(state);
        let damaged =
            |name: &str| ModelError::Unsupported(format!("the tensor `{name}` does not fit the others"));
        let find = |name: &str| {
            let length = state.iter().find(|t| t.name == name).map_or(0, |t| t.shape.iter().product());
            named.find(name, &[length])
        };
        let ints = |name: &str| find(name)?.integers();
        let reals = |name: &str| find(name)?.floats();
        let mut blind = Self::empty(settings, bits);
        let variables = lists(ints("variables")?, bits).filter(|all| all.len() <= bits);
        blind.set_variables(variables.ok_or_else(|| damaged("variables"))?);
        let none: Option<Vec<u16>> = ints("none")?
            .iter()
            .map(|&v| u16::try_from(v).ok().filter(|v| usize::from(*v) < blind.variables.len()))
            .collect();
        let none = none.filter(|none| none.len() <= blind.variables.len()).ok_or_else(|| damaged("none"))?;
        blind.literals.extend(none.into_iter().map(Literal::NoneOf));
        let words = bits.div_ceil(64);
        let sights = |flat: &[u64], name: &str| match flat.len() % words.max(1) {
            0 => Ok(flat.chunks(words.max(1)).map(|w| Sight::from_words(w.to_vec())).collect::<Vec<_>>()),
            _ => Err(damaged(name)),
        };
        let odd = sights(ints("odd")?, "odd")?;
        if odd.len() > OPERATORS {
            return Err(damaged("odd"));
        }
        blind.literals.extend(odd.into_iter().map(Literal::Odd));
        blind.found = ints("found")? == [1];
        if !blind.found && blind.literals.len() > bits {
            return Err(damaged("found"));
        }
        let sets = lists(ints("sets")?, blind.literals.len()).ok_or_else(|| damaged("sets"))?;
        let (weights, members) = (reals("weights")?, ints("member")?);
        let relations = reals("relations")?;
        if (weights.len(), members.len()) != (sets.len(), sets.len())
            || sets.len() > limits::BLIND_FEATURES + bits + blind.literals.len() + 1
            || sets.iter().any(|set| set.len() > LONGEST + 1 || set.windows(2).any(|pair| pair[0] >= pair[1]))
            || members.iter().any(|&m| m > relations.len() as u64)
        {
            return Err(damaged("sets"));
        }
        let count = sets.len();
        for set in sets {
            blind.add(set);
        }
        if blind.features.len() != count {
            return Err(damaged("sets"));
        }
        for (feature, (&weight, &member)) in blind.features.iter_mut().zip(weights.iter().zip(members)) {
            (feature.weight, feature.relation) = (weight, member as u32);
        }
        let pairs = reals("pairs")?;
        if pairs.len() != 2 * relations.len() {
            return Err(damaged("pairs"));
        }
        let relation = |(&weight, pair): (&f32, &[f32])| Relation { weight, bits: [pair[0], pair[1]] };
        blind.relations = relations.iter().zip(pairs.chunks_exact(2)).map(relation).collect();
        if state.iter().any(|t| t.name == "optimiser.counters") {
            blind.restore_training(&ints, &reals, &sights, &damaged)?;
        }
        Ok(blind)
    }

    fn restore_training<'a>(
        &mut self,
        ints: &dyn Fn(&str) -> Result<&'a [u64], ModelError>,
        reals: &dyn Fn(&str) -> Result<&'a [f32], ModelError>,
        sights: &Sights<'_>,
        damaged: &dyn Fn(&str) -> ModelError,
    ) -> Result<(), ModelError> {
        let &[samples, random] = ints("optimiser.counters")? else {
            return Err(damaged("optimiser.counters"));
        };
        (self.samples, self.random) = (samples, random);
        let uses = ints("optimiser.uses")?;
        if uses.len() != self.features.len() {
            return Err(damaged("optimiser.uses"));
        }
        for (feature, &uses) in self.features.iter_mut().zip(uses) {
            feature.uses = u32::try_from(uses).unwrap_or(u32::MAX);
        }
        let keys = ints("optimiser.pairs")?;
        let numbers = [reals("optimiser.count")?, reals("optimiser.sum")?, reals("optimiser.square")?];
        if numbers.iter().any(|list| 2 * list.len() != keys.len()) {
            return Err(damaged("optimiser.pairs"));
        }
        for (i, key) in keys.chunks_exact(2).enumerate() {
            let (feature, literal) = (key[0] as usize, key[1] as usize);
            if feature >= self.features.len() || literal >= self.literals.len() {
                return Err(damaged("optimiser.pairs"));
            }
            let pair = Pair { count: numbers[0][i], sum: numbers[1][i], square: numbers[2][i] };
            self.pairs.insert((feature as u32, literal as u16), pair);
        }
        if self.found {
            return Ok(());
        }
        let small = |n: &u64| u32::try_from(*n).unwrap_or(u32::MAX);
        let both = ints("optimiser.both")?;
        if both.len() != self.together.both.len() {
            return Err(damaged("optimiser.both"));
        }
        self.together.both = both.iter().map(small).collect();
        self.together.seen = ints("optimiser.seen")?.first().map_or(0, small);
        self.operators.before = sights(ints("optimiser.before")?, "optimiser.before")?.into_iter().next();
        for name in ["alone", "majority"] {
            let words = sights(ints(&format!("optimiser.{name}.words"))?, name)?;
            let counts = ints(&format!("optimiser.{name}.counts"))?;
            let [decisions, known, counts @ ..] = counts else { return Err(damaged(name)) };
            if counts.len() != words.len() {
                return Err(damaged(name));
            }
            let counts =
                words.into_iter().map(|s| s.words().to_vec()).zip(counts.iter().map(small)).collect();
            let changes = Changes { counts, decisions: small(decisions), known: small(known) };
            if name == "alone" {
                self.operators.alone = changes;
            } else {
                self.operators.majority = changes;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A learner goes on from its state as if it had not stopped, before and after variables are found.
    #[test]
    fn a_state_goes_on_to_the_same_bits() {
        let settings: Blind = serde_json::from_str("{}").unwrap();
        for begin in [60_u64, 900] {
            let mut blind = Features::new(&settings, 12);
            play(&mut blind, 0..begin);
            assert_eq!(blind.found, begin != 60);
            let mut other = Features::restored(&settings, 12, &blind.state()).unwrap();
            assert_eq!(other.state(), blind.state());
            play(&mut blind, begin..begin + 700);
            play(&mut other, begin..begin + 700);
            assert_eq!(other.state(), blind.state());
            assert!(blind.features.len() > 20 && !blind.variables.is_empty());
        }
    }

    /// Four dice of three faces; the value depends on whether two of them agree.
    fn play(blind: &mut Features, turns: std::ops::Range<u64>) {
        for turn in turns {
            let mut choices = Vec::new();
            for number in 0..4_u64 {
                let mut bits = [0.0; 12];
                for die in 0..4_usize {
                    let face = (turn * 7 + number * 5 + turn * turn * (die as u64 + 1)) / 3 % 3;
                    bits[3 * die + face as usize] = 1.0;
                }
                choices.push((Sight::of(&bits), bits));
            }
            let sights: Vec<Sight> = choices.iter().map(|(sight, _)| sight.clone()).collect();
            blind.choices(&sights);
            blind.chosen(sights[turn as usize % 4].clone());
            for (sight, bits) in &choices {
                let target = if bits[..3] == bits[3..6] { 0.9 } else { -0.5 };
                blind.learn(sight, target, 1.0, 0.1);
            }
        }
    }
}
