//! Games in files of eXtreme Gammon: matches, `.xg`, and positions, `.xgp`.
//!
//! The format is [published](https://www.extremegammon.com/xgformat.aspx). A header, which begins with `RGMH` and tells its size and that
//! of a picture, is followed by an archive of files that are compressed by zlib. The first of them, `temp.xg`, has records of 2,560
//! bytes: a head of the match, and for each game a head, its decisions about the cube and its moves, and an end. Numbers are little-endian.
//! All sizes are checked before memory is taken. Decisions may be analysed: equities, errors and luck are in points of the cube.

use super::told::{Told, ToldCube, ToldPlay, sane};
use super::{Builder, Contents, Event, NAME, Unit};
use crate::backgammon::{BAR, Position, Side, die_by_die, moves, notation};
use crate::dice::Roll;
use adept_game::GameError;
use adept_ground::shown::clipped;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use std::sync::Arc;

/// The first bytes of a file.
const MAGIC: &[u8] = b"RGMH";

/// Bytes of a record of the match.
const RECORD: usize = 2560;

/// Most bytes of the records: 26,000 records, some 13,000 turns.
const MOST_BYTES: usize = 1 << 26;

/// Bytes of the end of the archive, and of an entry of its index.
const TAIL: usize = 36;
const ENTRY: usize = 532;

/// The name in the index of the file with the records.
const GAMES: &[u8] = b"temp.xg";

/// The length of a match without end.
const UNLIMITED: i32 = 99_999;

/// Bytes from which fixed parts are read. Parts beyond the end are zero.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn at<const N: usize>(self, place: usize) -> [u8; N] {
        let found = self.0.get(place..).and_then(|rest| rest.first_chunk());
        found.copied().unwrap_or([0; N])
    }

    fn int(self, place: usize) -> i32 {
        i32::from_le_bytes(self.at(place))
    }

    fn short(self, place: usize) -> i16 {
        i16::from_le_bytes(self.at(place))
    }

    fn single(self, place: usize) -> f64 {
        f32::from_le_bytes(self.at(place)).into()
    }

    fn double(self, place: usize) -> f64 {
        f64::from_le_bytes(self.at(place))
    }

    fn flag(self, place: usize) -> bool {
        self.at::<1>(place) != [0]
    }

    /// A size or a place in the file.
    fn size(self, place: usize) -> usize {
        u32::from_le_bytes(self.at(place)) as usize
    }

    fn part(self, from: usize, len: usize) -> Option<&'a [u8]> {
        self.0.get(from..from.checked_add(len)?)
    }

    /// A text of at most so many UTF-16 units, up to a zero.
    fn wide_text(self, place: usize, units: usize) -> String {
        let all = (0..units).map(|i| u16::from_le_bytes(self.at(place + 2 * i)));
        let text = char::decode_utf16(all.take_while(|unit| *unit != 0));
        text.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    }

    /// A text with its length in the first byte, in the Western code page.
    fn short_text(self, place: usize, most: usize) -> String {
        let [len] = self.at::<1>(place);
        let text = self.part(place + 1, usize::from(len).min(most));
        text.unwrap_or_default().iter().copied().map(char::from).collect()
    }
}

/// Whether a file begins like these.
pub(super) fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads a file.
///
/// # Errors
/// If the archive cannot be read, or has no match.
pub(super) fn read(bytes: &[u8]) -> Result<Contents, GameError> {
    let records =
        records_of(bytes).map_err(|why| GameError::new(format!("a file of eXtreme Gammon: {why}")))?;
    let mut reader = Reader {
        builder: Builder::counting(Unit::Record),
        version: 0,
        names: Default::default(),
        is_open: false,
        before_roll: None,
    };
    for (number, record) in (1..).zip(records.chunks_exact(RECORD)) {
        reader
            .record(number, Bytes(record))
            .map_err(|why| GameError::new(format!("record {number}: {why}")))?;
    }
    if reader.builder.contents.places.is_empty() {
        return Err(GameError::new("a file of eXtreme Gammon without a game"));
    }
    Ok(reader.builder.finish())
}

