//! FCLIB files: what is written is read, what is wrong is told.

use carom_solvers::fclib::{FclibError, FclibFile, FclibProblem, FclibSolution, Info, MatrixFormat, read, write};
use carom_solvers::problems::{Conditions, arch, tower};
use carom_solvers::{Block, BlockSparse, Delassus, DenseDelassus, FrictionContact, GlobalFrictionContact, SparseMatrix};
use hdf5_pure::FileBuilder;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::{TempDir, tempdir};

fn dense(w: &Delassus) -> Vec<f64> {
    let mut out = Vec::new();
    w.to_dense(&mut out);
    out
}

fn local(file: FclibFile) -> FrictionContact {
    let FclibProblem::Local(problem) = file.problem else { panic!("global") };
    problem
}

fn global(file: FclibFile) -> GlobalFrictionContact {
    let FclibProblem::Global(problem) = file.problem else { panic!("local") };
    problem
}

fn numbers(n: usize, factor: f64) -> Vec<f64> {
    (0..n).map(|k| factor * (k as f64 + 1.0).sqrt()).collect()
}

/// A problem with guesses, a solution and texts comes back, in every format, in local form.
#[test]
fn local_problems_come_back() {
    let folder = tempdir().unwrap();
    let problem = tower(3, 2, &Conditions::default()).friction_contact();
    let n = problem.n_rows();
    let unknowns = |factor| FclibSolution { r: numbers(n, factor), u: numbers(n, -factor), v: Vec::new() };
    for format in MatrixFormat::ALL {
        let mut file = FclibFile::new(problem.clone().into());
        file.info = Info { title: "Tower µ".into(), description: "planks, crossed".into(), math_info: String::new() };
        (file.guesses, file.solution) = (vec![unknowns(1.0), unknowns(2.0)], Some(unknowns(3.0)));
        let path = folder.path().join(format!("{format:?}.hdf5"));
        write(&path, &file, format).unwrap();
        let back = read(&path).unwrap();
        assert_eq!((&back.info, &back.guesses, &back.solution), (&file.info, &file.guesses, &file.solution), "{format:?}");
        assert_eq!((back.problem.n_contacts(), back.problem.n_rows(), back.problem.n_velocities()), (n / 3, n, None));
        let back = local(back);
        assert_eq!((dense(&back.w), &back.q, &back.blocks), (dense(&problem.w), &problem.q, &problem.blocks), "{format:?}");
    }
}

#[test]
fn global_problems_come_back() {
    let folder = tempdir().unwrap();
    let problem = arch(5, &Conditions::default()).global();
    let (n, n_v) = (problem.w.len(), problem.f.len());
    for format in MatrixFormat::ALL {
        let mut file = FclibFile::new(problem.clone().into());
        file.solution = Some(FclibSolution { r: numbers(n, 1.0), u: numbers(n, 2.0), v: numbers(n_v, 3.0) });
        let path = folder.path().join(format!("{format:?}.hdf5"));
        write(&path, &file, format).unwrap();
        let back = read(&path).unwrap();
        assert_eq!((&back.solution, back.problem.n_velocities()), (&file.solution, Some(n_v)), "{format:?}");
        let back = global(back);
        assert_eq!((&back.m, &back.f, &back.w, &back.blocks), (&problem.m, &problem.f, &problem.w, &problem.blocks), "{format:?}");
        for i in 0..n_v {
            for j in 0..n {
                assert_eq!(back.h.get(i, j), problem.h.get(i, j), "{format:?} H({i}, {j})");
            }
        }
    }
}

/// Joints of two rows, a unilateral and a spatial contact: rows 0 and 1 bilateral, 2 unilateral, 3 to 5 with friction.
fn mixed() -> FrictionContact {
    let n = 6;
    let mut values = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            values[i * n + j] = if i == j { 4.0 + i as f64 } else { 0.1 * (i + j) as f64 };
        }
    }
    let blocks = vec![Block::Bilateral { dim: 2 }, Block::Unilateral, Block::Coulomb3 { mu: 0.4 }];
    let w = DenseDelassus::new(values, &[2, 1, 3]).unwrap();
    FrictionContact { w: w.into(), q: numbers(n, -1.0), blocks }
}

