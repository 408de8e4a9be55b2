//! Games in progress, kept until they have been idle for long.

use crate::client::Client;
use crate::fault::Fault;
use crate::limits;
use adept_play::AnyPlay;
use rand::Rng;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync;

/// A random, unguessable identifier.
pub(crate) fn fresh_id() -> String {
    let mut bytes = [0; 12];
    rand::rng().fill_bytes(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A game with exclusive access per request. Waiting for it occupies no processor.
pub(crate) type Shared<T = Box<dyn AnyPlay>> = Arc<sync::Mutex<T>>;

/// A game with its owner and last access time.
struct Kept<T> {
    play: Shared<T>,
    client: Client,
    used: Instant,
}

pub(crate) struct Plays<T = Box<dyn AnyPlay>> {
    all: Mutex<HashMap<String, Kept<T>>>,
    /// Largest number of games, and of games per client.
    most: usize,
    of_client: usize,
}

impl<T> Plays<T> {
    /// Creates an empty store with limits in total and per client.
    pub(crate) fn new(most: usize, of_client: usize) -> Self {
        Self { all: Mutex::default(), most, of_client }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Kept<T>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a client's game under a new identifier. If there are too many, one is deleted: the one that has been idle
    /// longest or, if all are in use, a game of the client with the most games.
    pub(crate) fn add(&self, client: Client, play: T) -> Result<(String, Shared<T>), Fault> {
        let (id, play) = (fresh_id(), Arc::new(sync::Mutex::new(play)));
        let mut all = self.all();
        all.retain(|_, kept| kept.used.elapsed() < limits::FORGOTTEN);
        let own = all.values().filter(|kept| kept.client == client).count();
        let is_idle = |kept: &Kept<T>| kept.used.elapsed() >= limits::IDLE;
        let forgotten = if own >= self.of_client {
            let idle = oldest(&all, |kept| kept.client == client && is_idle(kept));
            Some(idle.ok_or_else(|| {
                Fault::too_many(format!(
                    "you have {own} games, the limit for one client: delete one first (DELETE)"
                ))
            })?)
        } else if all.len() >= self.most {
            let mut counts: HashMap<Client, usize> = HashMap::new();
            all.values().for_each(|kept| *counts.entry(kept.client).or_default() += 1);
            // No client loses a game to one that would then have more.
            let greatest =
                counts.into_iter().filter(|(_, held)| *held > own + 1).max_by_key(|(_, held)| *held);
            let found = oldest(&all, is_idle)
                .or_else(|| greatest.and_then(|(holder, _)| oldest(&all, |kept| kept.client == holder)));
            Some(found.ok_or_else(|| {
                Fault::busy(format!(
                    "{} games are in progress, which is the limit: try again later",
                    self.most
                ))
            })?)
        } else {
            None
        };
        if let Some(forgotten) = forgotten {
            all.remove(&forgotten);
        }
        all.insert(id.clone(), Kept { play: play.clone(), client, used: Instant::now() });
        Ok((id, play))
    }

    pub(crate) fn get(&self, id: &str) -> Result<Shared<T>, Fault> {
        match self.all().get_mut(id) {
            Some(kept) => {
                kept.used = Instant::now();
                Ok(kept.play.clone())
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

/// The longest idle game among some.
fn oldest<T>(all: &HashMap<String, Kept<T>>, among: impl Fn(&Kept<T>) -> bool) -> Option<String> {
    let found = all.iter().filter(|(_, kept)| among(kept)).min_by_key(|(_, kept)| kept.used);
    found.map(|(id, _)| id.clone())
}

fn missing(id: &str) -> Fault {
    let shown: String = id.chars().take(40).collect();
    Fault::missing(format!("no game `{shown}`: idle games are deleted; start a new one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_locked_out_by_the_games_of_others() {
        let plays = Plays::new(6, 4);
        let clients = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
        let [one, two, three] = clients.map(|address| Client::new(address.parse().unwrap()));
        let first = plays.add(one, ()).unwrap().0;
        (0..3).for_each(|_| drop(plays.add(one, ()).unwrap()));
        let refused = plays.add(one, ()).unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.kind), (429, crate::fault::Kind::Busy));
        // New games displace the oldest ones of the client with the most games.
        let second: Vec<String> = (0..2).map(|_| plays.add(two, ()).unwrap().0).collect();
        assert!(plays.get(&first).is_ok());
        // It has been accessed since, so another one is the oldest.
        plays.add(three, ()).unwrap();
        assert_eq!(plays.count(), 6);
        assert!(plays.get(&first).is_ok() && second.iter().all(|id| plays.get(id).is_ok()));
        // With 3, 2 and 1 games, a client with two takes none from one that would then have fewer.
        let refused = plays.add(two, ()).unwrap_err();
        assert_eq!(refused.status.as_u16(), 503);
        plays.add(three, ()).unwrap();
        assert_eq!(plays.add(three, ()).unwrap_err().status.as_u16(), 503);
        // Deleting a game makes room.
        plays.remove(&first).unwrap();
        assert!(plays.add(one, ()).is_ok());
    }
}
