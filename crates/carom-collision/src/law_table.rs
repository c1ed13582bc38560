//! The distinct laws of a set of colliders, by their materials.

use crate::collider::CollisionError;
use crate::materials::{Material, PairLaws, combine};
use carom_dynamics::detection::MOST_LAWS;
use carom_dynamics::laws::ContactLaw;

/// Distinct laws, and for each pair of materials in use the place of its law among them.
#[derive(Clone, Debug)]
pub(crate) struct LawTable {
    laws: Vec<ContactLaw>,
    /// Place of each material among those in use; meaningless for the others.
    ranks: Vec<u32>,
    /// By ranks, row-major and symmetric.
    indices: Vec<u16>,
    n_used: usize,
}

impl LawTable {
    /// The laws of all pairs of the materials `used`, which must exist.
    ///
    /// # Errors
    /// [`CollisionError::TooManyLaws`].
    pub fn new(used: impl Iterator<Item = u32>, materials: &[Material], pair_laws: &PairLaws) -> Result<Self, CollisionError> {
        let mut used: Vec<u32> = used.collect();
        used.sort_unstable();
        used.dedup();
        let mut ranks = vec![0; materials.len()];
        used.iter().enumerate().for_each(|(rank, &material)| ranks[material as usize] = rank as u32);
        let (mut laws, n_used) = (Vec::<ContactLaw>::new(), used.len());
        let mut indices = vec![0; n_used * n_used];
        for (i, &a) in used.iter().enumerate() {
            for (j, &b) in used.iter().enumerate().skip(i) {
                let law = pair_laws.law(a, b).unwrap_or_else(|| combine(&materials[a as usize], &materials[b as usize]));
                let index = laws.iter().position(|other| *other == law).unwrap_or_else(|| {
                    laws.push(law);
                    laws.len() - 1
                });
                if index >= MOST_LAWS {
                    return Err(CollisionError::TooManyLaws { n_materials: n_used });
                }
                (indices[i * n_used + j], indices[j * n_used + i]) = (index as u16, index as u16);
            }
        }
        Ok(LawTable { laws, ranks, indices, n_used })
    }

    /// The laws, each once.
    pub fn laws(&self) -> &[ContactLaw] {
        &self.laws
    }

    /// Place of the law of two materials in use.
    pub fn index(&self, a: u32, b: u32) -> u16 {
        self.indices[self.ranks[a as usize] as usize * self.n_used + self.ranks[b as usize] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_laws_are_kept_once() {
        let rough = |friction| Material { friction, ..Material::default() };
        let materials = [rough(0.25), rough(9.0), rough(1.0), rough(0.25)];
        let table = LawTable::new([3, 0, 2, 2].into_iter(), &materials, &PairLaws::new()).unwrap();
        assert_eq!(table.laws().len(), 3);
        let law = |a, b| table.laws()[table.index(a, b) as usize].friction.at(0.0);
        assert_eq!((law(0, 0), law(0, 3), law(0, 2), law(2, 3), law(2, 2)), (0.25, 0.25, 0.5, 0.5, 1.0));
    }
}