/// Joints go behind the contacts, one row each; unilateral contacts stay what they are.
#[test]
fn joints_and_unilateral_contacts_come_back_in_the_order_of_the_format() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("mixed.hdf5");
    let problem = mixed();
    let order = [2, 3, 4, 5, 0, 1];
    let mut file = FclibFile::new(problem.clone().into());
    let r = numbers(6, 1.0);
    file.solution = Some(FclibSolution { r: r.clone(), u: vec![0.0; 6], v: Vec::new() });
    for format in MatrixFormat::ALL {
        write(&path, &file, format).unwrap();
        let back = read(&path).unwrap();
        assert_eq!(back.solution.as_ref().unwrap().r, order.map(|k| r[k]));
        let back = local(back);
        let one_row = Block::Bilateral { dim: 1 };
        assert_eq!(back.blocks, [Block::Unilateral, Block::Coulomb3 { mu: 0.4 }, one_row, one_row]);
        assert_eq!(back.q, order.map(|k| problem.q[k]));
        let (was, is) = (dense(&problem.w), dense(&back.w));
        for (i, row) in order.iter().enumerate() {
            for (j, column) in order.iter().enumerate() {
                assert_eq!(is[6 * i + j], was[6 * row + column], "({i}, {j})");
            }
        }
        // same diagonal, so the same unit of mass
        assert_eq!(back.mass_scale(), problem.mass_scale());
    }
    // in global form
    let entries: Vec<_> = (0..6).flat_map(|i| (0..6).map(move |j| (i, j, (1 + i * 6 + j) as f64))).collect();
    let matrix = SparseMatrix::from_triplets(6, 6, &entries).unwrap();
    let problem = GlobalFrictionContact { m: matrix.clone(), h: matrix, f: numbers(6, 1.0), w: numbers(6, 2.0), blocks: problem.blocks };
    write(&path, &FclibFile::new(problem.clone().into()), MatrixFormat::Csc).unwrap();
    let back = global(read(&path).unwrap());
    assert_eq!(back.w, order.map(|k| problem.w[k]));
    assert_eq!((back.h.get(2, 4), back.h.get(2, 0)), (problem.h.get(2, 0), problem.h.get(2, 2)));
}

#[test]
fn what_the_format_cannot_hold_is_refused() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("never.hdf5");
    let of = |blocks: Vec<Block>| {
        let dims: Vec<usize> = blocks.iter().map(Block::dim).collect();
        let mut w = BlockSparse::new();
        w.reset(&dims);
        (0..dims.len()).for_each(|_| w.finish_row());
        FclibFile::new(FrictionContact { w: w.into(), q: vec![0.0; dims.iter().sum()], blocks }.into())
    };
    let coulomb = Block::Coulomb3 { mu: 0.1 };
    for (file, word) in [
        (of(vec![coulomb, Block::Rolling { mu: 0.1, rolling: 0.1 }]), "rolling"),
        (of(vec![coulomb, Block::Coulomb2 { mu: 0.1 }]), "planar and spatial"),
        (of(vec![Block::Bilateral { dim: 3 }]), "without contacts"),
    ] {
        let error = write(&path, &file, MatrixFormat::Csr).unwrap_err();
        assert!(matches!(error, FclibError::NotExpressible { .. }) && error.to_string().contains(word), "{error}");
    }
    let mut skew = mixed();
    let mut values = dense(&skew.w);
    values[3] += 1.0;
    skew.w = DenseDelassus::new(values, &[2, 1, 3]).unwrap().into();
    let error = write(&path, &FclibFile::new(skew.into()), MatrixFormat::Csr).unwrap_err();
    assert!(error.to_string().contains("not symmetric"), "{error}");
    let mut short = FclibFile::new(mixed().into());
    short.solution = Some(FclibSolution::default());
    assert!(matches!(write(&path, &short, MatrixFormat::Csr), Err(FclibError::BadProblem { .. })));
    assert!(matches!(
        write(folder.path().join("no/folder.hdf5"), &FclibFile::new(mixed().into()), MatrixFormat::Csr),
        Err(FclibError::Unwritable { .. })
    ));
    assert!(!path.exists());
}

