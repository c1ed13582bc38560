//! Rigid bodies in contact, and their one-step problem.

use super::Conditions;
use super::random::Random;
use crate::block_sparse::BlockSparse;
use crate::cones::Block;
use crate::friction_contact::FrictionContact;
use crate::friction_contact_global::GlobalFrictionContact;
use crate::matrix::SparseMatrix;

type Vector = [f64; 3];

/// A rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Mass, kg, positive.
    pub mass: f64,
    /// Inertia about the centre of mass in the world frame, kg·m², positive definite.
    pub inertia: [Vector; 3],
    /// Centre of mass, m.
    pub position: Vector,
    /// Velocity of the centre of mass and angular velocity without contact impulses, m/s and rad/s.
    pub velocity: [f64; 6],
}

impl Body {
    /// A box of density 1000 kg/m³ with the given edges along the world's axes, at rest.
    pub fn cuboid(position: Vector, edges: Vector) -> Self {
        let mass = 1000.0 * edges[0] * edges[1] * edges[2];
        let squares = edges.map(|e| mass / 12.0 * e * e);
        let mut inertia = [[0.0; 3]; 3];
        for k in 0..3 {
            inertia[k][k] = squares[(k + 1) % 3] + squares[(k + 2) % 3];
        }
        Body { mass, inertia, position, velocity: [0.0; 6] }
    }

    /// A ball of density 1000 kg/m³ at rest.
    pub fn ball(position: Vector, radius: f64) -> Self {
        let mass = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        let mut inertia = [[0.0; 3]; 3];
        (0..3).for_each(|k| inertia[k][k] = 0.4 * mass * radius * radius);
        Body { mass, inertia, position, velocity: [0.0; 6] }
    }

    /// The same body with mass and inertia multiplied.
    #[must_use]
    pub fn times(mut self, factor: f64) -> Self {
        self.mass *= factor;
        self.inertia = self.inertia.map(|row| row.map(|x| factor * x));
        self
    }

    /// The same body turned about the world's y axis.
    #[must_use]
    pub(crate) fn turned_about_y(mut self, angle: f64) -> Self {
        let (s, c) = angle.sin_cos();
        let rotation = [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]];
        let turn = |i: usize, j: usize| (0..9).map(|k| rotation[i][k / 3] * self.inertia[k / 3][k % 3] * rotation[j][k % 3]).sum();
        self.inertia = std::array::from_fn(|i| std::array::from_fn(|j| turn(i, j)));
        self
    }
}

/// A point where a body touches another one or the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// The body below; `None` for the ground, which does not move.
    pub below: Option<usize>,
    /// The body above.
    pub above: usize,
    /// Where, m.
    pub point: Vector,
    /// Unit normal from the body below to the body above.
    pub normal: Vector,
    /// Friction coefficient.
    pub friction: f64,
}

/// Rigid bodies and their contacts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigidScene {
    /// The bodies.
    pub bodies: Vec<Body>,
    /// The contacts; their bodies exist.
    pub contacts: Vec<Contact>,
}

/// Rows of a contact for one body: normal and two tangents, each with its lever arm.
type Rows = [[f64; 6]; 3];

impl RigidScene {
    /// Lets all bodies fall for a step, with random velocities added.
    pub(super) fn disturb(&mut self, conditions: &Conditions) {
        let mut random = Random::new(conditions.seed);
        for body in &mut self.bodies {
            let (linear, angular) = (random.vector(conditions.disturbance), random.vector(conditions.disturbance));
            for k in 0..3 {
                body.velocity[k] += linear[k];
                body.velocity[3 + k] += angular[k];
            }
            body.velocity[2] -= conditions.fall;
        }
    }

    /// The one-step problem in local form, W = G M⁻¹ Gᵀ and q = G v, block-sparse.
    ///
    /// # Panics
    /// When a contact names a body that does not exist.
    pub fn friction_contact(&self) -> FrictionContact {
        let touching = self.touching();
        let inverse: Vec<[Vector; 3]> = self.bodies.iter().map(|body| inverse(&body.inertia)).collect();
        let mut w = BlockSparse::new();
        w.reset(&vec![3; self.contacts.len()]);
        let mut q = vec![0.0; 3 * self.contacts.len()];
        // (other contact, block) of a block row, those of both bodies
        let mut row: Vec<(usize, [f64; 9])> = Vec::new();
        for (contact, side) in self.contacts.iter().enumerate() {
            row.clear();
            for (body, rows) in self.rows(side) {
                let (mass, velocity) = (self.bodies[body].mass, &self.bodies[body].velocity);
                let response = rows.map(|row| response(mass, &inverse[body], &row));
                for k in 0..3 {
                    q[3 * contact + k] += dot(&rows[k], velocity);
                }
                row.extend(
                    touching[body]
                        .iter()
                        .map(|(other, other_rows)| (*other, std::array::from_fn(|k| dot(&response[k / 3], &other_rows[k % 3])))),
                );
            }
            row.sort_by_key(|(other, _)| *other);
            for same in row.chunk_by(|a, b| a.0 == b.0) {
                let block = w.push_block(same[0].0);
                same.iter().for_each(|(_, values)| block.iter_mut().zip(values).for_each(|(b, v)| *b += v));
            }
            w.finish_row();
        }
        FrictionContact { w: w.into(), q, blocks: self.blocks() }
    }

