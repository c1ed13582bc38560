//! A parametric curve x(s), y(s), z(s) by formulas, the nearest parameter of a point, and the two distances from the curve with their
//! derivatives.
//!
//! With the nearest parameter s(y) of a point y, e = y − r(s) and D = |r′|² − e·r″
//!
//! ```text
//! e·r′ = 0,   ∇s = r′/D                                            nearest point
//! N₁ = h × r′/|h × r′|,   N₂ = r′ × N₁/|r′ × N₁|                    two normals; h a direction that the curve's tangents stay away from
//! gᵢ = Nᵢ(s)·e,   ∇gᵢ = Nᵢ + (Nᵢ′·e) ∇s                             distances from the curve
//! ∇∇gᵢ = Nᵢ′∇sᵀ + ∇s Nᵢ′ᵀ + (Nᵢ″·e − Nᵢ′·r′) ∇s∇sᵀ + (Nᵢ′·e) ∇∇s
//! ∇∇s = r″∇sᵀ/D − r′∇Dᵀ/D²,   ∇D = (3 r′·r″ − e·r‴) ∇s − r″
//! ```
//!
//! In the plane h = z and g₁ is the signed distance. The nearest parameter is sought among samples and then by Newton's method, so that it is
//! a function of the point; a curve that crosses itself is ambiguous at the crossing.

use crate::error::{ModelError, NonFinite};
use crate::formula::{Graph, Scope, Tape};
use crate::systems::Scratch;
use crate::systems::formula_force::{compile, parse};
use nalgebra::{Matrix3, Vector3};

/// The text of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveSource {
    /// x(s), y(s) and, in space, z(s) \[m\].
    pub formulas: Vec<String>,
    /// Name of the parameter in the formulas.
    pub parameter: String,
    /// Range of the parameter in which nearest points are sought; the curve goes on beyond it as the formulas do.
    pub range: [f64; 2],
    /// Constants of the formulas.
    pub constants: Vec<(String, f64)>,
}

/// Number of samples among which the nearest point is sought first.
const SAMPLES: usize = 256;
/// Number of directions among which h is chosen.
const DIRECTIONS: usize = 200;

/// A compiled curve.
#[derive(Clone)]
pub(super) struct Curve {
    /// r, r′, r″, r‴ of s.
    tape: Tape,
    /// (s, r(s)).
    samples: Vec<(f64, Vector3<f64>)>,
    helper: Vector3<f64>,
    spacing: f64,
}

/// A distance from the curve at a point.
pub(super) struct Distance {
    pub value: f64,
    pub gradient: Vector3<f64>,
    pub hessian: Matrix3<f64>,
}

/// r and its derivatives.
type Jet = [Vector3<f64>; 4];

impl Curve {
    pub fn new(name: &str, source: &CurveSource, planar: bool) -> Result<Self, ModelError> {
        let wrong = |reason: String| ModelError::Joint { joint: name.to_owned(), reason };
        let n = if planar { 2 } else { 3 };
        if source.formulas.len() != n {
            return Err(wrong(format!("its curve has {} formulas; {n} are needed", source.formulas.len())));
        }
        let [from, to] = source.range;
        if !(from.is_finite() && to.is_finite() && from < to) {
            return Err(wrong(format!("the range of its curve is [{from}, {to}]; two increasing numbers are needed")));
        }
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        for (constant, value) in &source.constants {
            scope.constant(constant, *value);
        }
        let s = graph.symbol(&source.parameter);
        scope.symbol(&source.parameter, s);
        let mut level = Vec::with_capacity(3);
        for (text, axis) in source.formulas.iter().zip(["x", "y", "z"]) {
            level.push(parse(&mut graph, &format!("{axis} of the curve of \"{name}\""), text, &scope)?);
        }
        level.resize(3, graph.constant(0.0));
        let mut outputs = level.clone();
        for _ in 0..3 {
            level = level.iter().map(|&e| graph.derivative(e, s)).collect();
            outputs.extend(&level);
        }
        let spacing = (to - from) / SAMPLES as f64;
        let mut curve = Curve { tape: compile(&graph, &[s], &outputs), samples: Vec::new(), helper: Vector3::z(), spacing };
        let (mut scratch, mut tangents) = (Scratch::default(), Vec::with_capacity(SAMPLES + 1));
        for i in 0..=SAMPLES {
            let s = from + spacing * i as f64;
            let [r, tangent, ..] = curve.jet(s, &mut scratch).map_err(|e| wrong(e.to_string()))?;
            let direction = tangent.try_normalize(0.0);
            tangents.push(direction.ok_or_else(|| wrong(format!("its curve stands still at {} = {s}", source.parameter)))?);
            curve.samples.push((s, r));
        }
        if !planar {
            curve.helper = furthest(&tangents);
        }
        Ok(curve)
    }

    fn jet(&self, s: f64, scratch: &mut Scratch) -> Result<Jet, NonFinite> {
        let mut values = [0.0; 12];
        self.tape.evaluate(&[s], &mut scratch.registers, &mut values);
        match values.iter().find(|x| !x.is_finite()) {
            Some(&value) => Err(NonFinite { what: format!("a curve or a derivative of it at the parameter {s}"), value }),
            None => Ok(std::array::from_fn(|i| Vector3::from_row_slice(&values[3 * i..3 * i + 3]))),
        }
    }

