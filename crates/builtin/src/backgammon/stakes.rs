//! What a game is played for: the rules of the cube, its value and owner, and the score of a match.

use super::cube::{CubeModel, HIGHEST};

/// Largest number of doublings.
const MOST_DOUBLINGS: u8 = HIGHEST.trailing_zeros() as u8;

/// Points of the longest match.
pub const LONGEST_MATCH: u8 = 25;

/// What is played for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// One game without the cube: 1, 2 or 3 points.
    #[default]
    Cubeless,
    /// One game with the cube: the points times its value.
    Money {
        /// Whether a gammon or backgammon counts 1 point if nobody has turned the cube.
        jacoby: bool,
        /// Whether the player who takes a double may turn the cube once more at once and keep it.
        beavers: bool,
    },
    /// Games with the cube until a player has this many points, 1 to [`LONGEST_MATCH`]. In the first game after a player comes within
    /// one point, the Crawford game, nobody doubles.
    Match {
        /// The points.
        length: u8,
    },
}

/// The cube and, in a match, the points that the players still need. Games without the cube leave them at their default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stakes {
    doublings: u8,
    /// Whether player 1 owns the cube, or player 0; none while it is in the middle.
    owner: Option<bool>,
    /// 0 and 0 outside matches; 0 for the winner of a match.
    away: [u8; 2],
    /// [`CRAWFORD`] and others. One byte, so that all of it fits in the gaps of a state.
    flags: u8,
}

/// This is the Crawford game.
const CRAWFORD: u8 = 1;
/// Nobody turns the cube any more in this game. No position text tells it.
const DEAD: u8 = 2;
/// The match is valued by its score after this game. No position text tells it.
const LAST: u8 = 4;

/// A flag, if it is to be set.
fn flag(flag: u8, is_set: bool) -> u8 {
    if is_set { flag } else { 0 }
}

impl Stakes {
    /// The start of a match to this many points; 0 for one game.
    pub fn start(length: u8) -> Self {
        Self { away: [length; 2], ..Self::default() }
    }

    /// A cube of this value, its owner, the points that the players need, and whether this is the Crawford game. Nobody needs points
    /// in a single game; the winner of a match needs 0.
    ///
    /// # Errors
    /// What is not possible: a value that is not a power of 2 up to 64, a cube that was turned and has no owner or the reverse, more
    /// than 25 points, a Crawford game in which nobody needs exactly one point or the cube was turned.
    pub fn new(cube: u32, owner: Option<usize>, away: [u8; 2], crawford: bool) -> Result<Self, String> {
        if !cube.is_power_of_two() || cube > HIGHEST {
            return Err(format!("the cube has the value {cube}, which is not a power of 2 up to {HIGHEST}"));
        }
        let owner = match (owner, cube) {
            (Some(_), 1) => return Err("a player owns the cube, which nobody has turned".into()),
            (None, 1) => None,
            (None, _) => return Err(format!("the cube has the value {cube} and no owner")),
            (Some(player @ 0..=1), _) => Some(player == 1),
            (Some(player), _) => return Err(format!("there is no player {player} to own the cube")),
        };
        if let Some(points) = away.iter().find(|points| **points > LONGEST_MATCH) {
            return Err(format!("a player needs {points} points, which is more than {LONGEST_MATCH}"));
        }
        let crawford = match away {
            _ if !crawford => false,
            // Both have been one point away before, so that the Crawford game is over. The cube is dead anyway.
            [1, 1] => false,
            [1, _] | [_, 1] if cube > 1 => return Err("nobody doubles in the Crawford game".into()),
            [1, 2..=LONGEST_MATCH] | [2..=LONGEST_MATCH, 1] => true,
            _ => return Err("in the Crawford game one player needs exactly one point".into()),
        };
        Ok(Self { doublings: cube.trailing_zeros() as u8, owner, away, flags: flag(CRAWFORD, crawford) })
    }

    /// The value of the cube.
    pub fn cube(self) -> u32 {
        1 << self.doublings
    }

    /// The player who owns the cube; none while it is in the middle.
    pub fn owner(self) -> Option<usize> {
        self.owner.map(usize::from)
    }

    /// The points that each player needs to win the match. None outside matches.
    pub fn away(self) -> Option<[u8; 2]> {
        (self.away != [0; 2]).then_some(self.away)
    }

    /// Whether this is the Crawford game of a match.
    pub fn is_crawford(self) -> bool {
        self.flags & CRAWFORD != 0
    }

    /// The same, in which nobody turns the cube any more, and in which the match is valued by its score after this game, if that is asked for.
    #[must_use]
    pub(super) fn reduced(self, without_cube: bool, one_game: bool) -> Self {
        Self { flags: self.flags | flag(DEAD, without_cube) | flag(LAST, one_game), ..self }
    }

    /// Whether nobody turns the cube any more in this game, below its highest value too.
    pub(super) fn is_dead(self) -> bool {
        self.flags & DEAD != 0
    }

    /// Whether the match is valued by its score after this game.
    pub(super) fn is_last(self) -> bool {
        self.flags & LAST != 0
    }

    /// Whether a player may double before a roll: the player owns the cube or it is in the middle, it is below its highest value, and
    /// a match is not in its Crawford game. A player whom the cube's present value brings the whole match may not.
    pub fn may_double(self, player: usize) -> bool {
        let wins = self.away().is_some_and(|away| u32::from(away[player]) <= self.cube());
        self.can_turn(1) && self.owner().is_none_or(|owner| owner == player) && !self.is_crawford() && !wins
    }

    /// Whether the cube may be turned this often within its highest value.
    pub(super) fn can_turn(self, times: u8) -> bool {
        !self.is_dead() && self.doublings + times <= MOST_DOUBLINGS
    }

    /// The cube turned once and given to a player.
    pub(super) fn turned_to(self, player: usize) -> Self {
        Self { doublings: self.doublings + 1, owner: Some(player == 1), ..self }
    }

    /// The player who has won the match. None while it goes on, and outside matches.
    pub fn winner(self) -> Option<usize> {
        self.away()?.iter().position(|away| *away == 0)
    }

    /// The value of the start of a game of a match for a player, or of the end of the match, in a game with this many checkers: the chance to
    /// win the match, on a scale from −1 to 1. 0 for a single game.
    pub(super) fn match_value(self, checkers: u8, player: usize) -> f64 {
        let Some(away) = self.away() else { return 0.0 };
        let needed = [away[player], away[1 - player]].map(i32::from);
        let equities = &CubeModel::of(checkers).equities;
        2.0 * equities.chance(needed, !self.is_crawford() && away.contains(&1)) - 1.0
    }

    /// The stakes of a match after a player has won this many points, cube included. The cube is back in the middle.
    pub(super) fn after_game(self, winner: usize, points: u32) -> Self {
        let mut away = self.away;
        away[winner] = u32::from(away[winner]).saturating_sub(points) as u8;
        let comes_close = self.away[winner] > 1 && away[winner] == 1;
        let crawford = comes_close && away[1 - winner] > 1;
        Self { away, flags: self.flags & LAST | flag(CRAWFORD, crawford), ..Self::default() }
    }
}
