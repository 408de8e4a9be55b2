//! Agreement of the ranks of a run: all of them go on, or none does.

use super::error::TrainError;
use adept_model::Learner;
use adept_model::native::Isa;
use adept_ranks::Ranks;
use rustc_hash::FxHasher;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::hash::Hasher;

/// Checks that all ranks round alike: that their processors have the same instructions, and that they run the same program.
pub(super) fn check_same_machines(ranks: &Ranks) -> Result<(), TrainError> {
    if !ranks.are_several() {
        return Ok(());
    }
    let mine = format!("{:?}, revision {}", Isa::detect(), crate::REVISION);
    let all = ranks.collect(mine.as_bytes());
    let Some(other) = all.iter().position(|one| *one != all[0]) else { return Ok(()) };
    let text = |rank: usize| String::from_utf8_lossy(&all[rank]).into_owned();
    Err(TrainError::Ranks(format!(
        "rank 0 computes with {}, rank {other} with {}: results would depend on who computes what. Choose machines of one kind, \
         and one program",
        text(0),
        text(other)
    )))
}

/// The result of the first rank, which alone has one. The others fail where it fails.
pub(super) fn agree<T: Serialize + DeserializeOwned>(
    ranks: &Ranks,
    mine: Option<Result<T, TrainError>>,
) -> Result<T, TrainError> {
    let unreadable = |e: serde_json::Error| TrainError::Elsewhere(e.to_string());
    if !ranks.are_several() {
        return mine.unwrap_or_else(|| Err(TrainError::Elsewhere("no rank has a result".into())));
    }
    let said = match &mine {
        Some(Ok(result)) => Some(serde_json::to_vec(&Ok::<_, String>(result)).map_err(unreadable)?),
        Some(Err(error)) => Some(serde_json::to_vec(&Err::<T, _>(error.to_string())).map_err(unreadable)?),
        None => None,
    };
    let heard = ranks.from_first(said);
    if let Some(mine) = mine {
        return mine;
    }
    serde_json::from_slice::<Result<T, String>>(&heard).map_err(unreadable)?.map_err(TrainError::Elsewhere)
}

/// Checks that all ranks have the same parameters after this step, which is counted in `unit`.
pub(super) fn check_same_parameters(
    ranks: &Ranks,
    learner: &mut dyn Learner,
    step: u64,
    unit: &str,
) -> Result<(), TrainError> {
    if !ranks.are_several() || learner.program().is_none() {
        return Ok(());
    }
    let mut flat = Vec::new();
    learner.weights(&mut flat)?;
    let mut hash = FxHasher::default();
    flat.iter().for_each(|x| hash.write_u32(x.to_bits()));
    let all = ranks.collect(&hash.finish().to_ne_bytes());
    match all.iter().position(|one| *one != all[0]) {
        None => Ok(()),
        Some(rank) => Err(TrainError::Ranks(format!(
            "rank {rank} has other parameters than rank 0 after {step} {unit}: its machine computes differently. The last \
             checkpoint is intact"
        ))),
    }
}
