//! The Q-learner of the rule set `r-post`: its scripted opponents, which only call or raise, and its decision state.
//!
//! The code is written for `r-post`. There, openings are forced, a raise adds one to the count, and only its face is
//! free. A bluff names a uniform face; any other raise names the most frequent own face. In the other rule sets, the
//! scripts bid the lowest count of a face and never push. They pass or call exact only if nothing else is possible.

use super::dice::FACES;
use super::odds::Odds;
use super::rules::{Action, LiarsDice, RuleSet, Target};
use super::state::{Bid, Said, State};
use adept_game::Script;
use std::sync::Arc;

/// The highest bucket of a [`PostState`]: the own hand satisfies the bid.
pub const SURE: u8 = 20;

/// The scripts with one-line descriptions.
pub(super) const SCRIPTS: [(&str, &str); 6] = [
    ("post-random", "r-post: calls or raises with probability 1/2; a raise names any face"),
    (
        "true-prob",
        "r-post: raises with the probability that more dice match than the bid; bluffs half the time",
    ),
    ("call-15", "r-post: calls if P(bid is true) < .15, otherwise raises; never bluffs"),
    ("call-25", "r-post: calls if P(bid is true) < .25, otherwise raises; never bluffs"),
    ("call-30", "r-post: calls if P(bid is true) < .3, otherwise raises; bluffs half the time"),
    ("call-50", "r-post: calls if P(bid is true) < .5, otherwise raises; never bluffs"),
];

/// The script named `name`.
pub(super) fn script(name: &str) -> Option<Script<LiarsDice>> {
    Some(match name {
        "post-random" => Arc::new(post_random),
        "true-prob" => Arc::new(true_prob),
        "call-15" => Arc::new(call_below::<15, 0>),
        "call-25" => Arc::new(call_below::<25, 0>),
        "call-30" => Arc::new(call_below::<30, 50>),
        "call-50" => Arc::new(call_below::<50, 0>),
        _ => return None,
    })
}

fn post_random(game: &LiarsDice, state: &State, actions: &[Action], probabilities: &mut Vec<f64>) {
    call_or_raise(game, state, actions, 0.5, 1.0, probabilities);
}

/// P(X ≥ max(need, 0) + 1), as in the post: 1 − Σ dbinom(0..max(need, 0)).
fn true_prob(game: &LiarsDice, state: &State, actions: &[Action], probabilities: &mut Vec<f64>) {
    let raise = Claim::new(game, state).map_or(1.0, |c| c.odds.at_least(c.hidden, c.need.max(0) + 1));
    call_or_raise(game, state, actions, raise, 0.5, probabilities);
}

/// Calls if P(X ≥ need) is below `PERCENT` %. `BLUFF` % of the raises are bluffs.
fn call_below<const PERCENT: u8, const BLUFF: u8>(
    game: &LiarsDice,
    state: &State,
    actions: &[Action],
    probabilities: &mut Vec<f64>,
) {
    let holds = Claim::new(game, state).map_or(1.0, |c| c.odds.at_least(c.hidden, c.need));
    let raise = if holds < f64::from(PERCENT) / 100.0 { 0.0 } else { 1.0 };
    call_or_raise(game, state, actions, raise, f64::from(BLUFF) / 100.0, probabilities);
}

/// The standing bid from the view of the player to move.
struct Claim<'a> {
    /// Number of hidden dice that must match.
    need: i32,
    /// Number of dice under the other cups.
    hidden: u8,
    odds: &'a Odds,
}

impl<'a> Claim<'a> {
    fn new(game: &'a LiarsDice, state: &State) -> Option<Self> {
        let (_, _, bid) = state.standing()?;
        let own = state.seats[usize::from(state.mover)].cup;
        let known = state.seats.iter().fold(own, |sum, seat| sum.with(&seat.pushed));
        Some(Self {
            need: i32::from(bid.count) - i32::from(game.matching(state.special, &known, bid.face)),
            hidden: state.dice_in_play() - known.total(),
            odds: game.odds(state.special, bid.face),
        })
    }
}

