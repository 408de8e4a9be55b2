//! The tables of the command `review` about kinds of decisions, and about several matches.

use crate::output;
use adept_lab::review::{
    KindErrors, MatchPlayer, MatchReview, OpponentReview, Period, Rating, Review, Session, Spread,
};
use std::collections::HashMap;
use std::path::Path;

/// Most rows of a table of matches, of opponents, and of players.
const MATCHES: usize = 20;
const OPPONENTS: usize = 10;
const PLAYERS: usize = 10;

/// Most classes of positions in a table.
const CLASSES: usize = 12;

/// Most columns of the name of a file and of a player.
const FILE: usize = 22;
const NAME: usize = 12;

/// How losses, luck and results are shown.
pub(super) struct Measure {
    /// The words for their unit.
    pub(super) words: String,
    /// Whether they are chances to win a match.
    pub(super) is_chance: bool,
}

impl Measure {
    pub(super) fn of(found: &Review) -> Self {
        let is_chance =
            found.unit.is_none() && found.errors.as_ref().is_some_and(|errors| errors.lost_chance.is_some());
        let words = match &found.unit {
            Some(unit) => unit.to_string(),
            None if is_chance => "% of the chance to win the match".into(),
            None => "utility".into(),
        };
        Self { words, is_chance }
    }

    /// An amount as a number: of the chance to win a match, in per cent. A match that is won is worth 1, and one that is lost −1.
    pub(super) fn of_amount(&self, amount: f64) -> f64 {
        if self.is_chance { 50.0 * amount } else { amount }
    }

    /// A mean loss per decision.
    pub(super) fn mean(&self, loss: f64) -> String {
        let digits = if self.is_chance { 3 } else { 4 };
        format!("{:.digits$}", self.of_amount(loss))
    }

    /// A sum of luck or results.
    pub(super) fn sum(&self, sum: f64) -> String {
        format!("{:+.2}", self.of_amount(sum))
    }

    /// A loss, with a unit if it is not that of the review's head.
    fn lost(&self, lost: f64) -> String {
        if self.is_chance { format!("{:.2}", self.of_amount(lost)) } else { format!("{lost:.3}") }
    }
}

/// The tables; `names` are those of the files.
pub(super) fn text(found: &Review, names: &HashMap<&Path, String>) -> String {
    let (session, measure) = (&found.session, Measure::of(found));
    let mut text = kinds(found, &measure);
    if session.matches.len() > 1 {
        text.push_str(&matches(session, names, &measure));
        text.push_str(&opponents(session, &measure));
        text.push_str(&over_time(session, &measure));
        text.push_str(&spread(&session.spread, &measure));
    }
    text
}

/// A table with its title, and a line about the rows that are left out.
fn titled(title: &str, header: &[&str], mut rows: Vec<Vec<String>>, most: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let left = rows.len().saturating_sub(most);
    rows.truncate(most);
    let rest = if left > 0 { format!("… and {left} more, with --json\n") } else { String::new() };
    format!("\n{}{}{rest}", output::wrapped(title), output::table(header, rows))
}

/// A rating, and half the width of its interval.
fn rated(rating: Option<&Rating>) -> [String; 2] {
    let none = || "–".to_string();
    let error = rating.and_then(|rating| rating.ci95);
    [
        rating.map_or_else(none, |rating| format!("{:.2}", rating.performance_rating)),
        error.map_or_else(none, |half| format!("±{half:.2}")),
    ]
}

