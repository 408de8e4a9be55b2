//! Binary files of labelled positions, for sets of many millions: read once, and parsed and encoded while a run learns.
//!
//! A file is a header and blocks. The header is the eight bytes `adeptLB1`, the length of a text (u32) and the text: lines that say how the file was
//! made, as in the CSV form. A block has the number of its rows, the bytes of a position and the bytes of a row (u32 each), the
//! number of games that are complete with it (u64), the CRC-32C of its rows (u32), and the rows. A row is the position in the game's text form, filled up with
//! zeros, the [part](Part) of the position (u8), and its label for the player to move: the probability of each class of outcomes
//! (u16, in units of 1/65535), or without classes the value (f32). Numbers are little-endian.

use crate::positions::Part;
use adept_game::{Example, GameError, Kit, Turn};
use adept_ground::limits::{self, Claim};
use adept_model::OutcomeClass;
use std::path::{Path, PathBuf};

/// Extension of such files.
const EXTENSION: &str = "labels";

/// The first bytes of a file; the last digit is the version of the form.
const MAGIC: &[u8; 8] = b"adeptLB1";

/// Most bytes of the text of a header, and of a position.
const TEXT: usize = 1 << 16;

/// Most rows of a block.
const BLOCK: usize = 1 << 16;

/// Bytes before the rows of a block.
const HEAD: usize = 24;

/// Units of a probability.
const UNITS: f64 = 65535.0;

/// A labelled position to write.
#[derive(Clone, Debug)]
pub struct LabelledRow {
    /// The position in the game's text form.
    pub position: String,
    /// Its part.
    pub part: Part,
    /// Its value for the player to move, in [−1, 1].
    pub value: f64,
    /// The probability of each class for the player to move; empty without classes.
    pub outcomes: Vec<f64>,
}

/// Whether a file with this name is in the binary form.
pub fn is_label_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == EXTENSION)
}

/// The bytes of a new file: its header with this text.
pub fn header(text: &str) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

/// The bytes of blocks with these rows. The last one says that `games` games are complete.
pub fn blocks(rows: &[LabelledRow], games: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (i, rows) in rows.chunks(BLOCK).enumerate() {
        let width = rows.iter().map(|row| row.position.len()).max().unwrap_or(0);
        let mut body = Vec::new();
        for row in rows {
            body.extend(row.position.as_bytes());
            body.resize(body.len() + width - row.position.len(), 0);
            body.push(row.part as u8);
            match &row.outcomes[..] {
                [] => body.extend((row.value as f32).to_le_bytes()),
                all => body.extend(all.iter().flat_map(|p| ((p * UNITS).round() as u16).to_le_bytes())),
            }
        }
        // Blocks before the last end within a game.
        let games = if (i + 1) * BLOCK < rows.len() { u64::MAX } else { games };
        for number in [rows.len(), width, body.len() / rows.len()] {
            bytes.extend((number as u32).to_le_bytes());
        }
        bytes.extend(games.to_le_bytes());
        bytes.extend(crc32c::crc32c(&body).to_le_bytes());
        bytes.append(&mut body);
    }
    bytes
}

/// Rows of the same length, in the bytes of a file.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Number of its first row.
    first: u64,
    rows: u64,
    /// Place of its rows.
    start: usize,
    /// Bytes of a position.
    width: usize,
    /// Bytes of a row.
    stride: usize,
}

/// A file of labelled positions in memory. Rows are parsed when they are asked for.
#[derive(Debug)]
pub struct LabelFile {
    path: PathBuf,
    bytes: Vec<u8>,
    text: String,
    /// The classes of a label; empty before [`read`](Self::read) has found them.
    classes: Vec<OutcomeClass>,
    blocks: Vec<Block>,
    /// Rows of complete games.
    rows: u64,
    /// Complete games.
    games: u64,
    /// Bytes up to the end of the last one.
    whole: usize,
    checksum: u64,
    _claim: Option<Claim>,
}

