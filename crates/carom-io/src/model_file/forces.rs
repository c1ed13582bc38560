//! `[[force]]`: forces, torques, springs, bushings and drag on bodies; `spring` of a `[[joint]]`.

use super::bodies::read_orientation;
use super::components::choose;
use super::error::suggestion;
use super::formulas::report;
use super::joints::GROUND;
use super::numbers::{Must, Reader};
use super::schema::{ForceSchema, JointSpringSchema, Schema};
use super::value::{Names, Value};
use carom_dynamics::Model;
use carom_dynamics::forces::{
    BushingSource, DragSource, ForceSource, LinearSpring, LoadAxes, LoadKind, LoadSource, PointSpringSource, Sense, SpringSource,
};
use carom_dynamics::relations::{JointAxis, JointSource};
use nalgebra::Vector3;
use std::ops::Range;
use toml::Spanned;

/// What stands for all bodies that move.
const ALL: &str = "all";

/// Keys of each kind beside `name` and `kind`.
const KEYS: [(&str, &[&str]); 5] = [
    ("force", &["body", "force", "point", "axes"]),
    ("torque", &["body", "torque", "axes"]),
    ("spring", &["bodies", "points", "stiffness", "damping", "rest", "preload", "sense", "force"]),
    ("bushing", &["bodies", "point", "orientation", "rotation", "stiffness", "damping", "rotational_stiffness", "rotational_damping"]),
    ("drag", &["body", "bodies", "linear", "quadratic", "rotational", "rotational_quadratic", "wind"]),
];

/// A section while it is read.
struct Section<'a> {
    name: String,
    span: Range<usize>,
    s: &'a ForceSchema,
    schema: &'a Schema,
}

/// Adds `[[force]]` number `index`, placed at the initial coordinates.
pub(super) fn force(reader: &mut Reader<'_>, model: &mut Model, schema: &Schema, section: &Spanned<ForceSchema>, index: usize, q: &[f64]) {
    let s = section.get_ref();
    let name = s.name.as_ref().map_or_else(|| format!("force {}", index + 1), |name| name.get_ref().clone());
    let Some((kind, keys)) = KEYS.iter().find(|(kind, _)| kind == s.kind.get_ref()) else {
        let kinds = KEYS.map(|(kind, _)| kind);
        reader.wrong(s.kind.span(), format!("there is no force \"{}\"", s.kind.get_ref()), suggestion(s.kind.get_ref(), &kinds));
        return;
    };
    let before = reader.mistakes.len();
    for (key, span) in s.given() {
        if !keys.contains(&key) {
            reader.wrong(span, format!("\"{name}\" is a {kind} and has no `{key}`"), format!("its keys are: {}", keys.join(", ")));
        }
    }
    let it = Section { name, span: section.span(), s, schema };
    let source = match *kind {
        "force" => it.load(reader, model, LoadKind::Force),
        "torque" => it.load(reader, model, LoadKind::Torque),
        "spring" => it.spring(reader, model),
        "bushing" => it.bushing(reader, model),
        _ => it.drag(reader, model),
    };
    let Some(source) = source.filter(|_| reader.mistakes.len() == before) else { return };
    if let Err(error) = model.add_force(&it.name, &source, q) {
        let formulas: Vec<(Range<usize>, &str)> =
            [&s.force, &s.torque, &s.wind].into_iter().flatten().flat_map(|value| texts(value)).collect();
        report(reader, &error, &formulas, section.span());
    }
}

/// The formulas in a value, with its place.
fn texts(value: &Spanned<Value>) -> Vec<(Range<usize>, &str)> {
    match value.get_ref() {
        Value::Formula(text) => vec![(value.span(), text)],
        Value::List(items) => items
            .iter()
            .filter_map(|item| if let Value::Formula(text) = item { Some((value.span(), text.as_str())) } else { None })
            .collect(),
        Value::Number(_) => Vec::new(),
    }
}

/// A number as a formula, or a formula.
fn as_formula(value: &Value) -> Option<String> {
    match value {
        Value::Number(x) => Some(format!("{x:?}")),
        Value::Formula(text) => Some(text.clone()),
        Value::List(_) => None,
    }
}

