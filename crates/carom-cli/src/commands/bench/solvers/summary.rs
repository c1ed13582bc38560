//! What a benchmark says, one tolerance at a time.

use super::baseline::BaselineRow;
use super::table::Table;
use std::fmt::Write;

/// The solver whose distance from the fastest is told.
const DEFAULT_SOLVER: &str = "auto";
/// Where the performance profile is printed.
const RATIOS: [f64; 6] = [1.0, 2.0, 5.0, 10.0, 100.0, f64::INFINITY];

/// A problem of the benchmark.
pub struct Problem {
    pub name: String,
    pub n_contacts: usize,
}

/// One solver over all problems.
pub struct Column {
    pub solver: String,
    pub is_baseline: bool,
    /// CPU time by problem, s; infinite where it was not solved.
    pub times: Vec<f64>,
    /// CPU time of all runs, failed ones included, s; the baseline's failures are unknown.
    total: f64,
    n_unsupported: usize,
    /// For the baseline: which problems it has.
    is_known: Vec<bool>,
}

impl Column {
    pub fn n_solved(&self) -> usize {
        self.times.iter().filter(|t| t.is_finite()).count()
    }
}

/// The runs to one tolerance, ours and the baseline's.
pub struct Runs {
    pub tolerance: f64,
    pub problems: Vec<Problem>,
    pub columns: Vec<Column>,
}

impl Runs {
    pub fn new(table: &Table, baseline: &[BaselineRow], tolerance: f64) -> Self {
        let mut runs = Runs { tolerance, problems: Vec::new(), columns: Vec::new() };
        let is_wanted = |other: f64| (other - tolerance).abs() <= 1e-6 * tolerance;
        for row in table.rows.iter().filter(|row| is_wanted(row.tolerance)) {
            if runs.problems.iter().all(|p| p.name != row.problem) {
                runs.problems.push(Problem { name: row.problem.clone(), n_contacts: row.n_contacts });
            }
        }
        for row in table.rows.iter().filter(|row| is_wanted(row.tolerance)) {
            let place = runs.place(&row.problem);
            let column = runs.column(row.solver, false);
            column.n_unsupported += usize::from(!row.is_supported());
            column.total += if row.is_supported() { row.cpu_time } else { 0.0 };
            if let Some(place) = place {
                column.is_known[place] = true;
                if row.is_solved() {
                    column.times[place] = row.cpu_time;
                }
            }
        }
        for row in baseline.iter().filter(|row| is_wanted(row.tolerance)) {
            if let Some(place) = runs.place(&row.problem) {
                let column = runs.column(&format!("baseline:{}", row.solver), true);
                column.is_known[place] = true;
                column.total += row.time.unwrap_or(0.0);
                column.times[place] = row.time.unwrap_or(f64::INFINITY);
            }
        }
        runs
    }

    fn place(&self, problem: &str) -> Option<usize> {
        self.problems.iter().position(|p| p.name == problem)
    }

    fn column(&mut self, solver: &str, is_baseline: bool) -> &mut Column {
        let n = self.problems.len();
        let place = self.columns.iter().position(|c| c.solver == solver).unwrap_or_else(|| {
            let (times, is_known) = (vec![f64::INFINITY; n], vec![false; n]);
            self.columns.push(Column { solver: solver.to_owned(), is_baseline, times, total: 0.0, n_unsupported: 0, is_known });
            self.columns.len() - 1
        });
        &mut self.columns[place]
    }

    /// The fastest of some columns on a problem, if one solved it.
    fn fastest(&self, problem: usize, wanted: impl Fn(&Column) -> bool) -> Option<&Column> {
        let solved = self.columns.iter().filter(|c| wanted(c) && c.times[problem].is_finite());
        solved.min_by(|a, b| a.times[problem].total_cmp(&b.times[problem]))
    }

    /// Time over that of the fastest solver of each problem, infinite where not solved.
    pub fn ratios(&self, column: &Column) -> Vec<f64> {
        let best = |problem: usize| self.fastest(problem, |_| true).map_or(f64::INFINITY, |c| c.times[problem]);
        let ratio =
            |(problem, time): (usize, &f64)| if time.is_finite() { time / best(problem).max(f64::MIN_POSITIVE) } else { f64::INFINITY };
        column.times.iter().enumerate().map(ratio).collect()
    }

    /// The share of problems that a solver solves within `tau` times the time of the fastest: ρ_s(τ). [Dolan & Moré, *Benchmarking
    /// optimization software with performance profiles*, 2002]
    pub fn profile(&self, column: &Column, tau: f64) -> f64 {
        let ratios = self.ratios(column);
        ratios.iter().filter(|r| r.is_finite() && **r <= tau).count() as f64 / self.problems.len().max(1) as f64
    }

