//! Match equity tables: the chance to win a match at each score.

use std::sync::LazyLock;

/// Largest number of points that a player can need. Larger numbers count as this one.
pub const MOST_POINTS: usize = 64;

/// The games of a match, from which the recursion computes its scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Games {
    /// Share of gammons among all games.
    pub gammons: f64,
    /// Share of backgammons.
    pub backgammons: f64,
    /// Efficiency of the cube.
    pub efficiency: f64,
}

impl Games {
    /// Backgammon: the computed table differs from Kazaross-XG2 by at most .0033 up to 9 points.
    pub const BACKGAMMON: Self = Self { gammons: 0.28, backgammons: 0.0, efficiency: 0.68 };

    /// Hypergammon. The shares are exact for best play without a cube, over all opening rolls. The efficiency is that by which the computed table is nearest to
    /// rollouts of 60,000 games at 19 scores of 2 to 9 points: it differs by at most .0133, rms .0072; with .68 by .0216, rms .0116. In money games
    /// the exact equities after the opening roll have efficiencies of .76 with a centred cube, .68 with an own cube and .70 with the opponent's.
    pub const HYPERGAMMON: Self = Self { gammons: 0.544566, backgammons: 0.038076, efficiency: 0.4 };

    /// The mean of values of a single game, a gammon and a backgammon.
    fn mean(self, single: f64, gammon: f64, backgammon: f64) -> f64 {
        let Self { gammons, backgammons, .. } = self;
        (1.0 - gammons - backgammons) * single + gammons * gammon + backgammons * backgammon
    }
}

/// Kazaross-XG2, the table that GNU Backgammon and eXtreme Gammon use.
static KAZAROSS: LazyLock<MatchEquities> =
    LazyLock::new(|| shipped(include_str!("kazaross-xg2.csv"), Games::BACKGAMMON));

/// The table of hypergammon.
static HYPERGAMMON: LazyLock<MatchEquities> =
    LazyLock::new(|| shipped(include_str!("hypergammon.csv"), Games::HYPERGAMMON));

fn shipped(text: &str, games: Games) -> MatchEquities {
    MatchEquities::parse(text, games).expect("the table is tested")
}

/// A match equity table for scores of up to [`MOST_POINTS`] points.
///
/// ```
/// use adept_builtin::backgammon::cube::MatchEquities;
///
/// let table = MatchEquities::usual();
/// // A leader who needs 1 point against 2, in the Crawford game and after it.
/// assert_eq!(table.chance([1, 2], false), 0.67736);
/// assert_eq!(table.chance([1, 2], true), 1.0 - 0.48803);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MatchEquities {
    /// By the points that the player needs, then those that its opponent needs, from 1; before or in the Crawford game.
    before: Vec<[f64; MOST_POINTS]>,
    /// After the Crawford game: the chance of a player who needs these points against one who needs 1.
    after: [f64; MOST_POINTS],
}

