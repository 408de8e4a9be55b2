//! A worker rank of MPI, which does jobs of the first rank: see [`farm`](crate::farm).

use crate::catalogue::{AnyGame, Catalogue};
use crate::farm::{Done, Job, on_one_thread};
use adept_ranks::slots::{JobLink, work};
use adept_trainer::run::{Cancel, Event, Observer, Silent, TrainError, TrainOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Does jobs of the first rank until there are no more. After a cancellation, the remaining ones are done elsewhere.
pub fn serve(games: &dyn Catalogue, links: Vec<JobLink>, cancel: &Cancel) {
    let job = |job: &[u8]| {
        let done = match serde_json::from_slice(job) {
            Ok(job) => done(games, job, cancel),
            Err(error) => Done::Failed(error.to_string()),
        };
        serde_json::to_vec(&done).unwrap_or_default()
    };
    work(links, job, || cancel.requested());
}

/// Records whether a run has started.
struct StartFlag(AtomicBool);

impl Observer for StartFlag {
    fn event(&self, seed: u64, event: Event<'_>) {
        if matches!(event, Event::Started { .. }) {
            self.0.store(true, Ordering::Relaxed);
        }
        Silent.event(seed, event);
    }
}

fn done(games: &dyn Catalogue, job: Job, cancel: &Cancel) -> Done {
    match job {
        Job::Train { config, seed, out, resume, extend, init, max_seconds, tensorboard } => {
            let own = TrainOptions { threads: 1, ..TrainOptions::default() };
            let options = TrainOptions { out, resume, extend, init, max_seconds, tensorboard, ..own };
            let began = StartFlag(AtomicBool::new(false));
            let game = games.find(&config.game.rules).map_err(TrainError::from);
            match game.and_then(|game| game.train(&config, seed, &options, &began, cancel)) {
                Ok((path, record)) => {
                    Done::Train { path, record: Box::new(record), began: began.0.into_inner() }
                }
                Err(TrainError::Diverged { name, seed, step, what, rate, more }) => {
                    Done::Diverged { name, seed, step, what, rate, more }
                }
                Err(error) => Done::Failed(error.to_string()),
            }
        }
        Job::Pair { game, pairing } => {
            let game = games.find(&game).map_err(TrainError::from);
            let play = |game: Arc<dyn AnyGame>| {
                Ok(on_one_thread(|| game.play_pair(&pairing, None, cancel, &mut |_| ()))??)
            };
            match game.and_then(play) {
                Ok(tally) => Done::Pair(tally),
                Err(error) => Done::Failed(error.to_string()),
            }
        }
    }
}
