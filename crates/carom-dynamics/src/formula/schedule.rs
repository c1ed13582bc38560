//! The order of a tape's instructions.

use std::collections::BTreeMap;

use super::tape::{Instruction, Op, Run};

/// Reorders instructions so that equal operations follow each other, and renumbers their registers.
///
/// An interpreter's cost is the choice of what to do next; in a run of equal operations it is made once.
/// Greedy: of the operations that have all their operands, the most frequent one is done for all.
/// Registers: `first_result` is that of the first instruction's result; second results come behind all others.
pub(super) fn schedule(instructions: &mut Vec<Instruction>, first_result: u32) -> Schedule {
    let n = instructions.len();
    let (users, mut n_missing) = dependencies(instructions, first_result);
    let mut ready: BTreeMap<Op, Vec<usize>> = BTreeMap::new();
    for index in (0..n).filter(|&index| n_missing[index] == 0) {
        ready.entry(instructions[index].op).or_default().push(index);
    }
    let mut order = Vec::with_capacity(n);
    let mut runs = Vec::new();
    while let Some((&op, _)) = ready.iter().rev().max_by_key(|(_, queue)| queue.len()) {
        let first = order.len();
        // Doing one can make others ready, also of the same operation.
        while let Some(queue) = ready.remove(&op) {
            for index in queue {
                order.push(index);
                for &user in &users[index] {
                    n_missing[user] -= 1;
                    if n_missing[user] == 0 {
                        ready.entry(instructions[user].op).or_default().push(user);
                    }
                }
            }
        }
        runs.push(Run { op, len: (order.len() - first) as u32 });
    }

    let mut results = vec![0; n];
    for (place, &index) in order.iter().enumerate() {
        results[index] = first_result + place as u32;
    }
    let schedule = Schedule { runs, first_result, results };
    *instructions = order.iter().map(|&index| instructions[index].map_reads(|register| schedule.new_register(register))).collect();
    schedule
}

/// Which instructions use each one's results, and how many operands of each are results.
fn dependencies(instructions: &[Instruction], first_result: u32) -> (Vec<Vec<usize>>, Vec<usize>) {
    let n = instructions.len();
    // The instruction behind each register from `first_result` on.
    let mut writers: Vec<usize> = (0..n).collect();
    for (index, instruction) in instructions.iter().enumerate() {
        if let Some(register) = instruction.second_result() {
            let place = (register - first_result) as usize;
            writers.resize(writers.len().max(place + 1), index);
            writers[place] = index;
        }
    }
    let mut users = vec![Vec::new(); n];
    let mut n_missing = vec![0; n];
    for (user, instruction) in instructions.iter().enumerate() {
        for register in instruction.reads().filter(|&register| register >= first_result) {
            users[writers[(register - first_result) as usize]].push(user);
            n_missing[user] += 1;
        }
    }
    (users, n_missing)
}

/// What [`schedule`] did.
pub(super) struct Schedule {
    pub(super) runs: Vec<Run>,
    first_result: u32,
    /// New register of each instruction's result, in the old order.
    results: Vec<u32>,
}

impl Schedule {
    /// Where the content of a register is now.
    pub(super) fn new_register(&self, register: u32) -> u32 {
        let index = register.checked_sub(self.first_result);
        index.and_then(|i| self.results.get(i as usize)).copied().unwrap_or(register)
    }
}
