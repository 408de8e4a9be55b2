//! Names of games from rules, and the texts that they name.

use adept_game::{GameError, LevelResult};
use adept_ground::limits;
use std::borrow::Cow;
use std::path::Path;

/// Rule files that come with adept, by name.
pub const SHIPPED: &[(&str, &str)] = &[
    ("birthday", include_str!("../games/birthday.game")),
    ("breakthrough", include_str!("../games/breakthrough.game")),
    ("connect-four", include_str!("../games/connect-four.game")),
    ("dots-and-boxes", include_str!("../games/dots-and-boxes.game")),
    ("eight-puzzle", include_str!("../games/eight-puzzle.game")),
    ("hanoi", include_str!("../games/hanoi.game")),
    ("hex", include_str!("../games/hex.game")),
    ("hexapawn-3x3-loss", include_str!("../games/hexapawn-3x3-loss.game")),
    ("hexapawn-3x3", include_str!("../games/hexapawn-3x3.game")),
    ("hexapawn-4x4-loss", include_str!("../games/hexapawn-4x4-loss.game")),
    ("hexapawn-4x4", include_str!("../games/hexapawn-4x4.game")),
    ("merlin", include_str!("../games/merlin.game")),
    ("nim-cycle", include_str!("../games/nim-cycle.game")),
    ("nim-lines", include_str!("../games/nim-lines.game")),
    ("nim-path", include_str!("../games/nim-path.game")),
    ("nim", include_str!("../games/nim.game")),
    ("pennies", include_str!("../games/pennies.game")),
    ("pig", include_str!("../games/pig.game")),
    ("race", include_str!("../games/race.game")),
    ("small-backgammon", include_str!("../games/small-backgammon.game")),
    ("tic-tac-toe-4x4", include_str!("../games/tic-tac-toe-4x4.game")),
    ("tic-tac-toe", include_str!("../games/tic-tac-toe.game")),
];

/// Descriptions in GDL that come with adept, by name.
pub const SHIPPED_GDL: &[(&str, &str)] = &[
    ("breakthrough.kif", include_str!("../games/breakthrough.kif")),
    ("connect-four.kif", include_str!("../games/connect-four.kif")),
    ("nim.kif", include_str!("../games/nim.kif")),
    ("tic-tac-toe.kif", include_str!("../games/tic-tac-toe.kif")),
];

/// The game that stands for all of them in lists.
pub const USUAL: &str = "declared:hexapawn-3x3";

/// The game that stands for all descriptions in GDL in lists.
pub const USUAL_GDL: &str = "declared:tic-tac-toe.kif";

/// Results of the levels of games that come with adept, by the names of their rules: 10,000 games of hexapawn, 4,000 of the description
/// in GDL, 2,000 of pig and 200 of its strongest level.
const LEVELS: &[(&str, &[LevelResult])] = &[
    (USUAL, &[LevelResult::new("easy", 0.4591, 0.0026), LevelResult::new("medium", 0.4991, 0.0004)]),
    (USUAL_GDL, &[LevelResult::new("easy", 0.2356, 0.0064), LevelResult::new("medium", 0.3865, 0.0055)]),
    (
        "declared:pig",
        &[
            LevelResult::new("easy", 0.2732, 0.0207),
            LevelResult::new("medium", 0.321, 0.0206),
            LevelResult::new("strongest", 0.525, 0.0295),
        ],
    ),
];

/// The measured results of the levels of a game; empty if they were not measured.
pub(crate) fn levels_of(name: &str) -> &'static [LevelResult] {
    LEVELS.iter().find(|(game, _)| *game == name).map_or(&[], |(_, levels)| levels)
}

/// Whether a name is that of a description in GDL.
pub(crate) fn is_gdl(name: &str) -> bool {
    name.len() >= 4
        && name.is_char_boundary(name.len() - 4)
        && name[name.len() - 4..].eq_ignore_ascii_case(".kif")
}

/// The text of a rule file that comes with adept.
fn shipped(wanted: &str) -> Result<&'static str, GameError> {
    let found = SHIPPED.iter().chain(SHIPPED_GDL).find(|(name, _)| *name == wanted);
    found.map(|(_, source)| *source).ok_or_else(|| {
        let names: Vec<&str> = SHIPPED.iter().chain(SHIPPED_GDL).map(|(name, _)| *name).collect();
        GameError::new(format!(
            "there is no rule file `{wanted}`; the rule files are {}; `file:PATH` names a file of your own",
            names.join(", ")
        ))
    })
}

/// The text of the rules `file:PATH` or `declared:NAME`. None if the name has another form.
pub(crate) fn source_of(name: &str) -> Option<Result<Cow<'static, str>, GameError>> {
    match (name.strip_prefix("file:").map(Path::new), name.strip_prefix("declared:")) {
        (Some(path), _) => {
            let text = limits::read_text(path, limits::CONFIG_BYTES).map_err(GameError::file(path));
            Some(text.map(Cow::Owned))
        }
        (None, wanted) => Some(shipped(wanted?).map(Cow::Borrowed)),
    }
}
