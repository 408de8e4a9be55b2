//! The doubling cube: equities and decisions from the chances of a game without a cube.
//!
//! The value of a position lies between that with a dead cube, which is never turned again, and that with a live cube, which is
//! turned at the optimal moment: E = (1 − x) · dead + x · live, with the efficiency x of the cube. A live cube's value is linear in
//! the chance to win between losing, the point where the opponent cashes, the point where this side cashes, and winning. In money games
//! see Janowski, Take-Points in Money Games (1993). In matches values are chances to win the match, by a table of
//! [match equities](MatchEquities), and the cash points follow by recursion from the highest useful cube. With the same chances,
//! values agree with those of GNU Backgammon 1.07 at 0 ply.

mod ends;
mod equities;
pub mod study;

pub use crate::doubling::{CubeAction, CubeOwner};
pub use equities::{Games, MOST_POINTS, MatchEquities};

use super::{Phase, Position};
use adept_ground::{limits, notes, places};
pub(super) use ends::End;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The highest cube value. Without a limit, two sides that both think they are ahead would double forever.
pub const HIGHEST: u32 = 64;

/// Chances this close to 0 or 1 have a dead cube.
const CERTAIN: f64 = 1e-7;

/// The scoring of games: points, or a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scoring {
    /// Points.
    Money {
        /// Whether gammons count one point until the cube is turned.
        jacoby: bool,
    },
    /// A match.
    Match {
        /// Points that the side to roll and its opponent need, from 1. More than [`MOST_POINTS`] count as these.
        away: [u32; 2],
        /// Whether this is the Crawford game, in which nobody doubles.
        crawford: bool,
    },
}

/// The cube and the score, seen by the side to roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Terms {
    /// Value of the cube, a power of 2.
    pub cube: u32,
    /// The side that may turn it.
    pub owner: CubeOwner,
    /// Money, or the score of a match.
    pub scoring: Scoring,
}

/// The efficiency x of the cube by the phase of the game, as in GNU Backgammon 1.07.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Efficiency {
    /// With contact.
    pub contact: f64,
    /// In races: base, increase for each pip of the side to roll, least and most.
    pub race: [f64; 4],
    /// All checkers home.
    pub bearoff: f64,
}

impl Default for Efficiency {
    fn default() -> Self {
        Self { contact: 0.68, race: [0.55, 0.00125, 0.6, 0.7], bearoff: 0.6 }
    }
}

impl Efficiency {
    /// The efficiency at a position, before the roll of the side that is `own` there.
    pub fn at(&self, position: Position) -> f64 {
        match position.phase() {
            Phase::Contact | Phase::Crashed => self.contact,
            Phase::Bearoff => self.bearoff,
            Phase::Race => {
                let [base, slope, least, most] = self.race;
                (base + slope * f64::from(position.own.pips())).clamp(least, most)
            }
        }
    }
}

/// The result classes of [`Backgammon`](super::Backgammon), in the order of [`Chances::of_classes`].
pub const CLASSES: [&str; 6] =
    ["loss_backgammon", "loss_gammon", "loss", "win", "win_gammon", "win_backgammon"];

/// A side's chances in a game without a cube.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chances {
    /// Probability of winning.
    win: f64,
    /// Shares of single games, gammons and backgammons among wins.
    wins: [f64; 3],
    /// The same among losses.
    losses: [f64; 3],
}

/// The mean points of a win or a loss with these shares, from 1 to 3.
fn points(shares: [f64; 3]) -> f64 {
    shares[0] + 2.0 * shares[1] + 3.0 * shares[2]
}

impl Chances {
    /// Converts the probabilities of [`CLASSES`] for this side: loses a backgammon, a gammon, a single game; wins a
    /// single game, a gammon, a backgammon.
    pub fn of_classes(classes: [f64; 6]) -> Self {
        let [lb, lg, l, w, wg, wb] = classes;
        let shares = |of: [f64; 3]| {
            let all: f64 = of.iter().sum();
            if all > 0.0 { of.map(|p| p / all) } else { [1.0, 0.0, 0.0] }
        };
        Self { win: w + wg + wb, wins: shares([w, wg, wb]), losses: shares([l, lg, lb]) }
    }

