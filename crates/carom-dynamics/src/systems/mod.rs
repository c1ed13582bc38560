//! Systems: each owns coordinates and gives kinematics, mass and forces.

pub mod closure;
pub mod coordinates;
pub mod formula_force;
pub mod lagrangian;
pub mod linear;
pub mod natural;
pub mod parametrised_bodies;
pub mod planar_bodies;
pub mod rigid_bodies;
pub mod rotation_coordinates;
mod scratch;
mod set;
mod spatial_frame;
mod state_function;
pub mod tree;
mod tree_dynamics;
mod tree_joint;
mod tree_link;

pub use closure::ClosureSystem;
pub use coordinates::{Coordinate, Coordinates};
pub use formula_force::FormulaForce;
pub use lagrangian::{Lagrangian, LagrangianText};
pub use linear::Linear;
pub use natural::{Natural, NaturalBar, NaturalBody, NaturalPoint, NaturalVector};
pub use parametrised_bodies::ParametrisedBodies;
pub use planar_bodies::{PlanarBodies, PlanarBody};
pub use rigid_bodies::{RigidBodies, RigidBody};
pub use rotation_coordinates::RotationCoordinates;
pub use scratch::Scratch;
pub(crate) use scratch::{LawWork, ModelBasedWork};
pub use set::{Bodies, FrameId, SystemSet};
pub use state_function::{Sample, StateFunction, StateSymbols};
pub use tree::{Tree, TreeBody};
pub use tree_joint::TreeJoint;

use crate::error::NonFinite;
use nalgebra::{UnitQuaternion, Vector3};
use std::ops::Range;
use std::sync::Arc;

/// A mechanical system  M(t,q) v̇ = F(t,q,v) + Gᵀλ,  q̇ = T(q) v.
///
/// F holds everything: potential, gyroscopic, Coriolis and applied forces. Slices are the system's own parts of the
/// model's arrays. Matrices are block diagonal in the layout of [`System::block_sizes`], row-major.
///
/// To add a system: one file in `systems/`, this trait, a test of M and F against an independent derivation, of the
/// Jacobians by finite differences, and of energy conservation.
pub trait System: Send + Sync {
    /// Coordinates q, in order.
    fn coordinates(&self) -> Coordinates;

    /// Velocities v, in order, as files name them.
    fn velocities(&self) -> Coordinates;

    /// Sizes of the diagonal blocks of M; their sum is the number of velocities.
    fn block_sizes(&self) -> Vec<usize>;

    /// M does not depend on (t, q).
    fn mass_is_constant(&self) -> bool;

    /// M is constant and F = f − K q − C v with constant f, K, C: one Newton iteration solves a step exactly.
    fn is_affine(&self) -> bool;

    /// Writes M(t, q).
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    fn mass(&self, t: f64, q: &[f64], mass: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite>;

    /// Writes F(t, q, v).
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    fn force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite>;

    /// Adds c_v C + c_q K to `matrix`, with C = −∂F/∂v and K = −(∂F/∂q) T. Terms may be left out: Newton's iteration
    /// then converges more slowly to the same solution.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    fn add_jacobians(&self, at: Instant<'_>, factors: JacobianFactors, matrix: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite>;

    /// Functions of the system's own state at whose changes of sign M or F has a kink or a jump. The default knows none.
    fn switches(&self) -> Vec<StateFunction> {
        Vec::new()
    }

    /// Energy enters or leaves other than through contacts and constraints: there are forces without potential, or the
    /// energies depend on time.
    fn exchanges_energy(&self) -> bool {
        false
    }

    /// Adds to `force` the part of F that has no potential (applied forces, damping).
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    fn applied_force(&self, _t: f64, _q: &[f64], _v: &[f64], _force: &mut [f64], _scratch: &mut Scratch) -> Result<(), NonFinite> {
        Ok(())
    }

    /// ∂V/∂t − ∂T/∂t \[W\]: what explicit time in the energies adds to the energy balance.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    fn explicit_power(&self, _t: f64, _q: &[f64], _v: &[f64], _scratch: &mut Scratch) -> Result<f64, NonFinite> {
        Ok(0.0)
    }

