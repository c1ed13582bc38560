//! Newton's method on the velocities of the bodies of an island: what structures at rest need and sweeps reach slowly.
//!
//! News of a load travels through a tower or a wall by a few bodies per sweep; a factorised matrix carries it at once. With the impulses r of the last
//! iterate, penalties ρ and shifts s = μ|u_T| held fixed, the velocities that minimise
//!
//! ```text
//! φ(v) = ½ (v − v_free)ᵀ M (v − v_free) + Σ |P_K(z)|²/(2ρ),   z = r − ρ (u + s n),   u = G v + c
//! ```
//!
//! are found by semismooth Newton steps on ∇φ = M (v − v_free) − Gᵀ P_K(z) with the matrix M + Gᵀ (ρ DP_K) G, sparse by bodies that touch, however many
//! points they touch at and however redundant these are; then r ← P_K(z). This is the method of multipliers for the problem whose shift is fixed, and the shift
//! follows [Cadoux 2009; Acary, Cadoux, Lemaréchal & Malick 2011]; where contacts slide, Newton steps on the same equation with s = μ|u_T(v)| come after. At a fixed point u + μ|u_T| n ∈ K*, r ∈ K, complementary: Coulomb's law as it is.
//!
//! Every iterate is judged with the velocities that belong to its impulses, v = v_free + M⁻¹ Gᵀ r.

use super::body_matrix::BodyMatrix;
use super::cone_step::ConeStep;
use super::{BodyProblem, BodySolution, GROUND, Measure, cross, dot};
use crate::cones::{Block, norm_squared};

type V3 = [f64; 3];
type V6 = [f64; 6];

/// Largest penalty, in the inverse of the mean diagonal of W at a contact: beyond it rounding counts.
const LARGEST_PENALTY: f64 = 1e10;

/// Factor on the largest penalty after each success, once a failure has lowered it.
const PENALTY_RETURN: f64 = 3.0;

/// Updates of the impulses, Newton steps for all and for each, and trials along each step.
const UPDATES: usize = 100;
const ALL_STEPS: usize = 300;
const STEPS: usize = 30;
const TRIALS: usize = 12;

/// Newton steps with a shift that follows, and halvings of each.
const FOLLOWING_STEPS: usize = 30;
const HALVINGS: usize = 6;

/// Updates without a better residual after which the search ends.
const STALL: usize = 20;

/// Residual, in the best one, up to which iterates that met their equation are gone on from: where contacts slide the way to the solution is not downhill.
const DETOUR: f64 = 3.0;

/// Part of the residual that is left to the minimum of φ.
const INEXACTNESS: f64 = 0.01;

/// Rounding is taken to be reached where |∇φ|² has not fallen to this part for some steps and φ is to fall by less than this part of the kinetic energy.
const DECREASE: f64 = 0.25;
const ROUNDING: f64 = 1e-16;
const SLOW_STEPS: usize = 4;

/// A contact as Newton's method sees it.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// Bodies as numbered in the island; the ground is the number of bodies.
    bodies: [u32; 2],
    axes: [V3; 3],
    arms: [V3; 2],
    free: V3,
    friction: f64,
    /// Inverse of the mean diagonal of W at the contact \[kg\].
    mass: f64,
}

/// The method with its work arrays.
#[derive(Debug, Default)]
pub(super) struct ExactIsland {
    masses: Vec<[f64; 7]>,
    inverse: Vec<[f64; 8]>,
    v_free: Vec<V6>,
    v: Vec<V6>,
    trial: Vec<V6>,
    direction: Vec<V6>,
    gradient: Vec<V6>,
    points: Vec<Point>,
    impulses: Vec<V3>,
    shifts: Vec<f64>,
    /// Contacts that slide with an impulse.
    slides: Vec<bool>,
    best: Vec<V3>,
    /// The iterate that the next one begins from.
    last: Vec<V3>,
    matrix: BodyMatrix,
    /// Measure of the best iterate, and the number of Newton steps.
    pub measure: Measure,
    pub steps: usize,
}

/// s of the contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shift {
    /// That of the last iterate.
    Fixed,
    /// μ|u_T| at the velocities at hand where contacts slide.
    Follows,
}

