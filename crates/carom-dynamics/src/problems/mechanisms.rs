//! Mechanisms with bilateral constraints and reference solutions (positions, velocities, multipliers with M v̇ = F + Gᵀλ).
//!
//! The references were computed by extrapolation in extended precision and agree with a second, independent method to at least 1e-11.

#![allow(clippy::excessive_precision, reason = "references are given with all their digits")]

use crate::error::ModelError;
use crate::laws::Law;
use crate::model::Model;
use crate::relations::FormulaSource;
use crate::state::State;
use crate::systems::{Lagrangian, LagrangianText};
use std::f64::consts::PI;

/// A mechanism with its initial state and reference solutions.
pub struct Mechanism {
    /// The model.
    pub model: Model,
    /// Initial state.
    pub state: State,
    /// Reference solutions, by time.
    pub references: Vec<Reference>,
}

/// A reference solution at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Time \[s\].
    pub t: f64,
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Multipliers.
    pub lambda: Vec<f64>,
}

/// Builds a Lagrangian mechanism with one constraint per equation.
pub(super) fn lagrangian(
    text: &LagrangianText,
    equations: &[(&str, &str)],
    q: Vec<f64>,
    v: Vec<f64>,
) -> Result<(Model, State), ModelError> {
    let mut model = Model::new(vec![Box::new(Lagrangian::new(text)?)])?;
    for (name, equation) in equations {
        let source =
            FormulaSource { rows: vec![(format!("equation of \"{name}\""), (*equation).to_owned())], parameters: text.parameters.clone() };
        model.add_formula(name, &source, Law::Bilateral)?;
    }
    Ok((model, State { t: 0.0, q, v, ..State::default() }))
}

pub(super) fn parameters(list: &[(&str, f64)]) -> Vec<(String, f64)> {
    list.iter().map(|&(name, value)| (name.to_owned(), value)).collect()
}

/// The pendulum of length 1 m in Cartesian coordinates, released from the horizontal; g = x² + y² − 1. Jacobi elliptic functions.
///
/// # Errors
/// None for these parameters.
pub fn pendulum() -> Result<Mechanism, ModelError> {
    let text = LagrangianText {
        coordinates: vec!["x".into(), "y".into()],
        parameters: parameters(&[("g", 9.81)]),
        kinetic: "(x_dot^2 + y_dot^2)/2".into(),
        potential: "g*y".into(),
        forces: Vec::new(),
    };
    let (model, state) = lagrangian(&text, &[("rod", "x^2 + y^2 - 1")], vec![1.0, 0.0], vec![0.0; 2])?;
    let at = |t, q: [f64; 2], v: [f64; 2], lambda| Reference { t, q: q.to_vec(), v: v.to_vec(), lambda: vec![lambda] };
    let references = vec![
        at(
            1.0,
            [-0.986_291_751_131_875_3, -0.165_010_853_125_541_17],
            [-0.296_905_515_916_315_8, 1.774_643_641_112_655_6],
            -2.428_134_703_742_338_3,
        ),
        at(
            10.0,
            [0.275_087_462_576_116_86, -0.961_419_205_099_125],
            [-4.175_598_100_951_729, -1.194_749_054_560_475_3],
            -14.147_283_603_033_625,
        ),
    ];
    Ok(Mechanism { model, state, references })
}

