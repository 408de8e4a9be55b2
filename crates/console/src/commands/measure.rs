//! The commands `value`, `moves`, `publish` and `describe`.

use super::games_with;
use super::play::game_of;
use crate::args::{CheckpointArgs, DescribeArgs, MovesArgs, PublishArgs, ValueArgs};
use crate::output::{self, say};
use adept_arena::OpenError;
use adept_arena::inspect::{Input, Numbers, PositionValue, Searched};
use adept_arena::naming::{self, AgentSpec};
use adept_arena::open::Prior;
use adept_game::{Reading, Worth, score_text};
use adept_ground::limits;
use adept_lab::Catalogue;
use adept_lab::checkpoints;
use adept_lab::measure::{self, Kinds};
use adept_lab::publish::{self, PublishOptions};
use adept_model::{Explanation, OutcomeClass};
use adept_trainer::config::Config;
use anyhow::{Result, bail};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

pub(crate) fn publish(games: &dyn Catalogue, args: &PublishArgs, as_json: bool) -> Result<()> {
    let options = PublishOptions {
        best: args.best,
        move_loss: args.move_loss,
        notes: args.note.clone(),
        rivals: args.rival.clone(),
    };
    let (run, out) = match (&args.refresh, &args.run, &args.out) {
        (None, Some(run), Some(out)) => (run, out),
        (folder, ..) => {
            let folder = folder.clone().unwrap_or_default();
            let card = match &args.strength {
                Some(strength) => publish::note_strength(&folder, strength)?,
                None => publish::refresh(games, &folder)?,
            };
            if as_json {
                let weak = Kinds::beside(&folder).map_or_else(Vec::new, |kinds| kinds.weaknesses());
                return output::json(&json!({ "path": folder, "weak": weak }));
            }
            return output::file(&card);
        }
    };
    let published = publish::publish(games, run, out, &options)?;
    if as_json {
        output::json(&published)?;
    } else {
        output::file(&limits::read_text(&published.card, limits::CONFIG_BYTES)?)?;
        say(format!("published: {}", published.path.display()));
    }
    if !published.weak.is_empty() {
        let places: Vec<&str> = published.weak.iter().map(|w| w.positions.as_str()).collect();
        say(format!(
            "warning: a formula of the game is more accurate on {}: its card says so first, and its name should not promise more",
            places.join(" and ")
        ));
    }
    Ok(())
}

pub(crate) fn value(games: &dyn Catalogue, args: &ValueArgs, as_json: bool) -> Result<()> {
    let (game, file) = (args.game.as_deref(), args.file.as_deref());
    let values = values_of(games, &args.of, game, &args.positions, file, args.inputs)?;
    output::show(
        as_json,
        || json!({ "values": values }),
        || values.iter().map(value_text).collect::<Vec<_>>().join("\n"),
    )
}

pub(crate) fn moves(games: &dyn Catalogue, args: &MovesArgs, as_json: bool) -> Result<()> {
    let position = match &args.dice {
        Some(dice) => format!("{} {dice}", args.position.trim()),
        None => args.position.clone(),
    };
    let values = values_of(games, &args.of, args.game.as_deref(), &[position], None, false)?;
    let Some(found) = values.first() else { bail!("there is no position") };
    if found.moves.is_empty() {
        match (&found.next, found.to_move) {
            (_, None) => bail!("{}: the game is over, so there are no moves", found.position),
            (Some(next), _) => bail!(
                "{}: a chance event comes first, such as a roll: write it after the position, as in \"{next}\"",
                found.position
            ),
            (None, _) => {
                bail!("{}: a chance event comes first: give a position with a player to move", found.position)
            }
        }
    }
    let value = json!({ "position": found.position, "to_move": found.to_move, "moves": found.moves });
    output::show(as_json, || &value, || value_text(found))
}

/// Values of positions, given as texts and in a file, by a checkpoint or an agent.
fn values_of(
    games: &dyn Catalogue,
    of: &CheckpointArgs,
    game: Option<&str>,
    positions: &[String],
    file: Option<&Path>,
    inputs: bool,
) -> Result<Vec<PositionValue>> {
    let agent = of.checkpoint.to_string_lossy();
    if is_checkpoint(games, &agent)? {
        let (own, checkpoint) = checkpoints::opened(games, &of.checkpoint, of.best)?;
        // Some networks play other rule sets than their own too, such as those with the cube.
        let game = game.map_or(Ok(own), |name| games.find(name))?;
        return Ok(game.value(checkpoint, positions, file, inputs)?);
    }
    if inputs {
        bail!("`{agent}` is not a checkpoint: leave out --inputs");
    }
    Ok(game_of(games, &agent, game, of.best)?.value_by(&agent, of.best, positions, file)?)
}

