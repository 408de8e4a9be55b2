//! What deliberations read: the conditions of rules.

use crate::deliberation::Condition;
use std::fmt::Write;

macro_rules! features {
    ($($name:ident),* $(,)?) => {
        /// What is read of a situation; the value beside it is a small number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Feature {
            $($name),*
        }

        const ALL: &[Feature] = &[$(Feature::$name),*];
    };
}

features! {
    Kind, Special, Count, Face, KnownFace, KnownWild, PushedFace, PushedWild, Rerolled, Unknown, OwnCup, OwnPushed,
    PassTrue, OneFacePushed, TargetCup, TargetPushed, BidderPushed, LastCount, LastFace, BidderCup, BidderUnknown, Exposed,
}

/// Values of [`Feature::Kind`].
pub(super) const BID: u8 = 0;
pub(super) const CHALLENGE: u8 = 1;
pub(super) const EXACT: u8 = 2;
pub(super) const PASS: u8 = 3;
pub(super) const CHALLENGE_PASS: u8 = 4;

/// Notes features as they are read.
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

fn plural(n: u8, one: &str) -> String {
    let numbers = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let number = numbers.get(usize::from(n)).map_or_else(|| n.to_string(), |n| (*n).to_string());
    format!("{number} {one}{}", if n == 1 { "" } else { "s" })
}

/// What a rule is for.
pub(super) fn operator(conditions: &[Condition], wild: Option<u8>) -> String {
    let get = |feature| value(conditions, feature).unwrap_or(0);
    let bid = |count, face| plural(get(count), &get(face).to_string());
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
                    let _ = write!(text, " pushing {}", plural(face, &get(Feature::Face).to_string()));
                    if let (Some(wilds), Some(wild)) = (wilds, wild) {
                        let _ = write!(text, " and {}", plural(wilds, &wild.to_string()));
                    }
                }
            }
            text
        }
    }
}

/// A condition in words; nothing for those that the operator tells.
pub(super) fn condition((feature, n): Condition) -> String {
    use Feature as F;
    let Some(feature) = ALL.get(usize::from(feature)) else { return String::new() };
    match feature {
        F::Kind | F::Count | F::Face | F::PushedFace | F::PushedWild => String::new(),
        F::Special if n == 0 => String::new(),
        F::Special => "the round is special".into(),
        F::KnownFace => format!("{} of that face known", plural(n, "die").replace("dies", "dice")),
        F::KnownWild => format!("{} known", plural(n, "wild die").replace("dies", "dice")),
        F::Rerolled => format!("{} to roll again", plural(n, "die").replace("dies", "dice")),
        F::Unknown => format!("{} unknown", plural(n, "die").replace("dies", "dice")),
        F::OwnCup => format!("{} under my cup", plural(n, "die").replace("dies", "dice")),
        F::OwnPushed => format!("{} pushed by me", plural(n, "die").replace("dies", "dice")),
        F::PassTrue => if n == 1 { "all my dice show one face" } else { "my dice show several faces" }.into(),
        F::OneFacePushed => {
            if n == 1 { "pushed dice of one face" } else { "pushed dice of several faces" }.into()
        }
        F::TargetCup => format!("{} under the cup of who passed", plural(n, "die").replace("dies", "dice")),
        F::TargetPushed => format!("{} pushed by who passed", plural(n, "die").replace("dies", "dice")),
        F::BidderPushed => if n == 1 { "the player pushed and rerolled" } else { "no push just now" }.into(),
        F::LastCount => format!("the previous bid has a count of {n}"),
        F::LastFace => format!("the previous bid is of {n}'s"),
        F::BidderCup => format!("the bidder has {} under the cup", plural(n, "die").replace("dies", "dice")),
        F::BidderUnknown => format!("{} unknown to the bidder", plural(n, "die").replace("dies", "dice")),
        F::Exposed => {
            format!("{} pushed that count for the previous bid", plural(n, "die").replace("dies", "dice"))
        }
    }
}
