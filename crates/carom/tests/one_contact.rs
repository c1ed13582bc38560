//! One impact of one contact by hand: every law of contacts under every impact law, in any direction, by formula and as shape.

use crate::support::run_text;
use nalgebra::{Rotation3, Vector3};

const MASS: f64 = 2.0;
const RADIUS: f64 = 0.1;

/// Friction of a contact and its coefficients along two tangents at the speed at which it slides.
#[derive(Clone, Copy, Debug)]
enum Rub {
    Coulomb(f64),
    Ellipse(f64, f64),
    /// At rest, sliding.
    StaticKinetic(f64, f64),
    /// At rest, sliding, velocity; exponent 2.
    Stribeck(f64, f64, f64),
}

impl Rub {
    /// Its line in a law; an ellipse between bodies has a direction.
    fn line(self, direction: &str) -> String {
        match self {
            Rub::Coulomb(mu) => format!("friction = {mu}"),
            Rub::Ellipse(a, b) => format!("friction = {{ kind = \"elliptic\", coefficients = [{a}, {b}]{direction} }}"),
            Rub::StaticKinetic(a, b) => format!("friction = {{ kind = \"static-kinetic\", at_rest = {a}, sliding = {b} }}"),
            Rub::Stribeck(a, b, v) => {
                format!("friction = {{ kind = \"stribeck\", at_rest = {a}, sliding = {b}, velocity = {v}, exponent = 2 }}")
            }
        }
    }

    /// (μ₁, μ₂) that hold when the contact slips at the speed s.
    fn coefficients(self, s: f64) -> [f64; 2] {
        match self {
            Rub::Coulomb(mu) => [mu; 2],
            Rub::Ellipse(a, b) => [a, b],
            Rub::StaticKinetic(_, b) => [b; 2],
            Rub::Stribeck(a, b, v) => [b + (a - b) * (-(s / v).powi(2)).exp(); 2],
        }
    }

    /// Impulse of largest dissipation of a contact that would slip at `slip`, with u_T = slip + w p, under the normal impulse P: −slip/w where the cone holds
    /// that, else p_k = −P μ_k² u_k/s with s = ‖(μ₁ u₁, μ₂ u₂)‖. A contact that slid before has its kinetic coefficient.
    fn impulse(self, slip: [f64; 2], w: f64, normal: f64) -> [f64; 2] {
        let at_rest = match self {
            Rub::Stribeck(a, ..) => [a; 2],
            other => other.coefficients(0.0),
        };
        let stick = slip.map(|u| -u / w);
        if normal == 0.0 || (stick[0] / at_rest[0]).hypot(stick[1] / at_rest[1]) <= normal {
            return if normal == 0.0 { [0.0; 2] } else { stick };
        }
        // u_k (1 + w P μ_k²/s) = slip_k, of which ‖(μ₁ u₁, μ₂ u₂)‖ − s has one root for given coefficients; these are those at ‖u‖ in the end
        let mut mu = self.coefficients(slip[0].hypot(slip[1]));
        loop {
            let u = |s: f64| [0, 1].map(|k| slip[k] * s / (s + w * normal * mu[k] * mu[k]));
            let (mut low, mut high) = (1e-12, 10.0);
            for _ in 0..60 {
                let middle: f64 = 0.5 * (low + high);
                let v = u(middle);
                *(if (mu[0] * v[0]).hypot(mu[1] * v[1]) > middle { &mut low } else { &mut high }) = middle;
            }
            let v = u(low);
            let next = self.coefficients(v[0].hypot(v[1]));
            if (next[0] - mu[0]).abs() < 1e-13 {
                return [0, 1].map(|k| -normal * mu[k] * mu[k] * v[k] / low);
            }
            mu = next;
        }
    }
}

/// A law: its friction, the lines of its restitution, e at the speed of approach s, e_T.
struct Law {
    rub: Rub,
    restitution: &'static str,
    e: fn(f64) -> f64,
    tangential: f64,
}

