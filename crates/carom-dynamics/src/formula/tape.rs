//! The compiled form of a set of expressions.

use std::cell::Cell;

use thiserror::Error;

use super::node::{Binary, Unary};

/// A set of expressions as one flat list of instructions on numbered registers.
///
/// Made by [`Tape::compile`]. Registers hold the constants, the inputs and then the result of each
/// instruction in turn; nothing is overwritten, every distinct subexpression is computed once.
#[derive(Clone, Debug)]
pub struct Tape {
    pub(super) constants: Vec<f64>,
    pub(super) n_inputs: usize,
    pub(super) instructions: Vec<Instruction>,
    /// How many of the instructions do what.
    pub(super) runs: Vec<Run>,
    /// Registers behind those of the instructions, for second results.
    pub(super) n_extra: usize,
    /// The register of each output.
    pub(super) outputs: Vec<u32>,
}

/// A tape that cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum TapeError {
    /// An output contains a symbol that is not among the inputs.
    #[error("`{name}` occurs in an expression but is not among its inputs")]
    MissingInput {
        /// The symbol.
        name: String,
    },
    /// The same symbol is given twice as an input.
    #[error("`{name}` is given twice as an input")]
    DuplicateInput {
        /// The symbol.
        name: String,
    },
    /// An input is not a symbol.
    #[error("input {index} is not a symbol")]
    InputIsNoSymbol {
        /// Its place among the inputs, from 0.
        index: usize,
    },
}

/// One operation. Its result goes to the register that follows the one of the instruction before.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Instruction {
    pub(super) op: Op,
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) c: u32,
}

/// Consecutive instructions with the same operation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Run {
    pub(super) op: Op,
    pub(super) len: u32,
}

/// What an instruction computes from its registers; frequent operations have their own code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    /// a b + c, rounded twice
    MulAdd,
    /// a b − c, rounded twice
    MulSub,
    /// c − a b, rounded twice
    SubMul,
    /// 1 / a
    Reciprocal,
    Sqrt,
    /// a to the integer power `b`
    PowInt,
    /// sin a, with cos a into register `b`
    SinCos,
    /// `b` where `a` is not 0, else `c`
    Select,
    Unary(Unary),
    Binary(Binary),
}

impl Tape {
    /// Number of registers that [`Tape::evaluate`] uses.
    pub fn n_registers(&self) -> usize {
        self.constants.len() + self.n_inputs + self.instructions.len() + self.n_extra
    }

    /// Number of input values.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// Number of output values.
    pub fn n_outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Number of operations of one evaluation.
    pub fn n_instructions(&self) -> usize {
        self.instructions.len()
    }

    /// Computes all outputs from the inputs, in the orders given to [`Tape::compile`].
    ///
    /// `registers` is working memory: it grows on first use and can be shared by any tapes. Undefined operations
    /// give infinities or NaN in the outputs.
    ///
    /// # Panics
    /// If the lengths of `inputs` or `outputs` are not [`n_inputs`](Self::n_inputs) and [`n_outputs`](Self::n_outputs).
    pub fn evaluate(&self, inputs: &[f64], registers: &mut Vec<f64>, outputs: &mut [f64]) {
        assert_eq!(inputs.len(), self.n_inputs, "number of inputs of a tape");
        assert_eq!(outputs.len(), self.outputs.len(), "number of outputs of a tape");
        let n = self.n_registers();
        if registers.len() < n {
            registers.resize(n, 0.0);
        }
        let registers = &mut registers[..n];
        let first_result = self.constants.len() + self.n_inputs;
        registers[..self.constants.len()].copy_from_slice(&self.constants);
        registers[self.constants.len()..first_result].copy_from_slice(inputs);

        // Cells allow reading all registers while walking over the results.
        let registers = Cell::from_mut(registers).as_slice_of_cells();
        let mut instructions = self.instructions.as_slice();
        let mut results = &registers[first_result..];
        for run in &self.runs {
            let (now, later) = instructions.split_at(run.len as usize);
            run.execute(now, results, registers);
            instructions = later;
            results = &results[now.len()..];
        }
        for (output, &register) in outputs.iter_mut().zip(&self.outputs) {
            *output = registers[register as usize].get();
        }
    }
}

impl Instruction {
    /// The registers it reads; unused operands are 0, which is harmless to list.
    pub(super) fn reads(self) -> impl Iterator<Item = u32> {
        let [b, c] = match self.op {
            Op::PowInt | Op::SinCos => [None, None],
            _ => [Some(self.b), Some(self.c)],
        };
        [Some(self.a), b, c].into_iter().flatten()
    }

    /// The register it writes besides that of its result.
    pub(super) fn second_result(self) -> Option<u32> {
        (self.op == Op::SinCos).then_some(self.b)
    }

    /// The same instruction reading other registers.
    pub(super) fn map_reads(mut self, place: impl Fn(u32) -> u32) -> Self {
        self.a = place(self.a);
        if !matches!(self.op, Op::PowInt | Op::SinCos) {
            self.b = place(self.b);
            self.c = place(self.c);
        }
        self
    }
}

impl Run {
    /// Executes the instructions of the run; their results go to the first of `results`.
    #[inline(always)]
    fn execute(self, run: &[Instruction], results: &[Cell<f64>], registers: &[Cell<f64>]) {
        let get = |register: u32| registers[register as usize].get();
        match self.op {
            Op::Add => fill(run, results, |i| get(i.a) + get(i.b)),
            Op::Sub => fill(run, results, |i| get(i.a) - get(i.b)),
            Op::Mul => fill(run, results, |i| get(i.a) * get(i.b)),
            Op::Div => fill(run, results, |i| get(i.a) / get(i.b)),
            Op::Neg => fill(run, results, |i| -get(i.a)),
            Op::MulAdd => fill(run, results, |i| get(i.a) * get(i.b) + get(i.c)),
            Op::MulSub => fill(run, results, |i| get(i.a) * get(i.b) - get(i.c)),
            Op::SubMul => fill(run, results, |i| get(i.c) - get(i.a) * get(i.b)),
            Op::Reciprocal => fill(run, results, |i| 1.0 / get(i.a)),
            Op::Sqrt => fill(run, results, |i| get(i.a).sqrt()),
            Op::PowInt => fill(run, results, |i| get(i.a).powi(i.b.cast_signed())),
            Op::SinCos => fill(run, results, |i| {
                let (sin, cos) = get(i.a).sin_cos();
                registers[i.b as usize].set(cos);
                sin
            }),
            Op::Select => fill(run, results, |i| get(if get(i.a) != 0.0 { i.b } else { i.c })),
            Op::Unary(operator) => fill(run, results, |i| operator.apply(get(i.a))),
            Op::Binary(operator) => fill(run, results, |i| operator.apply(get(i.a), get(i.b))),
        }
    }
}

#[inline(always)]
fn fill(run: &[Instruction], results: &[Cell<f64>], compute: impl Fn(&Instruction) -> f64) {
    for (instruction, result) in run.iter().zip(results) {
        result.set(compute(instruction));
    }
}