/// What to reach.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    /// Normalised residual.
    pub residual: f64,
    /// Mass unit of the residual.
    pub unit: f64,
    /// |q|².
    pub free: f64,
    /// First penalty, and the factor by which it grows after each success and falls after a failure: large where contacts will hold, small where they slide.
    pub penalty: f64,
    pub growth: f64,
}

impl ExactIsland {
    /// Copies an island without rows; `number` gives the numbers of bodies in it. Returns the flops of a factorisation, or nothing where a body has no mass.
    pub fn prepare(&mut self, problem: &BodyProblem, bodies: &[u32], contacts: &[u32], number: impl Fn(u32) -> u32) -> Option<f64> {
        self.masses.clear();
        self.inverse.clear();
        self.v_free.clear();
        for &body in bodies {
            let mass = &problem.masses[body as usize];
            let inertia = invert_symmetric(&mass.inverse_inertia)?;
            if mass.inverse_mass <= 0.0 {
                return None;
            }
            self.masses.push([1.0 / mass.inverse_mass, inertia[0], inertia[1], inertia[2], inertia[3], inertia[4], inertia[5]]);
            self.inverse.push(super::body::inertia(mass));
            self.v_free.push(problem.velocities[body as usize]);
        }
        self.inverse.push([0.0; 8]);
        self.points.clear();
        for &index in contacts {
            let contact = &problem.contacts[index as usize];
            let places = contact.bodies.map(|body| if body == GROUND { bodies.len() as u32 } else { number(body) });
            let w = contact.diagonal(&places.map(|place| self.inverse[place as usize]));
            let trace = w[0] + w[4] + w[8];
            self.points.push(Point {
                bodies: places,
                axes: [contact.normal, contact.tangent, contact.binormal()],
                arms: contact.arms,
                free: contact.free,
                friction: contact.friction,
                mass: if trace > 0.0 { 3.0 / trace } else { return None },
            });
        }
        Some(self.matrix.prepare(bodies.len(), self.points.iter().map(|point| point.bodies)))
    }

    /// Where the impulse of each contact of the island, in their order, is taken from before [`Self::solve`].
    pub(crate) fn impulses_mut(&mut self) -> &mut Vec<[f64; 3]> {
        &mut self.impulses
    }

    /// Goes on from the impulses given.
    pub fn solve(&mut self, goal: Goal) {
        for (r, point) in self.impulses.iter_mut().zip(&self.points) {
            Block::Coulomb3 { mu: point.friction }.project(r);
        }
        self.shifts.clear();
        self.shifts.resize(self.points.len(), 0.0);
        self.steps = 0;
        self.move_by_impulses();
        self.measure = self.judge(goal);
        self.best.clone_from(&self.impulses);
        self.last.clone_from(&self.impulses);
        let (mut penalty, mut largest, mut since_best) = (goal.penalty, LARGEST_PENALTY, 0);
        for _ in 0..UPDATES {
            if self.measure.residual() <= goal.residual || since_best >= STALL || self.steps >= ALL_STEPS {
                break;
            }
            self.shift();
            let part = INEXACTNESS * goal.residual.max(INEXACTNESS * self.measure.residual());
            self.minimise(penalty, part);
            let slides = self.find_slides(penalty);
            let follows = slides && self.follow(penalty, part);
            let shift = if follows { Shift::Follows } else { Shift::Fixed };
            self.update(penalty, shift);
            self.move_by_impulses();
            let measure = self.judge(goal);
            let is_best = measure.residual() < self.measure.residual();
            if is_best {
                since_best = 0;
                self.measure = measure;
                self.best.clone_from(&self.impulses);
            } else {
                since_best += 1;
            }
            if is_best || follows && measure.residual() < DETOUR * self.measure.residual() {
                self.last.clone_from(&self.impulses);
                penalty = (goal.growth * penalty).min(largest);
                largest = (PENALTY_RETURN * largest).min(LARGEST_PENALTY);
            } else {
                // from there again, with less
                self.impulses.clone_from(&self.last);
                self.move_by_impulses();
                largest = (penalty / goal.growth).max(1.0);
                penalty = largest;
            }
        }
        self.impulses.clone_from(&self.best);
        self.move_by_impulses();
    }

