//! The growing columns of a recorded run: their names and types in the file, and the buffers in front of them.

use super::modes::NO_MODE;
use super::{Precision, RunInfo};
use carom_dynamics::recording::{ContactRecord, Frame, Source};
use carom_dynamics::report::{Energy, Event, StepReport};
use hdf5_pure::{
    Dataset, DatasetBuilder, Error, File, MaxExtent, make_f32_type, make_f64_type, make_i32_type, make_i64_type, make_u8_type,
};

/// Rows per chunk of the file, unless the rows are so wide that a chunk would exceed [`CHUNK_BYTES`].
const CHUNK_ROWS: usize = 512;
const CHUNK_BYTES: usize = 1 << 20;

/// Contacts of a frame that are kept in memory before they are written.
const CONTACTS_PER_BATCH: usize = 8192;

/// Bytes for the remark of an event while the run goes; the finished file has as many as the longest needs.
const NOTE_BYTES: usize = 240;

/// Type of a column's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    F64,
    I64,
    I32,
    U8,
    /// A row of so many f64.
    Row(usize),
    /// A row of so many f32.
    SingleRow(usize),
    /// A row of so many u8.
    Bytes(usize),
    /// UTF-8 text of at most so many bytes.
    Text(usize),
}

impl Element {
    fn n_bytes(self) -> usize {
        match self {
            Element::F64 | Element::I64 => 8,
            Element::I32 => 4,
            Element::U8 => 1,
            Element::Row(n) => 8 * n,
            Element::SingleRow(n) => 4 * n,
            Element::Bytes(n) | Element::Text(n) => n,
        }
    }
}

