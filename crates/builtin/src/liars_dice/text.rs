//! The text form of positions and actions.
//!
//! A position lists the seats, the player who began the round, and the bids and passes since: `13446/11+22x/255 @2 2x4
//! 3x2+22 pass`.
//!
//! A seat has the dice under the cup (`?` for each die to roll, `-` for a player who is out), `+` and the pushed dice,
//! `x` if the exact is used, and `o` if the player has begun a round with one die. A bid is `COUNTxFACE`, then `+` and
//! the pushed dice. `pass!` is a false pass. A special round has `special` after the starter. `@?` means that the
//! starter is not drawn yet.

use super::dice::Dice;
use super::hearing;
use super::rules::{Action, LiarsDice, RuleSet, Target};
use super::state::{Act, Bid, Phase, Said, State};
use std::fmt::{self, Write};

impl fmt::Display for Bid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.count, self.face)
    }
}

/// A bid and the dice pushed with it.
fn bid_text(bid: Bid, push: Dice) -> String {
    if push.is_empty() { bid.to_string() } else { format!("{bid}+{push}") }
}

pub(super) fn position(state: &State) -> String {
    let mut text = String::new();
    for (i, seat) in state.seats.iter().enumerate() {
        text.push_str(if i > 0 { "/" } else { "" });
        let under = seat.dice - seat.pushed.total();
        let _ = match (seat.dice, seat.cup.is_empty()) {
            (0, _) => write!(text, "-"),
            (_, true) => write!(text, "{}", "?".repeat(under.into())),
            _ => write!(text, "{}", seat.cup),
        };
        if !seat.pushed.is_empty() {
            let _ = write!(text, "+{}", seat.pushed);
        }
        text.push_str(if seat.exacted { "x" } else { "" });
        text.push_str(if seat.was_down_to_one { "o" } else { "" });
    }
    let _ = match state.phase {
        Phase::Draw => write!(text, " @?"),
        _ => write!(text, " @{}", state.starter + 1),
    };
    text.push_str(if state.special { " special" } else { "" });
    for act in &state.acts {
        let _ = match act.said {
            Said::Bid { bid, push } => write!(text, " {}", bid_text(bid, push)),
            Said::Pass { valid } => write!(text, " pass{}", if valid { "" } else { "!" }),
        };
    }
    text
}

/// An example position of this game, for messages.
pub(super) fn example(game: &LiarsDice) -> String {
    let cups = game
        .dice
        .iter()
        .map(|n| "1".repeat(usize::from(*n).min(3)) + &"2".repeat(usize::from(*n).saturating_sub(3)));
    format!("{} @1 2x2", cups.collect::<Vec<_>>().join("/"))
}

pub(super) fn parse_position(game: &LiarsDice, text: &str) -> Result<State, String> {
    let mut words = text.split_whitespace();
    let mut state = game.first();
    let seats: Vec<&str> = words.next().unwrap_or("").split('/').collect();
    if seats.len() != game.dice.len() {
        return Err(format!("{} seats instead of {}", seats.len(), game.dice.len()));
    }
    for (p, text) in seats.iter().enumerate() {
        parse_seat(game, &mut state, p, text).map_err(|why| format!("seat {}: {why}", p + 1))?;
    }
    let starter =
        words.next().and_then(|w| w.strip_prefix('@')).ok_or("the starter is missing, such as @1")?;
    let whole =
        |state: &State| state.seats.iter().zip(&game.dice).all(|(s, n)| s.dice == *n && s.cup.is_empty());
    if starter == "?" {
        return if whole(&state) && words.next().is_none() && !matches!(game.rules, RuleSet::OpenSpiel { .. })
        {
            (state.phase, state.mover) = (Phase::Draw, 0);
            Ok(state)
        } else {
            Err("without a starter, all dice must be ? and no bids are allowed".into())
        };
    }
    state.starter = match starter.parse::<u8>() {
        Ok(p @ 1..) if usize::from(p) <= state.seats.len() => p - 1,
        _ => return Err(format!("`@{starter}` is not a seat from 1 to {}", state.seats.len())),
    };
    if state.alive() < 2 {
        if state.seats.iter().any(|seat| !seat.cup.is_empty() || !seat.pushed.is_empty()) {
            return Err("the game is over; write the winner's dice as ?".into());
        }
        (state.phase, state.starter) = (Phase::Over, state.next_alive(state.starter));
        state.mover = state.starter;
        return if words.next().is_none() { Ok(state) } else { Err("the game is over".into()) };
    }
    if state.seats[usize::from(state.starter)].dice == 0 {
        return Err(format!("seat {starter} is out and cannot begin"));
    }
    for seat in state.seats.iter_mut().filter(|seat| seat.dice == 1) {
        seat.was_down_to_one |= game.rules == RuleSet::Soar;
    }
    parse_acts(game, &mut state, words)?;
    let waiting = |p: u8| state.seats[usize::from(p)].dice > 0 && state.seats[usize::from(p)].cup.is_empty();
    let rolling: Vec<u8> = (0..state.seats.len() as u8).filter(|p| waiting(*p)).collect();
    match (&rolling[..], state.acts.last()) {
        ([], Some(Act { said: Said::Bid { push, .. }, .. })) if push.is_empty() => {}
        ([], _) => {}
        ([first, rest @ ..], None) => {
            let until = state.seats.len() as u8;
            if (*first..until).filter(|p| state.seats[usize::from(*p)].dice > 0).count() != rest.len() + 1 {
                return Err("dice are rolled in seat order".into());
            }
            (state.phase, state.mover) = (Phase::Roll, *first);
        }
        ([one], Some(Act { player, said: Said::Bid { push, .. } })) if one == player && !push.is_empty() => {
            (state.phase, state.mover) = (Phase::Roll, *one);
        }
        _ => return Err("only the bidder's dice after a push can be ? during a round".into()),
    }
    Ok(state)
}

