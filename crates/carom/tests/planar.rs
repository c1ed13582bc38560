//! Planar bodies in contact with exact answers: rolling, a pile at rest, impacts on a moving table, energy of a moving wall.

use crate::support::{Done, run, run_text};

/// A disk rolls down an incline without slipping: a = (2/3) g sin α. The contact and the friction force are constant, so the scheme is exact.
#[test]
fn a_disk_rolls_down_an_incline() {
    let text = r#"
[parameters]
slope = 0.3

[[material]]
name = "rough"
friction = 0.5

[[planar_body]]
name = "disk"
shape = { kind = "disk", radius = 0.1 }
density = 3.0
position = ["-0.1*sin(slope)", "0.1*cos(slope)"]

[[obstacle]]
name = "incline"
shape = { kind = "half-plane", normal = ["-sin(slope)", "cos(slope)"] }

[simulation]
end = 1.0
step = 1e-3
"#;
    let done = run_text(text);
    let slope = 0.3_f64;
    let exact = 2.0 / 3.0 * 9.81 * slope.sin();
    // downhill is (−cos α, −sin α)
    let along = -(done.v("disk.vx") * slope.cos() + done.v("disk.vy") * slope.sin());
    // solves to 1e-10
    assert!((along - exact).abs() < 1e-8, "{along} {exact}");
    assert!((done.v("disk.omega") - exact / 0.1).abs() < 1e-7, "{}", done.v("disk.omega"));
    let height = done.q("disk.y") * slope.cos() - done.q("disk.x") * slope.sin();
    assert!((height - 0.1).abs() < 1e-9, "{height}");
    assert!(done.certificate.last.dissipated_friction.abs() < 1e-8, "rolling dissipates nothing");
}

/// Ten disks in a pyramid with fixed feet stay at rest, and carry their weight.
#[test]
fn a_pyramid_stays() {
    let mut text = String::from("[[material]]\nname = \"m\"\nfriction = 0.8\n");
    let mut n = 0;
    for (row, count) in [4, 3, 2, 1].into_iter().enumerate() {
        for k in 0..count {
            let (x, y) = (0.2 * k as f64 + 0.1 * row as f64, 0.1 + row as f64 * 0.03_f64.sqrt());
            text += &format!(
                "[[planar_body]]\nname = \"d{n}\"\nshape = {{ kind = \"disk\", radius = 0.1 }}\nmass = 1.0\nposition = [{x:?}, {y:?}]\n"
            );
            n += 1;
        }
    }
    text += "[[obstacle]]\nname = \"floor\"\nshape = { kind = \"segment\", ends = [[-1, 0], [2, 0]] }\n";
    for (name, x, normal) in [("left", -0.1, 1), ("right", 0.7, -1)] {
        text +=
            &format!("[[obstacle]]\nname = \"{name}\"\nshape = {{ kind = \"half-plane\", normal = [{normal}, 0] }}\nposition = [{x}, 0]\n");
    }
    text += "[simulation]\nend = 1.0\nstep = 2e-3\n";
    let done = run_text(&text);
    let moved = done.keep.q[0].iter().zip(done.keep.q.last().unwrap()).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    // solves to 1e-10 over 500 steps
    assert!(moved < 1e-7, "{moved}");
    assert_eq!(done.certificate.unconverged, 0);
}

fn table(motion: &str, more: &str, velocity: f64, h: f64, end: f64) -> Done {
    run_text(&format!(
        "gravity = [0, 0]\n[[material]]\nname = \"m\"\nfriction = 0\n{more}\n[[planar_body]]\nname = \"ball\"\n\
         shape = {{ kind = \"disk\", radius = 0.1 }}\nmass = 2.0\nposition = [0, 0.15]\nvelocity = [0.3, {velocity}]\n\
         [[obstacle]]\nname = \"table\"\nshape = {{ kind = \"half-plane\" }}\nmotion = {{ y = \"{motion}\" }}\n\
         [simulation]\nend = {end}\nstep = {h}\n[record]\nevery = 1\n"
    ))
}

/// Impact on a table that moves at w: v⁺ = (1 + e) w − e v⁻; the table's work is the gain of energy and the loss at the contact.
#[test]
fn a_ball_on_a_moving_table() {
    let (w, e, v) = (0.4, 0.7, -1.5);
    let done = table("0.4*t", "restitution = 0.7", v, 1e-3, 0.1);
    let after = done.v("ball.vy");
    assert!((after - ((1.0 + e) * w - e * v)).abs() < 1e-13, "{after}");
    assert_eq!((done.v("ball.vx"), done.v("ball.omega")), (0.3, 0.0));
    let energy = &done.certificate.last;
    let impulse = 2.0 * (after - v);
    assert!((energy.work - impulse * w).abs() < 1e-12, "{}", energy.work);
    let lost = 0.5 * 2.0 * (1.0 - e * e) * (v - w) * (v - w);
    assert!((energy.dissipated_impact - lost).abs() < 1e-12, "{} {lost}", energy.dissipated_impact);
}

