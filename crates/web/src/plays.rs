//! The games that people play, kept until nobody has asked for them for long.

use crate::client::Client;
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
pub(crate) type Shared<T = Box<dyn AnyPlay>> = Arc<sync::Mutex<T>>;

/// A game, whose it is, and when it was last asked for.
struct Kept<T> {
    play: Shared<T>,
    client: Client,
    used: Instant,
}

pub(crate) struct Plays<T = Box<dyn AnyPlay>> {
    all: Mutex<HashMap<String, Kept<T>>>,
    /// Games at most, and games of one client.
    most: usize,
    of_client: usize,
}

impl<T> Plays<T> {
    /// No games yet, at most so many in all, and so many of one client.
    pub(crate) fn new(most: usize, of_client: usize) -> Self {
        Self { all: Mutex::default(), most, of_client }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Kept<T>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a client's game under a new name. Where there are too many, one is forgotten: the one that nobody has asked for the longest,
    /// or, if all are in use, a game of the client who has the most.
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
                    "you play {own} games, the most for one client: leave one (DELETE) first"
                ))
            })?)
        } else if all.len() >= self.most {
            let mut counts: HashMap<Client, usize> = HashMap::new();
            all.values().for_each(|kept| *counts.entry(kept.client).or_default() += 1);
            // Nobody loses a game to a client who then has more.
            let greatest =
                counts.into_iter().filter(|(_, held)| *held > own + 1).max_by_key(|(_, held)| *held);
            let found = oldest(&all, is_idle)
                .or_else(|| greatest.and_then(|(holder, _)| oldest(&all, |kept| kept.client == holder)));
            Some(found.ok_or_else(|| {
                Fault::busy(format!(
                    "{} games are being played, and that is the limit: try again later",
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

/// The game that nobody has asked for the longest, among some.
fn oldest<T>(all: &HashMap<String, Kept<T>>, among: impl Fn(&Kept<T>) -> bool) -> Option<String> {
    let found = all.iter().filter(|(_, kept)| among(kept)).min_by_key(|(_, kept)| kept.used);
    found.map(|(id, _)| id.clone())
}

fn missing(id: &str) -> Fault {
    let shown: String = id.chars().take(40).collect();
    Fault::missing(format!("no game `{shown}`: games that nobody asks for are forgotten; begin a new one"))
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
        // Others go on, at the cost of who has the most, whose oldest game ends.
        let second: Vec<String> = (0..2).map(|_| plays.add(two, ()).unwrap().0).collect();
        assert!(plays.get(&first).is_ok());
        // It has been asked for since, so that another one is the oldest.
        plays.add(three, ()).unwrap();
        assert_eq!(plays.count(), 6);
        assert!(plays.get(&first).is_ok() && second.iter().all(|id| plays.get(id).is_ok()));
        // 3, 2 and 1: who has two takes none from one who would then have fewer.
        let refused = plays.add(two, ()).unwrap_err();
        assert_eq!(refused.status.as_u16(), 503);
        plays.add(three, ()).unwrap();
        assert_eq!(plays.add(three, ()).unwrap_err().status.as_u16(), 503);
        // Leaving makes room.
        plays.remove(&first).unwrap();
        assert!(plays.add(one, ()).is_ok());
    }
}
