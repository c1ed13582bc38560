//! One island: its bodies, its contacts in coloured packs, and the sweeps over them by one or several threads.

use super::barrier::Barrier;
use super::colouring::{COLOURS, Colouring};
use super::groups::Groups;
use super::lanes::{Arithmetic, LANES, Plain};
use super::pack::{EMPTY, Pack, Points, in_use};
use super::rows::RowSet;
use super::velocities::{Inertia, Velocities};
use super::{BodyProblem, BodySolution, GROUND, Measure};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The residual is measured at least every so many sweeps.
const CHECK_INTERVAL: usize = 20;

/// Sweeps without a better residual after which momentum is limited further, and after which the island has stalled.
const SETBACK: usize = 60;
const STALL: usize = 1500;

/// First limit of Nesterov's t: momentum of at most about 1 − 1.5/t.
const FIRST_LIMIT: f64 = 16.0;

/// Growth of the square of the change of a sweep at which momentum is dropped: a little is passed over.
const GROWTH: f64 = 1.3;

/// An island with everything that its solution needs.
#[derive(Debug, Default)]
pub(super) struct Island {
    /// Bodies by their numbers in the problem.
    pub bodies: Vec<u32>,
    /// Contacts and rows by their numbers in the problem.
    pub contacts: Vec<u32>,
    pub rows: Vec<u32>,
    inertias: Vec<Inertia>,
    velocities: Velocities,
    groups: Groups,
    colouring: Colouring,
    /// What each thread works on.
    parts: Vec<Mutex<Part>>,
    row_work: RowSet,
    /// Sums of each pack.
    sums: Vec<AtomicU64>,
    n_colours: usize,
    /// Mass unit of the residual.
    unit: f64,
    /// |q|².
    free: f64,
    /// Sum of the diagonal of W.
    pub trace: f64,
    pub outcome: Outcome,
}

/// Packs of one thread.
#[derive(Debug, Default)]
struct Part {
    packs: Vec<Pack>,
    /// Number of each pack in the island.
    numbers: Vec<u32>,
    /// End of the points of each pack.
    point_ends: Vec<u32>,
    points: Vec<Points>,
    /// Contacts in the lanes of each point.
    ids: Vec<[u32; LANES]>,
    /// End of each colour among the packs.
    ends: Vec<usize>,
    /// Bodies whose velocities this thread extrapolates, and those velocities at the end of the last sweep.
    bodies: std::ops::Range<usize>,
    last: Vec<[f64; 6]>,
}

impl Part {
    fn clear(&mut self) {
        self.packs.clear();
        self.numbers.clear();
        self.point_ends.clear();
        self.points.clear();
        self.ids.clear();
        self.ends.clear();
    }

    /// Points of a pack.
    #[inline(always)]
    fn range(&self, pack: usize) -> std::ops::Range<usize> {
        let start = if pack == 0 { 0 } else { self.point_ends[pack - 1] };
        start as usize..self.point_ends[pack] as usize
    }

    /// Writes a number of each pack where all threads find it, slot `k` of four.
    fn tell(&self, sums: &[AtomicU64], mut of: impl FnMut(&Pack, &[Points], &[[u32; LANES]]) -> f64) {
        for (index, (pack, &number)) in self.packs.iter().zip(&self.numbers).enumerate() {
            let range = self.range(index);
            let value = of(pack, &self.points[range.clone()], &self.ids[range]);
            sums[4 * number as usize].store(value.to_bits(), Relaxed);
        }
    }
}

/// How the sweeps of an island ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub sweeps: usize,
    pub measure: Measure,
    pub converged: bool,
    pub stalled: bool,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub tolerance: f64,
    pub max_sweeps: usize,
    /// Residual that is sought within `cheap_sweeps`.
    pub aim: f64,
    pub cheap_sweeps: usize,
    /// Mass unit of the residual.
    pub unit: f64,
    pub momentum: bool,
}

impl Limits {
    /// Residual at which to stop after so many sweeps.
    fn goal(&self, sweeps: usize) -> f64 {
        if sweeps < self.cheap_sweeps { self.aim } else { self.tolerance }
    }
}

