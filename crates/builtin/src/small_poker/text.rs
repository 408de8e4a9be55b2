//! Positions and moves as text: `JQ/K rc/`, the players' cards, the public card, the moves of each round.

use super::rules::{Action, PublicState, RANKS, SmallPoker, State, Step};
use adept_game::{Game, GameError, Turn};
use std::fmt::Write;

const LETTERS: [char; RANKS as usize] = ['J', 'Q', 'K'];
const NAMES: [&str; RANKS as usize] = ["jack", "queen", "king"];

fn letter(card: Option<u8>) -> char {
    card.and_then(|rank| LETTERS.get(usize::from(rank)).copied()).unwrap_or('?')
}

fn name(rank: u8) -> &'static str {
    NAMES.get(usize::from(rank)).copied().unwrap_or("card")
}

fn code(action: Action) -> char {
    match action {
        Action::Fold => 'f',
        Action::Call => 'c',
        Action::Raise => 'r',
        Action::Deal(rank) => letter(Some(rank)),
    }
}

/// Formats a position on one line; cards that are not dealt or not seen are `?`.
pub(super) fn position(state: &State) -> String {
    let mut text: String =
        state.cards.iter().take(usize::from(state.dealt)).map(|card| letter(*card)).collect();
    if state.table.board.is_some() {
        let _ = write!(text, "/{}", letter(state.table.board));
    }
    if state.dealt == 0 {
        text.push('-');
    }
    let rounds = state.table.rounds.iter().map(|moves| moves.iter().map(|a| code(*a)).collect());
    let rounds: Vec<String> = rounds.collect();
    if rounds.iter().any(|moves| !moves.is_empty()) {
        let _ = write!(text, " {}", rounds.join("/"));
    }
    text
}

/// Reads what [`position`] writes.
pub(super) fn parse(game: &SmallPoker, text: &str) -> Result<State, GameError> {
    let wrong = |what: String| {
        let example = if game.bets.len() > 1 { "JK/Q rc/r" } else { "JK r" };
        GameError::new(format!(
            "`{text}`: {what}; a position has the cards of both players (J, Q, K, or ? if not seen), after / the card on the \
             table, and the moves of each round (f, c, r): {example}"
        ))
    };
    let mut words = text.split_whitespace();
    let (cards, moves) = (words.next().unwrap_or("-"), words.next().unwrap_or(""));
    if let Some(more) = words.next() {
        return Err(wrong(format!("`{more}` is too much")));
    }
    let rank = |letter: char| match LETTERS.iter().position(|l| *l == letter.to_ascii_uppercase()) {
        Some(rank) => Ok(Some(rank as u8)),
        None if letter == '?' => Ok(None),
        None => Err(wrong(format!("`{letter}` is not a card"))),
    };
    let (own, board) = cards.split_once('/').map_or((cards, None), |(own, board)| (own, Some(board)));
    let mut state = game.start();
    if own != "-" {
        for letter in own.chars() {
            if state.dealt == 2 {
                return Err(wrong("there are two players".into()));
            }
            state.cards[usize::from(state.dealt)] = rank(letter)?;
            state.dealt += 1;
        }
    }
    if state.dealt == 2 {
        state.table.rounds.push(Vec::new());
    }
    for letter in moves.chars() {
        let action = match letter {
            '/' if game.step(&state.table) == Step::Board && state.dealt == 2 => {
                let mut letters = board.unwrap_or_default().chars();
                match (letters.next().map(rank).transpose()?.flatten(), letters.next()) {
                    (Some(rank), None) => Action::Deal(rank),
                    _ => return Err(wrong("the second round needs one card on the table".into())),
                }
            }
            'f' => Action::Fold,
            'c' => Action::Call,
            'r' => Action::Raise,
            _ => return Err(wrong(format!("`{letter}` is not a move here"))),
        };
        let mut legal = Vec::new();
        game.actions(&state, &mut legal);
        if !matches!(action, Action::Deal(_)) && !legal.contains(&action) {
            return Err(wrong(format!("`{letter}` is not legal in `{}`", position(&state))));
        }
        game.apply(&mut state, &action);
    }
    if board.is_some() && state.table.board.is_none() {
        // The round has just begun: the text may omit the last slash.
        if state.dealt < 2 || game.step(&state.table) != Step::Board {
            return Err(wrong("the card on the table comes after the first round".into()));
        }
        return parse(game, &format!("{cards} {moves}/"));
    }
    let seen = [state.cards[0], state.cards[1], state.table.board];
    for rank in 0..RANKS {
        if seen.iter().filter(|card| **card == Some(rank)).count() > usize::from(game.copies) {
            return Err(wrong(format!("the deck has only {} {}", game.copies, name(rank))));
        }
    }
    Ok(state)
}

