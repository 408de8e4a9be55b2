//! An engine of the Universal Backgammon Interface, version 0.1: a command a line on standard input, answers on standard output.
//!
//! Values are cubeless; the cube is turned by [`Bot`]. Limits of `go` are accepted and not needed: an answer takes no time that counts.

use super::bot::{Bot, needed};
use adept_builtin::backgammon::cube::Cube;
use adept_builtin::backgammon::{Backgammon, Position, Stage};
use adept_builtin::dice::Roll;
use adept_game::Game;
use adept_ground::limits;
use adept_ground::shown::{clipped, printable};
use anyhow::Result;
use std::io::{BufRead, Read, Write};

/// Letters of a message.
const SHOWN: usize = 200;

/// Why a command is refused: a code of the protocol, and words.
type Refusal = (&'static str, String);

/// What the commands so far have said.
pub(super) struct Engine {
    bot: Bot,
    /// The side whose turn it is first.
    position: Option<Position>,
    dice: Option<Roll>,
    /// Points of a match; 0 for money.
    length: u32,
    scores: [u32; 2],
    /// The player whose turn it is, 0 or 1.
    turn: usize,
    cube: u32,
    /// The player who owns the cube; none in the middle.
    owner: Option<usize>,
}

impl Engine {
    pub(super) fn new(bot: Bot) -> Self {
        Self { bot, position: None, dice: None, length: 0, scores: [0; 2], turn: 0, cube: 1, owner: None }
    }

    /// Answers commands until `quit` or the end of the input.
    ///
    /// # Errors
    /// If a line cannot be read, or no answer can be written.
    pub(super) fn run(&mut self, mut input: impl BufRead, mut output: impl Write) -> Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            input.by_ref().take(limits::LINE_BYTES as u64).read_until(b'\n', &mut line)?;
            if line.is_empty() {
                return Ok(());
            }
            let text = String::from_utf8_lossy(&line);
            if text.trim() == "quit" {
                return Ok(());
            }
            let answer = self.answer(text.trim()).unwrap_or_else(|(code, message)| {
                format!("error {code} {}\n", clipped(&printable(&message).replace('\n', " "), SHOWN))
            });
            output.write_all(answer.as_bytes())?;
            output.flush()?;
        }
    }

    /// The answer to a command: lines, or nothing.
    fn answer(&mut self, line: &str) -> Result<String, Refusal> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let bad = |what: &str| ("bad_argument", format!("`{line}`: {what}"));
        match words[..] {
            [] | ["stop"] => {}
            ["ubgi"] => {
                return Ok(format!(
                    "id name adept {}\nid author the authors of adept\n\
                     option name Threads type spin default 1 min 1 max 1\n\
                     option name Seed type spin default {} min 0 max {}\n\
                     option name Deterministic type check default true\n\
                     option name EvalMode type combo default cubeless var cubeless\nubgiok\n",
                    env!("CARGO_PKG_VERSION"),
                    self.bot.seed,
                    limits::SEED,
                ));
            }
            ["isready"] => return Ok("readyok\n".into()),
            ["setoption", "name", name, "value", value] => match (name, value) {
                ("Threads", "1") | ("Deterministic", "true" | "false") | ("EvalMode", "cubeless") => {}
                ("Seed", seed) => {
                    let seed = seed.parse().ok().filter(|seed| *seed <= limits::SEED);
                    self.bot.seed = seed.ok_or_else(|| bad("write a whole number"))?;
                }
                ("Threads" | "Deterministic" | "EvalMode", _) => {
                    return Err(("unsupported_feature", format!("{name} cannot be `{value}`")));
                }
                _ => return Err(bad("no such option")),
            },
            ["newgame"] => {
                (self.position, self.dice, self.cube, self.owner, self.turn) = (None, None, 1, None, 0);
            }
            ["newsession", "type", kind, ref rest @ ..] => {
                let mut length = 0;
                for pair in rest.chunks(2) {
                    match pair {
                        ["length", points] => {
                            let points = points.parse().ok().filter(|n| (1..=MOST_POINTS).contains(n));
                            length = points.ok_or_else(|| bad("a match has 1 to 64 points"))?;
                        }
                        ["jacoby", "off"] | ["crawford", "on" | "off"] => {}
                        ["jacoby", "on"] => {
                            return Err(("unsupported_feature", "the Jacoby rule is not known".into()));
                        }
                        _ => return Err(bad("write length N, jacoby on|off, crawford on|off")),
                    }
                }
                self.length = match kind {
                    "money" => 0,
                    "match" if length > 0 => length,
                    _ => return Err(bad("write `type money`, or `type match length N`")),
                };
                self.scores = [0; 2];
            }
            ["setscore", first, second] => {
                let score = |text: &str| text.parse().ok().filter(|n| *n <= 10_000);
                let scores = score(first).zip(score(second)).ok_or_else(|| bad("write two scores"))?;
                self.scores = scores.into();
            }
            ["setcube", "value", value, "owner", owner] => {
                let value = value.parse().ok().filter(|n: &u32| n.is_power_of_two() && *n <= 4096);
                self.cube = value.ok_or_else(|| bad("a cube has a power of 2, up to 4096"))?;
                self.owner = match owner {
                    "center" => None,
                    player => Some(player_of(player).ok_or_else(|| bad("write center, p0 or p1"))?),
                };
            }
            ["setturn", player] => self.turn = player_of(player).ok_or_else(|| bad("write p0 or p1"))?,
            ["position", "gnubgid" | "xgid", id] => {
                // Nothing is said of an earlier position where this one cannot be read.
                (self.position, self.dice) = (None, None);
                let read = Backgammon::default().parse_position(id);
                let (state, _) = read.map_err(|e| ("bad_argument", e.to_string()))?;
                if state.position().is_over() {
                    return Err(bad("the game is over"));
                }
                self.position = Some(state.position());
                self.dice = match state.stage {
                    Stage::Move(roll) => Some(roll),
                    Stage::Roll | Stage::Opening => None,
                };
            }
            ["dice", first, second] => {
                let die = |text: &str| text.parse().ok();
                let roll = die(first).zip(die(second)).and_then(|(a, b)| Roll::new(a, b));
                self.dice = Some(roll.ok_or_else(|| bad("write two dice from 1 to 6"))?);
            }
            ["go", "role", role, ref rest @ ..] => {
                let known = |pair: &[&str]| match pair {
                    ["movetime" | "depth" | "nodes" | "trials", number] => number.parse::<u64>().is_ok(),
                    _ => false,
                };
                if !rest.chunks(2).all(known) {
                    return Err(bad("write movetime MS, depth N, nodes N or trials N"));
                }
                return self.go(role);
            }
            [
                "setoption" | "newsession" | "setscore" | "setcube" | "setturn" | "position" | "dice" | "go",
                ..,
            ] => {
                return Err(bad("wrong arguments"));
            }
            [word, ..] => return Err(("unknown_command", format!("`{word}`"))),
        }
        Ok(String::new())
    }

    fn go(&mut self, role: &str) -> Result<String, Refusal> {
        let missing = |what: &str| ("missing_context", format!("send `{what}` first"));
        let position = self.position.ok_or_else(|| missing("position gnubgid ID"))?;
        match role {
            "chequer" => {
                let (text, eval) = self.play(position)?;
                Ok(format!("bestmove {text}{eval}\n"))
            }
            "cube" => {
                let cube = self.cube(position);
                Ok(format!("bestcube {cube}{}\n", self.eval(position, false)))
            }
            "turn" => {
                let cube = self.cube(position);
                let (text, eval) = self.play(position)?;
                Ok(format!("bestturn cube={cube} move={text}{eval}\n"))
            }
            _ => Err(("bad_argument", format!("role `{role}`: write chequer, cube or turn"))),
        }
    }

    /// The move, and what the position after it is worth.
    fn play(&mut self, position: Position) -> Result<(String, String), Refusal> {
        let roll = self.dice.ok_or(("missing_context", "send `dice D1 D2` first".to_string()))?;
        let (text, after) =
            self.bot.play(position, roll).map_err(|e| ("unsupported_feature", e.to_string()))?;
        let eval = self.eval(after.swapped(), true);
        Ok((if text.is_empty() { "pass".into() } else { text }, eval))
    }

    fn cube(&mut self, position: Position) -> &'static str {
        let cube = match self.owner {
            None => Cube::Centred,
            Some(owner) if owner == self.turn => Cube::Own,
            Some(_) => return "nodouble",
        };
        let players = [self.turn, 1 - self.turn];
        let away = (self.length > 0).then(|| players.map(|player| needed(self.length, self.scores[player])));
        if self.bot.doubles(position, (cube, self.cube), away) { "double" } else { "nodouble" }
    }

    /// The equity in points and the chance of winning of the side to roll, or of the other side; nothing where they are not known.
    fn eval(&mut self, to_roll: Position, of_other: bool) -> String {
        let chances = (!to_roll.is_over()).then(|| self.bot.chances(to_roll)).flatten();
        let chances = chances.map(|chances| if of_other { chances.other() } else { chances });
        chances.map_or_else(String::new, |c| format!(" eval eq {:.4} pwin {:.4}", c.dead(), c.win()))
    }
}

