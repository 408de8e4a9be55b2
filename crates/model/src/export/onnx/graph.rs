//! Builds the ONNX graph of a program, with one match arm per op.

use super::proto::{
    Attribute, BOOL, Dimension, FLOAT, Graph, INT, INT64, Node, Shape, Tensor, TensorType, Type, ValueInfo,
};
use super::{About, input_of};
use crate::head::Tilt;
use crate::program::{Activation, Block, CellGate, Op, PRIOR_LIMIT, ParamId, Program, Selector, ValueId};

/// Description of a gate output in the metadata.
pub(super) const GATE: &str =
    "weights of the experts after the selection threshold, sum 1; 0 for an expert that is not selected";

/// Description of the output of a class in the metadata.
pub(super) fn outcome_text(utility: f32) -> String {
    format!("probability of this outcome for the player whose value `value` is; worth {utility}")
}

pub(super) struct Builder<'a> {
    program: &'a Program,
    params: &'a [f32],
    graph: Graph,
    /// Name of each value in the graph. Log weights have the name of the weights.
    names: Vec<String>,
    /// The channels that the graph reads.
    read: Vec<bool>,
    /// Name and width of the gates.
    gates: Vec<(String, usize)>,
}

impl<'a> Builder<'a> {
    /// # Panics
    /// If a channel has the name of an output.
    pub(super) fn new(program: &'a Program, params: &'a [f32]) -> Self {
        let taken = |name: &str| name == "value" || name.ends_with("gate") || name.contains('.');
        assert!(!program.channels.iter().any(|c| taken(&c.name)), "a channel has the name of an output");
        let names = vec![String::new(); program.widths.len()];
        let read = vec![false; program.channels.len()];
        Self { program, params, graph: Graph::default(), names, read, gates: Vec::new() }
    }

    /// The graph, and the names of the gate outputs.
    pub(super) fn finish(mut self, about: &About) -> (Graph, Vec<String>) {
        let output = self.program.output();
        let last = self.names[output].clone();
        let classes: Vec<(String, f32)> = (self.program.head.classes().unwrap_or_default().iter())
            .map(|class| (format!("outcome.{}", class.name), class.utility))
            .collect();
        if classes.is_empty() {
            self.node("Identity", &[&last], "value", &[]);
        } else {
            // The value Σₖ pₖ uₖ.
            let utilities: Vec<f32> = classes.iter().map(|class| class.1).collect();
            self.constant("/utilities", &[classes.len(), 1], &utilities);
            self.node("MatMul", &[&last, "/utilities"], "value", &[]);
            for (k, (name, _)) in classes.iter().enumerate() {
                let number = format!("/class_{k}");
                self.integers(&number, &[1], &[k as i64]);
                self.node("Gather", &[&last, &number], name, &[("axis", 1)]);
            }
        }
        let channels = self.program.channels.iter().zip(&self.read).filter(|(_, read)| **read);
        for (channel, _) in channels {
            let (kind, width) = input_of(channel.kind);
            let text = about.channels.iter().find(|c| c.0 == channel.name).map_or("", |c| c.1.as_str());
            self.graph.input.push(info(&channel.name, kind, width, text));
        }
        self.graph.output.push(info("value", FLOAT, 1, &about.value));
        for (name, utility) in &classes {
            self.graph.output.push(info(name, FLOAT, 1, &outcome_text(*utility)));
        }
        let gates = self.gates.iter().map(|(name, width)| info(name, FLOAT, *width, GATE));
        self.graph.output.extend(gates);
        // Readers reject a graph without a name.
        self.graph.name = if about.name.is_empty() { "adept".into() } else { about.name.clone() };
        (self.graph, self.gates.into_iter().map(|(name, _)| name).collect())
    }

    pub(super) fn block(&mut self, block: &Block) {
        let mut layer = "";
        for op in &block.ops {
            if let Op::Affine { weight: param, .. } | Op::Gather { table: param, .. } = op {
                layer = &self.program.params[*param].name;
            }
            self.op(op, layer);
        }
    }

