//! Energetic coefficients of restitution: Stronge's law, and that of Liu, Zhao & Brogliato for several contacts.
//!
//! During the impact each contact is a spring, infinitely stiff, with force f = K δ^η and energy E = K δ^(η+1)/(η+1), of which expansion gives
//! back the part e². In terms of impulses
//!
//! ```text
//! du = W dP,      dP_i : dP_j = f_i : f_j,      f = (η + 1)^{η/(η+1)} K^{1/(η+1)} E^{η/(η+1)},
//! dE_i = −u_i dP_i (compression, u_i < 0),      dE_i = −u_i dP_i / e_i² (expansion, u_i > 0)
//! ```
//!
//! \[Liu, Zhao & Brogliato, *Frictionless multiple impacts in multibody systems I*, Proc. R. Soc. A 464, 2008: Darboux–Keller dynamics with
//! the distributing law of bi-stiffness contacts\]. A contact expands until E = 0 and may be compressed again; the impact ends when all
//! energies are zero and no contact approaches. One contact: Stronge's law, e² the ratio of the works of expansion and compression.
//!
//! Here the same equations are integrated in the stretched time τ, dP = f dτ, and the virtual depth δ instead of E, which has no singularity
//! at E = 0:
//!
//! ```text
//! u' = W f(δ),      δ' = −u (u < 0),   −u/e² (u > 0),   δ ≥ 0
//! ```
//!
//! by half a step of δ, a whole one of u, half a step of δ (leap-frog), with step doubling for the error; without friction the two results are
//! extrapolated (order 4). Friction acts at each step with the bound μ dP_N of its normal impulses, implicitly: sticking, sliding and their
//! changes, in the plane and in space. Only ratios of stiffnesses matter where all exponents are equal.
//!
//! The energy never rises. Results do not depend on an order of contacts.

use super::cluster::{Cluster, Path};
use super::sweeps::{Normal, Sweeps};
use crate::error::ModelError;
use serde::{Deserialize, Serialize};

/// Settings of [`super::ImpactLaw::Energetic`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EnergeticParams {
    /// Largest error of the velocities in one step of the integration, relative to the speed of approach; dimensionless, default 1e-9,
    /// nominal 1e-12 … 1e-4. Without friction the result is more exact.
    pub tolerance: f64,
    /// Largest number of steps of one integration, default 1 000 000, ≥ 1. Where it is reached the step has not converged.
    pub max_steps: usize,
}

impl Default for EnergeticParams {
    fn default() -> Self {
        EnergeticParams { tolerance: 1e-9, max_steps: 1_000_000 }
    }
}

