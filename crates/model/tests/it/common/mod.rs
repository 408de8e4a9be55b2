//! Random test cases: architectures with parameters, rows and targets, each determined by a seed.

use adept_model::architecture::{Experts, SENSITIVITY_MIN};
use adept_model::program::{Block, Init, Op, Program};
use adept_model::{
    Architecture, Channel, ChannelKind, Head, Learner, OutcomeClass, Rows, Samples, lower, reference,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Deepest nesting of nodes.
pub(crate) const MAX_DEPTH: usize = 4;
/// Minimum margin of every row of a case, see [`reference::margins`].
pub(crate) const MARGIN: f64 = 1e-4;
/// Seeds of the cases that test every engine, besides those of property tests.
pub(crate) const SEEDS: std::ops::Range<u64> = 0..160;

/// A model and a batch for it.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) architecture: Architecture,
    pub(crate) program: Arc<Program>,
    /// Flat parameter vector.
    pub(crate) params: Vec<f32>,
    pub(crate) rows: Rows,
    /// `[rows, outputs]`.
    pub(crate) targets: Vec<f32>,
    /// Config features in the architecture, see [`FEATURES`].
    pub(crate) features: BTreeSet<&'static str>,
}

/// Features that the generator must produce over [`SEEDS`], besides all nodes and ops.
pub(crate) const FEATURES: [&str; 36] = [
    "0 hidden layers",
    "1 hidden layer",
    "2 hidden layers",
    "3 hidden layers",
    "tanh",
    "sigmoid",
    "relu",
    "silu",
    "linear",
    "activation for all",
    "activation for each",
    "no sensitivity",
    "sensitivity number",
    "sensitivity list",
    "sensitivity table",
    "sensitivity table of lists",
    "all inputs",
    "some inputs",
    "init number",
    "init fan_in",
    "threshold left out",
    "threshold 0",
    "threshold above 0",
    "linear gate",
    "hidden gate",
    "gate by an index",
    "counted experts",
    "listed experts",
    "variance left out",
    "variance 1/400",
    "symbolic over 7",
    "a class for each value",
    "few classes",
    "inputs of a prior",
    "on prior",
    "on hint",
];

/// The channels of every case.
pub(crate) fn channels() -> Vec<Channel> {
    vec![
        Channel::new("fields", ChannelKind::Dense(5)),
        Channel::new("phase", ChannelKind::Index(3)),
        Channel::new("flags", ChannelKind::Bits(3)).made_of(vec!["fields".into()]),
        Channel::new("prior", ChannelKind::Value),
        Channel::new("cell", ChannelKind::Index(7)),
        Channel::new("hint", ChannelKind::Value),
    ]
}

/// All devices under test by name.
#[cfg(feature = "flex")]
pub(crate) fn devices() -> Vec<(&'static str, burn::tensor::Device)> {
    use adept_model::DeviceName;
    use burn::tensor::Device;
    // Does not need the crate's feature, because the dev-dependencies enable ndarray.
    #[allow(deprecated)]
    let mut devices = vec![("flex", Device::flex()), ("ndarray", Device::ndarray())];
    if cfg!(feature = "wgpu") {
        devices.push(("wgpu", DeviceName::Wgpu(0).open().unwrap_or_else(|e| panic!("{e}"))));
    }
    if cfg!(feature = "cuda") {
        devices.push(("cuda", DeviceName::Cuda(0).open().unwrap_or_else(|e| panic!("{e}"))));
    }
    devices
}

/// Parameters in double precision.
pub(crate) fn double(params: &[f32]) -> Vec<f64> {
    params.iter().map(|&p| f64::from(p)).collect()
}

/// The loss of the samples, and its gradient.
pub(crate) fn gradient_of(learner: &mut dyn Learner, samples: &Samples) -> (f64, Vec<f32>) {
    let mut gradient = Vec::new();
    let loss = learner.gradient(samples, &mut gradient).unwrap();
    (loss, gradient)
}

/// Every op, including those of nested blocks.
pub(crate) fn each_op(block: &Block, visit: &mut impl FnMut(&Op)) {
    for op in &block.ops {
        visit(op);
        if let Op::Route { branches, .. } = op {
            branches.iter().for_each(|branch| each_op(branch, visit));
        }
    }
}

