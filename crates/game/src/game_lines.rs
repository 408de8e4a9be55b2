//! Whole games of any game: a line for each.

use crate::game::{Game, GameError, Turn};
use crate::records::{AddedGame, GameRecord, Records, WholeGame};
use crate::values::Found;
use adept_ground::limits;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file format of games that have none of their own: each line is a game in JSON, with moves and chance outcomes as
/// [`Game::action_text`] writes them. Chance must be [listed](Game::outcomes).
///
/// ```
/// use adept_game::{Game, GameLines, GameRecord, Records, tiny::Nim};
///
/// let game = Nim::default();
/// let actions = [game.parse_action(&game.start(), "5 from 3")?];
/// let names = ["Ann", "Bo"];
/// let record = GameRecord { number: 1, names: &names, scores: &[], actions: &actions, resigned: Some(-1.0) };
/// assert_eq!(
///     GameLines.write(&game, &record).ok_or("given up")??,
///     "{\"game\":\"nim\",\"players\":[\"Ann\",\"Bo\"],\"actions\":[\"5 from 3\"],\"resigned\":-1.0}\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GameLines;

/// A game.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// The rule set.
    game: String,
    /// The name of each player.
    players: Vec<String>,
    /// The position in which it begins, if that is not the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// All moves and chance outcomes.
    actions: Vec<String>,
    /// The utility of player 1, if a player gave the game up after these actions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    resigned: Option<f64>,
}

/// Largest number of actions of a game.
const ACTIONS: usize = 100_000;

/// The chance outcome with this text.
fn outcome_of<G: Game>(game: &G, state: &G::State, text: &str) -> Result<G::Action, GameError> {
    let mut outcomes = Vec::new();
    if !game.outcomes(state, &mut outcomes) {
        return Err(GameError::new(format!(
            "{}: chance has too many outcomes to be read from a file",
            game.name()
        )));
    }
    let found = outcomes.into_iter().find(|(outcome, _)| game.action_text(state, outcome) == text);
    found
        .map(|(outcome, _)| outcome)
        .ok_or_else(|| GameError::new(format!("`{text}` is not a chance outcome here")))
}

/// The action with this text that is next in a state.
fn next_of<G: Game>(game: &G, state: &G::State, text: &str) -> Result<G::Action, GameError> {
    match game.turn(state) {
        Turn::Over => Err(GameError::new(format!("`{text}`: the game is over before it"))),
        Turn::Chance => outcome_of(game, state, text),
        Turn::Player(_) => {
            let action = game.parse_action(state, text)?;
            let mut legal = Vec::new();
            game.actions(state, &mut legal);
            let is_legal = legal.contains(&action);
            is_legal.then_some(action).ok_or_else(|| GameError::new(format!("`{text}` is not possible here")))
        }
    }
}

/// The game of a line, as far as it can be read.
fn read_line<G: Game>(game: &G, text: &str) -> (WholeGame<G::Action>, Option<GameError>) {
    let mut whole = WholeGame {
        names: Vec::new(),
        from: None,
        actions: Vec::new(),
        result: None,
        fault: None,
        opinions: Vec::new(),
    };
    let filled = || -> Result<(), GameError> {
        let line: Line = serde_json::from_str(text)
            .map_err(|e| GameError::new(format!("not a game as `--histories` writes it: {e}")))?;
        if line.game != game.name() {
            return Err(GameError::new(format!(
                "a game of {0}, not of {1}: review it with `--game {0}`",
                line.game,
                game.name()
            )));
        }
        if line.players.len() != game.players() {
            return Err(GameError::new(format!("{} has {} players", game.name(), game.players())));
        }
        if line.actions.len() > ACTIONS {
            return Err(GameError::new(format!("more than {ACTIONS} actions")));
        }
        let mut state = match &line.from {
            Some(from) => game.parse_position(from)?.0,
            None => game.start(),
        };
        (whole.names, whole.from) = (line.players, line.from);
        let mut number = 0;
        for (place, text) in line.actions.iter().enumerate() {
            let action = next_of(game, &state, text)
                .map_err(|why| GameError::new(format!("action {}: {why}", place + 1)))?;
            let is_move = matches!(game.turn(&state), Turn::Player(_));
            number += u64::from(is_move);
            game.apply(&mut state, &action);
            whole.actions.push((if is_move { number } else { 0 }, action));
        }
        whole.result = line.resigned;
        Ok(())
    };
    let fault = { filled }().err();
    (whole, fault)
}

