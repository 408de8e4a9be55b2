//! Small published networks inside the program, so that games can be played in any folder.

use adept::model::checkpoint::Inside;

macro_rules! inside {
    ($($name:literal,)+) => {
        pub(crate) const NETWORKS: &[Inside] = &[$(Inside {
            name: $name,
            manifest: include_bytes!(concat!("../published/", $name, "/manifest.json")),
            weights: include_bytes!(concat!("../published/", $name, "/weights.safetensors")),
        },)+];
    };
}

inside! {
    "backgammon/small-88-24",
    "bearoff/residual-16-8",
    "hypergammon/exact-256-64",
    "holdem/limit-2-meta-pi",
    "holdem/limit-6",
    "liars-dice/soar-net",
    "liars-dice/soar-net-four",
    "liars-dice/regrets-f6",
    "liars-dice/post-net",
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept::model::checkpoint;
    use std::path::{Path, PathBuf};

    /// Limit on the bytes of all networks.
    const MOST: usize = 1_000_000;

    #[test]
    fn networks_inside_are_small_and_whole() {
        let bytes: usize = NETWORKS.iter().map(|inside| inside.manifest.len() + inside.weights.len()).sum();
        assert!(bytes <= MOST, "{bytes}");
        checkpoint::add_inside(NETWORKS);
        for inside in NETWORKS {
            let path = PathBuf::from(format!("built-in:{}", inside.name));
            assert!(checkpoint::is_inside(&path));
            assert_eq!(checkpoint::locate(&path, false).unwrap(), path);
            let read = checkpoint::read(&path).unwrap();
            assert!(read.manifest.strength.is_some(), "{} has no measured strength", inside.name);
            assert!(!read.tensors.is_empty());
            assert!(checkpoint::locate(&path.join("card.md"), false).is_err());
        }
        // The folder of this package has no checkpoints.
        let inside = PathBuf::from("built-in:backgammon/small-88-24");
        for name in
            ["checkpoints/backgammon/small-88-24", "backgammon/small-88-24", "small-88-24", "backgammon"]
        {
            assert_eq!(checkpoint::locate(Path::new(name), false).unwrap(), inside, "{name}");
        }
        for name in ["backgammons", "checkpoints", "../small-88-24", "/backgammon/small-88-24", ""] {
            assert!(checkpoint::locate(Path::new(name), false).is_err(), "{name}");
        }
        let error = checkpoint::locate(Path::new("backgammon/no-such"), false).unwrap_err().to_string();
        for place in ["the working folder", "ADEPT_HOME", "share/adept", "inside the program"] {
            assert!(error.contains(place), "{error}");
        }
        for unknown in ["built-in:backgammon", "built-in:backgammon/small-88-24x"] {
            assert!(checkpoint::locate(Path::new(unknown), false).is_err(), "{unknown}");
        }
    }
}
