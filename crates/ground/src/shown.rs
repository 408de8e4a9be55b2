//! Makes untrusted text safe to display: file names, lines of other programs, notes.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// Whether a terminal would interpret this character instead of showing it: control characters, and those that change
/// the text direction. Line breaks and tabs are harmless.
fn is_obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() && c != '\n' && c != '\t' || turns
}

/// A printable version of a text: characters that a terminal would interpret are escaped, such as `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_obeyed(c) {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown.into()
}

/// Transliterates a text for ASCII terminals, character by character. Characters without an ASCII counterpart become
/// `?`.
pub fn ascii(text: &str) -> String {
    let like = |c: char| match c {
        _ if c.is_ascii() => c,
        '─' | '−' | '–' | '—' => '-',
        '│' => '|',
        // All corners and crossings of box drawings.
        '┌'..='╋' => '+',
        '●' => 'X',
        '○' => 'O',
        '×' => 'x',
        '…' | '·' => '.',
        '‘' | '’' => '\'',
        '“' | '”' => '"',
        _ => '?',
    };
    text.chars().map(like).collect()
}

/// Truncates a text, with `…` at the cut.
pub fn clipped(text: &str, characters: usize) -> Cow<'_, str> {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Escapes the characters in a JSON text that a terminal would interpret, without changing its meaning. JSON allows
/// some of them in strings, and none elsewhere.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_obeyed) {
        return json.into();
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_obeyed(c) {
            true => {
                // Writing to a string cannot fail. All of them have four digits.
                let _ = write!(shown, "\\u{:04x}", u32::from(c));
            }
            false => shown.push(c),
        }
    }
    shown.into()
}

/// Quotes a word for a POSIX shell if necessary.
pub fn shell(word: &str) -> Cow<'_, str> {
    match shlex::try_quote(word) {
        Ok(quoted) if !word.contains(is_obeyed) && !word.contains(['\n', '\t']) => quoted,
        _ => escaped(word.as_bytes()).into(),
    }
}

/// Quotes a path for a shell. A leading `-` is escaped, because it would look like an option.
pub fn shell_path(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let before = if bytes.starts_with(b"-") { "./" } else { "" };
    match path.to_str() {
        Some(path) => shell(&format!("{before}{path}")).into_owned(),
        None => escaped(&[before.as_bytes(), bytes].concat()),
    }
}

/// A word in dollar quotes, with all but plain characters as octal codes.
fn escaped(word: &[u8]) -> String {
    let mut text = String::from("$'");
    for byte in word {
        match byte {
            b'\'' | b'\\' => text.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => text.push(char::from(*byte)),
            byte => {
                // Three digits, so that the next character is not read as one. Writing to a string cannot fail.
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_given_no_orders() {
        for (text, shown) in [
            ("plain ä → ▪\n\ttext", "plain ä → ▪\n\ttext"),
            ("\x1b[31mred\x1b[0m", "\\u{1b}[31mred\\u{1b}[0m"),
            ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}"),
            ("a\rb\x08\x7f\0", "a\\rb\\u{8}\\u{7f}\\u{0}"),
            // The one-character form of `ESC [`, and right-to-left text.
            ("\u{9b}2J", "\\u{9b}2J"),
            ("abc\u{202e}gpj.exe", "abc\\u{202e}gpj.exe"),
        ] {
            assert_eq!(printable(text), shown);
            assert!(!printable(text).contains(is_obeyed));
        }
    }

    #[test]
    fn ascii_keeps_the_number_of_characters() {
        for (text, shown) in [
            ("┌───┬───┐\n│ ● │[○]│\n├───┼───┤\n└───┴───┘", "+---+---+\n| X |[O]|\n+---+---+\n+---+---+"),
            ("24/18*\t“7×6” … −½", "24/18*\t\"7x6\" . -?"),
        ] {
            assert_eq!(ascii(text), shown);
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!([clipped("", 2), clipped("äö", 2), clipped("äöü", 2)], ["", "äö", "äö…"]);
    }

    #[test]
    fn json_keeps_its_meaning() {
        assert_eq!(printable_json("[\n\t\"a\u{9b}\u{7f}\u{202e}\"]"), "[\n\t\"a\\u009b\\u007f\\u202e\"]");
        assert_eq!(printable_json("[1]"), "[1]");
    }

    /// A shell parses the quoted word back.
    #[cfg(unix)]
    #[test]
    fn a_shell_reads_words_back() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        use std::process::Command;
        let words: [&[u8]; 12] = [
            b"plain/run-1",
            b"my run",
            b"it's",
            b"$HOME `x` \"y\"",
            b"a+b,c;d&e|f",
            b"*?[z]~",
            b"!x",
            b"\xc3\xa4",
            b"",
            b"back\\slash",
            b"-x",
            b"#a",
        ];
        for word in words {
            let quoted = shell_path(Path::new(OsStr::from_bytes(word)));
            let said = Command::new("sh").args(["-c", &format!("printf %s {quoted}")]).output().unwrap();
            let wanted = if word.starts_with(b"-") { [b"./", word].concat() } else { word.to_vec() };
            assert_eq!(said.stdout, wanted, "{quoted}");
        }
        assert_eq!(shell("checkpoints/runs/x-1"), "checkpoints/runs/x-1");
        // bash, zsh and POSIX 2024 support dollar quotes, but not every sh does.
        for word in [&b"a\x1b[31m'b\\"[..], b"line\nbreak", b"\xff1"] {
            let quoted = shell_path(Path::new(OsStr::from_bytes(word)));
            assert!(quoted.starts_with("$'") && !quoted.contains(is_obeyed), "{quoted}");
            if let Ok(said) = Command::new("bash").args(["-c", &format!("printf %s {quoted}")]).output() {
                assert_eq!(said.stdout, word, "{quoted}");
            }
        }
    }
}
