//! `oracle cube`: models of the doubling cube against exact equities.

use super::args::TableArgs;
use super::{backgammon, networks};
use adept_builtin::backgammon::Backgammon;
use adept_builtin::backgammon::cube::study::{CubeStudy, Decisions, Figures, Sampled, StudyModel};
use adept_builtin::backgammon::exact::study as few;
use adept_builtin::bearoff::two_sided::{CubeOwner, StudySettings};
use adept_console::output;
use adept_game::Game;
use anyhow::Result;
use serde_json::{Map, Value, json};

/// Default number of drawn positions of hypergammon.
pub(super) const POSITIONS: u64 = 500_000;

/// Measures models in the bear-off.
pub(super) fn bearoff(settings: StudySettings, as_json: bool) -> Result<()> {
    let study = settings.run()?;
    let StudySettings { checkers, games, seed, .. } = settings;
    let object = || {
        json!({
            "checkers": checkers,
            "games": games,
            "seed": seed,
            "pairs_fitted": study.fitted,
            "classes": study.classes,
            "models": models(&study, "pairs"),
        })
    };
    let text = || {
        let words = Words {
            efficiencies: "by the rolls that the side nearer its end needs\n".into(),
            positions: format!(
                "all pairs of at most {checkers} checkers but the {} on which x was chosen, alike",
                study.fitted
            ),
            games: format!(
                "positions of {games} games with the best decisions from {checkers} checkers a side"
            ),
            rules: "money, no gammons; ".into(),
            are_sampled: false,
        };
        as_text(&words, &study)
    };
    output::show(as_json, object, text)
}

/// Measures models, and networks by these names, in hypergammon or a smaller game.
pub(super) fn hypergammon(
    game: &Backgammon,
    settings: few::StudySettings,
    names: &[String],
    args: &TableArgs,
    as_json: bool,
) -> Result<()> {
    let estimators =
        names.iter().map(|name| networks::estimator(game, settings.jacoby, name)).collect::<Result<_>>()?;
    let study = settings.run(&*backgammon::find_with_cube(game, args)?, estimators)?;
    let few::StudySettings { jacoby, positions, games, seed, .. } = settings;
    let object = || {
        json!({
            "game": game.name(),
            "jacoby": jacoby,
            "positions": positions,
            "games": games,
            "seed": seed,
            "positions_fitted": study.fitted,
            "classes": study.classes,
            "models": models(&study, "positions"),
        })
    };
    let text = || {
        let words = Words {
            efficiencies: "by class of positions.\n\
                With contact: off if a side has borne off a checker; back if both sides have\n\
                one in the other's home or on the bar; else contact. Races by the pips of the\n\
                side that needs fewer\n"
                .into(),
            positions: format!("{positions} drawn positions, none of those on which x was chosen"),
            games: format!("positions of {games} games with the best decisions from the start"),
            rules: format!("{}\n", backgammon::rules(jacoby)),
            are_sampled: true,
        };
        as_text(&words, &study)
    };
    output::show(as_json, object, text)
}

/// The models, with their figures of positions under this key.
fn models(study: &CubeStudy, key: &str) -> Vec<Value> {
    study.models.iter().map(|found| model(found, key)).collect()
}

fn by_owner(of: impl Fn(usize) -> Value) -> Value {
    CubeOwner::ALL
        .into_iter()
        .map(|owner| (owner.to_string(), of(owner as usize)))
        .collect::<Map<_, _>>()
        .into()
}

fn model(model: &StudyModel, key: &str) -> Value {
    let by_class = |all: &Vec<[f64; 3]>| all.iter().map(|x| by_owner(|owner| x[owner].into())).collect();
    let efficiencies: Option<Vec<Value>> = model.efficiencies.as_ref().map(by_class);
    json!({
        "name": model.name,
        "efficiencies": efficiencies,
        key: by_owner(|owner| figures(&model.positions[owner])),
        "games": by_owner(|owner| figures(&model.games[owner])),
    })
}

fn figures(figures: &Figures) -> Value {
    let moves = json!({
        "all": figures.moves.all,
        "loss": figures.moves.loss(),
        "worst": figures.moves.worst,
        "wrong": figures.moves.wrong,
    });
    json!({
        "positions": figures.positions,
        "rms_error": figures.rms(),
        "doubles": decisions(&figures.doubles),
        "takes": decisions(&figures.takes),
        "moves": with_intervals(moves, &figures.moves),
    })
}

fn decisions(decisions: &Decisions) -> Value {
    let object = json!({
        "all": decisions.all,
        "close_or_wrong": decisions.close,
        "loss": decisions.loss(),
        "loss_close_or_wrong": decisions.close_loss(),
        "worst": decisions.worst,
        "wrong": decisions.wrong,
        "missed": decisions.missed,
    });
    with_intervals(object, decisions)
}

