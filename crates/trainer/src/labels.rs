//! What a file of labelled positions holds: rows that repeat or contradict others, and whether its values agree with exact ones.

use crate::label_file::{LabelFile, is_label_file};
use crate::positions::{Part, PositionErrors, exact_values};
use adept_game::sheet::{Sheet, Values};
use adept_game::{Example, GameError, Kit};
use adept_ground::order::sort_by_highest;
use adept_ground::{
    limits,
    shown::{shell, shell_path},
};
use rustc_hash::{FxHashMap, FxHasher};
use serde::Serialize;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Values that differ by more than this disagree, if nothing else is asked for. It is far above the rounding of tables and of
/// files with four digits.
pub const TOLERANCE: f64 = 1e-3;

/// Rows of a report that are named, the worst ones.
const NAMED: usize = 5;

/// A file of labelled positions in figures. Values are for the player to move, as in the file; probabilities of winning p count as
/// 2p − 1.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LabelReport {
    /// Rows.
    pub rows: u64,
    /// Distinct positions.
    pub positions: u64,
    /// Rows that repeat the position and the value of an earlier row.
    pub duplicates: u64,
    /// Rows that give the position of an earlier row another value, by more than the tolerance.
    pub contradictions: u64,
    /// Rows with the largest contradictions.
    pub contradicting: Vec<Contradiction>,
    /// Values that differ by more than this disagree.
    pub tolerance: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Mean of the values.
    pub mean: f64,
    /// Rows by what a run uses them for. All rows of a position are in one part.
    pub parts: PartRows,
    /// What the classes mean.
    pub class: String,
    /// Rows by class of position.
    pub classes: Vec<ClassRows>,
    /// Rows with an exact value.
    pub compared: u64,
    /// Rows whose value and exact value differ by more than the tolerance.
    pub disagreements: u64,
    /// Largest difference from the exact value; `None` if no row was compared.
    pub max_abs_error: Option<f64>,
    /// Root mean square difference from the exact values.
    pub rms_error: Option<f64>,
    /// The same on the rows for testing: the error of exact values in a run on this file. `None` if one of them has no exact value.
    pub test_rms_error: Option<f64>,
    /// Rows farthest from their exact values, the worst first.
    pub worst: Vec<LabelRow>,
    /// Another reading of the values that would explain most disagreements.
    pub reading: Option<Reading>,
    /// Whether the file gives probabilities of winning.
    #[serde(skip)]
    of_wins: bool,
    /// Why no row was compared with exact values, if the game has them.
    pub not_compared: Option<String>,
}

/// A row that contradicts an earlier one.
#[derive(Clone, Debug, Serialize)]
pub struct Contradiction {
    /// Its line in the file.
    pub line: u64,
    /// Its position.
    pub position: String,
    /// Its value.
    pub value: f64,
    /// The line of the first row with this position.
    pub first_line: u64,
    /// The value there.
    pub first_value: f64,
}

/// A row beside its exact value.
#[derive(Clone, Debug, Serialize)]
pub struct LabelRow {
    /// Its line in the file.
    pub line: u64,
    /// Its position.
    pub position: String,
    /// Its value.
    pub value: f64,
    /// The exact value.
    pub exact: f64,
}

/// Rows of a file by what a run uses them for.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PartRows {
    /// For learning.
    pub training: u64,
    /// For choosing a checkpoint.
    pub validation: u64,
    /// For measuring.
    pub test: u64,
}

/// Rows of a class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassRows {
    /// The class.
    pub name: String,
    /// Its rows.
    pub rows: u64,
    /// Their share of all rows.
    pub share: f64,
}

/// Another reading of the values of a file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reading {
    /// How the numbers would be read.
    pub of: ReadAs,
    /// Rows that disagree as they stand, and would agree.
    pub explains: u64,
}

/// How the numbers of a file may be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadAs {
    /// Values for the player who has just moved: −V.
    OtherSign,
    /// Probabilities of winning for the player to move: V = 2p − 1.
    Probability,
    /// Probabilities of winning for the player who has just moved: V = 1 − 2p.
    OtherProbability,
}

impl ReadAs {
    const ALL: [Self; 3] = [Self::OtherSign, Self::Probability, Self::OtherProbability];

