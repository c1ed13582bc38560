//! Recorded quantities by name, for plots and tables.

use super::{RecordingError, RunFile};
use carom_dynamics::nearest::nearest;

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
const COLUMNS: [(&str, &str, &str); 12] = [
    ("energy.kinetic", "energy/kinetic", "J"),
    ("energy.potential", "energy/potential", "J"),
    ("energy.dissipated_impact", "energy/dissipated_impact", "J"),
    ("energy.dissipated_friction", "energy/dissipated_friction", "J"),
    ("energy.work", "energy/work", "J"),
    ("residual", "steps/residual", ""),
    ("newton_residual", "steps/newton_residual", ""),
    ("penetration", "steps/penetration", "m"),
    ("constraint", "steps/constraint_violation", ""),
    ("constraint_velocity", "steps/constraint_velocity", ""),
    ("iterations", "steps/solver_iterations", ""),
    ("active", "steps/active", ""),
];

/// What `energy` stands for.
const ENERGIES: [&str; 5] = ["energy.kinetic", "energy.potential", "energy.mechanical", "energy.dissipated", "energy.work"];

impl RunFile {
    /// The quantities called `name`: one, or all of a group.
    ///
    /// Groups: `control`, `sensor`, `actuator` (outputs, states and modes of controllers, readings, signals), `q`, `v`, `x`, `y`, `lambda` (states, outputs and multipliers of a first-order part), `i` (currents of a circuit; `v` are its node voltages), `gap`, `force`, `mode`, `impulse`, `energy`. Single ones: `q.NAME`, `v.NAME`, `v.NODE`, `i.ELEMENT`, `gap.NAME`, `force.NAME` (multiplier of a
    /// constraint where the motion between events is smooth, `force.NAME.2` of its second row; normal force of a contact where events are located,
    /// `force.NAME.t` the norm of its tangential force), `mode.NAME` (code of a contact's mode: 0 open, 1 touching, 2 closed, 3 sticking, 4 sliding; of a multiplier: its place in
    /// [`carom_dynamics::MultiplierMode::ALL`]),
    /// `impulse.NAME` (normal impulse of an interaction, or of two colliders `A–B` or `A-B`, zero while inactive), `impulse.NAME.t` (norm of the
    /// tangential impulse), `energy.kinetic` and so on, `residual`, `newton_residual`, `penetration`, `constraint`, `constraint_velocity`, `iterations`, `active`.
    ///
    /// # Errors
    /// [`RecordingError::UnknownQuantity`] with everything available and the most similar name.
    pub fn quantity(&self, name: &str) -> Result<Vec<Quantity>, RecordingError> {
        let prefixed = |names: &mut dyn Iterator<Item = &str>| names.map(|n| format!("{name}.{n}")).collect();
        let group: Vec<String> = match name {
            "q" => prefixed(&mut self.coordinates().iter().map(|c| c.name.as_str())),
            "v" | "i" if self.signals().iter().any(|c| is_of(&c.name, name)) => {
                let velocities = self.velocities().iter().filter(|_| name == "v").map(|c| format!("v.{}", c.name));
                velocities.chain(self.signals().iter().filter(|c| is_of(&c.name, name)).map(|c| c.name.clone())).collect()
            }
            "v" => prefixed(&mut self.velocities().iter().map(|c| c.name.as_str())),
            "x" => prefixed(&mut self.states().iter().map(|c| c.name.as_str())),
            "control" | "sensor" | "actuator" => {
                let own = format!("{name}.");
                self.coordinates().iter().filter(|c| c.name.starts_with(&own)).map(|c| c.name.clone()).collect()
            }
            "y" | "lambda" => prefixed(&mut self.row_names().iter().map(String::as_str)),
            "gap" => prefixed(&mut self.gap_names().iter().map(String::as_str)),
            "force" => {
                let of_contacts = if self.contacts()?.force.is_empty() { Vec::new() } else { self.force_sources()? };
                prefixed(&mut self.force_names().iter().chain(&of_contacts).map(String::as_str))
            }
            "mode" if self.has_modes() => prefixed(&mut self.mode_sources()?.iter().map(String::as_str)),
            "impulse" => prefixed(&mut self.sources()?.iter().map(String::as_str)),
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
        names.extend(self.states().iter().map(|c| format!("x.{}", c.name)));
        names.extend(self.row_names().iter().flat_map(|n| [format!("y.{n}"), format!("lambda.{n}")]));
        names.extend(self.signals().iter().map(|c| c.name.clone()));
        names.extend(COLUMNS[..5].iter().map(|c| c.0.to_string()));
        names.extend(["energy.mechanical".into(), "energy.dissipated".into()]);
        names.extend(self.gap_names().iter().map(|n| format!("gap.{n}")));
        names.extend(self.force_names().iter().map(|n| format!("force.{n}")));
        let contacts = self.force_sources()?;
        if !self.contacts()?.force.is_empty() {
            names.extend(contacts.iter().flat_map(|n| [format!("force.{n}"), format!("force.{n}.t")]));
        }
        if self.has_modes() {
            names.extend(self.mode_sources()?.iter().map(|n| format!("mode.{n}")));
        }
        for source in self.sources()? {
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
        let is_velocity = || name.strip_prefix("v.").is_some_and(|rest| self.velocities().iter().any(|c| c.name == rest));
        if let (Some(i), false) = (self.signals().iter().position(|c| c.name == name), is_velocity()) {
            return quantity(&self.signals()[i].unit, self.table_column("signals", i)?);
        }
        let (kind, rest) = name.split_once('.').ok_or_else(|| self.unknown(name))?;
        let found = |place: Option<usize>| place.ok_or_else(|| self.unknown(name));
        match kind {
            // what controllers remember and put out
            "control" | "sensor" | "actuator" => {
                let i = found(self.coordinates().iter().position(|c| c.name == name))?;
                quantity(&self.coordinates()[i].unit, self.table_column("q", i)?)
            }
            "q" => {
                let i = found(self.coordinates().iter().position(|c| c.name == rest))?;
                quantity(&self.coordinates()[i].unit, self.table_column("q", i)?)
            }
            "v" => {
                let i = found(self.velocities().iter().position(|c| c.name == rest))?;
                quantity(&self.velocities()[i].unit, self.table_column("v", i)?)
            }
            "x" => {
                let i = found(self.states().iter().position(|c| c.name == rest))?;
                quantity(&self.states()[i].unit, self.table_column("x", i)?)
            }
            "y" | "lambda" => {
                let i = found(self.row_names().iter().position(|n| n == rest))?;
                quantity("", self.table_column(kind, i)?)
            }
            "gap" => {
                let i = found(self.gap_names().iter().position(|n| n == rest))?;
                quantity("m", self.table_column("gaps", i)?)
            }
            // the unit is that of an energy per unit of the constraint, which formulas do not tell
            "force" => match self.force_names().iter().position(|n| n == rest) {
                Some(i) => quantity("", self.table_column("forces", i)?),
                None => quantity("N", self.contact_sum(name, rest, &self.contacts()?.force)?),
            },
            "mode" if self.has_modes() => quantity("", self.mode_codes(rest)?.ok_or_else(|| self.unknown(name))?),
            "energy" if rest == "mechanical" => quantity("J", self.sum("energy/kinetic", "energy/potential")?),
            "energy" if rest == "dissipated" => quantity("J", self.sum("energy/dissipated_impact", "energy/dissipated_friction")?),
            "impulse" => quantity("N·s", self.contact_sum(name, rest, &self.contacts()?.impulse)?),
            _ => Err(self.unknown(name)),
        }
    }

    fn sum(&self, a: &str, b: &str) -> Result<Vec<f64>, RecordingError> {
        Ok(self.column(a)?.iter().zip(self.column(b)?).map(|(a, b)| a + b).collect())
    }

    /// Impulse or force per frame of the interaction or pair `source`; a pair's contacts are added up.
    fn contact_sum(&self, name: &str, source: &str, table: &[[f64; 6]]) -> Result<Vec<f64>, RecordingError> {
        let (numbers, tangential) = match (self.source_numbers(source)?, source.strip_suffix(".t")) {
            (Some(numbers), _) => (numbers, false),
            (None, Some(bare)) => (self.source_numbers(bare)?.ok_or_else(|| self.unknown(name))?, true),
            (None, None) => return Err(self.unknown(name)),
        };
        let contacts = self.contacts()?;
        if table.len() != contacts.frame.len() {
            return Err(self.unknown(name));
        }
        let mut values = vec![0.0; self.n_frames()];
        for (row, p) in table.iter().enumerate() {
            if (contacts.source_kind[row], contacts.source_a[row], contacts.source_b[row]) == numbers {
                let tangent = || p[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
                values[contacts.frame[row]] += if tangential { tangent() } else { p[0] };
            }
        }
        Ok(values)
    }

    /// Code of the mode per frame of the contact, pair, effort or multiplier `source`; the greatest of a pair's contacts. `None` if there is none.
    fn mode_codes(&self, source: &str) -> Result<Option<Vec<f64>>, RecordingError> {
        if let Some(index) = self.contact_names().iter().position(|n| n == source) {
            return Ok(Some(self.modes(index)?.into_iter().map(|mode| f64::from(mode.code())).collect()));
        }
        if let (Some(index), true) = (self.row_names().iter().position(|n| n == source), self.has_multiplier_modes()) {
            return Ok(Some(self.multiplier_modes(index)?.into_iter().map(|mode| f64::from(mode.code())).collect()));
        }
        let Some(numbers) = self.source_numbers(source)? else { return Ok(None) };
        if numbers.0 == 0 && !self.effort_names().iter().any(|name| name == source) {
            return Ok(None);
        }
        let contacts = self.contacts()?;
        let mut values: Vec<f64> = vec![0.0; self.n_frames()];
        for (row, mode) in contacts.mode.iter().enumerate() {
            if (contacts.source_kind[row], contacts.source_a[row], contacts.source_b[row]) == numbers {
                let value = &mut values[contacts.frame[row]];
                *value = value.max(f64::from(mode.code()));
            }
        }
        Ok(Some(values))
    }

    /// Kind and numbers that the contact table has for `source`; `None` if there is no such interaction or pair.
    fn source_numbers(&self, source: &str) -> Result<Option<(u8, i32, i32)>, RecordingError> {
        let interaction = self.interaction_names().iter().position(|n| n == source);
        if let Some(number) = interaction.and_then(|i| i32::try_from(i).ok()) {
            return Ok(Some((0, number, -1)));
        }
        let pair = self.pairs()?.into_iter().find(|(a, b)| same_pair(&self.pair_name(*a, *b), source));
        Ok(pair.map(|(a, b)| (1, a, b)))
    }

    /// Names of everything whose forces are recorded with contacts: what can open and close, then the efforts between bounds.
    fn force_sources(&self) -> Result<Vec<String>, RecordingError> {
        Ok(self.contact_sources()?.into_iter().chain(self.effort_names().iter().cloned()).collect())
    }

    /// Names of everything that has modes: what can open and close, then the efforts between bounds, then the multipliers of the first-order part.
    pub(crate) fn mode_sources(&self) -> Result<Vec<String>, RecordingError> {
        let rows = if self.has_multiplier_modes() { self.row_names() } else { &[] };
        Ok(self.force_sources()?.into_iter().chain(rows.iter().cloned()).collect())
    }

    /// Names of everything that can open and close: rigid contacts by formula, and pairs of colliders that ever touched.
    pub(crate) fn contact_sources(&self) -> Result<Vec<String>, RecordingError> {
        let pairs = self.pairs()?;
        let names = self.contact_names().iter().cloned();
        Ok(names.chain(pairs.into_iter().map(|(a, b)| self.pair_name(a, b))).collect())
    }

    /// Names of everything that can have an impulse.
    fn sources(&self) -> Result<Vec<String>, RecordingError> {
        let pairs = self.pairs()?;
        let names = self.interaction_names().iter().cloned();
        Ok(names.chain(pairs.into_iter().map(|(a, b)| self.pair_name(a, b))).collect())
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
        let nearest = nearest(name, available.iter().map(String::as_str)).map(str::to_owned);
        RecordingError::UnknownQuantity { name: name.into(), nearest, available }
    }
}

/// A name of a group: `v.out` of `v`.
fn is_of(name: &str, group: &str) -> bool {
    name.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'))
}

/// Two collider names joined by "–" are also found when typed with a hyphen.
fn same_pair(pair: &str, typed: &str) -> bool {
    pair == typed || pair.replace('–', "-") == typed
}