/// What the leader tells the threads.
#[derive(Debug, Default)]
struct Control {
    beta: AtomicU64,
    /// 0: sweep, 1: measure first, 2: stop.
    command: AtomicU64,
}

const SWEEP: u64 = 0;
const MEASURE: u64 = 1;
const STOP: u64 = 2;

/// Decides after each sweep. Only the first thread has it.
struct Leader {
    limits: Limits,
    /// t of Nesterov's momentum and its limit.
    t: f64,
    largest: f64,
    /// |x⁺ − y|² of the last sweep.
    step: f64,
    ratio: f64,
    /// Best residual and its sweep; the sweep of the last gain or of the last limit.
    best: (f64, usize),
    last_gain: usize,
    outcome: Outcome,
}

impl Island {
    /// Forgets what it holds and keeps the storage.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.contacts.clear();
        self.rows.clear();
    }

    /// Copies bodies and contacts, coloured and packed for `threads` threads; `local` numbers bodies in their islands.
    pub fn build(&mut self, problem: &BodyProblem, guess: &BodySolution, local: &[u32], threads: usize) {
        let ground = self.bodies.len() as u32;
        let number = |body: u32| if body == GROUND { ground } else { local[body as usize] };
        self.inertias.clear();
        self.velocities.reset(self.bodies.len());
        for (place, &body) in self.bodies.iter().enumerate() {
            let mass = &problem.masses[body as usize];
            let i = &mass.inverse_inertia;
            self.inertias.push([mass.inverse_mass, i[0], i[1], i[2], i[3], i[4], i[5], 0.0]);
            self.velocities.set(place, &problem.velocities[body as usize]);
        }
        self.inertias.push([0.0; 8]);
        let carries = |contact: u32| guess.impulses[contact as usize][0] > 0.0;
        self.groups.gather(&self.contacts, |contact| problem.contacts[contact as usize].bodies.map(number), carries);
        self.colouring.colour(self.bodies.len(), self.groups.pairs());
        self.groups.sort(&self.colouring.colour);
        self.fill(problem, guess, threads);
        self.trace = self.sum_packs(|_, points, ids| points.iter().zip(ids).map(|(point, ids)| point.trace(in_use(ids))).sum());
        self.row_work.clear();
        for &r in &self.rows {
            self.row_work.push(problem, &problem.rows[r as usize], number, guess, &self.inertias);
        }
        self.trace += self.row_work.finish(self.bodies.len(), &self.inertias);
    }

    /// Puts the groups into packs, colour after colour, shared between the threads.
    fn fill(&mut self, problem: &BodyProblem, guess: &BodySolution, threads: usize) {
        let Island { groups, colouring, parts, inertias, contacts, .. } = self;
        let ground = inertias.len() as u32 - 1;
        self.n_colours = colouring.counts[..COLOURS].iter().position(|&n| n == 0).unwrap_or(COLOURS);
        parts.resize_with(threads, Mutex::default);
        parts.truncate(threads);
        let mut parts: Vec<&mut Part> = parts.iter_mut().map(|part| part.get_mut().unwrap_or_else(PoisonError::into_inner)).collect();
        parts.iter_mut().for_each(|part| part.clear());
        let (mut number, mut order) = (0, groups.sorted());
        for colour in 0..=COLOURS {
            let (of_colour, rest) = order.split_at(colouring.counts[colour]);
            order = rest;
            // pairs without a colour: one per pack, all with the first thread
            let width = if colour == COLOURS { 1 } else { LANES };
            for (place, lanes) in of_colour.chunks(width).enumerate() {
                let part = &mut parts[if colour == COLOURS { 0 } else { place % threads }];
                let mut bodies = [[ground; LANES]; 2];
                let first = part.points.len();
                for (lane, &group) in lanes.iter().enumerate() {
                    let group = groups.group(group);
                    (bodies[0][lane], bodies[1][lane]) = (group.bodies[0], group.bodies[1]);
                    for (k, &contact) in contacts[group.contacts()].iter().enumerate() {
                        if first + k == part.points.len() {
                            part.points.push(Points::empty());
                            part.ids.push([EMPTY; LANES]);
                        }
                        let c = &problem.contacts[contact as usize];
                        part.points[first + k].put(lane, c, group.bodies, &guess.impulses[contact as usize], inertias);
                        part.ids[first + k][lane] = contact;
                    }
                }
                part.packs.push(Pack::new(bodies));
                part.point_ends.push(part.points.len() as u32);
                part.numbers.push(number);
                number += 1;
            }
            if colour < self.n_colours {
                parts.iter_mut().for_each(|part| part.ends.push(part.packs.len()));
            }
        }
        let n = self.bodies.len();
        for (thread, part) in parts.iter_mut().enumerate() {
            part.bodies = n * thread / threads..n * (thread + 1) / threads;
            part.last.clear();
            part.last.resize(part.bodies.len(), [0.0; 6]);
        }
        self.sums.clear();
        self.sums.resize_with(4 * number as usize, || AtomicU64::new(0));
    }

    /// Sum of a number of each pack, in the order of the packs, whichever thread has them.
    fn sum_packs(&mut self, of: impl Fn(&Pack, &[Points], &[[u32; LANES]]) -> f64) -> f64 {
        for part in &mut self.parts {
            part.get_mut().unwrap_or_else(PoisonError::into_inner).tell(&self.sums, &of);
        }
        self.sums.chunks_exact(4).map(|slots| f64::from_bits(slots[0].load(Relaxed))).sum()
    }

    /// Sweeps until the tolerance is met; on the threads of the pool where there are several parts.
    pub fn solve(&mut self, limits: Limits, arch: pulp::Arch) {
        self.unit = limits.unit;
        self.start();
        let barrier = Barrier::new(self.parts.len());
        let control = Control::default();
        let rows = Mutex::new(std::mem::take(&mut self.row_work));
        let leader = Mutex::new(Leader {
            limits,
            t: 1.0,
            largest: f64::INFINITY,
            last_gain: 0,
            step: f64::INFINITY,
            ratio: 1.0,
            best: (f64::INFINITY, 0),
            outcome: Outcome::default(),
        });
        let worker = |thread: usize| self.work(thread, &barrier, &control, &rows, &leader, arch);
        if self.parts.len() == 1 {
            worker(0);
        } else {
            rayon::broadcast(|context| worker(context.index()));
        }
        self.row_work = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.outcome = leader.into_inner().unwrap_or_else(PoisonError::into_inner).outcome;
    }

    /// |q|², then the response to the guess.
    fn start(&mut self) {
        let velocities = std::mem::take(&mut self.velocities);
        self.free = self.sum_packs(|pack, points, ids| pack.velocity_square(points, ids, &velocities));
        self.free += self.row_work.free_square(&velocities);
        // in the order of the packs, whichever thread has them
        let mut parts: Vec<&mut Part> = self.parts.iter_mut().map(|part| part.get_mut().unwrap_or_else(PoisonError::into_inner)).collect();
        let mut next = vec![0; parts.len()];
        for number in 0..(self.sums.len() / 4) as u32 {
            for (part, next) in parts.iter().zip(&mut next) {
                if part.numbers.get(*next) == Some(&number) {
                    part.packs[*next].apply_impulses(&part.points[part.range(*next)], &self.inertias, &velocities);
                    *next += 1;
                }
            }
        }
        self.row_work.apply_impulses(&self.inertias, &velocities);
        for part in &mut parts {
            for (last, body) in part.last.iter_mut().zip(part.bodies.clone()) {
                *last = velocities.get(body);
            }
        }
        self.velocities = velocities;
    }

    /// What one thread does.
    fn work(&self, thread: usize, barrier: &Barrier, control: &Control, rows: &Mutex<RowSet>, leader: &Mutex<Leader>, arch: pulp::Arch) {
        let mut part = self.parts[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let part = &mut *part;
        let is_leader = thread == 0;
        loop {
            let beta = f64::from_bits(control.beta.load(Relaxed));
            self.extrapolate(part, beta);
            barrier.wait();
            let mut start = 0;
            for colour in 0..self.n_colours {
                let end = part.ends[colour];
                self.dispatch(arch, Work::Sweep { part, packs: start..end, beta });
                start = end;
                barrier.wait();
            }
            if is_leader {
                let n = part.packs.len();
                self.dispatch(arch, Work::Sweep { part, packs: start..n, beta });
                let mut step = rows.lock().unwrap_or_else(PoisonError::into_inner).visit(beta, &self.inertias, &self.velocities);
                step += self.sums.chunks_exact(4).map(|slots| f64::from_bits(slots[0].load(Relaxed))).sum::<f64>();
                leader.lock().unwrap_or_else(PoisonError::into_inner).after_sweep(step, self.free, control);
            }
            barrier.wait();
            if control.command.load(Relaxed) == MEASURE {
                self.dispatch(arch, Work::Measure { part: &mut *part });
                barrier.wait();
                if is_leader {
                    let mut leader = leader.lock().unwrap_or_else(PoisonError::into_inner);
                    let mut total = self.add_measures();
                    total.add(&rows.lock().unwrap_or_else(PoisonError::into_inner).measure(leader.limits.unit, &self.velocities));
                    total.free = self.free;
                    leader.judge(total, control);
                }
                barrier.wait();
            }
            if control.command.load(Relaxed) == STOP {
                return;
            }
        }
    }
}

