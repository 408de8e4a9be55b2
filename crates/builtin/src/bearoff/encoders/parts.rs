//! Encoder parts: features that describe one side.

use crate::bearoff::{OneSided, POINTS, Side, Within};
use adept_game::{Channel, ChannelKind};
use std::borrow::Cow;
use std::sync::Arc;

/// A group of features of a side, independent of the other side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FeatureGroup {
    Bits,
    Simple,
    OneSided,
    /// The mean number of rolls.
    Rolls,
    Counts,
    /// The first terms of the distribution of the number of rolls.
    Distribution(usize),
    /// Gain from maximising the probability to finish within k rolls, for the first k.
    Haste(usize),
    /// Cells of a side, for symbolic gates: the number of cells, and the measure at which the last cell begins. The
    /// last cell includes everything beyond.
    Phase {
        cells: u16,
        end: u16,
    },
    /// The mean number of rolls, discretised to this many steps, as an index for learned cells.
    Pace(u16),
}

/// Precomputed solutions that the parts read.
pub(super) struct Solutions {
    pub(super) one_sided: Arc<OneSided>,
    /// Only for the part `haste`.
    pub(super) within: Option<Arc<Within>>,
}

/// Scale of the gains of `haste`, which are mostly a few hundredths.
const GAIN: f64 = 30.0;

/// Upper end of `pace`: slightly above the largest mean number of rolls.
const LONGEST: f64 = 14.0;

/// Bits per field, enough for 15 checkers.
const BITS: usize = 4;
/// The points, and one field for the checkers borne off.
const FIELDS: usize = POINTS + 1;
/// Inputs per side in both feature lists.
const FEATURES: usize = 6;
/// Mean pips of a roll: 49/6. Doubles count four times.
const PIPS_A_ROLL: f64 = 49.0 / 6.0;

impl FeatureGroup {
    /// Parses an encoder name without `+` into parts.
    pub(super) fn parse(word: &str) -> Option<Vec<Self>> {
        let mut words = word.split(':');
        let name = words.next()?;
        let numbers: Vec<u16> = words.map(|number| number.parse().ok()).collect::<Option<_>>()?;
        Some(match (name, &numbers[..]) {
            ("bits", []) => vec![Self::Bits],
            ("simple", []) => vec![Self::Bits, Self::Simple],
            ("one-sided", []) => vec![Self::Bits, Self::OneSided],
            ("race", []) => vec![Self::OneSided],
            ("rolls", []) => vec![Self::Rolls],
            ("counts", []) => vec![Self::Counts],
            ("distribution", []) => vec![Self::Distribution(12)],
            ("distribution", [k @ 1..=30]) => vec![Self::Distribution((*k).into())],
            ("haste", []) => vec![Self::Haste(12)],
            ("haste", [k @ 1..=30]) => vec![Self::Haste((*k).into())],
            ("phase", []) => vec![Self::Phase { cells: 4, end: 64 }],
            ("phase", [cells @ 2..=16]) => vec![Self::Phase { cells: *cells, end: 64 }],
            ("phase", [cells @ 2..=16, end @ 16..=112]) => vec![Self::Phase { cells: *cells, end: *end }],
            ("pace", []) => vec![Self::Pace(512)],
            ("pace", [steps @ 16..=4096]) => vec![Self::Pace(*steps)],
            _ => return None,
        })
    }

