//! Match equity tables: the chance to win a match at each score.

use std::sync::LazyLock;

/// Largest number of points that a player can need. Larger numbers count as this one.
pub const MOST_POINTS: usize = 64;

/// Share of gammons among all games and cube efficiency by which scores beyond a table are computed. With them the computed
/// table differs from Kazaross-XG2 by at most .0033 up to 9 points.
const USUAL: (f64, f64) = (0.28, 0.68);

/// Kazaross-XG2, the table that GNU Backgammon and eXtreme Gammon use.
static KAZAROSS: LazyLock<MatchEquities> =
    LazyLock::new(|| MatchEquities::parse(include_str!("kazaross-xg2.csv")).expect("the table is tested"));

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

    /// Computes a table by recursion over the scores. `gammons` is the share of gammons among games, `efficiency` that of the cube.
    ///
    /// After the Crawford game, P(n) = ½ (1 − g) P(n − 2) + ½ g P(n − 4), since the trailer doubles at once. The Crawford game is
    /// played without a cube. At other scores the chance lies on the line from losing to winning a single game,
    /// E(m, n) = E(m, n − 1) + (½ − T) / (1 − T′ − T) · (E(m − 1, n) − E(m, n − 1)), with the take points T and T′ of both players.
    ///
    /// # Panics
    /// Unless both numbers are in [0, 1].
    pub fn computed(gammons: f64, efficiency: f64) -> Self {
        let is_share = |x: f64| (0.0..=1.0).contains(&x);
        assert!(
            is_share(gammons) && is_share(efficiency),
            "shares of gammons and efficiencies are in [0, 1]"
        );
        Self::continued(Vec::new(), Vec::new(), (gammons, efficiency))
    }

    /// The table that begins with these rows, and goes on by recursion.
    fn continued(rows: Vec<Vec<f64>>, after: Vec<f64>, (gammons, efficiency): (f64, f64)) -> Self {
        let mut table = Self { before: vec![[0.5; MOST_POINTS]; MOST_POINTS], after: [0.5; MOST_POINTS] };
        table.after[..after.len()].copy_from_slice(&after);
        for n in after.len().max(1)..MOST_POINTS {
            // `n + 1` points are needed; two or four are won.
            let than = |won: usize| if n >= won { table.after[n - won] } else { 1.0 };
            table.after[n] = 0.5 * (1.0 - gammons) * than(2) + 0.5 * gammons * than(4);
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
                    false => table.computed_chance([own as i32, other as i32], (gammons, efficiency)),
                };
            }
        }
        table
    }

    /// The chance of a leader, from those at lower scores.
    fn computed_chance(&self, [own, other]: [i32; 2], (gammons, efficiency): (f64, f64)) -> f64 {
        if own == 1 {
            let after = |won: i32| self.chance([other - won, 1], true);
            return 1.0 - (0.5 * (1.0 - gammons) * after(1) + 0.5 * gammons * after(2));
        }
        let game = Single { table: self, gammons, efficiency };
        let (take, other_take) = (game.take_point([own, other], 2), game.take_point([other, own], 2));
        let [won, lost] = [self.chance([own - 1, other], false), self.chance([own, other - 1], false)];
        lost + (0.5 - take) / (1.0 - other_take - take) * (won - lost)
    }

    /// Reads a table: a line of numbers with commas between them for each number of points that a player needs, then a line for after the Crawford
    /// game; or GNU Backgammon's XML with explicit tables. Lines that begin with `#` are comments.
    ///
    /// # Errors
    /// A table that is not square, has more than 64 points or none, or numbers that are not chances; a line and what is wrong with
    /// it.
    pub fn parse(text: &str) -> Result<Self, String> {
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
        Ok(Self::continued(rows, after, USUAL))
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

/// Games in which a fixed share are gammons, at the scores of a table.
struct Single<'a> {
    table: &'a MatchEquities,
    gammons: f64,
    efficiency: f64,
}

impl Single<'_> {
    /// The chance to win the game at which a player takes a cube that is turned to `cube`.
    fn take_point(&self, [own, other]: [i32; 2], cube: i32) -> f64 {
        let chance = |won: i32, lost: i32| self.table.chance([own - won, other - lost], false);
        let mean = |single: f64, gammon: f64| (1.0 - self.gammons) * single + self.gammons * gammon;
        let dropped = chance(0, cube / 2);
        let won = mean(chance(cube, 0), chance(2 * cube, 0));
        let lost = mean(chance(0, cube), chance(0, 2 * cube));
        let ratio = |gain: f64, range: f64| if range > 0.0 { gain / range } else { 1.0 };
        let dead = ratio(dropped - lost, won - lost);
        if own <= cube {
            return dead;
        }
        let cashes = 1.0 - self.take_point([other, own], 2 * cube);
        let live = cashes * ratio(dropped - lost, chance(cube, 0) - lost);
        self.efficiency * live + (1.0 - self.efficiency) * dead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let (computed, usual) = (MatchEquities::computed(USUAL.0, USUAL.1), MatchEquities::usual());
        let mut most = 0.0_f64;
        for own in 2..=9 {
            for other in 2..=9 {
                most = most
                    .max((computed.chance([own, other], false) - usual.chance([own, other], false)).abs());
            }
        }
        assert!(most < 0.0033 && most > 0.0, "{most}");
    }

    #[test]
    fn tables_are_read_in_both_forms_and_faults_are_named() {
        let lines = "# a comment\n0.5,0.68\n0.32,.5\n0.5,0.49\n";
        let xml = "<?xml version = \"1.0\"?>\n<!DOCTYPE met PUBLIC \"-//GNU Backgammon//DTD Match Equity Tables//EN\" \"met.dtd\">\n<met><info><length>2</length></info>\
                   <pre-crawford-table type=\"explicit\"><row><me>0.5</me><me>0.68</me></row><row><me>0.32</me><me> .5 </me></row></pre-crawford-table>\
                   <post-crawford-table type=\"explicit\" player=\"both\"><row><me>0.5</me><me>0.49</me></row></post-crawford-table></met>";
        let [first, second] = [lines, xml].map(|text| MatchEquities::parse(text).unwrap());
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
            let error = MatchEquities::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        let many = vec![vec!["0.5"; 65].join(","); 66].join("\n");
        assert!(MatchEquities::parse(&many).unwrap_err().contains("1 to 64"));
    }
}
