//! Prescribed motion of obstacles: x(t), y(t), angle(t) by formula, with velocity and acceleration by symbolic derivatives.

use carom_dynamics::error::NonFinite;
use carom_dynamics::formula::{FormulaError, Graph, Scope, Tape, parse};
use nalgebra::Vector2;

/// Names of the formulas, in order.
pub const PARTS: [&str; 3] = ["x", "y", "angle"];

/// The text of a motion; what is left out stays zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MotionSource {
    /// Displacement along x and y \[m\], turn \[rad\], as formulas of `t` \[s\], in the order of [`PARTS`].
    pub formulas: [Option<String>; 3],
    /// Constants of the formulas.
    pub parameters: Vec<(String, f64)>,
}

/// A compiled motion.
#[derive(Clone, Debug)]
pub struct Motion {
    /// For messages.
    name: String,
    /// x, y, angle, then their first and second derivatives; input t.
    tape: Tape,
}

/// Where a moving obstacle is at one time, relative to its place in the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotionState {
    /// Displacement \[m\].
    pub displacement: Vector2<f64>,
    /// Turn \[rad\].
    pub angle: f64,
    /// Velocity of the origin \[m/s\].
    pub velocity: Vector2<f64>,
    /// Angular velocity \[rad/s\].
    pub rate: f64,
    /// Acceleration of the origin \[m/s²\].
    pub acceleration: Vector2<f64>,
    /// Angular acceleration \[rad/s²\].
    pub angular_acceleration: f64,
}

impl Motion {
    /// Reads and differentiates the formulas; `name` is that of the obstacle.
    ///
    /// # Errors
    /// The first formula that cannot be read, by its place in [`PARTS`].
    pub fn new(name: &str, source: &MotionSource) -> Result<Self, (usize, FormulaError)> {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        let t = graph.symbol("t");
        scope.symbol("t", t);
        for (name, value) in &source.parameters {
            scope.constant(name, *value);
        }
        let mut outputs = Vec::with_capacity(9);
        for (part, text) in source.formulas.iter().enumerate() {
            outputs.push(parse(&mut graph, text.as_deref().unwrap_or("0"), &scope).map_err(|error| (part, error))?);
        }
        for i in 0..6 {
            outputs.push(graph.derivative(outputs[i], t));
        }
        match Tape::compile(&graph, &[t], &outputs) {
            Ok(tape) => Ok(Motion { name: name.to_owned(), tape }),
            // the scope holds no symbol but t
            Err(error) => unreachable!("{error}"),
        }
    }

    /// The motion at time `t`; `registers` is room to work.
    ///
    /// # Errors
    /// [`NonFinite`] naming the obstacle and the formula.
    pub fn at(&self, t: f64, registers: &mut Vec<f64>) -> Result<MotionState, NonFinite> {
        let mut out = [0.0; 9];
        self.tape.evaluate(&[t], registers, &mut out);
        if let Some(i) = out.iter().position(|x| !x.is_finite()) {
            let derivative = ["", "the velocity of ", "the acceleration of "][i / 3];
            return Err(NonFinite { what: format!("{derivative}the motion `{}` of \"{}\"", PARTS[i % 3], self.name), value: out[i] });
        }
        let [x, y, angle, vx, vy, rate, ax, ay, angular_acceleration] = out;
        Ok(MotionState {
            displacement: Vector2::new(x, y),
            angle,
            velocity: Vector2::new(vx, vy),
            rate,
            acceleration: Vector2::new(ax, ay),
            angular_acceleration,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sine_and_its_derivatives() {
        let formulas = [None, Some("a*sin(w*t)".to_owned()), Some("t^2".to_owned())];
        let source = MotionSource { formulas, parameters: vec![("a".into(), 0.5), ("w".into(), 3.0)] };
        let motion = Motion::new("table", &source).unwrap();
        let got = motion.at(0.2, &mut Vec::new()).unwrap();
        let (sin, cos) = 0.6_f64.sin_cos();
        // a rounding or two of each product
        assert!((got.displacement - Vector2::new(0.0, 0.5 * sin)).norm() < 1e-15);
        assert!((got.velocity - Vector2::new(0.0, 1.5 * cos)).norm() < 1e-15);
        assert!((got.acceleration - Vector2::new(0.0, -4.5 * sin)).norm() < 1e-14);
        assert!((got.rate - 0.4).abs() < 1e-15 && got.angular_acceleration == 2.0);
    }

    #[test]
    fn values_that_are_not_finite_are_named() {
        let source = MotionSource { formulas: [Some("sqrt(t)".to_owned()), None, None], parameters: Vec::new() };
        let error = Motion::new("table", &source).unwrap().at(0.0, &mut Vec::new()).unwrap_err();
        assert_eq!(error.what, "the velocity of the motion `x` of \"table\"");
        let source = MotionSource { formulas: [None, Some("q".to_owned()), None], parameters: Vec::new() };
        assert_eq!(Motion::new("table", &source).unwrap_err().0, 1);
    }
}
