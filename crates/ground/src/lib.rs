//! The ground floor: what every crate may need, and what knows nothing of games or models.
//!
//! [`limits`] bounds what comes from outside, and reads files within these bounds. [`files`] writes them so that a crash loses
//! nothing. [`notes`] and [`work`] tell whoever runs a program what happens and how far it is, [`profile`] where its time goes.
//! [`places`] finds published networks and tables. [`jobs`] uses several threads, [`order`] sorts. [`shown`] makes text from outside safe to print.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

pub mod files;
pub mod jobs;
pub mod limits;
pub mod notes;
pub mod order;
pub mod places;
pub mod profile;
pub mod shown;
pub mod work;