/// The records of the match.
fn records_of(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let short = || "it ends too early".to_string();
    let (body, tail) = bytes.split_at_checked(bytes.len().saturating_sub(TAIL)).ok_or_else(short)?;
    let (all, tail) = (Bytes(body), Bytes(tail));
    let [count, registry, archive] = [4, 12, 16].map(|place| tail.size(place));
    let index_at = body.len().checked_sub(registry).ok_or_else(short)?;
    let start = index_at.checked_sub(archive).ok_or_else(short)?;
    let index = unpacked(&body[index_at..], tail.size(20) != 0, ENTRY.saturating_mul(count.min(64)))?;
    let entry = index.chunks_exact(ENTRY).map(Bytes).find(|entry| {
        let [len] = entry.at::<1>(0);
        entry.part(1, usize::from(len)) == Some(GAMES)
    });
    let entry = entry.ok_or("its archive has no `temp.xg`")?;
    let [size, packed, place] = [512, 516, 520].map(|place| entry.size(place));
    let stored = start.checked_add(place).and_then(|from| all.part(from, packed)).ok_or_else(short)?;
    if size > MOST_BYTES {
        return Err(format!("{size} bytes of records, more than {MOST_BYTES}"));
    }
    // 0 stands for a file that is compressed.
    unpacked(stored, !entry.flag(528), size)
}

/// At most so many bytes of a part of the archive.
fn unpacked(stored: &[u8], is_packed: bool, most: usize) -> Result<Vec<u8>, String> {
    if !is_packed {
        return Ok(stored[..stored.len().min(most)].to_vec());
    }
    decompress_to_vec_zlib_with_limit(stored, most).map_err(|_| "its archive is damaged".into())
}

/// Kinds of records.
mod kind {
    pub(super) const MATCH: u8 = 0;
    pub(super) const GAME: u8 = 1;
    pub(super) const CUBE: u8 = 2;
    pub(super) const MOVE: u8 = 3;
    pub(super) const END: u8 = 4;
}

/// The first version with names in Unicode, and with automatic doubles.
const UNICODE: i32 = 24;
const AUTOMATIC: i32 = 27;

struct Reader {
    builder: Builder,
    /// The version of the format.
    version: i32,
    /// The names of the players of the present match.
    names: [String; 2],
    /// Whether a game is being read.
    is_open: bool,
    /// The judgement of the decision not to double, and its player.
    before_roll: Option<(usize, ToldCube)>,
}

impl Reader {
    /// Takes a record.
    fn record(&mut self, number: usize, record: Bytes<'_>) -> Result<(), String> {
        let [kind] = record.at::<1>(8);
        match kind {
            kind::MATCH => self.begin_match(record)?,
            kind::GAME => self.begin_game(number, record)?,
            kind::CUBE if self.is_open => self.cube(number, record),
            kind::MOVE if self.is_open => self.play(number, record),
            kind::END if self.is_open => self.end(record),
            _ => {}
        }
        Ok(())
    }

    fn begin_match(&mut self, record: Bytes<'_>) -> Result<(), String> {
        self.version = record.int(552);
        let variation = record.int(96);
        if variation != 0 {
            let names = ["Nackgammon", "Hypergammon", "Longgammon"];
            let name = usize::try_from(variation - 1).ok().and_then(|i| names.get(i).copied());
            return Err(format!("a match of {}", name.unwrap_or("another game")));
        }
        let length = match record.int(92) {
            UNLIMITED => 0,
            length => u32::try_from(length).map_err(|_| "the length of the match is negative")?,
        };
        self.builder.begin_match(length);
        self.names = if self.version >= UNICODE {
            [880, 1138].map(|place| record.wide_text(place, 129))
        } else {
            [9, 50].map(|place| record.short_text(place, 40))
        };
        if let Some(found) = self.builder.contents.matches.last_mut().filter(|_| length == 0) {
            found.jacoby = Some(record.flag(101));
        }
        Ok(())
    }

    fn begin_game(&mut self, number: usize, record: Bytes<'_>) -> Result<(), String> {
        if self.builder.contents.matches.is_empty() {
            return Err("a game before its match".into());
        }
        self.builder.begin_game()?;
        (self.is_open, self.before_roll) = (true, None);
        let score = |place| u32::try_from(record.int(place)).unwrap_or(0);
        if let Some((game, place)) = self.builder.game() {
            game.names = self.names.each_ref().map(|name| clipped(name, NAME).into());
            game.scores = [score(12), score(16)];
            place.scores = number;
        }
        if position_of(record.at(21)) != Some(Position::start(15)) {
            self.builder.fault(number, "the game begins from a position that was set up");
        } else if self.version >= AUTOMATIC && record.int(64) > 0 {
            self.builder.fault(number, "automatic doubles");
        }
        Ok(())
    }

