//! Whole games in the `.mat` text format of Jellyfish, which GNU Backgammon and other programs read and write.
//!
//! A file has a line `7 point match`, 0 points for money, and may hold several matches. Each game has its number, a line with both names and scores,
//! and numbered lines with a cell for each player: a roll and its moves, `31: 8/5 6/5`, or `Doubles => 2`, `Takes`,
//! `Beavers => 4`, `Drops`, `Resigns`, `Wins 2 points`. Many programs end a resigned game with a roll alone, `31:`, and
//! the result.
//!
//! Other formats are read into the same games: `.sgf` of GNU Backgammon, and `.xg` of eXtreme Gammon.

mod date;
mod judged;
mod sgf;
mod told;
mod whole;
mod xg;

use self::told::Told;
pub(super) use self::whole::FewCheckers;
use super::{Position, Rules, die_by_die, notation};
use crate::dice::Roll;
use adept_game::GameError;
use adept_ground::limits;
use adept_ground::shown::clipped;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// A single cell after this much white space belongs to the second player.
const GAP: usize = 14;
/// Column where the second player's cells begin.
const SECOND: usize = 33;

/// A match or a money session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// Match length in points; 0 for money.
    pub length: u32,
    /// The games in order.
    pub games: Vec<Played>,
    /// Whether the Jacoby rule holds in a money session; none if the file does not say so.
    pub jacoby: Option<bool>,
}

/// A game of a match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Names of the players.
    pub names: [String; 2],
    /// Their scores before the game.
    pub scores: [u32; 2],
    /// Events in order: the number of the player and what the player did.
    pub events: Vec<(usize, Event)>,
    /// Number that the file gives to the line of each event; 0 for a line without a number.
    pub lines: Vec<u32>,
    /// Points of the winner; none if the game was abandoned.
    pub points: Option<u32>,
    /// The winner: by the board if it decides, otherwise by the scores of the next game, otherwise by the place of the
    /// result. None if the game was abandoned.
    pub winner: Option<usize>,
    /// The first invalid line of the game and its fault. The game ends before that line.
    pub fault: Option<String>,
}

/// An event of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Plays a roll from the first position to the second, in the player's view.
    Moves(Roll, Position, Position),
    /// Turns the cube to this value: a double, or a beaver by a side that takes and immediately redoubles.
    Doubles(u32),
    /// Takes a double.
    Takes,
    /// Drops it.
    Drops,
    /// Ends the game by resignation, before the roll or after it without a move. Also ends a game whose last move was
    /// not recorded.
    Resigns(Option<Roll>),
}

/// Words for a resignation.
const GIVES_UP: [&str; 3] = ["Resigns", "Resigned", "Concedes"];

/// Words of the loser's cell next to the winner's, such as `Losses 1 point`.
const LOSES: [&str; 2] = ["Losses", "Loses"];

/// Words of a player who cannot move, besides those that players may type.
const STUCK: [&str; 2] = ["no move", "no play"];

/// Longest player name in characters.
const NAME: usize = 200;

/// Longest name or cell in messages, in characters.
const SHOWN: usize = 60;

/// Splits a line into cells with their players; position decides the first one.
fn cells(rest: &str) -> Vec<(usize, String)> {
    let begins = |word: &str| {
        let roll = word.strip_suffix(':').filter(|roll| roll.len() == 2);
        roll.is_some_and(|roll| roll.bytes().all(|b| b.is_ascii_digit()))
            || matches!(word, "Doubles" | "Takes" | "Beavers" | "Drops" | "Wins")
            || LOSES.contains(&word)
    };
    let mut cells: Vec<(usize, String)> = Vec::new();
    let (mut left, mut place) = (rest, 0);
    while let Some(start) = left.find(|c: char| !c.is_whitespace()) {
        if cells.is_empty() {
            // Some programs put a tab before each cell: a lone second cell has two.
            let is_second = left[..start].matches('\t').count() > 1;
            place = if is_second { GAP } else { start };
        }
        let word = left[start..].split_whitespace().next().unwrap_or_default();
        left = &left[start + word.len()..];
        match cells.last_mut() {
            // A resignation after a roll is in the same cell.
            Some((_, cell)) if !begins(word) && (!GIVES_UP.contains(&word) || start == 1) => {
                cell.push(' ');
                cell.push_str(word);
            }
            None => cells.push((usize::from(place >= GAP), word.into())),
            Some(_) => cells.push((1, word.into())),
        }
    }
    cells
}