/// The policy of a player who raises with probability `raise` and otherwise calls. With probability `bluff`, a raise
/// names a uniform face; otherwise it names the most frequent own face, the lowest in a tie. If only one of raise and
/// call is legal, the player does it.
pub fn call_or_raise(
    game: &LiarsDice,
    state: &State,
    actions: &[Action],
    raise: f64,
    bluff: f64,
    probabilities: &mut Vec<f64>,
) {
    probabilities.clear();
    probabilities.resize(actions.len(), 0.0);
    // The lowest bid of each face; bids are in ascending order.
    let mut lowest = [None; FACES];
    let mut call = None;
    for (i, action) in actions.iter().enumerate() {
        match action {
            Action::Bid { bid, push } if push.is_empty() => {
                lowest[usize::from(bid.face) - 1].get_or_insert(i);
            }
            Action::Challenge(Target::Bid) => call = Some(i),
            _ => {}
        }
    }
    let faces = lowest.iter().flatten().count();
    let Some(first) = lowest.iter().flatten().min() else {
        match call {
            Some(call) => probabilities[call] = 1.0,
            None => probabilities.fill(1.0 / actions.len() as f64),
        }
        return;
    };
    let raise = call.map_or(1.0, |call| {
        probabilities[call] = 1.0 - raise;
        raise
    });
    lowest.iter().flatten().for_each(|i| probabilities[*i] = raise * bluff / faces as f64);
    let seat = &state.seats[usize::from(state.mover)];
    let (_, face) = game.favourite(&seat.cup.with(&seat.pushed));
    probabilities[lowest[usize::from(face) - 1].unwrap_or(*first)] += raise * (1.0 - bluff);
}

/// The state that the post's Q-learner uses for decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PostState {
    /// Number of dice of all players.
    pub total: u8,
    /// Number of the learner's dice; 0 if it is out.
    pub own: u8,
    /// [`SURE`] if the own hand holds the bid. Otherwise ⌊20·P(Bin(total − own, 1/6) ≥ min(need, total − own))⌋, where
    /// `need` is the bid's count minus the own dice of its face.
    pub bucket: u8,
}

impl PostState {
    /// The state that the post's program keeps for a player. After every bid, it updates the *count*. The number of
    /// dice that the player *holds* is for the face at the player's last decision in this round, or for the opening's
    /// face before that. None without a standing bid, and in other rule sets.
    pub fn carried(game: &LiarsDice, state: &State, player: usize) -> Option<Self> {
        let (last, _, bid) = state.standing()?;
        let decided = state.acts[..=last].iter().rposition(|act| usize::from(act.player) == player);
        let face = state.bid(decided.map_or(0, |i| i.saturating_sub(1)))?.face;
        Self::new(game, state, player, bid.count, face)
    }

    /// The state with the dice that the player holds of the standing face. The post's program computes it after the
    /// player's decision and records it if the player called.
    pub fn recounted(game: &LiarsDice, state: &State, player: usize) -> Option<Self> {
        let (_, _, bid) = state.standing()?;
        Self::new(game, state, player, bid.count, bid.face)
    }

    fn new(game: &LiarsDice, state: &State, player: usize, count: u8, face: u8) -> Option<Self> {
        if game.rules() != RuleSet::RPost {
            return None;
        }
        let seat = &state.seats[player];
        let (total, own) = (state.dice_in_play(), seat.dice);
        Some(Self { total, own, bucket: bucket(game, total - own, count, seat.cup.count(face)) })
    }
}

/// ⌊20·P⌋ of a bid with this count, if the player holds `held` matching dice and `hidden` dice are hidden.
fn bucket(game: &LiarsDice, hidden: u8, count: u8, held: u8) -> u8 {
    match count.checked_sub(held) {
        None | Some(0) => SURE,
        // Because of the limit `hidden`, impossible bids get the probability that all hidden dice show the face.
        Some(need) => (f64::from(SURE) * game.single_odds().at_least(hidden, need.min(hidden).into())) as u8,
    }
}

impl State {
    /// The bid at this index of the acts.
    fn bid(&self, act: usize) -> Option<Bid> {
        match self.acts.get(act)?.said {
            Said::Bid { bid, .. } => Some(bid),
            Said::Pass { .. } => None,
        }
    }
}

/// The numbering of a Q-learner's states, in the order of the post: by total dice, own dice, bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostStates {
    /// For each total: the smallest number of own dice, and the number of the first such state.
    first: Vec<(u8, u32)>,
    count: u32,
}

impl PostStates {
    /// The states of a player in a game of the rule set `r-post`. None for other rule sets.
    pub fn new(game: &LiarsDice, player: usize) -> Option<Self> {
        let own = *game.dice().get(player).filter(|_| game.rules() == RuleSet::RPost)?;
        let total: u8 = game.dice().iter().sum();
        let mut first = Vec::new();
        let mut count = 0;
        for t in 0..=total {
            let (least, most) = (t.saturating_sub(total - own), own.min(t));
            first.push((least, count));
            // The other players still have dice.
            if t > 0 {
                count += u32::from(most - least + 1) * u32::from(SURE + 1);
            }
        }
        Some(Self { first, count })
    }

