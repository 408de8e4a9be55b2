//! Hold'em's [`Kit`]: an encoder, scripts, SoarBot, a starter config.

use super::encoder::Features;
use super::equity::worth;
use super::game::Words;
use super::history::Hands;
use super::rules::{self, Holdem};
use super::soarbot::{self, Profile, RuleKeys, SoarBot};
use super::state::{Action, State};
use crate::Family;
use adept_game::{
    Agents, Card, Deliberator, Encoders, Found, GameError, Kit, Listing, Named, Numbering, PositionFiles,
    Records, Results, Script, Texts,
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

/// The rule-based policy named `name`.
fn script(name: &str) -> Option<Script<Holdem>> {
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
    Some(Arc::new(move |_: &Holdem, state: &State, actions: &[Action], p: &mut Vec<f64>| {
        let wanted = choose(state);
        let chosen = if actions.contains(&wanted) { wanted } else { Action::Call };
        p.clear();
        p.extend(actions.iter().map(|action| f64::from(u8::from(*action == chosen))));
    }))
}

/// The player named `name`, which follows the rules of a profile.
fn deliberator(name: &str) -> Found<Arc<dyn Deliberator<Holdem>>> {
    Some(profile(name)?.map(|profile| Arc::new(SoarBot::new(name, profile)) as _))
}

/// The exact chances, the pot odds, and what SoarBot would do and why.
fn advice(game: &Holdem, state: &State, player: usize) -> Option<String> {
    let soarbot = SoarBot::new("soarbot", Profile::built_in("soarbot")?.ok()?);
    Some(soarbot.advice(game, state, player))
}

impl Kit for Holdem {
    fn card(&self) -> Card {
        Card {
            about: "Texas hold'em, fixed limit: holdem:limit:N for 2 to 10 players; then blinds=5/10, bets=10/20, cap=4, stack=200".into(),
            starter: Some(include_str!("starter.toml").into()),
            ..Card::of(self)
        }
    }

    fn results(&self) -> Results<Self> {
        Results::of(|game| {
            Err(GameError::new(format!(
                "{}: a deal wins or loses any number of bets, so its results are not a few classes",
                game.name
            )))
        })
    }

    /// To fold, to call or check, to bet or raise.
    fn action_numbers(&self) -> Numbering<Self> {
        Numbering::new(3, |_, _, action| match action {
            Action::Deal(_) | Action::Fold => 0,
            Action::Call => 1,
            Action::Raise => 2,
        })
    }

    fn texts(&self) -> &dyn Texts<Self> {
        &Words
    }

    fn encoders(&self) -> Encoders<'_, Self> {
        let names = Named::list(&[
            (Features::NAME, "own cards, exact chances, hand and board, bets so far, seat, and a move"),
            (
                "rules:soarbot",
                "what SoarBot's rules read, as the key of a rule memory (lookup), and what they think of a move; rules:FILE for \
                 rules of your own",
            ),
        ]);
        Encoders::<Self>::new(names, |name| {
            if name == Features::NAME {
                return Some(Arc::new(Features::default()));
            }
            let of = name.strip_prefix(RULES)?;
            let profile = Profile::built_in(of).unwrap_or_else(|| Profile::read(Path::new(of)));
            Some(Arc::new(RuleKeys::new(name, profile)))
        })
    }

    fn agents(&self) -> Agents<'_, Self> {
        let equity = "bets or raises if its expected share of the pot against one random hand is above T, otherwise checks or calls";
        let names = Named::list(&[
            ("always-call", "checks or calls"),
            ("always-raise", "bets or raises if possible, otherwise calls"),
            ("equity:T", equity),
        ]);
        let about = |name| Some(Profile::built_in(name)?.ok()?.about.clone());
        let built_in =
            soarbot::names().filter_map(|name| Some(Named { name: name.into(), about: about(name)?.into() }));
        let own = Named { name: "rules:FILE".into(), about: "rules of your own, from a TOML file".into() };
        Agents {
            deliberators: Listing::new(built_in.chain([own]).collect(), deliberator),
            strongest: Some("soarbot"),
            advice: Some(advice),
            ..Agents::scripts(Listing::new(names, script))
        }
    }

    fn records(&self) -> &dyn Records<Self> {
        &Hands
    }

    fn files(&self) -> &dyn PositionFiles<Self> {
        &Hands
    }
}
