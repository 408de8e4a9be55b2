//! Steps on the sum of the gradients of shards, which threads and ranks compute.

use crate::average::Average;
use adept_ground::jobs;
use adept_ground::limits::Claim;
use adept_ground::profile::{self, Phase};
use adept_model::{Learner, ModelError, Samples};
use adept_ranks::tree::{Node, Tree, nodes};
use adept_ranks::{Ranks, share};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ops::Range;
use std::time::Instant;

/// How the batches of a learner are cut, and who computes what.
///
/// A batch is cut into a fixed number of shards. The gradient of each is computed apart, and the
/// gradients are added in a fixed tree ([`adept_ranks::tree`]), so that the step does not depend on the number of threads and
/// ranks. With one shard it is the plain [`Learner::update`].
pub(crate) struct Shards {
    count: usize,
    ranks: Ranks,
    /// The shards of this rank.
    mine: Range<usize>,
    threads: usize,
    /// None until it is needed, or if one thread does everything.
    pool: Option<ThreadPool>,
    /// Copies of the learner, one a thread; none until the first step that is worth it, or if one thread computes everything.
    helpers: Option<Helpers>,
    tree: Tree,
    /// Samples of a shard of the learner's own thread.
    part: Samples,
    /// Numbers of a gradient, once that is known.
    numbers: Option<usize>,
    spent: Spent,
    /// The mean of the weights after each step.
    pub(crate) average: Average,
}

/// Seconds spent on steps in shards.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// On the gradients of the shards of this rank.
    pub(crate) gradients: f64,
    /// On adding them up over all ranks, waiting for slower ones included.
    pub(crate) exchange: f64,
}

/// Copies of the learner.
struct Helpers {
    copies: Vec<Helper>,
    flat: Vec<f32>,
    /// Memory of the copies.
    _claim: Claim,
}

struct Helper {
    learner: Box<dyn Learner>,
    part: Samples,
    /// Its shards, and the number of nodes of the tree that they make.
    mine: Range<usize>,
    nodes: usize,
    /// Adds up what it computes.
    tree: Tree,
}

/// A batch, as far as this rank has it.
#[derive(Clone, Copy)]
enum Batch<'a> {
    /// All samples, which are cut by their number.
    Whole(&'a Samples),
    /// The samples of each shard of this rank.
    Parts(&'a [Samples]),
}

/// Samples times parameters of a step from which a second thread pays off: a thread takes some time to wake up.
const WORTH: u64 = 1 << 20;

/// Most bytes that ranks collect at a time: MPI counts in 31 bits.
pub(crate) const MOST_BYTES: usize = i32::MAX as usize / 2;

impl Shards {
    /// Cuts batches into `count` shards; at most `threads` threads compute those of this rank.
    pub(crate) fn new(count: usize, ranks: Ranks, threads: usize) -> Self {
        let mine = ranks.share(count);
        let threads = threads.clamp(1, mine.len().max(1));
        Self {
            count,
            ranks,
            mine,
            threads,
            pool: None,
            helpers: None,
            tree: Tree::new(count),
            part: Samples::default(),
            numbers: None,
            spent: Spent::default(),
            average: Average::default(),
        }
    }

    /// The number of shards.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The shards of this rank. If there is just one, every rank has it.
    pub(crate) fn mine(&self) -> Range<usize> {
        if self.count == 1 { 0..1 } else { self.mine.clone() }
    }

    /// What was spent so far.
    pub(crate) fn spent(&self) -> Spent {
        self.spent
    }

    /// The threads that compute shards of this rank; none if there is just one.
    ///
    /// # Errors
    /// If the system starts no threads.
    pub(crate) fn pool(&mut self) -> Result<Option<&ThreadPool>, ModelError> {
        if self.threads > 1 && self.pool.is_none() {
            let pool = ThreadPoolBuilder::new().num_threads(self.threads).build();
            let pool =
                pool.map_err(|e| ModelError::Unsupported(format!("no threads for the shards: {e}")))?;
            self.pool = Some(pool);
        }
        Ok(self.pool.as_ref())
    }

    /// The ranks that share the work.
    pub(crate) fn ranks(&self) -> &Ranks {
        &self.ranks
    }

    /// Takes one step on a batch that every rank has. Returns Σ weight · loss before it.
    ///
    /// # Errors
    /// As for [`Learner::update`]. All ranks diverge together; a device fails on its own rank alone.
    pub(crate) fn update(
        &mut self,
        learner: &mut dyn Learner,
        samples: &Samples,
        rate: f32,
    ) -> Result<f64, ModelError> {
        if samples.is_empty() {
            return Ok(0.0);
        }
        let _learning = profile::span(Phase::Learning);
        let loss = match self.count {
            1 => learner.update(samples, rate),
            _ => self.step(learner, Batch::Whole(samples), rate),
        }?;
        self.average.add(learner)?;
        Ok(loss)
    }

    /// Takes one step on a batch of which each rank has its shards ([`Self::mine`]). Returns Σ weight · loss before it.
    ///
    /// # Errors
    /// As for [`Learner::update`]. All ranks diverge together; a device fails on its own rank alone.
    pub(crate) fn update_parts(
        &mut self,
        learner: &mut dyn Learner,
        parts: &[Samples],
        rate: f32,
    ) -> Result<f64, ModelError> {
        let _learning = profile::span(Phase::Learning);
        match parts {
            [whole] if self.count == 1 => self.update(learner, whole, rate),
            _ => {
                let loss = self.step(learner, Batch::Parts(parts), rate)?;
                self.average.add(learner)?;
                Ok(loss)
            }
        }
    }

    fn step(&mut self, learner: &mut dyn Learner, batch: Batch<'_>, rate: f32) -> Result<f64, ModelError> {
        // With those that do not learn.
        let n = *self.numbers.get_or_insert_with(|| learner.gradient_len());
        let samples = match batch {
            // Of all ranks.
            Batch::Whole(samples) => samples.len() * self.mine.len() / self.count,
            Batch::Parts(parts) => parts.iter().map(Samples::len).sum(),
        };
        let is_worth = n == 0 || samples as u64 * n as u64 >= WORTH;
        let helps = self.threads > 1 && is_worth;
        if helps && self.helpers.is_none() {
            self.helpers = Some(Helpers::new(learner, self.threads, self.count, self.mine.clone())?);
        }
        if helps {
            self.pool()?;
        }
        if self.ranks.are_several() && 4 * n > MOST_BYTES {
            return Err(ModelError::Unsupported(format!(
                "a gradient of {n} parameters is too large for ranks to exchange, at most {}: start one process",
                MOST_BYTES / 4
            )));
        }
        let began = Instant::now();
        match (&mut self.helpers, &self.pool) {
            (Some(helpers), Some(pool)) if helps => {
                helpers.gradients(pool, learner, batch, self.mine.start, &mut self.tree)?;
            }
            _ => {
                for shard in self.mine.clone() {
                    let mut vector = self.tree.vector();
                    let samples = batch.shard(shard, self.count, self.mine.start, &mut self.part);
                    let loss = learner.gradient(samples, &mut vector)?;
                    self.tree.push(Node { shards: shard..shard + 1, loss, vector });
                }
            }
        }
        let computed = Instant::now();
        let waits = profile::pause();
        let sum = self.ranks.sum(&mut self.tree, n);
        drop(waits);
        self.spent.gradients += (computed - began).as_secs_f64();
        self.spent.exchange += computed.elapsed().as_secs_f64();
        learner.descend(sum.loss, &sum.vector, rate)?;
        let loss = sum.loss;
        self.tree.give_back(vec![sum]);
        Ok(loss)
    }
}

impl Batch<'_> {
    /// The samples of a shard; `part` may hold them.
    fn shard<'s>(&'s self, shard: usize, count: usize, first: usize, part: &'s mut Samples) -> &'s Samples {
        match self {
            Self::Parts(parts) => &parts[shard - first],
            Self::Whole(samples) => {
                let range = share(samples.len() as u64, count, shard);
                if part.rows.dense_width() != samples.rows.dense_width()
                    || part.rows.index_width() != samples.rows.index_width()
                {
                    *part = Samples { rows: samples.rows.empty(), ..Samples::default() };
                }
                part.copy_range(samples, range.start as usize..range.end as usize);
                part
            }
        }
    }
}