    /// A decision to double or not, with the answer.
    fn cube(&mut self, number: usize, record: Bytes<'_>) {
        let Some(player) = player_of(record.int(12)) else {
            return self.builder.fault(number, "a double of no player");
        };
        let cube = cube_of(record);
        if record.int(16) != 1 {
            self.before_roll = cube.map(|cube| (player, cube));
            return;
        }
        self.before_roll = None;
        let told = Told { cube, ..Told::default() };
        let double = format!("Doubles => {}", self.builder.next_cube());
        self.cell(number, player, &double, told.clone());
        match record.int(20) {
            1 => self.cell(number, 1 - player, "Takes", told),
            2 => {
                let double = format!("Doubles => {}", self.builder.next_cube());
                self.cell(number, 1 - player, &double, Told::default());
            }
            0 => self.cell(number, 1 - player, "Drops", told),
            // The game was left there.
            _ => {}
        }
    }

    /// A roll and a move.
    fn play(&mut self, number: usize, record: Bytes<'_>) {
        let Some(player) = player_of(record.int(64)) else {
            return self.builder.fault(number, "a move of no player");
        };
        let dice = [100, 104].map(|place| record.int(place));
        // A resigned game may end with a turn without a roll.
        if dice == [0, 0] {
            return;
        }
        let [first, second] = dice;
        let Some(roll) = format!("{first}{second}").parse::<Roll>().ok() else {
            return self.builder.fault(number, &format!("{first} and {second} are not a roll"));
        };
        let before = self.builder.course.boards[player];
        let after = played(before, roll, record);
        let cell = match after {
            Some(after) => format!("{roll}: {}", die_by_die(before, roll, after)),
            // What was entered as an illegal move is named as one.
            None => format!("{roll}: {}", written(record)),
        };
        let cube = self.before_roll.take().filter(|(other, _)| *other == player).map(|(_, cube)| cube);
        let luck = Some(record.double(2320)).filter(|_| record.int(2476) >= 0).and_then(sane);
        self.cell(number, player, &cell, Told { cube, play: play_of(record, after), luck });
    }

    /// Reads a cell of the present game, and adds what is told of it.
    fn cell(&mut self, number: usize, player: usize, cell: &str, told: Told) {
        let line = self.builder.number(player);
        let event = self.builder.cell(number, line, player, cell);
        if event.is_some_and(|event| !matches!(event, Event::Resigns(_))) && told != Told::default() {
            self.builder.tell(told);
        }
    }

    /// The result of a game.
    fn end(&mut self, record: Bytes<'_>) {
        self.is_open = false;
        let (winner, points) = (player_of(record.int(24)), u32::try_from(record.int(28)).ok());
        if let (Some((game, _)), Some(winner), Some(points)) =
            (self.builder.game(), winner, points.filter(|points| *points > 0))
        {
            (game.winner, game.points) = (Some(winner), Some(points));
        }
    }
}

/// The name of a level of analysis.
fn level_of(level: i32) -> Arc<str> {
    match level {
        0..=6 => format!("XG {}-ply", level + 1).into(),
        12 => "XG 3-ply red".into(),
        100 => "XG rollout".into(),
        998 | 999 => "XG book".into(),
        1000 => "XG Roller".into(),
        1001 => "XG Roller+".into(),
        1002 => "XG Roller++".into(),
        _ => "XG".into(),
    }
}

/// An error in points, if the program tells one: it is −1000 of what was not analysed. Errors may have either sign.
fn error_of(error: f64) -> Option<f64> {
    sane(error).map(f64::abs)
}

/// The judgement of a decision to double, if it was analysed.
fn cube_of(record: Bytes<'_>) -> Option<ToldCube> {
    // The flag of the best decision has other values in a record that was not analysed.
    let is_analysed = matches!(record.short(120), 0 | 1) && sane(record.double(200)).is_some();
    let values = [record.single(152), record.single(156)];
    is_analysed.then(|| ToldCube {
        judge: level_of(record.int(92)),
        values,
        are_chances: false,
        lost: [record.double(200), record.double(216)].map(error_of),
    })
}

/// Most candidates of a move.
const CANDIDATES: usize = 32;

