//! Positions and moves as texts, and boards.
//!
//! A position lists the player to move, the board row by row if the rules have one, all other facts that hold, and `@n`
//! after n moves if the rules limit them: `2 X../.O./X..`, or `1 heap(a,3) heap(b,1)`. In games with chance or more
//! than one move in a row, the player who moved last follows: `2/1` if player 1 has moved and player 2 is next; `2`
//! alone after an outcome of chance.

use super::declaration::{Board, Object, Operator, Tuple};
use super::declared::Declared;
use super::state::{NONE, State, Status};
use crate::text::{entries, list, wrap};
use adept_game::GameError;
use std::fmt::Write;

/// A move in this player's notation.
pub(crate) fn action(game: &Declared, player: usize, number: u32) -> String {
    let declaration = &game.rules.declaration;
    let name = &declaration.operators[game.rules.moves[number as usize].operator].name;
    declaration.shown(name, &game.rules.move_tuple(number as usize, player))
}

/// The rules in prose, and how moves are written.
pub(crate) fn rules(game: &Declared) -> String {
    let declaration = &game.rules.declaration;
    let mut paragraphs = declaration.rules.clone();
    if paragraphs.is_empty() {
        paragraphs.push(declaration.about.clone().unwrap_or_else(|| declaration.name.clone()));
    }
    let form = |operator: &Operator| {
        let types = operator.types.iter().map(|&of| declaration.types[of].name.as_str());
        match types.collect::<Vec<_>>().join(",") {
            types if types.is_empty() => operator.name.clone(),
            types => format!("{}({types})", operator.name),
        }
    };
    let of_players = declaration.operators.iter().filter(|operator| operator.weight.is_none());
    let forms: Vec<String> = of_players.map(form).collect();
    paragraphs.push(format!(
        "How to write a move: {}. Brackets and commas may be left out. So may the name, and the last words, if that leaves \
         only one legal move.",
        forms.join(" or ")
    ));
    let wrapped: Vec<String> = paragraphs.iter().map(|paragraph| wrap(paragraph)).collect();
    wrapped.join("\n\n")
}

/// The object that is drawn in a cell.
fn drawn(game: &Declared, state: &State, board: &Board, cell: &Tuple) -> Option<Object> {
    let of = game.rules.declaration.relations[board.relation].types[board.mark];
    game.rules.declaration.types[of].members.iter().copied().find(|&object| {
        let mut tuple = cell.clone();
        tuple[board.mark] = object;
        state.holds(game.rules.numbers[&(board.relation, tuple)] as usize)
    })
}

pub(crate) fn position(game: &Declared, state: &State) -> String {
    let rules = &game.rules;
    let mut words = Vec::new();
    if rules.declaration.players > 1 {
        words.push(match state.last {
            NONE => (state.mover + 1).to_string(),
            last => format!("{}/{}", state.mover + 1, last + 1),
        });
    }
    let mut shown = vec![false; rules.facts.len()];
    if let Some(board) = &rules.declaration.board {
        let row = |row: &Vec<Tuple>| -> String {
            let cell =
                |cell: &Tuple| drawn(game, state, board, cell).map_or('.', |object| board.marks[&object]);
            row.iter().map(cell).collect()
        };
        words.push(board.rows.iter().map(row).collect::<Vec<_>>().join("/"));
        for cell in board.rows.iter().flatten() {
            // A second object in the same cell stays among the other facts.
            if let Some(object) = drawn(game, state, board, cell) {
                let mut tuple = cell.clone();
                tuple[board.mark] = object;
                shown[rules.numbers[&(board.relation, tuple)] as usize] = true;
            }
        }
    }
    for (number, (relation, tuple)) in rules.facts.iter().enumerate() {
        if state.holds(number) && !shown[number] && !rules.declaration.relations[*relation].is_fixed {
            words.push(rules.declaration.shown(&rules.declaration.relations[*relation].name, tuple));
        }
    }
    if rules.declaration.limit.is_some() {
        words.push(format!("@{}", state.moves));
    }
    if words.is_empty() { "-".into() } else { words.join(" ") }
}

