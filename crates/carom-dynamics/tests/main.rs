//! Integration tests of the crate, one module per subject.

mod formula;
mod moreau_jean;
mod support;
