//! Laws of contacts in a model file: one coefficient each, or tables with `kind`.

use super::error::suggestion;
use super::impact::spring;
use super::numbers::{Must, Reader};
use super::value::{LawValue, Table, Value};
use carom_dynamics::laws::DirectionFrame;
use carom_dynamics::{Cohesion, ContactLaw, Friction, Restitution};
use std::ops::Range;
use toml::Spanned;

/// The keys of a contact or a pair of materials that make its law.
pub(super) struct LawKeys<'a> {
    pub friction: Option<&'a Spanned<LawValue>>,
    pub restitution: Option<&'a Spanned<LawValue>>,
    pub tangential_restitution: Option<&'a Spanned<Value>>,
    pub rolling: Option<&'a Spanned<Value>>,
    pub spinning: Option<&'a Spanned<Value>>,
    pub cohesion: Option<&'a Spanned<LawValue>>,
    pub stiffness: Option<&'a Spanned<Value>>,
    pub exponent: Option<&'a Spanned<Value>>,
    /// The two materials, for a pair of them.
    pub materials: Option<[&'a str; 2]>,
}

/// Reads the law of a contact; friction and restitution are zero where they are not given.
pub(super) fn contact_law(reader: &mut Reader<'_>, name: &str, keys: &LawKeys<'_>) -> Option<ContactLaw> {
    let friction = friction(reader, name, keys);
    let restitution = restitution(reader, name, keys.restitution);
    let what = |what: &str| format!("the {what} of \"{name}\"");
    let tangential = reader.number_or(keys.tangential_restitution, 0.0, &what("tangential restitution"), Must::LieInUnitInterval);
    let rolling = reader.number_or(keys.rolling, 0.0, &what("rolling resistance"), Must::NotBeNegative);
    let spinning = reader.number_or(keys.spinning, 0.0, &what("spinning resistance"), Must::NotBeNegative);
    let cohesion = cohesion(reader, name, keys.cohesion);
    let (stiffness, exponent) = spring(reader, name, keys.stiffness, keys.exponent)?;
    Some(ContactLaw {
        friction: friction?,
        restitution: restitution?,
        tangential_restitution: tangential?,
        rolling: rolling?,
        spinning: spinning?,
        cohesion: cohesion?,
        stiffness,
        exponent,
    })
}

/// Reads a coefficient that may not be a table: materials, which are combined.
pub(super) fn simple(reader: &mut Reader<'_>, value: Option<&Spanned<LawValue>>, default: f64, what: &str, must: Must) -> Option<f64> {
    let Some(value) = value else { return Some(default) };
    match value.get_ref() {
        LawValue::Simple(number) => reader.number(&Spanned::new(value.span(), number.clone()), what, must),
        LawValue::Table(_) => {
            let help = "laws with a `kind` do not combine: give them in [[material_pair]]";
            reader.wrong(value.span(), format!("{what} is a table"), help);
            None
        }
    }
}

