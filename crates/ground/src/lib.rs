//! Basic services for all crates, independent of games and models.
//!
//! [`limits`] bounds untrusted input, and reads files within these bounds. [`files`] writes files crash-safely.
//! [`notes`] and [`work`] report events and progress, [`profile`] measures where time goes. [`places`] finds published
//! networks and tables. [`jobs`] runs threads, [`shared`] caches constants that they share, [`order`] sorts. [`shown`]
//! makes untrusted text safe to print.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

pub mod files;
pub mod jobs;
pub mod limits;
pub mod notes;
pub mod order;
pub mod places;
pub mod profile;
pub mod shared;
pub mod shown;
pub mod work;
