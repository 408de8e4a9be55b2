//! Solves a game by name, records the progress, and measures agents in it.

use super::{CfrPlus, Mccfr, Policy, Tree};
use crate::error::OpenError;
use crate::naming::open;
use adept_game::{Kit, PublicTree, TreeVisitor};
use adept_ground::work;
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// Solution method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum SolverKind {
    /// CFR+.
    #[serde(rename = "cfr+")]
    CfrPlus,
    /// External-sampling MCCFR.
    #[serde(rename = "mccfr")]
    Mccfr,
}

/// Options for [`solve`].
#[derive(Clone, Debug)]
pub struct SolveOptions {
    /// Solution method.
    pub method: SolverKind,
    /// Iterations.
    pub iterations: u64,
    /// Seed for sampling.
    pub seed: u64,
    /// Agents to measure.
    pub agents: Vec<String>,
}

/// Exploitability of the average policy after some iterations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Iterations.
    pub iterations: u64,
    /// (br₀ + br₁) / 2, in units of utility.
    pub exploitability: f64,
}

/// Measurement of an agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Name of the agent.
    pub agent: String,
    /// Expected utility of player 0 in self-play.
    pub value: f64,
    /// (br₀ + br₁) / 2, in units of utility.
    pub exploitability: f64,
}

/// A solved game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solved {
    /// Name of the rule set.
    pub game: String,
    /// Solution method.
    pub method: SolverKind,
    /// Public states.
    pub public_states: usize,
    /// Information sets of both players.
    pub information_sets: usize,
    /// Iterations.
    pub iterations: u64,
    /// Time of the iterations alone, in seconds, on one thread.
    pub seconds: f64,
    /// Iterations per second.
    pub iterations_per_second: f64,
    /// Expected utility of player 0 under the average policy.
    pub value: f64,
    /// Exploitability of the average policy: (br₀ + br₁) / 2, in units of utility.
    pub exploitability: f64,
    /// Exploitability during the run.
    pub curve: Vec<Point>,
    /// Uniform play and the requested agents.
    pub agents: Vec<Measured>,
}

/// Solves a game.
///
/// # Errors
/// [`OpenError::Unknown`] if the game has no public tree or a tree that is too large. Errors of opening an agent.
pub fn solve<G: Kit>(game: &G, options: &SolveOptions) -> Result<Solved, OpenError> {
    game.with_public_tree(Solve(options)).unwrap_or_else(|| Err(no_public_tree(game.name())))
}

/// Error: the game has no public tree.
pub(super) fn no_public_tree(name: &str) -> OpenError {
    OpenError::Unknown(format!(
        "`{name}` cannot be solved; this needs a small two-player game with hidden information and few private deals, \
         such as leduc or liars-dice:openspiel:1-1:6"
    ))
}

struct Solve<'a>(&'a SolveOptions);

/// One of the two solvers.
enum Solver {
    Plus(CfrPlus),
    Sampling(Mccfr),
}

impl Solver {
    fn iterate(&mut self, n: u64) {
        match self {
            Self::Plus(solver) => solver.iterate(n),
            Self::Sampling(solver) => solver.iterate(n),
        }
    }

    fn average(&self) -> Policy {
        match self {
            Self::Plus(solver) => solver.average(),
            Self::Sampling(solver) => solver.average(),
        }
    }
}

impl<G: Kit> TreeVisitor<G> for Solve<'_> {
    type Output = Result<Solved, OpenError>;

    fn visit(self, game: &G) -> Self::Output
    where
        G: PublicTree,
    {
        let options = self.0;
        let tree = Arc::new(Tree::new(game)?);
        let mut agents = vec![("random".to_string(), Policy::uniform(&tree))];
        for name in options.agents.iter().filter(|name| *name != "random") {
            let mut agent = open::agent(game, name)?;
            agents.push((name.clone(), Policy::of_agent(game, &tree, &mut *agent)?));
        }
        let measured = |(agent, policy): &(String, Policy)| Measured {
            agent: agent.clone(),
            value: policy.value(),
            exploitability: policy.exploitability(),
        };
        let mut solver = match options.method {
            SolverKind::CfrPlus => Solver::Plus(CfrPlus::on(tree.clone())),
            SolverKind::Mccfr => Solver::Sampling(Mccfr::on(tree.clone(), options.seed)),
        };
        let (mut seconds, mut done, mut curve) = (0.0, 0, Vec::new());
        let (what, mut slice) = (format!("solving {}", game.name()), 1);
        // Record a point each time the number of iterations doubles.
        let until = std::iter::successors(Some(1), |n: &u64| n.checked_mul(2))
            .take_while(|n| *n < options.iterations);
        for until in until.chain([options.iterations]) {
            while done < until {
                let start = Instant::now();
                let part = slice.min(until - done);
                solver.iterate(part);
                let took = start.elapsed().as_secs_f64();
                seconds += took;
                done += part;
                // Reports come every tenth of a second or so, which costs nothing beside the work.
                slice = if took < 0.1 { slice.saturating_mul(2) } else { (slice / 2).max(1) };
                work::share(&what, done as f64 / options.iterations as f64);
            }
            curve.push(Point { iterations: done, exploitability: solver.average().exploitability() });
        }
        let average = solver.average();
        Ok(Solved {
            game: game.name().into(),
            method: options.method,
            public_states: tree.len(),
            information_sets: tree.information_sets(),
            iterations: options.iterations,
            seconds,
            iterations_per_second: options.iterations as f64 / seconds.max(1e-9),
            value: average.value(),
            exploitability: average.exploitability(),
            curve,
            agents: agents.iter().map(measured).collect(),
        })
    }
}
