//! Random numbers that are the same everywhere.

/// SplitMix64. [Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, 2014]
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Uniform in [−1, 1).
    pub fn symmetric(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        // 53 bits make a number in [0, 2)
        (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self, size: f64) -> [f64; 3] {
        std::array::from_fn(|_| size * self.symmetric())
    }
}
