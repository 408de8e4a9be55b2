//! The command `report`.

use crate::args::ReportArgs;
use crate::output;
use crate::program;
use adept_ground::shown::{shell, shell_path};
use adept_lab::Catalogue;
use adept_lab::report::{self, ReportOptions};
use anyhow::{Result, bail};
use std::path::Path;

pub(crate) fn run(games: &dyn Catalogue, args: &ReportArgs, as_json: bool) -> Result<()> {
    check_page(&args.out)?;
    let experiments = report::experiments(&args.runs)?;
    let options = ReportOptions {
        measure: args.measure,
        marks: args.mark.clone(),
        command: command(args),
        program: program::name().into(),
    };
    let written = report::report(games, &experiments, &options, &args.out)?;
    if as_json {
        return output::json(&written);
    }
    let mut text = format!(
        "written: {} (runs: {}, experiments: {}, {} kB)\n",
        written.file.display(),
        written.runs,
        written.experiments,
        written.bytes / 1000
    );
    for left_out in &written.left_out {
        text.push_str(&format!("without {left_out}\n"));
    }
    output::text(&text)
}

/// Refuses a file whose name is not that of a page.
pub(super) fn check_page(path: &Path) -> Result<()> {
    let is_page = |name: &str| name.eq_ignore_ascii_case("html") || name.eq_ignore_ascii_case("htm");
    if !path.extension().is_some_and(|name| name.to_str().is_some_and(is_page)) {
        bail!("{}: reports are written as HTML: end the name in .html", path.display());
    }
    Ok(())
}

/// The command that makes this report again.
fn command(args: &ReportArgs) -> String {
    let mut words = vec![program::name().to_string(), "report".into()];
    words.extend(args.runs.iter().map(|run| shell_path(run)));
    words.extend(args.measure.then(|| "--measure".to_string()));
    for mark in &args.mark {
        words.push(format!("--mark {}", shell(&format!("{}={}", mark.name, mark.value))));
    }
    words.push(format!("--out {}", shell_path(&args.out)));
    words.join(" ")
}