    /// Kinetic and potential energy \[J\].
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    fn energy(&self, t: f64, q: &[f64], v: &[f64], scratch: &mut Scratch) -> Result<(f64, f64), NonFinite>;

    /// q⁺ = q ⊕ T w: moves the coordinates by the displacement `w` (velocity × time). The default is q⁺ = q + w.
    fn advance(&self, q: &[f64], w: &[f64], q_next: &mut [f64]) {
        for ((next, q), w) in q_next.iter_mut().zip(q).zip(w) {
            *next = q + w;
        }
    }

    /// ẇ for q(t) = q ⊕ w(t): the rate of the displacement in the chart of [`System::advance`] that belongs to the velocity `v`
    /// (for rotations the inverse of the differential of the exponential map). The default is ẇ = v.
    fn displacement_rate(&self, _w: &[f64], v: &[f64], rate: &mut [f64]) {
        rate.copy_from_slice(v);
    }

    /// The velocity that belongs to a rate of displacement: the inverse of [`System::displacement_rate`]. The default is v = ẇ.
    fn velocity_of_rate(&self, _w: &[f64], rate: &[f64], v: &mut [f64]) {
        v.copy_from_slice(rate);
    }

    /// w with q_to = q ⊕ w: the inverse of [`System::advance`]. The default is w = q_to − q.
    fn difference(&self, q: &[f64], q_to: &[f64], w: &mut [f64]) {
        for ((w, q), to) in w.iter_mut().zip(q).zip(q_to) {
            *w = to - q;
        }
    }

    /// Adds c (∂(M(t,q) a)/∂q) T to `matrix`. The default takes forward differences of [`System::mass`] along [`System::advance`].
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    fn add_mass_derivative(
        &self,
        t: f64,
        q: &[f64],
        a: &[f64],
        factor: f64,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        if self.mass_is_constant() || a.iter().all(|&a| a == 0.0) {
            return Ok(());
        }
        let layout = crate::block_diagonal::BlockLayout::new(self.block_sizes());
        let (mut moved, mut w) = (q.to_vec(), vec![0.0; a.len()]);
        let (mut mass, mut base, mut product) = (vec![0.0; layout.n_values()], vec![0.0; a.len()], vec![0.0; a.len()]);
        self.mass(t, q, &mut mass, scratch)?;
        layout.multiply(&mass, a, &mut base);
        for j in 0..a.len() {
            // the square root of the machine precision balances truncation and round-off
            let epsilon = f64::EPSILON.sqrt() * q.get(j).map_or(1.0, |q| q.abs().max(1.0));
            w[j] = epsilon;
            self.advance(q, &w, &mut moved);
            w[j] = 0.0;
            self.mass(t, &moved, &mut mass, scratch)?;
            layout.multiply(&mass, a, &mut product);
            let block = layout.block_of_row(j);
            let (rows, n) = (layout.rows[block], layout.size(block));
            for i in rows..rows + n {
                matrix[layout.values[block] + (i - rows) * n + j - rows] += factor * (product[i] - base[i]) / epsilon;
            }
        }
        Ok(())
    }

    /// Names of the bodies whose frames joints can be attached to.
    fn frames(&self) -> Arc<[String]> {
        Arc::default()
    }

    /// The bodies move in the x-y plane.
    fn is_planar(&self) -> bool {
        false
    }

    /// Velocities on which the motion of a frame depends.
    fn frame_velocities(&self, _frame: usize) -> Range<usize> {
        0..0
    }

    /// Origin and orientation of a frame in the world.
    fn frame(&self, _q: &[f64], _frame: usize) -> BodyFrame {
        BodyFrame::default()
    }

