//! The rules: three rule sets that share rounds, bids and showdowns.

use super::dice::{Dice, FACES};
use super::odds::Odds;
use super::state::{Act, Bid, Phase, Said, Seat, State};
use std::fmt;
use std::sync::Arc;

/// A rule set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RuleSet {
    /// Laird, Derbinsky and Tinkerhess (2011): ones wild, special rounds, push and reroll, pass, challenge, exact.
    Soar,
    /// The Q-learning game: nothing is wild, openings are forced, and a raise adds exactly one to the count.
    RPost,
    /// One round of two players. Bids are ordered by count, then face. The top face is wild by default.
    OpenSpiel {
        /// Whether the top face is wild.
        wild: bool,
    },
}

/// Liar's dice with a rule set, number of players, dice and faces.
#[derive(Clone, Debug)]
pub struct LiarsDice {
    pub(super) name: String,
    pub(super) rules: RuleSet,
    pub(super) dice: Vec<u8>,
    pub(super) faces: u8,
    /// Tables for dice that match one face, and for dice that match one face or a wild face.
    odds: Arc<[Odds; 2]>,
}

/// The target of a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// The last bid.
    Bid,
    /// The last act, which is a pass.
    Pass,
    /// The act before the last act, if both are passes.
    PassBefore,
}

/// A player's action or a chance outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Chance: who begins the game.
    Starter(u8),
    /// Chance: the dice under a cup.
    Roll(Dice),
    /// A bid. Dice pushed with it are exposed, and the others are rolled again.
    Bid {
        /// The claim.
        bid: Bid,
        /// The pushed dice: a proper part of the dice under the cup, or none.
        push: Dice,
    },
    /// Pass: claims that all own dice show one face.
    Pass,
    /// Challenges a bid or a pass. This ends the round.
    Challenge(Target),
    /// Claims that the count of the standing bid is exact. This ends the round.
    Exact,
}

/// The end of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Showdown {
    /// The player who challenged or called exact.
    pub caller: u8,
    /// The player whose bid or pass was challenged. None after an exact.
    pub challenged: Option<u8>,
    /// Whether the caller was right.
    pub right: bool,
    /// Number of dice that match the bid. None if a pass was challenged.
    pub actual: Option<u8>,
}

impl Showdown {
    /// The player who loses a die, if any.
    pub fn loser(&self) -> Option<u8> {
        if self.right { self.challenged } else { Some(self.caller) }
    }
}

/// Largest number of dice per player in rule sets with pushes.
const MOST_PUSHABLE: u8 = 12;

impl LiarsDice {
    /// A game with these numbers of dice per player.
    ///
    /// # Errors
    /// The value that is out of range.
    pub fn new(rules: RuleSet, dice: &[u8], faces: u8) -> Result<Self, String> {
        let total: usize = dice.iter().map(|d| usize::from(*d)).sum();
        if dice.len() < 2 || dice.contains(&0) || total > 120 {
            return Err(
                "a game needs at least two players, at least one die per player, and at most 120 dice".into(),
            );
        }
        if rules == RuleSet::Soar && dice.iter().any(|n| *n > MOST_PUSHABLE) {
            return Err(format!(
                "the rule set soar allows at most {MOST_PUSHABLE} dice per player; more dice have too many \
                 possible pushes"
            ));
        }
        let two = matches!(rules, RuleSet::OpenSpiel { .. });
        if two && dice.len() != 2 {
            return Err("the rule set openspiel is for two players".into());
        }
        if !(2..=FACES as u8).contains(&faces) || (!two && faces != 6) {
            return Err("dice have 2 to 6 faces; soar and r-post need six".into());
        }
        let sizes = || dice.iter().map(u8::to_string).collect::<Vec<_>>().join("-");
        let each = || format!("{}x{}", dice.len(), dice[0]);
        let name = match rules {
            RuleSet::Soar => format!("liars-dice:soar:{}", each()),
            RuleSet::RPost => format!("liars-dice:r-post:{}", each()),
            RuleSet::OpenSpiel { wild } => {
                format!("liars-dice:openspiel:{}:{faces}{}", sizes(), if wild { "" } else { ":no-wild" })
            }
        };
        let odds = [1.0, 2.0].map(|counting| Odds::new(counting / f64::from(faces), total as u8));
        Ok(Self { name, rules, dice: dice.to_vec(), faces, odds: Arc::new(odds) })
    }

