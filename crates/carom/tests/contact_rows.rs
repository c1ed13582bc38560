//! The rows of recorded contacts, written from geometry: what they say of velocities, and what their impulses do to bodies.

use crate::watch::{Seen, Watched};
use carom::dynamics::detection::{ContactPoint, WORLD};
use carom::dynamics::recording::{ContactRecord, Source};
use carom::dynamics::relations::Rows;
use carom::dynamics::relations::contact::turned_tangents;
use carom::dynamics::report::Violations;
use carom::dynamics::systems::rigid_bodies::{angular, centre, orientation};
use carom::dynamics::systems::{Instant, Scratch};
use carom::dynamics::{ContactLaw, Model};
use nalgebra::{UnitQuaternion, Vector3};

/// Sees contacts with detectors of its own.
pub struct Eye<'m> {
    model: &'m Model,
    detectors: Detectors,
    /// Contact points between shapes at the last instant, with their laws.
    points: Vec<(ContactPoint, ContactLaw)>,
    found: Vec<ContactPoint>,
    scratch: Scratch,
}

type Detectors =
    (Option<Box<dyn carom::dynamics::detection::ContactDetector>>, Option<Box<dyn carom::dynamics::detection::PlanarDetector>>);

impl<'m> Eye<'m> {
    pub fn new(watched: &'m Watched) -> Self {
        let model = &watched.simulation.file.model;
        let detectors = (model.detector().map(|d| d.boxed_clone()), model.planar_detector().map(|d| d.boxed_clone()));
        Eye { model, detectors, points: Vec::new(), found: Vec::new(), scratch: Scratch::default() }
    }

    /// Looks at an instant, for the contacts that may close within `horizon` seconds.
    pub fn look(&mut self, at: &Seen, horizon: f64, skin: f64) {
        self.points.clear();
        let systems = self.model.systems();
        let of = |bodies: &carom::dynamics::systems::Bodies| Instant { t: at.t, q: &at.q[bodies.q.clone()], v: &at.v[bodies.v.clone()] };
        if let (Some(detector), Some(bodies)) = (&mut self.detectors.0, systems.bodies()) {
            self.found.clear();
            detector.set_skin(skin);
            detector.detect(of(bodies), horizon, &mut self.found).unwrap();
            self.points.extend(self.found.iter().map(|point| (*point, detector.laws()[usize::from(point.law)])));
        }
        if let (Some(detector), Some(bodies)) = (&mut self.detectors.1, systems.planar_bodies()) {
            self.found.clear();
            detector.detect(of(bodies), horizon, &mut self.found).unwrap();
            self.points.extend(self.found.iter().map(|point| (*point, detector.laws()[usize::from(point.law)])));
        }
    }

    /// How far an instant violates its contacts and constraints.
    pub fn violations(&mut self, at: &Seen) -> Violations {
        self.look(at, 0.0, 0.0);
        let mut worst = Violations::default();
        let n_rigid = self.model.interactions().iter().filter(|i| i.is_contact()).count();
        let gaps = self.points.iter().map(|(point, _)| point.gap).chain(at.gaps[..n_rigid].iter().copied());
        worst.penetration = gaps.fold(0.0, |deepest, gap| deepest.max(-gap));
        for i in (0..self.model.interactions().len()).filter(|&i| self.model.interactions()[i].is_bilateral()) {
            let relation = self.model.interactions()[i].relation();
            let mut g = vec![0.0; relation.n_rows()];
            relation.position(at.t, &at.q, &mut g, &mut self.scratch).unwrap();
            worst.constraint = g.iter().fold(worst.constraint, |worst, g| worst.max(g.abs()));
            let rows = self.formula_rows(i, at);
            worst.constraint_velocity = rows.iter().fold(worst.constraint_velocity, |worst, row| worst.max(row.velocity(&at.v).abs()));
        }
        worst
    }

    /// Rows of an interaction by formula at an instant.
    fn formula_rows(&mut self, i: usize, at: &Seen) -> Vec<Row> {
        let relation = self.model.interactions()[i].relation();
        let (n, columns) = (relation.n_rows(), relation.velocities());
        let (mut jacobian, mut bias) = (vec![0.0; n * columns.len()], vec![0.0; n]);
        relation.jacobian(at.t, &at.q, Rows { jacobian: &mut jacobian, bias: &mut bias }, &mut self.scratch).unwrap();
        let rows = jacobian.chunks_exact(columns.len()).zip(bias);
        rows.map(|(row, bias)| Row { entries: columns.iter().copied().zip(row.iter().copied()).collect(), bias, bias_change: 0.0 })
            .collect()
    }

