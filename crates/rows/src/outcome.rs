//! The classes of results that a game may end in.

use serde::{Deserialize, Serialize};

/// A class of results of a game, for one player: `win`, `draw`, `loss`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeClass {
    /// Its name, unique in the list of classes.
    pub name: String,
    /// What it is worth to the player, in the unit of values, [−1, 1].
    pub utility: f32,
    /// The index of the class that the other player of a two-player game is in. Its mirror is this class.
    pub mirror: usize,
}

impl OutcomeClass {
    /// A class.
    pub fn new(name: impl Into<String>, utility: f32, mirror: usize) -> Self {
        Self { name: name.into(), utility, mirror }
    }

    /// The classes loss and win, worth −1 and 1.
    pub fn loss_win() -> Vec<Self> {
        vec![Self::new("loss", -1.0, 1), Self::new("win", 1.0, 0)]
    }

    /// The classes loss, draw and win, worth −1, 0 and 1.
    pub fn loss_draw_win() -> Vec<Self> {
        vec![Self::new("loss", -1.0, 2), Self::new("draw", 0.0, 1), Self::new("win", 1.0, 0)]
    }

    /// Checks a list of classes.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence.
    pub fn check(classes: &[Self]) -> Result<(), String> {
        if !(2..=adept_ground::limits::OUTCOMES).contains(&classes.len()) {
            let (most, found) = (adept_ground::limits::OUTCOMES, classes.len());
            return Err(format!("outcomes have 2 to {most} classes, found {found}"));
        }
        for (i, class) in classes.iter().enumerate() {
            let Self { name, utility, mirror } = class;
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(fits) {
                return Err(format!(
                    "`{name}` does not name a class: write lower-case letters, digits and `_`"
                ));
            }
            if classes[..i].iter().any(|other| other.name == *name) {
                return Err(format!("two classes have the name `{name}`"));
            }
            if !(-1.0..=1.0).contains(utility) {
                return Err(format!("the class `{name}` is worth {utility}, outside −1..1"));
            }
            if classes.get(*mirror).is_none_or(|other| other.mirror != i) {
                return Err(format!("the mirror of the class `{name}` does not mirror it"));
            }
        }
        if classes.iter().all(|class| class.utility == classes[0].utility) {
            return Err("all classes are worth the same".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_classes_are_checked() {
        assert_eq!(OutcomeClass::check(&OutcomeClass::loss_win()), Ok(()));
        assert_eq!(OutcomeClass::check(&OutcomeClass::loss_draw_win()), Ok(()));
        let broken = |change: fn(&mut Vec<OutcomeClass>), word: &str| {
            let mut classes = OutcomeClass::loss_draw_win();
            change(&mut classes);
            let error = OutcomeClass::check(&classes).unwrap_err();
            assert!(error.contains(word), "{error}");
        };
        broken(|c| c.truncate(1), "2 to");
        broken(|c| c[0].name = "Loss".into(), "lower-case");
        broken(|c| c[0].name = "win".into(), "two classes");
        broken(|c| c[2].utility = 2.0, "outside");
        broken(|c| c[2].mirror = 1, "mirror");
        broken(|c| c[2].mirror = 7, "mirror");
        broken(|c| c.iter_mut().for_each(|class| class.utility = 0.0), "worth the same");
    }
}