impl MatchEquities {
    /// Kazaross-XG2, which ends at 25 points, and [computed](Self::computed) values beyond.
    pub fn usual() -> &'static Self {
        &KAZAROSS
    }

    /// The table of hypergammon, [computed](Self::computed) from [`Games::HYPERGAMMON`].
    pub fn hypergammon() -> &'static Self {
        &HYPERGAMMON
    }

    /// The chance to win the match of a player who needs `away[0]` points against one who needs `away[1]`; 1 or 0 if one of them needs
    /// none. `after_crawford` says whether the Crawford game is over.
    pub fn chance(&self, away: [i32; 2], after_crawford: bool) -> f64 {
        let place = |points: i32| (points as usize).min(MOST_POINTS) - 1;
        match away {
            [..=0, _] => 1.0,
            [_, ..=0] => 0.0,
            [own, 1] if after_crawford => self.after[place(own)],
            [1, other] if after_crawford => 1.0 - self.after[place(other)],
            [own, other] => self.before[place(own)][place(other)],
        }
    }

    /// Computes a table by recursion over the scores. A win is worth M(v) = (1 − g − b) v(1) + g v(2) + b v(3), where g and b are the shares of
    /// gammons and backgammons and v(k) is the chance after k times the cube.
    ///
    /// After the Crawford game, P(n) = ½ M(P(n − 2k)), since the trailer doubles at once. The Crawford game is played without a cube. At other
    /// scores the chance lies on the line from losing to winning a single game,
    /// E(m, n) = E(m, n − 1) + (½ − T) / (1 − T′ − T) · (E(m − 1, n) − E(m, n − 1)), with the take points T and T′ of both players.
    ///
    /// # Panics
    /// Unless all numbers are in [0, 1], and gammons and backgammons are not more than all games.
    pub fn computed(games: Games) -> Self {
        let is_share = |x: f64| (0.0..=1.0).contains(&x);
        let Games { gammons, backgammons, efficiency } = games;
        assert!(
            [gammons, backgammons, gammons + backgammons, efficiency].into_iter().all(is_share),
            "shares of games and efficiencies are in [0, 1]"
        );
        Self::continued(Vec::new(), Vec::new(), games)
    }

    /// The table that begins with these rows, and goes on by recursion.
    fn continued(rows: Vec<Vec<f64>>, after: Vec<f64>, games: Games) -> Self {
        let mut table = Self { before: vec![[0.5; MOST_POINTS]; MOST_POINTS], after: [0.5; MOST_POINTS] };
        table.after[..after.len()].copy_from_slice(&after);
        for n in after.len().max(1)..MOST_POINTS {
            // `n + 1` points are needed; two, four or six are won.
            let than = |won: usize| if n >= won { table.after[n - won] } else { 1.0 };
            table.after[n] = 0.5 * games.mean(than(2), than(4), than(6));
        }
        for (row, given) in table.before.iter_mut().zip(&rows) {
            row[..given.len()].copy_from_slice(given);
        }
        let known = rows.len();
        for sum in 3..=2 * MOST_POINTS {
            for own in 1..=MOST_POINTS.min(sum - 1) {
                let other = sum - own;
                if other > MOST_POINTS || own.max(other) <= known {
                    continue;
                }
                // Scores are mirrored, so that the chances of both players add up to 1.
                table.before[own - 1][other - 1] = match own > other {
                    true => 1.0 - table.before[other - 1][own - 1],
                    false if own == other => 0.5,
                    false => table.computed_chance([own as i32, other as i32], games),
                };
            }
        }
        table
    }

    /// The chance of a leader, from those at lower scores.
    fn computed_chance(&self, [own, other]: [i32; 2], games: Games) -> f64 {
        if own == 1 {
            let after = |won: i32| self.chance([other - won, 1], true);
            return 1.0 - 0.5 * games.mean(after(1), after(2), after(3));
        }
        let game = Single { table: self, games };
        let (take, other_take) = (game.take_point([own, other], 2), game.take_point([other, own], 2));
        let [won, lost] = [self.chance([own - 1, other], false), self.chance([own, other - 1], false)];
        lost + (0.5 - take) / (1.0 - other_take - take) * (won - lost)
    }

    /// Reads a table: a line of numbers with commas between them for each number of points that a player needs, then a line for after the Crawford
    /// game; or GNU Backgammon's XML with explicit tables. Lines that begin with `#` are comments. Scores beyond the table are computed from
    /// `games`.
    ///
    /// # Errors
    /// A table that is not square, has more than 64 points or none, or numbers that are not chances; a line and what is wrong with
    /// it.
    pub fn parse(text: &str, games: Games) -> Result<Self, String> {
        let (rows, after) =
            if text.trim_start().starts_with('<') { read_xml(text)? } else { read_lines(text)? };
        let points = rows.len();
        if !(1..=MOST_POINTS).contains(&points) {
            return Err(format!(
                "a match equity table has 1 to {MOST_POINTS} rows before the Crawford game, not {points}"
            ));
        }
        let check = |what: String, row: &[f64], least: usize| {
            if !(least..=points).contains(&row.len()) {
                return Err(format!(
                    "{what} has {} numbers, and there are {points} rows: write {points}",
                    row.len()
                ));
            }
            match row.iter().find(|p| !(0.0..=1.0).contains(*p)) {
                Some(p) => Err(format!("{what} has {p}, which is not a chance from 0 to 1")),
                None => Ok(()),
            }
        };
        for (own, row) in (1..).zip(&rows) {
            check(format!("the row of {own} points"), row, points)?;
        }
        // In some tables of gnubg the last number is missing: a player who needs all points plays no game after the Crawford game.
        check("the row after the Crawford game".into(), &after, points.saturating_sub(1).max(1))?;
        let at = |own: usize, other: usize| match (own, other) {
            (0, _) => 1.0,
            (_, 0) => 0.0,
            _ => rows[own - 1][other - 1],
        };
        for (own, other) in (1..=points).flat_map(|own| (1..=points).map(move |other| (own, other))) {
            // A table seen from the other side would be read without a fault otherwise.
            if at(own - 1, other) <= at(own, other - 1) {
                return Err(format!(
                    "at {own} and {other} points to go, winning a point gives no better chance than losing one: row a, column b is of a \
                     player who needs a points"
                ));
            }
            let sum = at(own, other) + at(other, own);
            if (sum - 1.0).abs() > 0.01 {
                return Err(format!(
                    "the chances at {own} and {other} points to go add up to {sum:.3}, not to 1"
                ));
            }
        }
        Ok(Self::continued(rows, after, games))
    }
}

