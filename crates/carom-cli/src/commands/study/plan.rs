//! What a study varies and measures: from flags, or from a file.
//!
//! ```toml
//! model = "model.toml"                  # default: the folder's
//! [set]
//! "simulation.end" = 7
//! [vary]
//! "contact.tip.restitution" = [0.2, 0.5]
//! "simulation.step" = [1e-3, 1e-4]
//! [measure]
//! impacts = "last control.arm.count"
//! ```
//!
//! An empty text in `[set]` takes the key away, as `--set KEY=` does. `[trace]` is told in `trace.rs`.

use super::Args;
use super::measure::Measure;
use super::trace::Trace;
use crate::failure::Failure;
use carom::io::model_file::{MODEL_FILE, Override};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use toml_edit::{DocumentMut, Item, TableLike, Value};

/// Name of the study file in a folder.
const STUDY_FILE: &str = "study.toml";

/// A key and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variation {
    pub key: String,
    pub values: Vec<String>,
}

impl FromStr for Variation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write KEY=A,B,…, for example simulation.step=1e-3,1e-4";
        let (key, values) = text.split_once('=').ok_or_else(|| format!("\"{text}\" has no `=`: {example}"))?;
        let values: Vec<String> = split(values).into_iter().map(|value| value.trim().to_owned()).collect();
        if key.trim().is_empty() || values.iter().any(String::is_empty) {
            return Err(format!("\"{text}\" has an empty key or value: {example}"));
        }
        Ok(Variation { key: key.trim().to_owned(), values })
    }
}

/// The parts between commas that stand in no bracket and no quotes.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut quoted) = (vec![String::new()], 0_i32, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        match (c, parts.last_mut()) {
            (',', _) if depth == 0 && !quoted => parts.push(String::new()),
            (_, Some(last)) => last.push(c),
            _ => {}
        }
    }
    parts
}

/// A study.
#[derive(Debug)]
pub struct Plan {
    pub model: PathBuf,
    pub set: Vec<Override>,
    pub vary: Vec<Variation>,
    pub measures: Vec<Measure>,
    pub trace: Option<Trace>,
}

impl Plan {
    /// Nothing yet, of a model.
    fn of(model: PathBuf) -> Self {
        Plan { model, set: Vec::new(), vary: Vec::new(), measures: Vec::new(), trace: None }
    }

    /// From the arguments and the file that they name.
    pub fn read(args: &Args) -> Result<Self, Failure> {
        let mut plan = match study_file(&args.model) {
            Some(file) => from_file(&file)?,
            None => Plan::of(args.model.clone()),
        };
        plan.set.extend(args.changes.overrides());
        for given in &args.vary {
            match plan.vary.iter_mut().find(|other| other.key == given.key) {
                Some(other) => *other = given.clone(),
                None => plan.vary.push(given.clone()),
            }
        }
        if !args.measure.is_empty() {
            plan.measures.clone_from(&args.measure);
        }
        if plan.vary.is_empty() {
            let help = "give --vary KEY=A,B,… or a study file with [vary]";
            return Err(Failure::Input(format!("{} varies nothing: {help}", args.model.display())));
        }
        if plan.measures.is_empty() {
            let help = "give --measure, for example --measure \"last q.x\" or --measure \"events impact\"";
            return Err(Failure::Input(format!("nothing is measured: {help}")));
        }
        Ok(plan)
    }

    /// All combinations, the last key fastest.
    pub fn cases(&self) -> Vec<Vec<String>> {
        let mut all = vec![Vec::new()];
        for variation in &self.vary {
            all = all
                .iter()
                .flat_map(|case: &Vec<String>| variation.values.iter().map(|v| [case.as_slice(), std::slice::from_ref(v)].concat()))
                .collect();
        }
        all
    }

    /// The model's overrides of a case.
    pub fn overrides(&self, case: &[String]) -> Result<Vec<Override>, Failure> {
        let mut all = self.set.clone();
        for (variation, value) in self.vary.iter().zip(case) {
            all.push(format!("{}={value}", variation.key).parse().map_err(Failure::Input)?);
        }
        Ok(all)
    }
}

/// The study file that a path means, if it means one.
fn study_file(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return Some(path.join(STUDY_FILE)).filter(|file| file.is_file());
    }
    let is_study = path.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with("study"));
    is_study.then(|| path.to_path_buf())
}