    /// `layer` is the name of the last weights.
    fn op(&mut self, op: &Op, layer: &str) {
        match *op {
            Op::Input { ref channels, out } => {
                let inputs: Vec<String> = channels.iter().map(|&c| self.channel(c)).collect();
                self.join(&inputs, out);
            }
            Op::Concat { ref xs, out } => {
                let parts: Vec<String> = xs.iter().map(|&x| self.names[x].clone()).collect();
                self.join(&parts, out);
            }
            Op::Affine { x, weight, bias, out } => {
                let (weight, bias) = (self.param(weight), self.param(bias));
                let x = self.names[x].clone();
                self.set("Gemm", &[&x, &weight, &bias], out, &[]);
            }
            Op::Scale { x, beta, out } => {
                let (x, beta) = (self.names[x].clone(), self.param(beta));
                self.set("Mul", &[&x, &beta], out, &[]);
            }
            Op::Activation { x, f, out } => {
                let x = self.names[x].clone();
                match f {
                    Activation::Tanh => self.set("Tanh", &[&x], out, &[]),
                    Activation::Sigmoid => self.set("Sigmoid", &[&x], out, &[]),
                    Activation::Relu => self.set("Relu", &[&x], out, &[]),
                    Activation::Linear => self.set("Identity", &[&x], out, &[]),
                    // x / (1 + e⁻ˣ). The sigmoid and tanh of some engines stop about 10⁻⁶ below 1, an error times x.
                    Activation::Silu => {
                        self.constant("/one", &[], &[1.0]);
                        let minus = self.inner("Neg", &[&x], out, "minus", &[]);
                        let exp = self.inner("Exp", &[&minus], out, "exp", &[]);
                        let below = self.inner("Add", &[&exp, "/one"], out, "below", &[]);
                        self.set("Div", &[&x, &below], out, &[]);
                    }
                }
            }
            Op::LogSoftmax { x, out } => {
                let x = self.names[x].clone();
                let gate = layer.split_once("layer.").map_or(layer, |(before, _)| before);
                let gate = gate.strip_suffix("table").unwrap_or(gate);
                let gate = gate.trim_end_matches('.').to_string();
                self.node("Softmax", &[&x], &gate, &[("axis", 1)]);
                self.gates.push((gate.clone(), self.program.widths[out]));
                self.names[out] = gate;
            }
            Op::Threshold { x, threshold, out } => self.threshold(x, threshold, out),
            Op::Blend { log_weights, y, out } => self.blend(log_weights, y, out),
            // Only the loss needs these.
            Op::Density { .. } | Op::LogMix { .. } | Op::Categorical { .. } => {}
            Op::Softmax { x, out } => {
                let x = self.names[x].clone();
                self.set("Softmax", &[&x], out, &[("axis", 1)]);
            }
            Op::PriorLogits { prior, x, tilt, ref utilities, out } => {
                self.prior_logits((prior, tilt), x, utilities, out);
            }
            // Every branch runs on every row.
            Op::Outer { x, out } => self.names[out] = self.names[x].clone(),
            Op::Route { select, ref branches, ref out } => {
                let results: Vec<String> = branches
                    .iter()
                    .map(|branch| {
                        self.block(branch);
                        self.names[branch.results[0]].clone()
                    })
                    .collect();
                match select {
                    Selector::All | Selector::Mask(_) => self.join(&results, out[0]),
                    Selector::Index(channel) => {
                        let index = self.channel(channel);
                        self.pick(&results, &index, out[0]);
                    }
                    Selector::Cells(gate) => {
                        let index = self.cell(&gate, out[0]);
                        self.pick(&results, &index, out[0]);
                    }
                }
            }
            Op::Gather { table, channel, out } => {
                let (table, index) = (self.param(table), self.channel(channel));
                self.set("GatherND", &[&table, &index], out, &[]);
            }
            Op::Residual { prior, x, out } => {
                let x = self.names[x].clone();
                let p = self.prior(prior, out);
                let t = self.inner("Tanh", &[&x], out, "tanh", &[]);
                let above = self.inner("Add", &[&p, &t], out, "sum", &[]);
                let product = self.inner("Mul", &[&p, &t], out, "product", &[]);
                let below = self.inner("Add", &["/one", &product], out, "below", &[]);
                self.set("Div", &[&above, &below], out, &[]);
            }
        }
    }

