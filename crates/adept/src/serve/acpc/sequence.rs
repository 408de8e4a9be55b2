//! Checks the order of a dealer's states.
//!
//! A dealer sends the states of one hand after another. Within a hand the seat stays, moves and cards are only added,
//! and the moves of this player are its answers. A hand must end before the next one begins. Hand numbers must
//! increase: the protocol only requires distinct ones, but dealers count up, and this check needs no memory of all
//! hands.
//!
//! Allowed variations: any seat of the next hand (a dealer may or may not move the button), skipped numbers, a match
//! that begins in the middle of a hand (a dealer that resumes from its log), skipped states of other players' turns,
//! and repeated states.

use adept_builtin::holdem::{Action, Card, Entry, Holdem, State};
use adept_game::{Game, Turn, stream};

/// A state of a hand from this player's view.
pub(super) struct SentState {
    /// The dealer's number of the hand.
    pub(super) hand: u64,
    /// This player's seat in it.
    pub(super) seat: usize,
    pub(super) state: State,
}

/// Content of a state relative to the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Update {
    /// A hand began or continued.
    More,
    /// Nothing new: a repeated state.
    Nothing,
}

/// The latest state, and this player's answer to it.
#[derive(Default)]
pub(super) struct Sequence {
    last: Option<SentState>,
    answer: Option<Action>,
}

impl Sequence {
    /// The unfinished hand, if any.
    pub(super) fn open(&self, game: &Holdem) -> Option<u64> {
        let last = self.last.as_ref()?;
        (game.turn(&last.state) != Turn::Over).then_some(last.hand)
    }

    /// The latest state.
    pub(super) fn latest(&self) -> Option<&SentState> {
        self.last.as_ref()
    }

    /// Records the answer to the latest state.
    pub(super) fn answered(&mut self, action: Action) {
        self.answer = Some(action);
    }

    /// Accepts the next state.
    ///
    /// # Errors
    /// Why it cannot follow the previous one.
    pub(super) fn next(&mut self, game: &Holdem, next: SentState) -> Result<Update, String> {
        let news = match &self.last {
            Some(last) if last.hand == next.hand => self.follows(game, last, &next)?,
            Some(last) if next.hand < last.hand => {
                return Err(format!(
                    "hand {} comes after hand {}; numbers of hands only rise",
                    next.hand, last.hand
                ));
            }
            Some(last) if game.turn(&last.state) != Turn::Over => {
                return Err(format!(
                    "hand {} begins, but hand {} is not over after the moves {}",
                    next.hand,
                    last.hand,
                    moves(game, &last.state)
                ));
            }
            Some(_) => {
                self.answer = None;
                self.check_own_moves(game, &game.start(), &next)?;
                Update::More
            }
            // The first state may be in the middle of a hand, in which this player has already moved.
            None => Update::More,
        };
        if news == Update::More {
            self.answer = None;
        }
        self.last = Some(next);
        Ok(news)
    }

    /// Checks that a state can follow an earlier one of the same hand.
    fn follows(&self, game: &Holdem, last: &SentState, next: &SentState) -> Result<Update, String> {
        if next.seat != last.seat {
            return Err(format!("position {} became {} within the hand", last.seat, next.seat));
        }
        let (before, now) = (entries(&last.state), entries(&next.state));
        let shared = before.iter().zip(&now).take_while(|(a, b)| a == b).count();
        if shared < before.len() {
            let what = if shared == now.len() { "became shorter" } else { "changed" };
            return Err(format!(
                "the moves {what}: {} before, {} now",
                moves(game, &last.state),
                moves(game, &next.state)
            ));
        }
        self.check_own_moves(game, &last.state, next)?;
        let dealt = |sent: &SentState| sent.state.board().collect::<Vec<Card>>();
        let (board, now_on_board) = (dealt(last), dealt(next));
        if !now_on_board.starts_with(&board) {
            return Err(format!("the board changed: {} before", text(&board)));
        }
        for seat in 0..game.players() {
            let Some(hole) = last.state.hole(seat) else { continue };
            // Their order is irrelevant.
            let is_same = next.state.hole(seat).is_some_and(|[a, b]| hole == [a, b] || hole == [b, a]);
            if !is_same {
                return Err(format!("the cards of position {seat} changed: {} before", text(&hole)));
            }
        }
        Ok(if now.len() == before.len() { Update::Nothing } else { Update::More })
    }

    /// Checks that this player's moves after an earlier state are its answers.
    fn check_own_moves(&self, game: &Holdem, before: &State, next: &SentState) -> Result<(), String> {
        let (mut state, mut answer) = (before.clone(), self.answer);
        // The turn does not depend on the cards.
        let mut cards = stream(0, "acpc turns", 0);
        for found in entries(&next.state).split_off(entries(before).len()) {
            while game.turn(&state) == Turn::Chance {
                let deal = game.sample(&state, &mut cards);
                game.apply(&mut state, &deal);
            }
            let action = match found {
                Entry::Fold => Action::Fold,
                Entry::Call => Action::Call,
                Entry::Raise => Action::Raise,
                Entry::End => continue,
            };
            let answer = answer.take();
            if game.turn(&state) == Turn::Player(next.seat) && answer != Some(action) {
                let played = letter(action);
                return Err(answer.map_or_else(
                    || format!("it plays `{played}` for position {}, which it did not ask", next.seat),
                    |answer| format!("the answer was `{}`, and it plays `{played}`", letter(answer)),
                ));
            }
            game.apply(&mut state, &action);
        }
        Ok(())
    }
}