fn from_file(file: &Path) -> Result<Plan, Failure> {
    let wrong = |message: String| Failure::Input(format!("{}: {message}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| wrong(error.to_string()))?;
    only(document.as_table(), "a study", &["model", "set", "vary", "measure", "trace"]).map_err(wrong)?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let model = document.get("model").map_or(Ok(MODEL_FILE), |model| model.as_str().ok_or_else(|| wrong("`model` is no text".into())))?;
    let mut plan = Plan::of(folder.join(model));
    plan.set = overrides(document.as_table()).map_err(wrong)?;
    plan.vary = variations(document.as_table()).map_err(wrong)?;
    for (name, measure) in section(document.as_table(), "measure").map_err(wrong)? {
        let text = measure.as_str().ok_or_else(|| wrong(format!("the measure \"{name}\" is no text")))?;
        plan.measures.push(format!("{name}={text}").parse().map_err(wrong)?);
    }
    plan.trace = document.get("trace").map(trace).transpose().map_err(wrong)?;
    Ok(plan)
}

/// Refuses keys that nobody would read.
fn only(table: &dyn TableLike, what: &str, known: &[&str]) -> Result<(), String> {
    match table.iter().find(|(key, _)| !known.contains(key)) {
        Some((key, _)) => Err(format!("unknown key `{key}`: {what} has {}", known.join(", "))),
        None => Ok(()),
    }
}

/// The values under a key; empty where there is none.
fn section<'a>(table: &'a dyn TableLike, key: &str) -> Result<Vec<(String, &'a Value)>, String> {
    let Some(item) = table.get(key) else { return Ok(Vec::new()) };
    let inner = item.as_table_like().ok_or_else(|| format!("`{key}` is no table: write [{key}]"))?;
    let mut values = Vec::new();
    for (name, item) in inner.iter() {
        match item {
            Item::Value(value) => values.push((name.to_owned(), value)),
            _ => return Err(format!("`{name}` in [{key}] is no value: write the key in quotes, \"a.b\" = …")),
        }
    }
    Ok(values)
}

/// `[set]`.
fn overrides(table: &dyn TableLike) -> Result<Vec<Override>, String> {
    let text = |value: &Value| if value.as_str() == Some("") { String::new() } else { value.to_string().trim().to_owned() };
    section(table, "set")?.into_iter().map(|(key, value)| format!("{key}={}", text(value)).parse()).collect()
}

/// `[vary]`.
fn variations(table: &dyn TableLike) -> Result<Vec<Variation>, String> {
    let list = |(key, values): (String, &Value)| {
        let values = values.as_array().ok_or_else(|| format!("the values of \"{key}\" are no list"))?;
        Ok(Variation { values: values.iter().map(|value| value.to_string().trim().to_owned()).collect(), key })
    };
    section(table, "vary")?.into_iter().map(list).collect()
}

/// `[trace]`.
fn trace(item: &Item) -> Result<Trace, String> {
    let table = item.as_table_like().ok_or("`trace` is no table: write [trace]")?;
    only(table, "[trace]", &["curves", "set", "vary"])?;
    let curves = table.get("curves").and_then(Item::as_array).ok_or("[trace] needs a list `curves`, for example curves = [\"q.x\"]")?;
    let curves = curves.iter().map(|curve| curve.as_str().ok_or("a curve is a text".to_owned()).and_then(Trace::curve));
    Ok(Trace { curves: curves.collect::<Result<_, _>>()?, set: overrides(table)?, vary: variations(table)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_split_outside_brackets() {
        let variation: Variation = "body.a.position=[0, 1, 2],[3,4,5]".parse().expect("a variation");
        assert_eq!(variation.values, ["[0, 1, 2]", "[3,4,5]"]);
        assert!("step".parse::<Variation>().is_err() && "step=1,,2".parse::<Variation>().is_err());
    }

    #[test]
    fn the_last_key_is_the_fastest() {
        let vary = vec!["a=1,2".parse().expect("a"), "b=x,y".parse().expect("b")];
        let plan = Plan { vary, ..Plan::of(PathBuf::new()) };
        assert_eq!(plan.cases(), [["1", "x"], ["1", "y"], ["2", "x"], ["2", "y"]]);
    }
}
