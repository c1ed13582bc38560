//! Generated problems with fixed seeds.

use carom_solvers::{Block, BlockSparse, Delassus, DenseDelassus, FrictionContact};

/// SplitMix64: small, seeded, the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Uniform in (−1, 1).
    pub fn signed(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.signed()).collect()
    }
}

/// The problem of blocks acting on `dof` coordinates through the Jacobian G (row-major):
/// W = G M⁻¹ Gᵀ, q = G v. With q in the range of G a solution always exists (v⁺ = 0 is admissible).
pub fn from_jacobian(blocks: Vec<Block>, g: &[f64], inverse_mass: &[f64], v: &[f64]) -> FrictionContact {
    let dof = inverse_mass.len();
    let rows: Vec<&[f64]> = g.chunks_exact(dof).collect();
    let mut w = Vec::new();
    for a in &rows {
        for b in &rows {
            w.push((0..dof).map(|k| a[k] * inverse_mass[k] * b[k]).sum());
        }
    }
    let q = rows.iter().map(|a| a.iter().zip(v).map(|(a, v)| a * v).sum()).collect();
    let dims: Vec<usize> = blocks.iter().map(Block::dim).collect();
    FrictionContact { w: Delassus::Dense(DenseDelassus::new(w, &dims).expect("sizes fit")), q, blocks }
}

/// Random G with `dof` columns: full rank W when dof ≥ rows, rank-deficient otherwise.
pub fn random(seed: u64, blocks: Vec<Block>, dof: usize) -> FrictionContact {
    let mut random = Random::new(seed);
    let n: usize = blocks.iter().map(Block::dim).sum();
    let g = random.vector(n * dof);
    let v = random.vector(dof);
    from_jacobian(blocks, &g, &vec![1.0; dof], &v)
}

/// A rigid planar table (x, y, θ; m = 1, J = 1/12) on `feet` feet along its unit width, falling at
/// v_y = −1 and pushed sideways: hyperstatic for more than two feet (one and a half with friction).
pub fn table(feet: usize, mu: f64, push: f64) -> FrictionContact {
    let mut g = Vec::new();
    for k in 0..feet {
        let x = k as f64 / (feet - 1) as f64 - 0.5;
        g.extend([0.0, 1.0, x]);
        g.extend([1.0, 0.0, 0.5]);
    }
    let blocks = vec![Block::Coulomb2 { mu }; feet];
    from_jacobian(blocks, &g, &[1.0, 1.0, 12.0], &[push, -1.0, 0.0])
}

/// A column of point masses on the ground, each `ratio` times heavier than the one below, all falling
/// at speed 1.
pub fn column(bodies: usize, ratio: f64) -> FrictionContact {
    let inverse_mass: Vec<f64> = (0..bodies).map(|k| ratio.powi(-(k as i32))).collect();
    let mut g = vec![0.0; bodies * bodies];
    for k in 0..bodies {
        g[k * bodies + k] = 1.0;
        if k > 0 {
            g[k * bodies + k - 1] = -1.0;
        }
    }
    let v = vec![-1.0; bodies];
    from_jacobian(vec![Block::Unilateral; bodies], &g, &inverse_mass, &v)
}

/// Random contacts and joints whose last joint repeats the first.
pub fn redundant_joints(seed: u64, contact: Block) -> FrictionContact {
    let mut random = Random::new(seed);
    let dof = 9;
    let joint = Block::Bilateral { dim: 2 };
    let blocks = vec![joint, contact, contact, joint, joint];
    let first = random.vector(2 * dof);
    let mut g = first.clone();
    g.extend(random.vector(2 * contact.dim() * dof));
    g.extend(random.vector(2 * dof));
    g.extend(first);
    let v = random.vector(dof);
    from_jacobian(blocks, &g, &vec![1.0; dof], &v)
}

/// Blocks of 1, 2, 3 and 5 rows and joints.
fn all_sizes() -> Vec<Block> {
    let joint = |dim| Block::Bilateral { dim };
    let rolling = Block::Rolling { mu: 0.4, rolling: 0.05 };
    vec![joint(5), Block::Unilateral, Block::Coulomb2 { mu: 0.3 }, Block::Coulomb3 { mu: 0.6 }, rolling, joint(1)]
}

