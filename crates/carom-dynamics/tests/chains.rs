//! Points and discs over chains of segments and arcs: distances, tangents, a slide down a bowl.

use crate::edges::points;
use crate::support::run;
use carom_dynamics::relations::{ChainSource, CornerLaw, PiecewiseRelation, Primitive, Relation, Rows};
use carom_dynamics::schemes::MoreauJeanParams;
use carom_dynamics::systems::{Linear, Scratch};
use carom_dynamics::{Law, Model, State};
use std::f64::consts::{FRAC_PI_2, PI};

/// A point or disc at (x, y), turned by a.
fn source(radius: f64, chain: Vec<Primitive>) -> ChainSource {
    ChainSource {
        name: "road".into(),
        point: [("x of the point".into(), "x".into()), ("y of the point".into(), "y".into())],
        radius,
        angle: Some(("angle".into(), "a".into())),
        tangent: true,
        chain,
        parameters: Vec::new(),
        corner: CornerLaw::Impact,
    }
}

fn segment(from: [f64; 2], to: [f64; 2]) -> Primitive {
    Primitive::Segment { from, to }
}

/// A plateau, down a slope (convex), along a floor (concave), up a quarter of a circle and a wall (both smooth).
fn road() -> Vec<Primitive> {
    vec![
        segment([-3.0, 1.0], [-1.0, 1.0]),
        segment([-1.0, 1.0], [0.0, 0.0]),
        segment([0.0, 0.0], [1.0, 0.0]),
        Primitive::Arc { centre: [1.0, 1.0], radius: 1.0, from: -FRAC_PI_2, to: 0.0 },
        segment([2.0, 1.0], [2.0, 3.0]),
    ]
}

/// A disc-shaped island, walked clockwise, between two shores: a closed chain of two arcs to the right, seen from outside.
fn island() -> Vec<Primitive> {
    let arc = |from: f64, to: f64| Primitive::Arc { centre: [0.5, 0.2], radius: 0.7, from, to };
    vec![arc(PI, FRAC_PI_2), arc(FRAC_PI_2, -PI)]
}

/// A square walked clockwise: the free side is outside.
fn square() -> Vec<Primitive> {
    let corners = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]];
    corners.windows(2).map(|pair| segment(pair[0], pair[1])).collect()
}

/// A corner: its place, the directions before and after.
type Corner = ([f64; 2], [f64; 2], [f64; 2]);

/// A chain with the rectangle that is looked at, its free side and its convex corners.
type Case<'a> = (&'a str, Vec<Primitive>, ([f64; 2], [f64; 2]), FreeSide<'a>, &'a [Corner]);
type FreeSide<'a> = &'a dyn Fn([f64; 2]) -> bool;

/// Distance from a point to the nearest place of a chain, by the definition.
fn nearest(chain: &[Primitive], p: [f64; 2]) -> f64 {
    let foot = |primitive: &Primitive| match *primitive {
        Primitive::Segment { from, to } => {
            let d = [to[0] - from[0], to[1] - from[1]];
            let s = ((p[0] - from[0]) * d[0] + (p[1] - from[1]) * d[1]) / (d[0] * d[0] + d[1] * d[1]);
            let s = s.clamp(0.0, 1.0);
            [from[0] + s * d[0], from[1] + s * d[1]]
        }
        Primitive::Arc { centre, radius, from, to } => {
            let at = |angle: f64| [centre[0] + radius * angle.cos(), centre[1] + radius * angle.sin()];
            let (low, high) = (from.min(to), from.max(to));
            let angle = low + ((p[1] - centre[1]).atan2(p[0] - centre[0]) - low).rem_euclid(2.0 * PI);
            if angle <= high {
                return at(angle);
            }
            let (a, b) = (at(from), at(to));
            if (p[0] - a[0]).hypot(p[1] - a[1]) < (p[0] - b[0]).hypot(p[1] - b[1]) { a } else { b }
        }
    };
    chain.iter().map(foot).map(|f| (p[0] - f[0]).hypot(p[1] - f[1])).fold(f64::INFINITY, f64::min)
}

fn gap(relation: &PiecewiseRelation, p: [f64; 2]) -> f64 {
    let mut g = [0.0; 2];
    relation.position(0.0, &[p[0], p[1], 0.0], &mut g, &mut Scratch::default()).unwrap();
    g[0]
}

