//! SoarBot as an agent.

use super::super::rules::Holdem;
use super::super::state::{Action, Deal, Entry, State};
use super::attributes::{Attributes, proposal_name};
use super::profile::{Profile, Proposed, STAGES};
use super::recorded::agreement;
use adept_game::deliberation::Condition;
use adept_game::{Choice, Deliberation, Deliberator, Found, Game, GameError, Recorded, Turn};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// A player that follows a [`Profile`].
#[derive(Clone, Debug)]
pub struct SoarBot {
    name: String,
    profile: Arc<Profile>,
}

/// Hidden state of the player, with its probability.
#[derive(Clone, Copy, Debug)]
struct Hidden {
    weight: f64,
    /// The flag `maybe`, drawn once a hand.
    maybe: bool,
    /// Whether the player has checked in order to raise at its next turn in this stage.
    pending: bool,
    /// Whether the player has already raised after such a check in this hand.
    used: bool,
}

impl SoarBot {
    /// Creates a player with this name.
    pub fn new(name: &str, profile: Arc<Profile>) -> Self {
        Self { name: name.into(), profile }
    }

    fn fresh(&self) -> Vec<Hidden> {
        let one = |maybe: bool, weight: f64| Hidden { weight, maybe, pending: false, used: false };
        let all = [one(true, self.profile.maybe), one(false, 1.0 - self.profile.maybe)];
        all.into_iter().filter(|hidden| hidden.weight > 0.0).collect()
    }

    /// Possible hidden states of the player at its decision, given its previous actions in this hand.
    fn hidden(&self, game: &Holdem, state: &State, player: usize) -> Vec<Hidden> {
        let mut hidden = self.fresh();
        if !self.remembers(state, player) {
            // Without the flag, the first decision in a stage does not depend on earlier ones.
            if !self.profile.stages[state.round()].asks_maybe {
                hidden.truncate(1);
                hidden[0].weight = 1.0;
                return hidden;
            }
            if state.round() == 0 {
                return hidden;
            }
        }
        // Replays the hand.
        let mut past = game.start();
        let mut board = state.board();
        let hole = (0..game.players()).flat_map(|seat| match state.hole(seat) {
            Some([a, b]) => [Some(a), Some(b)],
            None => [None, None],
        });
        game.apply(&mut past, &Action::Deal(Deal::new(hole)));
        for entry in state.history().entries() {
            let action = match entry {
                Entry::End => {
                    let cards = game.cards_to_deal(&past);
                    let deal = Deal::new(board.by_ref().take(cards).map(Some).collect::<Vec<_>>());
                    game.apply(&mut past, &Action::Deal(deal));
                    hidden.iter_mut().for_each(|hidden| hidden.pending = false);
                    continue;
                }
                Entry::Fold => Action::Fold,
                Entry::Call => Action::Call,
                Entry::Raise => Action::Raise,
            };
            if game.turn(&past) == Turn::Player(player) {
                hidden = self.learn(game, &past, player, &hidden, action);
            }
            game.apply(&mut past, &action);
        }
        hidden
    }

    /// Whether earlier actions can matter now: those in this stage, or a raise after a check in an earlier one.
    fn remembers(&self, state: &State, player: usize) -> bool {
        state.has_moved(player) || state.raised_late >> player & 1 == 1
    }

    /// Updates the hidden states after an own action.
    fn learn(
        &self,
        game: &Holdem,
        past: &State,
        player: usize,
        before: &[Hidden],
        action: Action,
    ) -> Vec<Hidden> {
        let mut after = Vec::with_capacity(2 * before.len());
        let attributes = Attributes::new(game, past, player, self.profile.straights);
        for hidden in before {
            for (proposal, p) in self.proposals(attributes.as_ref(), hidden).into_iter().enumerate() {
                if p > 0.0 && played(game, past, proposal) == action {
                    let trap = proposal == Proposed::CheckRaise as usize;
                    let used = hidden.used || hidden.pending && action == Action::Raise;
                    after.push(Hidden { weight: hidden.weight * p, pending: trap, used, ..*hidden });
                }
            }
        }
        let total: f64 = after.iter().map(|hidden| hidden.weight).sum();
        if total <= 0.0 {
            // This action contradicts the policy, so another player acted so far: nothing is known.
            return before.iter().map(|hidden| Hidden { pending: false, ..*hidden }).collect();
        }
        after.iter_mut().for_each(|hidden| hidden.weight /= total);
        after
    }

    /// Probability of each proposal.
    fn proposals(&self, attributes: Option<&Attributes>, hidden: &Hidden) -> [f64; 4] {
        if hidden.pending {
            return [0.0, 0.0, 1.0, 0.0];
        }
        // Without own cards, the player calls.
        attributes.map_or([0.0, 1.0, 0.0, 0.0], |a| a.proposals(&self.profile, (hidden.maybe, hidden.used)))
    }

