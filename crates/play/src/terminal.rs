//! The terminal game: shows the board, the value of each move, and the experts' weights.

use crate::error::PlayError;
use crate::session::{Next, Session, WayToResign, in_words};
use adept_arena::inspect::policy_of;
use adept_arena::{Agent, Decision, Evaluator, GameModel, OpenError, Scratch, naming, open};
use adept_game::{Kit, Stream, Turn, Worth, no_action, writable_records};
use adept_ground::order::sort_by_highest;
use adept_model::{Explanation, Head, OutcomeClass};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{BufRead, Write};
use textwrap::{Options, WordSplitter};

/// Options of a game.
#[derive(Clone, Debug)]
pub struct PlayOptions {
    /// A checkpoint, a run or an agent.
    pub opponent: String,
    /// The starting position as text; the start of the game if `None`.
    pub from: Option<String>,
    /// Seat of the person, from 0.
    pub seat: usize,
    /// Seed of the dice and the agent's random draws.
    pub seed: u64,
    /// Whether to show values and gates.
    pub hints: bool,
    /// Use the best checkpoint of a run.
    pub best: bool,
    /// Whether to record the game in its usual format.
    pub history: bool,
}

/// A played game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Played {
    /// Rule set.
    pub game: String,
    /// The agent.
    pub opponent: String,
    /// Seed of the dice and the agent's random draws.
    pub seed: u64,
    /// Moves and chance outcomes in order.
    pub moves: Vec<String>,
    /// The last position.
    pub position: String,
    /// Utility for the person; `None` if the game was abandoned.
    pub outcome: Option<f64>,
    /// The class of results with which the person resigned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resigned: Option<String>,
    /// The whole game in its usual format, if requested and finished.
    #[serde(skip)]
    pub history: Option<String>,
}

/// Source of the person's input lines.
pub trait Input {
    /// Shows the prompt and reads a line; `None` at the end of the input.
    ///
    /// # Errors
    /// If the terminal cannot be read or written.
    fn line(&mut self, prompt: &str, out: &mut dyn Write) -> std::io::Result<Option<String>>;
}

impl<R: BufRead> Input for R {
    fn line(&mut self, prompt: &str, out: &mut dyn Write) -> std::io::Result<Option<String>> {
        write!(out, "{prompt}")?;
        out.flush()?;
        let mut line = Vec::new();
        if self.read_until(b'\n', &mut line)? == 0 {
            writeln!(out)?;
            return Ok(None);
        }
        Ok(Some(String::from_utf8_lossy(&line).into_owned()))
    }
}

/// Plays one game. Writes to `out` and reads the person's commands from `input`; the end of the input abandons the
/// game.
///
/// # Errors
/// See [`PlayError`].
pub fn play<G: Kit>(
    game: &G,
    options: &PlayOptions,
    input: &mut dyn Input,
    out: &mut dyn Write,
) -> Result<Played, PlayError> {
    TerminalGame::new(game, options)?.play(input, out)
}

/// The agent: a checkpoint that can explain its choices, or another agent.
enum Opponent<G: Kit> {
    Model(Box<GameModel<G>>),
    Other(Box<dyn Agent<G>>),
}

/// Width of a terminal.
const COLUMNS: usize = 80;
/// Characters of stones in drawings.
const STONES: [char; 2] = ['●', '○'];
/// Largest number of moves that can be chosen by number.
const NUMBERED: usize = 60;
/// Largest number of lines of numbered moves shown at every turn; `help` has no limit.
const LINES_OF_MOVES: usize = 3;
/// Width of the list of moves in `help`.
const COLUMNS_OF_MOVES: usize = 50;
/// Number of expected replies in a hint.
const REPLIES: usize = 3;
/// Default number of moves in a hint.
const HINTED: usize = 10;

struct TerminalGame<'a, G: Kit> {
    game: &'a G,
    options: &'a PlayOptions,
    opponent: Opponent<G>,
    session: Session<G>,
    /// The last stone, if the last move only added one.
    stone: Option<usize>,
}

