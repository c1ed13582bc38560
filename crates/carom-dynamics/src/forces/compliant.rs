//! Laws of penalised contact: springs, dampers and regularised friction instead of complementarity.
//!
//! With the penetration y = −g ≥ 0 and its rate ẏ = −u_N the normal force is
//!
//! ```text
//! f_N = K y^n + d(y) ẏ,       n = 1 linear, n = 3/2 Hertz
//! ```
//!
//! and zero for y < 0, with the dampings of [`Damping`] [Brogliato2002, eqs. 34, 73, 74]. As printed it can be attractive (f_N < 0) while the
//! bodies part; [`Attraction`] says what becomes of that [eq. 76]. Friction is Coulomb's with the sign regularised over a sliding speed v_s:
//! f_T = −μ f_N u_T / max(‖u_T‖, v_s); a contact never sticks, it creeps.

use crate::error::ModelError;
use serde::{Deserialize, Serialize};

/// The damping factor d(y) of a penalised contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Damping {
    /// None.
    #[default]
    None,
    /// C: the spring–dashpot of eq. 34. The force jumps at the touch.
    Constant {
        /// C [N s/m], ≥ 0.
        coefficient: f64,
    },
    /// C s(y/depth) with the smooth step s(x) = x² (3 − 2x) up to 1: the first of eq. 74.
    Step {
        /// C [N s/m], ≥ 0.
        coefficient: f64,
        /// Penetration at which all of it acts \[m\], positive.
        depth: f64,
    },
    /// C K y^n: proportional to the elastic force, the second of eq. 74 (Hunt and Crossley).
    Elastic {
        /// C \[s/m\], ≥ 0.
        coefficient: f64,
    },
    /// C √y: the third of eq. 74.
    Root {
        /// C [N s/m^(3/2)], ≥ 0.
        coefficient: f64,
    },
    /// 2 ζ √(m k), with the stiffness k = (3/2) (W K²)^(1/3) of Hertz's spring under the load W: the fourth of eq. 74, where the root of
    /// W K² is printed as a square root, against its unit.
    Critical {
        /// ζ, of the kind of a restitution coefficient, ≥ 0.
        coefficient: f64,
        /// Equivalent mass m \[kg\], positive.
        mass: f64,
        /// Load W \[N\], positive: the weight, say.
        load: f64,
    },
}

/// What becomes of a force that would pull.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attraction {
    /// max(0, f_N): the default.
    #[default]
    None,
    /// |f_N|.
    Reversed,
    /// f_N as it is: the contact glues.
    Allowed,
}

/// A penalised contact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompliantLaw {
    /// K [N/m^n], positive.
    pub stiffness: f64,
    /// n ≥ 1: 1 (the default) linear, 1.5 Hertz.
    #[serde(default = "one")]
    pub exponent: f64,
    /// Damping.
    #[serde(default)]
    pub damping: Damping,
    /// What becomes of a pulling force.
    #[serde(default)]
    pub attraction: Attraction,
    /// Friction coefficient μ ≥ 0, default 0.
    #[serde(default)]
    pub friction: f64,
    /// Sliding speed v_s above which friction is full [m/s], positive, default 1e-3.
    #[serde(default = "slip_velocity")]
    pub slip_velocity: f64,
}

fn one() -> f64 {
    1.0
}

fn slip_velocity() -> f64 {
    1e-3
}

impl CompliantLaw {
    /// A spring without damping and friction.
    #[must_use]
    pub fn spring(stiffness: f64, exponent: f64) -> Self {
        let (damping, attraction) = (Damping::None, Attraction::None);
        CompliantLaw { stiffness, exponent, damping, attraction, friction: 0.0, slip_velocity: slip_velocity() }
    }