    /// Probabilities of fold, call and raise.
    pub fn policy(&self, game: &Holdem, state: &State, player: usize) -> [f64; 3] {
        let mut p = [0.0; 3];
        let attributes = Attributes::new(game, state, player, self.profile.straights);
        for hidden in self.hidden(game, state, player) {
            for (proposal, q) in self.proposals(attributes.as_ref(), &hidden).into_iter().enumerate() {
                let place = match played(game, state, proposal) {
                    Action::Fold => 0,
                    Action::Raise => 2,
                    _ => 1,
                };
                p[place] += hidden.weight * q;
            }
        }
        p
    }

    /// Explains in lines what SoarBot would do in place of the player.
    pub(in super::super) fn advice(&self, game: &Holdem, state: &State, player: usize) -> String {
        let mut choices: Vec<(&str, f64)> = [
            "fold",
            if state.to_call(player) > 0 { "call" } else { "check" },
            if state.bets() > 0 { "raise" } else { "bet" },
        ]
        .into_iter()
        .zip(self.policy(game, state, player))
        .filter(|(_, p)| *p > 0.0)
        .collect();
        choices.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shown: Vec<String> = choices
            .iter()
            .map(
                |(name, p)| if *p < 0.9995 { format!("{name} ({:.0} %)", 100.0 * p) } else { (*name).into() },
            )
            .collect();
        let mut text = format!("In your place {} would {}:\n", self.name, shown.join(" or "));
        for line in self.reasons(game, state, player) {
            text.push_str("  ");
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    /// Lines with the strengths, the rules that fire and their numbers.
    fn reasons(&self, game: &Holdem, state: &State, player: usize) -> Vec<String> {
        let Some(attributes) = Attributes::new(game, state, player, self.profile.straights) else {
            return vec!["its cards are not known".into()];
        };
        let mut lines = Vec::new();
        let flags: Vec<&str> = attributes.flags.names().collect();
        lines.push(format!("{}: {}", STAGES[attributes.stage], flags.join(", ")));
        lines.push(attributes.chances());
        // If no rule asks for the flag, both of its values decide alike.
        let asks = self.profile.stages[attributes.stage].asks_maybe;
        let mut all = self.hidden(game, state, player);
        if !asks && all.iter().all(|hidden| !hidden.pending && hidden.used == all[0].used) {
            all.truncate(1);
            all[0].weight = 1.0;
        }
        for hidden in all {
            let maybe = match (asks, hidden.maybe) {
                (false, _) => "",
                (true, true) => " with maybe",
                (true, false) => " without maybe",
            };
            if hidden.pending {
                lines.push(format!("{:.0} %{maybe}: it has checked to raise", 100.0 * hidden.weight));
                continue;
            }
            let mut fired = Vec::new();
            let strength =
                attributes.fire(&self.profile, (hidden.maybe, hidden.used), |rule| fired.push(rule));
            let shown = if strength.is_finite() { format!(", strength {strength}") } else { String::new() };
            lines.push(format!("{:.0} %{maybe}{shown}:", 100.0 * hidden.weight));
            fired.sort_by(|a, b| b.score.total_cmp(&a.score));
            for rule in fired {
                let why: Vec<String> =
                    rule.when.iter().filter_map(|c| attributes.text(c, strength)).collect();
                let why = if why.is_empty() { String::new() } else { format!(": {}", why.join(", ")) };
                lines.push(format!("  {} {} “{}”{why}", rule.score, rule.action.name(), rule.name));
            }
        }
        lines
    }
}

/// The action of a proposal: a check-raise starts with a check, a raise at the cap becomes a call, and a free check
/// replaces a fold.
fn played(game: &Holdem, state: &State, proposal: usize) -> Action {
    match proposal_name(proposal) {
        "fold" if state.to_call(state.mover.into()) > 0 => Action::Fold,
        "raise" if game.may_raise(state) => Action::Raise,
        _ => Action::Call,
    }
}

impl Deliberator<Holdem> for SoarBot {
    fn name(&self) -> &str {
        &self.name
    }

    fn deliberate(&self, game: &Holdem, state: &State, player: usize, found: &mut Deliberation<Action>) {
        found.clear();
        if found.explains {
            found.remarks = self.reasons(game, state, player);
        }
        let p = self.policy(game, state, player);
        for (action, p) in [Action::Fold, Action::Call, Action::Raise].into_iter().zip(p) {
            let legal = match action {
                Action::Fold => state.to_call(player) > 0,
                Action::Raise => game.may_raise(state),
                _ => true,
            };
            if legal {
                found.add(action, p, None, &[]);
            }
        }
    }

    fn with_settings(&self, _settings: &Value) -> Result<Arc<dyn Deliberator<Holdem>>, GameError> {
        Err(GameError::new(format!("{} has no settings: change its rule file instead", self.name)))
    }

    fn recorded(&self, path: &Path) -> Found<Recorded> {
        Some(agreement(&self.profile, path))
    }

    fn choice(&self) -> Choice {
        Choice::Proportional
    }

    fn condition_text(&self, _: &Holdem, _: Condition) -> String {
        String::new()
    }

    fn operator_text(&self, _: &Holdem, _: &[Condition]) -> String {
        String::new()
    }
}
