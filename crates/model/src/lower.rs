//! Lowers an architecture to an op program.

use crate::architecture::{
    Architecture, Cells, Experts, Frozen, Gate, GateStart, InitName, InitScale, Lookup, Mlp, OneOrEach,
    Residual, SENSITIVITY_MIN, Shared, Symbolic,
};
use crate::error::ModelError;
use crate::head::{Head, Tilt};
use crate::names::suggest;
use crate::program::{
    Activation, Block, CellGate, Clusters, Group, Init, Op, Param, ParamId, Program, Selector, ValueId,
};
use adept_ground::limits;
use adept_rows::{Channel, ChannelKind, Layout};

mod modules;

/// Maximum scale of the initial weights.
const MAX_INIT: f32 = 1000.0;

/// Lowers an architecture over rows of these channels to a program whose output is that of `head`.
///
/// # Errors
/// [`ModelError::Architecture`] with the path of the invalid key.
pub fn lower(architecture: &Architecture, channels: &[Channel], head: &Head) -> Result<Program, ModelError> {
    if let Err(message) = head.check() {
        return Err(ModelError::Architecture { path: "head".into(), message });
    }
    let mut builder = Builder {
        channels,
        head,
        outputs: head.outputs(),
        corrects: false,
        shared: None,
        params: vec![],
        groups: vec![],
        widths: vec![],
        clusters: vec![],
        modules: vec![],
        length: 0,
        nodes: 0,
    };
    let at = At { path: String::new(), name: String::new() };
    let body = builder.node(architecture, &at, Some(1.0))?;
    if builder.params.iter().all(|p| p.fixed) {
        return at
            .path(architecture.kind())
            .fail("", "has nothing to learn: make one of its parts a network");
    }
    Ok(Program {
        channels: channels.to_vec(),
        head: head.clone(),
        layout: Layout::new(channels),
        params: builder.params,
        groups: builder.groups,
        widths: builder.widths,
        body,
        modules: match architecture {
            Architecture::Modules(_) => builder.modules,
            _ => Vec::new(),
        },
        clusters: builder.clusters,
        mixture_density: architecture.learns_by_likelihood(),
    })
}

/// The current position: the path in the config (for errors) and the prefix of parameter names.
#[derive(Clone)]
struct At {
    path: String,
    name: String,
}

impl At {
    fn path(&self, key: &str) -> Self {
        let dot = if self.path.is_empty() || key.is_empty() { "" } else { "." };
        let path = format!("{}{dot}{key}", self.path);
        Self { path, name: self.name.clone() }
    }

    fn name(&self, part: &str) -> Self {
        Self { path: self.path.clone(), name: format!("{}{part}.", self.name) }
    }

    /// Checks what must hold for the setting at `key`.
    fn require(&self, holds: bool, key: &str, message: impl FnOnce() -> String) -> Result<(), ModelError> {
        if holds { Ok(()) } else { self.fail(key, message()) }
    }

    fn fail<T>(&self, key: &str, message: impl Into<String>) -> Result<T, ModelError> {
        Err(ModelError::Architecture { path: self.path(key).path, message: message.into() })
    }
}

/// The settings of a stack of layers, of a perceptron or of a gate.
struct Layers<'a> {
    inputs: Option<&'a [String]>,
    widths: Vec<usize>,
    activations: Vec<Activation>,
    sensitivity: Option<Vec<(f32, f32)>>,
    init: InitScale,
    rate: f32,
    group: &'static str,
}

struct Builder<'a> {
    channels: &'a [Channel],
    head: &'a Head,
    /// Width of the output of each node.
    outputs: usize,
    /// Whether the nodes are below a residual node, so that their outputs are corrections.
    corrects: bool,
    /// The value of the shared layers below the present nodes, if there are any.
    shared: Option<ValueId>,
    params: Vec<Param>,
    groups: Vec<Group>,
    widths: Vec<usize>,
    clusters: Vec<Clusters>,
    /// Names of the modules of the last node with modules.
    modules: Vec<String>,
    length: usize,
    /// Nodes so far.
    nodes: usize,
}

