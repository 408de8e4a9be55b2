//! GNU Backgammon's one-sided files, as `makebearoff -o` writes them and `gnubg` reads them, and new ones
//! ([`solve`](GnubgOneSided::solve)).
//!
//! The header has 40 bytes: `gnubg-OS-PP-CC-G-C-N`, then `x` up to a line break. P is the number of points and C the
//! largest number of checkers. G is 1 if each entry has a second distribution, of the rolls that save a gammon. Entries
//! are in the order of the rank of a side on P points. They have one of three forms:
//!
//! - C = 0: 32 numbers, P(N = k) · 65535 for k = 0 … 31 as little-endian 16 bits; then 32 more if G is 1.
//! - C = 1: an index of all entries comes first. An index has the place of the entry in numbers after the index (32
//!   bits), how many numbers it has and the first k (8 bits each), and two more bytes if G is 1. Then come the numbers.
//! - N = 1: mean and standard deviation of N, then those of the rolls that save a gammon, as 32-bit floats.

use super::OneSided;
use super::points::{self, choose};
use crate::bearoff::two_sided::{TableError, TableErrors};
use crate::bearoff::{MAX_CHECKERS, POINTS, Side, rank};
use adept_ground::files;
use memmap2::Mmap;
use std::fs::File;
use std::io::Write;
use std::ops::Deref;
use std::path::{Path, PathBuf};

pub use super::points::ROLLS;

const HEADER: usize = 40;

/// Most points of a table that is solved here.
pub const MOST_SOLVED: usize = points::MOST;

/// The probabilities of 0 to 31 rolls.
pub type Rolls = [f64; ROLLS];

/// A probability of 1.
const ONE: u32 = 65535;

/// Largest number of points that `gnubg` reads.
const MOST_POINTS: usize = 18;

/// A memory-mapped file, or one that has just been computed.
#[derive(Debug)]
enum Bytes {
    Mapped(Mmap),
    Solved(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Solved(bytes) => bytes,
        }
    }
}

/// A one-sided file for six points or more.
#[derive(Debug)]
pub struct GnubgOneSided {
    map: Bytes,
    path: PathBuf,
    points: usize,
    checkers: u8,
    entries: usize,
    gammons: bool,
    form: Form,
}

/// The form of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    Indexed,
    /// Mean and standard deviation alone.
    Normal,
}

/// Differences of a one-sided file from the exact solution, over all sides that both hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneSidedErrors {
    /// Differences of the probabilities of all numbers of rolls. No rows if the file has none.
    pub probabilities: TableErrors,
    /// Differences of the mean number of rolls.
    pub means: TableErrors,
    /// Differences of the standard deviation.
    pub sds: TableErrors,
    /// The side with the largest difference of a mean.
    pub worst: Side,
}