/// The judgement of a move to this position, if it was analysed and is one of several candidates.
fn play_of(record: Bytes<'_>, after: Option<Position>) -> Option<ToldPlay> {
    let after = after?;
    let count = usize::try_from(record.int(120)).ok()?.min(CANDIDATES);
    let candidate = |i: usize| {
        let end = position_of(record.at(192 + 26 * i))?;
        Some((i, end, sane(record.single(1408 + 28 * i + 24))?))
    };
    // From the view of either player, as the result of the move.
    let own = (0..count).filter_map(candidate).find_map(|(_, end, equity)| {
        let is_swapped = [end, end.swapped()].iter().position(|end| *end == after)? == 1;
        Some((is_swapped, equity))
    });
    let (is_swapped, own) = own?;
    let (i, end, highest) =
        (0..count).filter_map(candidate).reduce(|best, one| if one.2 > best.2 { one } else { best })?;
    let best = match () {
        // The move that was played is as good as an equal one.
        () if own >= highest => after,
        () if is_swapped => end.swapped(),
        () => end,
    };
    let lost = error_of(record.double(2312)).unwrap_or(highest - own);
    let judge = level_of(record.short(1280 + 4 * i).into());
    (count > 1).then_some(ToldPlay { judge, best, lost })
}

/// The number of a player: 1 is the first, −1 the second.
fn player_of(number: i32) -> Option<usize> {
    match number {
        1 => Some(0),
        -1 => Some(1),
        _ => None,
    }
}

/// A position from the view of the player with the positive numbers: place 0 is the bar of the other, 1 to 24 are the points, 25 is its own bar.
/// None if a side has more than 15 checkers.
fn position_of(places: [u8; 26]) -> Option<Position> {
    let count = |place: usize, sign: i8| (places[place] as i8).saturating_mul(sign).max(0) as u8;
    let side = |of: &dyn Fn(usize) -> u8| {
        let mut side = [0; 26];
        (1..26).for_each(|place| side[place] = of(place));
        let on: u32 = side.iter().map(|n| u32::from(*n)).sum();
        side[0] = u8::try_from(15_u32.checked_sub(on)?).ok()?;
        Some(Side::new(side))
    };
    Some(Position {
        own: side(&|place| count(place, 1))?,
        opponent: side(&|place| count(usize::from(BAR) - place, -1))?,
    })
}

/// The legal result of a roll that a record tells: the position after the move, from the view of either player, or else the points that the
/// checkers left and came to.
fn played(before: Position, roll: Roll, record: Bytes<'_>) -> Option<Position> {
    let mut legal: Vec<Position> = Vec::new();
    moves::results(before, roll, &mut legal);
    let end = position_of(record.at(35));
    let views = end.into_iter().flat_map(|end| [end, end.swapped()]);
    let is_legal = |after: &Position| legal.contains(after);
    views.into_iter().find(is_legal).or_else(|| {
        let text = written(record);
        notation::parse(before, roll, &text, "8/5 6/5").ok()
    })
}

