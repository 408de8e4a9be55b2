//! Opens agents, and the values that they play by.

use super::checkpoints::{open, open_with};
use super::resolve::{Meaning, Resolved, checkpoint_at, with_values};
use super::spec::{AgentSpec, Play, SCREEN};
use crate::agents::{
    Agent, Asking, Boltzmann, Deliberating, EpsilonGreedy, Greedy, Random, Scripted, by_head,
};
use crate::error::{ExactError, OpenError};
use crate::exact::{BestResponse, Minimax, has_oracle, oracle};
use crate::search::{self, Budget, Search, SearchOptions};
use crate::values::{ByValuation, Evaluator, GameModel, Informed, Luck, Screen, Screened, Staged};
use adept_game::{Kit, Purpose, Turn, has_public_tree};
use adept_model::Head;
use std::path::Path;

/// A search by the values of a checkpoint or valuation with this name and head.
///
/// # Errors
/// [`OpenError::Unknown`] with the reason, if the game cannot be searched, the outputs are not values, or threads have nothing to share.
pub fn search_by<G: Kit, E: Evaluator<G>>(
    game: &G,
    name: &str,
    (values, head): (E, &Head),
    options: SearchOptions,
) -> Result<Search<G, E>, OpenError> {
    search::fits_budget(game, options.budget)?;
    if *head == Head::Policy {
        return Err(OpenError::Unknown(format!(
            "`{name}` is a policy: its outputs are not values, which `search:` compares"
        )));
    }
    let threads = options.threads;
    let search = Search::new(game, values, options);
    if threads > 1 && !search.has_chance() {
        return Err(OpenError::Unknown(format!(
            "`threads` shares a search of dice, and {} has none: alpha-beta runs on one thread; leave it out",
            game.name()
        )));
    }
    Ok(search)
}

/// Opens an agent. With `best`, it plays by the best checkpoint of a run in place of the latest.
///
/// # Errors
/// See [`OpenError`].
pub fn build<G: Kit>(game: &G, agent: &Resolved, best: bool) -> Result<Box<dyn Agent<G>>, OpenError> {
    Builder::of(game, agent, best).agent(&agent.spec)
}

/// A search by any evaluator.
pub type AnySearch<G> = Search<G, Box<dyn Evaluator<G>>>;

/// Opens what values positions as an agent sees them: the values of the checkpoint or valuation, found by looking ahead if the agent
/// searches. None for an agent that plays in another way.
///
/// # Errors
/// See [`OpenError`].
pub fn evaluator<G: Kit>(game: &G, agent: &Resolved, best: bool) -> Result<Option<AnySearch<G>>, OpenError> {
    evaluator_for(game, agent, best, None)
}

/// As [`evaluator`], to value these positions alone: exact values then come from the smallest table that holds them.
///
/// # Errors
/// See [`OpenError`].
pub fn evaluator_for<G: Kit>(
    game: &G,
    agent: &Resolved,
    best: bool,
    positions: Option<&[G::State]>,
) -> Result<Option<AnySearch<G>>, OpenError> {
    let builder = Builder { positions, ..Builder::of(game, agent, best) };
    let name = agent.spec.name();
    let own = SearchOptions::from(Budget::Plies(1));
    match &agent.spec {
        AgentSpec::Model { play: Play::Greedy, search, .. } => {
            builder.searcher(search.as_ref().unwrap_or(&own), name).map(Some)
        }
        // They play games that a search by values cannot.
        AgentSpec::Named(_)
            if matches!(agent.meaning, Meaning::Playouts(_)) && search::fits(game).is_err() =>
        {
            Ok(None)
        }
        AgentSpec::Named(_) if agent.has_values() => builder.searcher(&own, name).map(Some),
        _ => Ok(None),
    }
}

/// Opens the values by which an agent plays greedily, found by looking ahead if the agent searches. None for an agent that plays in
/// another way, and for a policy.
///
/// # Errors
/// See [`OpenError`].
pub fn values<G: Kit>(
    game: &G,
    agent: &Resolved,
    best: bool,
) -> Result<Option<Box<dyn Evaluator<G>>>, OpenError> {
    let builder = Builder::of(game, agent, best);
    let name = agent.spec.name();
    if let AgentSpec::Model { play: Play::Greedy, search: Some(options), .. } = &agent.spec {
        return Ok(Some(Box::new(builder.searcher(options, name)?)));
    }
    let is_greedy = matches!(agent.spec, AgentSpec::Named(_) | AgentSpec::Model { play: Play::Greedy, .. });
    if !is_greedy || !agent.has_values() {
        return Ok(None);
    }
    let (values, head) = builder.values(name)?;
    Ok((!head.is_policy()).then_some(values))
}