/// Names and scores of `A : 0  B : 0`. Some programs write `A: 0  B: 0`.
fn names_and_scores(line: &str) -> Option<([&str; 2], [u32; 2])> {
    let (rest, second) = line.rsplit_once(':')?;
    let first = rest.match_indices(':').find_map(|(colon, _)| {
        let (score, name) = rest[colon + 1..].trim_start().split_once(char::is_whitespace)?;
        // A name may itself contain a colon and a number. Splitting there would leave an empty name.
        let is_name = !name.trim_start().starts_with(':') && !name.trim().is_empty();
        Some((&rest[..colon], score.parse().ok().filter(|_| is_name)?, name))
    });
    // The second player may have no name.
    let nameless = || {
        let (first, score) = rest.trim_end().rsplit_once(':')?;
        Some((first, score.trim().parse().ok()?, ""))
    };
    let (first, score, name) = first.or_else(nameless)?;
    Some(([first.trim(), name.trim()], [score, second.trim().parse().ok()?]))
}

/// State of a game while it is read.
#[derive(Default)]
struct GameReader {
    boards: [Position; 2],
    /// The player to roll or double; none before the first roll.
    on_roll: Option<usize>,
    /// An unanswered double: the player to answer, its value, and whether it is a beaver, which may be taken silently.
    offered: Option<(usize, u32, bool)>,
    /// Why no event may follow.
    over: Option<String>,
}

/// The matches of a file, and where their games stand in it.
#[derive(Default)]
struct Contents {
    matches: Vec<Match>,
    /// The places of the games of all matches.
    places: Vec<Place>,
    unit: Unit,
}

/// The place of a game in a file.
#[derive(Debug, Default)]
struct Place {
    /// The line of names and scores, from 1.
    scores: usize,
    /// The line of each event.
    events: Vec<usize>,
    /// What another program says of some events, by their index.
    told: BTreeMap<usize, Told>,
}

/// The parts of a file that messages count.
#[derive(Clone, Copy, Debug, Default)]
enum Unit {
    #[default]
    Line,
    Record,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::Line) { "line" } else { "record" })
    }
}

/// What a message names: a line, a game and a move of a file.
struct Mention<'a> {
    unit: Unit,
    line: usize,
    game: usize,
    /// The number of the move; 0 for a line without a number.
    number: u32,
    cell: &'a str,
    /// The player; empty if unknown.
    who: &'a str,
}

impl Mention<'_> {
    /// The message.
    fn with(&self, why: &str) -> String {
        let Self { unit, line, game, number, cell, who } = *self;
        let who = if who.is_empty() { "a player" } else { who };
        let number = if number == 0 { String::new() } else { format!(", move {number}") };
        let (cell, who) = (clipped(cell, SHOWN), clipped(who, SHOWN));
        format!("{unit} {line}: game {game}{number}: `{cell}` of {who}: {why}")
    }
}

/// Collects the games of a file, cell by cell.
#[derive(Default)]
struct Builder {
    contents: Contents,
    course: GameReader,
    /// The number of the present line of a `.mat` file with this game, and whether its second cell is free.
    numbered: (u32, bool),
}

impl Builder {
    fn counting(unit: Unit) -> Self {
        Self { contents: Contents { unit, ..Contents::default() }, ..Self::default() }
    }

    /// Begins a match to this many points; 0 for a money session.
    fn begin_match(&mut self, length: u32) {
        self.contents.matches.push(Match { length, ..Match::default() });
    }

    /// Begins a game of the present match.
    ///
    /// # Errors
    /// If the file has too many games.
    fn begin_game(&mut self) -> Result<(), String> {
        let Contents { matches, places, .. } = &mut self.contents;
        if places.len() as u64 == limits::HISTORIES {
            return Err(format!("more than {} games", limits::HISTORIES));
        }
        if let Some(found) = matches.last_mut() {
            found.games.push(Played::default());
            places.push(Place::default());
        }
        self.course = GameReader { boards: [Position::start(15); 2], ..GameReader::default() };
        self.numbered = (0, false);
        Ok(())
    }

    /// The present game and its place.
    fn game(&mut self) -> Option<(&mut Played, &mut Place)> {
        let game = self.contents.matches.last_mut()?.games.last_mut();
        game.zip(self.contents.places.last_mut())
    }

    /// Ends the present game by a fault, unless it has one.
    fn fault(&mut self, line: usize, why: &str) {
        let (unit, count) = (self.contents.unit, self.contents.places.len());
        self.set_fault(format!("{unit} {line}: game {count}: {why}"));
    }

    /// Sets the fault of the present game, unless it has one.
    fn set_fault(&mut self, message: String) {
        if let Some((game, _)) = self.game() {
            game.fault.get_or_insert(message);
        }
    }

    /// The number that a `.mat` file gives to the next cell of a player.
    fn number(&mut self, player: usize) -> u32 {
        let (number, is_free) = &mut self.numbered;
        if player == 0 || !*is_free {
            *number += 1;
        }
        *is_free = player == 0;
        *number
    }

    /// The value of the cube after the next double of the present game.
    fn next_cube(&mut self) -> u32 {
        let value = |(_, event): &(usize, Event)| match event {
            Event::Doubles(value) => Some(*value),
            _ => None,
        };
        let last = self.game().and_then(|(game, _)| game.events.iter().rev().find_map(value));
        last.unwrap_or(1).saturating_mul(2)
    }

