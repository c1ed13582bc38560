//! What a method remembers, as bytes: written and read in the same order, bit for bit.

use std::any::Any;
use thiserror::Error;

/// What a scheme remembers from step to step, beside the state and the warm start: without it the next step would be another one.
///
/// (model, state, own, warm start) determine the bits of the steps that follow. Work arrays, which a step writes before it reads them, are no part of it.
pub trait Own: Any + Send {
    /// Writes what the next steps depend on.
    fn save(&self, out: &mut Bytes);

    /// Reads what [`Own::save`] wrote.
    ///
    /// # Errors
    /// [`CheckpointError`] where the bytes are not those of this scheme and model.
    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), CheckpointError>;
}

/// Of schemes that remember nothing.
impl Own for () {
    fn save(&self, _: &mut Bytes) {}

    fn load(&mut self, _: &mut Reader<'_>) -> Result<(), CheckpointError> {
        Ok(())
    }
}

/// Work arrays of a scheme that remembers nothing.
#[derive(Debug, Default)]
pub(crate) struct WorkOnly<T>(pub T);

impl<T: Send + 'static> Own for WorkOnly<T> {
    fn save(&self, _: &mut Bytes) {}

    fn load(&mut self, _: &mut Reader<'_>) -> Result<(), CheckpointError> {
        Ok(())
    }
}

/// Bytes that cannot be read as what they should be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CheckpointError {
    /// Fewer bytes than values.
    #[error("the checkpoint ends {missing} bytes too early")]
    Short {
        /// Bytes that are missing.
        missing: usize,
    },
    /// More bytes than values.
    #[error("{rest} bytes are left at the end of the checkpoint: it is that of another scheme or model")]
    Long {
        /// Bytes that are left.
        rest: usize,
    },
    /// A number that means nothing.
    #[error("{found} is no {what}: the checkpoint is that of another scheme or model")]
    Unknown {
        /// What was expected.
        what: &'static str,
        /// What was found.
        found: u64,
    },
}

/// Values as bytes, little-endian, lists with their lengths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(Vec<u8>);

