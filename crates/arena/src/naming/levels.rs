//! The best agent of a game, and levels of play around it.

use super::resolve::{Meaning, resolve};
use super::spec::AgentSpec;
use super::usual::{STRONG_GAMES, best_network, without_network};
use crate::error::OpenError;
use crate::search;
use adept_game::{GameInfo, Kit, LevelResult, outcome_classes};
use adept_model::checkpoint::{self, Manifest};
use adept_model::names;
use std::path::Path;

/// How well an agent plays, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Makes many mistakes.
    Easy,
    /// Makes some mistakes.
    Medium,
    /// Plays the best move that it knows at once.
    Strong,
    /// Looks ahead.
    Strongest,
}

impl Level {
    /// All, the weakest first.
    pub const ALL: [Self; 4] = [Self::Easy, Self::Medium, Self::Strong, Self::Strongest];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Medium => "medium",
            Self::Strong => "strong",
            Self::Strongest => "strongest",
        }
    }
}

impl std::str::FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name);
        let found = Self::ALL.into_iter().find(|level| level.name() == text);
        found.ok_or_else(|| format!("levels are {}{}", names.join(", "), names::suggest(text, &names)))
    }
}

/// A level of a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Rung {
    /// The level.
    pub level: Level,
    /// The agent that plays it, as commands name it.
    pub agent: String,
    /// What it is and how strong, in a line.
    pub about: String,
    /// The mean result of a game against [`Level::Strong`], which is exact for that level itself; none if it was not measured.
    pub result: Option<Mean>,
    /// Whether it has values.
    pub values: bool,
}

/// A mean with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// In the unit of the game; without a unit, the share of games won, where a draw is half a win.
    pub value: f64,
    /// Half the width of the interval.
    pub ci95: f64,
}

impl Mean {
    /// Whether it is higher than another, beyond their intervals.
    pub fn exceeds(self, other: Self) -> bool {
        self.value - other.value > self.ci95.hypot(other.ci95)
    }
}

/// Chances of a random move on the levels below [`Level::Strong`].
const EASY: f64 = 0.3;
const MEDIUM: f64 = 0.1;

/// The agent of tree search over random games, with their number on each level.
const TREE: [(Level, u32); 4] =
    [(Level::Easy, 20), (Level::Medium, 100), (Level::Strong, STRONG_GAMES), (Level::Strongest, 10_000)];

/// The levels that an agent can be played at, the weakest first: those of the checkpoint `base`, or of the best agent of the game.
///
/// # Errors
/// [`OpenError::Unknown`] if `base` is not a checkpoint, because other agents have one way to play. Errors of reading it.
pub fn levels<G: Kit>(game: &G, base: Option<&str>) -> Result<Vec<Rung>, OpenError> {
    let network = match base {
        None => best_network(game),
        Some(name) => {
            let found = resolve(game, name, &[])?;
            let (Meaning::Checkpoint(folder), AgentSpec::Named(_)) = (&found.meaning, &found.spec) else {
                return Err(OpenError::Unknown(format!(
                    "`{name}` plays at one level: name a checkpoint, or the game itself, `{}`",
                    game.name()
                )));
            };
            Some((name.to_string(), checkpoint::manifest(&checkpoint::locate(folder, false)?)?))
        }
    };
    let mut rungs = match network {
        Some((path, manifest)) => {
            let searches = !manifest.head.is_policy() && search::fits(game).is_ok();
            of_network(game.name(), searches, search::has_chance(game), &path, &manifest)
        }
        None => of_own(GameInfo::of(game).is_open, &without_network(game), game.agents().levels),
    };
    let unit = game.counting().unit().map(|unit| unit.name);
    let has_draws = outcome_classes(game).is_ok_and(|all| all.iter().any(|class| class.utility == 0.0));
    tell_results(unit.as_deref(), has_draws, &mut rungs);
    Ok(rungs)
}