/// A grid of places in a rectangle that no line of a chain runs through.
fn grid(x: [f64; 2], y: [f64; 2]) -> impl Iterator<Item = [f64; 2]> {
    let place = move |[from, to]: [f64; 2], i: i32| from + (to - from) * (f64::from(i) + 0.517) / 60.0;
    (0..60).flat_map(move |i| (0..60).map(move |j| [place(x, i), place(y, j)]))
}

/// On the free side the gap of a disc is the distance to the chain less its radius, everywhere; that of a point as well, but in the wedge of a
/// convex corner, where it is smaller.
#[test]
fn gaps_are_distances() {
    let above = |p: [f64; 2]| {
        let height = match p[0] {
            x if x < -1.0 => 1.0,
            x if x < 0.0 => -x,
            x if x < 1.0 => 0.0,
            x => 1.0 - (1.0 - (x - 1.0).powi(2)).sqrt(),
        };
        p[1] > height
    };
    let outside = |p: [f64; 2]| (p[0] - 0.5).hypot(p[1] - 0.2) > 0.7;
    let beside = |p: [f64; 2]| !(0.0..=1.0).contains(&p[0]) || !(0.0..=1.0).contains(&p[1]);
    let everywhere = ([-2.0, 2.5], [-1.5, 2.5]);
    // convex corners with the directions before and after
    let up = [[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]];
    let around = |i: usize, corner: [f64; 2]| (corner, up[i], up[(i + 1) % 4]);
    let cases: [Case<'_>; 3] = [
        ("road", road(), ([-2.9, 1.99], [0.0, 2.9]), &above, &[([-1.0, 1.0], [1.0, 0.0], [1.0, -1.0])]),
        ("island", island(), everywhere, &outside, &[]),
        (
            "square",
            square(),
            everywhere,
            &beside,
            &[around(0, [0.0, 1.0]), around(1, [1.0, 1.0]), around(2, [1.0, 0.0]), around(3, [0.0, 0.0])],
        ),
    ];
    for (name, chain, (x, y), free, corners) in cases {
        for radius in [0.0, 0.1] {
            let relation = points(&["x", "y", "a"]).chain(&source(radius, chain.clone())).unwrap();
            let (mut n, mut smaller) = (0, 0);
            for p in grid(x, y).filter(|&p| free(p)) {
                let distance = nearest(&chain, p);
                let found = gap(&relation, p) + radius;
                n += 1;
                let along = |c: [f64; 2], d: [f64; 2]| (p[0] - c[0]) * d[0] + (p[1] - c[1]) * d[1];
                let in_wedge = corners.iter().any(|&(c, before, after)| along(c, before) > 0.0 && along(c, after) < 0.0);
                if radius == 0.0 && in_wedge {
                    smaller += 1;
                    assert!(found > 0.0 && found <= distance + 1e-14, "{name}: point {p:?}: {found} {distance}");
                } else {
                    assert!((found - distance).abs() < 1e-14, "{name}, r = {radius}: point {p:?}: {found} {distance}");
                }
            }
            assert!(n > 1000 && (smaller > 50) == (radius == 0.0 && !corners.is_empty()), "{name}: {n} places, {smaller}");
        }
    }
}