impl Builder<'_> {
    fn value(&mut self, width: usize) -> ValueId {
        self.widths.push(width);
        self.widths.len() - 1
    }

    fn group(&mut self, name: &str, rate: f32) -> usize {
        self.groups.iter().position(|g| g.name == name && g.rate == rate).unwrap_or_else(|| {
            self.groups.push(Group { name: name.into(), rate });
            self.groups.len() - 1
        })
    }

    fn param(
        &mut self,
        at: &At,
        name: &str,
        shape: Vec<usize>,
        init: Init,
        group: usize,
    ) -> Result<ParamId, ModelError> {
        let length = shape.iter().try_fold(1usize, |n, &m| n.checked_mul(m));
        let total = length.and_then(|n| n.checked_add(self.length)).filter(|&n| n <= limits::PARAMETERS);
        let Some(total) = total else {
            return at
                .fail("", format!("more than {} parameters: make the layers smaller", limits::PARAMETERS));
        };
        if self.params.len() == limits::TENSORS {
            return at
                .fail("", format!("more than {} parameter tensors: use fewer experts", limits::TENSORS));
        }
        let name = format!("{}{name}", at.name);
        self.params.push(Param { name, shape, init, group, min: None, fixed: false, offset: self.length });
        self.length = total;
        Ok(self.params.len() - 1)
    }

    /// Lowers one node. With `density`, a variance σ², the block also computes the log density ℓ of the target. This
    /// applies to the top node and to every node with only HMEs above it.
    fn node(&mut self, node: &Architecture, at: &At, density: Option<f32>) -> Result<Block, ModelError> {
        let at = &at.path(node.kind());
        self.nodes += 1;
        if self.nodes > limits::NODES {
            return at.fail("", format!("more than {} nodes: use fewer experts", limits::NODES));
        }
        let block = match node {
            Architecture::Mlp(mlp) => self.mlp(mlp, at)?,
            Architecture::Hme(hme) => {
                if !(hme.variance > 0.0 && hme.variance.is_finite()) {
                    return at.fail("variance", "σ² must be above 0");
                }
                if self.head.classes().is_some() && hme.variance != 1.0 {
                    return at.fail(
                        "variance",
                        "is that of experts that give one number: with `head = \"outcomes\"` remove it",
                    );
                }
                let parts = (&hme.experts, hme.expert.as_deref(), &hme.gate, hme.threshold);
                return self.mixture(parts, at, density.map(|outer| (outer, Some(hme.variance))));
            }
            Architecture::MetaPi(pi) => {
                let parts = (&pi.experts, pi.expert.as_deref(), &pi.gate, pi.threshold);
                return self.mixture(parts, at, density.map(|outer| (outer, None)));
            }
            Architecture::Symbolic(symbolic) => self.symbolic(symbolic, at)?,
            Architecture::Cells(cells) => self.cells(cells, at)?,
            Architecture::Shared(shared) => return self.shared(shared, at, density),
            Architecture::Modules(modules) => self.modules(modules, at)?,
            Architecture::Lookup(lookup) => self.lookup(lookup, at)?,
            Architecture::Blind(_) => {
                return at.fail("", "has no graph and cannot be a part of a network: write it at the top level, and export it as safetensors");
            }
            Architecture::Residual(residual) => self.residual(residual, at)?,
            Architecture::Frozen(frozen) => self.frozen(frozen, at)?,
        };
        Ok(self.with_density(block, density))
    }

    fn with_density(&mut self, mut block: Block, variance: Option<f32>) -> Block {
        if let Some(variance) = variance {
            let out = self.value(1);
            let y = block.results[0];
            block.ops.push(match self.head {
                Head::Value | Head::Policy => Op::Density { y, variance, out },
                Head::Outcomes(_) => Op::Categorical { p: y, out },
            });
            block.results.push(out);
        }
        block
    }

    fn mlp(&mut self, mlp: &Mlp, at: &At) -> Result<Block, ModelError> {
        let layers = mlp.hidden.len() + 1;
        let mut activations = each(&mlp.activation, mlp.hidden.len(), at, "activation", "hidden layer")?;
        activations.push(match self.gives_distributions() {
            false => mlp.output,
            true if matches!(mlp.output, Activation::Tanh | Activation::Linear) => Activation::Linear,
            true => {
                return at.fail(
                    "output",
                    "with `head = \"outcomes\"` the last layer is linear, and a softmax follows: remove `output`",
                );
            }
        });
        let sensitivity = match &mlp.sensitivity {
            None => None,
            Some(s) => {
                let initial = match &s.initial {
                    OneOrEach::One(hidden) => {
                        let mut all = vec![*hidden; layers];
                        all[layers - 1] = 1.0;
                        all
                    }
                    each_layer => each(each_layer, layers, at, "sensitivity", "layer, output last")?,
                };
                let rate = each(&s.rate, layers, at, "sensitivity.rate", "layer, output last")?;
                if let Some(bad) = initial.iter().find(|&&b| !(b >= SENSITIVITY_MIN && b.is_finite())) {
                    return at.fail(
                        "sensitivity",
                        format!("a sensitivity must be at least {SENSITIVITY_MIN}, found {bad}"),
                    );
                }
                check_rates(&rate, at, "sensitivity.rate")?;
                Some(initial.into_iter().zip(rate).collect())
            }
        };
        let mut widths = mlp.hidden.clone();
        widths.push(self.outputs);
        let layers = Layers {
            inputs: mlp.inputs.as_deref(),
            widths,
            activations,
            sensitivity,
            init: mlp.init,
            rate: mlp.rate,
            group: "weights",
        };
        let (mut ops, out) = self.layers(layers, at)?;
        let out = self.distribution(out, &mut ops);
        Ok(Block { ops, results: vec![out] })
    }

    /// Whether the outputs of the present nodes are distributions over classes.
    fn gives_distributions(&self) -> bool {
        self.head.classes().is_some() && !self.corrects
    }

    /// The distribution of these logits, if nodes give distributions; otherwise the value itself.
    fn distribution(&mut self, x: ValueId, ops: &mut Vec<Op>) -> ValueId {
        if !self.gives_distributions() {
            return x;
        }
        let out = self.value(self.outputs);
        ops.push(Op::Softmax { x, out });
        out
    }

    /// The logits of a prior over the classes of outcomes, corrected by `x`.
    fn prior_logits(
        &mut self,
        prior: usize,
        x: Option<ValueId>,
        at: &At,
        ops: &mut Vec<Op>,
    ) -> Result<ValueId, ModelError> {
        let classes = self.head.classes().unwrap_or_default();
        let Some(tilt) = Tilt::of(classes) else {
            let names: Vec<&str> = classes.iter().map(|class| &*class.name).collect();
            return at.fail(
                "on",
                format!(
                    "a prior value says how probable loss and win are, or loss, draw and win, worth −1, 0 and 1; it does \
                     not say how probable {} are",
                    names.join(", ")
                ),
            );
        };
        let utilities = classes.iter().map(|class| class.utility).collect();
        let out = self.value(self.outputs);
        ops.push(Op::PriorLogits { prior, x, tilt, utilities, out });
        Ok(out)
    }

    fn layers(&mut self, layers: Layers<'_>, at: &At) -> Result<(Vec<Op>, ValueId), ModelError> {
        check_rates(&[layers.rate], at, "rate")?;
        check_init(layers.init, at)?;
        let (mut x, mut ops) = match (self.shared, layers.inputs) {
            (Some(x), None) => (x, Vec::new()),
            (_, inputs) => {
                let channels = self.dense_channels(inputs, at)?;
                let x = self.value(channels.iter().map(|&c| self.channels[c].kind.dense_width()).sum());
                (x, vec![Op::Input { channels, out: x }])
            }
        };
        let group = self.group(layers.group, layers.rate);
        for (i, (&units, &f)) in layers.widths.iter().zip(&layers.activations).enumerate() {
            if units == 0 {
                return at.fail("hidden", "a layer needs at least one unit");
            }
            let here = at.name(&format!("layer.{i}"));
            let net = self.affine((x, units), (layers.init, group), (at, &format!("layer.{i}")), &mut ops)?;
            x = net;
            if let Some(sensitivity) = &layers.sensitivity {
                let (initial, rate) = sensitivity[i];
                let group = self.group("sensitivity", rate * layers.rate);
                let beta = self.param(&here, "sensitivity", vec![units], Init::Constant(initial), group)?;
                self.params[beta].min = Some(SENSITIVITY_MIN);
                let out = self.value(units);
                ops.push(Op::Scale { x, beta, out });
                x = out;
            }
            if f != Activation::Linear {
                let out = self.value(units);
                ops.push(Op::Activation { x, f, out });
                x = out;
            }
        }
        Ok((ops, x))
    }

    /// Lowers shared layers, and the node that reads them as a part of the same block.
    fn shared(&mut self, shared: &Shared, at: &At, density: Option<f32>) -> Result<Block, ModelError> {
        if shared.hidden.is_empty() {
            return at.fail("hidden", "write at least one layer to share, such as [256]");
        }
        let layers = Layers {
            inputs: shared.inputs.as_deref(),
            widths: shared.hidden.clone(),
            activations: each(&shared.activation, shared.hidden.len(), at, "activation", "layer")?,
            sensitivity: None,
            init: shared.init,
            rate: shared.rate,
            group: "shared",
        };
        let (mut ops, x) = self.layers(layers, &at.name("shared"))?;
        let outer = self.shared.replace(x);
        let top = self.node(&shared.top, &at.path("top").name("top"), density)?;
        self.shared = outer;
        if !top.ops.iter().any(|op| reads(op, x)) {
            return at.fail(
                "top",
                "reads none of the shared layers: remove them, or the `inputs` of what stands on them",
            );
        }
        ops.extend(top.ops);
        Ok(Block { ops, results: top.results })
    }

    /// Lowers a branch of a route. It gets the value of shared layers from the block around it.
    fn branch(&mut self, node: &Architecture, at: &At, density: Option<f32>) -> Result<Block, ModelError> {
        let Some(x) = self.shared else { return self.node(node, at, density) };
        let out = self.value(self.widths[x]);
        self.shared = Some(out);
        let block = self.node(node, at, density);
        self.shared = Some(x);
        let mut block = block?;
        if block.ops.iter().any(|op| reads(op, out)) {
            block.ops.insert(0, Op::Outer { x, out });
        }
        Ok(block)
    }

    /// Lowers the branches of a route to these experts, which are the `same` architecture or a list.
    fn branches(
        &mut self,
        experts: &[&Architecture],
        same: bool,
        at: &At,
        density: Option<f32>,
    ) -> Result<Vec<Block>, ModelError> {
        let branch = |(i, expert): (usize, &&Architecture)| {
            let key = if same { "expert".to_string() } else { format!("experts.{i}") };
            self.branch(expert, &at.path(&key).name(&format!("expert.{i}")), density)
        };
        experts.iter().enumerate().map(branch).collect()
    }

    /// x W + b, with parameters `NAME.weight` and `NAME.bias`.
    fn affine(
        &mut self,
        (x, units): (ValueId, usize),
        (init, group): (InitScale, usize),
        (at, name): (&At, &str),
        ops: &mut Vec<Op>,
    ) -> Result<ValueId, ModelError> {
        let (here, width) = (at.name(name), self.widths[x]);
        let init = Init::Uniform(match init {
            InitScale::Uniform(a) => a,
            InitScale::Named(InitName::FanIn) => 1.0 / (width as f32).sqrt(),
        });
        let weight = self.param(&here, "weight", vec![width, units], init, group)?;
        let bias = self.param(&here, "bias", vec![units], init, group)?;
        let out = self.value(units);
        ops.push(Op::Affine { x, weight, bias, out });
        Ok(out)
    }

    /// Lowers a mixture node: gates gᵢ, weights sᵢ, experts, output y = Σᵢ sᵢ yᵢ.
    ///
    /// `density` holds the σ² from the node above, and the node's own σ² if it is an HME. With the latter the experts
    /// compete: each computes its ℓᵢ, and the node L = ln Σᵢ sᵢ exp(ℓᵢ). Otherwise the density is that of y.
    fn mixture(
        &mut self,
        (experts, expert, gate, threshold): (&Experts, Option<&Architecture>, &Gate, f32),
        at: &At,
        density: Option<(f32, Option<f32>)>,
    ) -> Result<Block, ModelError> {
        at.require((0.0..1.0).contains(&threshold), "threshold", || {
            format!("a selection threshold lies in 0..1 (1 excluded), found {threshold}")
        })?;
        let competing = density.and_then(|(_, own)| own);
        let experts: Vec<&Architecture> = match (experts, expert) {
            (Experts::Count(0), _) => return at.fail("experts", "a mixture needs at least one expert"),
            (Experts::Count(n), _) if *n > limits::EXPERTS => {
                return at
                    .fail("experts", format!("a node has at most {} experts, found {n}", limits::EXPERTS));
            }
            (Experts::Count(n), Some(expert)) => vec![expert; *n],
            (Experts::Count(_), None) => {
                return at
                    .fail("experts", "define the experts, for example `expert.mlp = { hidden = [40] }`");
            }
            (Experts::List(list), None) if list.is_empty() => {
                return at.fail("experts", "a mixture needs at least one expert");
            }
            (Experts::List(list), None) => list.iter().collect(),
            (Experts::List(_), Some(_)) => {
                return at.fail(
                    "expert",
                    "`experts` already lists the experts: remove `expert`, or set `experts` to a number",
                );
            }
        };
        let same = expert.is_some();
        let n = experts.len();
        let gate_at = at.path("gate").name("gate");
        let mut widths = gate.hidden.clone();
        widths.push(n);
        let mut activations =
            each(&gate.activation, gate.hidden.len(), &gate_at, "activation", "hidden layer")?;
        activations.push(Activation::Linear);
        let layers = Layers {
            inputs: gate.inputs.as_deref(),
            widths,
            activations,
            sensitivity: None,
            init: gate.init,
            rate: gate.rate,
            group: "gate",
        };
        if gate.rule.is_some() && gate.by.is_none() {
            return gate_at.fail("rule", "is a rule by a channel: name an index channel with `by`");
        }
        let (mut ops, net) = match &gate.by {
            Some(channel) => self.gate_by(channel, gate, n, &gate_at)?,
            None => self.layers(layers, &gate_at)?,
        };
        let start = gate.start();
        if start != GateStart::Drawn {
            let sharpness = match start {
                GateStart::Clusters(sharpness) => Some(sharpness),
                GateStart::Drawn | GateStart::EqualClusters => None,
            };
            if sharpness.is_some_and(|sharpness| !(sharpness > 0.0 && sharpness.is_finite())) {
                return gate_at
                    .fail("clusters", "write a sharpness above 0, such as 3, or 0 for random weights");
            }
            match ops[..] {
                [Op::Input { .. }, Op::Affine { weight, .. }] => {
                    self.clusters.push(Clusters { weight, sharpness })
                }
                [Op::Affine { .. }] if sharpness.is_none() => {}
                [Op::Affine { .. }] => {
                    return gate_at.fail(
                        "clusters",
                        "a gate on shared layers cannot begin as clusters: name its `inputs`, or remove it",
                    );
                }
                _ => {
                    let more = match self.shared.is_some() && gate.inputs.is_none() {
                        true => ", and name its `inputs`, because it is on shared layers",
                        false => "",
                    };
                    let message = format!("only a linear gate can begin as clusters: remove `hidden`{more}");
                    return gate_at.fail("clusters", message);
                }
            }
        }
        let mut log_weights = self.value(n);
        ops.push(Op::LogSoftmax { x: net, out: log_weights });
        let mut select = Selector::All;
        if threshold > 0.0 {
            let out = self.value(n);
            ops.push(Op::Threshold { x: log_weights, threshold, out });
            log_weights = out;
            select = Selector::Mask(out);
        }
        let branches = self.branches(&experts, same, at, competing)?;
        let y = self.value(n * self.outputs);
        let mut out = vec![y];
        if competing.is_some() {
            out.push(self.value(n));
        }
        ops.push(Op::Route { select, branches, out: out.clone() });
        let blend = self.value(self.outputs);
        ops.push(Op::Blend { log_weights, y, out: blend });
        let mut block = Block { ops, results: vec![blend] };
        if competing.is_some() {
            let mix = self.value(1);
            block.ops.push(Op::LogMix { log_weights, densities: out[1], out: mix });
            block.results.push(mix);
            return Ok(block);
        }
        Ok(self.with_density(block, density.map(|(outer, _)| outer)))
    }

    /// Lowers a gate on an index channel: a table of logits aᵢ, equal to a linear map of the channel's one-hot code.
    fn gate_by(
        &mut self,
        channel: &str,
        gate: &Gate,
        experts: usize,
        at: &At,
    ) -> Result<(Vec<Op>, ValueId), ModelError> {
        if gate.inputs.is_some() || !gate.hidden.is_empty() || gate.clusters.is_some_and(|c| c != 0.0) {
            return at.fail("by", "uses this channel only: remove `inputs`, `hidden` and `clusters`");
        }
        check_rates(&[gate.rate], at, "rate")?;
        let (channel, n) = self.index_channel(Some(channel), at)?;
        let group = self.group("gate", gate.rate);
        check_init(gate.init, at)?;
        let init = match gate.init {
            InitScale::Uniform(a) => a,
            InitScale::Named(InitName::FanIn) => 1.0,
        };
        let init = match gate.rule {
            None => Init::Uniform(init),
            Some(logit) if !(logit > 0.0 && logit <= limits::RULE) => {
                return at
                    .fail("rule", format!("write a logit above 0 and at most {}, such as 4", limits::RULE));
            }
            Some(_) if n != experts => {
                return at.fail(
                    "rule",
                    format!(
                        "needs an expert for each value of `{}`, which has {n}: write {n} experts",
                        gate.by.as_deref().unwrap_or_default()
                    ),
                );
            }
            Some(logit) => Init::Diagonal(logit),
        };
        let table = self.param(at, "table", vec![n, experts], init, group)?;
        let out = self.value(experts);
        Ok((vec![Op::Gather { table, channel, out }], out))
    }

    fn symbolic(&mut self, symbolic: &Symbolic, at: &At) -> Result<Block, ModelError> {
        let (channel, n) = self.index_channel(Some(&symbolic.by), at)?;
        at.require(n <= limits::EXPERTS, "by", || {
            format!("a node has at most {} experts, channel `{}` has {n}", limits::EXPERTS, symbolic.by)
        })?;
        let experts: Vec<&Architecture> = match (&symbolic.expert, &symbolic.experts) {
            (Some(expert), None) => vec![expert; n],
            (None, Some(experts)) if experts.len() == n => experts.iter().collect(),
            (None, Some(experts)) => {
                return at.fail(
                    "experts",
                    format!("channel `{}` selects among {n} experts, found {}", symbolic.by, experts.len()),
                );
            }
            (Some(_), Some(_)) => return at.fail("expert", "give either `expert` or `experts`, not both"),
            (None, None) => {
                return at.fail("expert", "define the experts, for example `expert.mlp = { hidden = [20] }`");
            }
        };
        let branches = self.branches(&experts, symbolic.expert.is_some(), at, None)?;
        let out = self.value(self.outputs);
        let ops = vec![Op::Route { select: Selector::Index(channel), branches, out: vec![out] }];
        Ok(Block { ops, results: vec![out] })
    }

    fn cells(&mut self, cells: &Cells, at: &At) -> Result<Block, ModelError> {
        let experts = cells.experts;
        let Cells { classes, gamma, reassign, probe, by: [a, b], .. } = cells;
        at.require((2..=limits::EXPERTS).contains(&experts), "experts", || {
            format!("write 2 to {} experts, found {experts}", limits::EXPERTS)
        })?;
        at.require((2..=limits::CLASSES).contains(classes), "classes", || {
            format!("a channel has 2 to {} classes, found {classes}", limits::CLASSES)
        })?;
        at.require((0.0..=4.0).contains(gamma), "gamma", || format!("γ lies in 0..=4, found {gamma}"))?;
        at.require(*reassign <= limits::REASSIGNS, "reassign", || {
            format!("write at most {} times, found {reassign}", limits::REASSIGNS)
        })?;
        at.require((1..=limits::EXAMPLES).contains(probe), "probe", || {
            format!("write 1 to {} examples, found {probe}", limits::EXAMPLES)
        })?;
        let [first, second] = [self.index_channel(Some(a), at)?, self.index_channel(Some(b), at)?];
        at.require(first.0 != second.0, "by", || {
            format!("names the channel `{a}` twice: name two index channels")
        })?;
        let counts @ [m, n] = [first, second].map(|(_, values)| values.min(*classes));
        at.require(experts <= m * n, "experts", || {
            format!("{m} × {n} cells are too few for {experts} experts")
        })?;
        let group = self.group("cells", 0.0);
        let gate_at = at.name("gate");
        let mut fixed = |name: &str, shape: Vec<usize>, below: usize| {
            let id = self.param(&gate_at, name, shape, Init::Below(below as u32), group)?;
            self.params[id].fixed = true;
            Ok::<_, ModelError>(id)
        };
        let gate = CellGate {
            channels: [first.0, second.0],
            classes: [
                fixed("classes.0", vec![first.1], counts[0])?,
                fixed("classes.1", vec![second.1], counts[1])?,
            ],
            table: fixed("table", counts.to_vec(), experts)?,
        };
        let branches = self.branches(&vec![&*cells.expert; experts], true, at, None)?;
        let out = self.value(self.outputs);
        let ops = vec![Op::Route { select: Selector::Cells(gate), branches, out: vec![out] }];
        Ok(Block { ops, results: vec![out] })
    }

    fn lookup(&mut self, lookup: &Lookup, at: &At) -> Result<Block, ModelError> {
        check_lookup(lookup, self.head, at)?;
        if lookup.initial_from.is_some() || lookup.add_weighed {
            let key = if lookup.add_weighed { "add_weighed" } else { "initial_from" };
            return at.fail(key, "is only for a lookup at the top level: remove it");
        }
        let (channel, n) = self.index_channel(lookup.by.as_deref(), at)?;
        let group = self.group("table", lookup.rate);
        let init = Init::Constant(lookup.initial);
        let table = self.param(at, "table", vec![n, self.outputs], init, group)?;
        let out = self.value(self.outputs);
        let mut ops = vec![Op::Gather { table, channel, out }];
        let out = self.distribution(out, &mut ops);
        Ok(Block { ops, results: vec![out] })
    }

    fn residual(&mut self, residual: &Residual, at: &At) -> Result<Block, ModelError> {
        let prior = self.value_channel(residual.on.as_deref(), at)?;
        if self.corrects && self.head.classes().is_some() {
            return at.fail(
                "",
                "with `head = \"outcomes\"` a residual corrects the logits of a prior, and one below another has none: \
                 keep one of them",
            );
        }
        // Only the corrected prior is compared with the target, so the nodes below have no density.
        let outer = std::mem::replace(&mut self.corrects, true);
        let mut block = self.node(&residual.net, &at.path("net").name("net"), None)?;
        self.corrects = outer;
        if self.head.classes().is_some() {
            let x = Some(block.results[0]);
            let logits = self.prior_logits(prior, x, at, &mut block.ops)?;
            block.results = vec![self.distribution(logits, &mut block.ops)];
            return Ok(block);
        }
        let out = self.value(self.outputs);
        block.ops.push(Op::Residual { prior, x: block.results[0], out });
        block.results = vec![out];
        Ok(block)
    }

    fn frozen(&mut self, frozen: &Frozen, at: &At) -> Result<Block, ModelError> {
        let channel = self.value_channel(frozen.on.as_deref(), at)?;
        if self.head.classes().is_some() {
            if self.corrects {
                return at.fail(
                    "",
                    "with `head = \"outcomes\"` a residual is corrected by logits, and a frozen value has none: remove it",
                );
            }
            let mut ops = Vec::new();
            let logits = self.prior_logits(channel, None, at, &mut ops)?;
            let out = self.distribution(logits, &mut ops);
            return Ok(Block { ops, results: vec![out] });
        }
        let out = self.value(self.outputs);
        Ok(Block { ops: vec![Op::Input { channels: vec![channel], out }], results: vec![out] })
    }

    fn dense_channels(&self, names: Option<&[String]>, at: &At) -> Result<Vec<usize>, ModelError> {
        let dense = |c: &usize| self.channels[*c].kind.dense_width() > 0;
        let all: Vec<usize> = (0..self.channels.len()).filter(dense).collect();
        let Some(names) = names else {
            // Value channels are inputs only if they are named.
            let all: Vec<usize> =
                all.into_iter().filter(|&c| self.channels[c].kind != ChannelKind::Value).collect();
            if all.is_empty() {
                return at.fail("inputs", "the encoder has no dense channel for a network to read");
            }
            return Ok(all);
        };
        if names.is_empty() {
            return at.fail(
                "inputs",
                "name at least one channel, or remove `inputs` to read all dense and bits channels",
            );
        }
        if let Some((_, twice)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            return at.fail("inputs", format!("names the channel `{twice}` twice"));
        }
        let known: Vec<&str> = all.iter().map(|&c| &*self.channels[c].name).collect();
        names
            .iter()
            .map(|name| match known.iter().position(|k| k == name) {
                Some(i) => Ok(all[i]),
                None => at.fail(
                    "inputs",
                    format!("the encoder has no dense channel `{name}`{}", suggest(name, &known)),
                ),
            })
            .collect()
    }

    /// The index channel with this name, or the only one, and its size.
    fn index_channel(&self, name: Option<&str>, at: &At) -> Result<(usize, usize), ModelError> {
        let indices: Vec<(usize, usize)> = self
            .channels
            .iter()
            .enumerate()
            .filter_map(
                |(i, c)| if let ChannelKind::Index(n) = c.kind { Some((i, n as usize)) } else { None },
            )
            .collect();
        let known: Vec<&str> = indices.iter().map(|&(i, _)| &*self.channels[i].name).collect();
        Ok(indices[one_of(name, &known, ("by", "index channel"), at)?])
    }

    /// The value channel with this name, or the only one.
    fn value_channel(&self, name: Option<&str>, at: &At) -> Result<usize, ModelError> {
        let values: Vec<usize> =
            (0..self.channels.len()).filter(|&c| self.channels[c].kind == ChannelKind::Value).collect();
        if values.is_empty() {
            return at.fail("on", "the encoder has no value channel: add a part `prior:NAME` to the encoder");
        }
        let known: Vec<&str> = values.iter().map(|&c| &*self.channels[c].name).collect();
        Ok(values[one_of(name, &known, ("on", "value channel"), at)?])
    }
}

