//! Drag of a fluid on bodies, linear and quadratic, on the translation and on the rotation.
//!
//! ```text
//! F = −(c₁ + c₂ |v − w|) (v − w)  at the centre,     M = −(r₁ + r₂ |ω|) ω,     wind w(t, x, y, z) by formula
//! ```
//!
//! One element acts on any number of bodies; its cost is linear in them and it allocates nothing per evaluation.

use super::acting::{Columns, Moving, NO_RESPONSE, add_wrench, check_force, find_body, push_tangent, subtract_response};
use super::body_force::{ForceElement, ForcePart};
use crate::error::{ModelError, NonFinite};
use crate::formula::{Expr, Graph, Scope, Tape};
use crate::systems::formula_force::{compile, parse};
use crate::systems::{FrameId, Instant, JacobianFactors, Scratch, SystemSet, Wrench};
use nalgebra::{Matrix3, Vector3};

/// What drag is built from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DragSource {
    /// Names of the bodies.
    pub bodies: Vec<String>,
    /// c₁ \[N s/m\], ≥ 0.
    pub linear: f64,
    /// c₂ \[N s²/m²\], ≥ 0.
    pub quadratic: f64,
    /// r₁ \[N m s/rad\], ≥ 0.
    pub rotational: f64,
    /// r₂ \[N m s²/rad²\], ≥ 0.
    pub rotational_quadratic: f64,
    /// Velocity of the fluid \[m/s\]: formulas of `t`, `x`, `y`, `z`; still if `None`.
    pub wind: Option<[String; 3]>,
    /// Constants of the formulas.
    pub parameters: Vec<(String, f64)>,
}

/// Drag on bodies.
pub(super) struct Drag {
    name: String,
    frames: Vec<FrameId>,
    columns: Columns,
    source: DragSource,
    wind: Option<Wind>,
}

struct Wind {
    /// w; inputs t, x, y, z.
    value: Tape,
    /// ∂w/∂(x, y, z), row-major.
    gradient: Tape,
    uniform: bool,
}

impl Wind {
    fn new(name: &str, texts: &[String; 3], parameters: &[(String, f64)]) -> Result<Self, ModelError> {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        for (key, value) in parameters {
            scope.constant(key, *value);
        }
        let inputs: Vec<Expr> = ["t", "x", "y", "z"].map(|key| graph.symbol(key)).to_vec();
        for (key, symbol) in ["t", "x", "y", "z"].into_iter().zip(&inputs) {
            scope.symbol(key, *symbol);
        }
        let mut w = Vec::new();
        for text in texts {
            w.push(parse(&mut graph, &format!("wind of \"{name}\""), text, &scope)?);
        }
        let gradient: Vec<Expr> =
            w.iter().flat_map(|&w| inputs[1..].iter().map(move |&x| (w, x))).map(|(w, x)| graph.derivative(w, x)).collect();
        let uniform = gradient.iter().all(|&g| graph.is_zero(g));
        Ok(Wind { value: compile(&graph, &inputs, &w), gradient: compile(&graph, &inputs, &gradient), uniform })
    }
}

