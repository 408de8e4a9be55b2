//! Random games in lanes: 512 games of one game at a time, one bit each.
//!
//! A fact, a gate and a move are 512 bits, one a lane, so that an operation on words is one on all games. Facts are as the player to
//! move sees them and are flipped after each move, so that one circuit serves both players, and a lane that is over can begin again
//! at any time. A move is drawn in bits too: the legal moves of all lanes are counted, a random number is multiplied by the
//! counts, and a pass over the moves counts it down.

use crate::circuit::{Cone, Literal};
use crate::declaration::Ending;
use crate::game::Declared;
use crate::ground::{Conditional, Effects};
use adept_game::{Game, Stream};
use rand::Rng;

/// Words of a lane vector.
const WORDS: usize = 8;
/// Random bits beyond those of the counts: moves are drawn with equal probability up to 2⁻¹⁶ of it.
const EXTRA: usize = 16;
/// Most bits of a count of moves.
const DIGITS: usize = 17;

/// A bit for each of 512 games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [u64; WORDS]);

impl Lanes {
    pub(crate) const NONE: Self = Self([0; WORDS]);
    const ALL: Self = Self([!0; WORDS]);

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let mut result = self;
        for (word, other) in result.0.iter_mut().zip(other.0) {
            *word = f(*word, other);
        }
        result
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }

    /// What is here and not there.
    #[inline(always)]
    fn without(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    #[inline(always)]
    fn count(self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    #[inline(always)]
    fn any(self) -> bool {
        self.0.iter().fold(0, |a, b| a | b) != 0
    }
}

/// Results of random games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Playouts {
    /// Games that the first player won, or solved alone.
    pub won: u64,
    /// Games without a winner.
    pub drawn: u64,
    /// Games that the first player lost, or did not solve alone.
    pub lost: u64,
    /// Moves of all games, those that are not over included.
    pub moves: u64,
}

impl Playouts {
    /// Finished games.
    pub fn games(&self) -> u64 {
        self.won + self.drawn + self.lost
    }
}

/// A generator of random words for all lanes: xoshiro256++ in every word.
#[derive(Debug)]
struct Random([Lanes; 4]);

impl Random {
    #[inline(always)]
    fn draw(&mut self) -> Lanes {
        let [a, b, c, d] = &mut self.0;
        let mut drawn = Lanes::NONE;
        for w in 0..WORDS {
            drawn.0[w] = a.0[w].wrapping_add(d.0[w]).rotate_left(23).wrapping_add(a.0[w]);
            let shifted = b.0[w] << 17;
            c.0[w] ^= a.0[w];
            d.0[w] ^= b.0[w];
            b.0[w] ^= c.0[w];
            a.0[w] ^= d.0[w];
            c.0[w] ^= shifted;
            d.0[w] = d.0[w].rotate_left(45);
        }
        drawn
    }
}

/// What every step reads.
#[derive(Debug)]
struct Plan {
    facts: usize,
    start: Vec<bool>,
    /// Facts that are exchanged when the other player looks.
    swaps: Vec<(u32, u32)>,
    alone: bool,
    over: Cone,
    results: Vec<Ending>,
    stuck: Ending,
    legal: Cone,
    /// For each move: facts that it clears and sets, the end of each list.
    clear: (Vec<u32>, Vec<u32>),
    set: (Vec<u32>, Vec<u32>),
    /// Moves with conditional effects: their number, conditions, and the facts that are set or cleared.
    conditional: Vec<(usize, Conditional)>,
    limit: Option<u32>,
}

/// 512 random games side by side.
#[derive(Debug)]
pub struct Batch {
    plan: Plan,
    random: Random,
    /// Values of the nodes: false, the facts, the gates of the cone that was computed last.
    values: Vec<Lanes>,
    /// Which moves are legal, and whether they are at the start.
    legal: Vec<Lanes>,
    first_legal: Vec<bool>,
    chosen: Vec<Lanes>,
    changes: Vec<(u32, bool, Lanes)>,
    /// Lanes in which the second player is to move.
    second: Lanes,
    /// Moves of each game, where they are limited.
    made: Vec<u32>,
    results: Playouts,
}