    /// The value that a number then means.
    fn value(self, number: f64) -> f64 {
        match self {
            Self::OtherSign => -number,
            Self::Probability => 2.0 * number - 1.0,
            Self::OtherProbability => 1.0 - 2.0 * number,
        }
    }

    /// What to do, in words.
    pub fn advice(self) -> &'static str {
        match self {
            Self::OtherSign => {
                "agree with the sign turned: values are for the player to move, and these seem to be for the player who has just moved"
            }
            Self::Probability => "agree as probabilities of winning: name the column `win`, not `value`",
            Self::OtherProbability => {
                "agree as probabilities that the player to move loses: write 1 − p, and name the column `win`"
            }
        }
    }
}

/// The difference of two values of one position, the later example, and the earlier.
type Differing<'a, S> = (f64, &'a Example<S>, &'a Example<S>);

impl LabelReport {
    /// Figures of these rows. Exact values are opened, which may take a while.
    pub fn new<G: Kit>(game: &G, examples: &[Example<G::State>], tolerance: f64) -> Self {
        // As in the file: for the player to move.
        let values: Vec<f64> = examples.iter().map(|example| -example.value).collect();
        let mut report = Self {
            rows: values.len() as u64,
            tolerance,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            mean: values.iter().sum::<f64>() / values.len().max(1) as f64,
            class: game.positions().class_name.into(),
            ..Self::default()
        };
        report.repeats(game, examples);
        report.shares(game, examples);
        match exact_values(game, &examples.iter().map(|example| example.state.clone()).collect::<Vec<_>>()) {
            Some(Ok(exact)) => {
                let exact: Vec<f64> = exact.into_iter().map(|value| -value).collect();
                let number = game.positions().number;
                let is_test = |i: usize| Part::of(number(&examples[i].state)) == Part::Test;
                let place = |i: usize| (examples[i].line, game.position_text(&examples[i].state));
                report.compare(&values, &exact, &is_test, &place);
            }
            Some(Err(error)) => report.not_compared = Some(error.to_string()),
            None => {}
        }
        report
    }

    /// Whether the file has faults: values of one position, or a value and the exact one, that differ by more than the tolerance.
    pub fn has_faults(&self) -> bool {
        self.contradictions > 0 || self.disagreements > 0
    }