const LAWS: [Law; 12] = [
    Law { rub: Rub::Coulomb(0.0), restitution: "", e: |_| 0.0, tangential: 0.0 },
    Law { rub: Rub::Coulomb(0.2), restitution: "", e: |_| 0.0, tangential: 0.0 },
    Law { rub: Rub::Coulomb(0.2), restitution: "restitution = 0.5", e: |_| 0.5, tangential: 0.0 },
    Law { rub: Rub::Coulomb(3.0), restitution: "restitution = 0.5", e: |_| 0.5, tangential: 0.0 },
    Law { rub: Rub::Coulomb(3.0), restitution: "restitution = 0.5\ntangential_restitution = 0.6", e: |_| 0.5, tangential: 0.6 },
    Law { rub: Rub::Coulomb(0.2), restitution: "restitution = 0.5\ntangential_restitution = 0.6", e: |_| 0.5, tangential: 0.6 },
    Law { rub: Rub::Ellipse(0.1, 0.4), restitution: "restitution = 0.5", e: |_| 0.5, tangential: 0.0 },
    Law {
        rub: Rub::Ellipse(0.4, 0.1),
        restitution: "restitution = { kind = \"threshold\", coefficient = 0.7, velocity = 0.5 }",
        e: |_| 0.7,
        tangential: 0.0,
    },
    Law {
        rub: Rub::Coulomb(0.2),
        restitution: "restitution = { kind = \"threshold\", coefficient = 0.7, velocity = 2 }",
        e: |_| 0.0,
        tangential: 0.0,
    },
    Law {
        rub: Rub::StaticKinetic(0.4, 0.2),
        restitution: "restitution = { kind = \"power-law\", coefficient = 0.8, velocity = 0.1, exponent = 0.25 }",
        e: |s| 0.8 * (s / 0.1).powf(-0.25),
        tangential: 0.0,
    },
    Law { rub: Rub::StaticKinetic(4.0, 0.2), restitution: "", e: |_| 0.0, tangential: 0.0 },
    Law {
        rub: Rub::Stribeck(0.4, 0.2, 0.5),
        restitution: "restitution = { kind = \"viscoelastic\", coefficient = 0.1 }",
        e: |s| 1.0 - 0.1 * s.powf(0.2),
        tangential: 0.0,
    },
];

/// What an impact leaves: velocity and angular velocity along (N, T₁, T₂), and what the normal and the tangential impulse dissipate.
struct After {
    v: [f64; 3],
    spin: [f64; 3],
    dissipated: [f64; 2],
}

/// Pieces in which the normal impulse of an energetic impact is applied.
const PIECES: u32 = 400;

/// A ball of inertia J about its centre on a plane with the normal along the first axis, t₁ and t₂ along the others: its normal and tangential motion are
/// coupled by friction alone. Newton's law is one impulse, Poisson's one for compression and one for expansion, the energetic one grows along the slip.
fn by_hand(law: &Law, impact: &str, (v, spin): ([f64; 3], [f64; 3]), inertia: f64) -> After {
    let (e, e_t) = if impact == "inelastic" { (0.0, 0.0) } else { ((law.e)(-v[0]), law.tangential) };
    // the arm is −R n: u = v + ω × (−R n), with n × t₁ = t₂
    let slip = [v[1] - RADIUS * spin[2], v[2] + RADIUS * spin[1]];
    let w = 1.0 / MASS + RADIUS * RADIUS / inertia;
    let whole = -MASS * (1.0 + e) * v[0];
    let parts = match impact {
        "poisson" => vec![whole / (1.0 + e), whole * e / (1.0 + e)],
        "energetic" => vec![whole / f64::from(PIECES); PIECES as usize],
        _ => vec![whole],
    };
    let mut p = [0.0; 2];
    for part in parts {
        let piece = law.rub.impulse([0, 1].map(|k| (1.0 + e_t) * slip[k] + w * p[k]), w, part);
        p = [p[0] + piece[0], p[1] + piece[1]];
    }
    let rest = [0, 1].map(|k| slip[k] + w * p[k]);
    After {
        v: [-e * v[0], v[1] + p[0] / MASS, v[2] + p[1] / MASS],
        spin: [spin[0], spin[1] + RADIUS * p[1] / inertia, spin[2] - RADIUS * p[0] / inertia],
        dissipated: [-0.5 * (1.0 - e) * v[0] * whole, -0.5 * (p[0] * (slip[0] + rest[0]) + p[1] * (slip[1] + rest[1]))],
    }
}

/// How the impact is computed: lines of `[simulation]`, gap and end time. Located events need an approach, the others close what is closed.
struct Method {
    name: &'static str,
    lines: &'static str,
    gap: f64,
    end: f64,
}

/// Arms and orientations are those of a step in which the ball turns: of first order in it. The step is so small that this is 1e-6.
const METHODS: [Method; 4] = [
    Method { name: "moreau-jean", lines: "step = 1e-7\nscheme = \"moreau-jean\"", gap: 0.0, end: 3e-7 },
    Method { name: "moreau-gap", lines: "step = 1e-7\nscheme = \"moreau-gap\"", gap: 0.0, end: 3e-7 },
    Method {
        name: "many",
        lines: "step = 1e-7\nscheme = { kind = \"moreau-gap\", many = 1, sweeps = { tolerance = 1e-13 } }",
        gap: 0.0,
        end: 3e-7,
    },
    Method {
        name: "located",
        lines: "strategy = \"event-driven\"\nintegrator = { kind = \"hem5\", tolerance = 1e-10 }",
        gap: 1e-3,
        end: 2e-3,
    },
];

/// A contact plane turned about its normal and tilted.
const TURNS: [([f64; 3], f64); 3] = [([0.0, 0.0, 1.0], 0.0), ([0.0, 0.0, 1.0], 0.8), ([1.0, -2.0, 0.5], 2.0)];

/// The normal and the tangents of the scene: z, x and y turned.
struct Frame([Vector3<f64>; 3]);

impl Frame {
    fn new((axis, angle): ([f64; 3], f64)) -> Self {
        let rotation = Rotation3::new(Vector3::from(axis).normalize() * angle);
        Frame([Vector3::z(), Vector3::x(), Vector3::y()].map(|d| rotation * d))
    }

