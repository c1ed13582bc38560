//! Random problems on accelerations, against all modes tried one by one and the laws themselves.

use super::{Plain, accelerate, coulomb, diagonal, modes, near};
use carom_dynamics::Law;
use carom_dynamics::events::{Accelerations, Verdict};
use carom_dynamics::report::ContactMode;
use carom_solvers::random::SplitMix64;

/// Delassus' problem: which of three contacts of a body open. To open all those that would pull if all stayed closed is often wrong; all 2³ modes are
/// tried for comparison.
#[test]
fn which_contacts_open_is_not_the_sign_of_their_forces() {
    let mut random = SplitMix64::new(6);
    let (mut wrong, mut opened) = (0, 0);
    for _ in 0..2000 {
        let rows: Vec<Vec<f64>> = (0..3).map(|_| (0..3).map(|_| random.symmetric()).collect()).collect();
        let force: Vec<f64> = (0..3).map(|_| random.symmetric()).collect();
        let w = |i: usize, j: usize| (0..3).map(|k| rows[i][k] * rows[j][k]).sum::<f64>();
        let q: Vec<f64> = rows.iter().map(|row| row.iter().zip(&force).map(|(g, f)| g * f).sum()).collect();
        let solve = |closed: &[usize]| -> Option<[f64; 3]> {
            let n = closed.len();
            if n == 0 {
                return Some([0.0; 3]);
            }
            let matrix = nalgebra::DMatrix::from_fn(n, n, |i, j| w(closed[i], closed[j]));
            let right = nalgebra::DVector::from_fn(n, |i, _| -q[closed[i]]);
            let x = matrix.lu().solve(&right)?;
            let mut force = [0.0; 3];
            closed.iter().zip(x.iter()).for_each(|(&k, x)| force[k] = *x);
            Some(force)
        };
        let lift = |x: &[f64; 3], i: usize| q[i] + (0..3).map(|j| w(i, j) * x[j]).sum::<f64>();
        // all 2³ modes
        let exact = (0..8_usize).find_map(|set| {
            let closed: Vec<usize> = (0..3).filter(|k| set >> k & 1 == 1).collect();
            let x = solve(&closed)?;
            (0..3).all(|i| x[i] >= 0.0 && (closed.contains(&i) || lift(&x, i) >= 0.0)).then_some(x)
        });
        let exact = exact.expect("a solution exists");
        let plain =
            Plain { mass: diagonal(&[1.0; 3]), force, rows: rows.iter().map(|row| (vec![row.clone()], Law::unilateral(0.0))).collect() };
        let found = accelerate(&plain.model(), &[0.0; 3], &[0.0; 3]);
        let forces: Vec<f64> = found.contacts.iter().map(|contact| contact.force[0]).collect();
        near(&forces, &exact, 1e-9 * exact.iter().fold(1.0, |m, x| x.max(m)));
        let expected: Vec<ContactMode> = exact.iter().map(|x| if *x > 0.0 { ContactMode::Closed } else { ContactMode::Open }).collect();
        assert_eq!(modes(&found), expected);
        opened += usize::from(expected.contains(&ContactMode::Open));
        // the trial: open at once all that would pull
        let all = solve(&[0, 1, 2]).unwrap();
        let kept: Vec<usize> = (0..3).filter(|&k| all[k] >= 0.0).collect();
        wrong += usize::from(expected.iter().enumerate().any(|(k, mode)| kept.contains(&k) == (*mode == ContactMode::Open)));
    }
    println!("opened {opened}, by signs wrong {wrong}");
    assert!(wrong > 100 && opened > 1000);
}

/// A random planar problem: what the laws leave, and all solutions.
struct RandomSet {
    plain: Plain,
    v: Vec<f64>,
    mu: Vec<f64>,
}

