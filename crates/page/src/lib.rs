//! The page that adept serves, and the pictures of its reports: HTML, CSS and modules of JavaScript as they are, without a build.

/// The files of a folder, by name.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../page/", $name)))),*]
    };
}

/// The files that [`INDEX`] loads, by name.
pub const FILES: &[(&str, &str)] = files![
    "analysis.js",
    "api.js",
    "app.js",
    "backgammon.js",
    "board.js",
    "boards.js",
    "cards.js",
    "cells.js",
    "chart.js",
    "checkers.js",
    "dice.js",
    "die.js",
    "documented.js",
    "dom.js",
    "frame.js",
    "grid.js",
    "play.js",
    "position.js",
    "runs.js",
    "start-run.js",
    "start.js",
    "style.css",
    "thoughts.js",
];

/// The page itself.
pub const INDEX: &str = include_str!("../page/index.html");

/// A report as one file, with comments in the places of the looks, the data and the script.
pub const REPORT: &str = include_str!("../report/report.html");

/// The looks of the page and of reports.
pub const STYLE: &str = include_str!("../page/style.css");

/// The modules that draw a report, each after those that it imports.
pub const REPORT_MODULES: [&str; 3] =
    [include_str!("../page/dom.js"), include_str!("../page/chart.js"), include_str!("../report/report.js")];
