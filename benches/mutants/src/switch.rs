//! The defect that acts in this process; written into the lowest crate by `benches/mutants`.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Its number, read once from `CAROM_MUTANT`.
static CHOSEN: OnceLock<u32> = OnceLock::new();

/// Number for which no defect acts, and those that the process comes by are written to the file `CAROM_MUTANTS_REACHED`.
const NOTING: u32 = u32::MAX;

/// Defect `number` acts.
#[inline]
pub fn on(number: u32) -> bool {
    let chosen = *CHOSEN.get_or_init(|| std::env::var("CAROM_MUTANT").ok().and_then(|x| x.parse().ok()).unwrap_or(0));
    if chosen == NOTING {
        note(number);
    }
    chosen == number
}

/// Writes a number to the file when the process comes by for the first time.
#[cold]
fn note(number: u32) {
    static NOTED: [AtomicU64; 32] = [const { AtomicU64::new(0) }; 32];
    let bit = 1 << (number % 64);
    let is_new = NOTED.get(number as usize / 64).is_some_and(|noted| noted.fetch_or(bit, Relaxed) & bit == 0);
    if let (true, Ok(path)) = (is_new, std::env::var("CAROM_MUTANTS_REACHED")) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        // a number that cannot be written is taken as not reached, which the tool's own check of the suite would show
        let _ = file.and_then(|mut file| file.write_all(format!("{number}\n").as_bytes()));
    }
}
