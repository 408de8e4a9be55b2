//! Results of several games.

use super::statistics::{Net, Score};
use adept_game::{OutcomeClass, Unit};
use rustc_hash::FxHasher;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::{Hash, Hasher};

/// Results of several games.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Tally {
    /// Games played.
    pub games: u64,
    /// Points of each agent. A game is worth one point, shared by the seats with the highest utility.
    pub points: Vec<f64>,
    /// Games of each agent in which only its seats have the highest utility.
    pub wins: Vec<u64>,
    /// Mean utility of the first agent's seats.
    #[serde(default)]
    pub net: Net,
    /// Mean points of the first agent a game, between deals.
    #[serde(default)]
    pub shares: Net,
    /// How many games differ.
    #[serde(default)]
    pub distinct: Distinct,
    /// The deal of which some games are still to come.
    #[serde(skip)]
    deal: DealSum,
    /// The same less the luck of each game; without deals if luck was not asked for.
    #[serde(default)]
    pub adjusted: Net,
    /// How often each utility was the result of a seat of the first agent.
    #[serde(default)]
    pub ends: Ends,
}

/// Counts different games among many. Exact up to 1,024 different games; beyond, estimated from the games with the
/// smallest hashes, with a standard error of 3 %, and exact again if none of those is repeated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distinct {
    /// The smallest hashes of games in ascending order, and how often each was met.
    smallest: Vec<(u64, u64)>,
    /// Games in all.
    games: u64,
    /// Different hashes beyond the smallest were met.
    more: bool,
    /// Chance took part in a game.
    chance: bool,
}

impl Distinct {
    /// Hashes that are kept.
    const MOST: usize = 1024;

    fn add(&mut self, hash: u64, times: u64) {
        self.games += times;
        match self.smallest.binary_search_by_key(&hash, |(known, _)| *known) {
            Ok(i) => self.smallest[i].1 += times,
            Err(i) if i < Self::MOST => {
                self.smallest.insert(i, (hash, times));
                self.more |= self.smallest.len() > Self::MOST;
                self.smallest.truncate(Self::MOST);
            }
            Err(_) => self.more = true,
        }
    }

    fn join(&mut self, other: &Self) {
        let games = self.games + other.games;
        other.smallest.iter().for_each(|(hash, times)| self.add(*hash, *times));
        self.games = games;
        self.more |= other.more;
        self.chance |= other.chance;
    }

    /// The number of different games.
    pub fn count(&self) -> u64 {
        if !self.more {
            return self.smallest.len() as u64;
        }
        let met: u64 = self.smallest.iter().map(|(_, times)| times).sum();
        (self.games as f64 * self.smallest.len() as f64 / met as f64).round() as u64
    }

    /// Whether games were too few different ones to tell which agent is stronger: fewer than 30 and than games were played, in a
    /// game without chance.
    pub fn is_few(&self) -> bool {
        !self.chance && self.count() < self.games.min(FEW_GAMES)
    }
}

/// Different games from which a strength may be told.
const FEW_GAMES: u64 = 30;

/// The hash of a game as it goes on.
#[derive(Default)]
pub(super) struct Trace {
    hasher: FxHasher,
    pub(super) chance: bool,
}

impl Trace {
    pub(super) fn of(order: &[usize]) -> Self {
        let mut trace = Self::default();
        order.hash(&mut trace.hasher);
        trace
    }

    pub(super) fn add(&mut self, action: &impl Hash, by_chance: bool) {
        action.hash(&mut self.hasher);
        self.chance |= by_chance;
    }

    /// Well spread, as the smallest hashes stand for all.
    pub(super) fn end(&self) -> u64 {
        // The finaliser of SplitMix64.
        let z = self.hasher.finish();
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// How often each of several utilities was a result, as long as few are different.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ends {
    /// Utilities in ascending order; none if there are too many.
    counts: Vec<(f64, u64)>,
    are_many: bool,
}

impl Ends {
    /// Most utilities that are told apart. Games have fewer classes of results, or sums of money without end.
    const MOST: usize = 32;

    fn add(&mut self, utility: f64, times: u64) {
        // 0 and −0 are the same result.
        let utility = utility + 0.0;
        match self.counts.binary_search_by(|(known, _)| known.total_cmp(&utility)) {
            _ if self.are_many => {}
            Ok(i) => self.counts[i].1 += times,
            Err(i) if self.counts.len() < Self::MOST => self.counts.insert(i, (utility, times)),
            Err(_) => *self = Self { counts: Vec::new(), are_many: true },
        }
    }