/// Points of a match at most.
const MOST_POINTS: u32 = 64;

fn player_of(text: &str) -> Option<usize> {
    ["p0", "p1"].iter().position(|player| *player == text)
}

#[cfg(test)]
mod tests {
    use super::super::bot::tests::bot;
    use super::*;

    fn said(commands: &str) -> String {
        let mut output = Vec::new();
        Engine::new(bot()).run(commands.as_bytes(), &mut output).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn an_arena_is_answered() {
        let hello = said("ubgi\nisready\nquit\nisready\n");
        assert!(hello.starts_with("id name adept ") && hello.ends_with("ubgiok\nreadyok\n"), "{hello}");
        let commands = "newgame\nnewsession type match length 7 crawford on\nsetscore 2 3\nsetcube value 1 owner center\n\
                        setturn p0\nposition gnubgid 4HPw\n\
                        position xgid XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10\ndice 3 1\n\
                        go role chequer movetime 100\ngo role cube\ngo role turn depth 0\n";
        let said = said(commands);
        let lines: Vec<&str> = said.lines().collect();
        let [refused, chequer, cube, turn] = lines[..] else { panic!("{said}") };
        assert!(refused.starts_with("error bad_argument ") && refused.contains("4HPw"), "{refused}");
        let (text, eval) = chequer.strip_prefix("bestmove ").unwrap().split_once(" eval eq ").unwrap();
        let game = Backgammon::default();
        let state = game.parse_position("4HPwATDgc/ABMA 31").unwrap().0;
        game.parse_action(&state, text).unwrap();
        assert!(eval.contains(" pwin 0."), "{eval}");
        assert!(
            cube.starts_with("bestcube double eval") || cube.starts_with("bestcube nodouble eval"),
            "{cube}"
        );
        assert!(turn.starts_with("bestturn cube=") && turn.contains(" move="), "{turn}");
    }

    #[test]
    fn faults_have_a_code_and_the_engine_goes_on() {
        for (command, answer) in [
            ("hello", "error unknown_command `hello`"),
            ("go role chequer", "error missing_context send `position gnubgid ID` first"),
            (
                "position gnubgid 4HPwATDgc/ABMA\ngo role turn",
                "error missing_context send `dice D1 D2` first",
            ),
            ("position gnubgid 4HPwATDgc/ABMA\ngo role all", "error bad_argument role `all`"),
            ("position gnubgid 4HP", "error bad_argument "),
            ("position gnubgid 4HPwATDgc/ABMA\nposition xgid 4HP\ngo role cube", "error bad_argument "),
            ("dice 7 1", "error bad_argument `dice 7 1`: write two dice"),
            ("go role chequer fast", "error bad_argument "),
            ("setoption name Threads value 4", "error unsupported_feature Threads cannot be `4`"),
            ("setoption name Seed value -1", "error bad_argument "),
            ("newsession type match", "error bad_argument "),
            ("newsession type money jacoby on", "error unsupported_feature "),
            ("setcube value 3 owner center", "error bad_argument "),
            ("setturn p2", "error bad_argument "),
            ("dice 1", "error bad_argument `dice 1`: wrong arguments"),
        ] {
            let said = said(&format!("{command}\n\nstop\nisready\n"));
            let lines: Vec<&str> = said.lines().collect();
            let [first, middle @ .., last] = &lines[..] else { panic!("{command}: {said}") };
            assert!(first.starts_with(answer) && *last == "readyok", "{command}: {said}");
            assert!(middle.iter().all(|line| line.starts_with("error missing_context")), "{command}: {said}");
        }
    }

    #[test]
    fn the_owner_of_the_cube_alone_doubles() {
        let commands = "position gnubgid 4HPwATDgc/ABMA\nsetcube value 2 owner p1\ngo role cube\nsetturn p1\n\
                        newsession type match length 5\nsetscore 4 1\ngo role cube\n";
        let said = said(commands);
        let lines: Vec<&str> = said.lines().collect();
        // Player 2 loses the match with this game anyway.
        assert!(
            lines[0].starts_with("bestcube nodouble") && lines[1].starts_with("bestcube double"),
            "{said}"
        );
    }
}
