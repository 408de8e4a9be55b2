//! Hand histories in the PHH format, version 0 (<https://phh.readthedocs.io>), compatible with PokerKit.
//!
//! Bets are written as the amount paid in the round, and unseen cards of a player as `????`.

use super::cards::{Card, parse_cards};
use super::rules::{Holdem, NO_LIMIT};
use super::state::{Action, Deal, State};
use super::text::cards;
use adept_game::{
    AddedGame, Found, Game, GameError, GameRecord, ParsedPosition, PositionFiles, Records, TextFiles, Turn,
};
use adept_ground::limits;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Suffix of a file with several hands.
const SUFFIX: &str = "phhs";
/// Largest number of hands in a file.
const MOST_HANDS: usize = 10_000_000;

/// Hand histories, as the usual format of hold'em's whole games and as files of positions.
pub(super) struct Hands;

impl Records<Holdem> for Hands {
    fn suffix(&self) -> &'static str {
        SUFFIX
    }

    fn write(&self, game: &Holdem, record: &GameRecord<'_, Action>) -> Found<String> {
        record.resigned.is_none().then(|| write(game, record))
    }

    fn add(&self, text: &str, written: &str) -> Result<AddedGame, GameError> {
        added(text, written)
    }
}

impl PositionFiles<Holdem> for Hands {
    /// Also the decisions of hand histories, `.phh` and `.phhs`.
    fn read(&self, game: &Holdem, path: &Path) -> Result<Vec<ParsedPosition<Holdem>>, GameError> {
        if is_history(path) { read(game, path) } else { TextFiles.read(game, path) }
    }
}

/// Appends a hand, written as number 1, to the text of a file of hands. Returns the new text and the number of the
/// hand.
///
/// # Errors
/// If the text is not a file of hands.
fn added(text: &str, hand: &str) -> Result<AddedGame, GameError> {
    let is_number = |line: &str| line.strip_prefix('[')?.strip_suffix(']')?.parse::<u64>().ok();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let begins = lines.clone().next().is_none_or(|first| is_number(first).is_some());
    let hands = lines.by_ref().filter_map(is_number).max().unwrap_or(0);
    if !begins || hands > limits::LENGTH {
        return Err(GameError::new("this file exists and does not hold recorded games"));
    }
    let (_, rest) = hand.split_once('\n').unwrap_or_default();
    let before = if hands == 0 { String::new() } else { text.trim_end().to_string() + "\n\n" };
    Ok(AddedGame { text: format!("{before}[{}]\n{rest}", hands + 1), number: hands + 1 })
}