impl Batch {
    /// Games from the start, drawn by this generator.
    pub fn new(game: &Declared, rng: &mut Stream) -> Self {
        let rules = &game.rules;
        let view = &rules.views[0];
        let start = game.start();
        let alone = game.players() == 1;
        let list = |of: fn(&Effects) -> &Vec<u32>| {
            let (mut facts, mut ends) = (Vec::new(), Vec::new());
            for effects in &view.effects {
                facts.extend(of(effects));
                ends.push(facts.len() as u32);
            }
            (facts, ends)
        };
        let conditional = view.effects.iter().enumerate().filter_map(|(number, effects)| {
            effects.conditional.clone().map(|conditional| (number, conditional))
        });
        let plan = Plan {
            facts: rules.facts.len(),
            start: (0..rules.facts.len()).map(|fact| start.holds(fact)).collect(),
            swaps: if alone {
                Vec::new()
            } else {
                (0..).zip(rules.flip.iter().copied()).filter(|(a, b)| a < b).collect()
            },
            alone,
            over: view.over.clone(),
            results: view.results.clone(),
            stuck: rules.declaration.stuck,
            legal: view.legal.clone(),
            clear: list(|effects| &effects.clear),
            set: list(|effects| &effects.set),
            conditional: conditional.collect(),
            limit: rules.declaration.limit,
        };
        let gates = plan.conditional.iter().map(|(_, (cone, _))| cone.len());
        let gates = gates.chain([plan.over.len(), plan.legal.len()]).max().unwrap_or(0);
        let mut values = vec![Lanes::NONE; 1 + plan.facts + gates];
        for (value, &holds) in values[1..].iter_mut().zip(&plan.start) {
            *value = if holds { Lanes::ALL } else { Lanes::NONE };
        }
        compute(&plan.legal, &mut values);
        let legal: Vec<Lanes> = plan.legal.outputs().iter().map(|&output| value(&values, output)).collect();
        let random = Random([0; 4].map(|_| Lanes([0; WORDS].map(|_| rng.next_u64()))));
        Self {
            random,
            first_legal: legal.iter().map(|legal| legal.any()).collect(),
            legal,
            values,
            chosen: vec![Lanes::NONE; rules.moves.len()],
            changes: Vec::new(),
            second: Lanes::NONE,
            made: vec![0; if plan.limit.is_some() { 64 * WORDS } else { 0 }],
            results: Playouts::default(),
            plan,
        }
    }

    /// Makes this many moves in every lane. Games that end begin again. Returns the results of all games so far.
    pub fn run(&mut self, steps: u64) -> Playouts {
        for _ in 0..steps {
            self.step();
        }
        self.results
    }

