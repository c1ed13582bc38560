//! Axes: ranges, round ticks and their labels.

/// How numbers are laid along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// In proportion to the number.
    #[default]
    Linear,
    /// In proportion to its logarithm; numbers that are not positive have no place.
    Logarithmic,
}

/// An axis from `min` to `max` with its ticks.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    scale: Scale,
    pub(super) min: f64,
    pub(super) max: f64,
    /// Value and label.
    pub(super) ticks: Vec<(f64, String)>,
    /// What the labels must be multiplied by and added to, such as `×10⁻³` or `+ 1000`; empty if nothing.
    pub(super) note: String,
}

impl Axis {
    /// An axis over all finite `values` with about `n_ticks` ticks; `margin` is added at both ends, as part of the range.
    pub(super) fn over(values: impl Iterator<Item = f64>, margin: f64, n_ticks: f64) -> Self {
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|v| v.is_finite()) {
            (min, max) = (min.min(value), max.max(value));
        }
        if min > max {
            (min, max) = (0.0, 1.0);
        }
        // Halves, because the difference of the largest numbers overflows.
        let half = 0.5 * max - 0.5 * min;
        let largest = min.abs().max(max.abs());
        if half <= (1e-13 * largest).max(1e-290) {
            // A constant (up to rounding) gets a range that shows its value.
            let around = if largest < 1e-290 { 1.0 } else { 0.1 * largest };
            (min, max) = (min - around, max + around);
        } else {
            (min, max) = (min - 2.0 * margin * half, max + 2.0 * margin * half);
        }
        (min, max) = (min.clamp(-1e300, 1e300), max.clamp(-1e300, 1e300));
        let (ticks, note) = ticks(min, max, n_ticks.max(2.0));
        Axis { scale: Scale::Linear, min, max, ticks, note }
    }

    /// A logarithmic axis over all positive finite `values` with at most about `n_ticks` ticks: powers of ten, or 1 and 3, or 1, 2 and 5 times them
    /// where the range is short.
    pub(super) fn logarithmic(values: impl Iterator<Item = f64>, n_ticks: f64) -> Self {
        let (mut min, mut max) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|v| *v > 0.0 && v.is_finite()) {
            (min, max) = (min.min(value), max.max(value));
        }
        if min > max {
            (min, max) = (1.0, 10.0);
        }
        (min, max) = (min.clamp(1e-300, 1e300), max.clamp(1e-300, 1e300));
        // two ticks need a range of a factor 10/3 in the worst place
        if max / min < 4.0 {
            (min, max) = (min / 2.0, max * 2.0);
        }
        let ticks = powers(min, max, n_ticks.max(2.0));
        Axis { scale: Scale::Logarithmic, min, max, ticks, note: String::new() }
    }

    /// The number whose differences are distances along the axis; not finite where the value has no place.
    pub(super) fn coordinate(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.log10(),
        }
    }

    /// Where `value` lies between 0 (`min`) and 1 (`max`).
    pub(super) fn place(&self, value: f64) -> f32 {
        self.place_coordinate(self.coordinate(value))
    }

    /// Where a coordinate lies between 0 and 1.
    pub(super) fn place_coordinate(&self, coordinate: f64) -> f32 {
        let [start, end] = self.range();
        ((coordinate - start) / (end - start)) as f32
    }

    /// The coordinates of the ends.
    pub(super) fn range(&self) -> [f64; 2] {
        [self.coordinate(self.min), self.coordinate(self.max)]
    }
}

