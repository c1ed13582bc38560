//! The runs of a benchmark, one row each.

use std::fmt::Write;

/// One solver on one problem to one tolerance.
pub struct Row {
    pub problem: String,
    pub n_contacts: usize,
    pub n_rows: usize,
    pub solver: &'static str,
    pub tolerance: f64,
    /// Name of the status, or `unsupported`.
    pub status: String,
    /// CPU time of constructing the solver and solving, s.
    pub cpu_time: f64,
    pub iterations: usize,
    pub residual: f64,
    pub residual_normalised: f64,
}

impl Row {
    pub fn is_solved(&self) -> bool {
        self.status == "converged"
    }

    pub fn is_supported(&self) -> bool {
        self.status != "unsupported"
    }
}

#[derive(Default)]
pub struct Table {
    pub rows: Vec<Row>,
}

impl Table {
    /// All rows as CSV.
    pub fn csv(&self) -> String {
        let mut out = String::from("problem,n_contacts,n_rows,solver,tolerance,status,cpu_time,iterations,residual,residual_normalised\n");
        for r in &self.rows {
            let problem = quoted(&r.problem);
            // writing to a string cannot fail
            let _ = writeln!(
                out,
                "{problem},{},{},{},{:e},{},{},{},{:e},{:e}",
                r.n_contacts, r.n_rows, r.solver, r.tolerance, r.status, r.cpu_time, r.iterations, r.residual, r.residual_normalised
            );
        }
        out
    }
}

/// A field of CSV.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
