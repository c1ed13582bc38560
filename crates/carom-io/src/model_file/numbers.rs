//! Numbers of a model file: evaluated with the parameters, checked, with every mistake collected at its place.

use super::error::Diagnostic;
use super::sources::{FileMistake, Sources};
use super::value::{Table, Value};
use carom_dynamics::formula::{self, FormulaError, FormulaErrorKind, Graph, Scope};
use std::ops::Range;
use toml::Spanned;

/// What a number must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Must {
    BeFinite,
    BePositive,
    NotBeNegative,
    LieInUnitInterval,
}

/// Reads values and collects mistakes.
pub(super) struct Reader<'a> {
    sources: &'a Sources,
    /// Parameters in force, for formulas.
    pub parameters: Vec<(String, f64)>,
    pub mistakes: Vec<Diagnostic>,
    /// What was decided for the user, a line each.
    pub notes: Vec<String>,
}

impl<'a> Reader<'a> {
    pub fn new(sources: &'a Sources) -> Self {
        Reader { sources, parameters: Vec::new(), mistakes: Vec::new(), notes: Vec::new() }
    }

    /// Notes a mistake.
    pub fn wrong(&mut self, span: impl Into<Option<Range<usize>>>, message: impl Into<String>, help: impl Into<String>) {
        self.mistakes.push(Diagnostic::new(span, message).help(help));
    }

    /// Keeps a line for the user on what was decided for them.
    pub fn note(&mut self, line: impl Into<String>) {
        self.notes.push(line.into());
    }

    /// The bytes of a file that a value names: relative to the file it is named in, and in the model's folder.
    pub fn file(&mut self, name: &Spanned<String>, limit: u64) -> Option<Vec<u8>> {
        let read = self.sources.read_file(name.span().start, name.get_ref(), limit);
        read.map_err(|mistake: FileMistake| self.mistakes.push(mistake.at(name.span()))).ok()
    }

    /// Where the text of a value begins; `None` where its escapes make it differ from the file's text.
    pub fn place_of(&self, value: &Spanned<String>) -> Option<usize> {
        let (span, text) = (value.span(), value.get_ref());
        self.sources.text.get(span.clone()).and_then(|raw| raw.find(text.as_str())).map(|at| span.start + at)
    }

    /// Notes a mistake in a formula that stands, quoted, at `span`.
    pub(crate) fn wrong_formula(&mut self, span: Range<usize>, what: &str, formula: &str, error: &FormulaError) {
        // the quotes, and whatever else TOML allows around the text, are skipped by looking the text up
        let place = self.sources.text.get(span.clone()).and_then(|raw| raw.find(formula));
        let span = match place {
            Some(at) if !formula.is_empty() => {
                span.start + at + error.span.start..span.start + at + error.span.end.max(error.span.start + 1)
            }
            _ => span,
        };
        self.mistakes.push(Diagnostic::new(span, format!("{what}: {error}")));
    }

    /// Takes in parameters, which may be formulas of each other in any order.
    pub(crate) fn add_parameters(&mut self, table: &Table<Spanned<Value>>) {
        let mut waiting: Vec<&(Spanned<String>, Spanned<Value>)> = Vec::new();
        for entry in &table.0 {
            let (name, span) = (entry.0.get_ref(), entry.0.span());
            if !formula::is_valid_name(name) || formula::is_reserved_name(name) || name == "t" {
                self.wrong(span, format!("\"{name}\" cannot name a parameter"), "use letters, digits and _; not t, pi, and, or, not");
            } else if self.parameters.iter().any(|(other, _)| other == name) {
                self.wrong(span, format!("the parameter \"{name}\" is given twice"), "give each parameter once");
            } else {
                waiting.push(entry);
            }
        }
        loop {
            let names: Vec<String> = waiting.iter().map(|entry| entry.0.get_ref().clone()).collect();
            let before = waiting.len();
            waiting.retain(|(name, value)| {
                if let Value::Formula(text) = value.get_ref() {
                    let mut scope = Scope::new();
                    self.fill(&mut scope);
                    if let Err(FormulaError { kind: FormulaErrorKind::UnknownName { name: unknown, .. }, .. }) =
                        formula::parse(&mut Graph::new(), text, &scope)
                        && names.contains(&unknown)
                    {
                        return true;
                    }
                }
                if let Some(x) = self.number(value, &format!("the parameter {}", name.get_ref()), Must::BeFinite) {
                    self.parameters.push((name.get_ref().clone(), x));
                }
                false
            });
            if waiting.is_empty() {
                return;
            }
            if waiting.len() == before {
                for (name, value) in waiting {
                    self.wrong(value.span(), format!("the parameter {} depends on itself", name.get_ref()), "break the circle of formulas");
                }
                return;
            }
        }
    }

    fn fill(&self, scope: &mut Scope) {
        for (name, value) in &self.parameters {
            scope.constant(name, *value);
        }
    }

    /// A number or a formula of parameters.
    pub fn number(&mut self, value: &Spanned<Value>, what: &str, must: Must) -> Option<f64> {
        self.evaluate(value.get_ref(), value.span(), what, must)
    }

