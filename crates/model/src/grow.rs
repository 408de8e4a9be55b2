//! Growing: a network that begins as the same function as a smaller perceptron.

use crate::architecture::{Architecture, Mlp, OneOrEach, Shared};
use crate::error::ModelError;
use crate::head::Head;
use crate::lower::lower;
use crate::program::{Activation, Op, Program};
use crate::tensor::{ByName, Tensor};
use adept_rows::Channel;

/// A way to grow a perceptron.
#[derive(Clone, Debug, PartialEq)]
pub enum Growth {
    /// To a larger perceptron.
    Larger(Larger),
    /// To experts that share its first layers.
    Spread(Spread),
}

impl Growth {
    /// The way from `found` to `wanted`; none if they have the same shape already.
    ///
    /// # Errors
    /// Why the weights of `found` fit neither way.
    pub fn needed(
        wanted: &Architecture,
        found: &Architecture,
        channels: &[Channel],
        head: &Head,
    ) -> Result<Option<Self>, String> {
        let why = match wanted.same_shape(found, channels, head) {
            Ok(()) => return Ok(None),
            Err(why) => why,
        };
        let program = |mlp: &Architecture| lower(mlp, channels, head).map_err(|e| e.to_string());
        Ok(Some(match (wanted, found) {
            (Architecture::Mlp(_), Architecture::Mlp(_)) => {
                Self::Larger(Larger::of(&program(wanted)?, &program(found)?)?)
            }
            (Architecture::Shared(shared), Architecture::Mlp(mlp)) => {
                Self::Spread(Spread::of((shared, &program(wanted)?), (mlp, &program(found)?), channels)?)
            }
            _ => return Err(why),
        }))
    }

    /// The parameters of the larger network, from those of the smaller one and fresh ones of the larger one.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] with the name of a tensor that is missing or not of the architecture.
    pub fn tensors(&self, old: &[Tensor], fresh: &[Tensor]) -> Result<Vec<Tensor>, ModelError> {
        match self {
            Self::Larger(larger) => larger.tensors(&ByName::new(old), &ByName::new(fresh)),
            Self::Spread(spread) => spread.tensors(&ByName::new(old), fresh),
        }
    }

    /// Hidden layers before and after, such as `[40] → [80, 16]`.
    pub fn summary(&self) -> String {
        match self {
            Self::Larger(larger) => larger.summary(),
            Self::Spread(Spread { summary, .. }) => summary.clone(),
        }
    }
}

/// A perceptron whose first layers become shared ones, and whose other layers become each expert above them. Gates keep their
/// fresh weights: whichever experts they choose, the output is that of the perceptron.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// For each tensor that comes from the perceptron, its name, and the name there.
    names: Vec<(String, String)>,
    summary: String,
}