/// Path in the file and type of a growing column.
pub(super) type ColumnSpec = (&'static str, Element);

/// The columns of a run; rows of zero width (no gap, say) are left out.
pub(super) fn column_specs(info: &RunInfo) -> Vec<ColumnSpec> {
    use Element::{Bytes, F64, I32, I64, Row, Text, U8};
    // Columns are flushed in this order. A process killed meanwhile leaves no contact without its impulse, nor an instant without
    // its contacts, because the columns that readers count by (`contacts/frame`, `events/impulse`, `time`) come after theirs.
    let mut specs = vec![
        ("contacts/source_kind", U8),
        ("contacts/source_a", I32),
        ("contacts/source_b", I32),
        ("contacts/dim", U8),
        ("contacts/gap", F64),
        ("contacts/velocity", Row(6)),
        ("contacts/impulse", Row(6)),
        ("contacts/force", Row(if info.contact_forces { 6 } else { 0 })),
        ("contacts/mode", U8),
        ("contacts/point", Row(3)),
        ("contacts/normal", Row(3)),
        ("contacts/frame", I64),
        ("events/t", F64),
        ("events/kind", U8),
        ("events/name", Text(event_name_width(info))),
        ("events/mode_before", U8),
        ("events/mode_after", U8),
        ("events/note", Text(NOTE_BYTES)),
        ("events/impulse", F64),
        ("step", I64),
        ("q", Row(info.coordinates.len())),
        ("v", Row(info.velocities.len())),
        ("x", Row(info.states.len())),
        ("y", Row(info.rows.len())),
        ("lambda", Row(info.rows.len())),
        ("signals", Row(info.signals.len())),
        ("gaps", Row(info.gaps.len())),
        ("forces", Row(info.forces.len())),
        ("modes", Bytes(info.contact_names().count())),
        ("multiplier_modes", Bytes(info.rows.len())),
        ("energy/kinetic", F64),
        ("energy/potential", F64),
        ("energy/dissipated_impact", F64),
        ("energy/dissipated_friction", F64),
        ("energy/work", F64),
        ("steps/newton_iterations", I32),
        ("steps/newton_residual", F64),
        ("steps/solver_iterations", I32),
        ("steps/residual", F64),
        ("steps/active", I32),
        ("steps/converged", U8),
        ("steps/penetration", F64),
        ("steps/constraint_violation", F64),
        ("steps/constraint_velocity", F64),
        ("time", F64),
    ];
    specs.retain(|(_, element)| !matches!(element, Row(0) | Bytes(0)));
    if info.precision == Precision::Single {
        for (_, element) in &mut specs {
            if let Row(n) = *element {
                *element = Element::SingleRow(n);
            }
        }
    }
    specs
}

/// Bytes for the longest name an event can have: an interaction, two colliders joined by a dash, a watched function, a law.
fn event_name_width(info: &RunInfo) -> usize {
    let interaction = info.interactions.iter().map(|i| i.name.len()).max().unwrap_or(0);
    let interaction = interaction.max(info.rows.iter().map(String::len).max().unwrap_or(0));
    let collider = info.colliders.iter().map(String::len).max().unwrap_or(0);
    interaction.max(2 * collider + "–".len()).max(64)
}

/// Declares an empty column that can grow.
pub(super) fn declare(builder: &mut DatasetBuilder, element: Element, compression: u8) -> Result<(), Error> {
    match element {
        Element::F64 => builder.with_f64_data(&[]),
        Element::I64 => builder.with_i64_data(&[]),
        Element::I32 => builder.with_i32_data(&[]),
        Element::U8 => builder.with_u8_data(&[]),
        Element::Row(n) => {
            let width = u32::try_from(n).unwrap_or(u32::MAX);
            builder.with_array_data(make_f64_type(), &[width], Vec::new(), 0)
        }
        Element::SingleRow(n) => {
            let width = u32::try_from(n).unwrap_or(u32::MAX);
            builder.with_array_data(make_f32_type(), &[width], Vec::new(), 0)
        }
        Element::Bytes(n) => {
            let width = u32::try_from(n).unwrap_or(u32::MAX);
            builder.with_array_data(make_u8_type(), &[width], Vec::new(), 0)
        }
        Element::Text(n) => builder.with_strings_sized(&[], u32::try_from(n).unwrap_or(u32::MAX))?,
    };
    builder.with_shape(&[0]).with_maxshape(&[MaxExtent::Unlimited]).with_chunks(&[chunk_rows(element) as u64]);
    if compression > 0 {
        builder.with_shuffle().with_deflate(u32::from(compression.min(9)));
    }
    Ok(())
}

/// Fills a finished column of numbers from the bytes of a growing one: a table becomes a matrix.
pub(super) fn fill(builder: &mut DatasetBuilder, element: Element, bytes: Vec<u8>, compression: u8) -> Result<(), Error> {
    let rows = (bytes.len() / element.n_bytes()) as u64;
    // numbers in the file are those of the part, byte by byte
    let (number, width) = match element {
        Element::F64 => (make_f64_type(), None),
        Element::Row(width) => (make_f64_type(), Some(width)),
        Element::SingleRow(width) => (make_f32_type(), Some(width)),
        Element::I64 => (make_i64_type(), None),
        Element::I32 => (make_i32_type(), None),
        Element::Bytes(width) => (make_u8_type(), Some(width)),
        Element::U8 | Element::Text(_) => (make_u8_type(), None),
    };
    match width {
        Some(width) => builder.with_raw_data(number, bytes, rows * width as u64).with_shape(&[rows, width as u64]),
        None => builder.with_raw_data(number, bytes, rows).with_shape(&[rows]),
    };
    compress(builder, element, rows, compression);
    Ok(())
}

/// As [`fill`], for texts; as wide as the longest.
pub(super) fn fill_texts(builder: &mut DatasetBuilder, texts: &[String], compression: u8) -> Result<(), Error> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (rows, width) = (texts.len() as u64, texts.iter().map(|text| text.len()).max().unwrap_or(0).max(1));
    builder.with_strings_sized(&texts, u32::try_from(width).unwrap_or(u32::MAX))?.with_shape(&[rows]);
    compress(builder, Element::Text(width), rows, compression);
    Ok(())
}

fn compress(builder: &mut DatasetBuilder, element: Element, rows: u64, compression: u8) {
    if compression == 0 || rows == 0 {
        return;
    }
    let chunk = (chunk_rows(element) as u64).min(rows);
    match element {
        Element::Row(width) | Element::SingleRow(width) | Element::Bytes(width) => builder.with_chunks(&[chunk, width as u64]),
        _ => builder.with_chunks(&[chunk]),
    };
    builder.with_shuffle().with_deflate(u32::from(compression.min(9)));
}