impl<'a, G: Kit> TerminalGame<'a, G> {
    fn new(game: &'a G, options: &'a PlayOptions) -> Result<Self, PlayError> {
        if options.history {
            if options.from.is_some() {
                let message =
                    "only games from the start can be recorded, not games that begin with a position".into();
                return Err(PlayError::History(message));
            }
            writable_records(game).map_err(|e| PlayError::History(e.to_string()))?;
        }
        let session = Session::begin(game, options.seat, options.seed, options.from.as_deref())?;
        let found = naming::resolve(game, &options.opponent, &[])?;
        let opponent = match found.plain_folder() {
            Some(folder) => {
                let (bound, _) = open::open_with(game, folder, options.best, found.spec.tables())?;
                Opponent::Model(Box::new(bound))
            }
            None => Opponent::Other(naming::build(game, &found, options.best)?),
        };
        Ok(Self { game, options, opponent, session, stone: None })
    }

    fn play(mut self, input: &mut dyn Input, out: &mut dyn Write) -> Result<Played, PlayError> {
        let mut scratch = Scratch::default();
        let begins = format!(
            "{}: you are player {} of {}, against {} (seed {}).\nType a move; `help` shows what else you can type.",
            self.game.name(),
            self.options.seat + 1,
            self.game.players(),
            self.options.opponent,
            self.options.seed
        );
        writeln!(out, "{}", folded(&begins))?;
        let mut before = String::new();
        loop {
            let now = self.game.texts().board(self.game, &self.session.state, &[], self.options.seat);
            self.stone = new_stone(&before, &now);
            before = now;
            match self.session.next(self.game) {
                Next::Over => break,
                Next::Chance => {
                    let said = &self.session.draw(self.game).said;
                    if !said.is_empty() {
                        writeln!(out, "\n{}", folded(said))?;
                    }
                    continue;
                }
                Next::Agent(player) => {
                    let (opponent, hints) = (&mut self.opponent, self.options.hints);
                    let mut thoughts = String::new();
                    let step = self.session.answer(self.game, player, |at, rng| {
                        answer(opponent, hints, at, &mut scratch, rng, &mut thoughts)
                    })?;
                    writeln!(out, "\n{}", folded(&format!("{}{thoughts}", step.said)))?;
                    reveal(step.revealed.as_deref(), out)?;
                    continue;
                }
                Next::Person => {}
            }
            self.game.actions(&self.session.state, &mut scratch.actions);
            if scratch.actions.is_empty() {
                return Err(
                    OpenError::from(no_action(self.game, &self.session.state, self.options.seat)).into()
                );
            }
            let list = short_list(self.game, &self.session.state);
            // The best move of a hint comes last, next to the prompt.
            match self.options.hints {
                true => write!(out, "\n{list}{}\n", self.board(HINTED))?,
                false => write!(out, "\n{}\n{list}", self.board(0))?,
            }
            if !ask(&mut self, input, out)? {
                return Ok(self.over(None));
            }
        }
        let said = self.session.verdict(self.game).unwrap_or_default();
        writeln!(out, "\n{}\n{said}", with_stone(before, self.stone))?;
        let history = match self.options.history {
            true => self
                .session
                .history(self.game, &self.options.opponent)
                .map_err(|e| PlayError::History(e.to_string()))?,
            false => None,
        };
        Ok(self.over(history))
    }

    /// The loss that `resign` followed by these words means.
    fn loss(&self, words: &str) -> Result<WayToResign<G>, String> {
        let losses = self.session.ways_to_resign(self.game);
        let ways: Vec<String> = losses.iter().map(|way| resigning(way.name())).collect();
        if ways.is_empty() {
            return Err(format!(
                "resignation is not possible in {}: `quit` leaves the game",
                self.game.name()
            ));
        }
        let wanted = format!("resign{words}");
        let found = ways.iter().position(|way| way.split_whitespace().eq(wanted.split_whitespace()));
        let found = found.and_then(|i| losses.into_iter().nth(i));
        found.ok_or_else(|| format!("`{wanted}`: write {}", ways.join(", ")))
    }

    fn over(self, history: Option<String>) -> Played {
        let outcome = self.session.outcome(self.game);
        Played {
            resigned: self.session.given_up.as_ref().map(|class| class.name.clone()),
            history,
            game: self.game.name().into(),
            opponent: self.options.opponent.clone(),
            seed: self.options.seed,
            position: self.game.position_text(&self.session.state),
            moves: self.session.steps.iter().map(|step| step.text.clone()).collect(),
            outcome,
        }
    }
}