/// A unit mass between two walls that both approach it: no impulse stops both.
fn squeezed(contact: Block) -> FrictionContact {
    let dim = contact.dim();
    let mut g = vec![0.0; 2 * dim * 3];
    for wall in 0..2 {
        let rows = &mut g[wall * dim * 3..];
        rows[2] = if wall == 0 { 1.0 } else { -1.0 };
        for tangent in 1..dim {
            rows[tangent * 3 + tangent - 1] = 1.0;
        }
    }
    let mut problem = from_jacobian(vec![contact; 2], &g, &[1.0; 3], &[0.3, 0.1, 0.0]);
    problem.q[0] = -1.0;
    problem.q[dim] = -1.0;
    problem
}

/// What a solver must achieve on a generated problem.
#[derive(Clone, Copy, PartialEq)]
pub enum Difficulty {
    /// Well conditioned: every solver that takes the problem converges.
    Easy,
    /// Sweeps may be too slow; pivoting and `auto` converge.
    Hard,
    /// There is no solution: no solver may claim one.
    Hopeless,
}

/// The suite and what few methods take or solve: extreme ratios, rolling resistance, blocks of all sizes, no solution.
pub fn extended_suite() -> Vec<(&'static str, Difficulty, FrictionContact)> {
    use Difficulty::{Easy, Hard, Hopeless};
    let mut problems = suite();
    problems.extend([
        ("mass ratio 1e8", Hard, column(2, 1e8)),
        ("hyperstatic stack", Hard, stack_of_cubes(4, 1, 0.0)),
        ("spinning", Easy, random(17, vec![Block::Spinning { mu: 0.5, spinning: 0.1 }; 3], 20)),
        ("rolling and spinning", Easy, random(18, vec![Block::RollingSpinning { mu: 0.5, rolling: 0.1 }; 2], 20)),
        ("rolling", Easy, random(14, vec![Block::Rolling { mu: 0.5, rolling: 0.1 }; 2], 20)),
        ("all sizes", Hard, random(15, all_sizes(), 30)),
        ("squeezed", Hopeless, squeezed(Block::Coulomb3 { mu: 0.2 })),
        ("squeezed, planar", Hopeless, squeezed(Block::Coulomb2 { mu: 0.2 })),
        ("squeezed, frictionless", Hopeless, squeezed(Block::Unilateral)),
    ]);
    problems
}

/// The named problems of the conformance suite.
pub fn suite() -> Vec<(&'static str, Difficulty, FrictionContact)> {
    use Difficulty::{Easy, Hard};
    let c2 = |mu| Block::Coulomb2 { mu };
    let c3 = |mu| Block::Coulomb3 { mu };
    let mut solved = random(21, vec![c3(0.4); 2], 12);
    solved.q.fill(0.5); // separating everywhere: r = 0 is the solution
    for tangent in [1, 2, 4, 5] {
        solved.q[tangent] = 0.0;
    }
    let mut at_rest = random(22, vec![c2(0.4); 3], 8);
    at_rest.q.fill(0.0);
    let mut degenerate = random(23, vec![Block::Unilateral; 5], 8);
    degenerate.q[1] = 0.0;
    degenerate.q[3] = 0.0;
    vec![
        ("unilateral", Easy, random(1, vec![Block::Unilateral; 6], 12)),
        ("planar", Easy, random(2, vec![c2(0.3); 4], 16)),
        ("spatial", Easy, random(3, vec![c3(0.5); 3], 18)),
        ("mixed", Easy, random(4, vec![Block::Unilateral, c2(0.2), c3(0.7)], 12)),
        ("degenerate", Easy, degenerate),
        ("already solved", Easy, solved),
        ("at rest", Easy, at_rest),
        ("no friction", Easy, random(5, vec![c3(0.0), c2(0.0), c3(0.0)], 16)),
        ("rank-deficient unilateral", Hard, random(6, vec![Block::Unilateral; 12], 5)),
        ("rank-deficient planar", Hard, random(7, vec![c2(0.3); 8], 6)),
        ("rank-deficient spatial", Hard, random(8, vec![c3(0.3); 6], 6)),
        ("table at rest", Hard, table(8, 0.5, 0.1)),
        ("table sliding", Hard, table(8, 0.2, 3.0)),
        ("heavy on light", Hard, column(6, 10.0)),
        ("very heavy on light", Hard, column(2, 1e6)),
        ("joints, unilateral", Hard, redundant_joints(9, Block::Unilateral)),
        ("joints, planar", Hard, redundant_joints(10, c2(0.4))),
        ("joints, spatial", Hard, redundant_joints(11, c3(0.4))),
        ("joints only", Hard, random(12, vec![Block::Bilateral { dim: 3 }; 2], 4)),
        ("nothing", Easy, random(13, Vec::new(), 3)),
    ]
}

