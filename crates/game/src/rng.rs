//! Random numbers: every draw comes from a stream named by (seed, purpose, index).

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::borrow::Borrow;

/// The generator of the whole project: xoshiro256++, whose state can be saved and restored.
pub type Stream = Xoshiro256PlusPlus;

/// The stream for this name. Streams with different names are independent for all practical purposes.
///
/// ```
/// use adept_game::rand::RngExt;
/// use adept_game::stream;
///
/// let roll = |seed, game| stream(seed, "dice", game).random_range(1..=6);
/// assert_eq!(roll(7, 0), roll(7, 0)); // the same name, the same numbers
/// assert!((0..20).any(|game| roll(7, game) != roll(7, 0)));
/// ```
pub fn stream(seed: u64, purpose: &str, index: u64) -> Stream {
    // FNV-1a over the name, then SplitMix64 finalisers between the parts; xoshiro's own seeding
    // (SplitMix64 again) spreads the 64 bits over the state.
    let mut name = 0xcbf2_9ce4_8422_2325_u64;
    for byte in purpose.bytes() {
        name = (name ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    Stream::seed_from_u64(mix(mix(mix(seed) ^ name) ^ index))
}

fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Samples an index with these probabilities, which sum to 1. What rounding leaves of 1 goes to the last positive one.
///
/// ```
/// use adept_game::{draw_index, stream};
///
/// let mut rng = stream(1, "coin", 0);
/// let heads = (0..1000).filter(|_| draw_index([0.7, 0.3], &mut rng) == 0).count();
/// assert!((600..800).contains(&heads));
/// assert_eq!(draw_index([0.0, 1.0, 0.0], &mut rng), 1);
/// ```
#[inline]
pub fn draw_index(
    probabilities: impl IntoIterator<Item: Borrow<f64>>,
    rng: &mut (impl Rng + ?Sized),
) -> usize {
    let (mut left, mut last) = (rng.random::<f64>(), 0);
    for (i, p) in probabilities.into_iter().enumerate() {
        let p = *p.borrow();
        if left < p {
            return i;
        }
        left -= p;
        if p > 0.0 {
            last = i;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::stream;
    use rand::Rng;

    #[test]
    fn names_give_streams_of_their_own_that_repeat() {
        let first = |seed, purpose, index| stream(seed, purpose, index).next_u64();
        assert_eq!(first(1, "play", 0), first(1, "play", 0));
        let others = [first(1, "play", 0), first(2, "play", 0), first(1, "init", 0), first(1, "play", 1)];
        for (i, a) in others.iter().enumerate() {
            assert!(others[i + 1..].iter().all(|b| a != b));
        }
    }

    /// If these values change, users' recorded seeds no longer repeat.
    #[test]
    fn the_mapping_from_names_is_frozen() {
        insta::assert_debug_snapshot!([
            stream(0, "init", 0).next_u64(),
            stream(1, "play", 0).next_u64(),
            stream(1, "play", 7).next_u64(),
        ]);
    }
}