impl<G: Kit> Asked for TerminalGame<'_, G> {
    fn help(&self) -> String {
        let moves = moves_here(self.game, &self.session.state);
        let rules =
            if self.game.texts().rules(self.game).is_some() { "rules how the game is played\n" } else { "" };
        let resign = match &self.session.ways_to_resign(self.game)[..] {
            [] => String::new(),
            [_] => "resign  lose the game here\n".into(),
            all => {
                let ways = all.iter().map(|way| resigning(way.name())).collect::<Vec<_>>().join(", ");
                format!("resign  lose the game here: {ways}\n")
            }
        };
        format!(
            "{moves}\n\
             hint  the {HINTED} best moves as your opponent sees them; hint 30 shows 30\n\
             board show the position again\n\
             undo  take back your last move\n\
             {rules}{resign}quit  leave the game"
        )
    }

    fn rules(&self) -> Result<String, &str> {
        self.game.texts().rules(self.game).ok_or(self.game.name())
    }

    fn undo(&mut self) -> bool {
        self.session.undo()
    }

    fn act(&mut self, text: &str) -> Result<Option<String>, String> {
        let action = match action_of(self.game, &self.session.state, text) {
            Ok(action) => action,
            Err(_) if text.split(' ').next() == Some("resign") => {
                let way = self.loss(&text[6..])?;
                return Ok(self.session.resign(self.game, way).and_then(|step| step.revealed.clone()));
            }
            Err(why) => return Err(why),
        };
        Ok(self.session.act(self.game, action).revealed.clone())
    }

    fn board(&mut self, count: usize) -> String {
        let (hints, player) = (count > 0, self.options.seat);
        let mut marks = Vec::new();
        let mut below = String::new();
        let numbered = numbered(self.game, &self.session.state);
        let at = Decision::new(self.game, &self.session.state, player);
        if let (Opponent::Model(bound), true) = (&mut self.opponent, hints) {
            let (mut actions, mut values) = (Vec::new(), Vec::new());
            bound.weigh(at, &mut actions, &mut values);
            let head = bound.model.head().clone();
            let shown: Vec<String> = match &head {
                Head::Outcomes(_) => {
                    let explain = |(action, value): (&G::Action, &f32)| {
                        let explained = bound.explain(at, action);
                        let outcomes = explained.map_or_else(Vec::new, |explained| explained.outcomes);
                        let worth = Worth { win_probability: None, ..Worth::of(self.game, (*value).into()) };
                        let text = outcomes_text(&head, &outcomes);
                        let gap = if text.is_empty() { "" } else { "  " };
                        format!("{}{gap}{text}", worth.describe((*value).into(), 3))
                    };
                    below.push_str(&legend(&head));
                    actions.iter().zip(&values).map(explain).collect()
                }
                Head::Value => {
                    let worth = |&value: &f32| Worth::of(self.game, value.into()).describe(value.into(), 3);
                    values.iter().map(worth).collect()
                }
                Head::Policy => policy_of(&values).iter().map(|p| format!("{:.1} %", 100.0 * p)).collect(),
            };
            let mut valued: Vec<_> = actions.iter().zip(&values).zip(shown).collect();
            sort_by_highest(&mut valued, &|((_, value), _)| f64::from(**value));
            if let [best, rest @ ..] = &valued[..]
                && !head.is_policy()
            {
                let name = |action: &G::Action| self.game.action_text(&self.session.state, action);
                let _ = write!(below, "It would play {}", name(best.0.0));
                if let Some(next) = rest.first() {
                    let value = f64::from(best.0.1 - next.0.1);
                    let worth = Worth::of(self.game, value);
                    let unit = worth.unit.map_or_else(String::new, |unit| format!(" {unit}"));
                    let better = worth.score.unwrap_or(value);
                    let _ = write!(below, ", {better:.3}{unit} better than {}", name(next.0.0));
                }
                below.push_str(&expected(self.game, bound, &self.session.state, best.0.0));
                below.push_str(".\n");
            }
            valued.truncate(count);
            for ((action, _), shown) in valued.into_iter().rev() {
                let name = self.game.action_text(&self.session.state, action);
                let number = numbered.iter().position(|other| other == action);
                let number = number.map_or_else(String::new, |i| format!("  ({})", i + 1));
                marks.push((action.clone(), shown + &number));
                let explanation = bound.explain(at, action);
                if let Some(explanation) = explanation.filter(|e| !e.gates.is_empty()) {
                    let value = explanation.value.into();
                    let _ = write!(below, "{name}: {}", Worth::of(self.game, value).describe(value, 3));
                    describe_gates(self.game, &explanation, 1, &mut below);
                    below.push('\n');
                }
            }
        }
        if let (Opponent::Other(agent), true) = (&mut self.opponent, hints) {
            below = agent.explain(at);
        }
        // A deliberating agent has already explained its move.
        let kind = |name: &str| name.split(':').next().unwrap_or_default().to_string();
        let opponent = kind(&self.options.opponent);
        let deliberates =
            || self.game.agents().deliberators.names().iter().any(|agent| kind(&agent.name) == opponent);
        if hints
            && let Some(advice) = self.game.agents().advice
            && let Some(advice) = advice(self.game, &self.session.state, player)
            && !deliberates()
        {
            below.push_str(&advice);
        }
        let seen = self.game.shown_to(&self.session.state, self.options.seat);
        if !below.is_empty() {
            below.push('\n');
        }
        folded(&format!(
            "{below}{}",
            with_stone(self.game.texts().board(self.game, &seen, &marks, 0), self.stone)
        ))
    }
}