fn friction(reader: &mut Reader<'_>, name: &str, keys: &LawKeys<'_>) -> Option<Friction> {
    let what = format!("the friction of \"{name}\"");
    let Some(value) = keys.friction else { return Some(Friction::default()) };
    let elliptic: &[&str] = if keys.materials.is_some() { &["coefficients", "direction", "frame"] } else { &["coefficients"] };
    let kinds: [(&str, &[&str]); 4] = [
        ("coulomb", &["coefficient"]),
        ("elliptic", elliptic),
        ("static-kinetic", &["at_rest", "sliding"]),
        ("stribeck", &["at_rest", "sliding", "velocity", "exponent"]),
    ];
    let table = match value.get_ref() {
        LawValue::Simple(number) => {
            let what = format!("the friction coefficient of \"{name}\"");
            let coefficient = reader.number(&Spanned::new(value.span(), number.clone()), &what, Must::NotBeNegative)?;
            return Some(Friction::Coulomb { coefficient });
        }
        LawValue::Table(table) => LawTable::read(reader, table, value.span(), &what, &kinds)?,
    };
    let law = match table.kind {
        "coulomb" => Friction::Coulomb { coefficient: table.number(reader, "coefficient", None, Must::NotBeNegative)? },
        "elliptic" => {
            let coefficients = match table.get("coefficients") {
                Some(value) => reader.vector(value, &format!("`coefficients` of {what}"))?,
                None => return table.missing(reader, "coefficients"),
            };
            let direction = reader.vector_or_zero(table.get("direction"), &format!("`direction` of {what}"))?;
            Friction::Elliptic { coefficients, direction, frame: frame(reader, &table, keys.materials)? }
        }
        "static-kinetic" => {
            let at_rest = table.number(reader, "at_rest", None, Must::NotBeNegative);
            Friction::StaticKinetic { at_rest: at_rest?, sliding: table.number(reader, "sliding", None, Must::NotBeNegative)? }
        }
        _ => {
            let at_rest = table.number(reader, "at_rest", None, Must::NotBeNegative);
            let sliding = table.number(reader, "sliding", None, Must::NotBeNegative);
            let velocity = table.number(reader, "velocity", None, Must::BePositive);
            let exponent = table.number(reader, "exponent", Some(2.0), Must::BePositive);
            Friction::Stribeck { at_rest: at_rest?, sliding: sliding?, velocity: velocity?, exponent: exponent? }
        }
    };
    table.check(reader, law.validate(name), law)
}

/// What `direction` turns with: `frame` is "world" or one of the two materials.
fn frame(reader: &mut Reader<'_>, table: &LawTable<'_>, materials: Option<[&str; 2]>) -> Option<DirectionFrame> {
    let (Some(value), Some([first, second])) = (table.get("frame"), materials) else { return Some(DirectionFrame::World) };
    match value.get_ref() {
        Value::Formula(name) if name == first => Some(DirectionFrame::First),
        Value::Formula(name) if name == second => Some(DirectionFrame::Second),
        Value::Formula(name) if name == "world" => Some(DirectionFrame::World),
        _ => {
            let help = format!("the direction turns with the body of one of the materials: \"{first}\", \"{second}\", or stays: \"world\"");
            reader.wrong(value.span(), "`frame` is neither a material of the pair nor \"world\"", help);
            None
        }
    }
}

fn restitution(reader: &mut Reader<'_>, name: &str, value: Option<&Spanned<LawValue>>) -> Option<Restitution> {
    const KINDS: [(&str, &[&str]); 4] = [
        ("constant", &["coefficient"]),
        ("threshold", &["coefficient", "velocity"]),
        ("power-law", &["coefficient", "velocity", "exponent"]),
        ("viscoelastic", &["coefficient"]),
    ];
    let what = format!("the restitution of \"{name}\"");
    let Some(value) = value else { return Some(Restitution::default()) };
    let table = match value.get_ref() {
        LawValue::Simple(number) => {
            let coefficient = reader.number(&Spanned::new(value.span(), number.clone()), &what, Must::LieInUnitInterval)?;
            return Some(Restitution::Constant { coefficient });
        }
        LawValue::Table(table) => LawTable::read(reader, table, value.span(), &what, &KINDS)?,
    };
    let within = if table.kind == "viscoelastic" { Must::NotBeNegative } else { Must::LieInUnitInterval };
    let coefficient = table.number(reader, "coefficient", None, within);
    let law = match table.kind {
        "constant" => Restitution::Constant { coefficient: coefficient? },
        "threshold" => {
            let velocity = table.number(reader, "velocity", None, Must::NotBeNegative);
            Restitution::Threshold { coefficient: coefficient?, velocity: velocity? }
        }
        "power-law" => {
            let velocity = table.number(reader, "velocity", None, Must::BePositive);
            let exponent = table.number(reader, "exponent", Some(0.25), Must::NotBeNegative);
            Restitution::PowerLaw { coefficient: coefficient?, velocity: velocity?, exponent: exponent? }
        }
        _ => Restitution::Viscoelastic { coefficient: coefficient? },
    };
    Some(law)
}

