//! Accumulations of impacts: infinitely many of one contact before a finite time (Zeno behaviour).
//!
//! Towards an accumulation point t∞ of a motion that is smooth between impacts the intervals Δ_k = t_k − t_{k−1} between impacts obey
//!
//! ```text
//! Δ_{k+1} = ρ(Δ_k) Δ_k,     ρ(Δ) = ρ∞ + c Δ + d Δ² + …
//! ```
//!
//! with ρ∞ = e for one contact of restitution e, because the forces hardly change any more. The last three ratios give ρ∞, c and d, and the rest of the
//! series is summed with them. A constant ratio gives t∞ = t_k + ρ Δ_k/(1 − ρ).
//!
//! Such a prediction errs by O(Δ⁴), and by the round-off ε of gaps, which makes errors ε/u of the times of impact that grow while u falls. So of all
//! predictions of a series the one that differs least from the one before is taken.

/// Impacts that are remembered: three ratios need four intervals.
const REMEMBERED: usize = 5;
/// Ratios are nearly the same if they differ by at most this fraction of 1 − ρ.
const NEARLY_SAME: f64 = 0.05;
/// Times are taken as exact up to this fraction of them: smaller changes of a ratio are none.
const ROUND_OFF: f64 = 64.0 * f64::EPSILON;
/// Most terms of the series that are summed one by one.
const MOST_TERMS: usize = 100_000;

/// The impacts of a contact accumulate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accumulating {
    /// The last ratio of two intervals ρ < 1.
    pub ratio: f64,
    /// The time t∞ at which they accumulate \[s\].
    pub end: f64,
}

/// Watches the impacts of one contact.
///
/// They accumulate if each of the last three intervals is shorter than the one before by nearly the same factor ρ < 1 (successive ratios differ by at most
/// 0.05 (1 − ρ)), and the velocities of approach fall as well; once they do, as long as intervals and velocities fall. Impacts of other contacts may come
/// between.
#[derive(Clone, Debug, Default)]
pub struct AccumulationWatch {
    /// Time \[s\] and approach velocity \[m/s\] of the last impacts, the newest last.
    impacts: Vec<(f64, f64)>,
    predicted: Option<Prediction>,
}

/// What the impacts of a series have predicted so far.
#[derive(Clone, Copy, Debug)]
struct Prediction {
    /// t∞ by the last impact \[s\].
    last: f64,
    /// t∞ by the impact that changed it least, and that change \[s\].
    best: f64,
    change: f64,
}

impl Prediction {
    fn next(before: Option<Self>, end: f64) -> Self {
        let Some(before) = before else { return Prediction { last: end, best: end, change: f64::INFINITY } };
        let change = (end - before.last).abs();
        if change <= before.change { Prediction { last: end, best: end, change } } else { Prediction { last: end, ..before } }
    }
}

impl AccumulationWatch {
    /// Without impacts.
    #[must_use]
    pub fn new() -> Self {
        AccumulationWatch { impacts: Vec::with_capacity(REMEMBERED), predicted: None }
    }

    /// Forgets all impacts: the contact has closed.
    pub fn reset(&mut self) {
        self.impacts.clear();
        self.predicted = None;
    }

    /// Time of the last impact \[s\].
    #[must_use]
    pub fn last(&self) -> Option<f64> {
        self.impacts.last().map(|impact| impact.0)
    }