    /// Writes the 6 × n matrix (row-major) that takes [`System::frame_velocities`] to the velocity of the origin and the angular
    /// velocity, both in the world frame.
    fn frame_jacobian(&self, _q: &[f64], _frame: usize, _jacobian: &mut [f64]) {}

    /// Velocity of the origin and angular velocity of a frame, both in the world frame. The default multiplies by
    /// [`System::frame_jacobian`].
    fn frame_velocity(&self, q: &[f64], v: &[f64], frame: usize) -> [f64; 6] {
        let range = self.frame_velocities(frame);
        let n = range.len();
        let mut jacobian = vec![0.0; 6 * n];
        self.frame_jacobian(q, frame, &mut jacobian);
        std::array::from_fn(|i| crate::block_diagonal::dot(&jacobian[i * n..(i + 1) * n], &v[range.clone()]))
    }

    /// Adds c (∂(J v)/∂q) T with constant v to `matrix`, 6 × n (row-major) over [`System::frame_velocities`]: how the velocity of a frame changes
    /// with the position. The default takes central differences of [`System::frame_velocity`] along [`System::advance`].
    fn add_frame_velocity_derivative(&self, q: &[f64], v: &[f64], frame: usize, factor: f64, matrix: &mut [f64]) {
        let range = self.frame_velocities(frame);
        let n = range.len();
        let (mut w, mut moved) = (vec![0.0; v.len()], q.to_vec());
        for j in 0..n {
            for sign in [1.0, -1.0] {
                w[range.start + j] = sign * DIFFERENCE_STEP;
                self.advance(q, &w, &mut moved);
                for (i, x) in self.frame_velocity(&moved, v, frame).into_iter().enumerate() {
                    matrix[i * n + j] += factor * sign * x / (2.0 * DIFFERENCE_STEP);
                }
            }
            w[range.start + j] = 0.0;
        }
    }

    /// Acceleration of the origin and angular acceleration in the world frame when v̇ = 0.
    fn frame_bias(&self, _q: &[f64], _v: &[f64], _frame: usize) -> [f64; 6] {
        [0.0; 6]
    }

    /// Adds Wᵀ J to `rows` for wrenches W = (force, moment about the origin) in the world frame, row k at `rows[k * stride..]`: the
    /// generalised forces of the wrenches. The default multiplies by [`System::frame_jacobian`]; free bodies do better.
    fn add_wrench_rows(&self, q: &[f64], frame: usize, wrenches: &[Wrench], rows: &mut [f64], stride: usize) {
        let n = self.frame_velocities(frame).len();
        let mut jacobian = vec![0.0; 6 * n];
        self.frame_jacobian(q, frame, &mut jacobian);
        for (wrench, row) in wrenches.iter().zip(rows.chunks_mut(stride)) {
            for (component, of_component) in wrench.components().into_iter().zip(jacobian.chunks_exact(n.max(1))) {
                for (row, j) in row.iter_mut().zip(of_component) {
                    *row += component * j;
                }
            }
        }
    }

    /// Adds c (∂(Jᵀ W)/∂q) T with a constant wrench W to `matrix`, n × n over [`System::frame_velocities`] with rows `stride` apart. The
    /// default takes central differences of [`System::add_wrench_rows`] along [`System::advance`].
    fn add_wrench_derivative(&self, q: &[f64], frame: usize, wrench: &Wrench, factor: f64, matrix: &mut [f64], stride: usize) {
        let range = self.frame_velocities(frame);
        let n = range.len();
        let (mut w, mut moved) = (vec![0.0; self.velocities().len()], q.to_vec());
        let (mut plus, mut minus) = (vec![0.0; n], vec![0.0; n]);
        for j in 0..n {
            for (sign, out) in [(1.0, &mut plus), (-1.0, &mut minus)] {
                w[range.start + j] = sign * DIFFERENCE_STEP;
                self.advance(q, &w, &mut moved);
                out.fill(0.0);
                self.add_wrench_rows(&moved, frame, std::slice::from_ref(wrench), out, n);
            }
            w[range.start + j] = 0.0;
            for i in 0..n {
                matrix[i * stride + j] += factor * (plus[i] - minus[i]) / (2.0 * DIFFERENCE_STEP);
            }
        }
    }