impl LabelFile {
    /// Reads a complete file for this game with as many classes.
    ///
    /// # Errors
    /// The file cannot be read, belongs to another game, is cut off, or is damaged.
    pub fn read<G: Kit>(game: &G, path: &Path) -> Result<Self, GameError> {
        let mut file = Self::read_begun(path)?;
        if file.whole < file.bytes.len() {
            let message = format!(
                "ends within a block, after {} whole rows: continue its `data build` with --resume",
                file.rows
            );
            return Err(GameError::data(path, message));
        }
        let of = game_of(&file.text);
        if of != Some(game.name()) {
            let of = of.unwrap_or("no game that it names");
            return Err(GameError::data(path, format!("has positions of {of}, not of {}", game.name())));
        }
        file.classes = (game.results().classes)(game).unwrap_or_default();
        let label = if file.classes.is_empty() { 4 } else { 2 * file.classes.len() };
        if let Some(block) = file.blocks.iter().find(|block| block.stride != block.width + 1 + label) {
            let message = format!(
                "row {}: has {} bytes for a label, expected {label}: it was written for other classes of outcomes",
                block.first + 1,
                block.stride - block.width - 1
            );
            return Err(GameError::data(path, message));
        }
        match file.rows {
            0 => Err(GameError::data(path, "has no rows")),
            _ => Ok(file),
        }
    }

    /// Reads a file whose last block may be cut off; see [`whole`](Self::whole).
    ///
    /// # Errors
    /// The file cannot be read, is in another form, or a whole block is damaged.
    pub fn read_begun(path: &Path) -> Result<Self, GameError> {
        let length = limits::check_lasting(path).map_err(GameError::file(path))?.len();
        let claim = Claim::new(length).map_err(|short| {
            GameError::data(
                path,
                format!("needs {} MB of memory, and {} are free", short.needed >> 20, short.free >> 20),
            )
        })?;
        let bytes = limits::read(path, limits::LABEL_BYTES).map_err(GameError::file(path))?;
        let fault = |message: &str| GameError::data(path, message);
        let number =
            |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
        if !bytes.starts_with(MAGIC) {
            return Err(fault("is not a file of labels, or of another version: make it with `data build`"));
        }
        let text = number(8).filter(|&length| length <= TEXT).and_then(|length| bytes.get(12..12 + length));
        let text = text.and_then(|text| std::str::from_utf8(text).ok());
        let text = text.ok_or_else(|| fault("has a damaged header: make it anew"))?.to_string();
        let mut at = 12 + text.len();
        let mut file = Self {
            path: path.into(),
            text,
            classes: Vec::new(),
            blocks: Vec::new(),
            rows: 0,
            games: 0,
            whole: at,
            checksum: 0,
            bytes: Vec::new(),
            _claim: Some(claim),
        };
        let mut rows = 0;
        while let (Some(count), Some(width), Some(stride)) = (number(at), number(at + 4), number(at + 8)) {
            let damaged = || fault(&format!("the block after row {rows} is damaged: make the file anew"));
            if !(1..=BLOCK).contains(&count) || width > TEXT || !(width + 2..=width + TEXT).contains(&stride)
            {
                return Err(damaged());
            }
            let start = at + HEAD;
            let Some(body) = bytes.get(start..start + count * stride) else { break };
            let games = u64::from_le_bytes(bytes[at + 12..at + 20].try_into().map_err(|_| damaged())?);
            let sum = number(at + 20).unwrap_or(0);
            if crc32c::crc32c(body) as usize != sum {
                return Err(damaged());
            }
            file.blocks.push(Block { first: rows, rows: count as u64, start, width, stride });
            file.checksum = file.checksum.rotate_left(7) ^ sum as u64;
            rows += count as u64;
            at = start + body.len();
            if games != u64::MAX {
                (file.rows, file.games, file.whole) = (rows, games, at);
            }
        }
        file.blocks.retain(|block| block.first < file.rows);
        file.bytes = bytes;
        Ok(file)
    }

    /// The lines that say how the file was made.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Number of rows of complete games.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Whether no game is complete.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Number of complete games.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Bytes up to the end of the last complete game.
    pub fn whole(&self) -> u64 {
        self.whole as u64
    }

    /// A hash of its rows.
    pub(crate) fn checksum(&self) -> u64 {
        self.checksum
    }