fn chunk_rows(element: Element) -> usize {
    (CHUNK_BYTES / element.n_bytes()).clamp(1, CHUNK_ROWS)
}

/// A column with what is not yet in the file.
struct Column {
    dataset: Dataset,
    element: Element,
    pending: Vec<u8>,
}

impl Column {
    fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    fn push_f64(&mut self, value: f64) {
        self.push(&value.to_le_bytes());
    }

    fn push_count(&mut self, value: usize) {
        self.push(&i32::try_from(value).unwrap_or(i32::MAX).to_le_bytes());
    }

    fn push_i64(&mut self, value: usize) {
        self.push(&i64::try_from(value).unwrap_or(i64::MAX).to_le_bytes());
    }

    fn push_row(&mut self, values: &[f64]) {
        if matches!(self.element, Element::SingleRow(_)) {
            self.pending.reserve(4 * values.len());
            return values.iter().for_each(|value| self.push(&(*value as f32).to_le_bytes()));
        }
        self.pending.reserve(8 * values.len());
        for value in values {
            self.push_f64(*value);
        }
    }

    /// Text padded with zeros; one longer than announced is cut between characters.
    fn push_text(&mut self, text: &str) {
        let width = self.element.n_bytes();
        let end = text.floor_char_boundary(width);
        self.push(&text.as_bytes()[..end]);
        self.pending.resize(self.pending.len() + width - end, 0);
    }
}

/// All growing columns of an open file, each group in the order of [`column_specs`].
pub(super) struct Columns {
    contacts: Vec<Column>,
    events: Vec<Column>,
    frames: Vec<Column>,
    n_frames: usize,
    n_pending_bytes: usize,
    /// Contacts have a column of forces.
    contact_forces: bool,
    /// Contacts are left out.
    skip_contacts: bool,
}

impl Columns {
    pub(super) fn open(file: &File, specs: &[ColumnSpec], skip_contacts: bool) -> Result<Self, Error> {
        let contact_forces = specs.iter().any(|(path, _)| *path == "contacts/force");
        let (contacts, events, frames) = (Vec::new(), Vec::new(), Vec::new());
        let mut columns = Columns { contacts, events, frames, n_frames: 0, n_pending_bytes: 0, contact_forces, skip_contacts };
        for &(path, element) in specs {
            let group = match path.split_once('/') {
                Some(("contacts", _)) => &mut columns.contacts,
                Some(("events", _)) => &mut columns.events,
                _ => &mut columns.frames,
            };
            group.push(Column { dataset: file.dataset(path)?, element, pending: Vec::new() });
        }
        Ok(columns)
    }

    pub(super) fn n_pending_bytes(&self) -> usize {
        self.n_pending_bytes
    }

    /// Takes a frame. Contacts of frames with many go to the file a batch at a time.
    pub(super) fn push_frame(&mut self, frame: &Frame<'_>) -> Result<(), Error> {
        let contacts = if self.skip_contacts { &[] } else { frame.contacts };
        for batch in contacts.chunks(CONTACTS_PER_BATCH) {
            for contact in batch {
                push_contact(&mut self.contacts, self.n_frames, contact, self.contact_forces);
            }
            if batch.len() == CONTACTS_PER_BATCH {
                flush_all(&mut self.contacts)?;
            }
        }
        let mut next = in_turn(&mut self.frames);
        next().push_i64(frame.step);
        for row in [frame.q, frame.v, frame.x, frame.outputs, frame.multipliers, frame.signals, frame.gaps, frame.forces] {
            // Tables without columns are not in the file.
            if !row.is_empty() {
                next().push_row(row);
            }
        }
        if !frame.modes.is_empty() {
            let column = next();
            column.pending.extend(frame.modes.iter().map(|mode| mode.code()));
        }
        if !frame.multiplier_modes.is_empty() {
            let column = next();
            column.pending.extend(frame.multiplier_modes.iter().map(|mode| mode.code()));
        }
        let Energy { kinetic, potential, dissipated_impact, dissipated_friction, work } = frame.energy;
        for energy in [kinetic, potential, dissipated_impact, dissipated_friction, work] {
            next().push_f64(energy);
        }
        push_report(&mut next, frame.report);
        next().push_f64(frame.t);
        self.n_frames += 1;
        let first_order = frame.x.len() + 3 * frame.outputs.len() + frame.signals.len();
        let row_bytes = 8 * (frame.q.len() + frame.v.len() + first_order + frame.gaps.len() + frame.forces.len()) + frame.modes.len() + 112;
        self.n_pending_bytes += row_bytes + 225 * (contacts.len() % CONTACTS_PER_BATCH);
        Ok(())
    }