    /// A value channel, clamped to ±[`PRIOR_LIMIT`].
    fn prior(&mut self, channel: usize, out: ValueId) -> String {
        let prior = self.channel(channel);
        let limits = [("/lowest_prior", -PRIOR_LIMIT), ("/highest_prior", PRIOR_LIMIT), ("/one", 1.0)];
        limits.into_iter().for_each(|(name, v)| self.constant(name, &[], &[v]));
        self.inner("Clip", &[&prior, "/lowest_prior", "/highest_prior"], out, "prior", &[])
    }

    /// out = x + λ(p) u.
    fn prior_logits(
        &mut self,
        (prior, tilt): (usize, Tilt),
        x: Option<ValueId>,
        utilities: &[f32],
        out: ValueId,
    ) {
        let p = self.prior(prior, out);
        let size = self.inner("Abs", &[&p], out, "size", &[]);
        let sign = self.inner("Sign", &[&p], out, "sign", &[]);
        let below = self.inner("Sub", &["/one", &size], out, "below", &[]);
        self.constant("/half", &[], &[0.5]);
        let lambda = match tilt {
            // ½ ln((1 + |p|) / (1 − |p|))
            Tilt::LossWin => {
                let above = self.inner("Add", &["/one", &size], out, "above", &[]);
                let odds = self.inner("Div", &[&above, &below], out, "odds", &[]);
                let log = self.inner("Log", &[&odds], out, "log", &[]);
                self.inner("Mul", &[&log, "/half"], out, "size_of_lambda", &[])
            }
            // ln(½ (|p| + √(4 − 3p²)) / (1 − |p|))
            Tilt::LossDrawWin => {
                for (name, v) in [("/three", 3.0), ("/four", 4.0)] {
                    self.constant(name, &[], &[v]);
                }
                let square = self.inner("Mul", &[&p, &p], out, "square", &[]);
                let square = self.inner("Mul", &[&square, "/three"], out, "squares", &[]);
                let root = self.inner("Sub", &["/four", &square], out, "under_root", &[]);
                let root = self.inner("Sqrt", &[&root], out, "root", &[]);
                let above = self.inner("Add", &[&size, &root], out, "above", &[]);
                let above = self.inner("Mul", &[&above, "/half"], out, "half", &[]);
                let odds = self.inner("Div", &[&above, &below], out, "odds", &[]);
                self.inner("Log", &[&odds], out, "size_of_lambda", &[])
            }
        };
        let lambda = self.inner("Mul", &[&lambda, &sign], out, "lambda", &[]);
        self.constant("/prior_utilities", &[1, utilities.len()], utilities);
        match x {
            None => self.set("Mul", &[&lambda, "/prior_utilities"], out, &[]),
            Some(x) => {
                let x = self.names[x].clone();
                let logits = self.inner("Mul", &[&lambda, "/prior_utilities"], out, "logits", &[]);
                self.set("Add", &[&x, &logits], out, &[]);
            }
        }
    }

