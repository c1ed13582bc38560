//! Planar polygons, capsules and chains with exact answers: stacks and arches at rest, sliding over segments, rocking and rolling.

use crate::support::{Done, run, run_text};
use carom::dynamics::report::EventKind;

fn moved(done: &Done) -> f64 {
    done.keep.q[0].iter().zip(done.keep.q.last().unwrap()).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()))
}

/// Ten boxes on each other stay where they are.
#[test]
fn a_stack_of_boxes_stays() {
    let mut text = String::from("[[material]]\nname = \"m\"\nfriction = 0.5\n");
    for k in 0..10 {
        let y = 0.1 + 0.2 * f64::from(k);
        text += &format!(
            "[[planar_body]]\nname = \"b{k}\"\nshape = {{ kind = \"box\", size = [0.3, 0.2] }}\ndensity = 1000.0\nposition = [0, {y:?}]\n"
        );
    }
    text += "[[obstacle]]\nname = \"floor\"\nshape = { kind = \"half-plane\" }\n";
    text += "[simulation]\nend = 1.0\nstep = 2e-3\nsolver = { kind = \"auto\", tolerance = 1e-12 }\n";
    let done = run_text(&text);
    assert!(moved(&done) < 1e-10, "{}", moved(&done));
    assert_eq!(done.certificate.unconverged, 0);
}

/// An arch above Milankovitch's thickness stands still, one well below it falls.
#[test]
fn an_arch_stands_or_falls() {
    let done = run("planar_arch", &["simulation.end=0.5"]);
    assert!(moved(&done) < 1e-10, "{}", moved(&done));
    let done = run("planar_arch", &["simulation.end=0.8", "parameters.thickness=0.07", "solver.tolerance=1e-8"]);
    assert!(done.q("block_6.y") < 0.9, "the keystone is at {}", done.q("block_6.y"));
}

fn slide(floor: &str, friction: f64) -> Done {
    run_text(&format!(
        "[[material]]\nname = \"m\"\nfriction = {friction}\n[[planar_body]]\nname = \"box\"\nshape = {{ kind = \"box\", size = [0.4, 0.2] }}\n\
         density = 10.0\nposition = [0, 0.1]\nvelocity = [2, 0]\n[[obstacle]]\nname = \"floor\"\nshape = {floor}\n\
         [simulation]\nend = 1.0\nstep = 1e-3\n"
    ))
}

/// A box that slides over a floor of segments feels no vertex: without friction it keeps its velocity, with friction it moves as on a line.
#[test]
fn a_box_slides_over_a_polyline() {
    let vertices: Vec<String> = (0..=60).map(|k| format!("[{:.2}, 0]", 0.07 * f64::from(k) - 1.0)).collect();
    for side in ["both", "left"] {
        let chain = format!("{{ kind = \"chain\", side = \"{side}\", vertices = [{}] }}", vertices.join(", "));
        let done = slide(&chain, 0.0);
        for v in &done.keep.v {
            assert!((v[0] - 2.0).abs() < 1e-9 && v[1].abs() < 1e-9 && v[2].abs() < 1e-9, "{v:?}");
        }
        assert!((done.q("box.x") - 2.0).abs() < 1e-9);
        let (on_chain, on_line) = (slide(&chain, 0.1), slide("{ kind = \"half-plane\" }", 0.1));
        for (v, w) in on_chain.keep.v.iter().zip(&on_line.keep.v) {
            assert!(v.iter().zip(w).all(|(v, w)| (v - w).abs() < 1e-9), "{v:?} {w:?}");
        }
        assert!((on_chain.v("box.vx") - (2.0 - 0.1 * 9.81)).abs() < 1e-8, "{}", on_chain.v("box.vx"));
    }
}

const BLOCK: &str = r#"
[parameters]
b = 1.0
h = 1.5
a0 = "pi/10"

[[material]]
name = "m"
friction = 0.7

[[planar_body]]
name = "block"
shape = { kind = "box", size = ["b", "h"] }
mass = 1.0
position = ["b/2*cos(a0) - h/2*sin(a0)", "b/2*sin(a0) + h/2*cos(a0)"]
angle = "a0"
"#;

fn impact_times(done: &Done) -> Vec<f64> {
    let mut times: Vec<f64> = done.keep.events.iter().filter(|e| e.kind == EventKind::Impact).map(|e| e.t).collect();
    times.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    times
}