/// Whether an op, or a branch of it, reads the value of shared layers.
fn reads(op: &Op, value: ValueId) -> bool {
    match op {
        Op::Affine { x, .. } => *x == value,
        Op::Route { branches, .. } => {
            let first = branches.iter().filter_map(|branch| branch.ops.first());
            first.into_iter().any(|op| matches!(op, Op::Outer { x, .. } if *x == value))
        }
        _ => false,
    }
}

/// The position in `known` of the named channel, or of the only one.
fn one_of(
    name: Option<&str>,
    known: &[&str],
    (key, what): (&str, &str),
    at: &At,
) -> Result<usize, ModelError> {
    match (name, known) {
        (Some(name), _) => match known.iter().position(|k| *k == name) {
            Some(i) => Ok(i),
            None => at.fail(key, format!("the encoder has no {what} `{name}`{}", suggest(name, known))),
        },
        (None, [_]) => Ok(0),
        (None, []) => at.fail(key, format!("the encoder has no {what}")),
        (None, _) => at.fail(key, format!("name the {what}, one of {}", known.join(", "))),
    }
}

/// Checks the settings of a lookup at the top level.
pub(crate) fn check_top_lookup(lookup: &Lookup, head: &Head) -> Result<(), ModelError> {
    check_lookup(lookup, head, &At { path: "lookup".into(), name: String::new() })
}