impl GnubgOneSided {
    /// Opens and maps a file.
    ///
    /// # Errors
    /// An unreadable file, a file of another kind, fewer than six points, or a size that does not match the header.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        let file = File::open(path).map_err(|source| TableError::File { path: path.into(), source })?;
        // SAFETY: if another process changes the file, numbers change or this process ends.
        let map =
            unsafe { Mmap::map(&file) }.map_err(|source| TableError::File { path: path.into(), source })?;
        let fault = |what: String| TableError::Format { path: path.into(), what };
        let kind = || {
            fault(
                "not a one-sided GNU Backgammon file for at least 6 points (`makebearoff -o 6 -f FILE`)"
                    .into(),
            )
        };
        let header = map.get(..HEADER).and_then(|h| std::str::from_utf8(h).ok()).ok_or_else(kind)?;
        let fields: Vec<&str> = header.strip_prefix("gnubg-OS-").ok_or_else(kind)?.splitn(5, '-').collect();
        let [points, checkers, gammons, indexed, rest] = fields[..] else { return Err(kind()) };
        let points: usize = points.parse().map_err(|_| kind())?;
        let checkers: u8 = checkers.parse().map_err(|_| kind())?;
        if !(POINTS..=MOST_POINTS).contains(&points) || !(1..=MAX_CHECKERS).contains(&checkers) {
            return Err(kind());
        }
        let form = match (rest.as_bytes().first(), indexed) {
            (Some(b'1'), _) => Form::Normal,
            (Some(b'0'), "0") => Form::Plain,
            (Some(b'0'), "1") => Form::Indexed,
            _ => return Err(kind()),
        };
        let gammons = match gammons {
            "0" => false,
            "1" => true,
            _ => return Err(kind()),
        };
        let entries = choose(points + usize::from(checkers), points);
        let map = Bytes::Mapped(map);
        let found = Self { map, path: path.into(), points, checkers, entries, gammons, form };
        let least = HEADER + entries * found.entry();
        let length = found.map.len();
        let fits = if form == Form::Indexed { length >= least } else { length == least };
        if !fits {
            let size = if form == Form::Indexed { "at least the" } else { "the" };
            return Err(fault(format!("{length} bytes instead of {size} {least} that its header says")));
        }
        Ok(found)
    }

    /// Bytes of an entry, or of its index.
    fn entry(&self) -> usize {
        match self.form {
            Form::Normal => 16,
            Form::Plain => 2 * ROLLS * (1 + usize::from(self.gammons)),
            Form::Indexed => 6 + 2 * usize::from(self.gammons),
        }
    }

    /// Number of sides.
    pub fn sides(&self) -> usize {
        self.entries
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.points
    }

    /// Largest number of checkers.
    pub fn checkers(&self) -> u8 {
        self.checkers
    }

    /// Whether the file has distributions of the rolls that save a gammon.
    pub fn has_gammons(&self) -> bool {
        self.gammons && self.has_distributions()
    }

    /// Checks all distributions.
    ///
    /// # Errors
    /// The first entry that is damaged.
    pub fn check(&self) -> Result<(), TableError> {
        (0..self.entries).try_for_each(|rank| self.entry_of(rank).map(drop))
    }

    /// Whether the file has distributions. Otherwise it has means and standard deviations alone.
    pub fn has_distributions(&self) -> bool {
        self.form != Form::Normal
    }

    /// Solves all sides with at most `checkers` checkers on the first `points` points, and gammons too. Each side minimises its
    /// mean number of rolls, and, where it has borne off no checker, with another play that of the rolls until it has. Numbers are rounded
    /// to 1/65535. Points above 10 count as 10, checkers above 15 as 15. With 15 checkers, 8 points are 490,314 sides in 63 MB, 10
    /// points 3,268,760 in 418 MB.
    pub fn solve(points: usize, checkers: u8) -> Self {
        let (points, checkers) = (points.clamp(POINTS, points::MOST), checkers.clamp(1, MAX_CHECKERS));
        let solved = points::solve(points, checkers);
        let head = format!("gnubg-OS-{points:02}-{checkers:02}-1-0-0");
        let mut bytes = format!("{head:x<width$}\n", width = HEADER - 1).into_bytes();
        bytes.reserve(solved.rolls.len() * 4 * ROLLS);
        let none = points::certain(0);
        let saved =
            std::iter::repeat_n(&none, solved.rolls.len() - solved.first_off.len()).chain(&solved.first_off);
        for (rolls, first_off) in solved.rolls.iter().zip(saved) {
            for distribution in [rolls, first_off] {
                bytes.extend(rounded(distribution).iter().flat_map(|number| number.to_le_bytes()));
            }
        }
        let entries = solved.rolls.len();
        let path = PathBuf::from(format!("the solved table of {points} points"));
        Self { map: Bytes::Solved(bytes), path, points, checkers, entries, gammons: true, form: Form::Plain }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The system's reason.
    pub fn save(&self, path: &Path) -> Result<(), TableError> {
        let written = files::replace_large(path, |file| file.write_all(&self.map));
        written.map_err(|source| TableError::File { path: path.into(), source })
    }

    fn damaged(&self, what: &str) -> TableError {
        TableError::Format { path: self.path.clone(), what: format!("an entry {what}") }
    }

    /// P(N = k) for k = 0 … 31 of a side. None if the file does not hold it.
    ///
    /// # Errors
    /// An entry that lies outside the file, or whose probabilities do not sum to 1.
    pub fn distribution(&self, side: Side) -> Result<Option<Rolls>, TableError> {
        Ok(self.rolls(&side.counts())?.map(|(rolls, _)| rolls))
    }

    /// For the side with these checkers on its first points: P(N = k) for k = 0 … 31, and the same of the rolls until the first
    /// checker is off, 0 if one is, where the file has it. None if the file does not hold the side.
    ///
    /// # Errors
    /// An entry that lies outside the file, or whose probabilities do not sum to 1.
    pub fn rolls(&self, counts: &[u8]) -> Result<Option<(Rolls, Option<Rolls>)>, TableError> {
        let total: usize = counts.iter().map(|&count| usize::from(count)).sum();
        let outside = counts.iter().skip(self.points).any(|&count| count > 0);
        if self.form == Form::Normal || outside || total > usize::from(self.checkers) {
            return Ok(None);
        }
        self.entry_of(index(counts, self.points)).map(Some)
    }

    /// The distributions of the side with this rank.
    fn entry_of(&self, rank: usize) -> Result<(Rolls, Option<Rolls>), TableError> {
        let at = HEADER + rank * self.entry();
        if self.form == Form::Plain {
            let second = || self.numbers(at + 2 * ROLLS, 0, ROLLS);
            return Ok((self.numbers(at, 0, ROLLS)?, self.gammons.then(second).transpose()?));
        }
        let head = &self.map[at..at + self.entry()];
        let place = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let start = HEADER + self.entries * self.entry() + 2 * place;
        let (count, first) = (usize::from(head[4]), usize::from(head[5]));
        let second = || self.numbers(start + 2 * count, usize::from(head[7]), usize::from(head[6]));
        Ok((self.numbers(start, first, count)?, self.gammons.then(second).transpose()?))
    }

    /// The distribution whose `count` numbers, from k = `first` on, begin at a place of the file.
    fn numbers(&self, start: usize, first: usize, count: usize) -> Result<Rolls, TableError> {
        let numbers = self.map.get(start..start + 2 * count).filter(|_| first + count <= ROLLS);
        let numbers = numbers.ok_or_else(|| self.damaged("lies outside the file"))?;
        let (mut found, mut sum) = ([0.0; ROLLS], 0);
        for (probability, bytes) in found[first..].iter_mut().zip(numbers.chunks_exact(2)) {
            let number = u16::from_le_bytes([bytes[0], bytes[1]]);
            *probability = f64::from(number) / f64::from(ONE);
            sum += u32::from(number);
        }
        match sum {
            ONE => Ok(found),
            _ => Err(self.damaged("has probabilities that do not sum to 1")),
        }
    }

    /// Mean and standard deviation of the number of rolls of a side. None if the file does not hold it.
    ///
    /// # Errors
    /// See [`distribution`](Self::distribution).
    pub fn moments(&self, side: Side) -> Result<Option<[f64; 2]>, TableError> {
        if self.form == Form::Normal {
            if side.checkers() > self.checkers {
                return Ok(None);
            }
            let at = HEADER + index(&side.counts(), self.points) * self.entry();
            let number = |at: usize| f32::from_le_bytes(std::array::from_fn(|i| self.map[at + i]));
            return Ok(Some([number(at), number(at + 4)].map(f64::from)));
        }
        let Some(distribution) = self.distribution(side)? else { return Ok(None) };
        let moment = |power: i32| -> f64 {
            distribution.iter().enumerate().map(|(k, p)| (k as f64).powi(power) * p).sum()
        };
        let (mean, square) = (moment(1), moment(2));
        Ok(Some([mean, (square - mean * mean).max(0.0).sqrt()]))
    }
}