/// The rocking block as a box on a half-plane has the impacts of the model by formula, located to 1e-8 s; by time-stepping too, to O(h).
#[test]
fn a_block_rocks_as_the_model_by_formula() {
    let located = ["simulation.step=", "simulation.scheme=", "simulation.strategy=event-driven", "integrator.tolerance=1e-10"];
    let by_formula = run("rocking_block", &[&located[..], &["simulation.end=1.2"]].concat());
    let text = format!(
        "{BLOCK}[[obstacle]]\nname = \"floor\"\nshape = {{ kind = \"half-plane\" }}\n\
         [simulation]\nend = 1.2\nstrategy = \"event-driven\"\nintegrator = {{ tolerance = 1e-10 }}\n"
    );
    let by_shape = run_text(&text);
    let (expected, found) = (impact_times(&by_formula), impact_times(&by_shape));
    assert!(found.len() >= 4, "{found:?} {expected:?}");
    // Housner: 0.4939, 0.8691, 1.0600, 1.1613 s
    for (k, (a, b)) in expected.iter().zip(&found).take(4).enumerate() {
        assert!((a - b).abs() < 1e-8, "impact {k}: {a} {b}");
    }
    assert!((by_formula.v("block.omega") - by_shape.v("block.omega")).abs() < 1e-7);
    // by time-stepping, on a polygon this time
    let text = format!(
        "{BLOCK}[[obstacle]]\nname = \"floor\"\nshape = {{ kind = \"polygon\", vertices = [[-3, -1], [3, -1], [3, 0], [-3, 0]] }}\n\
         [simulation]\nend = 1.0\nstep = 1e-4\nscheme = {{ kind = \"moreau-jean\", theta = 0.5 }}\n"
    );
    let (by_shape, by_formula) = (run_text(&text), run("rocking_block", &["simulation.end=1.0"]));
    let (a, b) = (by_formula.q("block.angle"), by_shape.q("block.angle"));
    assert!((a - b).abs() < 1e-3, "{a} {b}");
}

/// A disk bounces on the top and then beside the corner of a fixed polygon: times of flight located.
#[test]
fn a_disk_bounces_on_a_polygon() {
    for (x, e) in [(0.5, 0.5), (1.0, 0.5)] {
        let done = run_text(&format!(
            "gravity = [0, -10]\n[[material]]\nname = \"m\"\nfriction = 0\nrestitution = {e}\n\
             [[planar_body]]\nname = \"disk\"\nshape = {{ kind = \"disk\", radius = 0.1 }}\nmass = 1.0\nposition = [{x}, 1.35]\n\
             [[obstacle]]\nname = \"stone\"\nshape = {{ kind = \"polygon\", vertices = [[0, 0], [1, 0], [1, 1], [0, 1]] }}\n\
             [simulation]\nend = 0.6\nstrategy = \"event-driven\"\nintegrator = {{ tolerance = 1e-10 }}\n"
        ));
        let fall = (2.0_f64 * 0.25 / 10.0).sqrt();
        let times = impact_times(&done);
        // down 0.25 m, up at half the speed and down again; straight above the corner just the same
        assert!((times[0] - fall).abs() < 1e-9 && (times[1] - 2.0 * fall).abs() < 1e-8, "{times:?} {fall}");
    }
}

/// A solid hexagon of side r rolls down an incline γ: it turns about a corner with (17/12) m r² from −(30° − γ) to 30° + γ off the vertical, and
/// goes over to the next with η = 11/17 of its angular velocity. Times of the impacts by quadrature.
#[test]
fn a_hexagon_rolls_down() {
    let done = run("planar_wheel", &[]);
    let (slope, eta, stiffness) = (10.0_f64.to_radians(), 11.0 / 17.0, 2.0 * 9.81 / (17.0 / 12.0 * 0.5));
    let (from, to) = (slope - 30.0_f64.to_radians(), slope + 30.0_f64.to_radians());
    let (mut t, mut start, n) = (0.0, 1.5_f64, 2_000);
    let impacts = impact_times(&done);
    assert_eq!(impacts.len(), 7, "{impacts:?}");
    for impact in &impacts {
        let rate = |angle: f64| (start * start + stiffness * (from.cos() - angle.cos())).sqrt();
        let step = (to - from) / f64::from(n);
        // Simpson's rule, error far below 1e-10
        let weight = |k: i32| if k == 0 || k == n { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
        t += (0..=n).map(|k| weight(k) / rate(from + f64::from(k) * step)).sum::<f64>() * step / 3.0;
        start = eta * rate(to);
        assert!((impact - t).abs() < 1e-10, "{impact} {t}");
    }
    // the steady gait: ω² (1 − η²) = 2 g sin γ/((17/12) r) before an impact, reached by a factor of η² per side
    let steady = eta * (stiffness * slope.sin() / (1.0 - eta * eta)).sqrt();
    assert!((start / steady - 1.0).abs() < 1e-3, "{start} {steady}");
}