impl Section<'_> {
    /// A body by name: `None` for the ground and for fixed bodies; and whether it moves in the plane.
    fn body(&self, reader: &mut Reader<'_>, model: &Model, name: &Spanned<String>) -> Option<(Option<String>, bool)> {
        let text = name.get_ref();
        if let Some(id) = model.systems().find_frame(text) {
            return Some((Some(text.clone()), model.systems().is_planar(id)));
        }
        let fixed = self.schema.bodies.iter().any(|body| body.get_ref().fixed && body.get_ref().name.get_ref() == text);
        if text == GROUND || fixed {
            return Some((None, true));
        }
        let mut known = model.systems().frames();
        known.push(GROUND.to_owned());
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        reader.wrong(name.span(), format!("\"{}\" acts on \"{text}\", which is no body", self.name), suggestion(text, &known));
        None
    }

    /// A body that moves.
    fn moving(&self, reader: &mut Reader<'_>, model: &Model, name: &Spanned<String>) -> Option<(String, bool)> {
        match self.body(reader, model, name)? {
            (Some(body), planar) => Some((body, planar)),
            (None, _) => {
                let message = format!("\"{}\" acts on \"{}\", which does not move", self.name, name.get_ref());
                reader.wrong(name.span(), message, "name a body that moves");
                None
            }
        }
    }

    /// The two bodies of an element between bodies; in the plane if no body of space takes part.
    fn pair(&self, reader: &mut Reader<'_>, model: &Model) -> Option<([Option<String>; 2], bool)> {
        let help = "give `bodies = [\"first\", \"second\"]`; \"ground\" is the world that does not move";
        let Some(names) = &self.s.bodies else {
            reader.wrong(self.span.clone(), format!("\"{}\" has no `bodies`", self.name), help);
            return None;
        };
        let Names::List(list) = names.get_ref() else {
            reader.wrong(names.span(), format!("the `bodies` of \"{}\" are not two", self.name), help);
            return None;
        };
        let [first, second] = list.as_slice() else {
            reader.wrong(names.span(), format!("\"{}\" has {} bodies", self.name, list.len()), help);
            return None;
        };
        let (first, second) = (self.body(reader, model, first), self.body(reader, model, second));
        let (first, second) = (first?, second?);
        Some(([first.0, second.0], first.1 && second.1))
    }

    /// A point in the world, of two numbers in the plane.
    fn point(&self, reader: &mut Reader<'_>, value: &Spanned<Value>, planar: bool) -> Option<Vector3<f64>> {
        let what = format!("the point of \"{}\"", self.name);
        if planar {
            reader.vector::<2>(value, &what).map(|[x, y]| Vector3::new(x, y, 0.0))
        } else {
            reader.vector::<3>(value, &what).map(Vector3::from)
        }
    }

    fn load(&self, reader: &mut Reader<'_>, model: &Model, kind: LoadKind) -> Option<ForceSource> {
        let (key, unit, value) = match kind {
            LoadKind::Force => ("force", "N", &self.s.force),
            LoadKind::Torque => ("torque", "N m", &self.s.torque),
        };
        let Some(body) = &self.s.body else {
            reader.wrong(self.span.clone(), format!("\"{}\" has no `body`", self.name), "give `body = \"…\"`, the body it acts on");
            return None;
        };
        let (body, planar) = self.moving(reader, model, body)?;
        let axes = choose(reader, self.s.axes.as_ref(), "kind of axes", &["world", "body"])?;
        let point = match &self.s.point {
            Some(value) => Some(self.point(reader, value, planar)?),
            None => None,
        };
        let expected = match (kind, planar) {
            (LoadKind::Torque, true) => format!("give `torque = …`, one number or formula [{unit}]"),
            (LoadKind::Force, true) => format!("give `force = [x, y]`, numbers or formulas [{unit}]"),
            (_, false) => format!("give `{key} = [x, y, z]`, numbers or formulas [{unit}]"),
        };
        let Some(value) = value else {
            reader.wrong(self.span.clone(), format!("\"{}\" has no `{key}`", self.name), expected);
            return None;
        };
        let zero = || "0".to_owned();
        let components = match (value.get_ref(), kind, planar) {
            (Value::List(items), LoadKind::Force, true) if items.len() == 2 => {
                as_formula(&items[0]).zip(as_formula(&items[1])).map(|(x, y)| [x, y, zero()])
            }
            (Value::List(items), _, false) => three(items),
            (Value::List(_), ..) => None,
            (single, LoadKind::Torque, true) => as_formula(single).map(|z| [zero(), zero(), z]),
            _ => None,
        };
        let Some(components) = components else {
            reader.wrong(value.span(), format!("the {key} of \"{}\" has not the right form", self.name), expected);
            return None;
        };
        let axes = if axes == "body" { LoadAxes::Body } else { LoadAxes::World };
        Some(ForceSource::Load(LoadSource { kind, body, point, axes, components, parameters: reader.parameters.clone() }))
    }

    fn spring(&self, reader: &mut Reader<'_>, model: &Model) -> Option<ForceSource> {
        let (bodies, planar) = self.pair(reader, model)?;
        let points = match &self.s.points {
            None if bodies.iter().all(Option::is_some) => [None; 2],
            None => {
                let help = "give `points = [[…], […]]`, one for each, in world coordinates at the start";
                reader.wrong(self.span.clone(), format!("\"{}\" ends on the ground and has no `points`", self.name), help);
                return None;
            }
            Some(list) => match list.get_ref() {
                Value::List(items) if items.len() == 2 => {
                    let [first, second] = [0, 1].map(|i| self.point(reader, &Spanned::new(list.span(), items[i].clone()), planar));
                    [Some(first?), Some(second?)]
                }
                _ => {
                    let help = "give one point for each of the two bodies, in world coordinates at the start";
                    reader.wrong(list.span(), format!("the `points` of \"{}\" are not a list of two", self.name), help);
                    return None;
                }
            },
        };
        let s = self.s;
        let keys = SpringKeys {
            force: s.force.as_ref(),
            stiffness: s.stiffness.as_ref(),
            damping: s.damping.as_ref(),
            rest: s.rest.as_ref(),
            preload: s.preload.as_ref(),
            sense: s.sense.as_ref(),
        };
        let law = keys.read(reader, &self.name, self.span.clone(), ["length", "N/m"])?;
        Some(ForceSource::Spring(PointSpringSource { bodies, points, law }))
    }

    fn bushing(&self, reader: &mut Reader<'_>, model: &Model) -> Option<ForceSource> {
        let s = self.s;
        let (bodies, planar) = self.pair(reader, model)?;
        let Some(point) = &s.point else {
            let help = "give `point = […]` in world coordinates at the start";
            reader.wrong(self.span.clone(), format!("\"{}\" has no `point`", self.name), help);
            return None;
        };
        let point = self.point(reader, point, planar);
        let axes = read_orientation(reader, s.orientation.as_ref(), s.rotation.as_ref(), &self.name);
        let stiffness = self.coefficients(reader, s.stiffness.as_ref(), "stiffness", planar.then_some(2));
        let damping = self.coefficients(reader, s.damping.as_ref(), "damping", planar.then_some(2));
        let rotational_stiffness = self.coefficients(reader, s.rotational_stiffness.as_ref(), "rotational_stiffness", planar.then_some(1));
        let rotational_damping = self.coefficients(reader, s.rotational_damping.as_ref(), "rotational_damping", planar.then_some(1));
        if [&s.stiffness, &s.damping, &s.rotational_stiffness, &s.rotational_damping].iter().all(|value| value.is_none()) {
            let help = "give `stiffness`, `damping`, `rotational_stiffness` or `rotational_damping`";
            reader.wrong(self.span.clone(), format!("\"{}\" does nothing", self.name), help);
            return None;
        }
        Some(ForceSource::Bushing(BushingSource {
            bodies,
            point: point?,
            axes: axes?,
            stiffness: stiffness?,
            damping: damping?,
            rotational_stiffness: rotational_stiffness?,
            rotational_damping: rotational_damping?,
        }))
    }

    /// One coefficient for all axes, or one for each: three, in the plane `planar` of them.
    fn coefficients(
        &self,
        reader: &mut Reader<'_>,
        value: Option<&Spanned<Value>>,
        key: &str,
        planar: Option<usize>,
    ) -> Option<Vector3<f64>> {
        let Some(value) = value else { return Some(Vector3::zeros()) };
        let what = format!("`{key}` of \"{}\"", self.name);
        let found = match (value.get_ref(), planar) {
            (Value::List(_), None) => Vector3::from(reader.vector::<3>(value, &what)?),
            (Value::List(_), Some(2)) => reader.vector::<2>(value, &what).map(|[x, y]| Vector3::new(x, y, 0.0))?,
            _ => Vector3::repeat(reader.number(value, &what, Must::NotBeNegative)?),
        };
        if found.iter().any(|x| *x < 0.0) {
            reader.wrong(value.span(), format!("{what} has a negative entry"), "numbers ≥ 0 are needed");
            return None;
        }
        Some(found)
    }

    fn drag(&self, reader: &mut Reader<'_>, model: &Model) -> Option<ForceSource> {
        let s = self.s;
        let bodies = self.dragged(reader, model)?;
        let mut number = |value: &Option<Spanned<Value>>, key: &str| {
            reader.number_or(value.as_ref(), 0.0, &format!("`{key}` of \"{}\"", self.name), Must::NotBeNegative)
        };
        let linear = number(&s.linear, "linear");
        let quadratic = number(&s.quadratic, "quadratic");
        let rotational = number(&s.rotational, "rotational");
        let rotational_quadratic = number(&s.rotational_quadratic, "rotational_quadratic");
        if [&s.linear, &s.quadratic, &s.rotational, &s.rotational_quadratic].iter().all(|value| value.is_none()) {
            let help = "give `linear` [N s/m], `quadratic` [N s²/m²], `rotational` [N m s] or `rotational_quadratic` [N m s²]";
            reader.wrong(self.span.clone(), format!("the drag \"{}\" has no coefficient", self.name), help);
            return None;
        }
        let wind = match &s.wind {
            None => None,
            Some(value) => {
                let items = if let Value::List(items) = value.get_ref() { items.as_slice() } else { &[] };
                let components = match items {
                    [x, y] => as_formula(x).zip(as_formula(y)).map(|(x, y)| [x, y, "0".to_owned()]),
                    items => three(items),
                };
                let Some(components) = components else {
                    let help = "give `wind = [x, y, z]`, numbers or formulas of t, x, y, z [m/s]; two of them in the plane";
                    reader.wrong(value.span(), format!("the wind of \"{}\" has not the right form", self.name), help);
                    return None;
                };
                Some(components)
            }
        };
        Some(ForceSource::Drag(DragSource {
            bodies,
            linear: linear?,
            quadratic: quadratic?,
            rotational: rotational?,
            rotational_quadratic: rotational_quadratic?,
            wind,
            parameters: reader.parameters.clone(),
        }))
    }

    /// The bodies of drag: `body`, a list of `bodies`, or `bodies = "all"`.
    fn dragged(&self, reader: &mut Reader<'_>, model: &Model) -> Option<Vec<String>> {
        let help = "give `body = \"…\"`, `bodies = [\"…\", …]`, or `bodies = \"all\"` for all that move";
        match (&self.s.body, self.s.bodies.as_ref().map(|names| (names.span(), names.get_ref()))) {
            (Some(body), None) => self.moving(reader, model, body).map(|(body, _)| vec![body]),
            (None, Some((_, Names::List(list)))) if !list.is_empty() => {
                let found: Vec<_> = list.iter().map(|name| self.moving(reader, model, name)).collect();
                found.into_iter().map(|found| found.map(|(body, _)| body)).collect()
            }
            (None, Some((_, Names::One(word)))) if word == ALL => Some(model.systems().frames()),
            (_, bodies) => {
                let span = bodies.map_or_else(|| self.span.clone(), |(span, _)| span);
                reader.wrong(span, format!("it is not clear on which bodies \"{}\" acts", self.name), help);
                None
            }
        }
    }
}

