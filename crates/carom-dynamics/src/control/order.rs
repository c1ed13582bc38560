//! In which order controllers act at one instant.

use super::source::ControllerSource;
use crate::error::ModelError;

/// The words of a formula that can be names.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    text.split(move |c: char| !is_part(c)).filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// Replaces names in a formula.
pub(super) fn renamed(text: &str, rename: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
    while let Some(start) = rest.find(is_part) {
        let length = rest[start..].find(|c| !is_part(c)).unwrap_or(rest.len() - start);
        let word = &rest[start..start + length];
        out.push_str(&rest[..start]);
        // `step` is the variable, `step(x)` the function
        let is_call = rest[start + length..].trim_start().starts_with('(');
        match rename(word).filter(|_| !is_call) {
            Some(other) => out.push_str(&other),
            None => out.push_str(word),
        }
        rest = &rest[start + length..];
    }
    out + rest
}

impl ControllerSource {
    /// The formulas on which its outputs depend at once.
    fn direct_formulas(&self) -> impl Iterator<Item = &str> {
        let of_modes = self.modes.iter().flat_map(|mode| mode.locals.iter().chain(&mode.outputs));
        self.locals.iter().chain(&self.outputs).chain(of_modes).map(|(_, text)| text.as_str())
    }

    /// Its outputs use outputs of the other.
    fn uses(&self, other: &ControllerSource) -> bool {
        let is_output = |word: &str| {
            let word = word.strip_prefix("control.").unwrap_or(word);
            let output = word.strip_prefix(other.name.as_str()).and_then(|rest| rest.strip_prefix('.'));
            output.is_some_and(|output| other.outputs.iter().any(|(name, _)| name == output))
        };
        self.direct_formulas().any(|text| words(text).any(is_output))
    }
}

/// An order in which every controller comes after those whose outputs it uses.
///
/// # Errors
/// [`ModelError::Control`] for a circle, naming it.
pub(super) fn order(controllers: &[ControllerSource]) -> Result<Vec<usize>, ModelError> {
    let n = controllers.len();
    let (mut done, mut order) = (vec![false; n], Vec::with_capacity(n));
    while order.len() < n {
        let free = (0..n).find(|&i| !done[i] && (0..n).all(|j| done[j] || j == i || !controllers[i].uses(&controllers[j])));
        match free {
            Some(i) => {
                done[i] = true;
                order.push(i);
            }
            None => return Err(circle(controllers, &done)),
        }
    }
    Ok(order)
}

fn circle(controllers: &[ControllerSource], done: &[bool]) -> ModelError {
    let waits_for = |i: usize| (0..controllers.len()).find(|&j| !done[j] && j != i && controllers[i].uses(&controllers[j]));
    let mut path: Vec<usize> = (0..controllers.len()).find(|&i| !done[i]).into_iter().collect();
    while let Some(next) = path.last().and_then(|&last| waits_for(last)) {
        let seen = path.iter().position(|&i| i == next);
        path.push(next);
        if let Some(start) = seen {
            path.drain(..start);
            break;
        }
    }
    let names: Vec<&str> = path.iter().map(|&i| controllers[i].name.as_str()).collect();
    ModelError::Control {
        part: format!("controller \"{}\"", names.first().copied().unwrap_or_default()),
        reason: format!(
            "the outputs use each other in a circle, {}: an algebraic loop. Let one of them use a state that remembers the other's output of the sample before",
            names.join(" ← ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controller(name: &str, output: &str) -> ControllerSource {
        ControllerSource { name: name.into(), outputs: vec![("u".into(), output.into())], ..ControllerSource::default() }
    }

    #[test]
    fn users_come_after_what_they_use() {
        let list = [controller("a", "2*b.u"), controller("b", "c.u + x"), controller("c", "x")];
        assert_eq!(order(&list), Ok(vec![2, 1, 0]));
    }

    #[test]
    fn a_circle_is_named() {
        let list = [controller("a", "2*b.u"), controller("b", "c.u"), controller("c", "b.u + 1")];
        let message = order(&list).unwrap_err().to_string();
        assert!(message.contains("b ← c ← b") && message.contains("algebraic loop"), "{message}");
    }

    #[test]
    fn names_are_replaced_but_not_functions() {
        let other = |word: &str| (word == "step" || word == "e").then(|| format!("pid.{word}"));
        assert_eq!(renamed("step(e) + 2e3*step - be*e", other), "step(pid.e) + 2e3*pid.step - be*pid.e");
    }
}
