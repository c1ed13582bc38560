//! Scratch.
#![allow(dead_code)]
mod adaptive_steps;
mod support;
