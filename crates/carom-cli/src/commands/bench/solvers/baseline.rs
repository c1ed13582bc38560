//! Timings made by other programs.

use crate::failure::Failure;
use std::path::Path;

/// One foreign run.
pub struct BaselineRow {
    pub problem: String,
    pub solver: String,
    pub tolerance: f64,
    /// CPU time in s; `None` where the problem was not solved.
    pub time: Option<f64>,
}

/// Reads the columns problem, solver, tol, status and time, wherever they are; a run counts as solved when its status is `ok` or `converged`.
pub fn read(path: &Path) -> Result<Vec<BaselineRow>, Failure> {
    let wrong = |what: String| Failure::Input(format!("{}: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let header: Vec<&str> = lines.next().map_or_else(Vec::new, |(_, line)| line.split(',').map(str::trim).collect());
    let column = |names: [&str; 2]| {
        let place = header.iter().position(|name| names.contains(name));
        place.ok_or_else(|| wrong(format!("no column `{}`; the columns problem, solver, tol, status and time are needed", names[0])))
    };
    let columns = [["problem", "problem"], ["solver", "solver"], ["tol", "tolerance"], ["status", "status"], ["time", "cpu_time"]];
    let [problem, solver, tol, status, time] = columns.map(column);
    let (problem, solver, tol, status, time) = (problem?, solver?, tol?, status?, time?);
    let mut rows = Vec::new();
    for (number, line) in lines {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let field = |k: usize| fields.get(k).copied().ok_or_else(|| wrong(format!("line {}: too few fields", number + 1)));
        let parse = |k: usize| {
            let text = field(k)?;
            text.parse::<f64>().map_err(|_| wrong(format!("line {}: `{text}` is no number", number + 1)))
        };
        let is_solved = matches!(field(status)?, "ok" | "converged");
        rows.push(BaselineRow {
            problem: field(problem)?.to_owned(),
            solver: field(solver)?.to_owned(),
            tolerance: parse(tol)?,
            time: if is_solved { Some(parse(time)?) } else { None },
        });
    }
    Ok(rows)
}
