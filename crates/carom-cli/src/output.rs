//! Standard output: a reader that goes away (a closed pipe) ends the output, not the command.

use std::io::{ErrorKind, Write};

/// Writes text to standard output.
pub fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        && error.kind() != ErrorKind::BrokenPipe
    {
        eprintln!("error: cannot write to standard output: {error}");
    }
}

/// Writes a line to standard output.
pub fn line(text: impl std::fmt::Display) {
    write(&format!("{text}\n"));
}