    /// Reads a cell of the present game, such as `31: 8/5 6/5`. After a fault it is left out. Returns the event.
    fn cell(&mut self, line: usize, number: u32, player: usize, cell: &str) -> Option<Event> {
        let Self { contents: Contents { matches, places, unit }, course, .. } = self;
        let count = places.len();
        let game = matches.last_mut().and_then(|found| found.games.last_mut());
        let (game, place) = game.zip(places.last_mut())?;
        if game.fault.is_some() {
            return None;
        }
        let event =
            if game.points.is_some() { Err("the game is over".into()) } else { course.event(cell, player) };
        match event {
            Ok(event) => {
                game.events.push((player, event));
                game.lines.push(number);
                place.events.push(line);
                Some(event)
            }
            Err(why) => {
                let mention =
                    Mention { unit: *unit, line, game: count, number, cell, who: &game.names[player] };
                game.fault = Some(mention.with(&why));
                None
            }
        }
    }

    /// Adds what another program says of the last event.
    fn tell(&mut self, told: Told) {
        if let Some((_, place)) = self.game().filter(|(_, place)| !place.events.is_empty()) {
            place.told.insert(place.events.len() - 1, told);
        }
    }

    /// The games, with their winners.
    fn finish(self) -> Contents {
        let mut contents = self.contents;
        for found in &mut contents.matches {
            let mut next = None;
            for game in found.games.iter_mut().rev() {
                if game.points.is_some() {
                    game.winner = game.winner(next).or(game.winner);
                }
                next = Some(game.scores);
            }
        }
        contents
    }
}

/// The length of a match, of a line such as ` 7 point match`.
fn length_of(line: &str) -> Option<u32> {
    let mut words = line.split_whitespace();
    let length = words.next()?.parse().ok()?;
    let is_length =
        ["point", "match"].iter().all(|word| words.next().is_some_and(|w| w.eq_ignore_ascii_case(word)));
    (is_length && words.next().is_none()).then_some(length)
}

/// The contents of a file in any format: `.xg` and `.sgf` are known by their first bytes, and all others are text, UTF-8 or Latin-1 as older
/// programs write it. Errors name the file.
fn contents_of(path: &Path) -> Result<Contents, GameError> {
    let bytes = limits::read(path, limits::RECORD_BYTES).map_err(GameError::file(path))?;
    let found = if xg::is_archive(&bytes) {
        xg::read(&bytes)
    } else {
        let text = limits::any_text(bytes);
        if sgf::is_tree(&text) { sgf::parse(&text) } else { Contents::parse(&text) }
    };
    found.map_err(|e| GameError::Data { path: path.into(), message: e.to_string() })
}

impl Match {
    /// Reads a file of one match, in any of the formats.
    ///
    /// # Errors
    /// The system's reason, or the line or the move of a game that is wrong, and why.
    pub fn read(path: &Path) -> Result<Self, GameError> {
        let single = |e: GameError| GameError::Data { path: path.into(), message: e.to_string() };
        Self::only(contents_of(path)?.matches).map_err(single)
    }

    /// Reads a text of one match. Lines that begin with `;` are comments. An unreadable line or an illegal move ends its
    /// game, which records the fault; reading resumes with the next game.
    ///
    /// # Errors
    /// An invalid line outside of games, and why; or the number of matches, if it is not one.
    pub fn parse(text: &str) -> Result<Self, GameError> {
        Self::only(Self::parse_all(text)?)
    }

    fn only(mut matches: Vec<Self>) -> Result<Self, GameError> {
        match matches.len() {
            1 => Ok(matches.swap_remove(0)),
            n => Err(GameError::new(format!("the text holds {n} matches and not one"))),
        }
    }

    /// Reads a text of one match after another.
    ///
    /// # Errors
    /// An invalid line outside of games, and why.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, GameError> {
        Contents::parse(text).map(|contents| contents.matches)
    }
}

/// Whether a comment of a `.mat` file says that the Jacoby rule holds, or does not; none if it says nothing.
fn jacoby_of(comment: &str) -> Option<bool> {
    let value = comment.split_once("[Jacoby ")?.1.trim_start_matches('"');
    Some(!value.to_ascii_lowercase().starts_with("off"))
}