/// The moves of a record as text. Points are counted from 0; 24 is the bar, −2 is off, and −1 ends the list.
fn written(record: Bytes<'_>) -> String {
    let places: Vec<i32> = (0..8).map(|i| record.int(68 + 4 * i)).take_while(|place| *place != -1).collect();
    let place = |place: i32| if place == -2 { 0 } else { place.saturating_add(1) };
    let moves: Vec<String> =
        places.chunks_exact(2).map(|pair| format!("{}/{}", place(pair[0]), place(pair[1]))).collect();
    if moves.is_empty() { "pass".into() } else { moves.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::super::Match;
    use super::*;
    use miniz_oxide::deflate::compress_to_vec_zlib;

    /// A record of this kind with 32-bit numbers at places.
    fn record(kind: u8, numbers: &[(usize, i32)]) -> Vec<u8> {
        let mut record = vec![0; RECORD];
        record[8] = kind;
        for (place, number) in numbers {
            record[*place..place + 4].copy_from_slice(&number.to_le_bytes());
        }
        record
    }

    fn put_text(record: &mut [u8], place: usize, text: &str) {
        for (i, unit) in text.encode_utf16().enumerate() {
            record[place + 2 * i..place + 2 * i + 2].copy_from_slice(&unit.to_le_bytes());
        }
    }

    fn put_position(record: &mut [u8], place: usize, position: Position) {
        for i in 1..26_u8 {
            record[place + usize::from(i)] += position.own.on(i);
            record[place + usize::from(BAR - i)] =
                record[place + usize::from(BAR - i)].wrapping_sub(position.opponent.on(i));
        }
    }

    /// A move of a player, from a position that its record has from the view of player 1.
    fn play(player: i32, dice: [i32; 2], places: &[i32], end: Option<Position>) -> Vec<u8> {
        let moves = (0..8).map(|i| (68 + 4 * i, places.get(i).copied().unwrap_or(-1)));
        let numbers = [(64, player), (100, dice[0]), (104, dice[1])].into_iter().chain(moves);
        let mut record = record(kind::MOVE, &numbers.collect::<Vec<_>>());
        if let Some(end) = end {
            put_position(&mut record, 35, if player == 1 { end } else { end.swapped() });
        }
        record
    }

    /// A match to 3 points: a double that is taken, and a gammon that is resigned; the next game has begun.
    fn records() -> Vec<Vec<u8>> {
        let mut head = record(kind::MATCH, &[(92, 3), (552, 30), (556, 0x494C_4D44)]);
        put_text(&mut head, 880, "Ann");
        put_text(&mut head, 1138, "J\u{f6}\u{65e5}");
        let game = |scores: [i32; 2]| {
            let mut game = record(kind::GAME, &[(12, scores[0]), (16, scores[1])]);
            put_position(&mut game, 21, Position::start(15));
            game
        };
        let start = Position::start(15);
        let roll: Roll = "42".parse().unwrap();
        let end = notation::parse(start, roll, "8/4 6/4", "").unwrap();
        vec![
            head,
            game([0, 0]),
            // By its places alone, which count from 0.
            play(1, [3, 1], &[7, 4, 5, 4], None),
            record(kind::CUBE, &[(12, -1), (16, 0)]),
            play(
                -1,
                [4, 2],
                &[],
                Some({
                    let after = notation::parse(start, "31".parse().unwrap(), "8/5 6/5", "").unwrap();
                    Position { own: end.own, opponent: after.own }
                }),
            ),
            record(kind::CUBE, &[(12, 1), (16, 1), (20, 1)]),
            play(1, [5, 2], &[12, 7, 12, 10], None),
            record(kind::END, &[(24, -1), (28, 4), (32, 102)]),
            game([0, 4]),
            play(-1, [6, 5], &[23, 12], None),
        ]
    }

    /// A file with these records.
    fn file(records: &[Vec<u8>]) -> Vec<u8> {
        let plain = records.concat();
        let packed = compress_to_vec_zlib(&plain, 6);
        let mut entry = vec![0; ENTRY];
        entry[0] = GAMES.len() as u8;
        entry[1..1 + GAMES.len()].copy_from_slice(GAMES);
        for (place, number) in [(512, plain.len()), (516, packed.len()), (520, 0)] {
            entry[place..place + 4].copy_from_slice(&(number as u32).to_le_bytes());
        }
        let index = compress_to_vec_zlib(&entry, 6);
        let mut bytes = MAGIC.to_vec();
        bytes.resize(8232, 0);
        bytes.extend(&packed);
        bytes.extend(&index);
        let mut tail = vec![0; TAIL];
        for (place, number) in [(4, 1), (8, 1), (12, index.len()), (16, packed.len()), (20, 1)] {
            tail[place..place + 4].copy_from_slice(&(number as u32).to_le_bytes());
        }
        bytes.extend(tail);
        bytes
    }

    #[test]
    fn a_match_is_read_as_its_mat() {
        let bytes = file(&records());
        assert!(is_archive(&bytes));
        let contents = read(&bytes).unwrap();
        let [found] = &contents.matches[..] else { panic!() };
        let mat = " 3 point match\n\n Game 1\n Ann : 0      J\u{f6}\u{65e5} : 0\n  1) 31: 8/5 6/5        42: 8/4 6/4\n\
            2)  Doubles => 2     Takes\n  3) 52: 13/8 13/11\n                                  Wins 4 points\n\n\
            Game 2\n Ann : 0      J\u{f6}\u{65e5} : 4\n  1)                        65: 24/13\n";
        let expected = Match::parse(mat).unwrap();
        assert_eq!(&expected, found);
        assert_eq!(contents.places[0].events, [3, 5, 6, 6, 7]);
    }

    #[test]
    fn analysis_is_read() {
        let mut all = records();
        let put = |record: &mut Vec<u8>, place: usize, bytes: &[u8]| {
            record[place..place + bytes.len()].copy_from_slice(bytes);
        };
        let start = Position::start(15);
        let after = |text| notation::parse(start, "31".parse().unwrap(), text, "").unwrap();
        let [own, best] = ["8/5 6/5", "24/23 13/10"].map(after);
        put(&mut all[2], 120, &2_i32.to_le_bytes());
        for (i, (end, equity, level)) in [(own, 0.15_f32, 0_i16), (best, 0.2, 2)].into_iter().enumerate() {
            put_position(&mut all[2], 192 + 26 * i, end);
            put(&mut all[2], 1280 + 4 * i, &level.to_le_bytes());
            put(&mut all[2], 1408 + 28 * i + 24, &equity.to_le_bytes());
        }
        put(&mut all[2], 2312, &(-0.05_f64).to_le_bytes());
        put(&mut all[2], 2320, &0.01_f64.to_le_bytes());
        // A decision not to double that lost something, and a double that was not analysed.
        for (record, flag, values, lost) in
            [(3, 1_i16, [0.5_f32, 0.75], [-0.25_f64, -1000.0]), (5, -100, [0.0; 2], [-1000.0; 2])]
        {
            put(&mut all[record], 92, &1002_i32.to_le_bytes());
            put(&mut all[record], 120, &flag.to_le_bytes());
            put(&mut all[record], 152, &values[0].to_le_bytes());
            put(&mut all[record], 156, &values[1].to_le_bytes());
            put(&mut all[record], 200, &lost[0].to_le_bytes());
            put(&mut all[record], 216, &lost[1].to_le_bytes());
        }
        let contents = read(&file(&all)).unwrap();
        let told = &contents.places[0].told;
        let play = ToldPlay { judge: "XG 3-ply".into(), best, lost: 0.05 };
        assert_eq!(told[&0], Told { play: Some(play), cube: None, luck: Some(0.01) });
        let cube = told[&1].cube.as_ref().unwrap();
        assert_eq!((&*cube.judge, cube.values, cube.lost), ("XG Roller++", [0.5, 0.75], [Some(0.25), None]));
        assert!(!cube.are_chances && told[&1].play.is_none());
        assert!(!told.contains_key(&2) && !told.contains_key(&3), "{told:?}");
        // Numbers that are none.
        put(&mut all[2], 1408 + 28 + 24, &f32::NAN.to_le_bytes());
        put(&mut all[2], 2312, &f64::INFINITY.to_le_bytes());
        put(&mut all[3], 152, &1e30_f32.to_le_bytes());
        let contents = read(&file(&all)).unwrap();
        let play = contents.places[0].told[&0].play.clone().unwrap();
        assert_eq!((play.best, play.lost), (own, 0.0));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let fault = |change: &dyn Fn(&mut Vec<Vec<u8>>)| {
            let mut all = records();
            change(&mut all);
            match read(&file(&all)) {
                Ok(found) => found.matches[0].games[0].fault.clone().unwrap_or_default(),
                Err(error) => error.to_string(),
            }
        };
        let illegal = fault(&|all| all[2] = play(1, [3, 1], &[7, 1], None));
        assert!(illegal.starts_with("record 3: game 1, move 1: `31: 8/2` of Ann: "), "{illegal}");
        let dice = fault(&|all| all[2] = play(1, [7, 1], &[7, 1], None));
        assert_eq!(dice, "record 3: game 1: 7 and 1 are not a roll");
        let setup = fault(&|all| all[1][45] = 0);
        assert_eq!(setup, "record 2: game 1: the game begins from a position that was set up");
        let other = fault(&|all| all[0][96] = 2);
        assert_eq!(other, "record 1: a match of Hypergammon");
        assert_eq!(fault(&|all| all.truncate(1)), "a file of eXtreme Gammon without a game");
    }

    /// Files that are cut or changed anywhere are read or refused, and take no more memory than their sizes allow.
    #[test]
    fn damaged_files_are_refused() {
        let bytes = file(&records());
        for end in (0..bytes.len()).step_by(7) {
            assert!(read(&bytes[..end]).is_err(), "{end}");
        }
        for place in 8232..bytes.len() {
            let mut odd = bytes.clone();
            odd[place] ^= 0xff;
            let _ = read(&odd);
        }
        let zeros = compress_to_vec_zlib(&vec![0; 1 << 20], 9);
        assert!(unpacked(&zeros, true, 1 << 10).is_err());
        let mut all = records();
        for place in 0..RECORD {
            let saved = all[4][place];
            all[4][place] = 0x80;
            let _ = read(&file(&all));
            all[4][place] = saved;
        }
    }
}
