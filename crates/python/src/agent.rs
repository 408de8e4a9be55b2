//! Agents that Python asks, and exact values of small games.

use crate::errors::guarded;
use crate::fault;
use crate::long::on_its_own;
use crate::shared::Shared;
use crate::stepping::{Action, AnyRules, Held, Node, Place, Rules, State, Typed};
use adept_erased::erased;
use adept_library::arena::{self, Agent as Chooser, BestResponse, Decision, ExactError};
use adept_library::game::{Kit, Stream, Turn, has_public_tree, no_action, stream};
use adept_trainer::run::Cancel;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use std::sync::Arc;

struct Of<G: Kit> {
    rules: Arc<Held<G>>,
    agent: Box<dyn Chooser<G>>,
}

/// Opens an agent of a game.
pub(crate) fn open<G: Kit>(rules: Arc<Held<G>>, name: &str) -> Result<Box<dyn AnyAgent>, String> {
    let agent = arena::open::agent(&rules.game, name).map_err(|e| e.to_string())?;
    Ok(Box::new(Of { rules, agent }))
}

impl<G: Kit> Of<G> {
    /// The state, the player to move, and the legal actions.
    #[allow(clippy::type_complexity, reason = "three things")]
    fn at<'a>(&self, node: &'a dyn Node) -> Result<(&'a G::State, usize, Vec<G::Action>), String> {
        let state = state_of::<G>(node)?;
        let Turn::Player(player) = node.turn() else {
            return Err(format!("`{}`: no player is to move", node.text()));
        };
        let mut actions = Vec::new();
        self.rules.game.actions(state, &mut actions);
        match actions.is_empty() {
            true => Err(no_action(&self.rules.game, state, player).to_string()),
            false => Ok((state, player, actions)),
        }
    }
}

fn state_of<G: Kit>(node: &dyn Node) -> Result<&G::State, String> {
    let node: Option<&Typed<G>> = node.as_any().downcast_ref();
    node.map(|node| &node.state).ok_or_else(|| "a state of another game".into())
}

/// An agent without the type of its game.
#[erased(pub(crate) trait AnyAgent: Send)]
impl<G: Kit> AnyAgent for Of<G> {
    fn name(&self) -> String {
        self.agent.name().into()
    }

    /// The probability of each legal action of a state in which a player is to move.
    fn policy(&mut self, node: &dyn Node) -> Result<Vec<f64>, String> {
        let (state, player, actions) = self.at(node)?;
        let mut probabilities = Vec::new();
        self.agent.policy(Decision::new(&self.rules.game, state, player), &actions, &mut probabilities);
        Ok(probabilities)
    }

    fn choose(&mut self, node: &dyn Node, rng: &mut Stream) -> Result<Place, String> {
        let (state, player, actions) = self.at(node)?;
        let at = Decision::new(&self.rules.game, state, player);
        Ok(Place::Move(self.agent.act(at, &actions, &mut Vec::new(), rng) as u32))
    }
}

/// A question about exact values.
pub(crate) enum Exact {
    /// Of optimal play by all from a state, for the first player.
    Minimax(Arc<dyn Node>),
    /// Of agents from the start, one in each seat.
    Equity(Vec<String>),
    /// Of the best response in each seat to an agent in all others.
    BestResponses(String),
}

/// For each player, or one number.
pub(crate) type Answer = Vec<f64>;