/// Where a disc touches, the rate of the tangent row is the velocity of its touching point along the chain; the gap's is that across.
#[test]
fn tangents_are_velocities_of_the_touching_point() {
    let radius = 0.1;
    let (vx, vy, spin) = (0.7, -0.4, 3.0);
    let arch = vec![segment([-2.0, 0.0], [-1.0, 0.0]), Primitive::Arc { centre: [0.0, 0.0], radius: 1.0, from: PI, to: 0.0 }];
    // places on the free side: feet with their normals
    let (n, d) = (0.5_f64.sqrt(), 0.3_f64);
    let on_road: &[([f64; 2], [f64; 2])] = &[
        ([-2.0, 1.0], [0.0, 1.0]),
        ([-1.0, 1.0], [d.sin(), d.cos()]),
        ([-0.5, 0.5], [n, n]),
        ([0.5, 0.0], [0.0, 1.0]),
        ([1.0 + n, 1.0 - n], [-n, n]),
        ([2.0, 2.0], [-1.0, 0.0]),
    ];
    let on_arch: &[([f64; 2], [f64; 2])] = &[([n, n], [n, n]), ([-n, n], [-n, n]), ([0.0, 1.0], [0.0, 1.0])];
    for (chain, places) in [(road(), on_road), (arch, on_arch)] {
        let relation = points(&["x", "y", "a"]).chain(&source(radius, chain)).unwrap();
        for (k, &(foot, normal)) in places.iter().enumerate() {
            let q = [foot[0] + radius * normal[0], foot[1] + radius * normal[1], 0.3];
            let (mut g, mut rows, mut bias, mut scratch) = ([0.0; 2], [0.0; 6], [0.0; 2], Scratch::default());
            relation.position(0.0, &q, &mut g, &mut scratch).unwrap();
            relation.jacobian(0.0, &q, Rows { jacobian: &mut rows, bias: &mut bias }, &mut scratch).unwrap();
            assert!(g[0].abs() < 1e-15, "place {k} touches: {}", g[0]);
            let rate = |row: &[f64]| row[0] * vx + row[1] * vy + row[2] * spin;
            // the touching point lies at −r n: it moves with v + ω × (−r n) = v + ω r (n_y, −n_x)
            let touching = [vx + spin * radius * normal[1], vy - spin * radius * normal[0]];
            let (across, along) = (touching[0] * normal[0] + touching[1] * normal[1], touching[0] * normal[1] - touching[1] * normal[0]);
            assert!((rate(&rows[..3]) - across).abs() < 1e-14 && (rate(&rows[3..]) - along).abs() < 1e-14, "place {k}: {rows:?}");
        }
    }
}

/// A point slides down a slope into a bowl and up again: time-stepping follows the chain over its smooth edges, with losses that vanish with h.
#[test]
fn slides_through_a_bowl() {
    let system = Linear::new(["x", "y", "a"].map(String::from).to_vec(), unit(3), vec![0.0; 9], vec![0.0; 9]).unwrap();
    let mut model = Model::new(vec![Box::new(system.with_force(vec![0.0, -9.81, 0.0]).unwrap())]).unwrap();
    let side = 0.5_f64.sqrt();
    let bowl = Primitive::Arc { centre: [0.0, 0.0], radius: 1.0, from: -0.75 * PI, to: -0.25 * PI };
    let chain = vec![segment([-side - 2.0, -side + 2.0], [-side, -side]), bowl, segment([side, -side], [side + 2.0, -side + 2.0])];
    let relation = model.chain(&ChainSource { tangent: false, ..source(0.0, chain) }).unwrap();
    model.add_interaction("road", Box::new(relation), Law::unilateral(0.0)).unwrap();
    let state = State { t: 0.0, q: vec![-side - 1.0, -side + 1.0, 0.0], v: vec![0.0; 3], ..State::default() };
    let mut losses = Vec::new();
    for h in [2e-3, 1e-3] {
        let done = run(&model, &state, 1.6, h, MoreauJeanParams { theta: 0.5, ..Default::default() });
        let least = done.keep.frames.iter().map(|f| nearest_gap(&model, &f.q)).fold(f64::INFINITY, f64::min);
        let energy = |f: &crate::support::Kept| f.mechanical;
        let (first, last) = (energy(&done.keep.frames[0]), done.keep.frames.iter().map(energy).fold(f64::INFINITY, f64::min));
        assert!(least > -50.0 * h * h, "h = {h}: {least}");
        assert!(done.state.q[0] > side, "it has passed the bowl: {:?}", done.state.q);
        losses.push(first - last);
    }
    println!("energy lost: {losses:?} J of {} J", 9.81);
    assert!(losses[1] > 0.0 && (losses[0] / losses[1] - 2.0).abs() < 0.05, "first order: {losses:?}");
}

fn unit(n: usize) -> Vec<f64> {
    (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 0.0 }).collect()
}

fn nearest_gap(model: &Model, q: &[f64]) -> f64 {
    let mut g = [0.0];
    model.interactions()[0].relation().position(0.0, q, &mut g, &mut Scratch::default()).unwrap();
    g[0]
}
