//! Games in the `.sgf` format of GNU Backgammon, plain or analysed.
//!
//! A file has a tree `(;…)` for each game. The root has `MI[length:7][game:0][ws:0][bs:0]`, the names of player 1, `PW`, and player 2, `PB`,
//! the rules, `RU`, and the result, `RE[B+2R]`, with `R` after a resignation. A node is an action of a player: `B[31fehe]` a roll and
//! moves from point to point, `W[double]`, `take` or `drop`. Player 1 writes its points 1 to 24 as `a` to `x`, player 2 as `x` to `a`; `y` is
//! the bar, `z` is off.
//!
//! An analysed node has, besides, `A[2][fehe E ver 3 …][…]`, the index of the move that was played and all candidates, the best first; `DA[E ver
//! 3 …]`, the values without a double and with one that is taken; and `LU[0.012]`, the luck of the roll. Equities and luck are in points of the
//! cube, but values of `DA` in a match are chances to win it. All else is left out.

use super::told::{Told, ToldCube, ToldPlay, sane};
use super::{Builder, Contents, Event, NAME, Unit};
use crate::backgammon::notation;
use adept_game::GameError;
use adept_ground::shown::clipped;
use std::fmt::Write;
use std::sync::Arc;

/// Most bytes of a value that are kept: names are shorter, and so are all actions.
const KEPT: usize = 1024;

/// Whether a text is a collection of such trees.
pub(super) fn is_tree(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.strip_prefix('(').is_some_and(|rest| rest.trim_start().starts_with(';'))
}

/// Reads the games of a text.
///
/// # Errors
/// If the text has no game.
pub(super) fn parse(text: &str) -> Result<Contents, GameError> {
    let mut reader = Reader::default();
    let mut scanner = Scanner { rest: text.trim_start_matches('\u{feff}').chars(), line: 1 };
    let (mut depth, mut is_main) = (0_u32, false);
    let (mut name, mut has_value) = (String::new(), false);
    while let Some(c) = scanner.next() {
        match c {
            '(' => {
                depth = depth.saturating_add(1);
                if depth == 1 {
                    is_main = true;
                    reader.begin();
                }
            }
            // What comes after the end of a branch is a variation.
            ')' => {
                if is_main {
                    reader.end_node(scanner.line)?;
                    reader.end_game();
                }
                is_main = false;
                depth = depth.saturating_sub(1);
            }
            ';' if is_main => reader.end_node(scanner.line)?,
            c if c.is_ascii_uppercase() => {
                if std::mem::take(&mut has_value) {
                    name.clear();
                }
                if name.len() < 8 {
                    name.push(c);
                }
                continue;
            }
            '[' => {
                let value = scanner.value();
                if is_main {
                    reader.property(&name, value, scanner.line);
                }
                // Further values of the property may follow.
                has_value = true;
                continue;
            }
            c if c.is_whitespace() => continue,
            _ => {}
        }
        name.clear();
    }
    if is_main {
        reader.end_node(scanner.line)?;
        reader.end_game();
    }
    if reader.builder.contents.places.is_empty() {
        return Err(GameError::new("the file has no game of backgammon: `MI[length:7]` is not in it"));
    }
    Ok(reader.builder.finish())
}

/// Goes through a text and counts lines.
struct Scanner<'a> {
    rest: std::str::Chars<'a>,
    line: usize,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        self.line += usize::from(c == '\n');
        Some(c)
    }

    /// A value up to its `]`, without the marks of escaped characters. What is too long is cut.
    fn value(&mut self) -> String {
        let mut value = String::new();
        while let Some(c) = self.next() {
            let c = match c {
                ']' => break,
                '\\' => match self.next() {
                    Some(c) => c,
                    None => break,
                },
                c => c,
            };
            if value.len() < KEPT {
                value.push(c);
            }
        }
        value
    }
}

/// The games that were read, and the present one.
struct Reader {
    builder: Builder,
    /// The head of a game, until its first action.
    root: Option<Root>,
    /// The action of the present node and its line.
    action: Option<(usize, String, usize)>,
    /// Winner and points of the present game.
    result: Option<(usize, u32)>,
    /// The head of the game before, whose match this one may go on.
    before: Option<Root>,
    /// The analysis of the present node.
    analysis: Analysis,
    /// The judgement of the last double, which is that of its answer too.
    double: Option<ToldCube>,
    /// The names of judges that were read.
    judges: Vec<Arc<str>>,
}

