//! The classes of results that a game may end in.

use serde::{Deserialize, Serialize};

/// A class of results of a game, for one player: `win`, `draw`, `loss`.
///
/// ```
/// use adept_rows::OutcomeClass;
///
/// let classes = OutcomeClass::loss_draw_win();
/// let chances = [0.2, 0.3, 0.5];
/// let value: f32 = classes.iter().zip(chances).map(|(class, p)| class.utility * p).sum();
/// assert!((value - 0.3).abs() < 1e-6);
/// assert_eq!(classes[classes[0].mirror].name, "win");
/// ```
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
    /// ```
    /// use adept_rows::OutcomeClass;
    ///
    /// let classes = [OutcomeClass::new("lost", -1.0, 1), OutcomeClass::new("won", 2.0, 0)];
    /// assert_eq!(OutcomeClass::check(&classes).unwrap_err(), "the class `won` is worth 2, outside −1..1");
    /// ```
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

/// The classes of a list that are possible, a bit each. Classes from the 65th on always are.
///
/// ```
/// use adept_rows::{OutcomeClass, OutcomeMask};
///
/// let classes = OutcomeClass::loss_draw_win();
/// let no_win = OutcomeMask::of(&classes, |class| class.utility < 1.0);
/// assert!(no_win.allows(1) && !no_win.allows(2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OutcomeMask(u64);

impl OutcomeMask {
    /// All classes.
    pub const ALL: Self = Self(u64::MAX);

    /// The classes that satisfy `possible`.
    #[inline]
    pub fn of(classes: &[OutcomeClass], possible: impl Fn(&OutcomeClass) -> bool) -> Self {
        let bits = classes.iter().take(64).enumerate();
        Self(bits.fold(u64::MAX, |bits, (k, class)| bits & !(u64::from(!possible(class)) << k)))
    }

    /// Whether the class with this number is possible.
    #[inline]
    pub fn allows(self, class: usize) -> bool {
        class >= 64 || self.0 >> class & 1 == 1
    }

    /// A bit for each class, the first in the lowest; 1 if it is possible.
    #[inline]
    pub fn bits(self) -> u64 {
        self.0
    }

    /// The mask with these [`bits`](Self::bits).
    #[inline]
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Whether all classes are possible.
    #[inline]
    pub fn is_all(self) -> bool {
        self == Self::ALL
    }

    /// The classes that are possible in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The same for the other player of a two-player game.
    ///
    /// ```
    /// use adept_rows::{OutcomeClass, OutcomeMask};
    ///
    /// let classes = OutcomeClass::loss_win();
    /// let cannot_win = OutcomeMask::of(&classes, |class| class.name != "win");
    /// let other = cannot_win.mirrored(&classes); // the other player cannot lose
    /// assert!(!other.allows(0) && other.allows(1));
    /// ```
    #[must_use]
    pub fn mirrored(self, classes: &[OutcomeClass]) -> Self {
        let all = (0..classes.len().min(64)).filter(|&k| !self.allows(classes[k].mirror));
        Self(all.fold(u64::MAX, |bits, k| bits & !(1 << k)))
    }

    /// Sets the probabilities of impossible classes to 0 and divides the others by their sum. Where nothing is left, the possible
    /// classes are equally probable. NaN stays NaN. Without a possible class, nothing changes.
    ///
    /// ```
    /// use adept_rows::{OutcomeClass, OutcomeMask};
    ///
    /// let mask = OutcomeMask::of(&OutcomeClass::loss_draw_win(), |class| class.name != "draw");
    /// let mut chances = [0.25, 0.5, 0.25];
    /// mask.restrict(&mut chances);
    /// assert_eq!(chances, [0.5, 0.0, 0.5]);
    /// ```
    #[inline]
    pub fn restrict(self, probabilities: &mut [f32]) {
        if !(0..probabilities.len()).any(|class| self.allows(class)) {
            return;
        }
        let mut sum = 0.0;
        for (class, p) in probabilities.iter_mut().enumerate() {
            *p = if self.allows(class) { *p } else { 0.0 };
            sum += *p;
        }
        if sum < f32::MIN_POSITIVE {
            let possible = (0..probabilities.len()).filter(|&class| self.allows(class)).count();
            let equal = 1.0 / possible as f32;
            let p = probabilities.iter_mut().enumerate();
            p.for_each(|(class, p)| *p = if self.allows(class) { equal } else { 0.0 });
        } else {
            let factor = 1.0 / sum;
            probabilities.iter_mut().for_each(|p| *p *= factor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_classes_lose_their_probability_to_the_others() {
        let classes = OutcomeClass::loss_draw_win();
        let mask = OutcomeMask::of(&classes, |class| class.utility < 1.0);
        assert_eq!([0, 1, 2, 64, 255].map(|k| mask.allows(k)), [true, true, false, true, true]);
        assert!(!mask.is_all() && OutcomeMask::of(&classes, |_| true).is_all());
        let other = mask.mirrored(&classes);
        assert_eq!([0, 1, 2].map(|k| other.allows(k)), [false, true, true]);
        assert_eq!(other.mirrored(&classes), mask);
        assert_eq!([0, 1, 2].map(|k| mask.and(other).allows(k)), [false, true, false]);
        assert_eq!(OutcomeMask::from_bits(mask.bits()), mask);
        let restricted = |mut p: [f32; 3]| {
            mask.restrict(&mut p);
            p
        };
        assert_eq!(restricted([0.125, 0.375, 0.5]), [0.25, 0.75, 0.0]);
        assert_eq!(restricted([0.0, 0.0, 1.0]), [0.5, 0.5, 0.0]);
        assert!(restricted([f32::NAN; 3])[0].is_nan());
        let mut p = [0.2, 0.8];
        OutcomeMask::of(&classes, |_| false).restrict(&mut p);
        assert_eq!(p, [0.2, 0.8]);
    }

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
