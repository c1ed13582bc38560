//! Recording and reading back.

mod csv;
mod h5py;
mod hdf5;
mod precision;
mod quantity;