/// The slider-crank of Haddouni2015 §3.1.2 with l₂ = 2 m (Table 3.4 prints 1 m, which contradicts its initial velocity) and the right M₂₂.
///
/// # Errors
/// None for these parameters.
pub fn slider_crank() -> Result<Mechanism, ModelError> {
    let text = LagrangianText {
        coordinates: vec!["a1".into(), "a2".into()],
        parameters: parameters(&[("l1", 1.0), ("l2", 2.0), ("m1", 1.0), ("m2", 1.0), ("m3", 1.0), ("g", 9.81)]),
        kinetic: "(m1*l1^2/12 + (m1/4 + m2 + m3)*l1^2)*a1_dot^2/2 + (m2*l2^2/12 + (m2/4 + m3)*l2^2)*a2_dot^2/2 \
                  + (m2/2 + m3)*l1*l2*cos(a2 - a1)*a1_dot*a2_dot"
            .into(),
        potential: "(m1/2 + m2 + m3)*g*l1*sin(a1) + (m2/2 + m3)*g*l2*sin(a2)".into(),
        forces: Vec::new(),
    };
    let (model, state) = lagrangian(&text, &[("guide", "l1*sin(a1) + l2*sin(a2)")], vec![0.0; 2], vec![4.0, -2.0])?;
    let at = |t, q: [f64; 2], v: [f64; 2], lambda| Reference { t, q: q.to_vec(), v: v.to_vec(), lambda: vec![lambda] };
    let references = vec![
        at(0.5, [5.4716155779080839e-01, -2.6315957218779990e-01], [-5.4465809640349143e-01, 2.4086248703876757e-01], 15.411949875144521),
        at(1.0, [-7.98329936523445920e-01, 3.66227619013475601e-01], [-3.35792971716030008, 1.25498008029958729], 19.5253813957507647),
        at(2.0, [-3.6682401147698136, -2.5404270682432127e-01], [9.9291222673420051e-01, 4.4341659474732029e-01], 12.048742680883600),
        at(5.0, [-3.6770604504938677, -2.5797357368809086e-01], [8.9319153922056992e-01, 3.9723055119302302e-01], 12.036447106162910),
    ];
    Ok(Mechanism { model, state, references })
}

/// The four-bar linkage of Haddouni2015 §3.1.1 driven by 6 N m, with l₂ = √0.13 m (Table 3.2 prints it rounded) and m₂ in M₂₂.
///
/// # Errors
/// None for these parameters.
pub fn four_bar() -> Result<Mechanism, ModelError> {
    let text = LagrangianText {
        coordinates: vec!["p1".into(), "p2".into(), "p3".into()],
        parameters: parameters(&[("l1", 0.3), ("l2", 0.13_f64.sqrt()), ("l3", 0.4), ("d", 0.7), ("g", 9.81), ("tau", 6.0)]),
        kinetic: "(l1^2/12 + l1^2/4 + l1^2)*p1_dot^2/2 + l1*l2*cos(p1 - p2)*p1_dot*p2_dot/2 + (l2^2/12 + l2^2/4)*p2_dot^2/2 \
                  + (l3^2/12 + l3^2/4)*p3_dot^2/2"
            .into(),
        potential: "1.5*g*l1*sin(p1) + 0.5*g*l2*sin(p2) + 0.5*g*l3*sin(p3)".into(),
        forces: vec![("p1".into(), "tau".into())],
    };
    let loops = [("loop x", "l1*cos(p1) + l2*cos(p2) - l3*cos(p3) - d"), ("loop y", "l1*sin(p1) + l2*sin(p2) - l3*sin(p3)")];
    let q = vec![PI / 3.0, (3.0_f64.sqrt() / 20.0).atan2(0.35), 2.0 * PI / 3.0];
    let (model, state) = lagrangian(&text, &loops, q, vec![0.0; 3])?;
    let at = |t, q: [f64; 3], v: [f64; 3], lambda: [f64; 2]| Reference { t, q: q.to_vec(), v: v.to_vec(), lambda: lambda.to_vec() };
    let references = vec![
        at(
            1.0,
            [1.5582658243645959, -4.9123225116092072e-01, 2.8108505916186005],
            [2.2716513457525186, 11.234125924604583, -9.4631258696353500],
            [111.55017723695904, -44.099083223786159],
        ),
        at(
            2.0,
            [2.70164721673921299e-01, -1.26131238921810406, 3.86027838704582870],
            [6.19580438557477393, -2.43664832522279425, -5.06111386116648785],
            [3.45477654709594966, -1.78145859031790040],
        ),
        at(
            3.0,
            [-8.5442961769412407e-01, -3.8738954654102972e-01, 4.2757238329610113],
            [2.8371280571553197, -2.1602366597835960, 9.5921703114298798e-01],
            [3.6342374949830880, 6.8199290312885191],
        ),
    ];
    Ok(Mechanism { model, state, references })
}
