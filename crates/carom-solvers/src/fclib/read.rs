//! Reading.

use super::error::FclibError;
use super::layout::{Layout, rename};
use super::matrix::{Entries, in_blocks, read_matrix};
use super::source::Source;
use super::{FclibFile, FclibProblem, FclibSolution, Info};
use crate::cones::Block;
use crate::friction_contact::FrictionContact;
use crate::friction_contact_global::GlobalFrictionContact;
use crate::matrix::SparseMatrix;
use std::path::Path;

/// Reads a local or global problem, whatever the format of its matrices.
///
/// # Errors
/// [`FclibError`] naming the file, the dataset, and what was expected there.
pub fn read(path: impl AsRef<Path>) -> Result<FclibFile, FclibError> {
    let source = Source::open(path.as_ref())?;
    let (group, problem, layout) = if source.has_group("fclib_local") {
        let (problem, layout) = read_local(&source)?;
        ("fclib_local", FclibProblem::Local(problem), layout)
    } else if source.has_group("fclib_global") {
        let (problem, layout) = read_global(&source)?;
        ("fclib_global", FclibProblem::Global(problem), layout)
    } else {
        return Err(FclibError::NoProblem { path: source.path().to_path_buf() });
    };
    let text = |name: &str| source.text(&format!("{group}/info/{name}"));
    let info = Info { title: text("title"), description: text("description"), math_info: text("math_info") };
    let n_velocities = problem.n_velocities();
    let n_guesses = source.optional_integer("guesses/number_of_guesses")?.unwrap_or(0);
    let guesses = (1..=n_guesses).map(|k| read_solution(&source, &format!("guesses/{k}"), &layout, n_velocities));
    let guesses = guesses.collect::<Result<_, _>>()?;
    let has_solution = source.has_group("solution");
    let solution = has_solution.then(|| read_solution(&source, "solution", &layout, n_velocities)).transpose()?;
    Ok(FclibFile { problem, info, guesses, solution })
}

/// u = W r + V λ + q, 0 = Vᵀ r + R λ + s.
fn read_local(source: &Source) -> Result<(FrictionContact, Layout), FclibError> {
    let (spacedim, mu, q) = read_contacts(source, "fclib_local", "q")?;
    let m = q.len();
    let w = read_matrix(source, "fclib_local/W", m, m)?;
    let mut joints = Joints::default();
    if source.has_group("fclib_local/V") {
        joints.constants = source.numbers("fclib_local/vectors/s")?;
        let p = joints.constants.len();
        joints.coupling = read_matrix(source, "fclib_local/V", m, p)?;
        if source.has_group("fclib_local/R") {
            joints.among = read_matrix(source, "fclib_local/R", p, p)?;
        }
    }
    let p = joints.constants.len();
    let mut is_used: Vec<bool> = q.iter().map(|&q| q != 0.0).collect();
    for &(i, j, _) in w.iter().filter(|entry| entry.2 != 0.0) {
        (is_used[i], is_used[j]) = (true, true);
    }
    joints.coupling.iter().filter(|entry| entry.2 != 0.0).for_each(|&(i, ..)| is_used[i] = true);
    let layout = Layout::of_file(spacedim, mu, &is_used, p);
    let (contacts, joint_rows) = layout.rows();
    let mut entries: Entries = rename(w, &contacts, &contacts).collect();
    for (i, j, x) in rename(joints.coupling, &contacts, &joint_rows) {
        entries.extend([(i, j, x), (j, i, x)]);
    }
    entries.extend(rename(joints.among, &joint_rows, &joint_rows));
    let matrix = sparse(source, "fclib_local/W", layout.n_rows(), layout.n_rows(), &entries)?;
    let dims: Vec<usize> = layout.blocks.iter().map(Block::dim).collect();
    let problem =
        FrictionContact { w: in_blocks(&matrix, &dims).into(), q: layout.gather(&q, &joints.constants), blocks: layout.blocks.clone() };
    problem.validate().map_err(|error| FclibError::BadProblem { path: source.path().to_path_buf(), error })?;
    Ok((problem, layout))
}

