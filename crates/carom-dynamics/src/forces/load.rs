//! Forces and torques on a body by formula, in axes of the world or of the body.
//!
//! ```text
//! force  f = A e(t, …) at a point:  W = (f, r × f)          torque:  W = (0, A e),      A = I or R
//! ```
//!
//! A constant force in world axes has the potential −f·x; all others do work that is counted as applied.

use super::acting::{Attachment, Columns, Moving, NO_RESPONSE, Place, add_wrench, find_body, push_tangent, subtract_response};
use super::body_force::{ForceElement, ForcePart};
use super::load_formula::LoadFormula;
use crate::error::{ModelError, NonFinite};
use crate::systems::{Instant, JacobianFactors, Scratch, SystemSet, Wrench};
use nalgebra::{Matrix3, Vector3};

/// What a load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadKind {
    /// A force \[N\].
    Force,
    /// A torque \[N m\].
    Torque,
}

/// In which axes the components of a load are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoadAxes {
    /// Those of the world.
    #[default]
    World,
    /// Those of the body: the load turns with it.
    Body,
}

/// What a load on a body is built from.
///
/// Formulas may use `t`, of the loaded body `x`, `y`, `z` (its centre), `rx`, `ry`, `rz` (its rotation vector), `vx`, `vy`, `vz`, `wx`, `wy`, `wz`, all in
/// the world frame; of any body the same with its name before it (`ball.vx`); coordinates of any system by name (`theta`, `disk.angle`), and their
/// rates `theta_dot` where these are velocities.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadSource {
    /// Force or torque.
    pub kind: LoadKind,
    /// The body.
    pub body: String,
    /// Where a force acts, in the world frame at the start \[m\]; the centre if `None`.
    pub point: Option<Vector3<f64>>,
    /// Axes of the components.
    pub axes: LoadAxes,
    /// The three components by formula.
    pub components: [String; 3],
    /// Constants of the formulas.
    pub parameters: Vec<(String, f64)>,
}

/// A load on a body.
pub(super) struct Load {
    name: String,
    kind: LoadKind,
    axes: LoadAxes,
    at: Attachment,
    formula: LoadFormula,
    /// The loaded body, the bodies of the formula, then its coordinates.
    columns: Columns,
}

impl Load {
    pub fn new(name: &str, source: &LoadSource, systems: &SystemSet, q: &[f64]) -> Result<Self, ModelError> {
        let frame = find_body(name, &source.body, systems)?;
        if source.point.is_some_and(|x| !x.iter().all(|x| x.is_finite())) {
            return Err(ModelError::Force { force: name.to_owned(), reason: "its point is not finite".into() });
        }
        let word = if source.kind == LoadKind::Force { "force" } else { "torque" };
        let what = format!("{word} of \"{name}\"");
        let formula = LoadFormula::new(&what, (&source.body, frame), &source.components, &source.parameters, systems)?;
        let at = Attachment::new(Some(frame), source.point, systems, q);
        let mut ranges = vec![systems.frame_velocities(frame)];
        ranges.extend(formula.frames.iter().map(|&f| systems.frame_velocities(f)));
        for &(c, _) in &formula.coordinates {
            let of_coordinate = systems.velocities_of(&[c]);
            let first = of_coordinate.first().copied().unwrap_or(0);
            ranges.push(first..first + of_coordinate.len());
        }
        Ok(Load { name: name.to_owned(), kind: source.kind, axes: source.axes, at, formula, columns: Columns::new(&ranges) })
    }

    fn wrench(&self, place: &Place, e: &Vector3<f64>) -> Wrench {
        let load = if self.axes == LoadAxes::Body { place.rotation * e } else { *e };
        match self.kind {
            LoadKind::Force => Wrench { force: load, moment: place.arm.cross(&load) },
            LoadKind::Torque => Wrench { force: Vector3::zeros(), moment: load },
        }
    }

    /// A constant force in the world, whose potential is known.
    fn weight(&self) -> Option<Vector3<f64>> {
        if self.kind == LoadKind::Force && self.axes == LoadAxes::World { self.formula.constant } else { None }
    }
}

impl ForceElement for Load {
    fn add_force(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        part: ForcePart,
        force: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        if part == ForcePart::Applied && self.weight().is_some() {
            return Ok(());
        }
        let e = self.formula.value(systems, at, scratch)?;
        let wrench = self.wrench(&self.at.place(systems, at.q), &e);
        add_wrench(systems, at.q, self.at.frame, wrench, force);
        Ok(())
    }

    fn potential(&self, systems: &SystemSet, _: f64, q: &[f64], _: &mut Scratch) -> Result<f64, NonFinite> {
        Ok(self.weight().map_or(0.0, |weight| -weight.dot(&self.at.place(systems, q).point)))
    }

