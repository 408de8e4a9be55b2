//! An engine of the Universal Backgammon Interface, version 0.1: one command per line on standard input, answers on
//! standard output.
//!
//! Values of `info` are cubeless. [`Bot`] decides with the cube at the score, unless `EvalMode` is `cubeless`. Limits of `go` are accepted but not needed, because answers take
//! negligible time. The protocol: docs/ubgi-v0.1-spec.md of <https://github.com/bungogood/bgci>.

use super::bot::Bot;
use adept_builtin::backgammon::{Backgammon, MatchState, Position, Stage};
use adept_builtin::dice::Roll;
use adept_game::{Game, GameError};
use adept_ground::limits;
use adept_ground::shown::{clipped, printable};
use anyhow::Result;
use std::io::{BufRead, Read, Write};

/// Longest message in characters.
const SHOWN: usize = 200;

/// A refused command: a code of the protocol and a message.
type Refusal = (&'static str, String);

/// State of the engine after the commands so far.
pub(super) struct Engine {
    bot: Bot,
    /// The side whose turn it is first.
    position: Option<Position>,
    dice: Option<Roll>,
    /// Score, cube and turn set by `newsession`, `setscore`, `setcube` and `setturn`.
    session: MatchState,
    /// Score, cube and turn at the position: from its ID if it has any, otherwise from the session.
    now: MatchState,
    /// Whether matches of the session have a Crawford game.
    has_crawford: bool,
}

impl Engine {
    pub(super) fn new(bot: Bot) -> Self {
        let (session, now) = (MatchState::default(), MatchState::default());
        Self { bot, position: None, dice: None, session, now, has_crawford: true }
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

    /// Answers a command with lines, or nothing.
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
                     option name EvalMode type combo default cubeful var cubeful var cubeless\n\
                     option name Variant type combo default backgammon var backgammon\nubgiok\n",
                    env!("CARGO_PKG_VERSION"),
                    self.bot.seed,
                    limits::SEED,
                ));
            }
            ["isready"] => return Ok("readyok\n".into()),
            ["setoption", "name", name, "value", value] => match (name, value) {
                ("Threads", "1") | ("Deterministic", "true" | "false") | ("Variant", "backgammon") => {}
                ("EvalMode", "cubeful" | "cubeless") => self.bot.cubeful = value == "cubeful",
                ("Seed", seed) => {
                    let seed = seed.parse().ok().filter(|seed| *seed <= limits::SEED);
                    self.bot.seed = seed.ok_or_else(|| bad("write a whole number"))?;
                }
                ("Threads" | "Deterministic" | "EvalMode" | "Variant", _) => {
                    return Err(("unsupported_feature", format!("{name} cannot be `{value}`")));
                }
                _ => return Err(bad("no such option")),
            },
            ["newgame"] => {
                (self.position, self.dice) = (None, None);
                self.set(|state| (state.cube, state.owner, state.turn) = (1, None, 0));
            }
            ["newsession", "type", kind, ref rest @ ..] => self.begin_session(kind, rest).map_err(bad)?,
            ["setscore", first, second] => {
                let score = |text: &str| text.parse().ok().filter(|n| *n <= 10_000);
                let scores: [u32; 2] =
                    score(first).zip(score(second)).ok_or_else(|| bad("write two scores"))?.into();
                let length = self.session.length;
                if length > 0 && scores.iter().any(|score| *score >= length) {
                    return Err(bad("a match ends when a player has its length"));
                }
                let has_crawford = self.has_crawford;
                self.set(|state| {
                    let is_one_away = |scores: [u32; 2]| scores.iter().any(|score| score + 1 == state.length);
                    // The first game in which a player needs one point. The flag stays while the score stays.
                    if scores != state.scores {
                        state.crawford = has_crawford && is_one_away(scores) && !is_one_away(state.scores);
                    }
                    state.scores = scores;
                });
            }
            ["setcube", "value", value, "owner", owner] => {
                let value = value.parse().ok().filter(|n: &u32| n.is_power_of_two() && *n <= 4096);
                let cube = value.ok_or_else(|| bad("a cube has a power of 2, up to 4096"))?;
                let owner = match owner {
                    "center" => None,
                    player => Some(player_of(player).ok_or_else(|| bad("write center, p0 or p1"))?),
                };
                if (cube > 1) != owner.is_some() {
                    return Err(bad("a cube in the middle has the value 1, and one with an owner more"));
                }
                self.set(|state| (state.cube, state.owner) = (cube, owner));
            }
            ["setturn", player] => {
                let player = player_of(player).ok_or_else(|| bad("write p0 or p1"))?;
                self.set(|state| state.turn = player);
            }
            ["position", "gnubgid" | "xgid", _, ..] => {
                let id = words[2..].join(" ");
                // If this position is invalid, the previous one must not stay.
                (self.position, self.dice) = (None, None);
                let refuse = |e: GameError| ("bad_argument", e.to_string());
                let (state, _) = Backgammon::default().parse_position(&id).map_err(refuse)?;
                if state.position().is_over() {
                    return Err(bad("the game is over"));
                }
                self.now = MatchState::parse(&id).map_err(refuse)?.unwrap_or(self.session);
                self.position = Some(state.position());
                self.dice = match state.stage {
                    Stage::Move(roll) => Some(roll),
                    _ => None,
                };
            }
            ["dice", first, second] => {
                let die = |text: &str| text.parse().ok();
                let roll = die(first).zip(die(second)).and_then(|(a, b)| Roll::new(a, b));
                self.dice = Some(roll.ok_or_else(|| bad("write two dice from 1 to 6"))?);
            }
            ["go"] => return self.go("chequer"),
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

    /// Starts a session of this kind. The words that follow are pairs of a setting and its value.
    ///
    /// # Errors
    /// The correct form of the command.
    fn begin_session(&mut self, kind: &str, rest: &[&str]) -> Result<(), &'static str> {
        let mut session = MatchState::default();
        let mut has_crawford = true;
        for pair in rest.chunks(2) {
            match pair {
                ["length", points] => {
                    let points = points.parse().ok().filter(|n| (1..=MOST_POINTS).contains(n));
                    session.length = points.ok_or("a match has 1 to 64 points")?;
                }
                ["jacoby", rule @ ("on" | "off")] => session.jacoby = *rule == "on",
                ["crawford", rule @ ("on" | "off")] => has_crawford = *rule == "on",
                _ => return Err("write length N, jacoby on|off, crawford on|off"),
            }
        }
        match kind {
            "money" => session.length = 0,
            "match" if session.length > 0 => session.jacoby = false,
            _ => return Err("write `type money`, or `type match length N`"),
        }
        (self.session, self.now, self.has_crawford) = (session, session, has_crawford);
        Ok(())
    }

    fn go(&mut self, role: &str) -> Result<String, Refusal> {
        let missing = |what: &str| ("missing_context", format!("send `{what}` first"));
        let position = self.position.ok_or_else(|| missing("position gnubgid ID"))?;
        // Values have their own line: arenas read everything after `bestmove` as the move.
        match role {
            "chequer" => {
                let (text, info) = self.play(position)?;
                Ok(format!("{info}bestmove {text}\n"))
            }
            "cube" => {
                let (cube, info) = (self.cube(position), self.info("cube", position, false));
                Ok(format!("{info}bestcube {cube}\n"))
            }
            "turn" => {
                let cube = self.cube(position);
                let (text, info) = self.play(position)?;
                Ok(format!("{info}bestturn cube={cube} move={text}\n"))
            }
            _ => Err(("bad_argument", format!("role `{role}`: write chequer, cube or turn"))),
        }
    }

    /// Changes the session, and with it the position.
    fn set(&mut self, change: impl Fn(&mut MatchState)) {
        change(&mut self.session);
        change(&mut self.now);
    }

    /// The move, and a line with the value of the position after it.
    fn play(&mut self, position: Position) -> Result<(String, String), Refusal> {
        let roll = self.dice.ok_or(("missing_context", "send `dice D1 D2` first".to_string()))?;
        let (text, after) = self
            .bot
            .play(position, roll, self.now.terms())
            .map_err(|e| ("unsupported_feature", e.to_string()))?;
        let info = self.info("chequer", after.swapped(), true);
        Ok((if text.is_empty() { "pass".into() } else { text }, info))
    }

    fn cube(&mut self, position: Position) -> &'static str {
        if self.bot.doubles(position, self.now.terms()) { "double" } else { "nodouble" }
    }

    /// A line with the equity in points and the chances of the side to roll, or of the other side; empty if unknown.
    fn info(&mut self, role: &str, to_roll: Position, of_other: bool) -> String {
        let chances = (!to_roll.is_over()).then(|| self.bot.chances(to_roll)).flatten();
        let chances = chances.map(|chances| if of_other { chances.other() } else { chances });
        chances.map_or_else(String::new, |c| {
            format!("info role {role} eq {:.4} pwin {:.4}\n", c.equity(), c.win())
        })
    }
}

