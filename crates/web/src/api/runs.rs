//! Training runs, as read from their files.

use super::answers::{Begun, Refused, Run, Runs, Starters};
use super::{Answer, App, Id, JsonBody, Shared};
use crate::fault::Fault;
use crate::limits;
use crate::rule_files::config_without_folder;
use crate::training::{Live, Settings};
use adept_lab::curves::{self, References};
use adept_lab::gates::{self, CellMap};
use adept_lab::report::shares_in;
use adept_trainer::config::Figure;
use adept_trainer::run::{Record, RunSummary, list_runs, measurements, record_of};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

fn all(app: &App) -> Result<Vec<RunSummary>, Fault> {
    let failed = |error: adept_model::ModelError| Fault::missing(error.to_string());
    // Listed before the folders are read: a run whose folder appears meanwhile is in both lists, not in none.
    let mut unseen = app.training.unseen();
    let mut runs = list_runs(&app.training.runs).map_err(failed)?;
    unseen.retain(|(run, ..)| runs.iter().all(|listed| listed.run != *run));
    runs.truncate(limits::RUNS);
    // Runs that are still being prepared.
    for (run, name, seed) in unseen {
        let status = if app.training.look(&run).1.is_some() { "failed" } else { "preparing" };
        let (game, step, games, seconds, figure, measure, r#final, best) = Default::default();
        let status = status.into();
        runs.push(RunSummary {
            run,
            name,
            seed,
            status,
            game,
            step,
            games,
            seconds,
            figure,
            measure,
            r#final,
            best,
        });
    }
    Ok(runs)
}

/// The run with this name. Only listed runs are read.
pub(super) fn found(app: &App, id: &str) -> Result<RunSummary, Fault> {
    let missing = || Fault::missing(format!("no run `{}`", id.chars().take(80).collect::<String>()));
    all(app)?.into_iter().find(|run| app.training.id_of(&run.run) == id).ok_or_else(missing)
}

fn shown(app: &App, run: &RunSummary) -> Value {
    let mut shown = json!(run);
    let id = app.training.id_of(&run.run);
    let (is_here, failed) = app.training.look(&run.run);
    if let Some(fields) = shown.as_object_mut() {
        fields.remove("run");
        // The folder of a run ends with its seed.
        let group = id.strip_suffix(&format!("-{}", run.seed)).unwrap_or(&id).to_string();
        fields.insert("group".into(), group.into());
        fields.insert("id".into(), id.into());
        fields.insert("here".into(), is_here.into());
        let can_resume = app.training.is_open && run.status == "stopped" && !is_here;
        fields.insert("can_resume".into(), can_resume.into());
        let failed = failed.filter(|_| run.status != "finished");
        fields.insert("game".into(), app.registry.files.name_of(&run.game).into());
        fields.entry("measure").or_insert(Value::Null);
        // The folder shows the last checkpoint.
        let live = app.training.live(&run.run);
        if let Some((step, seconds)) = live.as_ref().and_then(Live::progress) {
            fields.insert("step".into(), step.max(run.step).into());
            fields.insert("seconds".into(), seconds.max(run.seconds).into());
        }
        fields.insert("latest".into(), json!(live.and_then(|live| latest(run, &live))));
        fields.insert("failed".into(), failed.map(|why| app.registry.files.without_folders(&why)).into());
    }
    shown
}

/// The figure of the last measurement that a run has told.
fn latest(run: &RunSummary, live: &Live) -> Option<f64> {
    let record = record_of(&run.run).ok()??;
    Some(curves::points_in(&record.config, live.lines.last().map(std::slice::from_ref)?).last()?.value)
}

/// Lists the runs under `checkpoints/runs`, as `adept runs list --json`.
#[utoipa::path(get, path = "/api/v1/runs", operation_id = "list_runs", responses((status = 200, description = "`runs`", body = Runs)))]
pub(crate) async fn list(State(app): Shared) -> Answer {
    app.run(move |app| {
        let runs: Vec<Value> = all(app)?.iter().map(|run| shown(app, run)).collect();
        Ok(Json(json!({ "runs": runs })))
    })
    .await
}

/// Returns a run with its curves.
#[utoipa::path(get, path = "/api/v1/runs/{id}", operation_id = "look_at_run", params(("id" = String, Path)),
    responses((status = 200, description = "The run, `curve` and `loss` as `[step, number]`, `intervals` of the curve as `[step, low, high]`, `marks` to compare it with, `shares` of experts as `[step, [share, …]]`, and its `config`", body = Run), (status = 404, description = "No such run", body = Refused)))]
pub(crate) async fn look(State(app): Shared, Id(id): Id) -> Answer {
    app.run(move |app| {
        let run = &found(app, &id)?;
        let mut answer = shown(app, run);
        let record = record_of(&run.run).ok().flatten();
        let live = app.training.live(&run.run).unwrap_or_default();
        let lines = record.as_ref().map(|record| lines(run, record, &live)).unwrap_or_default();
        let config = record.as_ref().map(|record| &record.config);
        let points = config.map(|config| curves::points_in(config, &lines)).unwrap_or_default();
        answer["curve"] = thinned(points.iter().map(|point| json!([point.step, point.value])));
        let interval = |point: &curves::Point| point.ci95.map(|[low, high]| json!([point.step, low, high]));
        answer["intervals"] = thinned(points.iter().filter_map(interval));
        answer["loss"] = thinned(curves::losses_in(&lines).into_iter().map(|point| json!(point)));
        answer["loss_measure"] = json!(config.map(curves::loss_label));
        answer["is_error"] = json!(run.figure.is_some_and(Figure::is_error));
        let kept = References::read(&run.run);
        answer["marks"] = Live::marks(kept.as_ref().or(live.references.as_ref())).into();
        answer["shares"] = thinned(shares_in(&lines).into_iter().map(|point| json!(point)));
        let config =
            adept_ground::limits::read_text(&run.run.join("config.toml"), adept_ground::limits::CONFIG_BYTES);
        let config = config.ok();
        // Only then it is worth reading the checkpoint.
        let has_cells = config.as_ref().is_some_and(|text| text.contains(".cells]"));
        let maps = if has_cells { gates::cell_maps(&run.run).unwrap_or_default() } else { Vec::new() };
        let is_drawn = |map: &&CellMap| map.cells.iter().map(Vec::len).sum::<usize>() <= limits::CELLS;
        answer["maps"] = json!(maps.iter().filter(is_drawn).collect::<Vec<_>>());
        answer["config"] = json!(config.map(|text| config_without_folder(&text)));
        Ok(Json(answer))
    })
    .await
}

