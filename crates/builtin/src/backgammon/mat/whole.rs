//! Games of a rule set from files `.mat`, and for them.
//!
//! A file of a match is read game by game, each from its opening roll at its score, so that a game that breaks off does not end the match.

use super::told::Told;
use super::{Contents, Event, Match, Mention, Place, Played, Unit, contents_of, date, judged, length_of};
use crate::backgammon::cube::CubeModel;
use crate::backgammon::{Action, Backgammon, LONGEST_MATCH, Rules, Stage, Stakes, State, Win};
use crate::dice::Roll;
use adept_game::{
    AddedGame, DecisionKind, Found, Game, GameError, GameLines, GameRecord, GamesAsPlayed, JudgedGame,
    Opinion, Records, Standard, WholeGame,
};
use adept_ground::notes;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// The rules decide which matches a file has, and whether the cube is read.
impl Records<Backgammon> for Rules {
    fn suffix(&self) -> &'static str {
        "mat"
    }

    /// Nobody gives up a match as a whole.
    fn write(&self, game: &Backgammon, record: &GameRecord<'_, Action>) -> Found<String> {
        (self.length() == 0 || record.resigned.is_none()).then(|| format(game, record))
    }

    fn add(&self, text: &str, written: &str) -> Result<AddedGame, GameError> {
        append(self.length(), text, written)
    }

    fn read(&self, game: &Backgammon, path: &Path) -> Found<Vec<WholeGame<Action>>> {
        Some(contents_of(path).and_then(|contents| games_of(game, path, contents)))
    }

    fn read_as_played(&self, game: &Backgammon, path: &Path) -> Found<GamesAsPlayed<Backgammon>> {
        let read = || {
            let contents = contents_of(path)?;
            // A network that has learned the cube plays its own rule set alone.
            let rules = contents.matches.first().filter(|_| !game.has_cube()).and_then(Match::rules);
            let own = rules.and_then(|rules| Backgammon::with_rules(game.checkers(), rules));
            let games = games_of(own.as_ref().unwrap_or(game), path, contents)?;
            Ok((own, games))
        };
        Some(read())
    }

    fn write_judged(&self, game: &Backgammon, games: &[JudgedGame<'_, Action>]) -> Found<String> {
        Some(fits(game).and_then(|()| judged::write(game, games)))
    }

    /// Files with the endings of the formats. Of texts, which may be anything, those with the first line of a match.
    fn holds_games(&self, path: &Path) -> bool {
        let Some(end) = path.extension().and_then(|end| end.to_str()) else { return false };
        let is_one_of = |ends: &[&str]| ends.iter().any(|known| end.eq_ignore_ascii_case(known));
        is_one_of(&["mat", "sgf", "xg", "xgp"]) || is_one_of(&["txt"]) && begins_a_match(path)
    }

    fn date(&self, path: &Path) -> Option<String> {
        // A pipe cannot be read twice.
        path.is_file().then(|| head_of(path)).flatten().as_deref().and_then(date::date_of)
    }

    fn standard(&self, game: &Backgammon, state: &State) -> Option<Standard> {
        standard(game, state)
    }

    fn error_name(
        &self,
        game: &Backgammon,
        state: &State,
        played: &Action,
        (best, value): (&Action, f64),
    ) -> Option<&'static str> {
        match (played, best) {
            (Action::NoDouble, Action::Double) => Some("missed double"),
            (Action::Double, Action::NoDouble) => {
                let cash = match state.stakes.away() {
                    Some(_) => {
                        let cashed = state.stakes.after_game(state.player, state.stakes.cube());
                        cashed.match_value(game.checkers(), state.player)
                    }
                    None => f64::from(state.stakes.cube()),
                };
                Some(if value > cash { "too good to double" } else { "wrong double" })
            }
            (Action::Take | Action::Beaver, Action::Drop) => Some("wrong take"),
            (Action::Drop, Action::Take | Action::Beaver) => Some("wrong pass"),
            (Action::Beaver, Action::Take) => Some("wrong beaver"),
            (Action::Take, Action::Beaver) => Some("missed beaver"),
            _ => None,
        }
    }
}

/// Games with fewer checkers a side, which have no place in files `.mat`. Their errors are counted in the same way.
pub(crate) struct FewCheckers;

impl Records<Backgammon> for FewCheckers {
    fn suffix(&self) -> &'static str {
        Records::<Backgammon>::suffix(&GameLines)
    }

    fn write(&self, game: &Backgammon, record: &GameRecord<'_, Action>) -> Found<String> {
        GameLines.write(game, record)
    }

    fn add(&self, text: &str, written: &str) -> Result<AddedGame, GameError> {
        Records::<Backgammon>::add(&GameLines, text, written)
    }

    fn read(&self, game: &Backgammon, path: &Path) -> Found<Vec<WholeGame<Action>>> {
        match Records::<Backgammon>::holds_games(&game.rules(), path) {
            true => Some(Err(too_few())),
            false => GameLines.read(game, path),
        }
    }

    fn standard(&self, game: &Backgammon, state: &State) -> Option<Standard> {
        standard(game, state)
    }

    fn error_name(
        &self,
        game: &Backgammon,
        state: &State,
        played: &Action,
        best: (&Action, f64),
    ) -> Option<&'static str> {
        game.rules().error_name(game, state, played, best)
    }
}

/// Bytes in which the first line of a match stands.
const HEAD: u64 = 4096;

/// The beginning of a file as text.
fn head_of(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.is_ok().then(|| String::from_utf8_lossy(&head).into_owned())
}

/// Whether a line such as ` 7 point match` is near the beginning of a file.
fn begins_a_match(path: &Path) -> bool {
    head_of(path).is_some_and(|head| head.lines().any(|line| length_of(line.trim()).is_some()))
}

/// The points by which a decision to double stops being close, in GNU Backgammon and in eXtreme Gammon.
const CLOSE: [f64; 2] = [0.16, 0.2];