impl Island {
    /// y = x + β (x − x_last) for the velocities.
    fn extrapolate(&self, part: &mut Part, beta: f64) {
        for (last, body) in part.last.iter_mut().zip(part.bodies.clone()) {
            let x = self.velocities.get(body);
            if beta != 0.0 {
                let mut y = x;
                y.iter_mut().zip(&*last).for_each(|(y, last)| *y += beta * (*y - last));
                self.velocities.set(body, &y);
            }
            *last = x;
        }
    }

    #[inline(always)]
    fn sweep<S: Arithmetic>(&self, by: S, part: &mut Part, packs: std::ops::Range<usize>, beta: f64) {
        let mut start = if packs.start == 0 { 0 } else { part.point_ends[packs.start - 1] as usize };
        for index in packs {
            let end = part.point_ends[index] as usize;
            let step = part.packs[index].visit(by, beta, &mut part.points[start..end], &self.inertias, &self.velocities);
            self.sums[4 * part.numbers[index] as usize].store(step.to_bits(), Relaxed);
            start = end;
        }
    }

    #[inline(always)]
    fn measure<S: Arithmetic>(&self, by: S, part: &mut Part, unit: f64) {
        for index in 0..part.packs.len() {
            let range = part.range(index);
            let m = part.packs[index].measure(by, &part.points[range.clone()], &part.ids[range], unit, &self.velocities);
            for (slot, sum) in self.sums[4 * part.numbers[index] as usize..].iter().zip([m.error, m.impulse, m.velocity]) {
                slot.store(sum.to_bits(), Relaxed);
            }
        }
    }

