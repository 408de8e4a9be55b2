//! `config check`, `config schema`, `config new`.

use crate::args::{ConfigAction, ConfigArgs};
use crate::output;
use adept_lab::Catalogue;
use adept_lab::files::load_any;
use adept_trainer::config::{self, Config};
use anyhow::{Result, bail};
use serde_json::json;

pub(crate) fn run(games: &dyn Catalogue, args: &ConfigArgs, as_json: bool) -> Result<()> {
    match &args.action {
        ConfigAction::Check { files, set } => {
            let checked: Vec<_> = files.iter().map(|f| (f, load_any(f, set, games))).collect();
            let faults = checked.iter().filter(|(_, c)| c.is_err()).count();
            if as_json {
                let files: Vec<_> = checked
                    .iter()
                    .map(|(file, c)| match c {
                        Ok(config) => json!({ "file": file, "ok": true, "name": config.name() }),
                        Err(e) => json!({
                            "file": file,
                            "ok": false,
                            "line": e.place.map(|p| p.0),
                            "column": e.place.map(|p| p.1),
                            "message": e.message,
                        }),
                    })
                    .collect();
                output::json(&json!({ "files": files, "faults": faults }))?;
            } else {
                for (file, c) in &checked {
                    match c {
                        Ok(config) => {
                            output::text(&format!("{}: {} is fine\n", file.display(), config.name()))?
                        }
                        Err(e) => output::say(e),
                    }
                }
            }
            if faults > 0 {
                bail!("{faults} of {} configs have a fault", files.len());
            }
            Ok(())
        }
        ConfigAction::Schema => output::json(&schemars::schema_for!(Config)),
        ConfigAction::New { game } => match config::template(game, games) {
            Ok(text) if as_json => output::json(&json!({ "game": game, "config": text })),
            Ok(text) => output::text(&text),
            Err(error) => Err(error.into()),
        },
    }
}
