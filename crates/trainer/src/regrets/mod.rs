//! Regret networks: counterfactual regret minimisation with a network instead of tables.
//!
//! One iteration updates both players in turn. A network R gives every action of an information set a number.
//! The policy is σ(a | I) ∝ R⁺(I, a). A traversal of the public tree computes the advantages A of both players
//! under σ. R is then fitted, in a fixed number of passes over all information sets, to
//!
//! R'(I, a) = d · R⁺(I, a) + π₋ᵢ(I)ᶜ A(I, a) for the updated player i, and R'(I, a) = R(I, a) for the opponent,
//!
//! where π₋ᵢ(I) is the probability that the opponent's deal and actions lead to I, and
//! d = (t − 1)ᵅ / ((t − 1)ᵅ + 1) in iteration t. With c = 1 and exact R this is CFR+ (Tammelin 2014) with discounted regrets (Brown and
//! Sandholm 2019). R as a function of features is regression CFR (Waugh, Morrill, Bagnell and Bowling 2015). A
//! smaller c keeps the regrets of rarely reached decisions within the precision of a network.
//!
//! The result is not σ but its average over the iterations, weighted by t. Decisions with their σ go into a
//! memory, sampled in proportion to the player's own reach probability. A second network, the network of the
//! run, learns from the memory by cross entropy (as in Deep CFR: Brown, Lerer, Gross and Sandholm 2019).
//! Regrets and policies are not kept in tables, unless a config asks for a table of regrets to compare with;
//! the policy is then distilled from that table.

mod memory;

use crate::config::{Config, RegretSettings};
use crate::shards::Shards;
use adept_arena::cfr::{Advantages, Decisions, Policy};
use adept_game::{Stream, stream};
use adept_model::{Head, Learner, ModelError, Samples, Tensor, TensorData, build_on, policy_targets};
use memory::Memory;
use rand::RngExt;
use rand::seq::SliceRandom;
use std::sync::Arc;

/// Prefix of the tensors of the regret network.
const PREFIX: &str = "regrets.";

/// The part of a run that computes regrets and remembers policies.
pub(crate) struct Regrets {
    decisions: Arc<Decisions>,
    settings: RegretSettings,
    holder: Holder,
    memory: Memory,
    /// The shards of the regret network's batches.
    shards: Shards,
    rng: Stream,
    // Buffers.
    regrets: Vec<f32>,
    targets: Vec<f32>,
    found: Advantages,
    order: Vec<u32>,
    samples: Samples,
    lengths: Vec<usize>,
}

/// Where the regrets are stored.
enum Holder {
    Network(Box<dyn Learner>),
    /// Indexed by entry of a policy.
    Table(Vec<f32>),
}

impl Regrets {
    /// State before the first iteration. `channels` are those of the rows of `decisions`.
    pub(crate) fn new(
        config: &Config,
        settings: &RegretSettings,
        seed: u64,
        decisions: Arc<Decisions>,
        learner: &dyn Learner,
        shards: Shards,
    ) -> Result<Self, ModelError> {
        let architecture = settings.architecture.as_ref().unwrap_or(&config.architecture);
        let (optimiser, compute, channels) =
            (config.learn.optimiser, config.learn.compute(), learner.channels());
        let mut first = stream(seed, "regrets init", 0);
        let holder = match settings.table {
            true => Holder::Table(vec![0.0; decisions.rows().len()]),
            false => Holder::Network(build_on(
                architecture,
                channels,
                &Head::Value,
                optimiser,
                compute,
                &mut first,
            )?),
        };
        Ok(Self {
            holder,
            shards,
            memory: Memory::new(settings.memory, decisions.most_actions()),
            rng: stream(seed, "regrets", 0),
            regrets: Vec::new(),
            targets: Vec::new(),
            found: Advantages::default(),
            order: (0..decisions.len() as u32).collect(),
            samples: Samples::new(channels),
            lengths: Vec::new(),
            decisions,
            settings: settings.clone(),
        })
    }

    /// Runs iteration number `iteration`, from 0: updates the regrets of both players, then the policy. Returns
    /// the sum of the policy's losses, and the number of decisions.
    pub(crate) fn iterate(
        &mut self,
        iteration: u64,
        policy: &mut dyn Learner,
        shards: &mut Shards,
        rate: f32,
    ) -> Result<(f64, u64), ModelError> {
        for player in 0..2 {
            self.update(iteration, player)?;
        }
        self.learn_policy(policy, shards, rate)
    }

    /// Updates the regrets of one player.
    fn update(&mut self, iteration: u64, player: usize) -> Result<(), ModelError> {
        let decisions = self.decisions.clone();
        match &mut self.holder {
            Holder::Network(network) => network.evaluate(decisions.rows(), &mut self.regrets),
            Holder::Table(table) => self.regrets.clone_from(table),
        }
        let mut policy = decisions.matched(&self.regrets);
        if iteration == 0 {
            // A player without positive regrets plays uniformly.
            for set in (0..decisions.len()).filter(|set| decisions.mover(*set) >= player) {
                self.regrets[decisions.range(set)].fill(0.0);
                policy.set_uniform(decisions.range(set));
            }
        }
        policy.advantages(&mut self.found);
        self.remember(iteration, player, &policy);

        let before = (iteration as f64).powf(self.settings.discount);
        let kept = if before.is_finite() { before / (before + 1.0) } else { 1.0 } as f32;
        self.targets.clone_from(&self.regrets);
        for set in (0..decisions.len()).filter(|set| decisions.mover(*set) == player) {
            let weight = self.found.other[set].powf(self.settings.reach) as f32;
            for row in decisions.range(set) {
                self.targets[row] = kept * self.regrets[row].max(0.0) + weight * self.found.regrets[row];
            }
        }
        self.fit(iteration)
    }