    /// Converts an equity in points, as if all games were single.
    pub fn of_equity(equity: f64) -> Self {
        let single = [1.0, 0.0, 0.0];
        Self { win: ((1.0 + equity) / 2.0).clamp(0.0, 1.0), wins: single, losses: single }
    }

    /// Probability of winning.
    pub fn win(self) -> f64 {
        self.win
    }

    /// The equity without a cube, in points.
    pub fn equity(self) -> f64 {
        self.win * points(self.wins) - (1.0 - self.win) * points(self.losses)
    }

    /// The same chances from the opponent's view.
    #[must_use]
    pub fn other(self) -> Self {
        Self { win: 1.0 - self.win, wins: self.losses, losses: self.wins }
    }
}

/// The values of a position for the side to roll, in points for each unit of the cube. In a match, such a point is half of the
/// difference in match winning chance between winning and losing the cube's value, which is called EMG: −1 is a lost single
/// game, and 1 a won one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CubeValues {
    /// Without a cube.
    pub cubeless: f64,
    /// If the side rolls without doubling.
    pub no_double: f64,
    /// If it doubles and the opponent takes. None if it may not double.
    pub double_take: Option<f64>,
    /// If it doubles and the opponent drops: 1. None if it may not double.
    pub double_pass: Option<f64>,
    /// The best action.
    pub action: CubeAction,
}

impl CubeValues {
    /// Compares the values of a decision. `double_take` is none if the side may not double.
    pub fn new(cubeless: f64, no_double: f64, double_take: Option<f64>) -> Self {
        let action = match double_take {
            // A side that gains nothing by doubling keeps the cube.
            Some(take) if take.min(1.0) > no_double => CubeAction::best(no_double, take, 0.0),
            Some(take) if take >= 1.0 && no_double > 1.0 => CubeAction::TooGood,
            _ => CubeAction::NoDouble,
        };
        Self { cubeless, no_double, double_take, double_pass: double_take.map(|_| 1.0), action }
    }

    /// Whether the side doubles.
    pub fn doubles(&self) -> bool {
        matches!(self.action, CubeAction::DoubleTake | CubeAction::DoublePass)
    }

    /// Whether the opponent takes a double. It takes where taking and dropping are worth the same.
    pub fn takes(&self) -> bool {
        self.double_take.is_none_or(|take| take <= 1.0)
    }

    /// The value with the best action of both sides.
    pub fn value(&self) -> f64 {
        match self.double_take {
            Some(take) => self.no_double.max(take.min(1.0)),
            None => self.no_double,
        }
    }
}

/// A model of the cube: match equities and efficiencies.
#[derive(Clone, Debug, PartialEq)]
pub struct CubeModel {
    /// The chance to win a match by its score.
    pub equities: MatchEquities,
    /// The efficiency of the cube.
    pub efficiency: Efficiency,
}

impl Default for CubeModel {
    /// Kazaross-XG2, and the efficiencies of GNU Backgammon.
    fn default() -> Self {
        Self { equities: MatchEquities::usual().clone(), efficiency: Efficiency::default() }
    }
}

