//! Motors and friction of joints in a model file.
//!
//! ```toml
//! [[joint]]
//! kind = "revolute"
//! motor = { kind = "velocity", speed = "2*sin(t)", max_effort = 10 }            # holds ω(t) while |torque| < 10 N m
//! motor = { kind = "position", target = "0.5*t", gain = 20, max_effort = 10 }   # ω = θ*' + k (θ* − θ) while |torque| < 10 N m
//! motor = { kind = "effort", value = "3*cos(t)", max_effort = 2 }               # torque, cut off at 2 N m
//! friction = { coefficient = 0.1, radius = 0.02 }                               # |torque| ≤ μ r |reaction|; in a ball joint about any axis, in a
//!                                                                               # universal joint about each of its axes
//! friction_torque = 0.5                                                         # |torque| ≤ 0.5 N m; both add up
//! ```

use super::error::{Diagnostic, suggestion};
use super::formulas::report;
use super::joints::JointParts;
use super::laws::LawTable;
use super::numbers::{Must, Reader};
use super::schema::JointSchema;
use super::value::{Table, Value};
use carom_dynamics::forces::SpringSource;
use carom_dynamics::formula::{self, Graph, Scope};
use carom_dynamics::relations::{CurveSlide, Driven, Joint, JointAxis, JointKind, Relation, Target, TargetSource};
use carom_dynamics::{BoundedLaw, JointLoad, Law, Model};
use std::ops::Range;
use toml::Spanned;

/// Adds the friction of a point on a curve that was just added to the model: along the curve, of constant size and μ times the reaction of its `rows`.
pub(super) fn curve_friction(reader: &mut Reader<'_>, model: &mut Model, s: &JointSchema, (joint, rows): (&str, usize), slide: CurveSlide) {
    let number = model.interactions().len() - 1;
    let most = match &s.friction_force {
        None => Some(0.0),
        Some(value) => reader.number(value, &format!("`friction_force` of \"{joint}\""), Must::NotBeNegative),
    };
    let coefficient = s.friction.as_ref().map_or(Some((0.0, None)), |table| coulomb(reader, joint, false, table));
    let (Some(most), Some((factor, _))) = (most, coefficient) else { return };
    if most == 0.0 && factor == 0.0 {
        return;
    }
    let mut law = BoundedLaw::friction(most);
    if factor > 0.0 {
        law = law.with_load(JointLoad { joint: number, rows, factor });
    }
    if let Err(error) = model.add_interaction(&format!("{joint} sliding friction"), Box::new(slide), Law::Bounded(law)) {
        let span = s.friction.as_ref().map_or_else(|| s.kind.span(), Spanned::span);
        reader.mistakes.push(Diagnostic::new(span, error.to_string()));
    }
}

/// What motors and friction of a joint are bound to.
struct Equipment<'a> {
    joint: &'a JointParts<'a>,
    /// Initial time and coordinates.
    at: (f64, &'a [f64]),
}

/// Adds the motor and the friction of a joint that was just added to the model.
pub(super) fn equip(reader: &mut Reader<'_>, model: &mut Model, s: &JointSchema, joint: &JointParts<'_>, at: (f64, &[f64])) {
    let number = model.interactions().len() - 1;
    let equipment = Equipment { joint, at };
    if let Some(motor) = &s.motor {
        equipment.motor(reader, model, motor);
    }
    equipment.friction(reader, model, s, number);
}

