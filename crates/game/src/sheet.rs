//! Tables in text files, as spreadsheets and other programs write them.
//!
//! The first line names the columns, in any order and case. Columns are separated by commas, semicolons or tabs. Where they are
//! not separated by commas, numbers may have a decimal comma. A byte order mark, a line such as `sep=;` before the names, empty
//! lines, and lines that begin with `#` are skipped.

use crate::game::GameError;
use adept_ground::shown::clipped;
use adept_ground::{limits, notes};
use csv::StringRecord;
use std::path::{Path, PathBuf};

/// A list in a text file: a table if its first line names columns, else one entry a line.
///
/// ```
/// use adept_game::sheet::{Sheet, Values};
///
/// let sheet = Sheet::parse("nim.csv".as_ref(), "Position;P win\n3 4 5 @1;0,75\n");
/// let (column, values) = (sheet.column(&["position"])?, Values::of(&sheet)?);
/// let (Some(column), Some(values)) = (column, values) else { panic!("{:?}", sheet.names()) };
/// for row in sheet.rows() {
///     let row = row?;
///     assert_eq!((row.text(column), values.of_row(&row)?), ("3 4 5 @1", 0.5));
/// }
/// # Ok::<(), adept_game::GameError>(())
/// ```
#[derive(Debug)]
pub struct Sheet {
    path: PathBuf,
    text: String,
    /// Lines before the names of the columns.
    skipped: u64,
    separator: u8,
    /// Names of the columns in small letters, words joined by `_`.
    names: Vec<String>,
}

impl Sheet {
    /// Reads a file.
    ///
    /// # Errors
    /// An I/O error, or a text that is too long or not a list.
    pub fn read(path: &Path) -> Result<Self, GameError> {
        let text = limits::read_list(path).map_err(GameError::file(path))?;
        Ok(Self::parse(path, &text))
    }

    /// Parses the text of a file; `path` names it in messages.
    ///
    /// ```
    /// use adept_game::sheet::Sheet;
    ///
    /// let sheet = Sheet::parse("nim.csv".as_ref(), "Position;P win\n3 4 5 @1;0,75\n");
    /// assert_eq!(sheet.names(), ["position", "p_win"]);
    /// ```
    pub fn parse(path: &Path, text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let is_empty = |line: &str| line.trim().is_empty() || line.starts_with('#');
        // Spreadsheets name the separator in a line of its own.
        let first = text.lines().next().unwrap_or("").trim().trim_matches('"');
        let given = first.strip_prefix("sep=").map(str::as_bytes);
        let (text, skipped) = match given {
            Some(_) => (text.split_once('\n').map_or("", |(_, rest)| rest), 1),
            None => (text, 0),
        };
        let header = text.lines().find(|line| !is_empty(line)).unwrap_or("");
        let separator = match given {
            Some(&[one]) => one,
            _ => *[b'\t', b';'].iter().find(|&&c| header.contains(char::from(c))).unwrap_or(&b','),
        };
        let mut sheet = Self { path: path.into(), text: text.into(), skipped, separator, names: Vec::new() };
        let names = sheet.reader().into_records().filter_map(Result::ok).find(|row| !is_blank(row));
        // An open quotation mark makes the rest of a file one name.
        let names = names.filter(|row| row.as_slice().len() <= limits::LINE_BYTES).unwrap_or_default();
        sheet.names = names.iter().map(normal).collect();
        sheet
    }

    fn reader(&self) -> csv::Reader<&[u8]> {
        csv::ReaderBuilder::new()
            .delimiter(self.separator)
            .comment(Some(b'#'))
            .trim(csv::Trim::All)
            .flexible(true)
            .has_headers(false)
            .from_reader(self.text.as_bytes())
    }

    /// The names of the columns, or the fields of the first line if it names none.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names as a message quotes them; a file that is not a table may have a long first line.
    pub fn shown_names(&self) -> String {
        clipped(&self.names.join(","), 80).into_owned()
    }