    /// Writes impulses and velocities of the best iterate into the solution.
    pub(crate) fn read_out(&self, bodies: &[u32], contacts: &[u32], solution: &mut BodySolution) {
        for (&index, r) in contacts.iter().zip(&self.impulses) {
            solution.impulses[index as usize] = *r;
        }
        for (&body, v) in bodies.iter().zip(&self.v) {
            solution.bodies[body as usize] = *v;
        }
    }

    /// u of a contact.
    fn local(&self, point: &Point, v: &[V6]) -> V3 {
        let velocity = self.relative(point, v);
        let mut u = point.free;
        u.iter_mut().zip(&point.axes).for_each(|(u, axis)| *u += dot(axis, &velocity));
        u
    }

    /// Velocity of A relative to B at a contact, in the world frame.
    fn relative(&self, point: &Point, v: &[V6]) -> V3 {
        let mut sum = [0.0; 3];
        for ((&body, arm), sign) in point.bodies.iter().zip(&point.arms).zip([1.0, -1.0]) {
            if let Some(v) = v.get(body as usize) {
                let turning = cross(&[v[3], v[4], v[5]], arm);
                (0..3).for_each(|k| sum[k] += sign * (v[k] + turning[k]));
            }
        }
        sum
    }

    /// Adds the wrenches of an impulse at a contact.
    fn add_wrench(point: &Point, r: &V3, factor: f64, to: &mut [V6]) {
        let [n, t, b] = &point.axes;
        let force: V3 = std::array::from_fn(|k| factor * (n[k] * r[0] + t[k] * r[1] + b[k] * r[2]));
        for ((&body, arm), sign) in point.bodies.iter().zip(&point.arms).zip([1.0, -1.0]) {
            if let Some(to) = to.get_mut(body as usize) {
                let turn = cross(arm, &force);
                (0..3).for_each(|k| (to[k], to[3 + k]) = (to[k] + sign * force[k], to[3 + k] + sign * turn[k]));
            }
        }
    }

    /// v = v_free + M⁻¹ Gᵀ r.
    fn move_by_impulses(&mut self) {
        self.v.clear();
        self.v.resize(self.v_free.len(), [0.0; 6]);
        for (point, r) in self.points.iter().zip(&self.impulses) {
            Self::add_wrench(point, r, 1.0, &mut self.v);
        }
        for ((v, free), inverse) in self.v.iter_mut().zip(&self.v_free).zip(&self.inverse) {
            let response = super::rows::respond(inverse, v);
            *v = std::array::from_fn(|k| free[k] + response[k]);
        }
    }

    fn judge(&self, goal: Goal) -> Measure {
        let mut total = Measure { free: goal.free, ..Measure::default() };
        for (point, r) in self.points.iter().zip(&self.impulses) {
            let u = self.local(point, &self.v);
            total.error += Block::Coulomb3 { mu: point.friction }.natural_map_squared(r, &u, goal.unit);
            total.impulse += goal.unit * goal.unit * norm_squared(r);
            total.velocity += norm_squared(&u);
        }
        total
    }

    /// s = μ|u_T| at the present velocities.
    fn shift(&mut self) {
        for i in 0..self.points.len() {
            let u = self.local(&self.points[i], &self.v);
            self.shifts[i] = self.points[i].friction * u[1].hypot(u[2]);
        }
    }

    /// z of a contact.
    fn argument(&self, index: usize, v: &[V6], penalty: f64, shift: Shift) -> (V3, f64) {
        let point = &self.points[index];
        let (mut u, r, rho) = (self.local(point, v), &self.impulses[index], penalty * point.mass);
        u[0] += match shift {
            Shift::Follows if self.slides[index] => point.friction * u[1].hypot(u[2]),
            _ => self.shifts[index],
        };
        (std::array::from_fn(|k| r[k] - rho * u[k]), rho)
    }

    /// r ← P_K(z).
    fn update(&mut self, penalty: f64, shift: Shift) {
        for i in 0..self.points.len() {
            let (mut z, _) = self.argument(i, &self.v, penalty, shift);
            Block::Coulomb3 { mu: self.points[i].friction }.project(&mut z);
            self.impulses[i] = z;
        }
    }