    /// The bytes of a row: its position, its part and its label.
    fn row(&self, row: u64) -> (&[u8], u8, &[u8]) {
        let block = &self.blocks[self.blocks.partition_point(|block| block.first + block.rows <= row)];
        let at = block.start + (row - block.first) as usize * block.stride;
        let bytes = &self.bytes[at..at + block.stride];
        (&bytes[..block.width], bytes[block.width], &bytes[block.width + 1..])
    }

    /// The numbers of the rows of a part.
    pub(crate) fn of_part(&self, part: Part) -> Vec<u32> {
        (0..self.rows.min(u64::from(u32::MAX)))
            .filter(|&row| self.row(row).1 == part as u8)
            .map(|row| row as u32)
            .collect()
    }

    /// A labelled position.
    ///
    /// # Errors
    /// A position that the game cannot read, or that has no label.
    pub(crate) fn example<G: Kit>(&self, game: &G, row: u64) -> Result<Example<G::State>, GameError> {
        let fault = |what: &str| GameError::data(&self.path, format!("row {}: {what}", row + 1));
        let (text, _, label) = self.row(row);
        let length = text.iter().position(|&b| b == 0).unwrap_or(text.len());
        let text = std::str::from_utf8(&text[..length]).map_err(|_| fault("is not UTF-8"))?;
        let (state, _) = game.parse_position(text).map_err(|e| fault(&e.to_string()))?;
        let acted = game.just_acted(&state).filter(|_| game.turn(&state) != Turn::Over);
        let acted = acted.ok_or_else(|| fault(&format!("`{text}` is not a position after a move")))?;
        let classes = &self.classes;
        if classes.is_empty() {
            let value = label.try_into().map(f32::from_le_bytes).unwrap_or(f32::NAN);
            return match (-1.0..=1.0).contains(&value) {
                true => Ok(Example { state, value: -f64::from(value), outcomes: Vec::new(), line: row + 1 }),
                false => Err(fault(&format!("has the value {value}, expected −1 to 1"))),
            };
        }
        let of = |class: &OutcomeClass| {
            let at = 2 * class.mirror;
            f64::from(u16::from_le_bytes([label[at], label[at + 1]]))
        };
        let mut outcomes: Vec<f64> = classes.iter().map(of).collect();
        let possible = (game.results().possible)(game, classes, &state, acted);
        outcomes.iter_mut().enumerate().filter(|(k, _)| !possible.allows(*k)).for_each(|(_, p)| *p = 0.0);
        let sum: f64 = outcomes.iter().sum();
        if sum == 0.0 {
            return Err(fault("has no probability for what is possible in its position"));
        }
        outcomes.iter_mut().for_each(|p| *p /= sum);
        let value = outcomes.iter().zip(classes).map(|(p, class)| p * f64::from(class.utility)).sum();
        Ok(Example { state, value, outcomes, line: row + 1 })
    }

    /// At most `most` of `n` rows, evenly spread.
    ///
    /// # Errors
    /// As [`example`](Self::example).
    pub(crate) fn spread<G: Kit>(
        &self,
        game: &G,
        n: u64,
        row: impl Fn(u64) -> u64,
        most: u64,
    ) -> Result<Vec<Example<G::State>>, GameError> {
        let most = most.min(n);
        (0..most)
            .map(|i| self.example(game, row((u128::from(i) * u128::from(n) / u128::from(most)) as u64)))
            .collect()
    }
}

