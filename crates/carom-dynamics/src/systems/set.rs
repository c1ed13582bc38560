//! The systems of a model, one after the other in q and v.

use crate::block_diagonal::BlockLayout;
use crate::error::{ModelError, NonFinite};
use crate::systems::{BodyFrame, Coordinates, Instant, JacobianFactors, Scratch, StateFunction, System, Wrench};
use std::ops::Range;
use std::sync::Arc;

/// A system and its place in the model's arrays.
struct Part {
    system: Box<dyn System>,
    q: Range<usize>,
    v: Range<usize>,
    /// Its values in block-diagonal matrices.
    values: Range<usize>,
}

/// All systems of a model.
pub struct SystemSet {
    parts: Vec<Part>,
    coordinates: Coordinates,
    velocities: Coordinates,
    layout: BlockLayout,
    /// Names of the bodies of each system.
    body_names: Vec<Arc<[String]>>,
    /// System and frame of each of them, by name; of two bodies of one name the first comes first.
    frames: Vec<(u32, u32)>,
    bodies: Option<Bodies>,
    planar_bodies: Option<Bodies>,
    affine: bool,
    constant_mass: bool,
    exchanges_energy: bool,
}

/// Where the rigid bodies of a model lie, or its planar bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bodies {
    /// Their coordinates, seven per body in space, three in the plane.
    pub q: Range<usize>,
    /// Their velocities, six per body in space, three in the plane.
    pub v: Range<usize>,
    /// Number of their first mass block; body i has the blocks first + 2i (linear) and first + 2i + 1 (angular) in space, the block
    /// first + i in the plane.
    pub first_block: usize,
}

/// A frame of a body of one of the systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameId {
    system: usize,
    frame: usize,
}

/// Name of the body of a system's frame.
fn name_of(names: &[Arc<[String]>], (system, frame): (u32, u32)) -> &str {
    &names[system as usize][frame as usize]
}