    /// Replaces gᵢ with sᵢ: gᵢ / Σⱼ gⱼ over the gates that pass, or 1 for the largest gate if none passes.
    fn threshold(&mut self, x: ValueId, threshold: f32, out: ValueId) {
        let gate = self.names[x].clone();
        let width = self.program.widths[out];
        // The rest of the graph uses the gate's name, so the softmax gets another one.
        let before = format!("{gate}.softmax");
        if let Some(node) = self.graph.node.last_mut().filter(|node| node.op_type == "Softmax") {
            node.output = vec![before.clone()];
            node.name.clone_from(&before);
        }
        let limit = format!("{gate}.threshold");
        self.constant(&limit, &[], &[threshold]);
        let numbers = format!("/experts_{width}");
        self.integers(&numbers, &[1, width as i64], &(0..width as i64).collect::<Vec<_>>());
        let passes = self.inner("Greater", &[&before, &limit], out, "passes", &[]);
        let passes = self.inner("Cast", &[&passes], out, "passed", &[("to", i64::from(FLOAT))]);
        let axes = self.axis(1);
        let count = self.inner("ReduceSum", &[&passes, &axes], out, "count", &[("keepdims", 1)]);
        let some = self.inner("Cast", &[&count], out, "some", &[("to", i64::from(BOOL))]);
        let largest = [("axis", 1), ("keepdims", 1), ("select_last_index", 0)];
        let largest = self.inner("ArgMax", &[&before], out, "largest", &largest);
        let lone = self.inner("Equal", &[&largest, &numbers], out, "is_largest", &[]);
        let lone = self.inner("Cast", &[&lone], out, "lone", &[("to", i64::from(FLOAT))]);
        let mask = self.inner("Where", &[&some, &passes, &lone], out, "mask", &[]);
        let selected = self.inner("Mul", &[&before, &mask], out, "selected", &[]);
        let sum = self.inner("ReduceSum", &[&selected, &axes], out, "total", &[("keepdims", 1)]);
        self.node("Div", &[&selected, &sum], &gate, &[]);
        self.names[out] = gate;
    }

    fn blend(&mut self, weights: ValueId, y: ValueId, out: ValueId) {
        let (experts, width) = (self.program.widths[weights], self.program.widths[out]);
        let (mut s, mut y) = (self.names[weights].clone(), self.names[y].clone());
        if width > 1 {
            let axes = self.axis(2);
            s = self.inner("Unsqueeze", &[&s, &axes], out, "weights", &[]);
            let shape = self.shape(&[0, experts, width]);
            y = self.inner("Reshape", &[&y, &shape], out, "experts", &[]);
        }
        let product = self.inner("Mul", &[&s, &y], out, "weighted", &[]);
        let axes = self.axis(1);
        self.set("ReduceSum", &[&product, &axes], out, &[("keepdims", i64::from(width == 1))]);
    }

    /// The number of the branch that a cell gate selects, `[rows, 1]`.
    fn cell(&mut self, gate: &CellGate, out: ValueId) -> String {
        let mut class = |k: usize| {
            let (classes, channel) = (self.whole(gate.classes[k]), self.channel(gate.channels[k]));
            self.inner("Gather", &[&classes, &channel], out, &format!("class{k}"), &[("axis", 0)])
        };
        let [first, second] = [class(0), class(1)];
        let columns = self.program.params[gate.table].shape[1];
        let width = format!("/columns_{columns}");
        self.integers(&width, &[], &[columns as i64]);
        let first = self.inner("Mul", &[&first, &width], out, "first", &[]);
        let cell = self.inner("Add", &[&first, &second], out, "cell", &[]);
        let table = self.whole(gate.table);
        self.inner("Gather", &[&table, &cell], out, "expert", &[("axis", 0)])
    }

    /// A parameter of whole numbers, as one dimension.
    fn whole(&mut self, id: ParamId) -> String {
        let param = &self.program.params[id];
        let entries: Vec<i64> =
            self.params[param.offset..][..param.len()].iter().map(|&v| v as i64).collect();
        let name = param.name.clone();
        self.integers(&name, &[entries.len() as i64], &entries);
        name
    }

    /// Selects the branch result whose number is in `index`, `[rows, 1]`.
    fn pick(&mut self, results: &[String], index: &str, out: ValueId) {
        let width = self.program.widths[out];
        let all = format!("{}.all", value_name(out));
        let refs: Vec<&str> = results.iter().map(String::as_str).collect();
        self.node("Concat", &refs, &all, &[("axis", 1)]);
        if width == 1 {
            self.set("GatherElements", &[&all, index], out, &[("axis", 1)]);
            return;
        }
        let shape = self.shape(&[0, results.len(), width]);
        let experts = self.inner("Reshape", &[&all, &shape], out, "experts", &[]);
        self.set("GatherND", &[&experts, index], out, &[("batch_dims", 1)]);
    }