impl Default for Reader {
    fn default() -> Self {
        let builder = Builder::counting(Unit::Line);
        let (analysis, double, judges) = Default::default();
        Self { builder, root: None, action: None, result: None, before: None, analysis, double, judges }
    }
}

/// The analysis of a node, as it is read.
#[derive(Debug, Default)]
struct Analysis {
    /// The value of `DA`.
    cube: Option<String>,
    /// The index of the move that was played among the candidates.
    played: Option<usize>,
    /// The number of candidates so far.
    candidates: usize,
    /// The first candidate, and that which was played.
    best: Option<String>,
    own: Option<String>,
    luck: Option<f64>,
}

/// The head of a game.
#[derive(Clone, Debug, Default, PartialEq)]
struct Root {
    length: Option<u32>,
    number: u32,
    scores: [u32; 2],
    names: [String; 2],
    jacoby: bool,
    has_no_cube: bool,
    /// The program that wrote the file, and who analysed the match.
    program: String,
    annotator: String,
    line: usize,
    /// Why the game is not read.
    fault: Option<String>,
}

impl Reader {
    fn begin(&mut self) {
        (self.root, self.action, self.result) = (Some(Root::default()), None, None);
        (self.analysis, self.double) = Default::default();
    }

    /// Takes a value of a property of the present node.
    fn property(&mut self, name: &str, value: String, line: usize) {
        let is_root = self.root.is_some();
        match name {
            "B" | "W" => self.action = Some((usize::from(name == "B"), value, line)),
            "A" => self.analysis.add(value),
            "DA" => self.analysis.cube = Some(value),
            "LU" => self.analysis.luck = value.trim().parse().ok().and_then(sane),
            // A position that was set up, or a variant with other checkers.
            "AB" | "AW" | "AE" | "PL" | "CV" | "CP" | "DI" if !is_root => {
                // The cube and the turn of an ordinary game are set by its actions.
                if name.starts_with('A') {
                    self.builder.fault(line, "a position that was set up");
                }
            }
            _ => {
                let Some(root) = &mut self.root else { return };
                match name {
                    "MI" => {
                        root.line = line;
                        let Some((key, number)) = value.split_once(':') else { return };
                        let Ok(number) = number.trim().parse::<u32>() else { return };
                        match key {
                            "length" => root.length = Some(number),
                            "game" => root.number = number,
                            "ws" => root.scores[0] = number,
                            "bs" => root.scores[1] = number,
                            _ => {}
                        }
                    }
                    "PW" | "PB" => root.names[usize::from(name == "PB")] = clipped(&value, NAME).into(),
                    "RU" => {
                        root.jacoby |= value.contains("Jacoby");
                        root.has_no_cube |= value.contains("NoCube");
                        if ["Nackgammon", "Hypergammon"].iter().any(|other| value.contains(other)) {
                            root.fault = Some(format!("a game of {}", clipped(&value, 60)));
                        }
                    }
                    "AB" | "AW" | "AE" => {
                        root.fault.get_or_insert_with(|| "a position that was set up".into());
                    }
                    "RE" => self.result = result_of(&value),
                    "AP" => root.program = value.split(':').next().unwrap_or_default().into(),
                    "AN" => root.annotator = value,
                    _ => {}
                }
            }
        }
    }

    /// Ends a node: the head of a game, or an action.
    fn end_node(&mut self, line: usize) -> Result<(), GameError> {
        if let Some(root) = self.root.take_if(|root| root.length.is_some()) {
            self.begin_game(root).map_err(|why| GameError::new(format!("line {line}: {why}")))?;
        }
        if let Some((player, text, line)) = self.action.take() {
            let cell = match &*text {
                // Words of the analysis of a resignation.
                "double" => format!("Doubles => {}", self.builder.next_cube()),
                "take" => "Takes".into(),
                "drop" => "Drops".into(),
                text => cell_of(text, player).unwrap_or_else(|| text.into()),
            };
            let number = self.builder.number(player);
            let analysis = std::mem::take(&mut self.analysis);
            if let Some(event) = self.builder.cell(line, number, player, &cell) {
                self.tell(player, event, &analysis);
            }
        }
        self.analysis = Analysis::default();
        Ok(())
    }

