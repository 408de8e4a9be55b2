//! The checkers of one side on the whole board, packed into 128 bits.

use std::fmt;

/// Number of the bar: a checker there enters on point 25 − die.
pub const BAR: u8 = 25;

/// The checkers of one side. Points are numbered as this side sees them: it moves from 24 down to 1, and then off.
///
/// Place 0 counts the checkers borne off, 1 to 24 those on the points, 25 those on the bar, four bits each: a move is one
/// subtraction and one addition, and the sum of all places is the number of checkers, at most 15.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Side(u128);

/// The lowest bit of each place.
const ONES: u128 = 0x1111_1111_1111_1111_1111_1111_1111;

impl Side {
    /// Packs counts of checkers: borne off, on the points 1 to 24, on the bar.
    ///
    /// # Panics
    /// If there are more than 15.
    pub fn new(places: [u8; 26]) -> Self {
        let total: u32 = places.iter().map(|&count| u32::from(count)).sum();
        assert!(total < 16, "a side has at most 15 checkers, found {total}");
        Self(places.iter().rev().fold(0, |bits, &count| bits << 4 | u128::from(count)))
    }

    /// A side with all its checkers borne off.
    ///
    /// # Panics
    /// If there are more than 15.
    pub const fn all_off(checkers: u8) -> Self {
        assert!(checkers < 16, "a side has at most 15 checkers");
        Self(checkers as u128)
    }

    /// Checkers borne off, on the points 1 to 24, and on the bar.
    pub fn places(self) -> [u8; 26] {
        std::array::from_fn(|place| self.on(place as u8))
    }

    /// Checkers on the points 1 to 16, and on the points from 17 up with the bar, four bits each.
    #[inline]
    pub(super) fn on_board(self) -> [u64; 2] {
        [(self.0 >> 4) as u64, (self.0 >> 68) as u64]
    }

    /// Checkers on a place: 0 is off, 25 the bar.
    #[inline]
    pub fn on(self, place: u8) -> u8 {
        (self.0 >> (4 * place) & 15) as u8
    }

    /// Number of checkers, including those borne off.
    pub fn checkers(self) -> u8 {
        self.places().iter().sum()
    }

    /// Checkers borne off.
    #[inline]
    pub fn off(self) -> u8 {
        self.on(0)
    }

    /// Sum of the points of all checkers; 25 for each on the bar.
    #[inline]
    pub fn pips(self) -> u32 {
        self.pips_above(0)
    }

    /// Pips that all checkers need to get down to a place.
    #[inline]
    pub(super) fn pips_above(self, place: u8) -> u32 {
        let bits = self.0 >> (4 * place);
        let high = (bits >> 64) as u64;
        // Prefix sums of all places. No sum is above 15, so four bits hold it.
        let sums = (bits as u64 + high).wrapping_mul(ONES as u64);
        let pairs = (sums & 0x0F0F_0F0F_0F0F_0F0F) + (sums >> 4 & 0x0F0F_0F0F_0F0F_0F0F);
        let all = (pairs.wrapping_mul(0x0101_0101_0101_0101) >> 56) as u32;
        16 * ((sums >> 60) as u32 + count(high)) - all
    }

    /// Number of checkers above a place.
    #[inline]
    pub(super) fn above(self, place: u8) -> u32 {
        let bits = self.0 >> (4 * place + 4);
        count(bits as u64 + (bits >> 64) as u64)
    }

    /// The checkers on places up to this one.
    #[inline]
    pub(super) fn up_to(self, place: u8) -> Self {
        Self(self.0 & ((1 << (4 * place + 4)) - 1))
    }

    /// For each place, the number of checkers above three.
    #[inline]
    pub(super) fn above_three(self) -> Self {
        let more = (self.0 >> 2 | self.0 >> 3) & ONES;
        Self((self.0 & (15 * more)) - 3 * more)
    }

    /// For each place, the number of checkers above two.
    #[inline]
    pub(super) fn above_two(self) -> Self {
        let more = (self.0 >> 2 | self.0 >> 3 | self.0 >> 1 & self.0) & ONES;
        Self((self.0 & (15 * more)) - 2 * more)
    }

    /// Whether all checkers have been borne off.
    #[inline]
    pub fn is_done(self) -> bool {
        self.0 >> 4 == 0
    }

    /// The highest place with a checker; 0 if all are off.
    #[inline]
    pub fn highest(self) -> u8 {
        ((127 - (self.0 | 1).leading_zeros()) / 4) as u8
    }

    /// Whether a checker is on this place or a higher one.
    #[inline]
    pub fn reaches(self, place: u8) -> bool {
        self.0 >> (4 * place) != 0
    }

    /// Mask of the places above 0 with a checker.
    #[inline]
    pub(super) fn occupied(self) -> u32 {
        let bits = self.0;
        compress(bits | bits >> 1 | bits >> 2 | bits >> 3) & !1
    }

    /// Mask of the points 1 to 24 with at least two checkers, where the opponent cannot land.
    #[inline]
    pub(super) fn blocks(self) -> u32 {
        let bits = self.0;
        compress(bits >> 1 | bits >> 2 | bits >> 3) & POINTS
    }

    /// The side after a checker moves from a place to a lower one; 0 is off.
    #[inline]
    pub(super) fn moved(self, from: u8, to: u8) -> Self {
        Self(self.0 - (1 << (4 * from)) + (1 << (4 * to)))
    }

    /// The side after its only checker on a point is hit: it goes to the bar.
    #[inline]
    pub(super) fn hit(self, point: u8) -> Self {
        Self(self.0 - (1 << (4 * point)) + (1 << (4 * BAR)))
    }
}

/// Sum of 16 packed counts, at most 15.
#[inline]
fn count(places: u64) -> u32 {
    (places.wrapping_mul(ONES as u64) >> 60) as u32
}

/// Mask of the points 1 to 24.
pub(super) const POINTS: u32 = 0x01FF_FFFE;

/// Gathers the lowest bit of each of the 26 places.
#[inline]
fn compress(bits: u128) -> u32 {
    let bits = bits & ONES;
    let half = |bits: u64| {
        let pairs = (bits | bits >> 3) & 0x0303_0303_0303_0303;
        let fours = (pairs | pairs >> 6) & 0x000F_000F_000F_000F;
        let eights = (fours | fours >> 12) & 0x0000_00FF_0000_00FF;
        (eights | eights >> 24) as u32 & 0xFFFF
    };
    half(bits as u64) | half((bits >> 64) as u64) << 16
}

impl fmt::Display for Side {
    /// The places with checkers from the bar down, such as `24:2 13:5 8:3 6:5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for place in (0..=BAR).rev().filter(|&place| self.on(place) > 0) {
            if !first {
                f.write_str(" ")?;
            }
            first = false;
            match place {
                0 => f.write_str("off")?,
                BAR => f.write_str("bar")?,
                point => point.fmt(f)?,
            }
            f.write_str(":")?;
            self.on(place).fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({self})")
    }
}
