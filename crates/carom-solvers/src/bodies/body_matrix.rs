//! M + Gᵀ K G of an island, in blocks of six by bodies that touch.

use crate::linear::{BlockPattern, FrontalLu};

/// The matrix and its factors.
#[derive(Debug, Default)]
pub(super) struct BodyMatrix {
    /// Blocks of each row: where they begin, their columns, their values row-major.
    starts: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<[f64; 36]>,
    /// Where the blocks aa, ab, ba, bb of each contact lie; [`NONE`] for the ground.
    places: Vec<[u32; 4]>,
    pairs: Vec<(u32, u32)>,
    pattern: BlockPattern,
    dims: Vec<usize>,
    lu: FrontalLu,
    work: Vec<f64>,
}

const NONE: u32 = u32::MAX;

impl BodyMatrix {
    /// Finds the blocks for the pairs of bodies at the contacts; numbers from `n` on are the ground. Returns the flops of a factorisation.
    pub fn prepare(&mut self, n: usize, contacts: impl Iterator<Item = [u32; 2]> + Clone) -> f64 {
        let BodyMatrix { pairs, starts, columns, .. } = self;
        pairs.clear();
        pairs.extend((0..n as u32).map(|body| (body, body)));
        for [a, b] in contacts.clone().filter(|bodies| bodies.iter().all(|&body| (body as usize) < n)) {
            pairs.extend([(a, b), (b, a)]);
        }
        pairs.sort_unstable();
        pairs.dedup();
        starts.clear();
        starts.resize(n + 1, 0);
        pairs.iter().for_each(|(row, _)| starts[*row as usize + 1] += 1);
        (0..n).for_each(|row| starts[row + 1] += starts[row]);
        columns.clear();
        columns.extend(pairs.iter().map(|(_, column)| *column));
        let find = |row: u32, column: u32| {
            if row as usize >= n || column as usize >= n {
                return NONE;
            }
            let (start, end) = (starts[row as usize] as usize, starts[row as usize + 1] as usize);
            columns[start..end].binary_search(&column).map_or(NONE, |place| (start + place) as u32)
        };
        self.places.clear();
        self.places.extend(contacts.map(|[a, b]| [find(a, a), find(a, b), find(b, a), find(b, b)]));
        let row = |row: usize| columns[starts[row] as usize..starts[row + 1] as usize].iter().map(|&column| column as usize);
        self.pattern.compute(n, row);
        self.dims.clear();
        self.dims.resize(n, 6);
        self.lu.clear();
        self.lu.reset(&self.pattern, &self.dims);
        self.lu.flops()
    }

    /// M alone: per body its mass and inertia (xx, xy, xz, yy, yz, zz).
    pub fn start(&mut self, masses: &[[f64; 7]]) {
        self.values.clear();
        self.values.resize(self.columns.len(), [0.0; 36]);
        for (row, mass) in masses.iter().enumerate() {
            let (start, end) = (self.starts[row] as usize, self.starts[row + 1] as usize);
            let Ok(place) = self.columns[start..end].binary_search(&(row as u32)) else { continue };
            let [m, xx, xy, xz, yy, yz, zz] = *mass;
            let block = &mut self.values[start + place];
            (0..3).for_each(|k| block[7 * k] = m);
            for (i, row) in [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]].iter().enumerate() {
                block[6 * (3 + i) + 3..6 * (3 + i) + 6].copy_from_slice(row);
            }
        }
    }

    /// Adds Gᵀ K G of a contact, with K in the world frame and the arms of its bodies.
    pub fn add(&mut self, contact: usize, k: &[f64; 9], arms: &[[f64; 3]; 2]) {
        for (index, &place) in self.places[contact].iter().enumerate() {
            if place != NONE {
                let (a, b) = (index / 2, index % 2);
                add_block(&mut self.values[place as usize], k, &arms[a], &arms[b], if a == b { 1.0 } else { -1.0 });
            }
        }
    }

    /// Factors what was added.
    pub fn factor(&mut self) {
        self.lu.reset(&self.pattern, &self.dims);
        for row in 0..self.dims.len() {
            let mut next = self.starts[row] as usize;
            let values = &self.values;
            self.lu.fill_row(row, |_, entries| {
                entries.copy_from_slice(&values[next]);
                next += 1;
            });
        }
        self.lu.factor();
    }

    /// Replaces b by the solution.
    pub fn solve(&mut self, b: &mut [[f64; 6]]) {
        self.work.clear();
        self.work.resize(6 * b.len(), 0.0);
        for (row, b) in b.iter().enumerate() {
            let at = self.lu.offset(row);
            self.work[at..at + 6].copy_from_slice(b);
        }
        self.lu.solve(&mut self.work);
        for (row, b) in b.iter_mut().enumerate() {
            let at = self.lu.offset(row);
            b.copy_from_slice(&self.work[at..at + 6]);
        }
    }
}

/// block += sign · P_aᵀ K P_b with P = (I, −[arm]×).
fn add_block(block: &mut [f64; 36], k: &[f64; 9], a: &[f64; 3], b: &[f64; 3], sign: f64) {
    // K P_b: columns of K, then K applied to the columns of −[b]×, which are e × b
    let mut right = [[0.0; 6]; 3];
    for (row, k) in right.iter_mut().zip(k.chunks_exact(3)) {
        row[..3].copy_from_slice(k);
        // −[b]× = [[0, b2, −b1], [−b2, 0, b0], [b1, −b0, 0]]
        row[3] = k[2] * b[1] - k[1] * b[2];
        row[4] = k[0] * b[2] - k[2] * b[0];
        row[5] = k[1] * b[0] - k[0] * b[1];
    }
    for column in 0..6 {
        let x = [sign * right[0][column], sign * right[1][column], sign * right[2][column]];
        block[column] += x[0];
        block[6 + column] += x[1];
        block[12 + column] += x[2];
        // ([a]× x): arm × force
        block[18 + column] += a[1] * x[2] - a[2] * x[1];
        block[24 + column] += a[2] * x[0] - a[0] * x[2];
        block[30 + column] += a[0] * x[1] - a[1] * x[0];
    }
}