impl Equipment<'_> {
    /// The angle of a joint that turns, otherwise its displacement.
    fn first_axis(&self) -> Option<JointAxis> {
        let kind = self.joint.source.kind;
        if kind.turns() { Some(JointAxis::Turn) } else { kind.slides().then_some(JointAxis::Slide) }
    }

    fn coordinate(&self, reader: &mut Reader<'_>, model: &Model, axis: JointAxis, span: &Range<usize>) -> Option<Box<dyn Relation>> {
        match model.joint_coordinate(self.joint.name, &self.joint.source, axis, self.at.1) {
            Ok(coordinate) => Some(Box::new(coordinate)),
            Err(error) => {
                reader.mistakes.push(Diagnostic::new(span.clone(), error.to_string()));
                None
            }
        }
    }

    fn motor(&self, reader: &mut Reader<'_>, model: &mut Model, motor: &Spanned<Table<Spanned<Value>>>) {
        let (joint, span) = (self.joint.name, motor.span());
        let what = format!("the motor of \"{joint}\"");
        let kinds: [(&str, &[&str]); 3] = [
            ("velocity", &["speed", "max_effort", "along"]),
            ("position", &["target", "gain", "max_effort", "along"]),
            ("effort", &["value", "max_effort", "along"]),
        ];
        let Some(table) = LawTable::read(reader, motor.get_ref(), span.clone(), &what, &kinds) else { return };
        let Some(axis) = self.axis(reader, table.get("along"), &what, &span) else { return };
        let most = match table.get("max_effort") {
            None => Some(f64::INFINITY),
            Some(value) => reader.number(value, &format!("`max_effort` of {what}"), Must::BePositive),
        };
        let key = match table.kind {
            "velocity" => "speed",
            "position" => "target",
            _ => "value",
        };
        let Some(value) = table.get(key) else { return table.missing(reader, key).unwrap_or(()) };
        let Some(text) = formula_of_time(reader, value, &format!("`{key}` of {what}")) else { return };
        let gain = if table.kind == "position" { table.number(reader, "gain", None, Must::BePositive) } else { Some(0.0) };
        let (Some(most), Some(gain)) = (most, gain) else { return };
        let Some(coordinate) = self.coordinate(reader, model, axis, &span) else { return };
        let name = format!("{joint} motor");
        let added = match table.kind {
            "effort" => {
                check_effort(reader, value, &text, &what);
                let cut = if most.is_finite() { format!("-max(-({most:?}), min({most:?}, ({text})))") } else { format!("-({text})") };
                let source = SpringSource::Formula { text: cut, parameters: reader.parameters.clone() };
                if !reader.mistakes.is_empty() {
                    return;
                }
                model.add_relation_spring(&name, coordinate, &source, self.at)
            }
            kind => {
                let target = match (kind, axis) {
                    ("velocity", _) => Target::Speed,
                    (_, JointAxis::Turn | JointAxis::SecondTurn) => Target::Angle,
                    _ => Target::Place,
                };
                let source = TargetSource { name: format!("`{key}` of {what}"), text: text.clone(), parameters: reader.parameters.clone() };
                let law = Law::Bounded(BoundedLaw::motor(most).with_gain(gain));
                Driven::new(coordinate, target, &source).and_then(|driven| model.add_interaction(&name, Box::new(driven), law))
            }
        };
        if let Err(error) = added {
            report(reader, &error, &[(value.span(), &text)], span);
        }
    }

    /// The coordinate a motor acts on.
    fn axis(&self, reader: &mut Reader<'_>, along: Option<&Spanned<Value>>, what: &str, span: &Range<usize>) -> Option<JointAxis> {
        match along.map(|value| (value.get_ref(), value.span())) {
            None => {
                let axis = self.first_axis();
                if axis.is_none() {
                    let help = "motors act on revolute, universal, prismatic, cylindrical, planar, point-on-line and screw joints";
                    reader.wrong(span.clone(), format!("{what} has no coordinate to act on"), help);
                }
                axis
            }
            Some((Value::Formula(text), _)) if text == "turn" => Some(JointAxis::Turn),
            Some((Value::Formula(text), _)) if text == "second-turn" => Some(JointAxis::SecondTurn),
            Some((Value::Formula(text), _)) if text == "slide" => Some(JointAxis::Slide),
            Some((value, place)) => {
                let given = if let Value::Formula(text) = value { text.as_str() } else { "?" };
                reader.wrong(place, format!("`along` of {what} is \"{given}\""), suggestion(given, &["turn", "second-turn", "slide"]));
                None
            }
        }
    }

    /// Constant bounds, and Coulomb friction by the reaction of the joint; both add up in one row for each coordinate.
    fn friction(&self, reader: &mut Reader<'_>, model: &mut Model, s: &JointSchema, number: usize) {
        let joint = self.joint.name;
        let constant = |reader: &mut Reader<'_>, value: &Option<Spanned<Value>>, key: &str| match value {
            None => Some(0.0),
            Some(value) => reader.number(value, &format!("`{key}` of \"{joint}\""), Must::NotBeNegative),
        };
        let torque = constant(reader, &s.friction_torque, "friction_torque");
        let force = constant(reader, &s.friction_force, "friction_force");
        let coulomb = s.friction.as_ref().map(|table| self.coulomb(reader, table));
        let (Some(torque), Some(force)) = (torque, force) else { return };
        let (coefficient, radius) = match coulomb {
            None => (0.0, None),
            Some(None) => return,
            Some(Some(both)) => both,
        };
        let kind = self.joint.source.kind;
        let is_ball = kind == JointKind::Spherical;
        for (given, key, has) in [
            (&s.friction_torque, "friction_torque", kind.turns() || is_ball),
            (&s.friction_force, "friction_force", kind.slides() || kind.slides_across()),
        ] {
            if let (Some(value), false) = (given, has) {
                let what = if key == "friction_torque" { "does not turn about an axis" } else { "does not slide" };
                reader.wrong(value.span(), format!("`{key}` of \"{joint}\": the joint {what}"), self.who_has(key == "friction_torque"));
            }
        }
        let turning = coefficient * radius.unwrap_or(0.0);
        if is_ball {
            return self.friction_of_ball(reader, model, s, (number, torque, turning));
        }
        if kind.slides_across() {
            self.friction_across(reader, model, s, (number, force, coefficient));
        }
        for (axis, has, most, factor, name) in [
            (JointAxis::Turn, kind.turns(), torque, turning, format!("{joint} friction")),
            (JointAxis::SecondTurn, kind.turns_twice(), torque, turning, format!("{joint} second friction")),
            (JointAxis::Slide, kind.slides(), force, coefficient, format!("{joint} sliding friction")),
        ] {
            if !has || (most == 0.0 && factor == 0.0) {
                continue;
            }
            let span = s.friction.as_ref().map_or_else(|| s.kind.span(), Spanned::span);
            let Some(coordinate) = self.coordinate(reader, model, axis, &span) else { return };
            let mut law = BoundedLaw::friction(most);
            if factor > 0.0 {
                law = law.with_load(JointLoad { joint: number, rows: self.load_rows(), factor });
            }
            if let Err(error) = model.add_interaction(&name, coordinate, Law::Bounded(law)) {
                reader.mistakes.push(Diagnostic::new(span, error.to_string()));
            }
        }
    }

    /// A torque against the relative angular velocity whatever its direction, of constant size `most` and `factor` times the reaction.
    fn friction_of_ball(&self, reader: &mut Reader<'_>, model: &mut Model, s: &JointSchema, (number, most, factor): (usize, f64, f64)) {
        if most == 0.0 && factor == 0.0 {
            return;
        }
        let mut law = BoundedLaw::friction(most);
        if factor > 0.0 {
            law = law.with_load(JointLoad { joint: number, rows: 3, factor });
        }
        let (joint, name) = (self.joint.name, format!("{} friction", self.joint.name));
        let added = model
            .joint_spin(joint, &self.joint.source, self.at.1)
            .and_then(|spin| model.add_interaction(&name, Box::new(spin), Law::Bounded(law)));
        if let Err(error) = added {
            let span = s.friction.as_ref().map_or_else(|| s.kind.span(), Spanned::span);
            reader.mistakes.push(Diagnostic::new(span, error.to_string()));
        }
    }

    /// A force against the slip of a point in a plane whatever its direction, of constant size `most` and `factor` times the normal reaction.
    fn friction_across(&self, reader: &mut Reader<'_>, model: &mut Model, s: &JointSchema, (number, most, factor): (usize, f64, f64)) {
        if most == 0.0 && factor == 0.0 {
            return;
        }
        let mut law = BoundedLaw::friction(most);
        if factor > 0.0 {
            law = law.with_load(JointLoad { joint: number, rows: 1, factor });
        }
        let (joint, name) = (self.joint.name, format!("{} sliding friction", self.joint.name));
        let added = Joint::slip(joint, &self.joint.source, &model.shared_systems(), self.at.1)
            .and_then(|slip| model.add_interaction(&name, Box::new(slip), Law::Bounded(law)));
        if let Err(error) = added {
            let span = s.friction.as_ref().map_or_else(|| s.kind.span(), Spanned::span);
            reader.mistakes.push(Diagnostic::new(span, error.to_string()));
        }
    }

    fn who_has(&self, turn: bool) -> &'static str {
        if turn {
            "revolute, universal, spherical, cylindrical, planar and screw joints do"
        } else {
            "prismatic, cylindrical, planar, point-on-line, point-in-plane, point-on-curve and screw joints do"
        }
    }

    /// μ, and the radius of the journal where it turns.
    fn coulomb(&self, reader: &mut Reader<'_>, table: &Spanned<Table<Spanned<Value>>>) -> Option<(f64, Option<f64>)> {
        let (joint, kind) = (self.joint.name, self.joint.source.kind);
        let turns = kind.turns() || kind == JointKind::Spherical;
        if !(turns || kind.slides() || kind.slides_across()) {
            let help = "use revolute, universal, spherical, prismatic, cylindrical, planar, point-on-line, point-in-plane or screw joints";
            let message = format!("`friction` of \"{joint}\": friction by the reaction is not known for this kind of joint");
            reader.wrong(table.span(), message, help);
            return None;
        }
        coulomb(reader, joint, turns, table)
    }

    /// The rows of the joint whose multipliers are the force that presses its surfaces together.
    fn load_rows(&self) -> usize {
        match (self.joint.source.kind, self.joint.planar) {
            (JointKind::Revolute, true) => 2,
            (JointKind::Revolute | JointKind::Universal, false) => 3,
            (JointKind::Planar | JointKind::PointInPlane, _) | (_, true) => 1,
            _ => 2,
        }
    }
}

