//! Overrides of single values: `simulation.step=1e-5`, `solver.tolerance=1e-12`, `contact.floor.restitution=0.5`.

use super::error::{Diagnostic, suggestion};
use std::str::FromStr;
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// A value to set: `path.to.key=value`.
///
/// The path follows the tables of the file; an entry of an array of tables is named by its `name` or its number from 0.
/// `scheme`, `solver`, `integrator`, `adaptive`, `events` and `hybrid` are short for `simulation.scheme`, and so on. The value is TOML; what is not TOML
/// is taken as text, and no value takes the key away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Keys from the top.
    pub path: Vec<String>,
    /// The value's text.
    pub value: String,
}

impl FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write KEY=VALUE, for example simulation.step=1e-5";
        let (path, value) = text.split_once('=').ok_or_else(|| format!("\"{text}\" has no `=`: {example}"))?;
        let mut path: Vec<String> = path.split('.').map(|part| part.trim().to_owned()).collect();
        if path.iter().any(String::is_empty) {
            return Err(format!("\"{text}\" has an empty key: {example}"));
        }
        if matches!(path[0].as_str(), "scheme" | "solver" | "integrator" | "adaptive" | "events" | "hybrid") {
            path.insert(0, "simulation".to_owned());
        }
        Ok(Override { path, value: value.trim().to_owned() })
    }
}

/// The text with the values set; comments and order are kept.
///
/// # Errors
/// A text that is not TOML, or a path that leads nowhere.
pub fn apply_overrides(text: &str, overrides: &[Override]) -> Result<String, Diagnostic> {
    if overrides.is_empty() {
        return Ok(text.to_owned());
    }
    let mut document = text.parse::<DocumentMut>().map_err(|error| Diagnostic::new(error.span(), error.message().trim_end()))?;
    for one in overrides {
        set(document.as_table_mut(), &one.path, one).map_err(|(message, help)| {
            Diagnostic::new(None, format!("--set {}={}: {message}", one.path.join("."), one.value)).help(help)
        })?;
    }
    Ok(document.to_string())
}

/// The texts of several files with the values set: each in the file that knows most of its path, the first of equal ones.
pub(super) fn apply_to_parts(texts: &[&str], overrides: &[Override]) -> Result<Vec<String>, Diagnostic> {
    let mut changed: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    if let [only] = changed.as_mut_slice() {
        *only = apply_overrides(only, overrides)?;
        return Ok(changed);
    }
    for one in overrides {
        let depth = |text: &String| text.parse::<DocumentMut>().map_or(0, |document| known_depth(document.as_table(), &one.path));
        let depths: Vec<usize> = changed.iter().map(depth).collect();
        let most = depths.iter().max().copied().unwrap_or(0);
        let file = depths.iter().position(|depth| *depth == most).unwrap_or(0);
        // places in the other files would not be those of this text
        changed[file] = apply_overrides(&changed[file], std::slice::from_ref(one)).map_err(|d| Diagnostic { span: None, ..d })?;
    }
    Ok(changed)
}

/// How many words of a path lead somewhere.
fn known_depth(table: &dyn TableLike, path: &[String]) -> usize {
    let Some((item, rest)) = path.split_first().and_then(|(key, rest)| Some((table.get(key)?, rest))) else { return 0 };
    let Some(next) = rest.first() else { return 1 };
    if let Some(entries) = item.as_array_of_tables() {
        let named = entries.iter().find(|e| e.get("name").and_then(Item::as_str) == Some(next));
        return 1 + named.map_or(0, |entry| 1 + known_depth(entry, &rest[1..]));
    }
    1 + item.as_table_like().map_or(0, |inner| known_depth(inner, rest))
}

fn set(table: &mut dyn TableLike, path: &[String], one: &Override) -> Result<(), (String, String)> {
    let key = path[0].as_str();
    if path.len() == 1 && one.value.is_empty() {
        table.remove(key);
        return Ok(());
    }
    if path.len() == 1 {
        let value = one.value.parse::<Value>().unwrap_or_else(|_| Value::from(one.value.as_str()));
        table.insert(key, Item::Value(value));
        return Ok(());
    }
    let rest = &path[1..];
    let item = table.entry(key).or_insert_with(|| Item::Table(toml_edit::Table::new()));
    // `scheme = "moreau-jean"` becomes a table when one of its settings is set
    if let Some(kind) = item.as_str().map(str::to_owned)
        && matches!(key, "scheme" | "solver" | "integrator" | "adaptive")
    {
        let mut inline = toml_edit::InlineTable::new();
        inline.insert("kind", Value::from(kind));
        *item = Item::Value(Value::InlineTable(inline));
    }
    if let Some(entries) = item.as_array_of_tables_mut() {
        let names: Vec<String> = entries.iter().map(|e| e.get("name").and_then(Item::as_str).unwrap_or_default().to_owned()).collect();
        let index = names.iter().position(|name| name == &rest[0]).or_else(|| rest[0].parse().ok().filter(|&i: &usize| i < names.len()));
        let entry = index.and_then(|i| entries.get_mut(i));
        let listed: Vec<&str> = names.iter().map(String::as_str).collect();
        return match (entry, rest.len()) {
            (Some(entry), 2..) => set(entry, &rest[1..], one),
            (Some(_), _) => Err((format!("\"{}\" is a whole {key}", rest[0]), "name one of its keys too".to_owned())),
            (None, _) => Err((format!("there is no {key} \"{}\"", rest[0]), suggestion(&rest[0], &listed))),
        };
    }
    match item.as_table_like_mut() {
        Some(inner) => set(inner, rest, one),
        None => Err((format!("`{key}` is a value, not a table"), format!("shorten the path to end in `{key}`"))),
    }
}