    /// Checks the coefficients; `name` is that of the contact.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`] naming the coefficient.
    pub fn validate(&self, name: &str) -> Result<(), ModelError> {
        let check = |ok: bool, what: &str, value: f64, expected: &'static str| {
            let ok = ok && value.is_finite();
            if ok { Ok(()) } else { Err(ModelError::OutOfRange { what: format!("{what} of \"{name}\""), value, expected }) }
        };
        let (positive, not_negative) = ("a positive number is needed", "a number ≥ 0 is needed");
        check(self.stiffness > 0.0, "stiffness", self.stiffness, positive)?;
        check(self.exponent >= 1.0, "exponent", self.exponent, "a number ≥ 1 is needed")?;
        check(self.friction >= 0.0, "friction", self.friction, not_negative)?;
        check(self.slip_velocity > 0.0, "slip velocity", self.slip_velocity, positive)?;
        let of_damping = |coefficient: f64| check(coefficient >= 0.0, "damping coefficient", coefficient, not_negative);
        match self.damping {
            Damping::None => Ok(()),
            Damping::Constant { coefficient } | Damping::Elastic { coefficient } | Damping::Root { coefficient } => of_damping(coefficient),
            Damping::Step { coefficient, depth } => {
                of_damping(coefficient)?;
                check(depth > 0.0, "damping depth", depth, positive)
            }
            Damping::Critical { coefficient, mass, load } => {
                of_damping(coefficient)?;
                check(mass > 0.0, "damping mass", mass, positive)?;
                check(load > 0.0, "damping load", load, positive)
            }
        }
    }

    /// K y^n \[N\].
    #[must_use]
    pub fn elastic(&self, gap: f64) -> f64 {
        let y = (-gap).max(0.0);
        if self.exponent == 1.0 { self.stiffness * y } else { self.stiffness * y.powf(self.exponent) }
    }

    /// Its potential, K y^(n+1)/(n + 1) \[J\].
    #[must_use]
    pub fn potential(&self, gap: f64) -> f64 {
        let y = (-gap).max(0.0);
        self.elastic(gap) * y / (self.exponent + 1.0)
    }

    /// d(y) [N s/m]; zero without contact.
    #[must_use]
    pub(crate) fn damping_factor(&self, gap: f64) -> f64 {
        let y = -gap;
        if y < 0.0 {
            return 0.0;
        }
        match self.damping {
            Damping::None => 0.0,
            Damping::Constant { coefficient } => coefficient,
            Damping::Step { coefficient, depth } => {
                let x = (y / depth).min(1.0);
                coefficient * x * x * (3.0 - 2.0 * x)
            }
            Damping::Elastic { coefficient } => coefficient * self.elastic(gap),
            Damping::Root { coefficient } => coefficient * y.sqrt(),
            Damping::Critical { coefficient, mass, load } => {
                let stiffness = 1.5 * (load * self.stiffness * self.stiffness).cbrt();
                2.0 * coefficient * (mass * stiffness).sqrt()
            }
        }
    }

    /// f_N at the gap and the normal velocity u_N (> 0 when parting) \[N\].
    #[must_use]
    pub fn normal(&self, gap: f64, u: f64) -> f64 {
        if gap > 0.0 {
            return 0.0;
        }
        let force = self.elastic(gap) - self.damping_factor(gap) * u;
        match self.attraction {
            Attraction::None => force.max(0.0),
            Attraction::Reversed => force.abs(),
            Attraction::Allowed => force,
        }
    }

    /// Writes the force over the rows (normal, tangents) of a contact with velocity `u`.
    pub fn force(&self, gap: f64, u: &[f64], force: &mut [f64]) {
        force[0] = self.normal(gap, u[0]);
        let slip = u[1..].iter().map(|u| u * u).sum::<f64>().sqrt();
        let factor = -self.friction * force[0].max(0.0) / slip.max(self.slip_velocity);
        for (f, u) in force[1..].iter_mut().zip(&u[1..]) {
            *f = factor * u;
        }
    }

    /// (−∂f_N/∂g, −∂f_N/∂u_N), both as of the elastic and damping parts: the slope of the spring and d(y); zero where the force is cut off.
    #[must_use]
    pub fn slopes(&self, gap: f64, u: f64) -> (f64, f64) {
        if gap > 0.0 || (self.attraction == Attraction::None && self.normal(gap, u) == 0.0) {
            return (0.0, 0.0);
        }
        (self.exponent * self.stiffness * (-gap).powf(self.exponent - 1.0), self.damping_factor(gap))
    }
}
