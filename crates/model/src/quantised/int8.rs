//! Reads the tensors of an int8 network.

use super::chain::Chain;
use crate::error::ModelError;
use crate::native::int8::{Columns, FirstLayer, Int8Chain, Int8Layer, Int8Units};
use crate::native::kernels::int8::{Asymptote, Curve, Int8Isa, OUTPUTS, PIECES, PackedWeights, UNITS};
use crate::program::Program;
use crate::tensor::{ByName, Tensor};

/// The chains of layers in these tensors, packed for an instruction set.
///
/// # Errors
/// [`ModelError::Unsupported`] if the program has no such chains, or with the name of a tensor that is missing or does not fit.
pub(super) fn chains(
    program: &Program,
    tensors: &[Tensor],
    isa: Int8Isa,
) -> Result<Vec<Int8Chain>, ModelError> {
    let all = ByName::new(tensors);
    Chain::all_of(program, None)?
        .iter()
        .map(|(prefix, chain)| packed(chain, &all.within(prefix), isa))
        .collect()
}

/// The layers of a chain.
fn packed(chain: &Chain, found: &ByName<'_>, isa: Int8Isa) -> Result<Int8Chain, ModelError> {
    let (inputs, hidden) = (chain.layers[0].inputs, chain.layers[0].outputs);
    let padded = hidden.next_multiple_of(UNITS);
    let narrow = found.find("layer.0.weight", &[inputs, hidden])?.shorts()?;
    let mut weight = vec![0; inputs * padded];
    for (to, from) in weight.chunks_exact_mut(padded).zip(narrow.chunks_exact(hidden)) {
        to[..hidden].copy_from_slice(from);
    }
    let largest = |row: &[i16]| row.iter().map(|w| w.saturating_abs()).max().unwrap_or(0);
    let mut bias = found.find("layer.0.bias", &[hidden])?.shorts()?.to_vec();
    bias.resize(padded, 0);
    let first = FirstLayer {
        scale: found.find("input.scale", &[inputs])?.floats()?.to_vec(),
        largest: weight.chunks_exact(padded).map(|row| largest(row).into()).collect(),
        bound: i32::from(largest(&bias)) + 2 * inputs as i32,
        weight,
        bias,
        units: units(found, 0, hidden)?,
    };
    let mut layers = Vec::new();
    for (l, shape) in chain.layers.iter().enumerate().skip(1) {
        let (inputs, outputs) = (shape.inputs, shape.outputs);
        let (rows, width) = (inputs.next_multiple_of(UNITS), outputs.next_multiple_of(OUTPUTS));
        let weight = found.find(&format!("layer.{l}.weight"), &[inputs, outputs])?.small()?;
        let wide = |name: &str| -> Result<Vec<f32>, ModelError> {
            let mut all = found.find(&format!("layer.{l}.{name}"), &[outputs])?.floats()?.to_vec();
            all.resize(width, 0.0);
            Ok(all)
        };
        layers.push(Int8Layer {
            weight: PackedWeights::new(isa, weight, outputs, rows, width),
            inputs: rows,
            width,
            scale: wide("scale")?,
            bias: wide("bias")?,
            ones: vec![1.0; width],
            units: match l + 1 < chain.layers.len() {
                true => Some(units(found, l, outputs)?),
                false => None,
            },
        });
    }
    let columns: Vec<usize> = chain.columns.iter().map(|(column, _)| *column).collect();
    let columns = match columns.windows(2).all(|pair| pair[1] == pair[0] + 1) {
        true => Columns::Range(columns[0]..columns[0] + columns.len()),
        false => Columns::List(columns),
    };
    let last = &chain.layers[chain.layers.len() - 1];
    Ok(Int8Chain { columns, first, layers, outputs: last.outputs, last: last.f })
}

/// The activation of the units of a hidden layer.
pub(super) fn units(found: &ByName<'_>, layer: usize, units: usize) -> Result<Int8Units, ModelError> {
    let name = |part: &str| format!("layer.{layer}.{part}");
    let bad = |part: &str| {
        ModelError::Unsupported(format!("the tensor `{}` holds what no program writes", name(part)))
    };
    let form = found.find(&name("form"), &[3])?.integers()?;
    let values = found.find(&name("curve"), &[PIECES + 1])?.shorts()?;
    let bits = |n: u64| u32::try_from(n).ok().filter(|n| *n <= 15);
    let (Some(m), Some(d), Ok(values)) = (bits(form[0]), bits(form[1]), values.try_into()) else {
        return Err(bad("form"));
    };
    let asymptote = match form[2] {
        0 => Asymptote::None,
        1 => Asymptote::Relu,
        2 => Asymptote::Identity,
        _ => return Err(bad("form")),
    };
    let wide = |part: &str| -> Result<Vec<i16>, ModelError> {
        let mut all = found.find(&name(part), &[units])?.shorts()?.to_vec();
        all.resize(units.next_multiple_of(UNITS), 0);
        Ok(all)
    };
    let curve = Curve::new(asymptote, values, m, d).ok_or_else(|| bad("form"))?;
    Ok(Int8Units { curve, gain: wide("gain")?, zero: wide("zero")? })
}