/// How a decision is counted: in points of the cube, which are worth what they change the chance to win a match.
pub(super) fn standard(game: &Backgammon, state: &State) -> Option<Standard> {
    let kind = match state.stage {
        Stage::Move(_) | Stage::Roll | Stage::Rolling | Stage::Opening => DecisionKind::Move,
        Stage::Cube => DecisionKind::Double { close: CLOSE },
        Stage::Doubled | Stage::Beavered => DecisionKind::Answer,
        Stage::Dropped | Stage::Resigned(_) => return None,
    };
    if !game.has_cube() {
        return Some(Standard { kind, point: 1.0 });
    }
    if state.stage == Stage::Opening {
        let worth = |winner| state.stakes.after_game(winner, 1).match_value(game.checkers(), 0);
        let point = if state.stakes.away().is_some() { (worth(0) - worth(1)) / 2.0 } else { 1.0 };
        return Some(Standard { kind, point });
    }
    let terms = game.terms(state);
    let model = CubeModel::of(game.checkers());
    // From −1 to 1, the chance to win the match is worth twice as much.
    let point = match model.match_chance_of(1.0, terms).zip(model.match_chance_of(-1.0, terms)) {
        Some((won, lost)) => won - lost,
        None => f64::from(terms.cube),
    };
    Some(Standard { kind, point })
}

impl Rules {
    /// The length of a match in its file; 0 for games outside of matches.
    pub(super) fn length(self) -> u32 {
        if let Self::Match { length } = self { length.into() } else { 0 }
    }
}

/// Refuses a game with fewer checkers.
fn fits(game: &Backgammon) -> Result<(), GameError> {
    if game.checkers() == 15 { Ok(()) } else { Err(too_few()) }
}

fn too_few() -> GameError {
    GameError::new(
        "files of backgammon hold games with 15 checkers a side: games with fewer are in files `.games`",
    )
}

/// The rule set with the cube of matches of this length; of 0, money games. None if no rule set has the length.
fn with_cube(length: u32) -> Option<Backgammon> {
    let rules = match u8::try_from(length).ok()? {
        0 => Rules::Money { jacoby: true, beavers: false },
        length => Rules::Match { length },
    };
    Backgammon::with_rules(Backgammon::default().checkers(), rules)
}

/// The games of a file, each as far as possible. Errors name the file.
fn games_of(game: &Backgammon, path: &Path, contents: Contents) -> Result<Vec<WholeGame<Action>>, GameError> {
    let named = |e: GameError| GameError::Data { path: path.into(), message: e.to_string() };
    whole_games(game, &contents).map_err(named)
}

/// The games of a file, each as far as possible.
///
/// # Errors
/// If a match does not have the length of the rule set.
pub(super) fn whole_games(
    game: &Backgammon,
    contents: &Contents,
) -> Result<Vec<WholeGame<Action>>, GameError> {
    let Contents { matches, places, unit } = contents;
    let mut places = places.iter().enumerate();
    let mut all = Vec::new();
    for found in matches {
        if game.has_cube() {
            check_length(game, found.length)?;
        } else {
            suggest_cube(found);
        }
        let mut scores = Scores { length: found.length, may_be_crawford: true };
        for (i, played) in found.games.iter().enumerate() {
            let Some((number, place)) = places.next() else { break };
            all.push(match game.has_cube() {
                true => {
                    let stakes = scores.stakes_of(played, i == 0);
                    CubeGame { game, played, place, unit: *unit, number: number + 1 }.whole(stakes)
                }
                false => played.whole(&place.told),
            });
        }
    }
    Ok(all)
}

/// Refuses matches of another length than that of a rule set with the cube.
fn check_length(game: &Backgammon, length: u32) -> Result<(), GameError> {
    if game.rules().length() == length {
        return Ok(());
    }
    let what = if length == 0 { "a money session".into() } else { format!("a match to {length} points") };
    let hint = match with_cube(length) {
        Some(other) => format!("read it with --game {}", other.name()),
        None => format!("matches with the cube go to {LONGEST_MATCH} points"),
    };
    Err(GameError::new(format!("the file holds {what}, which is not one of {}: {hint}", game.name())))
}

/// Names the rule set that judges the cube too, where games are read without it.
fn suggest_cube(found: &Match) {
    let has_cube = found.length > 0 || found.games.iter().any(Played::has_double);
    if let Some(other) = with_cube(found.length).filter(|_| has_cube) {
        let name = other.name();
        let what = if found.length == 0 { "the cube" } else { "the cube and the score" };
        notes::note(&format!("moves are judged without {what}: --game {name} judges the cube too"));
    }
}

/// The scores of a match, game by game.
struct Scores {
    length: u32,
    /// Whether nobody has been one point away before.
    may_be_crawford: bool,
}

impl Scores {
    /// The stakes of the next game of the file. The first game in which a player is one point away is the Crawford game. If that is the first
    /// of its match there, earlier games may be missing, and a double shows that it is not.
    ///
    /// # Errors
    /// If the score is not possible.
    fn stakes_of(&mut self, played: &Played, is_first: bool) -> Result<Stakes, String> {
        let Self { length, may_be_crawford } = *self;
        if length == 0 {
            return Ok(Stakes::start(0));
        }
        let away = played.scores.map(|score| {
            let away = length.checked_sub(score).filter(|away| *away > 0);
            away.and_then(|away| u8::try_from(away).ok())
        });
        let [Some(first), Some(second)] = away else {
            return Err(format!("a score is not below {length}, the length of the match"));
        };
        let is_close = first == 1 || second == 1;
        self.may_be_crawford &= !is_close;
        let is_later = is_first && played.has_double();
        Stakes::new(1, None, [first, second], is_close && may_be_crawford && !is_later)
    }
}

impl Played {
    /// Whether a player doubled.
    pub(super) fn has_double(&self) -> bool {
        self.events.iter().any(|(_, event)| matches!(event, Event::Doubles(_)))
    }

    /// Whether a player beavered: a double follows a double.
    pub(super) fn has_beaver(&self) -> bool {
        let doubles = |(_, event): &(usize, Event)| matches!(event, Event::Doubles(_));
        self.events.windows(2).any(|pair| pair.iter().all(doubles))
    }

    /// Points that the winner got, as the file tells, in units of the cube. None for a win of another size than 1 to 3, which was adjusted
    /// or agreed.
    fn size(&self) -> Option<(usize, f64)> {
        let (winner, points) = self.winner.zip(self.points)?;
        let won = f64::from(points) / f64::from(self.cube());
        [1.0, 2.0, 3.0].contains(&won).then_some((winner, won))
    }

