//! Reviews of files of games that a client sends.

use super::answers::{Begun, Refused};
use super::{QueryParams, Shared, bytes_of};
use crate::client::Client;
use crate::fault::{Fault, Kind};
use crate::limits;
use crate::plays::fresh_id;
use adept_lab::review::{Review, ReviewOptions, page_data};
use adept_play::AgentText;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::{StatusCode, header};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

/// The endings of files that games read.
const ENDINGS: [&str; 5] = ["games", "mat", "sgf", "txt", "xg"];

/// The game of files other than `.games`, which tell theirs.
const GAME: &str = "backgammon";

/// Letters of the name of a file in the answer.
const LETTERS: usize = 80;

#[derive(Deserialize)]
pub(crate) struct Asked {
    name: String,
    by: Option<String>,
    game: Option<String>,
}

/// Extractor of the bytes of a file.
pub(crate) struct FileBody(Bytes);

impl<S: Send + Sync> FromRequest<S> for FileBody {
    type Rejection = Fault;

    async fn from_request(request: Request<Body>, _: &S) -> Result<Self, Fault> {
        // A form of another page cannot send this content type without a preflight request.
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_none_or(|kind| kind.trim() != "application/octet-stream") {
            return Err(Fault::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                Kind::Request,
                "send the bytes of the file, with `Content-Type: application/octet-stream`",
            ));
        }
        bytes_of(request, limits::REVIEW_BYTES, limits::REVIEW_READING).await.map(Self)
    }
}

/// Starts a job that reviews a file of games.
#[utoipa::path(post, path = "/api/v1/reviews", operation_id = "start_review",
    params(("name" = String, Query, description = "The name of the file; it ends in `.games`, `.mat`, `.sgf`, `.txt` or `.xg`"), ("by" = Option<String>, Query, description = "An agent that has values; by default exact values if there are some, otherwise the best network"), ("game" = Option<String>, Query, description = "The rule set; by default what the file tells")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 202, description = "The `id` of the job", body = Begun), (status = 413, description = "The file is too large", body = Refused), (status = 429, description = "The client has too many jobs", body = Refused), (status = 503, description = "Too many jobs", body = Refused)))]
pub(crate) async fn start(
    State(app): Shared,
    client: Client,
    QueryParams(asked): QueryParams<Asked>,
    FileBody(bytes): FileBody,
) -> Result<(StatusCode, Json<Value>), Fault> {
    let Asked { name, by, game } = asked;
    let name: String = name.rsplit(['/', '\\']).next().unwrap_or_default().chars().take(LETTERS).collect();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let ending = ENDINGS.into_iter().find(|known| ending.as_deref() == Some(known));
    let ending = ending.ok_or_else(|| {
        Fault::request(format!(
            "files of games end in {}",
            ENDINGS.map(|ending| format!(".{ending}")).join(", ")
        ))
    })?;
    let as_played = game.is_none() && ending != "games";
    let game = game.or_else(|| (ending == "games").then(|| told(&bytes)).flatten());
    let game = game.unwrap_or_else(|| GAME.into());
    if by.as_deref().is_some_and(|by| by.contains("search:")) {
        return Err(Fault::request("whole games are judged here without a search: leave out `search:`"));
    }
    let shared = app.clone();
    // Refuse unknown agents immediately.
    let (found, agent) = app
        .clone()
        .run(move |app| {
            let by = match by {
                Some(by) => by,
                None => app.registry.judge(&game, "")?,
            };
            app.registry.agent(&by, Some(&game))
        })
        .await?;
    let id = app.jobs.start(client, "review", move |report| {
        let review = |path: &Path| {
            let options = options(path, &agent, as_played);
            found.game.review(&options, &report.cancel, &|share| report.share(share))
        };
        with_file(&bytes, ending, |path| {
            let shown = |text: &str| text.replace(&*path.to_string_lossy(), &name);
            let fault = |fault: Fault| Fault { message: shown(&fault.message), ..fault };
            let mut found = review(path).map_err(|error| fault(error.into()))?;
            rename(&mut found, &agent, &name, shown);
            Ok(page_data(&found))
        })
        .map_err(|fault| fault.without_folders(&shared.registry.files))
    })?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "id": id }))))
}

fn options(path: &Path, agent: &AgentText, as_played: bool) -> ReviewOptions {
    ReviewOptions {
        files: vec![path.into()],
        agent: agent.text.clone(),
        then: Vec::new(),
        best: agent.best,
        player: None,
        worst: 0,
        threads: std::thread::available_parallelism().map_or(1, |n| n.get().div_ceil(2)),
        as_played,
        judged: false,
        steps: Some(limits::REVIEW_ACTIONS),
    }
}

/// The rule set that a file of lines tells.
fn told(bytes: &[u8]) -> Option<String> {
    let line = bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty())?;
    let found: Value = serde_json::from_slice(line).ok()?;
    Some(found.get("game")?.as_str()?.into())
}

/// Names the file and the agent as the client does.
fn rename(review: &mut Review, agent: &AgentText, name: &str, shown: impl Fn(&str) -> String) {
    review.by.clone_from(&agent.name);
    let file = PathBuf::from(name);
    let files = review.files.iter_mut().chain(review.steps.iter_mut().map(|game| &mut game.file));
    files.for_each(|known| known.clone_from(&file));
    for fault in &mut review.faults {
        (fault.file, fault.why) = (file.clone(), shown(&fault.why));
    }
}

/// Runs work on a file with these bytes, which nobody else can read and which is deleted afterwards.
fn with_file(
    bytes: &[u8],
    ending: &str,
    work: impl FnOnce(&Path) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    let folder = Folder(std::env::temp_dir().join(format!("adept-review-{}", fresh_id())));
    let path = folder.0.join(format!("file.{ending}"));
    let failed = |error: std::io::Error| {
        Fault::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            Kind::Failed,
            format!("the file cannot be kept: {error}"),
        )
    };
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder.0).map_err(failed)?;
    std::fs::write(&path, bytes).map_err(failed)?;
    work(&path)
}

/// A folder that is deleted with what is in it.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is in the folder of temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_there_while_it_is_read() {
        let mut place = None;
        let found = with_file(b"abc", "mat", |path| {
            assert_eq!(std::fs::read(path).unwrap(), b"abc");
            place = Some(path.to_path_buf());
            Ok(Value::Null)
        });
        assert!(found.is_ok() && !place.unwrap().parent().unwrap().exists());
    }

    #[test]
    fn lines_of_games_tell_the_rule_set() {
        assert_eq!(told(b"\n {\"game\":\"connect-four\"}\n{"), Some("connect-four".into()));
        for bytes in [&b""[..], b"{}", b"[1]", b"{\"game\":1}", b"\xff"] {
            assert_eq!(told(bytes), None);
        }
    }
}
