//! Mistakes in a model file, each with its place.

use super::sources::{SourcePart, Sources, part_at};
use carom_dynamics::nearest::nearest;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, one sentence.
    pub message: String,
    /// Bytes of the text it is about.
    pub span: Option<Range<usize>>,
    /// How to mend it.
    pub help: Option<String>,
    /// The file is right, but the method that is chosen cannot follow the model.
    pub is_refusal: bool,
}

impl Diagnostic {
    /// A mistake at a place.
    pub(super) fn new(span: impl Into<Option<Range<usize>>>, message: impl Into<String>) -> Self {
        Diagnostic { message: message.into(), span: span.into(), help: None, is_refusal: false }
    }

    /// What the chosen method cannot follow.
    pub(super) fn refusal(span: impl Into<Option<Range<usize>>>, message: impl Into<String>) -> Self {
        Diagnostic { is_refusal: true, ..Diagnostic::new(span, message) }
    }

    /// Adds how to mend it.
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A model file that cannot be used.
#[derive(Clone, Debug)]
pub struct ModelFileError {
    /// The file.
    pub file: PathBuf,
    /// Its text, and after it those of the files that it includes; empty when it could not be read.
    pub text: String,
    /// The files and where their texts lie in `text`; the model file first.
    pub parts: Vec<SourcePart>,
    /// The mistakes, in the order of the text; at least one.
    pub diagnostics: Vec<Diagnostic>,
}

/// Line and column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column, in characters.
    pub column: usize,
}

impl ModelFileError {
    /// The file is right, but the method that is chosen cannot follow the model: another one may.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        self.diagnostics.iter().all(|diagnostic| diagnostic.is_refusal)
    }

    pub(super) fn new(sources: Sources, mut diagnostics: Vec<Diagnostic>) -> Self {
        diagnostics.sort_by_key(|d| d.span.as_ref().map_or(usize::MAX, |span| span.start));
        ModelFileError { file: sources.parts[0].file.clone(), text: sources.text, parts: sources.parts, diagnostics }
    }

    pub(super) fn unreadable(file: &Path, reason: String) -> Self {
        let help = "give a model file, or a folder that has a model.toml";
        let diagnostic = Diagnostic::new(None, format!("cannot read {}: {reason}", file.display())).help(help);
        let parts = vec![SourcePart { file: file.to_path_buf(), range: 0..0 }];
        ModelFileError { file: file.to_path_buf(), text: String::new(), parts, diagnostics: vec![diagnostic] }
    }

    /// The file that a diagnostic is about: the model file, or one that it includes.
    #[must_use]
    pub fn part(&self, diagnostic: &Diagnostic) -> &SourcePart {
        part_at(&self.parts, diagnostic.span.as_ref().map_or(0, |span| span.start))
    }

    /// Where a diagnostic begins in its file.
    #[must_use]
    pub fn position(&self, diagnostic: &Diagnostic) -> Option<Position> {
        let start = diagnostic.span.as_ref()?.start.min(self.text.len());
        let before = &self.text[self.part(diagnostic).range.start..self.text.floor_char_boundary(start)];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        Some(Position { line, column })
    }
}

impl fmt::Display for ModelFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            let file = self.part(diagnostic).file.display();
            match self.position(diagnostic) {
                Some(Position { line, column }) => write!(f, "{file}:{line}:{column}: {}", diagnostic.message)?,
                None => write!(f, "{file}: {}", diagnostic.message)?,
            }
            if let Some(help) = &diagnostic.help {
                write!(f, " ({help})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ModelFileError {}

/// "did you mean …" or the list of what exists.
pub(super) fn suggestion(name: &str, candidates: &[&str]) -> String {
    match nearest(name, candidates.iter().copied()) {
        Some(best) => format!("did you mean \"{best}\"?"),
        None if candidates.is_empty() => "there is none to choose from".to_owned(),
        None => format!("choose from: {}", candidates.join(", ")),
    }
}
