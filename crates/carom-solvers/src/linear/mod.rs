//! Factorisations of matrices. The only place that knows faer.

mod banded_lu;
mod bilateral_factor;
mod dense_front;
mod dense_lu;
mod elimination_tree;
mod frontal_lu;
mod minimum_degree;
mod rank_revealing_lu;
mod row_lu;
mod sparse_ldlt;
mod sparse_lu;
mod sparse_pattern;

pub(crate) use banded_lu::BandedLu;
pub use bilateral_factor::BilateralFactor;
pub(crate) use dense_lu::DenseLu;
pub use frontal_lu::FrontalLu;
pub use minimum_degree::BlockPattern;
pub(crate) use rank_revealing_lu::RankRevealingLu;
pub use row_lu::RowLu;
pub(crate) use sparse_ldlt::SparseLdlt;
pub use sparse_lu::SparseLu;

use faer::dyn_stack::{MemBuffer, StackReq};

/// Work memory that only grows.
#[derive(Default)]
struct WorkMemory {
    buffer: Option<MemBuffer>,
    bytes: usize,
}

impl WorkMemory {
    /// Memory for what is required.
    fn for_request(&mut self, request: StackReq) -> &mut MemBuffer {
        let bytes = request.unaligned_bytes_required();
        if self.bytes < bytes {
            self.buffer = None;
            self.bytes = bytes;
        }
        // In plain bytes: the next request may need other alignments within the same number of bytes.
        let bytes = self.bytes;
        self.buffer.get_or_insert_with(|| MemBuffer::new(StackReq::new::<u8>(bytes)))
    }
}

impl std::fmt::Debug for WorkMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.bytes)
    }
}
