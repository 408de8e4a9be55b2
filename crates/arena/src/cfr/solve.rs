//! Solving a game by name, with the way there, and measuring agents in it.

use super::{CfrPlus, Mccfr, Policy, Tree};
use crate::exact::ExactError;
use crate::open::{self, OpenError};
use adept_game::{Kit, PublicTree, TreeVisitor};
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// How a game is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Method {
    /// CFR+.
    #[serde(rename = "cfr+")]
    CfrPlus,
    /// External-sampling MCCFR.
    #[serde(rename = "mccfr")]
    Mccfr,
}

/// What is solved, and what is measured.
#[derive(Clone, Debug)]
pub struct SolveOptions {
    /// How.
    pub method: Method,
    /// Iterations.
    pub iterations: u64,
    /// Seed of the draws.
    pub seed: u64,
    /// Agents to be measured.
    pub agents: Vec<String>,
}

/// How near the average policy was after some iterations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Iterations.
    pub iterations: u64,
    /// (br₀ + br₁) / 2, in units of utility.
    pub exploitability: f64,
}

/// An agent in a game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// The agent.
    pub agent: String,
    /// Expected utility of player 0 if the agent plays itself.
    pub value: f64,
    /// (br₀ + br₁) / 2, in units of utility.
    pub exploitability: f64,
}

/// A solved game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solved {
    /// Name of the rule set.
    pub game: String,
    /// How it was solved.
    pub method: Method,
    /// Public states.
    pub public_states: usize,
    /// Information sets of both players.
    pub information_sets: usize,
    /// Iterations.
    pub iterations: u64,
    /// Seconds of the iterations alone, on one thread.
    pub seconds: f64,
    /// Iterations a second.
    pub iterations_per_second: f64,
    /// Expected utility of player 0 under the average policy.
    pub value: f64,
    /// How far that is from an equilibrium: (br₀ + br₁) / 2, in units of utility.
    pub exploitability: f64,
    /// The way there.
    pub curve: Vec<Point>,
    /// Uniform play, and the agents that were asked for.
    pub agents: Vec<Measured>,
}

/// Solves a game.
///
/// # Errors
/// [`OpenError::Unknown`] if it has no public tree or one that is too large; what opening an agent says.
pub fn solve<G: Kit>(game: &G, options: &SolveOptions) -> Result<Solved, OpenError> {
    game.with_public_tree(Solve(options)).unwrap_or_else(|| Err(no_public_tree(game.name())))
}

/// Why a game cannot be solved.
pub(super) fn no_public_tree(name: &str) -> OpenError {
    OpenError::Unknown(format!(
        "`{name}` cannot be solved: that takes a small two-player game with hidden information, whose private things can be \
         listed, such as liars-dice:openspiel:1-1:6"
    ))
}

struct Solve<'a>(&'a SolveOptions);

/// Either solver.
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
        let exact = |e: ExactError| OpenError::Unknown(e.to_string());
        let tree = Arc::new(Tree::new(game).map_err(exact)?);
        let mut agents = vec![("random".to_string(), Policy::uniform(&tree))];
        for name in options.agents.iter().filter(|name| *name != "random") {
            let mut agent = open::agent(game, name)?;
            agents.push((name.clone(), Policy::of_agent(game, &tree, &mut *agent).map_err(exact)?));
        }
        let measured = |(agent, policy): &(String, Policy)| Measured {
            agent: agent.clone(),
            value: policy.value(),
            exploitability: policy.exploitability(),
        };
        let mut solver = match options.method {
            Method::CfrPlus => Solver::Plus(CfrPlus::on(tree.clone())),
            Method::Mccfr => Solver::Sampling(Mccfr::on(tree.clone(), options.seed)),
        };
        let (mut seconds, mut done, mut curve) = (0.0, 0, Vec::new());
        // A point where the iterations double.
        let until = std::iter::successors(Some(1), |n: &u64| n.checked_mul(2))
            .take_while(|n| *n < options.iterations);
        for until in until.chain([options.iterations]) {
            let start = Instant::now();
            solver.iterate(until - done);
            seconds += start.elapsed().as_secs_f64();
            done = until;
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
