//! How forces on the frames of bodies act on velocities, and how they change with them.
//!
//! A frame moves with the velocity (ẋ, ω) = J(q) v of its origin. A wrench W = (f, m) about the origin acts on v as Jᵀ W; when W depends on the
//! position (δx, δφ) and the velocity (δẋ, δω) of frames,
//!
//! ```text
//! −∂(Jᵀ W)/∂(q, v)  =  −Jᵀ [W_x J + W_ẋ ∂(J v)/∂q] − (∂Jᵀ/∂q) W   by q,      −Jᵀ W_ẋ J   by v
//! ```
//!
//! δφ is a small turn in the world frame.

use crate::error::{ModelError, NonFinite};
use crate::systems::{BodyFrame, FrameId, Instant, JacobianFactors, SystemSet, Wrench};
use nalgebra::{Matrix3, Vector3};
use std::ops::Range;

/// ∂(force, moment) by (δx, δφ, δẋ, δω) of one frame.
pub(super) type Response = [[Matrix3<f64>; 4]; 2];

/// No response.
pub(super) const NO_RESPONSE: Response = [[Matrix3::new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0); 4]; 2];

/// The velocities of some frames, each once and ascending, and where those of each frame lie among them.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    pub velocities: Vec<usize>,
    /// First of the velocities of each range, and their number.
    pub places: Vec<(usize, usize)>,
}

impl Columns {
    pub fn new(ranges: &[Range<usize>]) -> Self {
        let mut velocities: Vec<usize> = ranges.iter().cloned().flatten().collect();
        velocities.sort_unstable();
        velocities.dedup();
        let places = ranges.iter().map(|range| (velocities.partition_point(|&v| v < range.start), range.len())).collect();
        Columns { velocities, places }
    }
}

/// The frame of a body by name, or what is wrong with it.
pub(super) fn find_body(force: &str, body: &str, systems: &SystemSet) -> Result<FrameId, ModelError> {
    systems.find_frame(body).ok_or_else(|| {
        let names = systems.frames();
        let reason = match crate::nearest::nearest(body, names.iter().map(String::as_str)) {
            Some(best) => format!("there is no body \"{body}\"; did you mean \"{best}\"?"),
            None if names.is_empty() => format!("there is no body \"{body}\": this model has no bodies"),
            None => format!("there is no body \"{body}\""),
        };
        ModelError::Force { force: force.to_owned(), reason }
    })
}

/// A point that a force acts on: of a body, or of the ground.
#[derive(Clone, Debug)]
pub(super) struct Attachment {
    /// `None` for the ground.
    pub frame: Option<FrameId>,
    /// In the frame \[m\].
    pub point: Vector3<f64>,
}

/// Position of an [`Attachment`], all in the world frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// From the frame to the world.
    pub rotation: Matrix3<f64>,
    /// From the origin of the frame to the point \[m\].
    pub arm: Vector3<f64>,
    /// The point \[m\].
    pub point: Vector3<f64>,
}

/// Velocity of an [`Attachment`], all in the world frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    /// Of the point \[m/s\].
    pub velocity: Vector3<f64>,
    /// Angular velocity \[rad/s\].
    pub angular: Vector3<f64>,
}

impl Attachment {
    /// At a point of the world at the coordinates `q`, or at the origin of the frame.
    pub fn new(frame: Option<FrameId>, point: Option<Vector3<f64>>, systems: &SystemSet, q: &[f64]) -> Self {
        let pose = frame.map_or_else(BodyFrame::default, |id| systems.frame(q, id));
        Attachment { frame, point: point.map_or_else(Vector3::zeros, |x| pose.orientation.inverse() * (x - pose.origin)) }
    }

    #[inline]
    pub fn place(&self, systems: &SystemSet, q: &[f64]) -> Place {
        let pose = self.frame.map_or_else(BodyFrame::default, |id| systems.frame(q, id));
        let rotation = pose.orientation.to_rotation_matrix().into_inner();
        let arm = rotation * self.point;
        Place { rotation, arm, point: pose.origin + arm }
    }

    #[inline]
    pub fn motion(&self, systems: &SystemSet, at: Instant<'_>, place: &Place) -> Motion {
        let Some(id) = self.frame else { return Motion { velocity: Vector3::zeros(), angular: Vector3::zeros() } };
        let [vx, vy, vz, wx, wy, wz] = systems.frame_velocity(at.q, at.v, id);
        let angular = Vector3::new(wx, wy, wz);
        Motion { velocity: Vector3::new(vx, vy, vz) + angular.cross(&place.arm), angular }
    }

    /// Velocities of the model that move it.
    pub fn velocities(&self, systems: &SystemSet) -> Range<usize> {
        self.frame.map_or(0..0, |id| systems.frame_velocities(id))
    }
}