/// Moves that can be chosen by number, from 1: all, if numbers have no other meaning here and there are not too many.
pub(crate) fn numbered<G: Kit>(game: &G, state: &G::State) -> Vec<G::Action> {
    let mut actions = Vec::new();
    game.actions(state, &mut actions);
    let is_free = |n: usize| game.parse_action(state, &n.to_string()).is_err();
    // If moves are numbers themselves, the number of an occupied square must not select another one.
    let is_number = |action: &G::Action| game.action_text(state, action).parse::<usize>().is_ok();
    if actions.len() > NUMBERED || actions.iter().any(is_number) || !(1..=actions.len()).all(is_free) {
        actions.clear();
    }
    actions
}

/// A list of moves with their numbers, in columns.
fn list<G: Kit>(game: &G, state: &G::State, numbered: &[G::Action]) -> String {
    let entry =
        |(i, action): (usize, &G::Action)| format!("{:>2} {}", i + 1, game.action_text(state, action));
    let entries: Vec<String> = numbered.iter().enumerate().map(entry).collect();
    let wide = entries.iter().map(|entry| entry.chars().count()).max().unwrap_or(0) + 2;
    let line = |entries: &[String]| -> String {
        let padded: String = entries.iter().map(|entry| format!("{entry:<wide$}")).collect();
        format!("{}\n", padded.trim_end())
    };
    entries.chunks((COLUMNS / wide).max(1)).map(line).collect()
}

/// The list of moves with their numbers, if it has few lines; else empty.
pub(crate) fn short_list<G: Kit>(game: &G, state: &G::State) -> String {
    let list = list(game, state, &numbered(game, state));
    if list.lines().count() <= LINES_OF_MOVES { list } else { String::new() }
}

/// The moves of a state for `help`: with their numbers, or some of them.
pub(crate) fn moves_here<G: Kit>(game: &G, state: &G::State) -> String {
    match &numbered(game, state)[..] {
        [] => format!("moves here: {}", some_moves(game, state)),
        numbered => {
            format!("moves here, to be typed by number too:\n{}", list(game, state, numbered).trim_end())
        }
    }
}

/// The action that a text means: as the game writes it, or by its number.
///
/// # Errors
/// Why it means none.
pub(crate) fn action_of<G: Kit>(game: &G, state: &G::State, text: &str) -> Result<G::Action, String> {
    game.parse_action(state, text).or_else(|e| {
        let place = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        place.and_then(|place| numbered(game, state).into_iter().nth(place)).ok_or_else(|| e.to_string())
    })
}

