//! The command `quiz`.

use super::play::{game_of, terminal};
use super::review::names_of;
use crate::args::QuizArgs;
use crate::output;
use adept_lab::Catalogue;
use adept_lab::review::{MARKS, ReviewOptions, Worst};
use adept_play::{Answer, AnyQuiz, Question};
use adept_trainer::run::Cancel;
use anyhow::{Result, bail};
use serde_json::json;
use std::collections::HashMap;
use std::io::Write;

/// Faults that are listed.
const FAULTS: usize = 10;

/// Columns of a name of a player.
const NAME: usize = 24;

pub(crate) fn run(games: &dyn Catalogue, args: &QuizArgs, as_json: bool) -> Result<()> {
    let options = ReviewOptions {
        files: args.files.clone(),
        agent: args.by.clone(),
        then: args.then.clone(),
        best: args.best,
        player: args.player.clone(),
        worst: args.count as usize,
        threads: args.threads,
        as_played: args.game.is_none(),
        steps: None,
        judged: false,
    };
    let game = game_of(games, &args.by, args.game.as_deref(), args.best)?;
    let found = game.review(&options, &Cancel::default(), &|_| {})?;
    for fault in found.faults.iter().take(FAULTS) {
        output::say(&fault.why);
    }
    if found.faults.len() > FAULTS {
        output::say(format!("… and {} more faults, which `review` lists", found.faults.len() - FAULTS));
    }
    let is_error = |worst: &&Worst| worst.points.is_none_or(|points| points >= MARKS[0]);
    let asked: Vec<&Worst> = found.worst.iter().filter(is_error).collect();
    if asked.is_empty() {
        match found.errors {
            Some(_) => bail!("no decision of these games lost {} points or more", MARKS[0]),
            None => bail!("no decision of these games lost anything"),
        }
    }
    let (names, unit) = (names_of(&found.files), found.unit.as_deref().unwrap_or("utility"));
    let (mut input, mut out) = terminal(args.ascii, as_json);
    let mut quizzes = HashMap::<&str, Box<dyn AnyQuiz>>::new();
    let mut answers: Vec<(&Worst, Answer)> = Vec::new();
    for (number, worst) in asked.iter().copied().enumerate() {
        let place = format!(
            "Question {} of {}: {}, game {}, move {}, {} to decide",
            number + 1,
            asked.len(),
            names[&*worst.file],
            worst.game,
            worst.number,
            output::cut(&worst.player, NAME)
        );
        let quiz = match quizzes.entry(&worst.rules) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                let agents = [&args.by].into_iter().chain(&args.then).cloned().collect();
                place.insert(games.find(&worst.rules)?.quiz(agents, args.best))
            }
        };
        let Some(answer) = quiz.ask(&question(worst, place, unit), &mut *input, &mut out)? else { break };
        answers.push((worst, answer));
    }
    let best = answers.iter().filter(|(_, answer)| answer.is_best).count();
    let [lost, before] =
        [|(_, answer): &(&Worst, Answer)| answer.loss, |(worst, _): &(&Worst, Answer)| loss_of(worst)]
            .map(|loss| answers.iter().map(loss).fold(0.0, |sum, loss| sum + loss));
    if !as_json {
        let count = match answers.len() {
            0 => return Ok(writeln!(out, "\nno answers")?),
            1 => "1 answer".to_string(),
            count => format!("{count} answers"),
        };
        let unit = if asked[0].points.is_some() { "points" } else { unit };
        let score =
            format!("{count}, {best} of them the best: {lost:.3} {unit} lost, {before:.3} in the games");
        write!(out, "\n{}", output::wrapped(&score))?;
        return Ok(());
    }
    let answer = |(worst, answer): &(&Worst, Answer)| {
        json!({
            "file": worst.file.display().to_string(),
            "game": worst.game,
            "move": worst.number,
            "position": worst.position,
            "chosen": answer.chosen,
            "loss": answer.loss,
            "is_best": answer.is_best,
            "played": worst.played,
            "played_loss": loss_of(worst),
            "best": worst.best,
        })
    };
    output::json(&json!({
        "questions": asked.len(),
        "answers": answers.iter().map(answer).collect::<Vec<_>>(),
        "best": best,
        "lost": lost,
        "lost_in_games": before,
    }))
}

/// The loss of what was played: in points, if players of the game count so.
fn loss_of(worst: &Worst) -> f64 {
    worst.points.unwrap_or(worst.loss)
}

/// The question about an error.
fn question(worst: &Worst, head: String, unit: &str) -> Question {
    let factor = if worst.loss > 0.0 { loss_of(worst) / worst.loss } else { 1.0 };
    Question {
        head,
        position: worst.position.clone(),
        played: worst.played.clone(),
        candidates: worst.candidates.iter().map(|one| (one.action.clone(), one.loss * factor)).collect(),
        unit: if worst.points.is_some() { "points" } else { unit }.into(),
        factor,
    }
}