impl Spread {
    fn of(
        (shared, wanted): (&Shared, &Program),
        (mlp, found): (&Mlp, &Program),
        channels: &[Channel],
    ) -> Result<Self, String> {
        let first = shared.hidden.len();
        let mut leaves = Vec::new();
        collect(&shared.top, channels, &mut leaves);
        if leaves.iter().any(|leaf| matches!(leaf, Architecture::Shared(_))) {
            return Err("its experts share layers of their own: put all shared layers below one `top`".into());
        }
        if first_read(wanted) != first_read(found) {
            return Err("it reads other channels than the checkpoint: give both the same `inputs`".into());
        }
        let each = |f: &OneOrEach<Activation>, n: usize| match f {
            OneOrEach::One(f) => vec![*f; n],
            OneOrEach::Each(list) => list.clone(),
        };
        let all = each(&mlp.activation, mlp.hidden.len());
        if mlp.hidden.len() < first || mlp.hidden[..first] != shared.hidden {
            let (here, there) = (&shared.hidden, &mlp.hidden);
            return Err(format!(
                "it shares layers of {here:?} units, and the layers of the checkpoint are {there:?}"
            ));
        }
        if all[..first] != each(&shared.activation, first) {
            return Err("its shared layers have other activations than those of the checkpoint".into());
        }
        let (rest, activations) = (&mlp.hidden[first..], &all[first..]);
        let is_rest = |leaf: &&Architecture| {
            let Architecture::Mlp(leaf) = leaf else { return false };
            leaf.hidden == rest
                && each(&leaf.activation, leaf.hidden.len()) == activations
                && (leaf.output, &leaf.sensitivity, &leaf.inputs) == (mlp.output, &None, &None)
        };
        if mlp.sensitivity.is_some() || !leaves.iter().all(is_rest) {
            return Err(format!(
                "each of its experts must be what is left of the checkpoint: a perceptron of {rest:?} units with the same \
                 activations, without `inputs` and `sensitivity`"
            ));
        }
        let mut names = Vec::new();
        for param in &wanted.params {
            let name = &param.name;
            let old = match (name.strip_prefix("shared."), name.rsplit_once("layer.")) {
                (Some(own), _) => own.to_string(),
                (None, Some((before, own))) if !before.ends_with("gate.") => {
                    let (layer, kind) = own.split_once('.').unwrap_or((own, ""));
                    format!("layer.{}.{kind}", first + layer.parse::<usize>().unwrap_or(0))
                }
                _ => continue,
            };
            match found.params.iter().find(|p| p.name == old) {
                Some(p) if p.shape == param.shape => names.push((name.clone(), old)),
                _ => return Err(format!("`{name}` does not have the shape of `{old}` in the checkpoint")),
            }
        }
        let summary =
            format!("{:?} → {} experts of {rest:?} on {:?}", mlp.hidden, leaves.len(), shared.hidden);
        Ok(Self { names, summary })
    }

    fn tensors(&self, old: &ByName<'_>, fresh: &[Tensor]) -> Result<Vec<Tensor>, ModelError> {
        let tensor = |new: &Tensor| {
            let Some((_, from)) = self.names.iter().find(|(name, _)| *name == new.name) else {
                return Ok(new.clone());
            };
            let data = old.find(from, &new.shape)?.floats()?.to_vec();
            Ok(Tensor::f32(new.name.clone(), new.shape.clone(), data))
        };
        fresh.iter().map(tensor).collect()
    }
}

/// The networks at the ends of a tree of experts; one that shares layers is an end.
fn collect<'a>(node: &'a Architecture, channels: &[Channel], leaves: &mut Vec<&'a Architecture>) {
    match node.experts(channels) {
        _ if matches!(node, Architecture::Shared(_)) => leaves.push(node),
        experts if experts.is_empty() => leaves.push(node),
        experts => experts.into_iter().for_each(|expert| collect(expert, channels, leaves)),
    }
}

/// Growth of a perceptron to a larger one: wider hidden layers, more hidden layers, or both.
///
/// Each old hidden layer becomes, in order, the first remaining new one with the same activation and at least as many units.
/// Its new units read with fresh weights, and old units read them with 0. The new layers between old layers j and j + 1 pass
/// values on, by units of their own; their other units are like new units. What they pass is the net inputs z of layer j + 1,
/// or if these are more than the outputs of layer j, or do not fit, those outputs. How one value v passes:
///
/// ```text
/// linear         v
/// relu           v, if v is an output of sigmoid or relu; otherwise f(v) − f(−v) = v, by two units
/// silu           f(v) − f(−v) = v, by two units
/// tanh           f(a v) / a,              a = 2⁻¹⁰: the error of v is about a²|v|³/3 = 3e-7 |v|³
/// sigmoid        4 (f(a v) − ½) / a,      a = 2⁻⁷:  the error of v is about a²|v|³/12 = 5e-6 |v|³, and 5e-5 of rounding
/// ```
///
/// The first three differ from the old network by rounding alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Larger {
    old: Vec<Layer>,
    new: Vec<Layer>,
    /// Width of the inputs.
    inputs: usize,
    /// For each old layer, the output layer last.
    links: Vec<Link>,
}