    /// The column with the first of these names that is there.
    ///
    /// ```
    /// use adept_game::sheet::Sheet;
    ///
    /// let sheet = Sheet::parse("nim.csv".as_ref(), "XGID,position\n-,3 4 5 @1\n");
    /// assert_eq!(sheet.column(&["position", "xgid"])?, Some(1));
    /// assert_eq!(sheet.column(&["value"])?, None);
    /// # Ok::<(), adept_game::GameError>(())
    /// ```
    ///
    /// # Errors
    /// If two columns have this name.
    pub fn column(&self, names: &[&str]) -> Result<Option<usize>, GameError> {
        let Some(name) = names.iter().find(|name| self.names.iter().any(|n| n == *name)) else {
            return Ok(None);
        };
        let mut places = (0..self.names.len()).filter(|&i| self.names[i] == *name);
        match (places.next(), places.next()) {
            (place, None) => Ok(place),
            _ => Err(self.fault(&format!("two columns have the name {name}: rename one"))),
        }
    }

    /// Notes which columns are not among those used.
    pub fn note_ignored(&self, used: &[usize]) {
        let ignored: Vec<&str> = (0..self.names.len())
            .filter(|i| !used.contains(i) && !self.names[*i].is_empty())
            .map(|i| self.names[i].as_str())
            .collect();
        if !ignored.is_empty() {
            let columns = if ignored.len() == 1 { "column" } else { "columns" };
            notes::note(&format!("{}: ignores the {columns} {}", self.path.display(), ignored.join(", ")));
        }
    }

    /// The rows below the names of the columns. Empty rows are skipped.
    ///
    /// # Errors
    /// Each row that has another number of fields than there are columns.
    pub fn rows(&self) -> impl Iterator<Item = Result<Row<'_>, GameError>> {
        let mut line = Lines { bytes: self.text.as_bytes(), at: 0, line: self.skipped + 1 };
        let records = self.reader().into_records().map(move |record| {
            let record = record.map_err(|e| self.fault(&e.to_string()))?;
            let line = line.of(record.position().map_or(0, csv::Position::byte) as usize);
            Ok((line, record))
        });
        // The first one names the columns.
        records
            .filter(|found| !found.as_ref().is_ok_and(|(_, record)| is_blank(record)))
            .skip(1)
            .map(|found| found.and_then(|(line, record)| self.row(line, record)))
    }

    fn row(&self, line: u64, record: StringRecord) -> Result<Row<'_>, GameError> {
        let row = Row { sheet: self, line, record };
        if row.record.as_slice().len() > limits::LINE_BYTES {
            let most = limits::LINE_BYTES;
            return Err(row.fault(&format!("is longer than {most} bytes: is a quotation mark left open?")));
        }
        let (found, columns) = (row.record.len(), self.names.len());
        // Spreadsheets add empty fields.
        let surplus = row.record.iter().skip(columns).any(|field| !field.is_empty());
        if found < columns || surplus {
            let commas = self.separator == b',' && surplus;
            let advice = if commas {
                ": between commas write 0.5, not 0,5, and put a position that contains commas in quotation marks; or separate \
                 the columns by semicolons"
            } else {
                ""
            };
            let fields = if found == 1 { "field" } else { "fields" };
            return Err(row.fault(&format!("has {found} {fields} for {columns} columns{advice}")));
        }
        Ok(row)
    }

    /// The lines of a file that is not a table, with their numbers from 1. Empty lines and lines that begin with `#` are
    /// skipped.
    ///
    /// ```
    /// use adept_game::sheet::Sheet;
    ///
    /// let sheet = Sheet::parse("nim.txt".as_ref(), "3 4 5 @1\n\n# the end\n0 0 1 @2\n");
    /// assert_eq!(sheet.lines().collect::<Vec<_>>(), [(1, "3 4 5 @1"), (4, "0 0 1 @2")]);
    /// ```
    pub fn lines(&self) -> impl Iterator<Item = (u64, &str)> {
        let lines = (self.skipped + 1..).zip(self.text.lines().map(str::trim));
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    }

    /// An error of the whole file.
    pub fn fault(&self, what: &str) -> GameError {
        GameError::data(&self.path, what)
    }
}

/// Whether all fields of a row are empty.
fn is_blank(row: &StringRecord) -> bool {
    row.iter().all(str::is_empty)
}

/// Numbers of lines by the places of records, which ascend. The reader counts otherwise where lines end with two characters.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line of the first record at this place or after it.
    fn of(&mut self, place: usize) -> u64 {
        let mut start = place;
        // Before a record there may be the end of the last line, empty lines and remarks.
        while let Some(byte) = self.bytes.get(start) {
            let end = |rest: &[u8]| rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            match byte {
                b'\r' | b'\n' => start += 1,
                b'#' => start += end(&self.bytes[start..]),
                _ => break,
            }
        }
        self.line += self.bytes[self.at..start].iter().filter(|&&b| b == b'\n').count() as u64;
        self.at = start;
        self.line
    }
}