    /// T(q) is the identity.
    fn is_flat(&self) -> bool {
        true
    }

    /// Velocities on which the rate of a coordinate depends (the columns of T that are not zero in its row);
    /// at most six.
    fn velocities_of(&self, coordinate: usize) -> Range<usize> {
        coordinate..coordinate + 1
    }

    /// Writes the row of T(q) of a coordinate, over [`System::velocities_of`] it.
    fn kinematic_row(&self, _q: &[f64], _coordinate: usize, row: &mut [f64]) {
        row.fill(1.0);
    }

    /// The coordinate's second derivative when v̇ = 0, that is (dT/dt) v.
    fn kinematic_bias(&self, _q: &[f64], _v: &[f64], _coordinate: usize) -> f64 {
        0.0
    }

    /// Writes the derivatives of the row of T(q) of a coordinate along the motion: entry (i, j), row-major over
    /// [`System::velocities_of`] it, is the change of T_i when the coordinates move with the unit velocity j. The default is zero.
    fn kinematic_derivative(&self, _q: &[f64], _coordinate: usize, matrix: &mut [f64]) {
        matrix.fill(0.0);
    }

    /// Velocities as files give them (angular velocity in the world frame). The default is the identity.
    fn file_velocities(&self, _q: &[f64], v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(v);
    }

    /// Refuses an initial state that is not one (a quaternion that is not of unit length, say).
    ///
    /// # Errors
    /// What is wrong, in words.
    fn check_state(&self, _q: &[f64]) -> Result<(), String> {
        Ok(())
    }

    /// Number of 3D rigid bodies, for systems that are a set of them.
    fn n_rigid_bodies(&self) -> usize {
        0
    }

    /// Number of planar bodies, for systems that are a set of them with (x, y, angle) each.
    fn n_planar_bodies(&self) -> usize {
        0
    }
}

/// A frame fixed in a body: its origin and orientation in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyFrame {
    /// Origin \[m\].
    pub origin: Vector3<f64>,
    /// Rotation from the frame to the world.
    pub orientation: UnitQuaternion<f64>,
}

impl Default for BodyFrame {
    fn default() -> Self {
        BodyFrame { origin: Vector3::zeros(), orientation: UnitQuaternion::identity() }
    }
}

/// A force and a moment about the origin of a frame, in the world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// Force \[N\].
    pub force: Vector3<f64>,
    /// Moment about the origin of the frame \[N m\].
    pub moment: Vector3<f64>,
}

impl Wrench {
    /// Force, then moment.
    #[must_use]
    pub fn components(&self) -> [f64; 6] {
        let (f, m) = (self.force, self.moment);
        [f.x, f.y, f.z, m.x, m.y, m.z]
    }

    /// Both times a factor.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Wrench { force: self.force * factor, moment: self.moment * factor }
    }
}

/// Step of central differences \[m, rad\]: the cube root of the machine precision balances truncation and round-off.
const DIFFERENCE_STEP: f64 = 6e-6;

/// An instant at which a system is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Instant<'a> {
    /// Time \[s\].
    pub t: f64,
    /// The system's coordinates.
    pub q: &'a [f64],
    /// The system's velocities.
    pub v: &'a [f64],
}

/// Factors of the damping and stiffness matrices in an iteration matrix M̂ = M + c_v C + c_q K.
#[derive(Clone, Copy, Debug)]
pub struct JacobianFactors {
    /// Factor of C, hθ \[s\] in a θ-scheme.
    pub velocity: f64,
    /// Factor of K, h²θ² \[s²\] in a θ-scheme.
    pub position: f64,
}
