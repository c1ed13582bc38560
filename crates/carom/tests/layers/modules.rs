//! The top modules of a crate, what they import from each other, and their cycles.

use super::source::{code_only, paths, test_modules};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The top modules of a crate and their dependencies, each with the places (`file:line`) that make it.
#[derive(Default)]
pub struct Crate {
    modules: BTreeSet<String>,
    /// Names that the root re-exports, with their module.
    exported: BTreeMap<String, String>,
    dependencies: BTreeMap<(String, String), Vec<String>>,
}

impl Crate {
    /// Reads all sources below `src`.
    pub fn read(src: &Path) -> Self {
        let mut files = Vec::new();
        collect(src, &mut files);
        let modules = files.iter().filter_map(|file| module_path(src, file).first().cloned()).collect();
        let mut read = Crate { modules, ..Crate::default() };
        let root = std::fs::read_to_string(src.join("lib.rs")).map(|text| code_only(&text)).unwrap_or_default();
        for (_, ends) in paths(&root, "pub use ") {
            for end in ends.iter().filter(|end| end.len() > 1 && read.modules.contains(end[0])) {
                read.exported.insert(end[end.len() - 1].to_string(), end[0].to_string());
            }
        }
        for file in &files {
            read.add_file(src, file);
        }
        read
    }

    fn add_file(&mut self, src: &Path, file: &Path) {
        let module = module_path(src, file);
        let Some(from) = module.first() else { return };
        let code = code_only(&std::fs::read_to_string(file).expect("a source file"));
        let climbs = "super::".repeat(module.len());
        for (at, ends) in paths(&code, "crate::").chain(paths(&code, &climbs)) {
            let place = format!("{}:{}", file.strip_prefix(src).expect("within src").display(), 1 + code[..at].matches('\n').count());
            for end in ends {
                let to = self.exported.get(end[0]).map_or(end[0], String::as_str);
                if to != from && self.modules.contains(to) {
                    let places = self.dependencies.entry((from.clone(), to.to_string())).or_default();
                    if places.last() != Some(&place) {
                        places.push(place.clone());
                    }
                }
            }
        }
    }

    /// The dependencies: from, to, and the places.
    pub fn edges(&self) -> impl Iterator<Item = (&str, &str, &[String])> {
        self.dependencies.iter().map(|((from, to), places)| (from.as_str(), to.as_str(), places.as_slice()))
    }

    /// The strongly connected components of more than one module.
    pub fn cycles(&self) -> Vec<BTreeSet<&str>> {
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            self.modules.iter().map(|module| (module.as_str(), self.reached_from(module))).collect();
        let mut cycles: Vec<BTreeSet<&str>> = Vec::new();
        for (module, reaches) in &reached {
            if reaches.contains(module) && !cycles.iter().any(|cycle| cycle.contains(module)) {
                cycles.push(reaches.iter().copied().filter(|other| reached[other].contains(module)).collect());
            }
        }
        cycles
    }

    /// All modules that paths of at least one dependency lead to.
    fn reached_from<'a>(&'a self, module: &'a str) -> BTreeSet<&'a str> {
        let (mut reached, mut open) = (BTreeSet::new(), vec![module]);
        while let Some(next) = open.pop() {
            open.extend(self.edges().filter(|(from, _, _)| *from == next).map(|(_, to, _)| to).filter(|to| reached.insert(*to)));
        }
        reached
    }
}

/// The Rust files of a folder and those below it, but for modules that only tests have, in order of their names.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder of sources").map(|entry| entry.expect("readable").path()).collect();
    entries.sort();
    let tests: BTreeSet<String> = entries
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .flat_map(|path| test_modules(&std::fs::read_to_string(path).expect("a source file")))
        .collect();
    for path in entries {
        let stem = path.file_stem().expect("a name").to_string_lossy();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !tests.contains(stem.as_ref()) {
            files.push(path);
        }
    }
}

/// The module that a file holds: `a/b.rs` and `a/b/mod.rs` are [a, b]; the root of a crate is the empty path.
fn module_path(src: &Path, file: &Path) -> Vec<String> {
    let relative = file.strip_prefix(src).expect("within src").with_extension("");
    let mut path: Vec<String> = relative.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    if path.last().is_some_and(|last| last == "mod" || (path.len() == 1 && (last == "lib" || last == "main"))) {
        path.pop();
    }
    path
}
