//! The date of a match, as its file tells it.

use super::sgf;

/// The date near the beginning of a file, such as `2024-01-05`: in a comment of a `.mat` file, `; [EventDate "2024.01.05"]`, or in the first
/// game of an `.sgf` file, `DT[2024-01-05]`. None if there is none.
pub(super) fn date_of(head: &str) -> Option<String> {
    if sgf::is_tree(head) {
        return head.split("DT[").skip(1).find_map(iso);
    }
    let comments = head.lines().map(str::trim).filter(|line| line.starts_with(';'));
    let mut values =
        comments.filter_map(|line| ["[EventDate ", "[Date "].iter().find_map(|key| line.split_once(key)));
    values.find_map(|(_, value)| iso(value.trim_start_matches(['"', ' '])))
}

/// A text that begins with year, month and day, as `2024-01-05`. None if they are no date.
fn iso(text: &str) -> Option<String> {
    let text = text.split(['"', ']', ',', ' ', 'T']).next()?;
    let mut parts = text.split(['-', '.', '/']);
    let mut number = |digits: usize, range: std::ops::RangeInclusive<u16>| {
        let part = parts.next().filter(|part| (1..=digits).contains(&part.len()))?;
        part.parse::<u16>().ok().filter(|number| range.contains(number))
    };
    let (year, month, day) = (number(4, 1900..=9999)?, number(2, 1..=12)?, number(2, 1..=31)?);
    parts.next().is_none().then(|| format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_tell_the_date_of_their_match() {
        for (head, date) in [
            ("; [Site \"x\"]\r\n; [EventDate \"2024.01.05\"]\r\n\r\n 7 point match\r\n", Some("2024-01-05")),
            ("; [Date \"2024/1/5\"]\n 7 point match\n", Some("2024-01-05")),
            ("; [EventDate \"\"]\n; [Date \"2023-12-31\"]\n 7 point match\n", Some("2023-12-31")),
            ("; [EventDate \"2024.13.05\"]\n", None),
            ("; [EventDate \"????.??.??\"]\n", None),
            (" 7 point match\n; [Event \"2024.01.05\"]\n", None),
            ("(;FF[4]GM[6]MI[length:7]PW[a]PB[b]DT[2026-11-30]RU[Crawford]\n;B[64aggk])", Some("2026-11-30")),
            ("(;FF[4]GM[6]DT[2026-11]MI[length:7])", None),
            ("(;FF[4]GM[6]MI[length:7])", None),
            ("", None),
        ] {
            assert_eq!(date_of(head).as_deref(), date, "{head}");
        }
    }
}
