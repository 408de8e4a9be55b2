//! Turns a program into code, with one match arm per op.

use super::code::{Arg, Array, Code, Data, Function, Helper, Input, Number, Place, Slice, Step};
use super::text::{identifier, unique};
use crate::export::About;
use crate::head::Tilt;
use crate::program::{Activation, Block, CellGate, Op, PRIOR_LIMIT, ParamId, Program, Selector, ValueId};
use adept_rows::ChannelKind;
use std::collections::{HashMap, HashSet};

/// The code of a program with these flat parameters.
pub(super) fn code(program: &Program, params: &[f32], about: &About) -> Code {
    let mut readers = vec![0; program.widths.len()];
    count_readers(&program.body, &mut readers);
    let mut builder = Builder {
        program,
        params,
        readers,
        inputs: vec![None; program.channels.len()],
        input_names: HashSet::new(),
        arrays: vec![None; program.params.len()],
        array_names: HashSet::new(),
        function_names: ["value", "values", "inputs"].map(String::from).into(),
        values: vec![None; program.widths.len()],
        code: Code { outputs: program.outputs(), head: program.head.clone(), ..Code::default() },
    };
    builder.function("network", &program.body, false);
    // In the order of the encoder.
    let named = program.channels.iter().zip(&builder.inputs);
    let inputs = named.filter_map(|(channel, name)| {
        let text = about.channels.iter().find(|c| c.0 == channel.name).map_or("", |c| c.1.as_str());
        Some(Input { name: name.clone()?, kind: channel.kind, about: text.into() })
    });
    builder.code.inputs = inputs.collect();
    builder.code
}

/// Number of ops and blocks that read each value.
fn count_readers(block: &Block, readers: &mut [usize]) {
    for &result in &block.results {
        readers[result] += 1;
    }
    for op in &block.ops {
        match op {
            Op::Concat { xs, .. } => xs.iter().for_each(|&x| readers[x] += 1),
            Op::Affine { x, .. }
            | Op::Scale { x, .. }
            | Op::Activation { x, .. }
            | Op::LogSoftmax { x, .. }
            | Op::Threshold { x, .. }
            | Op::Softmax { x, .. }
            | Op::Outer { x, .. }
            | Op::Residual { x, .. } => readers[*x] += 1,
            Op::PriorLogits { x, .. } => x.iter().for_each(|&x| readers[x] += 1),
            Op::Blend { log_weights, y, .. } => {
                readers[*log_weights] += 1;
                readers[*y] += 1;
            }
            Op::Route { select, branches, .. } => {
                if let Selector::Mask(mask) = select {
                    readers[*mask] += 1;
                }
                branches.iter().for_each(|branch| count_readers(branch, readers));
            }
            // Only the loss needs densities.
            Op::Input { .. }
            | Op::Gather { .. }
            | Op::Density { .. }
            | Op::Categorical { .. }
            | Op::LogMix { .. } => {}
        }
    }
}

struct Builder<'a> {
    program: &'a Program,
    params: &'a [f32],
    /// Number of ops and blocks that read each value.
    readers: Vec<usize>,
    /// Names of the channels that are read.
    inputs: Vec<Option<String>>,
    input_names: HashSet<String>,
    /// Names of the parameters that are read.
    arrays: Vec<Option<String>>,
    array_names: HashSet<String>,
    function_names: HashSet<String>,
    /// Place of each value. Weights of experts stand in place of their logarithms.
    values: Vec<Option<Slice>>,
    code: Code,
}

/// A function while it is written.
struct Scope {
    steps: Vec<Step>,
    locals: HashSet<String>,
    /// The value that is made in the place of the function's result, if there is one.
    result: Option<ValueId>,
    name: String,
    /// Name of the last layer or gate.
    layer: String,
    /// The priors of logits that a softmax has not yet read: channel, form and utilities.
    tilts: HashMap<ValueId, (usize, Tilt, Vec<f32>)>,
}