impl RandomSet {
    fn new(random: &mut SplitMix64, n: usize, contacts: usize, tangents: usize, most_friction: f64, slides: bool) -> Self {
        let mut row = || (0..n).map(|_| random.symmetric()).collect::<Vec<f64>>();
        let rows: Vec<Vec<Vec<f64>>> = (0..contacts).map(|_| (0..=tangents).map(|_| row()).collect()).collect();
        let (force, mut v) = (row().iter().map(|f| 10.0 * f).collect::<Vec<f64>>(), row());
        // v that no contact approaches with: orthogonal to the normals
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for normal in rows.iter().map(|rows| &rows[0]) {
            let mut e = normal.clone();
            for b in &basis {
                let along: f64 = b.iter().zip(&e).map(|(b, e)| b * e).sum();
                e.iter_mut().zip(b).for_each(|(e, b)| *e -= along * b);
            }
            let size = e.iter().map(|e| e * e).sum::<f64>().sqrt();
            basis.push(e.iter().map(|e| e / size).collect());
        }
        for b in &basis {
            let along: f64 = b.iter().zip(&v).map(|(b, v)| b * v).sum();
            v.iter_mut().zip(b).for_each(|(v, b)| *v -= along * b);
        }
        if !slides {
            v.fill(0.0);
        }
        let mu: Vec<f64> = (0..contacts).map(|_| most_friction * (0.1 + 0.9 * random.uniform())).collect();
        let mass: Vec<f64> = (0..n).map(|_| 0.5 + random.uniform()).collect();
        let laws = mu.iter().map(|mu| coulomb(*mu));
        RandomSet { plain: Plain { mass: diagonal(&mass), force, rows: rows.into_iter().zip(laws).collect() }, v, mu }
    }

    fn product(row: &[f64], x: &[f64]) -> f64 {
        row.iter().zip(x).map(|(g, x)| g * x).sum()
    }

    /// Largest violation of the equations and laws by what was found, relative to the forces and accelerations.
    fn violation(&self, found: &Accelerations) -> f64 {
        let n = self.v.len();
        let mut left: Vec<f64> = (0..n).map(|i| self.plain.mass[i * n + i] * found.a[i] - self.plain.force[i]).collect();
        let (mut worst, mut scale) = (0.0_f64, self.plain.force.iter().fold(1.0_f64, |m, f| m.max(f.abs())));
        for ((rows, _), contact) in self.plain.rows.iter().zip(&found.contacts) {
            for (row, force) in rows.iter().zip(contact.force) {
                left.iter_mut().zip(row).for_each(|(left, g)| *left -= g * force);
                scale = scale.max(force.abs());
            }
        }
        worst = left.iter().fold(worst, |w, l| w.max(l.abs()));
        for (k, ((rows, _), contact)) in self.plain.rows.iter().zip(&found.contacts).enumerate() {
            let u: Vec<f64> = rows.iter().map(|row| Self::product(row, &found.a)).collect();
            let slip: Vec<f64> = rows[1..].iter().map(|row| Self::product(row, &self.v)).collect();
            let (normal, friction) = (contact.force[0], &contact.force[1..u.len()]);
            worst = worst.max(-normal).max(-u[0]).max(normal.min(u[0]));
            let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let bound = self.mu[k] * normal;
            worst = worst.max(length(friction) - bound);
            // along the slip, or along the acceleration where there is none
            let along = if length(&slip) > 1e-8 { slip.clone() } else { u[1..].to_vec() };
            let size = length(&along);
            let off = length(&friction.iter().zip(&along).map(|(f, a)| f + bound * a / size.max(1e-300)).collect::<Vec<_>>());
            worst = worst.max(if length(&slip) > 1e-8 { off } else { off.min(size) });
        }
        worst / scale
    }