fn three(items: &[Value]) -> Option<[String; 3]> {
    let [x, y, z] = items else { return None };
    Some([as_formula(x)?, as_formula(y)?, as_formula(z)?])
}

/// The keys of a spring and damper, of a `[[force]]` or of a joint.
struct SpringKeys<'a> {
    force: Option<&'a Spanned<Value>>,
    stiffness: Option<&'a Spanned<Value>>,
    damping: Option<&'a Spanned<Value>>,
    rest: Option<&'a Spanned<Value>>,
    preload: Option<&'a Spanned<Value>>,
    sense: Option<&'a Spanned<String>>,
}

impl SpringKeys<'_> {
    /// `what` are the name of the coordinate in formulas and the unit of the stiffness.
    fn read(&self, reader: &mut Reader<'_>, name: &str, span: Range<usize>, [coordinate, unit]: [&str; 2]) -> Option<SpringSource> {
        if let Some(force) = self.force {
            let others = [("stiffness", self.stiffness), ("damping", self.damping), ("rest", self.rest), ("preload", self.preload)];
            let others = others.into_iter().filter_map(|(key, value)| Some((key, value?.span())));
            let given: Vec<_> = others.chain(self.sense.map(|sense| ("sense", sense.span()))).collect();
            for (key, span) in &given {
                reader.wrong(span.clone(), format!("\"{name}\" has both `force` and `{key}`"), "a formula gives the whole force");
            }
            let text = match force.get_ref() {
                Value::Formula(text) if given.is_empty() => text.clone(),
                Value::Formula(_) => return None,
                _ => {
                    let help = format!("give `force = \"…\"`, a formula of `{coordinate}`, `rate` and `t`; positive pulls back");
                    reader.wrong(force.span(), format!("the force of \"{name}\" is no formula"), help);
                    return None;
                }
            };
            return Some(SpringSource::Formula { text, parameters: reader.parameters.clone() });
        }
        if self.stiffness.is_none() && self.damping.is_none() && self.preload.is_none() {
            let help = format!("give `stiffness` [{unit}], `damping`, or `force = \"…\"`, a formula of `{coordinate}`, `rate` and `t`");
            reader.wrong(span, format!("the spring \"{name}\" has no force"), help);
            return None;
        }
        let what = |key: &str| format!("`{key}` of \"{name}\"");
        let stiffness = reader.number_or(self.stiffness, 0.0, &what("stiffness"), Must::NotBeNegative);
        let damping = reader.number_or(self.damping, 0.0, &what("damping"), Must::NotBeNegative);
        let preload = reader.number_or(self.preload, 0.0, &what("preload"), Must::BeFinite);
        let rest = match self.rest {
            Some(value) => reader.number(value, &what("rest"), Must::BeFinite).map(Some),
            None => Some(None),
        };
        let names = Sense::NAMES.map(|(name, _)| name);
        let sense = choose(reader, self.sense, "sense of a spring", &names)?;
        let sense = Sense::NAMES.iter().find(|(name, _)| *name == sense).map_or(Sense::Both, |(_, sense)| *sense);
        let spring = LinearSpring { stiffness: stiffness?, damping: damping?, rest: rest?, preload: preload?, sense };
        if sense != Sense::Both && spring.stiffness == 0.0 {
            reader.wrong(span, format!("\"{name}\" acts in one sense only and has no stiffness"), "give a positive `stiffness`");
            return None;
        }
        Some(SpringSource::Linear(spring))
    }
}

