//! Writing.

use super::error::FclibError;
use super::layout::{Layout, Place};
use super::matrix::{Entries, MatrixFormat, write_matrix};
use super::{FclibFile, FclibProblem, FclibSolution, Info};
use crate::block_sparse::BlockSparse;
use crate::cones::Block;
use crate::delassus::Delassus;
use crate::error::{SolveError, check_size};
use crate::friction_contact::FrictionContact;
use crate::friction_contact_global::GlobalFrictionContact;
use crate::matrix::SparseMatrix;
use hdf5_pure::{FileBuilder, GroupBuilder};
use std::path::Path;

/// Largest difference, relative to the largest entry, of the two halves of W that couple contacts and joints. FCLIB keeps one of them;
/// assembled in floating point they differ by roundings.
const ASYMMETRY: f64 = 1e-9;

/// Writes a problem with its guesses and solution; an existing file is replaced.
///
/// Rows of joints go to V, R, s (or G, b), unilateral contacts are padded; see the [module](super). Zeros are not stored.
///
/// # Errors
/// [`FclibError::NotExpressible`], [`FclibError::BadProblem`] where a guess or solution does not fit the problem, [`FclibError::Unwritable`].
pub fn write(path: impl AsRef<Path>, file: &FclibFile, format: MatrixFormat) -> Result<(), FclibError> {
    let path = path.as_ref();
    let unwritable = |reason: String| FclibError::Unwritable { path: path.to_path_buf(), reason };
    let wrong = |error: SolveError| FclibError::BadProblem { path: path.to_path_buf(), error };
    let mut out = FileBuilder::new();
    let layout = match &file.problem {
        FclibProblem::Local(problem) => {
            problem.validate().map_err(wrong)?;
            let mut group = out.create_group("fclib_local");
            let layout = write_local(&mut group, problem, format)?;
            write_info(&mut group, &file.info).map_err(|e| unwritable(e.to_string()))?;
            out.add_group(group.finish());
            layout
        }
        FclibProblem::Global(problem) => {
            problem.validate().map_err(wrong)?;
            let mut group = out.create_group("fclib_global");
            let layout = write_global(&mut group, problem, format)?;
            write_info(&mut group, &file.info).map_err(|e| unwritable(e.to_string()))?;
            out.add_group(group.finish());
            layout
        }
    };
    let n_velocities = file.problem.n_velocities().unwrap_or(0);
    let check = |one: &FclibSolution| {
        check_size("r", layout.n_rows(), one.r.len())?;
        check_size("u", layout.n_rows(), one.u.len())?;
        if one.v.is_empty() { Ok(()) } else { check_size("v", n_velocities, one.v.len()) }
    };
    file.guesses.iter().chain(&file.solution).try_for_each(check).map_err(wrong)?;
    if !file.guesses.is_empty() {
        let mut group = out.create_group("guesses");
        group.create_dataset("number_of_guesses").with_i32_data(&[i32::try_from(file.guesses.len()).unwrap_or(i32::MAX)]);
        for (k, guess) in file.guesses.iter().enumerate() {
            let mut one = group.create_group(&(k + 1).to_string());
            write_solution(&mut one, guess, &layout);
            group.add_group(one.finish());
        }
        out.add_group(group.finish());
    }
    if let Some(solution) = &file.solution {
        let mut group = out.create_group("solution");
        write_solution(&mut group, solution, &layout);
        out.add_group(group.finish());
    }
    let bytes = out.finish().map_err(|e| unwritable(e.to_string()))?;
    std::fs::write(path, bytes).map_err(|e| unwritable(e.to_string()))
}

fn write_local(group: &mut GroupBuilder, problem: &FrictionContact, format: MatrixFormat) -> Result<Layout, FclibError> {
    let layout = Layout::of_blocks(&problem.blocks)?;
    let (mut w, mut v, mut v_below, mut r) = (Entries::new(), Entries::new(), Entries::new(), Entries::new());
    let places = layout.places();
    for_each_entry(&problem.w, &problem.blocks, |i, j, x| match (places[i], places[j]) {
        (Place::Contact(i), Place::Contact(j)) => w.push((i, j, x)),
        (Place::Contact(i), Place::Joint(j)) => v.push((i, j, x)),
        (Place::Joint(i), Place::Contact(j)) => v_below.push((j, i, x)),
        (Place::Joint(i), Place::Joint(j)) => r.push((i, j, x)),
    });
    let (m, p) = (layout.n_contact_rows(), layout.n_joint_rows);
    write_matrix(group, "W", &sparse(m, m, &w), format)?;
    let (q, s) = layout.scatter(&problem.q);
    let mut vectors = group.create_group("vectors");
    vectors.create_dataset("q").with_f64_data(&q);
    vectors.create_dataset("mu").with_f64_data(&layout.mu);
    if p > 0 {
        check_symmetry(&v, v_below, m, p)?;
        vectors.create_dataset("s").with_f64_data(&s);
        write_matrix(group, "V", &sparse(m, p, &v), format)?;
        write_matrix(group, "R", &sparse(p, p, &r), format)?;
    }
    group.add_group(vectors.finish());
    group.create_dataset("spacedim").with_i32_data(&[layout.spacedim as i32]);
    Ok(layout)
}