impl Scope {
    /// Calls a helper that writes to an array, whose size is its last argument.
    fn call<const N: usize>(&mut self, helper: Helper, args: [Arg; N], to: Slice) {
        let width = Arg::Size(to.width);
        self.steps.push(Step::Call(helper, args.into_iter().chain([Arg::Out(to), width]).collect()));
    }
}

impl Builder<'_> {
    /// Writes a function that computes the first result of a block. Returns its name.
    fn function(&mut self, name: &str, block: &Block, is_given: bool) -> String {
        let name = unique(name, &mut self.function_names);
        let output = block.results[0];
        let width = self.program.widths[output];
        let locals = ["in", "inputs", "given", "out"].map(String::from).into();
        let result = Some(origin(block, output));
        let layer = "layer".into();
        let mut scope =
            Scope { steps: vec![], locals, result, name: name.clone(), layer, tilts: HashMap::new() };
        for op in &block.ops {
            self.op(op, &mut scope);
        }
        let found = self.value(output);
        if found.place != Place::Out {
            let out = Slice { place: Place::Out, from: 0, width, of: width };
            scope.call(Helper::Copy, [Arg::In(found)], out);
        }
        self.code.functions.push(Function { name: name.clone(), is_given, width, steps: scope.steps });
        name
    }

    fn op(&mut self, op: &Op, scope: &mut Scope) {
        match *op {
            Op::Input { ref channels, out } => {
                let parts = channels.iter().map(|&c| self.channel(c)).collect();
                self.join(parts, ("inputs", out), scope);
            }
            Op::Concat { ref xs, out } => {
                let parts = xs.iter().map(|&x| self.value(x)).collect();
                self.join(parts, ("parts", out), scope);
            }
            Op::Affine { x, weight, bias, out } => {
                scope.layer = layer_of(&self.program.params[weight].name);
                let x = self.value(x);
                let to = self.local(&scope.layer.clone(), out, scope);
                let (weight, bias) = (self.array(weight), self.array(bias));
                let inputs = Arg::Size(x.width);
                scope.call(Helper::Affine, [Arg::In(x), inputs, Arg::Array(weight), Arg::Array(bias)], to);
            }
            Op::Scale { x, beta, out } => {
                let to = self.in_place(x, out, scope);
                let beta = self.array(beta);
                scope.call(Helper::Scale, [Arg::Array(beta)], to);
            }
            Op::Activation { x, f, out } => {
                let to = self.in_place(x, out, scope);
                let helper = match f {
                    Activation::Tanh => Helper::Tanh,
                    Activation::Sigmoid => Helper::Sigmoid,
                    Activation::Relu => Helper::Relu,
                    Activation::Silu => Helper::Silu,
                    Activation::Linear => return,
                };
                scope.call(helper, [], to);
            }
            Op::LogSoftmax { x, out } => {
                let to = self.in_place(x, out, scope);
                scope.call(Helper::Softmax, [], to);
            }
            Op::Threshold { x, threshold, out } => {
                let to = self.in_place(x, out, scope);
                scope.call(Helper::Select, [Arg::Float(threshold)], to);
            }
            Op::Blend { log_weights, y, out } => {
                let (weights, y) = (self.value(log_weights), self.value(y));
                let to = self.local("blended", out, scope);
                let experts = Arg::Size(weights.width);
                scope.call(Helper::Blend, [Arg::In(weights), experts, Arg::In(y)], to);
            }
            // Only the loss needs these.
            Op::Density { .. } | Op::Categorical { .. } | Op::LogMix { .. } => {}
            Op::Softmax { x, out } => {
                let to = self.in_place(x, out, scope);
                scope.call(Helper::Softmax, [], to.clone());
                // The prior multiplies probabilities, so that its logits need no logarithm.
                if let Some((prior, tilt, utilities)) = scope.tilts.remove(&x) {
                    let prior = self.input(prior);
                    let draws = f32::from(u8::from(tilt == Tilt::LossDrawWin));
                    let utilities = Arg::Array(self.utilities(&utilities));
                    let args = [Arg::Value(prior), Arg::Float(PRIOR_LIMIT), Arg::Float(draws), utilities];
                    scope.call(Helper::Tilt, args, to);
                }
            }
            // Lowering puts a softmax after it, which applies the prior.
            Op::PriorLogits { prior, x, tilt, ref utilities, out } => {
                match x {
                    Some(x) => {
                        self.in_place(x, out, scope);
                    }
                    None => {
                        self.place("logits", out, true, scope);
                    }
                }
                scope.tilts.insert(out, (prior, tilt, utilities.clone()));
            }
            Op::Outer { x, out } => {
                let width = self.value(x).width;
                self.values[out] = Some(Slice { place: Place::Given, from: 0, width, of: width });
            }
            Op::Route { select, ref branches, ref out } => self.route(select, branches, out[0], scope),
            Op::Gather { table, channel, out } => {
                scope.layer = layer_of(&self.program.params[table].name);
                let to = self.local(&scope.layer.clone(), out, scope);
                let (table, index) = (self.array(table), self.input(channel));
                scope.call(Helper::Entry, [Arg::Array(table), Arg::Index(index)], to);
            }
            Op::Residual { prior, x, out } => {
                let to = self.in_place(x, out, scope);
                let prior = self.input(prior);
                scope.call(Helper::Correct, [Arg::Value(prior), Arg::Float(PRIOR_LIMIT)], to);
            }
        }
    }

    /// Each branch becomes a function.
    fn route(&mut self, select: Selector, branches: &[Block], out: ValueId, scope: &mut Scope) {
        let above = if scope.name == "network" { String::new() } else { format!("{}_", scope.name) };
        let outer = branches.iter().find_map(|branch| match branch.ops.first() {
            Some(Op::Outer { x, .. }) => Some(*x),
            _ => None,
        });
        let given = outer.map(|x| self.value(x));
        let functions: Vec<String> = branches
            .iter()
            .enumerate()
            .map(|(i, branch)| self.function(&format!("{above}expert_{i}"), branch, given.is_some()))
            .collect();
        let number = match select {
            Selector::All | Selector::Mask(_) => None,
            Selector::Index(channel) => Some(Number::Input(self.input(channel))),
            Selector::Cells(gate) => Some(self.cell(&gate)),
        };
        if let Some(number) = number {
            let out = self.local("chosen", out, scope);
            scope.steps.push(Step::Choose { number, functions, given, out });
            return;
        }
        let mask = match select {
            Selector::Mask(mask) => Some(self.value(mask)),
            _ => None,
        };
        let to = self.place("experts", out, mask.is_some(), scope);
        let width = to.width / branches.len();
        for (i, function) in functions.into_iter().enumerate() {
            let out = Slice { from: to.from + i * width, width, ..to.clone() };
            let when = mask.clone().map(|mask| (mask, i));
            scope.steps.push(Step::Run { function, given: given.clone(), out, when });
        }
    }

    fn cell(&mut self, gate: &CellGate) -> Number {
        Number::Cell {
            inputs: gate.channels.map(|c| self.input(c)),
            classes: gate.classes.map(|c| self.array(c)),
            table: self.array(gate.table),
            columns: self.program.params[gate.table].shape[1],
        }
    }

    /// Puts parts side by side. One part stays where it is.
    fn join(&mut self, parts: Vec<Slice>, (name, out): (&str, ValueId), scope: &mut Scope) {
        if let [one] = &parts[..] {
            self.values[out] = Some(one.clone());
            return;
        }
        let to = self.local(name, out, scope);
        let mut from = to.from;
        for part in parts {
            let width = part.width;
            scope.call(Helper::Copy, [Arg::In(part)], Slice { from, width, ..to.clone() });
            from += width;
        }
    }

    /// The place of a value that an op makes of another one where it lies, or of a copy if there are other readers.
    fn in_place(&mut self, x: ValueId, out: ValueId, scope: &mut Scope) -> Slice {
        let from = self.value(x);
        let is_own = matches!(from.place, Place::Local(_) | Place::Out);
        if is_own && self.readers[x] == 1 {
            self.values[out] = Some(from.clone());
            return from;
        }
        let to = self.local(&scope.layer.clone(), out, scope);
        scope.call(Helper::Copy, [Arg::In(from)], to.clone());
        to
    }

    /// A new array for a value.
    fn local(&mut self, name: &str, out: ValueId, scope: &mut Scope) -> Slice {
        self.place(name, out, false, scope)
    }

    fn place(&mut self, name: &str, out: ValueId, zero: bool, scope: &mut Scope) -> Slice {
        let width = self.program.widths[out];
        let place = if scope.result == Some(out) && !zero {
            Place::Out
        } else {
            let name = unique(name, &mut scope.locals);
            scope.steps.push(Step::Local { name: name.clone(), width, zero });
            Place::Local(name)
        };
        let slice = Slice { place, from: 0, width, of: width };
        self.values[out] = Some(slice.clone());
        slice
    }

    fn value(&self, id: ValueId) -> Slice {
        self.values[id].clone().expect("each value is written before it is read")
    }

    fn channel(&mut self, channel: usize) -> Slice {
        let (name, kind) = (self.input(channel), self.program.channels[channel].kind);
        let width = kind.dense_width();
        let place = if kind == ChannelKind::Value { Place::Value(name) } else { Place::Input(name) };
        Slice { place, from: 0, width, of: width }
    }

    fn input(&mut self, channel: usize) -> String {
        let Self { program, inputs, input_names, .. } = self;
        let name = || unique(&identifier(&program.channels[channel].name, "channel"), input_names);
        inputs[channel].get_or_insert_with(name).clone()
    }

    /// The array of the utilities of the classes.
    fn utilities(&mut self, utilities: &[f32]) -> String {
        let name = "utilities_of_classes".to_string();
        if self.array_names.insert(name.clone()) {
            let (shape, data) = (vec![utilities.len()], Data::Floats(utilities.to_vec()));
            self.code.arrays.push(Array {
                name: name.clone(),
                param: "utilities of the classes".into(),
                shape,
                data,
            });
        }
        name
    }

    fn array(&mut self, id: ParamId) -> String {
        if let Some(name) = &self.arrays[id] {
            return name.clone();
        }
        let param = &self.program.params[id];
        let name = unique(&identifier(&param.name, "array"), &mut self.array_names);
        let entries = &self.params[param.offset..][..param.len()];
        let data = if param.fixed {
            Data::Whole(entries.iter().map(|&v| v as u16).collect())
        } else {
            Data::Floats(entries.to_vec())
        };
        let (shape, of) = (param.shape.clone(), param.name.clone());
        self.code.arrays.push(Array { name: name.clone(), param: of, shape, data });
        self.arrays[id] = Some(name.clone());
        name
    }
}

/// The value that ops of this block turn into `value` where it lies.
fn origin(block: &Block, value: ValueId) -> ValueId {
    let before = block.ops.iter().find_map(|op| match *op {
        Op::Scale { x, out, .. }
        | Op::Activation { x, out, .. }
        | Op::LogSoftmax { x, out }
        | Op::Softmax { x, out }
        | Op::PriorLogits { x: Some(x), out, .. }
        | Op::Threshold { x, out, .. }
        | Op::Residual { x, out, .. }
            if out == value =>
        {
            Some(x)
        }
        _ => None,
    });
    before.map_or(value, |x| origin(block, x))
}

/// The name of a layer within its function: `layer_0` for `expert.2.layer.0.weight`.
fn layer_of(param: &str) -> String {
    let parts: Vec<&str> = param.split('.').collect();
    let expert = parts.windows(2).rposition(|pair| pair[0] == "expert" && pair[1].parse::<usize>().is_ok());
    let own = &parts[expert.map_or(0, |at| at + 2)..];
    let name = own.strip_suffix(&["weight"]).unwrap_or(own).join("_");
    identifier(&name, "layer")
}
