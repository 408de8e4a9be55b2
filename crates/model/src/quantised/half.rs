//! Networks in bfloat16 numbers, for play: large layers multiply numbers of 16 bits and add floats.
//!
//! Processors with AMX or AVX-512 BF16 multiply them faster than floats; others compute with rounded floats. All architectures but
//! tables are possible.

use super::Quantised;
use crate::bf16::{from_bf16, to_bf16};
use crate::build::memory;
use crate::checkpoint::Manifest;
use crate::describe::Description;
use crate::error::ModelError;
use crate::head::Head;
use crate::native::{affine_layers, suits_bf16};
use crate::network::Network;
use crate::optimiser::Optimiser;
use crate::predictor::{Explanation, Predictor, Usage};
use crate::program::{ParamId, Program};
use crate::tensor::{Tensor, TensorData};
use adept_ground::limits::Claim;
use adept_rows::{Channel, Rows, RowsView};
use std::collections::HashSet;
use std::sync::Arc;

/// The scheme of networks whose large layers have weights in bfloat16.
pub const BF16: &str = "bf16";

/// A network whose large layers are evaluated in bfloat16.
#[derive(Debug)]
pub struct Halved {
    network: Network,
    /// As in a checkpoint.
    tensors: Arc<Vec<Tensor>>,
}

/// Opens a checkpoint that only plays, by its scheme.
///
/// # Errors
/// As [`Quantised::open`], or if a weight of a large layer is not in bfloat16.
pub fn open_quantised(manifest: &Manifest, tensors: &[Tensor]) -> Result<Box<dyn Predictor>, ModelError> {
    if manifest.quantised.as_ref().is_none_or(|of| of.scheme != BF16) {
        return Ok(Box::new(Quantised::open(manifest, tensors)?));
    }
    let program = Arc::new(crate::lower(&manifest.architecture, &manifest.channels, &manifest.head)?);
    Ok(Box::new(Halved::of(program, Arc::new(tensors.to_vec()))?))
}

/// The weights of layers that are evaluated in bfloat16.
fn weights(program: &Program) -> HashSet<ParamId> {
    let mut layers = Vec::new();
    affine_layers(&program.body, &mut layers);
    let weights = layers.into_iter().map(|(weight, _)| weight);
    weights
        .filter(|&id| {
            let shape = &program.params[id].shape;
            suits_bf16(shape[0], shape[1])
        })
        .collect()
}

impl Halved {
    /// The network with these flat parameters, its large layers rounded to the nearest numbers.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if no layer is large enough, or if the number of parameters is wrong.
    pub fn round(program: Arc<Program>, flat: &[f32]) -> Result<Self, ModelError> {
        let weights = weights(&program);
        if weights.is_empty() {
            return Err(ModelError::Unsupported(
                "only layers of at least 32 inputs and 16 outputs are computed in bfloat16, and this network has no such layer: it \
                 would not become faster"
                    .into(),
            ));
        }
        let mut tensors = program.tensors_of(flat)?;
        for id in weights {
            if let TensorData::F32(data) = &tensors[id].data {
                let data = data.iter().map(|&w| to_bf16(w)).collect();
                tensors[id].data = TensorData::Bf16(data);
            }
        }
        Self::of(program, Arc::new(tensors))
    }

    fn of(program: Arc<Program>, tensors: Arc<Vec<Tensor>>) -> Result<Self, ModelError> {
        let known = |t: &&Tensor| program.params.iter().any(|p| p.name == t.name);
        if let Some(extra) = tensors.iter().find(|t| !known(t)) {
            return Err(ModelError::Unsupported(format!(
                "the tensor `{}` does not belong to this architecture",
                extra.name
            )));
        }
        let held: u64 = tensors.iter().map(Tensor::bytes).sum();
        let claim = Claim::new(memory(&program, Optimiser::default()) + held)?;
        let mut flat = program.parameters_in(&tensors)?;
        for id in weights(&program) {
            let param = &program.params[id];
            let weight = &mut flat[param.offset..][..param.len()];
            weight.iter_mut().filter(|w| w.is_subnormal()).for_each(|w| *w = 0.0);
            if weight.iter().any(|&w| from_bf16(to_bf16(w)) != w) {
                return Err(ModelError::Unsupported(format!(
                    "the tensor `{}` holds numbers that are not in bfloat16",
                    param.name
                )));
            }
        }
        let mut network = Network::new(program, &flat, Optimiser::default());
        network.claim = Some(claim);
        network.halve();
        Ok(Self { network, tensors })
    }
}

impl Predictor for Halved {
    fn channels(&self) -> &[Channel] {
        self.network.channels()
    }

    fn head(&self) -> &Head {
        self.network.head()
    }

    fn evaluate(&mut self, rows: &Rows, values: &mut Vec<f32>) {
        self.network.evaluate(rows, values);
    }

    fn evaluate_view(&mut self, rows: RowsView<'_>, values: &mut Vec<f32>) {
        self.network.evaluate_view(rows, values);
    }

    fn outputs(&mut self, rows: &Rows, outputs: &mut Vec<f32>) {
        self.network.outputs(rows, outputs);
    }

    fn explain(&mut self, rows: &Rows) -> Explanation {
        self.network.explain(rows)
    }

    fn has_parts(&self) -> bool {
        self.network.has_parts()
    }

    fn usage(&self) -> Option<Usage> {
        self.network.usage()
    }

    fn reset_usage(&mut self) {
        self.network.reset_usage();
    }

    fn program(&self) -> Option<&Arc<Program>> {
        Some(self.network.program())
    }

    fn describe(&self) -> Description {
        let bytes = self.tensors.iter().map(|tensor| tensor.bytes() as usize).sum();
        Description { bytes, ..self.network.describe() }
    }

    fn tensors(&mut self) -> Result<Vec<Tensor>, ModelError> {
        Ok(self.tensors.to_vec())
    }

    fn player(&mut self) -> Result<Box<dyn Predictor>, ModelError> {
        Ok(Box::new(Self::of(self.network.program().clone(), self.tensors.clone())?))
    }
}
