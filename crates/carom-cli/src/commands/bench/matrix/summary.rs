//! The matrix as a table, a list of pairs and a page.

use super::pair::{Content, ModelRow, Outcome, Pair};
use crate::commands::bench::methods::{Method, MethodKind};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Methods of models without mechanics.
const FIRST_ORDER_SCHEMES: [&str; 2] = ["euler-moreau", "zero-order-hold"];
/// Reasons that are shown.
const MAX_REASONS: usize = 40;

/// All models by all methods.
pub struct Matrix {
    pub rows: Vec<ModelRow>,
    pub methods: Vec<Method>,
    pub limit: f64,
}

/// How many pairs came out how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    by_outcome: [usize; 5],
}

impl Count {
    fn of<'a>(pairs: impl Iterator<Item = &'a Pair>) -> Self {
        let mut count = Count::default();
        pairs.for_each(|pair| count.by_outcome[pair.outcome as usize] += 1);
        count
    }
    fn pairs(&self) -> usize {
        self.by_outcome.iter().sum()
    }
    fn runs(&self) -> usize {
        self.by_outcome[Outcome::Agrees as usize] + self.by_outcome[Outcome::Disagrees as usize]
    }
    fn line(&self) -> String {
        let [agrees, disagrees, refused, failed, slow] = self.by_outcome;
        let (pairs, runs) = (self.pairs(), self.runs());
        format!("{pairs} pairs: {runs} run, {agrees} agree, {disagrees} disagree; {refused} refused, {failed} failed, {slow} slow")
    }
}

impl Matrix {
    /// How many pairs run.
    pub fn n_runs(&self) -> usize {
        self.total().runs()
    }

    fn total(&self) -> Count {
        Count::of(self.rows.iter().flat_map(|row| &row.pairs))
    }

    /// Light models of mechanics by the methods for mechanics with contacts.
    fn mechanics(&self) -> Count {
        let light = self.rows.iter().filter(|row| row.content == Content::Mechanics && !row.is_heavy);
        let is_for_mechanics = |m: Method| m.name != "smooth" && m.kind != MethodKind::Integrator && !FIRST_ORDER_SCHEMES.contains(&m.name);
        Count::of(light.flat_map(|row| row.pairs.iter().filter(move |pair| is_for_mechanics(pair.method))))
    }

    /// The totals and the table by method.
    pub fn text(&self) -> String {
        let n_heavy = self.rows.iter().filter(|row| row.is_heavy).count();
        let mut out = format!("{} models ({n_heavy} heavy), {} methods, {}\n", self.rows.len(), self.methods.len(), self.total().line());
        let _ = writeln!(out, "of them, {} (models of mechanics that are not heavy, by methods for contacts)\n", self.mechanics().line());
        out + &self.by_method()
    }

    fn by_method(&self) -> String {
        let mut out = String::from("| method              | pairs | run | agree | disagree | refused | failed | slow |\n");
        out += "|---------------------|------:|----:|------:|---------:|--------:|-------:|-----:|\n";
        for method in &self.methods {
            let count = Count::of(self.rows.iter().flat_map(|row| row.pairs.iter().filter(|pair| pair.method == *method)));
            let [agrees, disagrees, refused, failed, slow] = count.by_outcome;
            let _ = writeln!(
                out,
                "| {:<19} | {:>5} | {:>3} | {agrees:>5} | {disagrees:>8} | {refused:>7} | {failed:>6} | {slow:>4} |",
                method.name,
                count.pairs(),
                count.runs()
            );
        }
        out
    }

    /// All pairs as CSV.
    pub fn csv(&self) -> String {
        let mut out = String::from("model,content,heavy,own,step,end,kind,method,outcome,by,ratio,note\n");
        for row in &self.rows {
            for pair in &row.pairs {
                let kind = match pair.method.kind {
                    MethodKind::Strategy => "strategy",
                    MethodKind::Scheme => "scheme",
                    MethodKind::Integrator => "integrator",
                };
                let (content, own, by, note) = (row.content.name(), quoted(&row.own), quoted(&pair.by), quoted(&pair.note));
                let ratio = if pair.ratio.is_nan() { String::new() } else { format!("{:.3e}", pair.ratio) };
                let (name, heavy, method, outcome) = (&row.name, row.is_heavy, pair.method.name, pair.outcome.name());
                let _ = writeln!(
                    out,
                    "{name},{content},{heavy},{own},{:e},{:e},{kind},{method},{outcome},{by},{ratio},{note}",
                    row.step, row.end
                );
            }
        }
        out
    }