    /// Number of floats per side.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Bits => FIELDS * BITS,
            Self::Simple | Self::OneSided => FEATURES,
            Self::Rolls => 1,
            Self::Counts => POINTS,
            Self::Distribution(terms) | Self::Haste(terms) => *terms,
            Self::Phase { .. } | Self::Pace(_) => 0,
        }
    }

    /// Number of cells per side, for parts with cells, and whether each side has an index channel of its own.
    pub(super) fn cells(&self) -> Option<(u64, bool)> {
        match self {
            Self::Phase { cells, .. } => Some((u64::from(*cells), false)),
            Self::Pace(steps) => Some((u64::from(*steps), true)),
            _ => None,
        }
    }

    /// The channels: a shared one, or one per side.
    pub(super) fn channels(&self) -> Vec<Channel> {
        let Self::Pace(steps) = self else { return vec![self.channel()] };
        let channel = |name: &'static str, side: &str| {
            let about = format!(
                "{side}: the mean number of rolls to bear off, as {steps} equal steps of ln(mean + ½) from 1 to \
                 {LONGEST} rolls"
            );
            Channel::new(name, ChannelKind::Index(u64::from(*steps))).about(about)
        };
        vec![channel("pace_moved", "side that just moved"), channel("pace_to_roll", "side to roll")]
    }

    /// The channel that both sides share.
    fn channel(&self) -> Channel {
        let n = 2 * self.width();
        let (name, kind, about): (_, _, Cow<'static, str>) = match self {
            Self::Bits => (
                "bits",
                ChannelKind::Bits(n),
                "side that just moved 0..28, side to roll 28..56; each: checkers on point 1 (0..4), 2 (4..8), 3 \
                 (8..12), 4 (12..16), 5 (16..20), 6 (20..24), borne off (24..28); each number \
                 lowest bit first"
                    .into(),
            ),
            Self::Simple => (
                "simple",
                ChannelKind::Dense(n),
                "side that just moved 0..6, side to roll 6..12; each: pips / 20 (0), checkers / 7 (1), half the checkers \
                 rounded up / 4 (2), 1 if their number is odd (3), empty points below the highest checker / \
                 3 (4), checkers on \
                 point 1 / 4 (5)"
                    .into(),
            ),
            Self::OneSided => (
                "one_sided",
                ChannelKind::Dense(n),
                "side that just moved 0..6, side to roll 6..12; each: pips / 20 (0), checkers / 7 (1), mean number of \
                 rolls to bear off / 3 (2), its standard deviation (3), wastage (mean · 49/6 − pips) / 5 (4), 1 if \
                 the number of checkers is odd (5)"
                    .into(),
            ),
            Self::Rolls => (
                "rolls",
                ChannelKind::Dense(n),
                "side that just moved 0, side to roll 1; each: mean number of rolls to bear off / 3".into(),
            ),
            Self::Counts => (
                "counts",
                ChannelKind::Dense(n),
                "side that just moved 0..6, side to roll 6..12; each: checkers / 4 on the points 1 to 6".into(),
            ),
            Self::Distribution(terms) => (
                "distribution",
                ChannelKind::Dense(n),
                format!(
                    "side that just moved 0..{terms}, side to roll {terms}..{n}; each: twice the \
                     probability of bearing off \
                     in exactly 1, 2, … {terms} rolls when minimising the mean"
                )
                .into(),
            ),
            Self::Haste(terms) => (
                "haste",
                ChannelKind::Dense(n),
                format!(
                    "side that just moved 0..{terms}, side to roll {terms}..{n}; each: {GAIN} times the \
                     gain in the probability of bearing off within 1, 2, … {terms} rolls from aiming at that roll, \
                     compared with minimising the mean"
                )
                .into(),
            ),
            Self::Pace(_) => unreachable!("it has two channels"),
            Self::Phase { cells, end } => (
                "phase",
                ChannelKind::Index(u64::from(*cells).pow(2)),
                format!(
                    "{cells} · cell of the side that just moved + cell of the side to roll; a side's cell, 0 to {}, is its \
                     pips and twice its checkers in equal steps up to {end}; more is in the last cell",
                    cells - 1
                )
                .into(),
            ),
        };
        Channel::new(name, kind).about(about)
    }

    /// The number of rolls that the part needs from [`Within`].
    pub(super) fn within(&self) -> Option<usize> {
        if let Self::Haste(terms) = self { Some(*terms) } else { None }
    }

    /// Appends the floats of a side. The solutions must include the side.
    pub(super) fn write(&self, side: Side, solutions: &Solutions, floats: &mut Vec<f32>) {
        let solution = &solutions.one_sided;
        let (counts, checkers, pips) = (side.counts(), side.checkers(), f64::from(side.pips()));
        let odd = f32::from(checkers % 2);
        match self {
            Self::Bits => {
                let off = solution.checkers().saturating_sub(checkers);
                for number in counts.into_iter().chain([off]) {
                    floats.extend((0..BITS).map(|k| f32::from(number >> k & 1)));
                }
            }
            Self::Simple => {
                let highest = usize::from(side.highest());
                let gaps = counts[..highest].iter().filter(|&&c| c == 0).count();
                let half = f64::from(checkers.div_ceil(2));
                floats.extend([pips / 20.0, f64::from(checkers) / 7.0, half / 4.0].map(|v| v as f32));
                floats.extend([odd, gaps as f32 / 3.0, f32::from(counts[0]) / 4.0]);
            }
            Self::OneSided => {
                let (mean, sd) =
                    (solution.mean(side).unwrap_or(f64::NAN), solution.sd(side).unwrap_or(f64::NAN));
                let wastage = mean * PIPS_A_ROLL - pips;
                let values = [pips / 20.0, f64::from(checkers) / 7.0, mean / 3.0, sd, wastage / 5.0];
                floats.extend(values.map(|v| v as f32));
                floats.push(odd);
            }
            Self::Rolls => floats.push((solution.mean(side).unwrap_or(f64::NAN) / 3.0) as f32),
            Self::Counts => floats.extend(counts.map(|c| f32::from(c) / 4.0)),
            Self::Distribution(terms) => {
                let distribution = solution.distribution(side).unwrap_or(&[]);
                let term = |k: usize| distribution.get(k).map_or(0.0, |p| 2.0 * *p as f32);
                floats.extend((1..=*terms).map(term));
            }
            Self::Haste(terms) => {
                let within =
                    solutions.within.as_ref().and_then(|within| within.probabilities(side)).unwrap_or(&[]);
                let distribution = solution.distribution(side).unwrap_or(&[]);
                let mut off = distribution.first().copied().unwrap_or(0.0);
                for k in 0..*terms {
                    off += distribution.get(k + 1).unwrap_or(&0.0);
                    floats.push((GAIN * (within.get(k).unwrap_or(&f64::NAN) - off)) as f32);
                }
            }
            Self::Phase { .. } | Self::Pace(_) => {}
        }
    }

    /// The cell of a side. The measure is pips plus twice the checkers, in equal steps up to `end`. The last cell
    /// includes everything beyond.
    pub(super) fn cell(&self, side: Side, solutions: &Solutions) -> u16 {
        match *self {
            Self::Phase { cells, end } => {
                let left = side.pips() + 2 * u32::from(side.checkers());
                (left * u32::from(cells) / u32::from(end)).min(u32::from(cells) - 1) as u16
            }
            Self::Pace(steps) => {
                let mean = solutions.one_sided.mean(side).unwrap_or(f64::NAN);
                let place = |rolls: f64| (rolls + 0.5).ln();
                let share = (place(mean) - place(1.0)) / (place(LONGEST) - place(1.0));
                // Casting to an integer maps negative values to 0.
                ((share * f64::from(steps)) as u16).min(steps - 1)
            }
            _ => 0,
        }
    }
}