/// A name of a column in the form in which names are compared: `Position ID` is `position_id`.
fn normal(name: &str) -> String {
    name.to_lowercase().split([' ', '-', '_']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// A row of a table.
///
/// ```
/// use adept_game::sheet::Sheet;
///
/// let sheet = Sheet::parse("nim.csv".as_ref(), "position;value\n3 4 5 @1;−0,25\n");
/// let row = sheet.rows().next().ok_or("no row")??;
/// assert_eq!((row.line, row.number(1)), (2, Some(-0.25)));
/// let error = row.fault_at(1, "too low");
/// assert_eq!(error.to_string(), "nim.csv: line 2, column value: `−0,25` is too low");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Row<'a> {
    sheet: &'a Sheet,
    /// Its line in the file, from 1.
    pub line: u64,
    record: StringRecord,
}

impl Row<'_> {
    /// The text of a column.
    pub fn text(&self, column: usize) -> &str {
        self.record.get(column).unwrap_or("")
    }

    /// The number in a column, with a decimal point or a decimal comma. None if the text is not a number.
    pub fn number(&self, column: usize) -> Option<f64> {
        let text = self.text(column).replace('−', "-");
        let text = if text.contains('.') { text } else { text.replacen(',', ".", 1) };
        text.parse().ok()
    }

    /// An error of this row.
    pub fn fault(&self, what: &str) -> GameError {
        self.sheet.fault(&format!("line {}: {what}", self.line))
    }

    /// An error of one field of this row: what its text is.
    pub fn fault_at(&self, column: usize, what: &str) -> GameError {
        let name = self.sheet.names.get(column).map_or("", String::as_str);
        let (line, text) = (self.line, self.text(column));
        self.sheet.fault(&format!("line {line}, column {name}: `{text}` is {what}"))
    }
}

/// The column of a table that holds values of positions.
///
/// ```
/// use adept_game::sheet::{Sheet, Values};
///
/// let sheet = Sheet::parse("nim.csv".as_ref(), "position,win\n3 4 5 @1,0.75\n");
/// let values = Values::of(&sheet)?.ok_or("no values")?;
/// assert!(values.is_probability());
/// let row = sheet.rows().next().ok_or("no row")??;
/// assert_eq!(values.of_row(&row)?, 0.5); // V = 2p − 1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    column: usize,
    is_probability: bool,
}

/// The column of values from −1 to 1.
pub const VALUE: &str = "value";

/// Columns of probabilities of winning from 0 to 1, in the order of preference.
pub const WIN: [&str; 3] = ["win", "p_win", "win_probability"];

/// GNU Backgammon gives some won positions the value 1.000001.
const ROUNDED: f64 = 1e-5;

impl Values {
    /// The column `value`, which holds V in [−1, 1]; else `win`, `p_win` or `win_probability`, which hold a probability p in
    /// [0, 1], and V = 2p − 1. None if there is none of them.
    ///
    /// # Errors
    /// As [`Sheet::column`].
    pub fn of(sheet: &Sheet) -> Result<Option<Self>, GameError> {
        if let Some(column) = sheet.column(&[VALUE])? {
            return Ok(Some(Self { column, is_probability: false }));
        }
        Ok(sheet.column(&WIN)?.map(|column| Self { column, is_probability: true }))
    }

    /// Whether it holds probabilities of winning, not values.
    pub fn is_probability(self) -> bool {
        self.is_probability
    }

    /// Its place.
    pub fn column(self) -> usize {
        self.column
    }

