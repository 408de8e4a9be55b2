//! Doubling-cube decisions in money play by Janowski's model (Take-Points in Money Games, 1993).
//!
//! The equity of a position lies between that with a dead cube, which is never turned again, and that with a live cube,
//! which is always turned at the optimal moment: E = x · live + (1 − x) · dead.

/// Cube efficiency x that GNU Backgammon uses for contact positions.
const EFFICIENCY: f64 = 0.68;

/// The highest cube value. Without a limit, two sides that both think they are ahead would double forever.
const HIGHEST: u32 = 64;

/// Owner of the cube, and the rule for gammons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cube {
    /// Both sides may double.
    Centred,
    /// Both sides may double, under the Jacoby rule: gammons count one point until the cube is turned.
    Jacoby,
    /// The side whose chances are given.
    Own,
    /// The opponent.
    Theirs,
}

/// The result classes of [`Backgammon`](super::Backgammon), in the order of [`Chances::of_classes`].
pub const CLASSES: [&str; 6] =
    ["loss_backgammon", "loss_gammon", "loss", "win", "win_gammon", "win_backgammon"];

/// A side's probability of winning, and the mean sizes of its wins and losses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chances {
    /// Probability of winning.
    win: f64,
    /// Mean points of a win, from 1 to 3.
    won: f64,
    /// Mean points of a loss, from 1 to 3.
    lost: f64,
}

impl Chances {
    /// Converts the probabilities of [`CLASSES`] for this side: loses a backgammon, a gammon, a single game; wins a
    /// single game, a gammon, a backgammon.
    pub fn of_classes(classes: [f64; 6]) -> Self {
        let [lb, lg, l, w, wg, wb] = classes;
        let mean = |single: f64, gammon: f64, backgammon: f64| {
            let all = single + gammon + backgammon;
            if all > 0.0 { (single + 2.0 * gammon + 3.0 * backgammon) / all } else { 1.0 }
        };
        Self { win: w + wg + wb, won: mean(w, wg, wb), lost: mean(l, lg, lb) }
    }

    /// Converts an equity in points, as if all games were single.
    pub fn of_equity(equity: f64) -> Self {
        Self { win: ((1.0 + equity) / 2.0).clamp(0.0, 1.0), won: 1.0, lost: 1.0 }
    }

    /// Probability of winning.
    pub fn win(self) -> f64 {
        self.win
    }

    /// The equity without a cube, in points.
    pub fn dead(self) -> f64 {
        self.win * self.won - (1.0 - self.win) * self.lost
    }

    /// The equity in units of the cube's value.
    pub fn equity(self, cube: Cube) -> f64 {
        let Self { win, won, lost } = self;
        let all = won + lost + 0.5;
        // After a double, gammons count.
        let [take, cash] = [(lost - 0.5) / all, (lost + 1.0) / all];
        let single = Self { won: 1.0, lost: 1.0, ..self };
        let ends = if cube == Cube::Jacoby { single } else { self };
        let mut corners = vec![(0.0, -ends.lost)];
        corners.extend((cube != Cube::Own).then_some((take, -1.0)));
        corners.extend((cube != Cube::Theirs).then_some((cash, 1.0)));
        corners.push((1.0, ends.won));
        // The corners are in ascending order, and the last one is at 1.
        let last = corners.partition_point(|(p, _)| *p < win).clamp(1, corners.len() - 1);
        let [(from, low), (to, high)] = [corners[last - 1], corners[last]];
        let live = low + (high - low) * (win - from) / (to - from);
        EFFICIENCY * live + (1.0 - EFFICIENCY) * ends.dead()
    }

    /// Whether the side to roll doubles a cube of this value that it may turn: it does if the opponent's best answer
    /// gives it more than the current equity. It plays on for a gammon where that is worth more.
    pub fn doubles(self, cube: Cube, value: u32) -> bool {
        value < HIGHEST && (2.0 * self.equity(Cube::Theirs)).min(1.0) > self.equity(cube)
    }

