//! Errors on each kind of position of a game: its distributions and its classes. If a formula of the game is more
//! accurate, users are warned: after training, on cards, and when a checkpoint is opened for such positions.

use super::positions::{ErrorsOf, Formulas, errors_by_class, errors_by_distribution};
use adept_arena::{GameModel, OpenError, open};
use adept_game::Kit;
use adept_ground::{files::Files, limits, notes};
use adept_model::ModelError;
use adept_model::checkpoint;
use adept_trainer::config::{Config, Examples, MeasuredOn};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Errors on all kinds of positions: the content of `errors.json`, next to a published checkpoint or in a run folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kinds {
    /// Errors on test positions of each distribution.
    pub distributions: Vec<ErrorsOf>,
    /// Errors by class.
    pub classes: Vec<ErrorsOf>,
    /// Meaning of the classes.
    pub class: String,
}

/// A set of positions on which a formula of the game is more accurate than a network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weakness {
    /// Description of the positions.
    pub positions: String,
    /// Root mean square error of the network; for several classes, that with the largest disadvantage.
    pub rms: f64,
    /// The formula.
    pub formula: String,
    /// Its root mean square error on the same positions.
    pub formula_rms: f64,
}

/// Margin by which an error must exceed a formula's: relative and absolute.
#[derive(Clone, Copy)]
struct Margin(f64, f64);

/// Margin for cards. Exact values in 16 bits are within 4.4e-5: smaller differences are meaningless.
const AT_ALL: Margin = Margin(0.0, 5e-5);

/// Margin for warnings: relevant to users, and beyond the sampling noise of the few positions drawn after training.
const CLEARLY: Margin = Margin(0.1, 2e-4);

/// Positions of each kind drawn after training.
const DRAWN: u64 = 4000;

/// Name of the file.
const FILE: &str = "errors.json";

impl Kinds {
    /// Measures a network on a few thousand positions of each kind. None if the game has no formula for comparison.
    ///
    /// # Errors
    /// If the exact values or a formula cannot be opened.
    fn measure<G: Kit>(game: &G, bound: &mut GameModel<G>) -> Result<Option<Self>, OpenError> {
        if game.positions().is_empty() {
            return Ok(None);
        }
        let formulas = Formulas::open(game)?;
        if formulas.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            distributions: errors_by_distribution(game, bound, &formulas, DRAWN)?,
            classes: errors_by_class(game, bound, &formulas, DRAWN)?.unwrap_or_default(),
            class: game.positions().class_name.into(),
        }))
    }

    /// Measures a finished run whose figure uses the exact values of its game.
    pub(crate) fn of_run<G: Kit>(game: &G, config: &Config, run: &Path) -> Result<Option<Self>, OpenError> {
        let from_file = matches!(config.learn.examples(), Some(Examples::File(_)));
        if from_file || config.measured_on() != Some(MeasuredOn::Positions) {
            return Ok(None);
        }
        Self::measure(game, &mut open::open(game, run, false)?.0)
    }

    /// Reads the errors next to a published checkpoint, or of the run that a checkpoint belongs to. They are optional,
    /// so a damaged file counts as none.
    pub fn beside(path: &Path) -> Option<Self> {
        let located = checkpoint::locate(path, false).ok();
        let own = located.as_deref().unwrap_or(path);
        // A run folder has its checkpoints in `checkpoints/`.
        let run = own.parent().and_then(Path::parent).filter(|run| run.join("run.json").exists());
        let read = |folder: &Path| {
            let bytes = limits::read(&folder.join(FILE), limits::RECORD_BYTES).ok()?;
            serde_json::from_slice(&bytes).ok()
        };
        read(own).or_else(|| read(run?))
    }

    pub(crate) fn write(&self, files: &Files, folder: &Path) -> Result<(), ModelError> {
        Ok(files.replace(&folder.join(FILE), &serde_json::to_vec_pretty(self)?)?)
    }

    /// Kinds on which a formula is more accurate: distributions, then classes grouped by formula.
    pub fn weaknesses(&self) -> Vec<Weakness> {
        self.beaten(AT_ALL)
    }

    /// Weaknesses beyond the margin for warnings.
    pub fn clear_weaknesses(&self) -> Vec<Weakness> {
        self.beaten(CLEARLY)
    }

    fn beaten(&self, margin: Margin) -> Vec<Weakness> {
        let of = |errors: &ErrorsOf, positions: String| {
            let (formula, formula_rms) = better(errors, margin)?;
            Some(Weakness { positions, rms: errors.errors.rms, formula: formula.into(), formula_rms })
        };
        let distributions =
            self.distributions.iter().filter_map(|e| of(e, format!("the distribution `{}`", e.name)));
        let mut found: Vec<Weakness> = distributions.collect();
        let mut formulas: Vec<&str> = Vec::new();
        for (formula, _) in self.classes.iter().filter_map(|e| better(e, margin)) {
            if !formulas.contains(&formula) {
                formulas.push(formula);
            }
        }
        for formula in formulas {
            let is_here = |e: &ErrorsOf| better(e, margin).is_some_and(|(name, _)| name == formula);
            let gap = |e: &ErrorsOf| e.errors.rms - better(e, margin).map_or(0.0, |(_, rms)| rms);
            let these = self.classes.iter().filter(|e| is_here(e));
            let Some(worst) = these.max_by(|a, b| gap(a).total_cmp(&gap(b))) else { continue };
            let positions = format!("{} {}", self.class, ranges(&self.classes, is_here));
            found.extend(of(worst, positions));
        }
        found
    }

    /// Warns if a formula is clearly more accurate on positions of these distributions or classes; on any if both lists
    /// are empty.
    pub(crate) fn caution(&self, path: &Path, distributions: &[&str], classes: &[String]) {
        let all = distributions.is_empty() && classes.is_empty();
        let pick = |from: &[ErrorsOf], is_here: &dyn Fn(&str) -> bool| -> Vec<ErrorsOf> {
            from.iter().filter(|e| all || is_here(&e.name)).cloned().collect()
        };
        let here = Self {
            distributions: pick(&self.distributions, &|name| distributions.contains(&name)),
            classes: pick(&self.classes, &|name| classes.iter().any(|class| class == name)),
            class: self.class.clone(),
        };
        let weak = here.clear_weaknesses();
        if let Some(worst) =
            weak.iter().max_by(|a, b| (a.rms - a.formula_rms).total_cmp(&(b.rms - b.formula_rms)))
        {
            notes::warn(&format!(
                "{}: on {} the formula `{}` is more accurate, with error {:.5} where this network has {:.5}{}",
                path.display(),
                worst.positions,
                worst.formula,
                worst.formula_rms,
                worst.rms,
                if weak.len() > 1 { "; its card has the other cases" } else { "" }
            ));
        }
    }
}

