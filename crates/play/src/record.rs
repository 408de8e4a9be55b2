//! Games as text that repeats them.

use serde::{Deserialize, Serialize};

/// All that repeats a game up to its position. Chance is drawn again from the seed; what players did, agents too, is read
/// from its text, because an agent with a time limit may answer otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// [`Record::FORMAT`].
    pub format: String,
    /// Rule set.
    pub game: String,
    /// Name of the agent in all other seats.
    pub opponent: String,
    /// The person's seat, from 1.
    pub seat: usize,
    /// Seed of the dice and of the agent's random draws.
    pub seed: u64,
    /// The starting position, unless it is the start of the game.
    pub from: Option<String>,
    /// The number that changes with every move and every undo.
    pub turn: u64,
    /// What the players did, in order.
    pub actions: Vec<String>,
    /// The class of results with which the person resigned, if that was not an action of the game.
    pub resigned: Option<String>,
    /// Whether the game is over.
    pub over: bool,
    /// The position to which all this leads: if it leads elsewhere, the rules have changed.
    pub position: String,
}

impl Record {
    /// Name of the format, with its version.
    pub const FORMAT: &str = "adept-game-1";
    /// Largest number of events of a game: a longer one cannot be played on or repeated. A match to 25 points in backgammon has about 4,000.
    pub(crate) const EVENTS: usize = 8_000;
    /// Largest turn, so that JavaScript represents it exactly.
    pub(crate) const TURN: u64 = 1 << 53;
}

/// A whole game in the usual format of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct History {
    /// Suffix of such files, such as `mat`.
    pub suffix: &'static str,
    /// The text of the file.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentText, AnyPlay, PlayError, room};
    use adept_game::Kit;
    use adept_game::tiny::{Bluff, Nim};
    use std::sync::Arc;
    use std::time::Duration;

    fn agent() -> AgentText {
        AgentText { name: "random".into(), text: "random".into(), best: false }
    }

    fn begun<G: Kit>(game: G, seat: usize, seed: u64, from: Option<&str>) -> Box<dyn AnyPlay> {
        let mut play =
            room(Arc::new(game), Duration::from_secs(1)).begin(&agent(), seat, seed, from).unwrap();
        play.go_on().unwrap();
        play
    }

    fn restored<G: Kit>(game: G, record: &Record) -> Result<Box<dyn AnyPlay>, PlayError> {
        room(Arc::new(game), Duration::from_secs(1)).restore(&agent(), record)
    }

    /// A view as text, which tells all of it.
    fn told(play: &dyn AnyPlay) -> String {
        format!("{:?}", play.view())
    }

    #[test]
    fn a_record_repeats_its_game_at_every_step() {
        for seed in 0..20 {
            for from in [None, Some("2 0 5 @1")] {
                let mut play = begun(Nim::default(), (seed % 2) as usize, seed, from);
                loop {
                    let record = play.record();
                    let mut again = restored(Nim::default(), &record).unwrap();
                    assert_eq!((told(&*again), again.record()), (told(&*play), record));
                    if again.undo().is_ok() {
                        let mut undone = restored(Nim::default(), &play.record()).unwrap();
                        undone.undo().unwrap();
                        assert_eq!(told(&*undone), told(&*again));
                    }
                    let Some(next) = play.view().moves.first().map(|found| found.action.clone()) else {
                        break;
                    };
                    play.act(&next).unwrap();
                    play.go_on().unwrap();
                }
                assert!(play.record().over);
            }
        }
    }

    #[test]
    fn undone_moves_leave_no_trace_but_the_turn() {
        let mut play = begun(Nim::default(), 0, 3, None);
        let before = play.record();
        play.act("1 from 1").unwrap();
        play.go_on().unwrap();
        play.undo().unwrap();
        let after = play.record();
        assert!(after.turn > before.turn);
        assert_eq!(Record { turn: before.turn, ..after.clone() }, before);
        assert_eq!(restored(Nim::default(), &after).unwrap().turn(), after.turn);
    }

    #[test]
    fn a_record_of_other_rules_is_refused() {
        let mut play = begun(Nim::default(), 0, 3, None);
        play.act("1 from 1").unwrap();
        play.go_on().unwrap();
        let good = play.record();
        let refused = |change: &dyn Fn(&mut Record), why: &str| {
            let mut record = good.clone();
            change(&mut record);
            let error = restored(Nim::default(), &record).err().expect("a refusal").to_string();
            assert!(error.contains(why), "{error}");
        };
        refused(&|record| record.position = "0 0 1 @1".into(), "another position");
        refused(&|record| record.format = "adept-game-0".into(), "another version");
        refused(&|record| record.actions[0] = "9 from 1".into(), "move 1 is not legal");
        refused(&|record| record.actions.truncate(1), "another position");
        refused(&|record| record.resigned = Some("gammon".into()), "resign");
        refused(&|record| record.seat = 0, "counted from 1");
        refused(&|record| record.seat = 3, "2 players");
        let long = |record: &mut Record| {
            record.from = Some("0 0 1 @1".into());
            record.actions = vec!["1 from 3".into(); 2];
        };
        refused(&long, "over before move 2");
    }

    #[test]
    fn a_record_is_repeated_within_a_time() {
        let record = begun(Nim::default(), 0, 3, None).record();
        let hurried = room(Arc::new(Nim::default()), Duration::ZERO).restore(&agent(), &record);
        assert!(matches!(hurried.err(), Some(PlayError::Slow(_))));
    }

    /// A view tells the record only when nothing is hidden any more, and errors never tell a position.
    #[test]
    fn hidden_cards_are_in_the_record_alone() {
        let mut play = begun(Bluff, 1, 4, None);
        let record = play.record();
        let view = play.view();
        assert!(view.record.is_none() && view.seed.is_none() && view.history.is_none() && view.your_turn);
        assert_eq!(told(&*restored(Bluff, &record).unwrap()), told(&*play));
        let (card, _) = record.position.split_once(' ').unwrap();
        let other =
            Record { position: format!("{} 1 -", if card == "1" { "2" } else { "1" }), ..record.clone() };
        let error = restored(Bluff, &other).err().expect("a refusal").to_string();
        assert!(!error.contains(|c: char| c.is_ascii_digit()), "{error}");
        let next = play.view().moves[0].action.clone();
        play.act(&next).unwrap();
        play.go_on().unwrap();
        let view = play.view();
        assert!(view.record.is_some_and(|record| record.over) && view.seed == Some(4));
        // Who has seen all cards takes nothing back.
        assert!(!view.can_undo && play.undo().is_err());
        let end = play.record();
        assert!(restored(Bluff, &end).unwrap().undo().is_err());
    }
}