    /// Accelerations of all modes of planar contacts that obey the laws.
    fn enumerate(&self) -> Vec<Vec<f64>> {
        let (n, k) = (self.v.len(), self.mu.len());
        let slip: Vec<f64> = self.plain.rows.iter().map(|(rows, _)| Self::product(&rows[1], &self.v)).collect();
        let mut found: Vec<Vec<f64>> = Vec::new();
        for code in 0..4_usize.pow(k as u32) {
            // open, stick, slip to either side
            let mode = |c: usize| code / 4_usize.pow(c as u32) % 4;
            if (0..k).any(|c| slip[c].abs() > 1e-8 && (mode(c) == 1 || (mode(c) == 2) != (slip[c] > 0.0) && mode(c) != 0)) {
                continue;
            }
            let sign = |c: usize| if mode(c) == 2 { 1.0 } else { -1.0 };
            // unknowns: directions of force; equations: rows that vanish
            let (mut directions, mut equations): (Vec<Vec<f64>>, Vec<&Vec<f64>>) = (Vec::new(), Vec::new());
            for (c, (rows, _)) in self.plain.rows.iter().enumerate() {
                match mode(c) {
                    0 => {}
                    1 => {
                        directions.extend(rows.iter().cloned());
                        equations.extend(rows);
                    }
                    _ => {
                        let friction = sign(c) * self.mu[c];
                        directions.push(rows[0].iter().zip(&rows[1]).map(|(g, t)| g - friction * t).collect());
                        equations.push(&rows[0]);
                    }
                }
            }
            let m = equations.len();
            let inverse = |f: &[f64]| (0..n).map(|i| f[i] / self.plain.mass[i * n + i]).collect::<Vec<f64>>();
            let mut a = inverse(&self.plain.force);
            let mut x = Vec::new();
            if m > 0 {
                let matrix = nalgebra::DMatrix::from_fn(m, m, |i, j| Self::product(equations[i], &inverse(&directions[j])));
                let right = nalgebra::DVector::from_fn(m, |i, _| -Self::product(equations[i], &a));
                let Some(solution) = matrix.lu().solve(&right) else { continue };
                x = solution.iter().copied().collect();
                for (x, direction) in x.iter().zip(&directions) {
                    a.iter_mut().zip(inverse(direction)).for_each(|(a, d)| *a += x * d);
                }
            }
            let scale = x.iter().fold(10.0_f64, |m, x| m.max(x.abs()));
            let (mut place, mut good) = (0, true);
            for (c, (rows, _)) in self.plain.rows.iter().enumerate() {
                let (lift, along) = (Self::product(&rows[0], &a), Self::product(&rows[1], &a));
                good &= match mode(c) {
                    0 => lift >= -1e-10 * scale,
                    1 => {
                        place += 2;
                        x[place - 1].abs() <= self.mu[c] * x[place - 2] + 1e-10 * scale
                    }
                    _ => {
                        place += 1;
                        x[place - 1] >= -1e-10 * scale && (slip[c].abs() > 1e-8 || sign(c) * along >= -1e-10 * scale)
                    }
                };
            }
            if good && scale < 1e9 && !found.iter().any(|other| other.iter().zip(&a).all(|(b, a)| (a - b).abs() < 1e-6 * scale)) {
                found.push(a);
            }
        }
        found
    }
}

/// One to three planar contacts with random rows, at rest or sliding: the forces obey all laws, the accelerations are among those of all modes tried one by
/// one; where there are none, none are found, and where there is one only, that is said.
#[test]
fn random_planar_contacts_agree_with_all_modes() {
    let mut random = SplitMix64::new(61);
    let (mut none, mut several, mut unseen) = (0, 0, 0);
    for case in 0..3000_usize {
        let (contacts, slides) = (1 + case % 3, case % 2 == 0);
        let most_friction = [0.3, 0.8, 2.0][case / 6 % 3];
        let set_of = RandomSet::new(&mut random, contacts * 2 + 1, contacts, 1, most_friction, slides);
        let all = set_of.enumerate();
        let found = accelerate(&set_of.plain.model(), &vec![0.0; set_of.v.len()], &set_of.v);
        let at = format!("case {case}: {:?}, {} solutions", found.verdict, all.len());
        match (all.len(), found.verdict) {
            (0, Verdict::Inconsistent { .. }) => none += 1,
            (1, Verdict::Solved { .. }) => {}
            (2.., Verdict::Ambiguous { .. }) => several += 1,
            (2.., Verdict::Solved { .. }) => unseen += 1,
            _ => panic!("{at}"),
        }
        if !all.is_empty() {
            assert!(set_of.violation(&found) < 1e-9, "{at}: {}", set_of.violation(&found));
            let size = found.a.iter().fold(10.0_f64, |m, a| m.max(a.abs()));
            assert!(all.iter().any(|a| a.iter().zip(&found.a).all(|(a, b)| (a - b).abs() < 1e-8 * size)), "{at}");
        }
    }
    println!("no solution {none}, several {several}, several but not told {unseen}");
    assert!(none > 10 && several > 10 && unseen == 0);
}