    /// The game without the cube: rolls and moves, the result of a game that ended early, and what another program told of events.
    pub(super) fn whole(&self, told: &BTreeMap<usize, Told>) -> WholeGame<Action> {
        let (mut actions, mut opinions) = (Vec::new(), Vec::new());
        for (i, (&(player, event), &line)) in self.events.iter().zip(&self.lines).enumerate() {
            let (roll, after) = match event {
                Event::Moves(roll, _, after) => (roll, Some(after)),
                Event::Resigns(Some(roll)) => (roll, None),
                _ => continue,
            };
            let thrown = match actions.is_empty() {
                true => Action::Opening(player, roll),
                false => Action::Roll(roll),
            };
            for action in [thrown].into_iter().chain(after.map(Action::Move)) {
                let says = told.get(&i).and_then(|told| told.of_checkers(player, &action));
                opinions.extend(says.map(|says| Opinion { place: actions.len(), says }));
                actions.push((line.into(), action));
            }
        }
        let is_over = matches!(self.events.last(), Some((_, Event::Moves(_, _, after))) if after.is_over());
        let result = self.size().filter(|_| !is_over && !actions.is_empty());
        let result = result.map(|(winner, won)| if winner == 0 { won } else { -won });
        let (names, fault) = (self.names.to_vec(), self.fault.clone());
        WholeGame { names, from: None, actions, result, fault, opinions }
    }
}

/// A game of a file, to be read by the rules of a game with the cube.
struct CubeGame<'a> {
    game: &'a Backgammon,
    played: &'a Played,
    place: &'a Place,
    unit: Unit,
    /// Its number in the file.
    number: usize,
}

impl CubeGame<'_> {
    /// The game from its opening roll at these stakes. It ends at the first event that the rules refuse.
    fn whole(&self, stakes: Result<Stakes, String>) -> WholeGame<Action> {
        let Self { game, played, .. } = *self;
        let mut whole = WholeGame {
            names: played.names.to_vec(),
            from: None,
            actions: Vec::new(),
            result: None,
            fault: played.fault.clone(),
            opinions: Vec::new(),
        };
        let stakes = match stakes {
            Ok(stakes) => stakes,
            Err(why) => {
                let why = || format!("{} {}: game {}: {why}", self.unit, self.place.scores, self.number);
                whole.fault = whole.fault.or_else(|| Some(why()));
                return whole;
            }
        };
        let start = State { stakes, ..game.start() };
        whole.from = (start != game.start()).then(|| game.position_text(&start));
        let (mut state, mut is_over) = (start, false);
        for (i, &(player, event)) in played.events.iter().enumerate() {
            let number = played.lines[i];
            match actions_of(game, &state, player, event) {
                Ok(actions) => {
                    for action in actions {
                        is_over = game.won_by(&state, &action).is_some();
                        let says = self.place.told.get(&i).and_then(|told| {
                            told.of_checkers(player, &action).or_else(|| told.of_cube(game, &state, &action))
                        });
                        whole.opinions.extend(says.map(|says| Opinion { place: whole.actions.len(), says }));
                        game.apply(&mut state, &action);
                        whole.actions.push((number.into(), action));
                    }
                }
                Err(why) => {
                    let (cell, who) = (event.to_string(), &*played.names[player]);
                    let line = self.place.events[i];
                    let (unit, game) = (self.unit, self.number);
                    let mention = Mention { unit, line, game, number, cell: cell.trim(), who };
                    whole.fault = Some(mention.with(&why));
                    break;
                }
            }
        }
        let told = played.size().filter(|_| !is_over && !whole.actions.is_empty());
        let points = played.points.unwrap_or(0);
        whole.result = match game.rules() {
            // A game counts what it changes the chance to win the match, so that the results of a match add up to 1 or −1.
            Rules::Match { .. } => {
                let after = match told {
                    Some((winner, _)) => Some(stakes.after_game(winner, points)),
                    None => is_over.then_some(state.stakes),
                };
                let value = |stakes: Stakes| stakes.match_value(game.checkers(), 0);
                after.map(|after| value(after) - value(stakes))
            }
            _ => told.map(|(winner, _)| if winner == 0 { f64::from(points) } else { -f64::from(points) }),
        };
        whole
    }
}

/// The actions of an event, with those that files leave out: to roll without a double, and to take a beaver.
///
/// # Errors
/// Why the rules refuse it.
fn actions_of(game: &Backgammon, state: &State, player: usize, event: Event) -> Result<Vec<Action>, String> {
    let (roll, after) = match event {
        Event::Moves(roll, _, after) => (roll, Some(after)),
        Event::Resigns(Some(roll)) => (roll, None),
        Event::Resigns(None) => return Ok(Vec::new()),
        Event::Doubles(_) | Event::Takes | Event::Drops => {
            return cube_action(game, state, event).map(|action| vec![action]);
        }
    };
    let left_out = match state.stage {
        Stage::Opening => {
            return Ok([Action::Opening(player, roll)].into_iter().chain(after.map(Action::Move)).collect());
        }
        _ if state.player != player => return Err("it is the other player's turn".into()),
        Stage::Cube => Some(Action::NoDouble),
        Stage::Beavered => Some(Action::Take),
        Stage::Roll | Stage::Rolling => None,
        Stage::Move(_) | Stage::Doubled | Stage::Dropped | Stage::Resigned(_) => {
            return Err("no roll is to be played".into());
        }
    };
    let thrown = left_out.into_iter().chain([Action::Roll(roll)]);
    Ok(thrown.chain(after.map(Action::Move)).collect())
}

/// The action of an event about the cube.
///
/// # Errors
/// Why the rules refuse it.
fn cube_action(game: &Backgammon, state: &State, event: Event) -> Result<Action, String> {
    let (action, times) = match (event, state.stage) {
        (Event::Takes, _) => (Action::Take, 1),
        (Event::Drops, _) => (Action::Drop, 1),
        (_, Stage::Doubled) => (Action::Beaver, 4),
        _ => (Action::Double, 2),
    };
    let mut legal = Vec::new();
    game.actions(state, &mut legal);
    if !legal.contains(&action) {
        return Err(refusal(game, state));
    }
    let value = times * state.stakes.cube();
    match event {
        Event::Doubles(to) if to != value => Err(format!("the cube goes to {value} here")),
        _ => Ok(action),
    }
}

/// Why nobody turns the cube here.
fn refusal(game: &Backgammon, state: &State) -> String {
    let stakes = state.stakes;
    match state.stage {
        Stage::Opening => "nobody doubles before the opening roll".into(),
        Stage::Doubled if !game.allows_beavers() => format!("{} has no beavers", game.name()),
        Stage::Beavered => "there are no raccoons".into(),
        _ if stakes.is_crawford() => "nobody doubles in the Crawford game".into(),
        Stage::Doubled => "the cube would go beyond 64".into(),
        _ if stakes.owner() == Some(1 - state.player) => "the other player owns the cube".into(),
        _ if !stakes.can_turn(1) => "the cube would go beyond 64".into(),
        _ => "the player wins the match by the present value of the cube".into(),
    }
}

