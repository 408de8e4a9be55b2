//! The command `review`.

use super::play::game_of;
use super::report::check_page;
use super::review_sgf::{self, keep_input};
use super::session::{self, Measure};
use crate::args::ReviewArgs;
use crate::interrupt::on_interrupt;
use crate::output;
use crate::program;
use adept_ground::files::Files;
use adept_ground::shown::{shell, shell_path};
use adept_lab::Catalogue;
use adept_lab::decisions::worst_decisions;
use adept_lab::review::{
    self, BothJudges, Decisions, Depths, DisagreedDecision, Errors, PAGE_ACTIONS, PlayerReview, Review,
    ReviewOptions, Worst,
};
use anyhow::{Result, bail};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What is said at Ctrl-C.
const STOPPING: &str = "\nstopping, with the games reviewed so far (again to stop at once)";

pub(crate) fn run(games: &dyn Catalogue, args: &ReviewArgs, as_json: bool) -> Result<()> {
    let options = ReviewOptions {
        files: args.files.clone(),
        agent: args.by.clone(),
        then: args.then.clone(),
        best: args.best,
        player: args.player.clone(),
        worst: args.worst as usize,
        threads: args.threads,
        as_played: args.game.is_none(),
        judged: args.sgf.is_some(),
        steps: args.html.as_ref().map(|_| PAGE_ACTIONS),
    };
    let files = Files::default();
    // Fail early, before the review.
    for (option, path) in [("--html", &args.html), ("--decisions", &args.decisions)] {
        let Some(path) = path else { continue };
        keep_input(option, path, &args.files)?;
        if option == "--html" {
            check_page(path)?;
        }
        files.try_file(path)?;
    }
    let outputs: Vec<&PathBuf> = [&args.html, &args.decisions, &args.sgf].into_iter().flatten().collect();
    if let Some(twice) =
        outputs.iter().enumerate().find_map(|(i, path)| outputs[..i].contains(path).then_some(path))
    {
        bail!("{}: two options would write this file: name another one", twice.display());
    }
    if let Some(out) = &args.sgf {
        review_sgf::check(out, &args.files)?;
    }
    let game = game_of(games, &args.by, args.game.as_deref(), args.best)?;
    let found = game.review(&options, &on_interrupt(STOPPING), &|_| {})?;
    // The review is shown even if a file cannot be written.
    let mut written = String::new();
    let outcome = write_files(args, &files, &found, &mut written);
    output::show(as_json, || &found, || text(&found) + &written)?;
    outcome?;
    if !found.finished {
        bail!("stopped before the end: these are {} of the games", found.games);
    }
    Ok(())
}

/// Writes the files that the options name, and what is said of them.
fn write_files(args: &ReviewArgs, files: &Files, found: &Review, written: &mut String) -> Result<()> {
    if let Some(path) = &args.html {
        let page = review::page(found, &command(args));
        keep_input("--html", path, &found.files)?;
        files.replace(path, page.as_bytes())?;
        written.push_str(&format!("\nwritten: {} ({} kB)\n", path.display(), page.len() / 1000));
    }
    if let Some(path) = &args.decisions {
        write_decisions(found, path)?;
    }
    if let Some(out) = &args.sgf {
        written.push_str(&review_sgf::write(files, out, found)?);
    }
    Ok(())
}

/// The command that makes this page again.
fn command(args: &ReviewArgs) -> String {
    let mut words = vec![program::name().to_string(), "review".into()];
    words.extend(args.files.iter().map(|file| shell_path(file)));
    let mut add = |option: &str, value: &str| words.push(format!("{option} {}", shell(value)));
    add("--by", &args.by);
    args.then.iter().for_each(|then| add("--then", then));
    args.game.iter().for_each(|game| add("--game", game));
    args.player.iter().for_each(|player| add("--player", player));
    words.extend(args.best.then(|| "--best".to_string()));
    words.extend(args.html.iter().map(|html| format!("--html {}", shell_path(html))));
    words.join(" ")
}

