//! A game between one person and agents, step by step, independent of its display.

use crate::error::PlayError;
use adept_arena::{Decision, OpenError};
use adept_game::{
    GameError, GameRecord, Kit, Resignation, Stream, Turn, outcome_classes, outcome_of, score_text, stream,
};
use adept_ground::order::sort_by_highest;
use adept_model::OutcomeClass;

/// An event: a chance event or a move.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step<G: Kit> {
    /// Player who moved, from 0; none for a chance event.
    pub(crate) player: Option<usize>,
    /// The move or the outcome.
    pub(crate) action: G::Action,
    /// The move or the outcome as text.
    pub(crate) text: String,
    /// The event as a sentence for the person; empty if it is irrelevant to the person.
    pub(crate) said: String,
    /// Sentences about what the event reveals to everyone.
    pub(crate) revealed: Option<String>,
}

/// The state of a game before a move of the person, for undo.
struct Mark<G: Kit> {
    state: G::State,
    steps: usize,
    chances: u64,
}

/// A game between a person in one seat and agents in all others.
pub(crate) struct Session<G: Kit> {
    /// The state.
    pub(crate) state: G::State,
    /// The person's seat, from 0.
    pub(crate) seat: usize,
    /// Seed of the dice and of the agents' random draws.
    pub(crate) seed: u64,
    /// All steps so far.
    pub(crate) steps: Vec<Step<G>>,
    chances: u64,
    past: Vec<Mark<G>>,
    /// The class of results with which the person resigned. None if resigning is an action of the game.
    pub(crate) given_up: Option<OutcomeClass>,
}

/// A way to resign.
pub(crate) enum WayToResign<G: Kit> {
    /// The game ends at once with this class of results.
    Class(OutcomeClass),
    /// An action of the game.
    Action(Resignation<G::Action>),
}

impl<G: Kit> WayToResign<G> {
    /// Name of the class of results, or one like it.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Class(class) => &class.name,
            Self::Action(resignation) => resignation.name,
        }
    }
}

/// The next actor in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The person is to move.
    Person,
    /// An agent in this seat is to move.
    Agent(usize),
    /// A chance event comes next.
    Chance,
    /// The game is over.
    Over,
}

impl<G: Kit> Session<G> {
    /// Starts at the start of the game, or at a position in its text form.
    ///
    /// # Errors
    /// [`PlayError::Seat`], and [`PlayError::Position`] if the text is not a position that can be continued.
    pub(crate) fn begin(game: &G, seat: usize, seed: u64, from: Option<&str>) -> Result<Self, PlayError> {
        if seat >= game.players() {
            return Err(PlayError::Seat { game: game.name().into(), players: game.players() });
        }
        let state = match from {
            Some(text) => beginning(game, text).map_err(PlayError::Position)?,
            None => game.start(),
        };
        Ok(Self { state, seat, seed, steps: Vec::new(), chances: 0, past: Vec::new(), given_up: None })
    }

    /// The next actor.
    pub(crate) fn next(&self, game: &G) -> Next {
        match game.turn(&self.state) {
            Turn::Over => Next::Over,
            _ if self.given_up.is_some() => Next::Over,
            Turn::Chance => Next::Chance,
            Turn::Player(player) if player == self.seat => Next::Person,
            Turn::Player(player) => Next::Agent(player),
        }
    }

    /// Draws the outcome of a chance event. Draws depend only on the place in the game, so that undoing and repeating a
    /// move gives the same cards or dice.
    pub(crate) fn draw(&mut self, game: &G) -> &Step<G> {
        let mut rng = stream(self.seed, "terminal chance", self.chances);
        let action = game.sample(&self.state, &mut rng);
        self.chances += 1;
        let said = game.texts().chance(game, &self.state, &action, self.seat);
        self.apply(game, None, action, said, None)
    }