/// A layer of a perceptron, the output layer too.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Layer {
    units: usize,
    f: Activation,
    scaled: bool,
}

/// The new layers that take over the weights between two old layers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Link {
    /// The first new layer after that of the old layer before.
    first: usize,
    /// The new layer that takes the place of the old one. Those before it pass values on.
    last: usize,
    /// Whether `first` gets the weights, so that net inputs are passed on, or `last`.
    early: bool,
    /// Whether the values that are passed on are never negative.
    positive: bool,
}

/// Code of values v by units of a layer: v = `factor` · f(`scale` · v) + `offset`, or the difference of two units.
#[derive(Clone, Copy)]
struct Carrier {
    paired: bool,
    scale: f64,
    factor: f64,
    offset: f64,
}

impl Carrier {
    /// The values are those of the units.
    const PLAIN: Self = Self { paired: false, scale: 1.0, factor: 1.0, offset: 0.0 };

    fn of(f: Activation, positive: bool) -> Self {
        let scaled = |scale: f64, slope: f64, middle: f64| {
            let factor = 1.0 / (scale * slope);
            Self { paired: false, scale, factor, offset: -middle * factor }
        };
        match f {
            Activation::Linear => Self::PLAIN,
            Activation::Relu if positive => Self::PLAIN,
            Activation::Relu | Activation::Silu => Self { paired: true, ..Self::PLAIN },
            Activation::Tanh => scaled(1.0 / 1024.0, 1.0, 0.0),
            Activation::Sigmoid => scaled(1.0 / 128.0, 0.25, 0.5),
        }
    }

    /// The number of units for so many values.
    fn units(self, values: usize) -> usize {
        if self.paired { 2 * values } else { values }
    }

    /// The units that hold a value, with their signs.
    fn of_value(self, value: usize) -> impl Iterator<Item = (usize, f64)> {
        let first = self.units(value);
        [(first, 1.0), (first + 1, -1.0)].into_iter().take(if self.paired { 2 } else { 1 })
    }
}

impl Larger {
    fn of(wanted: &Program, found: &Program) -> Result<Self, String> {
        let ((read, new), (reads, old)) = (layers(wanted), layers(found));
        if read != reads {
            return Err("it reads other channels than the checkpoint: give both the same `inputs`".into());
        }
        let inputs = found.params[0].shape[0];
        if new.iter().chain(&old).any(|layer| layer.scaled != old[0].scaled) {
            let (here, there) = if old[0].scaled { ("no", "has one") } else { ("a", "has none") };
            return Err(format!(
                "it has {here} `sensitivity`, the checkpoint {there}: a network keeps that when it grows"
            ));
        }
        let (ends, hidden) = (new.len() - 1, old.len() - 1);
        if new[ends] != old[hidden] {
            return Err(
                "its output layer differs from that of the checkpoint: give both the same `output`".into()
            );
        }
        let (mut links, mut first) = (Vec::with_capacity(old.len()), 0);
        for (k, layer) in old.iter().enumerate() {
            let fits = |j: &usize| new[*j].units >= layer.units && new[*j].f == layer.f;
            let last = if k == hidden { Some(ends) } else { (first..ends).find(fits) };
            let Some(last) = last else {
                return Err(format!(
                    "its hidden layers {} cannot hold those of the checkpoint, {}: each old layer needs, in order, one with \
                     at least as many units and the same activation",
                    sizes(&new),
                    sizes(&old)
                ));
            };
            let before = k.checked_sub(1).map_or(inputs, |k| old[k].units);
            let positive = k > 0 && matches!(old[k - 1].f, Activation::Sigmoid | Activation::Relu);
            let needed = |j: usize, early: bool| match early {
                true => Carrier::of(new[j].f, false).units(layer.units),
                false => Carrier::of(new[j].f, positive).units(before),
            };
            let carries = |early: bool| (first..last).all(|j| needed(j, early) <= new[j].units);
            let early = match (carries(true), carries(false)) {
                (true, late) => !late || layer.units <= before,
                (false, true) => false,
                (false, false) => {
                    let small = |j: &usize| needed(*j, true).min(needed(*j, false)) > new[*j].units;
                    let j = (first..last).find(small).unwrap_or(first);
                    let least = needed(j, true).min(needed(j, false));
                    return Err(format!(
                        "its hidden layer {} is new and passes on what it reads, for which {} units are too few: give it at \
                         least {least}",
                        j + 1,
                        new[j].units
                    ));
                }
            };
            links.push(Link { first, last, early, positive: positive && !early });
            first = last + 1;
        }
        Ok(Self { old, new, inputs, links })
    }