/// Adds the spring of a joint: `spring = { stiffness = …, damping = …, rest = … }`.
pub(super) fn joint_spring(
    reader: &mut Reader<'_>,
    model: &mut Model,
    (joint, source): (&str, &JointSource),
    section: &Spanned<JointSpringSchema>,
    q: &[f64],
) {
    let s = section.get_ref();
    let kind = source.kind;
    let has = [
        (kind.turns(), "turn", JointAxis::Turn),
        (kind.turns_twice(), "second-turn", JointAxis::SecondTurn),
        (kind.slides(), "slide", JointAxis::Slide),
    ];
    let known: Vec<_> = has.into_iter().filter(|(has, ..)| *has).collect();
    let names: Vec<&str> = known.iter().map(|(_, name, _)| *name).collect();
    if names.is_empty() {
        let help = "revolute, universal, prismatic, cylindrical, planar, screw and point-on-line joints have a coordinate; use [[force]] kind = \"spring\" or \"bushing\"";
        reader.wrong(section.span(), format!("\"{joint}\" has no coordinate for a spring"), help);
        return;
    }
    let Some(axis) = choose(reader, s.of.as_ref(), "coordinate of this joint", &names) else { return };
    if s.of.is_none() && names.len() > 1 {
        let help = names.iter().map(|name| format!("`of = \"{name}\"`")).collect::<Vec<_>>().join(" or ");
        let help = format!("give {help}");
        reader.wrong(section.span(), format!("\"{joint}\" has two coordinates, and its spring does not say which"), help);
        return;
    }
    let Some((_, _, axis)) = known.iter().find(|(_, name, _)| *name == axis) else { return };
    let keys = SpringKeys {
        force: s.force.as_ref(),
        stiffness: s.stiffness.as_ref(),
        damping: s.damping.as_ref(),
        rest: s.rest.as_ref(),
        preload: s.preload.as_ref(),
        sense: s.sense.as_ref(),
    };
    let unit = if *axis != JointAxis::Slide { "N m/rad" } else { "N/m" };
    let name = format!("{joint} spring");
    let Some(law) = keys.read(reader, &name, section.span(), ["coordinate", unit]) else { return };
    if let Err(error) = model.add_joint_spring(&name, source, *axis, &law, q) {
        let formulas: Vec<(Range<usize>, &str)> = s.force.as_ref().map_or_else(Vec::new, texts);
        report(reader, &error, &formulas, section.span());
    }
}