/// A table drags by friction: μ p_N against the slip, here enough to stick, so that the ball leaves with the table's tangential velocity
/// at its surface.
#[test]
fn a_table_that_moves_sideways() {
    let done = run_text(
        "gravity = [0, 0]\n[[material]]\nname = \"m\"\nfriction = 0.9\n[[planar_body]]\nname = \"ball\"\n\
         shape = { kind = \"disk\", radius = 0.1 }\nmass = 2.0\nposition = [0, 0.101]\nvelocity = [0, -1]\n\
         [[obstacle]]\nname = \"table\"\nshape = { kind = \"half-plane\" }\nmotion = { x = \"0.6*t\" }\n\
         [simulation]\nend = 0.01\nstep = 1e-3\n",
    );
    // p_T = m_eff w with 1/m_eff = 1/m + r²/J = 3/m: v_x = w/3, surface of the ball v_x + r ω = w
    assert!((done.v("ball.vx") - 0.2).abs() < 1e-12 && (done.v("ball.vx") + 0.1 * done.v("ball.omega") - 0.6).abs() < 1e-12);
    let impulse = 2.0 * done.v("ball.vx");
    assert!((done.certificate.last.work - 0.6 * impulse).abs() < 1e-12);
}

/// A ball carried by an oscillating table that never lets go: it follows to O(h²), and energy less work stays to O(h²).
#[test]
fn a_ball_carried_by_a_table() {
    let error = |h: f64| {
        let text = format!(
            "gravity = [0, -10]\n[[planar_body]]\nname = \"ball\"\nshape = {{ kind = \"disk\", radius = 0.1 }}\nmass = 2.0\n\
             position = [0, 0.1]\nvelocity = [0, 0.4]\n[[obstacle]]\nname = \"table\"\nshape = {{ kind = \"half-plane\" }}\n\
             motion = {{ y = \"0.1*sin(4*t)\" }}\n[simulation]\nend = 2.0\nstep = {h}\n[record]\nevery = 1\n"
        );
        let done = run_text(&text);
        let e = &done.certificate.last;
        let balance = done.keep.energy.last().unwrap() + e.dissipated_impact + e.dissipated_friction - done.keep.energy[0];
        // the account of every step is exact: round-off of energies of a few joules
        assert!(balance.abs() < 1e-11, "{h}: {balance}");
        let spread = done.keep.energy.iter().fold(0.0_f64, |m, e| m.max((e - done.keep.energy[0]).abs()));
        let gap = done.keep.t.iter().zip(&done.keep.q).fold(0.0_f64, |m, (t, q)| m.max((q[1] - 0.1 - 0.1 * (4.0 * t).sin()).abs()));
        (gap, spread)
    };
    let (coarse, fine) = (error(1e-2), error(2.5e-3));
    // second order, both in the place and in what the contact takes: where the gap of O(h²) is found open, a step of free fall passes
    // (g h²), and an impact at g h ends it (½ m (g h)²), a few times in all
    for (h, (gap, spread)) in [(1e-2, coarse), (2.5e-3, fine)] {
        assert!(gap < 1.2 * 10.0 * h * h, "{h}: {gap}");
        assert!(spread < 3.0 * 0.5 * 2.0 * (10.0 * h).powi(2), "{h}: {spread}");
    }
    assert!(fine.0 < coarse.0 / 12.0 && fine.1 < coarse.1 / 12.0, "{coarse:?} {fine:?}");
}

/// The vessel: the same bits twice, no bead lost, the account of energy closed.
#[test]
fn a_small_vessel() {
    let overrides = ["parameters.columns=7", "parameters.rows=6", "simulation.end=0.3"];
    let (first, second) = (run("shaken_vessel", &overrides), run("shaken_vessel", &overrides));
    assert_eq!(first.keep.q, second.keep.q);
    let width = 7.0 * 0.0022;
    for bead in first.keep.q.last().unwrap().chunks_exact(3) {
        assert!(bead[0].abs() < 0.5 * width && bead[1] > -0.02, "{bead:?}");
    }
    let e = &first.certificate.last;
    let balance = first.keep.energy.last().unwrap() + e.dissipated_impact + e.dissipated_friction - first.keep.energy[0];
    // the sum of a few thousand steps of exact accounts: relative round-off of the work
    assert!(balance.abs() < 1e-10 * e.work.abs(), "{balance} of {}", e.work);
    assert_eq!(first.certificate.unconverged, 0);
}