    /// Offers the current policy of a player to the memory. Decisions are drawn in proportion to the player's
    /// own reach probability.
    fn remember(&mut self, iteration: u64, player: usize, policy: &Policy) {
        let (decisions, own) = (&self.decisions, &self.found.own);
        let sets = || (0..decisions.len()).filter(|set| decisions.mover(*set) == player);
        let total: f64 = sets().map(|set| own[set]).sum();
        // Systematic sampling: each decision is drawn its expected number of times, rounded up or down.
        let step = total / self.settings.keep as f64;
        let mut next = self.rng.random::<f64>() * step;
        let (mut sum, weight) = (0.0, (iteration + 1) as f32 / self.settings.iterations as f32);
        for set in sets() {
            sum += own[set];
            while next < sum {
                self.memory.offer(set, weight, policy.entries(decisions.range(set)), &mut self.rng);
                next += step;
            }
        }
    }

    /// Fits the regret network to the targets.
    fn fit(&mut self, iteration: u64) -> Result<(), ModelError> {
        let network = match &mut self.holder {
            Holder::Network(network) => network,
            Holder::Table(table) => {
                table.clone_from(&self.targets);
                return Ok(());
            }
        };
        let share = iteration as f64 / self.settings.iterations as f64;
        let (decisions, rate) = (&self.decisions, self.settings.rate.at(share) as f32);
        let rows = (self.settings.passes * self.targets.len() as f64).ceil() as usize;
        let (mut done, mut at) = (0, self.order.len());
        while done < rows {
            let samples = &mut self.samples;
            samples.clear();
            while samples.targets.len() < self.settings.rows {
                if at == self.order.len() {
                    self.order.shuffle(&mut self.rng);
                    at = 0;
                }
                for row in decisions.range(self.order[at] as usize) {
                    samples.rows.push_from(decisions.rows(), row);
                    samples.targets.push(self.targets[row]);
                }
                at += 1;
            }
            let n = samples.targets.len();
            samples.weights.resize(n, 1.0 / n as f32);
            self.shards.update(&mut **network, samples, rate)?;
            done += n;
        }
        // The order must not depend on earlier work, which no checkpoint keeps.
        self.order.sort_unstable();
        Ok(())
    }

    /// Trains the policy for some steps on the memory.
    fn learn_policy(
        &mut self,
        policy: &mut dyn Learner,
        shards: &mut Shards,
        rate: f32,
    ) -> Result<(f64, u64), ModelError> {
        let (mut loss, mut weights, mut decisions) = (0.0, 0.0, 0);
        for _ in 0..self.settings.steps {
            let (samples, lengths) = (&mut self.samples, &mut self.lengths);
            samples.clear();
            lengths.clear();
            for _ in 0..self.settings.batch {
                let (set, weight, probabilities) =
                    self.memory.get(self.rng.random_range(0..self.memory.len()));
                let range = self.decisions.range(set);
                lengths.push(range.len());
                weights += f64::from(weight);
                for (row, p) in range.zip(probabilities) {
                    samples.rows.push_from(self.decisions.rows(), row);
                    samples.targets.push(*p);
                    samples.weights.push(weight / self.settings.batch as f32);
                }
            }
            loss += policy_targets(policy, samples, lengths) * self.settings.batch as f64;
            shards.update(policy, samples, rate)?;
            decisions += self.settings.batch as u64;
        }
        // Later iterations have larger weights, so divide by the weight and not by the count.
        Ok((loss * decisions as f64 / weights, decisions))
    }

    /// State for a checkpoint.
    pub(crate) fn state(&mut self) -> Result<(Stream, Vec<Tensor>), ModelError> {
        let network = match &mut self.holder {
            Holder::Network(network) => network.state()?,
            Holder::Table(table) => vec![Tensor::f32("table", vec![table.len()], table.clone())],
        };
        let named = network.into_iter().map(|t| Tensor { name: format!("{PREFIX}{}", t.name), ..t });
        Ok((self.rng.clone(), named.chain(self.memory.state()).collect()))
    }

    /// Restores the state from a checkpoint.
    pub(crate) fn restore(&mut self, rng: Stream, tensors: &[Tensor]) -> Result<(), String> {
        let own = tensors.iter().filter_map(|t| {
            t.name.strip_prefix(PREFIX).map(|name| Tensor { name: name.into(), ..t.clone() })
        });
        let own: Vec<Tensor> = own.collect();
        match &mut self.holder {
            Holder::Network(network) => {
                network.restore(&own).map_err(|e| format!("the network of regrets: {e}"))?;
            }
            Holder::Table(table) => match &own[..] {
                [Tensor { data: TensorData::F32(kept), .. }] if kept.len() == table.len() => {
                    table.clone_from(kept);
                }
                _ => return Err("its table of regrets belongs to another game".into()),
            },
        }
        self.memory.restore(tensors, self.decisions.len())?;
        self.rng = rng;
        Ok(())
    }
}