    fn add_measures(&self) -> Measure {
        let mut total = Measure::default();
        for slots in self.sums.chunks_exact(4) {
            let of = |k: usize| f64::from_bits(slots[k].load(Relaxed));
            total.add(&Measure { error: of(0), impulse: of(1), velocity: of(2), free: 0.0 });
        }
        total
    }

    /// Writes impulses and velocities into the solution of the problem.
    pub fn read_out(&mut self, problem: &BodyProblem, solution: &mut BodySolution) {
        for part in &mut self.parts {
            let part = part.get_mut().unwrap_or_else(PoisonError::into_inner);
            for (index, pack) in part.packs.iter().enumerate() {
                let range = part.range(index);
                for (point, ids) in part.points[range.clone()].iter().zip(&part.ids[range]) {
                    let velocities = pack.velocities(point, &self.velocities);
                    for (lane, &id) in ids.iter().enumerate().filter(|(_, id)| **id != EMPTY) {
                        solution.impulses[id as usize] = point.impulse_of(lane);
                        solution.velocities[id as usize] = velocities[lane];
                    }
                }
            }
        }
        self.row_work.read_out(problem, &self.rows, &self.velocities, solution);
        for (place, &body) in self.bodies.iter().enumerate() {
            solution.bodies[body as usize] = self.velocities.get(place);
        }
    }
}

