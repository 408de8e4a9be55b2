//! Games in memory, until they have been idle for long. [`Archive`](crate::archive::Archive) has all of them.

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

    /// Holds a client's game under its identifier. If there are too many, one is dropped: the one that has been idle longest or, if all are
    /// in use, a game of the client with the most games. None if there is a game of this identifier, which stays.
    pub(crate) fn add(&self, client: Client, id: &str, play: T) -> Result<Option<Shared<T>>, Fault> {
        let play = Arc::new(sync::Mutex::new(play));
        let mut all = self.all();
        if all.contains_key(id) {
            return Ok(None);
        }
        // A game that a request holds must not come back from its file meanwhile.
        let is_free = |kept: &Kept<T>| Arc::strong_count(&kept.play) == 1;
        all.retain(|_, kept| kept.used.elapsed() < limits::FORGOTTEN || !is_free(kept));
        let own = all.values().filter(|kept| kept.client == client).count();
        let is_idle = |kept: &Kept<T>| kept.used.elapsed() >= limits::IDLE && is_free(kept);
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
            let found = oldest(&all, is_idle).or_else(|| {
                greatest.and_then(|(holder, _)| oldest(&all, |kept| kept.client == holder && is_free(kept)))
            });
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
        all.insert(id.into(), Kept { play: play.clone(), client, used: Instant::now() });
        Ok(Some(play))
    }

    pub(crate) fn get(&self, id: &str) -> Option<Shared<T>> {
        let mut all = self.all();
        let kept = all.get_mut(id)?;
        kept.used = Instant::now();
        Some(kept.play.clone())
    }

    /// Whether this is the game of this identifier: it may have been deleted while a request waited for it.
    pub(crate) fn holds(&self, id: &str, play: &Shared<T>) -> bool {
        self.all().get(id).is_some_and(|kept| Arc::ptr_eq(&kept.play, play))
    }

    pub(crate) fn remove(&self, id: &str) {
        self.all().remove(id);
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

pub(crate) fn missing(id: &str) -> Fault {
    let shown: String = id.chars().take(40).collect();
    Fault::missing(format!("no game `{shown}`: it was deleted, or is too old; start a new one"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(plays: &Plays<()>, client: Client) -> Result<String, Fault> {
        let id = fresh_id();
        plays.add(client, &id, ()).map(|_| id)
    }

    #[test]
    fn nobody_is_locked_out_by_the_games_of_others() {
        let plays = Plays::new(6, 4);
        let clients = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
        let [one, two, three] = clients.map(|address| Client::new(address.parse().unwrap()));
        let first = add(&plays, one).unwrap();
        (0..3).for_each(|_| drop(add(&plays, one).unwrap()));
        let refused = add(&plays, one).unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.kind), (429, crate::fault::Kind::Busy));
        // New games displace the oldest ones of the client with the most games.
        let second: Vec<String> = (0..2).map(|_| add(&plays, two).unwrap()).collect();
        assert!(plays.get(&first).is_some());
        // It has been accessed since, so another one is the oldest.
        add(&plays, three).unwrap();
        assert_eq!(plays.count(), 6);
        assert!(plays.get(&first).is_some() && second.iter().all(|id| plays.get(id).is_some()));
        // With 3, 2 and 1 games, a client with two takes none from one that would then have fewer.
        let refused = add(&plays, two).unwrap_err();
        assert_eq!(refused.status.as_u16(), 503);
        add(&plays, three).unwrap();
        assert_eq!(add(&plays, three).unwrap_err().status.as_u16(), 503);
        // Deleting a game makes room.
        plays.remove(&first);
        assert!(add(&plays, one).is_ok());
    }

    /// Two copies of a game would go on apart.
    #[test]
    fn a_game_is_there_once() {
        let plays = Plays::new(2, 2);
        let clients = ["10.0.0.1", "10.0.0.2"];
        let [one, two] = clients.map(|address| Client::new(address.parse().unwrap()));
        let first = plays.add(one, "first", ()).unwrap().unwrap();
        assert!(plays.add(two, "first", ()).unwrap().is_none());
        assert!(plays.holds("first", &first));
        let second = plays.add(one, "second", ()).unwrap();
        // Requests hold both games, so neither leaves memory for a new one.
        assert_eq!(plays.add(two, "third", ()).unwrap_err().status.as_u16(), 503);
        drop(second);
        assert!(plays.add(two, "third", ()).unwrap().is_some());
        assert!(plays.holds("first", &first) && plays.get("second").is_none());
        plays.remove("first");
        assert!(!plays.holds("first", &first));
    }
}