/// Adds the measured results in words, and the levels that were not measured to be stronger than the one below them.
fn tell_results(unit: Option<&str>, has_draws: bool, rungs: &mut [Rung]) {
    let in_words = |Mean { value, ci95 }: Mean| match unit {
        Some(unit) => format!("{value:+} ± {ci95} {unit} a game against strong"),
        None => {
            let (verb, of, draws) = match has_draws {
                true => ("scores", "", ", a draw is half"),
                false => ("wins", " of games", ""),
            };
            let digits = if ci95 < 0.001 { 2 } else { 1 };
            format!(
                "{verb} {:.digits$} ± {:.digits$} %{of} against strong{draws}",
                100.0 * value,
                100.0 * ci95
            )
        }
    };
    let mut below: Option<(Level, Mean)> = None;
    for Rung { level, result, about, .. } in rungs {
        if *level == Level::Strong {
            *result = Some(Mean { value: if unit.is_some() { 0.0 } else { 0.5 }, ci95: 0.0 });
        } else if let Some(result) = *result {
            about.push_str(&format!("; {}", in_words(result)));
        }
        if let Some(((weaker, other), own)) = below.zip(*result)
            && !own.exceeds(other)
        {
            about.push_str(&format!("; not measurably stronger than {}", weaker.name()));
        }
        below = result.map(|result| (*level, result));
    }
}

fn of_network(game: &str, searches: bool, has_chance: bool, path: &str, manifest: &Manifest) -> Vec<Rung> {
    let name = Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy());
    // Dice make positions many: the best moves at once, and the best reply to each after every roll.
    let (plies, filter) = if has_chance { (2, ",root=6,keep=1,margin=0") } else { (4, "") };
    let all = [
        (Level::Easy, format!("epsilon:{EASY}:{path}"), format!("{name} with three random moves of ten")),
        (Level::Medium, format!("epsilon:{MEDIUM}:{path}"), format!("{name} with one random move of ten")),
        (Level::Strong, path.into(), format!("{name}, its best move")),
        (
            Level::Strongest,
            format!("search:{plies}{filter}:{path}"),
            format!("{name}, looking {plies} plies ahead"),
        ),
    ];
    let strength = manifest.strength.as_ref();
    let result = |level: Level| {
        // A network may play another rule set than the one that its levels were measured in, such as one with the cube.
        let measured = strength.filter(|_| manifest.game == game)?;
        let found = measured.levels.iter().find(|found| found.level == level.name())?;
        Some(Mean { value: found.value, ci95: found.ci95 })
    };
    let rungs = all.into_iter().filter(|(level, ..)| searches || *level != Level::Strongest);
    rungs
        .map(|(level, agent, what)| Rung {
            about: match strength {
                Some(strength) if level == Level::Strong => format!("{what}; {}", strength.text()),
                _ => what,
            },
            result: result(level),
            values: level >= Level::Strong && !manifest.head.is_policy(),
            level,
            agent,
        })
        .collect()
}

fn of_own(is_open: bool, best: &str, results: &[LevelResult]) -> Vec<Rung> {
    let rung = |level: Level, agent: String, about: String| {
        let found = results.iter().find(|found| found.level == level.name());
        let result = found.map(|found| Mean { value: found.value, ci95: found.ci95 });
        Rung { level, agent, about, result, values: false }
    };
    if !is_open {
        let weak = rung(Level::Easy, "random".into(), "any legal move".into());
        let strong = rung(Level::Strong, best.into(), format!("{best}, without a network"));
        return if best == "random" {
            vec![Rung { level: Level::Strong, ..weak }]
        } else {
            vec![weak, strong]
        };
    }
    // Perfect play takes no time there.
    let is_solved = best == "minimax";
    let trees = TREE.into_iter().filter(|(level, _)| !is_solved || *level < Level::Strong);
    let mut all: Vec<Rung> = trees
        .map(|(level, games)| {
            rung(
                level,
                format!("uct:{games}"),
                format!("tree search over {games} random games, without a network"),
            )
        })
        .collect();
    if is_solved {
        all.push(Rung { values: true, ..rung(Level::Strong, best.into(), "perfect play".into()) });
    }
    all
}
