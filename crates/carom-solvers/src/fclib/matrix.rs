//! The three matrix formats of FCLIB (those of CSparse) and [`SparseMatrix`].

use super::error::FclibError;
use super::source::Source;
use crate::block_sparse::BlockSparse;
use crate::matrix::SparseMatrix;
use hdf5_pure::GroupBuilder;

/// How a matrix is stored in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixFormat {
    /// Compressed rows, nz = −2: what Siconos writes for W.
    Csr,
    /// Compressed columns, nz = −1.
    Csc,
    /// Entries with row and column, nz = their number.
    Triplet,
}

impl MatrixFormat {
    /// All formats.
    pub const ALL: [MatrixFormat; 3] = [MatrixFormat::Csr, MatrixFormat::Csc, MatrixFormat::Triplet];
}

/// Entries (row, column, value).
pub(super) type Entries = Vec<(usize, usize, f64)>;

/// Reads the matrix in group `name`, which has to be `rows` × `columns`, as entries.
pub(super) fn read_matrix(source: &Source, name: &str, rows: usize, columns: usize) -> Result<Entries, FclibError> {
    let at = |part: &str| format!("{name}/{part}");
    for (part, expected) in [("m", rows), ("n", columns)] {
        let found = source.size(&at(part))?;
        if found != expected {
            return Err(source.bad(&at(part), found, format!("{expected}, as the vectors say")));
        }
    }
    let nz = source.integer(&at("nz"))?;
    // pointers or columns, indices, values
    let (p, i, x) = (source.integers(&at("p"))?, source.integers(&at("i"))?, source.numbers(&at("x"))?);
    let lines = match nz {
        -1 => Some(columns),
        -2 => Some(rows),
        0.. => None,
        _ => return Err(source.bad(&at("nz"), nz, "-1 (columns), -2 (rows) or a number of entries")),
    };
    let stored = i.len().min(x.len());
    let n = match lines {
        None => nz,
        Some(lines) if p.len() > lines => p[lines],
        Some(lines) => return Err(source.bad(&at("p"), format!("{} pointers", p.len()), format!("{}", lines + 1))),
    };
    let n = usize::try_from(n).ok().filter(|&n| n <= stored && (lines.is_some() || n <= p.len()));
    let Some(n) = n else {
        return Err(source.bad(&at("x"), format!("{} values and {} indices", x.len(), i.len()), "as many as nz or the pointers say"));
    };
    let index = |part: &str, k: usize, value: i64, end: usize| {
        usize::try_from(value)
            .ok()
            .filter(|&v| v < end)
            .ok_or_else(|| source.bad(&at(part), format!("{value} at place {k}"), format!("an index from 0 to below {end}")))
    };
    let mut entries = Vec::with_capacity(n);
    let Some(lines) = lines else {
        for k in 0..n {
            entries.push((index("i", k, i[k], rows)?, index("p", k, p[k], columns)?, x[k]));
        }
        return Ok(entries);
    };
    if p[0] != 0 || p[..=lines].windows(2).any(|pair| pair[1] < pair[0]) {
        return Err(source.bad(&at("p"), "pointers that do not rise from 0", format!("{} pointers from 0 to {n}", lines + 1)));
    }
    for line in 0..lines {
        // rising from 0 to n, so within the stored entries
        for k in p[line] as usize..p[line + 1] as usize {
            entries.push(match nz {
                -1 => (index("i", k, i[k], rows)?, line, x[k]),
                _ => (line, index("i", k, i[k], columns)?, x[k]),
            });
        }
    }
    Ok(entries)
}

/// Adds the group of a matrix.
pub(super) fn write_matrix(parent: &mut GroupBuilder, name: &str, matrix: &SparseMatrix, format: MatrixFormat) -> Result<(), FclibError> {
    let too_large =
        |_| FclibError::NotExpressible { what: "more than 2³¹ − 1 rows, columns or entries".into(), advice: "write a smaller problem" };
    let small = |values: &[usize]| values.iter().map(|&v| i32::try_from(v)).collect::<Result<Vec<i32>, _>>().map_err(too_large);
    let transposed;
    let (nz, stored) = match format {
        MatrixFormat::Csc => {
            transposed = matrix.transposed();
            (-1, &transposed)
        }
        MatrixFormat::Csr => (-2, matrix),
        MatrixFormat::Triplet => (i32::try_from(matrix.values().len()).map_err(too_large)?, matrix),
    };
    let (mut p, mut i) = (small(stored.row_starts())?, small(stored.columns())?);
    if format == MatrixFormat::Triplet {
        // i = row, p = column
        let rows: Vec<usize> = (0..matrix.n_rows()).flat_map(|row| matrix.row(row).map(move |_| row)).collect();
        (p, i) = (i, small(&rows)?);
    }
    let sizes = small(&[matrix.n_rows(), matrix.n_columns(), matrix.values().len()])?;
    let mut group = parent.create_group(name);
    for (part, value) in [("m", sizes[0]), ("n", sizes[1]), ("nz", nz), ("nzmax", sizes[2])] {
        group.create_dataset(part).with_i32_data(&[value]);
    }
    group.create_dataset("p").with_i32_data(&p);
    group.create_dataset("i").with_i32_data(&i);
    group.create_dataset("x").with_f64_data(stored.values());
    parent.add_group(group.finish());
    Ok(())
}

/// The same matrix in blocks of the given sizes; blocks without entries are not stored.
pub(super) fn in_blocks(matrix: &SparseMatrix, dims: &[usize]) -> BlockSparse {
    let mut out = BlockSparse::new();
    out.reset(dims);
    let block_of: Vec<usize> = dims.iter().enumerate().flat_map(|(block, &dim)| std::iter::repeat_n(block, dim)).collect();
    // the block columns of a block row, where their blocks start among its values, the values
    let (mut columns, mut starts, mut values): (Vec<usize>, Vec<usize>, Vec<f64>) = Default::default();
    for (block, &dim) in dims.iter().enumerate() {
        let rows = out.offset(block)..out.offset(block) + dim;
        columns.clear();
        columns.extend(rows.clone().flat_map(|row| matrix.row(row)).map(|(column, _)| block_of[column]));
        columns.sort_unstable();
        columns.dedup();
        starts.clear();
        values.clear();
        for &other in &columns {
            starts.push(values.len());
            values.resize(values.len() + dim * dims[other], 0.0);
        }
        for (k, row) in rows.enumerate() {
            for (column, value) in matrix.row(row) {
                let other = block_of[column];
                let place = columns.partition_point(|&c| c < other);
                values[starts[place] + k * dims[other] + column - out.offset(other)] = value;
            }
        }
        for (&other, &start) in columns.iter().zip(&starts) {
            out.push_block(other).copy_from_slice(&values[start..start + dim * dims[other]]);
        }
        out.finish_row();
    }
    out
}
