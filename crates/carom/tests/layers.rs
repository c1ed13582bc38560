//! The layers of every crate: its top modules import each other without a cycle, but for the cycles listed here, which may only shrink.
//!
//! A dependency is a path `crate::m…`, or one that climbs by `super::` to the top, in code that is not a comment, a string or a test. What the
//! root of a crate re-exports (`pub use m::Name`) belongs to its module m; what the root defines itself belongs to none.

mod modules;
mod source;

use modules::Crate;
use std::collections::BTreeSet;
use std::path::Path;

/// The cycles that are left: the crate and the modules of one cycle. Take a module away when it is in no cycle any more; never add one.
const CYCLES: &[(&str, &[&str])] = &[(
    "carom-dynamics",
    &[
        "assembly",
        "coupled_bounds",
        "first_order_step",
        "impacts_before_step",
        "many_contacts",
        "memory",
        "planar_contacts",
        "schemes",
        "variable_friction",
    ],
)];

#[test]
fn modules_import_only_what_is_below_them() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the folder of all crates");
    let mut complaints = Vec::new();
    let mut n_crates = 0;
    for folder in std::fs::read_dir(crates).expect("readable").map(|entry| entry.expect("readable").path()) {
        if folder.join("src").is_dir() {
            let name = folder.file_name().expect("a folder has a name").to_string_lossy().into_owned();
            complaints.extend(compare(&name, &Crate::read(&folder.join("src"))));
            n_crates += 1;
        }
    }
    assert!(n_crates >= 6, "only {n_crates} crates found in {}", crates.display());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// What differs between the cycles of a crate and the list.
fn compare(name: &str, read: &Crate) -> Vec<String> {
    let listed: Vec<BTreeSet<&str>> =
        CYCLES.iter().filter(|(of, _)| *of == name).map(|(_, modules)| modules.iter().copied().collect()).collect();
    let found = read.cycles();
    let mut complaints = Vec::new();
    for cycle in &found {
        let known: BTreeSet<&str> = listed.iter().filter(|known| !known.is_disjoint(cycle)).flatten().copied().collect();
        let new: BTreeSet<&str> = cycle.difference(&known).copied().collect();
        if !new.is_empty() {
            let edges: Vec<String> = read
                .edges()
                .filter(|(from, to, _)| cycle.contains(from) && cycle.contains(to) && (new.contains(from) || new.contains(to)))
                .map(|(from, to, places)| format!("    {from} -> {to}: {}", places.join(", ")))
                .collect();
            complaints.push(format!("{name}: {new:?} in a cycle of {} modules by\n{}", cycle.len(), edges.join("\n")));
        }
    }
    for known in &listed {
        let left: Vec<_> = found.iter().filter(|cycle| !cycle.is_disjoint(known)).collect();
        let gone: Vec<_> = known.iter().filter(|module| !left.iter().any(|cycle| cycle.contains(*module))).collect();
        if !gone.is_empty() {
            complaints.push(format!("{name}: {gone:?} are in no cycle any more: remove them from the list"));
        } else if left.len() > 1 {
            complaints.push(format!("{name}: the cycle {known:?} has come apart: list its parts {left:?}"));
        }
    }
    complaints
}
