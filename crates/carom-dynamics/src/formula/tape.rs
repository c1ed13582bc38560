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

/// What an instruction computes from its registers; frequent operations have their own code.
#[derive(Clone, Copy, PartialEq, Debug)]
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
        assert_eq!(
            outputs.len(),
            self.outputs.len(),
            "number of outputs of a tape"
        );
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
        for (instruction, result) in self.instructions.iter().zip(&registers[first_result..]) {
            result.set(instruction.execute(registers));
        }
        for (output, &register) in outputs.iter_mut().zip(&self.outputs) {
            *output = registers[register as usize].get();
        }
    }
}

impl Instruction {
    #[inline(always)]
    fn execute(&self, registers: &[Cell<f64>]) -> f64 {
        let get = |register: u32| registers[register as usize].get();
        let a = get(self.a);
        match self.op {
            Op::Add => a + get(self.b),
            Op::Sub => a - get(self.b),
            Op::Mul => a * get(self.b),
            Op::Div => a / get(self.b),
            Op::Neg => -a,
            Op::MulAdd => a * get(self.b) + get(self.c),
            Op::MulSub => a * get(self.b) - get(self.c),
            Op::SubMul => get(self.c) - a * get(self.b),
            Op::Reciprocal => 1.0 / a,
            Op::Sqrt => a.sqrt(),
            Op::PowInt => a.powi(self.b.cast_signed()),
            Op::SinCos => {
                let (sin, cos) = a.sin_cos();
                registers[self.b as usize].set(cos);
                sin
            }
            Op::Select => get(if a != 0.0 { self.b } else { self.c }),
            Op::Unary(operator) => operator.apply(a),
            Op::Binary(operator) => operator.apply(a, get(self.b)),
        }
    }
}
