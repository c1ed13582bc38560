//! PID with filtered derivative, limits and anti-windup.
//!
//! ```text
//! u* = k_p e + I + D,   u = clamp(u*, lower, upper)
//! İ = k_i e + (u − u*)/T_t,    T_f Ḋ + D = k_d ė
//! ```
//!
//! The integral is let go by back-calculation while u is cut off (Åström, Hägglund, *PID controllers*, 2nd ed., 1995, §3.5). Sampled, I by forward and D by backward differences:
//! I_{k+1} = I_k + T (k_i e_k + (u_k − u*_k)/T_t), D_k = (T_f D_{k−1} + k_d (e_k − e_{k−1}))/(T_f + T), D_0 = 0. Where a formula of ė is given, D is k_d ė,
//! filtered only where T_f > 0.

use crate::control::{Clock, ControllerSource, StateSource};
use crate::error::ModelError;

/// A PID controller; output `u`, state `integral`, in continuous time `filter`.
#[derive(Clone, Debug, PartialEq)]
pub struct PidSource {
    /// Name.
    pub name: String,
    /// When it acts; `None`: in continuous time.
    pub clock: Option<Clock>,
    /// The error e = reference − measurement, a formula.
    pub error: String,
    /// Its rate ė, a formula; empty: by differences, or by the filter.
    pub rate: String,
    /// k_p.
    pub proportional: f64,
    /// k_i \[1/s\].
    pub integral: f64,
    /// k_d \[s\].
    pub derivative: f64,
    /// T_f \[s\], ≥ 0.
    pub filter: f64,
    /// Least and largest u.
    pub limits: (f64, f64),
    /// T_t \[s\], positive; infinite: the integral winds up.
    pub tracking: f64,
}

impl PidSource {
    /// The controller by formula.
    ///
    /// # Errors
    /// [`ModelError`]: numbers out of range, a derivative in continuous time without filter and rate.
    pub fn controller(&self) -> Result<ControllerSource, ModelError> {
        self.validate()?;
        let mut source = ControllerSource { name: self.name.clone(), clock: self.clock, ..ControllerSource::default() };
        source.locals.push(("e".into(), self.error.clone()));
        let derivative = self.derivative_part(&mut source);
        let raw = format!("{:e}*e + {} + {derivative}", self.proportional, if self.integral == 0.0 { "0" } else { "integral" });
        source.locals.push(("raw".into(), raw));
        let (lower, upper) = self.limits;
        let mut u = "raw".to_owned();
        if lower > f64::NEG_INFINITY {
            u = format!("max({u}, {lower:e})");
        }
        if upper < f64::INFINITY {
            u = format!("min({u}, {upper:e})");
        }
        source.outputs.push(("u".into(), u));
        if self.integral != 0.0 {
            let back = if self.tracking.is_finite() { format!(" + (u - raw)/{:e}", self.tracking) } else { String::new() };
            let growth = format!("{:e}*e{back}", self.integral);
            source.states.push(match self.clock {
                Some(clock) => state("integral", Some(format!("integral + {:e}*({growth})", clock.period)), None),
                None => state("integral", None, Some(growth)),
            });
        }
        Ok(source)
    }

    /// D, with the states it needs.
    fn derivative_part(&self, source: &mut ControllerSource) -> String {
        let (k, filter) = (self.derivative, self.filter);
        if k == 0.0 {
            return "0".into();
        }
        let has_rate = !self.rate.is_empty();
        if has_rate && filter == 0.0 {
            return format!("{k:e}*({})", self.rate);
        }
        match self.clock {
            // w follows e (or ∫ of its rate): D = k (e − w)/T_f, ẇ = (e − w)/T_f
            None if !has_rate => {
                source.states.push(state("filter", None, Some(format!("(e - filter)/{filter:e}"))));
                format!("{k:e}*(e - filter)/{filter:e}")
            }
            None => {
                source.states.push(state("filter", None, Some(format!("({} - filter)/{filter:e}", self.rate))));
                format!("{k:e}*filter")
            }
            Some(clock) => {
                let period = clock.period;
                let change = if has_rate { format!("{period:e}*({})", self.rate) } else { "if(begun > 0, e - last, 0)".into() };
                source.locals.push(("d".into(), format!("({filter:e}*derivative + {k:e}*({change}))/{:e}", filter + period)));
                source.states.push(state("derivative", Some("d".into()), None));
                if !has_rate {
                    source.states.push(state("last", Some("e".into()), None));
                    source.states.push(state("begun", Some("1".into()), None));
                }
                "d".into()
            }
        }
    }

    fn validate(&self) -> Result<(), ModelError> {
        let part = format!("controller \"{}\"", self.name);
        let gains = [("kp", self.proportional), ("ki", self.integral), ("kd", self.derivative)];
        if let Some((key, value)) = gains.into_iter().find(|(_, gain)| !gain.is_finite()) {
            return Err(ModelError::OutOfRange { what: format!("{key} of {part}"), value, expected: "a finite number is needed" });
        }
        if gains.iter().all(|(_, gain)| *gain == 0.0) {
            return Err(ModelError::Control { part, reason: "it has no gains: give at least one of `kp`, `ki`, `kd`".into() });
        }
        if !(self.filter >= 0.0 && self.filter.is_finite()) {
            let expected = "a finite time [s] ≥ 0 is needed";
            return Err(ModelError::OutOfRange { what: format!("filter of {part}"), value: self.filter, expected });
        }
        if self.tracking.is_nan() || self.tracking <= 0.0 {
            let expected = "a positive time [s] is needed";
            return Err(ModelError::OutOfRange { what: format!("tracking of {part}"), value: self.tracking, expected });
        }
        if self.clock.is_none() && self.derivative != 0.0 && self.filter == 0.0 && self.rate.is_empty() {
            let reason = "a derivative in continuous time needs a `filter` time [s], or the formula `rate` of the error's rate; or sample it by a `period`";
            return Err(ModelError::Control { part, reason: reason.into() });
        }
        Ok(())
    }
}

fn state(name: &str, update: Option<String>, rate: Option<String>) -> StateSource {
    StateSource { name: name.into(), initial: 0.0, update, rate }
}