/// Examples of possible moves.
fn some_moves<G: Kit>(game: &G, state: &G::State) -> String {
    let mut actions = Vec::new();
    game.actions(state, &mut actions);
    let mut all: Vec<String> = actions.iter().map(|action| game.action_text(state, action)).collect();
    // Words such as `pass` precede the numbers, of which there may be many.
    sort_by_highest(&mut all, &|text| f64::from(!text.contains(|c: char| c.is_ascii_digit())));
    let mut moves = String::new();
    let shown = all.iter().take_while(|text| {
        let fits = moves.chars().count() + text.chars().count() < COLUMNS_OF_MOVES;
        if fits {
            moves.push_str(if moves.is_empty() { "" } else { ", " });
            moves.push_str(text);
        }
        fits
    });
    let left = all.len() - shown.count();
    let more = if left > 0 { format!(", … and {left} more") } else { String::new() };
    format!("{moves}{more}")
}

/// What a person can ask of a game at the terminal, whatever its type.
trait Asked {
    /// The help text: possible input.
    fn help(&self) -> String;
    /// The rules, or the name of a game without a text of them.
    fn rules(&self) -> Result<String, &str>;
    /// See [`Session::undo`].
    fn undo(&mut self) -> bool;
    /// Makes the move or the resignation that a text means: what it reveals, or why it means neither.
    fn act(&mut self, text: &str) -> Result<Option<String>, String>;
    /// The board, with the model's values of the best `count` moves for the person, the best one last.
    fn board(&mut self, count: usize) -> String;
}

/// Answers what the person types until the game goes on. Returns false if the person leaves it.
fn ask(game: &mut dyn Asked, input: &mut dyn Input, out: &mut dyn Write) -> std::io::Result<bool> {
    loop {
        let Some(line) = input.line("your move> ", out)? else {
            writeln!(out, "The input has ended: the game is over.")?;
            return Ok(false);
        };
        let answer = match line.trim() {
            "" => continue,
            "quit" | "q" => return Ok(false),
            "help" | "?" => game.help(),
            "rules" => match game.rules() {
                Ok(rules) => format!("\n{}", reflowed(&rules)),
                Err(name) => format!("{name} has no text of its rules"),
            },
            "board" => format!("\n{}", game.board(0)),
            "hint" | "h" => format!("\n{}", game.board(HINTED)),
            text if let Some(count) = hinted(text) => match count {
                Some(count) => format!("\n{}", game.board(count)),
                None => "write `hint N` with the number of moves to show, such as hint 20".into(),
            },
            "undo" | "u" if game.undo() => return Ok(true),
            "undo" | "u" => "there is no move to undo".into(),
            text => match game.act(text) {
                Ok(revealed) => return reveal(revealed.as_deref(), out).map(|()| true),
                Err(why) => folded(&why),
            },
        };
        writeln!(out, "{answer}")?;
    }
}

/// Parses `hint N`: the number of moves; `Some(None)` if N is not a number, `None` for another text.
fn hinted(text: &str) -> Option<Option<usize>> {
    let (word, number) = text.split_once(' ')?;
    matches!(word, "hint" | "h").then(|| number.trim().parse().ok().filter(|n| *n > 0))
}

/// The index of the only stone, in reading order from 0, that one drawing has more than another.
fn new_stone(before: &str, now: &str) -> Option<usize> {
    let mut changes = before.chars().zip(now.chars()).enumerate().filter(|(_, (old, new))| old != new);
    let (at, (' ', new)) = changes.next()? else { return None };
    let is_all = changes.next().is_none() && before.chars().count() == now.chars().count();
    let is_stone = |c: &char| STONES.contains(c);
    (is_all && is_stone(&new)).then(|| now.chars().take(at).filter(is_stone).count())
}

/// A drawing with this stone in brackets, if there is space for them.
fn with_stone(drawing: String, stone: Option<usize>) -> String {
    let Some((at, stone)) = stone.and_then(|i| drawing.match_indices(STONES).nth(i)) else { return drawing };
    let (left, right) = (&drawing[..at], &drawing[at + stone.len()..]);
    match (left.strip_suffix(' '), right.strip_prefix(' ')) {
        (Some(left), Some(right)) => format!("{left}({stone}){right}"),
        _ => drawing,
    }
}

/// Describes what an action reveals.
fn reveal(text: Option<&str>, out: &mut dyn Write) -> std::io::Result<()> {
    text.map_or(Ok(()), |text| writeln!(out, "{}", folded(text)))
}