/// Longest match in points.
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
    fn a_score_at_the_length_of_the_match_is_refused() {
        let commands = "newsession type match length 5\nsetscore 9 0\nsetscore 0 5\nsetscore 4 4\n";
        let lines = said(commands);
        assert_eq!(
            lines.lines().filter(|line| line.starts_with("error bad_argument ")).count(),
            2,
            "{lines}"
        );
        assert_eq!(said("newsession type money\nsetscore 9 0\n"), "");
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
        let [refused, of_move, chequer, of_cube, cube, of_turn, turn] = lines[..] else { panic!("{said}") };
        assert!(refused.starts_with("error bad_argument ") && refused.contains("4HPw"), "{refused}");
        // Nothing but the move.
        let text = chequer.strip_prefix("bestmove ").unwrap();
        let game = Backgammon::default();
        let state = game.parse_position("4HPwATDgc/ABMA 31").unwrap().0;
        game.parse_action(&state, text).unwrap();
        assert!(text.split(' ').all(|part| part.split('/').count() == 2), "{text}");
        assert!(of_move.starts_with("info role chequer eq ") && of_move.contains(" pwin 0."), "{of_move}");
        assert!(cube == "bestcube double" || cube == "bestcube nodouble", "{cube}");
        assert!(
            of_cube.starts_with("info role cube eq ") && of_turn.starts_with("info role chequer"),
            "{said}"
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
            ("newsession type money jacoby maybe", "error bad_argument "),
            ("setoption name Variant value nackgammon", "error unsupported_feature Variant"),
            ("position gnubgid 4HPwATDgc/ABMA:cAkA!AAAAAAE", "error bad_argument "),
            ("position xgid -b----E-C---eE---c-e----B-:0:0:1:00:7:0:0:7:10", "error bad_argument "),
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

    /// The answers, without the values.
    fn decided(commands: &str) -> Vec<String> {
        said(commands).lines().filter(|line| !line.starts_with("info")).map(String::from).collect()
    }

    #[test]
    fn the_owner_of_the_cube_alone_doubles() {
        // The opponent wins the match with this game anyway. With a cube of 2 it depends on the chances of gammons whether the owner doubles:
        // they win the match without the answer of the opponent.
        let found = decided(
            "newsession type match length 5\nsetscore 0 4\nsetscore 1 4\nposition gnubgid 4HPwATDgc/ABMA\n\
             go role cube\nsetcube value 2 owner p1\ngo role cube\nsetturn p1\nsetcube value 2 owner p0\ngo role cube\n",
        );
        let expected = ["double", "nodouble", "nodouble"].map(|cube| format!("bestcube {cube}"));
        assert_eq!(found, expected);
    }

    #[test]
    fn nobody_doubles_in_the_crawford_game() {
        let scores = "setscore 0 3\ngo role cube\nsetscore 0 4\ngo role cube\nsetscore 0 4\ngo role cube\n\
                      setscore 1 4\ngo role cube\n";
        let cubes = |rule: &str| {
            decided(&format!(
                "newsession type match length 5 {rule}\nposition gnubgid 4HPwATDgc/ABMA\n{scores}"
            ))
        };
        for rule in ["", "crawford on"] {
            assert_eq!(
                cubes(rule)[1..],
                ["bestcube nodouble", "bestcube nodouble", "bestcube double"],
                "{rule}"
            );
        }
        assert_eq!(cubes("crawford off")[1..], ["bestcube double"; 3]);
    }

    /// Cube decisions by the score alone: double if the opponent wins the match with this game anyway.
    #[test]
    fn positions_bring_their_cube_score_and_crawford_game() {
        let board = "-b----E-C---eE---c-e----B-";
        for (position, expected) in [
            (format!("xgid XGID={board}:0:0:1:00:4:6:0:7:10"), "double"),
            // The Crawford game.
            (format!("xgid XGID={board}:0:0:1:00:4:6:1:7:10"), "nodouble"),
            // The side to roll is the one that needs one point.
            (format!("xgid XGID={board}:0:0:-1:00:4:6:0:7:10"), "nodouble"),
            (format!("xgid XGID={board}:1:1:1:00:4:5:0:7:10"), "double"),
            (format!("xgid XGID={board}:1:-1:1:00:4:5:0:7:10"), "nodouble"),
            // As gnubg writes them: player 1 is to roll and needs three points, its opponent one.
            ("gnubgid 4HPwATDgc/ABMA:cAngAGAAIAAE".into(), "double"),
            ("gnubgid 4HPwATDgc/ABMA cAngAGAAIAAE".into(), "double"),
            // The Crawford game.
            ("gnubgid 4HPwATDgc/ABMA:8AngAEAAMAAE".into(), "nodouble"),
        ] {
            let commands = format!("position {position}\ngo role cube\n");
            assert_eq!(decided(&commands), [format!("bestcube {expected}")], "{position}");
            // They override the session, which applies again for an ID without them.
            let commands = format!(
                "newsession type match length 5 crawford off\nsetscore 4 0\n{commands}setscore 0 4\n\
                 position gnubgid 4HPwATDgc/ABMA\ngo role cube\n"
            );
            assert_eq!(decided(&commands), [format!("bestcube {expected}"), "bestcube double".into()]);
        }
        // Dice of an ID are the roll.
        let said = decided(&format!("position xgid {board}:0:0:1:31:0:0:0:0:10\ngo\n"));
        assert!(said[0].starts_with("bestmove "), "{said:?}");
    }

    #[test]
    fn every_die_has_its_part_of_the_move() {
        for (position, dice, expected) in [
            ("6:2 off:13/6:1 off:14", "6 6", "6/off 6/off"),
            ("24:1 off:14/6:3 off:12", "3 3", "24/21 21/18 18/15 15/12"),
            ("bar:1 off:14/6:1 off:14", "6 5", "bar/19 19/14"),
            ("bar:1 6:14/6:3 5:3 4:3 3:2 2:2 1:2", "6 5", "pass"),
        ] {
            let id = Backgammon::default().parse_position(position).unwrap().0.position().id();
            let said = decided(&format!("position gnubgid {id}\ndice {dice}\ngo role chequer\n"));
            let same = |part: &str| said[0] == format!("bestmove {part}");
            // Either die may come first.
            assert!(same(expected) || same("bar/20 20/14"), "{position} {dice}: {said:?}");
        }
    }

    /// The side to roll bears off its last checker. Values are for this side before the roll, and for the side that
    /// moved after it.
    #[test]
    fn values_are_those_of_the_side_whose_turn_it_is() {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/backgammon/small-88-24");
        let engine = || {
            let game = Backgammon::default();
            let open = || adept_arena::open::open(&game, &folder, false).unwrap().0;
            Engine::new(Bot::new(Box::new(adept_arena::Greedy::new(open())), Some(open()), 1))
        };
        let numbers = |position: &str, command: &str| {
            let id = Backgammon::default().parse_position(position).unwrap().0.position().id();
            let mut output = Vec::new();
            let commands = format!("position gnubgid {id}\n{command}\n");
            engine().run(commands.as_bytes(), &mut output).unwrap();
            let said = String::from_utf8(output).unwrap();
            let words: Vec<f64> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            (words[0], words[1])
        };
        // A certain gammon: the last checker on the ace point, against fifteen at home. And the reverse, with fifteen
        // checkers too far away.
        let (won, lost) = ("1:1 off:14/1:15", "10:15/1:1 off:14");
        let (equity, win) = numbers(won, "go role cube");
        assert!(equity > 1.8 && win > 0.97, "{equity} {win}");
        let (equity, win) = numbers(lost, "go role cube");
        assert!(equity < -1.8 && win < 0.03, "{equity} {win}");
        let (equity, win) = numbers(lost, "dice 2 1\ngo role chequer");
        assert!(equity < -1.8 && win < 0.03, "{equity} {win}");
        // After this move the opponent, with fifteen checkers at home, must bear off one before our last two leave.
        let (equity, win) = numbers("6:2 5:1 off:12/3:15", "dice 2 1\ngo role chequer");
        assert!(equity > 0.9 && win > 0.97, "{equity} {win}");
    }
}