    /// V of a row, in [−1, 1]. What lies beyond an end by at most 1e-5, as other programs round, is that end.
    ///
    /// # Errors
    /// A text that is not such a number.
    pub fn of_row(self, row: &Row<'_>) -> Result<f64, GameError> {
        let least = if self.is_probability { 0.0 } else { -1.0 };
        let number = row.number(self.column).map(|number| match number {
            low if low < least && low >= least - ROUNDED => least,
            high if high > 1.0 && high <= 1.0 + ROUNDED => 1.0,
            other => other,
        });
        let fault = |what: &str| Err(row.fault_at(self.column, what));
        match number {
            Some(p) if self.is_probability && (0.0..=1.0).contains(&p) => Ok(2.0 * p - 1.0),
            Some(p) if self.is_probability && p > 1.0 && p <= 100.0 => {
                fault("not a probability from 0 to 1: divide percentages by 100")
            }
            _ if self.is_probability => fault("not a probability from 0 to 1"),
            Some(value) if (-1.0..=1.0).contains(&value) => Ok(value),
            _ => fault("not a value from −1 to 1"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(text: &str) -> Sheet {
        Sheet::parse(Path::new("FILE"), text)
    }

    /// The columns `a` and `value` of all rows, with their lines.
    fn read(text: &str) -> Result<Vec<(u64, String, f64)>, String> {
        let sheet = sheet(text);
        let found = || {
            let (a, values) = (sheet.column(&["a"])?.unwrap(), Values::of(&sheet)?.unwrap());
            sheet
                .rows()
                .map(|row| row.and_then(|r| Ok((r.line, r.text(a).into(), values.of_row(&r)?))))
                .collect::<Result<Vec<_>, _>>()
        };
        found().map_err(|e: GameError| e.to_string())
    }

    #[test]
    fn values_that_were_rounded_beyond_an_end_are_that_end() {
        let found = read("a,value\nx,1.000001\ny,-1.00001\n");
        assert_eq!(found, Ok(vec![(2, "x".into(), 1.0), (3, "y".into(), -1.0)]));
        assert!(read("a,value\nx,1.0001\n").is_err());
    }

    #[test]
    fn tables_of_other_programs_are_read() {
        let expected = Ok(vec![(2, "x".into(), 0.5), (3, "y".into(), -0.25)]);
        for text in [
            "a,value\nx,0.5\ny,-0.25\n",
            "\u{feff}a,value\r\nx,.5\r\ny,−0.25",
            "Value;A\n0,5;x\n-0,25;y\n",
            "value\tother\tA\n0,5\t\tx\n-2.5e-1\t3\ty\n",
            "\"a\",\"value\"\n\"x\",\"0.5\"\n\"y\",\"-0,25\"\n",
            "a,p_win\nx,0.75\ny,0.375\n",
            "a;Win Probability\nx;0,75\ny;0,375\n;\n",
            "a,value,\nx,0.5,\ny,-0.25,,\n",
            "a , value , win\n x , 0.5 , 0.9\n y , -0.25 , 0\n",
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        let later = Ok(vec![(4, "x".into(), 0.5)]);
        assert_eq!(read("sep=|\n# of today\na|value\nx|0.5\n"), later);
        assert_eq!(read("\n\na,value\nx,0.5\n\n# the end\n"), later);
        assert_eq!(read(";;\n \na;value\nx;0,5\n"), later);
    }

    #[test]
    fn faults_name_their_place() {
        let fault = |text: &str| read(text).unwrap_err();
        assert_eq!(fault("a,value\nx,2\n"), "FILE: line 2, column value: `2` is not a value from −1 to 1");
        assert_eq!(fault("a,value\nx,\n"), "FILE: line 2, column value: `` is not a value from −1 to 1");
        assert_eq!(
            fault("a,value\nx,NaN\n"),
            "FILE: line 2, column value: `NaN` is not a value from −1 to 1"
        );
        assert!(
            fault("a,win\nx,57.5\n")
                .ends_with("`57.5` is not a probability from 0 to 1: divide percentages by 100")
        );
        assert!(fault("a,win\nx,-0.5\n").ends_with("`-0.5` is not a probability from 0 to 1"));
        assert!(
            fault("a,value\nx,0,5\n")
                .starts_with("FILE: line 2: has 3 fields for 2 columns: between commas write 0.5")
        );
        let open = format!("a,value\nx,0.5\n\"y,0.5\n{}", "x,0.5\n".repeat(1000));
        assert_eq!(fault(&open), "FILE: line 3: is longer than 4096 bytes: is a quotation mark left open?");
        assert_eq!(fault("a;value\nx\n"), "FILE: line 2: has 1 field for 2 columns");
        assert_eq!(fault("a;value;Value\nx;0;0\n"), "FILE: two columns have the name value: rename one");
    }

    #[test]
    fn lines_are_numbered() {
        let found = sheet("\u{feff}one\n\n# two\n three \n");
        assert_eq!(found.lines().collect::<Vec<_>>(), [(1, "one"), (4, "three")]);
        assert!(sheet("").names().is_empty() && sheet("").lines().next().is_none());
    }
}