    /// ∇φ at the velocities v into `gradient`; its square in the metric of M⁻¹ is returned.
    fn slope(&self, v: &[V6], penalty: f64, shift: Shift, gradient: &mut Vec<V6>) -> f64 {
        gradient.clear();
        for ((v, free), mass) in v.iter().zip(&self.v_free).zip(&self.masses) {
            let d: V6 = std::array::from_fn(|k| v[k] - free[k]);
            gradient.push(times_mass(mass, &d));
        }
        for (i, point) in self.points.iter().enumerate() {
            let (mut z, _) = self.argument(i, v, penalty, shift);
            Block::Coulomb3 { mu: point.friction }.project(&mut z);
            Self::add_wrench(point, &z, -1.0, gradient);
        }
        gradient.iter().zip(&self.inverse).map(|(g, inverse)| dot6(g, &super::rows::respond(inverse, g))).sum()
    }

    /// Newton steps for the velocities of least φ, until |∇φ| is below a part of M v_free.
    fn minimise(&mut self, penalty: f64, part: f64) {
        let mut gradient = std::mem::take(&mut self.gradient);
        let mut trial = std::mem::take(&mut self.trial);
        let mut direction = std::mem::take(&mut self.direction);
        let enough = part * part * self.size();
        let mut square = self.slope(&self.v, penalty, Shift::Fixed, &mut gradient);
        let (mut least, mut slow) = (square, 0);
        for _ in 0..STEPS {
            if square <= enough || slow >= SLOW_STEPS {
                break;
            }
            self.steps += 1;
            self.factor(penalty, Shift::Fixed);
            direction.clone_from(&gradient);
            self.matrix.solve(&mut direction);
            let descent: f64 = gradient.iter().zip(&direction).map(|(g, d)| dot6(g, d)).sum();
            if descent <= 0.0 || !descent.is_finite() {
                break;
            }
            // φ' along −d grows from −descent: its root is sought where the full step goes beyond
            let (mut low, mut high, mut at_low, mut at_high) = (0.0, f64::INFINITY, -descent, f64::INFINITY);
            let mut t: f64 = 1.0;
            for _ in 0..TRIALS {
                trial.clear();
                trial.extend(self.v.iter().zip(&direction).map(|(v, d)| -> V6 { std::array::from_fn(|k| v[k] - t * d[k]) }));
                square = self.slope(&trial, penalty, Shift::Fixed, &mut gradient);
                let slope: f64 = -gradient.iter().zip(&direction).map(|(g, d)| dot6(g, d)).sum::<f64>();
                if slope.abs() <= 0.5 * descent || (slope <= 0.0 && t >= 1.0) {
                    break;
                }
                if slope > 0.0 {
                    (high, at_high) = (t, slope);
                } else {
                    (low, at_low) = (t, slope);
                }
                let secant = low - at_low * (high - low) / (at_high - at_low);
                t = secant.clamp(low + 0.1 * (high - low), high - 0.1 * (high - low));
            }
            std::mem::swap(&mut self.v, &mut trial);
            slow = if square <= DECREASE * least || descent > ROUNDING * self.size() { 0 } else { slow + 1 };
            least = least.min(square);
        }
        (self.gradient, self.trial, self.direction) = (gradient, trial, direction);
    }

    /// Square of the size of the terms of ∇φ, in the metric of M⁻¹.
    fn size(&self) -> f64 {
        self.v_free.iter().zip(&self.masses).map(|(v, mass)| dot6(v, &times_mass(mass, v))).sum()
    }

    /// Finds the contacts that slide at the velocities of the fixed shift; whether there are any.
    fn find_slides(&mut self, penalty: f64) -> bool {
        self.slides.clear();
        for i in 0..self.points.len() {
            let (point, (z, _)) = (&self.points[i], self.argument(i, &self.v, penalty, Shift::Fixed));
            self.slides.push(z[1].hypot(z[2]) > point.friction * z[0] && ConeStep::at(&z, point.friction).is_some());
        }
        self.slides.contains(&true)
    }

