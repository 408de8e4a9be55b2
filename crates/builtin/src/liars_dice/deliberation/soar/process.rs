//! Decision process of the old agents: they evaluate tied actions one after the other, in random order, until
//! preferences decide.
//!
//! Bids without a push and challenges come first, then passes, bids with a push, and, with M, modelling the last
//! bidder. With M, pushes and exact are evaluated only after modelling, and bids without a push and challenges are
//! evaluated again. Preferences of an evaluation stay when one with the model replaces it.

use super::heuristics::{at_least, face_after_own_act};
use super::propose::is_push;
use super::situation::Situation;
use super::values::{self, Values, challenges_pass, pass_succeeds};
use super::{Generation, Letters, TEMPERATURE, propose};
use crate::liars_dice::deliberation::model::Model;
use crate::liars_dice::dice::Dice;
use crate::liars_dice::odds::Odds;
use crate::liars_dice::rules::Action;
use crate::liars_dice::state::Bid;
use adept_game::Stream;
use rand::RngExt;

/// Classes of an evaluation, as bits. An evaluation can have several.
const CERTAIN: u8 = 1;
const SAFE: u8 = 2;
const RISKY: u8 = 4;
const VERY_RISKY: u8 = 8;
const LOSE: u8 = 16;

const MOST: usize = u64::BITS as usize;

/// The name of the best class of a set.
pub(super) fn class_name(classes: u8) -> Option<&'static str> {
    const NAMES: [(u8, &str); 5] =
        [(CERTAIN, "certain"), (SAFE, "safe"), (RISKY, "risky"), (VERY_RISKY, "very risky"), (LOSE, "lose")];
    // The best of several classes.
    NAMES.iter().find(|(class, _)| classes & class != 0).map(|(_, name)| *name)
}

/// Kind of an action's operator.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Kind {
    #[default]
    Bid,
    Push,
    Challenge,
    Pass,
    Exact,
}

/// One run of the process. Sets of actions are bit masks.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    kinds: Vec<Kind>,
    /// Positions of each action among the proposals, which may repeat it.
    copies: Vec<u64>,
    classes: Vec<u8>,
    seen: Vec<u8>,
    numbers: Vec<f64>,
    /// For each action: the actions that it is better than, and those that it equals.
    better: Vec<u64>,
    equal: Vec<u64>,
    best: u64,
    worst: u64,
    evaluated: u64,
    /// Actions evaluated with the model.
    modelled: u64,
    /// Whether numeric preferences decide.
    by_number: bool,
}

impl Run {
    fn reset(&mut self, actions: &[Action]) {
        let n = actions.len();
        let kind = |action: &Action| match action {
            Action::Bid { .. } if is_push(action) => Kind::Push,
            Action::Bid { .. } | Action::Starter(_) | Action::Roll(_) => Kind::Bid,
            Action::Challenge(_) => Kind::Challenge,
            Action::Pass => Kind::Pass,
            Action::Exact => Kind::Exact,
        };
        self.kinds.clear();
        self.kinds.extend(actions.iter().map(kind));
        self.copies.clear();
        self.copies.extend(actions.iter().map(|action| {
            let same = |(_, other): &(usize, &Action)| *other == action;
            actions.iter().enumerate().filter(same).fold(0, |set, (j, _)| set | 1 << j)
        }));
        for classes in [&mut self.classes, &mut self.seen] {
            classes.clear();
            classes.resize(n, 0);
        }
        self.numbers.clear();
        self.numbers.resize(n, 0.0);
        for sets in [&mut self.better, &mut self.equal] {
            sets.clear();
            sets.resize(n, 0);
        }
        (self.best, self.worst, self.evaluated, self.modelled) = (0, 0, 0, 0);
        self.by_number = false;
    }

    fn of_kinds(&self, kinds: &[Kind]) -> u64 {
        let is = |(_, kind): &(usize, &Kind)| kinds.contains(kind);
        self.kinds.iter().enumerate().filter(is).fold(0, |set, (i, _)| set | 1 << i)
    }

    /// All classes that an action had in the last run.
    pub(super) fn classes(&self, action: usize) -> u8 {
        self.seen[action]
    }

    /// The actions that remain, by Soar's order of preferences: not worse than another; of these the best; of these not
    /// the worst.
    fn left(&self) -> u64 {
        let all = u64::MAX >> (MOST - self.kinds.len());
        let beaten = self.better.iter().fold(0, |set, better| set | better);
        let mut left = if all & !beaten == 0 { all } else { all & !beaten };
        if left & self.best != 0 {
            left &= self.best;
        }
        if left & !self.worst != 0 {
            left &= !self.worst;
        }
        left
    }