/// Formats a hand as a section of a file: its number, the player in each seat, and all events.
fn write(game: &Holdem, record: &GameRecord<'_, Action>) -> Result<String, GameError> {
    let GameRecord { number, names, actions, .. } = *record;
    let stakes = game.stakes();
    let [a, b, c, d] = stakes.bets;
    if a != b || c != d {
        return Err(GameError::new(format!(
            "{}: a hand history has one size of bets before the turn and one after it",
            game.name()
        )));
    }
    if stakes.raises.iter().any(|raises| *raises > 4) {
        return Err(GameError::new(format!(
            "{}: a hand history has at most four bets or raises in a round",
            game.name()
        )));
    }
    let seats = game.seats();
    let list = |numbers: &mut dyn Iterator<Item = String>| numbers.collect::<Vec<_>>().join(", ");
    let mut blinds = vec![0; seats];
    blinds[..2].copy_from_slice(&stakes.blinds);
    let stack = |stack: &u32| if *stack == NO_LIMIT { "inf".to_string() } else { stack.to_string() };
    let mut lines: Vec<String> = Vec::with_capacity(actions.len() + 2 * seats);
    let (mut state, mut begun) = (game.start(), vec![0; seats]);
    for action in actions {
        match action {
            Action::Deal(deal) if state.level == 0 => {
                let all: Vec<Option<Card>> = deal.cards().collect();
                for (seat, own) in all.chunks(2).enumerate() {
                    lines.push(format!("d dh p{} {}", seat + 1, hidden_or(own)));
                }
            }
            Action::Deal(deal) => {
                // Players who are all in show their cards before the rest of the board is dealt.
                lines.push(format!("d db {}", cards(deal.cards().flatten())));
                begun.iter_mut().enumerate().for_each(|(seat, begun)| *begun = state.paid(seat));
            }
            Action::Fold => lines.push(format!("p{} f", state.mover + 1)),
            Action::Call => lines.push(format!("p{} cc", state.mover + 1)),
            Action::Raise => {
                let mover = usize::from(state.mover);
                let mut after = state.clone();
                game.apply(&mut after, action);
                lines.push(format!("p{} cbr {}", mover + 1, after.paid(mover) - begun[mover]));
            }
        }
        game.apply(&mut state, action);
    }
    let is_over = game.turn(&state) == Turn::Over;
    let mut in_hand = (0..seats).filter(|seat| !state.has_folded(*seat));
    if is_over && in_hand.clone().count() > 1 {
        show(&mut lines, &mut in_hand, &state);
    }
    let mut text = String::new();
    let quoted = |text: &str| toml::Value::String(text.into()).to_string();
    let _ = writeln!(text, "[{number}]\nvariant = \"FT\"\nante_trimming_status = true");
    let _ = writeln!(text, "antes = [{}]", list(&mut (0..seats).map(|_| "0".into())));
    let _ = writeln!(text, "blinds_or_straddles = [{}]", list(&mut blinds.iter().map(u32::to_string)));
    let _ = writeln!(text, "small_bet = {a}\nbig_bet = {c}");
    let _ = writeln!(text, "starting_stacks = [{}]", list(&mut stakes.stacks[..seats].iter().map(stack)));
    let _ = writeln!(text, "actions = [{}]", list(&mut lines.iter().map(|line| format!("\"{line}\""))));
    let _ = writeln!(text, "players = [{}]", list(&mut names.iter().map(|name| quoted(name))));
    if is_over {
        let net = game.payoffs(&state);
        let _ = writeln!(text, "_won = [{}]", list(&mut net[..seats].iter().map(i64::to_string)));
    }
    Ok(text)
}

/// Two cards, or `????` if they are not seen.
fn hidden_or(own: &[Option<Card>]) -> String {
    match own {
        [Some(a), Some(b)] => cards([*a, *b]),
        _ => "????".into(),
    }
}

/// Adds the showdown. It precedes the rest of the board if no more bets can follow.
fn show(lines: &mut Vec<String>, seats: &mut dyn Iterator<Item = usize>, state: &State) {
    let bets_end = lines.iter().rposition(|line| !line.starts_with("d db")).map_or(0, |last| last + 1);
    let shown = seats.filter_map(|seat| Some(format!("p{} sm {}", seat + 1, cards(state.hole(seat)?))));
    let shown: Vec<String> = shown.collect();
    lines.splice(bets_end..bets_end, shown);
}

/// The fields of a hand that are read.
#[derive(Deserialize)]
struct Hand {
    variant: String,
    #[serde(default)]
    antes: Vec<f64>,
    #[serde(default)]
    blinds_or_straddles: Vec<f64>,
    small_bet: Option<f64>,
    big_bet: Option<f64>,
    #[serde(default)]
    starting_stacks: Vec<f64>,
    #[serde(default)]
    actions: Vec<String>,
}

/// Whether a path names a file of hand histories.
fn is_history(path: &Path) -> bool {
    path.extension().is_some_and(|suffix| suffix == "phh" || suffix == SUFFIX)
}

/// Reads the decisions of a file of hand histories: all positions in which the cards of the player to move are known.
fn read(game: &Holdem, path: &Path) -> Result<Vec<(State, Option<Action>)>, GameError> {
    let fault = |what: String| GameError::data(path, what);
    let text = limits::read_text(path, limits::RECORD_BYTES).map_err(GameError::file(path))?;
    let mut all = Vec::new();
    for (name, line, hand) in sections(&text).map_err(fault)? {
        let place = |what: String| fault(format!("hand {name}, from line {line} on: {what}"));
        let read: Hand = toml::from_str(hand).map_err(|e| place(e.message().to_string()))?;
        decisions(game, &read, &mut all).map_err(place)?;
    }
    Ok(all)
}

