//! The keys of `[[generate]]`, and which kind takes which.

use super::super::numbers::{Must, Reader};
use super::super::schema::{BodyMotionSchema, JointSchema, RotationSchema, ShapeSchema, SurfaceSchema};
use super::super::value::{Table, Value};
use super::{MAX_BODIES, Making};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::ops::Range;
use toml::Spanned;

type Number = Spanned<Value>;
type Text = Spanned<String>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct GenerateSchema {
    pub kind: Text,
    pub name: Option<Text>,
    pub seed: Option<Spanned<i64>>,
    pub position: Option<Number>,
    pub orientation: Option<Number>,
    pub rotation: Option<Spanned<RotationSchema>>,
    pub body: Option<Spanned<TemplateSchema>>,
    pub counts: Option<Number>,
    pub count: Option<Number>,
    pub spacing: Option<Number>,
    pub jitter: Option<Number>,
    pub yaw: Option<Number>,
    pub offset: Option<Number>,
    pub gap: Option<Number>,
    pub method: Option<Text>,
    pub pitch: Option<Number>,
    pub size: Option<Number>,
    pub radius: Option<Number>,
    pub height: Option<Number>,
    pub rows: Option<Number>,
    pub columns: Option<Number>,
    pub layers: Option<Number>,
    pub planks: Option<Number>,
    pub inner_radius: Option<Number>,
    pub outer_radius: Option<Number>,
    pub depth: Option<Number>,
    pub angle: Option<Number>,
    pub thickness: Option<Number>,
    pub path: Option<Number>,
    pub from: Option<Number>,
    pub push: Option<Number>,
    pub length: Option<Number>,
    pub direction: Option<Number>,
    pub joint: Option<Spanned<JointSchema>>,
    pub anchor: Option<Text>,
    pub profile: Option<Number>,
    pub sides: Option<Number>,
    pub orifice: Option<Number>,
}

/// What all bodies of an entry have in common.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct TemplateSchema {
    pub shape: Option<Spanned<ShapeSchema<Spanned<Drawn>>>>,
    pub density: Option<Number>,
    pub mass: Option<Number>,
    pub centre: Option<Number>,
    pub inertia: Option<Number>,
    pub material: Option<Text>,
    pub groups: Option<Spanned<Vec<Text>>>,
    pub collides_with: Option<Spanned<Vec<Text>>>,
    pub orientation: Option<Number>,
    pub rotation: Option<Spanned<RotationSchema>>,
    pub velocity: Option<Number>,
    pub angular_velocity: Option<Number>,
    #[serde(default)]
    pub continuous: bool,
    pub motion: Option<Spanned<BodyMotionSchema>>,
    pub surface: Option<Spanned<SurfaceSchema>>,
}

/// A value, or the range to draw it from.
#[derive(Clone, Debug)]
pub(in super::super) enum Drawn {
    Fixed(Value),
    Range { min: Value, max: Value },
}