    /// Whether the process can choose among these.
    fn decided(&self, left: u64) -> bool {
        if left.count_ones() == 1 {
            return true;
        }
        bits(left).all(|i| left & !(self.equal[i] | 1 << i) == 0)
    }

    /// Runs the process. Returns the actions to choose from.
    pub(super) fn decide(
        &mut self,
        situation: &Situation<'_>,
        letters: Letters,
        actions: &[Action],
        rng: &mut Stream,
    ) -> u64 {
        self.reset(actions);
        let first = self.of_kinds(&[Kind::Bid, Kind::Challenge]);
        let exact = self.of_kinds(&[Kind::Exact]);
        let pushes = self.of_kinds(&[Kind::Push]);
        let pass = self.of_kinds(&[Kind::Pass]);
        let can_model = letters.model && situation.standing.is_some();
        let mut tried = !letters.model;
        let mut model = None;
        loop {
            let left = self.left();
            if self.decided(left) {
                return left;
            }
            let early = match (tried, model) {
                (false, _) => first & !self.evaluated,
                (true, None) => (first | exact) & !self.evaluated,
                (true, Some(_)) => (first | exact) & !self.modelled,
            } & left;
            if early != 0 {
                self.evaluate(situation, letters, actions, draw(early, rng), model);
                continue;
            }
            let mut late = pass & !self.evaluated & left;
            // P has no rule for pushes before the first bid of a round.
            if tried && (letters.expects || situation.standing.is_some()) {
                late |= pushes & !self.evaluated & left;
            }
            let models = can_model && !tried;
            let choices = late.count_ones() + u32::from(models);
            if choices == 0 {
                // The original waits forever if an action is never evaluated.
                let known = left & self.evaluated;
                let left = if known == 0 { left } else { known };
                return self.finish(situation, letters, actions, left);
            }
            if models && rng.random_range(0..choices) == 0 {
                tried = true;
                model = situation.model(true, Generation::Old);
            } else {
                self.evaluate(situation, letters, actions, draw(late, rng), model);
            }
        }
    }

    /// P: numeric preferences decide among the remaining actions. With H, a bid without a push is better than others of
    /// the same class or no higher value if it repeats the standing face or the face that the next player bid; and a
    /// bid is better than a challenge of no higher value.
    fn finish(&mut self, situation: &Situation<'_>, letters: Letters, actions: &[Action], left: u64) -> u64 {
        self.by_number = !letters.expects;
        if letters.expects || !letters.heuristics {
            return left;
        }
        let towards = [situation.standing.map(|(_, bid, _)| bid.face), face_after_own_act(situation)];
        let face = |i: usize| match actions[i] {
            Action::Bid { bid, .. } => Some(bid.face),
            _ => None,
        };
        let mut beaten = 0;
        for i in bits(left) {
            for j in bits(left & !(1 << i)) {
                let no_higher = at_least(self.numbers[i], self.numbers[j]);
                let better = match (self.kinds[i], self.kinds[j]) {
                    (Kind::Bid, Kind::Bid | Kind::Push) => {
                        (no_higher || self.classes[i] & self.classes[j] != 0)
                            && towards.contains(&face(i))
                            && !towards.contains(&face(j))
                    }
                    (Kind::Bid | Kind::Push, Kind::Challenge) => no_higher && self.numbers[j] < 1.0,
                    _ => false,
                };
                if better {
                    beaten |= 1 << j;
                }
            }
        }
        if left & !beaten == 0 { left } else { left & !beaten }
    }

    fn evaluate(
        &mut self,
        situation: &Situation<'_>,
        letters: Letters,
        actions: &[Action],
        i: usize,
        model: Option<Model>,
    ) {
        let action = &actions[i];
        let classes = match letters.expects {
            true => expected_class(situation, action, model),
            false => {
                let values = old_values(situation, letters, action, model);
                self.numbers[i] = values.preference();
                let certain = values.iter().any(|p| p >= 1.0);
                let safe = letters.heuristics && values.iter().any(|p| p > 0.75);
                let lose = impossible(situation, action, model);
                (u8::from(certain) * CERTAIN) | (u8::from(safe) * SAFE) | (u8::from(lose) * LOSE)
            }
        };
        let copies = self.copies[i];
        self.evaluated |= copies;
        if model.is_some() {
            self.modelled |= copies;
        }
        let kind = self.kinds[i];
        if classes & CERTAIN != 0
            && (matches!(kind, Kind::Bid | Kind::Pass) || (kind == Kind::Challenge && model.is_none()))
        {
            self.best |= copies;
        }
        if classes & LOSE != 0 {
            self.worst |= copies;
        }
        let number = self.numbers[i];
        for k in bits(copies) {
            (self.classes[k], self.numbers[k]) = (classes, number);
            self.seen[k] |= classes;
        }
        for k in bits(copies) {
            self.compare(k, letters.heuristics);
        }
    }