/// Every node with its depth, 1 at the top.
pub(crate) fn each_node(node: &Architecture, depth: usize, visit: &mut impl FnMut(&Architecture, usize)) {
    visit(node, depth);
    let (list, one): (&[Architecture], _) = match node {
        Architecture::Mlp(_)
        | Architecture::Modules(_)
        | Architecture::Lookup(_)
        | Architecture::Blind(_)
        | Architecture::Frozen(_) => (&[], None),
        Architecture::Hme(hme) => (listed(&hme.experts), hme.expert.as_deref()),
        Architecture::MetaPi(pi) => (listed(&pi.experts), pi.expert.as_deref()),
        Architecture::Symbolic(s) => (s.experts.as_deref().unwrap_or(&[]), s.expert.as_deref()),
        Architecture::Cells(cells) => (&[], Some(&*cells.expert)),
        Architecture::Residual(residual) => (&[], Some(&*residual.net)),
        Architecture::Shared(shared) => (&[], Some(&*shared.top)),
    };
    for expert in list.iter().chain(one) {
        each_node(expert, depth + 1, visit);
    }
}

fn listed(experts: &Experts) -> &[Architecture] {
    match experts {
        Experts::Count(_) => &[],
        Experts::List(list) => list,
    }
}

/// The case of a seed: 1 to 40 rows, 1 to 3 outputs, nesting up to [`MAX_DEPTH`].
pub(crate) fn case(seed: u64) -> Case {
    let mut draw = Draw::new(seed);
    let height = draw.range(1, MAX_DEPTH);
    let (architecture, head, program) = loop {
        let written = draw.node(height);
        let architecture: Architecture = serde_json::from_value(written.clone())
            .unwrap_or_else(|e| panic!("seed {seed}: {e} in {written}"));
        let head = head(draw.range(1, 3), seed, &architecture);
        let architecture = match head {
            Head::Outcomes(_) => {
                let mut fitted = written.clone();
                fit_to_outcomes(&mut fitted, false);
                serde_json::from_value(fitted).unwrap()
            }
            _ => architecture,
        };
        match lower(&architecture, &channels(), &head) {
            Ok(program) => break (architecture, head, program),
            // Architectures with frozen values only.
            Err(e) if e.to_string().contains("nothing to learn") => {}
            Err(e) if e.to_string().contains("reads none of the shared layers") => {}
            Err(e) if e.to_string().contains("cannot begin as clusters") => {}
            Err(e) => panic!("seed {seed}: {e} in {written}"),
        }
    };
    let params = draw.params(&program);
    let count = draw.range(1, 40);
    let rows = draw.rows(&program, &params, count);
    let outputs = head.outputs();
    let mut targets: Vec<f32> = (0..rows.len() * outputs).map(|_| draw.float(-1.2, 1.2)).collect();
    if head.classes().is_some() {
        // Distributions, every third of which is certain.
        for (r, target) in targets.chunks_mut(outputs).enumerate() {
            let most = target.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for t in target.iter_mut() {
                *t = if r % 3 == 0 { f32::from(u8::from(*t == most)) } else { (3.0 * *t).exp() };
            }
            let sum: f32 = target.iter().sum();
            target.iter_mut().for_each(|t| *t /= sum);
        }
    }
    let features = draw.features;
    Case { architecture, program: Arc::new(program), params, rows, targets, features }
}

/// A head of one output, of two or three classes, or of more where no prior needs to become a distribution.
fn head(outputs: usize, seed: u64, architecture: &Architecture) -> Head {
    let mut priors = false;
    each_node(architecture, 1, &mut |node, _| {
        priors |= matches!(node, Architecture::Residual(_) | Architecture::Frozen(_));
    });
    let ladder = |n: usize| {
        let class =
            |k: usize| OutcomeClass::new(format!("c{k}"), 2.0 * k as f32 / (n - 1) as f32 - 1.0, n - 1 - k);
        Head::Outcomes((0..n).map(class).collect())
    };
    match (outputs, seed % 3) {
        (1, _) => Head::Value,
        (2, _) => Head::Outcomes(vec![OutcomeClass::new("win", 1.0, 1), OutcomeClass::new("loss", -1.0, 0)]),
        (_, 0) if !priors => ladder(6),
        (_, 1) if !priors => ladder(10),
        _ => Head::Outcomes(OutcomeClass::loss_draw_win()),
    }
}

