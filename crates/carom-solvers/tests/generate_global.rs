//! Generated problems in global form with fixed seeds.

use crate::generate::Random;
use carom_solvers::{Block, GlobalFrictionContact, SparseMatrix};

type Entries = Vec<(usize, usize, f64)>;

/// The problem of blocks with contact rows G = Hᵀ (entries), mass matrix M (entries) and velocities v: f = M v, w = 0. q = G v is in
/// the range of G, so that a solution exists (v⁺ = 0 is admissible).
pub fn from_entries(blocks: Vec<Block>, g: &Entries, m: &Entries, v: &[f64]) -> GlobalFrictionContact {
    let rows = blocks.iter().map(Block::dim).sum();
    let h: Entries = g.iter().map(|&(row, dof, value)| (dof, row, value)).collect();
    let m = SparseMatrix::from_triplets(v.len(), v.len(), m).expect("indices inside");
    let f = (0..v.len()).map(|i| m.row(i).map(|(j, m)| m * v[j]).sum()).collect();
    let h = SparseMatrix::from_triplets(v.len(), rows, &h).expect("indices inside");
    GlobalFrictionContact { m, h, f, w: vec![0.0; rows], blocks }
}

/// `bodies` of 6 coordinates with full random inertia, of masses 1, `ratio`, `ratio`², … and contacts between random pairs of them or
/// with the ground.
pub fn bodies(seed: u64, bodies: usize, ratio: f64, blocks: Vec<Block>) -> GlobalFrictionContact {
    let mut random = Random::new(seed);
    let mut m = Vec::new();
    for body in 0..bodies {
        let mass = ratio.powi(body as i32);
        let root = random.vector(36);
        for i in 0..6 {
            for j in 0..6 {
                let product: f64 = (0..6).map(|k| root[6 * i + k] * root[6 * j + k]).sum();
                m.push((6 * body + i, 6 * body + j, mass * (0.3 * product + f64::from(u8::from(i == j)))));
            }
        }
    }
    let mut g = Vec::new();
    let mut row = 0;
    for (contact, block) in blocks.iter().enumerate() {
        let first = contact % bodies;
        let second = (contact / bodies + first + 1) % (bodies + 1); // the last one is the ground
        for _ in 0..block.dim() {
            for body in [first, second].into_iter().filter(|&body| body < bodies) {
                g.extend((0..6).map(|k| (row, 6 * body + k, random.signed())));
            }
            row += 1;
        }
    }
    let v = random.vector(6 * bodies);
    from_entries(blocks, &g, &m, &v)
}

/// A chain of unit masses in space, held together by springs (M = 1 + h²K, tridiagonal in blocks, stiffness h²k), each above
/// the ground and falling at 1 m/s with random velocities besides; every `gap`-th one touches.
pub fn elastic_chain(seed: u64, nodes: usize, stiffness: f64, gap: usize, block: Block) -> GlobalFrictionContact {
    let mut random = Random::new(seed);
    let mut m: Entries = (0..3 * nodes).map(|i| (i, i, 1.0)).collect();
    for i in 0..3 * (nodes - 1) {
        let j = i + 3;
        m.extend([(i, i, stiffness), (j, j, stiffness), (i, j, -stiffness), (j, i, -stiffness)]);
    }
    let mut v: Vec<f64> = random.vector(3 * nodes).iter().map(|v| 0.5 * v).collect();
    let mut g = Vec::new();
    let mut blocks = Vec::new();
    let mut row = 0;
    for node in (0..nodes).step_by(gap) {
        for axis in [2, 0, 1].into_iter().take(block.dim()) {
            g.push((row, 3 * node + axis, 1.0));
            row += 1;
        }
        v[3 * node + 2] -= 1.0;
        blocks.push(block);
    }
    from_entries(blocks, &g, &m, &v)
}

/// A tower of unit cubes of unit mass, 4 contacts at the corners of each face, after one step of gravity with the lowest cube pushed
/// sideways: 4 contacts where 3 would do.
pub fn tower(cubes: usize, mu: f64) -> GlobalFrictionContact {
    let mut g = Vec::new();
    let mut row = 0;
    for layer in 0..cubes {
        for corner in 0..4 {
            let (x, y) = (if corner & 1 == 0 { 0.5 } else { -0.5 }, if corner & 2 == 0 { 0.5 } else { -0.5 });
            for axis in [2, 0, 1] {
                for (body, sign, z) in [(Some(layer), 1.0, -0.5), (layer.checked_sub(1), -1.0, 0.5)] {
                    let Some(body) = body else { continue };
                    let arm: [f64; 3] = [x, y, z];
                    // Velocity of the point: v + ω × arm.
                    g.push((row, 6 * body + axis, sign));
                    g.push((row, 6 * body + 3 + (axis + 1) % 3, sign * arm[(axis + 2) % 3]));
                    g.push((row, 6 * body + 3 + (axis + 2) % 3, -sign * arm[(axis + 1) % 3]));
                }
                row += 1;
            }
        }
    }
    let m: Entries = (0..6 * cubes).map(|i| (i, i, if i % 6 < 3 { 1.0 } else { 1.0 / 6.0 })).collect();
    let mut v: Vec<f64> = (0..6 * cubes).map(|i| if i % 6 == 2 { -0.01 } else { 0.0 }).collect();
    v[0] = 0.002;
    from_entries(vec![Block::Coulomb3 { mu }; row / 3], &g, &m, &v)
}