    /// Adds the preferences between an action that was just evaluated and all others.
    fn compare(&mut self, i: usize, heuristics: bool) {
        for j in (0..self.kinds.len()).filter(|j| *j != i) {
            let (one, other) = (self.classes[i], self.classes[j]);
            if better(one, other) || (heuristics && self.prefers(i, j)) {
                self.better[i] |= 1 << j;
            }
            if better(other, one) || (heuristics && self.prefers(j, i)) {
                self.better[j] |= 1 << i;
            }
            if equal(one, other) {
                self.equal[i] |= 1 << j;
                self.equal[j] |= 1 << i;
            }
        }
    }

    /// EH: whether an action is better than another. A challenge is beaten without being evaluated; a pass or push is not.
    fn prefers(&self, a: usize, b: usize) -> bool {
        use Kind::{Bid, Challenge, Pass, Push};
        let (one, other) = (self.classes[a], self.classes[b]);
        let good = one & (CERTAIN | SAFE) != 0;
        match (self.kinds[a], self.kinds[b]) {
            (Bid | Push, Pass) => good && self.evaluated & 1 << b != 0,
            (Bid, Push) => (good && other != 0) || one & other != 0,
            (Bid | Push | Pass, Challenge) => good && other & CERTAIN == 0,
            _ => false,
        }
    }

    /// The probability of each action for a draw from `left`.
    pub(super) fn probabilities(&self, left: u64, probabilities: &mut Vec<f64>) {
        probabilities.clear();
        probabilities.resize(self.kinds.len(), 0.0);
        let highest = bits(left).map(|i| self.numbers[i]).fold(f64::NEG_INFINITY, f64::max);
        let mut total = 0.0;
        for i in bits(left) {
            let number = (self.numbers[i] - highest) / TEMPERATURE;
            probabilities[i] = if self.by_number { number.exp() } else { 1.0 };
            total += probabilities[i];
        }
        probabilities.iter_mut().for_each(|p| *p /= total);
    }
}

/// Whether classes `a` make an action better than classes `b`.
fn better(a: u8, b: u8) -> bool {
    (a & (CERTAIN | SAFE) != 0 && b & (RISKY | VERY_RISKY) != 0) || (a & RISKY != 0 && b & VERY_RISKY != 0)
}

fn equal(a: u8, b: u8) -> bool {
    a & b != 0 || (a & (CERTAIN | SAFE) != 0 && b & (CERTAIN | SAFE) != 0)
}

pub(super) fn bits(set: u64) -> impl Iterator<Item = usize> {
    let mut rest = set;
    std::iter::from_fn(move || {
        let i = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
        rest &= rest - 1;
        Some(i)
    })
}

/// Draws an element of a nonempty set.
fn draw(set: u64, rng: &mut Stream) -> usize {
    let place = rng.random_range(0..set.count_ones()) as usize;
    bits(set).nth(place).unwrap_or(0)
}

/// E: the classes of an action by the expected number of dice.
fn expected_class(situation: &Situation<'_>, action: &Action, model: Option<Model>) -> u8 {
    match action {
        Action::Bid { bid, push } => {
            let (known, unknown) = expected_dice(situation, *bid, push, model);
            let d = f64::from(known) + f64::from(unknown) * situation.chance(bid.face) - f64::from(bid.count);
            if known + unknown < bid.count {
                return LOSE;
            }
            let certain = u8::from(known >= bid.count) * CERTAIN;
            certain
                | match d {
                    _ if d > 0.0 => SAFE,
                    -0.4.. => RISKY,
                    _ => VERY_RISKY,
                }
        }
        Action::Challenge(_) if challenges_pass(situation, action) => {
            let values = values::evaluate(situation, Generation::New, action, None);
            values
                .iter()
                .map(|p| match p {
                    1.0.. => CERTAIN,
                    0.9.. => SAFE,
                    _ => RISKY,
                })
                .fold(0, |set, class| set | class)
        }
        Action::Challenge(_) => {
            let Some((_, bid, _)) = situation.standing else { return LOSE };
            let (known, unknown) = expected_dice(situation, bid, &Dice::default(), model);
            let d = f64::from(known) + f64::from(unknown) * situation.chance(bid.face) - f64::from(bid.count);
            match d {
                _ if known >= bid.count => LOSE,
                _ if known + unknown < bid.count => CERTAIN,
                _ if d < -1.4 => SAFE,
                _ if d < -1.0 => RISKY,
                _ => VERY_RISKY,
            }
        }
        Action::Exact => {
            let Some((_, bid, _)) = situation.standing else { return LOSE };
            let unknown = situation.unknown - model.map_or(0, |m| m.cup);
            let e = f64::from(situation.natural(bid.face, model)) + f64::from(unknown) / 6.0
                - f64::from(bid.count);
            if e.abs() < 0.4 { RISKY } else { VERY_RISKY }
        }
        Action::Pass => {
            let values = pass_succeeds(situation.own(), Generation::New);
            let class = |p: f64| match p {
                1.0.. => CERTAIN,
                0.1.. => RISKY,
                _ if p > 0.0 => VERY_RISKY,
                _ => LOSE,
            };
            values.iter().fold(0, |set, p| set | class(p))
        }
        Action::Starter(_) | Action::Roll(_) => LOSE,
    }
}