impl<'de> Deserialize<'de> for Drawn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Drawn;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a formula in quotes, a list of these, or a range { min = …, max = … }")
            }
            fn visit_f64<E>(self, x: f64) -> Result<Drawn, E> {
                Ok(Drawn::Fixed(Value::Number(x)))
            }
            fn visit_i64<E>(self, x: i64) -> Result<Drawn, E> {
                Ok(Drawn::Fixed(Value::Number(x as f64)))
            }
            fn visit_u64<E>(self, x: u64) -> Result<Drawn, E> {
                Ok(Drawn::Fixed(Value::Number(x as f64)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Drawn, E> {
                Ok(Drawn::Fixed(Value::Formula(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Drawn, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(Drawn::Fixed(Value::List(values)))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Drawn, A::Error> {
                let table = Table::<Value>::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                let (mut min, mut max) = (None, None);
                for (key, value) in table.0 {
                    match key.get_ref().as_str() {
                        "min" => min = Some(value),
                        "max" => max = Some(value),
                        other => return Err(serde::de::Error::unknown_field(other, &["min", "max"])),
                    }
                }
                let missing = serde::de::Error::missing_field;
                Ok(Drawn::Range { min: min.ok_or_else(|| missing("min"))?, max: max.ok_or_else(|| missing("max"))? })
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// A kind of arrangement.
pub(super) struct Kind {
    pub name: &'static str,
    /// What its bodies are called unless the file says.
    pub bodies: &'static str,
    /// The template has a shape; where it has none, the arrangement gives it.
    pub takes_shape: bool,
    /// Its bodies do not move but as `motion` says.
    pub fixed: bool,
    keys: &'static [&'static str],
}

/// All kinds, with the keys that each takes besides `name`, `seed`, `position` and `body`.
pub(super) const KINDS: [Kind; 12] = [
    shaped("lattice", "body", &["counts", "spacing", "jitter", "rotation", "orientation"]),
    shaped("packing", "grain", &["count", "method", "size", "radius", "height", "pitch", "gap", "rotation", "orientation"]),
    shaped("stack", "block", &["count", "gap", "jitter", "yaw", "offset", "rotation", "orientation"]),
    shaped("chain", "link", &["count", "length", "direction", "joint", "anchor"]),
    built("wall", "brick", &["rows", "columns", "size", "gap", "rotation", "orientation"]),
    built("arch", "voussoir", &["count", "inner_radius", "outer_radius", "depth", "angle", "rotation", "orientation"]),
    built("tower", "plank", &["layers", "planks", "size", "gap", "rotation", "orientation"]),
    built("dominoes", "domino", &["size", "spacing", "path", "radius", "angle", "from", "push", "rotation", "orientation"]),
    fixed("container", &["size", "thickness", "rotation", "orientation"]),
    fixed("vessel", &["profile", "sides", "thickness", "rotation", "orientation"]),
    fixed("drum", &["radius", "length", "sides", "thickness", "rotation", "orientation"]),
    fixed("hopper", &["radius", "height", "orifice", "angle", "sides", "thickness", "rotation", "orientation"]),
];

/// Copies of a template that has its shape.
const fn shaped(name: &'static str, bodies: &'static str, keys: &'static [&'static str]) -> Kind {
    Kind { name, bodies, takes_shape: true, fixed: false, keys }
}

/// Bodies to which the arrangement gives their shapes.
const fn built(name: &'static str, bodies: &'static str, keys: &'static [&'static str]) -> Kind {
    Kind { name, bodies, takes_shape: false, fixed: false, keys }
}

/// Walls of a room, called as the kind.
const fn fixed(name: &'static str, keys: &'static [&'static str]) -> Kind {
    Kind { name, bodies: name, takes_shape: false, fixed: true, keys }
}

impl Kind {
    /// Keys of other kinds have no effect: they are mistakes.
    pub(crate) fn check_keys(&self, reader: &mut Reader<'_>, s: &GenerateSchema) -> Option<()> {
        fn span<T>(value: &Option<Spanned<T>>) -> Option<Range<usize>> {
            value.as_ref().map(Spanned::span)
        }
        let given = [
            ("orientation", span(&s.orientation)),
            ("rotation", span(&s.rotation)),
            ("counts", span(&s.counts)),
            ("count", span(&s.count)),
            ("spacing", span(&s.spacing)),
            ("jitter", span(&s.jitter)),
            ("yaw", span(&s.yaw)),
            ("offset", span(&s.offset)),
            ("gap", span(&s.gap)),
            ("method", span(&s.method)),
            ("pitch", span(&s.pitch)),
            ("size", span(&s.size)),
            ("radius", span(&s.radius)),
            ("height", span(&s.height)),
            ("rows", span(&s.rows)),
            ("columns", span(&s.columns)),
            ("layers", span(&s.layers)),
            ("planks", span(&s.planks)),
            ("inner_radius", span(&s.inner_radius)),
            ("outer_radius", span(&s.outer_radius)),
            ("depth", span(&s.depth)),
            ("angle", span(&s.angle)),
            ("thickness", span(&s.thickness)),
            ("path", span(&s.path)),
            ("from", span(&s.from)),
            ("push", span(&s.push)),
            ("length", span(&s.length)),
            ("direction", span(&s.direction)),
            ("joint", span(&s.joint)),
            ("anchor", span(&s.anchor)),
            ("profile", span(&s.profile)),
            ("sides", span(&s.sides)),
            ("orifice", span(&s.orifice)),
        ];
        for (key, place) in given {
            if let Some(place) = place
                && !self.keys.contains(&key)
            {
                let help = format!("besides name, seed, position and body it takes: {}", self.keys.join(", "));
                reader.wrong(place, format!("a {} has no `{key}`", self.name), help);
                return None;
            }
        }
        Some(())
    }
}

impl Making<'_> {
    /// A positive number that the kind cannot do without.
    pub(super) fn positive(&self, reader: &mut Reader<'_>, value: Option<&Number>, key: &str) -> Option<f64> {
        match value {
            Some(value) => reader.number(value, &format!("`{key}` of \"{}\"", self.name), Must::BePositive),
            None => self.missing(reader, key, &format!("give `{key}`, a positive number")),
        }
    }

    /// A number ≥ 0, zero unless given.
    pub(super) fn at_least_zero(&self, reader: &mut Reader<'_>, value: Option<&Number>, key: &str) -> Option<f64> {
        reader.number_or(value, 0.0, &format!("`{key}` of \"{}\"", self.name), Must::NotBeNegative)
    }

    /// How many.
    pub(super) fn number_of(&self, reader: &mut Reader<'_>, value: Option<&Number>, key: &str, least: usize) -> Option<usize> {
        match value {
            Some(value) => reader.count(value, &format!("`{key}` of \"{}\"", self.name), (least, MAX_BODIES)),
            None => self.missing(reader, key, &format!("give `{key}`, a whole number")),
        }
    }

    /// Three positive lengths.
    pub(super) fn size(&self, reader: &mut Reader<'_>, help: &str) -> Option<[f64; 3]> {
        let Some(value) = &self.keys().size else { return self.missing(reader, "size", help) };
        let size = reader.vector::<3>(value, &format!("the size of \"{}\"", self.name))?;
        self.all_positive(reader, value, &size)?;
        Some(size)
    }

    pub(super) fn all_positive(&self, reader: &mut Reader<'_>, value: &Number, lengths: &[f64]) -> Option<()> {
        if lengths.iter().all(|x| *x > 0.0) {
            return Some(());
        }
        reader.wrong(value.span(), format!("a length of \"{}\" is not positive", self.name), "positive lengths [m] are needed");
        None
    }
}