/// Splits a file into hands: number, first line and text of each. A file with one hand has no sections.
fn sections(text: &str) -> Result<Vec<(String, usize, &str)>, String> {
    let mut all: Vec<(String, usize, &str)> = Vec::new();
    let (mut at, mut begin) = (0, 0);
    let mut open: Option<(String, usize)> = None;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let trimmed = line.trim();
        if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
            && !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_digit())
        {
            match open.replace((name.into(), number + 1)) {
                Some((name, line)) => all.push((name, line, &text[begin..at])),
                None if text[..at].lines().any(|l| !l.trim().is_empty() && !l.trim().starts_with('#')) => {
                    return Err(format!("line {}: a section `{trimmed}` in a file of one hand", number + 1));
                }
                None => {}
            }
            begin = at + line.len();
        }
        at += line.len();
        if all.len() > MOST_HANDS {
            return Err(format!("has more than {MOST_HANDS} hands"));
        }
    }
    match open {
        Some((name, line)) => all.push((name, line, &text[begin..])),
        None => all.push(("1".into(), 1, text)),
    }
    Ok(all)
}

/// The effect of an action of a history.
enum Step {
    Board(Vec<Card>),
    Move(usize, Action, Option<f64>),
}

/// Adds the decisions of a hand.
fn decisions(game: &Holdem, hand: &Hand, all: &mut Vec<(State, Option<Action>)>) -> Result<(), String> {
    same_game(game, hand)?;
    let mut hole_cards = BTreeMap::new();
    let mut steps = Vec::new();
    for (number, text) in hand.actions.iter().enumerate() {
        let text = text.split('#').next().unwrap_or_default().trim();
        let wrong = |what: &str| format!("action {}, `{text}`: {what}", number + 1);
        let words: Vec<&str> = text.split_whitespace().collect();
        let player = |word: &str| -> Result<usize, String> {
            let number = word.strip_prefix('p').and_then(|digits| digits.parse::<usize>().ok());
            let seat = number.filter(|number| (1..=game.seats()).contains(number));
            seat.map(|seat| seat - 1).ok_or_else(|| wrong(&format!("players are p1 to p{}", game.seats())))
        };
        let seen = |text: &str| parse_cards(text).map_err(|e| wrong(&e.to_string()));
        match words[..] {
            [] => {}
            ["d", "dh", seat, own] => {
                let (seat, hidden) = (player(seat)?, own.contains('?'));
                let own = if hidden { Vec::new() } else { seen(own)? };
                if !hidden && own.len() != 2 || hole_cards.insert(seat, own).is_some() {
                    return Err(wrong("each player has two cards, dealt once"));
                }
            }
            ["d", "db", board] => steps.push((number, Step::Board(seen(board)?))),
            [seat, "sm", ..] => {
                let seat = player(seat)?;
                if let Some(shown) = words.get(2).filter(|shown| !shown.contains('?')) {
                    let shown = seen(shown)?;
                    let dealt = hole_cards.get(&seat).filter(|own| !own.is_empty());
                    if shown.len() != 2 || dealt.is_some_and(|own| !shown.iter().all(|c| own.contains(c))) {
                        return Err(wrong("the player shows other cards than were dealt"));
                    }
                    hole_cards.insert(seat, shown);
                }
            }
            [seat, "f"] => steps.push((number, Step::Move(player(seat)?, Action::Fold, None))),
            [seat, "cc"] => steps.push((number, Step::Move(player(seat)?, Action::Call, None))),
            [seat, "cbr", amount] => {
                let amount: f64 = amount.parse().map_err(|_| wrong("the amount is not a number"))?;
                steps.push((number, Step::Move(player(seat)?, Action::Raise, Some(amount))));
            }
            _ => {
                return Err(wrong(
                    "expected `d dh pN CARDS`, `d db CARDS`, `pN f`, `pN cc`, `pN cbr AMOUNT` or `pN sm`",
                ));
            }
        }
    }
    let boards = steps.iter().filter_map(|(_, step)| match step {
        Step::Board(board) => Some(board),
        Step::Move(..) => None,
    });
    let dealt: Vec<Card> = hole_cards.values().chain(boards).flatten().copied().collect();
    parse_cards(&cards(dealt)).map_err(|e| e.to_string())?;
    let hole = (0..game.seats()).flat_map(|seat| match hole_cards.get(&seat).map(|own| &own[..]) {
        Some(&[a, b]) => [Some(a), Some(b)],
        _ => [None, None],
    });
    let mut state = game.start();
    game.apply(&mut state, &Action::Deal(Deal::new(hole)));
    let mut begun = vec![0; game.seats()];
    for (number, step) in steps {
        let wrong = |what: String| format!("action {}: {what}", number + 1);
        match (step, game.turn(&state)) {
            (_, Turn::Over) => return Err(wrong("the hand is over before it".into())),
            (Step::Board(board), Turn::Chance) => {
                let expected = game.cards_to_deal(&state);
                if board.len() != expected {
                    return Err(wrong(format!(
                        "expected {expected} cards of the board, found `{}`",
                        cards(board)
                    )));
                }
                begun.iter_mut().enumerate().for_each(|(seat, begun)| *begun = state.paid(seat));
                game.apply(&mut state, &Action::Deal(Deal::new(board.into_iter().map(Some))));
            }
            (Step::Board(_), Turn::Player(mover)) => {
                return Err(wrong(format!(
                    "it is the turn of p{}, before the next cards of the board",
                    mover + 1
                )));
            }
            (Step::Move(..), Turn::Chance) => {
                return Err(wrong("the next cards of the board come before it".into()));
            }
            (Step::Move(seat, ..), Turn::Player(mover)) if mover != seat => {
                return Err(wrong(format!("it is the turn of p{}", mover + 1)));
            }
            (Step::Move(seat, action, amount), _) => {
                let mut legal = Vec::new();
                game.actions(&state, &mut legal);
                if !legal.contains(&action) {
                    return Err(wrong("it is not legal under the rules of this game".into()));
                }
                if state.hole(seat).is_some() {
                    all.push((state.clone(), None));
                }
                game.apply(&mut state, &action);
                let paid = state.paid(seat) - begun[seat];
                if amount.is_some_and(|amount| amount != f64::from(paid)) {
                    return Err(wrong(format!("the bet is {paid} in this game")));
                }
            }
        }
    }
    Ok(())
}