impl Helpers {
    /// Cuts the shards `mine` of `count` into one part a thread.
    fn new(
        learner: &mut dyn Learner,
        threads: usize,
        count: usize,
        mine: Range<usize>,
    ) -> Result<Self, ModelError> {
        // A copy has parameters, their gradient, and at most so many gradients that wait for the others of their node of the tree.
        let flat = learner.program().map_or(0, |program| program.parameters()) as u64;
        let waiting = 1 + 2 * u64::from(mine.len().div_ceil(threads).max(1).ilog2());
        let claim = Claim::new(4 * (2 + waiting) * flat * threads as u64)?;
        let copy = |thread| {
            let share = share(mine.len() as u64, threads, thread);
            let mine = mine.start + share.start as usize..mine.start + share.end as usize;
            let (learner, tree, nodes) =
                (learner.worker()?, Tree::new(count), nodes(count, mine.clone()).len());
            Ok(Helper { learner, part: Samples::default(), mine, nodes, tree })
        };
        let copies = (0..threads).map(copy).collect::<Result<_, ModelError>>()?;
        Ok(Self { copies, flat: Vec::new(), _claim: claim })
    }

    /// Computes the gradients of all shards of this rank, of which the batch has those from `first` on. Each thread adds up its own;
    /// nobody waits before the end.
    fn gradients(
        &mut self,
        pool: &ThreadPool,
        learner: &mut dyn Learner,
        batch: Batch<'_>,
        first: usize,
        tree: &mut Tree,
    ) -> Result<(), ModelError> {
        learner.weights(&mut self.flat)?;
        let (flat, count) = (&self.flat, tree.shards());
        for copy in &mut self.copies {
            // Left by a step that failed.
            let left = copy.tree.take();
            copy.tree.give_back(left);
            // The vectors that `tree` got in the step before.
            copy.tree.borrow(tree, copy.nodes);
        }
        let compute = |copy: &mut Helper| -> Result<(), ModelError> {
            let _learning = profile::span(Phase::Learning);
            copy.learner.adopt(flat)?;
            for shard in copy.mine.clone() {
                let mut vector = copy.tree.vector();
                let samples = batch.shard(shard, count, first, &mut copy.part);
                let loss = copy.learner.gradient(samples, &mut vector)?;
                copy.tree.push(Node { shards: shard..shard + 1, loss, vector });
            }
            Ok(())
        };
        let waits = profile::pause();
        jobs::try_all(Some(pool), &mut self.copies, &compute)?;
        drop(waits);
        for copy in &mut self.copies {
            copy.tree.take().into_iter().for_each(|node| tree.push(node));
        }
        Ok(())
    }
}
