//! Parameters of a program: initial values, and their tensors in a checkpoint.

use crate::error::ModelError;
use crate::program::{Init, Param, Program};
use crate::tensor::{ByName, Tensor};
use rand::{Rng, RngExt};

impl Program {
    /// Draws initial parameters from the distributions of the program.
    pub fn draw(&self, rng: &mut dyn Rng) -> Vec<f32> {
        let mut flat = Vec::with_capacity(self.parameters());
        for param in &self.params {
            match param.init {
                Init::Constant(c) => flat.resize(flat.len() + param.len(), c),
                Init::Diagonal(a) => {
                    let entries = (0..param.len()).map(|i| i.is_multiple_of(param.shape[1] + 1));
                    flat.extend(entries.map(|is_on| if is_on { a } else { 0.0 }));
                }
                Init::Below(n) => flat.extend((0..param.len()).map(|_| rng.random_range(0..n) as f32)),
                Init::Uniform(a) => flat.extend((0..param.len()).map(|_| rng.random_range(-a..=a))),
            }
        }
        flat
    }

    /// The parameters of a flat vector as tensors, with `prefix` before each name.
    pub(crate) fn tensors(&self, prefix: &str, flat: &[f32]) -> Vec<Tensor> {
        let tensor = |p: &Param| {
            Tensor::f32(format!("{prefix}{}", p.name), p.shape.clone(), flat[p.offset..][..p.len()].to_vec())
        };
        self.params.iter().map(tensor).collect()
    }

    /// The parameters of a flat vector as tensors of a checkpoint.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the number of parameters is wrong.
    pub fn tensors_of(&self, flat: &[f32]) -> Result<Vec<Tensor>, ModelError> {
        let (found, expected) = (flat.len(), self.parameters());
        match found == expected {
            true => Ok(self.tensors("", flat)),
            false => {
                Err(ModelError::Unsupported(format!("{found} parameters given, the network has {expected}")))
            }
        }
    }

    /// The flat vector of the parameters in these tensors.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] with the name of the tensor that is missing, not finite or of another shape.
    pub fn parameters_in(&self, tensors: &[Tensor]) -> Result<Vec<f32>, ModelError> {
        self.flat("", tensors)
    }

    /// Like [`Self::parameters_in`], for tensors with `prefix` before their names.
    pub(crate) fn flat(&self, prefix: &str, tensors: &[Tensor]) -> Result<Vec<f32>, ModelError> {
        self.flat_of(prefix, tensors, |_| true)
    }

    /// The flat vector of the parameters that are constant, with 0 in place of all others.
    ///
    /// # Errors
    /// See [`Self::parameters_in`].
    pub(crate) fn fixed_in(&self, tensors: &[Tensor]) -> Result<Vec<f32>, ModelError> {
        self.flat_of("", tensors, |param| param.fixed)
    }

    fn flat_of(
        &self,
        prefix: &str,
        tensors: &[Tensor],
        reads: impl Fn(&Param) -> bool,
    ) -> Result<Vec<f32>, ModelError> {
        let mut flat = Vec::with_capacity(self.parameters());
        let tensors = ByName::new(tensors);
        for p in &self.params {
            if !reads(p) {
                flat.resize(flat.len() + p.len(), 0.0);
                continue;
            }
            let tensor = tensors.find(&format!("{prefix}{}", p.name), &p.shape)?;
            let entries = tensor.widened()?;
            if let Init::Below(n) = p.init
                && let Some(bad) = entries.iter().find(|v| v.fract() != 0.0 || !(0.0..n as f32).contains(*v))
            {
                return Err(ModelError::Unsupported(format!(
                    "the tensor `{}` holds {bad}, expected whole numbers below {n}",
                    tensor.name
                )));
            }
            flat.extend_from_slice(&entries);
        }
        Ok(flat)
    }

    /// Checks that all of these tensors are parameters.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] with the name of the first other tensor.
    pub(crate) fn refuse_unknown<'a>(
        &self,
        mut tensors: impl Iterator<Item = &'a Tensor>,
    ) -> Result<(), ModelError> {
        let Some(extra) = tensors.find(|t| self.params.iter().all(|p| p.name != t.name)) else {
            return Ok(());
        };
        Err(ModelError::Unsupported(format!(
            "the tensor `{}` does not belong to this architecture",
            extra.name
        )))
    }

    /// The error that names the first non-finite parameter, or the loss.
    pub(crate) fn name_divergence(&self, flat: &[f32]) -> ModelError {
        let bad = self.params.iter().find(|p| flat[p.offset..][..p.len()].iter().any(|v| !v.is_finite()));
        ModelError::Diverged { what: bad.map_or("loss".into(), |p| format!("parameter {}", p.name)) }
    }
}
