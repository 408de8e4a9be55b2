//! Long-running work: rollouts and deep searches, one at a time, with progress and cancellation.

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

/// State of a job.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Job)]
pub(crate) struct State {
    id: String,
    kind: &'static str,
    /// `waiting`, `running`, `done`, `failed` or `stopped`.
    state: &'static str,
    /// The finished share, from 0 to 1.
    share: f64,
    /// The result; partial while the job runs.
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

/// Handle by which a job reports progress and checks for cancellation.
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
    /// Largest number of unfinished jobs of one client.
    of_client: usize,
}

impl Jobs {
    /// Creates an empty queue with a limit of unfinished jobs per client.
    pub(crate) fn new(of_client: usize) -> Self {
        Self { all: Mutex::default(), turn: Arc::new(Semaphore::new(1)), of_client }
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a job. `work` returns its result.
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
                "{own} of your jobs are waiting or running, the limit for one client: stop one, or wait"
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
            // A job that is stopped while it waits leaves at once, with all that it holds.
            let mut watched = state.subscribe();
            let stopped_early = async { drop(watched.wait_for(State::is_over).await) };
            let permit = tokio::select! {
                Ok(permit) = turn.acquire_owned() => permit,
                () = stopped_early => return,
                else => return,
            };
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
                    Err(error) => Some(Fault::request(format!("internal server error: {error}"))),
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

    /// Subscribes to the state of a job.
    pub(crate) fn watch(&self, id: &str) -> Result<watch::Receiver<State>, Fault> {
        let all = self.all();
        let job = all.iter().find(|job| job.state.borrow().id == id);
        Ok(job.ok_or_else(|| Fault::missing("no such job: old jobs are deleted"))?.state.subscribe())
    }

    /// Cancels a job.
    pub(crate) fn stop(&self, id: &str) -> Result<(), Fault> {
        let all = self.all();
        let job = all.iter().find(|job| job.state.borrow().id == id);
        let job = job.ok_or_else(|| Fault::missing("no such job: old jobs are deleted"))?;
        job.cancel.cancel();
        // A waiting job is cancelled immediately.
        job.state.send_if_modified(|state| {
            let waits = state.state == "waiting";
            if waits {
                state.state = "stopped";
            }
            waits
        });
        Ok(())
    }

    /// Cancels all jobs.
    pub(crate) fn stop_all(&self) {
        self.all().iter().for_each(|job| job.cancel.cancel());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_job_that_is_stopped_while_it_waits_frees_what_it_holds() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let _inside = runtime.enter();
        let jobs = Jobs::new(2);
        let client = || Client::new(std::net::Ipv4Addr::LOCALHOST.into());
        let (begun, first) = (channel::<()>(), channel::<()>());
        jobs.start(client(), "first", move |_| {
            begun.0.send(()).unwrap();
            let _ = first.1.recv();
            Ok(Value::Null)
        })
        .ok()
        .unwrap();
        begun.1.recv().unwrap();
        let held = channel::<()>();
        let holds = held.0;
        let id = jobs.start(client(), "second", move |_| {
            drop(holds);
            Ok(Value::Null)
        });
        jobs.stop(&id.ok().unwrap()).ok().unwrap();
        // Its sender is dropped while the first job still runs.
        assert!(held.1.recv().is_err());
        first.0.send(()).unwrap();
    }
}