impl CubeModel {
    /// The model by which backgammon is played: that [of](Self::of) 15 checkers.
    pub fn usual() -> &'static Self {
        Self::of(15)
    }

    /// The model by which games with this many checkers a side are played. The match equities are those of a file `.csv` or `.xml` where networks
    /// and tables are found, if there is one: `datasets/hypergammon-match-equities` for three checkers, else `datasets/match-equities`. Without a
    /// file they are [`MatchEquities::hypergammon`] and [`MatchEquities::usual`]. A file that cannot be read is named in a warning, and left out.
    pub fn of(checkers: u8) -> &'static Self {
        static HYPERGAMMON: LazyLock<CubeModel> = LazyLock::new(|| {
            let equities = MatchEquities::hypergammon();
            CubeModel::with_file("datasets/hypergammon-match-equities", Games::HYPERGAMMON, equities)
        });
        static USUAL: LazyLock<CubeModel> = LazyLock::new(|| {
            CubeModel::with_file("datasets/match-equities", Games::BACKGAMMON, MatchEquities::usual())
        });
        if checkers == 3 { &HYPERGAMMON } else { &USUAL }
    }

    /// The model with the match equities of a file, if there is one, else with these.
    fn with_file(file: &str, games: Games, usual: &MatchEquities) -> Self {
        let read = |path: PathBuf| {
            let text = limits::read_text(&path, limits::CONFIG_BYTES).map_err(|e| e.to_string());
            let read = text.and_then(|text| MatchEquities::parse(&text, games));
            let warn = |why: &String| {
                notes::warn(&format!("{}: {why}; the usual match equities are used", path.display()));
            };
            read.inspect_err(warn).ok()
        };
        let files = ["csv", "xml"].map(|kind| Path::new(file).with_extension(kind));
        let found = files.iter().find_map(|file| places::find(file)).and_then(read);
        let equities = found.unwrap_or_else(|| usual.clone());
        // Better efficiencies for hypergammon would be set here.
        Self { equities, efficiency: Efficiency::default() }
    }

    /// The values of a position for the side to roll, which is `own` there, from its chances. They are exact for bear-offs in which each side has
    /// borne off a checker and has at most six left, or four in a match.
    pub fn values(&self, position: Position, chances: Chances, terms: Terms) -> CubeValues {
        if let Some(exact) = End::of(&self.equities, position, terms).and_then(|end| end.equities()) {
            let cubeless = self.cubeless(chances, terms);
            return CubeValues::new(cubeless, exact.no_double, exact.double_take);
        }
        self.values_at(self.efficiency.at(position), chances, terms)
    }

    /// Whether [`Self::values`] are exact here.
    pub(super) fn is_exact(&self, position: Position, terms: Terms) -> bool {
        End::of(&self.equities, position, terms).is_some_and(|end| end.equities().is_some())
    }

    /// The same with a cube of this efficiency, in [0, 1].
    pub fn values_at(&self, efficiency: f64, chances: Chances, terms: Terms) -> CubeValues {
        let double_take = terms.may_double().then(|| self.after_take(efficiency, chances, terms));
        CubeValues::new(self.cubeless(chances, terms), self.equity(efficiency, chances, terms), double_take)
    }

    /// The equity without a cube.
    fn cubeless(&self, chances: Chances, terms: Terms) -> f64 {
        match terms.scoring {
            Scoring::Money { .. } => chances.equity(),
            Scoring::Match { .. } => self.equity(0.0, chances, terms),
        }
    }

    /// The equity of the side to roll after it has doubled and its opponent has taken, for each unit of the cube before the double.
    pub fn after_take(&self, efficiency: f64, chances: Chances, terms: Terms) -> f64 {
        let after = Terms { cube: 2 * terms.cube, owner: CubeOwner::Theirs, ..terms };
        match Score::of(&self.equities, terms) {
            None => 2.0 * self.equity(efficiency, chances, after),
            Some(score) => score.emg(terms.cube, score.chance(efficiency, chances, after)),
        }
    }

    /// Whether the opponent of the side to roll takes a double, also one that the side had no right to.
    pub fn takes(&self, position: Position, chances: Chances, terms: Terms) -> bool {
        let exact = End::of(&self.equities, position, terms).and_then(|end| end.after_take());
        exact.unwrap_or_else(|| self.after_take(self.efficiency.at(position), chances, terms)) <= 1.0
    }

    /// The equity of the side to roll while nobody doubles now, for each unit of the cube. An efficiency of 0 means a dead cube.
    pub fn equity(&self, efficiency: f64, chances: Chances, terms: Terms) -> f64 {
        match Score::of(&self.equities, terms) {
            None => money(efficiency, chances, terms),
            Some(score) => score.emg(terms.cube, score.chance(efficiency, chances, terms)),
        }
    }

    /// The chances to win from which the side to roll doubles, and from which its opponent passes, if the shares of gammons stay as they
    /// are. None where it may not double, and for a point that there is not, as where it is never right to double.
    pub fn points(&self, position: Position, chances: Chances, terms: Terms) -> [Option<f64>; 2] {
        let efficiency = self.efficiency.at(position);
        let at = |win: f64| self.values_at(efficiency, Chances { win, ..chances }, terms);
        // Values grow with the chance to win, so that a decision changes once: at the first of these steps, then within it.
        let first = |holds: &dyn Fn(CubeValues) -> bool| {
            let steps = 200;
            let chance = |step: i32| f64::from(step) / f64::from(steps);
            let step = (1..steps).find(|step| holds(at(chance(*step))))?;
            let (mut low, mut high) = (chance(step - 1), chance(step));
            for _ in 0..30 {
                let middle = (low + high) / 2.0;
                if holds(at(middle)) { high = middle } else { low = middle }
            }
            Some(high)
        };
        if !terms.may_double() {
            return [None, None];
        }
        [first(&|values| values.doubles()), first(&|values| !values.takes())]
    }

    /// Whether the side to roll, which has doubled, accepts a beaver in a money game: it plays on for twice the value, with the cube
    /// at the opponent.
    pub fn takes_beaver(&self, position: Position, chances: Chances) -> bool {
        let terms = Terms { owner: CubeOwner::Theirs, ..Terms::money(false) };
        let exact = End::of(&self.equities, position, terms).and_then(|end| end.value());
        2.0 * exact.unwrap_or_else(|| self.equity(self.efficiency.at(position), chances, terms)) >= -1.0
    }

    /// The chance of the side to roll to win the match, or none in money games, of an equity for each unit of the cube.
    pub fn match_chance_of(&self, equity: f64, terms: Terms) -> Option<f64> {
        let score = Score::of(&self.equities, terms)?;
        let [lost, won] = [-1, 1].map(|sign| score.after(sign * terms.cube as i32));
        Some((lost + won) / 2.0 + equity * (won - lost) / 2.0)
    }
}

