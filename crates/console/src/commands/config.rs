//! The commands `config check`, `config migrate`, `config schema` and `config new`.

use crate::args::{ConfigAction, ConfigArgs};
use crate::output;
use crate::program::named;
use adept_ground::{files::Files, limits, shown::shell_path};
use adept_lab::Catalogue;
use adept_lab::files::{Kind, check_any};
use adept_lab::keys::markdown;
use adept_lab::template::template;
use adept_lab::tournament::Tournament;
use adept_model::{ModelError, names};
use adept_trainer::config::{self, Config, ConfigError, Source, Written};
use anyhow::{Result, bail};
use serde_json::json;
use std::path::{Path, PathBuf};

pub(crate) fn run(games: &dyn Catalogue, args: &ConfigArgs, as_json: bool) -> Result<()> {
    match &args.action {
        ConfigAction::Check { files, set } => {
            let checked: Vec<_> = files.iter().map(|f| (f, check_any(f, set, games))).collect();
            let faults = checked.iter().filter(|(_, c)| c.is_err()).count();
            if as_json {
                let files: Vec<_> = checked
                    .iter()
                    .map(|(file, c)| match c {
                        Ok(config) => {
                            let (name, warnings) = (config.name(), cautions(config));
                            json!({ "file": file, "ok": true, "name": name, "warnings": warnings })
                        }
                        Err(e) => json!({
                            "file": file,
                            "ok": false,
                            "line": e.at.place.map(|p| p.0),
                            "column": e.at.place.map(|p| p.1),
                            "kind": output::kind_of(e),
                            "message": e.at.message,
                        }),
                    })
                    .collect();
                output::json(&json!({ "files": files, "faults": faults }))?;
            } else {
                for (file, c) in &checked {
                    note_old_form(file);
                    match c {
                        Ok(config) => {
                            match config {
                                Kind::Experiment(_) => note_paths::<Config>(file, set, games),
                                Kind::Tournament(_) => note_paths::<Tournament>(file, set, games),
                            }
                            cautions(config).iter().for_each(|caution| warn(file, caution));
                            output::text(&format!("{}: {} is fine\n", file.display(), config.name()))?
                        }
                        Err(e) => output::say(e),
                    }
                }
            }
            if faults > 0 {
                bail!("configs with a fault: {faults} of {}", files.len());
            }
            Ok(())
        }
        ConfigAction::Migrate { files } => migrate(files, as_json),
        ConfigAction::Keys { section } => keys(section.as_deref(), as_json),
        ConfigAction::Schema => output::json(&schemars::schema_for!(Config)),
        ConfigAction::New { game, method } => match template(game, method.as_deref(), games) {
            Ok(text) if as_json => output::json(&json!({ "game": game, "config": named(&text) })),
            Ok(text) => output::file(&named(&text)),
            Err(error) => Err(error.into()),
        },
    }
}

/// Prints the sections of the key reference, those whose name begins with `section`, or a single key.
fn keys(section: Option<&str>, as_json: bool) -> Result<()> {
    let all = markdown(&schemars::schema_for!(Config));
    let shown: String = match section {
        None => all,
        Some(section) => {
            let wanted = |part: &&str| part.starts_with(&format!("`[{section}"));
            let mut parts: Vec<String> =
                all.split("## ").filter(wanted).map(|part| format!("## {part}")).collect();
            if parts.is_empty() {
                parts.extend(key(&all, section));
            }
            if parts.is_empty() {
                let known = names_of(&all);
                let near = names::nearest(section, &known.iter().map(String::as_str).collect::<Vec<_>>());
                let hint = near.map_or("; `adept config keys` lists them all".into(), |near| {
                    format!(": did you mean `{near}`?")
                });
                bail!("no section or key `{section}`{hint}");
            }
            parts.concat()
        }
    };
    if as_json {
        return output::json(&json!({ "markdown": shown }));
    }
    output::file(&shown)
}

/// All sections of the reference and their keys, with dots.
fn names_of(all: &str) -> Vec<String> {
    let (mut names, mut section) = (Vec::new(), String::new());
    for line in all.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title.trim_matches(['`', '[', ']']).to_string();
            names.push(section.clone());
        } else if let Some(key) = line.strip_prefix("| `").and_then(|rest| rest.split('`').next()) {
            names.push(format!("{section}.{key}"));
        }
    }
    names
}

/// A single key of the reference, `learn.td.lambda`, with the head of its section.
fn key(all: &str, whole: &str) -> Option<String> {
    let (title, key) = match whole.rsplit_once('.') {
        Some((section, key)) => (format!("`[{section}]`"), key),
        None => ("Top of the file".into(), whole),
    };
    let part = all.split("## ").find(|part| part.lines().next() == Some(&title))?;
    let row = part.lines().find(|line| line.starts_with(&format!("| `{key}` |")))?;
    let head: String =
        part.lines().skip_while(|line| !line.starts_with('|')).take(2).map(|l| format!("{l}\n")).collect();
    Some(format!("## {title}\n\n{head}{row}\n"))
}

fn migrate(files: &[PathBuf], as_json: bool) -> Result<()> {
    let mut results = Vec::new();
    for file in files {
        let text = limits::read_text(file, limits::CONFIG_BYTES).map_err(ModelError::io(file))?;
        let fault = |message: String| ConfigError::of(file.display().to_string(), message);
        let new = config::in_present_form(&text).map_err(fault)?;
        if let Some(new) = &new {
            Files::default().replace(file, new.as_bytes())?;
        }
        if !as_json {
            let done = if new.is_some() { "rewritten" } else { "is already in the current form" };
            output::text(&format!("{}: {done}\n", file.display()))?;
        }
        results.push(json!({ "file": file, "rewritten": new.is_some() }));
    }
    if as_json { output::json(&json!({ "files": results })) } else { Ok(()) }
}

/// What is likely to learn badly.
fn cautions(config: &Kind) -> Vec<String> {
    match config {
        Kind::Experiment(config) => config.cautions(),
        Kind::Tournament(_) => Vec::new(),
    }
}

/// Shows a setting that is likely to learn badly.
pub(crate) fn warn(file: &Path, caution: &str) {
    output::say(format!("warning: {}: {caution}", file.display()));
}

/// Says which paths of a config file lead to the current folder, because there is nothing beside the file.
pub(crate) fn note_paths<C: Written>(file: &Path, set: &[String], known: &C::Known<'_>) {
    // A file that cannot be read is reported where it is parsed.
    let Ok(source) = Source::read(file, set) else { return };
    for note in config::paths_found_here::<C>(&source, known) {
        output::say(format!("note: {}: {note}", file.display()));
    }
}

/// If a config file has an older form, shows its current form.
pub(crate) fn note_old_form(file: &Path) {
    let text = limits::read_text(file, limits::CONFIG_BYTES).ok();
    let new = text.and_then(|text| config::in_present_form(&text).ok().flatten());
    let Some(new) = new else { return };
    let mut learn = false;
    let sections: String = new
        .lines()
        .filter(|line| {
            if line.starts_with('[') {
                learn = line.starts_with("[learn");
            }
            learn
        })
        .map(|line| format!("  {line}\n"))
        .collect();
    let (shown, word) = (file.display(), shell_path(file));
    output::say(format!(
        "note: {shown} uses the form of earlier versions, which is still read. `adept config migrate {word}` rewrites \
         it; its learning settings are now\n\n{}\n",
        sections.trim_end()
    ));
}