    /// The game named `name`: `liars-dice:soar:PxD` or `liars-dice:r-post:PxD` with P players of D dice each, or
    /// `liars-dice:openspiel:A-B:F` with A and B dice of F faces, optionally followed by `:no-wild`. Defaults are 4x5,
    /// 4x6 and 1-1:6.
    pub fn named(name: &str) -> Option<Self> {
        let mut parts = name.split(':');
        if parts.next() != Some("liars-dice") {
            return None;
        }
        let rules = parts.next().unwrap_or("soar");
        let sizes = parts.next();
        let by = |text: &str, c: char| -> Option<[u8; 2]> {
            let (a, b) = text.split_once(c)?;
            Some([a.parse().ok()?, b.parse().ok()?])
        };
        let (rules, dice, faces) = match rules {
            "soar" | "r-post" => {
                let (rules, usual) =
                    if rules == "soar" { (RuleSet::Soar, "4x5") } else { (RuleSet::RPost, "4x6") };
                let [players, dice] = by(sizes.unwrap_or(usual), 'x')?;
                (rules, vec![dice; players.into()], 6)
            }
            "openspiel" => {
                let dice = by(sizes.unwrap_or("1-1"), '-')?;
                let faces = parts.next().unwrap_or("6").parse().ok()?;
                let wild = match parts.next() {
                    None => true,
                    Some("no-wild") => false,
                    Some(_) => return None,
                };
                (RuleSet::OpenSpiel { wild }, dice.to_vec(), faces)
            }
            _ => return None,
        };
        if parts.next().is_some() {
            return None;
        }
        Self::new(rules, &dice, faces).ok()
    }

    /// The rule set.
    pub fn rules(&self) -> RuleSet {
        self.rules
    }

    /// Number of dice of each player at the start.
    pub fn dice(&self) -> &[u8] {
        &self.dice
    }

    /// Number of faces of a die.
    pub fn faces(&self) -> u8 {
        self.faces
    }

    /// The wild face in a special or normal round, if any.
    #[inline]
    pub fn wild(&self, special: bool) -> Option<u8> {
        match self.rules {
            RuleSet::Soar if !special => Some(1),
            RuleSet::OpenSpiel { wild: true } => Some(self.faces),
            _ => None,
        }
    }

    /// Number of these dice that match a face.
    #[inline]
    pub fn matching(&self, special: bool, dice: &Dice, face: u8) -> u8 {
        match self.wild(special) {
            Some(wild) if wild != face => dice.count(face) + dice.count(wild),
            _ => dice.count(face),
        }
    }

    /// The probability that a hidden die matches a face.
    pub fn chance(&self, special: bool, face: u8) -> f64 {
        let faces = if self.wild(special).is_some_and(|wild| wild != face) { 2.0 } else { 1.0 };
        faces / f64::from(self.faces)
    }

    /// Binomial probabilities for hidden dice that match a face.
    pub(super) fn odds(&self, special: bool, face: u8) -> &Odds {
        &self.odds[usize::from(self.wild(special).is_some_and(|wild| wild != face))]
    }

    /// Binomial probabilities for hidden dice if only one face matches.
    pub(super) fn single_odds(&self) -> &Odds {
        &self.odds[0]
    }

    /// The rank of a bid. A raise must have a higher rank.
    #[inline]
    pub fn rank(&self, special: bool, bid: Bid) -> u32 {
        let (count, face) = (u32::from(bid.count), u32::from(bid.face));
        match self.rules {
            // Two 6s < one 1 < three 2s: a bid of ones counts twice.
            RuleSet::Soar if !special && face == 1 => 20 * count + 7,
            RuleSet::Soar | RuleSet::RPost => 10 * count + face,
            RuleSet::OpenSpiel { .. } => (count - 1) * u32::from(self.faces) + face,
        }
    }

    /// Why this bid is not legal for the player to move. None if it is legal.
    pub fn refuses_bid(&self, state: &State, bid: Bid) -> Option<Refusal> {
        let in_play = state.dice_in_play();
        if bid.count == 0 || bid.face == 0 || bid.face > self.faces {
            return Some(Refusal::NoBid);
        }
        let standing = state.standing().map(|(_, _, bid)| bid);
        if self.rules == RuleSet::RPost {
            return match standing {
                None => (bid != self.opening(state)).then(|| Refusal::Opening(self.opening(state))),
                Some(last) => {
                    (last.count.checked_add(1) != Some(bid.count)).then_some(Refusal::OneMore(last))
                }
            };
        }
        if bid.count > in_play {
            return Some(Refusal::TooMany(in_play));
        }
        let last = standing?;
        if self.rank(state.special, bid) <= self.rank(state.special, last) {
            return Some(Refusal::NoRaise(last));
        }
        let keeps = state.special && state.seats[usize::from(state.mover)].dice > 1;
        (keeps && bid.face != last.face).then_some(Refusal::KeepsFace(last.face))
    }