/// Opens the network of an agent that plays by a checkpoint alone, and the screen before it, to look one ply ahead with
/// [`expand_behind`](crate::Successors::expand_behind).
///
/// # Errors
/// Errors of opening. [`OpenError::Unknown`] for another agent, and for a policy.
pub fn network<G: Kit>(
    game: &G,
    agent: &Resolved,
    best: bool,
) -> Result<(GameModel<G>, Option<Screen<G>>), OpenError> {
    let is_plain = match &agent.spec {
        AgentSpec::Named(_) => true,
        AgentSpec::Model { play, search, .. } => *play == Play::Greedy && search.is_none(),
        AgentSpec::Optimal(_) => false,
    };
    let (Meaning::Checkpoint(folder), true) = (&agent.meaning, is_plain) else {
        let message = format!(
            "`{}` is not a checkpoint, or not one alone: name a checkpoint, or screen:K:SMALL:LARGE",
            agent.spec.name()
        );
        return Err(OpenError::Unknown(message));
    };
    let (model, manifest) = open_with(game, folder, best, agent.spec.tables())?;
    if manifest.head.is_policy() {
        return Err(without_values(agent.spec.name(), "is a policy, which has no values"));
    }
    let screen = agent.screen.as_deref().zip(agent.spec.screen());
    let screen = screen.map(|(folder, spec)| Screen::open_at(game, folder, spec.keep)).transpose()?;
    Ok((model, screen))
}

/// What judges games: values, and the luck that they tell.
pub struct Judge<G: Kit> {
    /// The values.
    pub values: Box<dyn Evaluator<G>>,
    /// The luck.
    pub luck: Luck<G>,
    /// The names of the game's references, which stand for the values of the agent where they know the value.
    pub references: Vec<String>,
}

/// Opens the values of an agent to judge games by. The references of the game go before them, unless the agent's name chooses tables
/// itself (`known:`).
///
/// # Errors
/// Errors of opening. [`OpenError::Unknown`] if the agent has no values, or the game hides information or is not zero-sum.
pub fn judge<G: Kit>(game: &G, agent: &Resolved, best: bool) -> Result<Judge<G>, OpenError> {
    let open = |agent: &Resolved| {
        values(game, agent, best)?.ok_or_else(|| {
            OpenError::Unknown(format!(
                "`{}` does not play by its highest value: name a checkpoint, a valuation, or a search of one",
                agent.spec.name()
            ))
        })
    };
    let plain = agent.without_search();
    let luck = Luck::open(game, &plain, best)?;
    let is_free =
        agent.spec.tables().is_none() && !matches!(agent.meaning, Meaning::Valuation | Meaning::Minimax);
    let references = if is_free { game.values().references()? } else { Vec::new() };
    if references.is_empty() {
        return Ok(Judge { values: open(agent)?, luck, references: Vec::new() });
    }
    let names = references.iter().map(|reference| reference.name.to_string()).collect();
    let luck = Luck::of(Box::new(Informed::new(references.clone(), open(&plain)?)));
    Ok(Judge { values: Box::new(Informed::new(references, open(agent)?)), luck, references: names })
}

/// Opens a judge: the first of several agents, and the others to judge again, one after another, the decisions that seem wrong to the one
/// before.
///
/// # Errors
/// See [`judge`], and if there is no agent.
pub fn judge_in_stages<G: Kit>(game: &G, agents: &[Resolved], best: bool) -> Result<Judge<G>, OpenError> {
    let mut all = agents.iter().map(|agent| judge(game, agent, best));
    let mut first = all.next().ok_or_else(|| OpenError::Unknown("nobody judges".into()))??;
    let then = all.map(|judge| Ok(judge?.values)).collect::<Result<Vec<_>, OpenError>>()?;
    if !then.is_empty() {
        first.values = Box::new(Staged::new(first.values, then));
    }
    Ok(first)
}

/// Opens what an agent's name stands for, without what takes long: valuations, perfect play and best responses.
///
/// # Errors
/// See [`OpenError`].
pub fn try_out<G: Kit>(game: &G, agent: &Resolved) -> Result<(), OpenError> {
    match &agent.meaning {
        Meaning::Checkpoint(_) | Meaning::Script | Meaning::Deliberator | Meaning::Peer => {
            let builder = Builder::of(game, agent, false);
            if let AgentSpec::Model { search: Some(options), name, .. } = &agent.spec {
                return builder.searcher(options, name).map(drop);
            }
            if agent.screen.is_some() {
                return builder.values(agent.spec.name()).map(drop);
            }
            builder.agent(&AgentSpec::Named(agent.spec.name().into())).map(drop)
        }
        // A valuation itself may take long to open.
        Meaning::Valuation => {
            if let (Some(folder), AgentSpec::Model { screen: Some(spec), .. }) = (&agent.screen, &agent.spec)
            {
                Screen::open_at(game, folder, spec.keep)?;
            }
            match &agent.spec {
                AgentSpec::Model { search: Some(_), .. } => search::fits(game),
                _ => Ok(()),
            }
        }
        Meaning::Playouts(playouts) => playouts.open(game).map(drop),
        Meaning::Random | Meaning::Minimax => Ok(()),
    }
}