/// The game that the text of a header names: `# Positions of GAME, of …`.
fn game_of(text: &str) -> Option<&str> {
    text.strip_prefix("# Positions of ")?.split_once(", of ").map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_builtin::backgammon::Backgammon;
    use adept_game::{Game, stream};
    use tempfile::TempDir;

    /// Rows of positions of random games, three a game, and the file's text.
    fn rows(game: &Backgammon, count: usize) -> (Vec<LabelledRow>, String) {
        let mut rng = stream(1, "test", 0);
        let positions = crate::positions::Positions::new(game, None).unwrap();
        let row = |i: usize| {
            let state = positions.any(game, &mut rng);
            let p = [0.0, 0.05, 0.35, 0.5, 0.1, 0.0]
                .map(|p: f64| if i.is_multiple_of(2) { p } else { 1.0 / 6.0 });
            LabelledRow {
                position: game.position_text(&state),
                part: Part::of((game.positions().number)(&state)),
                value: 0.0,
                outcomes: p.into(),
            }
        };
        let text = format!("# Positions of {}, of games of a test\n", game.name());
        ((0..count).map(row).collect(), text)
    }

    fn write(folder: &TempDir, bytes: &[u8]) -> PathBuf {
        let path = folder.path().join("some.labels");
        std::fs::write(&path, bytes).unwrap();
        path
    }

    #[test]
    fn rows_are_read_as_they_were_written() {
        let (game, folder) = (Backgammon::new(3).unwrap(), TempDir::new().unwrap());
        let (rows, text) = rows(&game, 50);
        let bytes = [header(&text), blocks(&rows[..30], 10), blocks(&rows[30..], 17)].concat();
        let file = LabelFile::read(&game, &write(&folder, &bytes)).unwrap();
        assert_eq!((file.len(), file.games(), file.text()), (50, 17, &*text));
        let classes = (game.results().classes)(&game).unwrap();
        for (row, number) in rows.iter().zip(0..) {
            let example = file.example(&game, number).unwrap();
            assert_eq!(game.position_text(&example.state), row.position);
            let acted = game.just_acted(&example.state).unwrap();
            let possible = (game.results().possible)(&game, &classes, &example.state, acted);
            let allowed = |k: usize| if possible.allows(k) { row.outcomes[classes[k].mirror] } else { 0.0 };
            let sum: f64 = (0..6).map(allowed).sum();
            for (k, p) in example.outcomes.iter().enumerate() {
                assert!((p - allowed(k) / sum).abs() < 5e-5, "{p} {k} {row:?}");
            }
        }
        let parts: usize =
            [Part::Train, Part::Validation, Part::Test].map(|part| file.of_part(part).len()).iter().sum();
        assert_eq!(parts, 50);
        let spread = file.spread(&game, 50, |row| row, 7).unwrap();
        assert_eq!(spread.iter().map(|example| example.line).collect::<Vec<_>>(), [1, 8, 15, 22, 29, 36, 43]);
    }

    /// A file may be cut off anywhere: what is there up to the last complete game is found, and a run refuses it.
    #[test]
    fn files_that_are_cut_off_keep_their_complete_games() {
        let (game, folder) = (Backgammon::new(3).unwrap(), TempDir::new().unwrap());
        let (rows, text) = rows(&game, 50);
        let first = [header(&text), blocks(&rows[..30], 10)].concat();
        let whole = [first.clone(), blocks(&rows[30..], 17)].concat();
        for length in (0..whole.len()).step_by(37) {
            let path = write(&folder, &whole[..length]);
            let begun = LabelFile::read_begun(&path);
            assert!(LabelFile::read(&game, &path).is_err() || length == first.len());
            match begun {
                Ok(file) => {
                    let complete = if length >= first.len() { (30, 10) } else { (0, 0) };
                    assert_eq!((file.len(), file.games()), complete, "{length}");
                    assert!(file.whole() <= length as u64);
                }
                Err(_) => assert!(length < header(&text).len()),
            }
        }
    }

    #[test]
    fn files_of_others_and_damaged_ones_are_refused() {
        let (game, folder) = (Backgammon::new(3).unwrap(), TempDir::new().unwrap());
        let (rows, text) = rows(&game, 20);
        let mut bytes = [header(&text), blocks(&rows, 3)].concat();
        let fault = |game: &Backgammon, bytes: &[u8]| {
            LabelFile::read(game, &write(&folder, bytes)).unwrap_err().to_string()
        };
        let other = fault(&Backgammon::new(15).unwrap(), &bytes);
        assert!(other.contains("positions of hypergammon, not of backgammon"), "{other}");
        *bytes.last_mut().unwrap() ^= 1;
        assert!(fault(&game, &bytes).contains("the block after row 0 is damaged"));
        assert!(fault(&game, b"position,value\n").contains("not a file of labels"));
        assert!(fault(&game, &header(&text)).contains("has no rows"));
        // Rows with a value alone, in a game with classes.
        let values: Vec<_> =
            rows.into_iter().map(|row| LabelledRow { outcomes: Vec::new(), ..row }).collect();
        let other = fault(&game, &[header(&text), blocks(&values, 3)].concat());
        assert!(other.contains("4 bytes for a label, expected 12"), "{other}");
    }
}