    /// The forced opening of the rule set `r-post`: one more than the player has of the most frequent own face, the
    /// lowest in a tie.
    pub fn opening(&self, state: &State) -> Bid {
        let (count, face) = self.favourite(&state.seats[usize::from(state.mover)].cup);
        Bid { count: count + 1, face }
    }

    /// The count and face of the most frequent face of these dice, the lowest in a tie.
    pub fn favourite(&self, dice: &Dice) -> (u8, u8) {
        (1..=self.faces)
            .map(|face| (dice.count(face), face))
            .max_by_key(|(n, face)| (*n, self.faces - face))
            .unwrap_or((0, 1))
    }

    /// Why this push is not legal for the player to move. None if it is legal or empty.
    pub fn refuses_push(&self, state: &State, push: &Dice) -> Option<Refusal> {
        if push.is_empty() {
            return None;
        }
        if self.rules != RuleSet::Soar {
            return Some(Refusal::NotHere("a push"));
        }
        let cup = state.seats[usize::from(state.mover)].cup;
        match cup.without(push) {
            None => Some(Refusal::NotUnderCup(cup)),
            Some(rest) if rest.is_empty() => Some(Refusal::WholeCup),
            Some(_) => None,
        }
    }

    /// Why a pass is not legal for the player to move. None if it is legal.
    pub fn refuses_pass(&self, state: &State) -> Option<Refusal> {
        let seat = &state.seats[usize::from(state.mover)];
        match self.rules {
            RuleSet::RPost | RuleSet::OpenSpiel { .. } => Some(Refusal::NotHere("a pass")),
            RuleSet::Soar if seat.dice < 2 => Some(Refusal::OneDie),
            RuleSet::Soar => seat.passed.then_some(Refusal::Passed),
        }
    }

    /// The act that the player to move would challenge.
    ///
    /// # Errors
    /// Why this challenge is not legal.
    pub fn challenged(&self, state: &State, target: Target) -> Result<Act, Refusal> {
        let mut back = state.acts.iter().rev();
        let (last, before) = (back.next(), back.next());
        let is_pass = |act: Option<&Act>| matches!(act, Some(Act { said: Said::Pass { .. }, .. }));
        let act = match target {
            Target::Bid => match (last, before) {
                (None, _) => return Err(Refusal::NothingSaid),
                (Some(act), _) if !is_pass(Some(act)) => act,
                (Some(_), Some(act)) if !is_pass(Some(act)) => act,
                (Some(_), None) => return Err(Refusal::NoBidYet),
                (Some(_), Some(_)) => return Err(Refusal::TwoPasses),
            },
            Target::Pass => last.filter(|act| is_pass(Some(act))).ok_or(Refusal::NoPass)?,
            Target::PassBefore => {
                before.filter(|act| is_pass(Some(act)) && is_pass(last)).ok_or(Refusal::NoPassBefore)?
            }
        };
        if act.player == state.mover { Err(Refusal::Own) } else { Ok(*act) }
    }

    /// Why calling exact is not legal for the player to move. None if it is legal.
    pub fn refuses_exact(&self, state: &State) -> Option<Refusal> {
        if self.rules != RuleSet::Soar {
            return Some(Refusal::NotHere("exact"));
        }
        match state.standing() {
            None => Some(Refusal::NoBidYet),
            Some((_, bidder, _)) if bidder == state.mover => Some(Refusal::Own),
            Some(_) => state.seats[usize::from(state.mover)].exacted.then_some(Refusal::Exacted),
        }
    }

    /// Why an action of the player to move is not legal. None if it is legal.
    pub fn refuses(&self, state: &State, action: &Action) -> Option<Refusal> {
        if state.phase != Phase::Act {
            return Some(Refusal::NobodysTurn);
        }
        match action {
            Action::Starter(_) | Action::Roll(_) => Some(Refusal::Chance),
            Action::Bid { bid, push } => {
                self.refuses_bid(state, *bid).or_else(|| self.refuses_push(state, push))
            }
            Action::Pass => self.refuses_pass(state),
            Action::Challenge(target) => self.challenged(state, *target).err(),
            Action::Exact => self.refuses_exact(state),
        }
    }

