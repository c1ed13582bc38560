//! Sensors of contacts: how often they closed, whether they carry, with what force.

/// A sensor of a contact by formula; places are numbers of coordinates.
#[derive(Clone, Debug)]
pub(super) struct ContactSensor {
    /// Number of the interaction.
    pub interaction: usize,
    /// Name of the contact.
    pub contact: String,
    pub impacts: usize,
    pub closed: usize,
    pub force: usize,
}

impl ContactSensor {
    /// Reads a step of size `h` in which the contact has taken this normal impulse \[N·s\]; `None` where it was not active.
    pub(crate) fn after_step(&self, impulse: Option<f64>, h: f64, q: &mut [f64]) {
        let impulse = impulse.unwrap_or(0.0).max(0.0);
        let (carried, carries) = (q[self.force] > 0.0, impulse > 0.0);
        if carries && !carried {
            q[self.impacts] += 1.0;
        }
        // an impact of time-stepping is one step long
        q[self.closed] = f64::from(u8::from(carries && carried));
        q[self.force] = impulse / h;
    }
}
