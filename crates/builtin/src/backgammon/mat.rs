//! Whole games as text, `.mat`: the format of Jellyfish, which GNU Backgammon and other programs read and write.
//!
//! A file has a line `7 point match`, 0 points for money. Each game has its number, a line with both names and scores, and numbered lines
//! with a cell for each player: a roll and what is moved, `31: 8/5 6/5`, or `Doubles => 2`, `Takes`, `Drops`, `Wins 2 points`.

use super::{Action, Backgammon, Position, State, die_by_die, notation};
use crate::dice::Roll;
use adept_game::{Game, GameError};
use std::fmt::{self, Write};

/// Suffix of the files.
pub(super) const SUFFIX: &str = "mat";
/// Games of a file at most.
const MOST_GAMES: usize = 100_000;
/// White space before the only cell of a line, from which it is the second player's.
const GAP: usize = 14;
/// Where the second player's cells begin.
const SECOND: usize = 33;

/// A match or a money session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// Points; 0 for money.
    pub length: u32,
    /// The games in order.
    pub games: Vec<Played>,
}

/// A game of a match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// The players.
    pub names: [String; 2],
    /// Their scores before the game.
    pub scores: [u32; 2],
    /// What they do, in order: the number of the player, and the deed.
    pub deeds: Vec<(usize, Deed)>,
    /// Points of the winner; none if the game was left.
    pub points: Option<u32>,
}

/// What a player does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Plays a roll, from and to these positions, as the player sees them.
    Moves(Roll, Position, Position),
    /// Turns the cube to this value.
    Doubles(u32),
    /// Takes a double.
    Takes,
    /// Drops it.
    Drops,
}

/// The cells of a line, each with the player if the place of the cell says so.
fn cells(rest: &str) -> Vec<(Option<usize>, String)> {
    let begins = |word: &str| {
        let is_roll = word.len() == 3 && word.ends_with(':') && word[..2].bytes().all(|b| b.is_ascii_digit());
        is_roll || matches!(word, "Doubles" | "Takes" | "Drops" | "Wins")
    };
    let mut cells: Vec<(Option<usize>, String)> = Vec::new();
    let gap = rest.len() - rest.trim_start().len();
    for word in rest.split_whitespace() {
        match cells.last_mut() {
            Some((_, cell)) if !begins(word) => {
                cell.push(' ');
                cell.push_str(word);
            }
            None => cells.push((Some(usize::from(gap >= GAP)), word.into())),
            Some(_) => cells.push((Some(1), word.into())),
        }
    }
    cells
}

impl Match {
    /// Reads a file. Lines that begin with `;` are comments.
    ///
    /// # Errors
    /// The line or the move of a game that is wrong, and why.
    pub fn parse(text: &str) -> Result<Self, GameError> {
        let mut all: Option<Self> = None;
        let (mut boards, mut last) = ([Position::default(); 2], None);
        for (number, line) in text.lines().enumerate() {
            let fault = |what: &str| Err(GameError::new(format!("line {}: {what}", number + 1)));
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with(';') {
                continue;
            }
            let Some(found) = &mut all else {
                let length = trimmed.strip_suffix(" point match").and_then(|length| length.parse().ok());
                let Some(length) = length else {
                    return fault("the file does not begin with a line such as ` 7 point match`");
                };
                all = Some(Self { length, games: Vec::new() });
                continue;
            };
            if let Some(game) = trimmed.strip_prefix("Game ") {
                if game.parse() != Ok(found.games.len() + 1) {
                    return fault(&format!("game {} has the number `{game}`", found.games.len() + 1));
                }
                if found.games.len() == MOST_GAMES {
                    return fault(&format!("more than {MOST_GAMES} games"));
                }
                found.games.push(Played::default());
                (boards, last) = ([Position::start(15); 2], None);
                continue;
            }
            let count = found.games.len();
            let Some(game) = found.games.last_mut() else {
                return fault("a line before `Game 1`");
            };
            let numbered = trimmed.split_once(')').filter(|(n, _)| n.trim().parse::<u32>().is_ok());
            let Some((place, rest)) =
                numbered.or_else(|| trimmed.starts_with("Wins").then_some(("", trimmed)))
            else {
                let both = trimmed.split_once(" : ").and_then(|(first, rest)| {
                    let (score, rest) = rest.trim_start().split_once(char::is_whitespace)?;
                    let (second, other) = rest.trim_start().rsplit_once(" : ")?;
                    Some(([first, second.trim()], [score.parse().ok()?, other.trim().parse().ok()?]))
                });
                let (Some((names, scores)), true) = (both, game.deeds.is_empty()) else {
                    return fault("neither names and scores, `A : 0  B : 0`, nor a numbered move");
                };
                game.names = names.map(String::from);
                game.scores = scores;
                continue;
            };
            for (player, cell) in cells(rest) {
                let player = player.unwrap_or(0);
                let wrong = |why: String| {
                    let who = if game.names[player].is_empty() { "a player" } else { &game.names[player] };
                    GameError::new(format!(
                        "line {}: game {count}, move {}: `{cell}` of {who}: {why}",
                        number + 1,
                        place.trim()
                    ))
                };
                if let Some(points) = cell.strip_prefix("Wins ") {
                    let points = points.split(' ').next().and_then(|points| points.parse().ok());
                    game.points = Some(points.ok_or_else(|| wrong("write `Wins 2 points`".into()))?);
                    continue;
                }
                if game.points.is_some() {
                    return Err(wrong("the game is over".into()));
                }
                let deed = deed(&cell, player, &boards, last).map_err(wrong)?;
                if let Deed::Moves(_, _, after) = deed {
                    (boards[player], boards[1 - player]) = (after, after.swapped());
                }
                game.deeds.push((player, deed));
                last = Some((player, deed));
            }
        }
        all.ok_or_else(|| GameError::new("the file is empty: it begins with a line such as ` 7 point match`"))
    }
}

