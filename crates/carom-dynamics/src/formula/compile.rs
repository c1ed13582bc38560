//! Expression graph → tape.

use std::collections::HashMap;

use super::graph::{Expr, Graph};
use super::node::{Binary, Node, Unary};
use super::schedule::schedule;
use super::tape::{Instruction, Op, Tape, TapeError};

/// Integer powers up to this one become multiplications, which share their squares.
const MAX_UNROLLED_POWER: u32 = 16;

impl Tape {
    /// Compiles the outputs as functions of the inputs.
    ///
    /// Only what the outputs need is computed, each distinct subexpression once; sine and cosine of the
    /// same argument, and a product that is used only in one sum, become one instruction each.
    ///
    /// # Errors
    /// If an output contains a symbol that is no input, or an input is no symbol or given twice.
    pub fn compile(graph: &Graph, inputs: &[Expr], outputs: &[Expr]) -> Result<Tape, TapeError> {
        check_inputs(graph, inputs)?;
        let usage = Usage::of(graph, outputs);
        let mut compiler = Compiler::new(graph, &usage, inputs)?;
        for index in 0..usage.n_uses.len() {
            if usage.n_uses[index] > 0 && !usage.is_fused[index] {
                compiler.emit(Expr(index as u32));
            }
        }
        Ok(compiler.finish(inputs.len(), outputs))
    }
}

fn check_inputs(graph: &Graph, inputs: &[Expr]) -> Result<(), TapeError> {
    for (index, &input) in inputs.iter().enumerate() {
        let Some(name) = graph.symbol_name(input) else {
            return Err(TapeError::InputIsNoSymbol { index });
        };
        if inputs[..index].contains(&input) {
            return Err(TapeError::DuplicateInput { name: name.to_owned() });
        }
    }
    Ok(())
}

/// Which nodes are needed, and how.
struct Usage {
    /// For each node up to the last needed one: how often needed nodes or outputs use it.
    n_uses: Vec<u32>,
    /// Products computed by the sum that uses them.
    is_fused: Vec<bool>,
}

impl Usage {
    fn of(graph: &Graph, outputs: &[Expr]) -> Usage {
        let n = outputs.iter().map(|e| e.index() + 1).max().unwrap_or(0);
        let mut n_uses = vec![0_u32; n];
        for e in outputs {
            n_uses[e.index()] += 1;
        }
        for index in (0..n).rev() {
            if n_uses[index] > 0 {
                for operand in graph.nodes[index].operands() {
                    n_uses[operand.index()] += 1;
                }
            }
        }
        let mut usage = Usage { n_uses, is_fused: vec![false; n] };
        for index in 0..n {
            if usage.n_uses[index] > 0
                && let Some(product) = usage.fusible_operand(graph, graph.nodes[index])
            {
                usage.is_fused[product.index()] = true;
            }
        }
        usage
    }

    /// The product that a sum or difference can compute on its way, the second one if both can be.
    fn fusible_operand(&self, graph: &Graph, node: Node) -> Option<Expr> {
        let Node::Binary(Binary::Add | Binary::Sub, a, b) = node else {
            return None;
        };
        [b, a].into_iter().find(|&e| self.n_uses[e.index()] == 1 && product(graph, e).is_some())
    }
}

/// The factors, if `e` is a product or a square.
fn product(graph: &Graph, e: Expr) -> Option<(Expr, Expr)> {
    match graph.node(e) {
        Node::Binary(Binary::Mul, x, y) => Some((x, y)),
        Node::PowInt(x, 2) => Some((x, x)),
        _ => None,
    }
}

struct Compiler<'a> {
    graph: &'a Graph,
    usage: &'a Usage,
    constants: Vec<f64>,
    instructions: Vec<Instruction>,
    /// Register of each node; `u32::MAX` for nodes that have none.
    registers: Vec<u32>,
    first_result: u32,
    /// Registers of the positive integer powers computed so far.
    powers: HashMap<(Expr, u32), u32>,
    /// Cosines computed with a sine: their registers are numbered when all instructions are known.
    n_extra: u32,
}

/// Marks a register number that counts from the end of the instructions' results.
const EXTRA: u32 = 1 << 31;

impl<'a> Compiler<'a> {
    /// Gives registers to constants and inputs.
    fn new(graph: &'a Graph, usage: &'a Usage, inputs: &[Expr]) -> Result<Self, TapeError> {
        let n = usage.n_uses.len();
        let mut registers = vec![u32::MAX; n];
        let mut constants = Vec::new();
        for (index, register) in registers.iter_mut().enumerate() {
            if usage.n_uses[index] > 0
                && let Some(x) = graph.as_constant(Expr(index as u32))
            {
                *register = constants.len() as u32;
                constants.push(x);
            }
        }
        for (number, input) in inputs.iter().enumerate() {
            if input.index() < n {
                registers[input.index()] = (constants.len() + number) as u32;
            }
        }
        for (index, &register) in registers.iter().enumerate() {
            if usage.n_uses[index] > 0
                && register == u32::MAX
                && let Some(name) = graph.symbol_name(Expr(index as u32))
            {
                return Err(TapeError::MissingInput { name: name.to_owned() });
            }
        }
        let first_result = (constants.len() + inputs.len()) as u32;
        Ok(Compiler { graph, usage, constants, instructions: Vec::new(), registers, first_result, powers: HashMap::new(), n_extra: 0 })
    }

