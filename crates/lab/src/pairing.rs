//! Matches between two agents.

use adept_arena::matches::{self, Deals, Order, Replayed, Table, Tally};
use adept_arena::{Agent, Luck, OpenError, naming, open};
use adept_erased::erased;
use adept_game::{GameRecord, Kit};
use adept_ground::work;
use adept_trainer::run::Cancel;
use serde::{Deserialize, Serialize};

/// A player: an agent, or a learner after one of its blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Player {
    /// Name in the table.
    pub(crate) name: String,
    /// The agent, as text.
    pub(crate) agent: String,
    /// Settings of a deliberating agent.
    pub(crate) changes: serde_json::Value,
    /// Number of the entrant.
    pub(crate) entrant: usize,
}

/// Opens the agent whose values reduce variance. With `best`, uses the best checkpoint of a run instead of the latest.
pub(crate) fn luck_of<G: Kit>(game: &G, agent: &str, best: bool) -> Result<Luck<G>, OpenError> {
    Luck::open(game, &naming::resolve(game, agent, &[])?, best)
}

/// Two players and their games.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pairing {
    /// The players.
    pub players: [Player; 2],
    /// Seat orders, used in turn.
    pub orders: Vec<Order>,
    /// Number of games.
    pub games: u64,
    /// Randomness that games share across seat orders.
    pub deals: Deals,
    /// The agent whose values reduce variance; none for raw results.
    pub(crate) luck: Option<String>,
}

impl Pairing {
    fn agents<G: Kit>(&self, game: &G) -> Result<[Box<dyn Agent<G>>; 2], OpenError> {
        let open = |player: &Player| open::agent_with(game, &player.agent, &player.changes);
        let [a, b] = &self.players;
        Ok([open(a)?, open(b)?])
    }

    /// The first player's share of the seats: its score if only seats mattered. The last round of orders may be
    /// incomplete.
    pub(crate) fn share(&self) -> f64 {
        let n = self.orders.len() as u64;
        let taken = |i: usize| self.games / n + u64::from((i as u64) < self.games % n);
        let firsts = |order: &Order| order.iter().filter(|agent| **agent == 0).count() as u64;
        let first: u64 = self.orders.iter().enumerate().map(|(i, order)| taken(i) * firsts(order)).sum();
        first as f64 / (self.games * self.orders[0].len() as u64) as f64
    }
}

/// Games of two agents.
#[erased(pub trait PairOps)]
impl<G: Kit> PairOps for G {
    /// Plays the games, or continues after those that `done` counts. Every few seconds `report` receives the games so
    /// far, from which another call can resume.
    ///
    /// # Errors
    /// If an agent is not available.
    fn play_pair(
        &self,
        pairing: &Pairing,
        done: Option<Tally>,
        cancel: &Cancel,
        report: &mut (dyn FnMut(&Tally) + Send),
    ) -> Result<Tally, OpenError> {
        let [a, b] = pairing.players.each_ref().map(|player| &*player.name);
        let what = format!("playing games of {a} and {b}");
        let mut report = |tally: &Tally| {
            // A share of 1 ends the progress display, and a share of 0 starts it.
            work::share(&what, tally.games as f64 / pairing.games as f64);
            report(tally);
            Ok(())
        };

        let make = || {
            let luck = pairing.luck.as_deref().map(|agent| luck_of(self, agent, false)).transpose()?;
            let luck = luck.map(|luck| Box::new(luck) as _);
            Ok::<_, OpenError>(Table { agents: Vec::from(pairing.agents(self)?), luck })
        };
        let (done, stop) = (done.unwrap_or_else(|| Tally::new(2)), || cancel.requested());
        let (orders, games) = (&pairing.orders, pairing.games);
        matches::compete_from(self, &make, orders, games, pairing.deals, done, &stop, &mut report)
    }

    /// Number of random decisions at the start of each game that make games differ.
    ///
    /// # Errors
    /// If an agent is not available.
    fn opening_plies(&self, pairing: &Pairing) -> Result<u32, OpenError> {
        Ok(matches::opening_plies(self, &mut pairing.agents(self)?, &pairing.orders[0], pairing.deals.seed)?)
    }

    /// The games in the game's format for whole games.
    ///
    /// # Errors
    /// If an agent is not available, or the game cannot be written in its format.
    fn histories(&self, pairing: &Pairing, cancel: &Cancel) -> Result<String, OpenError> {
        let mut agents = pairing.agents(self)?;
        let [a, b] = pairing.players.each_ref().map(|player| &*player.name);
        let what = format!("writing games of {a} and {b}");
        let (mut text, mut won) = (String::new(), [0.0; 2]);
        for g in (0..pairing.games).take_while(|_| !cancel.requested()) {
            let Replayed { order, actions, utilities } =
                matches::replay(self, &mut agents, &pairing.orders, g, pairing.deals)?;
            let names: Vec<&str> = order.iter().map(|agent| [a, b][*agent]).collect();
            let scores: Vec<f64> = order.iter().map(|agent| won[*agent]).collect();
            let record = GameRecord {
                number: g + 1,
                names: &names,
                scores: &scores,
                actions: &actions,
                resigned: None,
            };
            if let Some(one) = self.records().write(self, &record) {
                text.push_str(&one?);
            }
            text.push('\n');
            order.iter().zip(utilities).for_each(|(agent, utility)| won[*agent] += utility.max(0.0));
            work::share(&what, (g + 1) as f64 / pairing.games as f64);
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_builtin::backgammon::Backgammon;
    use adept_builtin::backgammon::mat::Match;

    /// The seats change, and one player wins nearly all games.
    #[test]
    fn the_scores_of_written_games_run_on() {
        let player = |agent: &str| Player {
            name: agent.into(),
            agent: agent.into(),
            changes: serde_json::Value::Null,
            entrant: 0,
        };
        let pairing = Pairing {
            players: ["random", "pubeval"].map(player),
            orders: matches::orders(&[1, 1]),
            games: 8,
            deals: Deals::from(1),
            luck: None,
        };
        let text = Backgammon::default().histories(&pairing, &Cancel::default()).unwrap();
        let games = Match::parse(&text).unwrap().games;
        assert_eq!(games.len(), 8);
        let mut scores = [0, 0];
        for game in &games {
            assert_eq!((&game.names, game.scores), (&["pubeval".into(), "random".into()], scores), "{text}");
            scores[game.winner.unwrap()] += game.points.unwrap();
        }
        assert!(scores[0] > 2 * scores[1] && scores[0] >= 8, "{text}");
    }
}
