//! The command `serve`: plays by the protocols of other programs.

mod acpc;
mod bot;
mod ggp;
mod gnubg;
#[cfg(feature = "http")]
mod http;
mod lines;
mod ubgi;
#[cfg(feature = "http")]
mod wildbg;

use adept_arena::{AgentSpec, naming};
use adept_builtin::backgammon::Backgammon;
use adept_builtin::holdem::{self, Holdem, NO_LIMIT};
use adept_console::output::{self, say};
use adept_console::{Tool, on_interrupt};
use adept_game::{Game, GameError};
use adept_ground::files::Files;
use adept_ground::limits;
use adept_lab::Catalogue;
use adept_model::checkpoint;
use anyhow::{Context, Result};
use clap::{ArgMatches, Args, FromArgMatches, Subcommand};
use serde_json::json;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The command `serve`.
pub(crate) struct Serve;

#[derive(Debug, Args)]
struct ServeArgs {
    #[command(subcommand)]
    protocol: Protocol,
}

#[derive(Debug, Subcommand)]
enum Protocol {
    /// Play hold'em at a dealer of the Annual Computer Poker Competition (protocol 2.0.0).
    #[command(
        after_help = "Example:\n  adept serve acpc 127.0.0.1 16177 checkpoints/holdem/limit-2 --log match.txt"
    )]
    Acpc(AcpcArgs),
    /// Play backgammon in GNU Backgammon, as a player that it calls external.
    #[command(
        after_help = "Example:\n  adept serve gnubg my-backgammon --log session.txt\n\nThen in gnubg:\n  set player 0 external 127.0.0.1:4400\n  new session"
    )]
    Gnubg(GnubgArgs),
    /// Play backgammon as an engine of the Universal Backgammon Interface 0.1, over standard input and output.
    #[command(after_help = "Example:\n  adept serve ubgi my-backgammon")]
    Ubgi {
        /// Checkpoint or run of backgammon, or the name of an agent (see adept list agents).
        agent: String,
        /// Seed of the agent's random draws.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Play any game at a manager of general game playing, which tells the rules in GDL.
    #[command(
        after_help = "Examples:\n  adept serve ggp\n  adept serve ggp --learn\n  adept serve ggp uct:10000 --listen 127.0.0.1:9148\n  adept serve ggp search:clock:my-run"
    )]
    Ggp(GgpArgs),
    /// Play in a browser, and answer questions of other programs: a page, and a JSON API under /api/v1.
    #[cfg(feature = "http")]
    #[command(
        after_help = "Example:\n  adept serve http\n  curl -s localhost:8080/api/v1/moves -H 'Content-Type: application/json' \\\n    -d '{\"agent\": \"small-88-24\", \"position\": \"4HPwATDgc/ABMA 31\"}'"
    )]
    Http(http::HttpArgs),
    /// Play in a browser, and answer questions of other programs: not in this program, which was built without `--features http`.
    #[cfg(not(feature = "http"))]
    #[command(disable_help_flag = true)]
    Http {
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        rest: Vec<String>,
    },
    /// Print the game definition that a dealer needs for a game, or the name of the game in a definition file.
    #[command(after_help = "Example:\n  adept serve gamedef holdem:limit:2 > limit-2.game")]
    Gamedef {
        /// A game, such as holdem:limit:2, or a definition file.
        game: String,
    },
}

#[derive(Debug, Args)]
struct AcpcArgs {
    /// Host of the dealer, a name or an address.
    host: String,
    /// Port of the dealer. It gives each player another one.
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// Checkpoint, run, or the name of an agent (see adept list agents).
    agent: String,
    /// Rule set. Default: the rule set of the checkpoint, or holdem:limit:2.
    #[arg(long, conflicts_with = "gamedef")]
    game: Option<String>,
    /// Game definition file of the dealer, instead of --game.
    #[arg(long, value_name = "FILE")]
    gamedef: Option<PathBuf>,
    /// Hands of the match. With fewer than these, a dealer that ends the connection is an error.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=limits::GAMES))]
    hands: Option<u64>,
    /// Seed of the agent's random draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Longest time to wait for a new state, while others move or have not come yet; 0 for any time.
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    timeout: u32,
    /// Write every line from and to the dealer to this file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct GnubgArgs {
    /// Checkpoint or run of backgammon, or the name of an agent (see adept list agents).
    agent: String,
    /// Where gnubg connects. Port 0 takes any that is free.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4400")]
    listen: String,
    /// End after so many connections. Default: at Ctrl-C.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    sessions: Option<u64>,
    /// Play money games without the Jacoby rule, after `set jacoby off` in gnubg.
    #[arg(long)]
    no_jacoby: bool,
    /// Seed of the agent's random draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write every line from and to gnubg to this file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct GgpArgs {
    /// Name of an agent (see adept list agents), or search:clock:CHECKPOINT to look ahead as long as there is time. Default: a run in
    /// checkpoints/runs that learned the same rules; without one, tree search over random games as long as there is time.
    agent: Option<String>,
    /// Where managers send their messages. Port 0 takes any that is free.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9147")]
    listen: String,
    /// Train a network during the start clock, and keep it in checkpoints/runs for the next match with the same rules.
    #[arg(long, conflicts_with = "agent")]
    learn: bool,
    /// Milliseconds of each clock that are left for the way there and back.
    #[arg(long, value_name = "MS", default_value_t = 400, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    margin: u64,
    /// End after so many matches. Default: at Ctrl-C.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    matches: Option<u64>,
    /// Seed of the agent's random draws.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write every message from and to managers to this file.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
}

