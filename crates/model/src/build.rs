//! From an architecture to a learner.

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

/// The learner of an architecture over rows of these channels, with one output and first parameters
/// drawn from `rng`. It learns by the native engine.
///
/// # Errors
/// [`ModelError::Architecture`] with the path of the key that cannot be built.
pub fn build(
    architecture: &Architecture,
    channels: &[Channel],
    optimiser: Optimiser,
    rng: &mut dyn Rng,
) -> Result<Box<dyn Learner>, ModelError> {
    build_on(architecture, channels, optimiser, Compute::default(), rng)
}

/// The same, learning by that engine on that device.
///
/// # Errors
/// As for [`build`]; [`ModelError::Unsupported`] if the device cannot be used, with what to do.
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
                "a lookup table learns entry by entry, not by tensors: use the native engine".into(),
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
            "the burn engine is not compiled into this program: build it with `cargo build --release --features flex`"
                .into(),
        )),
    }
}
