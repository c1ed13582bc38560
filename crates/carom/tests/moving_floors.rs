//! A floor that moves is a floor at rest in its own frame, with inertial forces: motion, energies and the work of the floor.
//!
//! The floor moves by a t²/2 + u t, so that the inertial force −m a is constant and both scenes are the same step by step, not only in the limit.

use crate::support::{Done, run_text};
use std::fmt::Write;

const U: [f64; 2] = [0.4, 0.3];
const A: [f64; 2] = [1.5, 2.0];
const G: f64 = 9.81;
const MASS: f64 = 2.0;
const END: f64 = 0.4;
const STEP: f64 = 1e-3;

/// What the body falls on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Floor {
    /// A contact by formula.
    Formula,
    /// A body that moves as prescribed.
    Shape,
    /// A body at rest whose surface runs.
    Belt,
    /// A planar obstacle that moves as prescribed.
    Planar,
}

impl Floor {
    /// Velocity and acceleration of its surface along x and upwards.
    fn motion(self) -> ([f64; 2], [f64; 2]) {
        if self == Floor::Belt { ([U[0], 0.0], [A[0], 0.0]) } else { (U, A) }
    }

    /// The scene in the laboratory, or in the frame of the floor.
    fn scene(self, law: &str, method: &str, in_own_frame: bool) -> String {
        let (u, a) = self.motion();
        let (u0, a0) = if in_own_frame { (u, a) } else { ([0.0; 2], [0.0; 2]) };
        let (vx, vz) = (1.0 - u0[0], -0.2 - u0[1]);
        let path = |k: usize| if in_own_frame { "0".to_owned() } else { format!("{}*t + {}*t^2", u[k], 0.5 * a[k]) };
        let (x, z) = (path(0), path(1));
        let mut text = match self {
            Floor::Planar => format!("gravity = [{}, {}]\n", -a0[0], -G - a0[1]),
            _ => format!("gravity = [{}, 0, {}]\n", -a0[0], -G - a0[1]),
        };
        // a sphere, and a particle that cannot turn
        let body = format!(
            "name = \"ball\"\nmass = {MASS}\nposition = [0, 0, 0.12]\nvelocity = [{vx}, 0.5, {vz}]\nangular_velocity = [1, 2, 3]\n"
        );
        let pair = format!("[[material]]\nname = \"ball\"\n[[material_pair]]\nmaterials = [\"ball\", \"ball\"]\n{law}\n");
        let floor = "[[body]]\nname = \"floor\"\nfixed = true\nshape = { kind = \"plane\" }\n";
        let done = match self {
            Floor::Formula => write!(
                text,
                "[[body]]\n{body}inertia = [1, 1, 1]\n[[contact]]\nname = \"floor\"\ngap = \"ball.z - 0.1 - ({z})\"\ntangents = [\"ball.x - ({x})\", \"ball.y\"]\n{law}\n"
            ),
            Floor::Shape => write!(
                text,
                "{pair}[[body]]\n{body}shape = {{ kind = \"sphere\", radius = 0.1 }}\n{floor}motion = {{ x = \"{x}\", z = \"{z}\" }}\n"
            ),
            Floor::Belt => {
                let speed = if in_own_frame { "0".to_owned() } else { format!("{} + {}*t", u[0], a[0]) };
                write!(
                    text,
                    "{pair}[[body]]\n{body}shape = {{ kind = \"sphere\", radius = 0.1 }}\n{floor}surface = {{ velocity = [\"{speed}\", 0, 0] }}\n"
                )
            }
            Floor::Planar => write!(
                text,
                "{pair}[[planar_body]]\nname = \"ball\"\nmass = {MASS}\nposition = [0, 0.12]\nvelocity = [{vx}, {vz}]\nangular_velocity = 3\nshape = {{ kind = \"disk\", radius = 0.1 }}\n[[obstacle]]\nname = \"floor\"\nshape = {{ kind = \"box\", size = [20, 1] }}\nposition = [0, -0.5]\nmotion = {{ x = \"{x}\", y = \"{z}\" }}\n"
            ),
        };
        done.unwrap();
        write!(text, "[simulation]\nend = {END}\n{method}\n").unwrap();
        text
    }
}

/// Laws of the contact: name, its lines.
const LAWS: [(&str, &str); 4] = [
    ("inelastic", "friction = 0.3"),
    ("rebounds", "friction = 0.3\nrestitution = 0.6"),
    ("ellipse", "restitution = 0.5\nfriction = { kind = \"elliptic\", coefficients = [0.1, 0.25], direction = [1, 0.5, 0] }"),
    ("super-ball", "friction = 0.3\nrestitution = 0.5\ntangential_restitution = 0.4"),
];

/// How the motion is computed: name, lines of `[simulation]`, and by how much places may differ between the frames [m]. The first and the last are
/// the same in both but for rounding and for the integrator; `moreau-gap` takes the floor's velocity at the end of the step in which a body closes, ½ h² a
/// of the way, and its rebounds differ by the time of one step.
const METHODS: [(&str, &str, f64); 4] = [
    ("moreau-jean", "step = 1e-3\nscheme = \"moreau-jean\"", 1e-9),
    ("moreau-gap", "step = 1e-3\nscheme = \"moreau-gap\"", 2e-3),
    ("many", "step = 1e-3\nscheme = { kind = \"moreau-gap\", many = 1, sweeps = { tolerance = 1e-13 } }", 2e-3),
    ("located", "strategy = \"event-driven\"\nintegrator = { kind = \"hem5\", tolerance = 1e-10 }", 1e-9),
];

