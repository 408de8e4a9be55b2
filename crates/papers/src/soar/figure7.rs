//! Figure 7: gain from rules that start at the deliberated value, by games learned from. In addition to the paper, also
//! in games of four.

use super::rows::{SHOWN, SoarLearning, SoarRow};
use crate::report::Report;
use std::fmt::Write;

/// An agent in both versions: its letters, the row from 0 and the row from the deliberated value.
fn pairs(made: &Report<SoarLearning>) -> impl Iterator<Item = (&str, &SoarRow, &SoarRow)> {
    made.body.rows.iter().filter_map(|sharp| {
        let letters = sharp.name.strip_suffix('#')?;
        let same = |row: &&SoarRow| {
            row.name.strip_suffix("-0") == Some(letters)
                && (row.rewards, row.players) == (sharp.rewards, sharp.players)
        };
        Some((letters, made.body.rows.iter().find(same)?, sharp))
    })
}

/// A line of a chart: its name and its points.
type Line = (String, Vec<(f64, f64)>);

/// The differences in points of percent, by games learned from, in games of two.
pub(super) fn differences(made: &Report<SoarLearning>, rewards: &str) -> Vec<Line> {
    let of = pairs(made).filter(|(_, _, sharp)| sharp.rewards == rewards && sharp.players == 2);
    of.map(|(letters, zero, sharp)| {
        let begin = (0.0, 100.0 * (sharp.untrained - zero.untrained));
        let rest = sharp.curve.iter().zip(&zero.curve).map(|((x, a), (_, b))| (*x, 100.0 * (a - b)));
        (letters.to_string(), std::iter::once(begin).chain(rest).collect())
    })
    .collect()
}

pub(super) fn markdown(made: &Report<SoarLearning>) -> String {
    let shown = SHOWN.map(|games| if made.quick { games / 20 } else { games });
    let mut text = format!(
        "# Figure 7 of Laird, Derbinsky & Tinkerhess: what it brings to start at the deliberated value\n\n\
         Games won in percent, with rules that start at 0 (-0) and at the deliberated value (#), and the difference, \
         before and after {} games; {} runs each{}. In games of two the opponent is PMH of the profile `paper`, as in figures 4 and \
         6. In games of four, which the paper left open, three older published EMH sit at the table, the paper's best agent there; \
         a quarter is even.\n\n\
         The paper, in words: all agents begin much better; P# and PH# play well soon; PM# learns more slowly than PM-0.\n\n\
         | agent | players | reward | version | 0 | {} | ± |\n|---|---:|---|---|---:|---:|---:|---:|---:|\n",
        shown.map(|games| games.to_string()).join(", "),
        made.seeds,
        if made.quick { ", a twentieth of the games (--quick)" } else { "" },
        shown.map(|games| games.to_string()).join(" | ")
    );
    for (letters, zero, sharp) in pairs(made) {
        for (version, row) in [("-0", zero), ("#", sharp)] {
            let shares: Vec<String> = std::iter::once(row.untrained)
                .chain(row.after.iter().take(2).copied())
                .chain([row.final_mean])
                .map(|share| format!("{:.1}", 100.0 * share))
                .collect();
            let sd = if made.seeds > 1 { format!("{:.1}", 100.0 * row.final_sd) } else { "–".into() };
            let _ = writeln!(
                text,
                "| {letters} | {} | {} | {version} | {} | {sd} |",
                row.players,
                row.rewards,
                shares.join(" | ")
            );
        }
        let gain = |a: f64, b: f64| format!("{:+.1}", 100.0 * (a - b));
        let gains: Vec<String> = std::iter::once(gain(sharp.untrained, zero.untrained))
            .chain(sharp.after.iter().zip(&zero.after).take(2).map(|(a, b)| gain(*a, *b)))
            .chain([gain(sharp.final_mean, zero.final_mean)])
            .collect();
        let _ = writeln!(
            text,
            "| {letters} | {} | {} | difference | {} | |",
            sharp.players,
            sharp.rewards,
            gains.join(" | ")
        );
    }
    text
}