    /// The page of the book.
    pub fn page(&self) -> String {
        let mut out = String::from(
            "# Every model by every method\n\n\
             Made by `carom bench matrix`. Each model of the gallery runs by each strategy and each scheme, over about 20 of its steps: the file is as it\n\
             is, and one word of it is changed, `simulation.strategy` or the `kind` of `simulation.scheme`. A pair *agrees* when it ends where the model's own\n\
             method ends, as far as the orders of both allow: the difference is at most four times what halving the step changes in the two, plus a millionth of\n\
             the largest velocity, plus one step's delay of impacts. Otherwise it *disagrees*: the method solves a problem that is not the same (simultaneous or\n\
             sequential impacts, another law at rest), or is not accurate at this step. *Refused* is a model that the method says it does not know; *failed*, a\n\
             run that stops by itself; ",
        );
        let _ = writeln!(out, "*slow*, one that takes longer than {} s.\n\n{}", self.limit, self.text());
        out += "## The matrix\n\n`+` agrees, `≠` disagrees, `·` refused, `!` failed, `…` slow. The columns are the methods of the table above, from the first to the last.\n\n";
        let width = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        out += "```text\n";
        for row in &self.rows {
            let mark = |method: &Method| row.pairs.iter().find(|pair| pair.method == *method).map_or(" ", |pair| mark(pair.outcome));
            let marks: Vec<&str> = self.methods.iter().map(mark).collect();
            let _ = writeln!(out, "{:width$}  {}  {}", row.name, marks.join(" "), row.own);
        }
        out += "```\n\n## Pairs that disagree\n\n| model | method | what differs |\n|---|---|---|\n";
        self.list(&mut out, Outcome::Disagrees);
        out += "\n## Pairs that fail or are slow\n\n| model | method | reason |\n|---|---|---|\n";
        self.list(&mut out, Outcome::Failed);
        self.list(&mut out, Outcome::Slow);
        out += "\n## Reasons of refusals\n\n| pairs | reason | methods |\n|---:|---|---|\n";
        for (reason, methods) in self.refusals().into_iter().take(MAX_REASONS) {
            let n: usize = methods.values().sum();
            let methods: Vec<String> = methods.iter().map(|(name, n)| format!("{name} {n}")).collect();
            let _ = writeln!(out, "| {n} | {} | {} |", cell(&reason), methods.join(", "));
        }
        out
    }

    fn list(&self, out: &mut String, outcome: Outcome) {
        for row in &self.rows {
            for pair in row.pairs.iter().filter(|pair| pair.outcome == outcome) {
                let note = if outcome == Outcome::Slow { "slow" } else { &pair.note };
                let _ = writeln!(out, "| {} | {} | {} |", row.name, pair.method.name, cell(note));
            }
        }
    }

    /// Reasons of refusals without the names in them, the commonest first, with the pairs of each method.
    fn refusals(&self) -> Vec<(String, BTreeMap<&'static str, usize>)> {
        let mut found: BTreeMap<String, BTreeMap<&'static str, usize>> = BTreeMap::new();
        for pair in self.rows.iter().flat_map(|row| &row.pairs).filter(|pair| pair.outcome == Outcome::Refused) {
            *found.entry(general(&pair.note)).or_default().entry(pair.method.name).or_default() += 1;
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_by_key(|(reason, methods)| (std::cmp::Reverse(methods.values().sum::<usize>()), reason.clone()));
        found
    }
}

fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Agrees => "+",
        Outcome::Disagrees => "≠",
        Outcome::Refused => "·",
        Outcome::Failed => "!",
        Outcome::Slow => "…",
    }
}

/// A reason up to what the model has and the list of other methods, with quoted names as "…".
fn general(reason: &str) -> String {
    let ends = ["; schemes that do", "; strategies that do", ", and the model has"].map(|end| reason.find(end).unwrap_or(reason.len()));
    let reason = &reason[..ends.into_iter().min().unwrap_or(reason.len())];
    let parts: Vec<&str> = reason.split('"').collect();
    let parts = parts.iter().enumerate().map(|(i, part)| if i % 2 == 1 { "…" } else { part });
    parts.collect::<Vec<_>>().join("\"")
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A field of CSV.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_general() {
        assert_eq!(
            general("the scheme \"prox\" does not know friction, needed by \"floor\"; schemes that do: a, b"),
            "the scheme \"…\" does not know friction, needed by \"…\""
        );
        assert_eq!(cell("a|b"), "a\\|b");
    }

    #[test]
    fn totals_are_sums() {
        let method = Method::all(false)[0];
        let pair = |outcome| Pair { method, outcome, by: String::new(), ratio: f64::NAN, note: "why".to_owned() };
        let row = ModelRow {
            name: "m".to_owned(),
            content: Content::Mechanics,
            is_heavy: false,
            own: "time-stepping, prox".to_owned(),
            step: 0.1,
            end: 1.0,
            pairs: [Outcome::Agrees, Outcome::Disagrees, Outcome::Refused, Outcome::Failed, Outcome::Slow].map(pair).to_vec(),
        };
        let matrix = Matrix { rows: vec![row], methods: vec![method], limit: 8.0 };
        assert_eq!(matrix.n_runs(), 2);
        let text = matrix.text();
        assert!(
            text.starts_with("1 models (0 heavy), 1 methods, 5 pairs: 2 run, 1 agree, 1 disagree; 1 refused, 1 failed, 1 slow\n"),
            "{text}"
        );
        let page = matrix.page();
        for part in ["m  +  time-stepping, prox", "| m | time-stepping | why |", "| 1 | why | time-stepping 1 |"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(matrix.csv().lines().count(), 6);
    }
}