    fn tensors(&self, old: &ByName<'_>, fresh: &ByName<'_>) -> Result<Vec<Tensor>, ModelError> {
        let read = |from: &ByName<'_>, layer: usize, name: &str, shape: &[usize]| {
            Ok::<_, ModelError>(from.find(&format!("layer.{layer}.{name}"), shape)?.floats()?.to_vec())
        };
        let (mut grown, mut below, mut width) = (Vec::new(), Carrier::PLAIN, self.inputs);
        for (j, layer) in self.new.iter().enumerate() {
            let k = self.links.partition_point(|link| link.last < j);
            let (link, units) = (self.links[k], layer.units);
            let (inputs, outputs) =
                (k.checked_sub(1).map_or(self.inputs, |k| self.old[k].units), self.old[k].units);
            let is_old = j == link.last;
            let weighs = j == if link.early { link.first } else { link.last };
            let values = if is_old || link.early { outputs } else { inputs };
            let carrier = if is_old { Carrier::PLAIN } else { Carrier::of(layer.f, link.positive) };
            let mut weight = read(fresh, j, "weight", &[width, units])?;
            let mut bias = read(fresh, j, "bias", &[units])?;
            let mut beta =
                if layer.scaled { read(fresh, j, "sensitivity", &[units])? } else { vec![1.0; units] };
            let (old_weight, old_bias) =
                (read(old, k, "weight", &[inputs, outputs])?, read(old, k, "bias", &[outputs])?);
            if is_old && layer.scaled {
                beta[..outputs].copy_from_slice(&read(old, k, "sensitivity", &[outputs])?);
            }
            for value in 0..values {
                // Of the values below.
                let (terms, constant): (Vec<(usize, f64)>, f64) = match weighs {
                    true => {
                        let of = |i: usize| (i, f64::from(old_weight[i * outputs + value]));
                        ((0..inputs).map(of).collect(), f64::from(old_bias[value]))
                    }
                    false => (vec![(value, 1.0)], 0.0),
                };
                let constant = constant + terms.iter().map(|(_, w)| w * below.offset).sum::<f64>();
                for (unit, sign) in carrier.of_value(value) {
                    let scale = sign * carrier.scale / if is_old { 1.0 } else { f64::from(beta[unit]) };
                    (0..width).for_each(|row| weight[row * units + unit] = 0.0);
                    for (i, w) in &terms {
                        for (row, sign) in below.of_value(*i) {
                            weight[row * units + unit] = (scale * sign * below.factor * w) as f32;
                        }
                    }
                    bias[unit] = (scale * constant) as f32;
                }
            }
            let mut push = |name: &str, shape: Vec<usize>, data: Vec<f32>| {
                grown.push(Tensor::f32(format!("layer.{j}.{name}"), shape, data));
            };
            push("weight", vec![width, units], weight);
            push("bias", vec![units], bias);
            if layer.scaled {
                push("sensitivity", vec![units], beta);
            }
            (below, width) = (carrier, units);
        }
        Ok(grown)
    }

    /// The hidden layers before and after.
    fn summary(&self) -> String {
        format!("{} → {}", sizes(&self.old), sizes(&self.new))
    }
}

/// The channels that the first layer of a network reads.
fn first_read(program: &Program) -> Option<&[usize]> {
    program.body.ops.iter().find_map(|op| match op {
        Op::Input { channels, .. } => Some(&**channels),
        _ => None,
    })
}