    /// Makes an agent's move. `choose` receives its decision and its random draws.
    ///
    /// # Errors
    /// Those of `choose`.
    pub(crate) fn answer<E: From<OpenError>>(
        &mut self,
        game: &G,
        player: usize,
        choose: impl FnOnce(Decision<'_, G>, &mut Stream) -> Result<G::Action, E>,
    ) -> Result<&Step<G>, E> {
        let mut rng = stream(self.seed, "terminal choices", self.steps.len() as u64);
        let action = choose(Decision::new(game, &self.state, player), &mut rng)?;
        let who = match game.players() {
            2 => "It".into(),
            _ => format!("Player {}", player + 1),
        };
        let said = game.texts().told(game, &self.state, &action, &who, false);
        let revealed = game.texts().event(game, &self.state, &action, self.seat);
        Ok(self.apply(game, Some(player), action, said, revealed))
    }

    /// Makes a legal move of the person.
    pub(crate) fn act(&mut self, game: &G, action: G::Action) -> &Step<G> {
        self.past.push(Mark { state: self.state.clone(), steps: self.steps.len(), chances: self.chances });
        let said = game.texts().told(game, &self.state, &action, "You", true);
        let revealed = game.texts().event(game, &self.state, &action, self.seat);
        self.apply(game, Some(self.seat), action, said, revealed)
    }

    /// The ways in which the person may resign, the smallest loss first.
    pub(crate) fn ways_to_resign(&self, game: &G) -> Vec<WayToResign<G>> {
        let actions = (game.results().resignations)(game, &self.state, self.seat);
        match actions.is_empty() {
            true => losses(game).into_iter().map(WayToResign::Class).collect(),
            false => actions.into_iter().map(WayToResign::Action).collect(),
        }
    }

    /// Resigns for the person. Returns the step, if it is an action of the game.
    pub(crate) fn resign(&mut self, game: &G, way: WayToResign<G>) -> Option<&Step<G>> {
        match way {
            WayToResign::Class(class) => {
                self.given_up = Some(class);
                None
            }
            WayToResign::Action(resignation) => Some(self.act(game, resignation.action)),
        }
    }

    fn apply(
        &mut self,
        game: &G,
        player: Option<usize>,
        action: G::Action,
        said: String,
        revealed: Option<String>,
    ) -> &Step<G> {
        let is_seen = player == Some(self.seat) || !game.texts().is_secret(game, &self.state, &action);
        let text = if is_seen { game.action_text(&self.state, &action) } else { String::new() };
        game.apply(&mut self.state, &action);
        self.steps.push(Step { player, action, text, said, revealed });
        &self.steps[self.steps.len() - 1]
    }

    /// Whether the person has a move to undo.
    pub(crate) fn can_undo(&self) -> bool {
        self.given_up.is_some() || !self.past.is_empty()
    }

    /// Undoes the person's last move with all later steps, or a resignation. Returns false if there is none.
    pub(crate) fn undo(&mut self) -> bool {
        if self.given_up.take().is_some() {
            return true;
        }
        let Some(mark) = self.past.pop() else { return false };
        self.state = mark.state;
        self.steps.truncate(mark.steps);
        self.chances = mark.chances;
        true
    }

    /// The person's utility, if the game is over.
    pub(crate) fn outcome(&self, game: &G) -> Option<f64> {
        match (&self.given_up, self.next(game)) {
            // A class stores its utility in 32 bits.
            (Some(class), _) => Some((f64::from(class.utility) * game.scale() * 1e6).round() / 1e6),
            (None, Next::Over) => Some(game.utility(&self.state, self.seat)),
            _ => None,
        }
    }

    /// Describes the result.
    pub(crate) fn verdict(&self, game: &G) -> Option<String> {
        let outcome = self.outcome(game)?;
        let classes = outcome_classes(game).unwrap_or_default();
        let class = self.given_up.as_ref().or_else(|| {
            outcome_of(game, &classes, &self.state, self.seat).and_then(|class| classes.get(class))
        });
        let kind = class.and_then(|class| size_of(&class.name)).map(|(_, kind)| kind);
        let in_unit = game.counting().unit().map(|unit| {
            let score = (outcome / unit.size).abs();
            let digits = if score.fract() == 0.0 { 0 } else { 2 };
            let one = if score == 1.0 { unit.name.strip_suffix('s') } else { None };
            format!("{} {}", score_text(score, digits).trim_start_matches('+'), one.unwrap_or(&unit.name))
        });
        let verb = match outcome {
            o if o > 0.0 => "win",
            o if o < 0.0 => "lose",
            _ => return Some("A draw.".into()),
        };
        let what = match (kind, in_unit) {
            (Some(kind), Some(score)) => format!(" a {kind} ({score})"),
            (Some(kind), None) => format!(" a {kind}"),
            (None, Some(score)) => format!(" {score}"),
            (None, None) => String::new(),
        };
        let resigned = if self.given_up.is_some() { "resign and " } else { "" };
        Some(format!("You {resigned}{verb}{what}."))
    }

    /// The whole game in its usual format, as number 1; none if the format does not support it. `opponent` names the
    /// agents.
    ///
    /// # Errors
    /// Why these rules do not fit the format.
    pub(crate) fn history(&self, game: &G, opponent: &str) -> Result<Option<String>, GameError> {
        let name = |seat| if seat == self.seat { "you" } else { opponent };
        let names: Vec<&str> = (0..game.players()).map(name).collect();
        let actions: Vec<G::Action> = self.steps.iter().map(|step| step.action.clone()).collect();
        let given_up = self.outcome(game).filter(|_| self.given_up.is_some());
        let resigned = given_up.map(|outcome| if self.seat == 0 { outcome } else { -outcome });
        let record = GameRecord { number: 1, names: &names, scores: &[], actions: &actions, resigned };
        game.records().write(game, &record).transpose()
    }
}

/// The meaning of a class such as `loss_gammon`: the result, and its size in words; none without a size.
fn size_of(class: &str) -> Option<(&str, String)> {
    let (head, size) = class.split_once('_')?;
    let is_size = matches!(head, "win" | "loss") && size.chars().all(|c| c.is_alphabetic() || c == '_');
    is_size.then(|| (head, size.replace('_', " ")))
}

/// Describes a class of results as an action: `loses a gammon` for `loss_gammon`. Other names keep their words.
pub(crate) fn in_words(class: &str) -> String {
    let verb = |head: &str| match head {
        "win" => Some("wins"),
        "loss" => Some("loses"),
        "draw" => Some("draws"),
        _ => None,
    };
    match size_of(class) {
        Some((head, size)) => format!("{} a {size}", verb(head).unwrap_or(head)),
        None => verb(class).map_or_else(|| class.replace('_', " "), String::from),
    }
}

/// The classes of results available for resignation, smallest loss first.
fn losses<G: Kit>(game: &G) -> Vec<OutcomeClass> {
    if !game.zero_sum() {
        return Vec::new();
    }
    let mut losses = outcome_classes(game).unwrap_or_default();
    losses.retain(|class| class.utility < 0.0);
    sort_by_highest(&mut losses, &|class| class.utility.into());
    losses
}

/// Parses the starting position of a game.
fn beginning<G: Kit>(game: &G, text: &str) -> Result<G::State, String> {
    let (state, _) = game.parse_position(text).map_err(|e| e.to_string())?;
    if game.turn(&state) == Turn::Over {
        return Err(format!("`{text}`: the game is over in this position"));
    }
    // Cards that are still to be dealt are not missing.
    let (mut dealt, mut rng) = (state.clone(), stream(0, "terminal beginning", 0));
    while game.turn(&dealt) == Turn::Chance {
        let outcome = game.sample(&dealt, &mut rng);
        game.apply(&mut dealt, &outcome);
    }
    let missing = |player| game.texts().missing(game, &dealt, player).map(|what| (player + 1, what));
    match (0..game.players()).find_map(missing) {
        Some((player, what)) => Err(format!("`{text}`: to play on from here, player {player} needs {what}")),
        None => Ok(state),
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn classes_are_said_in_words() {
        for (class, said) in [
            ("win", "wins"),
            ("loss", "loses"),
            ("draw", "draws"),
            ("win_gammon", "wins a gammon"),
            ("loss_backgammon", "loses a backgammon"),
            ("no_contest", "no contest"),
            ("win_2", "win 2"),
        ] {
            assert_eq!(in_words(class), said);
        }
    }
}