impl Terms {
    /// A money game with the cube in the middle.
    pub fn money(jacoby: bool) -> Self {
        Self { cube: 1, owner: CubeOwner::Centred, scoring: Scoring::Money { jacoby } }
    }

    /// Whether the side to roll may double, and could gain by it: not the opponent's cube, not in the Crawford game, not above the
    /// limit, and not where it wins the match with the cube as it is.
    pub fn may_double(&self) -> bool {
        self.owner != CubeOwner::Theirs
            && self.cube < HIGHEST
            && match self.scoring {
                Scoring::Money { .. } => true,
                Scoring::Match { away, crawford } => !crawford && away[0] > self.cube,
            }
    }

    /// The same cube and score from the view of the opponent.
    #[must_use]
    pub fn other(self) -> Self {
        let scoring = match self.scoring {
            Scoring::Match { away: [own, other], crawford } => {
                Scoring::Match { away: [other, own], crawford }
            }
            money @ Scoring::Money { .. } => money,
        };
        Self { owner: self.owner.swapped(), scoring, ..self }
    }
}

/// The equity in a money game for each unit of the cube.
fn money(efficiency: f64, chances: Chances, terms: Terms) -> f64 {
    let [won, lost] = [points(chances.wins), points(chances.losses)];
    // Under the Jacoby rule gammons count after a double.
    let is_flat =
        matches!(terms.scoring, Scoring::Money { jacoby: true }) && terms.owner == CubeOwner::Centred;
    let [high, low] = if is_flat { [1.0, -1.0] } else { [won, -lost] };
    let p = chances.win;
    let dead = p * high + (1.0 - p) * low;
    if efficiency == 0.0 || is_certain(p) {
        return dead;
    }
    let all = won + lost + 0.5;
    let live = Live { low, high, passed: ((lost - 0.5) / all, -1.0), cashed: ((lost + 1.0) / all, 1.0) };
    (1.0 - efficiency) * dead + efficiency * live.at(p, terms.owner)
}

fn is_certain(p: f64) -> bool {
    !(CERTAIN..=1.0 - CERTAIN).contains(&p)
}

/// The value of a live cube: corners of a function that is linear in the chance to win between them.
struct Live {
    /// The value of losing, at 0.
    low: f64,
    /// The chance at which the opponent cashes, and its value.
    passed: (f64, f64),
    /// The chance at which this side cashes, and its value.
    cashed: (f64, f64),
    /// The value of winning, at 1.
    high: f64,
}

impl Live {
    /// The value at a chance. A side that may not turn the cube cannot cash.
    fn at(&self, p: f64, owner: CubeOwner) -> f64 {
        let from = if owner == CubeOwner::Own { (0.0, self.low) } else { self.passed };
        let to = if owner == CubeOwner::Theirs { (1.0, self.high) } else { self.cashed };
        let [(from, low), (to, high)] = match p {
            _ if p <= from.0 => [(0.0, self.low), from],
            _ if p <= to.0 => [from, to],
            _ => [to, (1.0, self.high)],
        };
        if to > from { low + (high - low) * (p - from) / (to - from) } else { high }
    }
}

