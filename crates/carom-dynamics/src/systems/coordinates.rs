//! Names and units of coordinates and velocities.
//!
//! Those of bodies are made of the name of the body and that of the part when they are asked for: a hundred thousand grains have 1.3 million of
//! them, and a list of all would be larger than their state.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

/// Name and unit of a coordinate or velocity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinate {
    /// Name as it appears in files, plots and formulas.
    pub name: String,
    /// SI unit, or empty where the model does not say.
    pub unit: String,
}

impl Coordinate {
    /// A coordinate with its unit.
    #[must_use]
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Coordinate { name: name.into(), unit: unit.into() }
    }

    /// Its rate under the same name: unit per second.
    #[must_use]
    pub fn rate(&self) -> Self {
        let unit = if self.unit.is_empty() { String::new() } else { format!("{}/s", self.unit) };
        Coordinate { name: self.name.clone(), unit }
    }
}

/// Name and unit of each coordinate of a body.
pub type BodyParts = &'static [(&'static str, &'static str)];

/// Coordinates or velocities, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coordinates {
    lists: Vec<List>,
    len: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum List {
    OneByOne(Vec<Coordinate>),
    /// The same parts of each body, called `body.part`.
    OfBodies(Arc<[String]>, BodyParts),
}

impl List {
    fn len(&self) -> usize {
        match self {
            List::OneByOne(list) => list.len(),
            List::OfBodies(bodies, parts) => bodies.len() * parts.len(),
        }
    }

    fn get(&self, i: usize) -> Coordinate {
        match self {
            List::OneByOne(list) => list[i].clone(),
            List::OfBodies(bodies, parts) => {
                let (part, unit) = parts[i % parts.len()];
                Coordinate::new(format!("{}.{part}", bodies[i / parts.len()]), unit)
            }
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        match self {
            List::OneByOne(list) => list.iter().position(|c| c.name == name),
            List::OfBodies(bodies, parts) => {
                let (body, part) = name.rsplit_once('.')?;
                let part = parts.iter().position(|(other, _)| *other == part)?;
                Some(bodies.iter().position(|other| other == body)? * parts.len() + part)
            }
        }
    }
}

impl Coordinates {
    /// The parts of each of some bodies in turn, called `body.part`; parts have no dot in their names.
    #[must_use]
    pub fn of_bodies(bodies: &Arc<[String]>, parts: BodyParts) -> Self {
        let list = List::OfBodies(Arc::clone(bodies), parts);
        Coordinates { len: list.len(), lists: vec![list] }
    }

    /// Number of coordinates.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends others.
    pub fn append(&mut self, others: Coordinates) {
        self.len += others.len;
        self.lists.extend(others.lists);
    }

    /// The coordinate with this number.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub fn get(&self, i: usize) -> Coordinate {
        let mut first = 0;
        for list in &self.lists {
            if i < first + list.len() {
                return list.get(i - first);
            }
            first += list.len();
        }
        panic!("coordinate {i} of {}", self.len)
    }

    /// Name of the coordinate with this number.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub fn name(&self, i: usize) -> String {
        self.get(i).name
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = Coordinate> + '_ {
        self.lists.iter().flat_map(|list| (0..list.len()).map(|i| list.get(i)))
    }

    /// Names of all, in order.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        self.iter().map(|c| c.name)
    }

    /// Number of the first coordinate of this name. Makes no names.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        let mut first = 0;
        for list in &self.lists {
            if let Some(i) = list.position(name) {
                return Some(first + i);
            }
            first += list.len();
        }
        None
    }

    /// A name that two of them share, the first in the alphabet.
    #[must_use]
    pub(crate) fn name_given_twice(&self) -> Option<String> {
        // names are compared only where their hashes, which take less room, are not all different
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let mut hashes: Vec<u64> = self.names().map(|name| hasher.hash_one(&name)).collect();
        hashes.sort_unstable();
        if hashes.windows(2).all(|pair| pair[0] != pair[1]) {
            return None;
        }
        let mut names: Vec<String> = self.names().collect();
        names.sort_unstable();
        names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
    }
}

impl FromIterator<Coordinate> for Coordinates {
    fn from_iter<I: IntoIterator<Item = Coordinate>>(coordinates: I) -> Self {
        let list: Vec<Coordinate> = coordinates.into_iter().collect();
        Coordinates { len: list.len(), lists: vec![List::OneByOne(list)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed() -> Coordinates {
        let mut all: Coordinates = [Coordinate::new("angle", "rad"), Coordinate::new("a.z", "m")].into_iter().collect();
        let bodies: Arc<[String]> = ["a", "a.b"].map(str::to_owned).into();
        all.append(Coordinates::of_bodies(&bodies, &[("x", "m"), ("qw", "")]));
        all
    }

    #[test]
    fn numbers_and_names_agree() {
        let all = mixed();
        let names: Vec<String> = all.names().collect();
        assert_eq!(names, ["angle", "a.z", "a.x", "a.qw", "a.b.x", "a.b.qw"]);
        assert_eq!((all.len(), all.is_empty()), (6, false));
        for (i, name) in names.iter().enumerate() {
            assert_eq!((all.position(name), &all.name(i)), (Some(i), name));
        }
        assert_eq!(all.get(4), Coordinate::new("a.b.x", "m"));
        assert_eq!([all.position("a"), all.position("b.x"), all.position("a.y")], [None; 3]);
    }

    #[test]
    fn a_name_given_twice_is_found() {
        let mut all = mixed();
        assert_eq!(all.name_given_twice(), None);
        all.append([Coordinate::new("a.b.x", "m"), Coordinate::new("angle", "")].into_iter().collect());
        assert_eq!(all.name_given_twice().as_deref(), Some("a.b.x"));
    }
}