    /// Adds the analysis of an event.
    fn tell(&mut self, player: usize, event: Event, analysis: &Analysis) {
        let mut told = Told { luck: analysis.luck, ..Told::default() };
        told.cube = analysis.cube.as_deref().and_then(|text| self.cube(text));
        match event {
            Event::Doubles(_) => self.double = told.cube.clone(),
            Event::Takes | Event::Drops => told.cube = told.cube.or_else(|| self.double.take()),
            Event::Moves(roll, before, _) if analysis.candidates > 1 => {
                // The index of a move that is not listed tells nothing.
                let both = analysis.best.as_deref().zip(analysis.own.as_deref());
                if let Some((best, own)) =
                    both.and_then(|(best, own)| Candidate::parse(best).zip(Candidate::parse(own)))
                    && let Some(cell) = cell_of(&format!("{roll}{}", best.moves), player)
                    && let Some((_, moves)) = cell.split_once(": ")
                    && let Ok(after) = notation::parse(before, roll, moves, "")
                {
                    let lost = best.equity - own.equity;
                    told.play = Some(ToldPlay { judge: self.judge(&best.depth), best: after, lost });
                }
            }
            Event::Moves(..) | Event::Resigns(_) => {}
        }
        if told != Told::default() {
            self.builder.tell(told);
        }
    }

    /// The judgement of a decision about the cube.
    fn cube(&mut self, text: &str) -> Option<ToldCube> {
        let (depth, values) = cube_of(text)?;
        let are_chances = self.before.as_ref()?.length != Some(0);
        Some(ToldCube { judge: self.judge(&depth), values, are_chances, lost: [None; 2] })
    }

    /// The name of a judge. GNU Backgammon tells its depth with each value, others their name with the match.
    fn judge(&mut self, depth: &str) -> Arc<str> {
        let (program, annotator) = match &self.before {
            Some(root) => (&*root.program, &*root.annotator),
            None => ("", ""),
        };
        let name = match program {
            "GNU Backgammon" | "" => format!("gnubg {depth}"),
            other => format!("{other} {annotator}"),
        };
        let name = clipped(name.trim_end(), JUDGE);
        if let Some(known) = self.judges.iter().find(|known| ***known == *name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        if self.judges.len() < JUDGES {
            self.judges.push(name.clone());
        }
        name
    }

    /// Begins a game, and a match where this one does not go on.
    fn begin_game(&mut self, root: Root) -> Result<(), String> {
        let goes_on = self.before.as_ref().is_some_and(|before| {
            before.length == root.length && before.names == root.names && root.number > before.number
        });
        let length = root.length.unwrap_or(0);
        if !goes_on {
            self.builder.begin_match(length);
        }
        self.builder.begin_game()?;
        if let Some(found) =
            self.builder.contents.matches.last_mut().filter(|_| length == 0 && !root.has_no_cube)
        {
            found.jacoby = Some(root.jacoby);
        }
        if let Some((game, place)) = self.builder.game() {
            (game.names, game.scores, place.scores) = (root.names.clone(), root.scores, root.line);
        }
        if let Some(why) = &root.fault {
            self.builder.fault(root.line, why);
        }
        self.before = Some(root);
        Ok(())
    }

    /// Writes down the result of a game.
    fn end_game(&mut self) {
        if let Some((winner, points)) = self.result.take()
            && let Some((game, _)) = self.builder.game()
        {
            (game.winner, game.points) = (Some(winner), Some(points));
        }
    }
}

/// Longest name of a judge in characters.
const JUDGE: usize = 80;

/// Most names of judges that are shared.
const JUDGES: usize = 100;

impl Analysis {
    /// Takes a value of `A`: the index of the move that was played, or a candidate.
    fn add(&mut self, value: String) {
        let Some(played) = self.played else {
            self.played = Some(value.trim().parse().unwrap_or(usize::MAX));
            return;
        };
        if self.candidates == played {
            self.own = Some(value.clone());
        }
        if self.candidates == 0 {
            self.best = Some(value);
        }
        self.candidates = self.candidates.saturating_add(1);
    }
}

/// A move that GNU Backgammon considered.
struct Candidate<'a> {
    /// From point to point, such as `fehe`.
    moves: &'a str,
    /// The equity in points of the cube.
    equity: f64,
    depth: String,
}

