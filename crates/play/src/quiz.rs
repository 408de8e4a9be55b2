//! A quiz about decisions of games: a person sees the position and decides, and then what the decision loses.

use crate::error::PlayError;
use crate::terminal::{Input, action_of, folded, moves_here, reflowed, short_list};
use adept_arena::{Decision, Evaluator, OpenError, naming};
use adept_erased::erased;
use adept_game::{Kit, Turn};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;

/// A decision that a person is asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Text before the board, such as the number of the question and the place of the decision.
    pub head: String,
    /// The position in the game's text form.
    pub position: String,
    /// The action that was played.
    pub played: String,
    /// Actions with their losses, the best first; the one that was played too.
    pub candidates: Vec<(String, f64)>,
    /// The name of the unit of losses, such as `points`.
    pub unit: String,
    /// Losses in that unit per loss in the unit of the game.
    pub factor: f64,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The action that the person chose.
    pub chosen: String,
    /// Its loss, in the unit of the question.
    pub loss: f64,
    /// Whether nothing is better.
    pub is_best: bool,
}

/// Losses below this are shown as 0, and count as none.
const NOTHING: f64 = 5e-4;

/// A quiz of a game. The judges of answers that a question does not list are opened when they are needed.
struct Quiz<G: Kit> {
    game: Arc<G>,
    /// Names of the judge, and of those that judge again what seems wrong.
    agents: Vec<String>,
    best: bool,
    values: Option<Box<dyn Evaluator<G>>>,
}

/// A quiz of a game, whose answers are judged by an agent, and again by further ones. `best` chooses the best checkpoint of a run instead of
/// the latest.
pub fn quiz<G: Kit>(game: Arc<G>, agents: Vec<String>, best: bool) -> Box<dyn AnyQuiz> {
    Box::new(Quiz { game, agents, best, values: None })
}

impl<G: Kit> Quiz<G> {
    /// What an action loses, in the unit of the game.
    fn loss(&mut self, state: &G::State, player: usize, action: &G::Action) -> Result<f64, OpenError> {
        let game = &*self.game;
        let mut evaluator = match self.values.take() {
            Some(values) => values,
            None => {
                let agents = self.agents.iter().map(|name| naming::resolve(game, name, &[]));
                naming::judge_in_stages(game, &agents.collect::<Result<Vec<_>, _>>()?, self.best)?.values
            }
        };
        let (at, mut actions, mut values) = (Decision::new(game, state, player), Vec::new(), Vec::new());
        evaluator.compare(at, action, &mut actions, &mut values);
        let best = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let own = match actions.iter().position(|other| other == action) {
            Some(own) => values[own],
            None => {
                let mut own = Vec::new();
                evaluator.values(at, std::slice::from_ref(action), &mut own);
                own[0]
            }
        };
        self.values = Some(evaluator);
        let size = game.counting().unit().map_or(1.0, |unit| unit.size);
        Ok(f64::from(best - own).max(0.0) * game.scale() / size)
    }
}

/// Questions of a quiz.
#[erased(pub trait AnyQuiz)]
impl<G: Kit> AnyQuiz for Quiz<G> {
    /// Asks a person for the decision, and tells what it loses, what was played, and what is best. None if the person leaves or the input
    /// ends.
    ///
    /// # Errors
    /// If the position cannot be read or the answer cannot be judged, or an error of the terminal.
    fn ask(
        &mut self,
        question: &Question,
        input: &mut dyn Input,
        out: &mut dyn Write,
    ) -> Result<Option<Answer>, PlayError> {
        let game = self.game.clone();
        let (state, _) =
            game.parse_position(&question.position).map_err(|e| PlayError::Position(e.to_string()))?;
        let Turn::Player(player) = game.turn(&state) else {
            return Err(PlayError::Moment("nobody is to move in this position"));
        };
        let mut legal = Vec::new();
        game.actions(&state, &mut legal);
        let seen = game.shown_to(&state, player);
        let board = folded(&game.texts().board(&*game, &seen, &[], player));
        writeln!(out, "\n{}\n\n{board}\n{}", folded(&question.head), short_list(&*game, &state))?;
        let action = loop {
            let Some(line) = input.line("your move> ", out)? else {
                writeln!(out, "The input has ended.")?;
                return Ok(None);
            };
            let answer = match line.trim() {
                "" => continue,
                "quit" | "q" => return Ok(None),
                "help" | "?" => {
                    format!(
                        "{}\nboard show the position again\nrules how the game is played\nquit  end the quiz",
                        moves_here(&*game, &state)
                    )
                }
                "board" => format!("\n{board}"),
                "rules" => match game.texts().rules(&*game) {
                    Some(rules) => format!("\n{}", reflowed(&rules)),
                    None => format!("{} has no text of its rules", game.name()),
                },
                text => match action_of(&*game, &state, text) {
                    Ok(action) if legal.contains(&action) => break action,
                    Ok(_) => format!("`{text}` is not possible here"),
                    Err(why) => folded(&why),
                },
            };
            writeln!(out, "{answer}")?;
        };
        let chosen = game.action_text(&state, &action);
        let listed = question.candidates.iter().find(|(candidate, _)| *candidate == chosen);
        let loss = match listed {
            Some((_, loss)) => *loss,
            None => self.loss(&state, player, &action)? * question.factor,
        };
        let answer = Answer { chosen, loss, is_best: loss < NOTHING };
        writeln!(out, "\n{}", folded(&told(question, &answer)))?;
        Ok(Some(answer))
    }
}

