//! Configs as Python gives them: a file, a text or a dict.

use crate::errors::guarded;
use crate::games::ALL;
use crate::{fault, given};
use adept_trainer::config::{self, Config, ConfigError, Source};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// A config in a file, a dict or the text of a file, with changes.
pub(crate) fn source_of(config: &Bound<'_, PyAny>, settings: Vec<String>) -> PyResult<Source> {
    // A text of several lines is not a file name.
    if let Some(text) = config.extract::<String>().ok().filter(|text| text.contains('\n')) {
        return Ok(Source { file: "the text".into(), text, set: settings });
    }
    if !config.is_instance_of::<PyDict>() {
        let wrong = |_| match config.repr() {
            Ok(found) => PyTypeError::new_err(format!(
                "config: a file, a dict or the text of a TOML file is needed, found {found}"
            )),
            Err(error) => error,
        };
        return Source::read(&config.extract::<PathBuf>().map_err(wrong)?, &settings).map_err(fault);
    }
    let text = toml::to_string(&given::toml_of("", config)?).map_err(fault)?;
    Ok(Source { file: DICT.into(), text, set: settings })
}

/// File name of a config that is a dict.
const DICT: &str = "the config";

/// A fault of a config in the words of Python: a dict has keys and no lines, and changes are not `--set` of a command.
pub(crate) fn config_fault(error: ConfigError, source: &str) -> PyErr {
    fault(config_text(error, source))
}

/// The same as text.
pub(crate) fn config_text(error: ConfigError, source: &str) -> String {
    let ConfigError { mut file, mut place, mut line, message } = error;
    if file == DICT {
        let key = place.and_then(|(line, _)| key_at(source, line)).filter(|key| !message.contains(&**key));
        file = key.map_or(file, |key| format!("{DICT}: `{key}`"));
        (place, line) = (None, None);
    }
    let file = file.replacen("--set ", "settings: ", 1);
    let message = message.replacen("(with --set ", "(with settings ", 1).replace(" --set ", ", ");
    ConfigError { file, place, line, message }.to_string()
}

/// The key that this line of a TOML text sets, with the tables that it lies in.
fn key_at(text: &str, line: usize) -> Option<String> {
    let before: Vec<&str> = text.lines().take(line).collect();
    let table =
        before.iter().rev().find_map(|line| line.trim().strip_prefix('[')?.trim_end_matches(']').into());
    let own = before.last()?.split_once(" = ").map(|(key, _)| key.trim());
    let parts: Vec<&str> =
        table.map(|table: &str| table.trim_start_matches('[')).into_iter().chain(own).collect();
    (!parts.is_empty()).then(|| parts.join("."))
}

/// The config of an experiment, with changes.
pub(crate) fn config_of(config: &Bound<'_, PyAny>, settings: Vec<String>) -> PyResult<Config> {
    let source = source_of(config, settings)?;
    guarded(|| config::parse(&source, &ALL))?.map_err(|error| config_fault(error, &source.text))
}
