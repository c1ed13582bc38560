//! Joints between bodies in a model file.

use super::error::suggestion;
use super::numbers::{Must, Reader};
use super::schema::{JointSchema, Schema};
use super::value::Value;
use super::{forces, joint_clearance, joint_couplings, joint_keys, joint_limits, motors};
use carom_collision::Detector;
use carom_dynamics::relations::{JointKind, JointPlacement, JointSource};
use carom_dynamics::{Model, State};
use nalgebra::Vector3;
use std::collections::HashMap;
use std::ops::Range;
use toml::Spanned;

/// What a file calls the world that does not move.
pub(super) const GROUND: &str = "ground";

/// A joint as its motor and friction see it.
pub(super) struct JointParts<'a> {
    pub name: &'a str,
    pub source: JointSource,
    pub planar: bool,
}

/// Adds `[[joint]]` number `index`, placed at the initial coordinates, with its limits, motor, friction and spring. Couplings of joints come
/// after all joints: [`super::joint_couplings::coupling`].
pub(super) fn joint(
    reader: &mut Reader<'_>,
    model: &mut Model,
    schema: &Schema,
    section: &Spanned<JointSchema>,
    index: usize,
    state: &State,
) {
    let (s, q) = (section.get_ref(), state.q.as_slice());
    let name = joint_name(s, index);
    if !joint_keys::check(reader, section, &name) {
        return;
    }
    match s.kind.get_ref().as_str() {
        "gear" | "rack" => return,
        "rope" => return joint_couplings::rope(reader, model, schema, section, &name, q),
        "point-on-curve" => return joint_couplings::point_on_curve(reader, model, schema, section, &name, q),
        _ => {}
    }
    let Some((source, planar)) = source(reader, model, schema, section, &name) else { return };
    if s.clearance.is_some() {
        return joint_clearance::clearance(reader, model, section, (&name, &source, planar), q);
    }
    if let Err(error) = model.add_joint(&name, &source, q) {
        reader.mistakes.push(super::Diagnostic::new(section.span(), error.to_string()));
        return;
    }
    // the friction is bound to the joint that was added last
    motors::equip(reader, model, s, &JointParts { name: &name, source: source.clone(), planar }, (state.t, q));
    joint_limits::limits(reader, model, section, (&name, &source), q);
    if let Some(spring) = &s.spring {
        forces::joint_spring(reader, model, (&name, &source), spring, q);
    }
}

/// The name of `[[joint]]` number `index`.
pub(super) fn joint_name(s: &JointSchema, index: usize) -> String {
    s.name.as_ref().map_or_else(|| format!("joint {}", index + 1), |name| name.get_ref().clone())
}

/// What a joint of bodies is built from, and whether it lies in the plane.
pub(super) fn source(
    reader: &mut Reader<'_>,
    model: &Model,
    schema: &Schema,
    section: &Spanned<JointSchema>,
    name: &str,
) -> Option<(JointSource, bool)> {
    let s = section.get_ref();
    let kind = JointKind::from_name(s.kind.get_ref())?;
    let (bodies, planar) = bodies(reader, model, schema, section, name)?;
    let points = pair(reader, (s.point.as_ref(), s.points.as_ref()), ("point", "points"), planar, (name, section.span()));
    let wants_axis = (kind.n_axes() > 0 && !(planar && kind == JointKind::Revolute)) || (s.cone.is_some() && !planar);
    let axes = match (wants_axis, s.axis.as_ref().or(s.axes.as_ref())) {
        (true, _) => pair(reader, (s.axis.as_ref(), s.axes.as_ref()), ("axis", "axes"), planar, (name, section.span())),
        (false, None) => Some([Vector3::z(); 2]),
        (false, Some(value)) => {
            let what = if planar { format!("a {} joint in the plane", s.kind.get_ref()) } else { format!("a {} joint", s.kind.get_ref()) };
            reader.wrong(value.span(), format!("{what} has no axis"), "remove it");
            None
        }
    };
    let turn = reader.number_or(s.turn.as_ref(), 0.0, &format!("the initial turn of \"{name}\""), Must::BeFinite);
    let slide = reader.number_or(s.slide.as_ref(), 0.0, &format!("the initial slide of \"{name}\""), Must::BeFinite);
    let pitch = reader.number_or(s.pitch.as_ref(), 0.0, &format!("the pitch of \"{name}\""), Must::BeFinite);
    let placement = JointPlacement { points: points?, axes: axes?, turn: turn?, slide: slide?, pitch: pitch? };
    Some((JointSource { kind, bodies, placement }, planar))
}

