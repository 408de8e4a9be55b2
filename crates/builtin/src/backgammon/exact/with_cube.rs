//! Exact values of money games with the cube and up to three checkers a side.

use super::Table;
use super::cubeful::CubefulTable;
use crate::backgammon::{Backgammon, Rules, Stage, State, usual_file};
use crate::doubling::CubeOwner;
use adept_game::{Afterstate, Game, GameError, Valuation};
use adept_ground::places;
use adept_ground::shared::Shared;
use std::path::PathBuf;
use std::sync::Arc;

impl Backgammon {
    /// Whether a table holds its exact values with the cube.
    pub(in crate::backgammon) fn has_cubeful_table(&self) -> bool {
        self.checkers() <= Table::MOST && matches!(self.rules(), Rules::Money { beavers: false, .. })
    }
}

/// The default file of the table with the cube of a game with as many checkers, by any rules.
pub fn usual_cube_file(game: &Backgammon) -> PathBuf {
    let plain = usual_file(&Backgammon::new(game.checkers()).unwrap_or(*game));
    let name = plain.file_stem().unwrap_or_default().display();
    plain.with_file_name(format!("{name}-cube.table"))
}

/// The table with the cube of a file, or of the default file; with one or two checkers a side, a new one.
///
/// # Errors
/// The system's reason, what is wrong with the file, that it is the table of another game, or that there is none.
pub fn cubeful_table(
    game: &Backgammon,
    file: Option<PathBuf>,
    threads: usize,
) -> Result<Arc<CubefulTable>, GameError> {
    static TABLES: Shared<(u8, Option<PathBuf>), CubefulTable> = Shared::new();
    let checkers = game.checkers();
    let file = file.or_else(|| places::find(&usual_cube_file(game)));
    TABLES.get((checkers, file.clone()), || {
        let Some(path) = file else {
            if checkers < Table::MOST {
                return CubefulTable::solve(checkers, CubefulTable::WIDTH, threads);
            }
            return Err(GameError::new(format!(
                "{}: there is no such table: `adept oracle build --game hypergammon --cube` solves it once",
                usual_cube_file(game).display(),
            )));
        };
        let table = CubefulTable::open(&path)?;
        match table.checkers() {
            found if found == checkers => Ok(table),
            found => Err(GameError::Table(format!(
                "{}: its sides have {found} checkers and not {checkers}",
                path.display()
            ))),
        }
    })
}

/// Exact values of all stages of a money game. The cube may be turned without limit in the tables.
pub(in crate::backgammon) struct CubefulExact(pub(in crate::backgammon) Arc<CubefulTable>);

impl Valuation<Backgammon> for CubefulExact {
    fn value(&self, game: &Backgammon, after: Afterstate<'_, Backgammon>) -> f64 {
        let state: &State = after.state;
        let jacoby = matches!(game.rules(), Rules::Money { jacoby: true, .. });
        if game.turn(state) == adept_game::Turn::Over {
            return game.utility(state, after.player) / game.scale();
        }
        let owner = match state.stakes.owner() {
            None => CubeOwner::Centred,
            Some(owner) if owner == state.player => CubeOwner::Own,
            Some(_) => CubeOwner::Theirs,
        };
        let cubeless = || self.0.cubeless(state.position()).unwrap_or(f64::NAN);
        let equity = match (self.0.equities(state.position(), jacoby), state.stage) {
            (_, Stage::Roll) if state.stakes.is_dead() => cubeless(),
            (Some(equities), Stage::Roll | Stage::Rolling) => equities.no_double(owner),
            (Some(equities), Stage::Cube) => equities.value(owner),
            (Some(equities), Stage::Doubled) => equities.double_take().min(1.0),
            // Nobody beavers in these rule sets, and nobody values a position before a move or the opening roll.
            _ => f64::NAN,
        };
        let points = equity * f64::from(state.stakes.cube()) / game.scale();
        if after.player == state.player { points } else { -points }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::WithCube;
    use crate::backgammon::encoders::stakes_by_owner;
    use crate::backgammon::{Action, Points, Position, Side};
    use adept_game::{Encoder, Scale, Turn};

    /// The game with one checker a side, and its exact values.
    fn game_and_values(jacoby: bool) -> (Backgammon, CubefulExact) {
        let game = Backgammon { checkers: 1, rules: Rules::Money { jacoby, beavers: false } };
        (game, CubefulExact(cubeful_table(&game, None, 1).unwrap()))
    }

    /// All positions with each owner of the cube, before a decision about it where the side to roll may double, otherwise before the roll.
    fn states() -> Vec<State> {
        let side = |place: usize| Side::new(std::array::from_fn(|at| u8::from(at == place)));
        let pairs = (1..26).flat_map(|own| (1..26).map(move |opponent| [side(own), side(opponent)]));
        let positions = pairs.map(|[own, opponent]| Position { own, opponent });
        let positions = positions.filter(|position| position.check(1).is_ok());
        let turns = positions.flat_map(|position| [(position, 0), (position, 1)]);
        let states = turns.flat_map(|(Position { own, opponent }, player)| {
            stakes_by_owner().map(|stakes| {
                let stage = if stakes.may_double(player) { Stage::Cube } else { Stage::Roll };
                let sides = if player == 0 { [own, opponent] } else { [opponent, own] };
                State { sides, player, stage, stakes }
            })
        });
        states.collect()
    }

    fn after(state: &State, player: usize) -> Afterstate<'_, Backgammon> {
        Afterstate { state, action: None, player }
    }