/// What an answer loses, and a list of actions with their losses.
fn told(question: &Question, answer: &Answer) -> String {
    let Question { candidates, played, unit, .. } = question;
    let Answer { chosen, loss, is_best } = answer;
    let mut text = match is_best {
        true if candidates.first().is_some_and(|(best, _)| best == chosen) => {
            "That is the best.\n".to_string()
        }
        true => "That is as good as the best.\n".to_string(),
        false => format!("{chosen} loses {loss:.3} {unit}.\n"),
    };
    let mut all: Vec<(&str, f64)> = candidates.iter().map(|(action, loss)| (&**action, *loss)).collect();
    if all.iter().all(|(action, _)| action != chosen) {
        // Behind all that lose less.
        let place = all.iter().position(|(_, other)| other > loss).unwrap_or(all.len());
        all.insert(place, (chosen, *loss));
    }
    let width = all.iter().map(|(action, _)| action.chars().count()).max().unwrap_or(0);
    for (place, (action, loss)) in all.iter().enumerate() {
        let marks = [(place == 0, "best"), (action == chosen, "yours"), (action == played, "in the game")];
        let marks: Vec<&str> = marks.into_iter().filter(|(is, _)| *is).map(|(_, mark)| mark).collect();
        let loss = if *loss < NOTHING { String::new() } else { format!("-{loss:.3}") };
        let line = format!("  {action:<width$}  {loss:>6}  {}", marks.join(", "));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_game::tiny::Nim;

    fn question() -> Question {
        Question {
            head: "question 1 of 1".into(),
            position: "0 1 2 @1".into(),
            played: "1 from 2".into(),
            candidates: vec![("1 from 3".into(), 0.0), ("1 from 2".into(), 0.25)],
            unit: "points".into(),
            factor: 1.0,
        }
    }

    /// The answer to a question about heaps, and what was shown.
    fn asked(typed: &str) -> (Option<Answer>, String) {
        let mut quiz = quiz(Arc::new(Nim::default()), vec!["minimax".into()], false);
        let mut out = Vec::new();
        let answer = quiz.ask(&question(), &mut typed.as_bytes(), &mut out).unwrap();
        (answer, String::from_utf8(out).unwrap())
    }

    #[test]
    fn an_answer_is_compared_with_what_was_played_and_the_best() {
        let (answer, shown) = asked("nonsense\n1 from 2\n");
        assert_eq!(answer, Some(Answer { chosen: "1 from 2".into(), loss: 0.25, is_best: false }));
        assert!(shown.contains("1 from 2 loses 0.250 points.\n"), "{shown}");
        assert!(
            shown.contains("\n  1 from 3          best\n  1 from 2  -0.250  yours, in the game\n"),
            "{shown}"
        );
        let (answer, shown) = asked("1 from 3\n");
        assert!(answer.unwrap().is_best && shown.contains("That is the best.\n"), "{shown}");
    }

    #[test]
    fn the_quiz_ends_with_the_input() {
        for (typed, ends) in [("q\n", false), ("help\nquit\n", false), ("", true)] {
            let (answer, shown) = asked(typed);
            assert_eq!((answer, shown.contains("The input has ended.")), (None, ends), "{shown}");
        }
    }

    #[test]
    fn an_answer_behind_the_list_is_put_in_its_place() {
        let told = |loss: f64| told(&question(), &Answer { chosen: "2 from 3".into(), loss, is_best: false });
        assert!(told(0.1).ends_with(
            "  1 from 3          best\n  2 from 3  -0.100  yours\n  1 from 2  -0.250  in the game"
        ));
        assert!(told(0.5).ends_with("-0.250  in the game\n  2 from 3  -0.500  yours"));
    }
}
