//! One of several impact laws by chance.
//!
//! Where several contacts are hit at once rigid bodies do not determine the outcome. A tableau of possible outcomes with their probabilities,
//! from experiments say, can stand in \[Brogliato2002, §3.2 and §10\]: each outcome is that of an impact law.
//!
//! The generator has no state but a counter: choice number k of seed s uses the k-th number of SplitMix64 from s, so a run gives the same bits
//! again, whatever else happens in it.

use super::ImpactLaw;
use super::cluster::Cluster;
use crate::error::ModelError;
use carom_solvers::random::SplitMix64;
use serde::{Deserialize, Serialize};

/// Settings of [`ImpactLaw::Choice`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChoiceParams {
    /// Seed of the choices. Default 0.
    #[serde(default)]
    pub seed: u64,
    /// The possible outcomes; the first one is also the law of impacts at single contacts.
    pub outcomes: Vec<PossibleOutcome>,
}

/// One line of the tableau.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PossibleOutcome {
    /// Probability in \[0, 1\]; those of all outcomes add up to 1.
    pub probability: f64,
    /// The law that gives the outcome.
    #[serde(flatten)]
    pub law: ImpactLaw,
}

impl ChoiceParams {
    /// Checks the tableau: at least one outcome, probabilities that add up to 1, no choice within a choice.
    ///
    /// # Errors
    /// [`ModelError::OutOfRange`].
    pub fn validate(&self) -> Result<(), ModelError> {
        let wrong = |what: &str, value: f64, expected: &'static str| Err(ModelError::OutOfRange { what: what.to_owned(), value, expected });
        if self.outcomes.is_empty() {
            return wrong("number of outcomes", 0.0, "at least one outcome is needed");
        }
        for outcome in &self.outcomes {
            if !(0.0..=1.0).contains(&outcome.probability) {
                return wrong("probability of an outcome", outcome.probability, "a number in [0, 1] is needed");
            }
            if matches!(outcome.law, ImpactLaw::Choice(_)) {
                return wrong("choices within a choice", 1.0, "an outcome is one of the other laws");
            }
            outcome.law.validate()?;
        }
        let sum: f64 = self.outcomes.iter().map(|outcome| outcome.probability).sum();
        if (sum - 1.0).abs() > 1e-9 {
            return wrong("sum of the probabilities", sum, "the probabilities of all outcomes add up to 1");
        }
        Ok(())
    }
}

/// The law of a cluster, and whether it was chosen by chance: only where it has more than one contact.
pub(super) fn choose<'a>(law: &'a ImpactLaw, cluster: &Cluster, draws: &mut u64) -> (bool, &'a ImpactLaw) {
    let ImpactLaw::Choice(params) = law else { return (false, law) };
    let Some(first) = params.outcomes.first() else { return (false, law) };
    if cluster.contacts.len() < 2 {
        return (false, &first.law);
    }
    let mut rest = SplitMix64::from_number(params.seed, *draws).uniform();
    *draws += 1;
    for outcome in &params.outcomes {
        if rest < outcome.probability {
            return (true, &outcome.law);
        }
        rest -= outcome.probability;
    }
    // probabilities that add up to a little less than 1: the last one that can happen
    let last = params.outcomes.iter().rev().find(|outcome| outcome.probability > 0.0).unwrap_or(first);
    (true, &last.law)
}