/// Writes the worst decisions to a file, or, if they are of several rule sets, to a file for each of them, with the name of the rule set.
fn write_decisions(found: &Review, path: &Path) -> Result<()> {
    let mut rules: Vec<&str> = Vec::new();
    for worst in &found.worst {
        if !rules.contains(&&*worst.rules) {
            rules.push(&worst.rules);
        }
    }
    if rules.is_empty() {
        output::say(format!("{}: not written, because there are no decisions to list", path.display()));
    }
    for name in &rules {
        let path = if rules.len() > 1 { path_of_rules(path, name) } else { path.to_path_buf() };
        let worst: Vec<&Worst> = found.worst.iter().filter(|worst| worst.rules == *name).collect();
        let by = [&found.by].into_iter().chain(&found.then).map(String::as_str).collect::<Vec<_>>();
        let text = worst_decisions(&worst, &by.join(", then "), found.unit.as_deref());
        keep_input("--decisions", &path, &found.files)?;
        Files::default().replace(&path, text.as_bytes())?;
        let count = if worst.len() == 1 { "1 decision".into() } else { format!("{} decisions", worst.len()) };
        output::say(format!("{}: {count} of {name}", path.display()));
    }
    Ok(())
}

/// A path with the name of a rule set before its ending: `worst-backgammon-match-7.csv`.
fn path_of_rules(path: &Path, rules: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let rules = rules.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "-");
    let end = path.extension().map_or_else(String::new, |end| format!(".{}", end.to_string_lossy()));
    path.with_file_name(format!("{stem}-{rules}{end}"))
}

/// Columns before what is said of a move.
const INDENT: usize = 9;

/// Faults that are listed.
const FAULTS: usize = 10;

/// Columns of a name of a player or a file.
const NAME: usize = 24;

/// Columns of a word of a fault.
const WORD: usize = 64;

/// The names of files without their folders; of equal names, each with as many folders as tell it apart.
pub(super) fn names_of(files: &[PathBuf]) -> HashMap<&Path, String> {
    let mut names = HashMap::new();
    let mut left: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let most = left.iter().map(|file| file.components().count()).max().unwrap_or(0);
    for count in 1..=most {
        let end = |file: &Path| -> PathBuf {
            file.components().skip(file.components().count().saturating_sub(count)).collect()
        };
        let mut alike = HashMap::<PathBuf, usize>::new();
        left.iter().for_each(|file| *alike.entry(end(file)).or_default() += 1);
        left.retain(|&file| {
            let name = end(file);
            let is_known = alike[&name] == 1 || count == most;
            if is_known {
                let width = if name.components().count() == 1 { NAME } else { WORD };
                names.insert(file, output::cut(&name.to_string_lossy(), width));
            }
            !is_known
        });
    }
    // Cut names may be equal again.
    let mut shown = HashMap::<String, usize>::new();
    names.values().for_each(|name| *shown.entry(name.clone()).or_default() += 1);
    for (file, name) in &mut names {
        if shown[name] > 1 {
            *name = file.display().to_string();
        }
    }
    names
}

/// Half the width of a 95 % interval behind a number.
fn error(ci95: Option<f64>, digits: usize) -> String {
    ci95.map_or_else(String::new, |half| format!(" ±{half:.digits$}"))
}

