//! What the last steps did, for the first guess of the next: accelerations and reactions, extrapolated.
//!
//! ```text
//! a = Δv/h, λ = p/h, means over a step:      x(t) ≈ x₁ + (x₁ − x₀) (m − m₁)/(m₁ − m₀),      m the middle of a step
//! ```
//!
//! With guesses that are right to O(h²) Newton's iteration begins where it would be after one or two iterations more. Steps that were tried and
//! refused are among the last ones; only those that end where the next one begins are taken.

use crate::checkpoint::{Bytes, CheckpointError, Reader};

/// The last steps.
#[derive(Debug, Default)]
pub(super) struct StepHistory {
    records: [Record; 3],
    /// Place of the next record.
    next: usize,
}

/// A step.
#[derive(Debug, Default)]
struct Record {
    /// Its start and size \[s\]; a size of zero: none.
    start: f64,
    size: f64,
    /// Means of v̇ and λ over it.
    acceleration: Vec<f64>,
    reaction: Vec<f64>,
}

/// A step ends where another begins within this part of its size.
const JOINED: f64 = 1e-6;

/// Largest change from step to step, relative to the values, that is extrapolated: a larger one is that of an impact.
const LARGEST_CHANGE: f64 = 0.5;

impl Record {
    fn ends_at(&self, t: f64) -> bool {
        self.size > 0.0 && (self.start + self.size - t).abs() <= JOINED * self.size
    }

    fn middle(&self) -> f64 {
        self.start + 0.5 * self.size
    }
}

impl StepHistory {
    /// Writes the steps.
    pub fn save(&self, out: &mut Bytes) {
        for record in &self.records {
            out.number(record.start);
            out.number(record.size);
            out.numbers(&record.acceleration);
            out.numbers(&record.reaction);
        }
        out.count(self.next);
    }

    /// Reads what was saved.
    pub fn load(&mut self, from: &mut Reader<'_>) -> Result<(), CheckpointError> {
        for record in &mut self.records {
            record.start = from.number()?;
            record.size = from.number()?;
            from.numbers(&mut record.acceleration)?;
            from.numbers(&mut record.reaction)?;
        }
        self.next = from.count()?;
        if self.next < self.records.len() {
            Ok(())
        } else {
            Err(CheckpointError::Unknown { what: "place of a step", found: self.next as u64 })
        }
    }

    /// Keeps a step that began at `start`.
    pub fn keep(&mut self, (start, size): (f64, f64), (v_start, v_end): (&[f64], &[f64]), impulses: impl Iterator<Item = f64>) {
        let record = &mut self.records[self.next];
        (record.start, record.size) = (start, size);
        record.acceleration.clear();
        record.acceleration.extend(v_start.iter().zip(v_end).map(|(start, end)| (end - start) / size));
        record.reaction.clear();
        record.reaction.extend(impulses.map(|p| p / size));
        self.next = (self.next + 1) % self.records.len();
    }

    /// The last step, and that before it where they belong to a step that begins at `t`.
    fn last(&self, t: f64) -> Option<(&Record, Option<&Record>)> {
        let last = self.records.iter().find(|record| record.ends_at(t));
        match last {
            Some(last) => Some((last, self.records.iter().find(|record| record.ends_at(last.start)))),
            None => Some(&self.records[(self.next + 2) % 3]).filter(|record| record.size > 0.0).map(|record| (record, None)),
        }
    }

    /// Adds h v̇ of a step of this size from t to `v`.
    pub(crate) fn add_change(&self, (t, size): (f64, f64), v: &mut [f64]) {
        let Some((last, before)) = self.last(t).filter(|(last, _)| last.acceleration.len() == v.len()) else { return };
        let before = before.map(|before| (before, &before.acceleration[..]));
        extrapolate((last, &last.acceleration), before, t + 0.5 * size, |i, a| v[i] += size * a);
    }

    /// Writes h λ of a step of this size from t; false where none is known.
    pub(crate) fn guess_impulses(&self, (t, size): (f64, f64), p: &mut [f64]) -> bool {
        let Some((last, before)) = self.last(t).filter(|(last, _)| last.reaction.len() == p.len()) else { return false };
        let before = before.map(|before| (before, &before.reaction[..]));
        extrapolate((last, &last.reaction), before, t + 0.5 * size, |i, lambda| p[i] = size * lambda);
        true
    }
}

/// Calls `take(i, x_i)` with the values at `middle`.
fn extrapolate((last, values): (&Record, &[f64]), before: Option<(&Record, &[f64])>, middle: f64, mut take: impl FnMut(usize, f64)) {
    let before = before.filter(|(_, older)| older.len() == values.len() && is_smooth(values, older));
    match before {
        Some((record, older)) => {
            let factor = (middle - last.middle()) / (last.middle() - record.middle());
            values.iter().zip(older).enumerate().for_each(|(i, (x, old))| take(i, x + factor * (x - old)));
        }
        None => values.iter().enumerate().for_each(|(i, x)| take(i, *x)),
    }
}

fn is_smooth(values: &[f64], older: &[f64]) -> bool {
    let change: f64 = values.iter().zip(older).map(|(x, old)| (x - old) * (x - old)).sum();
    change <= LARGEST_CHANGE * LARGEST_CHANGE * values.iter().map(|x| x * x).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// v = t², λ = t over steps of different sizes: means are linear in the middles, so the guess is exact; refused steps do not count.
    #[test]
    fn linear_courses_are_met_exactly() {
        let mut history = StepHistory::default();
        let keep = |history: &mut StepHistory, t: f64, h: f64| {
            let end = t + h;
            history.keep((t, h), (&[t * t], &[end * end]), [h * (t + 0.5 * h)].into_iter());
        };
        keep(&mut history, 1.0, 0.1);
        keep(&mut history, 1.1, 0.2);
        keep(&mut history, 1.3, 0.4);
        // the last one was refused: a shorter one is tried
        let (mut v, mut p) = ([1.3 * 1.3], [0.0]);
        history.add_change((1.3, 0.1), &mut v);
        assert!(history.guess_impulses((1.3, 0.1), &mut p));
        // roundings
        assert!((v[0] - 1.4 * 1.4).abs() < 1e-14 && (p[0] - 0.1 * 1.35).abs() < 1e-15, "{v:?} {p:?}");
    }

    #[test]
    fn jumps_are_not_extrapolated() {
        let mut history = StepHistory::default();
        history.keep((0.0, 1.0), (&[0.0], &[1.0]), [1.0].into_iter());
        history.keep((1.0, 1.0), (&[1.0], &[11.0]), [10.0].into_iter());
        let mut v = [11.0];
        history.add_change((2.0, 1.0), &mut v);
        assert_eq!(v, [21.0]);
        assert!(!StepHistory::default().guess_impulses((0.0, 1.0), &mut [0.0]));
    }
}
