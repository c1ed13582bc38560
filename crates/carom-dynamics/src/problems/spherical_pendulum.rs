//! The spherical pendulum: a point of 1 kg at 1 m from the origin, g = x² + y² + z² − 1, released at (1, 0, 0) m with 1.5 m/s along y.
//!
//! The reference at 5 s was computed by two independent methods of high order, which agree to 3e-13.

use super::mechanisms::{Mechanism, Reference};
use crate::error::ModelError;
use crate::laws::Law;
use crate::model::Model;
use crate::relations::FormulaSource;
use crate::state::State;
use crate::systems::{Lagrangian, LagrangianText};

/// The pendulum with its reference.
///
/// # Errors
/// None for these parameters.
pub fn spherical_pendulum() -> Result<Mechanism, ModelError> {
    let system = Lagrangian::new(&LagrangianText {
        coordinates: vec!["x".into(), "y".into(), "z".into()],
        parameters: vec![("g".into(), 9.81)],
        kinetic: "(x_dot^2 + y_dot^2 + z_dot^2)/2".into(),
        potential: "g*z".into(),
        forces: Vec::new(),
    })?;
    let mut model = Model::new(vec![Box::new(system)])?;
    let source = FormulaSource { rows: vec![("equation of \"rod\"".into(), "x^2 + y^2 + z^2 - 1".into())], parameters: Vec::new() };
    model.add_formula("rod", &source, Law::Bilateral)?;
    let references = vec![Reference {
        t: 5.0,
        q: vec![-0.552_784_868_415_409_3, -0.673_962_197_223_920_3, -0.490_105_953_814_131_3],
        v: vec![2.258_023_747_042_558, 0.039_477_647_069_368_7, -2.601_086_136_022_236_6],
        lambda: vec![-8.336_909_110_375_023],
    }];
    Ok(Mechanism { model, state: State { t: 0.0, q: vec![1.0, 0.0, 0.0], v: vec![0.0, 1.5, 0.0], ..State::default() }, references })
}