/// The channels that a perceptron reads, and its layers.
fn layers(mlp: &Program) -> (&[usize], Vec<Layer>) {
    let (mut read, mut layers) = (&[][..], Vec::<Layer>::new());
    for op in &mlp.body.ops {
        match op {
            Op::Input { channels, .. } => read = channels,
            Op::Affine { weight, .. } => {
                let units = mlp.params[*weight].shape[1];
                layers.push(Layer { units, f: Activation::Linear, scaled: false });
            }
            Op::Scale { .. } => layers.iter_mut().next_back().into_iter().for_each(|last| last.scaled = true),
            Op::Activation { f, .. } => {
                layers.iter_mut().next_back().into_iter().for_each(|last| last.f = *f)
            }
            _ => {}
        }
    }
    (read, layers)
}

/// The units of the hidden layers.
fn sizes(layers: &[Layer]) -> String {
    let units: Vec<usize> = layers[..layers.len() - 1].iter().map(|layer| layer.units).collect();
    format!("{units:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::Learner;
    use crate::network::Network;
    use crate::optimiser::Optimiser;
    use crate::predictor::Predictor;
    use adept_rows::{ChannelKind, OutcomeClass, Rows, Samples};
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use serde_json::{Value, json};
    use std::sync::Arc;

    const INPUTS: usize = 7;

    /// Hidden layers and activations before and after, the settings of both, and the largest difference.
    type Case<'a> = (&'a [usize], Value, &'a [usize], Value, &'a Value, f32);

    fn channels() -> [Channel; 2] {
        [Channel::new("x", ChannelKind::Dense(INPUTS)), Channel::new("y", ChannelKind::Dense(1))]
    }

    /// A perceptron with these hidden layers and settings.
    fn mlp(hidden: &[usize], activation: Value, settings: &Value) -> Architecture {
        let mut mlp = json!({ "inputs": ["x"], "hidden": hidden, "activation": activation });
        let settings = settings.as_object().unwrap().clone();
        mlp.as_object_mut().unwrap().extend(settings);
        serde_json::from_value(json!({ "mlp": mlp })).unwrap()
    }

    fn growth(wanted: &Architecture, found: &Architecture) -> Result<Option<Growth>, String> {
        Growth::needed(wanted, found, &channels(), &Head::Value)
    }

    /// The small network, the large one that grew from it, and the largest difference of their outputs.
    fn grown(found: &Architecture, wanted: &Architecture, head: &Head) -> (Network, Network, f32) {
        let (mut rng, channels) = (Xoshiro256PlusPlus::seed_from_u64(3), channels());
        let mut draw = |architecture: &Architecture| {
            let program = Arc::new(lower(architecture, &channels, head).unwrap());
            Network::new(program.clone(), &program.draw(&mut rng), Optimiser::default())
        };
        let (mut small, mut large) = (draw(found), draw(wanted));
        let growth = Growth::needed(wanted, found, &channels, head).unwrap().expect("they differ");
        let tensors = growth.tensors(&small.tensors().unwrap(), &large.tensors().unwrap()).unwrap();
        large.restore(&tensors).unwrap();
        let mut rows = Rows::new(&channels);
        for _ in 0..200 {
            rows.push().dense.iter_mut().for_each(|x| *x = rng.random_range(-1.0..=1.0));
        }
        let (mut before, mut after) = (Vec::new(), Vec::new());
        small.outputs(&rows, &mut before);
        large.outputs(&rows, &mut after);
        assert!(before.iter().any(|y| *y != before[0]));
        let differences = before.iter().zip(&after).map(|(a, b)| (a - b).abs());
        (small, large, differences.fold(0.0, f32::max))
    }

    #[test]
    fn a_larger_network_computes_the_same() {
        let heads = [Head::Value, Head::Policy, Head::Outcomes(OutcomeClass::loss_draw_win())];
        let plain = json!({});
        let scaled = json!({ "sensitivity": 3.0 });
        let (exact, tanh, sigmoid) = (3e-6, 1e-5, 2e-4);
        let cases: [Case<'_>; 14] = [
            // Wider.
            (&[40], json!("tanh"), &[80], json!("tanh"), &plain, exact),
            (&[5], json!("silu"), &[6], json!("silu"), &scaled, exact),
            (&[9, 4], json!(["relu", "sigmoid"]), &[20, 5], json!(["relu", "sigmoid"]), &plain, exact),
            // From no hidden layer.
            (&[], json!("tanh"), &[16], json!("relu"), &plain, exact),
            // At the end, by net inputs.
            (&[40], json!("sigmoid"), &[80, 16], json!(["sigmoid", "relu"]), &scaled, exact),
            (&[40], json!("relu"), &[80, 16, 12], json!(["relu", "silu", "relu"]), &plain, exact),
            (&[40], json!("tanh"), &[40, 16], json!(["tanh", "linear"]), &scaled, exact),
            (&[40], json!("tanh"), &[80, 16], json!("tanh"), &plain, tanh),
            (&[40], json!("sigmoid"), &[80, 16], json!("sigmoid"), &scaled, sigmoid),
            // At the beginning, by inputs, and by outputs that are never negative.
            (&[40, 20], json!("relu"), &[14, 41, 20], json!("relu"), &plain, exact),
            (&[4, 10], json!("sigmoid"), &[4, 5, 10], json!(["sigmoid", "relu", "sigmoid"]), &scaled, exact),
            (&[40], json!("tanh"), &[9, 40], json!("tanh"), &plain, tanh),
            (&[40], json!("tanh"), &[9, 40], json!(["sigmoid", "tanh"]), &scaled, sigmoid),
            // In the middle.
            (
                &[20, 10],
                json!("tanh"),
                &[20, 24, 10, 12],
                json!(["tanh", "silu", "tanh", "relu"]),
                &plain,
                exact,
            ),
        ];
        for (small, f, large, g, settings, most) in cases {
            for head in &heads {
                let (found, wanted) = (mlp(small, f.clone(), settings), mlp(large, g.clone(), settings));
                let (.., difference) = grown(&found, &wanted, head);
                assert!(difference <= most, "{small:?} {f} → {large:?} {g}, {head:?}: {difference}");
            }
        }
    }

    #[test]
    fn experts_that_share_layers_begin_as_one_network() {
        let found = mlp(&[9, 5, 4], json!(["silu", "tanh", "relu"]), &json!({}));
        let expert = json!({ "mlp": { "hidden": [5, 4], "activation": ["tanh", "relu"] } });
        let inner = json!({ "hme": { "experts": 2, "expert": expert } });
        for (top, experts) in [
            (json!({ "meta_pi": { "experts": 3, "expert": expert, "threshold": 0.2 } }), 3),
            (json!({ "meta_pi": { "experts": 2, "expert": inner, "gate": { "inputs": ["y"] } } }), 4),
            (expert.clone(), 1),
        ] {
            let shared = json!({ "inputs": ["x"], "hidden": [9], "activation": "silu", "top": top });
            let wanted: Architecture = serde_json::from_value(json!({ "shared": shared })).unwrap();
            for head in [Head::Value, Head::Outcomes(OutcomeClass::loss_draw_win())] {
                let (.., difference) = grown(&found, &wanted, &head);
                assert!(difference < 1e-6, "{top}: {difference}");
            }
            let summary = growth(&wanted, &found).unwrap().unwrap().summary();
            assert_eq!(summary, format!("[9, 5, 4] → {experts} experts of [5, 4] on [9]"));
        }
        let shared =
            |top: &Value| json!({ "inputs": ["x"], "hidden": [9], "activation": "silu", "top": top });
        let refused = |shared: Value| {
            growth(&serde_json::from_value(json!({ "shared": shared })).unwrap(), &found).unwrap_err()
        };
        let mut wide = shared(&expert);
        wide["hidden"] = json!([10]);
        assert!(
            refused(wide)
                .contains("shares layers of [10] units, and the layers of the checkpoint are [9, 5, 4]")
        );
        let mut tanh = shared(&expert);
        tanh["activation"] = json!("tanh");
        assert!(refused(tanh).contains("other activations"));
        let other = json!({ "mlp": { "hidden": [5, 3], "activation": ["tanh", "relu"] } });
        assert!(refused(shared(&other)).contains("a perceptron of [5, 4] units"));
        let mut more = shared(&expert);
        more["inputs"] = json!(["x", "y"]);
        assert!(refused(more).contains("give both the same `inputs`"));
        let twice = json!({ "shared": { "hidden": [5], "activation": "tanh", "top": { "mlp": { "hidden": [4], "activation": "relu" } } } });
        assert!(refused(shared(&twice)).contains("share layers of their own"));
        let mut square = found.clone();
        if let Architecture::Mlp(mlp) = &mut square {
            (mlp.hidden, mlp.activation) = (vec![9, 9], OneOrEach::One(Activation::Tanh));
        }
        let expert = json!({ "mlp": { "hidden": [9], "activation": "tanh" } });
        let inner = json!({ "hidden": [9], "activation": "tanh", "top": { "hme": { "experts": 2, "expert": expert } } });
        let outer = json!({ "shared": { "inputs": ["x"], "hidden": [9], "activation": "tanh", "top": { "shared": inner } } });
        let error = growth(&serde_json::from_value(outer).unwrap(), &square).unwrap_err();
        assert!(error.contains("share layers of their own"), "{error}");
    }

    #[test]
    fn what_is_new_learns() {
        let plain = json!({});
        let (found, wanted) = (mlp(&[6], json!("silu"), &plain), mlp(&[9, 12], json!("silu"), &plain));
        let (_, mut large, _) = grown(&found, &wanted, &Head::Value);
        let before = large.parameters();
        let mut samples = Samples::new(&channels());
        samples.rows.push().dense.copy_from_slice(&[0.3, -0.8, 0.5, 0.9, -0.2, 0.6, -0.4, 0.0]);
        (samples.targets, samples.weights) = (vec![1.0], vec![1.0]);
        for _ in 0..2 {
            large.update(&samples, 0.05).unwrap();
        }
        assert!(large.parameters().iter().zip(&before).all(|(a, b)| a != b), "a weight does not learn");
    }

    #[test]
    fn what_cannot_grow_says_why() {
        let plain = json!({});
        let found = mlp(&[20, 10], json!("tanh"), &plain);
        let of = |hidden: &[usize], f: &str, settings: Value| mlp(hidden, json!(f), &settings);
        assert_eq!(growth(&of(&[20, 10], "tanh", json!({ "rate": 2.0 })), &found), Ok(None));
        for (wanted, why) in [
            (
                of(&[20, 9], "tanh", json!({})),
                "its hidden layers [20, 9] cannot hold those of the checkpoint, [20, 10]",
            ),
            (of(&[30], "tanh", json!({})), "needs, in order, one with at least as many units"),
            (of(&[30, 20], "relu", json!({})), "and the same activation"),
            (of(&[30, 20], "tanh", json!({ "sensitivity": 1.0 })), "the checkpoint has none"),
            (of(&[30, 20], "tanh", json!({ "inputs": ["x", "y"] })), "give both the same `inputs`"),
            (of(&[30, 20], "tanh", json!({ "output": "linear" })), "give both the same `output`"),
        ] {
            let error = growth(&wanted, &found).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        let error = growth(&mlp(&[20, 10, 1], json!(["tanh", "tanh", "relu"]), &plain), &found).unwrap_err();
        assert!(error.contains("its hidden layer 3 is new") && error.contains("at least 2"), "{error}");
        let frozen = serde_json::from_value(json!({ "frozen": {} })).unwrap();
        assert!(growth(&frozen, &found).unwrap_err().contains("of kind `frozen`"));
    }
}
