//! Builds the learner of an architecture.

use crate::architecture::Architecture;
use crate::device::{Compute, Engine};
use crate::error::ModelError;
use crate::learner::Learner;
use crate::lower::lower;
use crate::network::Network;
use crate::optimiser::Optimiser;
use crate::table::Table;
use adept_rows::Channel;
use rand::Rng;
use std::sync::Arc;

/// Builds the learner of an architecture over rows of these channels, with one output and initial parameters from
/// `rng`. It learns on the native engine.
///
/// # Errors
/// [`ModelError::Architecture`] with the path of the invalid key.
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
