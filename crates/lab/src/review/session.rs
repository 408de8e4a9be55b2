//! A review over several matches: errors by match, by opponent, over time and by kind, and how results vary with and without luck.

use super::PlaceInFiles;
use crate::statistics::mean_sd;
use adept_arena::review::{Account, ByKind, KINDS, Reviewed, Tally};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

/// Largest number of groups of matches over time.
const GROUPS: usize = 10;

/// Errors per decision that counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rating {
    /// Performance rating, as eXtreme Gammon counts: 500 times the points lost per decision that counts.
    pub performance_rating: f64,
    /// Half the width of its 95 % interval, over games; none with fewer than two games.
    #[serde(rename = "performance_ci95", skip_serializing_if = "Option::is_none")]
    pub ci95: Option<f64>,
}

impl Rating {
    /// The rating over games; none if nothing counts. The error is that of a ratio of sums: its residuals in each game, with the quantile of
    /// Student for so many games.
    fn over<'a>(games: impl Iterator<Item = &'a Tally>) -> Option<Self> {
        let games: Vec<(f64, f64)> = games
            .map(|tally| (tally.total(), tally.counted()[1] as f64))
            .filter(|(_, counted)| *counted > 0.0)
            .collect();
        let n = games.len() as f64;
        let (lost, counted) = games.iter().fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
        if games.is_empty() {
            return None;
        }
        let ratio = lost / counted;
        let squares: f64 = games.iter().map(|(lost, counted)| (lost - ratio * counted).powi(2)).sum();
        let half = || {
            let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
            Some(500.0 * student.inverse_cdf(0.975) * (squares * n / (n - 1.0)).sqrt() / counted)
        };
        Some(Self { performance_rating: 500.0 * ratio, ci95: if games.len() > 1 { half() } else { None } })
    }
}

/// Decisions of one kind in positions of one class. Losses are in the unit of the game, otherwise utility.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KindErrors {
    /// The player; none for all that the review shows.
    pub player: Option<String>,
    /// The class of positions.
    pub position: String,
    /// The kind of decision: move, double, or answer to a double.
    pub decision: &'static str,
    /// Number of decisions with more than one action.
    pub decisions: u64,
    /// Number of these that lost something.
    pub wrong: u64,
    /// The loss.
    pub lost: f64,
    /// Number of decisions that count for the performance rating.
    pub counted: u64,
    /// Points lost, as players of the game count.
    pub points: f64,
    /// 500 times the points lost per decision that counts; none if nothing counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub performance_rating: Option<f64>,
}

/// A player in a match. Luck and results are in the unit of the game, otherwise utility.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchPlayer {
    /// The name.
    pub name: String,
    /// The opponents, in order of appearance.
    pub opponents: Vec<String>,
    /// Number of decisions with more than one action.
    pub decisions: u64,
    /// Mean loss per decision.
    pub loss_per_decision: f64,
    /// Errors as players of the game count them.
    #[serde(flatten)]
    pub rating: Option<Rating>,
    /// The luck of all rolls.
    pub luck: f64,
    /// Number of games with a result.
    pub results: u64,
    /// Sum of these results.
    pub result: f64,
    /// Sum of these results less the luck of these games.
    pub adjusted: f64,
}

/// The games of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchReview {
    /// The file.
    pub file: PathBuf,
    /// The date that the file tells, such as `2024-01-05`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Number of games.
    pub games: u64,
    /// The players that the review shows.
    pub players: Vec<MatchPlayer>,
}

/// The matches of a player against one opponent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpponentReview {
    /// The player.
    pub player: String,
    /// The opponent.
    pub opponent: String,
    /// Number of files.
    pub matches: usize,
    /// Number of games.
    pub games: u64,
    /// Errors of the player.
    #[serde(flatten)]
    pub rating: Option<Rating>,
    /// Performance rating of the opponent in these games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opponent_rating: Option<f64>,
    /// Sum of the results of the player.
    pub result: f64,
    /// Sum of these results less luck.
    pub adjusted: f64,
}

/// Matches that follow each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Period {
    /// The first and the last match, from 1, in the order of [`Session::matches`].
    pub matches: [usize; 2],
    /// The dates of both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dates: Option<[String; 2]>,
    /// Number of games.
    pub games: u64,
    /// Number of decisions with more than one action.
    pub decisions: u64,
    /// Mean loss per decision.
    pub loss_per_decision: f64,
    /// Errors as players of the game count them.
    #[serde(flatten)]
    pub rating: Option<Rating>,
}