/// The score of a match for one side.
#[derive(Clone, Copy)]
struct Score<'a> {
    equities: &'a MatchEquities,
    away: [i32; 2],
    crawford: bool,
}

impl<'a> Score<'a> {
    fn of(equities: &'a MatchEquities, terms: Terms) -> Option<Self> {
        match terms.scoring {
            Scoring::Money { .. } => None,
            Scoring::Match { away, crawford } => {
                let away = away.map(|points| points.clamp(1, MOST_POINTS as u32) as i32);
                Some(Self { equities, away, crawford })
            }
        }
    }

    fn other(self) -> Self {
        Self { away: [self.away[1], self.away[0]], ..self }
    }

    /// The chance to win the match after winning this many points, or losing them if negative.
    fn after(self, points: i32) -> f64 {
        let [own, other] = self.away;
        // Once a side needs one point, the next game is after the Crawford game, or the match is over.
        let is_late = self.crawford || own == 1 || other == 1;
        self.equities.chance([own - points.max(0), other - (-points).max(0)], is_late)
    }

    /// Converts a chance to win the match to points for each unit of the cube.
    fn emg(self, cube: u32, chance: f64) -> f64 {
        let [lost, won] = [-1, 1].map(|sign| self.after(sign * cube as i32));
        (2.0 * chance - won - lost) / (won - lost)
    }

    /// The mean chances to win the match after a win and after a loss of the game with this cube.
    fn ends(self, chances: Chances, cube: i32) -> [f64; 2] {
        let mean = |shares: [f64; 3], sign: i32| {
            // Most positions have no backgammons, and races no gammons.
            let of = |(share, size)| if share == 0.0 { 0.0 } else { share * self.after(sign * size * cube) };
            shares.into_iter().zip(1..).map(of).sum::<f64>()
        };
        [mean(chances.wins, 1), mean(chances.losses, -1)]
    }

    /// The chance to win the match while nobody doubles now.
    fn chance(self, efficiency: f64, chances: Chances, terms: Terms) -> f64 {
        let cube = terms.cube as i32;
        let p = chances.win;
        let [high, low] = self.ends(chances, cube);
        let dead = p * high + (1.0 - p) * low;
        let [own, other] = self.away;
        let is_dead = self.crawford || own.max(other) <= cube || (self.away, cube) == ([2, 2], 1);
        if efficiency == 0.0 || is_dead || is_certain(p) {
            return dead;
        }
        // Points that the owner's side alone can use are not needed.
        let passed = match terms.owner {
            CubeOwner::Own => (0.0, low),
            _ => (1.0 - self.other().cash_point(chances.other(), cube), self.after(-cube)),
        };
        let cashed = match terms.owner {
            CubeOwner::Theirs => (1.0, high),
            _ => (self.cash_point(chances, cube), self.after(cube)),
        };
        let live = Live { low, passed, cashed, high };
        (1.0 - efficiency) * dead + efficiency * live.at(p, terms.owner)
    }

    /// The chance to win the game at which this side cashes with a live cube that has this value now.
    fn cash_point(self, chances: Chances, cube: i32) -> f64 {
        let [own, other] = self.away;
        let cashed = self.after(cube);
        let ratio = |gain: f64, range: f64| if range == 0.0 { 1.0 } else { gain / range };
        if own - 1 < 2 * cube || other - 1 < 2 * cube {
            // The doubled cube is dead, unless its new owner turns it at once, since this side wins the match with it anyway.
            let last = if own <= 2 * cube && other > 2 * cube { 4 * cube } else { 2 * cube };
            let [won, lost] = self.ends(chances, last);
            return ratio(lost - cashed, lost - won);
        }
        let [won, _] = self.ends(chances, 2 * cube);
        let other_cash = self.other().cash_point(chances.other(), 2 * cube);
        1.0 - other_cash * ratio(cashed - won, self.after(-2 * cube) - won)
    }
}

#[cfg(test)]
mod tests;