fn entries(state: &State) -> Vec<Entry> {
    state.history().entries().collect()
}

/// The protocol's letter of a move.
pub(super) fn letter(action: Action) -> char {
    match action {
        Action::Fold => 'f',
        Action::Raise => 'r',
        Action::Call | Action::Deal(_) => 'c',
    }
}

/// The moves of a hand, in quotes.
fn moves(game: &Holdem, state: &State) -> String {
    let position = game.position_text(state);
    format!("`{}`", position.split(':').next().unwrap_or_default())
}

fn text(cards: &[Card]) -> String {
    cards.iter().map(Card::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes states `SEAT:HAND:POSITION`; an answer `=f`, `=c`, `=r` follows the state that it answers.
    fn run(lines: &[&str]) -> Result<Vec<Update>, String> {
        let game = adept_builtin::holdem::named("holdem:limit:2").unwrap().unwrap();
        let (mut sequence, mut news) = (Sequence::default(), Vec::new());
        for line in lines {
            if let Some(letter) = line.strip_prefix('=') {
                sequence.answered(match letter {
                    "f" => Action::Fold,
                    "r" => Action::Raise,
                    _ => Action::Call,
                });
                continue;
            }
            let mut parts = line.splitn(3, ':');
            let mut next = || parts.next().unwrap();
            let (seat, hand) = (next().parse().unwrap(), next().parse().unwrap());
            let state = game.parse_position(next()).unwrap().0;
            news.push(sequence.next(&game, SentState { hand, seat, state })?);
        }
        Ok(news)
    }

    #[test]
    fn states_follow_each_other() {
        use Update::{More, Nothing};
        // The example of the protocol's text, its first two hands shortened.
        let whole = [
            "0:0::TdAs|",
            "0:0:r:TdAs|",
            "=r",
            "0:0:rr:TdAs|",
            "0:0:rrc/:TdAs|/2c8c3h",
            "=r",
            "0:0:rrc/r:TdAs|/2c8c3h",
            "0:0:rrc/rf:TdAs|/2c8c3h",
            "1:1::|Qd7c",
            "=f",
            "1:1:f:|Qd7c",
        ];
        assert_eq!(run(&whole), Ok(vec![More; 8]));
        // A start in the middle of a hand, skipped numbers, the same seat, skipped and repeated states.
        let gaps = [
            "1:7:c:|Qd7c",
            "1:7:cc/:|Qd7c/2c8c3h",
            "1:7:cc/:|7cQd/2c8c3h",
            "1:7:cc/c:|Qd7c/2c8c3h",
            "=r",
            "1:7:cc/crf:|Qd7c/2c8c3h",
            "1:7:cc/crf:|Qd7c/2c8c3h",
            "0:9:f:Qd7c|",
        ];
        assert_eq!(run(&gaps), Ok(vec![More, More, Nothing, More, More, Nothing, More]));
        // A showdown adds the other cards.
        let board = "/2c8c3h/9c/Kh";
        let river = format!("1:0:cc/cc/cc/c:|Qd7c{board}");
        let shown = format!("1:0:cc/cc/cc/cc:AhAd|Qd7c{board}");
        assert_eq!(run(&[&river, "=c", &shown]), Ok(vec![More, More]));
    }

    #[test]
    fn what_cannot_follow_is_named() {
        let flop = "1:0:cc/:|Qd7c/2c8c3h";
        for (lines, expected) in [
            (&["1:0:c:|Qd7c", "0:1::Qd7c|"][..], "hand 1 begins, but hand 0 is not over after the moves `c`"),
            (&["1:4:f:|Qd7c", "0:3::Qd7c|"], "hand 3 comes after hand 4; numbers of hands only rise"),
            (&["1:0:cr:|Qd7c", "1:0:c:|Qd7c"], "the moves became shorter: `cr` before, `c` now"),
            (&["1:0:f:|Qd7c", "1:0::|Qd7c"], "the moves became shorter: `f` before, `` now"),
            (&["1:0:cr:|Qd7c", "1:0:rr:|Qd7c"], "the moves changed: `cr` before, `rr` now"),
            (&["1:0:c:|Qd7c", "0:0:cr:Qd7c|"], "position 1 became 0 within the hand"),
            (&["1:0::|Qd7c", "=r", "1:0:c:|Qd7c"], "the answer was `r`, and it plays `c`"),
            (&["1:0::|Qd7c", "1:0:c:|Qd7c"], "it plays `c` for position 1, which it did not ask"),
            (
                &["1:0::|Qd7c", "=c", "1:0:crc/c:|Qd7c/2c8c3h"],
                "it plays `c` for position 1, which it did not ask",
            ),
            (&["0:0:f:Qd7c|", "1:1:f:|Qd7c"], "it plays `f` for position 1, which it did not ask"),
            (&["1:0:c:|Qd7c", "1:0:cr:|Qd7d"], "the cards of position 1 changed: Qd7c before"),
            (&["1:0:c:|Qd7c", "1:0:cr:|"], "the cards of position 1 changed: Qd7c before"),
            (&[flop, "1:0:cc/c:|Qd7c/2c8c4h"], "the board changed: 2c8c3h before"),
        ] {
            assert_eq!(run(lines), Err(expected.into()), "{lines:?}");
        }
    }
}
