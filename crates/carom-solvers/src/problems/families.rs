//! Walls, arches, towers, packings, tables and columns.

use super::random::Random;
use super::{Body, Conditions, Contact, RigidScene};

const UP: [f64; 3] = [0.0, 0.0, 1.0];

/// A rectangle in a horizontal plane: least and greatest x and y.
#[derive(Clone, Copy)]
struct Rectangle {
    x: [f64; 2],
    y: [f64; 2],
}

impl Rectangle {
    fn around(centre: [f64; 3], edges: [f64; 3]) -> Self {
        let side = |k: usize| [centre[k] - 0.5 * edges[k], centre[k] + 0.5 * edges[k]];
        Rectangle { x: side(0), y: side(1) }
    }

    /// The common part, unless it is only a line.
    fn overlap(&self, other: &Rectangle) -> Option<Rectangle> {
        let common = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].min(b[1])];
        let (x, y) = (common(self.x, other.x), common(self.y, other.y));
        let is_wide = |side: [f64; 2]| side[1] - side[0] > 1e-9;
        (is_wide(x) && is_wide(y)).then_some(Rectangle { x, y })
    }

    fn corners(&self) -> [[f64; 2]; 4] {
        [[self.x[0], self.y[0]], [self.x[1], self.y[0]], [self.x[0], self.y[1]], [self.x[1], self.y[1]]]
    }
}

/// Boxes along the axes, laid in courses: those of a course lie on those of the course below, the lowest on the ground, with a contact at
/// each corner of the common rectangle.
fn courses(courses: &[Vec<([f64; 3], [f64; 3])>], conditions: &Conditions) -> RigidScene {
    let mut scene = RigidScene::default();
    let mut below: Vec<(usize, Rectangle)> = Vec::new();
    for (number, course) in courses.iter().enumerate() {
        let mut these = Vec::new();
        for &(centre, edges) in course {
            let above = scene.bodies.len();
            scene.bodies.push(Body::cuboid(centre, edges));
            let face = Rectangle::around(centre, edges);
            let z = centre[2] - 0.5 * edges[2];
            let mut touch = |below: Option<usize>, common: Rectangle| {
                let contact = |[x, y]: [f64; 2]| Contact { below, above, point: [x, y, z], normal: UP, friction: conditions.friction };
                scene.contacts.extend(common.corners().map(contact));
            };
            if number == 0 {
                touch(None, face);
            }
            for (body, other) in &below {
                if let Some(common) = face.overlap(other) {
                    touch(Some(*body), common);
                }
            }
            these.push((above, face));
        }
        below = these;
    }
    scene
}

/// A dry wall in running bond: `n_courses` courses of `n_bricks` bricks (2 m × 1 m × 1 m), each second course shifted by half a brick. Four
/// contacts per pair: about 8 `n_courses` `n_bricks` contacts; joints between neighbours of a course are open.
pub fn wall(n_courses: usize, n_bricks: usize, conditions: &Conditions) -> RigidScene {
    let brick = |course: usize, k: usize| ([2.0 * k as f64 + (course % 2) as f64, 0.0, course as f64 + 0.5], [2.0, 1.0, 1.0]);
    let wall: Vec<Vec<_>> = (0..n_courses).map(|course| (0..n_bricks).map(|k| brick(course, k)).collect()).collect();
    let mut scene = courses(&wall, conditions);
    scene.disturb(conditions);
    scene
}

/// A tower of planks as from a toy box: `n_layers` layers of `n_planks` parallel planks, each layer across the one below. Four contacts where
/// two planks cross: 4 `n_planks`² per layer.
pub fn tower(n_layers: usize, n_planks: usize, conditions: &Conditions) -> RigidScene {
    let length = 2.0 * n_planks as f64;
    let plank = |layer: usize, k: usize| {
        let (across, along) = (2.0 * k as f64 + 1.0 - 0.5 * length, 0.0);
        let z = 0.5 * layer as f64 + 0.25;
        if layer.is_multiple_of(2) { ([along, across, z], [length, 1.0, 0.5]) } else { ([across, along, z], [1.0, length, 0.5]) }
    };
    let layers: Vec<Vec<_>> = (0..n_layers).map(|layer| (0..n_planks).map(|k| plank(layer, k)).collect()).collect();
    let mut scene = courses(&layers, conditions);
    scene.disturb(conditions);
    scene
}

/// A column of `n_bodies` cubes whose masses grow from the ground up, the topmost `ratio` times as heavy as the lowest. Four contacts per cube.
pub fn mass_ratio(n_bodies: usize, ratio: f64, conditions: &Conditions) -> RigidScene {
    let column: Vec<Vec<_>> = (0..n_bodies).map(|k| vec![([0.0, 0.0, k as f64 + 0.5], [1.0; 3])]).collect();
    let mut scene = courses(&column, conditions);
    let last = n_bodies.saturating_sub(1).max(1) as f64;
    for (k, body) in scene.bodies.iter_mut().enumerate() {
        *body = body.clone().times(ratio.powf(k as f64 / last));
    }
    scene.disturb(conditions);
    scene
}

