//! Polishing of a nearly best direction to round-off: nodes and crossings of arcs in closed form, arcs by Newton's
//! method in one angle, regions by Newton's method on the sphere.
//!
//! Every candidate is judged by the true separation s(n) of the two shapes, so that a wrong guess of the features can
//! only be refused, never believed.

use super::core::{Arc, ArcList, Smooth};
use super::nearness::Pair;
use nalgebra::{Matrix2, Vector2, Vector3};

/// Features within this angle of the direction are tried \[rad\].
const ANGLE: f64 = 0.03;
/// A candidate must be better than an earlier one by this fraction of the pair's scale.
const BETTER: f64 = 2e-15;
const MOST_STEPS: usize = 20;
/// Newton's method ends after a step shorter than this \[rad\].
const SMALL: f64 = 1e-9;
/// Longest step of Newton's method \[rad\].
const LONGEST: f64 = 0.2;

/// A direction and its separation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction {
    pub normal: Vector3<f64>,
    pub separation: f64,
}

struct Search<'p, 'a> {
    pair: &'p Pair<'a>,
    best: Direction,
    slack: f64,
}

impl Search<'_, '_> {
    fn consider(&mut self, n: Vector3<f64>) {
        let separation = self.pair.separation(&n);
        if separation > self.best.separation + self.slack {
            self.best = Direction { normal: n, separation };
        }
    }
}