    /// The one-step problem in global form: M v⁺ = H r + M v, u = Hᵀ v⁺.
    ///
    /// # Panics
    /// When a contact names a body that does not exist.
    pub fn global(&self) -> GlobalFrictionContact {
        let touching = self.touching();
        let (mut m, mut h, mut f) = (SparseMatrix::default(), SparseMatrix::default(), Vec::new());
        m.reset(6 * self.bodies.len());
        h.reset(3 * self.contacts.len());
        for (index, body) in self.bodies.iter().enumerate() {
            for k in 0..6 {
                if k < 3 {
                    m.push(6 * index + k, body.mass);
                    f.push(body.mass * body.velocity[k]);
                } else {
                    (0..3).for_each(|j| m.push(6 * index + 3 + j, body.inertia[k - 3][j]));
                    f.push((0..3).map(|j| body.inertia[k - 3][j] * body.velocity[3 + j]).sum());
                }
                m.finish_row();
                for (contact, rows) in &touching[index] {
                    (0..3).for_each(|row| h.push(3 * contact + row, rows[row][k]));
                }
                h.finish_row();
            }
        }
        GlobalFrictionContact { m, h, f, w: vec![0.0; 3 * self.contacts.len()], blocks: self.blocks() }
    }

    fn blocks(&self) -> Vec<Block> {
        self.contacts.iter().map(|contact| Block::Coulomb3 { mu: contact.friction }).collect()
    }

    /// The contacts of each body, with their rows, in order.
    fn touching(&self) -> Vec<Vec<(usize, Rows)>> {
        let mut touching = vec![Vec::new(); self.bodies.len()];
        for (index, contact) in self.contacts.iter().enumerate() {
            for (body, rows) in self.rows(contact) {
                touching[body].push((index, rows));
            }
        }
        touching
    }

    /// u = G v: the velocity of the body above minus that of the body below, in the frame of the contact.
    fn rows(&self, contact: &Contact) -> impl Iterator<Item = (usize, Rows)> {
        let axes = frame(contact.normal);
        let rows = |body: usize, sign: f64| {
            let arm: Vector = std::array::from_fn(|k| contact.point[k] - self.bodies[body].position[k]);
            let row = |axis: Vector| {
                let lever = cross(arm, axis);
                std::array::from_fn(|k| sign * if k < 3 { axis[k] } else { lever[k - 3] })
            };
            (body, axes.map(row))
        };
        [Some(rows(contact.above, 1.0)), contact.below.map(|body| rows(body, -1.0))].into_iter().flatten()
    }
}

/// M⁻¹ of a body times a row.
fn response(mass: f64, inverse: &[Vector; 3], row: &[f64; 6]) -> [f64; 6] {
    std::array::from_fn(|k| if k < 3 { row[k] / mass } else { (0..3).map(|j| inverse[k - 3][j] * row[3 + j]).sum() })
}

fn dot(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The normal and two tangents, right-handed.
fn frame(normal: Vector) -> [Vector; 3] {
    // the axis that is least along the normal
    let least = (0..3).min_by(|&i, &j| normal[i].abs().total_cmp(&normal[j].abs())).unwrap_or(0);
    let mut axis = [0.0; 3];
    axis[least] = 1.0;
    let across = cross(normal, axis);
    let length = across.iter().map(|x| x * x).sum::<f64>().sqrt();
    let first = across.map(|x| x / length);
    [normal, first, cross(normal, first)]
}

/// By cofactors.
fn inverse(a: &[Vector; 3]) -> [Vector; 3] {
    let cofactors = [cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1])];
    let determinant: f64 = (0..3).map(|k| a[0][k] * cofactors[0][k]).sum();
    std::array::from_fn(|i| std::array::from_fn(|j| cofactors[j][i] / determinant))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube of mass m and edge 1 on a corner point below its edge: W_NN = 1/m + x²/I with I = m/6 and arm x.
    #[test]
    fn delassus_of_one_contact_is_known() {
        let cube = Body::cuboid([0.0; 3], [1.0; 3]);
        let contact = Contact { below: None, above: 0, point: [0.5, 0.0, -0.5], normal: [0.0, 0.0, 1.0], friction: 0.3 };
        let mut scene = RigidScene { bodies: vec![cube], contacts: vec![contact] };
        scene.bodies[0].velocity = [0.0, 0.0, -2.0, 0.0, 1.0, 0.0];
        let problem = scene.friction_contact();
        let expected = 1.0 / 1000.0 + 0.25 * 6.0 / 1000.0;
        // roundings
        assert!((problem.w.diagonal(0)[0] - expected).abs() < 1e-17, "{:?}", problem.w.diagonal(0));
        // u_N = v_z + (ω × x)_z = −2 − ω_y x
        assert_eq!(problem.q[0], -2.5);
    }

    #[test]
    fn turning_keeps_mass_and_trace_and_a_full_turn_everything() {
        let body = Body::cuboid([0.0; 3], [1.0, 2.0, 3.0]);
        let turned = body.clone().turned_about_y(0.7);
        let trace = |b: &Body| (0..3).map(|k| b.inertia[k][k]).sum::<f64>();
        // roundings of numbers about 1e4
        assert!((trace(&turned) - trace(&body)).abs() < 1e-10 && turned.inertia[0][2].abs() > 100.0);
        let back = turned.turned_about_y(-0.7);
        for k in 0..9 {
            assert!((back.inertia[k / 3][k % 3] - body.inertia[k / 3][k % 3]).abs() < 1e-10);
        }
    }

    #[test]
    fn frames_are_orthonormal() {
        for normal in [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.6, 0.0, 0.8], [-0.48, 0.6, 0.64]] {
            let axes = frame(normal);
            for i in 0..3 {
                for j in 0..3 {
                    let product: f64 = (0..3).map(|k| axes[i][k] * axes[j][k]).sum();
                    assert!((product - f64::from(u8::from(i == j))).abs() < 1e-15, "{normal:?}");
                }
            }
        }
    }
}
