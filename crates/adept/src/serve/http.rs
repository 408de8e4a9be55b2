//! The command `serve http`.

use super::wildbg;
use adept_arena::Meaning;
use adept_console::output::{self, say};
use adept_console::{game_of, on_interrupt};
use adept_lab::Catalogue;
use adept_model::checkpoint;
use adept_web::{ClientLimits, Named, ServeOptions, serve};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Args)]
pub(super) struct HttpArgs {
    /// Checkpoints, runs or agents to choose from, beside the published ones, the levels and the agents of each game.
    agents: Vec<String>,
    /// Game of the agents that are not checkpoints.
    #[arg(long)]
    game: Option<String>,
    /// Where it listens. Port 0 takes any that is free. Other addresses than those of this machine alone need a token, which
    /// is printed.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: String,
    /// A name by which browsers may call this server, beside localhost and addresses. May be given several times.
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// A file with the token that requests must show. Default: none for 127.0.0.1, a new one for other addresses.
    #[arg(long, value_name = "FILE")]
    token: Option<PathBuf>,
    /// Let runs play by their best checkpoints.
    #[arg(long)]
    best: bool,
    /// A folder in which games are kept, so that they survive a restart of the server.
    #[arg(long, value_name = "FOLDER", default_value = "checkpoints/plays", conflicts_with = "forget")]
    plays: PathBuf,
    /// Keep games in memory only: a restart loses them.
    #[arg(long)]
    forget: bool,
    /// Let the page start and stop runs of training. Default: only if nobody else can reach it, that is on an address of this
    /// machine alone, and without --host.
    #[arg(long)]
    train: bool,
}

pub(super) fn run(games: &dyn Catalogue, args: &HttpArgs, as_json: bool) -> Result<()> {
    let named = |text: &String| -> Result<Named> {
        let game = game_of(games, text, args.game.as_deref(), args.best)?;
        game.check_agent(text, &serde_json::Value::Null)?;
        let meaning = game.resolve(text, &[])?.meaning;
        let values = matches!(meaning, Meaning::Checkpoint(_) | Meaning::Valuation | Meaning::Minimax);
        Ok(Named { text: text.clone(), game: game.info().name, best: args.best, values })
    };
    let options = ServeOptions {
        listen: args.listen.clone(),
        hosts: args.host.iter().map(|host| host.to_ascii_lowercase()).collect(),
        token: args.token.as_ref().map(token_in).transpose()?,
        agents: args.agents.iter().map(named).collect::<Result<_>>()?,
        published: checkpoint::published(),
        runs: "checkpoints/runs".into(),
        train: args.train || (args.host.is_empty() && is_local(&args.listen)),
        plays: (!args.forget).then(|| args.plays.clone()),
        // Programs without backgammon do not need these endpoints.
        extras: match games.find("backgammon") {
            Ok(_) => vec![Arc::new(wildbg::Eval), Arc::new(wildbg::Moves)],
            Err(_) => Vec::new(),
        },
        client: ClientLimits::default(),
    };
    let cancel = on_interrupt("\nstopping (again to stop at once)");
    serve(games, &options, &cancel, |address, token| {
        let page = match token {
            Some(token) => format!("http://{address}/#token={token}"),
            None => format!("http://{address}/"),
        };
        let ready = format!("listening on {address}");
        // A closed stdout is no reason to stop.
        match as_json {
            true => say(ready),
            false => drop(output::text(&format!("{ready}\n"))),
        }
        say(format!("open {page} in a browser"));
    })?;
    if as_json { output::json(&json!({ "stopped": true })) } else { Ok(()) }
}

fn is_local(listen: &str) -> bool {
    listen.starts_with("localhost:")
        || listen.parse::<SocketAddr>().is_ok_and(|address| address.ip().is_loopback())
}

/// Reads the token from a file.
fn token_in(path: &PathBuf) -> Result<String> {
    let text = adept_ground::limits::read_text(path, 4096).map_err(adept_game::GameError::file(path))?;
    let token = text.trim();
    let is_fit =
        token.len() >= 16 && token.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~".contains(&b));
    anyhow::ensure!(
        is_fit,
        "{}: a token has at least 16 letters, digits or -._~, as in an address",
        path.display()
    );
    Ok(token.into())
}