impl<G: Kit> Screen<G> {
    /// Opens the checkpoint or run with this name as a screen that lets `keep` candidates of a decision pass.
    ///
    /// # Errors
    /// [`OpenError::Unknown`] if it is not a checkpoint. [`OpenError::Mismatch`] if it belongs to another game, is a policy, or sees moves
    /// in place of positions. Errors of [`open`].
    pub fn open(game: &G, name: &str, keep: usize) -> Result<Self, OpenError> {
        let folder = checkpoint_at(game, name, "a screen")?;
        let (model, _) = open(game, &folder, false)?;
        Self::of(game, model, &folder, keep)
    }

    /// As [`open`](Self::open), for the folder of a checkpoint or run that plays, with the tables that it plays by.
    fn open_at(game: &G, folder: &Path, keep: usize) -> Result<Self, OpenError> {
        let (model, _) = open_with(game, folder, false, None)?;
        Self::of(game, model, folder, keep)
    }

    fn of(game: &G, model: GameModel<G>, folder: &Path, keep: usize) -> Result<Self, OpenError> {
        Self::new(game, model, keep).map_err(|message| OpenError::Mismatch { path: folder.into(), message })
    }
}

impl<G: Kit> Luck<G> {
    /// Opens what an agent plays by: a checkpoint or a valuation, with or without looking ahead. With `best`, the best checkpoint of
    /// a run in place of the latest.
    ///
    /// # Errors
    /// Errors of opening. [`OpenError::Unknown`] if the agent has no values, or the game hides information or is not zero-sum.
    pub fn open(game: &G, agent: &Resolved, best: bool) -> Result<Self, OpenError> {
        let refuse = |why: &str| Err(OpenError::Unknown(format!("{} {why}", game.name())));
        if game.hides() {
            return refuse("hides information: what its chance events are worth is not known");
        }
        if !game.zero_sum() {
            return refuse(
                "is not a zero-sum game of two players: luck is what one gains and the other loses",
            );
        }
        if let (Meaning::Checkpoint(folder), true) = (&agent.meaning, agent.spec.is_greedy()) {
            let (model, manifest) = open_with(game, folder, best, agent.spec.tables())?;
            if manifest.head.is_policy() {
                return Err(without_values(agent.spec.name(), "is a policy, which has no values"));
            }
            return Ok(Self::of_model(game, model));
        }
        match values(game, agent, best)? {
            // To look ahead once more, for probabilities, would take as long again.
            Some(values) => Ok(Self::of_evaluator(values, !agent.spec.searches())),
            None => Err(without_values(agent.spec.name(), "is an agent without values")),
        }
    }
}

/// The refusal of an agent that cannot tell luck.
fn without_values(name: &str, why: &str) -> OpenError {
    OpenError::Unknown(format!("`{name}` {why}: name a checkpoint or a valuation such as `oracle`"))
}

struct Builder<'a, G: Kit> {
    game: &'a G,
    meaning: &'a Meaning,
    best: bool,
    tables: Option<&'a str>,
    screen: Option<(&'a Path, usize)>,
    /// The positions that are to be valued, if it is known.
    positions: Option<&'a [G::State]>,
}

impl<'a, G: Kit> Builder<'a, G> {
    fn of(game: &'a G, agent: &'a Resolved, best: bool) -> Self {
        let screen = agent.screen.as_deref().zip(agent.spec.screen().map(|screen| screen.keep));
        Self { game, meaning: &agent.meaning, best, tables: agent.spec.tables(), screen, positions: None }
    }

    fn agent(&self, spec: &AgentSpec) -> Result<Box<dyn Agent<G>>, OpenError> {
        Ok(match spec {
            AgentSpec::Optimal(other) => {
                self.check_exact()?;
                Box::new(BestResponse::solve(self.game, self.agent(other)?)?)
            }
            AgentSpec::Model { play, search, name, .. } => {
                let values: Box<dyn Evaluator<G>> = match search {
                    Some(options) => Box::new(self.searcher(options, name)?),
                    None => self.values(name)?.0,
                };
                match *play {
                    Play::Greedy => Box::new(Greedy::new(values)),
                    Play::Epsilon(e) => Box::new(EpsilonGreedy::new(values, e)),
                    Play::Boltzmann(t) => Box::new(Boltzmann::new(values, t)),
                }
            }
            AgentSpec::Named(name) => self.named(name)?,
        })
    }

