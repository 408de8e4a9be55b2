//! Descriptions of bids and rounds in words.

use super::dice::Dice;
use super::hearing::NUMBERS;
use super::rules::{Action, LiarsDice, RuleSet, Target};
use super::state::{Bid, Said, Seat, State};
use std::fmt::Write;

/// A small number as a word.
pub(super) fn number(n: u8) -> String {
    NUMBERS.get(usize::from(n)).map_or_else(|| n.to_string(), |word| (*word).to_string())
}

/// A bid in words, such as `three 4s`.
pub(super) fn bid(bid: Bid) -> String {
    format!("{} {}{}", number(bid.count), bid.face, if bid.count == 1 { "" } else { "s" })
}

/// Dice with spaces between them, such as `1 1 4`.
fn spread(dice: &Dice) -> String {
    let faces: Vec<String> = dice.to_string().chars().map(String::from).collect();
    faces.join(" ")
}

/// Describes an action by a player: `You bid three 4s.`
pub(super) fn describe(action: &Action, who: &str, you: bool) -> String {
    let does = |verb: &str| match verb {
        _ if you => verb.to_string(),
        "push" | "pass" => format!("{verb}es"),
        _ => format!("{verb}s"),
    };
    match action {
        Action::Bid { bid: claim, push } if push.is_empty() => {
            format!("{who} {} {}.", does("bid"), bid(*claim))
        }
        Action::Bid { bid: claim, push } => format!(
            "{who} {} {}, {} {} and {} the others again.",
            does("bid"),
            bid(*claim),
            does("push"),
            spread(push),
            does("roll")
        ),
        Action::Pass => format!("{who} {}.", does("pass")),
        Action::Challenge(Target::Bid) => format!("{who} {} the bid.", does("challenge")),
        Action::Challenge(Target::Pass) => format!("{who} {} the pass.", does("challenge")),
        Action::Challenge(Target::PassBefore) => {
            format!("{who} {} the pass before the last one.", does("challenge"))
        }
        Action::Exact => format!("{who} {}: exact!", does("call")),
        Action::Starter(_) | Action::Roll(_) => String::new(),
    }
}

/// A player's name from the view of `seat`.
pub(super) fn who(player: u8, seat: usize) -> String {
    if usize::from(player) == seat { "You".into() } else { format!("Player {}", player + 1) }
}

