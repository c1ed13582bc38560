//! The source tree, and its copy with all defects.

use crate::list::Mutant;
use crate::snippet::{Flat, Snippet};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Files by their paths in the repository.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

/// The crate below all others, which gets the switch.
const LOWEST: &str = "carom-solvers";

/// The switch, as it is written into the lowest crate.
const SWITCH: &str = include_str!("switch.rs");

/// A change of a file: where, by which defect, what instead.
struct Change<'a> {
    at: Range<usize>,
    mutant: &'a Mutant,
}

impl Tree {
    /// Reads a repository without what is built or recorded in it.
    pub fn read(root: &Path) -> Result<Self, String> {
        let mut tree = Tree::default();
        tree.add(root, Path::new("")).map_err(|error| format!("{}: {error}", root.display()))?;
        Ok(tree)
    }

    fn add(&mut self, root: &Path, folder: &Path) -> std::io::Result<()> {
        for entry in fs::read_dir(root.join(folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                if entry.file_name() != "target" && entry.file_name() != ".git" {
                    self.add(root, &path)?;
                }
            } else {
                self.files.insert(path, fs::read(entry.path())?);
            }
        }
        Ok(())
    }

    /// The tree with all defects, each behind its number, and the switch that chooses one.
    ///
    /// # Errors
    /// Every defect whose snippet does not occur exactly once in the source of its crate, or overlaps with another one.
    pub fn with(&self, mutants: &[Mutant]) -> Result<Tree, String> {
        let sources = self.sources();
        let (mut changes, mut faults): (BTreeMap<&Path, Vec<Change<'_>>>, Vec<String>) = Default::default();
        for mutant in mutants {
            let snippet = Snippet::parse(&mutant.snippet)?;
            let own = Path::new("crates").join(&mutant.package).join("src");
            let of_crate = sources.iter().filter(|(path, _)| path.starts_with(&own));
            let places = of_crate.flat_map(|(path, (_, flat))| snippet.places(flat).into_iter().map(|at| (*path, at)));
            match places.collect::<Vec<_>>().as_slice() {
                [(path, at)] => changes.entry(path).or_default().push(Change { at: at.clone(), mutant }),
                found => faults.push(format!("{}: {} places in {}: {}", mutant.id, found.len(), mutant.package, mutant.snippet)),
            }
        }
        let mut tree = self.clone();
        for (path, mut changes) in changes {
            changes.sort_by_key(|change| change.at.start);
            let overlaps = changes.windows(2).filter(|pair| pair[1].at.start < pair[0].at.end);
            faults.extend(overlaps.map(|pair| format!("{} overlaps with {}", pair[1].mutant.id, pair[0].mutant.id)));
            let mut text = sources[path].0.to_owned();
            for change in changes.iter().rev() {
                text.replace_range(change.at.clone(), &switched(change.mutant, &text[change.at.clone()]));
            }
            tree.files.insert(path.to_owned(), text.into_bytes());
        }
        if !faults.is_empty() {
            return Err(faults.join("\n"));
        }
        tree.add_switch()?;
        Ok(tree)
    }

    /// Rust files of the crates.
    fn sources(&self) -> BTreeMap<&Path, (&str, Flat)> {
        let of_crates = self.files.iter().filter(|(path, _)| path.starts_with("crates") && path.extension().is_some_and(|x| x == "rs"));
        let texts = of_crates.filter_map(|(path, bytes)| Some((path.as_path(), std::str::from_utf8(bytes).ok()?)));
        texts.map(|(path, text)| (path, (text, Flat::of(text)))).collect()
    }

    fn add_switch(&mut self) -> Result<(), String> {
        let source = Path::new("crates").join(LOWEST).join("src");
        let library = self.files.get_mut(&source.join("lib.rs")).ok_or("the lowest crate has no lib.rs")?;
        library.extend_from_slice(b"\n#[doc(hidden)]\npub mod mutant;\n");
        self.files.insert(source.join("mutant.rs"), SWITCH.as_bytes().to_vec());
        Ok(())
    }

    /// Writes the files that differ to a folder, and deletes others there, but for what is built.
    pub fn write(&self, folder: &Path) -> Result<(), String> {
        let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
        let old = Tree::read(folder)?;
        let known: BTreeSet<_> = self.files.keys().collect();
        for path in old.files.keys().filter(|path| !known.contains(path)).map(|path| folder.join(path)) {
            fs::remove_file(&path).map_err(|error| failed(&path, error))?;
        }
        for (path, bytes) in self.files.iter().filter(|(path, bytes)| old.files.get(*path) != Some(bytes)) {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(|error| failed(&path, error))?;
            fs::write(&path, bytes).map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }
}

/// The right text and the defect, chosen by number.
fn switched(mutant: &Mutant, right: &str) -> String {
    let path = if mutant.package == LOWEST { "crate".to_owned() } else { LOWEST.replace('-', "_") };
    let (condition, wrong) = (format!("{path}::mutant::on({})", mutant.number), &mutant.mutated);
    if right.ends_with(';') {
        format!("if {condition} {{ {wrong} }} else {{ {right} }}")
    } else {
        format!("(if {condition} {{ {wrong} }} else {{ {right} }})")
    }
}