    fn repeats<G: Kit>(&mut self, game: &G, examples: &[Example<G::State>]) {
        let mut first: FxHashMap<&G::State, &Example<G::State>> = FxHashMap::default();
        let mut found: Vec<Differing<'_, G::State>> = Vec::new();
        for example in examples {
            match first.entry(&example.state) {
                Entry::Vacant(place) => {
                    place.insert(example);
                }
                Entry::Occupied(earlier) => {
                    let difference = (example.value - earlier.get().value).abs();
                    if difference <= self.tolerance {
                        self.duplicates += 1;
                    } else {
                        found.push((difference, example, earlier.get()));
                    }
                }
            }
        }
        self.positions = first.len() as u64;
        self.contradictions = found.len() as u64;
        sort_by_highest(&mut found, &|(difference, ..)| *difference);
        let contradiction = |(_, example, earlier): &Differing<'_, G::State>| Contradiction {
            line: example.line,
            position: game.position_text(&example.state),
            value: -example.value,
            first_line: earlier.line,
            first_value: -earlier.value,
        };
        self.contradicting = found.iter().take(NAMED).map(contradiction).collect();
    }

    fn shares<G: Kit>(&mut self, game: &G, examples: &[Example<G::State>]) {
        let (mut classes, positions): (BTreeMap<u64, u64>, _) = (BTreeMap::new(), game.positions());
        for Example { state, .. } in examples {
            *classes.entry((positions.class)(state)).or_default() += 1;
            match Part::of((positions.number)(state)) {
                Part::Train => self.parts.training += 1,
                Part::Validation => self.parts.validation += 1,
                Part::Test => self.parts.test += 1,
            }
        }
        let share = |rows| rows as f64 / examples.len().max(1) as f64;
        let class =
            |(class, rows): (u64, u64)| ClassRows { name: class.to_string(), rows, share: share(rows) };
        self.classes = classes.into_iter().map(class).collect();
    }

    /// Compares the values of rows with exact ones. `place` is the line and the position of a row.
    fn compare(
        &mut self,
        values: &[f64],
        exact: &[f64],
        is_test: &dyn Fn(usize) -> bool,
        place: &dyn Fn(usize) -> (u64, String),
    ) {
        let error = |i: usize| values[i] - exact[i];
        let mut known: Vec<usize> = (0..values.len()).filter(|&i| !exact[i].is_nan()).collect();
        self.compared = known.len() as u64;
        if known.is_empty() {
            return;
        }
        let all = PositionErrors::of(known.iter().map(|&i| error(i)));
        (self.max_abs_error, self.rms_error) = (Some(all.max), Some(all.rms));
        let test: Vec<usize> = (0..values.len()).filter(|&i| is_test(i)).collect();
        if !test.is_empty() && test.iter().all(|&i| !exact[i].is_nan()) {
            self.test_rms_error = Some(PositionErrors::of(test.iter().map(|&i| error(i))).rms);
        }
        // Of equal errors the first one comes first.
        sort_by_highest(&mut known, &|&i| error(i).abs());
        known.retain(|&i| error(i).abs() > self.tolerance);
        self.disagreements = known.len() as u64;
        let row = |&i: &usize| {
            let (line, position) = place(i);
            LabelRow { line, position, value: values[i], exact: exact[i] }
        };
        self.worst = known.iter().take(NAMED).map(row).collect();
        // Numbers with a rounding of their own agree less closely in another reading.
        let fits = |of: ReadAs, i: &usize| {
            let other = (of.value(values[*i]) - exact[*i]).abs();
            other <= self.tolerance || other < 0.1 * error(*i).abs()
        };
        let may_be = |of: &ReadAs| *of == ReadAs::OtherSign || self.min >= 0.0;
        let explains = |of| Reading { of, explains: known.iter().filter(|i| fits(of, i)).count() as u64 };
        let best =
            ReadAs::ALL.into_iter().filter(may_be).map(explains).max_by_key(|reading| reading.explains);
        self.reading = best.filter(|reading| 2 * reading.explains > self.disagreements);
    }

    /// The report without advice to read as probabilities what the file already gives as probabilities.
    fn of_file(mut self, path: &Path) -> Self {
        if is_label_file(path) {
            return self;
        }
        let values = || Values::of(&Sheet::read(path)?);
        self.of_wins = matches!(values(), Ok(Some(values)) if values.is_probability());
        if self.of_wins {
            self.reading = self.reading.filter(|reading| reading.of == ReadAs::OtherSign);
        }
        self
    }

    /// What a run on this file should know, one sentence each. `rules` is the rule set.
    pub fn warnings(&self, path: &Path, rules: &str) -> Vec<String> {
        let file = path.display();
        let mut all = Vec::new();
        if self.disagreements > 0 {
            let worst = self.worst.first().map_or_else(String::new, |worst| {
                let LabelRow { line, position, value, exact } = worst;
                format!("; the worst is line {line}, {position}: {value:.4}, exact {exact:.4}")
            });
            let reading = self.reading.map_or_else(String::new, |reading| {
                format!(". {} of them {}", reading.explains, reading.of.advice())
            });
            all.push(format!(
                "{file}: {} of {} values {} from exact ones by more than {}{worst}{reading}. See \
                 `adept data check {} --game {}`",
                self.disagreements,
                self.compared,
                if self.disagreements == 1 { "differs" } else { "differ" },
                self.tolerance,
                shell_path(path),
                shell(rules)
            ));
        }
        if let Some(worst) = self.contradicting.first() {
            let Contradiction { line, value, first_line, first_value, .. } = worst;
            all.push(format!(
                "{file}: {} of {} rows {} an earlier row; line {first_line} gives a position {first_value:.4}, line {line} \
                 {value:.4}",
                self.contradictions,
                self.rows,
                if self.contradictions == 1 { "contradicts" } else { "contradict" }
            ));
        }
        if self.looks_like_probabilities() {
            all.push(format!("{file}: {}", Self::PROBABILITIES));
        }
        all
    }

    /// What to ask where numbers look like probabilities.
    pub const PROBABILITIES: &str =
        "all values are from 0 to 1: if these are probabilities of winning, name the column `win`";

    /// Whether the numbers may be probabilities, and nothing better is known.
    pub fn looks_like_probabilities(&self) -> bool {
        !self.of_wins && self.compared == 0 && self.rows >= 20 && self.min >= 0.0 && self.min < self.max
    }

    /// What is worth a note, such as rows that repeat others.
    pub fn notes(&self, path: &Path) -> Vec<String> {
        let file = path.display();
        let mut all = Vec::new();
        if self.duplicates > 0 {
            all.push(format!(
                "{file}: {} of {} rows {} an earlier row: such positions count more than once",
                self.duplicates,
                self.rows,
                if self.duplicates == 1 { "repeats" } else { "repeat" }
            ));
        }
        if let Some(why) = &self.not_compared {
            all.push(format!("{file}: values are not compared with exact ones: {why}"));
        }
        all
    }
}

