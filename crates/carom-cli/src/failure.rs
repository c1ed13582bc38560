//! What the command says when it cannot do its work.

use carom::io::model_file::ModelFileError;
use carom::simulation::SetupError;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report};
use std::io::IsTerminal;
use std::process::ExitCode;

/// Why the command ends without its result.
pub enum Failure {
    /// The model file is wrong: exit status 2.
    Model(ModelFileError),
    /// Another input is wrong: exit status 2.
    Input(String),
    /// The run failed: exit status 1.
    Run(String),
}

impl From<SetupError> for Failure {
    fn from(error: SetupError) -> Self {
        match error {
            SetupError::File(error) => Failure::Model(error),
            SetupError::Solver(error) => Failure::Input(error.to_string()),
        }
    }
}

impl Failure {
    /// Tells it on standard error and gives the exit status.
    pub fn show(&self) -> ExitCode {
        match self {
            Failure::Model(error) => {
                eprint!("{}", render(error));
                ExitCode::from(2)
            }
            Failure::Input(message) => {
                eprintln!("error: {message}");
                ExitCode::from(2)
            }
            Failure::Run(message) => {
                eprintln!("error: {message}");
                ExitCode::from(1)
            }
        }
    }
}

/// The mistakes with their lines, carets and help.
pub fn render(error: &ModelFileError) -> String {
    let theme = if std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(110).with_links(false);
    let mut out = String::new();
    for mistake in &error.diagnostics {
        let mut diagnostic = MietteDiagnostic::new(mistake.message.clone());
        if let Some(help) = &mistake.help {
            diagnostic = diagnostic.with_help(help.clone());
        }
        let report = match &mistake.span {
            Some(span) => {
                let part = error.part(mistake);
                // a whole table is shown by its first line
                let end = error.text[span.start..span.end].find('\n').map_or(span.end, |n| span.start + n);
                let label = LabeledSpan::new_with_span(None, (span.start - part.range.start, (end - span.start).max(1)));
                let text = error.text[part.range.clone()].to_owned();
                Report::from(diagnostic.with_label(label)).with_source_code(NamedSource::new(part.file.display().to_string(), text))
            }
            None => Report::from(MietteDiagnostic { message: format!("{}: {}", error.file.display(), mistake.message), ..diagnostic }),
        };
        // writing to a string cannot fail
        let _ = handler.render_report(&mut out, report.as_ref());
    }
    out
}
