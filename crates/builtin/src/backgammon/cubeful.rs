//! How networks of games without the cube play the rule sets with it: their chances give the value of a position with the cube.

use super::cube::{Chances, CubeModel, CubeOwner, End, Terms};
use super::{Backgammon, Position, Stage, State};
use adept_game::{Adapted, Game, Reading, ValueRule};

/// How networks of this game without the cube play it; none if it has no cube.
pub(super) fn adapted(game: &Backgammon) -> Option<Adapted<Backgammon>> {
    game.has_cube().then(|| Adapted { game: game.without_cube(), viewer, value, reading })
}

/// Networks know positions before a roll alone, as the opponent of the player who rolls.
fn viewer(_: &Backgammon, state: &State, player: usize) -> usize {
    match state.stage {
        Stage::Opening | Stage::Dropped | Stage::Resigned(_) => player,
        _ => 1 - state.player,
    }
}

/// Weight of the value without a double before a decision to double. Where the opponent doubles and this side passes after each of its
/// moves, all have the same value if nobody errs: this share keeps them in order.
const DOUBT: f64 = 0.05;

/// The value of a state for a player: points as a share of the most that a game can count, or the chance to win the match, on a scale
/// from −1 to 1.
fn value(game: &Backgammon, state: &State, player: usize) -> ValueRule {
    let model = CubeModel::of(game.checkers());
    let (stage, roller) = (state.stage, state.player);
    if stage == Stage::Opening {
        let value = state.stakes.match_value(game.checkers(), player) as f32;
        return ValueRule::new(move |_| value);
    }
    let (position, terms) = (state.position(), game.terms(state));
    let (scale, is_mirrored, may_beaver) = (game.scale(), player != roller, game.allows_beavers());
    let worth = move |equity: f64| {
        let value = match model.match_chance_of(equity, terms) {
            Some(chance) => 2.0 * chance - 1.0,
            None => equity * f64::from(terms.cube) / scale,
        };
        (if is_mirrored { -value } else { value }) as f32
    };
    // The exact ends have a live cube.
    let is_dead = state.stakes.is_dead();
    let exact = if is_dead { None } else { end_value(model, stage, position, terms, may_beaver) };
    if let Some(equity) = exact {
        let value = worth(equity);
        return ValueRule::new(move |_| value);
    }
    let efficiency = if is_dead { 0.0 } else { model.efficiency.at(position) };
    ValueRule::new(move |probabilities| {
        let Ok(classes) = <[f32; 6]>::try_from(probabilities) else { return 0.0 };
        let chances = Chances::of_classes(classes.map(f64::from));
        let chances = if is_mirrored { chances.other() } else { chances };
        let after_take = || model.after_take(efficiency, chances, terms);
        let equity = match stage {
            Stage::Cube => {
                let values = model.values_at(efficiency, chances, terms);
                values.value() + DOUBT * (values.no_double - values.value())
            }
            Stage::Doubled => answered(after_take(), may_beaver),
            // The cube has been turned once more, and the roller may drop it.
            Stage::Beavered => after_take().max(-1.0),
            _ => model.equity(efficiency, chances, terms),
        };
        worth(equity)
    })
}

/// The equity of a side that has doubled, by that after a take: its opponent takes, drops or beavers, which doubles what the taker expects
/// unless the doubler drops the beaver.
pub(super) fn answered(take: f64, may_beaver: bool) -> f64 {
    let beavered = if may_beaver { (2.0 * take).max(-2.0) } else { f64::INFINITY };
    take.min(beavered).min(1.0)
}

/// Weight of the value without a double at exact ends where the opponent cashes after every move.
const SLIGHT_DOUBT: f64 = 1e-3;

/// The exact equity of the side to roll at the end of a game.
fn end_value(
    model: &CubeModel,
    stage: Stage,
    position: Position,
    terms: Terms,
    may_beaver: bool,
) -> Option<f64> {
    let end = End::of(&model.equities, position, terms)?;
    match stage {
        Stage::Cube => match end.value()? {
            cash if cash >= 1.0 => Some(cash + SLIGHT_DOUBT * (end.equities()?.no_double - cash)),
            value => Some(value),
        },
        Stage::Roll if terms.owner == CubeOwner::Theirs => end.value(),
        Stage::Roll | Stage::Rolling => Some(end.equities()?.no_double),
        Stage::Doubled => Some(answered(end.after_take()?, may_beaver)),
        Stage::Beavered => Some(end.after_take()?.max(-1.0)),
        _ => None,
    }
}

/// The values of each decision about the cube for the player to roll, in points for each unit of the cube, and what is right.
fn reading(game: &Backgammon, state: &State, player: usize, probabilities: &[f32]) -> Option<Reading> {
    if matches!(state.stage, Stage::Opening | Stage::Dropped | Stage::Resigned(_) | Stage::Beavered) {
        return None;
    }
    let chances = Chances::of_classes(<[f32; 6]>::try_from(probabilities).ok()?.map(f64::from));
    let chances = if player == state.player { chances } else { chances.other() };
    let model = CubeModel::of(game.checkers());
    let (position, terms) = (state.position(), game.terms(state));
    let values = model.values(position, chances, terms);
    // The model's own figures do not belong beside exact ones.
    let is_modelled = !model.is_exact(position, terms);
    let [doubles, passes] = if is_modelled { model.points(position, chances, terms) } else { [None, None] };
    // While a double waits for its answer, and after the decision to roll, there is less to choose.
    let (value, advice) = match (state.stage, values.double_take) {
        (Stage::Doubled, Some(take)) => (take.min(1.0), if values.takes() { "take" } else { "pass" }),
        (Stage::Cube, _) => (values.value(), values.action.words()),
        _ => (values.no_double, "roll"),
    };
    let figures = [
        ("cubeless", is_modelled.then_some(values.cubeless)),
        ("no double", Some(values.no_double)),
        ("double, take", values.double_take),
        ("double, pass", values.double_pass),
        ("win the game", Some(chances.win())),
        ("win the match", model.match_chance_of(value, terms)),
        ("double from", doubles),
        ("pass from", passes),
    ];
    let figures = figures.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect();
    Some(Reading { advice, figures })
}