    /// Law and rows of a recorded contact in the step of `h` seconds from the instant last looked at; `None` where it is no contact or none is seen there, no
    /// rows where they change within the step.
    pub fn contact(&mut self, record: &ContactRecord, start: &Seen, h: f64) -> Option<(ContactLaw, Option<Vec<Row>>)> {
        match record.source {
            Source::Interaction(i) => {
                let interaction = &self.model.interactions()[i as usize];
                let (law, is_constant) = (*interaction.law().contact()?, interaction.relation().is_constant());
                Some((law, is_constant.then(|| self.formula_rows(i as usize, start))))
            }
            Source::Colliders(a, b) => {
                let of_pair = self.points.iter().filter(|(point, _)| (point.key.collider_a, point.key.collider_b) == (a, b));
                let distance = |point: &ContactPoint| (point.point - record.point).norm() + (point.normal - record.normal).norm();
                let (point, law) = of_pair.min_by(|x, y| distance(&x.0).total_cmp(&distance(&y.0)))?;
                // rounding of points metres from the origin
                if distance(point) > 1e-9 {
                    return None;
                }
                Some((*law, Some(self.rows_between(point, record.dim, (start, h)))))
            }
        }
    }

    /// Rows of a contact between bodies: the relative velocity of the material points along n, t₁, t₂, and the relative angular velocity about
    /// (n), (t₁, t₂) or (t₁, t₂, n). Bodies have turned as they will half way through the step.
    fn rows_between(&self, point: &ContactPoint, dim: usize, (start, h): (&Seen, f64)) -> Vec<Row> {
        let n = point.normal;
        let systems = self.model.systems();
        // the surface of an obstacle: its velocity at the end of the step, as its rate foresees it
        let own_rate = |d: Vector3<f64>| point.surface.map_or(0.0, |surface| -d.dot(&surface.acceleration));
        let own_speed = |d: Vector3<f64>| point.surface.map_or(0.0, |surface| -d.dot(&surface.velocity)) + h * own_rate(d);
        if point.planar {
            let bodies = systems.planar_bodies().unwrap();
            let along = |d: Vector3<f64>| {
                let sides = [(point.body_a, 1.0), (point.body_b, -1.0)].into_iter().filter(|(body, _)| *body != WORLD);
                let entries = sides.flat_map(|(body, sign)| {
                    let (q, v) = (bodies.q.start + 3 * body as usize, bodies.v.start + 3 * body as usize);
                    let arm = point.point - Vector3::new(start.q[q], start.q[q + 1], 0.0);
                    [(v, sign * d.x), (v + 1, sign * d.y), (v + 2, sign * arm.cross(&d).z)]
                });
                Row { entries: entries.collect(), bias: own_speed(d), bias_change: h * own_rate(d) }
            };
            return [n, Vector3::new(-n.y, n.x, 0.0)].into_iter().take(dim).map(along).collect();
        }
        let bodies = systems.bodies().unwrap();
        let (q, v) = (&start.q[bodies.q.clone()], &start.v[bodies.v.clone()]);
        let (t1, t2) = turned_tangents(&n, point.turn);
        let row = |d: Vector3<f64>, is_turn: bool| {
            let sides = [(point.body_a, 1.0), (point.body_b, -1.0)].into_iter().filter(|(body, _)| *body != WORLD);
            let entries = sides.flat_map(|(body, sign)| {
                let index = body as usize;
                let half_way = orientation(q, index) * UnitQuaternion::from_scaled_axis(angular(v, index) * (0.5 * h));
                let moment = if is_turn { d } else { (point.point - centre(q, index)).cross(&d) };
                let own = half_way.inverse_transform_vector(&moment) * sign;
                let linear = if is_turn { Vector3::zeros() } else { d * sign };
                let first = bodies.v.start + 6 * index;
                (0..3).map(move |k| (first + k, linear[k])).chain((0..3).map(move |k| (first + 3 + k, own[k])))
            });
            let (bias, bias_change) = if is_turn { (0.0, 0.0) } else { (own_speed(d), h * own_rate(d)) };
            Row { entries: entries.collect(), bias, bias_change }
        };
        let turns: &[Vector3<f64>] = match dim {
            4 => &[n],
            5 => &[t1, t2],
            6 => &[t1, t2, n],
            _ => &[],
        };
        [n, t1, t2].into_iter().take(dim).map(|d| row(d, false)).chain(turns.iter().map(|d| row(*d, true))).collect()
    }
}

/// One row of u = G v + b.
pub struct Row {
    pub entries: Vec<(usize, f64)>,
    /// b at the end of the step, and what it gained over it.
    pub bias: f64,
    pub bias_change: f64,
}

impl Row {
    pub fn velocity(&self, v: &[f64]) -> f64 {
        self.bias + self.entries.iter().map(|&(j, g)| g * v[j]).sum::<f64>()
    }
}