impl<G: Game> Records<G> for GameLines {
    fn suffix(&self) -> &'static str {
        "games"
    }

    fn write(&self, game: &G, record: &GameRecord<'_, G::Action>) -> Found<String> {
        let write = || {
            let mut state = game.start();
            let (mut from, mut texts, mut actions) = (None, Vec::new(), record.actions);
            // A start that is drawn among too many is written as a position.
            while let [first, rest @ ..] = actions
                && game.turn(&state) == Turn::Chance
                && !game.outcomes(&state, &mut Vec::new())
            {
                game.apply(&mut state, first);
                (from, actions) = (Some(game.position_text(&state)), rest);
            }
            for action in actions {
                let text = game.action_text(&state, action);
                // Write only what can be read back.
                if next_of(game, &state, &text)? != *action {
                    return Err(GameError::new(format!("`{text}` is the text of several actions")));
                }
                game.apply(&mut state, action);
                texts.push(text);
            }
            let line = Line {
                game: game.name().into(),
                players: record.names.iter().map(ToString::to_string).collect(),
                from,
                actions: texts,
                resigned: record.resigned,
            };
            let line = serde_json::to_string(&line).map_err(|e| GameError::new(e.to_string()))?;
            Ok(line + "\n")
        };
        Some(write())
    }

    fn add(&self, text: &str, written: &str) -> Result<AddedGame, GameError> {
        let mut number = 1;
        let mut all = String::with_capacity(text.len() + written.len() + 1);
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            serde_json::from_str::<Line>(line)
                .map_err(|e| GameError::new(format!("line {}: not a game: {e}", at + 1)))?;
            all.push_str(line);
            all.push('\n');
            number += 1;
        }
        all.push_str(written);
        Ok(AddedGame { text: all, number })
    }

    fn read(&self, game: &G, path: &Path) -> Found<Vec<WholeGame<G::Action>>> {
        let read = || {
            let text = limits::read_text(path, limits::RECORD_BYTES).map_err(GameError::file(path))?;
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            let games: Vec<_> = lines
                .map(|(at, line)| {
                    let (mut whole, fault) = read_line(game, line);
                    whole.fault = fault.map(|why| format!("{}: line {}: {why}", path.display(), at + 1));
                    whole
                })
                .collect();
            // A file without a move of this game is a file of something else.
            match games.iter().find_map(|whole| whole.fault.as_ref()) {
                Some(why) if games.iter().all(|whole| whole.actions.is_empty()) => {
                    Err(GameError::new(why.clone()))
                }
                _ => Ok(games),
            }
        };
        Some(read())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};
    use crate::tiny::{Bluff, Nim};
    use rand::RngExt;

    /// The actions of a random game.
    fn random_game<G: Game>(game: &G, rng: &mut Stream) -> Vec<G::Action> {
        let (mut state, mut all, mut legal) = (game.start(), Vec::new(), Vec::new());
        loop {
            let action = match game.turn(&state) {
                Turn::Over => return all,
                Turn::Chance => game.sample(&state, rng),
                Turn::Player(_) => {
                    game.actions(&state, &mut legal);
                    legal.swap_remove(rng.random_range(0..legal.len()))
                }
            };
            game.apply(&mut state, &action);
            all.push(action);
        }
    }

    /// Random games come back, with chance and without.
    fn come_back<G: Game>(game: &G, folder: &Path) {
        let mut rng = stream(3, "lines of games", 0);
        let path = folder.join("some.games");
        let (mut text, mut all) = (String::new(), Vec::new());
        let names: Vec<String> = (1..=game.players()).map(|seat| format!("\"J\u{f6}rg\" {seat}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for number in 1..=20 {
            let actions = random_game(game, &mut rng);
            let record = GameRecord { number, names: &names, scores: &[], actions: &actions, resigned: None };
            let one = GameLines.write(game, &record).unwrap().unwrap();
            let added = <GameLines as Records<G>>::add(&GameLines, &text, &one).unwrap();
            assert_eq!(added.number, number);
            text = added.text;
            all.push(actions);
        }
        std::fs::write(&path, &text).unwrap();
        let found = GameLines.read(game, &path).unwrap().unwrap();
        assert_eq!(found.len(), all.len());
        for (whole, actions) in found.iter().zip(&all) {
            assert_eq!(whole.fault, None);
            assert!(whole.actions.iter().map(|(_, action)| action).eq(actions));
            assert_eq!(whole.names, names);
        }
    }

    #[test]
    fn games_come_back() {
        let folder = std::env::temp_dir().join(format!("adept-lines-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        come_back(&Nim::default(), &folder);
        come_back(&Bluff, &folder);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn games_end_where_they_are_wrong() {
        let (game, good) =
            (Nim::default(), r#"{"game":"nim","players":["a","b"],"actions":["3 from 1","4 from 2"]}"#);
        let of = |text: &str| {
            let (whole, fault) = read_line(&game, text);
            (whole.actions.len(), fault.map(|why| why.to_string()).unwrap_or_default())
        };
        assert_eq!(of(good), (2, String::new()));
        for (from, to, count, why) in [
            ("4 from 2", "5 from 2", 1, "action 2: `5 from 2` is not a legal action"),
            ("\"nim\"", "\"chess\"", 0, "a game of chess, not of nim: review it with `--game chess`"),
            ("[\"a\",\"b\"]", "[\"a\"]", 0, "nim has 2 players"),
            ("\"actions\"", "\"moves\"", 0, "not a game as `--histories` writes it: unknown field `moves`"),
            ("4 from 2\"", "4 from 2\",\"5 from 3\",\"1 from 1\"", 3, "the game is over before it"),
        ] {
            let (found, fault) = of(&good.replace(from, to));
            assert!(found == count && fault.contains(why), "{found} {fault}");
        }
        let added = <GameLines as Records<Nim>>::add(&GameLines, "{}", good).unwrap_err().to_string();
        assert!(added.starts_with("line 1: not a game: missing field"), "{added}");
    }
}