fn write_global(group: &mut GroupBuilder, problem: &GlobalFrictionContact, format: MatrixFormat) -> Result<Layout, FclibError> {
    let layout = Layout::of_blocks(&problem.blocks)?;
    let (mut h, mut g) = (Entries::new(), Entries::new());
    let n = problem.f.len();
    for i in 0..n {
        for (j, x) in problem.h.row(i).filter(|&(_, x)| x != 0.0) {
            match layout.places()[j] {
                Place::Contact(j) => h.push((i, j, x)),
                Place::Joint(j) => g.push((i, j, x)),
            }
        }
    }
    write_matrix(group, "M", &problem.m, format)?;
    write_matrix(group, "H", &sparse(n, layout.n_contact_rows(), &h), format)?;
    let (w, b) = layout.scatter(&problem.w);
    let mut vectors = group.create_group("vectors");
    vectors.create_dataset("f").with_f64_data(&problem.f);
    vectors.create_dataset("w").with_f64_data(&w);
    vectors.create_dataset("mu").with_f64_data(&layout.mu);
    if layout.n_joint_rows > 0 {
        vectors.create_dataset("b").with_f64_data(&b);
        write_matrix(group, "G", &sparse(n, layout.n_joint_rows, &g), format)?;
    }
    group.add_group(vectors.finish());
    group.create_dataset("spacedim").with_i32_data(&[layout.spacedim as i32]);
    Ok(layout)
}

fn write_info(parent: &mut GroupBuilder, info: &Info) -> Result<(), hdf5_pure::FormatError> {
    let mut group = parent.create_group("info");
    for (name, text) in [("title", &info.title), ("description", &info.description), ("math_info", &info.math_info)] {
        // One byte more than the text: programs in C look for the zero at its end.
        let width = u32::try_from(text.len() + 1).unwrap_or(u32::MAX);
        group.create_dataset(name).with_strings_sized(&[text], width)?.with_shape(&[]);
    }
    parent.add_group(group.finish());
    Ok(())
}

fn write_solution(group: &mut GroupBuilder, solution: &FclibSolution, layout: &Layout) {
    let ((r, l), (u, _)) = (layout.scatter(&solution.r), layout.scatter(&solution.u));
    group.create_dataset("r").with_f64_data(&r);
    group.create_dataset("u").with_f64_data(&u);
    if layout.n_joint_rows > 0 {
        group.create_dataset("l").with_f64_data(&l);
    }
    if !solution.v.is_empty() {
        group.create_dataset("v").with_f64_data(&solution.v);
    }
}

/// Calls `tell` with row, column and value of every entry that is not zero.
fn for_each_entry(w: &Delassus, blocks: &[Block], mut tell: impl FnMut(usize, usize, f64)) {
    match w {
        Delassus::Dense(w) => {
            for (i, row) in w.values().chunks_exact(w.n_rows().max(1)).enumerate() {
                row.iter().enumerate().filter(|(_, x)| **x != 0.0).for_each(|(j, &x)| tell(i, j, x));
            }
        }
        Delassus::BlockSparse(w) => {
            for block in 0..w.n_blocks() {
                for (other, values) in w.row(block) {
                    let width = blocks[other].dim();
                    for (k, &x) in values.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                        tell(w.offset(block) + k / width, w.offset(other) + k % width, x);
                    }
                }
            }
        }
        Delassus::MatrixFree(w) => {
            let mut assembled = BlockSparse::new();
            w.to_block_sparse(&mut assembled);
            for_each_entry(&assembled.into(), blocks, tell);
        }
    }
}

/// The part of W above the diagonal is what FCLIB keeps: the part below must be its transpose.
fn check_symmetry(v: &Entries, v_below: Entries, m: usize, p: usize) -> Result<(), FclibError> {
    let largest = v.iter().chain(&v_below).fold(0.0_f64, |a, entry| a.max(entry.2.abs()));
    let mut difference = v.clone();
    difference.extend(v_below.into_iter().map(|(i, j, x)| (i, j, -x)));
    if sparse(m, p, &difference).values().iter().all(|x| x.abs() <= ASYMMETRY * largest) {
        return Ok(());
    }
    Err(FclibError::NotExpressible {
        what: "joints with a W that is not symmetric".into(),
        advice: "eliminate the joints, or write the global form",
    })
}

fn sparse(rows: usize, columns: usize, entries: &Entries) -> SparseMatrix {
    SparseMatrix::from_triplets(rows, columns, entries).expect("rows and columns are places of a layout")
}