/// Reads a file of labelled positions and checks it.
///
/// # Errors
/// A fault of the file, or a file without rows.
pub fn check<G: Kit>(game: &G, path: &Path, tolerance: f64) -> Result<LabelReport, GameError> {
    Ok(LabelReport::new(game, &examples_in(game, path, limits::EXAMPLES)?, tolerance).of_file(path))
}

/// The rows of a file; of a binary file at most so many, evenly spread.
///
/// # Errors
/// A fault of the file, or a file without rows.
pub fn examples_in<G: Kit>(game: &G, path: &Path, most: u64) -> Result<Vec<Example<G::State>>, GameError> {
    let examples = if is_label_file(path) {
        let file = LabelFile::read(game, path)?;
        file.spread(game, file.len(), |row| row, most)?
    } else {
        game.files().read_examples(game, path)?
    };
    if examples.is_empty() { Err(GameError::data(path, "has no rows")) } else { Ok(examples) }
}

/// Reports of the last files, by a hash of their rows.
static CHECKED: Mutex<Vec<(u64, Arc<LabelReport>)>> = Mutex::new(Vec::new());

/// Rows of a binary file that are checked before a run.
const BEFORE_A_RUN: u64 = 200_000;

/// Reports that are kept.
const KEPT: usize = 8;

