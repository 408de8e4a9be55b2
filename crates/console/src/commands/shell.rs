//! The commands `completions` and `man`: what a shell and `man` read.

use crate::args::{CompletionsArgs, ManArgs};
use crate::output;
use crate::program::named;
use adept_ground::files::Files;
use anyhow::Result;
use serde_json::json;

pub(crate) fn completions(mut command: clap::Command, args: &CompletionsArgs, as_json: bool) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, crate::program::name(), &mut script);
    let script = named(&String::from_utf8_lossy(&script)).into_owned();
    if as_json {
        return output::json(&json!({ "shell": args.shell.to_string(), "script": script }));
    }
    output::file(&script)
}

/// Writes a page for the program and for every command.
pub(crate) fn man(mut command: clap::Command, args: &ManArgs, as_json: bool) -> Result<()> {
    command.build();
    let mut pages = Vec::new();
    pages_of(&command, &mut pages)?;
    let files = Files::default();
    files.create_folder(&args.out)?;
    for (name, page) in &pages {
        files.replace(&args.out.join(name), page)?;
    }
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    output::show(
        as_json,
        || json!({ "path": args.out.display().to_string(), "pages": names }),
        || format!("written: {} pages in {}\n", pages.len(), args.out.display()),
    )
}

fn pages_of(command: &clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
    let page = clap_mangen::Man::new(command.clone());
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = named(&String::from_utf8_lossy(&text)).into_owned();
    pages.push((page.get_filename(), text.into_bytes()));
    let below = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    below.into_iter().try_for_each(|below| pages_of(below, pages))
}
