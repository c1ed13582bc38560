//! Tests of the whole: the gallery runs, the scenes give their exact answers.

mod allocation;
mod contact_laws;
mod gallery;
mod planar;
mod scenes;
mod smooth_gallery;
mod support;