impl Contents {
    /// Reads a text.
    ///
    /// # Errors
    /// As for [`Match::parse_all`].
    fn parse(text: &str) -> Result<Self, GameError> {
        let mut builder = Builder::default();
        let mut jacoby = None;
        for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let fault = |what: &str| Err(GameError::new(format!("line {line}: {what}")));
            let trimmed = content.trim();
            if trimmed.starts_with(';') {
                jacoby = jacoby_of(trimmed).or(jacoby);
                continue;
            }
            if trimmed.is_empty() {
                continue;
            }
            if let Some(length) = length_of(trimmed) {
                builder.begin_match(length);
                continue;
            }
            let Some(found) = builder.contents.matches.last_mut() else {
                return fault("the file does not begin with a line such as ` 7 point match`");
            };
            found.jacoby = jacoby;
            // A player's name may also begin with these words.
            let is_unnamed =
                found.games.last().is_some_and(|game| game.names[0].is_empty() && game.events.is_empty());
            let named = names_and_scores(trimmed).filter(|_| is_unnamed);
            if let (Some(game), None) = (trimmed.strip_prefix("Game "), &named) {
                if game.trim().parse::<u32>().is_err() {
                    return fault(&format!("`{}` is not the number of a game", clipped(game, SHOWN)));
                }
                builder.begin_game().map_err(|why| GameError::new(format!("line {line}: {why}")))?;
                continue;
            }
            let Some((game, place)) = builder.game() else {
                return fault("a line before `Game 1`");
            };
            let numbered = trimmed.split_once(')').and_then(|(n, rest)| Some((n.trim().parse().ok()?, rest)));
            let ends =
                trimmed.split_whitespace().next().is_some_and(|word| word == "Wins" || LOSES.contains(&word));
            let Some((number, rest)) = numbered.or(ends.then_some((0, content))).filter(|_| named.is_none())
            else {
                let why = match names_and_scores(trimmed).filter(|_| game.events.is_empty()) {
                    Some((names, scores)) if names.iter().all(|name| name.chars().count() <= NAME) => {
                        game.names = names.map(String::from);
                        game.scores = scores;
                        place.scores = line;
                        continue;
                    }
                    Some(_) => format!("a name has more than {NAME} letters"),
                    None => "neither names and scores, `A : 0  B : 0`, nor a numbered move".into(),
                };
                builder.fault(line, &why);
                continue;
            };
            for (player, cell) in cells(rest) {
                let mut words = cell.split(' ');
                let is_won = match words.next() {
                    Some("Wins") => true,
                    Some(word) if LOSES.contains(&word) => false,
                    _ => {
                        builder.cell(line, number, player, &cell);
                        continue;
                    }
                };
                let points = words.next().and_then(|points| points.parse().ok());
                let Some((game, _)) = builder.game() else { continue };
                if points.is_some() {
                    (game.points, game.winner) = (points, Some(if is_won { player } else { 1 - player }));
                } else {
                    let who = game.names[player].clone();
                    let (unit, game) = (Unit::Line, builder.contents.places.len());
                    let mention = Mention { unit, line, game, number, cell: &cell, who: &who };
                    builder.set_fault(mention.with("write `Wins 2 points`"));
                }
            }
        }
        if builder.contents.matches.is_empty() {
            let why = "the file is empty: it begins with a line such as ` 7 point match`";
            return Err(GameError::new(why));
        }
        Ok(builder.finish())
    }
}

impl GameReader {
    /// Parses a cell of a player in the current state.
    fn event(&mut self, cell: &str, player: usize) -> Result<Event, String> {
        if let Some(why) = &self.over {
            return Err(why.clone());
        }
        let gives_up = |text: &str| text.split(' ').next().is_some_and(|word| GIVES_UP.contains(&word));
        if gives_up(cell) {
            self.over = Some("the game was resigned before it".into());
            return Ok(Event::Resigns(None));
        }
        match (self.offered, cell) {
            (None, "Takes" | "Drops") => return Err("there is no double before it".into()),
            (Some((other, ..)), _) if other != player => return Err("it is the other player's turn".into()),
            (Some(_), "Takes") => {
                self.offered = None;
                return Ok(Event::Takes);
            }
            (Some(_), "Drops") => {
                self.over = Some("the double before it was dropped".into());
                return Ok(Event::Drops);
            }
            _ => {}
        }
        let doubled = cell.strip_prefix("Doubles =>").or_else(|| cell.strip_prefix("Beavers =>"));
        match (self.offered, doubled) {
            (Some((_, value, _)), Some(doubled)) if doubled.trim().parse() == Ok(2 * u64::from(value)) => {}
            (Some((.., true)), None) => self.offered = None,
            (Some(_), _) => return Err("a double is to be taken or dropped".into()),
            (None, _) if self.on_roll.is_some_and(|on_roll| on_roll != player) => {
                return Err("it is the other player's turn".into());
            }
            _ => {}
        }
        if let Some(value) = doubled {
            let value = value.trim().parse().ok().filter(|value: &u32| value.is_power_of_two());
            let value = value.ok_or("write `Doubles => 2`")?;
            self.on_roll = self.on_roll.or(Some(player));
            self.offered = Some((1 - player, value, self.offered.is_some()));
            return Ok(Event::Doubles(value));
        }
        if cell.starts_with("??") {
            self.over = Some("the roll before it was not written down".into());
            return Ok(Event::Resigns(None));
        }
        let (dice, moves) = cell.split_once(':').ok_or("write a roll and a move, such as `31: 8/5 6/5`")?;
        let (before, moves) = (self.boards[player], moves.trim());
        if before.is_over() {
            return Err("all checkers of a side are off".into());
        }
        let is_unknown = moves.starts_with("??") || gives_up(moves);
        if is_unknown && dice == "00" {
            self.over = Some("the roll before it was not written down".into());
            return Ok(Event::Resigns(None));
        }
        let roll: Roll = dice.parse().map_err(|e: GameError| e.to_string())?;
        if self.on_roll.is_none() && roll.is_double() {
            return Err(format!("a game does not begin with a double, {roll}"));
        }
        if is_unknown {
            self.over = Some(format!("the move of `{cell}` before it was not written down"));
            return Ok(Event::Resigns(Some(roll)));
        }
        let moves = if STUCK.contains(&&*moves.to_ascii_lowercase()) { "" } else { moves };
        let played = if moves.is_empty() { "pass".into() } else { moves.to_ascii_lowercase() };
        let after = match notation::parse(before, roll, &played, "8/5 6/5") {
            Err(why) if moves.is_empty() => {
                self.over = Some(format!("`{cell}` before it: {why}"));
                return Ok(Event::Resigns(Some(roll)));
            }
            read => read?,
        };
        (self.boards[player], self.boards[1 - player]) = (after, after.swapped());
        self.on_roll = Some(1 - player);
        Ok(Event::Moves(roll, before, after))
    }
}