    fn world(&self, x: [f64; 3]) -> Vector3<f64> {
        self.0[0] * x[0] + self.0[1] * x[1] + self.0[2] * x[2]
    }
}

/// The ball above its plane, as shapes or by formula; a formula knows no arm.
fn scene(law: &Law, impact: &str, (frame, as_shape): (&Frame, bool), (x, v, spin): (Vector3<f64>, Vector3<f64>, Vector3<f64>)) -> String {
    let Frame([n, t1, t2]) = frame;
    let list = |v: &Vector3<f64>| format!("[{:e}, {:e}, {:e}]", v.x, v.y, v.z);
    let (place, velocity, turning, restitution) = (list(&x), list(&v), list(&spin), law.restitution);
    let head = format!(
        "gravity = [0, 0, 0]\n[impact]\nlaw = \"{impact}\"\n[[body]]\nname = \"ball\"\nmass = {MASS}\nposition = {place}\nvelocity = {velocity}\nangular_velocity = {turning}\n"
    );
    if as_shape {
        let friction = law.rub.line(&format!(", direction = {}", list(t1)));
        return format!(
            "{head}shape = {{ kind = \"sphere\", radius = {RADIUS} }}\n[[body]]\nname = \"floor\"\nfixed = true\nshape = {{ kind = \"plane\", normal = {} }}\n[[material]]\nname = \"m\"\n[[material_pair]]\nmaterials = [\"m\", \"m\"]\n{friction}\n{restitution}\n",
            list(n)
        );
    }
    let row = |d: &Vector3<f64>| format!("({:e})*ball.x + ({:e})*ball.y + ({:e})*ball.z", d.x, d.y, d.z);
    let (gap, first, second, friction) = (row(n), row(t1), row(t2), law.rub.line(""));
    format!(
        "{head}inertia = [1, 1, 1]\n[[contact]]\nname = \"floor\"\ngap = \"{gap} - {RADIUS}\"\ntangents = [\"{first}\", \"{second}\"]\n{friction}\n{restitution}\n"
    )
}

#[test]
fn every_law_of_one_contact_by_hand() {
    for (number, law) in LAWS.iter().enumerate() {
        for impact in ["newton", "inelastic", "poisson", "sequential", "energetic"] {
            // laws of ratios of impulses and energies have no tangential coefficient; where μ falls with the slip, the end of a step and the
            // start of an impact are different instants
            let is_within_step = ["newton", "inelastic"].contains(&impact);
            let falls = matches!(law.rub, Rub::Stribeck(..));
            if (law.tangential != 0.0 && ["poisson", "energetic"].contains(&impact)) || (falls && !is_within_step) {
                continue;
            }
            for as_shape in [false, true] {
                let (start, turning) = ([-1.0, 0.7, -0.4], if as_shape { [2.0, -3.0, 5.0] } else { [0.0; 3] });
                let inertia = if as_shape { 0.4 * MASS * RADIUS * RADIUS } else { f64::INFINITY };
                let hand = by_hand(law, impact, (start, turning), inertia);
                for method in METHODS.iter().filter(|method| !(falls && method.name == "located")) {
                    for turn in TURNS {
                        let frame = Frame::new(turn);
                        let state = (frame.world([RADIUS + method.gap, 0.0, 0.0]), frame.world(start), frame.world(turning));
                        let text = scene(law, impact, (&frame, as_shape), state);
                        let done = run_text(&format!("{text}[simulation]\nend = {:e}\n{}\n", method.end, method.lines));
                        let name = format!("law {number} {:?}, {impact}, {}, shape {as_shape}, {turn:?}", law.rub, method.name);
                        // the tolerance of an energetic impact is 1e-5; the direction of its slip turns in 400 pieces, by one radian at most
                        let exact = match impact {
                            "energetic" if matches!(law.rub, Rub::Ellipse(..)) => 2e-3,
                            "energetic" => 1e-5,
                            _ => 1e-9,
                        };
                        let end = done.keep.v.last().unwrap();
                        let close = |of: &str, is: &[f64], should: Vector3<f64>, tolerance: f64| {
                            let is = Vector3::from_column_slice(is);
                            assert!((is - should).amax() < tolerance, "{name}: {of} {is:?} instead of {should:?}");
                        };
                        close("velocity", &end[..3], frame.world(hand.v), exact);
                        // angular velocities are of velocities over R, turned by some 20 rad/s · 1e-7 s
                        close("spin", &end[3..6], frame.world(hand.spin), exact / RADIUS + 1e-5);
                        let (energy, [normal, tangential]) = (&done.certificate.last, hand.dissipated);
                        let (impact, friction) = (energy.dissipated_impact, energy.dissipated_friction);
                        assert!((impact - normal).abs() < exact, "{name}: {impact} J by impact instead of {normal}");
                        assert!((friction - tangential).abs() < exact, "{name}: {friction} J by friction instead of {tangential}");
                    }
                }
            }
        }
    }
}