/// Adds the 95 % intervals of sampled decisions, and what is lost in them beyond the usual model.
fn with_intervals(mut object: Value, decisions: &Decisions) -> Value {
    if let (Some(loss), Some(excess)) = (decisions.sampled_loss(), decisions.sampled_excess()) {
        object["loss_ci95"] = json!(loss.ci95());
        object["excess"] = json!(excess.mean);
        object["excess_ci95"] = json!(excess.ci95());
    }
    object
}

/// Picks a model's figures, by owner of the cube.
type FiguresOf = fn(&StudyModel) -> &[Figures; 3];

/// The words of a game.
struct Words {
    /// The classes.
    efficiencies: String,
    /// The positions that were measured.
    positions: String,
    /// The games that were measured.
    games: String,
    /// The rules, before the note on units.
    rules: String,
    /// Whether positions are drawn, so that intervals are shown.
    are_sampled: bool,
}

fn as_text(words: &Words, study: &CubeStudy) -> String {
    let mut text = format!("efficiency x of the cube, {}", words.efficiencies);
    text.push_str(&efficiencies(study));
    let sets: [(&str, FiguresOf); 2] =
        [(&words.positions, |model| &model.positions), (&words.games, |model| &model.games)];
    for (name, of) in sets {
        text.push_str(&format!("\n{name}\n"));
        for owner in CubeOwner::ALL {
            let count = study.models.first().map_or(0, |model| of(model)[owner as usize].positions);
            text.push_str(&format!("\ncube {owner}: {count} positions\n"));
            text.push_str(&table(study, of, owner));
            if words.are_sampled {
                text.push_str("\nloss a decision, with its 95 % interval\n");
                text.push_str(&intervals(study, of, owner, Decisions::sampled_loss));
                text.push_str("\nthe same less that of gnubg's x in the same decisions\n");
                text.push_str(&intervals(study, of, owner, Decisions::sampled_excess));
            }
        }
    }
    text + &format!(
        "\n{}RMS, loss and close in thousandths of a point per unit\n\
        of the cube. RMS: error of the equity without a double. Doubles and takes:\n\
        loss a decision, loss a close or wrong decision, and shares of all decisions:\n\
        early: wrong doubles, late: missed doubles; take: wrong takes, pass: wrong\n\
        passes. Move: loss a decision between moves\n",
        words.rules
    )
}

/// Figures of sampled decisions of all models with one owner of the cube.
fn intervals(
    study: &CubeStudy,
    of: FiguresOf,
    owner: CubeOwner,
    sampled: fn(&Decisions) -> Option<Sampled>,
) -> String {
    let cell = |decisions: &Decisions| {
        sampled(decisions).map_or_else(
            || "-".into(),
            |Sampled { mean, half }| format!("{:.2} ± {:.2}", 1000.0 * mean, 1000.0 * half),
        )
    };
    let row = |model: &StudyModel| {
        let Figures { doubles, takes, moves, .. } = &of(model)[owner as usize];
        let decisions = match owner {
            CubeOwner::Theirs => vec![moves],
            _ => vec![doubles, takes, moves],
        };
        [vec![model.name.clone()], decisions.into_iter().map(cell).collect()].concat()
    };
    let header: &[&str] = match owner {
        CubeOwner::Theirs => &["model", "move"],
        _ => &["model", "double", "takes", "move"],
    };
    output::table(header, study.models.iter().map(row))
}

/// The efficiencies that were chosen. Rows and columns that repeat are not shown.
fn efficiencies(study: &CubeStudy) -> String {
    let mut rows = Vec::new();
    for model in study.models.iter().filter(|model| model.is_fitted) {
        let Some(all) = &model.efficiencies else { continue };
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
            [vec![model.name.clone(), owner], xs].concat()
        };
        if all.iter().all(|x| x[0] == x[1] && x[1] == x[2]) {
            rows.push(row("any".into(), 0));
        } else {
            rows.extend(CubeOwner::ALL.into_iter().map(|owner| row(owner.to_string(), owner as usize)));
        }
    }
    let header = [&["model", "cube"][..], study.classes].concat();
    output::table(&header, rows)
}

/// The figures of all models with one owner of the cube.
fn table(study: &CubeStudy, of: FiguresOf, owner: CubeOwner) -> String {
    let thousandths = |points: f64| format!("{:.2}", 1000.0 * points);
    let share = |part: u64, all: u64| format!("{:.2} %", 100.0 * part as f64 / all.max(1) as f64);
    let row = |model: &StudyModel| {
        let Figures { doubles, takes, moves, .. } = &of(model)[owner as usize];
        let mut row = vec![model.name.clone(), thousandths(of(model)[owner as usize].rms())];
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
    output::table(header, study.models.iter().map(row))
}