/// Changes what a head of outcomes refuses: variances, other last activations, initial values, and priors below a residual.
fn fit_to_outcomes(node: &mut Value, corrects: bool) {
    if corrects {
        if let Some(residual) = node.get_mut("residual") {
            *node = residual["net"].take();
            return fit_to_outcomes(node, true);
        }
        if node.get("frozen").is_some() {
            *node = json!({ "mlp": { "hidden": [3] } });
            return;
        }
    }
    let Some((kind, settings)) = node.as_object_mut().and_then(|node| node.iter_mut().next()) else { return };
    let Some(map) = settings.as_object_mut() else { return };
    map.remove("variance");
    map.remove("initial");
    let fits = |f: &Value| f == "linear" || f == "tanh";
    if !corrects && kind == "mlp" && !map.get("output").is_none_or(fits) {
        map.remove("output");
    }
    for (key, corrects) in [("expert", corrects), ("top", corrects), ("net", true)] {
        map.get_mut(key).into_iter().for_each(|below| fit_to_outcomes(below, corrects));
    }
    if let Some(Value::Array(experts)) = map.get_mut("experts") {
        experts.iter_mut().for_each(|below| fit_to_outcomes(below, corrects));
    }
}

/// Parameters of a program, different from their initial values.
pub(crate) fn params_for(program: &Program, seed: u64) -> Vec<f32> {
    Draw::new(seed).params(program)
}

/// Draws `count` rows with a margin of at least [`MARGIN`].
pub(crate) fn rows_for(program: &Program, params: &[f32], count: usize, seed: u64) -> Rows {
    Draw::new(seed).rows(program, params, count)
}

struct Draw {
    rng: Xoshiro256PlusPlus,
    features: BTreeSet<&'static str>,
}

impl Draw {
    fn new(seed: u64) -> Self {
        Self { rng: Xoshiro256PlusPlus::seed_from_u64(seed), features: BTreeSet::new() }
    }

    /// Uniform in `low..=high`.
    fn range(&mut self, low: usize, high: usize) -> usize {
        self.rng.random_range(low..=high)
    }

    fn float(&mut self, low: f32, high: f32) -> f32 {
        self.rng.random_range(low..high)
    }