impl<'a> Candidate<'a> {
    /// Reads `fehe E ver 3 0.52 0.15 0.01 0.13 0.01 0.031 2C 0 1 0.0 1`, five probabilities before the equity, or the rollout
    /// `fehe X ver 3 Score 0.031 …`.
    fn parse(text: &'a str) -> Option<Self> {
        let (moves, rest) = text.split_once(' ')?;
        let (kind, rest) = kind_of(rest)?;
        let (equity, depth) = match kind {
            Kind::Evaluated(_) => {
                let mut words = rest.split_whitespace().skip(5);
                (words.next()?, depth_of(words.next()?, words.nth(2))?)
            }
            Kind::RolledOut => (rest.split_once("Score")?.1.split_whitespace().next()?, "rollout".into()),
        };
        Some(Self { moves, equity: equity.parse().ok().and_then(sane)?, depth })
    }
}

/// How a value was found.
enum Kind {
    /// By an evaluation, with the version of its text: 0 is before versions were written.
    Evaluated(u32),
    RolledOut,
}

/// The kind of a value, and the words behind it.
fn kind_of(text: &str) -> Option<(Kind, &str)> {
    let text = text.trim_start();
    let (kind, rest) = text.split_at_checked(1)?;
    let (version, rest) = match rest.trim_start().strip_prefix("ver ") {
        Some(rest) => {
            let (version, rest) = rest.split_once(' ')?;
            (version.parse().ok()?, rest)
        }
        None => (0, rest),
    };
    match kind {
        "E" => Some((Kind::Evaluated(version), rest)),
        "X" | "R" => Some((Kind::RolledOut, rest)),
        _ => None,
    }
}

/// The depth of an evaluation such as `2C`, 2 plies with the cube, and its noise.
fn depth_of(plies: &str, noise: Option<&str>) -> Option<String> {
    let plies: u8 = plies.trim_end_matches('C').parse().ok()?;
    let is_noisy = noise.and_then(|noise| noise.parse::<f64>().ok()).is_some_and(|noise| noise > 0.0);
    Some(format!("{plies}-ply{}", if is_noisy { " with noise" } else { "" }))
}

/// The depth of a value of `DA`, and the values without a double and with one that is taken. Each comes last of seven numbers.
fn cube_of(text: &str) -> Option<(String, [f64; 2])> {
    let (kind, rest) = kind_of(text)?;
    let number = |word: Option<&&str>| word?.parse::<f64>().ok().and_then(sane);
    match kind {
        Kind::Evaluated(version) => {
            let words: Vec<&str> = rest.split_whitespace().collect();
            let (head, values) = words.split_at_checked(words.len().checked_sub(14)?)?;
            // The places of plies and noise, and the number of words. Old versions have four numbers before them, or a flag between them.
            let [first, noise, length] = match version {
                0 | 1 => [4, 7, 8],
                2 => [0, 3, 5],
                3 => [0, 2, 4],
                _ => return None,
            };
            if head.len() != length {
                return None;
            }
            let depth = depth_of(head.get(first)?, head.get(noise).copied())?;
            Some((depth, [number(values.get(6))?, number(values.get(13))?]))
        }
        Kind::RolledOut => {
            let value = |name: &str| {
                let (_, output) = rest.split_once(name)?.1.split_once("Output")?;
                number(output.split_whitespace().nth(6).as_ref())
            };
            Some(("rollout".into(), [value("NoDouble")?, value("DoubleTake")?]))
        }
    }
}

/// The winner and the points of a result such as `B+2R`.
fn result_of(text: &str) -> Option<(usize, u32)> {
    let (winner, points) = text.split_once('+')?;
    let winner = match winner {
        "W" => 0,
        "B" => 1,
        _ => return None,
    };
    Some((winner, points.trim_end_matches('R').parse().ok()?))
}

/// The cell of a `.mat` file of a roll and its moves, such as `31fehe`. None if it is none.
fn cell_of(text: &str, player: usize) -> Option<String> {
    let (dice, moves) = text.split_at_checked(2)?;
    let is_roll = dice.bytes().all(|die| (b'1'..=b'6').contains(&die));
    if !is_roll || moves.len() % 2 != 0 || moves.len() > 8 {
        return None;
    }
    let place = |letter: u8| match letter {
        b'y' => Some(25),
        b'z' => Some(0),
        b'a'..=b'x' if player == 0 => Some(letter - b'a' + 1),
        b'a'..=b'x' => Some(b'x' - letter + 1),
        _ => None,
    };
    let mut cell = format!("{dice}:");
    for pair in moves.as_bytes().chunks_exact(2) {
        write!(cell, " {}/{}", place(pair[0])?, place(pair[1])?).ok()?;
    }
    Some(cell)
}

#[cfg(test)]
mod tests {
    use super::super::{Event, Match};
    use super::*;

