//! Hold'em's [`Kit`]: an encoder, scripts, SoarBot, a starter config.

use super::encoder::Features;
use super::equity::worth;
use super::rules::Holdem;
use super::soarbot::{Profile, RuleKeys, SoarBot, agreement, names};
use super::state::{Action, State};
use super::{history, rules};
use crate::Family;
use adept_game::sheet::Sheet;
use adept_game::{
    Deliberator, Encoder, Found, GameError, Kit, Named, OutcomeClass, ParsedPosition, Recorded, Script, files,
};
use std::path::Path;
use std::sync::Arc;

impl Family for Holdem {
    const USUAL: &str = "holdem:limit:2";

    fn named(name: &str) -> Found<Self> {
        rules::named(name)
    }
}

/// Prefix of agents that bet by their chances.
const EQUITY: &str = "equity:";
/// Prefix of agents whose rules come from a file.
const RULES: &str = "rules:";

/// The profile that an agent follows.
fn profile(agent: &str) -> Found<Arc<Profile>> {
    match agent.strip_prefix(RULES) {
        Some(path) => Some(Profile::read(Path::new(path))),
        None => Profile::built_in(agent),
    }
}

/// The player to move, by the seat.
fn mover(state: &State) -> usize {
    state.mover.into()
}

impl Kit for Holdem {
    fn about(&self) -> String {
        "Texas hold'em, fixed limit: holdem:limit:N for 2 to 10 players; then blinds=5/10, bets=10/20, cap=4, stack=200".into()
    }

    fn outcome_classes(&self) -> Result<Vec<OutcomeClass>, GameError> {
        Err(GameError::new(format!(
            "{}: a deal wins or loses any number of bets, so its results are not a few classes",
            self.name
        )))
    }

    /// To fold, to call or check, to bet or raise.
    fn action_space(&self) -> Option<usize> {
        Some(3)
    }

    fn action_number(&self, _: &State, action: &Action) -> usize {
        match action {
            Action::Deal(_) | Action::Fold => 0,
            Action::Call => 1,
            Action::Raise => 2,
        }
    }

    fn encoders(&self) -> Vec<Named> {
        Named::list(&[
            (Features::NAME, "own cards, exact chances, hand and board, bets so far, seat, and a move"),
            (
                "rules:soarbot",
                "what SoarBot's rules read, as the key of a rule memory (lookup), and what they think of a move; rules:FILE for \
                 rules of your own",
            ),
        ])
    }

    fn encoder(&self, name: &str) -> Option<Arc<dyn Encoder<Self>>> {
        if name == Features::NAME {
            return Some(Arc::new(Features::default()));
        }
        let of = name.strip_prefix(RULES)?;
        let profile = Profile::built_in(of).unwrap_or_else(|| Profile::read(Path::new(of)));
        Some(Arc::new(RuleKeys::new(name, profile)))
    }

    fn starter(&self) -> Option<String> {
        Some(include_str!("starter.toml").into())
    }

    fn scripts(&self) -> Vec<Named> {
        Named::list(&[
            ("always-call", "checks or calls"),
            ("always-raise", "bets or raises if possible, otherwise calls"),
            (
                "equity:T",
                "bets or raises if its expected share of the pot against one random hand is above T, otherwise checks or calls",
            ),
        ])
    }

    fn script(&self, name: &str) -> Option<Script<Self>> {
        let choose: Box<dyn Fn(&State) -> Action + Send + Sync> = match name {
            "always-call" => Box::new(|_| Action::Call),
            "always-raise" => Box::new(|_| Action::Raise),
            _ => {
                let least: f64 = name.strip_prefix(EQUITY)?.parse().ok()?;
                if !(0.0..=1.0).contains(&least) {
                    return None;
                }
                Box::new(move |state: &State| {
                    let board: Vec<_> = state.board().collect();
                    let chance = state.hole(mover(state)).map_or(0.0, |hole| worth(hole, &board).equity);
                    if chance > least { Action::Raise } else { Action::Call }
                })
            }
        };
        Some(Arc::new(move |_: &Self, state: &State, actions: &[Action], p: &mut Vec<f64>| {
            let wanted = choose(state);
            let chosen = if actions.contains(&wanted) { wanted } else { Action::Call };
            p.clear();
            p.extend(actions.iter().map(|action| f64::from(u8::from(*action == chosen))));
        }))
    }

    fn strongest(&self) -> Option<String> {
        Some("soarbot".into())
    }

    fn deliberators(&self) -> Vec<Named> {
        let about = |name| Some(Profile::built_in(name)?.ok()?.about.clone());
        let built_in =
            names().filter_map(|name| Some(Named { name: name.into(), about: about(name)?.into() }));
        let own = Named { name: "rules:FILE".into(), about: "rules of your own, from a TOML file".into() };
        built_in.chain([own]).collect()
    }

    fn deliberator(&self, name: &str, settings: &serde_json::Value) -> Found<Arc<dyn Deliberator<Self>>> {
        let profile = profile(name)?;
        if !settings.is_null() {
            return Some(Err(GameError::new(format!(
                "{name} has no settings: change its rule file instead"
            ))));
        }
        Some(profile.map(|profile| Arc::new(SoarBot::new(name, profile)) as _))
    }

    /// The exact chances, the pot odds, and what SoarBot would do and why.
    fn advice(&self, state: &State, player: usize) -> Option<String> {
        let soarbot = SoarBot::new("soarbot", Profile::built_in("soarbot")?.ok()?);
        Some(soarbot.advice(self, state, player))
    }

    fn history_suffix(&self) -> Option<&'static str> {
        Some(history::SUFFIX)
    }

    fn history(&self, number: u64, names: &[&str], actions: &[Action]) -> Found<String> {
        Some(history::write(self, number, names, actions))
    }

    fn add_history(&self, text: &str, game: &str) -> Found<(String, u64)> {
        Some(history::added(text, game))
    }

    /// Also the decisions of hand histories, `.phh` and `.phhs`.
    fn read_positions(&self, path: &Path) -> Result<Vec<ParsedPosition<Self>>, GameError> {
        if history::is_history(path) {
            history::read(self, path)
        } else {
            files::positions(self, &Sheet::read(path)?)
        }
    }

    fn recorded(&self, agent: &str, path: &Path) -> Found<Recorded> {
        Some(profile(agent)?.and_then(|profile| agreement(&profile, path)))
    }
}