impl SystemSet {
    /// Puts systems together.
    ///
    /// # Errors
    /// Two coordinates of one name.
    pub fn new(systems: Vec<Box<dyn System>>) -> Result<Self, ModelError> {
        let (mut coordinates, mut velocities) = (Coordinates::default(), Coordinates::default());
        let (mut sizes, mut parts, mut body_names, mut frames) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut bodies, mut planar_bodies, mut n_values) = (None, None, 0);
        for system in systems {
            let (q, v) = (coordinates.len(), velocities.len());
            let first_block = sizes.len();
            coordinates.append(system.coordinates());
            velocities.append(system.velocities());
            let blocks = system.block_sizes();
            let values = n_values..n_values + blocks.iter().map(|n| n * n).sum::<usize>();
            n_values = values.end;
            sizes.extend(blocks);
            let (q, v) = (q..coordinates.len(), v..velocities.len());
            if system.n_rigid_bodies() > 0 {
                bodies = Some(Bodies { q: q.clone(), v: v.clone(), first_block });
            }
            if system.n_planar_bodies() > 0 {
                planar_bodies = Some(Bodies { q: q.clone(), v: v.clone(), first_block });
            }
            let names = system.frames();
            frames.extend((0..names.len() as u32).map(|frame| (parts.len() as u32, frame)));
            body_names.push(names);
            parts.push(Part { system, q, v, values });
        }
        if let Some(name) = coordinates.name_given_twice() {
            return Err(ModelError::DuplicateName { what: "coordinate", name });
        }
        frames.sort_unstable_by(|a, b| name_of(&body_names, *a).cmp(name_of(&body_names, *b)).then(a.cmp(b)));
        let affine = parts.iter().all(|p| p.system.is_affine());
        let constant_mass = parts.iter().all(|p| p.system.mass_is_constant());
        let exchanges_energy = parts.iter().any(|p| p.system.exchanges_energy());
        let layout = BlockLayout::new(sizes);
        Ok(SystemSet {
            parts,
            coordinates,
            velocities,
            layout,
            body_names,
            frames,
            bodies,
            planar_bodies,
            affine,
            constant_mass,
            exchanges_energy,
        })
    }

    /// All coordinates.
    #[must_use]
    pub fn coordinates(&self) -> &Coordinates {
        &self.coordinates
    }

    /// All velocities, as files name them.
    #[must_use]
    pub fn velocities(&self) -> &Coordinates {
        &self.velocities
    }

    /// Layout of the mass matrix.
    #[must_use]
    pub fn layout(&self) -> &BlockLayout {
        &self.layout
    }

    /// The rigid bodies, if there are any.
    #[must_use]
    pub fn bodies(&self) -> Option<&Bodies> {
        self.bodies.as_ref()
    }

    /// The planar bodies, if there are any.
    #[must_use]
    pub fn planar_bodies(&self) -> Option<&Bodies> {
        self.planar_bodies.as_ref()
    }

    /// Every system is affine: see [`System::is_affine`].
    #[must_use]
    pub(crate) fn systems_are_affine(&self) -> bool {
        self.affine
    }

    /// Every mass matrix is constant.
    #[must_use]
    pub(crate) fn mass_is_constant(&self) -> bool {
        self.constant_mass
    }

    /// Number of a body of this name among the rigid bodies.
    #[must_use]
    pub fn find_rigid_body(&self, body: &str) -> Option<usize> {
        self.find_body(body, |system| system.n_rigid_bodies() > 0)
    }

    /// Number of a body of this name among the planar bodies.
    #[must_use]
    pub fn find_planar_body(&self, body: &str) -> Option<usize> {
        self.find_body(body, |system| system.n_planar_bodies() > 0)
    }

    /// Number of a body of this name in the first of the systems that `is_wanted` picks.
    fn find_body(&self, body: &str, is_wanted: impl Fn(&dyn System) -> bool) -> Option<usize> {
        let system = self.parts.iter().position(|p| is_wanted(&*p.system))?;
        self.frames_called(body).find(|id| id.system == system).map(|id| id.frame)
    }

    /// The frames of the bodies of this name.
    fn frames_called(&self, body: &str) -> impl Iterator<Item = FrameId> {
        let first = self.frames.partition_point(|&frame| name_of(&self.body_names, frame) < body);
        let same = self.frames[first..].iter().take_while(move |&&frame| name_of(&self.body_names, frame) == body);
        same.map(|&(system, frame)| FrameId { system: system as usize, frame: frame as usize })
    }

    /// The system of this coordinate has q̇ = v.
    #[must_use]
    pub fn is_flat(&self, coordinate: usize) -> bool {
        self.part(coordinate).system.is_flat()
    }

    fn part(&self, coordinate: usize) -> &Part {
        &self.parts[self.parts.partition_point(|p| p.q.end <= coordinate)]
    }

    /// Velocities on which the rates of these coordinates depend, ascending.
    #[must_use]
    pub fn velocities_of(&self, coordinates: &[usize]) -> Vec<usize> {
        let mut all: Vec<usize> = coordinates
            .iter()
            .flat_map(|&c| {
                let part = self.part(c);
                part.system.velocities_of(c - part.q.start).map(|v| v + part.v.start)
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// One row G_v = G_q T(q), from values at some coordinates to values at the velocities they depend on.
    pub(crate) fn pull_back(&self, q: &[f64], from: (&[usize], &[f64]), to: (&[usize], &mut [f64])) {
        let (velocities, out) = to;
        out.fill(0.0);
        for (&c, &slope) in from.0.iter().zip(from.1) {
            let part = self.part(c);
            let range = part.system.velocities_of(c - part.q.start);
            let mut row = [0.0; 6];
            part.system.kinematic_row(&q[part.q.clone()], c - part.q.start, &mut row[..range.len()]);
            // velocities are ascending and hold every dependency, so the range lies there without gaps
            let first = velocities.partition_point(|&v| v < range.start + part.v.start);
            for (out, t) in out[first..].iter_mut().zip(&row[..range.len()]) {
                *out += slope * t;
            }
        }
    }

    /// The velocity of this name, or of the coordinate of this name where q̇ = v.
    #[must_use]
    pub fn velocity_of_name(&self, name: &str) -> Option<usize> {
        let of_coordinate = || {
            let i = self.coordinates.position(name)?;
            self.is_flat(i).then(|| self.velocities_of(&[i])).and_then(|v| v.first().copied())
        };
        self.velocities.position(name).or_else(of_coordinate)
    }

    /// Adds slope · T_c, the row of one coordinate, to values at some velocities that hold those it depends on.
    pub(crate) fn add_pulled(&self, q: &[f64], (c, slope): (usize, f64), velocities: &[usize], out: &mut [f64]) {
        let part = self.part(c);
        let range = part.system.velocities_of(c - part.q.start);
        let mut row = [0.0; 6];
        part.system.kinematic_row(&q[part.q.clone()], c - part.q.start, &mut row[..range.len()]);
        let first = velocities.partition_point(|&v| v < range.start + part.v.start);
        for (out, t) in out[first..].iter_mut().zip(&row[..range.len()]) {
            *out += slope * t;
        }
    }

    /// Adds T(q)ᵀ H T(q) + Σ_c p_c ∂T_c/∂q T(q) to a matrix over `velocities`: the derivative of Tᵀp along the motion when p, given at
    /// `coordinates`, changes with the symmetric H (row-major over `coordinates`).
    pub fn add_curvature(&self, q: &[f64], from: (&[usize], &[f64], &[f64]), to: (&[usize], &mut [f64])) {
        let ((coordinates, p, hessian), (velocities, out)) = (from, to);
        let (n, width) = (coordinates.len(), velocities.len());
        let (mut row, mut bend) = ([0.0; 6], [0.0; 36]);
        // half = H T, then out += Tᵀ half
        let mut half = vec![0.0; n * width];
        for (row, out) in hessian.chunks_exact(n.max(1)).zip(half.chunks_exact_mut(width.max(1))) {
            self.pull_back(q, (coordinates, row), (velocities, out));
        }
        for (c, &coordinate) in coordinates.iter().enumerate() {
            let part = self.part(coordinate);
            let (local, own) = (coordinate - part.q.start, &q[part.q.clone()]);
            let range = part.system.velocities_of(local);
            let size = range.len();
            let first = velocities.partition_point(|&v| v < range.start + part.v.start);
            part.system.kinematic_row(own, local, &mut row[..size]);
            part.system.kinematic_derivative(own, local, &mut bend[..size * size]);
            for i in 0..size {
                let line = &mut out[(first + i) * width..(first + i + 1) * width];
                for (out, half) in line.iter_mut().zip(&half[c * width..(c + 1) * width]) {
                    *out += row[i] * half;
                }
                for (out, bend) in line[first..].iter_mut().zip(&bend[i * size..(i + 1) * size]) {
                    *out += p[c] * bend;
                }
            }
        }
    }

    /// q̇ of one coordinate.
    #[must_use]
    pub fn rate(&self, q: &[f64], v: &[f64], coordinate: usize) -> f64 {
        let part = self.part(coordinate);
        let range = part.system.velocities_of(coordinate - part.q.start);
        let mut row = [0.0; 6];
        part.system.kinematic_row(&q[part.q.clone()], coordinate - part.q.start, &mut row[..range.len()]);
        v[part.v.clone()][range].iter().zip(&row).map(|(v, t)| v * t).sum()
    }

    /// (dT/dt) v of one coordinate.
    #[must_use]
    pub(crate) fn rate_bias(&self, q: &[f64], v: &[f64], coordinate: usize) -> f64 {
        let part = self.part(coordinate);
        part.system.kinematic_bias(&q[part.q.clone()], &v[part.v.clone()], coordinate - part.q.start)
    }

    /// Functions of the state at whose changes of sign M or F of a system has a kink or a jump.
    #[must_use]
    pub fn switches(&self) -> Vec<StateFunction> {
        let of_part = |p: &Part| p.system.switches().into_iter().map(|s| s.shifted(p.q.start, p.v.start)).collect::<Vec<_>>();
        self.parts.iter().flat_map(of_part).collect()
    }

    /// M(t, q), block diagonal.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub fn mass(&self, t: f64, q: &[f64], mass: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.parts.iter().try_for_each(|p| p.system.mass(t, &q[p.q.clone()], &mut mass[p.values.clone()], scratch))
    }

    /// F(t, q, v).
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub(crate) fn force_of_systems(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        self.parts.iter().try_for_each(|p| p.system.force(t, &q[p.q.clone()], &v[p.v.clone()], &mut force[p.v.clone()], scratch))
    }

    /// Adds c_v C + c_q K to a block-diagonal matrix.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub(crate) fn add_jacobians_of_systems(
        &self,
        at: Instant<'_>,
        factors: JacobianFactors,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        self.parts.iter().try_for_each(|p| {
            let local = Instant { t: at.t, q: &at.q[p.q.clone()], v: &at.v[p.v.clone()] };
            p.system.add_jacobians(local, factors, &mut matrix[p.values.clone()], scratch)
        })
    }

    /// Energy enters or leaves other than through interactions: see [`System::exchanges_energy`].
    #[must_use]
    pub(crate) fn systems_exchange_energy(&self) -> bool {
        self.exchanges_energy
    }

    /// The forces without potential.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub(crate) fn applied_force_of_systems(&self, at: Instant<'_>, force: &mut [f64], scratch: &mut Scratch) -> Result<(), NonFinite> {
        force.fill(0.0);
        self.parts
            .iter()
            .try_for_each(|p| p.system.applied_force(at.t, &at.q[p.q.clone()], &at.v[p.v.clone()], &mut force[p.v.clone()], scratch))
    }

    /// ∂V/∂t − ∂T/∂t \[W\].
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub(crate) fn explicit_power_of_systems(&self, at: Instant<'_>, scratch: &mut Scratch) -> Result<f64, NonFinite> {
        self.parts.iter().map(|p| p.system.explicit_power(at.t, &at.q[p.q.clone()], &at.v[p.v.clone()], scratch)).sum()
    }

    /// Kinetic and potential energy \[J\].
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub(crate) fn energy_of_systems(&self, t: f64, q: &[f64], v: &[f64], scratch: &mut Scratch) -> Result<(f64, f64), NonFinite> {
        let mut sum = (0.0, 0.0);
        for p in &self.parts {
            let (kinetic, potential) = p.system.energy(t, &q[p.q.clone()], &v[p.v.clone()], scratch)?;
            sum = (sum.0 + kinetic, sum.1 + potential);
        }
        Ok(sum)
    }

    /// q⁺ = q ⊕ T w.
    pub fn advance(&self, q: &[f64], w: &[f64], q_next: &mut [f64]) {
        for p in &self.parts {
            p.system.advance(&q[p.q.clone()], &w[p.v.clone()], &mut q_next[p.q.clone()]);
        }
    }

    /// ẇ for q(t) = q ⊕ w(t): see [`System::displacement_rate`].
    pub fn displacement_rate(&self, w: &[f64], v: &[f64], rate: &mut [f64]) {
        for p in &self.parts {
            p.system.displacement_rate(&w[p.v.clone()], &v[p.v.clone()], &mut rate[p.v.clone()]);
        }
    }

    /// The velocity that belongs to a rate of displacement.
    pub(crate) fn velocity_of_rate(&self, w: &[f64], rate: &[f64], v: &mut [f64]) {
        for p in &self.parts {
            p.system.velocity_of_rate(&w[p.v.clone()], &rate[p.v.clone()], &mut v[p.v.clone()]);
        }
    }

    /// w with q_to = q ⊕ w.
    pub fn difference(&self, q: &[f64], q_to: &[f64], w: &mut [f64]) {
        for p in &self.parts {
            p.system.difference(&q[p.q.clone()], &q_to[p.q.clone()], &mut w[p.v.clone()]);
        }
    }

    /// Adds c (∂(M a)/∂q) T to a block-diagonal matrix.
    ///
    /// # Errors
    /// [`NonFinite`] naming the formula.
    pub fn add_mass_derivative(
        &self,
        t: f64,
        q: &[f64],
        a: &[f64],
        factor: f64,
        matrix: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        self.parts.iter().try_for_each(|p| {
            p.system.add_mass_derivative(t, &q[p.q.clone()], &a[p.v.clone()], factor, &mut matrix[p.values.clone()], scratch)
        })
    }

    /// Writes a scale for each displacement: |q| of the coordinate that moves with this velocity alone, 1 rad for rotations.
    pub fn position_scale(&self, q: &[f64], scale: &mut [f64]) {
        scale.fill(1.0);
        for p in &self.parts {
            for (c, q) in q[p.q.clone()].iter().enumerate() {
                let range = p.system.velocities_of(c);
                if range.len() == 1 {
                    scale[p.v.start + range.start] = q.abs();
                }
            }
        }
    }

    /// Names of all bodies whose frames joints can be attached to.
    #[must_use]
    pub fn frames(&self) -> Vec<String> {
        self.body_names.iter().flat_map(|names| names.iter().cloned()).collect()
    }

    /// The frame of the body of this name.
    #[must_use]
    pub fn find_frame(&self, body: &str) -> Option<FrameId> {
        self.frames_called(body).next()
    }

    /// The body of this frame moves in the x-y plane.
    #[must_use]
    pub fn is_planar(&self, id: FrameId) -> bool {
        self.parts[id.system].system.is_planar()
    }

    /// Velocities of the model on which the motion of a frame depends.
    #[must_use]
    pub(crate) fn frame_velocities(&self, id: FrameId) -> Range<usize> {
        let part = &self.parts[id.system];
        let range = part.system.frame_velocities(id.frame);
        part.v.start + range.start..part.v.start + range.end
    }

    /// Origin and orientation of a frame in the world.
    #[must_use]
    pub fn frame(&self, q: &[f64], id: FrameId) -> BodyFrame {
        let part = &self.parts[id.system];
        part.system.frame(&q[part.q.clone()], id.frame)
    }

    /// See [`System::frame_jacobian`].
    pub(crate) fn frame_jacobian(&self, q: &[f64], id: FrameId, jacobian: &mut [f64]) {
        let part = &self.parts[id.system];
        part.system.frame_jacobian(&q[part.q.clone()], id.frame, jacobian);
    }

    /// Velocity of the origin and angular velocity of a frame.
    #[must_use]
    pub fn frame_velocity(&self, q: &[f64], v: &[f64], id: FrameId) -> [f64; 6] {
        let part = &self.parts[id.system];
        part.system.frame_velocity(&q[part.q.clone()], &v[part.v.clone()], id.frame)
    }

    /// See [`System::add_frame_velocity_derivative`].
    pub(crate) fn add_frame_velocity_derivative(&self, q: &[f64], v: &[f64], id: FrameId, factor: f64, matrix: &mut [f64]) {
        let part = &self.parts[id.system];
        part.system.add_frame_velocity_derivative(&q[part.q.clone()], &v[part.v.clone()], id.frame, factor, matrix);
    }

    /// Acceleration of the origin and angular acceleration of a frame when v̇ = 0.
    #[must_use]
    pub(crate) fn frame_bias(&self, q: &[f64], v: &[f64], id: FrameId) -> [f64; 6] {
        let part = &self.parts[id.system];
        part.system.frame_bias(&q[part.q.clone()], &v[part.v.clone()], id.frame)
    }

    /// See [`System::add_wrench_rows`].
    pub(crate) fn add_wrench_rows(&self, q: &[f64], id: FrameId, wrenches: &[Wrench], rows: &mut [f64], stride: usize) {
        let part = &self.parts[id.system];
        part.system.add_wrench_rows(&q[part.q.clone()], id.frame, wrenches, rows, stride);
    }

    /// See [`System::add_wrench_derivative`].
    pub(crate) fn add_wrench_derivative(&self, q: &[f64], id: FrameId, wrench: &Wrench, factor: f64, matrix: &mut [f64], stride: usize) {
        let part = &self.parts[id.system];
        part.system.add_wrench_derivative(&q[part.q.clone()], id.frame, wrench, factor, matrix, stride);
    }

    /// Velocities as files give them.
    pub fn file_velocities(&self, q: &[f64], v: &[f64], out: &mut [f64]) {
        for p in &self.parts {
            p.system.file_velocities(&q[p.q.clone()], &v[p.v.clone()], &mut out[p.v.clone()]);
        }
    }

    /// Refuses an initial state that is not one.
    ///
    /// # Errors
    /// [`ModelError::BadState`].
    pub fn check_state(&self, q: &[f64]) -> Result<(), ModelError> {
        self.parts.iter().try_for_each(|p| {
            p.system
                .check_state(&q[p.q.clone()])
                .map_err(|reason| ModelError::BadState { system: self.coordinates.name(p.q.start), reason })
        })
    }
}