/// Appends what was written as number 1 to the text of a file: a match to this many points, or, for length 0, a game of a money session,
/// with the scores so far. Returns the new text and the number of the match or of the game.
///
/// # Errors
/// If the text does not hold such matches.
pub(super) fn append(length: u32, text: &str, written: &str) -> Result<AddedGame, GameError> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(';'));
    match lines.next() {
        None => return Ok(AddedGame { text: format!("{text}{written}"), number: 1 }),
        Some(line) if length_of(line) == Some(length) => {}
        Some(_) => {
            let what = match length {
                0 => "a money session, which begins".to_string(),
                _ => format!("matches to {length} points, which begin"),
            };
            return Err(GameError::new(format!(
                "this file exists and does not hold {what} with ` {length} point match`"
            )));
        }
    }
    let mut before = Match::parse_all(text)?;
    if length > 0 {
        let number = before.len() as u64 + 1;
        return Ok(AddedGame { text: format!("{}\n\n{written}", text.trim_end()), number });
    }
    let before = before.pop().unwrap_or_default();
    // Before a game is played, an empty one tests whether it could be added.
    let mut added = if written.trim().is_empty() { Vec::new() } else { Match::parse(written)?.games };
    let number = before.games.len() as u64 + 1;
    if let (Some(last), Some(one)) = (before.games.last(), added.first_mut()) {
        let mut scores = last.scores;
        if let (Some(winner), Some(points)) = (last.winner, last.points) {
            scores[winner] = scores[winner].saturating_add(points);
        }
        let score =
            |name: &String| last.names.iter().position(|known| known == name).map_or(0, |i| scores[i]);
        one.scores = one.names.each_ref().map(score);
    }
    let rest = added.first().map(Played::to_string).unwrap_or_default();
    Ok(AddedGame { text: format!("{}\n\n Game {number}\n{rest}", text.trim_end()), number })
}

/// What is written of a resignation before the result, as GNU Backgammon writes it: a roll that was not played, or that a double was dropped.
fn resignation(state: &State, player: usize, win: Win) -> Option<Event> {
    match state.stage {
        Stage::Move(roll) if state.player == player => Some(Event::Resigns(Some(roll))),
        Stage::Doubled if state.player != player && win == Win::Single => Some(Event::Drops),
        _ => None,
    }
}

/// Formats a match, or a game of a money session with the scores before it, and the first line of a file. A game that was given up has
/// the utility of player 1.
///
/// # Errors
/// If the game has fewer checkers.
pub(super) fn format(game: &Backgammon, record: &GameRecord<'_, Action>) -> Result<String, GameError> {
    let GameRecord { number, names, scores, actions, resigned } = *record;
    fits(game)?;
    let length = game.rules().length();
    // Readers identify players by column, but the players change seats.
    let turned = names[0] > names[1];
    let column = |player: usize| if turned { 1 - player } else { player };
    // The scores of a match begin at 0.
    let score = |player| scores.get(player).filter(|_| length == 0).map_or(0, |points| *points as u32);
    let mut played = Played {
        names: [0, 1].map(|player| names[column(player)].into()),
        scores: [0, 1].map(|player| score(column(player))),
        ..Played::default()
    };
    let (mut state, mut roll, mut games): (State, Option<Roll>, _) = (game.start(), None, Vec::new());
    for action in actions {
        let cube = state.stakes.cube();
        let event = match *action {
            Action::Opening(_, thrown) | Action::Roll(thrown) => {
                roll = Some(thrown);
                None
            }
            Action::NoDouble => None,
            Action::Move(after) => {
                let roll = roll.ok_or_else(|| GameError::new("a move without a roll"))?;
                Some(Event::Moves(roll, state.position(), after))
            }
            Action::Double => Some(Event::Doubles(2 * cube)),
            Action::Beaver => Some(Event::Doubles(4 * cube)),
            Action::Take => Some(Event::Takes),
            Action::Drop => Some(Event::Drops),
            Action::Resign(player, win) => resignation(&state, player, win),
        };
        played.events.extend(event.map(|event| (column(state.actor()), event)));
        let won = game.won_by(&state, action);
        game.apply(&mut state, action);
        if let Some((winner, points)) = won {
            let winner = column(winner);
            (played.winner, played.points) = (Some(winner), Some(points));
            let (names, mut scores) = (played.names.clone(), played.scores);
            scores[winner] = scores[winner].saturating_add(points);
            games.push(std::mem::replace(&mut played, Played { names, scores, ..Played::default() }));
        }
    }
    if let (Stage::Move(roll), true) = (state.stage, resigned.is_some()) {
        played.events.push((column(state.player), Event::Resigns(Some(roll))));
    }
    if let Some(won) = resigned {
        played.points = Some(won.abs() as u32);
        played.winner = Some(column(usize::from(won < 0.0)));
    }
    if games.is_empty() || !played.events.is_empty() {
        games.push(played);
    }
    if length > 0 || number == 1 {
        return Ok(Match { length, games, jacoby: None }.to_string());
    }
    Ok(games.iter().map(|played| format!(" Game {number}\n{played}")).collect())
}

#[cfg(test)]
mod tests {
    use super::super::sgf;
    use super::*;
    use adept_game::{Kit, Says, Turn, stream};
    use rand::RngExt;

    /// A match with taken and dropped doubles, a redouble and a Crawford game.
    const GOLDEN: &str = include_str!("match-5.mat");

    fn named(name: &str) -> Backgammon {
        Backgammon::named(name).unwrap()
    }

    fn read(name: &str, text: &str) -> Vec<WholeGame<Action>> {
        whole_games(&named(name), &Contents::parse(text).unwrap()).unwrap()
    }

    fn start_of(game: &Backgammon, whole: &WholeGame<Action>) -> State {
        whole.from.as_ref().map_or_else(|| game.start(), |text| game.parse_position(text).unwrap().0)
    }

    /// Plays a game that was read, whose actions are all legal. Returns the last state and the actions as text.
    fn played(game: &Backgammon, whole: &WholeGame<Action>) -> (State, Vec<String>) {
        let mut state = start_of(game, whole);
        let (mut texts, mut legal, mut outcomes) = (Vec::new(), Vec::new(), Vec::new());
        for (_, action) in &whole.actions {
            match game.turn(&state) {
                Turn::Chance => {
                    game.outcomes(&state, &mut outcomes);
                    assert!(outcomes.iter().any(|(outcome, _)| outcome == action), "{action:?}");
                }
                _ => {
                    game.actions(&state, &mut legal);
                    assert!(legal.contains(action), "{action:?}");
                }
            }
            texts.push(game.action_text(&state, action));
            game.apply(&mut state, action);
        }
        (state, texts)
    }