/// Point masses on the ground in a column, each `ratio` times heavier than the one below, all falling at speed 1.
pub fn column(bodies: usize, ratio: f64) -> GlobalFrictionContact {
    let m: Entries = (0..bodies).map(|i| (i, i, ratio.powi(i as i32))).collect();
    let mut g: Entries = (0..bodies).map(|i| (i, i, 1.0)).collect();
    g.extend((1..bodies).map(|i| (i, i - 1, -1.0)));
    from_entries(vec![Block::Unilateral; bodies], &g, &m, &vec![-1.0; bodies])
}

/// A plank in the plane (x, y, θ) on `feet` feet, falling and pushed sideways.
pub fn plank(feet: usize, mu: f64, push: f64) -> GlobalFrictionContact {
    let mut g = Vec::new();
    for k in 0..feet {
        let x = k as f64 / (feet - 1) as f64 - 0.5;
        g.extend([(2 * k, 1, 1.0), (2 * k, 2, x), (2 * k + 1, 0, 1.0), (2 * k + 1, 2, 0.5)]);
    }
    let m = vec![(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0 / 12.0)];
    from_entries(vec![Block::Coulomb2 { mu }; feet], &g, &m, &[push, -1.0, 0.0])
}

/// A chain of planar rods (x, y, θ) held together by hinges, the first one hinged to the ground, the last one on two contacts
/// with friction.
pub fn hinged_rods(rods: usize, mu: f64) -> GlobalFrictionContact {
    let mut g = Vec::new();
    let mut blocks = Vec::new();
    let mut row = 0;
    for rod in 0..rods {
        for (axis, lever) in [(0, 0.0), (1, 0.5)] {
            g.extend([(row, 3 * rod + axis, 1.0), (row, 3 * rod + 2, -lever)]);
            if rod > 0 {
                g.extend([(row, 3 * rod - 3 + axis, -1.0), (row, 3 * rod - 1, -lever)]);
            }
            row += 1;
        }
        blocks.push(Block::Bilateral { dim: 2 });
    }
    for x in [-0.2, 0.5] {
        let last = 3 * (rods - 1);
        g.extend([(row, last + 1, 1.0), (row, last + 2, x), (row + 1, last, 1.0), (row + 1, last + 2, 0.05)]);
        row += 2;
        blocks.push(Block::Coulomb2 { mu });
    }
    let m: Entries = (0..3 * rods).map(|i| (i, i, if i % 3 == 2 { 1.0 / 12.0 } else { 1.0 })).collect();
    let v: Vec<f64> = (0..3 * rods).map(|i| [0.3, -1.0, 0.1][i % 3]).collect();
    from_entries(blocks, &g, &m, &v)
}

/// The problems of the conformance suite, and whether every solver must converge to 1e-10 on them.
pub fn suite() -> Vec<(&'static str, bool, GlobalFrictionContact)> {
    let (c2, c3) = (|mu| Block::Coulomb2 { mu }, |mu| Block::Coulomb3 { mu });
    let joint = Block::Bilateral { dim: 3 };
    let mut moving_wall = bodies(31, 3, 1.0, vec![c3(0.3); 4]);
    moving_wall.w = (0..12).map(|k| 0.3 * f64::from(k % 5) - 0.5).collect();
    let mut separating = bodies(32, 2, 1.0, vec![c3(0.4); 2]);
    separating.f.fill(0.0);
    separating.w = vec![0.5, 0.0, 0.0, 0.2, 0.0, 0.0];
    let mut at_rest = bodies(33, 2, 1.0, vec![c2(0.4); 3]);
    at_rest.f.fill(0.0);
    vec![
        ("rigid bodies", true, bodies(21, 5, 1.0, vec![c3(0.3); 6])),
        ("rigid bodies, planar contacts", true, bodies(22, 4, 1.0, vec![c2(0.4); 8])),
        ("rigid bodies, frictionless", true, bodies(23, 4, 1.0, vec![Block::Unilateral; 12])),
        ("coefficients zero", true, bodies(24, 4, 1.0, vec![c3(0.0), c2(0.0), c3(0.0), Block::Unilateral])),
        ("masses 1 to 1000", true, bodies(25, 4, 10.0, vec![c3(0.3); 5])),
        ("moving wall", true, moving_wall),
        ("separating", true, separating),
        ("at rest", true, at_rest),
        ("joints", true, bodies(26, 5, 1.0, vec![joint, c3(0.3), joint, c3(0.3), c2(0.2), Block::Unilateral])),
        ("hinged rods", true, hinged_rods(4, 0.3)),
        ("elastic chain", true, elastic_chain(27, 40, 5.0, 3, c3(0.3))),
        ("elastic chain, planar", true, elastic_chain(28, 20, 20.0, 1, c2(0.3))),
        ("stiff chain", false, elastic_chain(29, 20, 1e4, 2, c3(0.3))),
        ("plank", false, plank(6, 0.5, 0.1)),
        ("plank sliding", false, plank(6, 0.2, 3.0)),
        ("tower", false, tower(5, 0.5)),
        ("heavy on light", false, column(5, 10.0)),
        ("very heavy on light", false, column(2, 1e6)),
        ("rank-deficient", false, bodies(30, 2, 1.0, vec![c3(0.2); 8])),
        ("no contact", true, bodies(34, 2, 1.0, Vec::new())),
    ]
}