/// The parts of a file of two planar contacts, to be spoiled.
#[derive(Clone)]
struct Parts {
    spacedim: Vec<i32>,
    sizes: [i32; 2],
    nz: i32,
    p: Vec<i32>,
    i: Vec<i32>,
    x: Vec<f64>,
    q: Vec<f64>,
    mu: Vec<f64>,
    guesses: i32,
}

impl Default for Parts {
    fn default() -> Self {
        Parts {
            spacedim: vec![2],
            sizes: [4, 4],
            nz: -2,
            p: vec![0, 1, 2, 3, 4],
            i: vec![0, 1, 2, 3],
            // longer than the pointers say, as nzmax allows
            x: vec![1.0, 2.0, 3.0, 4.0, f64::NAN],
            q: vec![-1.0, 0.0, -1.0, 0.5],
            mu: vec![0.5, 0.0],
            guesses: 0,
        }
    }
}

impl Parts {
    fn write(&self, folder: &TempDir) -> PathBuf {
        let mut file = FileBuilder::new();
        let mut group = file.create_group("fclib_local");
        group.create_dataset("spacedim").with_i32_data(&self.spacedim);
        let mut w = group.create_group("W");
        for (name, value) in [("m", self.sizes[0]), ("n", self.sizes[1]), ("nz", self.nz), ("nzmax", 99)] {
            w.create_dataset(name).with_i32_data(&[value]);
        }
        w.create_dataset("p").with_i32_data(&self.p);
        w.create_dataset("i").with_i32_data(&self.i);
        w.create_dataset("x").with_f64_data(&self.x);
        group.add_group(w.finish());
        let mut vectors = group.create_group("vectors");
        vectors.create_dataset("q").with_f64_data(&self.q);
        vectors.create_dataset("mu").with_f64_data(&self.mu);
        group.add_group(vectors.finish());
        file.add_group(group.finish());
        let mut guesses = file.create_group("guesses");
        guesses.create_dataset("number_of_guesses").with_i32_data(&[self.guesses]);
        file.add_group(guesses.finish());
        let path = folder.path().join("parts.hdf5");
        file.write(&path).unwrap();
        path
    }
}

#[test]
fn foreign_files_without_texts_are_read_in_three_formats() {
    let folder = tempdir().unwrap();
    let triplet = Parts { nz: 4, p: vec![0, 1, 2, 3], ..Parts::default() };
    for parts in [Parts::default(), Parts { nz: -1, ..Parts::default() }, triplet] {
        let file = read(parts.write(&folder)).unwrap();
        assert_eq!((&file.info, file.guesses.len(), file.solution.is_none()), (&Info::default(), 0, true));
        let problem = local(file);
        // the second contact has no friction, but a tangential row: it stays as it is
        assert_eq!(problem.blocks, [Block::Coulomb2 { mu: 0.5 }, Block::Coulomb2 { mu: 0.0 }]);
        assert_eq!(dense(&problem.w), [1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 4.0]);
    }
    // the order p = column, i = row of triplets
    let one = Parts { nz: 1, p: vec![3], i: vec![0], x: vec![7.0], ..Parts::default() };
    assert_eq!(dense(&local(read(one.write(&folder)).unwrap()).w)[3], 7.0);
}