fn check_lookup(lookup: &Lookup, head: &Head, at: &At) -> Result<(), ModelError> {
    if head.classes().is_some() && lookup.initial != 0.0 {
        return at.fail(
            "initial",
            "with `head = \"outcomes\"` a position without an entry has equal probabilities: remove it",
        );
    }
    if !(-1.0..=1.0).contains(&lookup.initial) {
        return at.fail("initial", format!("a value lies in −1..1, found {}", lookup.initial));
    }
    check_rates(&[lookup.rate], at, "rate")
}

fn check_init(init: InitScale, at: &At) -> Result<(), ModelError> {
    match init {
        InitScale::Uniform(a) if !(a > 0.0 && a <= MAX_INIT) => {
            at.fail("init", format!("weights cannot be drawn from ±{a}: write a number above 0, such as 0.4"))
        }
        _ => Ok(()),
    }
}

fn check_rates(rates: &[f32], at: &At, key: &str) -> Result<(), ModelError> {
    match rates.iter().find(|&&r| !(r >= 0.0 && r.is_finite())) {
        None => Ok(()),
        Some(bad) => at.fail(key, format!("a learning-rate factor must be at least 0, found {bad}")),
    }
}

fn each<T: Copy>(
    given: &OneOrEach<T>,
    n: usize,
    at: &At,
    key: &str,
    what: &str,
) -> Result<Vec<T>, ModelError> {
    match given {
        OneOrEach::One(v) => Ok(vec![*v; n]),
        OneOrEach::Each(list) if list.len() == n => Ok(list.clone()),
        OneOrEach::Each(list) => {
            at.fail(key, format!("needs one entry per {what}: {n} expected, {} found", list.len()))
        }
    }
}
