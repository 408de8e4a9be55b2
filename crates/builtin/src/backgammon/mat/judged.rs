//! Games with judgements in the `.sgf` format of GNU Backgammon, which then shows them as its own analysis. [`sgf`](super::sgf) describes
//! the format and reads it.

use super::whole::standard;
use crate::backgammon::cube::CubeModel;
use crate::backgammon::{Action, BAR, Backgammon, Position, Rules, State, Win, notation};
use crate::dice::Roll;
use adept_game::{Game, GameError, JudgedAction, JudgedGame, Judgement};
use std::fmt::Write;

/// The place of a game in its match or session.
#[derive(Default)]
struct Standing {
    /// The number of games before it.
    number: usize,
    /// The points of the players before it.
    scores: [u32; 2],
}

/// Formats games, one after another: a new match or session begins where a score begins anew or other players sit down.
///
/// # Errors
/// If a game begins at a position that cannot be read.
pub(super) fn write(game: &Backgammon, games: &[JudgedGame<'_, Action>]) -> Result<String, GameError> {
    let length = game.rules().length();
    let (mut text, mut standing, mut names) = (String::new(), Standing::default(), None);
    for one in games {
        let state = match &one.whole.from {
            Some(text) => game.parse_position(text)?.0,
            None => game.start(),
        };
        let away = state.stakes.away();
        let begins = away.is_some_and(|away| away.iter().all(|away| u32::from(*away) == length));
        if begins || names.is_some_and(|names| names != &one.whole.names) {
            standing = Standing::default();
        }
        if let Some(away) = away {
            standing.scores = away.map(|away| length.saturating_sub(away.into()));
        }
        names = Some(&one.whole.names);
        let mut writer =
            GameWriter { game, state, nodes: String::new(), cube: None, double: None, won: None };
        writer.play(one);
        text.push_str(&head(game, one, &state, &standing));
        let resigned = || Some((told_result(game, one, state, &writer.state)?, "R"));
        if let Some(((winner, points), how)) = writer.won.map(|won| (won, "")).or_else(resigned) {
            let _ = write!(text, "RE[{}+{points}{how}]", COLOURS[winner]);
            standing.scores[winner] = standing.scores[winner].saturating_add(points);
        }
        text.push_str(&writer.nodes);
        text.push_str(")\n");
        standing.number += 1;
    }
    Ok(text)
}

/// The letters of the players.
const COLOURS: [char; 2] = ['W', 'B'];

/// The kind of evaluation that is written: at 0 plies, with the cube.
const EVALUATION: &str = "0C";

/// The head of a game.
fn head(game: &Backgammon, one: &JudgedGame<'_, Action>, state: &State, standing: &Standing) -> String {
    let length = game.rules().length();
    let Standing { number, scores: [white, black] } = standing;
    let name = |player: usize| escaped(one.whole.names.get(player).map_or("", |name| name));
    let rules = [
        ("NoCube", !game.has_cube()),
        ("Crawford", length > 0),
        ("CrawfordGame", state.stakes.is_crawford()),
        ("Jacoby", matches!(game.rules(), Rules::Money { jacoby: true, .. })),
    ];
    let rules: Vec<&str> = rules.iter().filter(|(_, holds)| *holds).map(|(name, _)| *name).collect();
    let rules = if rules.is_empty() { String::new() } else { format!("RU[{}]", rules.join(":")) };
    format!(
        "(;FF[4]GM[6]CA[UTF-8]AP[adept:{}]MI[length:{length}][game:{number}][ws:{white}][bs:{black}]PW[{}]PB[{}]AN[{}]{rules}",
        env!("CARGO_PKG_VERSION"),
        name(0),
        name(1),
        escaped(one.judge),
    )
}

/// A text as a value, without line breaks.
fn escaped(text: &str) -> String {
    let mut value = String::new();
    for c in text.chars() {
        if matches!(c, '\\' | ']') {
            value.push('\\');
        }
        value.push(if c.is_control() { ' ' } else { c });
    }
    value
}

/// The winner and the points of a game that was ended early, from its result and the state in which it ended.
fn told_result(
    game: &Backgammon,
    one: &JudgedGame<'_, Action>,
    start: State,
    end: &State,
) -> Option<(usize, u32)> {
    let result = one.whole.result.filter(|result| *result != 0.0)?;
    let winner = usize::from(result < 0.0);
    if game.rules().length() == 0 {
        return Some((winner, result.abs().round() as u32));
    }
    // The result is what the points change the chance to win the match.
    let value = |points| start.stakes.after_game(winner, points).match_value(game.checkers(), 0);
    let before = start.stakes.match_value(game.checkers(), 0);
    let points =
        [Win::Single, Win::Gammon, Win::Backgammon].map(|win| u32::from(win.points()) * end.stakes.cube());
    let told = points.into_iter().find(|points| (value(*points) - before - result).abs() < 1e-9)?;
    Some((winner, told))
}

/// The nodes of a game, as it is played.
struct GameWriter<'a> {
    game: &'a Backgammon,
    state: State,
    nodes: String,
    /// The analysis of the decision not to double before the present roll.
    cube: Option<String>,
    /// The analysis of the last double, which is that of its answer too.
    double: Option<String>,
    /// The winner of the game and the points, if the last action ended it.
    won: Option<(usize, u32)>,
}

