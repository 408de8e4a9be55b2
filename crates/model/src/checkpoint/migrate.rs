//! Migrates manifests of older formats to the current one.
//!
//! | format | change |
//! |---|---|
//! | 1 | first version |
//! | 2 | `init` is a list, each origin with its part; `training.play` is a list, one generator per worker |
//! | 3 | `output`, which was `values` or `logits`, is the `head`: `value`, `policy` or classes of outcomes |
//!
//! To add a format: add a row above, a step below, and a run of the old format to `tests/data` of the trainer.

use serde_json::{Value, json};

/// Steps from format n to n + 1, from n = 1 on.
const STEPS: [fn(&mut Value); 2] = [one_to_two, two_to_three];

/// Migrates a manifest of an older format to [`FORMAT`](super::FORMAT).
pub(super) fn manifest(value: &mut Value, format: u64) {
    for (from, step) in (1..).zip(STEPS) {
        if from >= format {
            step(value);
        }
    }
    value["format"] = json!(super::FORMAT);
}

fn two_to_three(value: &mut Value) {
    let output = value.as_object_mut().and_then(|manifest| manifest.remove("output"));
    if let Some(output) = output {
        value["head"] = if output == "logits" { json!("policy") } else { json!("value") };
    }
}

fn one_to_two(value: &mut Value) {
    if let Some(init @ Value::Object(_)) = value.get_mut("init") {
        *init = json!([init.take()]);
    }
    if let Some(play @ Value::Object(_)) = value.pointer_mut("/training/play") {
        *play = json!([play.take()]);
    }
}
