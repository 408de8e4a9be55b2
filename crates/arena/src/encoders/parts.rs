//! Parts of an encoder's name.
//!
//! A name is a union of parts, joined by `+`. The part `prior:PATH@CHECKSUM` names a checkpoint. A path that contains a `+`, or
//! could be taken for a quoted or pinned one, stands in double quotes, in which a quote is written twice: `prior:"a+b"@0123456789ab`.

use std::fmt;
use std::path::{Path, PathBuf};

/// Prefix of a prior in an encoder's name.
pub(crate) const PRIOR: &str = "prior:";
/// Prefix of an expert in an encoder's name.
pub(crate) const EXPERT: &str = "expert:";
/// Prefix of known values in an encoder's name, and of an agent that plays by them.
pub(crate) const KNOWN: &str = "known";

/// The word for no tables at all, in the name of an agent.
pub(crate) const NONE: &str = "none";

/// Number of checksum digits in an encoder's name.
const DIGITS: usize = 12;

/// A prior as an encoder's name has it, after `prior:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prior {
    /// A valuation of the game, or the path or name of a checkpoint.
    pub name: String,
    /// The first twelve digits of the checkpoint's checksum. A name without them takes the checkpoint that is there.
    pub pinned: Option<String>,
}

impl Prior {
    /// Reads what follows `prior:`.
    fn parse(text: &str) -> Result<Self, String> {
        let is_sum = |sum: &str| sum.chars().count() == DIGITS;
        let Some(quoted) = text.strip_prefix('"') else {
            return Ok(match text.rsplit_once('@') {
                Some((name, sum)) if is_sum(sum) => Self { name: name.into(), pinned: Some(sum.into()) },
                _ => Self { name: text.into(), pinned: None },
            });
        };
        let end = end_of_quoted(quoted).ok_or("has a quote that is not closed")?;
        let pinned = match &quoted[end + 1..] {
            "" => None,
            rest => match rest.strip_prefix('@').filter(|sum| is_sum(sum)) {
                Some(sum) => Some(sum.into()),
                None => return Err(format!("has `{rest}` after a quoted path: only `@CHECKSUM` may follow")),
            },
        };
        Ok(Self { name: quoted[..end].replace("\"\"", "\""), pinned })
    }

    /// The first digits of a whole checksum.
    pub fn pin(checksum: &str) -> String {
        checksum.chars().take(DIGITS).collect()
    }

    /// The folders in which the checkpoint may be, by rank: at its path from `folder`, which is the checkpoint that names it; at
    /// its path from the current folder. A pinned one also from the folders above `folder`, one of which training was started in.
    pub(crate) fn places(&self, folder: Option<&Path>) -> Vec<PathBuf> {
        let path = Path::new(&self.name);
        let Some(folder) = folder.filter(|_| path.is_relative()) else { return vec![path.into()] };
        let mut all = vec![folder.join(path), path.into()];
        if self.pinned.is_some()
            && let Ok(folder) = folder.canonicalize()
        {
            all.extend(folder.ancestors().skip(1).map(|above| above.join(path)));
        }
        all
    }
}

impl fmt::Display for Prior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = Self::parse(&self.name).is_ok_and(|p| p.pinned.is_none() && p.name == self.name);
        match self.name.contains('+') || !plain {
            true => write!(f, "\"{}\"", self.name.replace('"', "\"\""))?,
            false => f.write_str(&self.name)?,
        }
        self.pinned.as_ref().map_or(Ok(()), |sum| write!(f, "@{sum}"))
    }
}

/// The place of the quote that ends a quoted text; a doubled quote does not.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text[from..].find('"')?;
        if !text[at + 1..].starts_with('"') {
            return Some(at);
        }
        from = at + 2;
    }
}

