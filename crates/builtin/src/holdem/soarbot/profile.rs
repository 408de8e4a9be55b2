//! Rule files: conditions, actions and scores, in TOML.

use super::flags::{FLAGS, Flag, Flags, Straights};
use adept_game::GameError;
use adept_ground::limits;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A set of rules for all four stages.
#[derive(Clone, Debug)]
pub struct Profile {
    /// One-line description.
    pub about: String,
    /// Probability of the flag `maybe`, drawn once a hand.
    pub maybe: f64,
    /// Definition of straights.
    pub straights: Straights,
    pub(super) stages: [Stage; 4],
}

/// Rules of a stage.
#[derive(Clone, Debug, Default)]
pub(super) struct Stage {
    /// Hand strengths, each with its conditions.
    pub(super) strengths: Vec<(f64, Vec<Condition>)>,
    /// Proposals.
    pub(super) rules: Vec<Rule>,
    /// Whether a condition reads `maybe`.
    pub(super) asks_maybe: bool,
}

/// A rule that proposes an action if all its conditions hold.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) when: Vec<Condition>,
    pub(super) action: Proposed,
    pub(super) score: f64,
}

/// Action that a rule proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Proposed {
    Fold,
    Call,
    Raise,
    CheckRaise,
}

impl Proposed {
    pub(super) fn name(self) -> &'static str {
        ["fold", "call", "raise", "check-raise"][self as usize]
    }
}

/// Declares the numbers with their names in rule files.
macro_rules! numbers {
    ($($name:ident = $text:literal,)+) => {
        /// A number that rules can compare.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Number {
            $(#[doc = $text] $name,)+
        }

        const NUMBERS: &[(Number, &str)] = &[$((Number::$name, $text),)+];
    };
}

numbers! {
    Strength = "strength",
    BetsToCall = "bets-to-call",
    Bets = "num-bets",
    MaxBets = "max-bets",
    Active = "num-active-players",
    Players = "num-players",
    Pot = "pot",
    BetSize = "bet-size",
    PotOdds = "pot-odds",
    Unacted = "unacted",
    Probability = "best-hand-probability",
    Potential = "potential",
    NegativePotential = "negative-potential",
    AdjustedOdds = "adjusted-odds",
    High = "high",
    Low = "low",
    Hutchison = "hutchison",
}

impl Number {
    pub(super) fn name(self) -> &'static str {
        NUMBERS.iter().find(|(number, _)| *number == self).map_or("", |(_, name)| name)
    }
}

/// The right side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Constant(f64),
    Number(Number),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

impl Relation {
    pub(super) fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::Less => a < b,
            Self::AtMost => a <= b,
            Self::Equal => a == b,
            Self::AtLeast => a >= b,
            Self::More => a > b,
        }
    }

    pub(super) fn sign(self) -> &'static str {
        RELATIONS.iter().find(|(_, relation)| *relation == self).map_or("", |(sign, _)| sign)
    }
}

/// Longer signs come first, because parsing takes the first match.
const RELATIONS: [(&str, Relation); 5] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("<", Relation::Less),
    (">", Relation::More),
    ("=", Relation::Equal),
];

/// A condition.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    /// At least one of these flags is set.
    Any(Flags),
    /// None of these flags is set.
    None(Flags),
    /// A comparison.
    Compare(Number, Relation, Value),
}

