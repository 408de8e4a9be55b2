//! Work that takes longer than a request: rollouts and deep searches, one at a time, with progress and a way to stop.

use crate::api::answers::{JobResult, Refusal};
use crate::client::Client;
use crate::fault::Fault;
use crate::limits;
use crate::plays::fresh_id;
use adept_trainer::run::Cancel;
use serde::Serialize;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, watch};
use utoipa::ToSchema;

/// What a job has come to.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Job)]
pub(crate) struct State {
    id: String,
    kind: &'static str,
    /// `waiting`, `running`, `done`, `failed` or `stopped`.
    state: &'static str,
    /// The finished share, from 0 to 1.
    share: f64,
    /// The result; while it runs, what is known so far.
    #[schema(required, value_type = Option<JobResult>)]
    result: Option<Value>,
    #[schema(required, value_type = Option<Refusal>)]
    error: Option<Value>,
}

impl State {
    pub(crate) fn is_over(&self) -> bool {
        !matches!(self.state, "waiting" | "running")
    }
}

/// How a job says what it has come to, and asks whether to stop.
pub(crate) struct Report {
    state: Arc<watch::Sender<State>>,
    pub(crate) cancel: Cancel,
}

impl Report {
    pub(crate) fn share(&self, share: f64) {
        self.state.send_modify(|state| state.share = share);
    }

    pub(crate) fn found(&self, share: f64, result: Value) {
        self.state.send_modify(|state| state.result = Some(result));
        self.share(share);
    }
}

struct Job {
    client: Client,
    state: Arc<watch::Sender<State>>,
    cancel: Cancel,
}

pub(crate) struct Jobs {
    all: Mutex<VecDeque<Job>>,
    turn: Arc<Semaphore>,
    /// Unfinished jobs of one client at most.
    of_client: usize,
}

impl Jobs {
    /// No jobs yet, and at most so many unfinished ones of one client.
    pub(crate) fn new(of_client: usize) -> Self {
        Self { all: Mutex::default(), turn: Arc::new(Semaphore::new(1)), of_client }
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a job when those before it are over. `work` returns its result.
    pub(crate) fn start(
        &self,
        client: Client,
        kind: &'static str,
        work: impl FnOnce(&Report) -> Result<Value, Fault> + Send + 'static,
    ) -> Result<String, Fault> {
        let mut all = self.all();
        let unfinished: Vec<&Job> = all.iter().filter(|job| !job.state.borrow().is_over()).collect();
        let own = unfinished.iter().filter(|job| job.client == client).count();
        let unfinished = unfinished.len();
        if own >= self.of_client {
            return Err(Fault::too_many(format!(
                "{own} of your jobs are waiting or running, the most for one client: stop one, or wait for its end"
            )));
        }
        if unfinished >= limits::UNFINISHED_JOBS {
            return Err(Fault::busy(format!("{unfinished} jobs are waiting or running: try again later")));
        }
        if all.len() >= limits::JOBS
            && let Some(oldest) = all.iter().position(|job| job.state.borrow().is_over())
        {
            all.remove(oldest);
        }
        let (id, cancel) = (fresh_id(), Cancel::default());
        let first = State { id: id.clone(), kind, state: "waiting", share: 0.0, result: None, error: None };
        let state = Arc::new(watch::Sender::new(first));
        all.push_back(Job { client, state: state.clone(), cancel: cancel.clone() });
        let turn = self.turn.clone();
        tokio::spawn(async move {
            let Ok(permit) = turn.acquire_owned().await else { return };
            let end = state.clone();
            let stopped = cancel.clone();
            let work = move || {
                let report = Report { state: state.clone(), cancel };
                state.send_modify(|state| state.state = "running");
                let found = work(&report);
                drop(permit);
                found
            };
            if end.borrow().is_over() {
                return;
            }
            let mut work = tokio::task::spawn_blocking(work);
            let mut is_late = false;
            let found = tokio::select! {
                found = &mut work => found,
                () = tokio::time::sleep(limits::JOB) => {
                    is_late = true;
                    stopped.cancel();
                    work.await
                }
            };
            end.send_modify(|state| {
                let fault = match found {
                    Ok(Ok(result)) => {
                        state.result = Some(result);
                        is_late.then(|| {
                            Fault::busy(format!("stopped after {} s, the limit", limits::JOB.as_secs()))
                        })
                    }
                    Ok(Err(fault)) => (!stopped.requested()).then_some(fault),
                    Err(error) => Some(Fault::request(format!("a fault of the server: {error}"))),
                };
                state.state = match (stopped.requested(), &fault) {
                    (true, _) => "stopped",
                    (false, Some(_)) => "failed",
                    (false, None) => "done",
                };
                if state.state == "done" {
                    state.share = 1.0;
                }
                state.error = fault.map(|fault| fault.to_json()["error"].clone());
            });
        });
        Ok(id)
    }

    /// What a job says, now and later.
    pub(crate) fn watch(&self, id: &str) -> Result<watch::Receiver<State>, Fault> {
        let all = self.all();
        let job = all.iter().find(|job| job.state.borrow().id == id);
        Ok(job.ok_or_else(|| Fault::missing("no such job: old ones are forgotten"))?.state.subscribe())
    }

    /// Asks a job to stop.
    pub(crate) fn stop(&self, id: &str) -> Result<(), Fault> {
        let all = self.all();
        let job = all.iter().find(|job| job.state.borrow().id == id);
        let job = job.ok_or_else(|| Fault::missing("no such job: old ones are forgotten"))?;
        job.cancel.cancel();
        // One that waits does not wait for its turn to end.
        job.state.send_if_modified(|state| {
            let waits = state.state == "waiting";
            if waits {
                state.state = "stopped";
            }
            waits
        });
        Ok(())
    }

    /// Asks all jobs to stop.
    pub(crate) fn stop_all(&self) {
        self.all().iter().for_each(|job| job.cancel.cancel());
    }
}