impl Tool for Serve {
    fn command(&self) -> clap::Command {
        ServeArgs::augment_args(clap::Command::new("serve"))
            .about("Play by the protocols of other programs")
            .subcommand_required(true)
            .arg_required_else_help(true)
    }

    fn run(&self, games: &dyn Catalogue, matches: &ArgMatches, as_json: bool) -> Result<()> {
        // The other protocols determine their games.
        #[cfg(not(feature = "http"))]
        let _ = games;
        match ServeArgs::from_arg_matches(matches)?.protocol {
            Protocol::Acpc(args) => acpc(&args, as_json),
            Protocol::Gnubg(args) => gnubg(&args, as_json),
            Protocol::Ggp(args) => ggp(&args, as_json),
            Protocol::Ubgi { .. } if as_json => {
                Err(GameError::new("`serve ubgi` speaks its protocol on standard output: leave --json out")
                    .into())
            }
            Protocol::Ubgi { agent, seed } => {
                let mut engine = ubgi::Engine::new(backgammon_bot(&agent, seed)?);
                engine.run(std::io::stdin().lock(), std::io::stdout().lock())
            }
            #[cfg(feature = "http")]
            Protocol::Http(args) => http::run(games, &args, as_json),
            #[cfg(not(feature = "http"))]
            Protocol::Http { .. } => Err(GameError::new(
                "this program was built without the page and the JSON API: build it with \
                 `cargo install --path crates/cli --features http`",
            )
            .into()),
            Protocol::Gamedef { game } => gamedef(&game, as_json),
        }
    }

    /// Whether the protocol waits for input of another program.
    fn waits(&self) -> bool {
        true
    }

    fn kind(&self, cause: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
        if cause.is::<acpc::Stopped>() {
            return Some("interrupted");
        }
        cause.is::<acpc::DealerError>().then_some("protocol")
    }
}

fn acpc(args: &AcpcArgs, as_json: bool) -> Result<()> {
    let game = match (&args.gamedef, &args.game) {
        (Some(path), _) => definition(path)?,
        (None, Some(name)) => named(name)?,
        (None, None) => of_agent(&args.agent)?,
    };
    if game.stakes().stacks[..game.players()].iter().any(|stack| *stack != NO_LIMIT) {
        say(
            "warning: dealers have other rules for raises that take the last chips; where they differ, the match ends with the \
             hand and the move",
        );
    }
    let agent = adept_arena::open::agent(&game, &args.agent)?;
    let place = acpc::Place { host: &args.host, port: args.port };
    let terms = acpc::Terms {
        hands: args.hands,
        seed: args.seed,
        timeout: (args.timeout > 0).then(|| Duration::from_secs(args.timeout.into())),
        log: args.log.as_deref(),
    };
    let cancel = on_interrupt("\nstopping (again to stop at once)");
    let (result, end) = acpc::play(&game, agent, &place, &terms, &cancel)?;
    if !as_json {
        output::text(&format!("{}\n", result.text(&args.agent)))?;
        return end;
    }
    let mut value = serde_json::to_value(&result)?;
    if let Err(error) = &end {
        let kind = error.chain().find_map(|cause| Serve.kind(cause)).unwrap_or("io");
        value["error"] = json!({ "kind": kind, "message": output::whole(error) });
    }
    output::json(&value)?;
    end
}