    /// The agent that a name without a prefix stands for.
    fn named(&self, name: &str) -> Result<Box<dyn Agent<G>>, OpenError> {
        let game = self.game;
        let gone = || OpenError::Unknown(format!("{} has no agent `{name}`", game.name()));
        Ok(match self.meaning {
            Meaning::Random => Box::new(Random),
            Meaning::Minimax => Box::new(self.solved()?),
            Meaning::Playouts(playouts) => Box::new(playouts.open(game)?),
            Meaning::Script => Box::new(Scripted::new(game, name).ok_or_else(gone)?),
            Meaning::Deliberator => {
                let found = game.agents().deliberators.open(name).ok_or_else(gone)?;
                Box::new(Deliberating::new(found?))
            }
            Meaning::Peer => Box::new(Asking::new(name, game.agents().peers.open(name).ok_or_else(gone)??)),
            Meaning::Valuation | Meaning::Checkpoint(_) => {
                let (values, head) = self.values(name)?;
                by_head(values, &head)
            }
        })
    }

    /// The values of a checkpoint or valuation, behind the screen if there is one.
    fn values(&self, name: &str) -> Result<(Box<dyn Evaluator<G>>, Head), OpenError> {
        let (values, head) = self.all_values(name)?;
        let Some((folder, keep)) = self.screen else { return Ok((values, head)) };
        if head.is_policy() {
            return Err(OpenError::Unknown(format!(
                "`{name}` is a policy: its outputs are not values, which `{SCREEN}:` needs"
            )));
        }
        Ok((Box::new(Screened::new(Screen::open_at(self.game, folder, keep)?, values)), head))
    }

    /// The values of a checkpoint or valuation.
    fn all_values(&self, name: &str) -> Result<(Box<dyn Evaluator<G>>, Head), OpenError> {
        if let Meaning::Checkpoint(folder) = self.meaning {
            let (bound, manifest) = open_with(self.game, folder, self.best, self.tables)?;
            return Ok((Box::new(bound), manifest.head));
        }
        if *self.meaning == Meaning::Minimax {
            return Ok((Box::new(self.solved()?), Head::Value));
        }
        if let Meaning::Playouts(playouts) = self.meaning {
            return Ok((Box::new(playouts.open(self.game)?), Head::Value));
        }
        let found = match self.positions {
            Some(positions) => self.game.values().open_for(name, positions, Purpose::Show),
            None => self.game.values().valuations.open(name),
        };
        if found.is_none() && name == "oracle" && has_oracle(self.game) {
            return Ok((Box::new(ByValuation(oracle(self.game)?)), Head::Value));
        }
        let found = found.ok_or_else(|| {
            OpenError::Unknown(format!(
                "{} has no valuation `{name}`; what has values: {}",
                self.game.name(),
                with_values(self.game)
            ))
        })?;
        Ok((Box::new(ByValuation(found?)), Head::Value))
    }

    /// A search by the values of a checkpoint or valuation.
    fn searcher(&self, options: &SearchOptions, name: &str) -> Result<AnySearch<G>, OpenError> {
        // A valuation may take minutes to open.
        search::fits_budget(self.game, options.budget)?;
        let (values, head) = self.values(name)?;
        search_by(self.game, name, (values, &head), options.clone())
    }

    fn solved(&self) -> Result<Minimax<G>, OpenError> {
        let game = self.game;
        self.check_exact()?;
        Minimax::solve(game).map_err(|e| match e {
            ExactError::Dice => {
                OpenError::Unknown(format!("{} has chance; minimax needs a game without chance", game.name()))
            }
            other => other.into(),
        })
    }

    /// Refuses games whose states cannot all be searched.
    fn check_exact(&self) -> Result<(), OpenError> {
        let game = self.game;
        if game.hides() {
            let instead = match has_public_tree(game) {
                true => "use `adept solve` to find equilibria and best responses",
                false => "`minimax` and `optimal:` need games that hide nothing",
            };
            return Err(OpenError::Unknown(format!("{} has hidden information; {instead}", game.name())));
        }
        // Games that begin with chance are refused for that reason, where they are solved.
        if !game.is_small() && game.turn(&game.start()) != Turn::Chance {
            return Err(OpenError::Unknown(format!(
                "{} has too many states for `minimax` and `optimal:`, which search all of them",
                game.name()
            )));
        }
        Ok(())
    }
}
