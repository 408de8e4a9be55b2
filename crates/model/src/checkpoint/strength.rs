//! The measured strength of a published checkpoint, in its manifest.

use super::{MANIFEST, fault, manifest, manifest_text};
use crate::error::ModelError;
use adept_ground::files::Files;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Playing strength of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strength {
    /// The figure.
    pub value: f64,
    /// Its unit, such as `points a game`.
    pub unit: String,
    /// The measurement, such as `against GNU Backgammon 1.07 at 0 ply`.
    pub measure: String,
    /// Whether a lower figure is better, as that of an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lower_is_better: bool,
    /// The strength of the levels at which people play against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelStrength>,
}

/// The measured strength of a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelStrength {
    /// Its name.
    pub level: String,
    /// The mean result of a game against the level `strong`, in the unit of the game; without a unit, the share of games won, where a
    /// draw is half a win.
    pub value: f64,
    /// Half the width of its 95 % interval.
    pub ci95: f64,
}

impl Strength {
    /// Whether both figures were measured in the same way.
    pub(super) fn compares(&self, other: &Self) -> bool {
        (&self.unit, &self.measure, self.lower_is_better)
            == (&other.unit, &other.measure, other.lower_is_better)
    }

    /// The figure, or its opposite if lower is better.
    pub(super) fn score(&self) -> f64 {
        if self.lower_is_better { -self.value } else { self.value }
    }

    /// The figure in words, such as `-0.0141 points a game, against GNU Backgammon 1.07 at 0 ply`.
    pub fn text(&self) -> String {
        let lower = if self.lower_is_better { LOWER } else { "" };
        format!("{} {}, {}{lower}", self.value, self.unit, self.measure)
    }
}

/// End of [`Strength::text`] where lower is better.
const LOWER: &str = " (lower is better)";

impl std::str::FromStr for Strength {
    type Err = String;

    /// Reads `VALUE UNIT, MEASURE`, such as `-0.0141 points a game, against GNU Backgammon 1.07 at 0 ply`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}`: write VALUE UNIT, MEASURE, such as -0.0141 points a game, against pubeval");
        let (rest, lower_is_better) = match text.strip_suffix(LOWER) {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let (value, what) = rest.split_once(' ').ok_or_else(wrong)?;
        let (unit, measure) = what.split_once(", ").ok_or_else(wrong)?;
        let value = value.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(wrong)?;
        let is_line = |part: &str| !part.trim().is_empty() && !part.contains(char::is_control);
        if !is_line(unit) || !is_line(measure) {
            return Err(wrong());
        }
        Ok(Self { value, unit: unit.into(), measure: measure.into(), lower_is_better, levels: Vec::new() })
    }
}

/// The key, as the first one of a manifest.
const KEY: &str = "{\n  \"strength\": {\n";

/// End of the figure: the first bracket that stands as far left as its key. Text in JSON has no line breaks.
const END: &str = "\n  },\n";

/// The text of a manifest without the strength, as the checksum covers it.
pub(super) fn without(text: &str) -> String {
    let end = text.strip_prefix(KEY).and_then(|rest| rest.split_once(END));
    end.map_or_else(|| text.into(), |(_, rest)| format!("{{\n{rest}"))
}

/// Writes the strength of a published checkpoint into its manifest, in place of an earlier one. Its checksum stays.
///
/// # Errors
/// If there is no whole checkpoint in this folder, or it cannot be written.
pub fn note_strength(folder: &Path, strength: &Strength) -> Result<(), ModelError> {
    manifest(folder)?;
    let path = folder.join(MANIFEST);
    let text = without(&manifest_text(&path)?);
    let value = serde_json::to_string_pretty(strength).map_err(|e| fault(&path, e.to_string()))?;
    let Some(rest) = text.strip_prefix("{\n") else {
        return Err(fault(&path, "has another form than manifests"));
    };
    let text = format!("{{\n  \"strength\": {},\n{rest}", value.replace('\n', "\n  "));
    Ok(Files::default().replace(&path, text.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::Architecture;
    use crate::checkpoint::{Manifest, read, write};

    #[test]
    fn a_strength_leaves_the_checksum_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net");
        let architecture: Architecture = serde_json::from_str(r#"{"mlp": {"hidden": [2]}}"#).unwrap();
        let new = Manifest::new("game", "encoder", Vec::new(), &architecture);
        write(&Files::default(), &path, new, &[]).unwrap();
        let before = read(&path).unwrap().manifest;
        let level = LevelStrength { level: "easy".into(), value: -1.5, ci95: 0.1 };
        let mut strength = Strength {
            value: -0.25,
            unit: "points a game".into(),
            measure: "against {\n  },\n and more".into(),
            lower_is_better: false,
            levels: vec![level],
        };
        for (value, lower) in [(-0.25, true), (0.5, false)] {
            (strength.value, strength.lower_is_better) = (value, lower);
            note_strength(&path, &strength).unwrap();
            let after = read(&path).unwrap().manifest;
            assert_eq!(after.strength.as_ref(), Some(&strength));
            assert_eq!(Manifest { strength: None, ..after }, before);
        }
        let plain = Strength { measure: "against pubeval, 9 games".into(), levels: Vec::new(), ..strength };
        for lower_is_better in [false, true] {
            let one = Strength { lower_is_better, ..plain.clone() };
            assert_eq!(one.text().parse(), Ok(one));
        }
        for wrong in ["", "1", "1 points", "x points, against y", "1 , against y", "NaN points, y"] {
            assert!(wrong.parse::<Strength>().unwrap_err().contains("VALUE UNIT, MEASURE"), "{wrong}");
        }
        // What the checksum covers is checked as before.
        let text = std::fs::read_to_string(path.join(MANIFEST)).unwrap();
        std::fs::write(path.join(MANIFEST), text.replace("\"encoder\"", "\"encoded\"")).unwrap();
        assert!(read(&path).is_err());
    }
}
