//! Hold'em as text: names of rule sets, positions, moves, drawings.
//!
//! A position is written as the Annual Computer Poker Competition does: the moves of each round, then the cards,
//! `crc/r:AhKd|QsQc/2c7dTs`. Cards that are not seen are left out. A hand that is not dealt yet is `-`.

use super::cards::{Card, parse_cards};
use super::rules::Holdem;
use super::state::{Action, BOARD, Deal, Entry, Phase, ROUNDS, State};
use super::strength::{Hand, Strengths};
use adept_game::{Game, GameError, Turn};
use std::fmt::Write;

fn letter(entry: Entry) -> char {
    match entry {
        Entry::Fold => 'f',
        Entry::Call => 'c',
        Entry::Raise => 'r',
        Entry::End => '/',
    }
}

/// Cards one after another.
pub(super) fn cards(cards: impl IntoIterator<Item = Card>) -> String {
    cards.into_iter().map(|card| card.to_string()).collect()
}

/// The moves of all rounds, `crc/r`. A round that has ended without a next one yet has no slash.
pub(super) fn moves(state: &State) -> String {
    let mut text: String = state.history().entries().map(letter).collect();
    if state.phase != Phase::Act && text.ends_with('/') {
        text.pop();
    }
    text
}

/// A position on one line.
pub(super) fn position(game: &Holdem, state: &State) -> String {
    if state.level == 0 {
        return "-".into();
    }
    let hole = (0..game.seats()).map(|seat| state.hole(seat).map_or(String::new(), cards));
    let mut text = format!("{}:{}", moves(state), hole.collect::<Vec<_>>().join("|"));
    let board: Vec<Card> = state.board().collect();
    for round in 1..ROUNDS {
        if let Some(new) = board.get(BOARD[round - 1]..BOARD[round]) {
            let _ = write!(text, "/{}", cards(new.iter().copied()));
        }
    }
    text
}

/// Reads what [`position`] writes.
pub(super) fn parse(game: &Holdem, text: &str) -> Result<State, GameError> {
    let wrong = |what: String| {
        GameError::new(format!(
            "`{text}`: {what}; a position has the moves of each round (f, c, r), a colon, the cards of each seat joined by | and \
             those of the board after slashes, `crc/r:AhKd|/2c7dTs`; a hand that is not dealt is `-`"
        ))
    };
    let mut state = game.start();
    let text = text.trim();
    if text == "-" {
        return Ok(state);
    }
    let (moves, all) = text.split_once(':').ok_or_else(|| wrong("there is no colon".into()))?;
    parse_cards(&all.replace(['|', '/'], " ")).map_err(|e| wrong(e.to_string()))?;
    let mut parts = all.split('/');
    let hole: Vec<&str> = parts.next().unwrap_or_default().split('|').collect();
    if hole.len() != game.seats() {
        return Err(wrong(format!("it has cards of {} seats instead of {}", hole.len(), game.seats())));
    }
    let mut dealt = Vec::new();
    for own in hole {
        match parse_cards(own)?[..] {
            [] => dealt.extend([None, None]),
            [a, b] => dealt.extend([Some(a), Some(b)]),
            _ => return Err(wrong(format!("`{own}` are not two cards"))),
        }
    }
    game.apply(&mut state, &Action::Deal(Deal::new(dealt)));
    let mut boards = parts.map(parse_cards);
    let mut next_board = |state: &mut State| -> Result<bool, GameError> {
        if state.phase != Phase::Deal {
            return Ok(false);
        }
        let Some(board) = boards.next() else { return Ok(false) };
        let board = board?;
        let expected = game.cards_to_deal(state);
        if board.len() != expected {
            return Err(wrong(format!("`{}` are not {expected} cards", cards(board))));
        }
        game.apply(state, &Action::Deal(Deal::new(board.into_iter().map(Some))));
        Ok(true)
    };
    for letter in moves.chars() {
        while next_board(&mut state)? {}
        let action = match letter {
            '/' if state.history().entries().last() == Some(Entry::End) => continue,
            '/' => return Err(wrong("a slash comes before the end of a round".into())),
            'f' => Action::Fold,
            'c' => Action::Call,
            'r' => Action::Raise,
            _ => return Err(wrong(format!("`{letter}` is not a move"))),
        };
        let mut legal = Vec::new();
        game.actions(&state, &mut legal);
        if state.phase == Phase::Deal {
            return Err(wrong(format!("`{letter}` comes before the next cards of the board")));
        }
        if !legal.contains(&action) {
            return Err(wrong(format!(
                "`{letter}` is not legal in `{}`: {}",
                position(game, &state),
                why_not(game, &state, action)
            )));
        }
        game.apply(&mut state, &action);
    }
    while next_board(&mut state)? {}
    if boards.next().is_some() {
        return Err(wrong("the board has cards of a round that is not reached".into()));
    }
    let mut in_hand = (0..game.seats()).filter(|seat| !state.has_folded(*seat));
    if state.phase == Phase::Over && in_hand.clone().count() > 1 && in_hand.any(|s| state.hole(s).is_none()) {
        return Err(wrong("at a showdown the cards of all who are left must be known".into()));
    }
    Ok(state)
}

/// Why a move is not legal.
fn why_not(game: &Holdem, state: &State, action: Action) -> String {
    let mover = usize::from(state.mover);
    match action {
        _ if state.phase == Phase::Over => "the hand is over".into(),
        Action::Fold => "there is no bet to fold to".into(),
        Action::Raise if state.has_acted(mover) => {
            "after a raise of less than half a bet one may only call or fold".into()
        }
        Action::Raise
            if state.bets()
                >= u32::from(game.stakes.raises[state.round()]) + u32::from(state.round() == 0) =>
        {
            format!("a round has at most {} bets", state.bets())
        }
        Action::Raise => "no chips are left to raise with, or nobody could answer".into(),
        _ => "it is not a player's turn".into(),
    }
}