    /// The share of each class of results, in a game of this scale; empty if a result is in no class or in two.
    pub fn shares(&self, classes: &[OutcomeClass], scale: f64) -> ByClass<f64> {
        let all: u64 = self.counts.iter().map(|(_, times)| times).sum();
        let worth =
            |class: &OutcomeClass, utility: f64| (f64::from(class.utility) - utility / scale).abs() < 1e-6;
        let is_one =
            |(utility, _): &(f64, u64)| classes.iter().filter(|class| worth(class, *utility)).count() == 1;
        if all == 0 || !self.counts.iter().all(is_one) {
            return ByClass::default();
        }
        let share = |class: &OutcomeClass| {
            let own = self.counts.iter().filter(|(utility, _)| worth(class, *utility));
            own.map(|(_, times)| times).sum::<u64>() as f64 / all as f64
        };
        ByClass(classes.iter().map(|class| (class.name.clone(), share(class))).collect())
    }
}

/// Something of each class of results, by name; in JSON an object.
#[derive(Clone, Debug, PartialEq)]
pub struct ByClass<T>(pub Vec<(String, T)>);

impl<T> Default for ByClass<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByClass<T> {
    /// Whether there are no classes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for ByClass<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for ByClass<f64> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = |(name, value): (String, serde_json::Value)| {
            let value = value.as_f64().ok_or_else(|| serde::de::Error::custom("not a number"))?;
            Ok((name, value))
        };
        serde_json::Map::deserialize(deserializer)?
            .into_iter()
            .map(number)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl Tally {
    /// An empty tally for this number of agents.
    pub fn new(agents: usize) -> Self {
        Self {
            games: 0,
            points: vec![0.0; agents],
            wins: vec![0; agents],
            net: Net::default(),
            shares: Net::default(),
            distinct: Distinct::default(),
            deal: DealSum::default(),
            adjusted: Net::default(),
            ends: Ends::default(),
        }
    }

    /// Counts one game: the agent and the utility of each seat.
    pub fn add(&mut self, order: &[usize], utilities: &[f64]) {
        self.games += 1;
        let of_first = order.iter().zip(utilities).filter(|(agent, _)| **agent == 0);
        of_first.for_each(|(_, utility)| self.ends.add(*utility, 1));
        let share = 1.0 / winners(order, utilities).count().max(1) as f64;
        winners(order, utilities).for_each(|agent| self.points[agent] += share);
        let mut all = winners(order, utilities);
        if let Some(first) = all.next()
            && all.all(|agent| agent == first)
        {
            self.wins[first] += 1;
        }
    }

    /// Counts a played game. A deal ends after `orders` games; says whether this was its last.
    pub(super) fn count(&mut self, order: &[usize], utilities: &[f64], trace: &Trace, orders: u64) -> bool {
        self.add(order, utilities);
        self.distinct.add(trace.end(), 1);
        self.distinct.chance |= trace.chance;
        self.deal.add(order, utilities);
        let ended = self.deal.games == orders;
        if ended {
            let deal = std::mem::take(&mut self.deal);
            self.net.add(deal.utility());
            self.shares.add(deal.points / deal.games as f64);
        }
        ended
    }

    /// Sum of both tallies.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.games += other.games;
        self.points.iter_mut().zip(&other.points).for_each(|(a, b)| *a += b);
        self.wins.iter_mut().zip(&other.wins).for_each(|(a, b)| *a += b);
        self.net = self.net.and(other.net);
        self.shares = self.shares.and(other.shares);
        self.distinct.join(&other.distinct);
        self.adjusted = self.adjusted.and(other.adjusted);
        other.ends.counts.iter().for_each(|(utility, times)| self.ends.add(*utility, *times));
        if other.ends.are_many {
            self.ends = other.ends.clone();
        }
        self
    }

    /// Whether whole deals were counted, if games were. Tallies of earlier versions lack them.
    pub fn has_deals(&self) -> bool {
        self.distinct.games == self.games
    }

    /// The result of the first agent: its mean utility in the unit of the game, or its points per game.
    pub fn score(&self, unit: Option<&Unit>) -> f64 {
        match unit {
            Some(unit) => self.net.mean() / unit.size,
            None => self.points[0] / self.games.max(1) as f64,
        }
    }