/// The file as parsed by serde.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    about: String,
    #[serde(default)]
    maybe: f64,
    straights: Straights,
    #[serde(default)]
    sets: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    preflop: StageFile,
    #[serde(default)]
    flop: StageFile,
    #[serde(default)]
    turn: StageFile,
    #[serde(default)]
    river: StageFile,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StageFile {
    #[serde(default)]
    strength: Vec<StrengthFile>,
    #[serde(default)]
    rule: Vec<RuleFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StrengthFile {
    is: f64,
    when: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    name: String,
    #[serde(default)]
    when: Vec<String>,
    action: Proposed,
    score: f64,
}

/// Names of the stages in rule files.
pub(super) const STAGES: [&str; 4] = ["preflop", "flop", "turn", "river"];

/// Largest number of cached profiles.
const MOST_KEPT: usize = 16;

/// Largest number of rules per stage.
const MOST_RULES: usize = 1000;

/// The built-in profiles: the thesis with its faults corrected, the published rules with the same corrections, and the
/// thesis with Hutchison's points before the flop.
const BUILT_IN: [(&str, &str); 3] = [
    ("soarbot", include_str!("soarbot.toml")),
    ("soarbot-2002", include_str!("soarbot-2002.toml")),
    ("soarbot-hutchison", include_str!("soarbot-hutchison.toml")),
];

/// Names of the built-in profiles.
pub(in super::super) fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

impl Profile {
    /// The built-in profile with this name.
    pub fn built_in(name: &str) -> Option<Result<Arc<Self>, GameError>> {
        let (name, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        Some(Self::known(text).map_err(|what| GameError::new(format!("{name}: {what}"))))
    }

    /// Reads a rule file.
    ///
    /// # Errors
    /// The file, the place and what was expected.
    pub fn read(path: &Path) -> Result<Arc<Self>, GameError> {
        let fault = |what: String| GameError::new(format!("{}: {what}", path.display()));
        let text = limits::read_text(path, limits::CONFIG_BYTES).map_err(GameError::file(path))?;
        Self::known(&text).map_err(fault)
    }

    /// Parses a profile. The last ones are cached, because matches open their agents many times.
    fn known(text: &str) -> Result<Arc<Self>, String> {
        static KEPT: Mutex<Vec<(String, Arc<Profile>)>> = Mutex::new(Vec::new());
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, profile)) = kept.iter().find(|(known, _)| known == text) {
            return Ok(profile.clone());
        }
        let profile = Arc::new(Self::parse(text)?);
        kept.truncate(MOST_KEPT - 1);
        kept.insert(0, (text.into(), profile.clone()));
        Ok(profile)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|e| {
            let line =
                e.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            format!("line {line}: {}", e.message().trim_end())
        })?;
        if !(0.0..=1.0).contains(&file.maybe) {
            return Err(format!("maybe = {}: a probability, from 0 to 1", file.maybe));
        }
        let mut sets = BTreeMap::new();
        for (name, flags) in &file.sets {
            let all: Result<Vec<Flag>, String> = flags.iter().map(|flag| flag_of(flag)).collect();
            let mut set = Flags::default();
            all.map_err(|e| format!("sets.{name}: {e}"))?.into_iter().for_each(|flag| set.set(flag, true));
            sets.insert(name.clone(), set);
        }
        let mut stages: [Stage; 4] = Default::default();
        for ((stage, file), name) in
            stages.iter_mut().zip([file.preflop, file.flop, file.turn, file.river]).zip(STAGES)
        {
            if file.rule.len() + file.strength.len() > MOST_RULES {
                return Err(format!("{name}: more than {MOST_RULES} rules"));
            }
            let read = |place: String, when: &[String]| {
                let conditions = when.iter().map(|text| condition(text, &sets));
                conditions.collect::<Result<Vec<_>, _>>().map_err(|e| format!("{place}: {e}"))
            };
            for (i, strength) in file.strength.iter().enumerate() {
                let place = format!("{name}.strength, number {}", i + 1);
                if !strength.is.is_finite() {
                    return Err(format!("{place}: `is` is not a number"));
                }
                let when = read(place, &strength.when)?;
                stage.strengths.push((strength.is, when));
            }
            for rule in file.rule {
                let when = read(format!("{name}.rule `{}`", rule.name), &rule.when)?;
                if !rule.score.is_finite() {
                    return Err(format!("{name}.rule `{}`: the score is not a number", rule.name));
                }
                stage.rules.push(Rule { name: rule.name, when, action: rule.action, score: rule.score });
            }
            let mut conditions = stage
                .strengths
                .iter()
                .flat_map(|(_, when)| when)
                .chain(stage.rules.iter().flat_map(|r| &r.when));
            stage.asks_maybe = conditions.any(|condition| match condition {
                Condition::Any(flags) | Condition::None(flags) => flags.has(Flag::Maybe),
                Condition::Compare(..) => false,
            });
        }
        let File { about, maybe, straights, .. } = file;
        Ok(Self { about, maybe, straights, stages })
    }
}

fn flag_of(name: &str) -> Result<Flag, String> {
    let found = FLAGS.iter().find(|(_, known)| *known == name.trim());
    found.map(|(flag, _)| *flag).ok_or_else(|| {
        let known: Vec<&str> = FLAGS.iter().map(|(_, name)| *name).collect();
        format!("`{}` is not a flag; the flags are {}", name.trim(), known.join(", "))
    })
}

fn number_of(name: &str) -> Option<Number> {
    NUMBERS.iter().find(|(_, known)| *known == name.trim()).map(|(number, _)| *number)
}

/// Parses `late or button`, `not maybe`, `none of danger` or `num-bets <= 1`.
fn condition(text: &str, sets: &BTreeMap<String, Flags>) -> Result<Condition, String> {
    let any = |names: &str| {
        let mut set = Flags::default();
        for name in names.split(" or ") {
            set.set(flag_of(name)?, true);
        }
        Ok::<_, String>(set)
    };
    if let Some(name) = text.strip_prefix("none of ") {
        let set =
            sets.get(name.trim()).ok_or_else(|| format!("`{text}`: [sets] has no `{}`", name.trim()))?;
        return Ok(Condition::None(*set));
    }
    if let Some(names) = text.strip_prefix("not ") {
        return Ok(Condition::None(any(names)?));
    }
    let Some((sign, relation)) = RELATIONS.iter().find(|(sign, _)| text.contains(sign)) else {
        return Ok(Condition::Any(any(text)?));
    };
    let (left, right) = text.split_once(sign).unwrap_or_default();
    let unknown = |what: &str| {
        let known: Vec<&str> = NUMBERS.iter().map(|(_, name)| *name).collect();
        format!(
            "`{text}`: `{}` is not a number of the rules; the numbers are {}",
            what.trim(),
            known.join(", ")
        )
    };
    let left = number_of(left).ok_or_else(|| unknown(left))?;
    let right = match right.trim().parse::<f64>() {
        Ok(constant) if constant.is_finite() => Value::Constant(constant),
        _ => Value::Number(number_of(right).ok_or_else(|| unknown(right))?),
    };
    Ok(Condition::Compare(left, *relation, right))
}
