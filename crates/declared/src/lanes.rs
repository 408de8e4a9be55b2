//! Many games in parallel, one bit each: lane vectors, gates over them, and bit-sliced random moves.
//!
//! Facts, gates and moves have one bit per lane, so that a word operation acts on all games. To draw moves, the legal
//! moves of all lanes are counted, a random number is multiplied by the counts, and a pass over the moves counts it
//! down.

use crate::bits::holds;
use crate::circuit::{Literal, Signal};
use adept_game::Stream;
use rand::Rng;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

/// Words of a wide lane vector.
const WORDS: usize = 8;
/// Random bits beyond those of the counts: probabilities of moves differ by a factor of at most 1 + 2⁻¹⁶.
const EXTRA: usize = 16;
/// Limit on bytes of all node values of a game that is played in lanes.
pub(crate) const BYTES: usize = 32 << 20;
/// Bits of a count of moves, which is at most 2¹⁸.
const DIGITS: usize = 19;

/// A bit vector with one lane per game.
pub(crate) trait Lanes: Copy + PartialEq + Debug + Send + Sync + 'static {
    const NONE: Self;
    const ALL: Self;
    /// Number of lanes.
    const COUNT: usize;

    fn words(&self) -> &[u64];

    fn words_mut(&mut self) -> &mut [u64];

    /// Combines the words of two vectors with `f`.
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self;

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

    /// AND NOT.
    #[inline(always)]
    fn without(self, other: Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    #[inline(always)]
    fn count(self) -> u64 {
        self.words().iter().map(|word| u64::from(word.count_ones())).sum()
    }

    #[inline(always)]
    fn any(self) -> bool {
        self.words().iter().fold(0, |a, b| a | b) != 0
    }

    /// The first `wanted` set lanes.
    #[inline(always)]
    fn first(self, mut wanted: u64) -> Self {
        let mut result = self;
        for word in result.words_mut() {
            let mut left = *word;
            while left != 0 && wanted > 0 {
                left &= left - 1;
                wanted -= 1;
            }
            *word &= !left;
        }
        result
    }
}

/// 512 lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Wide(pub(crate) [u64; WORDS]);

impl Lanes for Wide {
    const NONE: Self = Self([0; WORDS]);
    const ALL: Self = Self([!0; WORDS]);
    const COUNT: usize = 64 * WORDS;

    #[inline(always)]
    fn words(&self) -> &[u64] {
        &self.0
    }

    #[inline(always)]
    fn words_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }

    #[inline(always)]
    fn zip(mut self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        for w in 0..WORDS {
            self.0[w] = f(self.0[w], other.0[w]);
        }
        self
    }
}

/// 64 lanes.
impl Lanes for u64 {
    const NONE: Self = 0;
    const ALL: Self = !0;
    const COUNT: usize = 64;

    #[inline(always)]
    fn words(&self) -> &[u64] {
        std::slice::from_ref(self)
    }

    #[inline(always)]
    fn words_mut(&mut self) -> &mut [u64] {
        std::slice::from_mut(self)
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        f(self, other)
    }
}

/// A random generator for all lanes: xoshiro256++ in every word.
#[derive(Debug)]
pub(crate) struct Random<L>([L; 4]);

impl<L: Lanes> Default for Random<L> {
    fn default() -> Self {
        Self([L::NONE; 4])
    }
}

impl<L: Lanes> Random<L> {
    pub(crate) fn new(rng: &mut Stream) -> Self {
        Self([L::NONE; 4].map(|mut lanes| {
            lanes.words_mut().iter_mut().for_each(|word| *word = rng.next_u64());
            lanes
        }))
    }

    #[inline(always)]
    fn draw(&mut self) -> L {
        let [a, b, c, d] = self.0;
        let drawn = a.zip(d, |a, d| a.wrapping_add(d).rotate_left(23).wrapping_add(a));
        let (c, d) = (c.xor(a), d.xor(b));
        let shifted = b.zip(b, |b, _| b << 17);
        self.0 = [a.xor(d), b.xor(c), c.xor(shifted), d.zip(d, |d, _| d.rotate_left(45))];
        drawn
    }
}

/// A number in each lane, bit-sliced from the lowest bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers<L> {
    digits: [L; DIGITS],
    /// Number of digits of the largest number.
    len: usize,
}