impl Pair<'_> {
    /// The best direction among the features near `start`; `start` itself when no feature is as good.
    ///
    /// No direction is better than `bound`: one that reaches it ends the search.
    pub fn polish(&self, start: &Direction, bound: f64) -> Direction {
        let slack = BETTER * self.scale();
        let n = start.normal;
        // The start is inexact: a feature as good within roundings replaces it.
        let handicap = Direction { normal: n, separation: start.separation - 2.0 * slack };
        let mut search = Search { pair: self, best: handicap, slack };
        let cosine = 1.0 - 0.5 * ANGLE * ANGLE;
        self.b.nodes_near(&n, cosine, |normal| search.consider(normal));
        self.a.nodes_near(&-n, cosine, |normal| search.consider(-normal));
        if search.best.separation >= bound - slack && search.best.normal != n {
            return search.best;
        }
        let (mut arcs_a, mut arcs_b) = (ArcList::new(), ArcList::new());
        self.a.arcs_near(&-n, ANGLE, &mut arcs_a);
        self.b.arcs_near(&n, ANGLE, &mut arcs_b);
        for arc_a in arcs_a.iter() {
            for arc_b in arcs_b.iter() {
                // A's directions are −n
                if let Some(crossing) = crossing((&-arc_a.axis, arc_a.level), (&arc_b.axis, arc_b.level), &n) {
                    search.consider(crossing);
                }
            }
        }
        if search.best.separation >= bound - slack && search.best.normal != n {
            return search.best;
        }
        for arc in arcs_a.iter() {
            let own = |n: &Vector3<f64>| (arc.piece.at(&-n), self.b.piece(n).at(n));
            self.along_arc(&Arc { axis: -arc.axis, ..*arc }, own, &n).into_iter().for_each(|n| search.consider(n));
        }
        for arc in arcs_b.iter() {
            let own = |n: &Vector3<f64>| (self.a.piece(&-n).at(&-n), arc.piece.at(n));
            self.along_arc(arc, own, &n).into_iter().for_each(|n| search.consider(n));
        }
        self.on_sphere(&n).into_iter().for_each(|n| search.consider(n));
        if search.best.normal == n { *start } else { search.best }
    }

    /// Maximum of s along an arc by Newton's method: s' = x·n', s'' = x·n'' − n'ᵀ(∇²h_A + ∇²h_B) n', with n' = axis × n.
    fn along_arc(&self, arc: &Arc, pieces: impl Fn(&Vector3<f64>) -> (Smooth, Smooth), start: &Vector3<f64>) -> Option<Vector3<f64>> {
        let radius = (1.0 - arc.level * arc.level).sqrt();
        let on_arc = |radial: &Vector3<f64>| arc.axis * arc.level + radial * radius;
        let mut radial = (start - arc.axis * arc.axis.dot(start)).try_normalize(1e-6)?;
        let mut last = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            let n = on_arc(&radial);
            let (a, b) = pieces(&n);
            let x = self.offset + a.point - b.point;
            let across = arc.axis.cross(&radial);
            let bend = |piece: &Smooth| piece.bend * piece.tangent.dot(&across).powi(2);
            let slope = x.dot(&across);
            let curvature = x.dot(&radial) + radius * (bend(&a) + bend(&b));
            // the maximum along the arc needs a positive −s''
            if curvature <= 0.0 {
                return None;
            }
            let step = (slope / curvature).clamp(-LONGEST, LONGEST);
            radial = (radial + across * step).normalize();
            // quadratic convergence: the next step would be below roundings
            if step.abs() < SMALL {
                break;
            }
            // to and fro about a kink
            if step.abs() < LONGEST && step.abs() > 0.7 * last {
                return None;
            }
            last = step.abs();
        }
        Some(on_arc(&radial).normalize())
    }

    /// Maximum of s within a region by Newton's method on the sphere: (Pᵀ(∇²h_A + ∇²h_B)P + s) ξ = Pᵀx.
    fn on_sphere(&self, start: &Vector3<f64>) -> Option<Vector3<f64>> {
        let mut n = *start;
        for _ in 0..MOST_STEPS {
            let (a, b) = self.smooth(&n);
            let x = self.offset + a.point - b.point;
            let e1 = super::super::capsule_sphere::across(&n);
            let e2 = n.cross(&e1);
            let project = |v: &Vector3<f64>| Vector2::new(e1.dot(v), e2.dot(v));
            let (ta, tb) = (project(&a.tangent), project(&b.tangent));
            let hessian = ta * ta.transpose() * a.bend + tb * tb.transpose() * b.bend + Matrix2::identity() * n.dot(&x);
            let determinant = hessian.determinant();
            if hessian.trace() <= 0.0 || determinant <= 0.0 {
                return None;
            }
            let g = project(&x);
            let inverse = Matrix2::new(hessian.m22, -hessian.m12, -hessian.m21, hessian.m11);
            let step = inverse * g / determinant;
            let length = step.norm();
            let mut step = if length > LONGEST { step * (LONGEST / length) } else { step };
            let moved = |step: &Vector2<f64>| (n + e1 * step.x + e2 * step.y).normalize();
            let mut next = moved(&step);
            // far from the maximum the step may leave the region: halve it while the true separation falls
            if length > 1e-6 {
                let now = self.separation(&n);
                for _ in 0..5 {
                    if self.separation(&next) >= now {
                        break;
                    }
                    step *= 0.3;
                    next = moved(&step);
                }
                // a kink that the region's formula does not see
                if self.separation(&next) < now {
                    return None;
                }
            }
            n = next;
            if length < SMALL {
                break;
            }
        }
        n.iter().all(|x| x.is_finite()).then_some(n)
    }
}

/// The direction with n·a = ka and n·b = kb nearest to a given one.
fn crossing((a, ka): (&Vector3<f64>, f64), (b, kb): (&Vector3<f64>, f64), near: &Vector3<f64>) -> Option<Vector3<f64>> {
    let q = a.cross(b);
    let square = q.norm_squared();
    if square < 1e-16 {
        return None;
    }
    let cosine = a.dot(b);
    let plane = (a * (ka - kb * cosine) + b * (kb - ka * cosine)) / square;
    let rest = (1.0 - plane.norm_squared()) / square;
    if rest < 0.0 {
        return None;
    }
    let n = plane + q * rest.sqrt().copysign(q.dot(near));
    Some(n.normalize())
}
