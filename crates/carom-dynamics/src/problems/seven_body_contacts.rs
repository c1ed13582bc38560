//! Andrews' mechanism with fifteen unilateral constraints with friction, the challenge of Brogliato2002, §1.
//!
//! The mechanism has one degree of freedom: any contact that stays closed would stop it. So the pin that joins K2, K3 and K4 plays in a square slot of
//! K6 in place of the last closed loop (four constraints), and K6 and K7 move in two more degrees of freedom between stops and guides. All are straight
//! walls: with the normal (cos a, sin a), at the distance k from A (from B for K3),
//!
//! ```text
//! slot         s = rr cos(β − f) − d cos(β + Θ − f) − xa cos f − ya sin f + u sin Ω − zf,      f = Ω + ε,    |s| ≤ c
//!              n = rr sin(β − f) − d sin(β + Θ − f) + xa sin f − ya cos f + u cos Ω,                         |n| ≤ c
//! K6, K7       u sin(ε − a) + l cos(f − a) ≥ k,      l: 0 the joint of K6 and K7, zf the slot, "nose" 26 mm, "heel" −8 mm
//! K3           sd cos(γ − a) + sc sin(γ − a) ≥ k,   the end of the spring
//! ```
//!
//! Everywhere μ = 0.1; the slot is inelastic, walls have e = 0.3. Ten are reached in 0.025 s: the back, left and right sides of the slot, both stops of
//! K7, the lower guide of K6, both guides of its heel, two of its nose; with accumulations of impacts, sliding on a wall and a side of the slot
//! at once, and sticking. The others (front of the slot, upper guide, end guide of the nose, stops of K3) stay open.
//!
//! At 12.97 ms the heel and the slot close on K6 from both sides within 1 µs: heel, slot, both; the same at 25.86 ms within 28 µs, the last impacts
//! 13 ns apart. Time-stepping resolves the first with steps of 0.4 µs and less, so the strategies are compared up to 25 ms.

use super::add_contact;
use super::andrews::{PARAMETERS, START, bodies, closure};
use super::mechanisms::lagrangian;
use crate::error::ModelError;
use crate::laws::ContactLaw;
use crate::model::Model;
use crate::state::State;

/// Friction coefficient of all contacts.
pub const FRICTION: f64 = 0.1;
/// Restitution of the walls; that of the slot is zero.
pub const RESTITUTION: f64 = 0.3;
/// Play of the pin to each side of the slot \[m\].
pub const CLEARANCE: f64 = 3e-4;
/// Time up to which the strategies are compared \[s\].
pub const END: f64 = 0.025;
/// Angles at the end \[rad\]: HEM5 with located events at 1e-11, to which time-stepping converges at first order (2e-3 rad off at h = 1e-7 s).
pub const POSITION_AT_END: [f64; 7] = [
    10.219_226_777_458,
    -10.323_330_839_501,
    0.102_948_704_110_7,
    -0.426_135_883_086_1,
    0.526_069_429_125,
    0.441_475_854_501_9,
    1.052_554_754_286_9,
];
/// Rates at the end \[rad/s\].
pub const VELOCITY_AT_END: [f64; 7] =
    [830.874_964_943, -994.370_790_012, 132.857_421_100, 232.432_724_548, 0.384_937_354_6, -228.180_916_018, 2.379_357_554_3];

/// Name, point of K6 (distance from its joint with K7), angle a \[rad\] and distance k \[m\] of the walls of K6 and K7.
const WALLS: [(&str, f64, f64, f64); 9] = [
    ("K7 inner stop", 0.0, 1.35, -0.011763),
    ("K7 outer stop", 0.0, 4.08, -0.011652),
    ("K6 lower guide", 0.02, 1.75, -0.00653),
    ("K6 upper guide", 0.02, -1.2, 0.01225),
    ("heel left guide", -0.008, 0.0, 0.03337),
    ("heel right guide", -0.008, 3.1, -0.036043),
    ("nose lower guide", 0.026, 1.55, 0.006845),
    ("nose upper guide", 0.026, -1.6, -0.010204),
    ("nose end guide", 0.026, 0.05, 0.034261),
];
/// Name, angle a \[rad\] and distance k \[m\] of the walls of K3.
const LEVER_WALLS: [(&str, f64, f64); 2] = [("K3 inner stop", 0.9, -0.000861), ("K3 outer stop", 4.04, -0.010715)];

/// The mechanism at rest in its initial position, the pin in the middle of the slot.
///
/// # Errors
/// None for these parameters.
pub fn model() -> Result<(Model, State), ModelError> {
    let equations = closure();
    let equations: Vec<(&str, &str)> = equations[..4].iter().map(|(name, text)| (*name, text.as_str())).collect();
    let (mut model, state) = lagrangian(&bodies(), &equations, START.to_vec(), vec![0.0; 7])?;
    let along = "rr*cos(be - om - ep) - d*cos(be + th - om - ep) - xa*cos(om + ep) - ya*sin(om + ep) + u*sin(om) - zf";
    let across = "rr*sin(be - om - ep) - d*sin(be + th - om - ep) + xa*sin(om + ep) - ya*cos(om + ep) + u*cos(om)";
    for (name, sign, gap, tangent) in [
        ("slot front", '-', along, across),
        ("slot back", '+', along, across),
        ("slot left", '-', across, along),
        ("slot right", '+', across, along),
    ] {
        let gap = format!("{CLEARANCE} {sign} ({gap})");
        add_contact(&mut model, name, &[&gap, tangent], &PARAMETERS, ContactLaw::coulomb(FRICTION, 0.0))?;
    }
    let wall = ContactLaw::coulomb(FRICTION, RESTITUTION);
    for (name, l, a, k) in WALLS {
        let gap = format!("u*sin(ep - ({a})) + ({l})*cos(om + ep - ({a})) - ({k})");
        let tangent = format!("({l})*sin(om + ep - ({a})) - u*cos(ep - ({a}))");
        add_contact(&mut model, name, &[&gap, &tangent], &PARAMETERS, wall)?;
    }
    for (name, a, k) in LEVER_WALLS {
        let gap = format!("sd*cos(ga - {a}) + sc*sin(ga - {a}) - ({k})");
        add_contact(&mut model, name, &[&gap, &format!("sd*sin(ga - {a}) - sc*cos(ga - {a})")], &PARAMETERS, wall)?;
    }
    Ok((model, state))
}