impl Drag {
    pub fn new(name: &str, source: &DragSource, systems: &SystemSet) -> Result<Self, ModelError> {
        let coefficients = [
            ("linear drag", source.linear),
            ("quadratic drag", source.quadratic),
            ("rotational drag", source.rotational),
            ("quadratic rotational drag", source.rotational_quadratic),
        ];
        for (what, value) in coefficients {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(ModelError::OutOfRange { what: format!("{what} of \"{name}\""), value, expected: "a number ≥ 0 is needed" });
            }
        }
        let frames = source.bodies.iter().map(|body| find_body(name, body, systems)).collect::<Result<Vec<_>, _>>()?;
        // each frame has its own list of velocities, one after the other
        let mut columns = Columns::default();
        for &frame in &frames {
            let range = systems.frame_velocities(frame);
            columns.places.push((columns.velocities.len(), range.len()));
            columns.velocities.extend(range);
        }
        let wind = source.wind.as_ref().map(|texts| Wind::new(name, texts, &source.parameters)).transpose()?;
        Ok(Drag { name: name.to_owned(), frames, columns, source: DragSource { bodies: Vec::new(), ..source.clone() }, wind })
    }

    /// v − w and ω of a body, and ∂w/∂x if wanted.
    fn flow(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        frame: FrameId,
        gradient: Option<&mut Matrix3<f64>>,
        scratch: &mut Scratch,
    ) -> Result<(Vector3<f64>, Vector3<f64>), NonFinite> {
        let [vx, vy, vz, wx, wy, wz] = systems.frame_velocity(at.q, at.v, frame);
        let mut relative = Vector3::new(vx, vy, vz);
        if let Some(wind) = &self.wind {
            let x = systems.frame(at.q, frame).origin;
            let (inputs, mut w) = ([at.t, x.x, x.y, x.z], [0.0; 3]);
            wind.value.evaluate(&inputs, &mut scratch.registers, &mut w);
            relative -= Vector3::from(w);
            if let (Some(gradient), false) = (gradient, wind.uniform) {
                let mut rows = [0.0; 9];
                wind.gradient.evaluate(&inputs, &mut scratch.registers, &mut rows);
                *gradient = Matrix3::from_row_slice(&rows);
            }
            check_force(&self.name, &relative)?;
        }
        Ok((relative, Vector3::new(wx, wy, wz)))
    }
}

/// −∂((a + b |x|) x)/∂x.
fn slope(a: f64, b: f64, x: &Vector3<f64>) -> Matrix3<f64> {
    let speed = x.norm();
    let along = if speed > 0.0 { x * x.transpose() * (b / speed) } else { Matrix3::zeros() };
    -(Matrix3::from_diagonal_element(a + b * speed) + along)
}

impl ForceElement for Drag {
    fn add_force(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        _: ForcePart,
        force: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), NonFinite> {
        let s = &self.source;
        for &frame in &self.frames {
            let (relative, omega) = self.flow(systems, at, frame, None, scratch)?;
            let drag = -(s.linear + s.quadratic * relative.norm()) * relative;
            let moment = -(s.rotational + s.rotational_quadratic * omega.norm()) * omega;
            add_wrench(systems, at.q, Some(frame), Wrench { force: drag, moment }, force);
        }
        Ok(())
    }

    fn is_applied(&self) -> bool {
        true
    }

    fn visit_jacobians(
        &self,
        systems: &SystemSet,
        at: Instant<'_>,
        factors: JacobianFactors,
        scratch: &mut Scratch,
        visit: &mut dyn FnMut(&[usize], &[f64]),
    ) -> Result<(), NonFinite> {
        let s = &self.source;
        for (&frame, &(first, n)) in self.frames.iter().zip(&self.columns.places) {
            let mut gradient = Matrix3::zeros();
            let (relative, omega) = self.flow(systems, at, frame, Some(&mut gradient), scratch)?;
            let mut response = NO_RESPONSE;
            response[0][2] = slope(s.linear, s.quadratic, &relative);
            response[0][0] = -(response[0][2] * gradient);
            response[1][3] = slope(s.rotational, s.rotational_quadratic, &omega);
            let wrench = Wrench {
                force: -(s.linear + s.quadratic * relative.norm()) * relative,
                moment: -(s.rotational + s.rotational_quadratic * omega.norm()) * omega,
            };
            let Scratch { registers, rows, frames, .. } = &mut *scratch;
            frames.clear();
            push_tangent(systems, at, Some(frame), factors, frames);
            rows.clear();
            rows.resize(n * n, 0.0);
            let moving = Moving { tangent: frames, place: (0, n) };
            subtract_response((moving, moving), &response, factors.position, (rows, n), registers);
            systems.add_wrench_derivative(at.q, frame, &wrench, -factors.position, rows, n);
            visit(&self.columns.velocities[first..first + n], rows);
        }
        Ok(())
    }
}