/// Makes the agent's move. `thoughts` receives its values if hints are shown.
fn answer<G: Kit>(
    opponent: &mut Opponent<G>,
    hints: bool,
    at: Decision<'_, G>,
    scratch: &mut Scratch<G>,
    rng: &mut Stream,
    thoughts: &mut String,
) -> Result<G::Action, PlayError> {
    let bound = match opponent {
        Opponent::Other(agent) => return Ok(agent.choose(at, scratch, rng).map_err(OpenError::from)?),
        Opponent::Model(bound) => bound,
    };
    let head = bound.model.head().clone();
    let mut agent = open::by_head(&mut **bound, &head);
    let action = agent.choose(at, scratch, rng).map_err(OpenError::from)?;
    drop(agent);
    let explained = hints.then(|| bound.explain(at, &action)).flatten();
    let Some(explanation) = explained else { return Ok(action) };
    *thoughts = match &head {
        Head::Value | Head::Outcomes(_) => {
            let mut worth = Worth::of(at.game, explanation.value.into());
            let mut outcomes = named_outcomes(&head, &explanation.outcomes);
            if !outcomes.is_empty() {
                // Outcome probabilities contain more information than the probability of winning.
                worth.win_probability = None;
                outcomes.insert_str(0, ", ");
            }
            format!(" It thinks this is worth {}{outcomes}.", worth.describe(explanation.value.into(), 3))
        }
        Head::Policy => {
            let (mut actions, mut logits) = (Vec::new(), Vec::new());
            bound.weigh(at, &mut actions, &mut logits);
            let taken = actions.iter().zip(policy_of(&logits)).find(|(other, _)| **other == action);
            format!(" It does this {:.1} % of the time.", 100.0 * taken.map_or(0.0, |(_, p)| p))
        }
    };
    describe_gates(at.game, &explanation, 1, thoughts);
    Ok(action)
}

/// The command for resigning with this class: `resign` for `loss`, `resign gammon` for `loss_gammon`.
fn resigning(class: &str) -> String {
    let size = class.strip_prefix("loss").unwrap_or(class).replace('_', " ");
    format!("resign {}", size.trim()).trim().into()
}

/// The replies that a model expects after an action, until chance or the end of the game.
fn expected<G: Kit>(game: &G, bound: &mut GameModel<G>, state: &G::State, action: &G::Action) -> String {
    if game.hides() {
        return String::new();
    }
    let (mut state, mut line) = (state.clone(), Vec::new());
    game.apply(&mut state, action);
    while let (Turn::Player(player), true) = (game.turn(&state), line.len() < REPLIES) {
        let (mut actions, mut values) = (Vec::new(), Vec::new());
        bound.weigh(Decision::new(game, &state, player), &mut actions, &mut values);
        let best = actions.iter().zip(&values).max_by(|a, b| a.1.total_cmp(b.1));
        let Some((reply, _)) = best else { break };
        line.push(game.action_text(&state, reply));
        let reply = reply.clone();
        game.apply(&mut state, &reply);
    }
    if line.is_empty() { String::new() } else { format!(", and expects {} after that", line.join(", ")) }
}

/// The probability of each outcome: `loses 12 %, draws 30 %, wins 58 %`; empty if there are none.
fn named_outcomes(head: &Head, outcomes: &[f32]) -> String {
    let classes = head.classes().unwrap_or_default().iter().zip(outcomes);
    let share = |(class, p): (&OutcomeClass, &f32)| format!("{} {:.0} %", in_words(&class.name), 100.0 * p);
    classes.map(share).collect::<Vec<_>>().join(", ")
}

/// Largest number of classes that are named next to each probability.
const NAMED: usize = 3;

/// The probabilities of a move: with their names, or in the order of the [`legend`].
fn outcomes_text(head: &Head, outcomes: &[f32]) -> String {
    match outcomes.len() {
        0..=NAMED => named_outcomes(head, outcomes),
        _ => outcomes.iter().map(|p| format!("{:3.0}", 100.0 * p)).collect::<Vec<_>>().join(" "),
    }
}

