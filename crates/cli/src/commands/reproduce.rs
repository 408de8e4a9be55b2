//! `reproduce`.

use crate::args::{ReproduceArgs, Reproduction};
use crate::output::{self, say};
use crate::progress::{Count, on_interrupt};
use adept_trainer::reproduce::{
    Curve, FIGURE2_ROWS, Figure2, ReproduceOptions, SoarFigure, TABLE1_ROWS, TABLE2_ROWS, experts,
    experts_runs, figure2, q_post, soar_figure2, soar_learning, table1, table2,
};
use anyhow::Result;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &ReproduceArgs, as_json: bool) -> Result<()> {
    // The figure shows runs of table 2: with the folder of that table and --resume it takes these.
    let of = |rows: usize| rows as u64 * args.seeds;
    let (folder, runs) = match args.name {
        Reproduction::Table1 => ("table1", of(TABLE1_ROWS)),
        Reproduction::Table2 => ("table2", of(TABLE2_ROWS)),
        Reproduction::Figure2 => ("figure2", of(FIGURE2_ROWS)),
        Reproduction::Experts => ("experts", experts_runs(args.seeds)),
        Reproduction::SoarFigure2 => ("soar-figure2", 0),
        Reproduction::SoarFigure4 | Reproduction::SoarFigure5 => {
            ("soar-figure4", SoarFigure::Figure4.runs(args.seeds))
        }
        Reproduction::QPost => ("q-post", 0),
        Reproduction::SoarFigure6 => ("soar-figure6", SoarFigure::Figure6.runs(args.seeds)),
    };
    let options = ReproduceOptions {
        seeds: args.seeds,
        quick: args.quick,
        out: args.out.clone().unwrap_or_else(|| Path::new("checkpoints/runs").join(folder)),
        threads: args.threads,
        resume: args.resume,
    };
    let (count, cancel) = (Count::new(runs), on_interrupt());
    let learning = |which: SoarFigure| -> Result<()> {
        let figure = soar_learning(which, &options, &count, &cancel)?;
        show(as_json, &figure, || std::fs::read_to_string(&figure.files[0]), figure.seconds, &figure.files)
    };
    match args.name {
        Reproduction::SoarFigure4 => learning(SoarFigure::Figure4),
        Reproduction::SoarFigure5 => learning(SoarFigure::Figure5),
        Reproduction::SoarFigure6 => learning(SoarFigure::Figure6),
        Reproduction::QPost => {
            let table = q_post(&options, &cancel)?;
            show(as_json, &table, || std::fs::read_to_string(&table.files[0]), table.seconds, &table.files)
        }
        Reproduction::SoarFigure2 => {
            let figure = soar_figure2(&options, &cancel)?;
            show(
                as_json,
                &figure,
                || std::fs::read_to_string(&figure.files[0]),
                figure.seconds,
                &figure.files,
            )
        }
        Reproduction::Experts => {
            let all = experts(&options, &count, &cancel)?;
            show(as_json, &all, || std::fs::read_to_string(&all.files[0]), all.seconds, &all.files)
        }
        Reproduction::Table1 => {
            let table = table1(&options, &count, &cancel)?;
            show(as_json, &table, || std::fs::read_to_string(&table.files[0]), table.seconds, &table.files)
        }
        Reproduction::Table2 => {
            let table = table2(&options, &count, &cancel)?;
            show(as_json, &table, || std::fs::read_to_string(&table.files[0]), table.seconds, &table.files)
        }
        Reproduction::Figure2 => {
            let figure = figure2(&options, &count, &cancel)?;
            show(as_json, &figure, || Ok(curves(&figure)), figure.seconds, &figure.files)
        }
    }
}

fn show(
    as_json: bool,
    result: &impl serde::Serialize,
    text: impl FnOnce() -> std::io::Result<String>,
    seconds: f64,
    files: &[PathBuf],
) -> Result<()> {
    if as_json {
        return output::json(result);
    }
    output::text(&text()?)?;
    let files: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
    say(format!("{seconds:.0} s; written: {}", files.join(", ")));
    Ok(())
}

/// The lowest point and the end of each curve.
fn curves(figure: &Figure2) -> String {
    let row = |c: &Curve| {
        vec![
            c.label.clone(),
            format!("{:.5}", c.lowest),
            format!("{:.5}", c.last),
            if c.last > 1.02 * c.lowest { "overtrained" } else { "" }.into(),
        ]
    };
    let rows: Vec<Vec<String>> = figure.rows.iter().map(row).collect();
    output::table(&["curve, mean of the seeds", "lowest RMS error", "at the end", ""], &rows)
}