/// Results of a player over matches whose games all have a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The player.
    pub player: String,
    /// Number of matches, at least 2.
    pub matches: usize,
    /// Mean result of a match.
    pub mean: f64,
    /// Standard deviation of the results.
    pub sd: f64,
    /// Mean result less luck.
    pub adjusted_mean: f64,
    /// Standard deviation of the results less luck.
    pub adjusted_sd: f64,
}

/// What a review says of several matches, and of the kinds of decisions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Session {
    /// Errors by class of positions and kind of decision: of each player that the review shows, then of all of these.
    pub kinds: Vec<KindErrors>,
    /// The files with games: by date if all tell one, otherwise in the order of the files.
    pub matches: Vec<MatchReview>,
    /// The player whose opponents and course these are: the one that was asked for, or the only one who is in all of several matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The opponents of that player, the one with the most games first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opponents: Vec<OpponentReview>,
    /// Groups of matches in order, of that player, or of all that the review shows; empty for a single match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub over_time: Vec<Period>,
    /// How the results of matches vary, of each player with at least two.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spread: Vec<Spread>,
}

/// The games of a review.
pub(super) struct Games<'a> {
    /// The files, and the date that each tells.
    pub(super) files: &'a [PathBuf],
    pub(super) dates: &'a [Option<String>],
    /// The reviewed games, the place and the players of each.
    pub(super) reviewed: &'a [Option<Reviewed>],
    pub(super) places: &'a [PlaceInFiles],
    pub(super) seats: &'a [[usize; 2]],
    /// The names of the players.
    pub(super) names: &'a [&'a str],
    /// The only player to show; all if none.
    pub(super) wanted: Option<usize>,
    /// The names of the classes of positions.
    pub(super) classes: &'a [&'static str],
    /// The utility of the unit.
    pub(super) size: f64,
}

/// A game in one seat.
#[derive(Clone, Copy)]
struct Seat<'a> {
    player: usize,
    opponent: usize,
    account: &'a Account,
    theirs: &'a Account,
}