impl<L: Lanes> Numbers<L> {
    /// 0 in all lanes.
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { digits: [L::NONE; DIGITS], len: 0 }
    }

    /// Increments these lanes.
    #[inline(always)]
    pub(crate) fn add(&mut self, lanes: L) {
        let mut carry = lanes;
        for digit in &mut self.digits[..self.len] {
            (*digit, carry) = (digit.xor(carry), digit.and(carry));
        }
        if carry.any() && self.len < DIGITS {
            self.digits[self.len] = carry;
            self.len += 1;
        }
    }

    /// Lanes with a nonzero number.
    #[inline(always)]
    pub(crate) fn any(&self) -> L {
        self.digits[..self.len].iter().fold(L::NONE, |any, &digit| any.or(digit))
    }

    /// Lanes with a number above 1.
    #[inline(always)]
    pub(crate) fn several(&self) -> L {
        self.digits[..self.len].iter().skip(1).fold(L::NONE, |any, &digit| any.or(digit))
    }

    /// A uniform random number below that of each lane; 0 for 0.
    #[inline(always)]
    pub(crate) fn draw(&self, random: &mut Random<L>) -> Self {
        // ⌊u · number / 2^(len + EXTRA)⌋ for a random u of len + EXTRA bits, from the lowest bit up: the sum keeps its
        // upper half.
        let mut drawn = Self::new();
        if self.len < 2 {
            return drawn;
        }
        drawn.len = self.len;
        let left = &mut drawn.digits;
        for _ in 0..self.len + EXTRA {
            let bit = random.draw();
            let mut carry = L::NONE;
            for d in 0..self.len {
                let add = self.digits[d].and(bit);
                let both = left[d].xor(add);
                let sum = both.xor(carry);
                carry = left[d].and(add).or(both.and(carry));
                // Shift down by one digit.
                if d > 0 {
                    left[d - 1] = sum;
                }
            }
            left[self.len - 1] = carry;
        }
        drawn
    }

    /// Decrements these lanes. Returns those whose number was already 0; it stays 0.
    #[inline(always)]
    pub(crate) fn take(&mut self, lanes: L) -> L {
        let more = self.any();
        let mut borrow = lanes.and(more);
        for digit in &mut self.digits[..self.len] {
            let before = *digit;
            *digit = before.xor(borrow);
            borrow = borrow.without(before);
        }
        lanes.without(more)
    }
}

/// The value of a literal in all lanes.
#[inline(always)]
pub(crate) fn value<L: Lanes>(values: &[L], literal: Literal) -> L {
    let negated = 0_u64.wrapping_sub(u64::from(literal % 2));
    values[literal as usize / 2].zip(L::NONE, |a, _| a ^ negated)
}

impl<L: Lanes> Signal for L {
    const NONE: Self = <L as Lanes>::NONE;

    #[inline(always)]
    fn value(values: &[Self], literal: Literal) -> Self {
        value(values, literal)
    }

    #[inline(always)]
    fn all(values: &[Self], inputs: &[Literal]) -> Self {
        let mut all = L::ALL;
        for &input in inputs {
            all = all.and(value(values, input));
        }
        all
    }
}

/// Draws one of the legal moves in each of these lanes that has any. `count` is their number.
#[inline(always)]
pub(crate) fn choose<L: Lanes>(
    count: &Numbers<L>,
    random: &mut Random<L>,
    legal: &[L],
    mut lanes: L,
    chosen: &mut [L],
) {
    // Index of the drawn move among the legal ones, counted down.
    let mut left = count.draw(random);
    for (chosen, &legal) in chosen.iter_mut().zip(legal) {
        let legal = legal.and(lanes);
        *chosen = if legal.any() { left.take(legal) } else { <L as Lanes>::NONE };
        lanes = lanes.without(*chosen);
    }
}

/// Sets the facts of a position in some lanes.
#[inline(always)]
pub(crate) fn restart<L: Lanes>(values: &mut [L], facts: &[u64], lanes: L) {
    for (fact, value) in values.iter_mut().enumerate() {
        *value = if holds(facts, fact) { value.or(lanes) } else { value.without(lanes) };
    }
}

/// A pool of values that are expensive to create.
#[derive(Debug)]
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Pool<T> {
    /// Runs `work` with an idle value or a new one, which returns to the pool.
    pub(crate) fn with<R>(&self, make: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut one = idle.unwrap_or_else(make);
        let result = work(&mut one);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(one);
        result
    }
}

/// Work on lanes that [`widest`] compiles for each instruction set.
pub(crate) trait Work {
    type Output;

    /// Must always be inlined, with everything that it calls, so that [`widest`] can use wide instructions.
    fn work(self) -> Self::Output;
}

/// Runs `work` with the widest instructions of the processor.
pub(crate) fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has the feature.
            return unsafe { with_avx512(work) };
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature.
            return unsafe { with_avx2(work) };
        }
    }
    work.work()
}

/// # Safety
/// The processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn with_avx512<W: Work>(work: W) -> W::Output {
    work.work()
}

/// # Safety
/// The processor must have AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn with_avx2<W: Work>(work: W) -> W::Output {
    work.work()
}
