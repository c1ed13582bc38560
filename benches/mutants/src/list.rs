//! The defects: one file per room in `list/`.

use crate::snippet::Snippet;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// A defect of one line.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// Its name, the room and a number that stays.
    pub id: String,
    /// Crate whose source holds the snippet.
    #[serde(rename = "crate")]
    pub package: String,
    /// Text that occurs once in the source of the crate, with ⟦marks⟧ around the part that changes.
    pub snippet: String,
    /// What stands there instead.
    pub mutated: String,
    /// What a user would get.
    pub why: String,
    /// Why no test can notice it, where that is so: it does not count.
    pub equivalent: Option<String>,
    /// Part of the code: the name of the file.
    #[serde(skip)]
    pub room: String,
    /// Number by which the build knows it, from 1.
    #[serde(skip)]
    pub number: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Room {
    mutant: Vec<Mutant>,
}

/// Reads the rooms of a folder in the order of their names.
pub fn read(folder: &Path) -> Result<Vec<Mutant>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut files: Vec<_> = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>().map_err(failed)?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let (mut mutants, mut ids) = (Vec::new(), BTreeSet::new());
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let room: Room = toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for mutant in room.mutant {
            if !ids.insert(mutant.id.clone()) {
                return Err(format!("two defects are called {}", mutant.id));
            }
            if mutant.why.is_empty() {
                return Err(format!("{} does not say why it matters", mutant.id));
            }
            Snippet::parse(&mutant.snippet).map_err(|error| format!("{}: {error}", mutant.id))?;
            let number = mutants.len() as u32 + 1;
            mutants.push(Mutant { room: name.clone(), number, ..mutant });
        }
    }
    Ok(mutants)
}
