//! Contacts of many rigid bodies in space, solved on the velocities of the bodies: W is never formed.
//!
//! ```text
//! v = v_free + M⁻¹ Gᵀ r,   u = G v + c,   K* ∋ u + (μ|u_T|, 0) ⟂ r ∈ K   for each contact
//! ```
//!
//! Each contact knows its frame and its two arms; the rows of G, Gᵀ r and the diagonal block of W follow from them when they are needed. A sweep reads
//! and writes the velocities of two bodies per contact: cost and memory are linear in the contacts (about 20 ns per contact and sweep with everything around
//! it, measured on a pile of 500 boxes; half a kilobyte per contact by the sizes of the structures).
//!
//! The problem falls apart into islands of bodies that touch; each is solved by itself, small ones side by side on several threads. The bodies of
//! a large island are sorted into layers that touch only their neighbours, so that threads can work on different layers at the same time. Within a layer pairs of bodies
//! are coloured so that those of one colour share no body; four of a colour are worked on at once with all their contacts. Pairs that carry nothing are visited less
//! often. Sums are taken in a fixed order: the bits of the result do not depend on the number of threads.
//!
//! Structures at rest, in which sweeps carry loads slowly, are solved by Newton's method on the velocities where the factors are cheap (`exact.rs`).
//!
//! Sweeps are block Gauss–Seidel [Jourdan, Alart & Jean 1998], accelerated by Nesterov's momentum with restarts, x ← sweep(y),
//! y ← x + β (x − x_last), in the manner of [O'Donoghue & Candès, *Adaptive restart for accelerated gradient schemes*, Found. Comput. Math. 15, 2015]; differs in: it
//! restarts, with half the momentum, where the change |x − y| of a sweep grows, and limits momentum where the residual does not fall.

mod barrier;
mod body;
mod body_matrix;
mod cell;
mod colouring;
mod cone_step;
mod exact;
mod groups;
mod island;
mod islands;
mod joint_block;
mod lanes;
mod leader;
mod pack;
mod partition;
mod rows;
mod sweeps;
mod union;
mod verdict;

pub use rows::{BodyRows, RowSide, RowValues};
pub use sweeps::{BodySweeps, BodySweepsParams};
pub use union::Union;

/// Number of the immovable world among the bodies of a contact.
pub const GROUND: u32 = u32::MAX;

/// Mass of a body, as the contacts feel it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyMass {
    /// 1/m \[1/kg\].
    pub inverse_mass: f64,
    /// I⁻¹ in the world frame: xx, xy, xz, yy, yz, zz \[1/(kg m²)\].
    pub inverse_inertia: [f64; 6],
}

/// A contact point with Coulomb friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyContact {
    /// Bodies A and B; either may be [`GROUND`].
    pub bodies: [u32; 2],
    /// Unit normal from B to A, in the world frame.
    pub normal: [f64; 3],
    /// First unit tangent; the second is n × t₁.
    pub tangent: [f64; 3],
    /// From the centre of each body to the point \[m\].
    pub arms: [[f64; 3]; 2],
    /// c: what is added to the relative velocity before the law is applied, (N, T1, T2) \[m/s\].
    pub free: [f64; 3],
    /// Friction coefficient, ≥ 0.
    pub friction: f64,
}

/// The problem: bodies with their free velocities, contacts, and other rows (joints, contacts with other laws).
#[derive(Clone, Debug, Default)]
pub struct BodyProblem {
    /// Masses of the bodies.
    pub masses: Vec<BodyMass>,
    /// v_free: linear and angular velocity of each body in the world frame.
    pub velocities: Vec<[f64; 6]>,
    /// Contacts.
    pub contacts: Vec<BodyContact>,
    /// Other blocks of rows: see [`BodyProblem::push_rows`].
    pub rows: Vec<BodyRows>,
    /// Numbers of the other rows.
    pub row_values: RowValues,
    /// Bodies that hardly move at the start of the step; empty where this is not known. Islands in which most are slow are structures at rest: they are
    /// solved beyond the tolerance (see [`BodySweepsParams::exact_flops`]).
    pub slow: Vec<bool>,
    /// Bodies that sleep; empty where none does. They rest, whatever their free velocities, and contacts between them keep the impulses of the guess. No body that is awake
    /// may touch one, nor may rows.
    pub asleep: Vec<bool>,
}