/// Reads a cell of a player, after what was done before.
fn deed(
    cell: &str,
    player: usize,
    boards: &[Position; 2],
    last: Option<(usize, Deed)>,
) -> Result<Deed, String> {
    let offered = matches!(last, Some((_, Deed::Doubles(_))));
    let on_turn = match last {
        Some((_, Deed::Drops)) => return Err("the double before it was dropped".into()),
        // After a take the side that has doubled goes on.
        Some((last, Deed::Moves(..) | Deed::Doubles(_) | Deed::Takes)) => last != player,
        None => true,
    };
    if !on_turn {
        return Err("it is the other player's turn".into());
    }
    match cell {
        "Takes" | "Drops" if !offered => return Err("there is no double before it".into()),
        "Takes" => return Ok(Deed::Takes),
        "Drops" => return Ok(Deed::Drops),
        _ if offered => return Err("a double is to be taken or dropped".into()),
        _ => {}
    }
    if let Some(value) = cell.strip_prefix("Doubles =>") {
        let value = value.trim().parse().ok().filter(|value: &u32| value.is_power_of_two());
        return value.map(Deed::Doubles).ok_or_else(|| "write `Doubles => 2`".into());
    }
    let (roll, moves) = cell.split_once(':').ok_or("write a roll and a move, such as `31: 8/5 6/5`")?;
    let roll: Roll = roll.parse().map_err(|e: GameError| e.to_string())?;
    let (before, moves) = (boards[player], moves.trim());
    if before.is_over() {
        return Err("all checkers of a side are off".into());
    }
    let moves = if moves.is_empty() { "pass".into() } else { moves.to_ascii_lowercase() };
    let after = notation::parse(before, roll, &moves, "8/5 6/5")?;
    Ok(Deed::Moves(roll, before, after))
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, " {} point match", self.length)?;
        for (number, game) in self.games.iter().enumerate() {
            write!(f, "\n Game {}\n{game}", number + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] =
            [0, 1].map(|player| format!("{} : {}", self.names[player], self.scores[player]));
        writeln!(f, " {first:<width$}{second}", width = SECOND - 1)?;
        let cells = self.deeds.iter().map(|(player, deed)| (*player, deed.to_string()));
        let won = self.points.map(|points| {
            let winner = match self.deeds.last() {
                Some((player, Deed::Moves(..) | Deed::Takes)) => *player,
                Some((player, Deed::Drops | Deed::Doubles(_))) => 1 - player,
                None => 0,
            };
            (winner, format!("Wins {points} point{}", if points == 1 { "" } else { "s" }))
        });
        let (mut line, mut number) = (String::new(), 0);
        for (player, cell) in cells.chain(won) {
            // A line is open while it has the first player's cell alone.
            if line.is_empty() || player == 0 {
                if !line.is_empty() {
                    writeln!(f, "{}", line.trim_end())?;
                }
                // The result alone has no number.
                number += 1;
                line = if cell.starts_with("Wins") { "      ".into() } else { format!("{number:3}) ") };
            }
            if player == 1 {
                line = format!("{line:<SECOND$}");
                // A cell that is too long for its place.
                if !line.ends_with(' ') {
                    line.push(' ');
                }
            }
            line.push_str(&cell);
            if player == 1 {
                writeln!(f, "{}", line.trim_end())?;
                line.clear();
            }
        }
        if line.is_empty() { Ok(()) } else { writeln!(f, "{}", line.trim_end()) }
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Moves(roll, before, after) => write!(f, "{roll}: {}", die_by_die(before, roll, after)),
            Self::Doubles(value) => write!(f, " Doubles => {value}"),
            Self::Takes => f.write_str(" Takes"),
            Self::Drops => f.write_str(" Drops"),
        }
    }
}