/// The parts of an encoder's name.
pub(crate) fn parts(name: &str) -> Vec<&str> {
    let (mut all, mut rest) = (Vec::new(), name);
    loop {
        let quoted = rest.strip_prefix(PRIOR).and_then(|part| part.strip_prefix('"'));
        let closed = quoted.and_then(|text| Some(rest.len() - text.len() + end_of_quoted(text)? + 1));
        let from = closed.unwrap_or(0);
        match rest[from..].find('+') {
            Some(at) => {
                all.push(&rest[..from + at]);
                rest = &rest[from + at + 1..];
            }
            None => {
                all.push(rest);
                return all;
            }
        }
    }
}

/// The prior in an encoder's name.
///
/// # Errors
/// If it is quoted, and the quotes do not fit.
pub fn prior(encoder: &str) -> Result<Option<Prior>, String> {
    let part = parts(encoder).into_iter().find_map(|part| part.strip_prefix(PRIOR));
    part.map(|part| Prior::parse(part).map_err(|why| format!("`{PRIOR}{part}` {why}"))).transpose()
}

/// An encoder's name with another prior.
#[must_use]
pub fn with_prior(encoder: &str, prior: &Prior) -> String {
    let with = |part: &str| match part.starts_with(PRIOR) {
        true => format!("{PRIOR}{prior}"),
        false => part.into(),
    };
    parts(encoder).into_iter().map(with).collect::<Vec<_>>().join("+")
}

/// Whether two names mean the same encoder: the paths of pinned priors may differ.
pub fn same_encoder(a: &str, b: &str) -> bool {
    let bare = |name: &str| match prior(name) {
        Ok(Some(prior)) if prior.pinned.is_some() => {
            with_prior(name, &Prior { name: String::new(), ..prior })
        }
        _ => name.into(),
    };
    a == b || bare(a) == bare(b)
}

/// Splits a name `KIND:PATH`, such as `rules:my.toml`, if what follows the colon looks like the path of a file: it has a folder or
/// an extension. Names of the game, as in `rules:soarbot`, and numbers have neither.
pub(crate) fn file_of(name: &str) -> Option<(&str, &str)> {
    let (kind, path) = name.split_once(':')?;
    let is_path = Path::new(path).extension().is_some() || path.contains(std::path::is_separator);
    (is_path && ![PRIOR, EXPERT].contains(&&*format!("{kind}:"))).then_some((kind, path))
}

/// The parts of an encoder's name that name files which are there, with these files. Paths are relative to `folder`, or to
/// the current folder.
pub fn files_of(encoder: &str, folder: &Path) -> Vec<(String, PathBuf)> {
    let found = |part: &str| {
        let (_, path) = file_of(part)?;
        let places = [folder.join(path), path.into()];
        Some((part.to_string(), places.into_iter().find(|place| place.is_file())?))
    };
    parts(encoder).into_iter().filter_map(found).collect()
}

/// An encoder's name with other paths: of its prior, and of the files that it names. `change` returns the path to take instead.
pub fn map_paths(encoder: &str, change: &mut dyn FnMut(&str) -> Option<String>) -> String {
    let mut new = |part: &str| -> Option<String> {
        if let Some(prior) = part.strip_prefix(PRIOR) {
            let prior = Prior::parse(prior).ok()?;
            return Some(format!("{PRIOR}{}", Prior { name: change(&prior.name)?, ..prior }));
        }
        let (kind, path) = file_of(part)?;
        // `+` would begin another part.
        let path = change(path).filter(|path| !path.contains('+'))?;
        Some(format!("{kind}:{path}"))
    };
    let all = parts(encoder).into_iter().map(|part| new(part).unwrap_or_else(|| part.into()));
    all.collect::<Vec<_>>().join("+")
}

/// A part of an encoder's name as it is read from the current folder, if it names a file beside the checkpoint in `folder`.
pub(crate) fn from_here(part: &str, folder: Option<&Path>) -> String {
    match file_of(part).zip(folder) {
        Some(((kind, path), folder)) if folder.join(path).is_file() => {
            format!("{kind}:{}", folder.join(path).display())
        }
        _ => part.into(),
    }
}

