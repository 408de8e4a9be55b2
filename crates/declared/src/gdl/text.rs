//! Positions in readable form: the facts that hold, one relation per line.

use super::compiled::Compiled;
use super::session::State;
use crate::text::{WIDTH, list};
use std::fmt::Write;

/// A position, and below it these entries, several a line.
pub(super) fn board(rules: &Compiled, state: &State, entries: &[String]) -> String {
    let mut text = String::new();
    if !state.is_over && rules.roles.len() > 1 {
        let role = rules.terms.shown(rules.roles[usize::from(state.mover)]);
        let _ = writeln!(text, "player {} ({role}) to move", state.mover + 1);
    }
    let holding =
        rules.facts.iter().enumerate().filter(|(fact, _)| state.facts[fact / 64] >> (fact % 64) & 1 == 1);
    let mut lines: Vec<(&str, Vec<String>)> = Vec::new();
    for (_, &term) in holding {
        let name = rules.terms.name(rules.terms.head(term));
        let args: Vec<String> = rules.terms.args(term).iter().map(|&arg| rules.terms.shown(arg)).collect();
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push(args.join(" ")),
            None => lines.push((name, vec![args.join(" ")])),
        }
    }
    let wide = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, all) in lines {
        list(&mut text, &format!("  {name:<wide$}  "), &all);
    }
    let wide = entries.iter().map(|entry| entry.chars().count()).max().unwrap_or(0) + 2;
    for line in entries.chunks((WIDTH / wide).max(1)) {
        let line: Vec<String> = line.iter().map(|entry| format!("{entry:<wide$}")).collect();
        let _ = writeln!(text, "  {}", line.concat().trim_end());
    }
    text
}
