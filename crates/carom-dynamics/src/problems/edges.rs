//! A ball (1 kg, a point) that slides without friction over the edge between a plane and a parabola, where the curvature jumps
//! [Haddouni2015, §4.3.3.4].
//!
//! ```text
//! parabola, then plane:  y = ½x² for x ≥ 0,  y = 0 for x ≤ 0;      from (2, 2) with (−1, −2)        eq. 4.31
//! plane, then parabola:  y = 0 for x ≥ 0,  y = −½x² for x ≤ 0;     from (2, 0) with (−w, 0), w = 2  eq. 4.37
//! ```
//!
//! Exact on a curve y = η(x), with the energy E per mass, G = (−η′, 1) and λ the multiplier of y − η(x):
//!
//! ```text
//! ẋ² = 2 (E − g η)/(1 + η′²),      λ = m (g + η″ ẋ²)/(1 + η′²),      ẍ = −η′ λ/m,      ÿ = λ/m − g,      t = ∫ dx/ẋ
//! ```
//!
//! The velocity is continuous at the edge; λ and ÿ jump by η″ ẋ². As a contact, the ball leaves the falling parabola where λ would be negative:
//! at the edge for w² > g, never otherwise. (The Jacobians of eq. 4.38 are printed in the wrong order.)

use super::bouncing_ball::GRAVITY;
use super::{Problem, Solution};
use crate::error::ModelError;
use crate::laws::Law;
use crate::model::Model;
use crate::relations::{CornerLaw, PieceSource, PiecewiseSource};
use crate::state::State;
use crate::systems::Linear;

/// End of both problems \[s\].
pub const END: f64 = 1.5;
/// Speed on the plane before the falling parabola \[m/s\].
pub const SPEED: f64 = 2.0;
/// E per mass of the ball that comes down the parabola, ½ (1² + 2²) + 2 g \[J/kg\].
pub const ENERGY: f64 = 2.5 + 2.0 * GRAVITY;
/// Place at which both start \[m\].
const START: f64 = 2.0;

/// The ball at a place of its path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnPath {
    /// (ẋ, ẏ) \[m/s\].
    pub velocity: [f64; 2],
    /// (ẍ, ÿ) \[m/s²\].
    pub acceleration: [f64; 2],
    /// Multiplier of the constraint y − η(x) = 0 \[N\]; the force is λ (−η′, 1).
    pub force: f64,
}

/// On a curve with slope η′ and curvature η″ at height η, moving to the left with the energy E per mass.
fn on_curve(energy: f64, [height, slope, second]: [f64; 3]) -> OnPath {
    let stretch = 1.0 + slope * slope;
    let x = -(2.0 * (energy - GRAVITY * height) / stretch).sqrt();
    let force = (GRAVITY + second * x * x) / stretch;
    OnPath { velocity: [x, slope * x], acceleration: [-slope * force, force - GRAVITY], force }
}

/// The ball of [`parabola_plane`] at x; at the edge itself, as it comes from the parabola.
#[must_use]
pub fn parabola_plane_at(x: f64) -> OnPath {
    on_curve(ENERGY, if x >= 0.0 { [0.5 * x * x, x, 1.0] } else { [0.0; 3] })
}

/// The ball of [`plane_parabola`] with the speed w ≤ √g on the plane at x; at the edge itself, as it comes from the plane.
#[must_use]
pub fn plane_parabola_at(speed: f64, x: f64) -> OnPath {
    on_curve(0.5 * speed * speed, if x >= 0.0 { [0.0; 3] } else { [-0.5 * x * x, -x, -1.0] })
}

/// Down the parabola and on along the plane, by a constraint (`Law::Bilateral`) or a contact. The edge is passed at 0.620843 s.
///
/// # Errors
/// Of a law with a coefficient out of range.
pub fn parabola_plane(law: Law) -> Result<Problem, ModelError> {
    let model = model([("x >= 0", "y - 0.5*x^2"), ("x <= 0", "y")], law)?;
    let edge = time(|x| -parabola_plane_at(x).velocity[0], 0.0, START);
    let speed = (2.0 * ENERGY).sqrt();
    let solution = move |t: f64| {
        if t >= edge {
            return (vec![-speed * (t - edge), 0.0], vec![-speed, 0.0]);
        }
        // from the start to the left: t = ∫ from x to 2 of dx/|ẋ|
        let x = place(|x| time(|x| -parabola_plane_at(x).velocity[0], x, START) - t, |x| parabola_plane_at(x).velocity[0], START);
        (vec![x, 0.5 * x * x], parabola_plane_at(x).velocity.to_vec())
    };
    let state = State { t: 0.0, q: vec![START, 2.0], v: vec![-1.0, -2.0], ..State::default() };
    Ok(Problem { model, state, end: END, solution: Solution::Exact(Box::new(solution)) })
}