    /// An impact at t with the approach velocity u⁻ \[m/s\], of either sign.
    pub fn impact(&mut self, t: f64, u_minus: f64) -> Option<Accumulating> {
        if self.impacts.len() == REMEMBERED {
            self.impacts.remove(0);
        }
        self.impacts.push((t, u_minus.abs()));
        let before = self.predicted.take();
        if self.impacts.len() < REMEMBERED || self.impacts.windows(2).any(|pair| pair[1].1 >= pair[0].1) {
            return None;
        }
        let interval = |k: usize| self.impacts[k + 1].0 - self.impacts[k].0;
        let intervals: [f64; REMEMBERED - 1] = std::array::from_fn(interval);
        let ratios: [f64; REMEMBERED - 2] = std::array::from_fn(|k| intervals[k + 1] / intervals[k]);
        let shrinks = intervals.iter().all(|&interval| interval > 0.0) && ratios.iter().all(|&ratio| ratio < 1.0);
        let same = |pair: &[f64]| (pair[1] - pair[0]).abs() <= NEARLY_SAME * (1.0 - pair[1]);
        if !shrinks || (before.is_none() && !ratios.windows(2).all(same)) {
            return None;
        }
        let predicted = Prediction::next(before, t + rest_of_series(&intervals, &ratios, ROUND_OFF * t.abs()));
        self.predicted = Some(predicted);
        Some(Accumulating { ratio: ratios[2], end: predicted.best.max(t) })
    }
}

