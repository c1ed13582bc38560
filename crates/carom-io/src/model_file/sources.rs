//! The texts a model is made from: the model file and what it includes, one after the other, and the files it names.
//!
//! Files are confined to the folder of the model file: relative paths without `..`, and no links that lead outside.

use super::error::Diagnostic;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// Largest text of a model, all included files together \[bytes\].
pub(super) const MAX_BYTES: u64 = 256 << 20;

/// One file of a model and where its text lies in the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePart {
    /// The file, as messages name it.
    pub file: PathBuf,
    /// Its bytes in the text of the whole model.
    pub range: Range<usize>,
}

/// The text of a whole model.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    /// The model file first, then the included files in the order of inclusion.
    pub text: String,
    pub parts: Vec<SourcePart>,
    pub folder: Folder,
}

impl Sources {
    pub fn new(file: &Path, text: String) -> Self {
        let parts = vec![SourcePart { file: file.to_path_buf(), range: 0..text.len() }];
        Sources { text, parts, folder: Folder::of(file) }
    }

    /// Appends a file; gives where its text begins.
    pub fn push(&mut self, file: PathBuf, text: &str) -> usize {
        self.text.push('\n');
        let start = self.text.len();
        self.text.push_str(text);
        self.parts.push(SourcePart { file, range: start..self.text.len() });
        start
    }

    /// The bytes of a file that is named at a place of the text.
    pub(crate) fn read_file(&self, place: usize, name: &str, limit: u64) -> Result<Vec<u8>, FileMistake> {
        let base = part_at(&self.parts, place).file.parent().unwrap_or(Path::new("")).to_path_buf();
        // paths in the present folder are named without it
        let base = base.strip_prefix(&self.folder.0).map(Path::to_path_buf).unwrap_or(base);
        let (_, real) = self.folder.resolve(&base, name)?;
        read_limited(&real, name, limit)
    }

    /// "model.toml, line 12" of a place.
    pub fn describe(&self, place: usize) -> String {
        let part = part_at(&self.parts, place);
        let line = self.text[part.range.start..place.min(part.range.end)].matches('\n').count() + 1;
        format!("{}, line {line}", part.file.display())
    }
}

/// The part that holds a place; the first when there are no others.
pub(super) fn part_at(parts: &[SourcePart], place: usize) -> &SourcePart {
    let next = parts.partition_point(|part| part.range.start <= place);
    &parts[next.max(1) - 1]
}

/// The folder that holds all files of a model.
#[derive(Clone, Debug)]
pub(super) struct Folder(PathBuf);

/// Why a file of a model cannot be used, and how to mend it.
pub(super) struct FileMistake {
    pub message: String,
    pub help: String,
}

impl FileMistake {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        FileMistake { message: message.into(), help: help.into() }
    }

    /// The mistake at the place that names the file.
    pub fn at(self, span: Range<usize>) -> Diagnostic {
        Diagnostic::new(span, self.message).help(self.help)
    }
}

impl Folder {
    /// The folder of a model file.
    pub fn of(file: &Path) -> Self {
        let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        Folder(parent.unwrap_or(Path::new(".")).to_path_buf())
    }

    /// The path of a file that is named relative to `base`, itself relative to this folder; (as messages name it, without links).
    pub fn resolve(&self, base: &Path, name: &str) -> Result<(PathBuf, PathBuf), FileMistake> {
        let inside = "name a file in the model's folder or below, with / between folders";
        let relative = Path::new(name);
        if name.is_empty() || name.contains('\0') {
            return Err(FileMistake::new("the name of a file is empty", inside));
        }
        // a path of Windows must not pass on other systems, since it would mean something else there
        let foreign = name.contains('\\') || name.as_bytes().get(1) == Some(&b':');
        if foreign || relative.is_absolute() || relative.has_root() {
            return Err(FileMistake::new(format!("\"{name}\" is not a path relative to the file that names it"), inside));
        }
        if relative.components().any(|part| matches!(part, Component::ParentDir)) {
            return Err(FileMistake::new(format!("\"{name}\" may lead outside the model's folder: it has \"..\""), inside));
        }
        let shown = if self.0 == Path::new(".") { base.join(relative) } else { self.0.join(base).join(relative) };
        let missing =
            |e: std::io::Error| FileMistake::new(format!("cannot read \"{name}\": {e}"), "paths are relative to the file that names them");
        let real = shown.canonicalize().map_err(missing)?;
        let root = self.0.canonicalize().map_err(missing)?;
        if !real.starts_with(&root) {
            return Err(FileMistake::new(format!("\"{name}\" is a link that leads outside the model's folder"), inside));
        }
        if !real.is_file() {
            return Err(FileMistake::new(format!("\"{name}\" is not a file"), inside));
        }
        Ok((shown, real))
    }
}

/// At most `limit` bytes of a file.
pub(super) fn read_limited(path: &Path, name: &str, limit: u64) -> Result<Vec<u8>, FileMistake> {
    let wrong = |e: std::io::Error| FileMistake::new(format!("cannot read \"{name}\": {e}"), "check the file and its permissions");
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(wrong)?;
    if bytes.len() as u64 > limit {
        let message = format!("\"{name}\" has more than {limit} bytes");
        return Err(FileMistake::new(message, "make it smaller: a mesh can be simplified, a model file split or generated"));
    }
    Ok(bytes)
}

/// A file's bytes as text.
pub(super) fn utf8(bytes: Vec<u8>, name: &str) -> Result<String, FileMistake> {
    String::from_utf8(bytes).map_err(|_| FileMistake::new(format!("\"{name}\" is not a text in UTF-8"), "save it as UTF-8"))
}