/// Rows before, and the row after the Crawford game.
type Rows = (Vec<Vec<f64>>, Vec<f64>);

fn number(text: &str) -> Result<f64, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("`{}` is not a number", adept_ground::shown::clipped(text.trim(), 40)))
}

fn read_lines(text: &str) -> Result<Rows, String> {
    let lines =
        text.lines().map(str::trim).zip(1..).filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let row = |(line, at): (&str, usize)| {
        let numbers = line.split([',', ';', '\t']).map(number);
        numbers.collect::<Result<Vec<f64>, String>>().map_err(|what| format!("line {at}: {what}"))
    };
    let mut rows: Vec<Vec<f64>> = lines.take(MOST_POINTS + 2).map(row).collect::<Result<_, _>>()?;
    let after = rows.pop().unwrap_or_default();
    Ok((rows, after))
}

fn read_xml(text: &str) -> Result<Rows, String> {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(text, options).map_err(|e| e.to_string())?;
    let tables = |name: &'static str| document.descendants().filter(move |node| node.has_tag_name(name));
    let rows = |table: roxmltree::Node<'_, '_>| {
        if table.attribute("type") != Some("explicit") {
            return Err("only tables of type `explicit` are read".to_string());
        }
        let numbers = |row: roxmltree::Node<'_, '_>| {
            let cells = row.children().filter(|node| node.has_tag_name("me"));
            cells.take(MOST_POINTS + 1).map(|cell| number(cell.text().unwrap_or_default())).collect()
        };
        let rows = table.children().filter(|node| node.has_tag_name("row")).take(MOST_POINTS + 1);
        rows.map(numbers).collect::<Result<Vec<Vec<f64>>, String>>()
    };
    let table = |name| tables(name).next().ok_or(format!("there is no <{name}>"));
    let before = rows(table("pre-crawford-table")?)?;
    if tables("post-crawford-table").count() > 1 {
        return Err("a table after the Crawford game for each player is not read: write one for both".into());
    }
    let after = rows(table("post-crawford-table")?)?.into_iter().next().unwrap_or_default();
    Ok((before, after))
}

/// One of these games at the scores of a table.
struct Single<'a> {
    table: &'a MatchEquities,
    games: Games,
}