/// The most accurate formula on these positions, if it is better than the network by more than the margin.
fn better(errors: &ErrorsOf, Margin(share, difference): Margin) -> Option<(&str, f64)> {
    let formulas = errors.baselines.iter().filter(|(name, rms)| name != "constant" && !rms.is_nan());
    let (name, rms) = formulas.min_by(|a, b| a.1.total_cmp(&b.1))?;
    // NaN is the largest error.
    let is_as_good = errors.errors.rms <= rms * (1.0 + share) + difference;
    (!is_as_good).then_some((name, *rms))
}

/// The names for which `is_here` holds, with consecutive ones as ranges: `1 to 4, 7`.
fn ranges(all: &[ErrorsOf], is_here: impl Fn(&ErrorsOf) -> bool) -> String {
    let mut texts = Vec::new();
    for run in all.chunk_by(|a, b| is_here(a) == is_here(b)) {
        match run {
            [first, ..] if !is_here(first) => {}
            [one] => texts.push(one.name.clone()),
            [first, last] => texts.push(format!("{}, {}", first.name, last.name)),
            [first, .., last] => texts.push(format!("{} to {}", first.name, last.name)),
            [] => {}
        }
    }
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_trainer::positions::PositionErrors;

    fn errors(name: &str, rms: f64, convolution: f64) -> ErrorsOf {
        let errors = PositionErrors { rms, mae: rms, max: rms, rows: 10 };
        // The mean value of a class is not a formula, even if it is exact.
        let baselines = [("constant", 0.0), ("convolution", convolution), ("normal", 0.5)];
        let baselines = baselines.map(|(name, rms)| (name.to_string(), rms)).to_vec();
        ErrorsOf { name: name.into(), errors, baselines }
    }

    fn kinds() -> Kinds {
        let classes = [0.3, 0.2, 0.1, 0.001, 0.0021, 0.0031];
        let classes =
            (1..).zip(classes).map(|(n, rms): (u32, f64)| errors(&n.to_string(), rms, 0.002)).collect();
        let distributions = vec![errors("table", 0.001, 0.0015), errors("small", 0.26, 0.002)];
        Kinds { distributions, classes, class: "checkers".into() }
    }

    #[test]
    fn where_a_formula_is_better_is_named() {
        let found: Vec<(String, f64)> =
            kinds().weaknesses().into_iter().map(|w| (w.positions, w.rms)).collect();
        assert_eq!(found, [("the distribution `small`".into(), 0.26), ("checkers 1 to 3, 5, 6".into(), 0.3)]);
        // 5 % more is not clear, nor is a negligible difference.
        let clear = kinds().clear_weaknesses();
        assert_eq!(clear[1].positions, "checkers 1 to 3, 6");
        assert_eq!((clear[1].formula.as_str(), clear[1].formula_rms), ("convolution", 0.002));
        // Within the resolution of exact values, nothing is better; NaN is worse than any error.
        let of =
            |rms, formula| Kinds { classes: vec![errors("1", rms, formula)], ..kinds() }.weaknesses().len();
        assert_eq!([of(4e-5, 0.0), of(6e-5, 0.0), of(f64::NAN, 0.0)], [1, 2, 2]);
        let clear = |rms| Kinds { classes: vec![errors("1", rms, 0.0)], ..kinds() }.clear_weaknesses().len();
        assert_eq!([clear(1.9e-4), clear(2.1e-4)], [1, 2]);
    }

    #[test]
    fn errors_are_found_beside_a_checkpoint_and_in_its_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = Files::default();
        assert_eq!(Kinds::beside(folder.path()), None);
        kinds().write(&files, folder.path()).expect("it is written");
        assert_eq!(Kinds::beside(folder.path()), Some(kinds()));
        let checkpoint = folder.path().join("checkpoints").join("000000000001");
        assert_eq!(Kinds::beside(&checkpoint), None, "no run");
        std::fs::write(folder.path().join("run.json"), "{}").expect("it is written");
        assert_eq!(Kinds::beside(&checkpoint), Some(kinds()));
        // JSON has no NaN.
        let mut lost = kinds();
        lost.classes[0].errors.max = f64::NAN;
        lost.classes[1].errors.rms = f64::NAN;
        lost.classes[2].baselines[1].1 = f64::NAN;
        lost.write(&files, folder.path()).expect("it is written");
        let read = Kinds::beside(folder.path()).expect("it is read");
        assert_eq!(format!("{read:?}"), format!("{lost:?}"));
        assert_eq!(read.weaknesses().len(), lost.weaknesses().len());
        std::fs::write(folder.path().join(FILE), "{").expect("it is written");
        assert_eq!(Kinds::beside(&checkpoint), None, "damaged");
    }
}