    /// One move in every lane.
    fn step(&mut self) {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has the feature.
                return unsafe { self.step_avx512() };
            }
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has the feature.
                return unsafe { self.step_avx2() };
            }
        }
        self.step_here();
    }

    /// # Safety
    /// The processor must have AVX-512.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    unsafe fn step_avx512(&mut self) {
        self.step_here();
    }

    /// # Safety
    /// The processor must have AVX2.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    unsafe fn step_avx2(&mut self) {
        self.step_here();
    }

    #[inline(always)]
    fn step_here(&mut self) {
        self.choose();
        self.apply();
        self.results.moves += 64 * WORDS as u64;
        self.end();
    }

    /// Draws one of the legal moves in every lane. There is one in each.
    #[inline(always)]
    fn choose(&mut self) {
        let (mut count, mut digits) = ([Lanes::NONE; DIGITS], 0);
        for &legal in &self.legal {
            let mut carry = legal;
            for digit in &mut count[..digits] {
                (*digit, carry) = (digit.xor(carry), digit.and(carry));
            }
            // As many digits as the largest count has.
            if carry.any() && digits < DIGITS {
                count[digits] = carry;
                digits += 1;
            }
        }
        // ⌊u · count / 2^(digits + EXTRA)⌋ for random u of so many bits, from the lowest bit up: the sum keeps its upper half.
        let mut left = [Lanes::NONE; DIGITS];
        for _ in 0..digits + EXTRA {
            let bit = self.random.draw();
            let mut carry = Lanes::NONE;
            for d in 0..digits {
                let add = count[d].and(bit);
                let both = left[d].xor(add);
                let sum = both.xor(carry);
                carry = left[d].and(add).or(both.and(carry));
                // Shifted down by one digit.
                if d > 0 {
                    left[d - 1] = sum;
                }
            }
            if digits > 0 {
                left[digits - 1] = carry;
            }
        }
        // The move before which so many others are legal.
        let mut open = Lanes::ALL;
        for (chosen, &legal) in self.chosen.iter_mut().zip(&self.legal) {
            let legal = legal.and(open);
            let mut more = Lanes::NONE;
            for digit in &left[..digits] {
                more = more.or(*digit);
            }
            *chosen = legal.without(more);
            open = open.without(*chosen);
            let mut borrow = legal.and(more);
            for digit in &mut left[..digits] {
                let before = *digit;
                *digit = before.xor(borrow);
                borrow = borrow.without(before);
            }
        }
    }

    /// Makes the chosen moves.
    #[inline(always)]
    fn apply(&mut self) {
        let plan = &self.plan;
        self.changes.clear();
        for (number, (cone, changed)) in &plan.conditional {
            compute(cone, &mut self.values);
            for (&output, &(fact, adds)) in cone.outputs().iter().zip(changed) {
                self.changes.push((fact, adds, value(&self.values, output).and(self.chosen[*number])));
            }
        }
        change(&plan.clear, &self.chosen, &mut self.values, Lanes::without);
        for &(fact, _, lanes) in self.changes.iter().filter(|(_, adds, _)| !adds) {
            let value = &mut self.values[1 + fact as usize];
            *value = value.without(lanes);
        }
        change(&plan.set, &self.chosen, &mut self.values, Lanes::or);
        for &(fact, _, lanes) in self.changes.iter().filter(|(_, adds, _)| *adds) {
            let value = &mut self.values[1 + fact as usize];
            *value = value.or(lanes);
        }
    }

    /// Finds the games that are over, notes their results, and begins them again.
    #[inline(always)]
    fn end(&mut self) {
        let plan = &self.plan;
        // Of the player who moved: won, lost, drawn.
        let mut results = [Lanes::NONE; 3];
        compute(&plan.over, &mut self.values);
        let mut over = Lanes::NONE;
        for (&output, &ending) in plan.over.outputs().iter().zip(&plan.results) {
            let here = value(&self.values, output).without(over);
            results[ending as usize] = results[ending as usize].or(here);
            over = over.or(here);
        }
        if let Some(limit) = plan.limit {
            let mut reached = Lanes::NONE;
            for (lane, made) in self.made.iter_mut().enumerate() {
                *made += 1;
                reached.0[lane / 64] |= u64::from(*made >= limit) << (lane % 64);
            }
            let ending = if plan.alone { Ending::Lose } else { Ending::Draw };
            results[ending as usize] = results[ending as usize].or(reached.without(over));
            over = over.or(reached);
        }
        if !plan.alone {
            for &(a, b) in &plan.swaps {
                self.values.swap(1 + a as usize, 1 + b as usize);
            }
            self.second = self.second.xor(Lanes::ALL);
        }
        compute(&plan.legal, &mut self.values);
        let mut going = Lanes::NONE;
        for (legal, &output) in self.legal.iter_mut().zip(plan.legal.outputs()) {
            *legal = value(&self.values, output);
            going = going.or(*legal);
        }
        let stuck = Lanes::ALL.without(going).without(over);
        if stuck.any() {
            // The player who is stuck is the next one; alone it is the same.
            let ending = match (plan.stuck, plan.alone) {
                (Ending::Win, false) => Ending::Lose,
                (Ending::Lose, false) => Ending::Win,
                (ending, _) => ending,
            };
            results[ending as usize] = results[ending as usize].or(stuck);
            over = over.or(stuck);
        }
        if !over.any() {
            return;
        }
        // Lanes in which the second player is to move now are those in which the first one moved.
        let first = if plan.alone { Lanes::ALL } else { self.second };
        let [won, lost, drawn] = results;
        self.results.won += won.and(first).count() + lost.without(first).count();
        self.results.lost += lost.and(first).count() + won.without(first).count();
        self.results.drawn += drawn.count();
        for (value, &holds) in self.values[1..].iter_mut().zip(&plan.start) {
            *value = if holds { value.or(over) } else { value.without(over) };
        }
        for (legal, &holds) in self.legal.iter_mut().zip(&self.first_legal) {
            *legal = if holds { legal.or(over) } else { legal.without(over) };
        }
        self.second = self.second.without(over);
        if plan.limit.is_some() {
            for (lane, made) in self.made.iter_mut().enumerate() {
                if over.0[lane / 64] >> (lane % 64) & 1 == 1 {
                    *made = 0;
                }
            }
        }
    }

    /// The move that was drawn last in a lane.
    #[cfg(test)]
    pub(crate) fn chosen_in(&self, lane: usize) -> Vec<usize> {
        let holds = |lanes: &Lanes| lanes.0[lane / 64] >> (lane % 64) & 1 == 1;
        self.chosen.iter().enumerate().filter(|(_, lanes)| holds(lanes)).map(|(number, _)| number).collect()
    }

    /// Whether a fact holds in a lane, as the player to move sees it.
    #[cfg(test)]
    pub(crate) fn holds(&self, fact: usize, lane: usize) -> bool {
        self.values[1 + fact].0[lane / 64] >> (lane % 64) & 1 == 1
    }
}

/// Computes the gates of a cone in all lanes.
#[inline(always)]
fn compute(cone: &Cone, values: &mut [Lanes]) {
    let mut begin = 0;
    let first = 1 + cone.facts();
    for (gate, &end) in cone.ends().iter().enumerate() {
        let mut all = Lanes::ALL;
        for &input in &cone.inputs()[begin as usize..end as usize] {
            all = all.and(value(values, input));
        }
        values[first + gate] = all;
        begin = end;
    }
}

/// Changes the facts of each move in the lanes in which it is chosen.
#[inline(always)]
fn change(
    (facts, ends): &(Vec<u32>, Vec<u32>),
    chosen: &[Lanes],
    values: &mut [Lanes],
    change: impl Fn(Lanes, Lanes) -> Lanes,
) {
    let mut begin = 0;
    for (&chosen, &end) in chosen.iter().zip(ends) {
        for &fact in &facts[begin as usize..end as usize] {
            let value = &mut values[1 + fact as usize];
            *value = change(*value, chosen);
        }
        begin = end;
    }
}

#[inline(always)]
fn value(values: &[Lanes], literal: Literal) -> Lanes {
    let negated = 0_u64.wrapping_sub(u64::from(literal % 2));
    values[literal as usize / 2].zip(Lanes::NONE, |a, _| a ^ negated)
}