#[test]
fn a_moving_floor_is_one_at_rest_in_its_own_frame() {
    for floor in [Floor::Formula, Floor::Shape, Floor::Belt, Floor::Planar] {
        for (law_name, law) in LAWS {
            if floor == Floor::Planar && law_name == "ellipse" {
                continue;
            }
            let law = if floor == Floor::Formula { law.replace(", direction = [1, 0.5, 0]", "") } else { law.to_owned() };
            for (method_name, method, apart) in METHODS {
                let [lab, own] = [false, true].map(|in_own_frame| run_text(&floor.scene(&law, method, in_own_frame)));
                let name = format!("{floor:?}, {law_name}, {method_name}");
                let is_located = method_name == "located";
                // a belt does not move
                let apart = if floor == Floor::Belt { f64::min(apart, 1e-5) } else { apart };
                let (places, speeds) = differences(floor, (&lab, &own), is_located);
                assert!(places < apart, "{name}: {places:e} m apart");
                // rebounds at other times are other velocities in between
                assert!(speeds < 1e-9 || apart > 1e-4, "{name}: {speeds:e} m/s apart");
                // energies: relative velocities and impulses are the same, the work is that of the impulses at the floor's velocity
                let (x, y) = (&lab.certificate.last, &own.certificate.last);
                let splits = floor != Floor::Formula || is_located;
                let energy = if apart > 1e-4 { 25.0 * STEP } else { 1e-9 };
                for (what, x, y) in
                    [("impacts", x.dissipated_impact, y.dissipated_impact), ("friction", x.dissipated_friction, y.dissipated_friction)]
                {
                    assert!((x - y).abs() < energy || !splits, "{name}: {x} J by {what}, {y} J in the frame of the floor");
                }
                let work = work_of_floor(floor, &lab);
                assert!(is_located || !splits || (x.work - work).abs() < 1e-9, "{name}: work {}, of the impulses {work}", x.work);
                // steps end within impacts where contacts close by their gaps; located ones leave the integrator's tolerance
                let error = if apart < 1e-8 { 2e-6 } else { 25.0 * STEP };
                for (which, done) in [("laboratory", &lab), ("floor", &own)] {
                    assert!(
                        done.certificate.energy_error().abs() < error,
                        "{name}: {:e} J in the {which}",
                        done.certificate.energy_error()
                    );
                }
                assert!(y.dissipated_impact > 0.4 && y.dissipated_friction > 0.1, "{name}: it bounces and slides");
            }
        }
    }
}

/// What goes as work from a floor by formula to the body is not lost in the contact.
#[test]
#[ignore = "contacts by formula account work and dissipation with the floor's velocity at the end of the step, not its mean: of 0.74 J 1.04e-2 J at 1 ms, first order"]
fn contacts_by_formula_split_work_and_dissipation_as_shapes_do() {
    let (_, law) = LAWS[0];
    let [lab, own] = [false, true].map(|in_own_frame| run_text(&Floor::Formula.scene(law, METHODS[0].1, in_own_frame)));
    let (x, y) = (lab.certificate.last.dissipated_impact, own.certificate.last.dissipated_impact);
    assert!((x - y).abs() < 1e-9, "{x} {y}");
    assert!((lab.certificate.last.work - work_of_floor(Floor::Formula, &lab)).abs() < 1e-9);
}

/// Coordinates along x and upwards.
fn axes(floor: Floor) -> [usize; 2] {
    if floor == Floor::Planar { [0, 1] } else { [0, 2] }
}

/// Largest differences of places and velocities as the floor sees them: in all frames, or in the last one.
fn differences(floor: Floor, (lab, own): (&Done, &Done), only_last: bool) -> (f64, f64) {
    let (u, a) = floor.motion();
    let ((mut places, mut speeds), last) = ((0.0_f64, 0.0_f64), lab.keep.t.len() - 1);
    let instants: Vec<(usize, usize)> = if only_last {
        vec![(last, own.keep.t.len() - 1)]
    } else {
        assert_eq!(lab.keep.t.len(), own.keep.t.len());
        (0..=last).map(|i| (i, i)).collect()
    };
    for (i, j) in instants {
        let (t, mut q, mut v) = (lab.keep.t[i], lab.keep.q[i].clone(), lab.keep.v[i].clone());
        for (k, axis) in axes(floor).into_iter().enumerate() {
            q[axis] -= u[k] * t + 0.5 * a[k] * t * t;
            v[axis] -= u[k] + a[k] * t;
        }
        let worst = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        places = places.max(worst(&q, &own.keep.q[j]));
        speeds = speeds.max(worst(&v, &own.keep.v[j]));
    }
    (places, speeds)
}

/// The impulses of the floor, m Δv − m g h, times its velocity half way through each step.
fn work_of_floor(floor: Floor, lab: &Done) -> f64 {
    let ((u, a), mut work) = (floor.motion(), 0.0);
    for (t, v) in lab.keep.t.windows(2).zip(lab.keep.v.windows(2)) {
        for (k, axis) in axes(floor).into_iter().enumerate() {
            let weight = if k == 1 { MASS * G } else { 0.0 };
            let impulse = MASS * (v[1][axis] - v[0][axis]) + weight * (t[1] - t[0]);
            work += impulse * (u[k] + a[k] * 0.5 * (t[0] + t[1]));
        }
    }
    work
}
