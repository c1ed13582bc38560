//! Recorded quantities by name, for plots and tables.

use super::{ContactTable, RecordingError, RunFile};

/// A recorded quantity: one number per recorded instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Full name, for example `q.y` or `energy.kinetic`.
    pub name: String,
    /// Unit; empty for a pure number.
    pub unit: String,
    /// Values at [`RunFile::time`].
    pub values: Vec<f64>,
}

/// Names that stand for a column of the file: name, dataset, unit.
const COLUMNS: [(&str, &str, &str); 11] = [
    ("energy.kinetic", "energy/kinetic", "J"),
    ("energy.potential", "energy/potential", "J"),
    ("energy.dissipated_impact", "energy/dissipated_impact", "J"),
    ("energy.dissipated_friction", "energy/dissipated_friction", "J"),
    ("energy.work", "energy/work", "J"),
    ("residual", "steps/residual", ""),
    ("newton_residual", "steps/newton_residual", ""),
    ("penetration", "steps/penetration", "m"),
    ("constraint", "steps/constraint_violation", ""),
    ("iterations", "steps/solver_iterations", ""),
    ("active", "steps/active", ""),
];

/// What `energy` stands for.
const ENERGIES: [&str; 5] = ["energy.kinetic", "energy.potential", "energy.mechanical", "energy.dissipated", "energy.work"];

impl RunFile {
    /// The quantities called `name`: one, or all of a group.
    ///
    /// Groups: `q`, `v`, `gap`, `impulse`, `energy`. Single ones: `q.NAME`, `v.NAME`, `gap.NAME`, `impulse.NAME` (normal impulse of
    /// an interaction, or of two colliders `A–B` or `A-B`, zero while inactive), `impulse.NAME.t` (norm of the tangential
    /// impulse), `energy.kinetic` and so on, `residual`, `newton_residual`, `penetration`, `constraint`, `iterations`, `active`.
    ///
    /// # Errors
    /// [`RecordingError::UnknownQuantity`] with everything available and the most similar name.
    pub fn quantity(&self, name: &str) -> Result<Vec<Quantity>, RecordingError> {
        let group = match name {
            "q" | "v" | "gap" => self.available()?.into_iter().filter(|n| is_member(n, name)).collect(),
            "impulse" => self.available()?.into_iter().filter(|n| is_member(n, name) && !n.ends_with(".t")).collect(),
            "energy" => ENERGIES.map(String::from).to_vec(),
            _ => vec![name.to_string()],
        };
        if group.is_empty() {
            return Err(self.unknown(name));
        }
        group.iter().map(|member| self.single(member)).collect()
    }

    /// Names of all single quantities of this run.
    ///
    /// # Errors
    /// [`RecordingError::Unreadable`].
    pub fn available(&self) -> Result<Vec<String>, RecordingError> {
        let mut names: Vec<String> = self.coordinates().iter().map(|c| format!("q.{}", c.name)).collect();
        names.extend(self.velocities().iter().map(|c| format!("v.{}", c.name)));
        names.extend(COLUMNS[..5].iter().map(|c| c.0.to_string()));
        names.extend(["energy.mechanical".into(), "energy.dissipated".into()]);
        names.extend(self.gap_names().iter().map(|n| format!("gap.{n}")));
        let mut sources = self.interaction_names().to_vec();
        sources.extend(self.pairs()?.into_iter().map(|(a, b)| self.pair_name(a, b)));
        for source in sources {
            names.push(format!("impulse.{source}"));
            names.push(format!("impulse.{source}.t"));
        }
        names.extend(COLUMNS[5..].iter().map(|c| c.0.to_string()));
        Ok(names)
    }