#[test]
fn wrong_files_are_told_by_dataset() {
    let folder = tempdir().unwrap();
    let good = Parts::default();
    let cases = [
        (Parts { spacedim: vec![4], ..good.clone() }, "spacedim"),
        (Parts { spacedim: vec![3], ..good.clone() }, "vectors/q"),
        (Parts { spacedim: vec![2, 2], ..good.clone() }, "one integer"),
        (Parts { sizes: [5, 4], ..good.clone() }, "W/m"),
        (Parts { sizes: [4, -4], ..good.clone() }, "W/n"),
        (Parts { sizes: [i32::MAX, i32::MAX], ..good.clone() }, "W/m"),
        (Parts { nz: -3, ..good.clone() }, "W/nz"),
        (Parts { nz: i32::MAX, ..good.clone() }, "W/x"),
        (Parts { nz: 5, p: vec![0; 4], ..good.clone() }, "W/x"),
        (Parts { p: vec![0, 1, 2, 3], ..good.clone() }, "W/p"),
        (Parts { p: vec![0, 1, 2, 3, 6], ..good.clone() }, "W/x"),
        (Parts { p: vec![0, 1, 2, 3, -1], ..good.clone() }, "W/x"),
        (Parts { p: vec![0, 3, 2, 3, 4], ..good.clone() }, "W/p"),
        (Parts { p: vec![-1, 1, 2, 3, 4], ..good.clone() }, "W/p"),
        (Parts { p: vec![0, 9, 2, 3, 4], ..good.clone() }, "W/p"),
        (Parts { i: vec![0, 1, 2, 4], ..good.clone() }, "W/i"),
        (Parts { i: vec![0, 1, 2, -1], ..good.clone() }, "W/i"),
        (Parts { x: vec![1.0], ..good.clone() }, "W/x"),
        (Parts { x: vec![1.0, 1.0, f64::NAN, 1.0], ..good.clone() }, "not finite"),
        (Parts { q: vec![0.0; 3], ..good.clone() }, "vectors/q"),
        (Parts { mu: vec![0.5, -0.5], ..good.clone() }, "friction coefficient"),
        (Parts { guesses: i32::MAX, ..good.clone() }, "guesses/1/r"),
    ];
    assert!(read(good.write(&folder)).is_ok());
    for (parts, word) in cases {
        let message = read(parts.write(&folder)).unwrap_err().to_string();
        assert!(message.contains(word) && message.contains("parts.hdf5"), "{word}: {message}");
    }
}

#[test]
fn what_is_no_fclib_file_is_told() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("text.hdf5"), "no HDF5").unwrap();
    assert!(matches!(read(at("text.hdf5")), Err(FclibError::Unreadable { .. })));
    assert!(matches!(read(at("missing.hdf5")), Err(FclibError::Unreadable { .. })));
    assert!(matches!(read(folder.path()), Err(FclibError::Unreadable { .. })));
    let mut other = FileBuilder::new();
    other.create_dataset("x").with_f64_data(&[1.0]);
    other.write(at("other.hdf5")).unwrap();
    assert!(matches!(read(at("other.hdf5")), Err(FclibError::NoProblem { .. })));
    // a group where a dataset should be, and a dataset of texts where numbers should be
    let mut wrong = FileBuilder::new();
    let mut group = wrong.create_group("fclib_local");
    group.create_dataset("spacedim").with_strings(&["three"]).unwrap();
    wrong.add_group(group.finish());
    wrong.write(at("wrong.hdf5")).unwrap();
    let message = read(at("wrong.hdf5")).unwrap_err().to_string();
    assert!(message.contains("fclib_local/spacedim"), "{message}");
}