/// Checks that a hand follows these rules.
fn same_game(game: &Holdem, hand: &Hand) -> Result<(), String> {
    let (stakes, seats) = (game.stakes(), game.seats());
    let differs = |what: &str, own: String, found: String| {
        Err(format!("{what} is {found}, but {} has {own}: name the game that was played", game.name()))
    };
    if hand.variant != "FT" {
        return Err(format!("variant `{}`: expected `FT`, hold'em with fixed limits", hand.variant));
    }
    let found = hand.starting_stacks.len();
    if found != seats {
        return differs("the number of players", seats.to_string(), found.to_string());
    }
    if hand.antes.iter().any(|ante| *ante != 0.0) {
        return Err("it has antes, which these rules do not have".into());
    }
    let mut blinds = vec![0.0; seats];
    blinds[..2].copy_from_slice(&stakes.blinds.map(f64::from));
    if hand.blinds_or_straddles != blinds {
        return differs(
            "blinds_or_straddles",
            format!("{blinds:?}"),
            format!("{:?}", hand.blinds_or_straddles),
        );
    }
    for (what, own, found) in
        [("small_bet", stakes.bets[0], hand.small_bet), ("big_bet", stakes.bets[2], hand.big_bet)]
    {
        if found != Some(f64::from(own)) {
            return differs(what, own.to_string(), found.map_or("missing".into(), |bet| bet.to_string()));
        }
    }
    // More chips than a hand can cost are equivalent to unlimited chips.
    let most = stakes.most_paid();
    let chips = |stack: f64| stack.min(f64::from(most));
    let own = stakes.stacks[..seats].iter().map(|stack| f64::from((*stack).min(most)));
    if !own.eq(hand.starting_stacks.iter().map(|stack| chips(*stack))) {
        let shown = stakes.stacks[..seats].iter();
        let shown = shown.map(|stack| if *stack == NO_LIMIT { "inf".into() } else { stack.to_string() });
        let shown = shown.collect::<Vec<String>>().join(", ");
        return differs("starting_stacks", format!("[{shown}]"), format!("{:?}", hand.starting_stacks));
    }
    Ok(())
}
