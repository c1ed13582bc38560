//! The pattern of the matrix last factored.

use crate::matrix::SparseMatrix;
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};

/// The places of the entries of a square matrix, kept to see whether the next one has the same.
///
/// Compressed rows of A are read as compressed columns of Aᵀ.
#[derive(Clone, Debug, Default)]
pub(super) struct SparsePattern {
    starts: Vec<usize>,
    indices: Vec<usize>,
}

impl SparsePattern {
    /// Takes the pattern of `a`; true when it is another one than before.
    pub fn update(&mut self, a: &SparseMatrix) -> bool {
        if self.starts == a.row_starts() && self.indices == a.columns() {
            return false;
        }
        self.starts.clear();
        self.starts.extend_from_slice(a.row_starts());
        self.indices.clear();
        self.indices.extend_from_slice(a.columns());
        true
    }

    /// Number of entries.
    pub fn entries(&self) -> usize {
        self.indices.len()
    }

    /// The pattern of Aᵀ.
    pub(crate) fn transposed(&self) -> SymbolicSparseColMatRef<'_, usize> {
        let n = self.starts.len().saturating_sub(1);
        SymbolicSparseColMatRef::new_checked(n, n, &self.starts, None, &self.indices)
    }

    /// Aᵀ with the entries of A.
    pub fn matrix<'a>(&'a self, a: &'a SparseMatrix) -> SparseColMatRef<'a, usize, f64> {
        SparseColMatRef::new(self.transposed(), a.values())
    }
}