pub(crate) fn parse(game: &Declared, text: &str) -> Result<State, GameError> {
    let rules = &game.rules;
    let declaration = &rules.declaration;
    let fail = |why: String| {
        let example = position(game, &adept_game::Game::start(game));
        GameError::new(format!("`{text}` is not a position: {why}; the game begins with `{example}`"))
    };
    let mut state = adept_game::Game::start(game);
    for (fact, (relation, _)) in rules.facts.iter().enumerate() {
        let holds = declaration.relations[*relation].is_fixed && state.holds(fact);
        state.write(fact as u32, holds);
    }
    (state.mover, state.moves) = (0, 0);
    let mut words = text.split_whitespace().peekable();
    if declaration.players > 1 {
        let player = |word: &str| {
            word.parse().ok().filter(|player| (1..=declaration.players).contains(player)).map(|p| p as u8 - 1)
        };
        let word = words.next().unwrap_or_default();
        let (mover, last) =
            word.split_once('/').filter(|_| game.stores_last()).map_or((word, None), |(m, l)| (m, Some(l)));
        let found = player(mover).zip(last.map_or(Some(NONE), player));
        (state.mover, state.last) = found.ok_or_else(|| {
            let all: Vec<String> = (1..=declaration.players).map(|player| player.to_string()).collect();
            let last = if game.stores_last() { "; `/` and the player who moved last may follow" } else { "" };
            fail(format!("it begins with the player whose turn it is, {}{last}", all.join(" or ")))
        })?;
    }
    if let Some(board) = &declaration.board {
        let found: Vec<Vec<char>> =
            words.next().unwrap_or_default().split('/').map(|row| row.chars().collect()).collect();
        let sizes = |rows: Vec<usize>| rows.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let expected: Vec<usize> = board.rows.iter().map(Vec::len).collect();
        if found.iter().map(Vec::len).collect::<Vec<_>>() != expected {
            let found = sizes(found.iter().map(Vec::len).collect());
            return Err(fail(format!("rows of {found} squares instead of {}", sizes(expected))));
        }
        for (cell, c) in board.rows.iter().flatten().zip(found.into_iter().flatten()) {
            if c == '.' {
                continue;
            }
            let Some((&object, _)) = board.marks.iter().find(|(_, mark)| **mark == c) else {
                return Err(fail(format!("`{c}` is not a mark of its board")));
            };
            let mut tuple = cell.clone();
            tuple[board.mark] = object;
            state.write(rules.numbers[&(board.relation, tuple)], true);
        }
    }
    for word in words {
        if word == "-" {
            continue;
        }
        if let (Some(count), Some(limit)) = (word.strip_prefix('@'), declaration.limit) {
            state.moves = count
                .parse()
                .ok()
                .filter(|moves| *moves <= limit)
                .ok_or_else(|| fail(format!("`{word}` is not a number of moves up to {limit}")))?;
            continue;
        }
        let named = |(_, (relation, tuple)): &(usize, &(usize, Tuple))| {
            declaration.shown(&declaration.relations[*relation].name, tuple) == word
        };
        let Some((fact, _)) = rules.facts.iter().enumerate().find(named) else {
            return Err(fail(format!("`{word}` is not a fact of the game")));
        };
        if declaration.relations[rules.facts[fact].0].is_fixed {
            return Err(fail(format!("`{word}` never changes, so a position does not say it")));
        }
        state.write(fact as u32, true);
    }
    state.status = Status::Going;
    let last = match game.stores_last() {
        true => (state.last != NONE).then_some(state.last),
        false => Some(game.before(state.mover)),
    };
    state.status = game.status_of(&state, last);
    Ok(state)
}

/// A position without a board: the player to move and the facts that hold, one relation per line.
fn facts(game: &Declared, state: &State) -> String {
    let declaration = &game.rules.declaration;
    let wide = declaration.relations.iter().map(|of| of.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    if state.status == Status::Chance {
        let _ = writeln!(text, "chance to move, in the turn of player {}", state.mover + 1);
    } else if declaration.players > 1 {
        let _ = writeln!(text, "player {} to move", state.mover + 1);
    }
    let changing = declaration.relations.iter().enumerate().filter(|(_, relation)| !relation.is_fixed);
    for (number, relation) in changing {
        let holding = game.rules.facts.iter().enumerate();
        let holding = holding.filter(|(fact, (of, _))| *of == number && state.holds(*fact));
        let objects = |(_, (_, tuple)): (usize, &(usize, Tuple))| -> String {
            let names = tuple.iter().map(|&object| declaration.objects[usize::from(object)].as_str());
            names.collect::<Vec<_>>().join(" ")
        };
        let all: Vec<String> = holding.map(objects).collect();
        if !all.is_empty() {
            list(&mut text, &format!("  {:<wide$}  ", relation.name), &all);
        }
    }
    if let Some(limit) = declaration.limit {
        let _ = writeln!(text, "move {} of at most {limit}", state.moves + 1);
    }
    text
}

pub(crate) fn board(game: &Declared, state: &State, marks: &[(u32, String)]) -> String {
    let declaration = &game.rules.declaration;
    let name = |object: Object| declaration.objects[usize::from(object)].as_str();
    let mut text = String::new();
    match &declaration.board {
        None => text.push_str(&facts(game, state)),
        Some(board) => {
            let of = &declaration.relations[board.relation];
            // Names of squares or, for boards with coordinates, of rows and columns.
            let labels: Vec<usize> = (0..of.arity).filter(|&at| at != board.mark).collect();
            let cells = board.rows.iter().flatten();
            let widest =
                |at: usize| cells.clone().map(|cell| name(cell[at]).chars().count()).max().unwrap_or(1);
            let square =
                |cell: &Tuple| drawn(game, state, board, cell).map_or('.', |object| board.marks[&object]);
            if let [at] = labels[..] {
                let wide = widest(at);
                for row in &board.rows {
                    let marks: Vec<String> = row.iter().map(|cell| square(cell).to_string()).collect();
                    let names: Vec<String> =
                        row.iter().map(|cell| format!("{:<wide$}", name(cell[at]))).collect();
                    let _ = writeln!(text, "  {}     {}", marks.join(" "), names.join(" ").trim_end());
                }
            } else if let Some(first) = board.rows.first().and_then(|row| row.first()) {
                // The argument that changes along a row is the column.
                let column = board.rows[0].get(1).map_or(labels[0], |next| {
                    labels.iter().copied().find(|&at| next[at] != first[at]).unwrap_or(labels[0])
                });
                let row_label = labels.iter().copied().find(|&at| at != column).unwrap_or(column);
                let (left, wide) = (widest(row_label), widest(column));
                for row in &board.rows {
                    let _ = write!(text, "  {:>left$} ", name(row[0][row_label]));
                    for cell in row {
                        let _ = write!(text, " {:>wide$}", square(cell));
                    }
                    text.push('\n');
                }
                let _ = write!(text, "  {:left$} ", "");
                for cell in &board.rows[0] {
                    let _ = write!(text, " {:>wide$}", name(cell[column]));
                }
                text.push('\n');
            }
        }
    }
    let shown = |one: u32| action(game, state.mover.into(), one);
    entries(&mut text, marks, shown);
    text
}