/// The measurements of a run: those in its folder, and those that it has told since.
fn lines(run: &RunSummary, record: &Record, live: &Live) -> Vec<Value> {
    let mut lines = measurements(&run.run, record).unwrap_or_default();
    let last = lines.last().and_then(|line| line["step"].as_u64());
    lines.extend(live.lines.iter().filter(|line| line["step"].as_u64() > last).cloned());
    lines
}

/// Thins points to a displayable number, keeping the last one.
fn thinned(points: impl Iterator<Item = Value>) -> Value {
    let points: Vec<Value> = points.collect();
    let last = points.len().saturating_sub(1);
    let step = points.len().div_ceil(limits::POINTS).max(1);
    points
        .into_iter()
        .enumerate()
        .filter(|(i, _)| i % step == 0 || *i == last)
        .map(|(_, point)| point)
        .collect()
}

/// Lists the starter configs for new runs.
#[utoipa::path(get, path = "/api/v1/starters",
    responses((status = 200, description = "`starters`, each with `game`, `method`, `text`, its length `learns` and the `key` of that, and the `architectures` that it can have; and whether the server `may_train`", body = Starters)))]
pub(crate) async fn starters(State(app): Shared) -> Answer {
    app.run(move |app| {
        let starters = app.training.starters(&app.registry)?;
        Ok(Json(json!({ "starters": starters, "may_train": app.training.is_open })))
    })
    .await
}

/// A run to start.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    /// A game with a starter config.
    game: String,
    /// Learning method; by default the game's usual one: `td`, `expectation`, `supervised` or `regrets`.
    method: Option<String>,
    /// Seed of all random draws, by default 1.
    seed: Option<u64>,
    /// Any text that is unique for each run: repeating a request with the same key does not start another run.
    key: Option<String>,
    /// Settings by key, such as `learn.td.games`: numbers, booleans, or lists of these.
    #[serde(default)]
    #[schema(value_type = Object)]
    settings: Settings,
    /// Kind of architecture, such as `hme`: one of the starter's `architectures`.
    architecture: Option<String>,
}

/// Starts a run from the starter config of a game. It learns until it ends or is stopped.
#[utoipa::path(post, path = "/api/v1/runs", operation_id = "start_run", request_body = Start,
    responses((status = 202, description = "Its `id`", body = Begun), (status = 400, description = "A setting that cannot be changed here", body = Refused), (status = 422, description = "A value that does not fit", body = Refused), (status = 503, description = "Too many runs", body = Refused)))]
pub(crate) async fn start(
    State(app): Shared,
    JsonBody(asked): JsonBody<Start>,
) -> Result<(StatusCode, Json<Value>), Fault> {
    app.run(move |app| {
        let what = (&*asked.game, asked.method.as_deref());
        let how = (asked.seed.unwrap_or(1), asked.key.as_deref(), &asked.settings, asked.architecture);
        let folder = app.training.start(&app.registry, what, how)?;
        Ok((StatusCode::ACCEPTED, Json(json!({ "id": app.training.id_of(&folder) }))))
    })
    .await
}

/// Orders to a run, after its name in the path.
#[derive(Clone, Copy)]
enum Order {
    Stop,
    Resume,
    Play,
}

/// Stops a run, which saves first (`/stop`), resumes a stopped one (`/resume`), or makes an agent of its latest checkpoint, which then has its
/// name (`/play`).
#[utoipa::path(post, path = "/api/v1/runs/{id}/{order}", operation_id = "order_run",
    params(("id" = String, Path), ("order" = String, Path, description = "`stop`, `resume` or `play`")),
    responses((status = 202, description = "Its `id`", body = Begun), (status = 404, description = "The run is not learning in this server, or has no checkpoint yet", body = Refused)))]
pub(crate) async fn order(State(app): Shared, Id(path): Id) -> Result<(StatusCode, Json<Value>), Fault> {
    let orders = [("/stop", Order::Stop), ("/resume", Order::Resume), ("/play", Order::Play)];
    let named =
        orders.into_iter().find_map(|(end, order)| Some((path.strip_suffix(end)?.to_string(), order)));
    let (id, order) = named.ok_or_else(|| Fault::missing("a run takes `/stop`, `/resume` and `/play`"))?;
    app.run(move |app| {
        match order {
            // By name only: it may have no folder yet.
            Order::Stop => app.training.stop(&app.training.runs.join(&id))?,
            Order::Resume => app.training.resume(&app.registry, &found(app, &id)?.run)?,
            Order::Play => {
                if !app.registry.add_run(&id, &found(app, &id)?.run) {
                    return Err(Fault::missing("this run has no checkpoint yet"));
                }
            }
        }
        Ok((StatusCode::ACCEPTED, Json(json!({ "id": id }))))
    })
    .await
}
