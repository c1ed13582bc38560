//! Writes families of hyperstatic contact problems as FCLIB files.
//!
//!     cargo run --release -p carom-solvers --example hyperstatic_families -- OUT [LARGEST] [SEED]
//!
//! OUT is the folder, LARGEST the greatest number of contacts of a file (default 1100), SEED that of the random velocities (default 1). The files
//! are named FAMILY-CONTACTS-PARAMETER.hdf5; time the solvers on them with `carom bench solvers OUT`.

use carom_solvers::fclib::{self, FclibFile, Info, MatrixFormat};
use carom_solvers::problems::{Conditions, RigidScene, arch, mass_ratio, packing, table, tower, wall};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: hyperstatic_families OUT [LARGEST] [SEED]")?;
    let largest: usize = arguments.next().map_or(Ok(1100), |text| text.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    std::fs::create_dir_all(&folder)?;
    let mut n_written = 0;
    for (family, parameter, scene) in scenes(&Conditions { seed, ..Conditions::default() }) {
        let n = scene.contacts.len();
        if n > largest {
            continue;
        }
        let mut file = FclibFile::new(scene.friction_contact().into());
        file.info = Info {
            title: format!("{family} of {n} contacts"),
            description: format!("carom-solvers, problems::{family}, parameter {parameter}, seed {seed}, {} bodies", scene.bodies.len()),
            math_info: format!("W has rank at most {}", 6 * scene.bodies.len()),
        };
        let name = format!("{family}-{n:05}-{parameter}.hdf5");
        fclib::write(Path::new(&folder).join(name), &file, MatrixFormat::Csr)?;
        n_written += 1;
    }
    println!("{n_written} problems in {folder}");
    Ok(())
}

/// Family, parameter and scene.
fn scenes(conditions: &Conditions) -> Vec<(&'static str, String, RigidScene)> {
    let mut all = Vec::new();
    for (courses, bricks) in [(2, 3), (4, 6), (8, 8), (12, 12), (20, 20)] {
        all.push(("wall", format!("{courses}x{bricks}"), wall(courses, bricks, conditions)));
    }
    for voussoirs in [5, 15, 40, 100, 250] {
        all.push(("arch", voussoirs.to_string(), arch(voussoirs, conditions)));
    }
    for (layers, planks) in [(3, 2), (10, 2), (10, 3), (30, 3), (30, 4)] {
        all.push(("tower", format!("{layers}x{planks}"), tower(layers, planks, conditions)));
    }
    for balls in [8, 27, 125, 343, 1000] {
        all.push(("packing", balls.to_string(), packing(balls, conditions)));
    }
    for feet in [4, 16, 64, 256] {
        all.push(("table", feet.to_string(), table(feet, conditions)));
    }
    for (bodies, ratio) in [(3, 1e1), (10, 1e2), (10, 1e4), (25, 1e6)] {
        all.push(("mass_ratio", format!("{bodies}x{ratio:e}"), mass_ratio(bodies, ratio, conditions)));
    }
    all
}