    /// The sum of the results of a match for its first player.
    fn total(games: &[WholeGame<Action>]) -> f64 {
        games.iter().filter_map(|whole| whole.result).sum()
    }

    #[test]
    fn a_match_is_read_game_by_game_and_written_as_it_was() {
        let game = named("backgammon:match-5");
        let games = read("backgammon:match-5", GOLDEN);
        assert!(games.iter().all(|whole| whole.fault.is_none() && whole.names == ["Ann", "Bo"]));
        let starts: Vec<Stakes> = games.iter().map(|whole| start_of(&game, whole).stakes).collect();
        let away: Vec<[u8; 2]> = starts.iter().map(|stakes| stakes.away().unwrap()).collect();
        assert_eq!(away, [[5, 5], [5, 4], [1, 4]]);
        assert_eq!(
            starts.iter().map(|stakes| stakes.is_crawford()).collect::<Vec<_>>(),
            [false, false, true]
        );
        assert_eq!((&games[0].from, games[1].from.is_some()), (&None, true));
        let (last, texts) = played(&game, &games[0]);
        let expected = ["1 31", "8/5 6/5", "roll", "42", "8/4 6/4", "roll", "65", "24/13", "double", "drop"];
        assert_eq!((texts, last.stakes), (expected.map(String::from).to_vec(), starts[1]));
        // In the Crawford game nobody decides about the cube.
        assert!(!games[2].actions.iter().any(|(_, action)| *action == Action::NoDouble));
        let (last, _) = played(&game, &games[2]);
        assert_eq!((game.turn(&last), game.utility(&last, 0)), (Turn::Over, 1.0));
        assert!((total(&games) - 1.0).abs() < 1e-12 && games[0].result.unwrap() < 0.0);
        // The numbers are those of the file.
        let redouble = games[1].actions.iter().filter(|(_, action)| *action == Action::Double).nth(1);
        assert_eq!(redouble, Some(&(11, Action::Double)));
        let actions: Vec<Action> =
            games.iter().flat_map(|whole| &whole.actions).map(|(_, action)| *action).collect();
        let record =
            GameRecord { number: 1, names: &["Ann", "Bo"], scores: &[], actions: &actions, resigned: None };
        assert_eq!(format(&game, &record).unwrap(), GOLDEN);
        // A match has no winner by resignation, and files without the cube stay as they are.
        assert!(
            Records::write(&game.rules(), &game, &GameRecord { resigned: Some(1.0), ..record }).is_none()
        );
        let cubeless = read("backgammon", GOLDEN);
        assert_eq!(cubeless.iter().map(|whole| whole.result).collect::<Vec<_>>(), [Some(-1.0), None, None]);
        assert!(cubeless.iter().all(|whole| whole.from.is_none()));
    }