    fn is_applied(&self) -> bool {
        self.weight().is_none()
    }

    fn is_constant(&self) -> bool {
        self.weight().is_some() && self.at.point == Vector3::zeros()
    }

    fn visit_jacobians(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(&[usize], &[f64]),
    ) -> Result<(), NonFinite> {
        let Some(own) = self.at.frame else { return Ok(()) };
        let e = self.formula.value(systems, at, scratch)?;
        let place = self.at.place(systems, at.q);
        let wrench = self.wrench(&place, &e);
        if self.formula.constant.is_none() {
            self.formula.differentiate(systems, at, scratch)?;
        }
        let stride = self.columns.velocities.len();
        let Scratch { inputs, registers, outputs, rows, frames, .. } = &mut *scratch;
        rows.clear();
        rows.resize(stride * stride, 0.0);
        frames.clear();
        push_tangent(systems, at, Some(own), factors, frames);
        let own_place = self.columns.places[0];
        let own_length = frames.len();

        // A, the lever, and the turn of the load with its body: e stays, A and r turn
        let axes = if self.axes == LoadAxes::Body { place.rotation } else { Matrix3::identity() };
        let lever = place.arm.cross_matrix();
        let onto = match self.kind {
            LoadKind::Force => [axes, lever * axes],
            LoadKind::Torque => [Matrix3::zeros(), axes],
        };
        let mut response = NO_RESPONSE;
        let load = axes * e;
        let turn = if self.axes == LoadAxes::Body { -load.cross_matrix() } else { Matrix3::zeros() };
        match self.kind {
            LoadKind::Force => {
                response[0][1] = turn;
                response[1][1] = lever * turn + load.cross_matrix() * lever;
            }
            LoadKind::Torque => response[1][1] = turn,
        }
        {
            let moving = Moving { tangent: &frames[..own_length], place: own_place };
            subtract_response((moving, moving), &response, factors.position, (rows, stride), registers);
            systems.add_wrench_derivative(at.q, own, &wrench, -factors.position, &mut rows[own_place.0 * (stride + 1)..], stride);
        }
        if self.formula.constant.is_none() {
            for (k, &frame) in self.formula.frames.iter().enumerate() {
                let slopes = self.formula.of_body(outputs, k);
                // the rotation vector changes by the inverse of the left Jacobian of the exponential map
                let chart = super::bushing::turn_of_vector(&systems.frame(at.q, frame).orientation.scaled_axis());
                let slopes = [slopes[0], slopes[1] * chart, slopes[2], slopes[3]];
                let response = onto.map(|onto| slopes.map(|slope| onto * slope));
                frames.truncate(own_length);
                push_tangent(systems, at, Some(frame), factors, frames);
                let (acted, observed) = frames.split_at(own_length);
                let moving = (Moving { tangent: acted, place: own_place }, Moving { tangent: observed, place: self.columns.places[1 + k] });
                subtract_response(moving, &response, factors.position, (rows, stride), registers);
            }
            for (k, &(c, velocity)) in self.formula.coordinates.iter().enumerate() {
                let [by_value, by_rate] = self.formula.of_coordinate(outputs, k);
                let (column, width) = self.columns.places[1 + self.formula.frames.len() + k];
                inputs.clear();
                inputs.resize(width, 0.0);
                systems.pull_back(at.q, (&[c], &[1.0]), (&self.columns.velocities[column..column + width], &mut inputs[..]));
                let damping = if velocity.is_some() { factors.velocity } else { 0.0 };
                for (j, t) in inputs.iter().enumerate() {
                    let change = (by_value * factors.position + by_rate * damping) * *t;
                    let [force, moment] = onto.map(|onto| onto * change);
                    let wrench = Wrench { force, moment }.components();
                    for (component, line) in wrench.into_iter().zip(frames[..6 * own_place.1].chunks_exact(own_place.1)) {
                        for (i, jacobian) in line.iter().enumerate() {
                            rows[(own_place.0 + i) * stride + column + j] -= jacobian * component;
                        }
                    }
                }
            }
        }
        visit(&self.columns.velocities, rows);
        Ok(())
    }

    fn switches(&self) -> Vec<String> {
        self.formula.switch_names.iter().map(|text| format!("{text} of \"{}\"", self.name)).collect()
    }

    fn switch_value(&self, systems: &SystemSet, at: Instant<'_>, switch: usize, scratch: &mut Scratch) -> Result<f64, NonFinite> {
        Ok(self.formula.switch_value(systems, at, switch, scratch))
    }
}
