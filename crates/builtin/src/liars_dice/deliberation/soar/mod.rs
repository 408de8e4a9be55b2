//! The published agents, decision for decision.
//!
//! The authors published three generations: the rule base of the paper (2010 to 2012, "old"), which alone has E, a newer
//! one without E ("new"), and one inside an app ("app"). The newer ones evaluate every action, then settle preferences
//! and draw by Boltzmann. The old one evaluates actions one after the other in random order and stops as soon as
//! its preferences decide ([`process`]).

mod heuristics;
mod process;
mod propose;
mod recorded;
mod situation;
mod values;

use crate::liars_dice::rules::{Action, LiarsDice};
use crate::liars_dice::state::State;
use adept_game::deliberation::{Choice, Deliberation, Deliberator, Preferences};
use adept_game::{Found, Game, GameError, Recorded, Stream};
use process::Run;
use recorded::agreement;
use serde_json::Value;
use situation::Situation;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use values::Values;

/// A published generation of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// One rule base with flags; the only one with E.
    Old,
    /// Separate agents P, PH, PM, PMH.
    New,
    /// Like `New`, adjusted for play against people.
    App,
}

/// The parts of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letters {
    /// E: expected numbers in place of probabilities.
    pub(super) expects: bool,
    /// M: a model of the last bidder.
    pub(super) model: bool,
    /// H: an expert's heuristics.
    pub(super) heuristics: bool,
}

impl Letters {
    /// Parses letters such as `PMH`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (expects, rest) = match text.split_at_checked(1)? {
            ("P", rest) => (false, rest),
            ("E", rest) => (true, rest),
            _ => return None,
        };
        let (model, heuristics) = match rest {
            "" => (false, false),
            "M" => (true, false),
            "H" => (false, true),
            "MH" => (true, true),
            _ => return None,
        };
        Some(Self { expects, model, heuristics })
    }
}

/// Temperature of the Boltzmann choice by numeric preferences.
const TEMPERATURE: f64 = 0.08;

/// Number of simulated runs that estimate an old agent's probabilities.
const RUNS: u64 = 2000;

/// A published agent.
#[derive(Clone, Debug)]
pub(super) struct Published {
    name: String,
    pub(super) generation: Generation,
    pub(super) letters: Letters,
}

#[derive(Default)]
struct Scratch {
    actions: Vec<Action>,
    values: Vec<Values>,
    preferences: Preferences,
    run: Run,
    probabilities: Vec<f64>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Published {
    pub(super) fn new(name: &str, generation: Generation, letters: Letters) -> Self {
        Self { name: name.into(), generation, letters }
    }

    /// The operators that the agent proposes, with repetitions.
    fn proposals(&self, situation: &Situation<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        propose::all(situation, self.generation, &mut actions);
        actions
    }

    /// A new agent's whole deliberation: all actions with their values, and those that symbolic preferences reject.
    fn weigh(&self, situation: &Situation<'_>, scratch: &mut Scratch, found: &mut Deliberation<Action>) {
        let Scratch { actions, values, preferences, .. } = scratch;
        found.clear();
        let model = situation.model(self.letters.model, self.generation);
        if let (Some(model), true) = (model, found.explains) {
            found.remarks.push(format!(
                "model: of the bidder's {} dice, {} match the face {}",
                model.cup, model.held, model.face
            ));
        }
        propose::all(situation, self.generation, actions);
        values.clear();
        for action in &*actions {
            let value = values::evaluate(situation, self.generation, action, model);
            values.push(value);
            let success = ((value.preference() + 1.0) / 2.0).clamp(0.0, 1.0);
            found.add_with(*action, success, value.preference(), None, &[]);
        }
        let hangs = self.letters.model && propose::never_evaluated(situation, actions);
        if hangs {
            // The original waits forever here; see `propose::never_evaluated`.
            for (candidate, action) in found.candidates.iter_mut().zip(&*actions) {
                if propose::is_push(action) {
                    candidate.dropped = Some("no evaluation");
                }
            }
        }
        preferences.clear();
        if self.letters.heuristics {
            // H4: a pass before the first bid is rejected.
            if situation.standing.is_none() {
                let passes = found.candidates.iter_mut().filter(|c| c.action == Action::Pass);
                passes.for_each(|c| c.dropped = Some("H4"));
            }
            heuristics::prefer(situation, self.generation, actions, values, found, preferences);
        }
        found.settle(preferences);
    }

    /// The values of all proposals.
    fn values(&self, situation: &Situation<'_>) -> Vec<Values> {
        let model = situation.model(self.letters.model, self.generation);
        let values = self.proposals(situation);
        values.iter().map(|action| values::evaluate(situation, self.generation, action, model)).collect()
    }

    /// The letters of the agent's parts.
    fn letters_text(&self) -> String {
        let Letters { expects, model, heuristics } = self.letters;
        let parts = [(true, if expects { "E" } else { "P" }), (model, "M"), (heuristics, "H")];
        parts.iter().filter(|(has, _)| *has).map(|(_, letter)| *letter).collect()
    }

    /// One run of an old agent: the remaining actions, as a mask over `scratch.actions`.
    fn run(&self, situation: &Situation<'_>, scratch: &mut Scratch, rng: &mut Stream) -> u64 {
        let Scratch { actions, run, .. } = scratch;
        propose::all(situation, self.generation, actions);
        run.decide(situation, self.letters, actions, rng)
    }
}

impl Deliberator<LiarsDice> for Published {
    fn name(&self) -> &str {
        &self.name
    }