    /// Tables and figures for people.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // writing to a string cannot fail
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let n = self.problems.len();
        let width = self.columns.iter().map(|c| c.solver.len()).max().unwrap_or(0).max(6);
        writeln!(out, "tolerance {:e}, {n} problems; CPU time of constructing the solver and solving, from zero", self.tolerance)?;
        writeln!(
            out,
            "{:width$}  {:>7}  {:>11}  {:>10}  {:>7}   share solved within tau of the fastest",
            "", "solved", "unsupported", "total s", "fastest"
        )?;
        let heads = RATIOS.map(|tau| if tau.is_finite() { format!("{tau:>5}") } else { "  any".into() });
        writeln!(out, "{:width$}  {:>7}  {:>11}  {:>10}  {:>7}   {}", "solver", "", "", "", "", heads.join(" "))?;
        for column in &self.columns {
            let is_fastest = |problem: &usize| self.fastest(*problem, |_| true).is_some_and(|c| c.solver == column.solver);
            let n_fastest = (0..n).filter(is_fastest).count();
            let shares = RATIOS.map(|tau| format!("{:>5.2}", self.profile(column, tau)));
            let (solved, unsupported, total) = (format!("{}/{n}", column.n_solved()), column.n_unsupported, column.total);
            writeln!(
                out,
                "{:width$}  {solved:>7}  {unsupported:>11}  {total:>10.4}  {n_fastest:>7}   {}",
                column.solver,
                shares.join(" ")
            )?;
        }
        self.write_problems(out)?;
        self.write_comparison(out)?;
        writeln!(out)
    }

    fn write_problems(&self, out: &mut String) -> std::fmt::Result {
        let width = self.problems.iter().map(|p| p.name.len()).max().unwrap_or(0).max(7);
        writeln!(out, "\n{:width$}  {:>8}  {:>11}  fastest", "problem", "contacts", "ms")?;
        for (k, problem) in self.problems.iter().enumerate() {
            let fastest = self.fastest(k, |_| true);
            let (time, name) = fastest.map_or(("-".into(), "none"), |c| (format!("{:.4}", 1e3 * c.times[k]), &c.solver));
            writeln!(out, "{:width$}  {:>8}  {time:>11}  {name}", problem.name, problem.n_contacts)?;
        }
        Ok(())
    }

    /// `auto` against the fastest of all, and against the fastest of the baseline.
    fn write_comparison(&self, out: &mut String) -> std::fmt::Result {
        let Some(auto) = self.columns.iter().find(|c| c.solver == DEFAULT_SOLVER) else { return Ok(()) };
        let share = 100.0 * self.profile(auto, 2.0);
        writeln!(out, "\n{DEFAULT_SOLVER}: within a factor 2 of the fastest of all on {share:.0} % of the problems")?;
        let is_compared = |problem: &usize| self.columns.iter().any(|c| c.is_baseline && c.is_known[*problem]);
        let mut gains: Vec<f64> = (0..self.problems.len())
            .filter(is_compared)
            .map(|problem| {
                let baseline = self.fastest(problem, |c| c.is_baseline).map_or(f64::INFINITY, |c| c.times[problem]);
                // not solved by auto: no gain, whatever the baseline did
                if auto.times[problem].is_finite() { baseline / auto.times[problem] } else { 0.0 }
            })
            .collect();
        if let Some(median) = median(&mut gains) {
            writeln!(
                out,
                "{DEFAULT_SOLVER}: fastest time of the baseline / time of {DEFAULT_SOLVER}: median {median:.2} over {} problems, least {:.2}, greatest {:.2}",
                gains.len(),
                gains[0],
                gains[gains.len() - 1]
            )?;
        }
        Ok(())
    }
}

/// The middle value; sorts.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(values[n / 2]),
        _ => Some(0.5 * (values[n / 2 - 1] + values[n / 2])),
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Row;
    use super::*;

    fn row(problem: &str, solver: &'static str, cpu_time: f64, status: &str) -> Row {
        let (problem, status) = (problem.to_owned(), status.to_owned());
        Row {
            problem,
            n_contacts: 1,
            n_rows: 3,
            solver,
            tolerance: 1e-8,
            status,
            cpu_time,
            iterations: 1,
            residual: 0.0,
            residual_normalised: 0.0,
        }
    }

    /// Three problems: auto takes 2, 1, 1; nsgs 1, 4, fails; a baseline 8, 0.5 and nothing on the third.
    fn example() -> Runs {
        let rows = vec![
            row("a", "auto", 2.0, "converged"),
            row("b", "auto", 1.0, "converged"),
            row("c", "auto", 1.0, "converged"),
            row("a", "nsgs", 1.0, "converged"),
            row("b", "nsgs", 4.0, "converged"),
            row("c", "nsgs", 9.0, "stalled"),
            row("a", "pgs", f64::NAN, "unsupported"),
        ];
        let foreign = |problem: &str, time| BaselineRow { problem: problem.into(), solver: "X".into(), tolerance: 1e-8, time };
        Runs::new(&Table { rows }, &[foreign("a", Some(8.0)), foreign("b", Some(0.5)), foreign("c", None), foreign("z", Some(1.0))], 1e-8)
    }

    #[test]
    fn profile_is_that_of_dolan_and_more() {
        let runs = example();
        let profile = |solver: &str, tau| runs.profile(runs.columns.iter().find(|c| c.solver == solver).unwrap(), tau);
        // ratios: auto 2, 2, 1; nsgs 1, 8, ∞; baseline 8, 1, ∞
        assert_eq!([1.0, 2.0, 100.0].map(|tau| profile("auto", tau)), [1.0 / 3.0, 1.0, 1.0]);
        assert_eq!([1.0, 2.0, 8.0, f64::INFINITY].map(|tau| profile("nsgs", tau)), [1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]);
        assert_eq!(profile("baseline:X", 1.0), 1.0 / 3.0);
    }

    #[test]
    fn text_tells_counts_and_comparison() {
        let text = example().text();
        for part in ["3/3", "2/3", "100 % of the problems", "median 4.00 over 3 problems, least 0.50, greatest inf"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.lines().any(|line| line.starts_with("pgs") && line.contains(" 0/3            1 ")), "{text}");
        assert_eq!(median(&mut [3.0, 1.0, 2.0, 9.0]), Some(2.5));
    }
}
