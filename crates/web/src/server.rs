//! Accepts connections until cancelled.

use crate::api::{self, App};
use crate::archive::Archive;
use crate::client::{Client, ClientLimits, Connections, Peer, Streams};
use crate::compute::Compute;
use crate::extra::Extra;
use crate::fault::Fault;
use crate::guard::{Guard, guard};
use crate::jobs::Jobs;
use crate::limits;
use crate::page;
use crate::plays::{Plays, fresh_id};
use crate::registry::{Finder, Named, Registry, find_for};
use crate::training::Training;
use adept_lab::Catalogue;
use adept_trainer::run::Cancel;
use axum::Router;
use axum::middleware;
use axum::routing::get;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower_http::catch_panic::CatchPanicLayer;

/// Options of the server.
#[derive(Clone)]
pub struct ServeOptions {
    /// Address and port; port 0 selects a free one.
    pub listen: String,
    /// Accepted host names, in addition to `localhost` and addresses.
    pub hosts: Vec<String>,
    /// The token that requests must have. By default there is none on loopback, and a random one elsewhere.
    pub token: Option<String>,
    /// Agents in addition to the published checkpoints.
    pub agents: Vec<Named>,
    /// Folders of published checkpoints.
    pub published: Vec<PathBuf>,
    /// The folder of runs.
    pub runs: PathBuf,
    /// Whether requests may start and stop runs there.
    pub train: bool,
    /// The folder in which games survive a restart. None for games in memory only.
    pub plays: Option<PathBuf>,
    /// Endpoints in other programs' formats.
    pub extras: Vec<Arc<dyn Extra>>,
    /// Limits per client.
    pub client: ClientLimits,
}

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is in use, or not on this machine.
    #[error("{address}: {source}: choose an address of this machine with a free port; port 0 takes any")]
    Listen {
        /// The address.
        address: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The threads cannot be started.
    #[error("threads: {0}")]
    Threads(std::io::Error),
}

/// Time for pending answers at shutdown.
const GOODBYE: Duration = Duration::from_millis(250);

/// Time for runs to save at shutdown.
const SAVING: Duration = Duration::from_secs(60);

/// Interval of checking for cancellation.
const GLANCE: Duration = Duration::from_millis(100);

/// Serves until `cancel` is requested. `ready` receives the address, and the token if one is needed.
///
/// # Errors
/// See [`ServeError`].
pub fn serve(
    games: &dyn Catalogue,
    options: &ServeOptions,
    cancel: &Cancel,
    ready: impl FnOnce(SocketAddr, Option<&str>),
) -> Result<(), ServeError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(threads + 4)
        .enable_all()
        .build()
        .map_err(ServeError::Threads)?;
    let (finder, questions) = Finder::new();
    let has_ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let has_ended = &has_ended;
        scope.spawn(move || find_for(games, &questions, has_ended));
        // Joined and compressed before somebody asks.
        scope.spawn(page::prepare);
        let registry = Arc::new(Registry::new(finder, games.names(), &options.agents, &options.published));
        let training = Arc::new(Training::new(options.runs.clone(), options.train));
        let app = Arc::new(App {
            registry,
            plays: Plays::new(limits::PLAYS, options.client.plays),
            archive: options.plays.clone().map(|folder| Archive::new(folder, limits::STORED)),
            jobs: Jobs::new(options.client.jobs),
            streams: Streams::new(options.client.streams),
            document: api::document(&options.extras),
            compute: Compute::new(threads),
            training: training.clone(),
            index: OnceLock::new(),
        });
        let done = runtime.block_on(listen(app.clone(), options, cancel, ready));
        has_ended.store(true, Ordering::Relaxed);
        app.jobs.stop_all();
        training.stop_all();
        // Wait for runs to save.
        let until = Instant::now() + SAVING;
        while training.is_busy() && Instant::now() < until {
            std::thread::sleep(GLANCE);
        }
        drop(app);
        // Remaining work ends with the process.
        runtime.shutdown_timeout(GOODBYE);
        done
    })
}

async fn listen(
    app: Arc<App>,
    options: &ServeOptions,
    cancel: &Cancel,
    ready: impl FnOnce(SocketAddr, Option<&str>),
) -> Result<(), ServeError> {
    let failed = |source| ServeError::Listen { address: options.listen.clone(), source };
    let listener = TcpListener::bind(&options.listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let token = options.token.clone().or_else(|| (!address.ip().is_loopback()).then(fresh_id));
    ready(address, token.as_deref());
    // Only those with the token learn which games there are.
    let index = if token.is_some() { get(page::bare_index) } else { get(page::index) };
    let checks = Arc::new(Guard { token, hosts: options.hosts.clone() });
    let routes = Router::new()
        .route("/", index)
        .route("/page/{name}", get(page::file))
        .route("/favicon.ico", get(page::icon))
        .nest("/api/v1", api::routes())
        .merge(api::extras::routes(&options.extras))
        .fallback(api::unknown)
        .layer(CatchPanicLayer::custom(Fault::from_panic))
        .layer(middleware::from_fn_with_state(app.clone(), api::without_folders))
        .layer(middleware::from_fn(page::compressed))
        .layer(middleware::from_fn_with_state(checks, guard))
        .with_state(app);
    let service = TowerToHyperService::new(routes);
    let (graceful, free) = (GracefulShutdown::new(), Arc::new(Semaphore::new(limits::CONNECTIONS)));
    let connections = Connections::new(options.client.connections);
    loop {
        let stop = async {
            while !cancel.requested() {
                tokio::time::sleep(GLANCE).await;
            }
        };
        let accepted = tokio::select! {
            accepted = next(&listener, &free) => accepted,
            () = stop => break,
        };
        let ((stream, peer), permit) = accepted;
        // A connection more than this client may hold is closed: an answer would keep it open.
        let Some(held) = connections.begin(Client::new(peer)) else { continue };
        let service = service.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            service.call(request)
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits::READING)
            .max_buf_size(64 << 10)
            .serve_connection(TokioIo::new(stream), service);
        let served = graceful.watch(served);
        tokio::spawn(async move {
            // A client that disconnects is not an error.
            let _ = served.await;
            drop((permit, held));
        });
    }
    let _ = tokio::time::timeout(GOODBYE, graceful.shutdown()).await;
    Ok(())
}

/// Accepts the next connection, with its address, when there is room for one.
async fn next(
    listener: &TcpListener,
    free: &Arc<Semaphore>,
) -> ((TcpStream, IpAddr), Option<tokio::sync::OwnedSemaphorePermit>) {
    let permit = free.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, from)) => {
                let _ = stream.set_nodelay(true);
                return ((stream, from.ip()), permit);
            }
            // There are too many open files, or the client has disconnected.
            Err(_) => tokio::time::sleep(GLANCE).await,
        }
    }
}
