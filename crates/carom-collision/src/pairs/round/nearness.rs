//! A pair of cores and the plain distance iteration of Gilbert, Johnson and Keerthi on their difference.
//!
//! ```text
//! s(n) = min over A of n·x − max over B of n·x = n·d − h_A(−n) − h_B(n),   |n| = 1, from B to A
//! ```
//! The distance of cores that are apart is max s, the depth of overlapping ones −max s.

use super::core::{Core, Smooth};
use super::simplex::Simplex;
use nalgebra::Vector3;

const MOST_ITERATIONS: usize = 64;

/// Two cores and the vector from B's centre to A's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    pub a: Core<'a>,
    pub b: Core<'a>,
    pub offset: Vector3<f64>,
}

/// How near two cores are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Nearness {
    /// A plane separates them by more than the limit.
    Beyond,
    /// Apart: the direction of two near points and their distance, at least that of the cores.
    Apart(Vector3<f64>, f64),
    /// Nearer than the resolution asked, or overlapping; a direction if there is one.
    Near(Option<Vector3<f64>>),
}

/// When the distance iteration ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    /// Cores farther apart are beyond.
    pub limit: f64,
    /// Cores nearer than this are near.
    pub resolution: f64,
    /// No need to come nearer than this.
    pub enough: f64,
    /// Upper and lower bound of the distance may differ by this fraction; the direction is then right to about its root.
    pub accuracy: f64,
}

impl<'a> Pair<'a> {
    pub fn new(a: Core<'a>, b: Core<'a>) -> Self {
        Self { a, b, offset: a.centre - b.centre }
    }

    /// Separation along a unit direction.
    pub fn separation(&self, n: &Vector3<f64>) -> f64 {
        self.offset.dot(n) - self.a.reach(&-n) - self.b.reach(n)
    }

    /// The point of A − B lowest along n.
    pub fn support(&self, n: &Vector3<f64>) -> Vector3<f64> {
        self.offset + self.a.support(&-n) - self.b.support(n)
    }

    /// Length against which roundings are measured.
    pub fn scale(&self) -> f64 {
        self.a.size + self.b.size + self.offset.amax()
    }

    /// Size of the smaller core.
    pub fn size(&self) -> f64 {
        self.a.size.min(self.b.size)
    }

    /// Support points and curvatures: s ≈ n·(offset + point_a − point_b).
    pub fn smooth(&self, n: &Vector3<f64>) -> (Smooth, Smooth) {
        let u = -n;
        (self.a.piece(&u).at(&u), self.b.piece(n).at(n))
    }

    /// Distance iteration on A shifted by a vector, from a direction.
    pub fn approach(&self, shift: &Vector3<f64>, start: &Vector3<f64>, ends: &Ends) -> Nearness {
        let mut simplex = Simplex::new(self.support(start) + shift);
        let mut last = f64::INFINITY;
        let mut direction = None;
        for _ in 0..MOST_ITERATIONS {
            let Some(nearest) = simplex.reduce() else { return Nearness::Near(direction) };
            let distance = nearest.norm();
            // no progress: roundings rule
            if distance >= last * (1.0 - 1e-14) {
                break;
            }
            if distance <= ends.resolution {
                return Nearness::Near((distance > 1e-6 * ends.resolution).then(|| nearest / distance).or(direction));
            }
            last = distance;
            let n = nearest / distance;
            direction = Some(n);
            if distance <= ends.enough {
                break;
            }
            let support = self.support(&n) + shift;
            let lower = n.dot(&support);
            if lower > ends.limit {
                return Nearness::Beyond;
            }
            if distance - lower <= ends.accuracy * distance || !simplex.push(support) {
                break;
            }
        }
        direction.map_or(Nearness::Near(None), |n| Nearness::Apart(n, last))
    }
}