    /// The value of a state is that of the best action, or the mean over rolls, by the rules of the game.
    #[test]
    fn exact_values_agree_with_the_rules_of_the_game() {
        for jacoby in [false, true] {
            let (game, exact) = game_and_values(jacoby);
            let follow = |state: &State, player: usize| -> f64 {
                let (mut actions, best) = (Vec::new(), |values: &mut dyn Iterator<Item = f64>| {
                    values.fold(f64::NEG_INFINITY, f64::max)
                });
                let applied = |state: &State, action: &Action| {
                    let mut next = *state;
                    game.apply(&mut next, action);
                    next
                };
                match game.turn(state) {
                    Turn::Player(actor) => {
                        game.actions(state, &mut actions);
                        let value = best(
                            &mut actions
                                .iter()
                                .map(|action| exact.value(&game, after(&applied(state, action), actor))),
                        );
                        if actor == player { value } else { -value }
                    }
                    Turn::Chance => {
                        let mut rolls = Vec::new();
                        game.outcomes(state, &mut rolls);
                        let value = |(roll, p): &(_, f64)| {
                            let rolled = applied(state, roll);
                            game.actions(&rolled, &mut actions);
                            let next = actions.iter().map(|action| applied(&rolled, action));
                            let values: Vec<f64> =
                                next.map(|next| exact.value(&game, after(&next, state.player))).collect();
                            p * best(&mut values.into_iter())
                        };
                        let sum: f64 = rolls.iter().map(value).sum();
                        if state.player == player { sum } else { -sum }
                    }
                    Turn::Over => unreachable!(),
                }
            };
            for state in states() {
                let mut all = vec![state];
                if state.stage == Stage::Cube {
                    all.extend([Stage::Rolling, Stage::Doubled].map(|stage| State { stage, ..state }));
                }
                for state in all {
                    for player in 0..2 {
                        let (found, expected) =
                            (exact.value(&game, after(&state, player)), follow(&state, player));
                        let points = (found - expected) * game.scale();
                        assert!(points.abs() < 4e-6, "{}: {points}", game.position_text(&state));
                    }
                }
            }
        }
    }

    /// From exact equities before the roll as outputs follow the exact values of all stages, and the other way round.
    #[test]
    fn values_follow_from_the_equities_of_the_owners() {
        let (game, exact) = game_and_values(true);
        let encoder = WithCube::new(Points);
        // As a network that has learned without an error would say.
        let output = |state: &State| {
            let before = State { stage: Stage::Rolling, ..*state };
            let equity = exact.value(&game, after(&before, 1 - state.player)) * game.scale();
            (equity / f64::from(state.stakes.cube()) / 3.0) as f32
        };
        for state in states() {
            for (stage, player) in [Stage::Cube, Stage::Doubled, Stage::Rolling, Stage::Roll]
                .into_iter()
                .flat_map(|stage| [(stage, 0), (stage, 1)])
            {
                if matches!(stage, Stage::Cube | Stage::Doubled) && state.stage != Stage::Cube {
                    continue;
                }
                let state = State { stage, ..state };
                let found = encoder.derived(&game, after(&state, player)).unwrap();
                let outputs: Vec<f32> =
                    [Some(&found.state), found.second.as_ref()].into_iter().flatten().map(output).collect();
                let (value, expected) = (found.rule.of(&outputs), exact.value(&game, after(&state, player)));
                let points = (f64::from(value) - expected) * game.scale();
                // A little weight is on the equity without a double, so that moves have an order.
                assert!(points.abs() < 1.3e-3, "{}, player {player}: {points}", game.position_text(&state));
                assert_eq!(found.scale.is_some(), matches!(stage, Stage::Roll | Stage::Rolling));
                if let Some(Scale { factor, offset }) = found.scale {
                    assert_eq!((value, offset), (factor * outputs[0], 0.0));
                }
            }
        }
    }
}
