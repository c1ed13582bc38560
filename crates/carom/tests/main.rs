//! Tests of the whole: the gallery runs, the scenes give their exact answers.

mod allocation;
mod bodies_gallery;
mod circuit_elements;
mod circuits;
mod closed_contacts;
mod contact_laws;
mod control;
mod default_scheme;
mod first_order_gallery;
mod gallery;
mod gallery_located;
mod grains_gallery;
mod laws_gallery;
mod layers;
mod located_efforts;
mod located_scenes;
mod many_and_few;
mod memory;
mod mesh_contacts;
mod planar;
mod planar_shapes;
mod projection;
mod scenes;
mod smooth_gallery;
mod support;
