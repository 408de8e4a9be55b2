//! The memory of the policies played during a run.

use adept_game::Stream;
use adept_model::{Tensor, TensorData};
use rand::RngExt;

/// A reservoir of decisions with the policies played there. Every decision ever offered is equally likely to be
/// kept (Vitter 1985, algorithm R).
pub(super) struct Memory {
    capacity: usize,
    /// Most actions of a decision.
    width: usize,
    seen: u64,
    /// Information set of each place.
    sets: Vec<u64>,
    /// Weight of each place.
    weights: Vec<f32>,
    /// `width` probabilities for each place; as many are used as the information set has actions.
    policies: Vec<f32>,
}

impl Memory {
    pub(super) fn new(capacity: usize, width: usize) -> Self {
        Self { capacity, width, seen: 0, sets: Vec::new(), weights: Vec::new(), policies: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Offers the policy played in an information set.
    pub(super) fn offer(&mut self, set: usize, weight: f32, policy: &[f64], rng: &mut Stream) {
        self.seen += 1;
        let place = if self.len() < self.capacity {
            self.sets.push(0);
            self.weights.push(0.0);
            self.policies.resize(self.policies.len() + self.width, 0.0);
            self.len() - 1
        } else {
            match usize::try_from(rng.random_range(0..self.seen)) {
                Ok(place) if place < self.capacity => place,
                _ => return,
            }
        };
        (self.sets[place], self.weights[place]) = (set as u64, weight);
        let row = &mut self.policies[place * self.width..][..self.width];
        row.fill(0.0);
        row.iter_mut().zip(policy).for_each(|(kept, p)| *kept = *p as f32);
    }

    /// Information set, weight and policy at a place.
    pub(super) fn get(&self, place: usize) -> (usize, f32, &[f32]) {
        let row = &self.policies[place * self.width..][..self.width];
        (self.sets[place] as usize, self.weights[place], row)
    }

    /// State for a checkpoint.
    pub(super) fn state(&self) -> Vec<Tensor> {
        let n = self.len();
        vec![
            Tensor::u64("memory.seen", vec![1], vec![self.seen]),
            Tensor::u64("memory.sets", vec![n], self.sets.clone()),
            Tensor::f32("memory.weights", vec![n], self.weights.clone()),
            Tensor::f32("memory.policies", vec![n, self.width], self.policies.clone()),
        ]
    }

    /// Restores the state from a checkpoint of a game with `sets` information sets.
    pub(super) fn restore(&mut self, tensors: &[Tensor], sets: usize) -> Result<(), String> {
        let find = |name: &str| {
            let found = tensors.iter().find(|t| t.name == name).map(|t| &t.data);
            found.ok_or_else(|| format!("it has no tensor `{name}`"))
        };
        let (
            TensorData::U64(seen),
            TensorData::U64(kept),
            TensorData::F32(weights),
            TensorData::F32(policies),
        ) = (find("memory.seen")?, find("memory.sets")?, find("memory.weights")?, find("memory.policies")?)
        else {
            return Err("its memory of policies has tensors of another type".into());
        };
        let whole = kept.len() <= self.capacity
            && weights.len() == kept.len()
            && policies.len() == kept.len() * self.width
            && kept.iter().all(|set| *set < sets as u64);
        let ([seen], true) = (&seen[..], whole) else {
            return Err("its memory of policies has another shape".into());
        };
        (self.seen, self.sets, self.weights, self.policies) =
            (*seen, kept.clone(), weights.clone(), policies.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_game::stream;

    /// Each of a hundred places keeps any of ten thousand offers with the same probability: the mean of the
    /// kept offers is the mean of all, ± 5 sd.
    #[test]
    fn everything_offered_is_as_likely_to_be_kept() {
        let mut rng = stream(1, "memory", 0);
        let mut memory = Memory::new(100, 2);
        for i in 0..10_000 {
            memory.offer(i, 1.0, &[0.5, 0.5], &mut rng);
        }
        assert_eq!(memory.len(), 100);
        let mean = (0..100).map(|i| memory.get(i).0 as f64).sum::<f64>() / 100.0;
        assert!((mean - 5000.0).abs() < 5.0 * 10_000.0 / 12_f64.sqrt() / 10.0, "{mean}");
    }

    #[test]
    fn a_memory_comes_back_whole_or_not_at_all() {
        let mut rng = stream(1, "memory", 0);
        let mut memory = Memory::new(3, 2);
        (0..5).for_each(|i| memory.offer(i, i as f32, &[0.25, 0.75], &mut rng));
        let state = memory.state();
        let mut back = Memory::new(3, 2);
        back.restore(&state, 5).unwrap();
        assert_eq!(back.state(), state);
        assert!(back.restore(&state, 2).unwrap_err().contains("another shape"));
        assert!(Memory::new(2, 2).restore(&state, 5).unwrap_err().contains("another shape"));
        assert!(Memory::new(3, 3).restore(&state, 5).unwrap_err().contains("another shape"));
        assert!(back.restore(&state[1..], 5).unwrap_err().contains("memory.seen"));
    }
}