/// An encoder's name with these tables, joined by `+`, in place of its own; without any for `none`.
pub(crate) fn with_tables(encoder: &str, tables: &str) -> String {
    let own = parts(encoder).into_iter().filter(|part| known_part(part).is_none()).map(String::from);
    let new = tables.split('+').filter(|table| *table != NONE).map(|table| format!("{KNOWN}:{table}"));
    own.chain(new).collect::<Vec<_>>().join("+")
}

/// An encoder's name without its tables: what the inputs of a network are.
pub fn without_tables(encoder: &str) -> String {
    with_tables(encoder, NONE)
}

/// The table that a part of an encoder's name names.
pub(crate) fn known_part(part: &str) -> Option<&str> {
    part.strip_prefix(KNOWN)?.strip_prefix(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_can_be_written() {
        let paths = [
            "first",
            "a+b",
            "a b, c",
            "a@b",
            "x/y@0123456789ab",
            "\"",
            "\"a\"",
            "a\"+\"b",
            "+",
            "@",
            "",
            "ä+é",
        ];
        for (i, path) in paths.into_iter().enumerate() {
            let pin = if i % 2 == 0 { None } else { Some("0123456789ab") };
            for pinned in [None, Some("abcdef012345"), pin] {
                let wanted = Prior { name: path.into(), pinned: pinned.map(String::from) };
                for name in [format!("one+{PRIOR}{wanted}+two:16"), format!("one+{PRIOR}{wanted}")] {
                    assert_eq!(prior(&name), Ok(Some(wanted.clone())), "{name}");
                    assert_eq!(
                        parts(&name).iter().filter(|part| !part.starts_with(PRIOR)).count(),
                        parts(&name).len() - 1
                    );
                    assert_eq!(with_prior(&name, &wanted), name);
                }
            }
        }
        let shown = |name: &str| Prior { name: name.into(), pinned: None }.to_string();
        assert_eq!([shown("a b,c"), shown("a+b")], ["a b,c".to_string(), "\"a+b\"".into()]);
    }

    #[test]
    fn names_without_quotes_mean_what_they_did() {
        assert_eq!(
            parts("race+distribution:16+prior:convolution"),
            ["race", "distribution:16", "prior:convolution"]
        );
        assert_eq!(parts(""), [""]);
        assert_eq!(parts("a++b"), ["a", "", "b"]);
        assert_eq!(parts("a\"+b\""), ["a\"", "b\""]);
        let found = prior("a+prior:runs/x@0123456789ab").unwrap().unwrap();
        assert_eq!((&*found.name, found.pinned.as_deref()), ("runs/x", Some("0123456789ab")));
        assert_eq!(prior("a+b"), Ok(None));
    }

    #[test]
    fn wrong_quotes_are_refused() {
        assert!(prior("a+prior:\"b").unwrap_err().contains("is not closed"));
        assert!(prior("a+prior:\"b\"c").unwrap_err().contains("only `@CHECKSUM` may follow"));
        assert!(prior("a+prior:\"b\"@12").is_err());
    }

    #[test]
    fn names_of_files_have_a_folder_or_an_extension() {
        assert_eq!(file_of("rules:my.toml"), Some(("rules", "my.toml")));
        assert_eq!(file_of("oracle:tables/x"), Some(("oracle", "tables/x")));
        for name in ["rules:soarbot", "distribution:16", "one-sided", "prior:a/b", "expert:a/b"] {
            assert_eq!(file_of(name), None, "{name}");
        }
    }

    #[test]
    fn paths_of_pinned_priors_do_not_matter() {
        assert!(same_encoder("a+prior:b@0123456789ab", "a+prior:\"c+d\"@0123456789ab"));
        assert!(!same_encoder("a+prior:b@0123456789ab", "a+prior:b@ba9876543210"));
        assert!(!same_encoder("a+prior:b", "a+prior:c") && same_encoder("a+b", "a+b"));
        assert!(!same_encoder("x+prior:b@0123456789ab", "a+prior:b@0123456789ab"));
    }
}