    fn chance(&mut self, p: f64) -> bool {
        self.rng.random_bool(p)
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.range(0, from.len() - 1)]
    }

    /// Records a feature and returns it.
    fn note(&mut self, feature: &'static str) -> &'static str {
        self.features.insert(feature);
        feature
    }

    /// A node with exactly `height` nodes on its longest path.
    fn node(&mut self, height: usize) -> Value {
        if height == 1 {
            return match self.range(0, 9) {
                0 | 1 => self.lookup(),
                2 => self.frozen(),
                3 | 4 => self.modules(),
                _ => self.mlp(),
            };
        }
        match self.range(0, 11) {
            10.. => self.shared(height),
            0..=2 => self.mixture(height, "hme"),
            3..=4 => self.mixture(height, "meta_pi"),
            5..=6 => self.symbolic(height),
            7 => self.cells(height),
            _ => self.residual(height),
        }
    }

    fn modules(&mut self) -> Value {
        let mut modules = json!({ "units": self.pick(&[1, 3, 8, 16, 17]), "top": self.pick(&[1, 5, 16]) });
        if self.chance(0.3) {
            // What a channel is made of comes along.
            modules["inputs"] = json!([self.pick(&["flags", "fields"])]);
        }
        json!({ "modules": modules })
    }

    fn mlp(&mut self) -> Value {
        let mut mlp = self.layers(3);
        let hidden = mlp["hidden"].as_array().map_or(0, Vec::len);
        self.note(["0 hidden layers", "1 hidden layer", "2 hidden layers", "3 hidden layers"][hidden]);
        if self.chance(0.7) {
            mlp["output"] = self.activation();
        }
        let number = self.float(0.1, 3.0);
        let list: Vec<f32> = (0..=hidden).map(|_| self.float(0.1, 3.0)).collect();
        let rates: Vec<f32> = (0..=hidden).map(|_| self.float(0.0, 1.0)).collect();
        let sensitivity = match self.range(0, 6) {
            0 => (self.note("sensitivity number"), json!(number)),
            1 => (self.note("sensitivity list"), json!(list)),
            2 => (self.note("sensitivity table"), json!({ "initial": number })),
            3 => (self.note("sensitivity table"), json!({ "initial": list, "rate": rates[0] })),
            4 => {
                let table = json!({ "initial": list, "rate": rates });
                (self.note("sensitivity table of lists"), table)
            }
            _ => (self.note("no sensitivity"), Value::Null),
        };
        if sensitivity.1 != Value::Null {
            mlp["sensitivity"] = sensitivity.1;
        }
        json!({ "mlp": mlp })
    }

    /// Keys that perceptrons and gates share.
    fn layers(&mut self, most_hidden: usize) -> Value {
        let n = self.range(0, most_hidden);
        // Around the widths of vector registers, where engines have special cases.
        let hidden: Vec<usize> = (0..n).map(|_| self.pick(&[1, 2, 3, 5, 8, 15, 16, 17, 33])).collect();
        let mut layers = json!({ "hidden": hidden });
        match self.range(0, 2) {
            0 => {}
            1 => {
                self.note("activation for all");
                layers["activation"] = self.activation();
            }
            _ => {
                self.note("activation for each");
                layers["activation"] = (0..n).map(|_| self.activation()).collect();
            }
        }
        let mut names = vec!["fields", "flags", "prior"];
        if self.chance(0.5) {
            self.note("some inputs");
            let first = self.range(0, 2);
            names.rotate_left(first);
            names.truncate(self.range(1, 2));
            if names.contains(&"prior") {
                self.note("inputs of a prior");
            }
            layers["inputs"] = json!(names);
        } else {
            self.note("all inputs");
        }
        if self.chance(0.3) {
            self.note("init number");
            layers["init"] = json!(self.float(0.05, 0.8));
        } else if self.chance(0.5) {
            self.note("init fan_in");
            layers["init"] = json!("fan_in");
        }
        layers
    }

    fn activation(&mut self) -> Value {
        let name = self.pick(&["tanh", "sigmoid", "relu", "silu", "linear"]);
        json!(self.note(name))
    }

    fn mixture(&mut self, height: usize, kind: &'static str) -> Value {
        let n = self.pick(&[1, 2, 2, 3, 3, 4]).min(if height == MAX_DEPTH { 3 } else { 4 });
        let mut mixture = self.experts(n, height);
        if mixture.get("expert").is_some() {
            self.note("counted experts");
            mixture["experts"] = json!(n);
        } else {
            self.note("listed experts");
        }
        let gate = match self.range(0, 9) {
            0..=3 => self.layers(2),
            4..=7 => self.layers(0),
            _ => json!({ "by": self.pick(&["phase", "cell"]) }),
        };
        let hidden = gate["hidden"].as_array().map(|hidden| !hidden.is_empty());
        self.note(match hidden {
            Some(true) => "hidden gate",
            Some(false) => "linear gate",
            None => "gate by an index",
        });
        if self.chance(0.8) {
            mixture["gate"] = gate;
        }
        match self.range(0, 3) {
            0 => {
                self.note("threshold left out");
            }
            1 => {
                self.note("threshold 0");
                mixture["threshold"] = json!(0);
            }
            _ => {
                self.note("threshold above 0");
                mixture["threshold"] = json!(self.float(0.2, 0.6));
            }
        }
        if kind == "hme" {
            match self.range(0, 3) {
                0 => {
                    self.note("variance left out");
                }
                1 => {
                    self.note("variance 1/400");
                    mixture["variance"] = json!(0.0025);
                }
                _ => mixture["variance"] = json!(self.float(0.05, 2.0)),
            }
        }
        json!({ kind: mixture })
    }

    fn symbolic(&mut self, height: usize) -> Value {
        // Seven experts only near the leaves, to limit the size of the cases.
        let (by, n) = if height == 2 && self.chance(0.5) { ("cell", 7) } else { ("phase", 3) };
        if n == 7 {
            self.note("symbolic over 7");
        }
        let mut symbolic = self.experts(n, height);
        symbolic["by"] = json!(by);
        json!({ "symbolic": symbolic })
    }

    fn cells(&mut self, height: usize) -> Value {
        let (most, classes) = (if height == 2 { 5 } else { 3 }, self.pick(&[2, 3, 64]));
        self.note(if classes == 64 { "a class for each value" } else { "few classes" });
        let by = self.pick(&[["phase", "cell"], ["cell", "phase"]]);
        let (experts, expert) = (self.range(2, most).min(classes * classes), self.node(height - 1));
        json!({ "cells": { "by": by, "experts": experts, "classes": classes, "expert": expert } })
    }

    fn residual(&mut self, height: usize) -> Value {
        let (on, feature) = self.pick(&[("prior", "on prior"), ("hint", "on hint")]);
        self.note(feature);
        json!({ "residual": { "on": on, "net": self.node(height - 1) } })
    }

    /// Layers below a node that reads them; below a node that may not, no layers.
    fn shared(&mut self, height: usize) -> Value {
        let top = self.node(height - 1);
        let mut shared = self.layers(2);
        if shared["hidden"].as_array().is_none_or(Vec::is_empty) {
            shared["hidden"] = json!([self.pick(&[3, 16, 17])]);
            if shared.get("activation").is_some_and(Value::is_array) {
                shared["activation"] = json!([self.activation()]);
            }
        }
        shared["top"] = top;
        json!({ "shared": shared })
    }

    fn frozen(&mut self) -> Value {
        json!({ "frozen": { "on": self.pick(&["prior", "hint"]) } })
    }

    /// `expert`, or `experts` as a list of `n`, at least one with the requested height.
    fn experts(&mut self, n: usize, height: usize) -> Value {
        if self.chance(0.4) {
            return json!({ "expert": self.node(height - 1) });
        }
        let high = self.range(0, n - 1);
        let experts: Vec<Value> = (0..n)
            .map(|i| {
                let most = (height - 1).min(2);
                let height = if i == high { height - 1 } else { self.range(1, most) };
                self.node(height)
            })
            .collect();
        json!({ "experts": experts })
    }

    fn lookup(&mut self) -> Value {
        let by = self.pick(&["phase", "cell"]);
        json!({ "lookup": { "by": by, "initial": self.float(-1.0, 1.0) } })
    }

    fn params(&mut self, program: &Program) -> Vec<f32> {
        let mut params = Vec::with_capacity(program.parameters());
        for param in &program.params {
            assert_eq!(param.offset, params.len(), "{}", param.name);
            for _ in 0..param.len() {
                params.push(match param.init {
                    Init::Uniform(a) => self.float(-a, a),
                    Init::Below(n) => self.range(0, n as usize - 1) as f32,
                    Init::Diagonal(a) => self.float(0.0, a),
                    // Sensitivities: changed as if they had learned.
                    Init::Constant(c) if param.min.is_some() => {
                        (c * self.float(0.5, 1.5)).max(SENSITIVITY_MIN)
                    }
                    Init::Constant(c) => c + self.float(-0.5, 0.5),
                });
            }
        }
        params
    }

    /// Draws rows with a margin of at least [`MARGIN`].
    fn rows(&mut self, program: &Program, params: &[f32], count: usize) -> Rows {
        let params = double(params);
        let (mut rows, mut one) = (Rows::new(&program.channels), Rows::new(&program.channels));
        let mut draws = 0;
        while rows.len() < count {
            one.clear();
            let adept_model::RowMut { dense, index } = one.push();
            for (channel, &first) in program.channels.iter().zip(&program.layout.offsets) {
                match channel.kind {
                    ChannelKind::Dense(n) => {
                        dense[first..first + n].fill_with(|| self.rng.random_range(-1.5..1.5));
                    }
                    ChannelKind::Bits(n) => {
                        dense[first..first + n].fill_with(|| f32::from(u8::from(self.rng.random_bool(0.5))))
                    }
                    // Some priors are certain.
                    ChannelKind::Value => {
                        dense[first] = match self.rng.random_range(0..16) {
                            0 => 1.0,
                            1 => -1.0,
                            _ => self.rng.random_range(-1.0..1.0),
                        }
                    }
                    ChannelKind::Index(n) => index[first] = self.rng.random_range(0..n),
                    ChannelKind::Key => index[first] = self.rng.random(),
                }
            }
            if reference::margins(program, &params, &one) >= MARGIN {
                rows.push_from(&one, 0);
            }
            draws += 1;
            assert!(draws < 100 * count, "too few rows keep the margin");
        }
        rows
    }
}