/// Whether a name stands for a checkpoint itself, or for nothing: then the error is about a checkpoint.
fn is_checkpoint(games: &dyn Catalogue, name: &str) -> Result<bool> {
    let spec = AgentSpec::parse(name).map_err(OpenError::Unknown)?;
    let is_own = |name: &str| !games_with(games, name).is_empty();
    Ok(matches!(spec, AgentSpec::Named(_)) && (naming::folder_of(name, is_own)?.is_some() || !is_own(name)))
}

/// A value of a position and its moves, for people.
fn value_text(value: &PositionValue) -> String {
    let (v, p) = (value.value, value.worth.after_comma(4));
    let said = match value.to_move {
        None => format!("over, {v:+.3} for player 1{p}"),
        Some(player) if value.moves.iter().any(|m| m.probability.is_some()) => {
            format!("player {player} to move; logits and probabilities")
        }
        Some(player) if value.moves.is_empty() => format!("{v:+.4} for player {player}{p}"),
        Some(player) => format!("{v:+.4} for player {player}, to move{p}: the best of the moves below"),
    };
    // A long position has a line of its own.
    let mut text = format!("{}: {said}\n", value.position);
    if text.trim_end().chars().count() > output::COLUMNS {
        text = format!("{}:\n{}", value.position, output::entry("", 2, &said));
    }
    if let Some(search) = &value.search {
        text.push_str(&output::entry("", 2, &searched(search)));
    }
    if let Some(next) = &value.next {
        let _ = writeln!(
            text,
            "  a chance event comes first; for moves, value what follows it, such as\n  \"{next}\""
        );
    }
    if let Some(Reading { advice, figures }) = &value.reading {
        let figures =
            figures.iter().map(|(name, figure)| match name.starts_with("win ") || name.ends_with(" from") {
                true => format!("{name} {:.1} %", 100.0 * figure),
                false => format!("{name} {figure:+.4}"),
            });
        text.push_str(&output::entry("", 2, &figures.collect::<Vec<_>>().join("; ")));
        text.push_str(&output::entry("", 2, &format!("right: {advice}")));
    }
    let term = value.worth.unit.clone();
    // Without experts, before a chance event, this is the same number with the other sign.
    if let Some(after) = &value.after
        && (!value.moves.is_empty() || !after.gates.is_empty() || !after.outcomes.is_empty())
    {
        let own = format!(
            "the network's value of the position itself, for the player who just moved: {:+.4}{}",
            after.value,
            score(after.score, term.as_deref())
        );
        text.push_str(&output::entry("", 2, &own));
        for (classes, outcomes) in value.classes.chunks(NAMED).zip(after.outcomes.chunks(NAMED)) {
            let _ = writeln!(text, "  {}", outcomes_text(classes, outcomes));
        }
        experts(after, 2, term.as_deref(), &mut text);
    }
    if !value.inputs.is_empty() {
        text.push_str("  the row of the position itself, for the player who just moved\n");
        inputs_text(&value.inputs, &mut text);
    }
    let unit = term;
    let width = value.moves.iter().map(|m| m.action.chars().count()).max().unwrap_or(0).max(6);
    let term = value.moves.first().and_then(|m| match &m.worth {
        Worth { win_probability: Some(_), .. } => Some("P(win)"),
        Worth { unit, .. } => unit.as_deref(),
    });
    let score_width = term.map_or(0, |term| if term == "P(win)" { 6 } else { term.chars().count().max(7) });
    let indent = 2 + width + 1 + term.map_or(7, |_| 9 + score_width);
    // Names stand beside few probabilities, above many, and above those that would make a line too long.
    let outcomes = value.moves.iter().map(|m| outcomes_text(&value.classes, &m.explanation.outcomes));
    let beside = outcomes.map(|text| text.chars().count()).max().unwrap_or(0);
    let above = beside > 0 && (value.classes.len() > NAMED || indent + beside > output::COLUMNS);
    let columns = if above { Heading::of(&value.classes) } else { Heading::default() };
    if above || term.is_some() {
        columns.write(indent, &mut text);
        let term = term.map_or_else(String::new, |term| format!("  {term:>score_width$}"));
        let _ = writeln!(text, "  {:<width$}       V{term}{}", "move", columns.last());
    }
    for m in &value.moves {
        let share = m.probability.map_or(String::new(), |p| format!("  {:.1} %", 100.0 * p));
        let won = match (m.worth.win_probability, m.worth.score) {
            (Some(p), _) => format!("  {p:>score_width$.4}"),
            (None, Some(score)) if score.abs() < 10.0 => format!("  {score:>+score_width$.4}"),
            (None, Some(score)) => format!("  {score:>+score_width$.0}"),
            (None, None) => String::new(),
        };
        let outcomes = match above {
            true => columns.percentages(&m.explanation.outcomes),
            false => outcomes_text(&value.classes, &m.explanation.outcomes),
        };
        let error = m.ci95.map_or_else(String::new, |half| format!("  ±{half:.4}"));
        let _ =
            writeln!(text, "  {:<width$} {:+.4}{won}{error}{share}{outcomes}", m.action, m.explanation.value);
        experts(&m.explanation, 2, unit.as_deref(), &mut text);
        if !m.inputs.is_empty() {
            inputs_text(&m.inputs, &mut text);
        }
    }
    text
}