/// Errors by kind of position and decision: of the subject, of each of two players, or of all.
fn kinds(found: &Review, measure: &Measure) -> String {
    let all = &found.session.kinds;
    let mut players: Vec<Option<&str>> = Vec::new();
    for one in all {
        let player = one.player.as_deref();
        if !players.contains(&player) {
            players.push(player);
        }
    }
    let subject = found.session.subject.as_deref();
    let shown: Vec<Option<&str>> = match players.iter().filter(|player| player.is_some()).count() {
        _ if subject.is_some() => vec![subject],
        0..=2 => players.into_iter().flatten().map(Some).collect(),
        _ => vec![None],
    };
    let in_points = found.errors.is_some() && !measure.is_chance;
    let table = |player: &Option<&str>| {
        let own: Vec<&KindErrors> = all.iter().filter(|one| one.player.as_deref() == *player).collect();
        let who = player.map_or_else(|| "all players".into(), |name| output::cut(name, 2 * NAME));
        let title = format!("errors of {who} by kind of position and decision");
        let mut positions: Vec<&str> = Vec::new();
        for one in &own {
            if !positions.contains(&&*one.position) {
                positions.push(&one.position);
            }
        }
        // As in the table of errors: a match in chances, other games in points of the cube.
        let lost_of = |one: &&KindErrors| if in_points { one.points } else { one.lost };
        let lost: f64 = own.iter().map(lost_of).sum();
        // Of many kinds, those in which nothing was lost say little.
        if positions.len() > CLASSES {
            positions.retain(|position| own.iter().any(|one| one.position == *position && one.lost > 0.0));
        }
        // Of kinds that these games do not have, there are no columns.
        let kinds: Vec<(&str, &str)> = [("move", "moves"), ("double", "doubles"), ("answer", "answers")]
            .into_iter()
            .filter(|(kind, _)| own.iter().any(|one| one.decision == *kind && one.counted > 0))
            .collect();
        let row = |name: &str, of: &dyn Fn(&&&KindErrors) -> bool| {
            let own: Vec<&KindErrors> = own.iter().filter(of).copied().collect();
            let mut cells = vec![name.to_string()];
            for (kind, _) in &kinds {
                cells.extend(of_kind(own.iter().filter(|one| one.decision == *kind).copied()));
            }
            if kinds.is_empty() {
                let count = |of: fn(&KindErrors) -> u64| own.iter().map(|one| of(one)).sum::<u64>();
                let (decisions, wrong) = (count(|one| one.decisions), count(|one| one.wrong));
                cells.push(decisions.to_string());
                cells.push(format!("{:.1}", 100.0 * wrong as f64 / decisions.max(1) as f64));
            }
            let here: f64 = own.iter().map(lost_of).fold(0.0, |sum, lost| sum + lost);
            let share = if lost > 0.0 { 100.0 * here / lost } else { 0.0 };
            cells.extend([measure.lost(here), format!("{share:.1}")]);
            cells
        };
        let mut rows: Vec<Vec<String>> =
            positions.iter().map(|position| row(position, &|one| one.position == *position)).collect();
        if rows.len() > 1 {
            rows.truncate(CLASSES);
            rows.push(row("all", &|_| true));
        }
        let mut header = vec!["position"];
        header.extend(kinds.iter().flat_map(|(_, kind)| [*kind, "PR"]));
        header.extend(if kinds.is_empty() { &["decisions", "wrong %"][..] } else { &[] });
        header.extend([if measure.is_chance { "lost %" } else { "lost" }, "share %"]);
        titled(&title, &header, rows, CLASSES + 1)
    };
    shown.iter().map(table).collect()
}

/// The number of decisions that count, and their rating.
fn of_kind<'a>(all: impl Iterator<Item = &'a KindErrors>) -> [String; 2] {
    let (counted, points) = all.fold((0, 0.0), |(n, lost), one| (n + one.counted, lost + one.points));
    match counted {
        0 => ["–".into(), "–".into()],
        n => [n.to_string(), format!("{:.2}", 500.0 * points / n as f64)],
    }
}