/// Describes what an action that ends a round reveals: all dice, how many match, and who loses a die.
pub(super) fn event(game: &LiarsDice, state: &State, action: &Action, seat: usize) -> Option<String> {
    let end = game.showdown(state, action)?;
    let standing = state.standing().map(|(_, _, bid)| bid).filter(|_| end.actual.is_some());
    let mut text = match (action, standing) {
        (_, Some(claim)) => {
            let there = if claim.count == 1 { "Is there" } else { "Are there" };
            let how = if *action == Action::Exact { "exactly" } else { "at least" };
            format!("{there} {how} {}?\n", bid(claim))
        }
        _ => "Do all dice show one face?\n".into(),
    };
    let living = state.seats.iter().enumerate().filter(|(_, s)| s.dice > 0);
    for (p, of) in living {
        // A challenged pass concerns one player's dice.
        if standing.is_none() && end.challenged != Some(p as u8) {
            continue;
        }
        let mut dice = spread(&of.cup);
        if !of.pushed.is_empty() {
            let _ = write!(dice, "  pushed {}", spread(&of.pushed));
        }
        let _ = write!(text, "  {:<10} {dice:<24}", who(p as u8, seat));
        if let Some(claim) = standing {
            text.push_str(&matches(game, state, of, claim));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    let caller = who(end.caller, seat);
    let right = if end.right { "right" } else { "wrong" };
    let is = if usize::from(end.caller) == seat { "are" } else { "is" };
    match end.actual {
        Some(n) => {
            let there = match n {
                0 => "There are none".into(),
                1 => "There is one".into(),
                _ => format!("There are {}", number(n)),
            };
            let _ = write!(text, "{there}: {} {is} {right}.", lower(&caller));
        }
        None => {
            let truth = if end.right { "The pass was false" } else { "The pass was true" };
            let _ = write!(text, "{truth}: {} {is} {right}.", lower(&caller));
        }
    }
    let single = matches!(game.rules(), RuleSet::OpenSpiel { .. });
    let loses = |p: u8| if usize::from(p) == seat { "lose" } else { "loses" };
    match end.loser() {
        Some(p) if single => {
            let _ = write!(text, " {} {}.", who(p, seat), loses(p));
        }
        Some(p) => {
            let left = state.seats[usize::from(p)].dice - 1;
            let (name, verb) = (who(p, seat), loses(p));
            let _ = match left {
                0 => write!(
                    text,
                    " {name} {verb} the last die and {}.",
                    if verb == "lose" { "are out" } else { "is out" }
                ),
                _ => write!(text, " {name} {verb} a die: {} left.", number(left)),
            };
        }
        None => {
            let dice = state.seats[usize::from(end.caller)].dice;
            let most = game.dice()[usize::from(end.caller)];
            let gets = if usize::from(end.caller) == seat { "get" } else { "gets" };
            let _ = match dice < most {
                true => write!(text, " {caller} {gets} a die back: {} now.", number(dice + 1)),
                false => write!(text, " No die is missing, so none comes back."),
            };
        }
    }
    Some(text)
}

/// The number of a player's dice that match a bid: `two (one 1)`.
fn matches(game: &LiarsDice, state: &State, seat: &Seat, claim: Bid) -> String {
    let all = seat.cup.with(&seat.pushed);
    let n = game.matching(state.special, &all, claim.face);
    let wild = game.wild(state.special).filter(|wild| *wild != claim.face);
    match wild.map(|wild| (all.count(wild), wild)) {
        Some((wilds @ 1.., wild)) => {
            format!("{} ({} {wild}{} wild)", number(n), number(wilds), if wilds == 1 { "" } else { "s" })
        }
        _ if n == 0 => "none".into(),
        _ => number(n),
    }
}

fn lower(who: &str) -> String {
    if who == "You" { "you".into() } else { who.into() }
}

/// Draws the table: each player's dice and acts, and the bid to beat.
pub(super) fn board(game: &LiarsDice, state: &State, marks: &[(Action, String)]) -> String {
    let mut text = String::new();
    if state.special {
        text.push_str("Special round: nothing is wild; only players with one die can change the face.\n");
    }
    let open = |seat: &&Seat| seat.dice > 0 && !seat.cup.is_empty();
    let one_view = state.seats.iter().filter(open).count() == 1 && state.alive() > 1;
    for (p, seat) in state.seats.iter().enumerate() {
        let under = usize::from(seat.dice - seat.pushed.total());
        let cup = match (seat.dice, seat.cup.is_empty()) {
            (0, _) => "out".into(),
            (_, true) => vec!["?"; under].join(" "),
            _ => spread(&seat.cup),
        };
        let you = if one_view && open(&seat) { " (you)" } else { "" };
        let mut line = format!("player {:<9} {cup}", format!("{}{you}", p + 1));
        if !seat.pushed.is_empty() {
            let _ = write!(line, "  pushed {}", spread(&seat.pushed));
        }
        if seat.exacted && seat.dice > 0 {
            line.push_str("  exact used");
        }
        let said = state.acts.iter().filter(|a| usize::from(a.player) == p).map(|a| match a.said {
            Said::Bid { bid: claim, push } if push.is_empty() => bid(claim),
            Said::Bid { bid: claim, push } => format!("{} pushing {}", bid(claim), spread(&push)),
            Said::Pass { .. } => "pass".into(),
        });
        let said: Vec<String> = said.collect();
        if !said.is_empty() {
            let _ = write!(
                line,
                "{:<1$}said {2}",
                "",
                34_usize.saturating_sub(line.len()).max(2),
                said.join(", ")
            );
        }
        text.push_str(&line);
        text.push('\n');
    }
    if let Some((_, bidder, claim)) = state.standing() {
        let wild = match game.wild(state.special) {
            Some(face) => format!("; {face}s are wild"),
            None => String::new(),
        };
        let _ = writeln!(
            text,
            "bid to beat: {} by player {}; {} dice in play{wild}",
            bid(claim),
            bidder + 1,
            state.dice_in_play()
        );
    }
    for (action, mark) in marks {
        let _ = writeln!(text, "  {:<16}{mark}", super::text::action(action));
    }
    text
}

/// The rules of a rule set and how to write moves.
pub(super) fn rules(game: &LiarsDice) -> String {
    let moves = "How to write a bid: `three 4s`, `3 4s` or `3x4`.";
    match game.rules() {
        RuleSet::Soar => format!(
            "Everybody rolls under a cup and sees only their own dice. In turn, players claim how\n\
             many dice of all players show a face: `three 4s` means at least three.\n\
             - A bid must beat the last one: more dice, or as many of a higher face.\n\
             - Ones are wild: they count for every face. A bid of ones counts double: three 1s\n  \
               beat six 6s, and seven 2s beat three 1s.\n\
             - Challenge a bid that you do not believe. All cups are lifted. If there are\n  \
               fewer dice than the bid says, the bidder loses a die, otherwise the challenger.\n\
             - Push with a bid: show some of your dice and roll the others again.\n\
             - Pass once per roll, with two dice or more: you claim that all your dice show\n  \
               one face. A pass can be challenged, and the bid before a single pass too.\n\
             - Exact, once per game: there are exactly as many dice as the last bid says. If\n  \
               so, you get a lost die back, otherwise you lose one.\n\
             - Whoever loses a die begins the next round. With more than two players, the first\n  \
               round in which a player begins with one die is special: ones are not wild, and\n  \
               only players with one die may change the face.\n\
             \n\
             The last player with dice wins.\n\n\
             {moves} With a push: `3x4+14` or `three 4s push 1 4`.\n\
             Other moves: `liar` (or `challenge`), `challenge pass`, `challenge pass before`,\n\
             `pass`, `exact`."
        ),
        RuleSet::RPost => format!(
            "Everybody rolls under a cup and sees only their own dice. In turn, players claim how\n\
             many dice of all players show a face, and nothing is wild.\n\
             - The first bid of a round is fixed: one more than the player's dice of the most\n  \
               frequent face.\n\
             - A raise adds exactly one to the number and may name any face.\n\
             - Challenge a bid that you do not believe. If there are fewer dice than it says,\n  \
               the bidder loses a die, otherwise the challenger, who begins the next round.\n\
             \n\
             The last player with dice wins.\n\n{moves} Other moves: `liar` (or `challenge`)."
        ),
        RuleSet::OpenSpiel { wild } => format!(
            "Both players roll under a cup and see only their own dice. In turn, they claim how\n\
             many of all dice show a face{}.\n\
             - A bid must beat the last one: more dice, or as many of a higher face.\n\
             - Challenge a bid that you do not believe. If there are fewer dice than it says,\n  \
               the bidder loses, otherwise the challenger. There is only one round.\n\n\
             {moves} Other moves: `liar` (or `challenge`).",
            if wild {
                format!("; {}s are wild and count for every face", game.faces())
            } else {
                String::new()
            }
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::hearing::parse;
    use super::*;

    /// Texts of actions parse to the same actions.
    #[test]
    fn words_are_read_back() {
        for count in 1..=30 {
            for face in 1..=6 {
                let claim = Bid { count, face };
                assert_eq!(parse(&bid(claim), 6), Some(Action::Bid { bid: claim, push: Dice::default() }));
            }
        }
    }
}
