//! `include = ["parts/walls.toml"]`: other files that are merged into the model file.
//!
//! Arrays of tables are appended, tables are merged, and a key that two files give is a mistake that names both places.

use super::error::Diagnostic;
use super::overrides::{Override, apply_to_parts};
use super::sources::{FileMistake, MAX_BYTES, Sources, read_limited, utf8};
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// How deep files may include each other, and how many there may be.
const MAX_DEPTH: usize = 16;
const MAX_FILES: usize = 256;

/// Appends the files that the model file includes to its text, then sets values; lines for the user on what these brought along.
pub(super) fn collect(sources: &mut Sources, overrides: &[Override]) -> Result<Vec<String>, Diagnostic> {
    let mut collected = Collected { seen: Vec::new(), stack: Vec::new() };
    collected.note(sources.parts[0].file.canonicalize().ok());
    collected.includes(sources, 0, Path::new(""))?;
    if overrides.is_empty() {
        return Ok(Vec::new());
    }
    let texts: Vec<&str> = sources.parts.iter().map(|part| &sources.text[part.range.clone()]).collect();
    let (changed, notes) = apply_to_parts(&texts, overrides)?;
    let mut names = std::mem::take(&mut sources.parts).into_iter().map(|part| part.file);
    let mut changed = changed.into_iter();
    if let (Some(name), Some(text)) = (names.next(), changed.next()) {
        *sources = Sources::new(&name, text);
    }
    for (name, text) in names.zip(changed) {
        sources.push(name, &text);
    }
    Ok(notes)
}

/// All parts as one table.
pub(super) fn merged(sources: &Sources) -> Result<Spanned<DeTable<'_>>, Vec<Diagnostic>> {
    let (mut whole, mut mistakes) = (None, Vec::new());
    for part in &sources.parts {
        let mut table = parse_at(&sources.text[part.range.clone()], part.range.start).map_err(|mistake| vec![mistake])?;
        table.get_mut().remove("include");
        match &mut whole {
            None => whole = Some(table),
            Some(whole) => merge(whole.get_mut(), table.into_inner(), "", sources, &mut mistakes),
        }
    }
    match whole {
        Some(whole) if mistakes.is_empty() => Ok(whole),
        _ => Err(mistakes),
    }
}

/// Files without links, to know them again.
struct Collected {
    seen: Vec<PathBuf>,
    /// Those that include each other at present.
    stack: Vec<PathBuf>,
}

impl Collected {
    fn note(&mut self, file: Option<PathBuf>) {
        self.seen.extend(file.clone());
        self.stack.extend(file);
    }

    /// Appends what the part with this number includes; `folder` is its own, relative to the model's.
    fn includes(&mut self, sources: &mut Sources, part: usize, folder: &Path) -> Result<(), Diagnostic> {
        let range = sources.parts[part].range.clone();
        let text = &sources.text[range.clone()];
        // most files include nothing and need not be read twice
        if !text.contains("include") {
            return Ok(());
        }
        let mut table = parse_at(text, range.start)?;
        let Some(include) = table.get_mut().remove("include") else { return Ok(()) };
        for (name, span) in names(&include)? {
            let mistake = |m: FileMistake| m.at(span.clone());
            let (shown, real) = sources.folder.resolve(folder, &name).map_err(mistake)?;
            let circle = "files must not include each other in a circle, nor a file twice";
            if self.stack.contains(&real) {
                return Err(Diagnostic::new(span, format!("\"{name}\" includes itself")).help(circle));
            }
            if self.seen.contains(&real) {
                return Err(Diagnostic::new(span, format!("\"{name}\" is included twice")).help(circle));
            }
            if self.stack.len() > MAX_DEPTH || self.seen.len() > MAX_FILES {
                let message = format!("more than {MAX_DEPTH} files include one another, or there are more than {MAX_FILES}");
                return Err(Diagnostic::new(span, message).help("put them together in fewer files"));
            }
            let left = MAX_BYTES.saturating_sub(sources.text.len() as u64);
            let text = read_limited(&real, &name, left).and_then(|bytes| utf8(bytes, &name)).map_err(mistake)?;
            sources.push(shown, &text);
            self.note(Some(real));
            self.includes(sources, sources.parts.len() - 1, &folder.join(Path::new(&name).parent().unwrap_or(Path::new(""))))?;
            self.stack.pop();
        }
        Ok(())
    }
}

/// The names that `include` lists, with their places.
fn names(include: &Spanned<DeValue<'_>>) -> Result<Vec<(String, Range<usize>)>, Diagnostic> {
    let one = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
        DeValue::String(name) => Ok((name.to_string(), value.span())),
        _ => Err(Diagnostic::new(value.span(), "`include` names files in quotes").help("write include = [\"parts/walls.toml\"]")),
    };
    match include.get_ref() {
        DeValue::Array(list) => list.iter().map(one).collect(),
        _ => Ok(vec![one(include)?]),
    }
}

/// Reads a text whose places begin at `start`.
fn parse_at(text: &str, start: usize) -> Result<Spanned<DeTable<'_>>, Diagnostic> {
    match DeTable::parse(text) {
        Ok(table) if start == 0 => Ok(table),
        Ok(table) => Ok(Spanned::new(moved(table.span(), start), move_table(table.into_inner(), start))),
        Err(error) => Err(Diagnostic::new(error.span().map(|span| moved(span, start)), error.message().trim_end())),
    }
}

fn moved(span: Range<usize>, start: usize) -> Range<usize> {
    span.start + start..span.end + start
}

fn move_table(table: DeTable<'_>, start: usize) -> DeTable<'_> {
    let entry = |(key, value): (Spanned<_>, Spanned<_>)| {
        (
            Spanned::new(moved(key.span(), start), key.into_inner()),
            Spanned::new(moved(value.span(), start), move_value(value.into_inner(), start)),
        )
    };
    table.into_iter().map(entry).collect()
}

fn move_value(value: DeValue<'_>, start: usize) -> DeValue<'_> {
    match value {
        DeValue::Array(list) => {
            let items = list.into_iter().map(|item| Spanned::new(moved(item.span(), start), move_value(item.into_inner(), start)));
            DeValue::Array(items.collect())
        }
        DeValue::Table(table) => DeValue::Table(move_table(table, start)),
        other => other,
    }
}

/// Merges `more` into `table`.
fn merge<'i>(table: &mut DeTable<'i>, more: DeTable<'i>, path: &str, sources: &Sources, mistakes: &mut Vec<Diagnostic>) {
    for (key, value) in more {
        let Some((old_key, _)) = table.get_key_value(&key) else {
            table.insert(key, value);
            continue;
        };
        let (first, place, full) = (old_key.span(), key.span(), format!("{path}{}", key.get_ref()));
        let Some(old) = table.get_mut(&key) else { continue };
        match (old.get_mut(), value.into_inner()) {
            (DeValue::Table(old), DeValue::Table(new)) => merge(old, new, &format!("{full}."), sources, mistakes),
            (DeValue::Array(old), DeValue::Array(new)) if is_list_of_tables(old) && is_list_of_tables(&new) => {
                new.into_iter().for_each(|entry| old.push(entry));
            }
            _ => {
                let places = [first.start, place.start].map(|at| sources.describe(at));
                let message = format!("`{full}` is given twice: in {} and in {}", places[0], places[1]);
                mistakes.push(Diagnostic::new(place, message).help("give it in one of the files"));
            }
        }
    }
}

fn is_list_of_tables(list: &DeArray<'_>) -> bool {
    !list.is_empty() && list.iter().all(|item| item.get_ref().is_table())
}