/// Adds Jᵀ W to the forces of the model.
#[inline]
pub(super) fn add_wrench(systems: &SystemSet, q: &[f64], frame: Option<FrameId>, wrench: Wrench, force: &mut [f64]) {
    if let Some(id) = frame {
        let range = systems.frame_velocities(id);
        let n = range.len();
        systems.add_wrench_rows(q, id, &[wrench], &mut force[range], n.max(1));
    }
}

/// Writes how a frame moves: J, then c_v J + c_q ∂(J v)/∂q, both 6 × n, at the end of `out`.
pub(super) fn push_tangent(systems: &SystemSet, at: Instant<'_>, frame: Option<FrameId>, factors: JacobianFactors, out: &mut Vec<f64>) {
    let Some(id) = frame else { return };
    let (n, start) = (systems.frame_velocities(id).len(), out.len());
    out.resize(start + 12 * n, 0.0);
    let (jacobian, rates) = out[start..].split_at_mut(6 * n);
    systems.frame_jacobian(at.q, id, jacobian);
    for (rate, j) in rates.iter_mut().zip(&*jacobian) {
        *rate = factors.velocity * j;
    }
    if factors.position != 0.0 {
        systems.add_frame_velocity_derivative(at.q, at.v, id, factors.position, rates);
    }
}

/// One frame among the columns of a matrix, with what [`push_tangent`] wrote of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving<'a> {
    pub tangent: &'a [f64],
    pub place: (usize, usize),
}

/// Subtracts J_aᵀ [c_q W_x J_o + W_ẋ U_o] from a matrix with rows `stride` apart: what moving the frame `o` changes in the force on the frame `a`.
pub(super) fn subtract_response(
    (acted, observed): (Moving<'_>, Moving<'_>),
    response: &Response,
    c_q: f64,
    (matrix, stride): (&mut [f64], usize),
    product: &mut Vec<f64>,
) {
    let ((row, n), (column, m)) = (acted.place, observed.place);
    if n == 0 || m == 0 {
        return;
    }
    let (jacobian, rates) = observed.tangent.split_at(6 * m);
    product.clear();
    product.resize(6 * m, 0.0);
    for (i, out) in product.chunks_exact_mut(m).enumerate() {
        for k in 0..12 {
            let entry = response[i / 3][k / 3][(i % 3, k % 3)];
            if entry == 0.0 {
                continue;
            }
            let (entry, from) =
                if k < 6 { (c_q * entry, &jacobian[k * m..(k + 1) * m]) } else { (entry, &rates[(k - 6) * m..(k - 5) * m]) };
            out.iter_mut().zip(from).for_each(|(out, x)| *out += entry * x);
        }
    }
    for (left, right) in acted.tangent[..6 * n].chunks_exact(n).zip(product.chunks_exact(m)) {
        for (i, &left) in left.iter().enumerate().filter(|(_, left)| **left != 0.0) {
            let line = &mut matrix[(row + i) * stride + column..][..m];
            line.iter_mut().zip(right).for_each(|(x, r)| *x -= left * r);
        }
    }
}

/// Two attachments with the velocities that move them: what springs and bushings act between.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub ends: [Attachment; 2],
    pub columns: Columns,
}

impl Pair {
    /// Between two bodies or a body and the ground (`None`).
    pub fn new(
        name: &str,
        bodies: &[Option<String>; 2],
        points: [Option<Vector3<f64>>; 2],
        systems: &SystemSet,
        q: &[f64],
    ) -> Result<Self, ModelError> {
        let wrong = |reason: &str| ModelError::Force { force: name.to_owned(), reason: reason.to_owned() };
        let mut frames = [None; 2];
        for (frame, body) in frames.iter_mut().zip(bodies) {
            *frame = body.as_ref().map(|body| find_body(name, body, systems)).transpose()?;
        }
        if frames[0] == frames[1] {
            return Err(wrong("it needs two different bodies, or a body and the ground"));
        }
        if points.iter().flatten().any(|x| !x.iter().all(|x| x.is_finite())) {
            return Err(wrong("a point is not finite"));
        }
        let ends = [0, 1].map(|i| Attachment::new(frames[i], points[i], systems, q));
        let columns = Columns::new(&ends.each_ref().map(|end| end.velocities(systems)));
        Ok(Pair { ends, columns })
    }

    /// It acts between two bodies, not on one.
    pub fn couples(&self) -> bool {
        self.ends.iter().all(|end| end.frame.is_some())
    }

    pub fn places(&self, systems: &SystemSet, q: &[f64]) -> [Place; 2] {
        self.ends.each_ref().map(|end| end.place(systems, q))
    }

