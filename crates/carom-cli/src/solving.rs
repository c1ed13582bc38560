//! One solve of a problem from a file, timed.

use carom::solvers::fclib::{FclibProblem, FclibSolution};
use carom::solvers::{
    BoxedSolver, FrictionSolverParams, GlobalSolverParams, Solution, SolveError, SolveReport, friction_contact_solver, global_solver,
};
use cpu_time::ThreadTime;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::str::FromStr;

/// A setting of a solver: `relaxation=0.8`, `nsgs.local=projection`.
#[derive(Clone, Debug)]
pub struct Setting {
    path: Vec<String>,
    value: String,
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write KEY=VALUE, for example relaxation=0.8 or nsgs.local=projection";
        let (path, value) = text.split_once('=').ok_or_else(|| format!("\"{text}\" has no `=`: {example}"))?;
        let path: Vec<String> = path.split('.').map(|part| part.trim().to_owned()).collect();
        if path.iter().any(String::is_empty) {
            return Err(format!("\"{text}\" has an empty key: {example}"));
        }
        Ok(Setting { path, value: value.trim().to_owned() })
    }
}

impl Setting {
    /// Sets the value in the object of the parameters.
    fn apply(&self, parameters: &mut Value) {
        let mut place = parameters;
        for key in &self.path {
            if !place.is_object() {
                *place = json!({});
            }
            place = &mut place[key.as_str()];
        }
        *place = serde_json::from_str(&self.value).unwrap_or_else(|_| Value::from(self.value.as_str()));
    }
}

/// What to solve with. The names of solvers are those of the problem's form.
#[derive(Clone, Debug)]
pub struct Request {
    /// Name in the registry; the default of the form where left out.
    pub solver: Option<String>,
    pub tolerance: f64,
    pub max_iterations: Option<usize>,
    /// Longest time of the solve, s.
    pub time_limit: Option<f64>,
    pub settings: Vec<Setting>,
}

/// What came of it.
pub struct Solved {
    pub report: SolveReport,
    /// CPU time of constructing the solver and solving, s.
    pub cpu_time: f64,
    pub solution: FclibSolution,
}

impl Request {
    /// Solves from a guess; an empty one is zero.
    ///
    /// # Errors
    /// What the solver refuses, and wrong names and settings, in words.
    pub fn solve(&self, problem: &FclibProblem, guess: &[f64]) -> Result<Solved, Refusal> {
        match problem {
            FclibProblem::Local(problem) => {
                let params: FrictionSolverParams = self.parameters()?;
                run(|| friction_contact_solver(&params), problem, guess)
            }
            FclibProblem::Global(problem) => {
                let params: GlobalSolverParams = self.parameters()?;
                run(|| global_solver(&params), problem, guess)
            }
        }
    }

    fn parameters<P: Default + Serialize + DeserializeOwned>(&self) -> Result<P, Refusal> {
        let wrong = |error: serde_json::Error| Refusal::Wrong(error.to_string());
        let mut parameters = serde_json::to_value(P::default()).map_err(wrong)?;
        parameters["tolerance"] = json!(self.tolerance);
        let given = [
            ("kind", self.solver.as_ref().map(|name| json!(name))),
            ("max_iterations", self.max_iterations.map(|n| json!(n))),
            ("time_limit", self.time_limit.map(|seconds| json!(seconds))),
        ];
        for (key, value) in given {
            if let Some(value) = value {
                parameters[key] = value;
            }
        }
        self.settings.iter().for_each(|setting| setting.apply(&mut parameters));
        serde_json::from_value(parameters).map_err(wrong)
    }
}

/// Why nothing was solved.
pub enum Refusal {
    /// The method is not made for this problem.
    Unsupported(String),
    /// A name, a setting or the problem is wrong.
    Wrong(String),
}

impl From<SolveError> for Refusal {
    fn from(error: SolveError) -> Self {
        match error {
            SolveError::Unsupported { .. } => Refusal::Unsupported(error.to_string()),
            _ => Refusal::Wrong(error.to_string()),
        }
    }
}

impl Refusal {
    /// The message.
    pub fn message(&self) -> &str {
        match self {
            Refusal::Unsupported(message) | Refusal::Wrong(message) => message,
        }
    }
}

fn run<P>(construct: impl FnOnce() -> Result<BoxedSolver<P>, SolveError>, problem: &P, guess: &[f64]) -> Result<Solved, Refusal> {
    let mut solution = Solution { r: guess.to_vec(), u: Vec::new() };
    let start = ThreadTime::now();
    let report = construct()?.solve(problem, &mut solution)?;
    let cpu_time = start.elapsed().as_secs_f64();
    Ok(Solved { report, cpu_time, solution: FclibSolution { r: solution.r, u: solution.u, v: Vec::new() } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(settings: &[&str]) -> Request {
        let settings = settings.iter().map(|text| text.parse().unwrap()).collect();
        Request { solver: None, tolerance: 1e-6, max_iterations: Some(7), time_limit: Some(2.0), settings }
    }

    #[test]
    fn settings_reach_nested_tables_and_mistakes_are_told() {
        let Ok(params) = request(&["relaxation=0.5", "kind=nsgs"]).parameters::<FrictionSolverParams>() else { panic!("refused") };
        assert_eq!((params.relaxation, params.kind.name(), params.tolerance), (0.5, "nsgs", 1e-6));
        assert_eq!((params.max_iterations, params.time_limit), (7, Some(2.0)));
        for (wrong, word) in [("relaxtion=1", "relaxation"), ("kind=ngs", "nsgs"), ("tolerance=tight", "tight"), ("nsgs.x=1", "x")] {
            let Err(refusal) = request(&[wrong]).parameters::<FrictionSolverParams>() else { panic!("{wrong} was accepted") };
            assert!(refusal.message().contains(word), "{wrong}: {}", refusal.message());
        }
        for text in ["relaxation", "=3", "a..b=1"] {
            assert!(text.parse::<Setting>().is_err(), "{text}");
        }
    }
}