impl Match {
    /// The rules by which it was played, as far as the file tells: money games in which nobody doubles have no cube, and others the Jacoby
    /// rule. None if no rule set has its length.
    pub fn rules(&self) -> Option<Rules> {
        let has_cube = self.jacoby.is_some() || self.games.iter().any(Played::has_double);
        match (self.length, has_cube) {
            (0, false) => Some(Rules::Cubeless),
            (0, true) => {
                let beavers = self.games.iter().any(Played::has_beaver);
                Some(Rules::Money { jacoby: self.jacoby.unwrap_or(true), beavers })
            }
            (length, _) => {
                let length = u8::try_from(length).ok().filter(|length| *length <= super::LONGEST_MATCH)?;
                Some(Rules::Match { length })
            }
        }
    }
}

impl Played {
    /// The winner as far as the board or the scores of the next game determine it.
    fn winner(&self, next: Option<[u32; 2]>) -> Option<usize> {
        match self.events.last() {
            Some((player, Event::Moves(_, _, after))) if after.is_over() => return Some(*player),
            Some((player, Event::Drops)) => return Some(1 - player),
            _ => {}
        }
        let grown = |player: &usize| next.is_some_and(|next| next[*player] > self.scores[*player]);
        let told = (0..2).find(grown).filter(|player| !grown(&(1 - player)));
        told.or_else(|| match self.events.last() {
            Some((player, Event::Resigns(None))) => Some(1 - player),
            _ => None,
        })
    }