    /// The nearest parameter and the jet there.
    fn nearest(&self, y: &Vector3<f64>, scratch: &mut Scratch) -> Result<(f64, Jet), NonFinite> {
        let mut best = (f64::INFINITY, self.samples[0].0);
        for (s, r) in &self.samples {
            let distance = (y - r).norm_squared();
            if distance < best.0 {
                best = (distance, *s);
            }
        }
        let mut s = best.1;
        for _ in 0..60 {
            let jet = self.jet(s, scratch)?;
            let [r, r1, r2, _] = &jet;
            let e = y - r;
            // Newton's step, or that of Gauss and Newton where the curve bends away from the point
            let bend = r1.norm_squared() - e.dot(r2);
            let step = e.dot(r1) / if bend > 0.1 * r1.norm_squared() { bend } else { r1.norm_squared() };
            // a step that is round-off: of the parameter, or of the point in units of the speed
            let small = 4.0 * f64::EPSILON * (s.abs() + (y.norm() + r.norm()) / r1.norm());
            if step.abs() <= small {
                return Ok((s, jet));
            }
            s += step.clamp(-self.spacing, self.spacing);
        }
        Err(NonFinite { what: "the nearest point of a curve, which is not unique here".into(), value: f64::NAN })
    }

    /// The nearest point of the curve.
    pub fn nearest_point(&self, y: &Vector3<f64>, scratch: &mut Scratch) -> Result<Vector3<f64>, NonFinite> {
        Ok(self.nearest(y, scratch)?.1[0])
    }

    /// The direction t = r′/|r′| of the curve at the nearest point, and ∇t = t′∇sᵀ.
    pub fn direction(&self, y: &Vector3<f64>, scratch: &mut Scratch) -> Result<(Vector3<f64>, Matrix3<f64>), NonFinite> {
        let (_, jet) = self.nearest(y, scratch)?;
        let size = nearness(y, &jet)?;
        let [t, t1, _] = unit(&[jet[1], jet[2], jet[3]]);
        Ok((t, t1 * (jet[1] / size).transpose()))
    }

    /// The distances g₁, g₂ at a point.
    pub fn distances(&self, y: &Vector3<f64>, scratch: &mut Scratch) -> Result<[Distance; 2], NonFinite> {
        let (_, jet) = self.nearest(y, scratch)?;
        let size = nearness(y, &jet)?;
        let [r, r1, r2, r3] = jet;
        let e = y - r;
        let slope = r1 / size;
        let size_slope = slope * (3.0 * r1.dot(&r2) - e.dot(&r3)) - r2;
        let bend = (r2 * slope.transpose() - slope * size_slope.transpose()) / size;
        let u = [r1, r2, r3].map(|r| self.helper.cross(&r));
        let w = [r1.cross(&u[0]), r2.cross(&u[0]) + r1.cross(&u[1]), r3.cross(&u[0]) + 2.0 * r2.cross(&u[1]) + r1.cross(&u[2])];
        Ok([u, w].map(|direction| {
            let [n, n1, n2] = unit(&direction);
            let mixed = n1 * slope.transpose();
            let hessian = mixed + mixed.transpose() + slope * slope.transpose() * (n2.dot(&e) - n1.dot(&r1)) + bend * n1.dot(&e);
            Distance { value: n.dot(&e), gradient: n + slope * n1.dot(&e), hessian }
        }))
    }
}

/// D = |r′|² − e·r″, positive where the nearest point is one.
fn nearness(y: &Vector3<f64>, [r, r1, r2, _]: &Jet) -> Result<f64, NonFinite> {
    let size = r1.norm_squared() - (y - r).dot(r2);
    if size <= 0.0 {
        return Err(NonFinite { what: "the nearest point of a curve, whose centre of curvature is here".into(), value: size });
    }
    Ok(size)
}

/// The direction of u(s) with its first two derivatives.
fn unit([u, u1, u2]: &[Vector3<f64>; 3]) -> [Vector3<f64>; 3] {
    let size = u.norm();
    let n = u / size;
    let rate = n.dot(u1);
    let n1 = (u1 - n * rate) / size;
    let n2 = (u2 - n1 * (2.0 * rate) - n * (n1.dot(u1) + n.dot(u2))) / size;
    [n, n1, n2]
}

/// Of many directions spread over the sphere the one furthest from all lines along `tangents`.
fn furthest(tangents: &[Vector3<f64>]) -> Vector3<f64> {
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let direction = |i: usize| {
        let z = 1.0 - (2 * i + 1) as f64 / DIRECTIONS as f64;
        let (radius, angle) = ((1.0 - z * z).sqrt(), golden * i as f64);
        Vector3::new(radius * angle.cos(), radius * angle.sin(), z)
    };
    let margin = |h: &Vector3<f64>| tangents.iter().map(|t| t.cross(h).norm_squared()).fold(f64::INFINITY, f64::min);
    let mut best = (f64::NEG_INFINITY, Vector3::z());
    for h in (0..DIRECTIONS).map(direction) {
        let margin = margin(&h);
        if margin > best.0 {
            best = (margin, h);
        }
    }
    best.1
}