/// A row for each match: with its opponent for the subject, or for each player.
fn matches(session: &Session, names: &HashMap<&Path, String>, measure: &Measure) -> String {
    let all = &session.matches;
    let is_dated = all.iter().any(|one| one.date.is_some());
    let is_rated = all.iter().flat_map(|one| &one.players).any(|player| player.rating.is_some());
    let subject = session.subject.as_deref();
    let row = |one: &MatchReview, player: &MatchPlayer| {
        let file = names.get(&*one.file).map_or_else(|| one.file.display().to_string(), String::clone);
        let mut cells = vec![output::cut(&file, FILE)];
        if is_dated {
            cells.push(one.date.clone().unwrap_or_else(|| "–".into()));
        }
        let [rating, _] = rated(player.rating.as_ref());
        let opponents = || player.opponents.join(", ");
        cells.push(output::cut(&subject.map_or_else(|| player.name.clone(), |_| opponents()), NAME));
        cells.push(if is_rated { rating } else { measure.mean(player.loss_per_decision) });
        cells.push(measure.sum(player.luck));
        cells.extend(match player.results {
            0 => ["–".to_string(), "–".to_string()],
            _ => [player.result, player.adjusted].map(|sum| measure.sum(sum)),
        });
        cells
    };
    let is_shown = |player: &&MatchPlayer| subject.is_none_or(|subject| player.name == subject);
    let rows = all.iter().flat_map(|one| one.players.iter().filter(is_shown).map(|player| row(one, player)));
    let who = if subject.is_some() { "opponent" } else { "player" };
    let mut header = vec!["match", who, if is_rated { "PR" } else { "loss per decision" }];
    header.extend(["luck", "result", "less luck"]);
    if is_dated {
        header.insert(1, "date");
    }
    let of = subject.map_or_else(String::new, |subject| format!("{} ", output::cut(subject, 2 * NAME)));
    titled(&format!("{of}by match, in {}", measure.words), &header, rows.collect(), MATCHES)
}

/// A row for each opponent, if there is more than one.
fn opponents(session: &Session, measure: &Measure) -> String {
    let (Some(subject), [_, _, ..]) = (&session.subject, &session.opponents[..]) else {
        return String::new();
    };
    let row = |one: &OpponentReview| {
        let [rating, error] = rated(one.rating.as_ref());
        let theirs = one.opponent_rating.map_or_else(|| "–".into(), |theirs| format!("{theirs:.2}"));
        let mut cells = vec![output::cut(&one.opponent, NAME)];
        cells.extend([one.matches.to_string(), one.games.to_string(), rating, error, theirs]);
        cells.extend([one.result, one.adjusted].map(|sum| measure.sum(sum)));
        cells
    };
    let header = ["opponent", "matches", "games", "PR", "95 %", "their PR", "result", "less luck"];
    let rows = session.opponents.iter().map(row).collect();
    titled(&format!("{} by opponent", output::cut(subject, 2 * NAME)), &header, rows, OPPONENTS)
}

/// A row for each group of matches.
fn over_time(session: &Session, measure: &Measure) -> String {
    let all = &session.over_time;
    let is_dated = all.iter().all(|period| period.dates.is_some());
    let is_rated = all.iter().any(|period| period.rating.is_some());
    let row = |period: &Period| {
        let [first, last] = period.matches;
        let mut cells = vec![if first == last { first.to_string() } else { format!("{first}–{last}") }];
        if let (Some([first, last]), true) = (&period.dates, is_dated) {
            cells.push(if first == last { first.clone() } else { format!("{first} to {last}") });
        }
        cells.extend([period.games.to_string(), period.decisions.to_string()]);
        match is_rated {
            true => cells.extend(rated(period.rating.as_ref())),
            false => cells.push(measure.mean(period.loss_per_decision)),
        }
        cells
    };
    let mut header = vec!["matches", "games", "decisions"];
    header.extend(if is_rated { &["PR", "95 %"][..] } else { &["loss per decision"] });
    if is_dated {
        header.insert(1, "dates");
    }
    let who =
        session.subject.as_ref().map_or_else(|| "all players".into(), |name| output::cut(name, 2 * NAME));
    let order = if is_dated { "by date" } else { "in the order of the files" };
    titled(&format!("{who} over time, {order}"), &header, all.iter().map(row).collect(), all.len())
}

/// How results vary from match to match, with luck and without.
fn spread(all: &[Spread], measure: &Measure) -> String {
    let row = |one: &Spread| {
        let sd = |sd: f64| format!("{:.2}", measure.of_amount(sd));
        vec![
            output::cut(&one.player, NAME),
            one.matches.to_string(),
            measure.sum(one.mean),
            sd(one.sd),
            measure.sum(one.adjusted_mean),
            sd(one.adjusted_sd),
        ]
    };
    let header = ["player", "matches", "mean result", "sd", "mean less luck", "sd less luck"];
    let title = format!("results of matches, in {}: the spread (sd) with luck and without", measure.words);
    titled(&title, &header, all.iter().map(row).collect(), PLAYERS)
}