/// The work of a search, for people.
fn searched(search: &Searched) -> String {
    let Searched { plies, nodes, solved, line, shortfall, .. } = search;
    let depth = match shortfall {
        Some(why) => why.clone(),
        None if *solved => "searched to the end".into(),
        None => format!("{plies} plies deep"),
    };
    let line = if line.len() > 1 { format!("; expects {}", line.join(", ")) } else { String::new() };
    format!("{depth}, {nodes} positions valued{line}")
}

/// Classes that are named beside each of their probabilities, at most.
const NAMED: usize = 3;

/// The names of classes above columns of probabilities, a word a line.
#[derive(Default)]
struct Heading {
    /// The words of each class, from the last.
    words: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl Heading {
    fn of(classes: &[String]) -> Self {
        let words = |name: &String| name.rsplit('_').map(String::from).collect::<Vec<_>>();
        let words: Vec<Vec<String>> = classes.iter().map(words).collect();
        let width = |words: &Vec<String>| words.iter().map(|word| word.chars().count()).fold(5, usize::max);
        Self { widths: words.iter().map(width).collect(), words }
    }

    /// A line of the heading, counted from the last.
    fn line(&self, line: usize) -> String {
        let cell = |(words, width): (&Vec<String>, &usize)| {
            format!(" {:>width$}", words.get(line).map_or("", |word| word))
        };
        self.words.iter().zip(&self.widths).map(cell).collect()
    }

    /// Writes all lines but the last.
    fn write(&self, indent: usize, text: &mut String) {
        let lines = self.words.iter().map(Vec::len).max().unwrap_or(0);
        for line in (1..lines).rev() {
            let _ = writeln!(text, "{:indent$}{}", "", self.line(line));
        }
    }

    fn last(&self) -> String {
        self.line(0)
    }

    /// Probabilities in per cent.
    fn percentages(&self, outcomes: &[f32]) -> String {
        let cell = |(p, width): (&f32, &usize)| format!(" {:>width$.2}", 100.0 * p);
        outcomes.iter().zip(&self.widths).map(cell).collect()
    }
}

/// The probability of each class of outcomes.
fn outcomes_text(classes: &[String], outcomes: &[f32]) -> String {
    let share = |(class, p): (&String, &f32)| format!("  {class} {:.2} %", 100.0 * p);
    classes.iter().zip(outcomes).map(share).collect()
}

/// The numbers of a row by channel, eight a line, each line with the place of its first number in the channel.
fn inputs_text(inputs: &[Input], text: &mut String) {
    const NUMBERS: usize = 8;
    let short = |v: &f32| match v.abs() {
        whole if whole.fract() == 0.0 => v.to_string(),
        tiny if tiny < 5e-4 => format!("{v:.0e}"),
        _ => format!("{v:.4}"),
    };
    for input in inputs {
        let numbers: Vec<String> = match &input.values {
            Numbers::Real(values) => values.iter().map(short).collect(),
            Numbers::Whole(values) => values.iter().map(u64::to_string).collect(),
        };
        let meaning = input.text.as_ref().map_or(String::new(), |text| format!(": {text}"));
        let _ = writeln!(text, "    {} ({}){meaning}", input.name, input.kind);
        for (i, line) in numbers.chunks(NUMBERS).enumerate() {
            let cells: Vec<String> = line.iter().map(|number| format!("{number:>7}")).collect();
            let _ = writeln!(text, "    {:>4}: {}", i * NUMBERS, cells.join(" ").trim_end());
        }
    }
}

/// A value in the unit of the game, beside the value itself.
fn score(score: Option<f64>, unit: Option<&str>) -> String {
    let text = |(score, unit): (f64, &str)| format!(", {} {unit}", score_text(score, 4));
    score.zip(unit).map_or_else(String::new, text)
}

/// The experts of a node, with their values in this unit too.
fn experts(explanation: &Explanation, depth: usize, unit: Option<&str>, text: &mut String) {
    for (i, (gate, expert)) in explanation.gates.iter().zip(&explanation.experts).enumerate() {
        let indent = "  ".repeat(depth);
        let number = i + 1;
        let module = expert.as_ref().and_then(|e| e.name.as_ref());
        let named = module.map_or_else(|| format!("expert {number}"), |name| format!("module {name}"));
        match expert {
            Some(e) => {
                let score = score(e.score, unit);
                let _ = writeln!(text, "{indent}  {named}: weight {gate:.3}, value {:+.4}{score}", e.value);
                experts(e, depth + 1, unit, text);
            }
            // If a rule picks one of nine experts, lines for the eight idle ones are not useful.
            None if explanation.gates.len() <= 4 => {
                let _ = writeln!(text, "{indent}  expert {number}: idle");
            }
            None => {}
        }
    }
}

pub(crate) fn describe(games: &dyn Catalogue, args: &DescribeArgs, as_json: bool) -> Result<()> {
    if let Some(count) = args.rules {
        let (game, checkpoint) = checkpoints::opened(games, &args.checkpoint, args.best)?;
        let rules = game.rules_learned(checkpoint, count)?;
        let sentence = |rule: &measure::Rule| {
            format!("{}\n  then create a numeric preference of {:.4}\n", rule.text, rule.value)
        };
        return output::show(as_json, || json!({ "rules": rules }), || rules.iter().map(sentence).collect());
    }
    if args.checkpoint.extension().is_some_and(|extension| extension == "toml") {
        super::config::note_paths::<Config>(&args.checkpoint, &[], games);
    }
    let d = checkpoints::describe(games, &args.checkpoint, args.best)?;
    if as_json {
        return output::json(&d);
    }
    let mut text = match &d.checkpoint {
        Some(path) => {
            let (name, step, unit, seed, revision) = (&d.name, d.step, &d.unit, d.seed, &d.revision);
            format!("{name}, {step} {unit}, seed {seed}, by revision {revision}\n{}\n", path.display())
        }
        None => format!("{}, not trained\n", d.name),
    };
    let _ = writeln!(text, "\ngame {}, encoder {}", d.game, d.encoder);
    for channel in &d.channels {
        text.push_str(&output::channel(&channel.name, &channel.kind.to_string(), &channel.about));
    }
    if let Some(classes) = d.head.classes() {
        let class = |class: &OutcomeClass| format!("{} ({:+})", class.name, class.utility);
        let classes: Vec<String> = classes.iter().map(class).collect();
        text.push_str(&output::entry("outcomes", 9, &classes.join(", ")));
    }
    if let Some(quantised) = &d.quantised {
        let of = Prior::pin(&quantised.of);
        let text_of =
            format!("{} from the checkpoint {of}: {}", quantised.scheme, output::quantised(quantised));
        text.push_str(&output::entry("quantised", 9, &text_of));
    }
    let s = &d.size;
    let adds = match (s.multiply_adds_least, s.multiply_adds) {
        (least, most) if least == most => most.to_string(),
        (least, most) => format!("{least} to {most}"),
    };
    let _ = writeln!(
        text,
        "\n{} parameters, {} bytes, {adds} multiply-adds per evaluation\n",
        s.parameters, s.bytes
    );
    let rows = s.tensors.iter();
    let rows =
        rows.map(|t| vec![t.name.clone(), format!("{:?}", t.shape), t.group.clone(), t.rate.to_string()]);
    text.push_str(&output::table(&["tensor", "shape", "group", "rate ×"], rows));
    let _ = writeln!(text, "\n{}", s.ops.join("\n"));
    output::text(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_arena::inspect::{Chances, MoveValue};

    #[test]
    fn values_fit_a_terminal() {
        let classes: Vec<String> = ["loss", "draw", "win"].map(String::from).to_vec();
        let explanation =
            Explanation { value: 0.1234, outcomes: vec![0.4, 0.25, 0.35], ..Explanation::default() };
        let found = |action: &str| {
            let one = MoveValue {
                action: action.into(),
                afterstate: String::new(),
                equity: None,
                worth: Worth { win_probability: Some(0.5), ..Worth::default() },
                chances: Chances::default(),
                ci95: None,
                probability: None,
                explanation: explanation.clone(),
                inputs: Vec::new(),
            };
            value_text(&PositionValue {
                position: "X...O....".into(),
                value: 0.1234,
                equity: None,
                worth: Worth::default(),
                chances: Chances::default(),
                to_move: Some(1),
                after: Some(explanation.clone()),
                reading: None,
                inputs: Vec::new(),
                classes: classes.clone(),
                moves: vec![one],
                search: Some(Searched {
                    plies: 4,
                    asked: Some(4),
                    finished: true,
                    shortfall: None,
                    nodes: 123_456,
                    solved: false,
                    line: vec![action.into(); 12],
                }),
                next: None,
            })
        };
        for action in ["a1", "diagonal(column-3,row-14,column-4)"] {
            let text = found(action);
            assert!(text.lines().all(|line| line.chars().count() <= output::COLUMNS), "{text}");
            assert!(text.contains(action) && text.contains("25.00") && text.contains("draw"), "{text}");
        }
    }
}