    /// Number of states.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Number of a state, from 0: the post's number minus 1.
    pub fn number(&self, state: PostState) -> usize {
        let (least, first) = self.first[usize::from(state.total)];
        first as usize + usize::from(state.own - least) * usize::from(SURE + 1) + usize::from(state.bucket)
    }

    /// The state with this number, which must be below [`count`](Self::count).
    pub fn state(&self, number: usize) -> PostState {
        let total = self.first[1..].partition_point(|(_, first)| *first as usize <= number);
        let (least, first) = self.first[total];
        let rest = number - first as usize;
        let width = usize::from(SURE + 1);
        PostState { total: total as u8, own: least + (rest / width) as u8, bucket: (rest % width) as u8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_game::stream;
    use adept_game::{Game, Turn};
    use rand::RngExt;

    fn game(name: &str) -> LiarsDice {
        LiarsDice::named(name).unwrap_or_else(|| panic!("{name} is not a game"))
    }

    fn at(game: &LiarsDice, text: &str) -> State {
        game.parse_position(text).unwrap_or_else(|e| panic!("{e}")).0
    }

    /// The post counts 2772 states for 4 × 6 dice. For 4 × 3, it prints a game as state numbers, in which a call
    /// changes the dice but never the bucket.
    #[test]
    fn states_are_numbered_as_in_the_post() {
        let states = PostStates::new(&game("liars-dice:r-post:4x6"), 0).expect("r-post");
        assert_eq!(states.count(), 2772);
        let mut last = None;
        for number in 0..states.count() {
            let state = states.state(number);
            assert_eq!(states.number(state), number);
            let key = (state.total, state.own, state.bucket);
            assert!(
                last < Some(key) && state.own <= 6 && state.total <= 18 + state.own && state.bucket <= SURE
            );
            last = Some(key);
        }
        let states = PostStates::new(&game("liars-dice:r-post:4x3"), 0).expect("r-post");
        let printed = [
            (808, (12, 3, 9)),
            (787, (11, 3, 9)),
            (778, (11, 3, 0)),
            (736, (10, 3, 0)),
            (673, (9, 3, 0)),
            (592, (8, 3, 3)),
            (507, (7, 3, 2)),
            (423, (6, 3, 2)),
            (88, (2, 2, 3)),
        ];
        for (number, (total, own, bucket)) in printed {
            assert_eq!(states.number(PostState { total, own, bucket }) + 1, number);
        }
        assert!(PostStates::new(&game("liars-dice:soar:4x5"), 0).is_none());
    }

    /// Three or more of 18 hidden dice: 1 − (5/6)¹⁸ − 18·5¹⁷/6¹⁸ − 153·5¹⁶/6¹⁸ = .597.
    #[test]
    fn buckets_are_twentieths_of_the_probability() {
        let game = game("liars-dice:r-post:4x6");
        let of = |hidden, count, held| bucket(&game, hidden, count, held);
        assert_eq!((of(18, 4, 1), of(18, 1, 0), of(5, 1, 0)), (11, 19, 11));
        assert_eq!((of(18, 2, 2), of(18, 2, 3), of(1, 1, 0)), (SURE, SURE, 3));
        // Needing five of two dice counts as two (1/36); needing five of one die counts as one.
        assert_eq!((of(2, 5, 0), of(1, 9, 1)), (0, 3));
        // No sum of multiples of 6⁻ⁿ is so close to a twentieth that rounding matters.
        for hidden in 1..=23 {
            for need in 1..=hidden {
                let twentieths = f64::from(SURE) * game.single_odds().at_least(hidden, need.into());
                assert!(
                    (twentieths - twentieths.round()).abs() > 1e-6 || twentieths < 0.5,
                    "{hidden} {need}"
                );
            }
        }
    }

    /// Seat 1 holds two 1s, two 2s and two 3s.
    #[test]
    fn what_is_held_is_counted_anew_only_when_the_player_decides() {
        let game = game("liars-dice:r-post:3x6");
        let check = |said: &str, carried: Option<u8>, recounted: Option<u8>| {
            let state = at(&game, &format!("112233/444556/116666 @3 {said}"));
            let states = [PostState::carried(&game, &state, 0), PostState::recounted(&game, &state, 0)];
            for (state, bucket) in states.into_iter().zip([carried, recounted]) {
                assert_eq!(state, bucket.map(|bucket| PostState { total: 18, own: 6, bucket }), "{said}");
            }
        };
        let of_12 = |need| Some(bucket(&game, 12, need, 0));
        check("", None, None);
        // The opening is on 6s; seat 1 holds none.
        check("5x6", of_12(5), of_12(5));
        check("5x6 6x2", of_12(6), of_12(4));
        check("5x6 6x2 7x4", of_12(7), of_12(7));
        check("5x6 6x2 7x4 8x1", of_12(8), of_12(6));
        // Now seat 1 has decided on 8x1.
        check("5x6 6x2 7x4 8x1 9x6", of_12(7), of_12(9));
        let soar = self::game("liars-dice:soar:2x5");
        assert_eq!(PostState::recounted(&soar, &at(&soar, "11245/33366 @1 1x3"), 0), None);
    }

    fn policy(game: &LiarsDice, state: &State, name: &str) -> Vec<(Action, f64)> {
        let (mut actions, mut probabilities) = (Vec::new(), Vec::new());
        game.actions(state, &mut actions);
        script(name).expect(name)(game, state, &actions, &mut probabilities);
        assert_eq!(actions.len(), probabilities.len());
        actions.into_iter().zip(probabilities).collect()
    }

    #[test]
    fn scripts_raise_with_the_probabilities_of_the_post() {
        let game = game("liars-dice:r-post:2x3");
        let of = |position: &str, name: &str| {
            let all = policy(&game, &at(&game, position), name);
            let raises: Vec<f64> = all[..all.len() - 1].iter().map(|(_, p)| *p).collect();
            (raises, all[all.len() - 1].1)
        };
        let near = |found: (Vec<f64>, f64), raises: [f64; 6], call: f64| {
            let pairs = found.0.iter().zip(raises).chain([(&found.1, call)]);
            assert!(found.0.len() == 6 && pairs.clone().all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        };
        // Seat 1 holds one 1, one 3 and one 4. It needs one more 4 from three hidden dice: 91/216. Two or more have
        // 16/216.
        let position = "134/456 @2 2x4";
        near(of(position, "post-random"), [1.0 / 12.0; 6], 0.5);
        let bluffs =
            |p: f64, face: usize| std::array::from_fn(|i| p * if i + 1 == face { 7.0 } else { 1.0 } / 12.0);
        near(of(position, "true-prob"), bluffs(16.0 / 216.0, 1), 200.0 / 216.0);
        near(of(position, "call-30"), bluffs(1.0, 1), 0.0);
        for name in ["call-15", "call-25"] {
            near(of(position, name), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.0);
        }
        near(of(position, "call-50"), [0.0; 6], 1.0);
        for (name, _) in SCRIPTS.iter().filter(|(name, _)| *name != "post-random") {
            near(of("134/456 @2 2x4 3x5 4x6", name), [0.0; 6], 1.0);
        }
        // The own hand makes the bid certain, but true-prob needs one more.
        near(of("445/456 @2 2x4", "true-prob"), bluffs(91.0 / 216.0, 4), 125.0 / 216.0);
        near(of("445/456 @2 2x4", "call-50"), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], 0.0);
        // Openings are forced.
        assert_eq!(policy(&game, &at(&game, "134/456 @2"), "call-15").len(), 1);
    }

    #[test]
    fn scripts_play_every_rule_set() {
        for name in [
            "liars-dice:r-post:4x6",
            "liars-dice:r-post:2x1",
            "liars-dice:soar:3x5",
            "liars-dice:soar:2x2",
            "liars-dice:openspiel:1-1:6",
            "liars-dice:openspiel:2-2:3:no-wild",
        ] {
            let game = game(name);
            for g in 0..12 {
                let mut rng = stream(g, "post scripts", 0);
                let mut state = game.start();
                for _ in 0..2000 {
                    let action = match game.turn(&state) {
                        Turn::Over => break,
                        Turn::Chance => game.sample(&state, &mut rng),
                        Turn::Player(_) => {
                            let all = SCRIPTS.map(|(script, _)| policy(&game, &state, script));
                            for policy in &all {
                                assert!(policy.iter().all(|(_, p)| (0.0..=1.0).contains(p)));
                                assert!((policy.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
                            }
                            // Usually an action that a script chooses, sometimes another.
                            let legal = &all[0];
                            let taken: Vec<usize> = (0..legal.len())
                                .filter(|i| all.iter().any(|policy| policy[*i].1 > 0.0))
                                .collect();
                            match rng.random_bool(0.2) {
                                true => legal[rng.random_range(0..legal.len())].0,
                                false => legal[taken[rng.random_range(0..taken.len())]].0,
                            }
                        }
                    };
                    game.apply(&mut state, &action);
                }
            }
        }
    }
}
