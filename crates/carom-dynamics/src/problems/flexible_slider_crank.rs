//! The slider-crank with a flexible connecting rod: three rigid and four elastic coordinates, the crank driven at a constant rate.
//!
//! B. Simeon, *Modelling a flexible slider crank mechanism by a mixed system of DAEs and PDEs*, Mathematical Modelling of Systems 2 (1996); the
//! *Test Set for IVP Solvers* (Bari), problem "slider crank", without damping and with the linear stiffness, whose λ has the opposite sign.
//! Used in Haddouni2015 §3.1.3. The rod bends in two sine modes (a, b) and is stretched by a quadratic element (c in the middle, d at the end):
//!
//! ```text
//! x = (φ₁, φ₂, x₃, a, b, c, d),     0 = l₁ sin φ₁ + (l₂ + d) sin φ₂,     x₃ = l₁ cos φ₁ + (l₂ + d) cos φ₂,     φ₁ = Ω t
//! ```
//!
//! Eigenfrequencies at the start: 1277, 5107, 6618 and 22606 rad/s, against Ω = 150 rad/s: mildly stiff.
//!
//! The initial state of the test set violates the constraints by 2e-10 m and 1e-8 m/s; here x₃ and φ̇₂ are changed so that it does not. π is 3.1415927 as
//! there. The reference at 0.1 s was computed by extrapolation in extended precision (two resolutions agree to 2e-12, relative); the stiff
//! velocities that the test set publishes are off by 8e-4.

#![allow(clippy::excessive_precision, reason = "references are given with all their digits")]

use super::mechanisms::{Mechanism, Reference, lagrangian, parameters};
use crate::error::ModelError;
use crate::systems::LagrangianText;

/// The mechanism with the reference at 0.1 s.
///
/// # Errors
/// None for these parameters.
pub fn flexible_slider_crank() -> Result<Mechanism, ModelError> {
    // lengths, width and height of the rod's section [m], Young's modulus [Pa], density [kg/m³]
    let (l2, side, young, density, pi) = (0.30, 0.008, 2.0e11, 7870.0, 3.1415927_f64);
    let (mass, stiffness, volume) = (density * side * side * l2, young * side * side / l2, side * side * l2);
    let slenderness = (side / l2) * (side / l2);
    let values = parameters(&[
        ("l1", 0.15),
        ("l2", l2),
        ("m2", 0.151104),
        ("m3", 0.075552),
        ("j1", 0.002727),
        ("j2", 0.0045339259),
        ("rho", density),
        ("rate", 150.0),
        // mass matrix fm·[½, ½, [8 1; 1 2]] and stiffness of the elastic coordinates
        ("fm", mass),
        ("ka", stiffness * pi.powi(4) / 24.0 * slenderness),
        ("kb", stiffness * pi.powi(4) * 2.0 / 3.0 * slenderness),
        ("kc", stiffness * 16.0 / 3.0),
        ("kcd", -stiffness * 8.0 / 3.0),
        ("kd", stiffness * 7.0 / 3.0),
        // the antisymmetric matrix B
        ("bac", -16.0 * volume / pi.powi(3)),
        ("bad", volume * (8.0 / pi.powi(3) - 1.0 / pi)),
        ("bbd", volume / (2.0 * pi)),
        // the vectors c1, c2, c12, c21
        ("c1c", volume * 2.0 / 3.0),
        ("c1d", volume / 6.0),
        ("c2a", volume * 2.0 / pi),
        ("c12c", l2 * volume / 3.0),
        ("c12d", l2 * volume / 6.0),
        ("c21a", l2 * volume / pi),
        ("c21b", -l2 * volume / (2.0 * pi)),
    ]);
    let (c1, c2) = ("(c1c*c + c1d*d)", "(c2a*a)");
    let elastic_rate = "(fm*(a_dot^2/2 + b_dot^2/2 + 8*c_dot^2 + 2*c_dot*d_dot + 2*d_dot^2)/2)";
    let elastic_inertia = "fm*(a^2/2 + b^2/2 + 8*c^2 + 2*c*d + 2*d^2)";
    let kinetic = format!(
        "(j1 + m2*l1^2)*p1_dot^2/2 \
         + (l1*l2*m2*cos(p1 - p2)/2 + rho*l1*(sin(p1 - p2)*{c2} + cos(p1 - p2)*{c1}))*p1_dot*p2_dot \
         + (j2 + {elastic_inertia} + 2*rho*(c12c*c + c12d*d))*p2_dot^2/2 + m3*x3_dot^2/2 \
         + rho*l1*p1_dot*(cos(p1 - p2)*c2a*a_dot - sin(p1 - p2)*(c1c*c_dot + c1d*d_dot)) \
         + rho*p2_dot*(c21a*a_dot + c21b*b_dot + bac*(a*c_dot - c*a_dot) + bad*(a*d_dot - d*a_dot) + bbd*(b*d_dot - d*b_dot)) \
         + {elastic_rate}"
    );
    let text = LagrangianText {
        coordinates: ["p1", "p2", "x3", "a", "b", "c", "d"].map(String::from).to_vec(),
        parameters: values,
        kinetic,
        potential: "(ka*a^2 + kb*b^2 + kc*c^2 + 2*kcd*c*d + kd*d^2)/2".into(),
        forces: Vec::new(),
    };
    let equations =
        [("guide", "l1*sin(p1) + (l2 + d)*sin(p2)"), ("slider", "x3 - l1*cos(p1) - (l2 + d)*cos(p2)"), ("drive", "p1 - rate*t")];
    let q = vec![0.0, 0.0, 0.450016932796900, 0.0, 0.0, 1.03339863e-5, 1.69327969e-5];
    let v = vec![150.0, -74.995767039694524, -2.68938672e-6, 0.444896105, 4.63434311e-3, -1.78591076e-6, -2.68938672e-6];
    let (model, state) = lagrangian(&text, &equations, q, v)?;
    let reference = Reference {
        t: 0.1,
        q: vec![
            14.999999999999732,
            -0.33117349882572216,
            0.16973733264003742,
            1.8931928430215076e-4,
            2.3757513204895580e-5,
            -5.3238967781925064e-6,
            -8.3633132916669341e-6,
        ],
        v: vec![
            150.0,
            60.253467551287211,
            -8.7531163267302881,
            -0.030055411709483318,
            -5.5004306459255174e-3,
            4.9741116636735414e-4,
            1.1055599716080357e-3,
        ],
        lambda: vec![62.329359278504418, 163.79209934428959, -25.298579487908624],
    };
    Ok(Mechanism { model, state, references: vec![reference] })
}