    /// The value of a number, or of a formula that uses nothing but parameters.
    pub fn constant(&self, value: &Value) -> Option<f64> {
        match value {
            Value::Number(x) => Some(*x),
            Value::Formula(text) => {
                let (mut scope, mut graph) = (Scope::new(), Graph::new());
                self.fill(&mut scope);
                let e = formula::parse(&mut graph, text, &scope).ok()?;
                graph.as_constant(e)
            }
            Value::List(_) => None,
        }
    }

    fn evaluate(&mut self, value: &Value, span: Range<usize>, what: &str, must: Must) -> Option<f64> {
        let x = match value {
            Value::Number(x) => *x,
            Value::Formula(text) => {
                let mut scope = Scope::new();
                self.fill(&mut scope);
                let mut graph = Graph::new();
                match formula::parse(&mut graph, text, &scope) {
                    Ok(e) => graph.as_constant(e).unwrap_or(f64::NAN),
                    Err(error) => {
                        self.wrong_formula(span, what, text, &error);
                        return None;
                    }
                }
            }
            Value::List(_) => {
                self.wrong(span, format!("{what} is a list"), "one number is needed");
                return None;
            }
        };
        let (ok, needed) = match must {
            Must::BeFinite => (true, "a finite number is needed"),
            Must::BePositive => (x > 0.0, "a positive number is needed"),
            Must::NotBeNegative => (x >= 0.0, "a number ≥ 0 is needed"),
            Must::LieInUnitInterval => ((0.0..=1.0).contains(&x), "a number from 0 to 1 is needed"),
        };
        if ok && x.is_finite() {
            return Some(x);
        }
        self.wrong(span, format!("{what} is {x}"), needed);
        None
    }

    /// An optional number with its default.
    pub(crate) fn number_or(&mut self, value: Option<&Spanned<Value>>, default: f64, what: &str, must: Must) -> Option<f64> {
        match value {
            Some(value) => self.number(value, what, must),
            None => Some(default),
        }
    }

    /// A list of `N` numbers.
    pub fn vector<const N: usize>(&mut self, value: &Spanned<Value>, what: &str) -> Option<[f64; N]> {
        let list = self.list(value.get_ref(), value.span(), N, what)?;
        list.try_into().ok()
    }

    /// A list of `N` numbers within a longer value at `span`.
    pub fn entries<const N: usize>(&mut self, value: &Value, span: Range<usize>, what: &str) -> Option<[f64; N]> {
        self.list(value, span, N, what)?.try_into().ok()
    }

    /// A list of `n` numbers within a longer value at `span`.
    pub fn numbers(&mut self, value: &Value, span: Range<usize>, n: usize, what: &str) -> Option<Vec<f64>> {
        self.list(value, span, n, what)
    }

    /// A whole number from `least` to `most`.
    pub fn count(&mut self, value: &Spanned<Value>, what: &str, (least, most): (usize, usize)) -> Option<usize> {
        let x = self.number(value, what, Must::BeFinite)?;
        if x.fract() == 0.0 && x >= least as f64 && x <= most as f64 {
            return Some(x as usize);
        }
        self.wrong(value.span(), format!("{what} is {x}"), format!("a whole number from {least} to {most} is needed"));
        None
    }

    /// An optional list of `N` numbers, zero by default.
    pub(crate) fn vector_or_zero<const N: usize>(&mut self, value: Option<&Spanned<Value>>, what: &str) -> Option<[f64; N]> {
        match value {
            Some(value) => self.vector(value, what),
            None => Some([0.0; N]),
        }
    }

    fn list(&mut self, value: &Value, span: Range<usize>, n: usize, what: &str) -> Option<Vec<f64>> {
        match value {
            Value::List(items) if items.len() == n => {
                let number = |item: &Value| match item {
                    Value::Number(x) if x.is_finite() => Some(*x),
                    _ => self.evaluate(item, span.clone(), &format!("an entry of {what}"), Must::BeFinite),
                };
                items.iter().map(number).collect()
            }
            Value::List(items) => {
                self.wrong(span, format!("{what} has {} entries", items.len()), format!("{n} numbers are needed"));
                None
            }
            _ => {
                self.wrong(span, format!("{what} is not a list"), format!("a list of {n} numbers is needed"));
                None
            }
        }
    }

    /// An n × n matrix, row-major: one number (times the identity), n numbers (the diagonal) or n rows of n numbers.
    pub fn matrix(&mut self, value: &Spanned<Value>, n: usize, what: &str) -> Option<Vec<f64>> {
        let span = value.span();
        let diagonal = |d: &[f64]| (0..n * n).map(|k| if k / n == k % n { d[k / n] } else { 0.0 }).collect();
        match value.get_ref() {
            Value::List(rows) if rows.first().is_some_and(|row| matches!(row, Value::List(_))) => {
                if rows.len() != n {
                    self.wrong(span, format!("{what} has {} rows", rows.len()), format!("{n} are needed, one per coordinate"));
                    return None;
                }
                let rows: Option<Vec<Vec<f64>>> =
                    rows.iter().map(|row| self.list(row, span.clone(), n, &format!("a row of {what}"))).collect();
                Some(rows?.concat())
            }
            Value::List(_) => self.list(value.get_ref(), span, n, what).map(|d| diagonal(&d)),
            _ => self.evaluate(value.get_ref(), span, what, Must::BeFinite).map(|x| diagonal(&vec![x; n])),
        }
    }
}
