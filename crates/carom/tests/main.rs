//! Tests of the whole: the gallery runs, the scenes give their exact answers.

mod allocation;
mod closed_contacts;
mod contact_laws;
mod control;
mod default_scheme;
mod gallery;
mod gallery_located;
mod laws_gallery;
mod located_scenes;
mod planar;
mod planar_shapes;
mod projection;
mod scenes;
mod smooth_gallery;
mod support;
