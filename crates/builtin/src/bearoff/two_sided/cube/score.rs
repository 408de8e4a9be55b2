//! Bear-offs with the cube at a score of a match, in which no gammon counts.
//!
//! Equities are EMG: if m is a player's chance to win the match, W that after winning the game with the cube as it is, and L that after
//! losing it, the equity is E = (2m − W − L) / (W − L). So the end of a game is 1 or −1 and a pass is 1, as in money play. After a
//! double, W′ and L′ belong to twice the cube, where the equity is E′. Both equities stand for the same chance, so that in units of the
//! cube before the double DT = β E′ + α with β = (W′ − L′) / (W − L) and α = (W′ + L′ − W − L) / (W − L).
//!
//! The players a and b need different numbers of points, so each has a table of its own. For side x of player a against y:
//!
//! - ND_a(x, y) = Σ over rolls w · max over x′ of −V_b(y, x′)
//! - V_a(x, y) = max(ND_a, min(1, DT_a)) if a may double, else ND_a
//!
//! and the same with a and b exchanged. DT needs the tables of the doubled cube, which the other player owns, so the highest useful cube is solved
//! first. Where no player may double or ever gains by it, the cube is dead: V = ND, the equity without a cube, for all of these together.

use super::*;

/// A value of the cube at a score, which is twice that of the step before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubeStep {
    /// The chances of player 0 to win the match if it loses, and if it wins, a single game with this cube.
    pub chances: [f64; 2],
    /// Whether each player may double this cube if it has access to it, and could gain by it.
    pub may_double: [bool; 2],
}

impl CubeStep {
    /// The mean of both chances, and half of their difference.
    fn scale(self) -> [f64; 2] {
        let [lost, won] = self.chances;
        [(won + lost) / 2.0, (won - lost) / 2.0]
    }
}

/// Where the cube is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CubePlace {
    /// The value of the cube: number of a [`CubeStep`].
    pub step: usize,
    /// The player who owns it; none if it is in the middle.
    pub owner: Option<usize>,
}

impl CubePlace {
    /// The place after a double by a player and a take. None if it may not double.
    fn doubled(self, steps: &[CubeStep], player: usize) -> Option<Self> {
        let may_double = self.owner != Some(1 - player)
            && self.step + 1 < steps.len()
            && steps[self.step].may_double[player];
        may_double.then_some(Self { step: self.step + 1, owner: Some(1 - player) })
    }

    /// Whether nobody may double.
    fn is_dead(self, steps: &[CubeStep]) -> bool {
        (0..2).all(|player| self.doubled(steps, player).is_none())
    }
}

/// The equities of all pairs of sides with at most n checkers at a score, for the cube as it is and all later cubes.
#[derive(Debug)]
pub struct ScoreTables {
    steps: Vec<CubeStep>,
    /// Places where a player may double, in the order of their values.
    live: Vec<CubePlace>,
    /// The owner of the cube as it is.
    owner: Option<usize>,
    /// The grid of dead cubes; then those of each live place, for the moves of player 0 and of player 1.
    grids: Grids,
}

/// The places that the cube can reach from the first step, except dead ones, in the order of their values.
fn live_places(steps: &[CubeStep], owner: Option<usize>) -> Vec<CubePlace> {
    let mut places = vec![CubePlace { step: 0, owner }];
    let mut at = 0;
    while let Some(&place) = places.get(at) {
        for next in (0..2).filter_map(|player| place.doubled(steps, player)) {
            if !places.contains(&next) {
                places.push(next);
            }
        }
        at += 1;
    }
    places.retain(|place| !place.is_dead(steps));
    places
}

