//! The games that people play, kept until nobody has asked for them for long.

use crate::fault::Fault;
use crate::limits;
use adept_play::AnyPlay;
use rand::Rng;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync;

/// A name that nobody guesses.
pub(crate) fn fresh_id() -> String {
    let mut bytes = [0; 12];
    rand::rng().fill_bytes(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A game, for one request at a time. Who waits for it holds no processor.
pub(crate) type Shared = Arc<sync::Mutex<Box<dyn AnyPlay>>>;

#[derive(Default)]
pub(crate) struct Plays {
    all: Mutex<HashMap<String, (Shared, Instant)>>,
}

impl Plays {
    fn all(&self) -> MutexGuard<'_, HashMap<String, (Shared, Instant)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a game under a new name. Where there are too many, the one that nobody has asked for the longest is forgotten.
    pub(crate) fn add(&self, play: Box<dyn AnyPlay>) -> Result<(String, Shared), Fault> {
        let (id, play) = (fresh_id(), Arc::new(sync::Mutex::new(play)));
        let mut all = self.all();
        all.retain(|_, (_, used)| used.elapsed() < limits::FORGOTTEN);
        if all.len() >= limits::PLAYS {
            let oldest = all.iter().max_by_key(|(_, (_, used))| used.elapsed());
            let oldest =
                oldest.filter(|(_, (_, used))| used.elapsed() >= limits::IDLE).map(|(id, _)| id.clone());
            let Some(oldest) = oldest else {
                return Err(Fault::busy(format!(
                    "{} games are being played, and that is the limit: try again later",
                    limits::PLAYS
                )));
            };
            all.remove(&oldest);
        }
        all.insert(id.clone(), (play.clone(), Instant::now()));
        Ok((id, play))
    }

    pub(crate) fn get(&self, id: &str) -> Result<Shared, Fault> {
        match self.all().get_mut(id) {
            Some((play, used)) => {
                *used = Instant::now();
                Ok(play.clone())
            }
            None => Err(missing(id)),
        }
    }

    pub(crate) fn remove(&self, id: &str) -> Result<(), Fault> {
        self.all().remove(id).map(drop).ok_or_else(|| missing(id))
    }

    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }
}

fn missing(id: &str) -> Fault {
    let shown: String = id.chars().take(40).collect();
    Fault::missing(format!("no game `{shown}`: games that nobody asks for are forgotten; begin a new one"))
}
