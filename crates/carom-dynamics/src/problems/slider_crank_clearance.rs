//! The slider-crank whose slider plays in its guide: four frictional corners, e = 0.4 [Flores, Leine and Glocker 2010, Table 1].
//!
//! Coordinates: angles of crank, rod and slider. References for a start at the outer dead centre with 150 rad/s, the slider not turning: both upper
//! corners strike together. Without friction the slider never turns, and the impacts accumulate: extrapolation in extended precision, confirmed by a
//! second method to 4e-15 s. With μ = 0.01 the first impact follows from Newton's law at both corners with sliding friction.

#![allow(clippy::excessive_precision, reason = "references are given with all their digits")]

use super::add_contact;
use super::mechanisms::parameters;
use crate::error::ModelError;
use crate::laws::ContactLaw;
use crate::model::Model;
use crate::state::State;
use crate::systems::{Lagrangian, LagrangianText};

/// Lengths \[m\], masses \[kg\], moments of inertia \[kg m²\], gravity \[m/s²\]; half the height of the guide is b + c.
const PARAMETERS: [(&str, f64); 12] = [
    ("l1", 0.153),
    ("l2", 0.306),
    ("a", 0.05),
    ("b", 0.025),
    ("c", 0.001),
    ("m1", 0.038),
    ("m2", 0.038),
    ("m3", 0.076),
    ("j1", 7.4e-5),
    ("j2", 5.9e-4),
    ("j3", 2.7e-6),
    ("g", 9.81),
];

/// Restitution coefficient of the corners.
pub const RESTITUTION: f64 = 0.4;

/// Times of the first 14 impacts on the upper side without friction \[s\].
pub const IMPACTS: [f64; 14] = [
    0.002_692_502_752_021_213,
    0.005_607_797_868_070_891,
    0.007_465_635_169_560_562,
    0.008_409_252_749_069_746,
    0.008_831_642_160_547_153,
    0.009_009_132_575_402_532,
    0.009_081_604_612_338_691,
    0.009_110_837_466_125_656,
    0.009_122_570_183_984_42,
    0.009_127_269_637_950_178,
    0.009_129_150_440_451_32,
    0.009_129_902_924_962_54,
    0.009_130_203_944_930_347,
    0.009_130_324_357_060_33,
];
/// Rates of crank and rod before and after the first impact without friction \[rad/s\].
pub const FIRST_RATES: [[f64; 2]; 2] =
    [[109.557_681_543_150_22, -49.330_789_961_931_437], [108.793_728_560_535_33, -52.875_187_874_623_295]];
/// Time at which the impacts accumulate without friction \[s\].
pub const ACCUMULATION: f64 = 0.009_130_404_636_4;
/// Rates after the first impact with μ = 0.01 \[rad/s\].
pub const FIRST_RATES_ROUGH: [f64; 3] = [108.724_580_001_767_37, -52.842_290_420_287_54, 0.0];
/// Normal impulses of the upper corners, left and right, at the first impact with μ = 0.01 \[N·s\].
pub const FIRST_IMPULSES_ROUGH: [f64; 2] = [0.055_740_323_073_752_363, 0.055_185_692_993_416_519];

/// The mechanism and its start. Without friction the corners have no tangents.
///
/// # Errors
/// Of a friction coefficient out of range.
pub fn model(friction: f64) -> Result<(Model, State), ModelError> {
    let text = LagrangianText {
        coordinates: ["th1", "th2", "th3"].map(String::from).to_vec(),
        parameters: parameters(&PARAMETERS),
        kinetic: "(j1 + (m1/4 + m2 + m3)*l1^2)*th1_dot^2/2 + (m2/2 + m3)*l1*l2*cos(th2 - th1)*th1_dot*th2_dot \
                  + (j2 + (m2/4 + m3)*l2^2)*th2_dot^2/2 + j3*th3_dot^2/2"
            .into(),
        potential: "g*((m1/2 + m2 + m3)*l1*sin(th1) + (m2/2 + m3)*l2*sin(th2))".into(),
        forces: Vec::new(),
    };
    let mut model = Model::new(vec![Box::new(Lagrangian::new(&text)?)])?;
    let corners =
        [("upper left", '-', '-', '+'), ("upper right", '-', '+', '+'), ("lower left", '+', '-', '-'), ("lower right", '+', '+', '-')];
    for (name, side, length, height) in corners {
        let gap = format!("b + c {side} (l1*sin(th1) + l2*sin(th2) {length} a*sin(th3) {height} b*cos(th3))");
        let opposite = if height == '+' { '-' } else { '+' };
        let tangent = format!("l1*cos(th1) + l2*cos(th2) {length} a*cos(th3) {opposite} b*sin(th3)");
        let law = ContactLaw::coulomb(friction, RESTITUTION);
        let rows: &[&str] = if friction == 0.0 { &[&gap] } else { &[&gap, &tangent] };
        add_contact(&mut model, name, rows, &PARAMETERS, law)?;
    }
    Ok((model, State { t: 0.0, q: vec![0.0; 3], v: vec![150.0, -75.0, 0.0], ..State::default() }))
}