/// A stack of unit-mass cubes of edge 0.1 m, each turned and shifted a little on the one below, after one
/// step of gravity (h = 1 ms) with the lowest cube pulled away at speed `pull`: the contacts of two faces are the corners of their intersection, up to 8
/// where 3 would do.
pub fn stack_of_cubes(cubes: usize, seed: u64, pull: f64) -> FrictionContact {
    let mut random = Random::new(seed);
    let edge = 0.1;
    let faces: Vec<([f64; 2], [[f64; 2]; 4])> = (0..cubes)
        .map(|_| {
            let center = [0.005 * random.signed(), 0.005 * random.signed()];
            let (sin, cos) = (random.signed() * 5f64.to_radians()).sin_cos();
            let corner = |x: f64, y: f64| [center[0] + 0.5 * edge * (cos * x - sin * y), center[1] + 0.5 * edge * (sin * x + cos * y)];
            (center, [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)])
        })
        .collect();
    let dof = 6 * cubes;
    let mut g = Vec::new();
    for upper in 0..cubes {
        let mut points = faces[upper].1.to_vec();
        if upper > 0 {
            let clip = faces[upper - 1].1;
            for side in 0..4 {
                points = clip_polygon(&points, clip[side], clip[(side + 1) % 4]);
            }
        }
        for p in points {
            for axis in [2, 0, 1] {
                let mut row = vec![0.0; dof];
                for (body, sign, z) in [(Some(upper), 1.0, -0.5 * edge), (upper.checked_sub(1), -1.0, 0.5 * edge)] {
                    let Some(body) = body else { continue };
                    let center = faces[body].0;
                    let arm = [p[0] - center[0], p[1] - center[1], z];
                    row[6 * body + axis] = sign;
                    // Velocity of the point: v + ω × arm.
                    row[6 * body + 3 + (axis + 1) % 3] = sign * arm[(axis + 2) % 3];
                    row[6 * body + 3 + (axis + 2) % 3] = -sign * arm[(axis + 1) % 3];
                }
                g.extend(row);
            }
        }
    }
    let n = g.len() / dof;
    let inertia = edge * edge / 6.0;
    let mut inverse_mass = Vec::new();
    let mut v = Vec::new();
    for _ in 0..cubes {
        inverse_mass.extend([1.0, 1.0, 1.0, 1.0 / inertia, 1.0 / inertia, 1.0 / inertia]);
        v.extend([0.0, 0.0, -9.81e-3, 0.0, 0.0, 0.0]);
    }
    v[0] = pull;
    sparse_blocks(&from_jacobian(vec![Block::Coulomb3 { mu: 0.5 }; n / 3], &g, &inverse_mass, &v))
}

/// The part of a convex polygon to the left of the line a → b.
fn clip_polygon(points: &[[f64; 2]], a: [f64; 2], b: [f64; 2]) -> Vec<[f64; 2]> {
    let height = |p: [f64; 2]| (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
    let mut kept = Vec::new();
    for (k, &p) in points.iter().enumerate() {
        let next = points[(k + 1) % points.len()];
        let (here, there) = (height(p), height(next));
        if here >= 0.0 {
            kept.push(p);
        }
        if here * there < 0.0 {
            let t = here / (here - there);
            kept.push([p[0] + t * (next[0] - p[0]), p[1] + t * (next[1] - p[1])]);
        }
    }
    kept
}

/// The same problem without its zero blocks.
fn sparse_blocks(problem: &FrictionContact) -> FrictionContact {
    let n = problem.n_rows();
    let mut values = Vec::new();
    problem.w.to_dense(&mut values);
    let dims: Vec<usize> = problem.blocks.iter().map(Block::dim).collect();
    let mut w = BlockSparse::new();
    w.reset(&dims);
    for row in 0..dims.len() {
        for column in 0..dims.len() {
            let rows = w.offset(row)..w.offset(row + 1);
            let columns = w.offset(column)..w.offset(column + 1);
            let entries: Vec<f64> = rows.flat_map(|i| values[i * n..][columns.clone()].to_vec()).collect();
            if entries.iter().any(|x| *x != 0.0) {
                w.push_block(column).copy_from_slice(&entries);
            }
        }
        w.finish_row();
    }
    FrictionContact { w: w.into(), ..problem.clone() }
}