    /// The uncertainty of [`score`](Self::score), from the spread between deals. `equal` is the share of points that the seats of the
    /// first agent would bring equal agents; in a unit it is not used, as then 0 is expected. `scale` is the game's.
    pub fn uncertainty(&self, unit: Option<&Unit>, scale: f64, equal: f64) -> Score {
        let mean = self.score(unit);
        match unit {
            Some(unit) => {
                let deals = self.as_deals(self.net.map(|utility| utility / unit.size));
                Score::new(mean, &deals, 0.0, [-scale / unit.size, scale / unit.size])
            }
            None => Score::new(mean, &self.as_deals(self.shares), equal, [0.0, 1.0]),
        }
    }

    /// The result of the first agent less the luck of its games, with its uncertainty: in the unit of the game, or in points a game,
    /// (1 + utility / scale) / 2. None if luck was not asked for.
    pub fn without_luck(&self, unit: Option<&Unit>, scale: f64) -> Option<(f64, Score)> {
        let shown = |utility: f64| unit.map_or((1.0 + utility / scale) / 2.0, |unit| utility / unit.size);
        let net = self.adjusted.map(shown);
        (net.deals > 0).then(|| {
            let range = [-scale, scale].map(shown);
            // Corrections may go beyond what a game can bring; its expectation cannot.
            let mean = net.mean();
            (mean, Score::new(mean, &net, shown(0.0), [range[0].min(mean), range[1].max(mean)]))
        })
    }

    /// Deals as evidence: one, if the same game was played in each order again and again.
    fn as_deals(&self, deals: Net) -> Net {
        let each = self.games / deals.deals.max(1);
        if deals.deals > 1
            && !self.distinct.chance
            && self.distinct.games > 0
            && self.distinct.count() <= each.max(1)
        {
            let mean = deals.mean();
            return Net { deals: 1, sum: mean, squares: mean * mean };
        }
        deals
    }
}

/// The agent of each seat that has the highest utility.
fn winners<'a>(order: &'a [usize], utilities: &'a [f64]) -> impl Iterator<Item = usize> + 'a {
    let best = utilities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (0..order.len()).filter(move |seat| utilities[*seat] == best).map(|seat| order[seat])
}

/// Results of the first agent's seats in the games of one deal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DealSum {
    sum: f64,
    seats: u64,
    points: f64,
    games: u64,
}

impl DealSum {
    pub(super) fn add(&mut self, order: &[usize], utilities: &[f64]) {
        for (agent, utility) in order.iter().zip(utilities) {
            if *agent == 0 {
                self.sum += utility;
                self.seats += 1;
            }
        }
        let all = winners(order, utilities).count().max(1) as f64;
        self.points += winners(order, utilities).filter(|agent| *agent == 0).count() as f64 / all;
        self.games += 1;
    }