/// μ, and the radius of the journal where the joint turns.
fn coulomb(reader: &mut Reader<'_>, joint: &str, turns: bool, table: &Spanned<Table<Spanned<Value>>>) -> Option<(f64, Option<f64>)> {
    let (what, entries) = (format!("`friction` of \"{joint}\""), &table.get_ref().0);
    let foreign = entries.iter().find(|(key, _)| !["coefficient", "radius"].contains(&key.get_ref().as_str()));
    if let Some((key, _)) = foreign {
        reader.wrong(key.span(), format!("{what} has no `{}`", key.get_ref()), suggestion(key.get_ref(), &["coefficient", "radius"]));
        return None;
    }
    let get = |key: &str| entries.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value);
    let Some(coefficient) = get("coefficient") else {
        reader.wrong(
            table.span(),
            format!("{what} has no `coefficient`"),
            "give { coefficient = μ, radius = r }, r in metres where the joint turns",
        );
        return None;
    };
    let coefficient = reader.number(coefficient, &format!("`coefficient` of {what}"), Must::NotBeNegative);
    let radius = match get("radius") {
        Some(value) if !turns => {
            reader.wrong(value.span(), format!("{what} has a radius, but the joint does not turn"), "remove it");
            None
        }
        Some(value) => reader.number(value, &format!("`radius` of {what}"), Must::NotBeNegative).map(Some),
        None if turns => {
            let help = "give the radius of the journal in metres: the torque is at most μ r |reaction|";
            reader.wrong(table.span(), format!("{what} has no `radius`"), help);
            None
        }
        None => Some(None),
    };
    Some((coefficient?, radius?))
}

/// A number, or a formula of t, as the text of a formula.
pub(super) fn formula_of_time(reader: &mut Reader<'_>, value: &Spanned<Value>, what: &str) -> Option<String> {
    match value.get_ref() {
        Value::Number(x) if x.is_finite() => Some(format!("{x:?}")),
        Value::Formula(text) => Some(text.clone()),
        _ => {
            reader.wrong(value.span(), format!("{what} is neither a number nor a formula"), "give a number, or a formula of t in quotes");
            None
        }
    }
}

/// Notes a mistake in the formula of an effort where it stands.
fn check_effort(reader: &mut Reader<'_>, value: &Spanned<Value>, text: &str, what: &str) {
    let (mut graph, mut scope) = (Graph::new(), Scope::new());
    for (name, constant) in &reader.parameters {
        scope.constant(name, *constant);
    }
    for name in ["t", "coordinate", "rate"] {
        let symbol = graph.symbol(name);
        scope.symbol(name, symbol);
    }
    if let Err(error) = formula::parse(&mut graph, text, &scope) {
        reader.wrong_formula(value.span(), &format!("`value` of {what}"), text, &error);
    }
}
