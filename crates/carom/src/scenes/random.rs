//! Random numbers equal to those of numpy's `RandomState`, so that scenes agree with scripts that draw them there.
//!
//! The generator is MT19937 (Matsumoto and Nishimura 1998) seeded by one integer; doubles have 53 random bits from two of its words;
//! normal numbers come by Marsaglia's polar method, two at a time.

/// Words of the state.
const N: usize = 624;
/// Offset of the recurrence.
const M: usize = 397;

/// The generator of `numpy.random.RandomState(seed)`.
#[derive(Clone, Debug)]
pub struct RandomState {
    words: [u32; N],
    next: usize,
    /// The second of two normal numbers.
    kept: Option<f64>,
}

impl RandomState {
    /// The generator with an integer seed.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        let mut words = [seed; N];
        for i in 1..N {
            let before = words[i - 1];
            words[i] = 1_812_433_253_u32.wrapping_mul(before ^ (before >> 30)).wrapping_add(i as u32);
        }
        Self { words, next: N, kept: None }
    }

    /// The next 32 bits.
    pub fn word(&mut self) -> u32 {
        if self.next == N {
            self.turn();
        }
        let mut y = self.words[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// The next N words of the recurrence.
    fn turn(&mut self) {
        for i in 0..N {
            let y = (self.words[i] & 0x8000_0000) | (self.words[(i + 1) % N] & 0x7fff_ffff);
            let twist = if y & 1 == 0 { 0 } else { 0x9908_b0df };
            self.words[i] = self.words[(i + M) % N] ^ (y >> 1) ^ twist;
        }
        self.next = 0;
    }

    /// A number in [0, 1), a multiple of 2⁻⁵³.
    pub fn double(&mut self) -> f64 {
        let (high, low) = (self.word() >> 5, self.word() >> 6);
        (f64::from(high) * 67_108_864.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// A number uniform in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.double()
    }

    /// A normal number of mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        if let Some(kept) = self.kept.take() {
            return kept;
        }
        loop {
            let (a, b) = (2.0 * self.double() - 1.0, 2.0 * self.double() - 1.0);
            let square = a * a + b * b;
            if square < 1.0 && square != 0.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.kept = Some(factor * a);
                return factor * b;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those that numpy 2.4 prints; the first word of seed 5489 is that of the authors' program.
    #[test]
    fn words_and_doubles_are_those_of_numpy() {
        let mut random = RandomState::new(5489);
        assert_eq!([random.word(), random.word()], [3_499_211_612, 581_869_302]);
        let mut random = RandomState::new(1);
        let words: Vec<u32> = (0..5).map(|_| random.word()).collect();
        assert_eq!(words, [1_791_095_845, 4_282_876_139, 3_093_770_124, 4_005_303_368, 491_263]);
        let mut random = RandomState::new(1);
        assert_eq!([0; 3].map(|_| random.uniform(0.0, 1.0)), [0.417022004702574, 0.7203244934421581, 0.00011437481734488664]);
        // goes on over the end of the first 624 words
        let mut random = RandomState::new(1);
        let radii: Vec<f64> = (0..1000).map(|_| random.uniform(0.05, 0.0999)).collect();
        assert_eq!((radii[0], radii[999]), (0.07080939803465844, 0.08864641557415248));
        assert_eq!([0; 2].map(|_| random.uniform(-1.0, 1.0)), [-0.34838006677359035, 0.7796546828947499]);
    }

    /// As above; one rounding is left to the logarithm of the machine.
    #[test]
    fn normal_numbers_are_those_of_numpy() {
        let mut random = RandomState::new(2);
        for _ in 0..1500 {
            random.double();
        }
        let normal: Vec<f64> = (0..2000).map(|_| random.normal()).collect();
        let first = [-0.7521332561837656, -0.3245178909872563, -1.0645106516784093, -0.2558278227446522];
        let last = [-0.9729627876894571, -0.1362852706666348, 1.0418285032984662, 1.1425935736104609];
        for (got, expected) in normal.iter().zip(first).chain(normal[1996..].iter().zip(last)) {
            assert!((got - expected).abs() <= 4e-16 * expected.abs(), "{got} {expected}");
        }
    }
}