    /// Emits what computes the node, unless it has a register already.
    fn emit(&mut self, e: Expr) {
        if self.registers[e.index()] != u32::MAX {
            return;
        }
        let register = match self.graph.node(e) {
            Node::Constant(_) | Node::Symbol(_) => return,
            Node::Unary(operator @ (Unary::Sin | Unary::Cos), a) => {
                return self.emit_sine_or_cosine(e, operator, a);
            }
            Node::Unary(operator, a) => {
                let op = match operator {
                    Unary::Neg => Op::Neg,
                    Unary::Sqrt => Op::Sqrt,
                    other => Op::Unary(other),
                };
                self.push(op, self.register(a), 0, 0)
            }
            Node::Binary(operator, a, b) => self.emit_binary(e, operator, a, b),
            Node::PowInt(a, n) => {
                let power = self.emit_power(a, n.unsigned_abs());
                if n > 0 { power } else { self.push(Op::Reciprocal, power, 0, 0) }
            }
            Node::Select(c, a, b) => {
                let [c, a, b] = [c, a, b].map(|e| self.register(e));
                self.push(Op::Select, c, a, b)
            }
        };
        self.registers[e.index()] = register;
    }

    fn emit_binary(&mut self, e: Expr, operator: Binary, a: Expr, b: Expr) -> u32 {
        if let Some(fused) = self.usage.fusible_operand(self.graph, self.graph.node(e))
            && let Some((x, y)) = product(self.graph, fused)
        {
            let (op, other) = match operator {
                Binary::Sub if fused == b => (Op::SubMul, a),
                Binary::Sub => (Op::MulSub, b),
                _ => (Op::MulAdd, if fused == b { a } else { b }),
            };
            let [x, y, other] = [x, y, other].map(|e| self.register(e));
            return self.push(op, x, y, other);
        }
        let (x, y) = (self.register(a), self.register(b));
        let op = match operator {
            Binary::Add => Op::Add,
            Binary::Sub => Op::Sub,
            Binary::Mul => Op::Mul,
            Binary::Div if self.graph.as_constant(a) == Some(1.0) => {
                return self.push(Op::Reciprocal, y, 0, 0);
            }
            Binary::Div => Op::Div,
            other => Op::Binary(other),
        };
        self.push(op, x, y, 0)
    }

    /// Sine or cosine; both at once if both are needed.
    fn emit_sine_or_cosine(&mut self, e: Expr, operator: Unary, a: Expr) {
        let argument = self.register(a);
        let sibling = if operator == Unary::Sin { Unary::Cos } else { Unary::Sin };
        let sibling = self.graph.find(Node::Unary(sibling, a)).filter(|e| self.usage.n_uses.get(e.index()).is_some_and(|&n| n > 0));
        let Some(sibling) = sibling else {
            self.registers[e.index()] = self.push(Op::Unary(operator), argument, 0, 0);
            return;
        };
        let cosine = EXTRA + self.n_extra;
        self.n_extra += 1;
        let sine = self.push(Op::SinCos, argument, cosine, 0);
        let (own, other) = if operator == Unary::Sin { (sine, cosine) } else { (cosine, sine) };
        self.registers[e.index()] = own;
        self.registers[sibling.index()] = other;
    }

    /// a^n for n ≥ 1: by squaring and multiplying, sharing what is there.
    fn emit_power(&mut self, a: Expr, n: u32) -> u32 {
        let base = self.register(a);
        if n == 1 {
            return base;
        }
        if let Some(&register) = self.powers.get(&(a, n)) {
            return register;
        }
        let register = if n > MAX_UNROLLED_POWER {
            self.push(Op::PowInt, base, n, 0)
        } else if n.is_multiple_of(2) {
            let root = self.emit_power(a, n / 2);
            self.push(Op::Mul, root, root, 0)
        } else {
            let rest = self.emit_power(a, n - 1);
            self.push(Op::Mul, rest, base, 0)
        };
        self.powers.insert((a, n), register);
        register
    }

    /// Appends an instruction; the register of its result.
    fn push(&mut self, op: Op, a: u32, b: u32, c: u32) -> u32 {
        let register = self.first_result + self.instructions.len() as u32;
        assert!(register < EXTRA, "a tape has fewer than 2^31 registers");
        self.instructions.push(Instruction { op, a, b, c });
        register
    }

    fn register(&self, e: Expr) -> u32 {
        let register = self.registers[e.index()];
        debug_assert_ne!(register, u32::MAX, "operands are emitted before their users");
        register
    }

    /// Numbers the extra registers, orders the instructions and puts the tape together.
    fn finish(mut self, n_inputs: usize, outputs: &[Expr]) -> Tape {
        let first_extra = self.first_result + self.instructions.len() as u32;
        let place = |r: u32| {
            if r >= EXTRA { first_extra + (r - EXTRA) } else { r }
        };
        for instruction in &mut self.instructions {
            *instruction = instruction.map_reads(place);
            if instruction.op == Op::SinCos {
                instruction.b = place(instruction.b);
            }
        }
        let schedule = schedule(&mut self.instructions, self.first_result);
        let outputs = outputs.iter().map(|&e| schedule.new_register(place(self.register(e)))).collect();
        Tape {
            constants: self.constants,
            n_inputs,
            instructions: self.instructions,
            runs: schedule.runs,
            n_extra: self.n_extra as usize,
            outputs,
        }
    }
}
