//! Builds the learner of an architecture.

use crate::architecture::{Architecture, Form};
use crate::blind::BlindLearner;
use crate::device::{Compute, Engine};
use crate::error::ModelError;
use crate::head::Head;
use crate::learner::Learner;
use crate::lower::lower;
use crate::native::WIDEST;
use crate::network::Network;
use crate::optimiser::Optimiser;
use crate::program::Program;
use crate::table::Table;
use adept_ground::limits::Claim;
use adept_rows::Channel;
use rand::Rng;
use std::sync::Arc;

/// About how many bytes a learner takes at least: parameters, gradient and moments, a copy of parameters and moments for a
/// checkpoint, the values of 64 rows with their derivatives, and the bases of SOAP.
pub(crate) fn memory(program: &Program, optimiser: Optimiser) -> u64 {
    let (moments, bases) = match optimiser {
        Optimiser::Sgd(_) => (1, 0),
        Optimiser::Adam(_) => (2, 0),
        Optimiser::Soap(_) => (2, soap_memory(program)),
    };
    let (parameters, widths) =
        (program.parameters() as u64, program.widths.iter().map(|&w| w as u64).sum::<u64>());
    4 * parameters * (2 + moments + 1 + moments) + 4 * 2 * 64 * widths + bases
}

/// Bytes of the bases of all layers.
fn soap_memory(program: &Program) -> u64 {
    let side = |n: usize| if (2..=WIDEST).contains(&n) { 3 * (n * n) as u64 } else { 0 };
    let layer = |shape: &[usize]| match shape {
        [inputs, outputs] => side(inputs + 1) + side(*outputs),
        _ => 0,
    };
    4 * program.params.iter().map(|p| layer(&p.shape) + p.len() as u64).sum::<u64>()
}

/// Builds the learner of an architecture over rows of these channels, with the outputs of `head` and initial parameters
/// from `rng`. It learns on the native engine.
///
/// # Errors
/// [`ModelError::Architecture`] with the path of the invalid key; [`ModelError::Memory`].
pub fn build(
    architecture: &Architecture,
    channels: &[Channel],
    head: &Head,
    optimiser: Optimiser,
    rng: &mut dyn Rng,
) -> Result<Box<dyn Learner>, ModelError> {
    build_on(architecture, channels, head, optimiser, Compute::default(), rng)
}

/// Like [`build`], with the engine and device of `compute`.
///
/// # Errors
/// As for [`build`]; [`ModelError::Unsupported`] if the device is not available. The message says what to do.
pub fn build_on(
    architecture: &Architecture,
    channels: &[Channel],
    head: &Head,
    optimiser: Optimiser,
    compute: Compute,
    rng: &mut dyn Rng,
) -> Result<Box<dyn Learner>, ModelError> {
    compute.check().map_err(ModelError::Unsupported)?;
    if architecture.grows() && compute.engine == Engine::Burn {
        return Err(ModelError::Unsupported(
            "a lookup table and the blind learner do not learn with tensors: use the native engine".into(),
        ));
    }
    match architecture.form() {
        Form::Table(lookup) => return Ok(Box::new(Table::new(lookup, channels, head, optimiser)?)),
        Form::Blind(blind) => return Ok(Box::new(BlindLearner::new(blind, channels, head, optimiser)?)),
        Form::Network => {}
    }
    let program = Arc::new(lower(architecture, channels, head)?);
    let claim = Claim::new(memory(&program, optimiser))?;
    let params = program.draw(rng);
    match compute.engine {
        Engine::Native => {
            let mut network = Network::new(program, &params, optimiser);
            network.claim = Some(claim);
            Ok(Box::new(network))
        }
        #[cfg(feature = "burn")]
        Engine::Burn => {
            let device = compute.device.open()?;
            let mut network = crate::burn_engine::BurnNetwork::new(program, &params, optimiser, device)?;
            network.claim = Some(claim);
            Ok(Box::new(network))
        }
        #[cfg(not(feature = "burn"))]
        Engine::Burn => Err(ModelError::Unsupported(
            "this program was built without the burn engine: rebuild it with `cargo build --release --features flex`"
                .into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_rows::ChannelKind;

    #[test]
    fn memory_grows_with_parameters_and_widths() {
        let channels = [Channel::new("x", ChannelKind::Dense(9))];
        let program = |hidden: usize| {
            let text = format!(r#"{{"mlp": {{"hidden": [{hidden}]}}}}"#);
            lower(&serde_json::from_str(&text).unwrap(), &channels, &Head::Value).unwrap()
        };
        let bytes = |hidden| memory(&program(hidden), Optimiser::default());
        assert!(bytes(80) < 1 << 20);
        // Two layers, [10, 2000] and [2001, 1] with their biases: three matrices a side of 10, 2000 and 2001. A single output
        // has none.
        let soap = memory(&program(2000), Optimiser::Soap(Default::default()));
        assert!(soap >= bytes(2000) + 4 * 3 * (10 * 10 + 2000 * 2000 + 2001 * 2001), "{soap}");
        // 550 million parameters.
        assert!(bytes(50_000_000) > 4 * 550_000_000 * 5, "{}", bytes(50_000_000));
    }
}