/// A semicircular arch of `n_voussoirs` stones between two springings: radii 4 and 5 m, depth 1 m. Four contacts per joint: 4 (`n_voussoirs` + 1).
pub fn arch(n_voussoirs: usize, conditions: &Conditions) -> RigidScene {
    let mut scene = RigidScene::default();
    let angle = |joint: f64| std::f64::consts::PI * joint / n_voussoirs.max(1) as f64;
    let radial = |angle: f64| [angle.cos(), 0.0, angle.sin()];
    for k in 0..n_voussoirs {
        let middle = angle(k as f64 + 0.5);
        let centre = radial(middle).map(|x| 4.5 * x);
        let width = 4.5 * angle(1.0);
        // along the radius, the depth, along the arch; its x axis is turned onto the radius
        scene.bodies.push(Body::cuboid(centre, [1.0, 1.0, width]).turned_about_y(-middle));
    }
    for joint in 0..=n_voussoirs {
        let at = angle(joint as f64);
        let along = [-at.sin(), 0.0, at.cos()];
        // the stone with the greater angle is above; at the last springing the ground is
        let (below, above, normal) = match joint {
            _ if n_voussoirs == 0 => break,
            0 => (None, 0, along),
            _ if joint == n_voussoirs => (None, joint - 1, along.map(|x| -x)),
            _ => (Some(joint - 1), joint, along),
        };
        for (radius, y) in [(4.0, -0.5), (4.0, 0.5), (5.0, -0.5), (5.0, 0.5)] {
            let mut point = radial(at).map(|x| radius * x);
            point[1] = y;
            scene.contacts.push(Contact { below, above, point, normal, friction: conditions.friction });
        }
    }
    scene.disturb(conditions);
    scene
}

/// At least `n_balls` balls of radius 0.5 m, packed closely in the corner of a room: layers of a face-centred cubic lattice, their places moved
/// at random by up to one per cent of the radius, touching where they are nearer than 1.03 diameters and at the floor and two walls. Up to six
/// contacts per ball.
pub fn packing(n_balls: usize, conditions: &Conditions) -> RigidScene {
    let (mut scene, mut random) = (RigidScene::default(), Random::new(conditions.seed.wrapping_add(1)));
    let side = (1..).find(|side: &usize| side.pow(3) >= n_balls).unwrap_or(1);
    // the square layers of a face-centred cubic packing of diameter 1 are √½ apart and shifted by half a diameter
    for k in 0..n_balls {
        let (layer, row, column) = (k / (side * side), k / side % side, k % side);
        let shift = 0.5 * (layer % 2) as f64;
        let at = [column as f64 + shift + 0.5, row as f64 + shift + 0.5, std::f64::consts::FRAC_1_SQRT_2 * layer as f64 + 0.5];
        let moved = random.vector(0.005);
        scene.bodies.push(Body::ball(std::array::from_fn(|i| at[i] + moved[i]), 0.5));
    }
    for above in 0..n_balls {
        let position = scene.bodies[above].position;
        for axis in 0..3 {
            if position[axis] < 0.515 {
                let (mut point, mut normal) = (position, [0.0; 3]);
                (point[axis], normal[axis]) = (0.0, 1.0);
                scene.contacts.push(Contact { below: None, above, point, normal, friction: conditions.friction });
            }
        }
        // neighbours are in this layer or the one below
        for below in above.saturating_sub(2 * side * side)..above {
            let from = scene.bodies[below].position;
            let apart: [f64; 3] = std::array::from_fn(|i| position[i] - from[i]);
            let distance = apart.iter().map(|x| x * x).sum::<f64>().sqrt();
            if distance < 1.03 {
                let point = std::array::from_fn(|i| from[i] + 0.5 * apart[i]);
                let normal = apart.map(|x| x / distance);
                scene.contacts.push(Contact { below: Some(below), above, point, normal, friction: conditions.friction });
            }
        }
    }
    scene.disturb(conditions);
    scene
}

