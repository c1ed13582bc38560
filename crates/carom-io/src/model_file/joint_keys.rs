//! The kinds of joints in a model file and the keys that each of them has.

use super::error::suggestion;
use super::numbers::Reader;
use super::schema::JointSchema;
use carom_dynamics::relations::JOINTS;
use std::ops::Range;
use toml::Spanned;

/// Kinds with rows of their own, as opposed to couplings and curves; which of them turn or slide is for motors, friction and springs to say.
const OWN: &[&str] = &[
    "spherical",
    "revolute",
    "universal",
    "cylindrical",
    "prismatic",
    "fixed",
    "distance",
    "point-on-line",
    "planar",
    "screw",
    "point-in-plane",
];

/// The same and curves, whose points slide along them.
const RUBBING: &[&str] = &[
    "spherical",
    "revolute",
    "universal",
    "cylindrical",
    "prismatic",
    "fixed",
    "distance",
    "point-on-line",
    "planar",
    "screw",
    "point-in-plane",
    "point-on-curve",
];

/// Keys that only some kinds have, with those kinds.
const KEYS: &[(&str, &[&str])] = &[
    ("joints", &["gear", "rack"]),
    ("ratio", &["gear"]),
    ("teeth", &["gear"]),
    ("radius", &["rack"]),
    ("pitch", &["screw"]),
    ("length", &["rope"]),
    ("curve", &["point-on-curve"]),
    ("parameter", &["point-on-curve"]),
    ("range", &["point-on-curve"]),
    ("cone", &["spherical"]),
    ("clearance", &["revolute", "spherical", "prismatic"]),
    ("limits", &["revolute", "prismatic", "point-on-line", "cylindrical", "screw"]),
    ("turn_limits", &["cylindrical", "screw", "universal"]),
    ("second_turn_limits", &["universal"]),
    ("slide_limits", &["cylindrical", "screw"]),
    ("turn", &["revolute", "cylindrical", "planar", "screw", "universal"]),
    ("slide", &["prismatic", "cylindrical", "point-on-line", "screw"]),
    ("restitution", &["rope", "revolute", "prismatic", "cylindrical", "screw", "point-on-line", "spherical", "universal"]),
    ("motor", OWN),
    ("friction", RUBBING),
    ("friction_torque", OWN),
    ("friction_force", RUBBING),
    ("spring", OWN),
];

/// Whether the kind exists and has all the keys that are given.
pub(super) fn check(reader: &mut Reader<'_>, section: &Spanned<JointSchema>, name: &str) -> bool {
    let s = section.get_ref();
    let (kind, names): (&str, Vec<&str>) = (s.kind.get_ref(), JOINTS.iter().map(|(name, _)| *name).collect());
    if !names.contains(&kind) {
        reader.wrong(s.kind.span(), format!("there is no joint \"{kind}\""), suggestion(kind, &names));
        return false;
    }
    let mut fine = true;
    for (key, kinds) in KEYS {
        if let (Some(span), false) = (given(s, key), kinds.contains(&kind)) {
            let help = format!("remove it; {} {} it", kinds.join(", "), if kinds.len() == 1 { "has" } else { "have" });
            reader.wrong(span, format!("\"{name}\" is a {kind} joint, which has no `{key}`"), help);
            fine = false;
        }
    }
    let stops =
        ["limits", "turn_limits", "second_turn_limits", "slide_limits", "cone", "clearance"].iter().any(|key| given(s, key).is_some());
    if let (Some(restitution), true, false) = (&s.restitution, kind != "rope" && fine, stops) {
        let help = "it belongs to `limits`, `cone`, `clearance` or a rope; remove it or give one of them";
        reader.wrong(restitution.span(), format!("\"{name}\" has a restitution but nothing to strike"), help);
        fine = false;
    }
    for key in ["motor", "friction", "friction_torque", "friction_force", "spring"] {
        if let (Some(span), Some(_)) = (given(s, key), &s.clearance) {
            let help = "remove one of them; friction inside the clearance is `clearance = { …, friction = 0.1 }`";
            reader.wrong(span, format!("\"{name}\" has both clearance and `{key}`"), help);
            fine = false;
        }
    }
    fine
}

fn given(s: &JointSchema, key: &str) -> Option<Range<usize>> {
    let number = match key {
        "ratio" => &s.ratio,
        "teeth" => &s.teeth,
        "radius" => &s.radius,
        "pitch" => &s.pitch,
        "length" => &s.length,
        "range" => &s.range,
        "cone" => &s.cone,
        "limits" => &s.limits,
        "turn_limits" => &s.turn_limits,
        "second_turn_limits" => &s.second_turn_limits,
        "slide_limits" => &s.slide_limits,
        "turn" => &s.turn,
        "slide" => &s.slide,
        "friction_torque" => &s.friction_torque,
        "friction_force" => &s.friction_force,
        "motor" => return s.motor.as_ref().map(Spanned::span),
        "friction" => return s.friction.as_ref().map(Spanned::span),
        "spring" => return s.spring.as_ref().map(Spanned::span),
        "clearance" => return s.clearance.as_ref().map(Spanned::span),
        "restitution" => return s.restitution.as_ref().map(Spanned::span),
        "joints" => return s.joints.as_ref().map(Spanned::span),
        "curve" => return s.curve.as_ref().map(Spanned::span),
        _ => return s.parameter.as_ref().map(Spanned::span),
    };
    number.as_ref().map(Spanned::span)
}
