//! Compares a profile with recorded decisions of the original program.

use super::attributes::{Attributes, proposal_name};
use super::flags::{Flag, Flags, analyse};
use super::profile::{Profile, STAGES};
use crate::holdem::cards::{Card, parse_cards};
use adept_game::{Difference, GameError, Recorded};
use adept_ground::limits;
use serde::Deserialize;
use std::cell::Cell;
use std::path::Path;

/// A row of the file. Cards are separated by spaces, amounts are in chips.
#[derive(Deserialize)]
struct Row {
    stage: String,
    hole: String,
    board: String,
    active_players: f64,
    num_bets: f64,
    to_call: f64,
    bet_size: f64,
    pot: f64,
    unacted: f64,
    bet_timing: String,
    blind: String,
    bluff: String,
    check_raise_used: String,
    best_hand_probability: f64,
    action: String,
}

/// Names of recorded actions. A check-raise starts as a call.
const ACTIONS: [&str; 3] = ["fold", "call", "raise"];

/// Largest number of bets per round in the recorded games.
const CAP: f64 = 4.0;

fn attributes(row: &Row, profile: &Profile) -> Result<(Attributes, (bool, bool)), String> {
    let stage = STAGES.iter().position(|stage| *stage == row.stage);
    let stage =
        stage.ok_or_else(|| format!("column stage: `{}` is not one of {}", row.stage, STAGES.join(", ")))?;
    // Parsed together, because no card may occur twice.
    let all = parse_cards(&format!("{} {}", row.hole, row.board)).map_err(|e| e.to_string())?;
    let ([a, b], board) = all
        .split_first_chunk::<2>()
        .filter(|_| parse_cards(&row.hole).is_ok_and(|hole| hole.len() == 2))
        .ok_or("column hole: two cards are needed")?;
    if !ACTIONS.contains(&row.action.as_str()) {
        return Err(format!("column action: `{}` is not one of {}", row.action, ACTIONS.join(", ")));
    }
    let yes = |column: &str, text: &str| match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(format!("column {column}: `{text}` is not yes or no")),
    };
    let hidden = (yes("bluff", &row.bluff)?, yes("check_raise_used", &row.check_raise_used)?);
    if !["small", "big", "no"].contains(&row.blind.as_str()) {
        return Err(format!("column blind: `{}` is not one of small, big, no", row.blind));
    }
    if !(row.bet_size.is_finite() && row.bet_size > 0.0) {
        return Err(format!("column bet_size: `{}` is not a size of a bet", row.bet_size));
    }
    let expected = [0, 3, 4, 5][stage];
    if board.len() != expected {
        return Err(format!("column board: {} cards instead of {expected}", board.len()));
    }
    let hole: [Card; 2] = [*a, *b];
    let mut flags = if stage == 0 { Flags::default() } else { analyse(hole, board, profile.straights) };
    let mut cards = [hole[0]; 5];
    cards[..expected].copy_from_slice(board);
    let timing = match row.bet_timing.as_str() {
        "button" => Flag::Button,
        "blind" => Flag::Blind,
        "early" => Flag::Early,
        "middle" => Flag::Middle,
        "late" => Flag::Late,
        other => {
            return Err(format!(
                "column bet_timing: `{other}` is not one of button, blind, early, middle, late"
            ));
        }
    };
    flags.set(timing, true);
    flags.set(Flag::SmallBlind, row.blind == "small");
    flags.set(Flag::BigBlind, row.blind == "big");
    let mut attributes = Attributes {
        stage,
        hole,
        board: cards,
        board_cards: expected,
        flags,
        to_call: row.to_call,
        bet_size: row.bet_size,
        bets: row.num_bets,
        max_bets: CAP,
        active: row.active_players,
        players: row.active_players,
        pot: row.pot,
        unacted: row.unacted,
        probability: Cell::new(row.best_hand_probability),
    };
    attributes.suit();
    Ok((attributes, hidden))
}

/// Compares the proposals of a profile with those recorded in a CSV file. A row agrees if the recorded action is among the
/// proposals with the highest score.
///
/// # Errors
/// The file and line that cannot be read.
pub fn agreement(profile: &Profile, path: &Path) -> Result<Recorded, GameError> {
    let fault = |what: String| GameError::data(path, what);
    let text = limits::read_list(path).map_err(GameError::file(path))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let mut recorded = Recorded::default();
    let header = reader.headers().map_err(|e| fault(e.to_string()))?.clone();
    for record in reader.records() {
        let record = record.map_err(|e| fault(e.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let row: Row = record.deserialize(Some(&header)).map_err(|e| fault(e.to_string()))?;
        let (attributes, hidden) =
            attributes(&row, profile).map_err(|e| fault(format!("line {line}, {e}")))?;
        let p = attributes.proposals(profile, hidden);
        // The original program recorded a check-raise as its first action.
        let name = |proposal: usize| match proposal_name(proposal) {
            "check-raise" => "call",
            name => name,
        };
        let chosen: Vec<&str> = (0..p.len()).filter(|k| p[*k] > 0.0).map(name).collect();
        recorded.rows += 1;
        if chosen.contains(&row.action.as_str()) {
            recorded.agree += 1;
        } else {
            let position = format!("{} {} {}", row.stage, row.hole, row.board);
            let chosen = chosen.join(" or ");
            recorded.differences.push(Difference { line, position, recorded: row.action, chosen });
        }
    }
    if recorded.rows == 0 {
        return Err(fault("has no rows".into()));
    }
    recorded.share = recorded.agree as f64 / recorded.rows as f64;
    Ok(recorded)
}