    /// Whether a side that has doubled accepts a beaver: it plays on for twice the value, with the cube at the
    /// opponent.
    pub fn takes_beaver(self) -> bool {
        2.0 * self.equity(Cube::Theirs) >= -1.0
    }

    /// The same chances from the opponent's view.
    #[must_use]
    pub fn other(self) -> Self {
        Self { win: 1.0 - self.win, won: self.lost, lost: self.won }
    }

    /// Whether a side takes a cube that is turned to twice the value.
    pub fn takes(self) -> bool {
        2.0 * self.equity(Cube::Own) >= -1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without gammons the take point is 20 % live and 25 % dead; between them the efficiency decides.
    #[test]
    fn single_games_have_the_known_points() {
        let first = |decides: &dyn Fn(Chances) -> bool| {
            let chance = |n: u32| f64::from(n) / 1000.0;
            let found = (0..=1000).map(chance).find(|p| decides(Chances::of_equity(2.0 * p - 1.0)));
            found.unwrap()
        };
        let takes = first(&|chances| chances.takes());
        // -1/2 = x (5/2 p - 1) + (1 - x) (2 p - 1).
        assert!((takes - 0.5 / 2.34).abs() < 0.0011, "{takes}");
        // In an even position, a centred cube is worth nothing and an own cube more than the opponent's.
        let even = Chances::of_equity(0.0);
        assert!(even.equity(Cube::Centred).abs() < 1e-12);
        assert!((even.equity(Cube::Own) + even.equity(Cube::Theirs)).abs() < 1e-12);
        assert!(even.equity(Cube::Own) > 0.05);
        let [initial, again] =
            [Cube::Centred, Cube::Own].map(|cube| first(&|chances| chances.doubles(cube, 1)));
        assert!(0.68 < initial && initial < again && again < 0.78, "{initial} {again}");
        // The opponent drops where this side can cash. A won game is doubled until there is nothing left to gain.
        assert!(!Chances::of_equity(-0.6).takes() && Chances::of_equity(0.6).doubles(Cube::Own, 32));
        assert!(!Chances::of_equity(1.0).doubles(Cube::Centred, 1));
        assert!(!Chances::of_equity(0.6).doubles(Cube::Own, 64));
    }

    #[test]
    fn classes_have_the_order_of_the_game() {
        let classes = adept_game::outcome_classes(&crate::backgammon::Backgammon::default()).unwrap();
        assert_eq!(classes.iter().map(|class| &*class.name).collect::<Vec<_>>(), CLASSES);
        // A won gammon is worth 2 points to the winner and -2 to the loser.
        let won = Chances::of_classes([0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!((won.win(), won.dead(), won.other().win(), won.other().dead()), (1.0, 2.0, 0.0, -2.0));
        assert!(won.takes() && !won.other().takes());
    }

    #[test]
    fn gammons_are_played_for_and_feared() {
        let too_good = Chances::of_classes([0.0, 0.0, 0.05, 0.25, 0.65, 0.05]);
        assert!(!too_good.doubles(Cube::Centred, 1) && too_good.equity(Cube::Centred) > 1.0);
        // By the Jacoby rule there are no gammons to play on for.
        assert!(too_good.doubles(Cube::Jacoby, 1) && too_good.equity(Cube::Jacoby) < 1.0);
        let single = Chances::of_classes([0.0, 0.0, 0.75, 0.25, 0.0, 0.0]);
        assert_eq!(single.equity(Cube::Jacoby), single.equity(Cube::Centred));
        let feared = Chances::of_classes([0.0, 0.35, 0.4, 0.25, 0.0, 0.0]);
        assert!(single.takes() && !feared.takes());
        let lost = Chances::of_classes([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!((lost.equity(Cube::Own), lost.equity(Cube::Theirs)), (-1.0, -1.0));
    }
}
