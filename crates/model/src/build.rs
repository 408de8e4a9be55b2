//! From an architecture to a learner.

use crate::architecture::Architecture;
use crate::channel::Channel;
use crate::error::ModelError;
use crate::learner::Learner;
use crate::lower::lower;
use crate::network::Network;
use crate::optimiser::Optimiser;
use crate::table::Table;
use rand::Rng;
use std::sync::Arc;

/// The learner of an architecture over rows of these channels, with one output and first parameters
/// drawn from `rng`.
///
/// # Errors
/// [`ModelError::Architecture`] with the path of the key that cannot be built.
pub fn build(
    architecture: &Architecture,
    channels: &[Channel],
    optimiser: Optimiser,
    rng: &mut dyn Rng,
) -> Result<Box<dyn Learner>, ModelError> {
    if let Architecture::Lookup(lookup) = architecture {
        return Ok(Box::new(Table::new(lookup, channels, optimiser)?));
    }
    let program = Arc::new(lower(architecture, channels, 1)?);
    let params = program.draw(rng);
    Ok(Box::new(Network::new(program, &params, optimiser)))
}
