//! Games in the `.sgf` format of GNU Backgammon, plain or analysed.
//!
//! A file has a tree `(;…)` for each game. The root has `MI[length:7][game:0][ws:0][bs:0]`, the names of player 1, `PW`, and player 2, `PB`,
//! the rules, `RU`, and the result, `RE[B+2R]`, with `R` after a resignation. A node is an action of a player: `B[31fehe]` a roll and
//! moves from point to point, `W[double]`, `take` or `drop`. Player 1 writes its points 1 to 24 as `a` to `x`, player 2 as `x` to `a`; `y` is
//! the bar, `z` is off. All else, such as analysis, is left out.

use super::{Builder, Contents, NAME, Unit};
use adept_game::GameError;
use adept_ground::shown::clipped;
use std::fmt::Write;

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
}

impl Default for Reader {
    fn default() -> Self {
        let builder = Builder::counting(Unit::Line);
        Self { builder, root: None, action: None, result: None, before: None }
    }
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
    line: usize,
    /// Why the game is not read.
    fault: Option<String>,
}

impl Reader {
    fn begin(&mut self) {
        (self.root, self.action, self.result) = (Some(Root::default()), None, None);
    }

    /// Takes a value of a property of the present node.
    fn property(&mut self, name: &str, value: String, line: usize) {
        let is_root = self.root.is_some();
        match name {
            "B" | "W" => self.action = Some((usize::from(name == "B"), value, line)),
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
            self.builder.cell(line, number, player, &cell);
        }
        Ok(())
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
