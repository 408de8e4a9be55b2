//! Games in GDL: `file:PATH.kif`, or `declared:NAME.kif` for a bundled one. See [`adept_declared`].

use crate::Family;
use adept_game::Found;

pub use adept_declared::{Described, Steps};

impl Family for Described {
    const USUAL: &str = adept_declared::USUAL_GDL;

    fn named(name: &str) -> Found<Self> {
        Described::named(name)
    }
}