impl Bytes {
    /// Bytes that were saved before.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Self {
        Bytes(bytes)
    }

    /// All of them.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }

    /// Reads from the beginning.
    #[must_use]
    pub fn reader(&self) -> Reader<'_> {
        Reader(&self.0)
    }

    /// Writes an integer.
    pub fn integer(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a length or a place.
    pub fn count(&mut self, value: usize) {
        self.integer(value as u64);
    }

    /// Writes a truth value.
    pub fn flag(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    /// Writes a number with all its bits.
    pub fn number(&mut self, value: f64) {
        self.integer(value.to_bits());
    }

    /// Writes a list of numbers.
    pub fn numbers(&mut self, values: &[f64]) {
        self.count(values.len());
        values.iter().for_each(|value| self.number(*value));
    }

    /// Writes a list of groups of numbers.
    pub fn groups<const N: usize>(&mut self, values: &[[f64; N]]) {
        self.count(values.len());
        values.iter().flatten().for_each(|value| self.number(*value));
    }

    /// Writes a list of truth values.
    pub fn flags(&mut self, values: &[bool]) {
        self.count(values.len());
        values.iter().for_each(|value| self.flag(*value));
    }
}

/// Reads what [`Bytes`] hold, in the order in which it was written.
#[derive(Clone, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], CheckpointError> {
        let (first, rest) = self.0.split_first_chunk::<N>().ok_or_else(|| CheckpointError::Short { missing: N - self.0.len() })?;
        self.0 = rest;
        Ok(*first)
    }

    /// An integer.
    ///
    /// # Errors
    /// [`CheckpointError::Short`], as all that read.
    pub fn integer(&mut self) -> Result<u64, CheckpointError> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    /// A length of a list whose entries take at least `size` bytes each: no more than there are.
    fn length(&mut self, size: usize) -> Result<usize, CheckpointError> {
        let n = self.count()?;
        let needed = n.saturating_mul(size);
        if needed > self.0.len() { Err(CheckpointError::Short { missing: needed - self.0.len() }) } else { Ok(n) }
    }

    /// A length or a place.
    ///
    /// # Errors
    /// As [`Reader::integer`]; one that this machine cannot hold.
    pub fn count(&mut self) -> Result<usize, CheckpointError> {
        let found = self.integer()?;
        usize::try_from(found).map_err(|_| CheckpointError::Unknown { what: "length", found })
    }

    /// A truth value.
    ///
    /// # Errors
    /// As [`Reader::integer`]; a byte that is neither 0 nor 1.
    pub fn flag(&mut self) -> Result<bool, CheckpointError> {
        match self.take::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => Err(CheckpointError::Unknown { what: "truth value", found: u64::from(other) }),
        }
    }

    /// A number.
    ///
    /// # Errors
    /// As [`Reader::integer`].
    pub fn number(&mut self) -> Result<f64, CheckpointError> {
        Ok(f64::from_bits(self.integer()?))
    }

    /// A list of numbers in the place of what `out` holds.
    ///
    /// # Errors
    /// As [`Reader::integer`].
    pub fn numbers(&mut self, out: &mut Vec<f64>) -> Result<(), CheckpointError> {
        out.clear();
        for _ in 0..self.length(8)? {
            out.push(self.number()?);
        }
        Ok(())
    }

    /// A list of groups of numbers in the place of what `out` holds.
    ///
    /// # Errors
    /// As [`Reader::integer`].
    pub fn groups<const N: usize>(&mut self, out: &mut Vec<[f64; N]>) -> Result<(), CheckpointError> {
        out.clear();
        for _ in 0..self.length(8 * N)? {
            let mut group = [0.0; N];
            for value in &mut group {
                *value = self.number()?;
            }
            out.push(group);
        }
        Ok(())
    }

    /// A list of truth values in the place of what `out` holds.
    ///
    /// # Errors
    /// As [`Reader::flag`].
    pub fn flags(&mut self, out: &mut Vec<bool>) -> Result<(), CheckpointError> {
        out.clear();
        for _ in 0..self.length(1)? {
            out.push(self.flag()?);
        }
        Ok(())
    }

    /// Everything has been read.
    ///
    /// # Errors
    /// [`CheckpointError::Long`].
    pub fn end(&self) -> Result<(), CheckpointError> {
        if self.0.is_empty() { Ok(()) } else { Err(CheckpointError::Long { rest: self.0.len() }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_bit_for_bit() {
        let numbers = [0.1, -0.0, f64::NAN, f64::MIN_POSITIVE];
        let mut bytes = Bytes::default();
        bytes.numbers(&numbers);
        bytes.groups(&[[1.0, 2.0], [3.0, 4.0]]);
        bytes.flags(&[true, false]);
        bytes.integer(u64::MAX);
        let (mut reader, mut list, mut groups, mut flags) = (bytes.reader(), vec![7.0], Vec::<[f64; 2]>::new(), Vec::new());
        reader.numbers(&mut list).unwrap();
        reader.groups(&mut groups).unwrap();
        reader.flags(&mut flags).unwrap();
        assert_eq!(list.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), numbers.map(f64::to_bits));
        assert_eq!((groups, flags), (vec![[1.0, 2.0], [3.0, 4.0]], vec![true, false]));
        assert_eq!(reader.end(), Err(CheckpointError::Long { rest: 8 }));
        assert_eq!(reader.integer(), Ok(u64::MAX));
        assert_eq!(reader.end(), Ok(()));
    }

    #[test]
    fn bytes_of_something_else_are_refused() {
        let mut bytes = Bytes::default();
        bytes.integer(u64::MAX);
        // a length that no memory could hold
        assert!(matches!(bytes.reader().numbers(&mut Vec::new()), Err(CheckpointError::Short { .. })));
        assert_eq!(Bytes::of(vec![2]).reader().flag(), Err(CheckpointError::Unknown { what: "truth value", found: 2 }));
        assert_eq!(Bytes::of(vec![0; 5]).reader().number(), Err(CheckpointError::Short { missing: 3 }));
    }
}