fn cohesion(reader: &mut Reader<'_>, name: &str, value: Option<&Spanned<LawValue>>) -> Option<Cohesion> {
    const KINDS: [(&str, &[&str]); 2] = [("constant", &["force", "reach"]), ("zone", &["strength", "opening"])];
    let what = format!("the cohesion of \"{name}\"");
    let Some(value) = value else { return Some(Cohesion::None) };
    let table = match value.get_ref() {
        LawValue::Simple(_) => {
            reader.wrong(value.span(), format!("{what} is one number"), "give a table: `cohesion = { kind = \"constant\", force = 2.0 }`");
            return None;
        }
        LawValue::Table(table) => LawTable::read(reader, table, value.span(), &what, &KINDS)?,
    };
    if table.kind == "constant" {
        let force = table.number(reader, "force", None, Must::NotBeNegative);
        let reach = table.number(reader, "reach", Some(1e-6), Must::NotBeNegative);
        return Some(Cohesion::Constant { force: force?, reach: reach? });
    }
    let strength = table.number(reader, "strength", None, Must::NotBeNegative);
    let opening = table.number(reader, "opening", None, Must::BePositive);
    Some(Cohesion::Zone { strength: strength?, opening: opening? })
}

/// A table with a known `kind` and no unknown keys.
pub(super) struct LawTable<'a> {
    pub kind: &'a str,
    entries: &'a [(Spanned<String>, Spanned<Value>)],
    span: Range<usize>,
    what: String,
}

impl<'a> LawTable<'a> {
    pub fn read(
        reader: &mut Reader<'_>,
        table: &'a Table<Spanned<Value>>,
        span: Range<usize>,
        what: &str,
        kinds: &[(&'a str, &[&str])],
    ) -> Option<Self> {
        let names: Vec<&str> = kinds.iter().map(|(kind, _)| *kind).collect();
        let all = format!("kinds: {}", names.join(", "));
        let Some((_, value)) = table.0.iter().find(|(key, _)| key.get_ref() == "kind") else {
            reader.wrong(span, format!("{what} has no `kind`"), all);
            return None;
        };
        let found = match value.get_ref() {
            Value::Formula(name) => kinds.iter().find(|(kind, _)| kind == name),
            _ => None,
        };
        let Some(&(kind, keys)) = found else {
            let given = if let Value::Formula(name) = value.get_ref() { name.as_str() } else { "?" };
            reader.wrong(value.span(), format!("{what} has no kind \"{given}\""), all);
            return None;
        };
        let mut known = true;
        for (key, _) in table.0.iter().filter(|(key, _)| key.get_ref() != "kind" && !keys.contains(&key.get_ref().as_str())) {
            reader.wrong(key.span(), format!("{what} of kind \"{kind}\" has no `{}`", key.get_ref()), suggestion(key.get_ref(), keys));
            known = false;
        }
        known.then(|| LawTable { kind, entries: &table.0, span, what: what.to_owned() })
    }

    pub fn get(&self, key: &str) -> Option<&'a Spanned<Value>> {
        self.entries.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
    }

    pub fn number(&self, reader: &mut Reader<'_>, key: &str, default: Option<f64>, must: Must) -> Option<f64> {
        match (self.get(key), default) {
            (Some(value), _) => reader.number(value, &format!("`{key}` of {}", self.what), must),
            (None, Some(default)) => Some(default),
            (None, None) => self.missing(reader, key),
        }
    }

    pub fn missing<T>(&self, reader: &mut Reader<'_>, key: &str) -> Option<T> {
        reader.wrong(self.span.clone(), format!("{} of kind \"{}\" has no `{key}`", self.what, self.kind), format!("give `{key} = …`"));
        None
    }

    /// The law, unless its coefficients do not go together.
    fn check<T, E: std::fmt::Display>(&self, reader: &mut Reader<'_>, checked: Result<(), E>, law: T) -> Option<T> {
        match checked {
            Ok(()) => Some(law),
            Err(error) => {
                reader.wrong(self.span.clone(), error.to_string(), format!("mend the numbers of {}", self.what));
                None
            }
        }
    }
}