/// Contacts in space with random rows and moderate friction: all laws hold.
#[test]
fn random_contacts_in_space_obey_all_laws() {
    let mut random = SplitMix64::new(62);
    let (mut slips, mut sticks, mut opens) = (0, 0, 0);
    for case in 0..600_usize {
        let contacts = 1 + case % 3;
        let most_friction = [0.4, 3.0][case / 5 % 2];
        let set_of = RandomSet::new(&mut random, contacts * 3 + 1, contacts, 2, most_friction, case % 5 == 4);
        let found = accelerate(&set_of.plain.model(), &vec![0.0; set_of.v.len()], &set_of.v);
        match found.verdict {
            Verdict::Solved { .. } | Verdict::Ambiguous { .. } => {
                assert!(set_of.violation(&found) < 1e-9, "case {case}: {:?} {}", found.verdict, set_of.violation(&found));
            }
            Verdict::Inconsistent { .. } if case % 5 == 4 => {}
            other => panic!("case {case}: {other:?}"),
        }
        for mode in modes(&found) {
            match mode {
                ContactMode::Sliding => slips += 1,
                ContactMode::Sticking => sticks += 1,
                _ => opens += 1,
            }
        }
    }
    println!("slip {slips}, stick {sticks}, open {opens}");
    assert!(slips > 100 && sticks > 50 && opens > 100);
}

/// More contacts than a body has coordinates, at rest or sliding on a line or a plane: W is singular, forces are not unique; all laws hold.
#[test]
fn random_redundant_contacts_obey_all_laws() {
    let mut random = SplitMix64::new(63);
    let (mut slips, mut sticks, mut opens, mut told) = (0, 0, 0, 0);
    for case in 0..600_usize {
        let space = case % 2 == 1;
        let points: Vec<[f64; 2]> = (0..3 + case % 3).map(|_| [random.symmetric(), random.symmetric()]).collect();
        let (height, mu) = (0.3 + random.uniform(), 0.1 + 0.5 * random.uniform());
        let rows = |&[x, y]: &[f64; 2]| match space {
            true => vec![vec![0.0, 0.0, 1.0, y, -x, 0.0], vec![1.0, 0.0, 0.0, 0.0, -height, -y], vec![0.0, 1.0, 0.0, height, 0.0, x]],
            false => vec![vec![0.0, 1.0, x], vec![1.0, 0.0, height]],
        };
        let n = if space { 6 } else { 3 };
        let mut force: Vec<f64> = (0..n).map(|_| 3.0 * random.symmetric()).collect();
        force[if space { 2 } else { 1 }] -= 8.0;
        let slides = case % 5 == 4;
        let mut v = vec![0.0; n];
        if slides {
            // along the support, turning about its normal
            v[0] = 1.0;
            if space {
                (v[1], v[5]) = (random.symmetric(), random.symmetric());
            }
        }
        let laws = points.iter().map(|_| coulomb(mu));
        let plain = Plain { mass: diagonal(&vec![1.0; n]), force, rows: points.iter().map(rows).zip(laws).collect() };
        let set_of = RandomSet { mu: vec![mu; points.len()], plain, v };
        let found = accelerate(&set_of.plain.model(), &vec![0.0; n], &set_of.v);
        match found.verdict {
            Verdict::Solved { .. } => {}
            Verdict::Ambiguous { .. } => told += 1,
            other => panic!("case {case}: {other:?}"),
        }
        assert!(set_of.violation(&found) < 1e-9, "case {case}: {:?} {}", found.verdict, set_of.violation(&found));
        for mode in modes(&found) {
            match mode {
                ContactMode::Sliding => slips += 1,
                ContactMode::Sticking => sticks += 1,
                _ => opens += 1,
            }
        }
    }
    println!("slip {slips}, stick {sticks}, open {opens}; {told} with several solutions");
    assert!(slips > 300 && sticks > 300 && opens > 300);
}
