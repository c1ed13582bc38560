//! Andrews' squeezing mechanism: seven bodies in the plane, driven by a constant torque.
//!
//! Problem, parameters and initial state: W. Schiehlen (ed.), *Multibody Systems Handbook*, 1990; E. Hairer, G. Wanner, *Solving Ordinary Differential
//! Equations II*, section VII.7; the *Test Set for IVP Solvers* (Bari), problem "Andrews' squeezing mechanism", whose λ has the opposite
//! sign. The equations of motion follow from the kinetic energy ½ vᵀ M(q) v and the energy ½ c₀ (L − l₀)² of the spring.
//!
//! The reference at 0.03 s was computed by extrapolation in extended precision; HEM5 with 6000 steps differs by 6e-14 in q and 2e-11 in v. The
//! positions that the test set publishes are this solution 1e-12 s later.

#![allow(clippy::excessive_precision, reason = "references are given with all their digits")]

use super::mechanisms::{Mechanism, Reference, lagrangian, parameters};
use crate::error::ModelError;
use crate::systems::LagrangianText;

/// Angles β, Θ, γ, Φ, δ, Ω, ε \[rad\]; lengths in metres, masses in kilograms.
pub(super) const PARAMETERS: [(&str, f64); 42] = [
    ("m1", 0.04325),
    ("m2", 0.00365),
    ("m3", 0.02373),
    ("m4", 0.00706),
    ("m5", 0.07050),
    ("m6", 0.00706),
    ("m7", 0.05498),
    ("i1", 2.194e-6),
    ("i2", 4.410e-7),
    ("i3", 5.255e-6),
    ("i4", 5.667e-7),
    ("i5", 1.169e-5),
    ("i6", 5.667e-7),
    ("i7", 1.912e-5),
    ("xa", -0.06934),
    ("ya", -0.00227),
    ("xb", -0.03635),
    ("yb", 0.03273),
    ("xc", 0.014),
    ("yc", 0.072),
    ("c0", 4530.0),
    ("l0", 0.07785),
    ("d", 0.028),
    ("da", 0.0115),
    ("e", 0.02),
    ("ea", 0.01421),
    ("rr", 0.007),
    ("ra", 0.00092),
    ("ss", 0.035),
    ("sa", 0.01874),
    ("sb", 0.01043),
    ("sc", 0.018),
    ("sd", 0.02),
    ("ta", 0.02308),
    ("tb", 0.00916),
    ("u", 0.04),
    ("ua", 0.01228),
    ("ub", 0.00449),
    ("zf", 0.02),
    ("zt", 0.04),
    ("fa", 0.01421),
    ("mom", 0.033),
];

/// The bodies, the spring and the motor.
pub(super) fn bodies() -> LagrangianText {
    let crank = "(m1*ra^2 + m2*(rr^2 - 2*da*rr*cos(th) + da^2) + i1 + i2)*be_dot^2/2 \
                 + (m2*(da^2 - da*rr*cos(th)) + i2)*be_dot*th_dot + (m2*da^2 + i2)*th_dot^2/2";
    let lever = "(m3*(sa^2 + sb^2) + i3)*ga_dot^2/2";
    let lower = "(m4*(e - ea)^2 + i4)*ph_dot^2/2 + (m4*((e - ea)^2 + zt*(e - ea)*sin(ph)) + i4)*ph_dot*de_dot \
                 + (m4*(zt^2 + 2*zt*(e - ea)*sin(ph) + (e - ea)^2) + m5*(ta^2 + tb^2) + i4 + i5)*de_dot^2/2";
    let upper = "(m6*(zf - fa)^2 + i6)*om_dot^2/2 + (m6*((zf - fa)^2 - u*(zf - fa)*sin(om)) + i6)*om_dot*ep_dot \
                 + (m6*((zf - fa)^2 - 2*u*(zf - fa)*sin(om) + u^2) + m7*(ua^2 + ub^2) + i6 + i7)*ep_dot^2/2";
    let spring = "c0*(sqrt((sd*cos(ga) + sc*sin(ga) + xb - xc)^2 + (sd*sin(ga) - sc*cos(ga) + yb - yc)^2) - l0)^2/2";
    LagrangianText {
        coordinates: ["be", "th", "ga", "ph", "de", "om", "ep"].map(String::from).to_vec(),
        parameters: parameters(&PARAMETERS),
        kinetic: format!("{crank} + {lever} + {lower} + {upper}"),
        potential: spring.into(),
        forces: vec![("be".into(), "mom".into())],
    }
}

/// The closure equations: of the lever, of the lower and of the upper dyad, two each.
pub(super) fn closure() -> [(&'static str, String); 6] {
    let (x, y) = ("rr*cos(be) - d*cos(be + th)", "rr*sin(be) - d*sin(be + th)");
    [
        ("lever x", format!("{x} - ss*sin(ga) - xb")),
        ("lever y", format!("{y} + ss*cos(ga) - yb")),
        ("lower x", format!("{x} - e*sin(ph + de) - zt*cos(de) - xa")),
        ("lower y", format!("{y} + e*cos(ph + de) - zt*sin(de) - ya")),
        ("upper x", format!("{x} - zf*cos(om + ep) - u*sin(ep) - xa")),
        ("upper y", format!("{y} - zf*sin(om + ep) + u*cos(ep) - ya")),
    ]
}

/// The initial position \[rad\].
pub(super) const START: [f64; 7] = [
    -0.0617138900142764496358948458001,
    0.0,
    0.455279819163070380255912382449,
    0.222668390165885884674473185609,
    0.487364979543842550225598953530,
    -0.222668390165885884674473185609,
    1.23054744454982119249735015568,
];

/// The squeezing mechanism from its initial position, at rest, with the reference at 0.03 s.
///
/// # Errors
/// None for these parameters.
pub fn andrews() -> Result<Mechanism, ModelError> {
    let (text, equations) = (bodies(), closure());
    let equations: Vec<(&str, &str)> = equations.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let (model, state) = lagrangian(&text, &equations, START.to_vec(), vec![0.0; 7])?;
    let reference = Reference {
        t: 0.03,
        q: vec![
            15.810771195153723,
            -15.756371058411862,
            0.040822240119648342,
            -0.53473011634207479,
            0.52440996587995404,
            0.53473011634207288,
            1.0480807410419371,
        ],
        v: vec![
            1139.9203022591071,
            -1424.3792951775411,
            11.032911910624331,
            19.293374105042045,
            0.57356991482974637,
            -19.293374105042157,
            0.32317914924933725,
        ],
        lambda: vec![
            -199.17534810453908,
            29.755309974975937,
            -23.066543611621976,
            -31.452725275769474,
            -22.642494786394403,
            -11.617392352615093,
        ],
    };
    Ok(Mechanism { model, state, references: vec![reference] })
}
