//! `oracle cube`: models of the doubling cube against exact equities.

use adept_builtin::backgammon::cube::study::{Decisions, Figures};
use adept_builtin::bearoff::two_sided::{CubeOwner, CubeStudy, StudyModel, StudySettings};
use adept_console::output;
use anyhow::Result;
use serde_json::{Map, Value, json};

pub(super) fn run(settings: StudySettings, as_json: bool) -> Result<()> {
    let study = CubeStudy::run(settings)?;
    output::show(as_json, || as_object(settings, &study), || as_text(settings, &study))
}

fn as_object(settings: StudySettings, study: &CubeStudy) -> Value {
    let models: Vec<Value> = study.models.iter().map(model).collect();
    json!({
        "checkers": settings.checkers,
        "games": settings.games,
        "seed": settings.seed,
        "pairs_fitted": study.fitted,
        "classes": CubeStudy::CLASSES,
        "models": models,
    })
}

fn by_owner(of: impl Fn(usize) -> Value) -> Value {
    CubeOwner::ALL
        .into_iter()
        .map(|owner| (owner.to_string(), of(owner as usize)))
        .collect::<Map<_, _>>()
        .into()
}

fn model(model: &StudyModel) -> Value {
    let efficiencies: Vec<Value> =
        model.efficiencies.iter().map(|x| by_owner(|owner| x[owner].into())).collect();
    json!({
        "name": model.name,
        "efficiencies": efficiencies,
        "pairs": by_owner(|owner| figures(&model.pairs[owner])),
        "games": by_owner(|owner| figures(&model.games[owner])),
    })
}

fn figures(figures: &Figures) -> Value {
    json!({
        "positions": figures.positions,
        "rms_error": figures.rms(),
        "doubles": decisions(&figures.doubles),
        "takes": decisions(&figures.takes),
        "moves": {
            "all": figures.moves.all,
            "loss": figures.moves.loss(),
            "worst": figures.moves.worst,
            "wrong": figures.moves.wrong,
        },
    })
}

fn decisions(decisions: &Decisions) -> Value {
    json!({
        "all": decisions.all,
        "close_or_wrong": decisions.close,
        "loss": decisions.loss(),
        "loss_close_or_wrong": decisions.close_loss(),
        "worst": decisions.worst,
        "wrong": decisions.wrong,
        "missed": decisions.missed,
    })
}

/// Picks a model's figures, by owner of the cube.
type FiguresOf = fn(&StudyModel) -> &[Figures; 3];

fn as_text(settings: StudySettings, study: &CubeStudy) -> String {
    let mut text = "efficiency x of the cube, by the rolls that the side nearer its end needs\n".to_string();
    text.push_str(&efficiencies(study));
    let count = |of: FiguresOf, owner: CubeOwner| {
        study.models.first().map_or(0, |model| of(model)[owner as usize].positions)
    };
    let sets: [(String, FiguresOf); 2] = [
        (
            format!(
                "all pairs of at most {} checkers but the {} on which x was chosen, alike",
                settings.checkers, study.fitted
            ),
            |model| &model.pairs,
        ),
        (
            format!(
                "positions of {} games with the best decisions from {} checkers a side",
                settings.games, settings.checkers
            ),
            |model| &model.games,
        ),
    ];
    for (name, of) in sets {
        text.push_str(&format!("\n{name}\n"));
        for owner in CubeOwner::ALL {
            text.push_str(&format!("\ncube {owner}: {} positions\n", count(of, owner)));
            text.push_str(&table(study, of, owner));
        }
    }
    text + "\n\
        money, no gammons; RMS, loss and close in thousandths of a point per unit\n\
        of the cube. RMS: error of the equity without a double. Doubles and takes:\n\
        loss a decision, loss a close or wrong decision, and shares of all decisions:\n\
        early: wrong doubles, late: missed doubles; take: wrong takes, pass: wrong\n\
        passes. Move: loss a decision between moves\n"
}

/// The efficiencies that were chosen. Rows and columns that repeat are not shown.
fn efficiencies(study: &CubeStudy) -> String {
    let mut rows = Vec::new();
    for model in study.models.iter().filter(|model| model.name.contains("RMS") || model.name.contains("loss"))
    {
        let all = &model.efficiencies;
        let row = |owner: String, o: usize| {
            let digits = |x: &[f64; 3]| format!("{:.2}", x[o]);
            let xs: Vec<String> = match all.iter().all(|x| x == &all[0]) {
                true => all
                    .iter()
                    .enumerate()
                    .map(|(k, x)| if k == 0 { digits(x) } else { "\"".into() })
                    .collect(),
                false => all.iter().map(digits).collect(),
            };
            [vec![model.name.to_string(), owner], xs].concat()
        };
        if all.iter().all(|x| x[0] == x[1] && x[1] == x[2]) {
            rows.push(row("any".into(), 0));
        } else {
            rows.extend(CubeOwner::ALL.into_iter().map(|owner| row(owner.to_string(), owner as usize)));
        }
    }
    let header = [&["model", "cube"][..], &CubeStudy::CLASSES].concat();
    output::table(&header, &rows)
}

/// The figures of all models with one owner of the cube.
fn table(study: &CubeStudy, of: FiguresOf, owner: CubeOwner) -> String {
    let thousandths = |points: f64| format!("{:.2}", 1000.0 * points);
    let share = |part: u64, all: u64| format!("{:.2} %", 100.0 * part as f64 / all.max(1) as f64);
    let row = |model: &StudyModel| {
        let Figures { doubles, takes, moves, .. } = &of(model)[owner as usize];
        let mut row = vec![model.name.to_string(), thousandths(of(model)[owner as usize].rms())];
        if owner != CubeOwner::Theirs {
            row.extend([doubles.loss(), doubles.close_loss()].map(thousandths));
            row.extend([doubles.wrong, doubles.missed].map(|part| share(part, doubles.all)));
            row.push(thousandths(takes.loss()));
            row.extend([takes.wrong, takes.missed].map(|part| share(part, takes.all)));
        }
        row.push(thousandths(moves.loss()));
        row
    };
    let header: &[&str] = match owner {
        CubeOwner::Theirs => &["model", "RMS", "move"],
        _ => &["model", "RMS", "double", "close", "early", "late", "takes", "take", "pass", "move"],
    };
    output::table(header, &study.models.iter().map(row).collect::<Vec<_>>())
}
