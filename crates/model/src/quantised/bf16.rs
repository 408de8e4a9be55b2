//! Tensors of a bf16 network: those of a network, with the weights of large layers in bfloat16.

use crate::bf16::{from_bf16, to_bf16};
use crate::error::ModelError;
use crate::native::{affine_layers, suits_bf16};
use crate::program::{ParamId, Program};
use crate::tensor::{Tensor, TensorData};
use std::collections::HashSet;

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

/// The tensors of a network with these flat parameters.
///
/// # Errors
/// [`ModelError::Unsupported`] if no layer is large enough, or if the number of parameters is wrong.
pub(super) fn tensors(program: &Program, flat: &[f32]) -> Result<Vec<Tensor>, ModelError> {
    let weights = weights(program);
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
    Ok(tensors)
}

/// The flat parameters in these tensors.
///
/// # Errors
/// [`ModelError::Unsupported`] with the name of a tensor that is missing, unknown or of another shape, or that holds numbers that are
/// not finite, or not in bfloat16.
pub(super) fn parameters(program: &Program, tensors: &[Tensor]) -> Result<Vec<f32>, ModelError> {
    program.refuse_unknown(tensors.iter())?;
    let mut flat = program.parameters_in(tensors)?;
    for id in weights(program) {
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
    Ok(flat)
}
