//! The best agent of a game, and levels of play around it.

use super::resolve::{Meaning, resolve};
use super::spec::AgentSpec;
use super::usual::{STRONG_GAMES, best_network, without_network};
use crate::error::OpenError;
use crate::search;
use adept_game::{GameInfo, Kit};
use adept_model::checkpoint::{self, Manifest, Strength};
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
    /// Whether it has values.
    pub values: bool,
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
    Ok(match network {
        Some((path, manifest)) => of_network(game, &path, &manifest),
        None => of_own(game),
    })
}

fn of_network<G: Kit>(game: &G, path: &str, manifest: &Manifest) -> Vec<Rung> {
    let name = Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy());
    let searches = !manifest.head.is_policy() && search::fits(game).is_ok();
    // Dice make positions many: the best moves at once, and the best reply to each after every roll.
    let (plies, filter) = if search::has_chance(game) { (2, ",root=6,keep=1,margin=0") } else { (4, "") };
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
    let measured = |level: Level| {
        of_level(manifest.strength.as_ref(), level, game.counting().unit().map(|unit| unit.name.into_owned()))
    };
    let rungs = all.into_iter().filter(|(level, ..)| searches || *level != Level::Strongest);
    rungs
        .map(|(level, agent, what)| Rung {
            about: [Some(what), measured(level)].into_iter().flatten().collect::<Vec<_>>().join("; "),
            values: level >= Level::Strong && !manifest.head.is_policy(),
            level,
            agent,
        })
        .collect()
}

/// The measured strength of a level in words.
fn of_level(strength: Option<&Strength>, level: Level, unit: Option<String>) -> Option<String> {
    let strength = strength?;
    if level == Level::Strong {
        return Some(strength.text());
    }
    let found = strength.levels.iter().find(|found| found.level == level.name())?;
    let (value, ci95) = (found.value, found.ci95);
    Some(match unit {
        Some(unit) => format!("{value:+} ± {ci95} {unit} a game against strong"),
        None => format!("wins {:.0} ± {:.0} % of games against strong", 100.0 * value, 100.0 * ci95),
    })
}

fn of_own<G: Kit>(game: &G) -> Vec<Rung> {
    let info = GameInfo::of(game);
    let best = without_network(game);
    let rung = |level, agent: String, about: String| Rung { level, agent, about, values: false };
    if !info.is_open {
        let weak = rung(Level::Easy, "random".into(), "any legal move".into());
        let strong = rung(Level::Strong, best.clone(), format!("{best}, without a network"));
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
        all.push(Rung { values: true, ..rung(Level::Strong, best, "perfect play".into()) });
    }
    all
}
