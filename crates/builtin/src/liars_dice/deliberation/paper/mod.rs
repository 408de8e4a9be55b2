//! The profile `paper`: the text of the paper, with thresholds that can be set.
//!
//! Thresholds that the paper does not give come from its authors' published agents; see [`DeliberateSettings`]. This
//! profile also notes the features that it reads, so that rules can be made of them, and it plays the other rule sets.

mod evaluate;
pub(in crate::liars_dice) mod feature;
mod heuristics;
mod model;
mod propose;
mod settings;
pub(super) mod view;

pub use settings::{DeliberateSettings, EvaluateBy, Heuristic};

use crate::liars_dice::rules::LiarsDice;
use crate::liars_dice::state::State;
use adept_game::deliberation::{Choice, Condition, Deliberation, Deliberator, Preferences};
use adept_game::{Found, Game, GameError};
use evaluate::Evaluated;
use feature::Reader;
use serde_json::Value;
use std::cell::RefCell;
use std::sync::Arc;
use view::View;

/// A deliberating agent for liar's dice.
#[derive(Clone, Debug, PartialEq)]
pub struct Deliberate {
    name: String,
    settings: DeliberateSettings,
    /// Whether it considers more candidates than it would choose from.
    wide: bool,
}

impl Deliberate {
    /// An agent with these settings.
    ///
    /// # Errors
    /// The invalid setting.
    pub fn new(name: &str, settings: DeliberateSettings) -> Result<Self, String> {
        settings.check()?;
        Ok(Self { name: name.into(), settings, wide: false })
    }

    /// Considers all bids up to one full count above the base, each with its push, whatever the standing bid:
    /// candidates for a network.
    pub(in crate::liars_dice) fn widened(mut self) -> Self {
        self.wide = true;
        self
    }

    /// Its settings.
    pub fn settings(&self) -> &DeliberateSettings {
        &self.settings
    }
}

/// The agent named `name` with these settings changed. None if the name is unknown.
pub(super) fn find(name: &str, settings: &Value) -> Found<Arc<dyn Deliberator<LiarsDice>>> {
    let letters = name.strip_prefix("paper:").unwrap_or(name);
    let made = DeliberateSettings::named(letters)?.with(settings);
    Some(match made.and_then(|settings| Deliberate::new(name, settings)) {
        Ok(deliberator) => Ok(Arc::new(deliberator)),
        Err(why) => Err(GameError::new(format!("settings of {name}: {why}"))),
    })
}

#[derive(Default)]
struct Scratch {
    reader: Reader,
    preferences: Preferences,
    model_read: Reader,
}

impl Deliberator<LiarsDice> for Deliberate {
    fn name(&self) -> &str {
        &self.name
    }

    fn deliberate(
        &self,
        game: &LiarsDice,
        state: &State,
        player: usize,
        found: &mut Deliberation<<LiarsDice as Game>::Action>,
    ) {
        thread_local! {
            static SCRATCH: RefCell<Scratch> = RefCell::default();
        }
        let settings = &self.settings;
        let view = View::new(game, state, player);
        SCRATCH.with_borrow_mut(|scratch| {
            let Scratch { reader, preferences, model_read } = scratch;
            found.clear();
            model_read.clear();
            let mut evaluate = |model, model_read: &Reader, found: &mut Deliberation<_>| {
                propose::each(&view, self.wide, |action| {
                    reader.clear();
                    let Evaluated { success, class } =
                        evaluate::action(&view, settings, &action, model, reader);
                    reader.0.extend_from_slice(&model_read.0);
                    found.add(action, success, class, &reader.0);
                });
            };
            evaluate(None, model_read, found);
            // If an action is certain without the model, the model is not used.
            let certain = |found: &Deliberation<_>| found.candidates.iter().any(|c| c.success >= 1.0);
            if settings.model && !certain(found) {
                let model = model::of_bidder(&view, settings, model_read);
                if let Some(model) = model {
                    let explains = found.explains;
                    found.clear();
                    evaluate(Some(model), model_read, found);
                    if explains {
                        found.remarks.push(format!(
                            "model: of the bidder's {} dice, {} match the face {}",
                            model.cup, model.held, model.face
                        ));
                    }
                }
            }
            if settings.evaluation == EvaluateBy::Expectation {
                evaluate::keep_the_best_class(settings, found);
            }
            preferences.clear();
            heuristics::prefer(&view, settings, found, preferences);
            found.settle(preferences);
        });
    }

    fn with_settings(&self, settings: &Value) -> Result<Arc<dyn Deliberator<LiarsDice>>, GameError> {
        find(&self.name, settings)
            .unwrap_or_else(|| Err(GameError::new(format!("{} has no settings", self.name))))
    }

    fn choice(&self) -> Choice {
        match self.settings.evaluation {
            EvaluateBy::Probability => Choice::Boltzmann(self.settings.temperature),
            EvaluateBy::Expectation => Choice::Uniform,
        }
    }

    fn condition_text(&self, _: &LiarsDice, condition: Condition) -> String {
        feature::condition(condition)
    }

    fn operator_text(&self, game: &LiarsDice, conditions: &[Condition]) -> String {
        feature::operator(conditions, game.wild(false))
    }
}