/// Impulses of the contacts and rows, velocities of the bodies and rows; those of the contacts are told by [`BodyProblem::velocity`]. The guess on entry, the solution on exit.
#[derive(Clone, Debug, Default)]
pub struct BodySolution {
    /// Impulses of the contacts (N, T1, T2) [N s].
    pub impulses: Vec<[f64; 3]>,
    /// Impulses of the rows, one block after the other.
    pub row_impulses: Vec<f64>,
    /// u of the rows.
    pub row_velocities: Vec<f64>,
    /// v of the bodies.
    pub bodies: Vec<[f64; 6]>,
}

/// Parts of the residual: sums of squares.
#[derive(Clone, Copy, Debug, Default)]
struct Measure {
    error: f64,
    impulse: f64,
    velocity: f64,
    /// Of the velocities without impulse.
    free: f64,
}

impl Measure {
    fn add(&mut self, other: &Measure) {
        self.error += other.error;
        self.impulse += other.impulse;
        self.velocity += other.velocity;
        self.free += other.free;
    }

    /// sqrt(Σ|natural map|²) / max(|q|, |r|, |u|), as [`crate::FrictionContact::residual`].
    fn residual(&self) -> f64 {
        let size = self.free.max(self.impulse).max(self.velocity).sqrt();
        if size > f64::EPSILON { self.error.sqrt() / size } else { self.error.sqrt() }
    }
}

impl BodyProblem {
    /// The body sleeps.
    fn sleeps(&self, body: u32) -> bool {
        self.asleep.get(body as usize) == Some(&true)
    }
}

impl BodyContact {
    /// n × t₁.
    #[must_use]
    pub fn binormal(&self) -> [f64; 3] {
        cross(&self.normal, &self.tangent)
    }

    /// The diagonal block of W, row-major, from the inverse inertias of the two bodies.
    fn diagonal(&self, inertias: &[[f64; 8]; 2]) -> [f64; 9] {
        let axes = [self.normal, self.tangent, self.binormal()];
        let mut w = [0.0; 9];
        for (arm, inertia) in self.arms.iter().zip(inertias) {
            let turns = axes.map(|axis| cross(arm, &axis));
            for (i, turn) in turns.iter().enumerate() {
                let response = turn_response(inertia, turn);
                for (j, other) in turns.iter().enumerate() {
                    w[3 * i + j] += dot(&response, other);
                }
                w[4 * i] += inertia[0];
            }
        }
        w
    }

    /// u from the velocities of all bodies.
    fn velocity(&self, bodies: &[[f64; 6]]) -> [f64; 3] {
        let [a, b] = self.bodies.map(|body| bodies.get(body as usize).unwrap_or(&[0.0; 6]));
        self.local(a, b)
    }

    /// u from the velocities of its bodies.
    fn local(&self, a: &[f64; 6], b: &[f64; 6]) -> [f64; 3] {
        let at = |v: &[f64; 6], arm: &[f64; 3]| {
            let turning = cross(&[v[3], v[4], v[5]], arm);
            [v[0] + turning[0], v[1] + turning[1], v[2] + turning[2]]
        };
        let (a, b) = (at(a, &self.arms[0]), at(b, &self.arms[1]));
        let relative = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
        let mut u = self.free;
        for (u, axis) in u.iter_mut().zip([self.normal, self.tangent, self.binormal()]) {
            *u += dot(&axis, &relative);
        }
        u
    }
}

fn cross(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// I⁻¹ x of a body.
fn turn_response(inertia: &[f64; 8], x: &[f64; 3]) -> [f64; 3] {
    let i = inertia;
    [i[1] * x[0] + i[2] * x[1] + i[3] * x[2], i[2] * x[0] + i[4] * x[1] + i[5] * x[2], i[3] * x[0] + i[5] * x[1] + i[6] * x[2]]
}