/// E: known dice that count for a bid, and unknown ones. In a modelled bidder's cup, non-matching dice count as unknown
/// only for another face than ones, in normal rounds.
fn expected_dice(situation: &Situation<'_>, bid: Bid, push: &Dice, model: Option<Model>) -> (u8, u8) {
    let rerolled = if push.is_empty() { 0 } else { situation.own().cup.total() - push.total() };
    let gone = model.map_or(0, |m| {
        let counts = m.face != bid.face && bid.face != 1 && !situation.special();
        if counts { m.held } else { m.cup }
    });
    (situation.known(bid.face, model), situation.unknown + rerolled - gone)
}

/// Whether an action cannot succeed.
fn impossible(situation: &Situation<'_>, action: &Action, model: Option<Model>) -> bool {
    match action {
        Action::Bid { .. } | Action::Challenge(_) | Action::Exact => {
            values::evaluate(situation, Generation::Old, action, model).iter().any(|p| p <= 0.0)
        }
        _ => false,
    }
}

/// P: the values of the old agents.
pub(super) fn old_values(
    situation: &Situation<'_>,
    letters: Letters,
    action: &Action,
    model: Option<Model>,
) -> Values {
    match action {
        Action::Bid { bid, .. } if situation.standing.is_none() => opening(situation, letters, *bid),
        Action::Bid { bid, push } => {
            let (unknown, odds) = old_unknown(situation, *bid, push, model);
            let missing = i32::from(bid.count) - i32::from(situation.known(bid.face, model));
            Values::one(odds.at_least(unknown, missing))
        }
        Action::Exact => {
            let Some((_, bid, _)) = situation.standing else { return Values::one(0.0) };
            let missing = i32::from(bid.count) - i32::from(situation.natural(bid.face, model));
            let least = situation.unknown - model.map_or(0, |m| m.cup);
            if missing > i32::from(least) {
                return Values::one(0.0);
            }
            Values::one(situation.exactly(situation.unknown - model.map_or(0, |m| m.held), missing))
        }
        _ => values::evaluate(situation, Generation::Old, action, model),
    }
}

/// Fixed values before the first bid of a round.
fn opening(situation: &Situation<'_>, letters: Letters, bid: Bid) -> Values {
    if situation.own().cup.count(bid.face) == 0 {
        return Values::one(0.5);
    }
    let mut values = Values::default();
    let above = bid.count > propose::base(situation).count;
    values.add(if above { 0.65 } else { 0.7 });
    if bid.face == 1 {
        values.add(0.7);
    }
    if letters.heuristics && bid.face >= 5 {
        values.add(0.1);
    }
    values
}

/// P: number of unknown dice for a bid, and the odds that they count. After a push, the model's other dice are
/// excluded; after a modelled bid of ones, all dice count with 1/6.
fn old_unknown<'a>(situation: &Situation<'a>, bid: Bid, push: &Dice, model: Option<Model>) -> (u8, &'a Odds) {
    let usual = situation.game.odds(situation.special(), bid.face);
    let pushes = !push.is_empty();
    let rerolled = if pushes { situation.own().cup.total() - push.total() } else { 0 };
    let Some(model) = model else { return (situation.unknown + rerolled, usual) };
    let others = match () {
        // Pushed ones: the modelled dice count again.
        () if pushes && bid.face == 1 && model.face != 1 => model.held,
        () if pushes || model.face == bid.face => 0,
        () => model.cup - model.held,
    };
    let odds = if model.face == 1 && bid.face != 1 && !pushes { situation.game.single_odds() } else { usual };
    (situation.unknown - model.cup + others + rerolled, odds)
}