/// The name of a class of positions, or its number.
pub(super) fn class_name(classes: &[&'static str], class: u64) -> String {
    let name = usize::try_from(class).ok().and_then(|class| classes.get(class));
    name.map_or_else(|| class.to_string(), |name| (*name).to_string())
}

/// Sums over seats.
fn sum(seats: &[Seat<'_>]) -> Account {
    seats.iter().fold(Account::default(), |sum, seat| sum.and(*seat.account))
}

/// The rating over seats.
fn rating(seats: &[Seat<'_>]) -> Option<Rating> {
    Rating::over(seats.iter().map(|seat| &seat.account.tally))
}

impl Games<'_> {
    fn is_shown(&self, player: usize) -> bool {
        self.wanted.is_none_or(|wanted| wanted == player)
    }

    /// Seats of the players that are shown, by file.
    fn by_file(&self) -> BTreeMap<usize, Vec<Seat<'_>>> {
        let mut files = BTreeMap::<usize, Vec<Seat<'_>>>::new();
        for ((reviewed, place), seats) in self.reviewed.iter().zip(self.places).zip(self.seats) {
            let Some(Reviewed { players: [first, second], .. }) = reviewed else { continue };
            let both = [(seats[0], seats[1], first, second), (seats[1], seats[0], second, first)];
            for (player, opponent, account, theirs) in both {
                if self.is_shown(player) {
                    let seat = Seat { player, opponent, account, theirs };
                    files.entry(place.file).or_default().push(seat);
                }
            }
        }
        files
    }

    fn kinds(&self) -> Vec<KindErrors> {
        let mut players = BTreeMap::<usize, ByKind>::new();
        let mut all = ByKind::new();
        for (reviewed, seats) in self.reviewed.iter().zip(self.seats) {
            let kinds = reviewed.iter().flat_map(|reviewed| &reviewed.kinds);
            for (kinds, &player) in kinds.zip(seats).filter(|(_, player)| self.is_shown(**player)) {
                for (key, sum) in kinds {
                    for known in [players.entry(player).or_default(), &mut all] {
                        let entry = known.entry(*key).or_default();
                        *entry = entry.and(*sum);
                    }
                }
            }
        }
        let all = (players.len() > 1).then_some((None, all));
        let players = players.into_iter().map(|(player, kinds)| (Some(self.names[player]), kinds));
        let errors = |(player, kinds): (Option<&str>, ByKind)| -> Vec<KindErrors> {
            let one = |((class, kind), sum): ((u64, usize), adept_arena::review::KindSum)| KindErrors {
                player: player.map(String::from),
                position: class_name(self.classes, class),
                decision: KINDS[kind],
                decisions: sum.decisions,
                wrong: sum.wrong,
                lost: sum.loss / self.size,
                counted: sum.counted,
                points: sum.points,
                performance_rating: (sum.counted > 0).then(|| 500.0 * sum.points / sum.counted as f64),
            };
            kinds.into_iter().map(one).collect()
        };
        players.chain(all).flat_map(errors).collect()
    }

    /// The session of these games.
    pub(super) fn session(&self) -> Session {
        let mut files: Vec<(usize, Vec<Seat<'_>>)> = self.by_file().into_iter().collect();
        if files.iter().all(|(file, _)| self.dates[*file].is_some()) {
            files.sort_by_key(|(file, _)| self.dates[*file].as_ref());
        }
        let in_all =
            |player: &usize| files.iter().all(|(_, seats)| seats.iter().any(|seat| seat.player == *player));
        let mut always = (0..self.names.len()).filter(in_all);
        let subject = self.wanted.or_else(|| match (always.next(), always.next()) {
            (Some(only), None) if files.len() > 1 => Some(only),
            _ => None,
        });
        let matches: Vec<MatchReview> =
            files.iter().map(|(file, seats)| self.of_match(*file, seats)).collect();
        let many = files.len() > 1;
        Session {
            kinds: self.kinds(),
            opponents: subject.filter(|_| many).map_or_else(Vec::new, |one| self.opponents(one, &files)),
            over_time: if many { self.over_time(subject, &files) } else { Vec::new() },
            spread: self.spread(&matches),
            subject: subject.map(|subject| self.names[subject].to_string()),
            matches,
        }
    }

    fn of_match(&self, file: usize, seats: &[Seat<'_>]) -> MatchReview {
        let mut players = BTreeMap::<usize, Vec<Seat<'_>>>::new();
        seats.iter().for_each(|seat| players.entry(seat.player).or_default().push(*seat));
        let player = |(player, seats): (usize, Vec<Seat<'_>>)| {
            let account = sum(&seats);
            let mut opponents: Vec<String> = Vec::new();
            for seat in &seats {
                let opponent = self.names[seat.opponent];
                if opponents.iter().all(|known| known != opponent) {
                    opponents.push(opponent.into());
                }
            }
            MatchPlayer {
                name: self.names[player].into(),
                opponents,
                decisions: account.decisions,
                loss_per_decision: account.loss / self.size / account.decisions.max(1) as f64,
                rating: rating(&seats),
                luck: account.luck / self.size,
                results: account.games,
                result: account.result / self.size,
                adjusted: account.adjusted / self.size,
            }
        };
        MatchReview {
            file: self.files[file].clone(),
            date: self.dates[file].clone(),
            games: self
                .places
                .iter()
                .zip(self.reviewed)
                .filter(|(place, one)| place.file == file && one.is_some())
                .count() as u64,
            players: players.into_iter().map(player).collect(),
        }
    }

    fn opponents(&self, subject: usize, files: &[(usize, Vec<Seat<'_>>)]) -> Vec<OpponentReview> {
        let mut opponents = BTreeMap::<usize, (Vec<Seat<'_>>, usize)>::new();
        for (_, seats) in files {
            let mut met = Vec::new();
            for seat in seats.iter().filter(|seat| seat.player == subject) {
                let (games, matches) = opponents.entry(seat.opponent).or_default();
                games.push(*seat);
                if !met.contains(&seat.opponent) {
                    met.push(seat.opponent);
                    *matches += 1;
                }
            }
        }
        let against = |(opponent, (seats, matches)): (usize, (Vec<Seat<'_>>, usize))| {
            let account = sum(&seats);
            let theirs = Rating::over(seats.iter().map(|seat| &seat.theirs.tally));
            OpponentReview {
                player: self.names[subject].into(),
                opponent: self.names[opponent].into(),
                matches,
                games: seats.len() as u64,
                rating: rating(&seats),
                opponent_rating: theirs.map(|theirs| theirs.performance_rating),
                result: account.result / self.size,
                adjusted: account.adjusted / self.size,
            }
        };
        let mut all: Vec<OpponentReview> = opponents.into_iter().map(against).collect();
        all.sort_by_key(|one| std::cmp::Reverse(one.games));
        all
    }

    fn over_time(&self, subject: Option<usize>, files: &[(usize, Vec<Seat<'_>>)]) -> Vec<Period> {
        let period = |range: Range<usize>| {
            let of_subject = |seat: &&Seat<'_>| subject.is_none_or(|subject| seat.player == subject);
            let own = files[range.clone()].iter().flat_map(|(_, seats)| seats).filter(of_subject);
            let seats: Vec<Seat<'_>> = own.copied().collect();
            let account = sum(&seats);
            // A game has two seats if all players are shown.
            let counted = if subject.is_some() { 1 } else { 2 };
            let date = |at: usize| self.dates[files[at].0].clone();
            Period {
                matches: [range.start + 1, range.end],
                dates: date(range.start).zip(date(range.end - 1)).map(|(first, last)| [first, last]),
                games: (seats.len() / counted) as u64,
                decisions: account.decisions,
                loss_per_decision: account.loss / self.size / account.decisions.max(1) as f64,
                rating: rating(&seats),
            }
        };
        let count = files.len().min(GROUPS);
        let start = |group: usize| group * files.len() / count;
        (0..count).map(|group| period(start(group)..start(group + 1))).collect()
    }

    fn spread(&self, matches: &[MatchReview]) -> Vec<Spread> {
        let mut players = BTreeMap::<&str, Vec<[f64; 2]>>::new();
        for found in matches {
            let whole = found.players.iter().filter(|player| player.results == found.games);
            for player in whole {
                players.entry(&player.name).or_default().push([player.result, player.adjusted]);
            }
        }
        let one = |name: &&str| {
            let results = players.get(*name).filter(|results| results.len() > 1)?;
            let [raw, adjusted] =
                [0, 1].map(|i| mean_sd(&results.iter().map(|result| result[i]).collect::<Vec<_>>()));
            Some(Spread {
                player: (*name).into(),
                matches: results.len(),
                mean: raw.mean,
                sd: raw.sd,
                adjusted_mean: adjusted.mean,
                adjusted_sd: adjusted.sd,
            })
        };
        self.names.iter().filter_map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tally that lost these points in so many moves.
    fn tally((points, moves): (f64, u64)) -> Tally {
        Tally { lost: [points, 0.0, 0.0], unforced: moves, moves, ..Tally::default() }
    }

    #[test]
    fn a_rating_has_the_error_of_a_ratio() {
        let over = |games: &[(f64, u64)]| {
            let tallies: Vec<Tally> = games.iter().copied().map(tally).collect();
            Rating::over(tallies.iter())
        };
        assert_eq!(over(&[]), None);
        assert_eq!(over(&[(0.0, 0)]), None);
        assert_eq!(over(&[(0.2, 10)]), Some(Rating { performance_rating: 10.0, ci95: None }));
        // Equal ratios have no spread, whatever the lengths.
        let even = over(&[(0.1, 10), (0.2, 20), (0.3, 30)]).unwrap();
        assert!((even.performance_rating - 5.0).abs() < 1e-9 && even.ci95.unwrap() < 1e-9);
        // Of games of one length, the interval is that of Student for the mean.
        let lost = [0.1, 0.3, 0.2, 0.6];
        let found = over(&lost.map(|points| (points, 10))).unwrap();
        let ratings = lost.map(|points| 500.0 * points / 10.0);
        let [low, high] = crate::statistics::interval95(&ratings).unwrap();
        assert!((found.performance_rating - (low + high) / 2.0).abs() < 1e-9, "{found:?}");
        assert!((found.ci95.unwrap() - (high - low) / 2.0).abs() < 1e-9, "{found:?}");
    }

    /// A game whose first player lost these points, got this result and had this luck.
    fn game(lost: f64, result: f64, luck: f64) -> Option<Reviewed> {
        let account = |sign: f64, lost: f64| Account {
            decisions: 10,
            loss: lost,
            luck: sign * luck,
            games: 1,
            result: sign * result,
            adjusted: sign * (result - luck),
            tally: tally((lost, 10)),
            ..Account::default()
        };
        let kinds = [(3, 0), (1, 1)].map(|key| {
            let sum =
                adept_arena::review::KindSum { decisions: 5, wrong: 1, loss: lost, counted: 5, points: lost };
            (key, sum)
        });
        let kinds = [ByKind::from(kinds), ByKind::new()];
        Some(Reviewed {
            players: [account(1.0, lost), account(-1.0, 0.0)],
            slips: Vec::new(),
            kinds,
            steps: Vec::new(),
            opinions: adept_arena::review::Opinions::default(),
        })
    }

    #[test]
    fn matches_are_in_the_order_of_their_dates() {
        let files: Vec<PathBuf> = ["a.mat", "b.mat", "c.mat"].map(PathBuf::from).to_vec();
        let dates = ["2024-03-01", "2024-01-05", "2024-02-01"].map(|date| Some(date.to_string()));
        // Ann plays two games against Bo in each of two files, one of them in the other seat, and one against Cy.
        let reviewed = [game(0.1, 1.0, 0.8), game(0.2, -1.0, -1.0), game(0.0, 1.0, 0.9), game(0.3, 1.0, 1.2)];
        let places =
            [(0, 1), (1, 1), (1, 2), (2, 1)].map(|(file, number)| PlaceInFiles { file, number, rule: 0 });
        let games = |dates: &[Option<String>], wanted| {
            let games = Games {
                files: &files,
                dates,
                reviewed: &reviewed,
                places: &places,
                seats: &[[0, 1], [0, 1], [1, 0], [0, 2]],
                names: &["Ann", "Bo", "Cy"],
                wanted,
                classes: &["bear-off", "race", "crashed", "contact"],
                size: 1.0,
            };
            games.session()
        };
        let found = games(&dates, None);
        let order = |found: &Session| -> Vec<String> {
            found.matches.iter().map(|one| one.file.display().to_string()).collect()
        };
        assert_eq!(
            (order(&found), found.subject.as_deref()),
            (["b.mat", "c.mat", "a.mat"].map(String::from).to_vec(), Some("Ann"))
        );
        assert_eq!(found.matches[1].players[0].opponents, ["Cy"]);
        assert_eq!(found.matches[0].players.iter().map(|player| player.results).collect::<Vec<_>>(), [2, 2]);
        let opponents: Vec<(&str, usize, u64)> =
            found.opponents.iter().map(|one| (&*one.opponent, one.matches, one.games)).collect();
        assert_eq!(opponents, [("Bo", 2, 3), ("Cy", 1, 1)]);
        assert_eq!(found.over_time.len(), 3);
        assert_eq!(found.over_time[0].dates.as_ref().unwrap()[0], "2024-01-05");
        // Of the match with two games, Ann lost .2 in 20 moves.
        let rating = |period: &Period| period.rating.unwrap().performance_rating;
        assert!((rating(&found.over_time[0]) - 5.0).abs() < 1e-9 && found.over_time[0].games == 2);
        // Results of 1, -2 and 1, less luck .2, -.1 and -.2: luck was the most of it.
        let ann = &found.spread[0];
        assert_eq!((&*ann.player, ann.matches), ("Ann", 3));
        assert!((ann.mean - 0.0).abs() < 1e-9 && (ann.sd - 3.0_f64.sqrt()).abs() < 1e-9, "{ann:?}");
        assert!(ann.adjusted_sd < 0.3, "{ann:?}");
        // By file without the dates, for one player.
        let by_file = games(&[const { None }; 3], Some(1));
        assert_eq!(
            (order(&by_file), by_file.matches[0].players.len()),
            (["a.mat", "b.mat"].map(String::from).to_vec(), 1)
        );
        let kinds: Vec<(&str, &str, u64)> =
            by_file.kinds.iter().map(|one| (&*one.position, one.decision, one.decisions)).collect();
        assert_eq!(kinds, [("race", "double", 5), ("contact", "move", 5)]);
        assert!(by_file.kinds.iter().all(|one| one.player.as_deref() == Some("Bo")), "{by_file:?}");
        assert!(found.kinds.iter().any(|one| one.player.is_none() && one.decisions == 20), "{found:?}");
    }
}