    pub(super) fn push_event(&mut self, event: &Event) {
        let mut next = in_turn(&mut self.events);
        let (before, after) = event.modes.map_or((NO_MODE, NO_MODE), |(before, after)| (before.code(), after.code()));
        next().push_f64(event.t);
        next().push(&[event.kind.code()]);
        next().push_text(&event.name);
        next().push(&[before]);
        next().push(&[after]);
        next().push_text(&event.note);
        next().push_f64(event.impulse);
        self.n_pending_bytes += 83 + NOTE_BYTES;
    }

    /// Writes everything pending, in the order of [`column_specs`].
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        [&mut self.contacts, &mut self.events, &mut self.frames].into_iter().try_for_each(|columns| flush_all(columns))?;
        self.n_pending_bytes = 0;
        Ok(())
    }
}

fn flush_all(columns: &mut [Column]) -> Result<(), Error> {
    for column in columns.iter_mut().filter(|column| !column.pending.is_empty()) {
        column.dataset.append_raw(&column.pending)?;
        column.pending.clear();
    }
    Ok(())
}

/// One column after another.
fn in_turn<'a>(columns: &'a mut [Column]) -> impl FnMut() -> &'a mut Column {
    let mut columns = columns.iter_mut();
    move || columns.next().expect("the specification lists every column that is pushed")
}

/// The nine `steps` columns; before the first step nothing was iterated and no residual exists.
fn push_report<'a>(next: &mut impl FnMut() -> &'a mut Column, report: Option<&StepReport>) {
    let nan = f64::NAN;
    next().push_count(report.map_or(0, |r| r.newton_iterations));
    next().push_f64(report.map_or(nan, |r| r.newton_residual));
    next().push_count(report.and_then(|r| r.solve.as_ref()).map_or(0, |s| s.iterations));
    next().push_f64(report.map_or(nan, |r| r.solve.as_ref().map_or(0.0, |s| s.residual_normalised)));
    next().push_count(report.map_or(0, |r| r.n_active));
    next().push(&[u8::from(report.is_none_or(StepReport::converged))]);
    next().push_f64(report.map_or(nan, |r| r.violations.penetration));
    next().push_f64(report.map_or(nan, |r| r.violations.constraint));
    next().push_f64(report.map_or(nan, |r| r.violations.constraint_velocity));
}

fn push_contact(columns: &mut [Column], frame: usize, contact: &ContactRecord, forces: bool) {
    let mut next = in_turn(columns);
    let number = |n: u32| i32::try_from(n).unwrap_or(i32::MAX);
    let (kind, a, b) = match contact.source {
        Source::Interaction(i) => (0, number(i), -1),
        Source::Colliders(a, b) => (1, number(a), number(b)),
    };
    next().push(&[kind]);
    next().push(&a.to_le_bytes());
    next().push(&b.to_le_bytes());
    next().push(&[u8::try_from(contact.dim).unwrap_or(u8::MAX)]);
    next().push_f64(contact.gap);
    next().push_row(&contact.velocity);
    next().push_row(&contact.impulse);
    if forces {
        next().push_row(&contact.force);
    }
    next().push(&[contact.mode.code()]);
    next().push_row(contact.point.as_slice());
    next().push_row(contact.normal.as_slice());
    next().push_i64(frame);
}