/// Errors as players of the game count them; empty if they do not.
fn errors(found: &Review) -> String {
    let row = |name: &str, errors: &Errors| {
        let Errors { error_rate, performance_rating, snowie, grade, unforced_moves, .. } = errors;
        let cubes = errors.close_doubles + errors.answers;
        let lost = match errors.lost_chance {
            Some(chance) => format!("{:.2} %", 100.0 * chance),
            None => format!("{:.3}", errors.lost_by_moves + errors.lost_by_doubles + errors.lost_by_answers),
        };
        vec![
            output::cut(name, NAME / 2 - 2),
            format!("{error_rate:.1}"),
            format!("{performance_rating:.2}"),
            snowie.map_or_else(|| "–".into(), |rate| format!("{rate:.1}")),
            (*grade).to_string(),
            unforced_moves.to_string(),
            cubes.to_string(),
            lost,
            [errors.doubtful, errors.bad, errors.very_bad].map(|n| n.to_string()).join("/"),
        ]
    };
    let mut rows: Vec<Vec<String>> =
        found.players.iter().filter_map(|player| Some(row(&player.name, player.errors.as_ref()?))).collect();
    if rows.is_empty() {
        return String::new();
    }
    if rows.len() > 1 {
        rows.extend(found.errors.iter().map(|errors| row("all", errors)));
    }
    let header = ["player", "rate", "PR", "Snowie", "grade", "moves", "cubes", "lost", "?!/?/??"];
    let is_match = found.errors.iter().any(|errors| errors.lost_chance.is_some());
    let lost = if is_match { "chance to win the match that was lost" } else { "points that were lost" };
    let key = format!(
        "rate: thousandths of a point per decision that counts, as GNU Backgammon counts; PR: as eXtreme Gammon counts; moves: with a choice; \
         cubes: close or wrong; lost: {lost}; ?! doubtful from .03 points, ? bad from .06, ?? very bad from .12"
    );
    format!("\n{}{}", output::table(&header, rows), output::wrapped(&key))
}

/// Most names of other judges that are shown.
const JUDGES: usize = 3;

/// What other programs say in the files, beside the review; empty if they say nothing.
fn others(found: &Review) -> String {
    let row = |name: &str, both: &BothJudges| {
        let pair = |value: &dyn Fn(&Errors) -> String| {
            [&both.ours, &both.theirs].map(|errors| errors.as_ref().map_or_else(|| "–".into(), value))
        };
        let mut cells = vec![
            output::cut(name, NAME / 2 - 2),
            both.decisions.to_string(),
            format!("{:.1}", 100.0 * both.agreed_share),
        ];
        cells.extend(pair(&|errors| format!("{:.1}", errors.error_rate)));
        cells.extend(pair(&|errors| format!("{:.2}", errors.performance_rating)));
        cells.extend(pair(&|errors| format!("{:+.2}", errors.luck)));
        cells
    };
    let mut rows: Vec<Vec<String>> =
        found.players.iter().filter_map(|player| Some(row(&player.name, player.both.as_ref()?))).collect();
    if rows.is_empty() {
        return String::new();
    }
    if rows.len() > 1 {
        rows.extend(found.both.iter().map(|both| row("all", both)));
    }
    let shown = found.judges.iter().take(JUDGES);
    let mut names: Vec<String> =
        shown.map(|judge| format!("{} ({})", output::cut(&judge.name, NAME), judge.decisions)).collect();
    if found.judges.len() > JUDGES {
        names.push(format!("{} others", found.judges.len() - JUDGES));
    }
    let head = output::wrapped(&format!("the analysis in the files, by {}", names.join(", ")));
    let header = ["player", "decisions", "same %", "rate", "theirs", "PR", "theirs", "luck", "theirs"];
    let key = "rate, PR and luck: of the decisions that both judged, counted in the same way; same: both name the same best action";
    let mut text = format!("\n{head}{}{}", output::table(&header, rows), output::wrapped(key));
    if !found.disagreements.is_empty() {
        text.push_str("\nlargest disagreements, in points\n");
    }
    let files = names_of(&found.files);
    for one in &found.disagreements {
        let DisagreedDecision { game, number, player, position, played, our_best, their_best, .. } = one;
        let file = match found.files.len() {
            1 => String::new(),
            _ => format!("{}, ", files[&*one.file]),
        };
        let losses = format!("  {:.3} {:.3}", one.our_loss, one.their_loss);
        let place = format!("{file}game {game}, move {number}, {}: {position}", output::cut(player, NAME));
        text.push_str(&output::entry(&losses, INDENT + 5, &place));
        let judge = output::cut(&one.judge, NAME);
        let loses = one.our_loss_of_their_best.filter(|loses| *loses > 0.0);
        let loses = loses.map_or_else(String::new, |loses| format!(", which loses {loses:.3} here"));
        let bests = match our_best == their_best {
            true => format!("played {played}, best {our_best}"),
            false => format!("played {played}, best {our_best}, by {judge} {their_best}{loses}"),
        };
        text.push_str(&output::entry("", INDENT + 5, &bests));
    }
    text
}