impl ScoreTables {
    /// Solves the tables in memory, on `threads` threads; 0 means one per core. The cube has the value of the first of `steps`, and this
    /// owner. Calls `progress` with the share that is done. The result does not depend on the number of threads.
    ///
    /// # Errors
    /// A number of checkers outside 1 to 15, too little memory, or a system error.
    pub fn solve(
        checkers: u8,
        threads: usize,
        steps: Vec<CubeStep>,
        owner: Option<usize>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<(Self, Timings), TableError> {
        Self::solve_on(checkers, &team(checkers, threads)?, Isa::detect(), steps, owner, progress)
    }

    /// Solves the tables with a team and an instruction set of this machine. The result does not depend on them.
    fn solve_on(
        checkers: u8,
        team: &Team,
        isa: Isa,
        steps: Vec<CubeStep>,
        owner: Option<usize>,
        progress: &mut dyn FnMut(f64),
    ) -> Result<(Self, Timings), TableError> {
        let live = live_places(&steps, owner);
        let ((order, moves), moves_time) = timed(|| order_and_moves(checkers, false));
        let (grids, memory_time) = timed(|| Grids::allocate(checkers, &order, 1 + 2 * live.len(), team));
        let mut tables = Self { steps, live, owner, grids: grids? };
        let all = tables.grids.all();
        let solver = Solver { order: &order, moves: &moves, team, isa };
        let ((), solve_time) = timed(|| {
            // Highest cubes first; the dead cube, where both players have the same table, comes before them.
            let mut passes = vec![vec![Input { from: all[DEAD], to: all[DEAD], doubled: None }]];
            for &place in tables.live.iter().rev() {
                let of_player = |player: usize| {
                    let view = tables.view(place, player)?;
                    let doubled = view.doubled.map(|doubled| (all[doubled.grid], doubled));
                    Some(Input { from: all[view.moved], to: all[view.waiting], doubled })
                };
                passes.push((0..2).filter_map(of_player).collect());
            }
            for (done, inputs) in passes.iter().enumerate() {
                let mut report =
                    |found: Progress| progress((done as f64 + found.share) / passes.len() as f64);
                // SAFETY: the grids have the size of the order, are zero and belong to this call; doubled cubes are solved.
                unsafe { solver.solve(inputs, &mut report) };
            }
        });
        let timings = Timings { moves: moves_time, memory: memory_time, solve: solve_time };
        Ok((tables, timings))
    }

    /// The same tables in less memory: half of it for four checkers.
    ///
    /// # Errors
    /// If the system has no memory.
    pub fn compacted(self) -> Result<Self, TableError> {
        Ok(Self { grids: self.grids.compacted()?, ..self })
    }

    /// The largest number of checkers of a side.
    pub fn checkers(&self) -> u8 {
        self.grids.checkers
    }

    /// The place of the cube as it is.
    pub fn start(&self) -> CubePlace {
        CubePlace { step: 0, owner: self.owner }
    }

    /// The tables for a place of the cube and the player to roll. None if the cube cannot come there.
    pub fn view(&self, place: CubePlace, player: usize) -> Option<ScoreView<'_>> {
        let [moved, waiting] = [player, 1 - player].map(|mover| self.grid(place, mover));
        let doubled = |next: CubePlace| {
            let [[middle, half], [next_middle, next_half]] =
                [place, next].map(|place| self.steps[place.step].scale());
            let shift = (next_middle - middle) / half;
            let shift = if player == 0 { shift } else { -shift };
            Some(Doubled { grid: self.grid(next, 1 - player)?, shift, scale: next_half / half })
        };
        let doubled = place.doubled(&self.steps, player).and_then(doubled);
        Some(ScoreView { tables: self, place, player, moved: moved?, waiting: waiting?, doubled })
    }

    /// The grid for a place of the cube with the values after the moves of a player.
    fn grid(&self, place: CubePlace, mover: usize) -> Option<usize> {
        match self.live.iter().position(|&live| live == place) {
            Some(at) => Some(DEAD + 1 + 2 * at + mover),
            None => (place.step < self.steps.len() && place.is_dead(&self.steps)).then_some(DEAD),
        }
    }
}

/// The number of the grid of dead cubes.
const DEAD: usize = 0;

/// How the value of a doubled cube follows from its table.
#[derive(Clone, Copy, Debug)]
struct Doubled {
    /// The grid of the doubled cube with the values after the moves of the player who takes.
    grid: usize,
    /// α.
    shift: f64,
    /// β.
    scale: f64,
}

/// The tables of one place of the cube for the player to roll. Equities are EMG with this cube.
#[derive(Clone, Copy, Debug)]
pub struct ScoreView<'a> {
    tables: &'a ScoreTables,
    place: CubePlace,
    player: usize,
    /// Grid of the values after this player's moves.
    moved: usize,
    /// Grid of the values after the other player's moves, who waits now.
    waiting: usize,
    /// None if this player may not double.
    doubled: Option<Doubled>,
}

/// The equities of a position for the player to roll.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreEquities {
    /// Without a double now.
    pub no_double: f64,
    /// After a double and a take. None if the player may not double.
    pub double_take: Option<f64>,
}

impl ScoreEquities {
    /// The equity after a double and a pass.
    pub const DOUBLE_PASS: f64 = CubeEquities::DOUBLE_PASS;

    /// The equity if both players decide best.
    pub fn value(&self) -> f64 {
        let double = self.double_take.map_or(f64::NEG_INFINITY, |take| take.min(Self::DOUBLE_PASS));
        self.no_double.max(double)
    }

    /// The best action, with the best answer. None if the player may not double. Of actions with the same equity, it doubles, and the other
    /// takes.
    pub fn action(&self) -> Option<CubeAction> {
        self.double_take.map(|take| CubeAction::best(self.no_double, take, TIE))
    }
}

/// Differences below this are rounding.
const TIE: f64 = 1e-6;