fn gnubg(args: &GnubgArgs, as_json: bool) -> Result<()> {
    let bot = backgammon_bot(&args.agent, args.seed)?;
    let (door, log) = open(&args.listen, args.log.as_deref(), "127.0.0.1:4400", as_json)?;
    let cancel = on_interrupt("\nstopping (again to stop at once)");
    let server = gnubg::Server {
        bot: Mutex::new(bot),
        log: log.map(Mutex::new),
        cancel: &cancel,
        count: Mutex::default(),
        jacoby: !args.no_jacoby,
    };
    server.serve(&door, args.sessions)?;
    let count = *server.count.lock().unwrap_or_else(PoisonError::into_inner);
    if as_json { output::json(&count) } else { Ok(()) }
}

fn ggp(args: &GgpArgs, as_json: bool) -> Result<()> {
    let terms = ggp::Terms {
        agent: args.agent.clone(),
        learn: args.learn,
        margin: Duration::from_millis(args.margin),
        seed: args.seed,
    };
    if let Some(name) = &args.agent {
        let name = name.strip_prefix("search:clock:").unwrap_or(name);
        AgentSpec::parse(name).map_err(GameError::new)?;
    }
    let (door, log) = open(&args.listen, args.log.as_deref(), "127.0.0.1:9147", as_json)?;
    let cancel = on_interrupt("\nstopping (again to stop at once)");
    let count = ggp::Server::new(terms, log).serve(&door, args.matches, &cancel)?;
    if as_json { output::json(&count) } else { Ok(()) }
}

/// Opens the listener and the log of a server, and announces the address.
fn open(
    listen: &str,
    log: Option<&Path>,
    example: &str,
    as_json: bool,
) -> Result<(TcpListener, Option<File>)> {
    if let Some(path) = log {
        Files::default().try_file(path)?;
    }
    let door = TcpListener::bind(listen)
        .with_context(|| format!("{listen}: write an address of this machine, such as {example}"))?;
    let log = log.map(|path| File::create(path).with_context(|| path.display().to_string())).transpose()?;
    let ready = format!("listening on {}", door.local_addr()?);
    if as_json {
        say(ready)
    } else {
        output::text(&format!("{ready}\n"))?
    }
    Ok((door, log))
}

/// A backgammon bot with this agent. The values of its checkpoint decide about the cube.
fn backgammon_bot(agent: &str, seed: u64) -> Result<bot::Bot> {
    let game = Backgammon::default();
    let found = naming::resolve(&game, agent, &[])?;
    let values = match found.folder() {
        Some(folder) => Some(adept_arena::open::open_with(&game, folder, false, found.spec.tables())?),
        None => None,
    };
    let values = values.filter(|(_, manifest)| !manifest.head.is_policy()).map(|(bound, _)| bound);
    Ok(bot::Bot::new(naming::build(&game, &found, false)?, values, seed))
}

fn gamedef(game: &str, as_json: bool) -> Result<()> {
    let path = Path::new(game);
    // A path with a folder or an extension that is not a hold'em game is a missing file.
    let is_path = path.components().count() > 1 || path.extension().is_some();
    let is_file = path.is_file() || (is_path && holdem::named(game).is_none());
    let holdem = if is_file { definition(path)? } else { named(game)? };
    if as_json {
        return output::json(&json!({ "game": holdem.name(), "definition": holdem.definition() }));
    }
    output::text(&if is_file { format!("{}\n", holdem.name()) } else { holdem.definition() })
}

fn definition(path: &Path) -> Result<Holdem> {
    let text = limits::read_text(path, limits::CONFIG_BYTES).map_err(GameError::file(path))?;
    let read = Holdem::of_definition(&text);
    Ok(read.map_err(|e| GameError::new(format!("{}: {e}", path.display())))?)
}

fn named(name: &str) -> Result<Holdem> {
    match holdem::named(name) {
        Some(found) => Ok(found?),
        None => Err(GameError::new(format!(
            "`{name}`: poker dealers play hold'em with fixed limits, such as holdem:limit:2; other games are not served"
        ))
        .into()),
    }
}

/// The game of a checkpoint; heads-up hold'em for agents.
fn of_agent(agent: &str) -> Result<Holdem> {
    let usual = named("holdem:limit:2")?;
    let spec = AgentSpec::parse(agent).map_err(GameError::new)?;
    match naming::folder_of(spec.name(), |name| naming::is_own(&usual, name))? {
        Some(folder) => named(&checkpoint::manifest(&checkpoint::locate(&folder, false)?)?.game),
        None => Ok(usual),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_commands_names_every_protocol() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
        let page = std::fs::read_to_string(page).unwrap();
        for protocol in Serve.command().get_subcommands().map(clap::Command::get_name) {
            assert!(page.contains(&format!("`adept serve {protocol}")), "{protocol}");
        }
    }
}