/// No file that is cut or has a flipped byte makes the reader panic.
#[test]
fn damaged_files_do_not_panic() {
    let folder = tempdir().unwrap();
    let path = Parts::default().write(&folder);
    let bytes = std::fs::read(&path).unwrap();
    let damaged = folder.path().join("damaged.hdf5");
    let mut n_refused = 0;
    for k in (0..bytes.len()).step_by(5) {
        let mut flipped = bytes.clone();
        flipped[k] ^= 0xff;
        for content in [&bytes[..k], &flipped[..]] {
            std::fs::write(&damaged, content).unwrap();
            n_refused += usize::from(read(&damaged).is_err());
        }
    }
    // every cut file, at least
    assert!(n_refused >= bytes.len() / 5, "{n_refused} of {}", 2 * bytes.len() / 5);
}

fn run_python(script: &str, path: &Path) -> Option<String> {
    let available = Command::new("python3").args(["-c", "import h5py"]).output();
    if !available.is_ok_and(|out| out.status.success()) {
        println!("skipped: python3 with h5py is not installed (pip install h5py)");
        return None;
    }
    let out = Command::new("python3").args(["-c", script]).arg(path).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Some(String::from_utf8(out.stdout).unwrap())
}

/// Reads what we write as another program would.
const READ: &str = r#"
import sys, h5py, numpy
f = h5py.File(sys.argv[1])
g = f["fclib_local"]
assert g["spacedim"][0] == 3 and g["spacedim"].dtype == "int32" and g["spacedim"].shape == (1,)
W = g["W"]
m, n, nz = W["m"][0], W["n"][0], W["nz"][0]
assert nz == -2 and m == n == 6 and len(W["p"]) == m + 1 and W["nzmax"][0] == len(W["x"]) == len(W["i"])
dense = numpy.zeros((m, n))
for row in range(m):
    for k in range(W["p"][row], W["p"][row + 1]): dense[row, W["i"][k]] += W["x"][k]
# the unilateral contact is padded: rows 1 and 2 are zero
assert dense[0, 0] == 6 and (dense[1:3] == 0).all() and (dense[:, 1:3] == 0).all() and dense[3, 3] == 7
assert list(g["vectors/mu"]) == [0, 0.4] and len(g["vectors/q"]) == 6 and len(g["vectors/s"]) == 2
assert g["V/m"][0] == 6 and g["V/n"][0] == 2 and g["R/m"][0] == 2
assert g["info/title"][()].decode().rstrip("\0") == "Mixed", g["info/title"][()]
assert f["guesses/number_of_guesses"][0] == 1 and len(f["guesses/1/r"]) == 6 and len(f["guesses/1/l"]) == 2
"#;

/// Writes what we read: a planar problem in triplets with a chunked, compressed x.
const WRITE: &str = r#"
import sys, h5py, numpy
f = h5py.File(sys.argv[1], "w")
g = f.create_group("fclib_local")
g["spacedim"] = numpy.array([2], "int32")
W = g.create_group("W")
for name, value in dict(m=2, n=2, nz=3, nzmax=3).items(): W[name] = numpy.array([value], "int32")
W["i"], W["p"] = numpy.array([0, 1, 0], "int32"), numpy.array([0, 1, 1], "int32")
W.create_dataset("x", data=[1.0, 2.0, 0.25], chunks=(2,), compression="gzip")
g["vectors/q"], g["vectors/mu"] = numpy.array([-1.0, 0.5]), numpy.array([0.3])
g["info/title"] = numpy.bytes_("From Python")
"#;

#[test]
fn h5py_reads_and_writes_the_same_files() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("ours.hdf5");
    let mut file = FclibFile::new(mixed().into());
    file.info.title = "Mixed".into();
    file.guesses = vec![FclibSolution { r: numbers(6, 1.0), u: numbers(6, 1.0), v: Vec::new() }];
    write(&path, &file, MatrixFormat::Csr).unwrap();
    run_python(READ, &path);
    let path = folder.path().join("theirs.hdf5");
    if run_python(WRITE, &path).is_some() {
        let file = read(&path).unwrap();
        assert_eq!(file.info.title, "From Python");
        assert_eq!(dense(&local(file).w), [1.0, 0.25, 0.0, 2.0]);
    }
}