    /// Newton steps on M (v − v_free) = Gᵀ P_K(z) with the shift that follows the velocities, from those of the fixed one; whether the equation is met.
    fn follow(&mut self, penalty: f64, part: f64) -> bool {
        let mut gradient = std::mem::take(&mut self.gradient);
        let mut trial = std::mem::take(&mut self.trial);
        let mut direction = std::mem::take(&mut self.direction);
        let enough = part * part * self.size();
        let mut square = self.slope(&self.v, penalty, Shift::Follows, &mut gradient);
        for _ in 0..FOLLOWING_STEPS {
            if square <= enough {
                break;
            }
            self.steps += 1;
            self.factor(penalty, Shift::Follows);
            direction.clone_from(&gradient);
            self.matrix.solve(&mut direction);
            let (mut t, mut found) = (1.0, false);
            for _ in 0..HALVINGS {
                trial.clear();
                trial.extend(self.v.iter().zip(&direction).map(|(v, d)| -> V6 { std::array::from_fn(|k| v[k] - t * d[k]) }));
                let next = self.slope(&trial, penalty, Shift::Follows, &mut gradient);
                if next < (1.0 - 0.1 * t) * square {
                    (square, found) = (next, true);
                    break;
                }
                t *= 0.5;
            }
            if !found {
                break;
            }
            std::mem::swap(&mut self.v, &mut trial);
        }
        (self.gradient, self.trial, self.direction) = (gradient, trial, direction);
        square <= enough
    }

    /// M + Gᵀ (ρ DP_K) G, factored; where the shift follows the velocities, with its derivative.
    fn factor(&mut self, penalty: f64, shift: Shift) {
        let mut matrix = std::mem::take(&mut self.matrix);
        matrix.start(&self.masses);
        for (i, point) in self.points.iter().enumerate() {
            let (z, rho) = self.argument(i, &self.v, penalty, shift);
            let Some(step) = ConeStep::at(&z, point.friction) else { continue };
            let mut k = step.in_world(&point.axes, rho);
            if shift == Shift::Follows && self.slides[i] {
                self.add_shift(&mut k, point, &step, rho);
            }
            matrix.add(i, &k, &point.arms);
        }
        matrix.factor();
        self.matrix = matrix;
    }
}

impl ExactIsland {
    /// Adds ρ DP_K n ⊗ ∂(μ|u_T|)/∂u in the world frame.
    fn add_shift(&self, k: &mut [f64; 9], point: &Point, step: &ConeStep, rho: f64) {
        let u = self.local(point, &self.v);
        let slip = u[1].hypot(u[2]);
        if slip <= 0.0 {
            return;
        }
        let world = |x: V3| -> V3 { std::array::from_fn(|i| point.axes[0][i] * x[0] + point.axes[1][i] * x[1] + point.axes[2][i] * x[2]) };
        let (column, row) = (world(step.of_normal()), world([0.0, point.friction * u[1] / slip, point.friction * u[2] / slip]));
        for (k, column) in k.chunks_exact_mut(3).zip(column) {
            k.iter_mut().zip(row).for_each(|(k, row)| *k += rho * column * row);
        }
    }
}

fn dot6(a: &V6, b: &V6) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// M v of a body with mass and inertia (xx, xy, xz, yy, yz, zz).
fn times_mass(mass: &[f64; 7], v: &V6) -> V6 {
    let [m, xx, xy, xz, yy, yz, zz] = *mass;
    let w = &v[3..];
    let turn = [xx * w[0] + xy * w[1] + xz * w[2], xy * w[0] + yy * w[1] + yz * w[2], xz * w[0] + yz * w[1] + zz * w[2]];
    [m * v[0], m * v[1], m * v[2], turn[0], turn[1], turn[2]]
}

/// Inverse of a symmetric matrix (xx, xy, xz, yy, yz, zz), where it is positive.
fn invert_symmetric(a: &[f64; 6]) -> Option<[f64; 6]> {
    let [xx, xy, xz, yy, yz, zz] = *a;
    let (c0, c1, c2) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
    let determinant = xx * c0 + xy * c1 + xz * c2;
    let size = (xx + yy + zz).powi(3);
    if determinant <= 1e-14 * size {
        return None;
    }
    Some([c0, c1, c2, xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy].map(|c| c / determinant))
}