/// Σ of the intervals to come, with ρ(Δ) as the parabola through the three ratios; with the last ratio if that leaves (0, 1).
///
/// Changes of the ratios that errors of the times by `error` can explain are left out, because ratios near 1 would magnify them.
fn rest_of_series(intervals: &[f64; 4], ratios: &[f64; 3], error: f64) -> f64 {
    let [a, b, c, last] = *intervals;
    let beyond_error = |change: f64| if change.abs() > error / last { change } else { 0.0 };
    // Newton's form at Δ = c, b, a
    let near = beyond_error(ratios[2] - ratios[1]) / (c - b);
    let far = (ratios[1] - ratios[0]) / (b - a);
    let second = if near == 0.0 { 0.0 } else { beyond_error((near - far) * (c - b)) / ((c - b) * (c - a)) };
    let ratio = |interval: f64| ratios[2] + (interval - c) * (near + (interval - b) * second);
    let (mut interval, mut sum) = (last, 0.0);
    for _ in 0..MOST_TERMS {
        let now = ratio(interval);
        if !(now > 0.0 && now < 1.0) {
            return last * ratios[2] / (1.0 - ratios[2]);
        }
        interval *= now;
        sum += interval;
        if interval <= f64::EPSILON * sum {
            return sum;
        }
    }
    let now = ratio(interval);
    sum + interval * now / (1.0 - now)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Impacts of a driven, damped oscillator at a stop, ẍ + 0.1 ẋ + x = cos(t/2), x ≤ 0.2, e = 0.3, x(0) = ẋ(0) = 0, with 20 digits from the
    /// piecewise closed form.
    const TIMES: [f64; 12] = [
        0.653_823_761_554_147_2,
        1.124_380_903_203_493_2,
        1.278_122_231_308_962_2,
        1.325_684_988_793_399_3,
        1.340_095_094_756_949_7,
        1.344_431_194_900_953_6,
        1.345_733_210_992_067_2,
        1.346_123_922_833_922_3,
        1.346_241_146_025_106,
        1.346_276_313_850_135_6,
        1.346_286_864_275_740_5,
        1.346_290_029_410_450_7,
    ];
    const VELOCITIES: [f64; 12] = [
        0.577_615_799_780_308_6,
        0.162_673_867_999_647_8,
        0.047_441_860_391_979_5,
        0.014_095_865_884_243_976,
        0.004_216_034_134_140_542,
        0.001_263_653_153_661_007_5,
        0.000_378_991_487_304_449_26,
        0.000_113_688_036_208_682_92,
        0.000_034_105_563_729_307_24,
        0.000_010_231_592_870_452_599,
        3.069_470_998_613_95e-6,
        9.208_406_819_525_96e-7,
    ];
    const END: f64 = 1.346_291_385_897_7;

    #[test]
    fn the_oscillator_accumulates_where_its_closed_form_does() {
        let mut watch = AccumulationWatch::new();
        let (mut errors, mut simple) = (Vec::new(), Vec::new());
        for (k, (&t, &u)) in TIMES.iter().zip(&VELOCITIES).enumerate() {
            if let Some(found) = watch.impact(t, -u) {
                errors.push((found.end - END).abs());
                simple.push((t + found.ratio * (t - TIMES[k - 1]) / (1.0 - found.ratio) - END).abs());
            }
        }
        // seen at the fifth impact, 6 ms before the end
        assert_eq!(errors.len(), 8, "{errors:?}");
        assert!(errors[0] < 1e-6 && errors[7] < 1e-12, "{errors:?}");
        // each impact takes Δ to 0.3 Δ: errors of Δ⁴ fall by 120, those of a constant ratio by 11; the reference has 13 decimals
        assert!(errors[3] < 1e-12, "{errors:?}");
        assert!((0..4).all(|k| errors[k] < 0.01 * simple[k]), "{errors:?}, {simple:?}");
    }

    #[test]
    fn bouncing_balls_accumulate_where_the_geometric_series_ends() {
        for e in [0.5_f64, 0.8, 0.9, 0.99] {
            let first = (2.0_f64 / 9.81).sqrt();
            let end = first * (1.0 + e) / (1.0 - e);
            let (mut watch, mut t, mut u, mut n) = (AccumulationWatch::new(), first, 9.81 * first, 0);
            for k in 0.. {
                if let Some(found) = watch.impact(t, u) {
                    // round-off of the intervals in the ratio, ∂(ρΔ/(1 − ρ))/∂ρ = Δ/(1 − ρ)²
                    let tolerance = 8.0 * f64::EPSILON * end / ((1.0 - e) * (1.0 - e));
                    assert!((found.end - end).abs() < tolerance, "e = {e}, impact {k}: {} instead of {end}", found.end);
                    assert!((found.ratio - e).abs() < 8.0 * f64::EPSILON * end * 9.81 / u, "e = {e}: {}", found.ratio);
                    n += 1;
                }
                u *= e;
                t += 2.0 * u / 9.81;
                if u < 1e-7 {
                    // every impact from the fifth on
                    assert_eq!(n, k - 3, "e = {e}");
                    break;
                }
            }
        }
    }

    #[test]
    fn other_impacts_do_not_accumulate() {
        // the same oscillator driven with cos 2t, stop at 0.3, e = 0.8: a periodic motion is approached
        let times = [
            0.977_292_982_291_526_8,
            4.353_772_750_198_352,
            7.542_364_853_916_684,
            10.707_059_265_952_622,
            13.862_537_625_078_496,
            17.013_184_925_513_203,
            20.160_898_667_999_366,
            23.306_689_387_643_09,
            26.451_169_998_582_636,
            29.594_743_025_608_268,
            32.737_684_739_639_42,
            35.880_188_643_587_128,
            39.022_391_011_939_358,
        ];
        let mut watch = AccumulationWatch::new();
        assert!(times.iter().enumerate().all(|(k, &t)| watch.impact(t, 2.0 - 0.1 * k as f64).is_none()));
        // equal intervals, growing ones, and velocities that do not fall
        for factor in [1.0_f64, 1.1] {
            let mut watch = AccumulationWatch::new();
            assert!((1..20).all(|k| watch.impact(f64::from(k).powf(factor), 1.0 / f64::from(k)).is_none()));
        }
        let mut watch = AccumulationWatch::new();
        assert!((1..20).all(|k| watch.impact(1.0 - 0.5_f64.powi(k), 1.0).is_none()));
        // forgotten impacts
        watch.reset();
        assert!((1..5).all(|k| watch.impact(2.0 - 0.5_f64.powi(k), 0.5_f64.powi(k)).is_none()));
        let found = watch.impact(2.0 - 0.5_f64.powi(5), 0.5_f64.powi(5)).unwrap();
        assert_eq!((found.ratio, found.end), (0.5, 2.0));
    }
}