impl ScoreView<'_> {
    /// The equities with and without a double.
    ///
    /// # Errors
    /// A side with more checkers than the tables, or a position whose sides are both empty.
    pub fn equities(&self, position: Position) -> Result<ScoreEquities, TableError> {
        let grids = &self.tables.grids;
        if position.is_over() {
            return Ok(ScoreEquities { no_double: grids.value(DEAD, position)?, double_take: None });
        }
        let column = grids.row(position.opponent)?;
        let no_double = grids.rolled(self.moved, &grids.afterstates(position.own)?, column);
        let taken = |doubled: Doubled| {
            Ok::<_, TableError>(doubled.shift + doubled.scale * grids.value(doubled.grid, position)?)
        };
        Ok(ScoreEquities { no_double, double_take: self.doubled.map(taken).transpose()? })
    }

    /// The equity if both players decide best.
    ///
    /// # Errors
    /// Same as [`Self::equities`].
    pub fn value(&self, position: Position) -> Result<f64, TableError> {
        self.tables.grids.value(self.waiting, position)
    }

    /// The equity without a cube.
    ///
    /// # Errors
    /// Same as [`Self::equities`].
    pub fn cubeless(&self, position: Position) -> Result<f64, TableError> {
        self.tables.grids.value(DEAD, position)
    }

    /// The afterstates of a decision and their equities, best first. Equal equities are in ascending order of sides.
    ///
    /// # Errors
    /// Same as [`Self::equities`].
    pub fn moves(&self, decision: DicePosition) -> Result<Vec<(Side, f64)>, TableError> {
        self.tables.grids.moves(self.moved, decision)
    }

    /// The chance of this player to win the match at an equity.
    pub fn match_chance(&self, equity: f64) -> f64 {
        let [middle, half] = self.tables.steps[self.place.step].scale();
        let middle = if self.player == 0 { middle } else { 1.0 - middle };
        middle + half * equity
    }
}

/// Everything that the tables of all cubes share.
struct Solver<'a> {
    order: &'a Order,
    moves: &'a Moves,
    team: &'a Team,
    isa: Isa,
}

/// The grids from which those of the player to roll follow.
#[derive(Clone, Copy)]
struct Input {
    /// The values after the moves of the player to roll.
    from: Grid<f32>,
    /// Destination: the values after the moves of the other player.
    to: Grid<f32>,
    /// The grid of the doubled cube, if the player may double.
    doubled: Option<(Grid<f32>, Doubled)>,
}

impl Solver<'_> {
    /// Fills the destinations of one place of the cube.
    ///
    /// # Safety
    /// The grids must have the size of the order, be zero, and belong to the caller alone; those of doubled cubes are solved.
    unsafe fn solve(&self, inputs: &[Input], progress: &mut dyn FnMut(Progress)) {
        for input in inputs {
            // SAFETY: the caller guarantees it.
            unsafe { set_ends(input.to, self.order, self.team) };
        }
        by_level(self.order, progress, |level| {
            for (columns, rows) in phases(self.order, level) {
                let pieces = strips(columns.0 / f32::LANES..columns.1 / f32::LANES);
                let work = |piece: usize| {
                    let (input, line) = (inputs[piece % inputs.len()], pieces[piece / inputs.len()].0);
                    let pass = ScorePass { input, moves: self.moves, line, rows };
                    // SAFETY: a phase reads only solved values, and each piece writes only its own values.
                    unsafe { run_plain(self.isa, pass) };
                };
                self.team.share(pieces.len() * inputs.len(), work, || {});
            }
        });
    }
}

/// Computes some rows for the player to roll in the columns of one strip.
struct ScorePass<'a> {
    input: Input,
    moves: &'a Moves,
    /// First line of the strip.
    line: usize,
    /// Range of rows, in whole groups.
    rows: (usize, usize),
}

impl Plain for ScorePass<'_> {
    #[inline(always)]
    unsafe fn run(self) {
        let Input { from, to, doubled } = self.input;
        // −ND, then −V, of each row and column of a group.
        let mut values = [[0.0; COLUMNS]; GROUP];
        for group in (self.rows.0..self.rows.1).step_by(GROUP) {
            for (row, values) in (group..).zip(&mut values) {
                // SAFETY: the caller guarantees it.
                *values = unsafe { negated_bests(from, self.moves, self.line, row) };
            }
            if let Some((grid, Doubled { shift, scale, .. })) = doubled {
                let (shift, scale) = (shift as f32, scale as f32);
                for column in 0..COLUMNS {
                    let place = grid.line(group / f32::LANES, self.line * f32::LANES + column);
                    // SAFETY: the tables of the doubled cube have the same layout, and no thread writes them.
                    let taken: [f32; GROUP] = unsafe { place.cast::<[f32; GROUP]>().read() };
                    for (values, taken) in values.iter_mut().zip(taken) {
                        // The other player's best answer to a double: −min(1, DT).
                        values[column] = smaller(values[column], larger(-1.0, scale * taken - shift));
                    }
                }
            }
            // SAFETY: the columns of these rows, in the rows of these columns, belong to this pass now.
            unsafe { write_transposed(to, self.line, group, &values) };
        }
    }
}

#[cfg(test)]
mod tests;
