//! `oracle build --game hypergammon`: exact tables of backgammon with few checkers.

use adept_builtin::backgammon::exact::Table;
use adept_builtin::backgammon::{Backgammon, usual_file};
use adept_console::output;
use adept_ground::files::Files;
use anyhow::{Result, bail};
use serde_json::json;
use std::path::Path;
use std::time::Instant;

pub(super) fn build(
    name: &str,
    out: Option<&Path>,
    no_file: bool,
    threads: usize,
    as_json: bool,
) -> Result<()> {
    let game = Backgammon::named(name).filter(|game| game.checkers() <= Table::MOST);
    let Some(game) = game else {
        bail!(
            "`{name}` cannot be solved: tables are of hypergammon, backgammon:1 and backgammon:2; of the bear-off with --checkers N"
        );
    };
    let usual = usual_file(&game);
    let path = (!no_file).then(|| out.unwrap_or(&usual));
    if let Some(path) = path {
        Files::default().try_file(path)?;
    }
    let began = Instant::now();
    let table = Table::solve(game.checkers(), Table::CHANGE, threads)?;
    let seconds = began.elapsed().as_secs_f64();
    if let Some(path) = path {
        table.save(path)?;
    }
    if as_json {
        return output::json(&json!({
            "game": name,
            "positions": table.positions(),
            "change": table.change(),
            "seconds": seconds,
            "path": path,
        }));
    }
    let mut text = format!(
        "{name}: {} positions, in {seconds:.1} s; in the last sweep no equity changed by more than {:.0e} points\n",
        table.positions(),
        table.change()
    );
    if let Some(path) = path {
        text.push_str(&format!("{}\n", path.display()));
    }
    output::text(&text)
}