impl GameWriter<'_> {
    fn play(&mut self, one: &JudgedGame<'_, Action>) {
        let (mut left, mut roll, mut luck) = (one.judgements, None, None);
        for (place, (_, action)) in one.whole.actions.iter().enumerate() {
            while left.first().is_some_and(|judgement| judgement.place < place) {
                left = &left[1..];
            }
            let judgement = left.first().filter(|judgement| judgement.place == place);
            let player = self.state.actor();
            match *action {
                Action::Opening(beginner, thrown) => {
                    roll = Some(thrown);
                    luck = self.luck(beginner, judgement);
                }
                Action::Roll(thrown) => {
                    roll = Some(thrown);
                    luck = self.luck(player, judgement);
                }
                Action::NoDouble => self.cube = judgement.and_then(|judgement| self.cube_text(judgement)),
                Action::Move(after) => {
                    if let Some(roll) = roll {
                        self.move_node((roll, after), action, judgement, luck.take());
                    }
                }
                Action::Double => {
                    self.double = judgement.and_then(|judgement| self.cube_text(judgement));
                    let double = self.double.clone();
                    self.node(player, "double", double);
                }
                // Nobody analyses a beaver.
                Action::Beaver => {
                    self.double = None;
                    self.node(player, "double", None);
                }
                Action::Take | Action::Drop => {
                    let double = self.double.take();
                    self.node(player, if *action == Action::Take { "take" } else { "drop" }, double);
                }
                Action::Resign(..) => {}
            }
            self.won = self.game.won_by(&self.state, action);
            self.game.apply(&mut self.state, action);
            if self.won.is_some() {
                break;
            }
        }
    }

    fn node(&mut self, player: usize, action: &str, cube: Option<String>) {
        let _ = write!(self.nodes, "\n;{}[{action}]", COLOURS[player]);
        if let Some(cube) = cube {
            let _ = write!(self.nodes, "DA[{cube}]");
        }
    }

    /// A roll and a move, with all candidates.
    fn move_node(
        &mut self,
        (roll, after): (Roll, Position),
        action: &Action,
        judgement: Option<&Judgement<Action>>,
        luck: Option<f64>,
    ) {
        let (player, before) = (self.state.player, self.state.position());
        let letters = |after: Position| {
            let parts = notation::parts(before, roll, &[after]).pop().unwrap_or_default();
            parts
                .into_iter()
                .flat_map(|(from, to)| [letter(from, player), letter(to, player)])
                .collect::<String>()
        };
        let cube = self.cube.take();
        self.node(player, &format!("{roll}{}", letters(after)), cube);
        let listed: Vec<(String, &JudgedAction<Action>)> = judgement
            .into_iter()
            .flat_map(|judgement| &judgement.actions)
            .filter_map(|one| match one.action {
                Action::Move(after) => Some((letters(after), one)),
                _ => None,
            })
            .collect();
        if let Some(played) = listed.iter().position(|(_, one)| one.action == *action) {
            let _ = write!(self.nodes, "A[{played}]");
            for (letters, one) in &listed {
                let Action::Move(after) = one.action else { continue };
                let chances = numbers(&probabilities(one, after));
                let equity = self.points(one.value);
                let _ = write!(
                    self.nodes,
                    "[{letters} E ver 3 {chances} {equity:.6} {EVALUATION} 0 1 0.000000 1]"
                );
            }
        }
        if let Some(luck) = luck {
            let _ = write!(self.nodes, "LU[{luck:.5}]");
        }
    }

    /// The luck of a roll for the player who plays it, in points.
    fn luck(&self, player: usize, judgement: Option<&Judgement<Action>>) -> Option<f64> {
        let luck = judgement?.luck?;
        let point = standard(self.game, &self.state)?.point;
        Some(if player == 0 { luck / point } else { -luck / point })
    }

    /// The analysis of a decision to double: the values, for the player, without a double and with one that is taken.
    fn cube_text(&self, judgement: &Judgement<Action>) -> Option<String> {
        let one = |action| judgement.actions.iter().find(|one| one.action == action);
        let (none, double) = (one(Action::NoDouble)?, one(Action::Double)?);
        let take = double.answers.iter().find(|(answer, _)| *answer == Action::Take);
        let taken = take.map_or(double.value, |(_, value)| -value);
        let [win, wins, wins_all, losses, losses_all] = five(&none.chances);
        let cubeless = 2.0 * win - 1.0 + wins + wins_all - losses - losses_all;
        let chances = numbers(&[win, wins, wins_all, losses, losses_all, cubeless]);
        let value = |value: f64| match self.game.rules() {
            Rules::Match { .. } => (1.0 + value) / 2.0,
            _ => self.points(value),
        };
        let [none, taken] = [none.value, taken].map(value);
        Some(format!("E ver 3 {EVALUATION} 1 0.000000 1 {chances} {none:.6} {chances} {taken:.6}"))
    }

    /// A value for the player to act in points of the present cube.
    fn points(&self, value: f64) -> f64 {
        if !self.game.has_cube() {
            return value;
        }
        let terms = self.game.terms(&self.state);
        let model = CubeModel::of(self.game.checkers());
        match model.match_chance_of(1.0, terms).zip(model.match_chance_of(-1.0, terms)) {
            Some((won, lost)) => (1.0 + value - won - lost) / (won - lost),
            None => value / f64::from(terms.cube),
        }
    }
}

