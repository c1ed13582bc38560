//! carom