    /// Mean utility of a seat.
    pub(super) fn utility(&self) -> f64 {
        self.sum / self.seats.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_win_is_shared_by_the_seats_that_have_it() {
        let mut tally = Tally::new(2);
        tally.add(&[0, 1], &[1.0, -1.0]);
        tally.add(&[0, 1], &[0.0, 0.0]);
        tally.add(&[0, 0, 1], &[0.5, 0.5, -1.0]);
        assert_eq!((tally.games, &tally.points[..], &tally.wins[..]), (3, &[2.5, 0.5][..], &[2, 0][..]));
    }

    #[test]
    fn classes_of_results_have_shares() {
        let classes = ["loss", "draw", "win", "win_gammon"].map(String::from);
        let classes: Vec<OutcomeClass> = classes
            .into_iter()
            .zip([-0.5, 0.0, 0.5, 1.0])
            .map(|(name, utility)| OutcomeClass::new(&name, utility, 0))
            .collect();
        let (mut first, mut second) = (Tally::new(2), Tally::new(2));
        first.add(&[0, 1], &[1.0, -1.0]);
        first.add(&[1, 0], &[-0.0, 0.0]);
        second.add(&[1, 0], &[1.0, -1.0]);
        second.add(&[1, 0], &[-2.0, 2.0]);
        let both = first.clone().and(&second);
        let shares = both.ends.shares(&classes, 2.0);
        let expected = ["loss", "draw", "win", "win_gammon"].map(|name| (name.to_string(), 0.25));
        assert_eq!(shares.0, expected);
        let text = serde_json::to_string(&shares).unwrap();
        assert_eq!(text, r#"{"loss":0.25,"draw":0.25,"win":0.25,"win_gammon":0.25}"#);
        assert_eq!(serde_json::from_str::<ByClass<f64>>(&text).unwrap(), shares);
        // A result of no class, classes that cannot be told apart, no game, and money.
        let mut other = both.clone();
        other.add(&[0, 1], &[0.3, -0.3]);
        assert!(
            other.ends.shares(&classes, 2.0).is_empty() && Ends::default().shares(&classes, 2.0).is_empty()
        );
        assert!(both.ends.shares(&[&classes[..], &classes[..1]].concat(), 2.0).is_empty());
        let mut money = Tally::new(2);
        (0..100).for_each(|n| money.add(&[0, 1], &[f64::from(n), f64::from(-n)]));
        assert_eq!(money.ends, Ends { counts: Vec::new(), are_many: true });
        assert!(both.and(&money).ends.are_many && money.and(&first).ends.counts.is_empty());
    }

    fn counted(tally: &mut Tally, order: &[usize], utilities: &[f64], orders: u64, game: u64) {
        let mut trace = Trace::of(order);
        trace.add(&game, false);
        tally.count(order, utilities, &trace, orders);
    }

    #[test]
    fn utilities_are_averaged_over_deals() {
        let mut tally = Tally::new(2);
        [1.0, 3.0, 2.0].into_iter().for_each(|utility| tally.net.add(utility));
        // Two seats, then one: (3 + 1 + 2) / 3. A deal that was not played in all orders does not count.
        counted(&mut tally, &[0, 1, 0], &[3.0, -4.0, 1.0], 2, 1);
        counted(&mut tally, &[1, 0, 1], &[-1.0, 2.0, -1.0], 2, 2);
        counted(&mut tally, &[0, 1, 0], &[9.0, 0.0, 9.0], 2, 3);
        let unit = Unit { name: "cents".into(), size: 0.01 };
        // Deals of 1, 3, 2 and 2: the variance is 2/3, t of three degrees of freedom 3.182446.
        let error = 100.0 * (2.0_f64 / 3.0 / 4.0).sqrt();
        let found = tally.uncertainty(Some(&unit), 10.0, 0.5);
        assert_eq!(tally.score(Some(&unit)), 200.0);
        assert!((found.ci95[1] - found.ci95[0] - 2.0 * 3.182_446 * error).abs() < 1e-4, "{found:?}");
        // t is 4.9 with three degrees of freedom.
        assert!((found.p - 0.0163).abs() < 1e-3 && (found.errors - 2.40).abs() < 0.02, "{found:?}");
        assert_eq!(Tally::new(1).uncertainty(Some(&unit), 2.0, 0.5).ci95, [-200.0, 200.0]);
    }

    /// 400 games of which two differ are one deal: won by the agent that moves first, or by the first agent alone.
    #[test]
    fn the_same_game_again_proves_nothing() {
        let mut won = Tally::new(2);
        for _ in 0..200 {
            counted(&mut won, &[0, 1], &[1.0, -1.0], 2, 1);
            counted(&mut won, &[1, 0], &[-1.0, 1.0], 2, 2);
        }
        let found = won.uncertainty(None, 1.0, 0.5);
        assert_eq!((won.score(None), won.distinct.count(), found.p, found.errors), (1.0, 2, 1.0, 0.0));
        assert!(found.ci95[0] < 0.05 && won.distinct.is_few(), "{found:?}");
        // As many games that differ prove much.
        let mut differ = Tally::new(2);
        for g in 0..200 {
            counted(&mut differ, &[0, 1], &[1.0, -1.0], 2, 2 * g);
            counted(&mut differ, &[1, 0], &[-1.0, 1.0], 2, 2 * g + 1);
        }
        let found = differ.uncertainty(None, 1.0, 0.5);
        assert!(found.p < 1e-9 && found.ci95[0] > 0.95 && !differ.distinct.is_few(), "{found:?}");
        // Joined in parts, the count is the same.
        let both = won.clone().and(&differ).and(&won);
        assert_eq!(both.distinct.count(), 402);
    }

    #[test]
    fn different_games_are_counted_beyond_the_hashes_that_are_kept() {
        let count = |games: u64, times: u64| {
            let mut parts = [Distinct::default(), Distinct::default()];
            for g in 0..games * times {
                let mut trace = Trace::default();
                trace.add(&(g % games), false);
                parts[(g % 2) as usize].add(trace.end(), 1);
            }
            let [mut all, other] = parts;
            all.join(&other);
            all.count()
        };
        assert_eq!([count(5, 3), count(1024, 2), count(3000, 1), count(3000, 4)], [5, 1024, 3000, 3000]);
        let text = serde_json::to_string(&Distinct::default()).unwrap();
        assert_eq!(serde_json::from_str::<Distinct>(&text).unwrap(), Distinct::default());
    }
}
