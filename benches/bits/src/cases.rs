//! What is run: the gallery by its own methods, piles on one and two threads, a heap by both ways of `moreau-gap`.

use std::path::{Path, PathBuf};

/// One run, made by both binaries.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name for messages.
    pub name: String,
    /// Model file or folder.
    pub model: PathBuf,
    /// Overrides.
    pub overrides: Vec<String>,
    /// Numbers of threads to run it on; `None` for as many as there are.
    pub threads: &'static [Option<usize>],
}

/// All cases; models of the gallery with a step are cut after `steps` of them.
///
/// # Errors
/// A folder or model file that cannot be read.
pub fn all(steps: usize) -> Result<Vec<Case>, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cases = Vec::new();
    let gallery = here.join("../../models");
    let entries = std::fs::read_dir(&gallery).map_err(|error| format!("{}: {error}", gallery.display()))?;
    let mut folders: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.join("model.toml").exists()).collect();
    folders.sort();
    for model in folders {
        let name = model.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // every step is compared, however many the file records
        let mut overrides = vec!["record.interval=".to_owned(), "record.every=1".to_owned()];
        match end(&model.join("model.toml"), steps)? {
            Some(end) => overrides.push(format!("simulation.end={end:e}")),
            None => overrides.clear(),
        }
        cases.push(Case { name, model, overrides, threads: &[None] });
    }
    let scene = |name: &str| here.join(format!("scenes/{name}.toml"));
    for name in ["spheres", "boxes"] {
        cases.push(Case { name: name.to_owned(), model: scene(name), overrides: Vec::new(), threads: &[Some(1), Some(2)] });
    }
    for (way, many) in [("few", 1_000_000), ("many", 1)] {
        let overrides = vec![format!("simulation.scheme.many={many}")];
        cases.push(Case { name: format!("heap-{way}"), model: scene("heap"), overrides, threads: &[None] });
    }
    Ok(cases)
}

/// When a model has made so many of its steps, if that is before its end; `None` for models that have no constant step.
fn end(file: &Path, steps: usize) -> Result<Option<f64>, String> {
    let wrong = |error: String| format!("{}: {error}", file.display());
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    let number = |section: &str, key: &str| {
        let value = table.get(section)?.get(key)?;
        // a step or an end may be the name of a parameter
        let value = value.as_str().map_or(Some(value), |name| table.get("parameters")?.get(name))?;
        value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
    };
    let (Some(step), Some(end)) = (number("simulation", "step"), number("simulation", "end")) else { return Ok(None) };
    Ok(Some(end.min(number("initial", "time").unwrap_or(0.0) + steps as f64 * step)))
}