    /// Concatenates values.
    fn join(&mut self, parts: &[String], out: ValueId) {
        match parts {
            [one] => self.names[out].clone_from(one),
            _ => {
                let refs: Vec<&str> = parts.iter().map(String::as_str).collect();
                self.set("Concat", &refs, out, &[("axis", 1)]);
            }
        }
    }

    fn channel(&mut self, channel: usize) -> String {
        self.read[channel] = true;
        self.program.channels[channel].name.to_string()
    }

    /// Adds a node that writes value `out` of the program.
    fn set(&mut self, op: &str, inputs: &[&str], out: ValueId, attributes: &[(&str, i64)]) {
        self.names[out] = value_name(out);
        self.node(op, inputs, &value_name(out), attributes);
    }

    /// Adds an intermediate node of value `out`.
    fn inner(
        &mut self,
        op: &str,
        inputs: &[&str],
        out: ValueId,
        step: &str,
        attributes: &[(&str, i64)],
    ) -> String {
        let name = format!("{}.{step}", value_name(out));
        self.node(op, inputs, &name, attributes);
        name
    }

    fn node(&mut self, op: &str, inputs: &[&str], out: &str, attributes: &[(&str, i64)]) {
        let attribute = |&(name, i): &(&str, i64)| Attribute { name: name.into(), i: Some(i), r#type: INT };
        self.graph.node.push(Node {
            input: inputs.iter().map(|s| (*s).to_string()).collect(),
            output: vec![out.into()],
            name: out.into(),
            op_type: op.into(),
            attribute: attributes.iter().map(attribute).collect(),
        });
    }

    fn param(&mut self, id: ParamId) -> String {
        let param = &self.program.params[id];
        let (name, entries) = (param.name.clone(), &self.params[param.offset..][..param.len()]);
        self.constant(&name, &param.shape, entries);
        name
    }

    fn constant(&mut self, name: &str, shape: &[usize], entries: &[f32]) {
        let raw = entries.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.initializer(name, shape.iter().map(|&n| n as i64).collect(), FLOAT, raw);
    }

    fn integers(&mut self, name: &str, shape: &[i64], entries: &[i64]) {
        let raw = entries.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.initializer(name, shape.to_vec(), INT64, raw);
    }

    fn initializer(&mut self, name: &str, dims: Vec<i64>, data_type: i32, raw_data: Vec<u8>) {
        if !self.graph.initializer.iter().any(|t| t.name == name) {
            self.graph.initializer.push(Tensor { dims, data_type, name: name.into(), raw_data });
        }
    }

    /// A constant input with an axis.
    fn axis(&mut self, axis: i64) -> String {
        let name = format!("/axis_{axis}");
        self.integers(&name, &[1], &[axis]);
        name
    }

    /// A constant input with a shape; 0 keeps the size of the dimension.
    fn shape(&mut self, shape: &[usize]) -> String {
        let entries: Vec<i64> = shape.iter().map(|&n| n as i64).collect();
        let name = format!("/shape_{}", entries.iter().map(i64::to_string).collect::<Vec<_>>().join("_"));
        self.integers(&name, &[entries.len() as i64], &entries);
        name
    }
}

/// The name of a value. Names of parameters and outputs have no `/`, and names of channels have no dot.
fn value_name(id: ValueId) -> String {
    format!("/{id}")
}

fn info(name: &str, elem_type: i32, width: usize, text: &str) -> ValueInfo {
    let rows = Dimension { dim_value: None, dim_param: Some("rows".into()) };
    let width = Dimension { dim_value: Some(width as i64), dim_param: None };
    let tensor_type = TensorType { elem_type, shape: Some(Shape { dim: vec![rows, width] }) };
    let r#type = Some(Type { tensor_type: Some(tensor_type) });
    ValueInfo { name: name.into(), r#type, doc_string: text.into() }
}