pub(crate) fn exact<G: Kit>(rules: &Held<G>, question: Exact) -> Result<Answer, String> {
    let game = &rules.game;
    let needs_small = |what: &str| match game.is_small() {
        true => Ok(()),
        false => Err(format!(
            "{what} walks through all states, and {} has too many, or is not said to be small",
            game.name()
        )),
    };
    let said = |error: ExactError| format!("{}: {error}", game.name());
    let open = |name: &str| arena::open::agent(game, name).map_err(|e| e.to_string());
    match question {
        Exact::Minimax(node) => {
            if !game.zero_sum() || game.hides() {
                return Err(format!(
                    "{}: minimax needs a game of two players with zero sum in which nothing is hidden",
                    game.name()
                ));
            }
            needs_small("minimax")?;
            Ok(vec![arena::optimal_value(game, state_of::<G>(&*node)?).map_err(said)?])
        }
        Exact::Equity(names) => {
            needs_small("exact equity")?;
            if names.len() != game.players() {
                return Err(format!(
                    "{} agents for {} players of {}: name one for each seat",
                    names.len(),
                    game.players(),
                    game.name()
                ));
            }
            let mut agents = names.iter().map(|name| open(name)).collect::<Result<Vec<_>, _>>()?;
            arena::expected_utilities(game, &game.start(), &mut agents).map_err(said)
        }
        Exact::BestResponses(name) => {
            let agent = open(&name)?;
            if game.hides() {
                if !game.is_small() && !has_public_tree(game) {
                    needs_small("a best response")?;
                }
                return arena::best_responses(game, agent).map_err(said);
            }
            needs_small("a best response")?;
            let mut solved = BestResponse::solve(game, agent).map_err(said)?;
            let start = game.start();
            (0..game.players()).map(|seat| solved.value(game, &start, seat).map_err(said)).collect()
        }
    }
}

/// Chooses actions. Threads may share one; they wait for each other. Ctrl-C leaves a search to end by itself.
#[pyclass(frozen, module = "adept")]
pub(crate) struct Agent {
    agent: Arc<Shared<Box<dyn AnyAgent>>>,
    /// As it was named.
    text: String,
    rules: Arc<dyn AnyRules>,
}

impl Agent {
    /// As it was named.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether a decision may take so long that somebody presses Ctrl-C.
    fn is_slow(&self) -> bool {
        !self.rules.is_in_python()
            && ["uct:", "playouts:", "search:"].iter().any(|form| self.text.starts_with(form))
    }

    fn ask<R: Send + 'static>(
        &self,
        py: Python<'_>,
        state: &State,
        ask: impl FnOnce(&mut dyn AnyAgent, &dyn Node) -> Result<R, String> + Send + 'static,
    ) -> PyResult<R> {
        let theirs = state.0.rules();
        if !Arc::ptr_eq(&theirs, &self.rules) && !theirs.same(&*self.rules) {
            return Err(fault(format!("a state of {}, not of {}", theirs.name(), self.rules.name())));
        }
        let (node, agent) = (state.0.clone(), self.agent.clone());
        let work = move || guarded(|| agent.with(|agent| ask(&mut **agent, &*node)));
        // After Ctrl-C a search ends by itself; who asks the agent again waits for it.
        let found = if self.is_slow() { on_its_own(py, &Cancel::default(), work)? } else { py.detach(work) };
        found??.map_err(fault)
    }
}

#[pymethods]
impl Agent {
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.agent.with(|agent| agent.name()))
    }

    #[getter]
    fn rules(&self) -> Rules {
        Rules(self.rules.clone())
    }

    /// An action, drawn from the agent's policy by this seed; without one, by a seed from `random`.
    #[pyo3(signature = (state, seed = None))]
    fn choose(&self, py: Python<'_>, state: PyRef<'_, State>, seed: Option<i128>) -> PyResult<Action> {
        let seed = match seed {
            Some(seed) => crate::given::seed(seed)?,
            None => py.import("random")?.call_method1("getrandbits", (48,))?.extract()?,
        };
        let mut rng = stream(seed, "choose", 0);
        let place = self.ask(py, &state, move |agent, node| agent.choose(node, &mut rng))?;
        Ok(Action { node: state.0.clone(), place })
    }

    /// The probability of each legal action, in their order.
    fn policy<'py>(&self, py: Python<'py>, state: PyRef<'py, State>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.ask(py, &state, |agent, node| agent.policy(node))?.into_pyarray(py))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Rules, &str))> {
        Ok((py.import("adept._stepping")?.getattr("_agent")?, (Rules(self.rules.clone()), &self.text)))
    }

    fn __repr__(&self) -> String {
        format!("<adept.Agent {} of {}>", self.text, self.rules.name())
    }
}

impl Agent {
    /// Opens an agent.
    pub(crate) fn open(py: Python<'_>, rules: &Arc<dyn AnyRules>, name: &str) -> PyResult<Self> {
        let agent = py.detach(|| guarded(|| rules.clone().agent(name)))?.map_err(fault)?;
        Ok(Self { agent: Arc::new(Shared::new(agent)), text: name.into(), rules: rules.clone() })
    }
}
