//! The method `supervised`: learning from exact values of positions.

use crate::config::fault::{Fault, check_distribution, check_values, fault};
use adept_game::GameInfo;
use adept_ground::limits;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;
use std::path::{Path, PathBuf};

/// Settings of the method `supervised`: the target of a position is its exact value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupervisedSettings {
    /// Samples of the whole run.
    pub samples: u64,
    /// A fixed set of examples, shown repeatedly: how many to draw, or a CSV or `.labels` file (its path relative to the config file). Default:
    /// every example is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<Examples>,
    /// Distribution of the examples. Default: the game's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
}

impl SupervisedSettings {
    pub(super) fn check(&self, game: &GameInfo) -> Result<(), Fault> {
        check_distribution("learn.supervised.distribution", self.distribution.as_deref(), game)?;
        let from_file = self.examples.as_ref().is_some_and(|examples| examples.file().is_some());
        check_values("learn.supervised", from_file, game)?;
        self.examples.as_ref().map_or(Ok(()), |examples| examples.check("learn.supervised.examples"))
    }
}

/// Examples to learn from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Examples {
    /// This many, drawn at the start of a run.
    Drawn(u64),
    /// The training rows of a CSV file.
    File(PathBuf),
}

impl Examples {
    /// The file, if they are read from one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Drawn(_) => None,
        }
    }

    pub(super) fn check(&self, path: &str) -> Result<(), Fault> {
        match *self {
            Self::Drawn(0) => fault(path, "must be at least 1"),
            Self::Drawn(n) if n > limits::EXAMPLES => fault(
                path,
                format!("must be at most {}; leave it out to draw new examples throughout", limits::EXAMPLES),
            ),
            Self::File(ref file) if file.as_os_str().is_empty() => {
                fault(path, "is empty: give a number of examples or the path of a CSV file")
            }
            _ => Ok(()),
        }
    }
}

impl<'de> Deserialize<'de> for Examples {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Examples;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of positions, or the name of a CSV file in quotes")
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Examples, E> {
                Ok(Examples::Drawn(v))
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Examples, E> {
                let count =
                    u64::try_from(v).map_err(|_| E::invalid_value(de::Unexpected::Signed(v), &self))?;
                Ok(Examples::Drawn(count))
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Examples, E> {
                Ok(Examples::File(v.into()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Examples {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Examples".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Examples to learn from: how many are drawn, or a CSV file.",
            "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string" }]
        })
    }
}