fn parse_seat(game: &LiarsDice, state: &mut State, p: usize, text: &str) -> Result<(), String> {
    let soar = game.rules == RuleSet::Soar;
    let most = usize::from(game.dice[p]);
    let seat = &mut state.seats[p];
    let mut text = text;
    while let Some(rest) = text.strip_suffix(['x', 'o']).filter(|_| soar) {
        let flag = if text.ends_with('x') { &mut seat.exacted } else { &mut seat.was_down_to_one };
        *flag = true;
        text = rest;
    }
    if text == "-" {
        seat.dice = 0;
        return Ok(());
    }
    let (cup, pushed) = text.split_once('+').unwrap_or((text, ""));
    let unrolled = cup.chars().all(|c| c == '?');
    let under = if unrolled {
        cup.len()
    } else {
        seat.cup = Dice::parse(cup, game.faces)?;
        seat.cup.total().into()
    };
    seat.pushed = Dice::parse(pushed, game.faces)?;
    let dice = under + usize::from(seat.pushed.total());
    let single = matches!(game.rules, RuleSet::OpenSpiel { .. });
    if under == 0 || dice > most || (single && dice != most) {
        return Err(format!(
            "{under} dice under the cup and {dice} in total are not possible with {most} dice"
        ));
    }
    seat.dice = dice as u8;
    Ok(())
}

fn parse_acts<'a>(
    game: &LiarsDice,
    state: &mut State,
    words: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    (state.phase, state.mover) = (Phase::Act, state.starter);
    let mut pushed = vec![Dice::default(); state.seats.len()];
    for (i, word) in words.enumerate() {
        if word == "special" && i == 0 && game.rules == RuleSet::Soar {
            state.special = true;
            continue;
        }
        let mover = usize::from(state.mover);
        let said = match word {
            "pass" | "pass!" => Said::Pass { valid: word == "pass" },
            _ => match parse_action(game, word)? {
                Action::Bid { bid, push } => Said::Bid { bid, push },
                _ => return Err(format!("`{word}` ends a round")),
            },
        };
        let refused = match said {
            Said::Pass { .. } => game.refuses_pass(state),
            Said::Bid { bid, .. } => game.refuses_bid(state, bid),
        };
        if let Some(why) = refused {
            return Err(format!("`{word}` was not legal: {why}"));
        }
        if game.rules != RuleSet::Soar && matches!(said, Said::Bid { push, .. } if !push.is_empty()) {
            return Err(format!("`{word}`: only the rule set soar has pushes"));
        }
        let seat = &mut state.seats[mover];
        match said {
            Said::Pass { .. } => seat.passed = true,
            Said::Bid { push, .. } if !push.is_empty() => {
                pushed[mover] = pushed[mover].with(&push);
                seat.passed = false;
            }
            Said::Bid { .. } => {}
        }
        state.acts.push(Act { player: state.mover, said });
        state.mover = state.next_alive(state.mover);
    }
    match (0..pushed.len()).find(|p| pushed[*p] != state.seats[*p].pushed) {
        Some(p) => Err(format!("seat {} has other pushed dice than its bids", p + 1)),
        None => Ok(()),
    }
}

pub(super) fn action(action: &Action) -> String {
    match action {
        Action::Starter(p) => format!("start {}", p + 1),
        Action::Roll(dice) => format!("roll {dice}"),
        Action::Bid { bid, push } => bid_text(*bid, *push),
        Action::Pass => "pass".into(),
        Action::Challenge(Target::Bid) => "challenge".into(),
        Action::Challenge(Target::Pass) => "challenge pass".into(),
        Action::Challenge(Target::PassBefore) => "challenge pass before".into(),
        Action::Exact => "exact".into(),
    }
}

pub(super) fn parse_action(game: &LiarsDice, text: &str) -> Result<Action, String> {
    let text = text.trim();
    hearing::parse(text, game.faces).ok_or_else(|| {
        let more = match game.rules {
            RuleSet::Soar => {
                ", followed by +14 to push a 1 and a 4; or pass, challenge, challenge pass, exact"
            }
            RuleSet::RPost | RuleSet::OpenSpiel { .. } => ", or challenge",
        };
        format!("`{text}` is not an action; write a bid such as 3x4 or three 4s{more}")
    })
}