/// A round table on `n_feet` feet: one body, `n_feet` contacts on a circle of radius 1 m, of which three would do.
pub fn table(n_feet: usize, conditions: &Conditions) -> RigidScene {
    let mut scene = RigidScene { bodies: vec![Body::cuboid([0.0, 0.0, 1.0], [2.0, 2.0, 0.1])], contacts: Vec::new() };
    for k in 0..n_feet {
        let (s, c) = (std::f64::consts::TAU * k as f64 / n_feet as f64).sin_cos();
        scene.contacts.push(Contact { below: None, above: 0, point: [c, s, 0.0], normal: UP, friction: conditions.friction });
    }
    scene.disturb(conditions);
    scene
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_documented() {
        let conditions = Conditions::default();
        let count = |scene: &RigidScene| (scene.bodies.len(), scene.contacts.len());
        // course 0: 4 per brick on the ground; course 1: each brick on two, the last on one
        assert_eq!(count(&wall(2, 3, &conditions)), (6, 12 + 4 * 5));
        assert_eq!(count(&tower(3, 2, &conditions)), (6, 8 + 2 * 16));
        assert_eq!(count(&mass_ratio(5, 100.0, &conditions)), (5, 20));
        assert_eq!(count(&arch(9, &conditions)), (9, 40));
        assert_eq!(count(&table(256, &conditions)), (1, 256));
        assert_eq!(packing(100, &conditions).bodies.len(), 100);
        let heavy = mass_ratio(5, 100.0, &conditions);
        assert!((heavy.bodies[4].mass / heavy.bodies[0].mass - 100.0).abs() < 1e-10); // roundings of powf
        for empty in
            [wall(0, 3, &conditions), arch(0, &conditions), packing(0, &conditions), table(0, &conditions), tower(2, 0, &conditions)]
        {
            assert!(empty.contacts.is_empty());
        }
    }

    /// Balls of a packing touch their neighbours: about three below and three beside, counted once.
    #[test]
    fn packing_is_dense_and_seeded() {
        let packed = |seed| packing(216, &Conditions { seed, ..Conditions::default() });
        let scene = packed(1);
        assert!(scene.contacts.len() > 3 * 216, "{}", scene.contacts.len());
        assert_eq!(scene, packed(1));
        assert_ne!(scene, packed(2));
        for contact in &scene.contacts {
            let length: f64 = contact.normal.iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-14); // roundings
        }
    }

    #[test]
    fn normals_point_to_the_body_above() {
        let conditions = Conditions::default();
        for scene in [wall(3, 3, &conditions), arch(7, &conditions), packing(27, &conditions), tower(3, 2, &conditions)] {
            for contact in &scene.contacts {
                let along =
                    |body: usize| (0..3).map(|k| contact.normal[k] * (scene.bodies[body].position[k] - contact.point[k])).sum::<f64>();
                assert!(along(contact.above) > 0.0, "{contact:?}");
                assert!(contact.below.is_none_or(|body| along(body) < 0.0), "{contact:?}");
            }
        }
    }

    /// The memory of W grows with the contacts that share a body, not with their square.
    #[test]
    fn large_walls_are_sparse() {
        let problem = wall(12, 12, &Conditions::default()).friction_contact();
        assert!(problem.blocks.len() > 1000, "{}", problem.blocks.len());
        assert!(problem.validate().is_ok());
        let crate::Delassus::BlockSparse(w) = &problem.w else { panic!("dense") };
        // a brick has up to 16 contacts; a contact shares its two bodies with at most 31
        assert!(w.values().len() <= 9 * 31 * problem.blocks.len(), "{}", w.values().len());
    }

    /// Both forms say the same: u = W r + q and u = Hᵀ M⁻¹ (H r + f).
    #[test]
    fn forms_agree() {
        for scene in [arch(3, &Conditions::default()), tower(2, 2, &Conditions::default())] {
            let (local, global) = (scene.friction_contact(), scene.global());
            let r: Vec<f64> = (0..local.n_rows()).map(|k| (k as f64).sin()).collect();
            let mut u = vec![0.0; r.len()];
            local.velocity(&r, &mut u);
            // v from M v = H r + f: M has blocks of six rows with a 3 × 3 inertia, solved by Cramer's rule
            let mut v = vec![0.0; global.f.len()];
            for body in 0..scene.bodies.len() {
                let right: Vec<f64> =
                    (0..6).map(|k| global.h.row(6 * body + k).map(|(j, h)| h * r[j]).sum::<f64>() + global.f[6 * body + k]).collect();
                let a: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| global.m.get(6 * body + 3 + i, 6 * body + 3 + j)));
                let det = |m: [[f64; 3]; 3]| {
                    m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
                        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
                };
                for k in 0..3 {
                    v[6 * body + k] = right[k] / global.m.get(6 * body + k, 6 * body + k);
                    let mut replaced = a;
                    (0..3).for_each(|i| replaced[i][k] = right[3 + i]);
                    v[6 * body + 3 + k] = det(replaced) / det(a);
                }
            }
            for (j, u) in u.iter().enumerate() {
                let other: f64 = (0..v.len()).map(|i| global.h.get(i, j) * v[i]).sum();
                assert!((other - u).abs() < 1e-13, "{other} {u}"); // roundings of velocities about 0.1
            }
        }
    }
}