    pub fn motions(&self, systems: &SystemSet, at: Instant<'_>, places: &[Place; 2]) -> [Motion; 2] {
        [0, 1].map(|i| self.ends[i].motion(systems, at, &places[i]))
    }

    pub(crate) fn add_wrenches(&self, systems: &SystemSet, q: &[f64], wrenches: [Wrench; 2], force: &mut [f64]) {
        for (end, wrench) in self.ends.iter().zip(wrenches) {
            add_wrench(systems, q, end.frame, wrench, force);
        }
    }

    /// Adds the row Jᵀ W of two wrenches over the columns at the end of `rows`: the rate of the coordinate on which they work with unit effort.
    pub fn push_row(&self, systems: &SystemSet, q: &[f64], wrenches: [Wrench; 2], rows: &mut Vec<f64>) {
        let start = rows.len();
        rows.resize(start + self.columns.velocities.len(), 0.0);
        for ((end, wrench), &(place, n)) in self.ends.iter().zip(wrenches).zip(&self.columns.places) {
            if let Some(id) = end.frame {
                systems.add_wrench_rows(q, id, &[wrench], &mut rows[start + place..start + place + n], n.max(1));
            }
        }
    }

    /// Writes c_v C + c_q K over the columns to `scratch.rows`; `responses[a][o]` is that of the wrench on `a` to the motion of `o`.
    pub(crate) fn write_jacobians(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        (wrenches, responses): (&[Wrench; 2], &[[Response; 2]; 2]),
        scratch: &mut crate::systems::Scratch,
    ) {
        let stride = self.columns.velocities.len();
        let crate::systems::Scratch { registers, rows, frames, .. } = scratch;
        rows.clear();
        rows.resize(stride * stride, 0.0);
        frames.clear();
        push_tangent(systems, at, self.ends[0].frame, factors, frames);
        let second = frames.len();
        push_tangent(systems, at, self.ends[1].frame, factors, frames);
        let tangents = frames.split_at(second);
        let moving = [0, 1].map(|i| Moving { tangent: if i == 0 { tangents.0 } else { tangents.1 }, place: self.columns.places[i] });
        for a in 0..2 {
            let Some(id) = self.ends[a].frame else { continue };
            for o in 0..2 {
                subtract_response((moving[a], moving[o]), &responses[a][o], factors.position, (rows, stride), registers);
            }
            let place = moving[a].place.0 * (stride + 1);
            systems.add_wrench_derivative(at.q, id, &wrenches[a], -factors.position, &mut rows[place..], stride);
        }
    }
}

/// The wrenches of a force F on the point of end 2, its reaction on that of end 1, and their responses when
/// δF = `by_separation` δd + `by_rate` δḋ, with d from point 1 to point 2.
pub(super) fn point_force(
    places: &[Place; 2],
    motions: &[Motion; 2],
    force: &Vector3<f64>,
    (by_separation, by_rate): (&Matrix3<f64>, &Matrix3<f64>),
) -> ([Wrench; 2], [[Response; 2]; 2]) {
    let signs = [-1.0, 1.0];
    let mut responses = [[NO_RESPONSE; 2]; 2];
    for o in 0..2 {
        let arm = places[o].arm.cross_matrix();
        // δd = ±(δx − [r] δφ),   δḋ = ±(δẋ − [r] δω − [ω] [r] δφ)
        let turn = -(by_separation * arm + by_rate * motions[o].angular.cross_matrix() * arm) * signs[o];
        let of_force = [by_separation * signs[o], turn, by_rate * signs[o], -(by_rate * arm) * signs[o]];
        for a in 0..2 {
            let lever = places[a].arm.cross_matrix();
            for (k, block) in of_force.iter().enumerate() {
                responses[a][o][0][k] = block * signs[a];
                responses[a][o][1][k] = lever * block * signs[a];
            }
        }
        // the arm turns with its body: δr × F = [F] [r] δφ
        responses[o][o][1][1] += force.cross_matrix() * arm * signs[o];
    }
    (point_wrenches(places, force), responses)
}

/// The wrenches of a force on the point of end 2 and of its reaction.
pub(super) fn point_wrenches(places: &[Place; 2], force: &Vector3<f64>) -> [Wrench; 2] {
    [Wrench { force: -force, moment: -places[0].arm.cross(force) }, Wrench { force: *force, moment: places[1].arm.cross(force) }]
}

/// Refuses a force that is not finite.
pub(super) fn check_force(name: &str, force: &Vector3<f64>) -> Result<(), NonFinite> {
    match force.iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(&value) => Err(NonFinite { what: format!("the force of \"{name}\""), value }),
    }
}