/// A move as people write it.
pub(super) fn action(state: &State, action: Action) -> String {
    let owed = state.to_call(usize::from(state.mover));
    match action {
        Action::Fold => "fold".into(),
        Action::Call if owed > 0 => "call".into(),
        Action::Call => "check".into(),
        Action::Raise if state.bets > 0 => "raise".into(),
        Action::Raise => "bet".into(),
        Action::Deal(deal) => cards(deal.cards().flatten()),
    }
}

/// Reads a move: its name, its first letter, or `c` and `r` for check and bet too.
pub(super) fn parse_action(game: &Holdem, state: &State, text: &str) -> Result<Action, GameError> {
    let mut legal = Vec::new();
    game.actions(state, &mut legal);
    let word = text.trim().to_lowercase();
    let wanted = match word.as_str() {
        "f" | "fold" => Action::Fold,
        "c" | "call" | "check" | "k" => Action::Call,
        "r" | "raise" | "b" | "bet" => Action::Raise,
        _ => {
            let names: Vec<String> = legal.iter().map(|a| action(state, *a)).collect();
            return Err(GameError::new(format!("`{}` is not a move: {}", text.trim(), names.join(", "))));
        }
    };
    // `check` facing a bet is most likely a mistake, and `call` without one is not.
    if !legal.contains(&wanted) || word == "check" && state.to_call(usize::from(state.mover)) > 0 {
        let why = match word.as_str() {
            "check" => "there is a bet: call it, raise or fold".into(),
            _ => why_not(game, state, wanted),
        };
        return Err(GameError::new(format!("`{}` is not legal: {why}", text.trim())));
    }
    Ok(wanted)
}

/// What a deal tells the player in `seat`.
pub(super) fn dealt(state: &State, deal: &Deal, seat: usize) -> String {
    let all: Vec<Option<Card>> = deal.cards().collect();
    if state.level == 0 {
        let own = all.get(2 * seat..2 * seat + 2).unwrap_or_default();
        return format!("Your cards are {}.", spaced(own.iter().flatten().copied()));
    }
    let name = ["", "flop", "turn", "river"][(state.round() + 1).min(3)];
    format!("The {name} is {}.", spaced(all.into_iter().flatten()))
}

fn spaced(cards: impl IntoIterator<Item = Card>) -> String {
    cards.into_iter().map(|card| card.to_string()).collect::<Vec<_>>().join(" ")
}

/// What a move tells everyone: at the end of the hand, the cards and who wins what.
pub(super) fn event(game: &Holdem, state: &State, action: Action, seat: usize) -> Option<String> {
    let mut after = state.clone();
    game.apply(&mut after, &action);
    if game.turn(&after) != Turn::Over {
        return None;
    }
    let name = |player: usize| if player == seat { "You".into() } else { format!("Player {}", player + 1) };
    let verb = |player: usize, verb: &str| if player == seat { verb.into() } else { format!("{verb}s") };
    let mut text = String::new();
    let showdown = (0..game.seats()).filter(|p| !after.has_folded(*p)).count() > 1;
    let board = after.board().fold(Hand::default(), Hand::with);
    for player in (0..game.seats()).filter(|p| showdown && !after.has_folded(*p)) {
        if let Some([a, b]) = after.hole(player) {
            let strength = Strengths::shared().of(&board.with(a).with(b));
            let what = strength.category().name();
            let _ = write!(text, "{} {} {a} {b}, {what}. ", name(player), verb(player, "show"));
        }
    }
    let net = game.payoffs(&after);
    for player in (0..game.seats()).filter(|p| net[*p] > 0) {
        let _ = write!(text, "{} {} {}. ", name(player), verb(player, "win"), net[player]);
    }
    Some(text.trim_end().into())
}

/// A drawing.
pub(super) fn board(game: &Holdem, state: &State, marks: &[(Action, String)]) -> String {
    let mut text = String::new();
    if state.level == 0 {
        return "no cards are dealt yet\n".into();
    }
    let [small, big] = game.blind_seats();
    for seat in 0..game.seats() {
        let role = match seat {
            _ if seat + 1 == game.seats() && seat == small => " button, small blind",
            _ if seat + 1 == game.seats() => " button",
            _ if seat == small => " small blind",
            _ if seat == big => " big blind",
            _ => "",
        };
        let cards = state.hole(seat).map_or("? ?".into(), spaced);
        let fate = match () {
            () if state.has_folded(seat) => ", folded",
            () if state.is_all_in(seat) => ", all in",
            () if state.phase == Phase::Act && usize::from(state.mover) == seat => ", to act",
            () => "",
        };
        let _ = writeln!(text, "player {}{role}: {cards}, has paid {}{fate}", seat + 1, state.paid(seat));
    }
    let shown: Vec<Card> = state.board().collect();
    let shown = if shown.is_empty() { "no cards yet".into() } else { spaced(shown) };
    let _ = writeln!(text, "board: {shown}; pot {}", state.pot());
    let so_far = moves(state);
    if !so_far.is_empty() {
        let _ = writeln!(text, "moves: {so_far} (c check or call, r bet or raise, f fold)");
    }
    if state.phase == Phase::Act {
        let owed = state.to_call(usize::from(state.mover));
        let bet = game.stakes.bets[state.round()];
        let _ = writeln!(text, "to call: {owed}; a bet is {bet}, {} so far in this round", state.bets());
    }
    for (mark, value) in marks {
        let _ = writeln!(text, "  {}  {value}", action(state, *mark));
    }
    text
}
