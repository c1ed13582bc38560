//! Islands at rest that sleep: their bodies stay where they are, and their contacts keep the impulses that hold them.
//!
//! An island of bodies that touch falls asleep when all of them have been slower than a limit for some time. While it sleeps its one-step problem is that of the
//! step before, with v = 0: it is not solved again. It wakes, as it is and with its impulses as the guess, before anything could change that: a body that is awake, a moving
//! surface, a joint or another row comes within reach of one of its bodies, or forces on one of them change.

use crate::checkpoint::{Bytes, CheckpointError, Reader};
use carom_solvers::bodies::{BodyProblem, GROUND, Union};

/// When islands fall asleep.
#[derive(Clone, Copy, Debug)]
pub(super) struct SleepRule {
    /// Time for which all bodies have to be slow \[s\]; 0: never.
    pub after: f64,
    /// Speeds of slow bodies \[m/s\], \[rad/s\].
    pub speed: f64,
}

/// Which bodies sleep, and since when the others are slow.
#[derive(Debug, Default)]
pub(super) struct Sleep {
    /// \[s\].
    quiet: Vec<f64>,
    asleep: Vec<bool>,
    /// The body that stands for the island with which a body fell asleep.
    island: Vec<u32>,
    /// v_free of a body that sleeps and does not move.
    free: Vec<Option<[f64; 6]>>,
    union: Union,
    /// By the body that stands for an island: it wakes, it may not sleep.
    wakes: Vec<bool>,
    restless: Vec<bool>,
    /// Size of the last step \[s\].
    h: f64,
}

impl Sleep {
    /// Writes who sleeps and who is slow.
    pub fn save(&self, out: &mut Bytes) {
        out.numbers(&self.quiet);
        out.flags(&self.asleep);
        self.island.iter().for_each(|body| out.integer(u64::from(*body)));
        for free in &self.free {
            out.groups(free.as_slice());
        }
        out.number(self.h);
    }

    /// Reads what was saved.
    pub fn load(&mut self, from: &mut Reader<'_>) -> Result<(), CheckpointError> {
        from.numbers(&mut self.quiet)?;
        from.flags(&mut self.asleep)?;
        self.island.clear();
        for _ in 0..self.asleep.len() {
            let found = from.integer()?;
            self.island.push(u32::try_from(found).map_err(|_| CheckpointError::Unknown { what: "body", found })?);
        }
        self.free.clear();
        let mut free = Vec::with_capacity(1);
        for _ in 0..self.asleep.len() {
            from.groups(&mut free)?;
            self.free.push(free.first().copied());
        }
        self.h = from.number()?;
        Ok(())
    }

    /// Everybody is awake.
    pub(crate) fn wake_all(&mut self) {
        self.quiet.clear();
    }

    fn resize(&mut self, n: usize) {
        if self.quiet.len() != n {
            self.quiet.clear();
            self.quiet.resize(n, 0.0);
            self.asleep.clear();
            self.asleep.resize(n, false);
            self.island.clear();
            self.island.extend(0..n as u32);
            self.free.clear();
            self.free.resize(n, None);
        }
    }

    /// Before a step of `h` seconds from the velocities `v`: wakes whom it concerns and tells the problem who sleeps. `moving` says whether a contact of the problem has a
    /// surface that moves.
    pub fn before(&mut self, problem: &mut BodyProblem, v: &[f64], moving: impl Fn(usize) -> bool, h: f64) {
        let n = problem.masses.len();
        self.resize(n);
        self.h = h;
        self.wakes.clear();
        self.wakes.resize(n, false);
        self.restless.clear();
        self.restless.resize(n, false);
        let sleeps = |asleep: &[bool], body: u32| body != GROUND && asleep[body as usize];
        for (index, contact) in problem.contacts.iter().enumerate() {
            let of = contact.bodies.map(|body| sleeps(&self.asleep, body));
            let awake = contact.bodies.iter().zip(of).any(|(body, asleep)| *body != GROUND && !asleep);
            let moving = moving(index);
            for (&body, asleep) in contact.bodies.iter().zip(of).filter(|(body, _)| **body != GROUND) {
                self.restless[body as usize] |= moving;
                if asleep && (awake || moving) {
                    self.wakes[self.island[body as usize] as usize] = true;
                }
            }
        }
        for rows in &problem.rows {
            for body in problem.bodies_of(rows) {
                self.restless[body as usize] = true;
                if self.asleep[body as usize] {
                    self.wakes[self.island[body as usize] as usize] = true;
                }
            }
        }
        for body in (0..n).filter(|&body| self.asleep[body]) {
            if v[6 * body..6 * body + 6].iter().all(|v| *v == 0.0) {
                let free = *self.free[body].get_or_insert(problem.velocities[body]);
                self.wakes[self.island[body] as usize] |= free != problem.velocities[body];
            }
        }
        for body in 0..n {
            if self.asleep[body] && self.wakes[self.island[body] as usize] {
                (self.asleep[body], self.quiet[body], self.free[body]) = (false, 0.0, None);
            }
        }
        problem.asleep.clone_from(&self.asleep);
    }

    /// After a step that stands, which ended with the velocities `v`: lets islands fall asleep.
    pub fn after(&mut self, problem: &BodyProblem, v: &[f64], rule: SleepRule) {
        let n = self.quiet.len();
        if n == 0 || problem.masses.len() != n {
            return;
        }
        for (quiet, v) in self.quiet.iter_mut().zip(v.chunks_exact(6)) {
            let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
            let slow = square(&v[..3]).max(square(&v[3..])) <= rule.speed * rule.speed;
            *quiet = if slow { *quiet + self.h } else { 0.0 };
        }
        self.union.reset(n);
        // what touches nothing does not sleep
        self.wakes.fill(true);
        for contact in &problem.contacts {
            match contact.bodies {
                [a, b] if a != GROUND && b != GROUND => self.union.join(a, b),
                _ => {}
            }
            contact.bodies.iter().filter(|body| **body != GROUND).for_each(|&body| self.wakes[body as usize] = false);
        }
        for body in 0..n {
            if self.quiet[body] < rule.after || self.restless[body] || self.wakes[body] {
                let root = self.union.root(body as u32);
                self.wakes[root as usize] = true;
            }
        }
        for body in 0..n {
            let root = self.union.root(body as u32);
            if !self.asleep[body] && !self.wakes[root as usize] {
                (self.asleep[body], self.island[body], self.free[body]) = (true, root, None);
            }
        }
    }
}