    /// For an old agent, the success of an action is the share of [`RUNS`] runs that choose it.
    fn deliberate(
        &self,
        game: &LiarsDice,
        state: &State,
        player: usize,
        found: &mut Deliberation<<LiarsDice as Game>::Action>,
    ) {
        let situation = Situation::new(game, state, player);
        SCRATCH.with_borrow_mut(|scratch| {
            if self.generation != Generation::Old {
                return self.weigh(&situation, scratch, found);
            }
            found.clear();
            let mut rng = adept_game::stream(0, "soar-old", 0);
            let mut chosen = [0.0; u64::BITS as usize];
            let mut classes = [0; u64::BITS as usize];
            for _ in 0..RUNS {
                let left = self.run(&situation, scratch, &mut rng);
                scratch.run.probabilities(left, &mut scratch.probabilities);
                for (i, p) in scratch.probabilities.iter().enumerate() {
                    chosen[i] += p / RUNS as f64;
                    classes[i] |= scratch.run.classes(i);
                }
            }
            for (i, action) in scratch.actions.iter().enumerate() {
                found.add(*action, chosen[i], process::class_name(classes[i]), &[]);
                if chosen[i] == 0.0 {
                    found.candidates[i].dropped = Some("preferences");
                }
            }
        });
    }

    fn decide(
        &self,
        game: &LiarsDice,
        state: &State,
        player: usize,
        found: &mut Deliberation<Action>,
        probabilities: &mut Vec<f64>,
        rng: &mut Stream,
    ) {
        if self.generation != Generation::Old {
            self.deliberate(game, state, player, found);
            return found.choose(self.choice(), probabilities);
        }
        let situation = Situation::new(game, state, player);
        SCRATCH.with_borrow_mut(|scratch| {
            let left = self.run(&situation, scratch, rng);
            scratch.run.probabilities(left, probabilities);
            found.clear();
            scratch.actions.iter().for_each(|action| found.add(*action, 0.0, None, &[]));
        });
    }

    fn with_settings(&self, _settings: &Value) -> Result<Arc<dyn Deliberator<LiarsDice>>, GameError> {
        let name = &self.name;
        let letters = name.rsplit(':').next().unwrap_or(name);
        Err(GameError::new(format!(
            "`{name}` decides as published and has no settings; `paper:{letters}` has"
        )))
    }

    fn recorded(&self, path: &Path) -> Found<Recorded> {
        Some(agreement(self, path))
    }

    fn choice(&self) -> Choice {
        match self.generation {
            Generation::Old => Choice::Proportional,
            Generation::New | Generation::App => Choice::Boltzmann(TEMPERATURE),
        }
    }
}
