//! Builds the learner of an architecture.

use crate::architecture::Architecture;
use crate::device::{Compute, Engine};
use crate::error::ModelError;
use crate::learner::Learner;
use crate::lower::lower;
use crate::network::Network;
use crate::optimiser::Optimiser;
use crate::program::Program;
use crate::table::Table;
use adept_rows::{Channel, limits};
use rand::Rng;
use std::sync::Arc;

/// Less memory than this is taken without asking how much there is.
const SMALL: u64 = 1 << 27;

/// About how many bytes a learner takes at least: parameters, gradient and moments, a copy of parameters and moments for a
/// checkpoint, and the values of 64 rows with their derivatives.
fn memory(program: &Program, optimiser: Optimiser) -> u64 {
    let moments = match optimiser {
        Optimiser::Sgd(_) => 1,
        Optimiser::Adam(_) | Optimiser::Soap(_) => 2,
    };
    let (parameters, widths) =
        (program.parameters() as u64, program.widths.iter().map(|&w| w as u64).sum::<u64>());
    4 * parameters * (2 + moments + 1 + moments) + 4 * 2 * 64 * widths
}

/// Builds the learner of an architecture over rows of these channels, with one output and initial parameters from
/// `rng`. It learns on the native engine.
///
/// # Errors
/// [`ModelError::Architecture`] with the path of the invalid key; [`ModelError::Memory`].
pub fn build(
    architecture: &Architecture,
    channels: &[Channel],
    optimiser: Optimiser,
    rng: &mut dyn Rng,
) -> Result<Box<dyn Learner>, ModelError> {
    build_on(architecture, channels, optimiser, Compute::default(), rng)
}

/// Like [`build`], with the engine and device of `compute`.
///
/// # Errors
/// As for [`build`]; [`ModelError::Unsupported`] if the device is not available. The message says what to do.
pub fn build_on(
    architecture: &Architecture,
    channels: &[Channel],
    optimiser: Optimiser,
    compute: Compute,
    rng: &mut dyn Rng,
) -> Result<Box<dyn Learner>, ModelError> {
    compute.check().map_err(ModelError::Unsupported)?;
    if let Architecture::Lookup(lookup) = architecture {
        if compute.engine == Engine::Burn {
            return Err(ModelError::Unsupported(
                "a lookup table does not learn with tensors: use the native engine".into(),
            ));
        }
        return Ok(Box::new(Table::new(lookup, channels, optimiser)?));
    }
    let program = Arc::new(lower(architecture, channels, 1)?);
    let needed = memory(&program, optimiser);
    if needed > SMALL
        && let Some(free) = limits::free_memory().filter(|free| *free < needed)
    {
        return Err(ModelError::Memory { needed, free });
    }
    let params = program.draw(rng);
    match compute.engine {
        Engine::Native => Ok(Box::new(Network::new(program, &params, optimiser))),
        #[cfg(feature = "burn")]
        Engine::Burn => {
            let device = compute.device.open()?;
            Ok(Box::new(crate::burn_engine::BurnNetwork::new(program, &params, optimiser, device)?))
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
            lower(&serde_json::from_str(&text).unwrap(), &channels, 1).unwrap()
        };
        let bytes = |hidden| memory(&program(hidden), Optimiser::default());
        assert!(bytes(80) < SMALL);
        // 550 million parameters.
        assert!(bytes(50_000_000) > 4 * 550_000_000 * 5, "{}", bytes(50_000_000));
    }
}