impl Leader {
    /// Next β; whether to measure.
    fn after_sweep(&mut self, step: f64, free: f64, control: &Control) {
        self.outcome.sweeps += 1;
        let (limits, sweeps) = (&self.limits, self.outcome.sweeps);
        // momentum is dropped where it makes the changes grow, and comes back faster than from the start
        let grows = step > GROWTH * self.step;
        self.step = step;
        let beta = if !limits.momentum || grows {
            self.t = (0.5 * self.t).max(1.0);
            0.0
        } else {
            let next = 0.5 * (1.0 + (1.0 + 4.0 * self.t * self.t).sqrt());
            let beta = (self.t - 1.0) / next;
            self.t = next.min(self.largest);
            beta
        };
        control.beta.store(beta.to_bits(), Relaxed);
        self.outcome.measure.free = free;
        let cheap = limits.unit * step.sqrt();
        let size = self.outcome.measure.impulse.max(free).max(self.outcome.measure.velocity).sqrt().max(f64::MIN_POSITIVE);
        let promising = cheap * self.ratio <= limits.goal(sweeps) * size;
        let due = sweeps % CHECK_INTERVAL == 0 || sweeps == 1 || sweeps >= limits.max_sweeps;
        self.outcome.measure.error = cheap;
        let command = if promising || due { MEASURE } else { SWEEP };
        control.command.store(command, Relaxed);
    }

    /// The residual: whether to go on.
    fn judge(&mut self, measure: Measure, control: &Control) {
        let (limits, sweeps) = (self.limits, self.outcome.sweeps);
        let cheap = self.outcome.measure.error;
        let residual = measure.residual();
        self.outcome.measure = measure;
        self.outcome.converged = residual <= limits.tolerance;
        if residual < 0.999 * self.best.0 {
            (self.best, self.last_gain) = ((residual, sweeps), sweeps);
        }
        if sweeps > self.last_gain + SETBACK {
            (self.largest, self.last_gain) = ((0.5 * self.largest).clamp(1.0, FIRST_LIMIT), sweeps);
        }
        self.outcome.stalled = sweeps > self.best.1 + STALL || !residual.is_finite();
        self.ratio = if cheap > 0.0 { (measure.error.sqrt() / cheap).clamp(1e-3, 1e3) } else { 1.0 };
        let stops = residual <= limits.goal(sweeps) || self.outcome.stalled || sweeps >= limits.max_sweeps;
        control.command.store(if stops { STOP } else { SWEEP }, Relaxed);
    }
}

/// Work on packs that has a version with the vector instructions of the machine.
enum Work<'a> {
    Sweep { part: &'a mut Part, packs: std::ops::Range<usize>, beta: f64 },
    Measure { part: &'a mut Part },
}

impl Island {
    #[inline(always)]
    fn run<S: Arithmetic>(&self, by: S, work: Work<'_>) {
        match work {
            Work::Sweep { part, packs, beta } => self.sweep(by, part, packs, beta),
            Work::Measure { part } => self.measure(by, part, self.unit),
        }
    }

    /// Does the work as this machine does it best.
    fn dispatch(&self, arch: pulp::Arch, work: Work<'_>) {
        match arch {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            pulp::Arch::V3(simd) => pulp::Simd::vectorize(simd, WithVectors { island: self, work, simd }),
            _ => self.run(Plain, work),
        }
    }
}

/// Inlined into a function that may use vector instructions.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
struct WithVectors<'a, 'b> {
    island: &'a Island,
    work: Work<'b>,
    simd: pulp::x86::V3,
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
impl pulp::WithSimd for WithVectors<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        self.island.run(self.simd, self.work);
    }
}