    /// Replaces `bids` by the legal bids of the player to move, in ascending order.
    pub fn bids(&self, state: &State, bids: &mut Vec<Bid>) {
        bids.clear();
        let standing = state.standing().map(|(_, _, bid)| bid);
        match (self.rules, standing) {
            (RuleSet::RPost, None) => bids.push(self.opening(state)),
            (RuleSet::RPost, Some(last)) => {
                if let Some(count) = last.count.checked_add(1) {
                    bids.extend((1..=self.faces).map(|face| Bid { count, face }));
                }
            }
            _ => {
                let from = standing.map_or(1, |last| match last.face {
                    // Other faces reach rank at twice the count, so the list covers all ones from the count on.
                    1 => last.count,
                    _ => last.count.div_ceil(2),
                });
                let all = (from..=state.dice_in_play())
                    .flat_map(|count| (1..=self.faces).map(move |face| Bid { count, face }));
                bids.extend(all.filter(|bid| self.refuses_bid(state, *bid).is_none()));
                bids.sort_by_key(|bid| self.rank(state.special, *bid));
            }
        }
    }

    /// The end of the round after this action. None if the round continues, or there is nothing to challenge or call
    /// exact.
    pub fn showdown(&self, state: &State, action: &Action) -> Option<Showdown> {
        let actual = |face| {
            let of = |seat: &Seat| self.matching(state.special, &seat.cup.with(&seat.pushed), face);
            state.seats.iter().map(of).sum::<u8>()
        };
        let caller = state.mover;
        match action {
            Action::Challenge(target) => {
                let act = self.challenged(state, *target).ok()?;
                let challenged = Some(act.player);
                Some(match act.said {
                    Said::Bid { bid, .. } => {
                        let actual = actual(bid.face);
                        Showdown { caller, challenged, right: actual < bid.count, actual: Some(actual) }
                    }
                    Said::Pass { valid } => Showdown { caller, challenged, right: !valid, actual: None },
                })
            }
            Action::Exact => {
                let (_, _, bid) = state.standing()?;
                let actual = actual(bid.face);
                Some(Showdown { caller, challenged: None, right: actual == bid.count, actual: Some(actual) })
            }
            _ => None,
        }
    }

    /// The start state.
    pub(super) fn first(&self) -> State {
        let seat = |&dice: &u8| Seat {
            dice,
            cup: Dice::default(),
            pushed: Dice::default(),
            passed: false,
            exacted: false,
            was_down_to_one: false,
        };
        let drawn = !matches!(self.rules, RuleSet::OpenSpiel { .. });
        let mut state = State {
            seats: self.dice.iter().map(seat).collect(),
            acts: Vec::new(),
            mover: 0,
            starter: 0,
            phase: Phase::Draw,
            special: false,
        };
        if !drawn {
            self.begin_round(&mut state, 0);
        }
        state
    }

    /// Only the winner's dice remain. They are not rolled again.
    fn end(&self, state: &mut State, winner: u8) {
        state.acts.clear();
        for seat in &mut state.seats {
            (seat.cup, seat.pushed, seat.passed) = (Dice::default(), Dice::default(), false);
        }
        (state.phase, state.special, state.starter, state.mover) = (Phase::Over, false, winner, winner);
    }

    /// Starts a round with this player: all dice must be rolled.
    fn begin_round(&self, state: &mut State, starter: u8) {
        state.starter = starter;
        state.acts.clear();
        state.special = false;
        let enough = state.alive() > 2;
        for seat in &mut state.seats {
            (seat.cup, seat.pushed, seat.passed) = (Dice::default(), Dice::default(), false);
            // The player who lost a die begins, so this is the starter.
            if self.rules == RuleSet::Soar && seat.dice == 1 && !seat.was_down_to_one {
                seat.was_down_to_one = true;
                state.special |= enough;
            }
        }
        state.phase = Phase::Roll;
        state.mover = if state.seats[0].dice > 0 { 0 } else { state.next_alive(0) };
    }

