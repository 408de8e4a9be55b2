//! How far a search looks, as users write it.

use adept_ground::limits;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// When a search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// After this many plies; 1 is the evaluator alone.
    Plies(u32),
    /// After this time. What it finds depends on the machine.
    Time(Duration),
    /// After this many valued positions.
    Nodes(u64),
}

/// Which actions a decision considers, in games with chance.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// At the root, the best so many actions; one number for each depth from 2 plies on, the last one for all that follow. The first
    /// number goes by the evaluator, each other one by the search that is a ply less deep. Empty for all actions.
    pub root: Vec<usize>,
    /// Below the root, the best so many actions by the evaluator; one number a ply below the root, the last one for all that follow.
    pub keep: Vec<usize>,
    /// And all others whose value is at most so much below the best one.
    pub margin: f32,
}

impl Default for Filter {
    fn default() -> Self {
        Self { root: Vec::new(), keep: vec![4], margin: 0.02 }
    }
}

impl Filter {
    /// The number of actions that are searched at the root to this depth, from 2 plies; none for all.
    pub(super) fn at_root(&self, plies: u32) -> Option<usize> {
        self.root.get(plies.saturating_sub(2) as usize).or(self.root.last()).copied()
    }

    /// The number of actions that are kept at this ply below the root, from 1.
    pub(super) fn at(&self, ply: usize) -> usize {
        self.keep.get(ply.saturating_sub(1)).or(self.keep.last()).copied().unwrap_or(1)
    }
}

/// A budget with its settings: `4`, `100ms`, `10000n` or `3,root=8/3,keep=4,margin=0.05`.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// When the search ends.
    pub budget: Budget,
    /// Which actions it considers below the root.
    pub filter: Filter,
    /// Threads that share the actions at the root, in games with chance.
    pub threads: usize,
    /// Whether the value of every action at the root is exact for its depth. Otherwise only the best one is, and others are at
    /// most as good as they are said to be.
    pub all: bool,
}

impl From<Budget> for SearchOptions {
    fn from(budget: Budget) -> Self {
        Self { budget, filter: Filter::default(), threads: 1, all: false }
    }
}

/// How a budget may be written.
const FORMS: &str = "write `search:4:AGENT` (plies), `search:100ms:AGENT`, `search:10000n:AGENT` (positions), or with settings \
                     `search:3,root=8/3,keep=4,margin=0.05:AGENT`";

impl FromStr for SearchOptions {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split(',');
        let budget = words.next().unwrap_or_default();
        let mut options = Self::from(budget_of(budget)?);
        for word in words {
            let fault = || format!("`{word}`: {FORMS}");
            match word.split_once('=').ok_or_else(fault)? {
                (key @ ("keep" | "root"), numbers) => {
                    let counts =
                        numbers.split('/').map(|n| n.parse().ok().filter(|n| (1..=limits::KEPT).contains(n)));
                    let counts = counts.collect::<Option<Vec<usize>>>().filter(|all| {
                        // One a ply is enough.
                        all.len() <= limits::PLIES as usize
                    });
                    let counts = counts.ok_or_else(|| {
                        format!(
                            "`{word}`: how many moves to keep, 1 to {}, such as `{key}=8/4`",
                            limits::KEPT
                        )
                    })?;
                    match key {
                        "keep" => options.filter.keep = counts,
                        _ => options.filter.root = counts,
                    }
                }
                ("margin", number) => {
                    let margin = number.parse().ok().filter(|m| (0.0..=2.0).contains(m));
                    options.filter.margin = margin.ok_or_else(|| {
                        format!("`{word}`: a difference of values, 0 to 2, such as `margin=0.05`")
                    })?;
                }
                ("threads", number) => {
                    let threads = number.parse().ok().filter(|n| (1..=limits::THREADS).contains(n));
                    options.threads = threads
                        .ok_or_else(|| format!("`{word}`: a number of threads, 1 to {}", limits::THREADS))?;
                }
                _ => return Err(fault()),
            }
        }
        if options.threads > 1 && matches!(options.budget, Budget::Nodes(_)) {
            return Err("`threads` and a number of positions do not go together: which positions are valued would depend on \
                        the threads"
                .into());
        }
        Ok(options)
    }
}

/// Parses a budget.
fn budget_of(text: &str) -> Result<Budget, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| format!("`{text}`: {FORMS}"))?;
    let within = |most: u64, what: &str| match (1..=most).contains(&number) {
        true => Ok(number),
        false => Err(format!("`{text}`: a search takes 1 to {most} {what}")),
    };
    match &text[digits.len()..] {
        "" => within(limits::PLIES.into(), "plies").map(|plies| Budget::Plies(plies as u32)),
        "n" => within(limits::LENGTH, "positions").map(Budget::Nodes),
        "ms" => within(limits::SEARCH_MS, "milliseconds").map(|ms| Budget::Time(Duration::from_millis(ms))),
        "s" => within(limits::SEARCH_MS / 1000, "seconds").map(|s| Budget::Time(Duration::from_secs(s))),
        _ => Err(format!("`{text}`: {FORMS}")),
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plies(plies) => write!(out, "{plies}"),
            Self::Time(time) => write!(out, "{}ms", time.as_millis()),
            Self::Nodes(nodes) => write!(out, "{nodes}n"),
        }
    }
}

impl fmt::Display for SearchOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.budget)?;
        let usual = Filter::default();
        for (key, counts, usual) in
            [("root", &self.filter.root, &usual.root), ("keep", &self.filter.keep, &usual.keep)]
        {
            if counts != usual {
                let counts: Vec<String> = counts.iter().map(usize::to_string).collect();
                write!(out, ",{key}={}", counts.join("/"))?;
            }
        }
        if self.filter.margin != usual.margin {
            write!(out, ",margin={}", self.filter.margin)?;
        }
        if self.threads > 1 {
            write!(out, ",threads={}", self.threads)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read_as_they_are_written() {
        for text in [
            "1",
            "4",
            "100ms",
            "10000n",
            "3,keep=8/4,margin=0.05",
            "2,margin=0",
            "3,threads=2",
            "3,root=8/3,keep=1",
        ] {
            assert_eq!(text.parse::<SearchOptions>().unwrap().to_string(), text);
        }
        assert_eq!("2s".parse::<SearchOptions>().unwrap().to_string(), "2000ms");
    }

    #[test]
    fn wrong_budgets_are_refused_with_what_is_possible() {
        for (text, what) in [
            ("", "search:4:AGENT"),
            ("x", "search:100ms:AGENT"),
            ("0", "1 to 64 plies"),
            ("65", "1 to 64 plies"),
            ("4000000ms", "1 to 3600000 milliseconds"),
            ("0n", "positions"),
            ("3h", "search:4:AGENT"),
            ("99999999999999999999999", "search:4:AGENT"),
            ("3,keep=0", "keep=8/4"),
            ("3,keep=a", "keep=8/4"),
            ("3,root=8/0", "root=8/4"),
            ("3,margin=NaN", "margin=0.05"),
            ("3,deep", "`deep`"),
            ("3,threads=0", "1 to 1024"),
            ("100n,threads=2", "do not go together"),
        ] {
            let error = text.parse::<SearchOptions>().unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
