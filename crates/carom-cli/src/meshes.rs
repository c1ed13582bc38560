//! A word about meshes that were not as they should be.

use carom::collision::{Collider, MeshStatement};
use serde_json::{Value, json};

/// Meshes with something to say about: names of the colliders, and what was found and mended.
pub fn of(colliders: &[Collider]) -> Vec<(&str, MeshStatement)> {
    let statement = |collider: &Collider| collider.shape.mesh_statement().ok().flatten();
    let is_odd = |s: &MeshStatement| s.turned_round || s.degenerate_triangles > 0 || s.inconsistent_edges > 0;
    colliders.iter().filter_map(|c| Some((c.name.as_str(), statement(c)?))).filter(|(_, s)| is_odd(s)).collect()
}

/// Tells them on standard error.
pub fn warn(meshes: &[(&str, MeshStatement)]) {
    for (name, s) in meshes {
        if s.turned_round {
            eprintln!("warning: the triangles of the mesh of {name} all looked inward: they were turned round");
        }
        if s.degenerate_triangles > 0 {
            eprintln!("warning: {} triangles of the mesh of {name} have no area: they touch nothing", s.degenerate_triangles);
        }
        if s.inconsistent_edges > 0 {
            eprintln!(
                "warning: at {} edges of the mesh of {name} triangles look to different sides, or more than two meet: each is touched from \
                 the side from which its corners run counter-clockwise",
                s.inconsistent_edges
            );
        }
    }
}

/// The same for programs.
pub fn json(meshes: &[(&str, MeshStatement)]) -> Value {
    let one = |(name, s): &(&str, MeshStatement)| {
        json!({"name": name, "turned_round": s.turned_round, "degenerate_triangles": s.degenerate_triangles,
            "inconsistent_edges": s.inconsistent_edges, "open_edges": s.open_edges})
    };
    meshes.iter().map(one).collect()
}
