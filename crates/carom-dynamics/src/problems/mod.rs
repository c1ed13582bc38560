//! Textbook problems.