/// A move in words.
pub(super) fn action(table: &PublicState, action: Action) -> &'static str {
    let faces = table.rounds.last().is_some_and(|moves| moves.last() == Some(&Action::Raise));
    match action {
        Action::Fold => "fold",
        Action::Call if faces => "call",
        Action::Call => "check",
        Action::Raise if faces => "raise",
        Action::Raise => "bet",
        Action::Deal(rank) => name(rank),
    }
}

/// Parses a move: its name, its first letter, or `c` and `r` for check and bet too.
pub(super) fn parse_action(game: &SmallPoker, state: &State, text: &str) -> Result<Action, GameError> {
    let mut legal = Vec::new();
    game.actions(state, &mut legal);
    let word = text.trim().to_lowercase();
    let found = legal.iter().find(|a| {
        let long = action(&state.table, **a);
        word == long || word == code(**a).to_string() || (!word.is_empty() && word == long[..1])
    });
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = legal.iter().map(|a| action(&state.table, *a)).collect();
        GameError::new(format!("`{}` is not a legal move: {}", text.trim(), names.join(", ")))
    })
}

/// Text of a deal for the player in `seat`.
pub(super) fn dealt(state: &State, action: Action, seat: usize) -> String {
    let Action::Deal(rank) = action else { return String::new() };
    match state.dealt {
        player @ 0..2 if usize::from(player) == seat => format!("Your card is a {}.", name(rank)),
        0..2 => String::new(),
        _ => format!("The card on the table is a {}.", name(rank)),
    }
}

/// Text of a move for everyone; after the last call, the cards.
pub(super) fn event(game: &SmallPoker, state: &State, action: Action, seat: usize) -> Option<String> {
    let mut after = state.clone();
    game.apply(&mut after, &action);
    if game.turn(&after) != Turn::Over || action == Action::Fold {
        return None;
    }
    let cards = after.cards.map(|card| card.map_or("card", name));
    Some(format!("You show a {}, the opponent a {}.", cards[seat], cards[1 - seat]))
}

/// A text drawing.
pub(super) fn board(game: &SmallPoker, state: &State, marks: &[(Action, String)]) -> String {
    let card = |card: Option<u8>| card.map_or("hidden", name);
    let mut text = String::new();
    for player in 0..usize::from(state.dealt) {
        let _ = writeln!(
            text,
            "player {}: {}, has paid {}",
            player + 1,
            card(state.cards[player]),
            game.paid(&state.table)[player]
        );
    }
    if game.bets.len() > 1 && state.dealt == 2 {
        let _ = writeln!(text, "table: {}", state.table.board.map_or("no card yet", name));
    }
    let mut table = PublicState { board: state.table.board, rounds: Vec::new() };
    for (r, moves) in state.table.rounds.iter().enumerate().filter(|(_, moves)| !moves.is_empty()) {
        table.rounds.push(Vec::new());
        let mut names = Vec::new();
        for (k, a) in moves.iter().enumerate() {
            names.push(format!("player {} {}s", k % 2 + 1, action(&table, *a)));
            SmallPoker::advance(&mut table, *a);
        }
        let _ = writeln!(text, "round {}: {}", r + 1, names.join(", "));
    }
    for (mark, value) in marks {
        let _ = writeln!(text, "  {}  {value}", action(&state.table, *mark));
    }
    text
}
