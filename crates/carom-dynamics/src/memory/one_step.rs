//! The one-step problem of a step, its solution, and what is known of the two.

use crate::active_set::ActiveSource;
use carom_solvers::{BlockSparse, Delassus, FrictionContact, Solution};
use std::ops::{Deref, DerefMut};

/// A value that counts its changes: who asks to change it has changed it.
#[derive(Debug)]
pub(crate) struct Counted<T> {
    value: T,
    changes: u64,
}

impl<T> Counted<T> {
    fn new(value: T) -> Self {
        Counted { value, changes: 0 }
    }
}

impl<T> Deref for Counted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Counted<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.changes += 1;
        &mut self.value
    }
}

/// The one-step problem u = W p + q with its laws, and its solution.
#[derive(Debug)]
pub(crate) struct OneStep {
    pub problem: Counted<FrictionContact>,
    pub solution: Counted<Solution>,
    /// Changes of the two when the solution was that of the problem.
    solved: Option<[u64; 2]>,
    /// What W was assembled from.
    pub assembled: Assembled,
}

impl Default for OneStep {
    fn default() -> Self {
        let w = Delassus::BlockSparse(BlockSparse::new());
        OneStep {
            problem: Counted::new(FrictionContact { w, q: Vec::new(), blocks: Vec::new() }),
            solution: Counted::new(Solution { r: Vec::new(), u: Vec::new() }),
            solved: None,
            assembled: Assembled::default(),
        }
    }
}

impl OneStep {
    /// The solution is that of the problem, W p + q = u (of p_N + h c where contacts pull), until either changes.
    pub(crate) fn keep_solved(&mut self) {
        self.solved = Some([self.problem.changes, self.solution.changes]);
    }

    /// The problem and its solution, where they still belong to each other.
    pub fn solved(&self) -> Option<(&FrictionContact, &Solution)> {
        let is_solved = self.solved == Some([self.problem.changes, self.solution.changes]);
        is_solved.then_some((&*self.problem, &*self.solution))
    }
}

/// What W was assembled from: the factorisation of M̂ and the interactions, where nothing else enters it.
#[derive(Debug, Default)]
pub(crate) struct Assembled {
    /// `None`: something else entered it.
    generation: Option<u64>,
    sources: Vec<ActiveSource>,
}

impl Assembled {
    /// W is that of this factorisation and of these interactions.
    pub fn is_of(&self, generation: u64, sources: impl Iterator<Item = ActiveSource>) -> bool {
        self.generation == Some(generation) && self.sources.iter().copied().eq(sources)
    }

    /// W is assembled; `generation` where nothing but the factorisation and these interactions entered it.
    pub fn keep(&mut self, generation: Option<u64>, sources: impl Iterator<Item = ActiveSource>) {
        self.generation = generation;
        self.sources.clear();
        self.sources.extend(sources);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_either_ends_what_was_solved() {
        let mut one_step = OneStep::default();
        assert!(one_step.solved().is_none());
        one_step.keep_solved();
        assert!(one_step.solved().is_some());
        one_step.solution.r.push(1.0);
        assert!(one_step.solved().is_none());
        one_step.keep_solved();
        one_step.problem.q.push(1.0);
        assert!(one_step.solved().is_none());
    }

    #[test]
    fn w_is_used_again_for_the_same_factor_and_interactions_only() {
        let (a, b) = (ActiveSource::Interaction(0), ActiveSource::Contact(0));
        let mut assembled = Assembled::default();
        assembled.keep(Some(3), [a, b].into_iter());
        assert!(assembled.is_of(3, [a, b].into_iter()));
        assert!(!assembled.is_of(4, [a, b].into_iter()) && !assembled.is_of(3, [a].into_iter()));
        assembled.keep(None, [a, b].into_iter());
        assert!(!assembled.is_of(3, [a, b].into_iter()));
    }
}
