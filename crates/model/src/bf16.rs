//! Numbers of bfloat16, the upper half of the bits of a float.

/// Numbers in a line of the cache.
pub(crate) const PER_LANE: usize = 32;

/// A line of the cache: a row of a tile, or a register of AVX-512.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct CacheLine<T, const N: usize>(pub(crate) [T; N]);

/// 32 numbers of bfloat16.
pub(crate) type Bf16Lane = CacheLine<u16, PER_LANE>;

/// The nearest number of bfloat16; of two, the even one. NaN stays NaN, and denormal numbers become 0, as processors read them.
#[inline(always)]
pub(crate) fn round_to_bf16(x: f32) -> f32 {
    let bits = x.to_bits();
    let nearest = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    let nearest = if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { nearest };
    let nearest = if x.is_nan() { bits | 0x0040_0000 } else { nearest };
    f32::from_bits(nearest & 0xffff_0000)
}

/// The bits of the [nearest](round_to_bf16) number.
#[inline(always)]
pub(crate) fn to_bf16(x: f32) -> u16 {
    (round_to_bf16(x).to_bits() >> 16) as u16
}

/// The float of a number of bfloat16.
#[inline(always)]
pub(crate) fn from_bf16(half: u16) -> f32 {
    f32::from_bits(u32::from(half) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_the_nearest_numbers() {
        for (x, expected) in [
            (1.0, 1.0),
            (-0.0, -0.0),
            (1.0 + 1.0 / 256.0, 1.0),
            (1.0 + 3.0 / 256.0, 1.0 + 4.0 / 256.0),
            (1.0 + 1.1 / 256.0, 1.0 + 2.0 / 256.0),
            (-3.142_5, -3.140_625),
            (f32::MAX, f32::INFINITY),
            (f32::NEG_INFINITY, f32::NEG_INFINITY),
            (f32::MIN_POSITIVE, f32::MIN_POSITIVE),
            (f32::from_bits(0x007f_ffff), 0.0),
            (1e-40, 0.0),
            (-1e-40, -0.0),
        ] {
            assert_eq!(from_bf16(to_bf16(x)).to_bits(), f32::to_bits(expected), "{x}");
        }
        assert!(
            from_bf16(to_bf16(f32::NAN)).is_nan() && from_bf16(to_bf16(f32::from_bits(0x7f80_0001))).is_nan()
        );
    }
}
