//! Features that deliberation reads, the conditions of rules.

use adept_game::deliberation::Condition;
use std::fmt::Write;

macro_rules! features {
    ($($name:ident),* $(,)?) => {
        /// A feature of a situation. Its value is a small number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(in crate::liars_dice) enum Feature {
            $($name),*
        }

        const ALL: &[Feature] = &[$(Feature::$name),*];
    };
}

features! {
    Kind, Special, Count, Face, KnownFace, KnownWild, PushedFace, PushedWild, Rerolled, Unknown, OwnCup, OwnPushed,
    PassTrue, OneFacePushed, TargetCup, TargetPushed, BidderPushed, LastCount, LastFace, BidderCup, BidderUnknown, Exposed,
}

/// The position of a feature in a packed rule: first bit and number of bits. Features of bids and of passes share bits,
/// because they never occur together. The stored number is the value plus 1; 0 means that the feature was not read.
const PLACES: [(Feature, u32, u32); 22] = {
    use Feature as F;
    [
        (F::Kind, 0, 3),
        (F::Special, 3, 2),
        (F::Count, 5, 5),
        (F::Face, 10, 3),
        (F::KnownFace, 13, 4),
        (F::KnownWild, 17, 4),
        (F::PushedFace, 21, 3),
        (F::PushedWild, 24, 3),
        (F::Rerolled, 27, 3),
        (F::Unknown, 30, 5),
        (F::OwnCup, 3, 3),
        (F::OwnPushed, 6, 3),
        (F::PassTrue, 9, 2),
        (F::OneFacePushed, 11, 2),
        (F::TargetCup, 13, 3),
        (F::TargetPushed, 16, 3),
        (F::BidderPushed, 35, 2),
        (F::LastCount, 37, 5),
        (F::LastFace, 42, 3),
        (F::BidderCup, 45, 3),
        (F::BidderUnknown, 48, 5),
        (F::Exposed, 53, 4),
    ]
};

/// Whether the templates of the paper's baseline test this condition.
pub(in crate::liars_dice) fn in_templates(condition: Condition) -> bool {
    use Feature as F;
    let tested = [F::Kind, F::Count, F::Face, F::KnownFace, F::KnownWild, F::Unknown, F::PassTrue];
    tested.iter().any(|feature| *feature as u8 == condition.0)
}

/// Packs conditions into one number. Values that are too large are stored as the largest possible value.
pub(in crate::liars_dice) fn pack(conditions: &[Condition]) -> u64 {
    conditions.iter().fold(0, |packed, (feature, value)| {
        let (_, shift, bits) = PLACES[usize::from(*feature).min(PLACES.len() - 1)];
        packed | (u64::from(*value) + 1).min((1 << bits) - 1) << shift
    })
}

/// The conditions of a packed rule.
pub(in crate::liars_dice) fn unpack(packed: u64) -> Vec<Condition> {
    let at = |shift: u32, bits: u32| (packed >> shift & ((1 << bits) - 1)) as u8;
    let of_pass = at(0, 3) > PASS;
    let there = |feature: Feature| {
        use Feature as F;
        match feature {
            F::OwnCup | F::OwnPushed | F::PassTrue | F::OneFacePushed | F::TargetCup | F::TargetPushed => {
                of_pass
            }
            F::Special | F::Count | F::Face | F::KnownFace | F::KnownWild => !of_pass,
            F::PushedFace | F::PushedWild | F::Rerolled | F::Unknown => !of_pass,
            _ => true,
        }
    };
    let read = PLACES.iter().filter(|(feature, shift, bits)| there(*feature) && at(*shift, *bits) > 0);
    read.map(|(feature, shift, bits)| (*feature as u8, at(*shift, *bits) - 1)).collect()
}

/// Values of [`Feature::Kind`].
pub(super) const BID: u8 = 0;
pub(super) const CHALLENGE: u8 = 1;
pub(super) const EXACT: u8 = 2;
pub(super) const PASS: u8 = 3;
pub(super) const CHALLENGE_PASS: u8 = 4;

/// Records features as they are read.
#[derive(Debug, Default)]
pub(super) struct Reader(pub(super) Vec<Condition>);

impl Reader {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    #[inline]
    pub(super) fn note(&mut self, feature: Feature, value: u8) {
        self.0.push((feature as u8, value));
    }
}

fn value(conditions: &[Condition], feature: Feature) -> Option<u8> {
    conditions.iter().find(|c| c.0 == feature as u8).map(|c| c.1)
}

/// Small numbers as words.
fn number(n: u8) -> String {
    let numbers = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    numbers.get(usize::from(n)).map_or_else(|| n.to_string(), |n| (*n).to_string())
}

/// A number of a face, such as "five 2's".
fn of_face(n: u8, face: u8) -> String {
    format!("{} {face}{}", number(n), if n == 1 { "" } else { "'s" })
}

/// A number of dice, such as "two dice".
fn dice(n: u8) -> String {
    format!("{} {}", number(n), if n == 1 { "die" } else { "dice" })
}

