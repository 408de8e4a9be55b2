//! Safetensors files in the layout of PyTorch.
//!
//! Tensors have the same names as in a checkpoint, such as `expert.1.layer.0.weight`. They match a `torch.nn.Module`
//! with parts `layer`, `gate`, `expert` and `net`. Weights have the shape of `torch.nn.Linear`, `[outputs, inputs]`; in
//! a checkpoint they are `[inputs, outputs]`. Biases and sensitivities are `[outputs]`.

use crate::bf16::from_bf16;
use crate::checkpoint::{from_bytes, to_bytes};
use crate::error::ModelError;
use crate::tensor::{Tensor, TensorData};
use safetensors::SafeTensors;

/// The metadata entry that describes the tensors.
const ENTRY: &str = "adept";

/// Converts tensors of a checkpoint to a safetensors file, with the description `about` as metadata entry `adept`.
///
/// # Errors
/// [`ModelError::Safetensors`] if serialisation fails.
pub fn to_torch(tensors: &[Tensor], about: String) -> Result<Vec<u8>, ModelError> {
    let turned: Vec<Tensor> = tensors.iter().map(turn).collect();
    Ok(to_bytes(&turned.iter().collect::<Vec<_>>(), Some((ENTRY, about)))?)
}

/// Converts a safetensors file to tensors of a checkpoint. Also returns the description, which files saved by PyTorch
/// do not have.
///
/// # Errors
/// [`ModelError::Unsupported`] if it is not a safetensors file, or if it holds types other than F32 and U64.
pub fn from_torch(bytes: &[u8]) -> Result<(Vec<Tensor>, Option<String>), ModelError> {
    let tensors = from_bytes(bytes).map_err(|e| {
        ModelError::Unsupported(format!(
            "{e}; save it with `safetensors.torch.save_file(model.float().state_dict(), FILE)`"
        ))
    })?;
    let (_, header) = SafeTensors::read_metadata(bytes)?;
    let about = header.metadata().as_ref().and_then(|m| m.get(ENTRY).cloned());
    Ok((tensors.iter().map(turn).collect(), about))
}

/// The shape that PyTorch gives a tensor of this name and shape: a weight has its outputs first.
pub fn torch_shape(name: &str, shape: &[usize]) -> Vec<usize> {
    match shape {
        [inputs, outputs] if is_weight(name) => vec![*outputs, *inputs],
        _ => shape.to_vec(),
    }
}

/// Whether a tensor is the weight of a layer, which PyTorch keeps transposed.
fn is_weight(name: &str) -> bool {
    name == "weight" || name.ends_with(".weight")
}

/// Transposes weights, and widens numbers of bfloat16; returns other tensors unchanged.
fn turn(tensor: &Tensor) -> Tensor {
    if let TensorData::Bf16(data) = &tensor.data {
        let wide = data.iter().map(|&v| from_bf16(v)).collect();
        return turn(&Tensor::f32(tensor.name.clone(), tensor.shape.clone(), wide));
    }
    match (&tensor.shape[..], &tensor.data) {
        (&[rows, columns], TensorData::F32(data)) if is_weight(&tensor.name) => {
            let turned = (0..columns).flat_map(|c| (0..rows).map(move |r| data[r * columns + c])).collect();
            Tensor::f32(tensor.name.clone(), vec![columns, rows], turned)
        }
        _ => tensor.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model that PyTorch saved in bfloat16.
    #[test]
    fn numbers_of_bfloat16_are_widened_and_turned() {
        let bits = [0x3f80, 0xc000, 0x3e00, 0x0000, 0x4049, 0x8000];
        let weight = Tensor::bf16("layer.0.weight", vec![3, 2], bits.to_vec());
        let bytes = to_bytes(&[&weight], None).unwrap();
        let (found, _) = from_torch(&bytes).unwrap();
        let expected = vec![1.0, 0.125, 3.140_625, -2.0, 0.0, -0.0];
        assert_eq!(found, [Tensor::f32("layer.0.weight", vec![2, 3], expected)]);
    }

    #[test]
    fn weights_are_turned_and_come_back() {
        let weight = Tensor::f32("gate.layer.0.weight", vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let bias = Tensor::f32("gate.layer.0.bias", vec![3], vec![7.0, 8.0, 9.0]);
        let bytes = to_torch(&[weight.clone(), bias.clone()], "two tensors".into()).unwrap();
        let plain = from_bytes(&bytes).unwrap();
        assert_eq!(
            plain[1],
            Tensor::f32("gate.layer.0.weight", vec![3, 2], vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0])
        );
        assert_eq!(from_torch(&bytes).unwrap(), (vec![bias, weight], Some("two tensors".into())));
        assert!(from_torch(b"nothing").unwrap_err().to_string().contains("safetensors"));
    }
}
