//! Values of a model file: numbers, formulas of parameters, and lists of them; tables that keep their order.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use toml::Spanned;

/// A number, a formula in quotes, or a list of values.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Formula(String),
    List(Vec<Value>),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Value;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a formula in quotes, or a list of these")
            }
            fn visit_f64<E>(self, x: f64) -> Result<Value, E> {
                Ok(Value::Number(x))
            }
            fn visit_i64<E>(self, x: i64) -> Result<Value, E> {
                Ok(Value::Number(x as f64))
            }
            fn visit_u64<E>(self, x: u64) -> Result<Value, E> {
                Ok(Value::Number(x as f64))
            }
            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Formula(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(Value::List(values))
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// A name, or a list of names with their places.
#[derive(Clone, Debug)]
pub(super) enum Names {
    One(String),
    List(Vec<Spanned<String>>),
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Names;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name in quotes, or a list of names")
            }
            fn visit_str<E>(self, name: &str) -> Result<Names, E> {
                Ok(Names::One(name.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(Names::List(names))
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// A law given by one coefficient, or by a table with `kind` and its coefficients.
#[derive(Clone, Debug)]
pub(super) enum LawValue {
    Simple(Value),
    Table(Table<Spanned<Value>>),
}

impl<'de> Deserialize<'de> for LawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = LawValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a formula in quotes, or a table { kind = \"…\", … }")
            }
            fn visit_f64<E>(self, x: f64) -> Result<LawValue, E> {
                Ok(LawValue::Simple(Value::Number(x)))
            }
            fn visit_i64<E>(self, x: i64) -> Result<LawValue, E> {
                Ok(LawValue::Simple(Value::Number(x as f64)))
            }
            fn visit_u64<E>(self, x: u64) -> Result<LawValue, E> {
                Ok(LawValue::Simple(Value::Number(x as f64)))
            }
            fn visit_str<E>(self, text: &str) -> Result<LawValue, E> {
                Ok(LawValue::Simple(Value::Formula(text.to_owned())))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LawValue, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(LawValue::Table(Table(entries)))
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// A part of a chain: a list of points, or a table with the keys of an arc.
#[derive(Clone, Debug)]
pub(super) enum ChainValue {
    Points(Vec<Spanned<Value>>),
    Arc(Table<Spanned<Value>>),
}

impl<'de> Deserialize<'de> for ChainValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = ChainValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of points [[x, y], [x, y], …] or an arc { centre = [x, y], radius = …, from = …, to = … }")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ChainValue, A::Error> {
                let mut points = Vec::new();
                while let Some(point) = list.next_element()? {
                    points.push(point);
                }
                Ok(ChainValue::Points(points))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ChainValue, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(ChainValue::Arc(Table(entries)))
            }
        }
        deserializer.deserialize_any(V)
    }
}

/// A table in the order of the file, with the places of its keys.
#[derive(Clone, Debug)]
pub(super) struct Table<T>(pub Vec<(Spanned<String>, T)>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for V<T> {
            type Value = Table<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Table(entries))
            }
        }
        deserializer.deserialize_map(V(PhantomData))
    }
}

/// A component given by its name alone or by a table with `kind` and settings.
#[derive(Clone, Debug, Default)]
pub(super) struct Component {
    pub kind: Option<String>,
    pub settings: toml::Table,
}

impl<'de> Deserialize<'de> for Component {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct V;
        impl<'de> Visitor<'de> for V {
            type Value = Component;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name in quotes, or a table { kind = \"name\", … }")
            }
            fn visit_str<E>(self, kind: &str) -> Result<Component, E> {
                Ok(Component { kind: Some(kind.to_owned()), settings: toml::Table::new() })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Component, A::Error> {
                let mut settings = toml::Table::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                let kind = match settings.remove("kind") {
                    None => None,
                    Some(toml::Value::String(kind)) => Some(kind),
                    Some(_) => return Err(serde::de::Error::custom("`kind` is a name in quotes")),
                };
                Ok(Component { kind, settings })
            }
        }
        deserializer.deserialize_any(V)
    }
}
