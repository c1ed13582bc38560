//! Precedences of the operators, for reading and for printing; a tighter operator has a higher one.

pub(super) const LOOSEST: u8 = 0;
pub(super) const OR: u8 = 1;
pub(super) const AND: u8 = 2;
pub(super) const NOT: u8 = 3;
pub(super) const COMPARISON: u8 = 4;
pub(super) const SUM: u8 = 5;
pub(super) const PRODUCT: u8 = 6;
pub(super) const SIGN: u8 = 7;
pub(super) const POWER: u8 = 8;
/// Numbers, names and calls.
pub(super) const ATOM: u8 = 9;
