//! Quantised networks, which only predict: int8 and bf16 inference.
//!
//! A [`NumberFormat`] converts the parameters of a network to tensors of a checkpoint, and turns such tensors into layers of the
//! native engine, which computes the rest in floats.

mod bf16;
mod chain;
mod fit;
mod int8;

use crate::checkpoint::Manifest;
use crate::describe::{Description, TensorInfo};
use crate::error::ModelError;
use crate::head::Head;
use crate::native::{Forward, Int8Isa, Isa, Plan, Reduced};
use crate::predictor::{Explanation, Predictor, Usage, by_forward};
use crate::program::Program;
use crate::tensor::Tensor;
use adept_ground::limits::Claim;
use adept_rows::{Channel, Rows, RowsView};
use std::sync::Arc;

/// A number format of quantised networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFormat {
    /// 16-bit integers in the first layer, 8-bit integers in the others. For single networks with a hidden layer, and for experts of this
    /// kind that share no layers, if each row runs one of them.
    Int8,
    /// bfloat16 in layers of at least 32 inputs and 16 outputs, floats in the others. For all architectures but tables. Processors
    /// with AMX or AVX-512 BF16 multiply bfloat16 numbers faster than floats; others round the numbers and compute in floats.
    Bf16,
}

impl NumberFormat {
    /// All number formats.
    pub const ALL: [Self; 2] = [Self::Int8, Self::Bf16];

    /// Name in manifests.
    pub fn scheme(self) -> &'static str {
        match self {
            Self::Int8 => "i16-i8",
            Self::Bf16 => "bf16",
        }
    }

    /// The number format with this name in manifests.
    pub fn of_scheme(scheme: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.scheme() == scheme)
    }
}

/// A network with layers in a number format of reduced precision.
#[derive(Debug)]
pub struct QuantisedNetwork {
    format: NumberFormat,
    forward: Forward,
    /// As in a checkpoint.
    tensors: Arc<[Tensor]>,
    /// Memory that it claims as long as it lives.
    _claim: Claim,
}

impl QuantisedNetwork {
    /// Converts a network with these flat parameters. `rows` calibrate int8: they should be positions of games as they are played,
    /// because the ranges of inputs and units there give the scales, and rounding must not shift the mean sums there. bf16 ignores
    /// them.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the format does not suit the network, or if the number of parameters is wrong. Int8 needs
    /// single networks with a hidden layer, with weights and inputs that fit 16 bits; bf16 needs a large layer.
    ///
    /// # Panics
    /// If rows do not fit the program, or if there are none for int8.
    pub fn convert(
        format: NumberFormat,
        program: Arc<Program>,
        params: &[f32],
        rows: &Rows,
    ) -> Result<Self, ModelError> {
        let tensors = match format {
            NumberFormat::Int8 => fit::tensors(&program, params, rows)?,
            NumberFormat::Bf16 => bf16::tensors(&program, params)?,
        };
        Self::new(format, program, tensors.into())
    }

    /// Opens a quantised checkpoint.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if its scheme is unknown or does not suit its architecture, or if a tensor is missing or does not
    /// fit.
    pub fn open(manifest: &Manifest, tensors: &[Tensor]) -> Result<Self, ModelError> {
        let scheme = manifest.quantised.as_ref().map_or("", |q| &q.scheme);
        let Some(format) = NumberFormat::of_scheme(scheme) else {
            let [int8, bf16] = NumberFormat::ALL.map(NumberFormat::scheme);
            return Err(ModelError::Unsupported(format!(
                "it is quantised by the scheme `{scheme}`, this program reads `{int8}` and `{bf16}`: use a newer adept, or quantise the \
                 network again with `adept export --format quantised`"
            )));
        };
        let program = crate::lower(&manifest.architecture, &manifest.channels, &manifest.head)?;
        Self::new(format, Arc::new(program), tensors.into())
    }

    fn new(format: NumberFormat, program: Arc<Program>, tensors: Arc<[Tensor]>) -> Result<Self, ModelError> {
        // The layers hold the numbers of the tensors again.
        let held = 2 * tensors.iter().map(Tensor::bytes).sum::<u64>();
        let (plan, isa) = (Plan::new(program.clone(), false), Isa::detect());
        let (claim, params, layers) = match format {
            NumberFormat::Int8 => {
                let isa = Int8Isa::available()[0];
                let chains = int8::chains(&program, &tensors, isa)?;
                // All that learns is in the chains; tables pick one of several.
                let (claim, params) = match chains.len() {
                    1 => (Claim::new(held)?, Default::default()),
                    _ => {
                        let claim = Claim::new(held + 4 * program.parameters() as u64)?;
                        (claim, plan.pad(&program.fixed_in(&tensors)?))
                    }
                };
                (claim, params, Reduced::int8(&plan, chains, isa))
            }
            NumberFormat::Bf16 => {
                let claim = Claim::new(held + 4 * program.parameters() as u64)?;
                let params = plan.pad(&bf16::parameters(&program, &tensors)?);
                (claim, params, Reduced::bf16(&plan, isa))
            }
        };
        let forward = Forward::new(Arc::new(plan), params, isa, Some(layers));
        Ok(Self { format, forward, tensors, _claim: claim })
    }
}

impl Predictor for QuantisedNetwork {
    by_forward!();

    fn program(&self) -> Option<&Arc<Program>> {
        (self.format == NumberFormat::Bf16).then(|| self.forward.program())
    }

    fn describe(&self) -> Description {
        let mut described = self.forward.program().describe();
        described.bytes = self.tensors.iter().map(|tensor| tensor.bytes() as usize).sum();
        if self.format == NumberFormat::Int8 {
            let info = |tensor: &Tensor| TensorInfo {
                name: tensor.name.clone(),
                shape: tensor.shape.clone(),
                group: "quantised".into(),
                rate: 0.0,
            };
            described.tensors = self.tensors.iter().map(info).collect();
        }
        described
    }

    fn tensors(&mut self) -> Result<Vec<Tensor>, ModelError> {
        Ok(self.tensors.to_vec())
    }

    fn player(&mut self) -> Result<Box<dyn Predictor>, ModelError> {
        let claim = Claim::new(size_of_val(&self.forward.params[..]) as u64)?;
        let (format, forward, tensors) = (self.format, self.forward.copied(), self.tensors.clone());
        Ok(Box::new(Self { format, forward, tensors, _claim: claim }))
    }
}