impl Single<'_> {
    /// The chance to win the game at which a player takes a cube that is turned to `cube`.
    fn take_point(&self, [own, other]: [i32; 2], cube: i32) -> f64 {
        let chance = |won: i32, lost: i32| self.table.chance([own - won, other - lost], false);
        let dropped = chance(0, cube / 2);
        let won = self.games.mean(chance(cube, 0), chance(2 * cube, 0), chance(3 * cube, 0));
        let lost = self.games.mean(chance(0, cube), chance(0, 2 * cube), chance(0, 3 * cube));
        let ratio = |gain: f64, range: f64| if range > 0.0 { gain / range } else { 1.0 };
        let dead = ratio(dropped - lost, won - lost);
        if own <= cube {
            return dead;
        }
        let cashes = 1.0 - self.take_point([other, own], 2 * cube);
        let live = cashes * ratio(dropped - lost, chance(cube, 0) - lost);
        self.games.efficiency * live + (1.0 - self.games.efficiency) * dead
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::cube::{CubeModel, CubeOwner, CubeValues, Efficiency, Scoring, Terms};
    use crate::backgammon::exact::chances::ChancesTable;
    use crate::backgammon::exact::cubeful::CubefulTable;
    use crate::backgammon::{Position, moves};
    use crate::dice::{ROLLS, Roll};
    use adept_game::stream;
    use rand::Rng;
    use rayon::prelude::*;

    /// As published: the score of 9 and 5 points, and both sides of 3 against 7.
    #[test]
    fn the_usual_table_has_the_published_values() {
        let table = MatchEquities::usual();
        for (away, after, expected) in [
            ([2, 2], false, 0.5),
            ([4, 2], false, 0.3313),
            ([2, 4], false, 0.6687),
            ([1, 25], false, 0.99905),
            ([25, 1], true, 0.00123),
            ([1, 1], true, 0.5),
            ([0, 3], false, 1.0),
            ([3, -1], false, 0.0),
        ] {
            assert!(
                (table.chance(away, after) - expected).abs() < 1e-4,
                "{away:?}: {}",
                table.chance(away, after)
            );
        }
        for own in 1..=64 {
            for other in 1..=64 {
                let sum = table.chance([own, other], false) + table.chance([other, own], false);
                assert!((sum - 1.0).abs() < 2e-5, "{own} {other}: {sum}");
                let next = table.chance([own, other + 1], false);
                assert!(other > 63 || next >= table.chance([own, other], false) - 1e-3, "{own} {other}");
            }
        }
    }

    /// The recursion is close to the table from rollouts.
    #[test]
    fn computed_scores_are_close_to_the_usual_ones() {
        let (computed, usual) = (MatchEquities::computed(Games::BACKGAMMON), MatchEquities::usual());
        let mut most = 0.0_f64;
        for own in 2..=9 {
            for other in 2..=9 {
                most = most
                    .max((computed.chance([own, other], false) - usual.chance([own, other], false)).abs());
            }
        }
        assert!(most < 0.0033 && most > 0.0, "{most}");
    }

    /// Writes the table of hypergammon anew.
    #[test]
    fn hypergammon_is_computed_from_its_games() {
        let computed = MatchEquities::computed(Games::HYPERGAMMON);
        let number = |p: f64| format!("{p:.6}").trim_end_matches('0').to_string();
        let points = 1..=25;
        let row =
            |own: i32| points.clone().map(|other| number(computed.chance([own, other], false))).collect();
        let mut rows: Vec<Vec<String>> = points.clone().map(row).collect();
        rows.push(points.clone().map(|own| number(computed.chance([own, 1], true))).collect());
        let text: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        let file = include_str!("hypergammon.csv");
        let lines = file.lines().filter(|line| !line.starts_with('#'));
        assert!(lines.eq(text.lines()), "hypergammon.csv is to hold\n{text}");
        // Beyond its end the file goes on as the computed table does.
        for away in [[3, 30], [40, 38], [64, 64], [26, 2]] {
            let both = [MatchEquities::hypergammon(), &computed].map(|table| table.chance(away, false));
            assert!((both[0] - both[1]).abs() < 1e-5, "{away:?}: {both:?}");
        }
        // A gammon from 2 points away wins the match: more games do so than in backgammon.
        let usual = MatchEquities::usual().chance([1, 2], false);
        assert!(computed.chance([1, 2], false) < usual - 0.05);
    }

    /// The exact shares of [`Games::HYPERGAMMON`], and the efficiencies by which the model has the exact equities after the opening roll, from the
    /// file of a table with the cube.
    #[test]
    #[ignore = "takes minutes: ADEPT_TABLE=FILE"]
    fn games_of_hypergammon_are_exact() {
        let Ok(path) = std::env::var("ADEPT_TABLE") else { return };
        let table = CubefulTable::open(std::path::Path::new(&path)).unwrap();
        let chances = table.chances(0).unwrap();
        let (mut classes, mut results) = ([0.0; 6], Vec::<Position>::new());
        // Equities with a dead and a live cube and the exact one, by owner of the cube, after each roll.
        let mut equities: [Vec<[f64; 3]>; 3] = Default::default();
        for &roll in ROLLS.iter().filter(|roll| !roll.is_double()) {
            moves::results(Position::start(3), roll, &mut results);
            let equity = |position: Position| table.cubeless(position).unwrap();
            let after = results.iter().map(|after| after.swapped());
            let best = after.min_by(|&a, &b| equity(a).total_cmp(&equity(b))).unwrap();
            for (sum, p) in classes.iter_mut().zip(chances.classes(best).unwrap()) {
                *sum += p / 15.0;
            }
            let (known, exact) = (chances.chances(best).unwrap(), table.equities(best, false).unwrap());
            for (owner, equities) in CubeOwner::ALL.into_iter().zip(&mut equities) {
                let terms = Terms { owner, ..Terms::money(false) };
                let [dead, live] = [0.0, 1.0].map(|x| CubeModel::usual().equity(x, known, terms));
                equities.push([dead, live, exact.no_double(owner)]);
            }
        }
        let games = Games::HYPERGAMMON;
        assert!((classes[1] + classes[4] - games.gammons).abs() < 1e-6, "{classes:?}");
        assert!((classes[0] + classes[5] - games.backgammons).abs() < 1e-6, "{classes:?}");
        let [centred, own, theirs] = equities.map(|equities| {
            let sum = |of: fn(&[f64; 3]) -> f64| equities.iter().map(of).sum::<f64>();
            sum(|[dead, live, exact]| (exact - dead) * (live - dead))
                / sum(|[dead, live, _]| (live - dead).powi(2))
        });
        println!("efficiencies: {centred:.3} centred, {own:.3} own, {theirs:.3} of the opponent");
    }

    /// Games at a score, which both players decide by the model with the exact chances of games without a cube.
    struct Rollout<'a> {
        model: &'a CubeModel,
        chances: &'a ChancesTable,
        away: [u32; 2],
        crawford: bool,
    }

    impl Rollout<'_> {
        fn terms(&self, player: usize, cube: u32, owner: Option<usize>) -> Terms {
            let owner = match owner {
                None => CubeOwner::Centred,
                Some(owner) if owner == player => CubeOwner::Own,
                Some(_) => CubeOwner::Theirs,
            };
            let away = [self.away[player], self.away[1 - player]];
            Terms { cube, owner, scoring: Scoring::Match { away, crawford: self.crawford } }
        }

        /// The values for the side to roll.
        fn values(&self, position: Position, terms: Terms) -> CubeValues {
            let chances = self.chances.chances(position).unwrap();
            self.model.values_at(Efficiency::default().contact, chances, terms)
        }

        /// The chance of player 0 to win the match after a game that this player has won or lost.
        fn over(&self, winner: usize, points: u32) -> f64 {
            let mut away = self.away.map(|points| points as i32);
            away[winner] -= points as i32;
            self.model.equities.chance(away, self.crawford || self.away.contains(&1))
        }

        /// Plays a game. Returns the chance of player 0 to win the match after it.
        fn game(&self, first: usize, rng: &mut dyn Rng) -> f64 {
            let (mut player, mut position, mut cube, mut owner) = (first, Position::start(3), 1, None);
            let mut results = Vec::<Position>::new();
            for turn in 0.. {
                let terms = self.terms(player, cube, owner);
                if turn > 0 && terms.may_double() {
                    let values = self.values(position, terms);
                    if values.doubles() && !values.takes() {
                        return self.over(player, cube);
                    }
                    if values.doubles() {
                        (cube, owner) = (2 * cube, Some(1 - player));
                    }
                }
                let mut roll = Roll::throw(rng);
                while turn == 0 && roll.is_double() {
                    roll = Roll::throw(rng);
                }
                moves::results(position, roll, &mut results);
                let lost = |after: Position| cube * u32::from(Position::result(after.own).points());
                let other = self.terms(1 - player, cube, owner);
                let worth = |after: Position| match after.opponent.is_done() {
                    true => [1.0, -1.0][player] * (self.over(player, lost(after)) - 0.5) + 0.5,
                    false => {
                        let value = self.values(after, other).value();
                        1.0 - self.model.match_chance_of(value, other).unwrap()
                    }
                };
                let afters = results.iter().map(|after| after.swapped());
                let (best, _) =
                    afters.map(|after| (after, worth(after))).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
                if best.opponent.is_done() {
                    return self.over(player, lost(best));
                }
                (position, player) = (best, 1 - player);
            }
            unreachable!("a game ends")
        }

        /// The mean of 60,000 games.
        fn mean(&self) -> f64 {
            let part = |part: u64| {
                let mut rng = stream(part, "rollouts of match equities", 0);
                (0..2_500).map(|game| self.game(game % 2, &mut rng)).sum::<f64>() / 60_000.0
            };
            (0..24).into_par_iter().map(part).collect::<Vec<f64>>().into_iter().sum()
        }
    }

    /// How far the table of hypergammon is from rollouts up to 9 points, each of which uses those of lower scores.
    #[test]
    #[ignore = "takes half an hour: ADEPT_TABLE=FILE"]
    fn rollouts_of_hypergammon_are_near() {
        let Ok(path) = std::env::var("ADEPT_TABLE") else { return };
        let chances = CubefulTable::open(std::path::Path::new(&path)).unwrap().chances(0).unwrap();
        let table = MatchEquities::hypergammon();
        let mut model = CubeModel { equities: table.clone(), ..CubeModel::default() };
        let mean =
            |model: &CubeModel, away, crawford| Rollout { model, chances: &chances, away, crawford }.mean();
        let set = |model: &mut CubeModel, [own, other]: [u32; 2], p: f64| {
            let [own, other] = [own, other].map(|points| points as usize - 1);
            (model.equities.before[own][other], model.equities.before[other][own]) = (p, 1.0 - p);
        };
        for points in 2..=9 {
            let after = mean(&model, [points, 1], false);
            model.equities.after[points as usize - 1] = after;
            let crawford = mean(&model, [1, points], true);
            set(&mut model, [1, points], crawford);
        }
        let mut errors = Vec::new();
        for sum in 5..18 {
            for away in (2..=9).map(|own| [own, sum - own.min(sum)]).filter(|[own, other]| own < other) {
                if away[1] <= 9 {
                    let p = mean(&model, away, false);
                    let error = table.chance(away.map(|points| points as i32), false) - p;
                    println!("{away:?}: {p:.4}, {error:+.4} in the table");
                    set(&mut model, away, p);
                    errors.push(error);
                }
            }
        }
        let rms = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
        println!("rms {rms:.4}");
        assert!(errors.len() == 28 && rms < 0.01, "{errors:?}");
    }

    #[test]
    fn tables_are_read_in_both_forms_and_faults_are_named() {
        let lines = "# a comment\n0.5,0.68\n0.32,.5\n0.5,0.49\n";
        let xml = "<?xml version = \"1.0\"?>\n<!DOCTYPE met PUBLIC \"-//GNU Backgammon//DTD Match Equity Tables//EN\" \"met.dtd\">\n<met><info><length>2</length></info>\
                   <pre-crawford-table type=\"explicit\"><row><me>0.5</me><me>0.68</me></row><row><me>0.32</me><me> .5 </me></row></pre-crawford-table>\
                   <post-crawford-table type=\"explicit\" player=\"both\"><row><me>0.5</me><me>0.49</me></row></post-crawford-table></met>";
        let [first, second] = [lines, xml].map(|text| MatchEquities::parse(text, Games::BACKGAMMON).unwrap());
        assert_eq!(first, second);
        assert_eq!((first.chance([1, 2], false), first.chance([2, 1], true)), (0.68, 0.49));
        for (text, part) in [
            ("", "1 to 64 rows"),
            ("0.5,0.6\n0.5", "has 2 numbers, and there are 1 rows"),
            ("0.5,0.6,0.7\n0.4,0.5,0.6\n0.3,0.4,0.5\n0.5", "the row after the Crawford game has 1 numbers"),
            ("0.5,0.4\n0.6,0.5\n0.5,0.5", "at 2 and 2 points"),
            ("0.5,0.5\n0.5,0.5\n0.5,0.5", "no better chance"),
            ("0.5,0.7\n0.4,0.5\n0.5,0.5", "add up to 1.100"),
            ("0.5,1.6\n0.4,0.5\n0.5,0.5", "1.6, which is not a chance"),
            ("0.5,NaN\n0.4,0.5\n0.5,0.5", "not a chance"),
            ("0.5\n0.5x\n", "line 2: `0.5x` is not a number"),
            ("<met/>", "there is no <pre-crawford-table>"),
            ("<met", "root node"),
            ("<met><pre-crawford-table type=\"mec\"/></met>", "explicit"),
        ] {
            let error = MatchEquities::parse(text, Games::BACKGAMMON).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let many = vec![vec!["0.5"; 65].join(","); 66].join("\n");
        assert!(MatchEquities::parse(&many, Games::BACKGAMMON).unwrap_err().contains("1 to 64"));
    }
}