/// A game of a money session, with the line that begins a file before the first.
///
/// # Errors
/// If the game has fewer checkers.
pub(super) fn written(
    game: &Backgammon,
    number: u64,
    names: &[&str],
    actions: &[Action],
) -> Result<String, GameError> {
    if game.checkers() != 15 {
        return Err(GameError::new("files `.mat` hold games with 15 checkers a side"));
    }
    // Readers take the columns for the players, who change seats.
    let turned = names[0] > names[1];
    let column = |player: usize| if turned { 1 - player } else { player };
    let mut played = Played { names: [0, 1].map(|player| names[column(player)].into()), ..Played::default() };
    let (mut state, mut roll): (State, Option<Roll>) = (game.start(), None);
    for action in actions {
        match (*action, roll) {
            (Action::Opening(_, thrown) | Action::Roll(thrown), _) => roll = Some(thrown),
            (Action::Move(after), Some(roll)) => {
                played.deeds.push((column(state.player), Deed::Moves(roll, state.position(), after)));
            }
            (Action::Move(_), None) => return Err(GameError::new("a move without a roll")),
        }
        game.apply(&mut state, action);
    }
    if state.position().is_over() {
        played.points = Some(game.utility(&state, 0).abs() as u32);
    }
    let mut text = if number == 1 { " 0 point match\n\n".into() } else { String::new() };
    let _ = write!(text, " Game {number}\n{played}");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_game::{Kit, stream};

    /// A match between two of GNU Backgammon 1.07.001, as it exports it.
    const RECORDED: &str = include_str!("recorded.mat");

    #[test]
    fn what_gnubg_writes_comes_back() {
        let found = Match::parse(RECORDED).unwrap();
        assert!(found.length == 31 && found.games.len() >= 20);
        assert!(found.games.iter().all(|game| game.points.is_some()));
        // The scores say who has won, as the cells of the last line do.
        for pair in found.games.windows(2) {
            let won: u32 = [0, 1].iter().map(|&player| pair[1].scores[player] - pair[0].scores[player]).sum();
            assert_eq!(Some(won), pair[0].points);
        }
        let deeds = || found.games.iter().flat_map(|game| &game.deeds).map(|(_, deed)| *deed);
        assert!(deeds().any(|deed| deed == Deed::Takes) && deeds().any(|deed| deed == Deed::Drops));
        let text = found.to_string();
        assert_eq!(Match::parse(&text).unwrap(), found, "{text}");
        // Cells and lines are where gnubg has them.
        let gist = |text: &str| -> Vec<String> {
            let cells = |line: &str| {
                let rolls = line.split_whitespace().filter(|word| word.ends_with(':') || word.ends_with(')'));
                rolls.collect::<Vec<_>>().join(" ")
            };
            text.lines().map(cells).filter(|line| line.contains(')')).collect()
        };
        assert_eq!(gist(&text).len(), gist(RECORDED).len());
    }

    #[test]
    fn random_games_are_written_and_read() {
        let (game, mut rng) = (Backgammon::default(), stream(8, "mat", 0));
        let mut text = String::new();
        for number in 1..=20 {
            let (mut state, mut all, mut legal) = (game.start(), Vec::new(), Vec::new());
            while game.turn(&state) != adept_game::Turn::Over {
                game.actions(&state, &mut legal);
                let action = match legal.len() {
                    0 => game.sample(&state, &mut rng),
                    n => legal[number as usize % n],
                };
                game.apply(&mut state, &action);
                all.push(action);
            }
            let names = if number % 2 == 0 { ["one", "two"] } else { ["two", "one"] };
            text.push_str(&game.history(number, &names, &all).unwrap().unwrap());
        }
        let found = Match::parse(&text).unwrap();
        assert!(found.games.len() == 20 && found.games.iter().all(|game| game.names == ["one", "two"]));
        assert_eq!(Match::parse(&found.to_string()).unwrap(), found);
        assert!(Backgammon::new(3).unwrap().writes_histories().is_err());
    }

    #[test]
    fn faults_are_named_with_game_and_move() {
        let game = |lines: &str| format!(" 3 point match\n\n Game 1\n a : 0      b : 0\n{lines}");
        for (text, expected) in [
            ("".into(), "the file is empty"),
            ("hello".into(), "line 1: the file does not begin with a line such as"),
            (" 3 point match\n Game 2\n".into(), "line 2: game 1 has the number `2`"),
            (" 3 point match\n  1) 31: 8/5 6/5".into(), "line 2: a line before `Game 1`"),
            (game("  1) 31: 8/5 6/5   42: 8/4 6/3\n"), "line 5: game 1, move 1: `42: 8/4 6/3` of b: "),
            (
                game("  1) 31: 8/5 6/5\n  2) 42: 8/4 6/4\n"),
                "move 2: `42: 8/4 6/4` of a: it is the other player's turn",
            ),
            (game("  1) 37: 8/5\n"), "`37` is not a roll"),
            (game("  1) 31: 8/5 6/5    Takes\n"), "there is no double before it"),
            (
                game("  1) 31: 8/5 6/5    Doubles => 2\n  2) 31: 8/5 6/5\n"),
                "a double is to be taken or dropped",
            ),
            (game("  1) 31: 8/5 6/5    Doubles => 3\n"), "write `Doubles => 2`"),
            (
                game("  1) 31: 8/5 6/5    Doubles => 2\n  2)  Drops   Wins 1 point\n  3) 31: 8/5 6/5\n"),
                "the game is over",
            ),
            (game("nonsense\n"), "line 5: neither names and scores"),
        ] {
            let error = Match::parse(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