/// The action that a rule proposes.
pub(super) fn operator(conditions: &[Condition], wild: Option<u8>) -> String {
    let get = |feature| value(conditions, feature).unwrap_or(0);
    let bid = |count, face| of_face(get(count), get(face));
    match get(Feature::Kind) {
        CHALLENGE => format!("challenge a bid of {}", bid(Feature::Count, Feature::Face)),
        EXACT => format!("call {} exact", bid(Feature::Count, Feature::Face)),
        PASS => "pass".into(),
        CHALLENGE_PASS => "challenge a pass".into(),
        _ => {
            let mut text = format!("bid {}", bid(Feature::Count, Feature::Face));
            match (value(conditions, Feature::PushedFace), value(conditions, Feature::PushedWild)) {
                (None, _) => text.push_str(" with no push"),
                (Some(face), wilds) => {
                    let _ = write!(text, " pushing {}", of_face(face, get(Feature::Face)));
                    if let (Some(wilds), Some(wild)) = (wilds, wild) {
                        let _ = write!(text, " and {}", of_face(wilds, wild));
                    }
                }
            }
            text
        }
    }
}

/// A condition as text. Empty for conditions that are part of the action's text.
pub(super) fn condition((feature, n): Condition) -> String {
    use Feature as F;
    let Some(feature) = ALL.get(usize::from(feature)) else { return String::new() };
    match feature {
        F::Kind | F::Count | F::Face | F::PushedFace | F::PushedWild => String::new(),
        F::Special if n == 0 => String::new(),
        F::Special => "the round is special".into(),
        F::KnownFace => format!("{} of that face known", dice(n)),
        F::KnownWild => format!("{} known", dice(n).replace("di", "wild di")),
        F::Rerolled => format!("{} to roll again", dice(n)),
        F::Unknown => format!("{} unknown", dice(n)),
        F::OwnCup => format!("{} under my cup", dice(n)),
        F::OwnPushed => format!("{} pushed by me", dice(n)),
        F::PassTrue => if n == 1 { "all my dice show one face" } else { "my dice show several faces" }.into(),
        F::OneFacePushed => {
            if n == 1 { "pushed dice of one face" } else { "pushed dice of several faces" }.into()
        }
        F::TargetCup => format!("{} under the cup of who passed", dice(n)),
        F::TargetPushed => format!("{} pushed by who passed", dice(n)),
        F::BidderPushed => if n == 1 { "the player pushed and rerolled" } else { "no push just now" }.into(),
        F::LastCount => format!("the previous bid has a count of {n}"),
        F::LastFace => format!("the previous bid is of {n}'s"),
        F::BidderCup => format!("the bidder has {} under the cup", dice(n)),
        F::BidderUnknown => format!("{} unknown to the bidder", dice(n)),
        F::Exposed => {
            format!("{} pushed that count for the previous bid", dice(n))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_rules_are_read_back() {
        use Feature as F;
        let bid = [
            (F::Kind, BID),
            (F::Special, 0),
            (F::Count, 5),
            (F::Face, 2),
            (F::KnownFace, 2),
            (F::KnownWild, 1),
            (F::PushedFace, 2),
            (F::PushedWild, 1),
            (F::Rerolled, 2),
            (F::Unknown, 1),
            (F::BidderPushed, 0),
            (F::LastCount, 2),
            (F::LastFace, 1),
            (F::BidderCup, 1),
            (F::BidderUnknown, 5),
            (F::Exposed, 0),
        ];
        let pass =
            [(F::Kind, CHALLENGE_PASS), (F::OneFacePushed, 1), (F::TargetCup, 3), (F::TargetPushed, 2)];
        for rule in [&bid[..], &pass[..]] {
            let rule: Vec<Condition> = rule.iter().map(|(f, v)| (*f as u8, *v)).collect();
            let mut found = unpack(pack(&rule));
            found.sort_unstable();
            let mut expected = rule.clone();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
        // Every feature is at its own index of the list.
        assert!(PLACES.iter().enumerate().all(|(i, (f, ..))| *f as usize == i) && ALL.len() == PLACES.len());
    }

    #[test]
    fn rules_read_like_those_of_the_paper() {
        use Feature as F;
        let rule =
            |rule: &[(Feature, u8)]| -> Vec<Condition> { rule.iter().map(|(f, v)| (*f as u8, *v)).collect() };
        let one = rule(&[
            (F::Kind, BID),
            (F::Count, 5),
            (F::Face, 2),
            (F::KnownFace, 1),
            (F::KnownWild, 0),
            (F::Unknown, 4),
        ]);
        let conditions: Vec<String> = one.iter().map(|c| condition(*c)).filter(|t| !t.is_empty()).collect();
        assert_eq!(operator(&one, Some(1)), "bid five 2's with no push");
        assert_eq!(
            conditions.join(" and "),
            "one die of that face known and no wild dice known and four dice unknown"
        );
        let two =
            rule(&[(F::Kind, BID), (F::Count, 5), (F::Face, 2), (F::PushedFace, 2), (F::PushedWild, 1)]);
        assert_eq!(operator(&two, Some(1)), "bid five 2's pushing two 2's and one 1");
        let three = rule(&[(F::Kind, CHALLENGE), (F::Count, 2), (F::Face, 1)]);
        assert_eq!(operator(&three, Some(1)), "challenge a bid of two 1's");
    }
}