    #[test]
    fn matches_are_added_to_files_of_their_length() {
        let AddedGame { text, number: first } = append(5, "", GOLDEN).unwrap();
        let AddedGame { text, number: second } = append(5, &text, GOLDEN).unwrap();
        assert_eq!((first, second, Match::parse_all(&text).unwrap().len()), (1, 2, 2));
        assert_eq!(read("backgammon:match-5", &text).len(), 6);
        assert!(Match::parse(&text).unwrap_err().to_string().contains("holds 2 matches"));
        let wrong = append(7, GOLDEN, "").unwrap_err().to_string();
        assert!(
            wrong.contains("does not hold matches to 7 points, which begin with ` 7 point match`"),
            "{wrong}"
        );
        assert!(append(0, GOLDEN, "").unwrap_err().to_string().contains("does not hold a money session"));
        for (name, why) in [
            (
                "backgammon:match-7",
                "a match to 5 points, which is not one of backgammon:match-7: read it with --game backgammon:match-5",
            ),
            ("backgammon:money", "not one of backgammon:money"),
        ] {
            let error = whole_games(&named(name), &Contents::parse(GOLDEN).unwrap()).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        let long = GOLDEN.replace(" 5 point", " 31 point");
        let error = whole_games(&named("backgammon:match-5"), &Contents::parse(&long).unwrap())
            .unwrap_err()
            .to_string();
        assert!(error.contains("matches with the cube go to 25 points"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mat");
        std::fs::write(&path, GOLDEN).unwrap();
        let few = named("hypergammon:match-5");
        let error = few.records().read(&few, &path).unwrap().unwrap_err().to_string();
        assert!(error.contains("15 checkers a side"), "{error}");
    }

    /// Random games are written and read: the same actions, and the same results.
    #[test]
    fn random_games_and_matches_come_back() {
        let mut rng = stream(8, "mat with cubes", 0);
        for (name, count) in [
            ("backgammon:money", 60),
            ("backgammon:money-beavers", 60),
            ("backgammon:match-3", 50),
            ("backgammon:match-7", 30),
        ] {
            let (game, mut text, mut expected) = (named(name), String::new(), Vec::new());
            let (mut legal, mut won) = (Vec::new(), [0.0; 2]);
            for number in 1..=count {
                let (mut state, mut actions) = (game.start(), Vec::new());
                while game.turn(&state) != Turn::Over {
                    game.actions(&state, &mut legal);
                    let action = match legal.len() {
                        0 => game.sample(&state, &mut rng),
                        // Some games go to the end, and some doubles are taken and turned again.
                        _ if state.stage == Stage::Cube => {
                            let doubles = rng.random_range(0..if number % 8 == 0 { 30 } else { 4 }) == 0;
                            if doubles { Action::Double } else { Action::NoDouble }
                        }
                        n => legal[rng.random_range(0..n)],
                    };
                    game.apply(&mut state, &action);
                    actions.push(action);
                }
                let record = GameRecord {
                    number,
                    names: &["a", "b"],
                    scores: &won,
                    actions: &actions,
                    resigned: None,
                };
                text += &format(&game, &record).unwrap();
                text.push('\n');
                let utility = game.utility(&state, 0);
                won[usize::from(utility < 0.0)] += utility.abs();
                expected.push((actions, utility));
            }
            let games = read(name, &text);
            let faults: Vec<&String> = games.iter().filter_map(|whole| whole.fault.as_ref()).collect();
            assert!(faults.is_empty(), "{name}: {faults:?}");
            // The first game of a match begins at its start.
            let mut found = games.chunk_by(|_, next| next.from.is_some());
            for (i, (actions, utility)) in expected.iter().enumerate() {
                let own = found.next().unwrap();
                let read = own.iter().flat_map(|whole| &whole.actions).map(|(_, action)| action);
                assert!(read.eq(actions), "{name}, {}", i + 1);
                let (last, _) = played(&game, own.last().unwrap());
                assert_eq!(game.utility(&last, 0), *utility);
                match game.rules() {
                    Rules::Match { .. } => assert!((total(own) - utility).abs() < 1e-9),
                    _ => assert_eq!((own.len(), own[0].result), (1, None)),
                }
            }
            assert!(found.next().is_none());
            let is_last = |whole| start_of(&game, whole).stakes.away() == Some([1; 2]);
            assert!(name != "backgammon:match-3" || games.iter().any(is_last), "no game at 2 points each");
        }
    }

    /// A match with resigned games is written and read: the scores follow, and each game has its share of the result.
    #[test]
    fn resigned_games_of_matches_come_back() {
        let game = named("backgammon:match-5");
        let lines: [&[&str]; 4] = [
            // After a roll; a gammon before a roll, with a cube at 2; in the Crawford game; instead of an answer to a double.
            &["1 31", "8/5 6/5", "roll", "42", "resign"],
            &["1 31", "8/5 6/5", "double", "take", "42", "8/4 6/4", "resign gammon"],
            &["2 31", "8/5 6/5", "42", "resign"],
            &["1 31", "8/5 6/5", "double", "resign"],
        ];
        let expected: [([u32; 2], usize, u32); 3] = [([0, 0], 0, 1), ([1, 0], 1, 4), ([1, 4], 1, 1)];
        let (mut state, mut actions) = (game.start(), Vec::new());
        for text in lines[..3].iter().copied().flatten() {
            let action = game.parse_action(&state, text).unwrap_or_else(|e| panic!("{text}: {e}"));
            game.apply(&mut state, &action);
            actions.push(action);
        }
        assert_eq!((game.turn(&state), game.utility(&state, 1)), (Turn::Over, 1.0));
        let write = |game: &Backgammon, actions: &[Action]| {
            format(game, &GameRecord { number: 1, names: &["a", "b"], scores: &[], actions, resigned: None })
                .unwrap()
        };
        let text = write(&game, &actions);
        let written = Match::parse(&text).unwrap();
        for (played, (scores, winner, points)) in written.games.iter().zip(&expected) {
            assert_eq!(
                (played.scores, played.winner, played.points),
                (*scores, Some(*winner), Some(*points)),
                "{text}"
            );
        }
        assert!(text.contains("and the match"), "{text}");
        let games = read("backgammon:match-5", &text);
        assert_eq!(games.iter().filter(|whole| whole.fault.is_none()).count(), 3, "{games:?}");
        assert!((total(&games) + 1.0).abs() < 1e-9, "{games:?}");
        assert!(start_of(&game, &games[2]).stakes.is_crawford());

        // Of a double, it is the same as a drop.
        let money = named("backgammon:money");
        let (mut state, mut actions) = (money.start(), Vec::new());
        for text in lines[3] {
            let action = money.parse_action(&state, text).unwrap();
            money.apply(&mut state, &action);
            actions.push(action);
        }
        let text = write(&money, &actions);
        assert!(text.contains("Drops") && text.contains("Wins 1 point"), "{text}");
    }

    /// Lines as other programs write them, with two doubles that the rules refuse.
    #[test]
    fn matches_of_other_programs_are_read() {
        let text = "; [Site \"x\"]\r\n3 Point Match\r\n\r\nGame 1\r\nAnn: 0\tBo: 0\r\n\
            1)\t31: 8/5 6/5\t42: 8/4 6/4\r\n2)\tDoubles => 2\tTakes\r\n3)\t52:\r\n\tLosses 2 points\tWins 2 points\r\n\
            Game 2\r\nAnn: 0\tBo: 2\r\n1)\t31: 8/5 6/5\t42: 8/4 6/4\r\n2)\tDoubles => 2\tDrops\r\n\tWins 1 point\r\n\
            Game 3\r\nAnn: 1\tBo: 2\r\n1)\t31: 8/5 6/5\t42: 8/4 6/4\r\n2)\tDoubles => 2\tTakes\r\n\
            3)\t43: 24/20 13/10\tDoubles => 4\r\n4)\tDrops\r\n\t\tWins 2 points and the match\r\n";
        let game = named("backgammon:match-3");
        let games = read("backgammon:match-3", text);
        let opening = ["1 31", "8/5 6/5", "roll", "42", "8/4 6/4"];
        let crawford = ["1 31", "8/5 6/5", "42", "8/4 6/4"];
        for (whole, expected, fault) in [
            (&games[0], [&opening[..], &["double", "take", "52"]].concat(), None),
            (
                &games[1],
                crawford.to_vec(),
                Some("line 13: game 2, move 2: `Doubles => 2` of Ann: nobody doubles in the Crawford game"),
            ),
            // Bo needs one point, so that he has nothing to decide.
            (
                &games[2],
                [&crawford[..], &["double", "take", "43", "24/20 13/10"]].concat(),
                Some(
                    "line 19: game 3, move 3: `Doubles => 4` of Bo: the player wins the match by the present value of the cube",
                ),
            ),
        ] {
            assert_eq!(
                (played(&game, whole).1, whole.fault.as_deref()),
                (expected.into_iter().map(String::from).collect(), fault)
            );
        }
        assert!((-0.55..-0.45).contains(&games[0].result.unwrap()), "{:?}", games[0].result);
        assert!((total(&games) + 1.0).abs() < 1e-12, "{games:?}");
        // Without the games before it, a double tells that the Crawford game is over.
        let third = &text[text.find("Game 3").unwrap()..];
        let before_double = &third[..third.find("2)").unwrap()];
        for (rest, is_crawford) in [(third, false), (before_double, true)] {
            let alone = read("backgammon:match-3", &format!("3 point match\n{rest}"));
            assert_eq!(start_of(&game, &alone[0]).stakes.is_crawford(), is_crawford, "{rest}");
        }
        let above = read("backgammon:match-3", "3 point match\nGame 1\nAnn: 3\tBo: 2\n1) 31: 8/5 6/5\n");
        let fault = above[0].fault.as_deref().unwrap();
        assert_eq!(fault, "line 3: game 1: a score is not below 3, the length of the match");
    }

    #[test]
    fn money_games_have_beavers_by_their_rules() {
        let opening = " 0 point match\n\n Game 1\n a : 0      b : 0\n  1) 31: 8/5 6/5        42: 8/4 6/4\n";
        let (plain, beavers) = ("backgammon:money", "backgammon:money-beavers");
        for (name, lines, actions, result) in [
            (plain, "  2)  Doubles => 2      Drops\n      Wins 1 point\n", "double, drop", None),
            // A resigned gammon, and a game that was left.
            (
                plain,
                "  2)  Doubles => 2      Takes\n  3) 64:      Wins 4 points\n",
                "double, take, 64",
                Some(-4.0),
            ),
            (plain, "  2)  Doubles => 2\n", "double", None),
            // A beaver is taken silently or by a word, or dropped.
            (
                beavers,
                "  2)  Doubles => 2     Beavers => 4\n  3) 64: 24/14       63:\n\n      Wins 4 points\n",
                "double, beaver, take, 64, 24/14, roll, 63",
                Some(4.0),
            ),
            (
                beavers,
                "  2)  Doubles => 2     Doubles => 4\n  3) Takes\n  4) 64: 24/14\n",
                "double, beaver, take, 64, 24/14",
                None,
            ),
            (
                beavers,
                "  2)  Doubles => 2     Beavers => 4\n  3) Drops       Wins 2 points\n",
                "double, beaver, drop",
                None,
            ),
        ] {
            let game = named(name);
            let games = read(name, &format!("{opening}{lines}"));
            let (_, texts) = played(&game, &games[0]);
            assert_eq!(texts[5..].join(", "), actions, "{lines}");
            assert_eq!((games[0].result, &games[0].fault), (result, &None), "{lines}");
        }
        for (name, lines, why) in [
            (plain, "  2)  Doubles => 4\n", "move 2: `Doubles => 4` of a: the cube goes to 2 here"),
            (
                plain,
                "  2)  Doubles => 2     Beavers => 4\n",
                "line 6: game 1, move 2: `Doubles => 4` of b: backgammon:money has no beavers",
            ),
            (
                plain,
                "  2)  Doubles => 2      Takes\n  3)  Doubles => 4\n",
                "line 7: game 1, move 3: `Doubles => 4` of a: the other player owns the cube",
            ),
            (
                beavers,
                "  2)  Doubles => 2     Beavers => 4\n  3)  Doubles => 8\n",
                "line 7: game 1, move 3: `Doubles => 8` of a: there are no raccoons",
            ),
            (plain, "  2) Takes\n", "line 6: game 1, move 2: `Takes` of a: there is no double before it"),
        ] {
            let fault = read(name, &format!("{opening}{lines}"))[0].fault.clone().unwrap();
            assert!(fault.contains(why), "{fault}");
        }
        let early = opening.replace("31: 8/5 6/5        42: 8/4 6/4", " Doubles => 2      Takes");
        let games = read(plain, &format!("{early}\n Game 2\n a : 0      b : 0\n  1) 31: 8/5 6/5\n"));
        assert!(games[0].fault.as_deref().unwrap().ends_with("nobody doubles before the opening roll"));
        assert_eq!((games[0].actions.len(), games[1].actions.len(), &games[1].fault), (0, 2, &None));
    }

    #[test]
    fn errors_are_counted_in_points_of_the_cube() {
        let equities = crate::backgammon::cube::MatchEquities::usual();
        let point = |name: &str, text: &str| {
            let game = named(name);
            let (state, _) = game.parse_position(text).unwrap();
            (game, state, standard(&game, &state).unwrap())
        };
        let (_, _, money) = point("backgammon:money", "XGID=-b----E-C---eE---c-e----B-:2:1:1:31:0:0:1:0:10");
        assert_eq!((money.kind, money.point), (DecisionKind::Move, 4.0));
        let (_, _, plain) = point("backgammon", "4HPwATDgc/ABMA 31");
        assert_eq!(plain.point, 1.0);
        // Seen by player 2 at 2 to 4 with the cube at 2: a point is the difference between 4 to 4 and 6 to 2.
        let (game, state, double) =
            point("backgammon:match-7", "XGID=-b----E-C---eE---c-e----B-:1:-1:-1:00:2:4:0:7:10");
        let expected = equities.chance([1, 5], false) - equities.chance([3, 3], false);
        assert!((double.point - expected).abs() < 1e-12, "{double:?}");
        assert!(matches!(double.kind, DecisionKind::Double { .. }));
        // More than a cash is too good to double.
        let cash = 2.0 * equities.chance([1, 5], false) - 1.0;
        let name =
            |played, best, value| Records::error_name(&game.rules(), &game, &state, played, (best, value));
        let (roll, turn) = (&Action::NoDouble, &Action::Double);
        assert_eq!(name(roll, turn, cash), Some("missed double"));
        assert_eq!(name(turn, roll, cash - 0.1), Some("wrong double"));
        assert_eq!(name(turn, roll, cash + 0.1), Some("too good to double"));
        assert_eq!(name(&Action::Drop, &Action::Take, 0.0), Some("wrong pass"));
        let (_, _, opening) = point("backgammon:match-7", "start");
        let expected = equities.chance([6, 7], false) - equities.chance([7, 6], false);
        assert!((opening.point - expected).abs() < 1e-12, "{opening:?}");
    }

    /// A game that GNU Backgammon analysed at 0 ply, up to the first double; of the candidates, those down to the move that was played.
    const ANALYSED: &str = include_str!("analysed.sgf");

    fn analysed(text: &str) -> Vec<WholeGame<Action>> {
        sgf::parse(text).map_or_else(
            |_| Vec::new(),
            |contents| whole_games(&named("backgammon:match-7"), &contents).unwrap_or_default(),
        )
    }

    #[test]
    fn analysis_in_a_file_is_read() {
        let game = named("backgammon:match-7");
        let whole = &analysed(ANALYSED)[0];
        let mut state = start_of(&game, whole);
        let mut told = Vec::new();
        for (place, (_, action)) in whole.actions.iter().enumerate() {
            let one = &whole.opinions[place];
            assert_eq!(one.place, place);
            told.push(match &one.says {
                Says::Luck(luck) => format!("{luck:.5}"),
                Says::Decision { judge, best, lost, .. } => {
                    assert_eq!(&**judge, "gnubg 0-ply");
                    let best = if best == action { "played".into() } else { game.action_text(&state, best) };
                    format!("{best} {lost:.4}")
                }
            });
            game.apply(&mut state, action);
        }
        // Luck is that of player 1.
        let expected = [
            "-0.00665",
            "24/23 13/9 0.0416",
            "played 0.0000",
            "0.03295",
            "played 0.0000",
            "played 0.0000",
            "-0.13714",
            "24/23 13/11 0.0371",
            "played 0.0000",
            "-0.22570",
            "played 0.0000",
            "played 0.0000",
            "-0.08234",
        ];
        assert_eq!(told[..13], expected);
        assert!(told[13].starts_with("bar/") && told[13].ends_with(" 0.0184"), "{told:?}");
        assert_eq!(told[14..], ["played 0.0000", "played 0.0000"]);
        // The chances to win the match without a double and with a take differ by .000251, and by .0177 at the first decision.
        let behind = |place: usize| match &whole.opinions[place].says {
            Says::Decision { behind, .. } => *behind,
            Says::Luck(_) => panic!("{place}"),
        };
        assert!((0.003..0.006).contains(&behind(14)) && (0.2..0.4).contains(&behind(2)), "{whole:?}");
        // An opinion on the moves alone is left where the game is read without the cube.
        let contents = sgf::parse(ANALYSED).unwrap();
        let plain = &whole_games(&Backgammon::default(), &contents).unwrap()[0];
        let places: Vec<usize> = plain.opinions.iter().map(|one| one.place).collect();
        assert_eq!(places, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn absurd_analysis_is_left_out() {
        let count = |text: &str| analysed(text).first().map_or(0, |whole| whole.opinions.len());
        assert_eq!(count(ANALYSED), 16);
        for (from, to, lost) in [
            ("-0.021882", "NaN", 1),
            ("-0.021882", "1e300", 1),
            ("-0.063472", "-inf", 1),
            ("-0.063472", "", 1),
            ("A[2][mixw", "A[99999999999999999999][mixw", 1),
            ("A[2][mixw", "A[-1][mixw", 1),
            ("[mixw E ver 3", "[mizz E ver 3", 1),
            ("[mixw E ver 3", "[\u{e9} E ver 3", 1),
            ("[mixw E ver 3", "[mixw E ver 99999999999", 1),
            ("[mixw E ver 3", "[mixw Q ver 3", 1),
            ("LU[-0.00665]", "LU[1e9]", 1),
            ("0.440821", "1.1", 1),
            ("0.440821", "0.440821 0.440821", 1),
            ("0.139449 0.008792 0.019140 0.440821", "0.440821", 1),
            // A take without a value has that of the double.
            (";W[take]DA", ";W[take]XX", 0),
        ] {
            assert_eq!(count(&ANALYSED.replacen(from, to, 1)), 16 - lost, "{from} {to}");
        }
        let many = format!("A[2]{}", "[mixw E ver 3 0 0 0 0 0 0.1 0C 0 1 0 1]".repeat(100_000));
        assert_eq!(count(&ANALYSED.replacen("A[2]", &many, 1)), 16);
        for end in (0..ANALYSED.len()).filter(|end| ANALYSED.is_char_boundary(*end)) {
            for whole in analysed(&ANALYSED[..end]) {
                assert!(whole.opinions.iter().all(|one| one.place < whole.actions.len()), "{end}");
            }
        }
        // A rollout has the equity of a move behind a word, and values of the cube last of seven.
        let rolled =
            "X ver 3 Score -0.021882 0.0 Trials 1296 Output 0 0 0 0 0 0 0 StdDev 0 0 0 0 0 0 0 SK 0 ";
        let text =
            ANALYSED.replacen("E ver 3 0.497886 0.139160 0.008027 0.139815 0.006837 -0.021882", rolled, 1);
        let cube = "X ver 3 Eq Trials 36 NoDouble Output 0 0 0 0 0 0 0.44 StdDev 0 0 0 0 0 0 0 \
            DoubleTake Output 0 0 0 0 0 0 0.42 StdDev 0 0 0 0 0 0 0 SK 0 ";
        let text = text.replacen("DA[", &format!("DA[{cube}"), 1);
        let rolled = analysed(&text);
        let judges = rolled[0].opinions.iter().filter_map(|one| match &one.says {
            Says::Decision { judge, .. } => Some(judge.to_string()),
            Says::Luck(_) => None,
        });
        let judges: Vec<String> = judges.collect();
        assert_eq!(judges[..3], ["gnubg rollout", "gnubg rollout", "gnubg 0-ply"]);
    }

    /// The rule set is that of the file; a network that has learned the cube keeps its own.
    #[test]
    fn a_file_tells_its_rules() {
        let folder = tempfile::tempdir().unwrap();
        let opening = " Game 1\n a : 0      b : 0\n  1) 31: 8/5 6/5        42: 8/4 6/4\n";
        let double = "  2)  Doubles => 2     Takes\n";
        let beaver = "  2)  Doubles => 2     Beavers => 4\n";
        for (name, text, expected) in [
            ("a.mat", format!(" 7 point match\n{opening}"), Some("backgammon:match-7")),
            ("b.txt", format!(" 0 point match\n{opening}"), Some("backgammon")),
            ("c.mat", format!(" 0 point match\n{opening}{double}"), Some("backgammon:money")),
            ("d.mat", format!(" 0 point match\n{opening}{beaver}"), Some("backgammon:money-beavers")),
            (
                "e.mat",
                format!("; [Jacoby \"Off\"]\n 0 point match\n{opening}"),
                Some("backgammon:money-no-jacoby"),
            ),
            ("f.mat", format!(" 31 point match\n{opening}"), None),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let game = Backgammon::default();
            let records = game.records();
            assert!(records.holds_games(&path), "{name}");
            let (own, games) = records.read_as_played(&game, &path).unwrap().unwrap();
            assert_eq!((own.as_ref().map(Game::name), games.len()), (expected, 1), "{name}");
            assert_eq!(games[0].fault, None, "{name}");
            if expected == Some("backgammon:match-7") {
                let match_7 = named("backgammon:match-7");
                let (own, _) = match_7.records().read_as_played(&match_7, &path).unwrap().unwrap();
                assert!(own.is_none());
            }
        }
        let other = folder.path().join("note.txt");
        std::fs::write(&other, "no match").unwrap();
        assert!(!Backgammon::default().records().holds_games(&other));
    }
}