    fn single(&self, name: &str) -> Result<Quantity, RecordingError> {
        let quantity = |unit: &str, values| Ok(Quantity { name: name.into(), unit: unit.into(), values });
        if let Some((_, dataset, unit)) = COLUMNS.iter().find(|c| c.0 == name) {
            return quantity(unit, self.column(dataset)?);
        }
        let (kind, rest) = name.split_once('.').ok_or_else(|| self.unknown(name))?;
        let found = |place: Option<usize>| place.ok_or_else(|| self.unknown(name));
        match kind {
            "q" => {
                let i = found(self.coordinates().iter().position(|c| c.name == rest))?;
                quantity(&self.coordinates()[i].unit, self.table_column("q", i)?)
            }
            "v" => {
                let i = found(self.velocities().iter().position(|c| c.name == rest))?;
                quantity(&self.velocities()[i].unit, self.table_column("v", i)?)
            }
            "gap" => {
                let i = found(self.gap_names().iter().position(|n| n == rest))?;
                quantity("m", self.table_column("gaps", i)?)
            }
            "energy" if rest == "mechanical" => quantity("J", self.sum("energy/kinetic", "energy/potential")?),
            "energy" if rest == "dissipated" => quantity("J", self.sum("energy/dissipated_impact", "energy/dissipated_friction")?),
            "impulse" => quantity("N·s", self.impulse(name, rest)?),
            _ => Err(self.unknown(name)),
        }
    }

    fn sum(&self, a: &str, b: &str) -> Result<Vec<f64>, RecordingError> {
        Ok(self.column(a)?.iter().zip(self.column(b)?).map(|(a, b)| a + b).collect())
    }

    /// Impulse per frame of the interaction or pair `source`; a pair's contacts are added up.
    fn impulse(&self, name: &str, source: &str) -> Result<Vec<f64>, RecordingError> {
        let contacts = self.contacts()?;
        let known = |s: &str| self.source_rows(&contacts, s);
        let (rows, tangential) = match (known(source), source.strip_suffix(".t").and_then(known)) {
            (Some(rows), _) => (rows, false),
            (None, Some(rows)) => (rows, true),
            (None, None) => return Err(self.unknown(name)),
        };
        let mut values = vec![0.0; self.n_frames()];
        for row in rows {
            let p = &contacts.impulse[row];
            let amount = if tangential { p[1..].iter().map(|x| x * x).sum::<f64>().sqrt() } else { p[0] };
            values[contacts.frame[row]] += amount;
        }
        Ok(values)
    }

    /// Rows of the contact table that belong to `source`; `None` if there is no such interaction or pair.
    fn source_rows(&self, contacts: &ContactTable, source: &str) -> Option<Vec<usize>> {
        let interaction = self.interaction_names().iter().position(|n| n == source);
        let matches = |row: usize| match interaction {
            Some(i) => contacts.source_kind[row] == 0 && usize::try_from(contacts.source_a[row]) == Ok(i),
            None => {
                let name = || self.pair_name(contacts.source_a[row], contacts.source_b[row]);
                contacts.source_kind[row] == 1 && same_pair(&name(), source)
            }
        };
        let rows: Vec<usize> = (0..contacts.frame.len()).filter(|row| matches(*row)).collect();
        (interaction.is_some() || !rows.is_empty()).then_some(rows)
    }

    /// Pairs of colliders that ever touched, in the order of their numbers.
    fn pairs(&self) -> Result<Vec<(i32, i32)>, RecordingError> {
        let contacts = self.contacts()?;
        let mut pairs: Vec<(i32, i32)> = (0..contacts.frame.len())
            .filter(|row| contacts.source_kind[*row] == 1)
            .map(|row| (contacts.source_a[row], contacts.source_b[row]))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        Ok(pairs)
    }

    fn unknown(&self, name: &str) -> RecordingError {
        let mut available = match self.available() {
            Ok(available) => available,
            Err(error) => return error,
        };
        available.push("energy".into());
        // A bare name is often meant as the coordinate's or the interaction's.
        let distance = |candidate: &String| {
            let tail = candidate.split_once('.').map_or(candidate.as_str(), |(_, tail)| tail);
            strsim::osa_distance(name, candidate).min(1 + strsim::osa_distance(name, tail))
        };
        let nearest = available
            .iter()
            .min_by_key(|candidate| distance(candidate))
            .filter(|candidate| distance(candidate) <= 1 + name.chars().count() / 3)
            .cloned();
        RecordingError::UnknownQuantity { name: name.into(), nearest, available }
    }
}

fn is_member(name: &str, group: &str) -> bool {
    name.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'))
}

/// Two collider names joined by "–" are also found when typed with a hyphen.
fn same_pair(pair: &str, typed: &str) -> bool {
    pair == typed || pair.replace('–', "-") == typed
}