impl GnubgOneSided {
    /// Differences of this file from another with the same points and checkers: of the numbers of rolls, of their means, and of the
    /// rolls that save a gammon, if both have them.
    ///
    /// # Errors
    /// A damaged entry.
    pub fn compare(&self, other: &Self) -> Result<[TableErrors; 3], TableError> {
        let [mut rolls, mut means, mut saving] = [TableErrors::default(); 3];
        let mean = |rolls: &Rolls| rolls.iter().enumerate().map(|(k, p)| k as f64 * p).sum::<f64>();
        for rank in 0..self.entries.min(other.entries) {
            let ((own, own_first), (their, their_first)) = (self.entry_of(rank)?, other.entry_of(rank)?);
            own.iter().zip(&their).for_each(|(a, b)| rolls.add(a - b));
            means.add(mean(&own) - mean(&their));
            if let Some((a, b)) = own_first.zip(their_first) {
                a.iter().zip(&b).for_each(|(a, b)| saving.add(a - b));
            }
        }
        Ok([rolls, means, saving])
    }
}

impl OneSided {
    /// Compares this solution with a GNU Backgammon file on all nonempty sides that both hold.
    ///
    /// # Errors
    /// A damaged entry.
    pub fn compare_with_gnubg(&self, other: &GnubgOneSided) -> Result<OneSidedErrors, TableError> {
        let mut errors = OneSidedErrors::default();
        for rank in 1..rank::sides(self.checkers().min(other.checkers())) {
            let side = Side::of_rank(rank);
            let own = self.of_rank(rank);
            if let Some(theirs) = other.distribution(side)? {
                for k in 0..ROLLS.max(own.len()) {
                    let at = |list: &[f64]| list.get(k).copied().unwrap_or(0.0);
                    errors.probabilities.add(at(own) - at(&theirs));
                }
            }
            if let Some([mean, sd]) = other.moments(side)? {
                let before = errors.means.max;
                errors.means.add(self.means[rank] - mean);
                errors.sds.add(self.sds[rank] - sd);
                // NaN is the largest difference.
                if errors.means.max > before || errors.means.max.is_nan() && !before.is_nan() {
                    errors.worst = side;
                }
            }
        }
        Ok(errors)
    }
}