/// The same for the file of a run. Runs of several seeds on the same rows share one report, for which the others wait.
///
/// # Errors
/// As [`check`], and a pipe, which a resumed run could not read again.
pub(crate) fn of_run<G: Kit>(game: &G, path: &Path) -> Result<Arc<LabelReport>, GameError> {
    limits::check_lasting(path).map_err(GameError::file(path))?;
    let examples = examples_in(game, path, BEFORE_A_RUN)?;
    let mut hash = FxHasher::default();
    game.name().hash(&mut hash);
    for Example { state, value, line, .. } in &examples {
        (state, value.to_bits(), line).hash(&mut hash);
    }
    let key = hash.finish();
    let mut checked = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, report)) = checked.iter().find(|(k, _)| *k == key) {
        return Ok(report.clone());
    }
    let report = Arc::new(LabelReport::new(game, &examples, TOLERANCE).of_file(path));
    if checked.len() >= KEPT {
        checked.remove(0);
    }
    checked.push((key, report.clone()));
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_builtin::bearoff::{Bearoff, Distribution, State};
    use adept_game::stream;

    /// Positions with their exact values.
    fn examples(game: &Bearoff, count: u64) -> Vec<Example<State>> {
        let mut rng = stream(1, "test", 0);
        let states: Vec<State> = (0..count)
            .map(|_| State::to_roll(Distribution::Table.sample(game.checkers(), &mut rng)))
            .collect();
        let exact = game.values().exact(game, &states).unwrap().unwrap();
        let example = |((state, value), line)| Example { state, value, outcomes: Vec::new(), line };
        states.into_iter().zip(exact).zip(2..).map(example).collect()
    }

    /// A column of probabilities needs no advice to name it so.
    #[test]
    fn probabilities_are_not_taken_for_values() {
        let folder = tempfile::tempdir().unwrap();
        let game = Bearoff::new(5).unwrap();
        let check = |name: &str| {
            let rows: String = (0..30)
                .map(|i| format!("\"1,0,0,0,0,0/1,0,0,0,0,0\",{}\n", 0.6 + 0.01 * f64::from(i)))
                .collect();
            let path = folder.path().join(format!("{name}.csv"));
            std::fs::write(&path, format!("position,{name}\n{rows}")).unwrap();
            let mut report =
                LabelReport::new(&game, &game.files().read_examples(&game, &path).unwrap(), 0.001);
            // As where exact values are not known.
            report.compared = 0;
            report.of_file(&path)
        };
        assert!(check("value").looks_like_probabilities());
        let wins = check("win");
        assert!(!wins.looks_like_probabilities() && wins.reading.is_none_or(|r| r.of == ReadAs::OtherSign));
    }

    fn report(examples: &[Example<State>]) -> LabelReport {
        LabelReport::new(&Bearoff::new(5).unwrap(), examples, TOLERANCE)
    }

    #[test]
    fn right_labels_agree() {
        let found = report(&examples(&Bearoff::new(5).unwrap(), 500));
        assert_eq!((found.rows, found.compared, found.disagreements), (500, 500, 0));
        assert!(found.max_abs_error.unwrap() < 1e-6 && found.test_rms_error.unwrap() < 1e-6);
        assert!(found.worst.is_empty() && found.reading.is_none() && !found.has_faults());
        assert_eq!(found.positions + found.duplicates + found.contradictions, 500);
        assert_eq!(found.parts.training + found.parts.validation + found.parts.test, 500);
        assert_eq!(found.classes.iter().map(|class| class.rows).sum::<u64>(), 500);
        assert!(found.warnings(Path::new("FILE"), "bearoff:5").is_empty());
    }

    #[test]
    fn wrong_readings_are_found() {
        let right = examples(&Bearoff::new(5).unwrap(), 500);
        let changed = |change: fn(f64) -> f64| {
            let example = |e: &Example<State>| Example { value: -change(-e.value), ..e.clone() };
            report(&right.iter().map(example).collect::<Vec<_>>())
        };
        for (change, of) in [
            ((|v| -v) as fn(f64) -> f64, ReadAs::OtherSign),
            (|v| (1.0 + v) / 2.0, ReadAs::Probability),
            (|v| (1.0 - v) / 2.0, ReadAs::OtherProbability),
            // Rounded as by hand, which leaves small differences unexplained.
            (|v| (50.0 + 50.0 * v).round() / 100.0, ReadAs::Probability),
        ] {
            let found = changed(change);
            let reading = found.reading.unwrap();
            assert!(reading.of == of && 10 * reading.explains > 8 * found.disagreements, "{found:?}");
            assert!(found.has_faults() && found.rms_error.unwrap() > 0.3, "{found:?}");
        }
        // Noise is noise.
        let noisy = changed(|v| (v + 0.3 * (1e4 * v).sin()).clamp(-1.0, 1.0));
        assert!(noisy.disagreements > 400 && noisy.reading.is_none(), "{noisy:?}");
    }

    #[test]
    fn the_worst_row_is_named() {
        let mut rows = examples(&Bearoff::new(5).unwrap(), 100);
        rows[41].value = -rows[41].value.signum();
        let found = report(&rows);
        assert_eq!((found.disagreements, found.worst[0].line), (1, 43));
        let warnings = found.warnings(Path::new("FILE"), "bearoff:5");
        assert!(warnings[0].starts_with(
            "FILE: 1 of 100 values differs from exact ones by more than 0.001; the worst is line 43, "
        ));
        assert!(warnings[0].ends_with("See `adept data check FILE --game bearoff:5`"), "{warnings:?}");
    }

    #[test]
    fn duplicates_and_contradictions_are_counted_apart() {
        let mut rows = examples(&Bearoff::new(5).unwrap(), 3);
        let mut seen: Vec<State> = rows.iter().map(|row| row.state).collect();
        seen.dedup();
        assert_eq!(seen.len(), 3, "the draws differ");
        rows.extend([rows[0].clone(), rows[0].clone(), Example { value: 0.5, line: 9, ..rows[1].clone() }]);
        let found = report(&rows);
        assert_eq!((found.positions, found.duplicates, found.contradictions), (3, 2, 1));
        let Contradiction { line, value, first_line, .. } = found.contradicting[0];
        assert_eq!((line, value, first_line), (9, -0.5, 3));
        let [note] = &found.notes(Path::new("FILE"))[..] else { panic!("one note") };
        assert!(note.starts_with("FILE: 2 of 6 rows repeat an earlier row"), "{note}");
        assert!(
            found
                .warnings(Path::new("FILE"), "bearoff:5")
                .iter()
                .any(|w| w.contains("1 of 6 rows contradicts"))
        );
    }
}
