//! Random numbers that are the same everywhere.

/// The generator SplitMix64: small, seeded, the same bits on every machine. [Steele, Lea, Flood, *Fast splittable pseudorandom number
/// generators*, OOPSLA 2014]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitMix64(u64);

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

impl SplitMix64 {
    /// The sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// The sequence of a seed from its number `k` on, counted from 0.
    #[must_use]
    pub fn from_number(seed: u64, k: u64) -> Self {
        SplitMix64(seed.wrapping_add(k.wrapping_mul(STEP)))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// The next number, uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The next number, uniform in [−1, 1).
    pub fn symmetric(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers from seed 1234567 are published with the generator.
    #[test]
    fn the_published_numbers() {
        let published: [u64; 3] = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        let mut random = SplitMix64::new(1_234_567);
        for (k, bits) in published.into_iter().enumerate() {
            assert_eq!(random.bits(), bits);
            assert_eq!(SplitMix64::from_number(1_234_567, k as u64).bits(), bits);
        }
    }
}