/// Time at which [`parabola_plane`] passes the edge \[s\].
#[must_use]
pub fn parabola_plane_edge() -> f64 {
    time(|x| -parabola_plane_at(x).velocity[0], 0.0, START)
}

/// Along the plane with a speed w ≤ √g and down the falling parabola, by a constraint or a contact. The edge is passed at t = 2/w.
///
/// # Errors
/// Of a law with a coefficient out of range.
pub fn plane_parabola(speed: f64, law: Law) -> Result<Problem, ModelError> {
    let edge = START / speed;
    let velocity = move |x: f64| plane_parabola_at(speed, x).velocity[0];
    let solution = move |t: f64| {
        if t <= edge {
            return (vec![START - speed * t, 0.0], vec![-speed, 0.0]);
        }
        let x = place(|x| time(|x| -velocity(x), x, 0.0) - (t - edge), velocity, -speed * (t - edge));
        (vec![x, -0.5 * x * x], plane_parabola_at(speed, x).velocity.to_vec())
    };
    falling(speed, law, Solution::Exact(Box::new(solution)))
}

/// The same contact passed with w > √g: the ball leaves it at the edge and flies, y = −½ g (t − 2/w)².
///
/// # Errors
/// None for these parameters.
pub fn flight_from_edge(speed: f64) -> Result<Problem, ModelError> {
    let edge = START / speed;
    let solution = move |t: f64| {
        let flight = f64::max(t - edge, 0.0);
        (vec![START - speed * t, -0.5 * GRAVITY * flight * flight], vec![-speed, -GRAVITY * flight])
    };
    falling(speed, Law::unilateral(0.0), Solution::Exact(Box::new(solution)))
}

fn falling(speed: f64, law: Law, solution: Solution) -> Result<Problem, ModelError> {
    let model = model([("x >= 0", "y"), ("x <= 0", "y + 0.5*x^2")], law)?;
    let state = State { t: 0.0, q: vec![START, 0.0], v: vec![-speed, 0.0], ..State::default() };
    Ok(Problem { model, state, end: END, solution })
}

/// The ball on a road of two pieces, named "road".
fn model(pieces: [(&str, &str); 2], law: Law) -> Result<Model, ModelError> {
    let zero = || vec![0.0; 4];
    let system = Linear::new(vec!["x".into(), "y".into()], vec![1.0, 0.0, 0.0, 1.0], zero(), zero())?.with_force(vec![0.0, -GRAVITY])?;
    let mut model = Model::new(vec![Box::new(system)])?;
    let source = PiecewiseSource {
        name: "road".into(),
        pieces: pieces
            .iter()
            .enumerate()
            .map(|(i, (when, gap))| PieceSource {
                when: Some((format!("condition of piece {} of \"road\"", i + 1), (*when).to_owned())),
                rows: vec![(format!("piece {} of \"road\"", i + 1), (*gap).to_owned())],
            })
            .collect(),
        parameters: Vec::new(),
        corner: CornerLaw::Impact,
    };
    let relation = model.piecewise(&source)?;
    model.add_interaction("road", Box::new(relation), law)?;
    Ok(model)
}

/// Abscissae and weights of Gauss's quadrature with five points on [−1, 1].
const GAUSS: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
    (0.906_179_845_938_664, 0.236_926_885_056_189_1),
];

/// ∫ dx/speed(x): round-off with these panels for the curves above.
fn time(speed: impl Fn(f64) -> f64, from: f64, to: f64) -> f64 {
    const PANELS: usize = 64;
    let half = 0.5 * (to - from) / PANELS as f64;
    let panel = |i: usize| {
        let middle = from + (2 * i + 1) as f64 * half;
        GAUSS.iter().map(|(x, w)| w / speed(middle + half * x)).sum::<f64>()
    };
    half * (0..PANELS).map(panel).sum::<f64>()
}

/// x with `late(x)` = 0, by Newton's method: late = (time at x) − t, whose derivative is 1/ẋ.
fn place(late: impl Fn(f64) -> f64, velocity: impl Fn(f64) -> f64, guess: f64) -> f64 {
    let mut x = guess;
    for _ in 0..50 {
        let step = late(x) * velocity(x);
        x -= step;
        if step.abs() <= 1e-15 * (1.0 + x.abs()) {
            break;
        }
    }
    x
}
