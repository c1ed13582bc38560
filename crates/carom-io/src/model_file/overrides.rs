//! Overrides of single values: `simulation.step=1e-5`, `solver.tolerance=1e-12`, `contact.floor.restitution=0.5`.

use super::chosen_method::{Section, Strategy, drop_foreign, text_of};
use super::error::{Diagnostic, suggestion};
use carom_dynamics::strategies::StrategyKind;
use std::str::FromStr;
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// A value to set: `path.to.key=value`.
///
/// The path follows the tables of the file; an entry of an array of tables is named by its `name` or its number from 0.
/// `strategy`, `scheme`, `solver`, `integrator`, `adaptive`, `events` and `hybrid` are short for `simulation.scheme`, and so on. The value is TOML; what is not TOML
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
        if matches!(path[0].as_str(), "strategy" | "scheme" | "solver" | "integrator" | "adaptive" | "events" | "hybrid") {
            path.insert(0, "simulation".to_owned());
        }
        Ok(Override { path, value: value.trim().to_owned() })
    }
}

/// A text with values set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overridden {
    /// The text; comments and order are kept.
    pub text: String,
    /// What the values brought along, a line each: settings dropped, a strategy changed, values without effect.
    pub notes: Vec<String>,
}

/// The text with the values set.
///
/// A changed `kind` of scheme, solver or integrator, or another impact law, drops the settings that it does not have. A scheme or an integrator that is
/// chosen where the strategy has none changes the strategy, unless that is set as well.
///
/// # Errors
/// A text that is not TOML, or a path that leads nowhere.
pub fn apply_overrides(text: &str, overrides: &[Override]) -> Result<Overridden, Diagnostic> {
    let (mut texts, notes) = apply_to_parts(&[text], overrides)?;
    Ok(Overridden { text: texts.pop().unwrap_or_default(), notes })
}

/// The texts of several files with the values set: each in the file that knows most of its path, the first of equal ones; and the notes for the user.
pub(super) fn apply_to_parts(texts: &[&str], overrides: &[Override]) -> Result<(Vec<String>, Vec<String>), Diagnostic> {
    if overrides.is_empty() {
        return Ok((texts.iter().map(|text| (*text).to_owned()).collect(), Vec::new()));
    }
    let parse = |(part, text): (usize, &&str)| {
        // places in other files than the first would not be those of the whole text
        text.parse::<DocumentMut>().map_err(|error| Diagnostic::new(error.span().filter(|_| part == 0), error.message().trim_end()))
    };
    let mut parts = Parts(texts.iter().enumerate().map(parse).collect::<Result<_, _>>()?);
    let mut notes = Vec::new();
    for (place, one) in overrides.iter().enumerate() {
        let document = parts.of(&one.path);
        let section = Section::of_kind(&one.path).filter(|_| !one.value.is_empty());
        let before = section.and_then(|_| text_of(find(document.as_table(), &one.path)).map(str::to_owned));
        set(document.as_table_mut(), &one.path, one).map_err(|(message, help)| {
            Diagnostic::new(None, format!("--set {}={}: {message}", one.path.join("."), one.value)).help(help)
        })?;
        if let Some(section) = section {
            let (_, home) = one.path.split_last().unwrap_or((&one.path[0], &[]));
            let given: Vec<&str> =
                overrides[..place].iter().filter_map(|other| other.path.strip_prefix(home)?.first()).map(String::as_str).collect();
            for document in &mut parts.0 {
                if let Some(table) = find_mut(document.as_table_mut(), home) {
                    notes.extend(drop_foreign(section, table, (before.as_deref(), &one.value), &given));
                }
            }
        }
    }
    notes.extend(parts.follow_method(overrides));
    Ok((parts.0.iter().map(DocumentMut::to_string).collect(), notes))
}

/// The documents of a model.
struct Parts(Vec<DocumentMut>);

impl Parts {
    /// The document that knows most of a path, the first of equal ones.
    fn of(&mut self, path: &[String]) -> &mut DocumentMut {
        let depths: Vec<usize> = self.0.iter().map(|document| known_depth(document.as_table(), path)).collect();
        let most = depths.iter().max().copied().unwrap_or(0);
        let place = depths.iter().position(|depth| *depth == most).unwrap_or(0);
        &mut self.0[place]
    }

    /// The text that stands at a path.
    fn text_at(&self, path: &[&str]) -> Option<&str> {
        let path: Vec<String> = path.iter().map(|word| (*word).to_owned()).collect();
        self.0.iter().find_map(|document| text_of(find(document.as_table(), &path)))
    }

    /// Makes the strategy one that uses what was chosen; lines for the user on that and on what has no effect.
    fn follow_method(&mut self, overrides: &[Override]) -> Vec<String> {
        let named = self.text_at(&["simulation", "strategy"]).map_or(Some(StrategyKind::default()), StrategyKind::from_name);
        let Some(kind) = named else { return Vec::new() };
        let control = ["control", "kind"].iter().find_map(|key| self.text_at(&["simulation", "adaptive", key]));
        let control = control.or_else(|| self.text_at(&["simulation", "adaptive"]));
        let mut strategy = Strategy { kind, high_order: control == Some("high-order") };
        let mut notes = Vec::new();
        if let Some(other) = strategy.to_use(overrides) {
            let path = ["simulation".to_owned(), "strategy".to_owned()];
            // `[simulation]` may be missing, which is reported when the model is read
            if let Some(table) = find_mut(self.of(&path).as_table_mut(), &path[..1]) {
                table.insert("strategy", Item::Value(Value::from(other.name())));
                let what = if other.has_scheme() { "scheme" } else { "integrator" };
                notes.push(format!("strategy \"{other}\" in place of \"{kind}\", which does not use the {what} that was chosen"));
                strategy.kind = other;
            }
        }
        notes.extend(strategy.unused(overrides));
        notes
    }
}

/// What stands at a path of tables.
fn find<'a>(table: &'a dyn TableLike, path: &[String]) -> Option<&'a Item> {
    let (key, rest) = path.split_first()?;
    let item = table.get(key)?;
    if rest.is_empty() { Some(item) } else { find(item.as_table_like()?, rest) }
}

/// The table at a path.
fn find_mut<'a>(table: &'a mut dyn TableLike, path: &[String]) -> Option<&'a mut dyn TableLike> {
    match path.split_first() {
        None => Some(table),
        Some((key, rest)) => find_mut(table.get_mut(key)?.as_table_like_mut()?, rest),
    }
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