/// The order of probabilities, if they are shown without names.
fn legend(head: &Head) -> String {
    let classes = head.classes().unwrap_or_default();
    let names: Vec<String> = classes.iter().map(|class| in_words(&class.name)).collect();
    match names.len() {
        0..=NAMED => String::new(),
        _ => format!(
            "Next to a move: what it is worth, and in per cent: {}; in brackets its number.\n",
            names.join(", ")
        ),
    }
}

/// Appends the weights and values of the experts, with nested nodes indented.
fn describe_gates<G: Kit>(game: &G, explanation: &Explanation, depth: usize, text: &mut String) {
    for (i, (gate, expert)) in explanation.gates.iter().zip(&explanation.experts).enumerate() {
        let Some(expert) = expert else { continue };
        let (indent, number) = ("  ".repeat(depth), i + 1);
        let name =
            expert.name.as_ref().map_or_else(|| format!("expert {number}"), |name| format!("module {name}"));
        let worth = Worth::of(game, expert.value.into()).describe(expert.value.into(), 3);
        let _ = write!(text, "\n{indent}{name}: weight {gate:.2}, value {worth}");
        describe_gates(game, expert, depth + 1, text);
    }
}

/// Wraps text to 80 columns. Continuation lines of list items, which begin with `- `, and of indented lines are
/// indented. Lines with gaps of two spaces are drawings or columns, and stay.
pub(crate) fn folded(text: &str) -> String {
    let fold = |line: &str| {
        let words = line.trim_start();
        if line.chars().count() <= COLUMNS || words.contains("  ") {
            return line.to_string();
        }
        let item = if words.starts_with("- ") { 2 } else { 0 };
        let indent = " ".repeat(line.len() - words.len() + item);
        let lines = Options::new(COLUMNS).break_words(false).word_splitter(WordSplitter::NoHyphenation);
        textwrap::fill(line, lines.subsequent_indent(&indent))
    };
    text.lines().map(fold).collect::<Vec<_>>().join("\n")
}

/// Wraps paragraphs, separated by blank lines, and list items, which begin with `- `, to 80 columns.
pub(crate) fn reflowed(text: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut joins = false;
    for line in text.lines() {
        let words = line.trim();
        match parts.last_mut() {
            Some(part) if joins && !words.is_empty() && !words.starts_with("- ") => {
                part.push(' ');
                part.push_str(words);
            }
            _ => parts.push(words.into()),
        }
        joins = !words.is_empty();
    }
    parts.iter().map(|part| folded(part)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_game::signed_text;

    #[test]
    fn hints_are_counted() {
        let asked = ["hint 5", "h 20", "hint 0", "hint x", "hint", "8/5 6/5"].map(hinted);
        assert_eq!(asked, [Some(Some(5)), Some(Some(20)), Some(None), Some(None), None, None]);
    }

    #[test]
    fn zero_has_no_minus() {
        assert_eq!(
            [-0.004, 0.0, -0.0, -0.006, 0.5].map(|v| signed_text(v, 2)),
            ["+0.00", "+0.00", "+0.00", "-0.01", "+0.50"]
        );
    }

    #[test]
    fn the_last_stone_is_in_brackets() {
        let (before, now) = ("│ ● │   │  ○ player 2", "│ ● │ ○ │  ○ player 2");
        let stone = new_stone(before, now);
        assert_eq!(with_stone(now.into(), stone), "│ ● │(○)│  ○ player 2");
        assert_eq!(with_stone("│  ●  │  ○  │".into(), stone), "│  ●  │ (○) │");
        // Undone, moved, marked as won, or no stone.
        for (before, now) in
            [(now, before), ("│ ● │   │", "│   │ ● │"), ("│   │", "│[●]│"), ("│   │", "│ X │"), ("", now)]
        {
            assert_eq!(new_stone(before, now), None, "{before} {now}");
        }
    }

    #[test]
    fn paragraphs_and_lists_fit_the_terminal() {
        let text = format!("One\nparagraph.\n- {}\n- two\n  lines\n\nEnd.", "word ".repeat(20).trim());
        let expected = format!(
            "One paragraph.\n- {}\n  {}\n- two lines\n\nEnd.",
            "word ".repeat(15).trim(),
            "word ".repeat(5).trim()
        );
        assert_eq!(reflowed(&text), expected);
    }
}