    /// The agreed value of the cube.
    fn cube(&self) -> u32 {
        let (mut cube, mut offered) = (1, 1);
        for (_, event) in &self.events {
            match *event {
                Event::Doubles(value) => (cube, offered) = (offered, value),
                Event::Drops => return cube,
                _ => cube = offered,
            }
        }
        cube
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, " {} point match", self.length)?;
        for (number, game) in self.games.iter().enumerate() {
            writeln!(f, "\n Game {}", number + 1)?;
            game.write(self.length, f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(0, f)
    }
}

impl Played {
    /// Writes a game of a match to this many points; 0 for money.
    fn write(&self, length: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = [0, 1]
            .map(|player| format!("{} : {}", clipped(&self.names[player], NAME - 1), self.scores[player]));
        // Keeps at least one blank between cells, however long the first is.
        writeln!(f, " {first:<width$} {second}", width = SECOND - 2)?;
        let cells = self.events.iter().map(|(player, event)| (*player, event.to_string()));
        let won = self.points.map(|points| {
            let winner = self.winner.unwrap_or(0);
            let is_last = length > 0 && self.scores[winner].saturating_add(points) >= length;
            let plural = if points == 1 { "" } else { "s" };
            let end = if is_last { " and the match" } else { "" };
            (winner, format!("Wins {points} point{plural}{end}"))
        });
        let (mut line, mut number) = (String::new(), 0);
        for (player, cell) in cells.chain(won) {
            // A line is open while it has only the first player's cell.
            if line.is_empty() || player == 0 {
                if !line.is_empty() {
                    writeln!(f, "{}", line.trim_end())?;
                }
                // A result alone has no number.
                number += 1;
                line = if cell.starts_with("Wins") { "      ".into() } else { format!("{number:3}) ") };
            }
            if player == 1 {
                line = format!("{line:<SECOND$}");
                // The cell is too long for its column.
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

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Moves(roll, before, after) => write!(f, "{roll}: {}", die_by_die(before, roll, after)),
            Self::Doubles(value) => write!(f, " Doubles => {value}"),
            Self::Takes => f.write_str(" Takes"),
            Self::Drops => f.write_str(" Drops"),
            Self::Resigns(None) => f.write_str(" Resigns"),
            Self::Resigns(Some(roll)) => write!(f, "{roll}:"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::whole::{append, format};
    use super::*;
    use crate::backgammon::{Action, Backgammon};
    use adept_game::{AddedGame, Game, GameRecord, Kit, WholeGame, stream, writable_records};

    /// A match of GNU Backgammon 1.07.001 against itself, as it exports it.
    const RECORDED: &str = include_str!("recorded.mat");

    fn text_of(
        game: &Backgammon,
        number: u64,
        names: &[&str],
        actions: &[Action],
        resigned: Option<f64>,
    ) -> String {
        format(game, &GameRecord { number, names, scores: &[], actions, resigned }).unwrap()
    }

    fn read(game: &Backgammon, path: &Path) -> Result<Vec<WholeGame<Action>>, GameError> {
        game.records().read(game, path).unwrap()
    }

    #[test]
    fn what_gnubg_writes_comes_back() {
        let found = Match::parse(RECORDED).unwrap();
        assert!(found.length == 31 && found.games.len() >= 20);
        assert!(found.games.iter().all(|game| game.points.is_some()));
        // The scores give the same winner as the cells of the last line.
        for pair in found.games.windows(2) {
            let won: u32 = [0, 1].iter().map(|&player| pair[1].scores[player] - pair[0].scores[player]).sum();
            assert_eq!(Some(won), pair[0].points);
        }
        let events = || found.games.iter().flat_map(|game| &game.events).map(|(_, event)| *event);
        assert!(events().any(|event| event == Event::Takes) && events().any(|event| event == Event::Drops));
        let text = found.to_string();
        assert_eq!(Match::parse(&text).unwrap(), found, "{text}");
        // Cells and lines are where gnubg puts them.
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
            text.push_str(&text_of(&game, number, &names, &all, None));
        }
        let found = Match::parse(&text).unwrap();
        assert!(found.games.len() == 20 && found.games.iter().all(|game| game.names == ["one", "two"]));
        assert_eq!(Match::parse(&found.to_string()).unwrap(), found);
        assert_eq!(writable_records(&Backgammon::new(3).unwrap()).unwrap().suffix(), "games");
    }

    #[test]
    fn games_are_added_and_given_up() {
        let game = Backgammon::default();
        let opening = [Action::Opening(1, "31".parse().unwrap())];
        let names = ["you", "it"];
        let one = text_of(&game, 1, &names, &opening, Some(2.0));
        let AddedGame { text, number: first } = append(0, "", &one).unwrap();
        let AddedGame { text, number: second } = append(0, &text, &one).unwrap();
        assert_eq!((first, second), (1, 2));
        let found = Match::parse(&text).unwrap();
        assert_eq!(found.games.len(), 2);
        for played in &found.games {
            assert_eq!(
                (&played.names, played.points, played.winner),
                (&["it".into(), "you".into()], Some(2), Some(1))
            );
            let whole = played.whole(&BTreeMap::new());
            assert_eq!((whole.result, whole.actions.len()), (Some(-2.0), 1), "{text}");
        }
        for other in ["hello", " 7 point match\n"] {
            let error = append(0, other, &one).unwrap_err().to_string();
            assert!(error.contains("does not hold a money session"), "{error}");
        }
    }

    #[test]
    fn what_other_programs_write_is_read() {
        let parse = |lines: &str| {
            let text = format!(
                "\u{feff}; [Site \"x\"]\r\n\r\n7 point match\r\n Game 1\r\n Ann: 0     Bo: Li: 2\r\n{lines}"
            );
            Match::parse(&text).unwrap()
        };
        let found = parse("  1) 31: 8/5 6/5     42: 8/4 6/4\n");
        assert_eq!(found.games[0].names, ["Ann", "Bo: Li"]);
        assert!(found.length == 7 && found.games[0].scores == [0, 2] && found.games[0].winner.is_none());
        assert_eq!(names_and_scores("Ann : 0           : 3"), Some((["Ann", ""], [0, 3])));
        let opening = "  1) 31: 8/5 6/5        42: 8/4 6/4\n  2)  Doubles => 2     ";
        let left = "\n      Wins 2 points and the match\n";
        let right = format!("{:GAP$}     Wins 2 points\n", "");
        // The lines after the opening, the winner, and the result without the cube.
        for (lines, winner, result) in [
            (" Drops\n      Wins 1 point\n".to_string(), 0, 1.0),
            (format!(" Takes\n  3) Resigns\n{right}"), 1, -1.0),
            (format!(" Takes\n  3) 52: 13/8 24/22      Resigned Game{left}"), 0, 1.0),
            (" Takes\n  3) 52: Concedes     Wins 4 points\n".to_string(), 1, -2.0),
            (" Takes\n  3) 00: ????      Wins 6 points\n".to_string(), 1, -3.0),
            (" Takes\n  3) 64: ????      Wins 2 points\n".to_string(), 1, -1.0),
            // A roll alone, as gnubg writes a resigned game.
            (format!(" Takes\n  3) 64:\n{right}"), 1, -1.0),
            // A beaver is taken with or without a word, or dropped.
            (" Beavers => 4\n  3) 64: 24/14       63:\n\n      Wins 4 points\n".to_string(), 0, 1.0),
            (format!(" Doubles => 4\n  3) Takes\n  4) 64: 24/14{:GAP$}Wins 4 points\n", ""), 1, -1.0),
            (" Beavers => 4\n  3) Drops       Wins 2 points\n".to_string(), 1, -1.0),
        ] {
            let found = parse(&format!("{opening}{lines}"));
            assert_eq!(found.games[0].winner, Some(winner), "{lines}");
            assert_eq!(found.games[0].whole(&BTreeMap::new()).result, Some(result), "{lines}");
            assert_eq!(Match::parse(&found.to_string()).unwrap(), found, "{found}");
        }
        // The scores of the next game give the winner if the place does not.
        let next = "\n Game 2\n Ann: 0   Bo: Li: 4\n";
        let found = parse(&format!("{opening} Takes\n  3) 64:\n      Wins 2 points\n{next}"));
        assert_eq!(
            (found.games[0].winner, found.games[1].whole(&BTreeMap::new()).actions.len()),
            (Some(1), 0)
        );
        // Points that are impossible without a cube.
        assert_eq!(
            parse(&format!("{opening} Takes\n  3) Resigns    Wins 100 points\n")).games[0]
                .whole(&BTreeMap::new())
                .result,
            None
        );
    }

    #[test]
    fn names_may_be_long_and_hold_colons() {
        for names in [
            ["gnubg:127.0.0.1:4321", "you"],
            ["known:bearoff-6+race-8:single-256-32", "playouts:100"],
            ["Winston", "Wins"],
            ["Game theory", "Bo"],
        ] {
            let played = Played { names: names.map(String::from), scores: [3, 12], ..Played::default() };
            let text = Match { length: 7, games: vec![played], jacoby: None }.to_string();
            let found = Match::parse(&text).unwrap();
            assert_eq!(
                (&found.games[0].names, found.games[0].scores),
                (&names.map(String::from), [3, 12]),
                "{text}"
            );
        }
    }

    #[test]
    fn a_file_in_latin_1_is_read_and_faults_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mat");
        let text = " 1 point match\n\n Game 1\n J\u{f6}rgen : 0      b : 0\n  1) 31: 8/5 6/5\n";
        std::fs::write(&path, text.chars().map(|c| c as u8).collect::<Vec<u8>>()).unwrap();
        let game = Backgammon::default();
        let found = read(&game, &path).unwrap();
        assert_eq!(found[0].names, ["J\u{f6}rgen", "b"]);
        let roll: Roll = "31".parse().unwrap();
        assert_eq!(found[0].actions[0], (1, Action::Opening(0, roll)));
        std::fs::write(&path, text.replace("31: 8/5 6/5", "11: 8/7(2) 6/5(2)")).unwrap();
        let found = read(&game, &path).unwrap();
        let fault = found[0].fault.as_deref().unwrap();
        assert!(fault.ends_with("a game does not begin with a double, 11"), "{fault}");
        assert!(fault.starts_with("line 5: game 1, move 1: ") && found[0].actions.is_empty(), "{fault}");
        std::fs::write(&path, "hello").unwrap();
        let error = read(&game, &path).unwrap_err().to_string();
        assert!(error.contains("a.mat: line 1: the file does not begin with"), "{error}");
        assert!(read(&Backgammon::new(3).unwrap(), &path).is_err());
    }

    #[test]
    fn faults_are_named_with_game_and_move() {
        let game = |lines: &str| format!(" 3 point match\n\n Game 1\n a : 0      b : 0\n{lines}");
        for (text, expected) in [
            ("".into(), "the file is empty"),
            ("hello".into(), "line 1: the file does not begin with a line such as"),
            (" 3 point match\n Game x\n".into(), "line 2: `x` is not the number of a game"),
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
            (game("nonsense\n"), "line 5: game 1: neither names and scores"),
            (
                game("  1) 31:            42: 8/4 6/4\n"),
                "`42: 8/4 6/4` of b: `31:` before it: something can move",
            ),
            (
                game("  1) 31: ????       42: 8/4 6/4\n"),
                "the move of `31: ????` before it was not written down",
            ),
            (game("  1) Resigns        42: 8/4 6/4\n"), "the game was resigned before it"),
            (
                game("  1) 31: 8/5 6/5    Doubles => 2\n  2) Beavers => 8\n"),
                "a double is to be taken or dropped",
            ),
            (
                game("  1) 31: 8/5 6/5    Doubles => 2\n  2) Drops       31: 8/5 6/5\n"),
                "the double before it was dropped",
            ),
            (game("  1) 31: Illegal play (1;2)\n"), "`illegal` is not a checker move"),
        ] {
            let error = match Match::parse(&text) {
                Ok(found) => found.games[0].fault.clone().unwrap(),
                Err(error) => error.to_string(),
            };
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_fault_ends_its_game_alone() {
        let opening = " 3 point match\n\n Game 1\n a : 0      b : 0\n  1) 31: 8/5 6/5    42: 8/4 6/4\n";
        let next = "\n Game 2\n a : 0      b : 1\n  1)                  42: 8/4 6/4\n";
        for (wrong, why) in [
            ("  2) 61: 24/1\n", "line 6: game 1, move 2: `61: 24/1` of a: "),
            ("  2) 61: \u{1f3b2}     31: 8/5\n", "line 6: game 1, move 2: "),
            ("what is this\n", "line 6: game 1: neither names and scores"),
        ] {
            let found =
                Match::parse(&format!("{opening}{wrong}                   Wins 1 point\n{next}")).unwrap();
            let [first, second] = &found.games[..] else { panic!("{found:?}") };
            assert!(first.fault.as_ref().unwrap().starts_with(why), "{:?}", first.fault);
            assert_eq!((first.events.len(), first.winner, first.points), (2, Some(1), Some(1)), "{wrong}");
            assert_eq!((second.events.len(), &second.fault), (1, &None));
        }
    }

    #[test]
    fn losers_tabs_and_players_who_cannot_move_are_read() {
        let head = "1 Point Match\n\n Game 3\n a: 0\tb: 0\n";
        let found = Match::parse(&format!(
            "{head} 1)\t\t31: 8/5 6/5\n 2)\t25: 13/8 24/22\tDoubles => 2\n 3) Drops\n"
        ))
        .unwrap();
        assert_eq!(found.games[0].fault, None);
        let who: Vec<usize> = found.games[0].events.iter().map(|(player, _)| *player).collect();
        assert_eq!(who, [1, 0, 1, 0]);
        for (lines, winner) in [
            ("  1) 31: 8/5 6/5    42: 8/4 6/4\n  2) Losses 2 points      Wins 2 points and the match\n", 1),
            (
                "  1) 31: 8/5 6/5\n                                      Losses 2 points\n      Wins 2 points\n",
                0,
            ),
            ("  1) 31: 8/5 6/5\n                                      Loses 2 points\n", 0),
        ] {
            let found = Match::parse(&format!("{head}{lines}")).unwrap();
            let one = &found.games[0];
            assert_eq!((&one.fault, one.winner, one.points), (&None, Some(winner), Some(2)), "{lines}");
        }
        // A player on the bar against a closed board, in various words.
        for words in ["", "Cannot Move", "no play"] {
            let (closed, _) = Position::parse("bar:1 6:14/6:2 5:2 4:2 3:2 2:2 1:2 8:3", 15).unwrap();
            let mut course = GameReader { boards: [closed, closed.swapped()], ..GameReader::default() };
            let event = course.event(&format!("31: {words}"), 0);
            assert_eq!(event, Ok(Event::Moves("31".parse().unwrap(), closed, closed)), "{words}");
        }
    }

    #[test]
    fn long_names_are_refused_and_cut() {
        let long = "x".repeat(65_536);
        let found =
            Match::parse(&format!(" 1 point match\n Game 1\n {long} : 0   b : 0\n  1) 31: 8/5 6/5\n"))
                .unwrap();
        assert_eq!(found.games[0].fault.as_deref(), Some("line 3: game 1: a name has more than 200 letters"));
        let played = Played { names: [long, "b".into()], ..Played::default() };
        let text = Match { games: vec![played], ..Match::default() }.to_string();
        assert!(Match::parse(&text).unwrap().games[0].names[0].chars().count() == 200, "{text}");
    }

    #[test]
    fn scores_run_on() {
        let game = Backgammon::default();
        let opening = [Action::Opening(1, "31".parse().unwrap())];
        let one = text_of(&game, 1, &["you", "it"], &opening, Some(2.0));
        let text = (0..3).fold(String::new(), |text, _| append(0, &text, &one).unwrap().text);
        let scores: Vec<[u32; 2]> =
            Match::parse(&text).unwrap().games.iter().map(|game| game.scores).collect();
        assert_eq!(scores, [[0, 0], [0, 2], [0, 4]], "{text}");
        // The columns are those of the names, and so are the scores.
        let record = GameRecord {
            number: 1,
            names: &["you", "it"],
            scores: &[12.0, 3.0],
            actions: &opening,
            resigned: None,
        };
        let text = format(&game, &record).unwrap();
        let one = &Match::parse(&text).unwrap().games[0];
        assert_eq!((&one.names, one.scores), (&["it".into(), "you".into()], [3, 12]), "{text}");
    }
}