/// Probabilities as numbers of 1/65535 that sum to 1: what rounding leaves goes to the largest.
fn rounded(distribution: &[f32; ROLLS]) -> [u16; ROLLS] {
    let mut numbers = distribution.map(|p| (p * ONE as f32).round() as u16);
    let left = ONE as i32 - numbers.iter().map(|&number| i32::from(number)).sum::<i32>();
    if let Some(largest) = numbers.iter_mut().max() {
        *largest = (i32::from(*largest) + left) as u16;
    }
    numbers
}

/// The rank of a side with these checkers among the sides on `points` points: Σₖ C(cₖ, k) over the bits of its bit string, which has
/// a zero for each checker and a one after each point. With six points, it is [`Side::rank`].
fn index(counts: &[u8], points: usize) -> usize {
    let total: usize = counts.iter().map(|&count| usize::from(count)).sum();
    let mut bit = points - 1 + total;
    let mut rank = choose(bit, points);
    for k in 1..points {
        let on_point = counts.get(k - 1).map_or(0, |&count| usize::from(count));
        bit -= on_point + 1;
        rank += choose(bit, points - k);
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_on_six_points_is_that_of_tables() {
        for rank in 0..rank::sides(7) {
            assert_eq!(index(&Side::of_rank(rank).counts(), POINTS), rank);
        }
        // One checker on the first of seven points comes after the empty side.
        assert_eq!(index(&[1], 7), 1);
    }

    /// The first 84 sides of a file of GNU Backgammon 1.07.001 (`makebearoff -o 6 -f FILE`), its header changed to three
    /// checkers.
    const THREE: &[u8] = include_bytes!("gnubg-os-06-03.bd");

    fn file(bytes: &[u8]) -> (tempfile::TempDir, Result<GnubgOneSided, TableError>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("os.bd");
        std::fs::write(&path, bytes).unwrap();
        let opened = GnubgOneSided::open(&path);
        (folder, opened)
    }

    #[test]
    fn files_of_gnubg_agree() {
        let (_folder, opened) = file(THREE);
        let errors = OneSided::solve(4).compare_with_gnubg(&opened.unwrap()).unwrap();
        assert_eq!((errors.means.rows, errors.probabilities.rows), (83, 83 * 32));
        assert!(errors.means.max < 3e-5 && errors.probabilities.max < 3e-5, "{errors:?}");
        assert!(errors.means.max > 0.0 && errors.sds.max < 1e-3, "{errors:?}");
    }

    #[test]
    fn damage_is_found() {
        let (_folder, other) = file(b"gnubg-TS-06-03-1xxxxxxxxxxxxxxxxxxxxxxx\n");
        assert!(other.unwrap_err().to_string().contains("not a one-sided"));
        let (_folder, short) = file(&THREE[..300]);
        assert!(short.unwrap_err().to_string().contains("300 bytes instead of at least the 712"));
        // The first probability of the second entry, behind two numbers; then the place of an entry.
        let data = HEADER + 84 * 8;
        for (at, what) in [(data + 4, "do not sum to 1"), (HEADER + 8 * 50 + 2, "outside the file")] {
            let mut bytes = THREE.to_vec();
            bytes[at] ^= 64;
            let (_folder, opened) = file(&bytes);
            let error = OneSided::solve(3).compare_with_gnubg(&opened.unwrap()).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