    /// Applies a legal action.
    pub(super) fn advance(&self, state: &mut State, action: &Action) {
        let mover = usize::from(state.mover);
        match action {
            Action::Starter(starter) => self.begin_round(state, *starter),
            Action::Roll(dice) => {
                state.seats[mover].cup = *dice;
                let next = state.next_alive(state.mover);
                if !state.acts.is_empty() {
                    (state.phase, state.mover) = (Phase::Act, next);
                } else if usize::from(next) > mover {
                    state.mover = next;
                } else {
                    (state.phase, state.mover) = (Phase::Act, state.starter);
                }
            }
            Action::Bid { bid, push } => {
                state.acts.push(Act { player: state.mover, said: Said::Bid { bid: *bid, push: *push } });
                if push.is_empty() {
                    state.mover = state.next_alive(state.mover);
                } else {
                    let seat = &mut state.seats[mover];
                    (seat.pushed, seat.cup, seat.passed) = (seat.pushed.with(push), Dice::default(), false);
                    state.phase = Phase::Roll;
                }
            }
            Action::Pass => {
                let seat = &mut state.seats[mover];
                seat.passed = true;
                let valid = seat.cup.with(&seat.pushed).uniform().is_some();
                state.acts.push(Act { player: state.mover, said: Said::Pass { valid } });
                state.mover = state.next_alive(state.mover);
            }
            Action::Challenge(_) | Action::Exact => {
                let Some(end) = self.showdown(state, action) else { return };
                let most = self.dice[mover];
                let begins = end.loser().unwrap_or(end.caller);
                if *action == Action::Exact {
                    state.seats[mover].exacted = true;
                }
                let seat = &mut state.seats[usize::from(begins)];
                match end.loser() {
                    None => seat.dice = (seat.dice + 1).min(most),
                    Some(_) if matches!(self.rules, RuleSet::OpenSpiel { .. }) => seat.dice = 0,
                    Some(_) => seat.dice -= 1,
                }
                let begins =
                    if state.seats[usize::from(begins)].dice > 0 { begins } else { state.next_alive(begins) };
                if state.alive() < 2 {
                    self.end(state, begins);
                } else {
                    self.begin_round(state, begins);
                }
            }
        }
    }
}

/// Reason why an action is illegal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Chance acts, or the game is over.
    NobodysTurn,
    /// A player chose a chance outcome.
    Chance,
    /// The bid has an impossible count or face.
    NoBid,
    /// The count is above the number of dice.
    TooMany(u8),
    /// The bid is not above the standing bid.
    NoRaise(Bid),
    /// A raise must add exactly one to the count.
    OneMore(Bid),
    /// The opening is forced.
    Opening(Bid),
    /// In a special round, only a player with one die can change the face.
    KeepsFace(u8),
    /// The pushed dice are not under the cup.
    NotUnderCup(Dice),
    /// At least one die must remain to roll again.
    WholeCup,
    /// The rule set does not have this action.
    NotHere(&'static str),
    /// A pass needs two dice.
    OneDie,
    /// Only one pass per roll is allowed.
    Passed,
    /// The round has no acts yet.
    NothingSaid,
    /// The round has no bid yet.
    NoBidYet,
    /// There was more than one pass since the bid.
    TwoPasses,
    /// The last act is not a pass.
    NoPass,
    /// The last two acts are not both passes.
    NoPassBefore,
    /// The act belongs to the player.
    Own,
    /// Only one exact per game is allowed.
    Exacted,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NobodysTurn => f.write_str("no player is to move"),
            Self::Chance => f.write_str("this is a chance outcome, not an action of a player"),
            Self::NoBid => f.write_str("a bid needs a count of at least 1 and a face of the dice"),
            Self::TooMany(n) => write!(f, "there are only {n} dice in play"),
            Self::NoRaise(last) => write!(f, "the bid is not above {last}"),
            Self::OneMore(last) => write!(f, "a raise of {last} must add exactly one to the count"),
            Self::Opening(bid) => {
                write!(f, "the opening must be {bid}: one more than the own dice of the most frequent face")
            }
            Self::KeepsFace(face) => {
                write!(f, "in a special round, a player with more than one die must keep the face {face}")
            }
            Self::NotUnderCup(cup) => write!(f, "the pushed dice are not under the cup, which holds {cup}"),
            Self::WholeCup => f.write_str("a push must leave at least one die to roll again"),
            Self::NotHere(what) => write!(f, "this rule set does not have {what}"),
            Self::OneDie => f.write_str("a pass needs two dice"),
            Self::Passed => f.write_str("a player may pass only once per roll"),
            Self::NothingSaid => f.write_str("there is nothing to challenge yet in this round"),
            Self::NoBidYet => f.write_str("there is no bid yet in this round"),
            Self::TwoPasses => {
                f.write_str("a bid can be challenged at once or after one pass, not after two")
            }
            Self::NoPass => f.write_str("the last act is not a pass"),
            Self::NoPassBefore => f.write_str("the last two acts are not both passes"),
            Self::Own => f.write_str("a player cannot challenge or call exact on their own act"),
            Self::Exacted => f.write_str("a player may call exact only once per game"),
        }
    }
}