/// Pairs of bodies that a joint without `collide = true` joins, by number among the rigid bodies and among the planar bodies: jointed bodies
/// do not collide unless asked. Joints with the ground and between different systems name no pair. `fixed` are the fixed bodies with the
/// numbers of their colliders.
pub(super) fn jointed_pairs(schema: &Schema, model: &Model, fixed: &HashMap<String, Range<u32>>) -> JointedPairs {
    let mut pairs = JointedPairs::default();
    for s in schema.joints.iter().map(Spanned::get_ref).filter(|s| !s.collide) {
        let Some([first, second]) = s.bodies.as_ref().map(|names| names.get_ref().as_slice()) else { continue };
        let of = |find: &dyn Fn(&str) -> Option<usize>| Some((find(first.get_ref())? as u32, find(second.get_ref())? as u32));
        pairs.rigid.extend(of(&|name| model.systems().find_rigid_body(name)));
        pairs.planar.extend(of(&|name| model.systems().find_planar_body(name)));
        for (body, other) in [(first, second), (second, first)] {
            if let (Some(body), Some(colliders)) = (model.systems().find_rigid_body(body.get_ref()), fixed.get(other.get_ref())) {
                pairs.fixed.push((body as u32, colliders.clone()));
            }
        }
    }
    pairs
}

/// Bodies that a joint joins, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JointedPairs {
    /// Of the rigid bodies.
    pub rigid: Vec<(u32, u32)>,
    /// Of the planar bodies.
    pub planar: Vec<(u32, u32)>,
    /// A rigid body each and the colliders of the fixed body that it is jointed to, by number.
    pub fixed: Vec<(u32, Range<u32>)>,
}

impl JointedPairs {
    /// Keeps jointed bodies in space from colliding.
    pub(super) fn exclude(&self, detector: &mut Detector) {
        detector.exclude_pairs(&self.rigid.iter().map(|&(a, b)| (Some(a), Some(b))).collect::<Vec<_>>());
        if self.fixed.is_empty() {
            return;
        }
        let mut colliders: HashMap<u32, Vec<u32>> = HashMap::new();
        for (i, body) in detector.colliders().iter().enumerate().filter_map(|(i, collider)| Some((i as u32, collider.body?))) {
            colliders.entry(body).or_default().push(i);
        }
        let own = |body: &u32| colliders.get(body).map_or(&[][..], Vec::as_slice);
        let pairs = self.fixed.iter().flat_map(|(body, fixed)| own(body).iter().flat_map(|&i| fixed.clone().map(move |j| (i, j))));
        let pairs: Vec<(u32, u32)> = pairs.collect();
        detector.exclude_colliders(&pairs);
    }
}

/// The two bodies (`None` for the ground and for fixed bodies), and whether the joint lies in the plane.
pub(super) fn bodies(
    reader: &mut Reader<'_>,
    model: &Model,
    schema: &Schema,
    section: &Spanned<JointSchema>,
    joint: &str,
) -> Option<([Option<String>; 2], bool)> {
    let Some(names) = &section.get_ref().bodies else {
        let help = "give `bodies = [\"…\", \"…\"]`; \"ground\" is the world that does not move";
        reader.wrong(section.span(), format!("\"{joint}\" has no bodies"), help);
        return None;
    };
    let [first, second] = names.get_ref().as_slice() else {
        let help = "give two names; \"ground\" is the world that does not move";
        reader.wrong(names.span(), format!("\"{joint}\" has {} bodies", names.get_ref().len()), help);
        return None;
    };
    let (mut found, mut planar) = ([None, None], true);
    for (found, name) in found.iter_mut().zip([first, second]) {
        let text = name.get_ref();
        let fixed = schema.fixed.contains(text);
        match model.systems().find_frame(text) {
            _ if text == GROUND || fixed => {}
            Some(id) => {
                planar &= model.systems().is_planar(id);
                *found = Some(text.clone());
            }
            None => {
                let mut known = model.systems().frames();
                known.push(GROUND.to_owned());
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                reader.wrong(name.span(), format!("\"{joint}\" joins \"{text}\", which is no body"), suggestion(text, &known));
                return None;
            }
        }
    }
    Some((found, planar))
}

/// One vector for both bodies, or one for each; in the plane of two numbers.
pub(super) fn pair(
    reader: &mut Reader<'_>,
    (one, two): (Option<&Spanned<Value>>, Option<&Spanned<Value>>),
    (key, keys): (&str, &str),
    planar: bool,
    (joint, span): (&str, Range<usize>),
) -> Option<[Vector3<f64>; 2]> {
    let mut vector = |value: &Spanned<Value>| {
        let what = format!("the {key} of \"{joint}\"");
        if planar {
            reader.vector::<2>(value, &what).map(|[x, y]| Vector3::new(x, y, 0.0))
        } else {
            reader.vector::<3>(value, &what).map(Vector3::from)
        }
    };
    match (one, two) {
        (Some(value), None) => vector(value).map(|x| [x; 2]),
        (None, Some(list)) => match list.get_ref() {
            Value::List(items) if items.len() == 2 => {
                let [first, second] = [0, 1].map(|i| vector(&Spanned::new(list.span(), items[i].clone())));
                Some([first?, second?])
            }
            _ => {
                reader.wrong(list.span(), format!("`{keys}` of \"{joint}\" is not a list of two"), "give one for each of the two bodies");
                None
            }
        },
        _ => {
            let help = format!("give `{key} = […]`, or `{keys} = [[…], […]]` with one for each body, in world coordinates");
            reader.wrong(span, format!("\"{joint}\" has no {key}, or two kinds of them"), help);
            None
        }
    }
}
