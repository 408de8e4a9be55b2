//! Lowers modules: a block of units for each channel, in the hierarchy that the channels declare.

use super::{At, Builder, check_init, check_rates};
use crate::architecture::{InitScale, Modules};
use crate::error::ModelError;
use crate::program::{Activation, Block, Op, ValueId};
use adept_rows::Channel;

impl Builder<'_> {
    /// Lowers modules, part by part. A value with several readers is read through an [`Op::Concat`] for each.
    pub(super) fn modules(&mut self, modules: &Modules, at: &At) -> Result<Block, ModelError> {
        check_rates(&[modules.rate], at, "rate")?;
        check_init(modules.init, at)?;
        for (key, units) in [("units", modules.units), ("top", modules.top)] {
            if units == 0 {
                return at.fail(key, "needs at least one unit");
            }
        }
        let group = self.group("weights", modules.rate);
        let mut known: Vec<(usize, ValueId)> = Vec::new();
        let mut ops = Vec::new();
        let mut names = Vec::new();
        let mut estimates = Vec::new();
        for channel in self.with_parts(modules.inputs.as_deref(), at)? {
            let Channel { name, kind, parts, .. } = self.channels[channel].clone();
            if names.iter().any(|known: &String| *known == name) {
                return at.fail("inputs", format!("the encoder has two channels `{name}`"));
            }
            let mut units_of_parts = Vec::with_capacity(parts.len());
            for part in &parts {
                match known.iter().find(|(c, _)| self.channels[*c].name == *part) {
                    Some((_, units)) => units_of_parts.push(*units),
                    None => {
                        let message = format!("`{name}` is made of `{part}`, which is not before it");
                        return at.fail("inputs", message);
                    }
                }
            }
            let parts = units_of_parts;
            let mut x = self.value(kind.dense_width());
            ops.push(Op::Input { channels: vec![channel], out: x });
            if !parts.is_empty() {
                let all: Vec<ValueId> = [x].into_iter().chain(parts).collect();
                x = self.concat(&all, &mut ops);
            }
            let here = at.name("module").name(&name);
            let units = self.dense((x, modules.units), (modules.init, group), (&here, "units"), &mut ops)?;
            let x = self.concat(&[units], &mut ops);
            estimates.push(self.estimate(x, (modules.init, group), &here, &mut ops)?);
            known.push((channel, units));
            names.push(name.into_owned());
        }
        let all: Vec<ValueId> = known.iter().map(|(_, units)| *units).collect();
        let here = at.name("top");
        let x = self.concat(&all, &mut ops);
        let units = self.dense((x, modules.top), (modules.init, group), (&here, "units"), &mut ops)?;
        estimates.push(self.estimate(units, (modules.init, group), &here, &mut ops)?);
        names.push("top".into());
        let gate = self.group("gate", modules.rate);
        let x = self.concat(&all, &mut ops);
        let logits =
            self.affine((x, estimates.len()), (modules.init, gate), (&at.name("gate"), "layer.0"), &mut ops)?;
        let log_weights = self.value(estimates.len());
        ops.push(Op::LogSoftmax { x: logits, out: log_weights });
        let y = self.concat(&estimates, &mut ops);
        let out = self.value(self.outputs);
        ops.push(Op::Blend { log_weights, y, out });
        self.modules = names;
        Ok(Block { ops, results: vec![out] })
    }

    fn concat(&mut self, xs: &[ValueId], ops: &mut Vec<Op>) -> ValueId {
        let out = self.value(xs.iter().map(|&x| self.widths[x]).sum());
        ops.push(Op::Concat { xs: xs.to_vec(), out });
        out
    }

    /// The estimate of a module: a perceptron's last layer.
    fn estimate(
        &mut self,
        x: ValueId,
        settings: (InitScale, usize),
        at: &At,
        ops: &mut Vec<Op>,
    ) -> Result<ValueId, ModelError> {
        if self.gives_distributions() {
            let logits = self.affine((x, self.outputs), settings, (at, "estimate"), ops)?;
            return Ok(self.distribution(logits, ops));
        }
        self.dense((x, self.outputs), settings, (at, "estimate"), ops)
    }

    /// tanh(x W + b).
    fn dense(
        &mut self,
        x: (ValueId, usize),
        settings: (InitScale, usize),
        name: (&At, &str),
        ops: &mut Vec<Op>,
    ) -> Result<ValueId, ModelError> {
        let net = self.affine(x, settings, name, ops)?;
        let out = self.value(x.1);
        ops.push(Op::Activation { x: net, f: Activation::Tanh, out });
        Ok(out)
    }

    /// These channels and all that they are made of, in the order of the encoder.
    fn with_parts(&self, names: Option<&[String]>, at: &At) -> Result<Vec<usize>, ModelError> {
        let mut wanted = self.dense_channels(names, at)?;
        let mut next = 0;
        while let Some(&channel) = wanted.get(next) {
            for part in &self.channels[channel].parts {
                let found = self.channels.iter().position(|c| c.name == *part);
                if let Some(found) = found.filter(|found| !wanted.contains(found)) {
                    wanted.push(found);
                }
            }
            next += 1;
        }
        wanted.sort_unstable();
        Ok(wanted)
    }
}