/// M v = H r + G λ + f, u = Hᵀ v + w, 0 = Gᵀ v + b.
fn read_global(source: &Source) -> Result<(GlobalFrictionContact, Layout), FclibError> {
    let (spacedim, mu, w) = read_contacts(source, "fclib_global", "w")?;
    let f = source.numbers("fclib_global/vectors/f")?;
    let n = f.len();
    let m = read_matrix(source, "fclib_global/M", n, n)?;
    let h = read_matrix(source, "fclib_global/H", n, w.len())?;
    let mut joints = Joints::default();
    if source.has_group("fclib_global/G") {
        joints.constants = source.numbers("fclib_global/vectors/b")?;
        joints.coupling = read_matrix(source, "fclib_global/G", n, joints.constants.len())?;
    }
    let mut is_used: Vec<bool> = w.iter().map(|&w| w != 0.0).collect();
    h.iter().filter(|entry| entry.2 != 0.0).for_each(|&(_, j, _)| is_used[j] = true);
    let layout = Layout::of_file(spacedim, mu, &is_used, joints.constants.len());
    let (contacts, joint_rows) = layout.rows();
    let all: Vec<Option<usize>> = (0..n).map(Some).collect();
    let mut entries: Entries = rename(h, &all, &contacts).collect();
    entries.extend(rename(joints.coupling, &all, &joint_rows));
    let problem = GlobalFrictionContact {
        m: sparse(source, "fclib_global/M", n, n, &m)?,
        h: sparse(source, "fclib_global/H", n, layout.n_rows(), &entries)?,
        f,
        w: layout.gather(&w, &joints.constants),
        blocks: layout.blocks.clone(),
    };
    problem.validate().map_err(|error| FclibError::BadProblem { path: source.path().to_path_buf(), error })?;
    Ok((problem, layout))
}

/// The bilateral part of a problem, if any.
#[derive(Default)]
struct Joints {
    /// s or b.
    constants: Vec<f64>,
    /// V or G.
    coupling: Entries,
    /// R.
    among: Entries,
}

/// The space dimension, the friction coefficients, and the vector with a row per contact row.
fn read_contacts(source: &Source, group: &str, vector: &str) -> Result<(usize, Vec<f64>, Vec<f64>), FclibError> {
    let name = format!("{group}/spacedim");
    let spacedim = match source.integer(&name)? {
        2 => 2,
        3 => 3,
        other => return Err(source.bad(&name, other, "2 or 3")),
    };
    let mu = source.numbers(&format!("{group}/vectors/mu"))?;
    let rows = mu.len().saturating_mul(spacedim);
    let values = source.n_numbers(&format!("{group}/vectors/{vector}"), rows)?;
    Ok((spacedim, mu, values))
}

fn read_solution(source: &Source, group: &str, layout: &Layout, n_velocities: Option<usize>) -> Result<FclibSolution, FclibError> {
    let at = |name: &str| format!("{group}/{name}");
    let n = layout.n_contact_rows();
    let (r, u) = (source.n_numbers(&at("r"), n)?, source.n_numbers(&at("u"), n)?);
    let l = source.n_optional_numbers(&at("l"), layout.n_joint_rows)?;
    let still = vec![0.0; layout.n_joint_rows];
    let v = match n_velocities {
        Some(n) => source.n_optional_numbers(&at("v"), n)?.unwrap_or_default(),
        None => Vec::new(),
    };
    Ok(FclibSolution { r: layout.gather(&r, l.as_ref().unwrap_or(&still)), u: layout.gather(&u, &still), v })
}

fn sparse(source: &Source, name: &str, rows: usize, columns: usize, entries: &Entries) -> Result<SparseMatrix, FclibError> {
    SparseMatrix::from_triplets(rows, columns, entries).map_err(|error| source.bad(name, error, "indices inside the matrix"))
}