/// Ticks of a logarithmic axis.
fn powers(min: f64, max: f64, n_ticks: f64) -> Vec<(f64, String)> {
    let decades = max.log10() - min.log10();
    // A rounding must not lose the tick at the end of the range.
    let (low, high) = (min * (1.0 - 1e-12), max * (1.0 + 1e-12));
    let (first, last) = (low.log10().floor() as i32, high.log10().floor() as i32);
    let digits: &[f64] = match n_ticks.max(4.0) / decades {
        room if room >= 3.0 => &[1.0, 2.0, 5.0],
        room if room >= 2.0 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let stride = (decades / n_ticks).ceil().max(1.0) as i32;
    (first..=last)
        .filter(|power| power % stride == 0)
        .flat_map(|power| digits.iter().map(move |digit| (*digit, power)))
        .map(|(digit, power)| (digit * 10f64.powi(power), power_label(digit, power)))
        .filter(|(value, _)| (low..=high).contains(value))
        .collect()
}

/// `0.02`, `1`, `500`, or `2×10⁷` where the zeros are too many to count.
fn power_label(digit: f64, power: i32) -> String {
    if (-3..=4).contains(&power) {
        return number(digit * 10f64.powi(power), usize::try_from(-power).unwrap_or(0));
    }
    let factor = if digit == 1.0 { String::new() } else { format!("{digit}×") };
    format!("{factor}10{}", superscript(power))
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten, and the note of their labels.
fn ticks(min: f64, max: f64, n_ticks: f64) -> (Vec<(f64, String)>, String) {
    let raw = (max - min) / n_ticks;
    let power = raw.log10().floor() as i32;
    let base = 10f64.powi(power);
    let (digit, power) = match raw / base {
        x if x <= 1.5 => (1.0, power),
        x if x <= 3.5 => (2.0, power),
        x if x <= 7.0 => (5.0, power),
        _ => (1.0, power + 1),
    };
    let step = digit * 10f64.powi(power);
    let values: Vec<f64> = ((min / step).ceil() as i64..=(max / step).floor() as i64).map(|k| k as f64 * step).collect();
    let largest = values.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
    let (offset, offset_power) = offset(largest, values.first().copied().unwrap_or(0.0), step);
    let remainder = values.iter().fold(0.0_f64, |a, v| a.max((v - offset).abs()));
    let exponent = exponent_of_three(remainder);
    let decimals = usize::try_from(exponent - power).unwrap_or(0);
    let scale = 10f64.powi(-exponent);
    let label = |v: &f64| number((v - offset) * scale, decimals);
    let labels = values.iter().map(|v| (*v, label(v))).collect();
    (labels, note(exponent, offset, offset_power))
}

/// The roundest number near the ticks, to count from when they differ only far behind their leading digits; with the power of
/// ten of its last digit.
fn offset(largest: f64, first: f64, step: f64) -> (f64, i32) {
    if largest <= 2e4 * step {
        return (0.0, 0);
    }
    let least = step.log10().floor() as i32;
    let greatest = largest.log10().floor() as i32;
    (least..=greatest)
        .rev()
        .map(|power| ((first / 10f64.powi(power)).round() * 10f64.powi(power), power))
        .find(|(candidate, _)| (candidate - first).abs() <= 50.0 * step)
        .unwrap_or((first, least))
}

/// Multiple of three that makes `largest` readable; 0 from a thousandth to below a hundred thousand.
fn exponent_of_three(largest: f64) -> i32 {
    if largest == 0.0 || (5e-3..1e5).contains(&largest) {
        return 0;
    }
    3 * ((largest.log10() + 1e-9) / 3.0).floor() as i32
}

fn note(exponent: i32, offset: f64, power: i32) -> String {
    let factor = if exponent == 0 { String::new() } else { format!("×10{}", superscript(exponent)) };
    if offset == 0.0 {
        return factor;
    }
    let sign = if offset < 0.0 { '−' } else { '+' };
    let magnitude = offset.abs();
    let value = if (1e-4..1e9).contains(&magnitude) {
        number(magnitude, usize::try_from(-power).unwrap_or(0))
    } else {
        let exponent = magnitude.log10().floor() as i32;
        let decimals = usize::try_from(exponent - power).unwrap_or(0);
        format!("{}×10{}", number(magnitude / 10f64.powi(exponent), decimals), superscript(exponent))
    };
    format!("{factor} {sign} {value}").trim_start().into()
}

/// A number with a true minus sign, and none before zero.
fn number(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let is_zero = text.chars().all(|c| c == '0' || c == '.');
    if value < 0.0 && !is_zero { format!("−{text}") } else { text }
}

fn superscript(exponent: i32) -> String {
    let raised = |c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' | '4'..='9' => char::from_u32(0x2070 + (c as u32 - '0' as u32)).unwrap_or(c),
        other => other,
    };
    exponent.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(min: f64, max: f64) -> (Vec<String>, String) {
        let axis = Axis::over([min, max].into_iter(), 0.0, 5.0);
        (axis.ticks.into_iter().map(|t| t.1).collect(), axis.note)
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(0.0, 1.0), (["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"].map(String::from).to_vec(), "".into()));
        assert_eq!(labels(-30.0, 15.0).0, ["−30", "−20", "−10", "0", "10"]);
        assert_eq!(labels(0.0, 0.25).0, ["0.00", "0.05", "0.10", "0.15", "0.20", "0.25"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten_and_their_parts() {
        let labels = |min: f64, max: f64, n: f64| {
            let axis = Axis::logarithmic([min, max].into_iter(), n);
            axis.ticks.into_iter().map(|t| t.1).collect::<Vec<_>>()
        };
        assert_eq!(labels(1.0, 10.0, 8.0), ["1", "2", "5", "10"]);
        assert_eq!(labels(1.0, 100.0, 8.0), ["1", "2", "5", "10", "20", "50", "100"]);
        assert_eq!(labels(0.002, 0.05, 8.0), ["0.002", "0.005", "0.01", "0.02", "0.05"]);
        assert_eq!(labels(1.0, 100.0, 4.0), ["1", "3", "10", "30", "100"]);
        assert_eq!(labels(1.0, 1e6, 8.0), ["1", "10", "100", "1000", "10000", "10⁵", "10⁶"]);
        assert_eq!(labels(1e-12, 1.0, 4.0), ["10⁻¹²", "10⁻⁹", "10⁻⁶", "0.001", "1"]);
    }

    #[test]
    fn a_logarithmic_axis_places_factors_alike_and_bad_values_nowhere() {
        let axis = Axis::logarithmic([0.0, -3.0, 1.0, 10_000.0, f64::NAN].into_iter(), 5.0);
        assert_eq!([1.0, 100.0, 10_000.0].map(|v| axis.place(v)), [0.0, 0.5, 1.0]);
        assert!(!axis.coordinate(0.0).is_finite() && axis.coordinate(-1.0).is_nan());
        for values in [vec![], vec![5.0], vec![3.0, 3.5], vec![1e-300, 1e300], vec![f64::MAX, f64::MIN_POSITIVE], vec![-1.0]] {
            let axis = Axis::logarithmic(values.iter().copied(), 5.0);
            assert!(axis.min < axis.max && axis.min > 0.0 && (2..12).contains(&axis.ticks.len()), "{values:?}: {axis:?}");
        }
    }

    #[test]
    fn small_and_large_numbers_share_a_power_of_ten() {
        assert_eq!(labels(0.0, 4.5e-12), (["0", "1", "2", "3", "4"].map(String::from).to_vec(), "×10⁻¹²".into()));
        let (ticks, note) = labels(-3e7, 2e7);
        assert_eq!((ticks[0].as_str(), note.as_str()), ("−30", "×10⁶"));
        let (ticks, note) = labels(0.0, 250_000.0);
        assert_eq!((ticks[1].as_str(), note.as_str()), ("50", "×10³"));
    }

    #[test]
    fn small_changes_of_a_large_number_are_counted_from_an_offset() {
        let (ticks, note) = labels(1000.0001, 1000.0006);
        assert_eq!(note, "×10⁻⁶ + 1000");
        assert_eq!(ticks, ["100", "200", "300", "400", "500", "600"]);
        assert_eq!(labels(123.456_781, 123.456_789).1, "×10⁻⁶ + 123.4568");
        assert_eq!(labels(3.0e12 + 1.0, 3.0e12 + 5.0).1, "+ 3×10¹²");
        assert!(labels(-1000.0006, -1000.0001).1.ends_with("− 1000"));
    }

    #[test]
    fn constants_and_nothing_have_an_axis() {
        for values in [vec![], vec![0.0], vec![5.0, 5.0], vec![-1e300, 1e300], vec![f64::NAN, 1e-320], vec![f64::MAX, f64::MIN]] {
            let axis = Axis::over(values.iter().copied(), 0.05, 5.0);
            assert!(axis.min < axis.max && axis.ticks.len() >= 2, "{values:?}: {axis:?}");
        }
    }
}
