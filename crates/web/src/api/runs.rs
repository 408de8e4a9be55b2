//! Runs of training, as far as files tell.

use super::{Answer, App, Id, Shared};
use crate::fault::Fault;
use crate::limits;
use adept_lab::curves::{self, Curve, Show, curves};
use adept_trainer::run::{RunSummary, list_runs};
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

/// The name of a run in requests: its folder within the folder of runs.
fn id_of(app: &App, run: &RunSummary) -> String {
    let inside = run.run.strip_prefix(&app.runs).unwrap_or(&run.run);
    inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn all(app: &App) -> Result<Vec<RunSummary>, Fault> {
    let failed = |error: adept_model::ModelError| Fault::missing(error.to_string());
    let mut runs = list_runs(&app.runs).map_err(failed)?;
    runs.truncate(limits::RUNS);
    Ok(runs)
}

fn shown(app: &App, run: &RunSummary) -> Value {
    let mut shown = json!(run);
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("run");
        fields.insert("id".into(), id_of(app, run).into());
    }
    shown
}

/// The runs under `checkpoints/runs`, as `adept runs list --json`.
#[utoipa::path(get, path = "/api/v1/runs", responses((status = 200, description = "`runs`", body = Value)))]
pub(crate) async fn list(State(app): Shared) -> Answer {
    let shared = app.clone();
    app.compute
        .run(move || {
            let runs: Vec<Value> = all(&shared)?.iter().map(|run| shown(&shared, run)).collect();
            Ok(Json(json!({ "runs": runs })))
        })
        .await
}

/// A run with its curves.
#[utoipa::path(get, path = "/api/v1/runs/{id}", params(("id" = String, Path)),
    responses((status = 200, description = "The run, `measure` in words, `curve` and `loss` as `[step, number]`, and its `config`", body = Value)))]
pub(crate) async fn look(State(app): Shared, Id(id): Id) -> Answer {
    let shared = app.clone();
    app.compute
        .run(move || {
            // Only what is listed is read.
            let runs = all(&shared)?;
            let missing = || Fault::missing(format!("no run `{}`", id.chars().take(80).collect::<String>()));
            let run = runs.iter().find(|run| id_of(&shared, run) == id).ok_or_else(missing)?;
            let mut answer = shown(&shared, run);
            let drawn =
                |show| curves(std::slice::from_ref(&run.run), show).unwrap_or_default().into_iter().next();
            let points = |curve: &Curve| -> Vec<Value> {
                curve.points.iter().map(|point| json!([point.step, point.mean])).collect()
            };
            let curve = drawn(Show::Values);
            answer["measure"] = json!(curve.as_ref().map(|curve| curves::label(&curve.config)));
            answer["curve"] = json!(curve.as_ref().map(points).unwrap_or_default());
            answer["loss"] = json!(drawn(Show::Loss).as_ref().map(points).unwrap_or_default());
            let config = adept_ground::limits::read_text(
                &run.run.join("config.toml"),
                adept_ground::limits::CONFIG_BYTES,
            );
            answer["config"] = json!(config.ok());
            Ok(Json(answer))
        })
        .await
}