/// Spheres of radius 1 and masses between 0.5 and 1.5 in a face-centred cubic packing of `cells`³ cells on the ground, after one step of gravity
/// with small random velocities: up to 12 contacts per sphere, some 24 per cell.
pub fn sphere_packing(cells: usize, mu: f64) -> GlobalFrictionContact {
    let mut random = Random::new(cells as u64);
    // Half the edge of a cell: spheres of radius 1 touch along the diagonals of its faces.
    let half = 2f64.sqrt();
    let size = 2 * cells;
    // Spheres sit at the points (x, y, z)·half with x + y + z even.
    let index = |p: [usize; 3]| -> Option<usize> {
        let inside = p.iter().all(|&x| x < size) && p.iter().sum::<usize>() % 2 == 0;
        inside.then(|| ((p[2] * size + p[1]) * size + p[0]) / 2)
    };
    let n_spheres = size * size * size / 2;
    let mut contacts: Vec<([Option<usize>; 2], [f64; 3])> = Vec::new();
    for z in 0..size {
        for y in 0..size {
            for x in 0..size {
                let Some(sphere) = index([x, y, z]) else { continue };
                if z == 0 {
                    contacts.push(([Some(sphere), None], [0.0, 0.0, 1.0]));
                }
                // The neighbours that come before: one coordinate stays, the others change by one.
                for step in [[0, -1, -1], [0, 1, -1], [-1, 0, -1], [1, 0, -1], [-1, -1, 0], [1, -1, 0]] {
                    let neighbour = [x, y, z].iter().zip(step).map(|(&x, s): (&usize, isize)| x.wrapping_add_signed(s)).collect::<Vec<_>>();
                    if let Some(other) = index([neighbour[0], neighbour[1], neighbour[2]]) {
                        contacts.push(([Some(sphere), Some(other)], step.map(|s| -(s as f64) / half)));
                    }
                }
            }
        }
    }
    let mut g = Vec::new();
    for (contact, (pair, normal)) in contacts.iter().enumerate() {
        let cross = |a: [f64; 3], b: [f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
        let helper = if normal[0].abs() < 0.5 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let t = cross(*normal, helper);
        let length = t.iter().map(|x| x * x).sum::<f64>().sqrt();
        let tangent = t.map(|x| x / length);
        for (k, d) in [*normal, tangent, cross(*normal, tangent)].into_iter().enumerate() {
            // The normal points from the second sphere to the first; the arms are −n and +n.
            for (body, sign) in [(pair[0], 1.0), (pair[1], -1.0)] {
                let Some(body) = body else { continue };
                let lever = cross(*normal, d).map(|x| -x);
                g.extend((0..3).map(|axis| (3 * contact + k, 6 * body + axis, sign * d[axis])));
                g.extend((0..3).filter(|_| k > 0).map(|axis| (3 * contact + k, 6 * body + 3 + axis, lever[axis])));
            }
        }
    }
    let mut m = Vec::new();
    let mut v = Vec::new();
    for body in 0..n_spheres {
        let mass = 1.0 + 0.5 * random.signed();
        m.extend((0..6).map(|k| (6 * body + k, 6 * body + k, if k < 3 { mass } else { 0.4 * mass })));
        v.extend((0..6).map(|k| if k == 2 { -0.01 } else { 0.001 * random.signed() }));
    }
    from_entries(vec![Block::Coulomb3 { mu }; contacts.len()], &g, &m, &v)
}