    /// Two games as GNU Backgammon writes them, the first without its last moves. The nodes of the first have analysis.
    const SGF: &str = "(;FF[4]GM[6]CA[UTF-8]AP[GNU Backgammon:1.07.001]MI[length:3][game:0][ws:0][bs:0]PW[An\\]n]PB[Bo]RU[Crawford]RE[B+2R]\
        GS[M:1 1 0 0][C:1 0]\n;W[31fehe]A[0][fehe E ver 3 0.5 \\] ]C[a remark (;B[66\\])]\n;B[42qusu]\n;W[double]DA[E ver 3]\n;B[take]\n;W[66xrxrmgmg])\n\
        (;FF[4]GM[6]AP[GNU Backgammon:1.07.001]MI[length:3][game:1][ws:0][bs:2]PW[An\\]n]PB[Bo]RU[Crawford:CrawfordGame]\n;B[31qtst]\n\
        (;W[42hdfd])(;W[21xw]))\n";

    fn events(text: &str) -> Vec<Match> {
        parse(text).unwrap().matches
    }

    #[test]
    fn a_match_of_gnubg_is_read_as_its_mat() {
        let [found] = &events(SGF)[..] else { panic!() };
        let mat = " 3 point match\n\n Game 1\n An]n : 0      Bo : 0\n  1) 31: 6/5 8/5        42: 8/4 6/4\n  2)  Doubles => 2     Takes\n\
            3) 66: 24/18(2) 13/7(2)\n                                  Wins 2 points\n\n Game 2\n An]n : 0      Bo : 2\n\
            1)                        31: 8/5 6/5\n  2) 42: 8/4 6/4\n";
        let expected = Match::parse(mat).unwrap();
        assert_eq!((found.length, found.games.len()), (3, 2));
        for (one, other) in found.games.iter().zip(&expected.games) {
            assert_eq!(
                (&one.events, &one.lines, &one.names, one.scores, one.winner, one.points, &one.fault),
                (
                    &other.events,
                    &other.lines,
                    &other.names,
                    other.scores,
                    other.winner,
                    other.points,
                    &other.fault
                )
            );
        }
    }

    #[test]
    fn money_sessions_tell_their_rules() {
        let text = |rules: &str| {
            format!("(;FF[4]GM[6]MI[length:0][game:0][ws:0][bs:0]PW[a]PB[b]RU[{rules}];W[31fehe];B[double])")
        };
        for (rules, jacoby) in [("Jacoby", Some(true)), ("", Some(false)), ("NoCube:Jacoby", None)] {
            assert_eq!(events(&text(rules))[0].jacoby, jacoby, "{rules}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let head = "(;FF[4]GM[6]MI[length:3][game:0][ws:0][bs:0]PW[a]PB[b]";
        for (rest, why) in [
            ("\n;W[31fefe])", "line 2: game 1, move 1: `31: 6/5 6/5` of a: "),
            (
                "\n;W[31fehe]\n;W[42hdfd])",
                "line 3: game 1, move 2: `42: 8/4 6/4` of a: it is the other player's turn",
            ),
            ("\n;W[what])", "line 2: game 1, move 1: `what` of a: "),
            ("AW[a][b];W[31fehe])", "line 1: game 1: a position that was set up"),
            ("RU[Nackgammon];W[31fehe])", "line 1: game 1: a game of Nackgammon"),
            // Letters of other scripts in place of points.
            ("\n;W[31f\u{e9}h\u{e9}])", "line 2: game 1, move 1: "),
        ] {
            let text = format!("{head}{rest}");
            let fault = events(&text)[0].games[0].fault.clone().unwrap();
            assert!(fault.starts_with(why), "{fault}");
        }
        assert!(parse("(;FF[4]GM[1]SZ[19];B[pd])").is_err());
    }

    /// Files that are cut anywhere, and with other bytes in them, are read or refused.
    #[test]
    fn cut_files_are_read_up_to_the_cut() {
        for end in 0..SGF.len() {
            if let Ok(found) = parse(&SGF[..end]) {
                assert!(found.matches.len() <= 2);
            }
            let odd = format!("{}\u{1f3b2}]){}", &SGF[..end], &SGF[end..]);
            let _ = parse(&odd);
        }
        let moves = events(&SGF[..SGF.find("\n;W[double]").unwrap()]);
        assert!(moves[0].games[0].events.iter().all(|(_, event)| matches!(event, Event::Moves(..))));
        assert_eq!(moves[0].games[0].events.len(), 2);
    }
}
