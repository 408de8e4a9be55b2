//! Games from rule files: `file:PATH`, or `declared:NAME` for a bundled one. See [`adept_declared`].

use crate::Family;
use adept_game::Found;

pub use adept_declared::Declared;

impl Family for Declared {
    const USUAL: &str = adept_declared::USUAL;

    fn named(name: &str) -> Found<Self> {
        Declared::named(name)
    }
}
