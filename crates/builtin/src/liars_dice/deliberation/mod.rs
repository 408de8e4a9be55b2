//! The agents of Laird, Derbinsky and Tinkerhess (2011): probabilities (P) or expected numbers (E), a model of the last
//! bidder (M), heuristics (H).
//!
//! They come in four profiles. [`soar`] holds the three generations that the authors published, decision for decision.
//! [`paper`] follows the text of the paper, with thresholds that can be set; it also plays the other rule sets.

mod model;
pub(super) mod paper;
mod soar;

pub use paper::{Deliberate, DeliberateSettings, EvaluateBy, Heuristic};

use super::rules::{LiarsDice, RuleSet};
use adept_game::{Deliberator, Found, Named};
use soar::{Generation, Letters, Published};
use std::sync::Arc;

/// Description of the profile `paper`.
const PAPER: &str = "the profile that follows the text of the paper";

/// The profiles with one-line descriptions.
const PROFILES: [(&str, &str); 4] = [
    ("soar", "the newer published agents"),
    ("soar-old", "the older published agents, those of the paper"),
    ("soar-app", "the authors' app"),
    ("paper", PAPER),
];

/// The letter combinations with one-line descriptions.
const LETTERS: [(&str, &str); 8] = [
    ("P", "decides by probabilities"),
    ("PM", "P with a model of the last bidder"),
    ("PH", "P with an expert's heuristics"),
    ("PMH", "P with model and heuristics"),
    ("E", "decides by expected numbers"),
    ("EM", "E with a model of the last bidder"),
    ("EH", "E with an expert's heuristics"),
    ("EMH", "E with model and heuristics"),
];

/// The agents of a rule set with one-line descriptions. Without a profile, P is of `soar` and E of `soar-old`, where the
/// rule set has them.
pub(super) fn list(game: &LiarsDice) -> Vec<Named> {
    let named = |name: String, about: String| Named { name: name.into(), about: about.into() };
    let published = game.rules() == RuleSet::Soar;
    let mut all: Vec<Named> =
        LETTERS.iter().map(|(name, about)| named((*name).into(), (*about).into())).collect();
    let calibrated = LETTERS.iter().filter(|(name, _)| name.starts_with('E'));
    all.extend(calibrated.map(|(name, _)| {
        named(format!("{name}+"), format!("{name} of the paper, its classes calibrated in games of four"))
    }));
    for (profile, about) in PROFILES.iter().filter(|(profile, _)| published && *profile != "paper") {
        let has = |name: &str| name.starts_with('P') || *profile == "soar-old";
        let letters = LETTERS.iter().filter(|(name, _)| has(name));
        all.extend(letters.map(|(name, _)| named(format!("{profile}:{name}"), format!("{name} of {about}"))));
    }
    let paper = LETTERS.iter().map(|(name, _)| (*name).to_string());
    let newer = LETTERS.iter().filter(|(name, _)| name.ends_with('H')).map(|(name, _)| format!("{name}0"));
    all.extend(paper.map(|name| named(format!("paper:{name}"), format!("{name} of {}", PAPER))).chain(
        newer.map(|name| {
            let about = format!("{} with H0 and H4", name.trim_end_matches('0'));
            named(format!("paper:{name}"), format!("{about}, of {}", PAPER))
        }),
    ));
    all
}

/// The agent named `name`, with or without a profile.
pub(super) fn find(game: &LiarsDice, name: &str) -> Found<Arc<dyn Deliberator<LiarsDice>>> {
    match published(game, name) {
        Some(published) => Some(Ok(Arc::new(published))),
        None => paper::find(name, &serde_json::Value::Null),
    }
}

/// The published agent named `name`. None if there is no such agent in this rule set.
fn published(game: &LiarsDice, name: &str) -> Option<Published> {
    if game.rules() != RuleSet::Soar {
        return None;
    }
    let (generation, letters) = match name.split_once(':') {
        Some(("soar", letters)) => (Generation::New, letters),
        Some(("soar-old", letters)) => (Generation::Old, letters),
        Some(("soar-app", letters)) => (Generation::App, letters),
        Some(_) => return None,
        None if name.starts_with('E') => (Generation::Old, name),
        None => (Generation::New, name),
    };
    let letters = Letters::parse(letters)?;
    (!letters.expects || generation == Generation::Old).then(|| Published::new(name, generation, letters))
}