/// The probabilities to win, to win at least a gammon and a backgammon, and to lose at least these, from the classes of results: losses, the
/// largest first, and wins, the smallest first. All are 0 if they are not known.
fn five(classes: &[f32]) -> [f64; 5] {
    let Ok(classes) = <[f32; 6]>::try_from(classes) else { return [0.0; 5] };
    let [lost_most, lost_two, _, won, won_two, won_most] = classes.map(f64::from);
    [won + won_two + won_most, won_two + won_most, won_most, lost_two + lost_most, lost_most]
}

/// The probabilities after a move.
fn probabilities(one: &JudgedAction<Action>, after: Position) -> [f64; 5] {
    if !after.is_over() {
        return five(&one.chances);
    }
    let mut classes = [0.0; 6];
    classes[2 + usize::from(Position::result(after.opponent).points())] = 1.0;
    five(&classes)
}

/// Numbers with a blank between them.
fn numbers(all: &[f64]) -> String {
    let words: Vec<String> = all.iter().map(|number| format!("{number:.6}")).collect();
    words.join(" ")
}

/// The letter of a place of a player: 25 is the bar, 0 is off.
fn letter(place: u8, player: usize) -> char {
    match (place, player) {
        (0, _) => 'z',
        (BAR.., _) => 'y',
        (_, 0) => char::from(b'a' + place - 1),
        _ => char::from(b'x' + 1 - place),
    }
}

#[cfg(test)]
mod tests {
    use super::super::whole::whole_games;
    use super::super::{Contents, sgf};
    use super::*;
    use adept_game::{Says, Turn, WholeGame};

    /// Made-up judgements: another move is better by .05 than the one that was played, and the luck of each roll is .02.
    fn judgements(game: &Backgammon, whole: &WholeGame<Action>) -> Vec<Judgement<Action>> {
        let mut state =
            whole.from.as_ref().map_or_else(|| game.start(), |text| game.parse_position(text).unwrap().0);
        let (mut found, mut legal) = (Vec::new(), Vec::new());
        let judged = |action: Action, value: f64, answers: Vec<(Action, f64)>| JudgedAction {
            action,
            value,
            chances: vec![0.05, 0.1, 0.3, 0.35, 0.15, 0.05],
            answers,
        };
        for (place, (_, action)) in whole.actions.iter().enumerate() {
            let (mut luck, mut actions) = (None, Vec::new());
            match (game.turn(&state), action) {
                (Turn::Chance, _) => luck = Some(0.02),
                (Turn::Player(_), Action::Move(_)) => {
                    game.actions(&state, &mut legal);
                    if let Some(other) = legal.iter().find(|other| *other != action) {
                        actions = vec![judged(*other, 0.1, Vec::new()), judged(*action, 0.05, Vec::new())];
                    }
                }
                (Turn::Player(_), Action::NoDouble | Action::Double) => {
                    let answers = vec![(Action::Take, -0.1), (Action::Drop, -0.2)];
                    actions =
                        vec![judged(Action::Double, 0.1, answers), judged(Action::NoDouble, 0.0, Vec::new())];
                }
                _ => {}
            }
            if luck.is_some() || !actions.is_empty() {
                found.push(Judgement { place, luck, actions });
            }
            game.apply(&mut state, action);
        }
        found
    }