impl EnergeticParams {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`].
    pub fn validate(&self) -> Result<(), ModelError> {
        if self.max_steps == 0 {
            return Err(ModelError::OutOfRange { what: "max_steps".into(), value: 0.0, expected: "at least 1 is needed" });
        }
        check_tolerance(self.tolerance)
    }
}

/// Refuses tolerances outside (0, 1).
pub(super) fn check_tolerance(tolerance: f64) -> Result<(), ModelError> {
    if tolerance > 0.0 && tolerance < 1.0 {
        return Ok(());
    }
    Err(ModelError::OutOfRange { what: "tolerance".into(), value: tolerance, expected: "a number in (0, 1) is needed" })
}

/// Contacts that approach more slowly than this part of the first speed have come to rest, and so have energies below its square.
const REST: f64 = 1e-11;

/// The impact of a cluster.
pub(super) fn energetic(sweeps: &mut Sweeps, cluster: &Cluster, params: &EnergeticParams, path: &mut Path) {
    if let [contact] = cluster.contacts.as_slice()
        && contact.rows.len() == 1
    {
        // one contact without friction: all ratios are the same, u⁺ = −e u⁻
        let p = -(1.0 + cluster.restitution(contact)) * cluster.start[0] / cluster.w[0];
        path.push(cluster, &[p]);
        path.iterations += 1;
        return;
    }
    let has_friction = cluster.contacts.iter().any(|c| c.disks().any(|(_, coefficient)| coefficient > 0.0));
    let coefficients = cluster.contacts.iter().map(|c| Spring::new(cluster, c)).collect();
    let mut motion = Motion { cluster, sweeps, springs: coefficients, speed: cluster.approach(), has_friction, impulse: Vec::new() };
    motion.run(params, path);
}

/// K, η, e of a contact, and its depth if it stopped the fastest approach alone.
struct Spring {
    stiffness: f64,
    exponent: f64,
    restitution: f64,
    depth: f64,
}

impl Spring {
    fn new(cluster: &Cluster, contact: &super::cluster::ClusterContact) -> Self {
        let (stiffness, exponent, w) = (contact.law.stiffness, contact.law.exponent, cluster.row(contact.rows.start)[contact.rows.start]);
        let energy = 0.5 * cluster.approach().powi(2) / w;
        let depth = ((exponent + 1.0) * energy / stiffness).powf(1.0 / (exponent + 1.0));
        Spring { stiffness, exponent, restitution: cluster.restitution(contact), depth }
    }

    fn force(&self, depth: f64) -> f64 {
        if self.exponent == 1.0 {
            self.stiffness * depth
        } else if self.exponent == 1.5 {
            self.stiffness * depth * depth.sqrt()
        } else {
            self.stiffness * depth.powf(self.exponent)
        }
    }

    /// Depth after the time `dt` at the velocity u.
    fn advance(&self, depth: f64, u: f64, dt: f64) -> f64 {
        if u <= 0.0 {
            return depth - u * dt;
        }
        let squared = self.restitution * self.restitution;
        if squared == 0.0 { 0.0 } else { (depth - u * dt / squared).max(0.0) }
    }
}

/// Where the motion is.
#[derive(Clone, Debug, Default)]
struct Point {
    depth: Vec<f64>,
    u: Vec<f64>,
    p: Vec<f64>,
}

impl Point {
    fn copy_from(&mut self, other: &Point) {
        self.depth.clone_from(&other.depth);
        self.u.clone_from(&other.u);
        self.p.clone_from(&other.p);
    }
}

struct Motion<'a> {
    cluster: &'a Cluster,
    sweeps: &'a mut Sweeps,
    springs: Vec<Spring>,
    /// First speed of approach \[m/s\].
    speed: f64,
    has_friction: bool,
    impulse: Vec<f64>,
}

impl Motion<'_> {
    fn run(&mut self, params: &EnergeticParams, path: &mut Path) {
        let n = self.cluster.n_rows();
        let mut here = Point { depth: vec![0.0; self.springs.len()], u: self.cluster.start.clone(), p: vec![0.0; n] };
        let (mut whole, mut half) = (here.clone(), here.clone());
        let mut change = vec![0.0; n];
        let shortest = self.springs.iter().fold(f64::INFINITY, |t, spring| t.min(spring.depth)) / self.speed;
        let mut dt = 1e-3 * shortest;
        while !self.is_over(&here) {
            if path.iterations == params.max_steps || dt < 1e-13 * shortest {
                path.failed = true;
                path.residual = self.cluster.contacts.iter().fold(0.0, |speed, c| f64::max(speed, -here.u[c.rows.start]));
                return;
            }
            path.iterations += 1;
            whole.copy_from(&here);
            self.step(&mut whole, dt);
            half.copy_from(&here);
            self.step(&mut half, 0.5 * dt);
            self.step(&mut half, 0.5 * dt);
            let error = self.distance(&whole, &half) / params.tolerance;
            if error <= 1.0 {
                if !self.has_friction {
                    extrapolate(&mut half, &whole);
                }
                for (change, (new, old)) in change.iter_mut().zip(half.p.iter().zip(&here.p)) {
                    *change = new - old;
                }
                path.push(self.cluster, &change);
                here.copy_from(&half);
                here.u.copy_from_slice(&path.u);
            }
            dt *= (0.9 * error.powf(-1.0 / 3.0)).clamp(0.2, 2.0);
        }
    }

    /// No energy is left and no contact approaches.
    fn is_over(&self, at: &Point) -> bool {
        self.cluster.contacts.iter().zip(&self.springs).zip(&at.depth).all(|((contact, spring), depth)| {
            let energy = (depth / spring.depth).powf(spring.exponent + 1.0);
            at.u[contact.rows.start] >= -REST * self.speed && energy <= REST * REST
        })
    }

    /// Half a step of δ, a step of u and P, half a step of δ.
    fn step(&mut self, at: &mut Point, dt: f64) {
        self.sink(at, 0.5 * dt);
        self.impulse.clear();
        self.impulse.resize(at.u.len(), 0.0);
        for ((contact, spring), depth) in self.cluster.contacts.iter().zip(&self.springs).zip(&at.depth) {
            self.impulse[contact.rows.start] = dt * spring.force(*depth);
        }
        if self.has_friction {
            self.sweeps.solve(self.cluster, &at.u, &self.impulse, Normal::Given);
            self.impulse.copy_from_slice(&self.sweeps.p);
        }
        for (i, u) in at.u.iter_mut().enumerate() {
            *u += self.cluster.row(i).iter().zip(&self.impulse).map(|(w, p)| w * p).sum::<f64>();
        }
        for (p, dp) in at.p.iter_mut().zip(&self.impulse) {
            *p += dp;
        }
        self.sink(at, 0.5 * dt);
    }

    fn sink(&self, at: &mut Point, dt: f64) {
        for ((contact, spring), depth) in self.cluster.contacts.iter().zip(&self.springs).zip(&mut at.depth) {
            *depth = spring.advance(*depth, at.u[contact.rows.start], dt);
        }
    }

    /// Largest difference of velocities and depths, relative to those of the impact.
    fn distance(&self, a: &Point, b: &Point) -> f64 {
        let of_u = a.u.iter().zip(&b.u).fold(0.0_f64, |d, (a, b)| d.max((a - b).abs())) / self.speed;
        a.depth.iter().zip(&b.depth).zip(&self.springs).fold(of_u, |d, ((a, b), spring)| d.max((a - b).abs() / spring.depth))
    }
}

/// The error of leap-frog is even in the step: a third of the difference takes its largest part out.
fn extrapolate(half: &mut Point, whole: &Point) {
    for (fine, coarse) in half.p.iter_mut().zip(&whole.p) {
        *fine += (*fine - coarse) / 3.0;
    }
    for (fine, coarse) in half.depth.iter_mut().zip(&whole.depth) {
        // a contact that opened in one of the two is open
        if *fine > 0.0 && *coarse > 0.0 {
            *fine = (*fine + (*fine - coarse) / 3.0).max(0.0);
        }
    }
}