/// The review for people.
fn text(found: &Review) -> String {
    let measure = Measure::of(found);
    let decisions = |all: &Decisions| {
        let Decisions { decisions, loss_per_decision, loss_ci95, wrong_share, .. } = all;
        let half = loss_ci95.map_or_else(String::new, |half| format!(" ±{}", measure.mean(half)));
        let loss = format!("{}{half}", measure.mean(*loss_per_decision));
        [decisions.to_string(), loss, format!("{:.1}", 100.0 * wrong_share)]
    };
    let row = |player: &PlayerReview| {
        let own = decisions(&player.decisions);
        let mut cells = vec![output::cut(&player.name, NAME), player.games.to_string()];
        cells.extend(own);
        let half = player.luck_ci95.map(|half| measure.of_amount(half));
        cells.push(format!("{}{}", measure.sum(player.luck), error(half, 2)));
        cells.extend(match player.results {
            0 => ["–".to_string(), "–".to_string()],
            _ => [player.result, player.adjusted].map(|sum| measure.sum(sum)),
        });
        cells
    };
    let mut rows: Vec<Vec<String>> = found.players.iter().map(row).collect();
    if rows.len() > 1 {
        let [count, loss, wrong] = decisions(&found.total);
        let empty = [(); 3].map(|()| String::new());
        rows.push([vec!["all".into(), found.games.to_string(), count, loss, wrong], empty.to_vec()].concat());
    }
    let header =
        ["player", "games", "decisions", "loss per decision", "wrong %", "luck", "result", "less luck"];
    let mut text = output::wrapped(&format!(
        "{} game{} of {}, in {}, by {}",
        found.games,
        if found.games == 1 { "" } else { "s" },
        match found.files.len() {
            1 => found.file.display().to_string(),
            files => format!("{files} files"),
        },
        measure.words,
        match &found.references[..] {
            [] => found.by.clone(),
            all => format!("{} and, where they know the value, {}", found.by, all.join(", ")),
        }
    ));
    for then in &found.then {
        text.push_str(&output::wrapped(&format!("what seems wrong was judged again by {then}")));
    }
    text.push_str(&format!("\n{}", output::table(&header, rows)));
    if found.players.iter().any(|player| player.results < player.games) {
        text.push_str("games without a result count as luck alone\n");
    }
    if measure.is_chance {
        text.push_str("a match that is won counts +50 %: the chance to win it rises from 50 % to 100 %\n");
    }
    text.push_str(&errors(found));
    let names = names_of(&found.files);
    text.push_str(&session::text(found, &names));
    if !found.faults.is_empty() {
        let many = if found.faults.len() == 1 { "fault" } else { "faults" };
        text.push_str(&format!("\n{} {many}: each game was read up to its fault\n", found.faults.len()));
        for fault in found.faults.iter().take(FAULTS) {
            // A file that could not be read at all is named already, by a path to copy.
            let why = match fault.game {
                Some(_) => format!("{}: {}", names[&*fault.file], output::cut_words(&fault.why, WORD)),
                None => fault.why.clone(),
            };
            text.push_str(&output::entry("  ", 2, &why));
        }
        if found.faults.len() > FAULTS {
            text.push_str(&format!("  … and {} more, with --json\n", found.faults.len() - FAULTS));
        }
    }
    if found.total.undecided_share > 0.0 {
        text.push_str(&output::wrapped(&format!(
            "{:.1} % of the decisions are undecided: their loss lies within the error of the estimates (95 %), and is not counted",
            100.0 * found.total.undecided_share
        )));
    }
    if let Some(Depths { decisions, unsearched, plies }) = found.search {
        match plies {
            Some([least, most]) if least < most => {
                text.push_str(&output::wrapped(&format!("the search looked {least} to {most} plies ahead")))
            }
            _ => {}
        }
        if unsearched > 0 {
            text.push_str(&output::wrapped(&format!(
                "at {unsearched} of {decisions} decisions the search stopped before it looked ahead, and the values are without a search"
            )));
        }
    }
    if !found.worst.is_empty() {
        let is_in_points = found.worst.iter().all(|worst| worst.points.is_some());
        text.push_str(match (is_in_points, measure.is_chance) {
            (true, true) => "\nworst decisions, in points, and in % of the chance to win the match\n",
            (true, false) => "\nworst decisions, in points\n",
            (false, _) => "\nworst moves\n",
        });
    }
    for one in &found.worst {
        let Worst { file, game, number, player, position, played, best, loss, loss_ci95, shortfall, .. } =
            one;
        let file = match found.files.len() {
            1 => String::new(),
            _ => format!("{}, ", names[&**file]),
        };
        let place = format!("{file}game {game}, move {number}, {}: {position}", output::cut(player, NAME));
        text.push_str(&output::entry(&format!("  {:.3}", one.points.unwrap_or(*loss)), INDENT, &place));
        let error = match loss_ci95 {
            Some(half) if measure.is_chance => format!(", loss ±{:.2} %", measure.of_amount(*half)),
            Some(half) => format!(", loss ±{half:.3}"),
            None => String::new(),
        };
        let chance = match measure.is_chance {
            true => format!(" ({:.2} %)", measure.of_amount(*loss)),
            false => String::new(),
        };
        let names: Vec<&str> = one.mark.into_iter().chain(one.error).collect();
        let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(" ")) };
        text.push_str(&output::entry(
            "",
            INDENT,
            &format!("played {played}, best {best}{error}{names}{chance}"),
        ));
        shortfall.iter().for_each(|what| text.push_str(&output::entry("", INDENT, what)));
    }
    text.push_str(&others(found));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_lab::review::{
        Candidate, Fault, KindErrors, MatchPlayer, MatchReview, OpponentReview, OtherJudge, Period, Rating,
        Session, Spread,
    };
    use textwrap::core::display_width;

    /// A review with names, files and positions that are as long as they may be.
    fn review(name: &str) -> Review {
        let decisions = Decisions {
            decisions: 123_456,
            loss_per_decision: 0.1234,
            loss_ci95: None,
            wrong_share: 0.5,
            undecided_share: 0.1,
        };
        let file = PathBuf::from("folder").join(format!("{name}.mat"));
        let errors = Errors {
            error_rate: 123.4,
            performance_rating: 123.45,
            snowie: Some(123.4),
            grade: "casual player",
            moves: 123_456,
            unforced_moves: 123_456,
            close_doubles: 12_345,
            non_obvious_doubles: 12_345,
            answers: 1_234,
            lost_by_moves: 123.4,
            lost_by_doubles: 12.34,
            lost_by_answers: 1.234,
            lost_chance: Some(1.23),
            doubtful: 123,
            bad: 123,
            very_bad: 123,
            luck: -12.3,
        };
        let both = BothJudges {
            decisions: 12_345,
            agreed_share: 0.9876,
            ours: Some(errors.clone()),
            theirs: Some(errors.clone()),
        };
        let disagreement = DisagreedDecision {
            file: file.clone(),
            game: 12_345,
            number: 12_345,
            player: name.into(),
            position: "bar:2 off:3 24:1 22:2 13:2 8:3 6:2/off:1 20:2 18:2 13:4 8:2 6:3 5:1 66".into(),
            played: "bar/24* 24/18*(2) 13/7".into(),
            judge: name.into(),
            our_best: "bar/24*(2) 13/7*(2)".into(),
            their_best: "bar/24*(2) 24/18*(2)".into(),
            our_loss: 1.234,
            their_loss: 0.123,
            our_loss_of_their_best: Some(1.234),
        };
        let player = PlayerReview {
            name: name.into(),
            games: 12_345,
            decisions,
            luck: -12.34,
            luck_ci95: None,
            results: 12_345,
            result: -123.0,
            adjusted: -123.0,
            errors: Some(errors.clone()),
            both: Some(both.clone()),
        };
        let worst = Worst {
            points: Some(1.234),
            mark: Some("very bad"),
            error: Some("too good to double"),
            file: file.clone(),
            game: 12_345,
            number: 12_345,
            player: name.into(),
            position: "bar:2 off:3 24:1 22:2 13:2 8:3 6:2/off:1 20:2 18:2 13:4 8:2 6:3 5:1 66".into(),
            played: "bar/24* 24/18*(2) 13/7".into(),
            best: "bar/24*(2) 13/7*(2)".into(),
            loss: 1.234,
            loss_ci95: Some(0.123),
            shortfall: Some("stopped after 2 of 3 plies".into()),
            rules: "backgammon".into(),
            class: "contact".into(),
            decision: "move",
            candidates: vec![
                Candidate { action: "bar/24*(2) 13/7*(2)".into(), equity: 0.5, loss: 0.0, error: 0.0 },
                Candidate {
                    action: "bar/24* 24/18*(2) 13/7".into(),
                    equity: -0.734,
                    loss: 1.234,
                    error: 0.0,
                },
            ],
        };
        let why =
            format!("line 12345: game 12345, move 12345: `{name}` of {name}: it is the other player's turn");
        Review {
            file: file.clone(),
            files: vec![file.clone(), file.clone()],
            faults: vec![Fault { file, game: Some(12_345), why }],
            game: "backgammon".into(),
            by: "backgammon".into(),
            then: vec!["search:2:backgammon".into()],
            references: Vec::new(),
            unit: Some("points".into()),
            games: 12_345,
            players: vec![player.clone(), player],
            total: decisions,
            errors: Some(errors),
            search: Some(Depths { decisions: 123_456, unsearched: 1_234, plies: Some([2, 3]) }),
            worst: vec![worst],
            both: Some(both),
            judges: (0..5).map(|_| OtherJudge { name: name.into(), decisions: 123_456 }).collect(),
            disagreements: vec![disagreement],
            finished: true,
            steps: Vec::new(),
            judged: Vec::new(),
            unit_size: 1.0,
            session: session(name, &["back-game", "contact"]),
        }
    }

    /// Tables of three matches with numbers that are as long as they may be.
    fn session(name: &str, positions: &[&str]) -> Session {
        let kind = |player: Option<&str>, position: &str, decision| KindErrors {
            player: player.map(String::from),
            position: position.into(),
            decision,
            decisions: 123_456,
            wrong: 123_456,
            lost: 1234.567,
            counted: 123_456,
            points: 1234.567,
            performance_rating: Some(123.45),
        };
        let kinds = positions.iter().flat_map(|position| {
            ["move", "double", "answer"].map(|decision| kind(Some(name), position, decision))
        });
        let rating = Some(Rating { performance_rating: 123.45, ci95: Some(123.45) });
        let player = MatchPlayer {
            name: name.into(),
            opponents: vec![name.into(), name.into()],
            decisions: 123_456,
            loss_per_decision: 0.1234,
            rating,
            luck: -12.34,
            results: 12_345,
            result: -123.0,
            adjusted: -123.0,
        };
        let one = MatchReview {
            file: PathBuf::from("folder").join(format!("{name}.mat")),
            date: Some("2024-01-05".into()),
            games: 12_345,
            players: vec![player],
        };
        let opponent = OpponentReview {
            player: name.into(),
            opponent: name.into(),
            matches: 12_345,
            games: 123_456,
            rating,
            opponent_rating: Some(123.45),
            result: -123.0,
            adjusted: -123.0,
        };
        let period = Period {
            matches: [12_345, 12_346],
            dates: Some(["2024-01-05".into(), "2024-12-31".into()]),
            games: 123_456,
            decisions: 1_234_567,
            loss_per_decision: 0.1234,
            rating,
        };
        let spread = Spread {
            player: name.into(),
            matches: 12_345,
            mean: -123.45,
            sd: 123.45,
            adjusted_mean: -123.45,
            adjusted_sd: 123.45,
        };
        Session {
            kinds: kinds.collect(),
            matches: vec![one; 30],
            subject: Some(name.into()),
            opponents: vec![opponent; 30],
            over_time: vec![period; 10],
            spread: vec![spread],
        }
    }

    #[test]
    fn a_single_match_has_no_tables_of_matches() {
        let mut found = review("Ann");
        assert!(text(&found).contains("\n… and 10 more, with --json\n"), "{}", text(&found));
        for title in ["\nAnn by match, in points\n", "\nAnn by opponent\n", "\nAnn over time, by date\n"] {
            assert!(text(&found).contains(title), "{}", text(&found));
        }
        found.session.matches.truncate(1);
        found.session.opponents.truncate(1);
        let shown = text(&found);
        assert!(shown.contains("\nerrors of Ann by kind of position and decision\n"), "{shown}");
        assert!(
            !["by match", "by opponent", "over time"].iter().any(|title| shown.contains(title)),
            "{shown}"
        );
    }

    /// Of matches, all is said as a chance to win; of points, in points.
    #[test]
    fn one_unit_goes_through_the_whole_text() {
        let mut found = review("Ann");
        found.unit = None;
        found.players[0].result = 1.0;
        let shown = text(&found).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            !shown.contains("utility") && shown.contains("in % of the chance to win the match,"),
            "{shown}"
        );
        assert!(
            shown.contains("+50.00") && shown.contains("very bad too good to double (61.70 %)"),
            "{shown}"
        );
        found.unit = Some("points".into());
        for errors in found.players.iter_mut().map(|player| &mut player.errors).chain([&mut found.errors]) {
            errors.as_mut().unwrap().lost_chance = None;
        }
        let shown = text(&found).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("in points, by") && !shown.contains("chance to win"), "{shown}");
    }

    #[test]
    fn files_of_several_rule_sets_are_named_by_them() {
        let path = path_of_rules(Path::new("folder/worst.csv"), "backgammon:match-7");
        assert_eq!(path, Path::new("folder/worst-backgammon-match-7.csv"));
        assert_eq!(path_of_rules(Path::new("worst"), "a"), Path::new("worst-a"));
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        for name in ["Ann", "x", "日本", "\u{1b}[31m", "a b", "\u{202e}"] {
            let text = text(&review(&name.repeat(200)));
            assert!(text.lines().all(|line| display_width(line) <= output::COLUMNS), "{text}");
            assert!(text.contains("best bar/24*(2) 13/7*(2)") && text.contains("66"), "{text}");
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
        }
    }

    #[test]
    fn files_of_one_name_are_told_apart() {
        let files = ["a/x.mat", "b/x.mat", "b/y.mat", "c/d/z.mat", "e/d/z.mat", "x.mat"].map(PathBuf::from);
        let names = names_of(&files);
        let named: Vec<&str> = files.iter().map(|file| &*names[&**file]).collect();
        assert_eq!(named, ["a/x.mat", "b/x.mat", "y.mat", "c/d/z.mat", "e/d/z.mat", "x.mat"]);
        // Folders that tell files apart are not cut like names.
        let files = ["monday", "tuesday"].map(|day| PathBuf::from(format!("club-tournament-{day}/x.mat")));
        assert_eq!(names_of(&files)[&*files[1]], "club-tournament-tuesday/x.mat");
        let files =
            ["1", "2"].map(|round| PathBuf::from(format!("match-between-ann-and-bo-round-{round}.mat")));
        assert_eq!(names_of(&files)[&*files[1]], "match-between-ann-and-bo-round-2.mat");
    }

    #[test]
    fn decisions_that_a_search_did_not_reach_are_counted() {
        let mut found = review("Ann");
        let shown = text(&found).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            shown.contains("looked 2 to 3 plies ahead at 1234 of 123456 decisions the search"),
            "{shown}"
        );
        assert!(shown.contains("stopped after 2 of 3 plies"), "{shown}");
        found.search = Some(Depths { decisions: 123_456, unsearched: 0, plies: Some([2, 2]) });
        found.worst[0].shortfall = None;
        found.then.clear();
        assert!(!text(&found).contains("search"), "{}", text(&found));
    }
}