    /// The games of a text as `.mat`, and as they are read from their `.sgf`.
    fn both(game: &Backgammon, text: &str) -> (Vec<WholeGame<Action>>, Vec<WholeGame<Action>>, String) {
        let games = whole_games(game, &Contents::parse(text).unwrap()).unwrap();
        let judged: Vec<Vec<Judgement<Action>>> = games.iter().map(|whole| judgements(game, whole)).collect();
        let all = games.iter().zip(&judged);
        let all: Vec<_> =
            all.map(|(whole, judgements)| JudgedGame { whole, judge: "net ]", judgements }).collect();
        let written = write(game, &all).unwrap();
        let read = whole_games(game, &sgf::parse(&written).unwrap()).unwrap();
        (games, read, written)
    }

    #[test]
    fn written_games_are_read_back_with_their_judgements() {
        let game = Backgammon::named("backgammon:match-5").unwrap();
        let (games, read, written) = both(&game, include_str!("match-5.mat"));
        assert_eq!(games.len(), read.len(), "{written}");
        for (one, other) in games.iter().zip(&read) {
            let actions = |whole: &WholeGame<Action>| {
                whole.actions.iter().map(|(_, action)| *action).collect::<Vec<_>>()
            };
            assert_eq!((actions(one), &one.names, &one.from), (actions(other), &other.names, &other.from));
            assert_eq!(other.fault, None);
            assert!((one.result.unwrap() - other.result.unwrap()).abs() < 1e-9, "{written}");
            let judged = judgements(&game, one);
            // Each judgement is read, and that of a double is read of its answer too.
            let answers =
                actions(one).iter().filter(|action| matches!(action, Action::Take | Action::Drop)).count();
            assert_eq!(other.opinions.len(), judged.len() + answers, "{written}");
            let mut state =
                one.from.as_ref().map_or_else(|| game.start(), |text| game.parse_position(text).unwrap().0);
            for (place, (_, action)) in one.actions.iter().enumerate() {
                let opinion = other.opinions.iter().find(|opinion| opinion.place == place);
                let judgement = judged.iter().find(|judgement| judgement.place == place);
                if let (Some(opinion), Some(judgement)) = (opinion, judgement) {
                    let point = standard(&game, &state).unwrap().point;
                    match (&opinion.says, action) {
                        (Says::Luck(luck), _) => assert!((luck * point - 0.02).abs() < 1e-4, "{luck}"),
                        (Says::Decision { judge, best, lost, .. }, Action::Move(_)) => {
                            assert_eq!((&**judge, *best), ("adept net ]", judgement.actions[0].action));
                            assert!((lost * point - 0.05).abs() < 1e-4, "{lost} {point}");
                        }
                        (Says::Decision { best, .. }, _) => {
                            assert!(matches!(best, Action::Double | Action::NoDouble), "{best:?}");
                        }
                    }
                }
                game.apply(&mut state, action);
            }
        }
        assert!(
            written.starts_with("(;FF[4]GM[6]CA[UTF-8]AP[adept:")
                && written.contains("AN[net \\]]RU[Crawford]")
        );
    }

    #[test]
    fn a_resigned_money_game_keeps_its_points() {
        let game = Backgammon::named("backgammon:money").unwrap();
        let text = " 0 point match\n\n Game 1\n a : 0      b : 0\n  1) 31: 8/5 6/5        42: 8/4 6/4\n  \
            2)  Doubles => 2      Takes\n  3) 64:      Wins 4 points\n\n Game 2\n a : 0      b : 4\n  1) 31: 8/5 6/5\n";
        let (games, read, written) = both(&game, text);
        assert_eq!((games[0].result, read[0].result), (Some(-4.0), Some(-4.0)));
        assert!(
            written.contains("RU[Jacoby]RE[B+4R]") && written.contains("[game:1][ws:0][bs:4]"),
            "{written}"
        );
        // The roll that was not played is left out.
        assert_eq!((games[0].actions.len(), read[0].actions.len()), (8, 7));
        assert_eq!(read[1].result, None);
    }
}
