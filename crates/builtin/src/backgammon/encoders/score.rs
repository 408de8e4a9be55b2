//! Adds the cube and the score of a match to another encoder, for networks that learn matches with the cube.

use super::cube::{DOUBT, MOST, place, widths};
use crate::backgammon::{Backgammon, Rules, Stage, State};
use adept_game::{Afterstate, Channel, ChannelKind, Derived, Encoder, RowMut, Scale, ValueRule};

/// The encoder `NAME+score`: the inputs of another encoder, the owner of the cube, and what the score makes of points.
///
/// A row is a position before a roll, seen by the side that does not roll. The output is the equity of this side for each unit of the cube
/// (EMG), as a share of 3, if the other side rolls without doubling. With the value V of the match from −1 to 1, and V₊ and V₋ after winning
/// and losing a single game with the cube as it is, it is E = (2V − V₊ − V₋) / (V₊ − V₋). The values V₊ and V₋ follow from the match equities, as do the
/// values of a dropped double and of the next game.
#[derive(Clone, Debug)]
pub struct WithScore<E> {
    inputs: E,
    /// Number of dense and of index columns of the other encoder.
    widths: [usize; 2],
    name: String,
    channels: Vec<Channel>,
}

/// Points, in cubes, whose worth a row tells.
const POINTS: [u32; 5] = [2, 3, 4, 6, 8];

/// Number of inputs: owners of the cube, who may turn it, and the worth of points won and lost.
const INPUTS: usize = 3 + 2 + 2 * POINTS.len();

/// Number of classes of the points that a side needs, in cubes: 1, 2, up to 4, more.
const NEEDS: u64 = 4;

impl<E: Encoder<Backgammon>> WithScore<E> {
    /// Wraps an encoder.
    pub fn new(inputs: E) -> Self {
        let about = "3 inputs: 1 for where the cube is, in the middle, of the side that does not roll, of the side that rolls. 2: whether the side that \
             does not roll may turn it, and the other. 5: equity of winning 2, 3, 4, 6 and 8 times the cube, divided by this number. 5: the same of losing, \
             with the opposite sign";
        let score = [
            Channel::fixed("score", ChannelKind::Dense(INPUTS), about),
            Channel::fixed(
                "owner",
                ChannelKind::Index(4),
                "0 to 2: the cube is in the middle, of the side that does not roll, of the side that rolls; 3: nobody may turn it",
            ),
            Channel::fixed(
                "needs",
                ChannelKind::Index(NEEDS * NEEDS),
                "4 times the class of the side that does not roll and that of the other: 0 to 3 if it needs at most 1, 2, 4 or more times the cube",
            ),
        ];
        let widths = widths(inputs.channels());
        let name = format!("{}+score", inputs.name());
        let channels = inputs.channels().iter().cloned().chain(score).collect();
        Self { inputs, widths, name, channels }
    }
}

/// The stakes of a game of a match, from the view of one side.
struct Prize<'a> {
    game: &'a Backgammon,
    state: &'a State,
    side: usize,
}

impl Prize<'_> {
    /// The value of the match after this side wins or loses this many points.
    fn after(&self, wins: bool, points: u32) -> f64 {
        let Self { game, state, side } = *self;
        let winner = if wins { side } else { 1 - side };
        state.stakes.after_game(winner, points).match_value(game.checkers(), side)
    }

    /// The value in the middle between a single win and a single loss, and half of their difference.
    fn scale(&self) -> [f64; 2] {
        let cube = self.state.stakes.cube();
        let [lost, won] = [false, true].map(|wins| self.after(wins, cube));
        [(won + lost) / 2.0, (won - lost) / 2.0]
    }
}

impl<E: Encoder<Backgammon>> Encoder<Backgammon> for WithScore<E> {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn fits(&self, game: &Backgammon) -> Result<(), String> {
        match game.rules() {
            Rules::Match { .. } => Ok(()),
            _ => Err(format!(
                "the encoder `{}` is for matches with the cube: take `{}`",
                self.name,
                self.inputs.name()
            )),
        }
    }

    fn encode(&self, game: &Backgammon, after: Afterstate<'_, Backgammon>, row: RowMut<'_>) {
        let Afterstate { state, action, .. } = after;
        let side = 1 - state.player;
        let (dense, score) = row.dense.split_at_mut(self.widths[0]);
        let (index, classes) = row.index.split_at_mut(self.widths[1]);
        self.inputs.encode(game, Afterstate { state, action, player: side }, RowMut { dense, index });
        let (owners, rest) = score.split_at_mut(3);
        let (turns, worth) = rest.split_at_mut(2);
        owners[place(state)] = 1.0;
        // Whoever owns the cube may turn it after the other has moved.
        let may = [side, state.player].map(|player| state.stakes.may_double(player));
        turns.copy_from_slice(&may.map(|may| f32::from(u8::from(may))));
        let prize = Prize { game, state, side };
        let ([middle, half], cube) = (prize.scale(), state.stakes.cube());
        let all = [(true, 1.0), (false, -1.0)]
            .into_iter()
            .flat_map(|(wins, sign)| POINTS.map(|points| (wins, sign / f64::from(points), points * cube)));
        for (input, (wins, unit, points)) in worth.iter_mut().zip(all) {
            *input = (unit * (prize.after(wins, points) - middle) / half) as f32;
        }
        let needs = |player: usize| match state.stakes.away().map(|away| u32::from(away[player])) {
            Some(points) if points <= cube => 0,
            Some(points) if points <= 2 * cube => 1,
            Some(points) if points <= 4 * cube => 2,
            _ => 3,
        };
        classes[0] = if may == [false; 2] { 3 } else { place(state) as u64 };
        classes[1] = NEEDS * needs(side) + needs(state.player);
    }

    fn needs_action(&self) -> bool {
        false
    }

    fn derives(&self) -> bool {
        true
    }

    fn derived(&self, game: &Backgammon, after: Afterstate<'_, Backgammon>) -> Option<Derived<Backgammon>> {
        let Afterstate { state, player, .. } = after;
        let roller = state.player;
        let sign = if player == roller { 1.0 } else { -1.0 };
        let taken = State { stage: Stage::Roll, stakes: state.stakes.turned_to(1 - roller), ..*state };
        // Values of the side to roll.
        let of = |state: &State| {
            let [middle, half] = Prize { game, state, side: roller }.scale();
            move |output: f32| middle - half * MOST * f64::from(output)
        };
        let cash = Prize { game, state, side: roller }.after(true, state.stakes.cube());
        Some(match state.stage {
            Stage::Cube => {
                let (rolls, takes) = (of(state), of(&taken));
                let rule = move |outputs: &[f32]| {
                    let rolls = rolls(outputs[0]);
                    let value = rolls.max(takes(outputs[1]).min(cash));
                    (sign * (value + DOUBT * (rolls - value))) as f32
                };
                Derived {
                    state: State { stage: Stage::Rolling, ..*state },
                    second: Some(taken),
                    rule: ValueRule::new(rule),
                    scale: None,
                }
            }
            Stage::Doubled | Stage::Beavered => {
                let takes = of(&taken);
                let rule = move |outputs: &[f32]| (sign * takes(outputs[0]).min(cash)) as f32;
                Derived { state: taken, second: None, rule: ValueRule::new(rule), scale: None }
            }
            Stage::Opening | Stage::Dropped | Stage::Resigned(_) => {
                let value = state.stakes.match_value(game.checkers(), player) as f32;
                Derived { state: *state, second: None, rule: ValueRule::new(move |_| value), scale: None }
            }
            Stage::Roll | Stage::Rolling | Stage::Move(_) => {
                let [middle, half] = Prize { game, state, side: player }.scale();
                let (factor, offset) = (-sign * half * MOST, middle);
                let rule = move |outputs: &[f32]| (offset + factor * f64::from(outputs[0])) as f32;
                let scale = Some(Scale { factor: factor as f32, offset: offset as f32 });
                Derived { state: *state, second: None, rule: ValueRule::new(rule), scale }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::cube::{Chances, CubeModel};
    use crate::backgammon::{Points, Position, Stakes};
    use adept_game::{Game, Kit};

    /// The classes of player 1, which does not roll.
    const CLASSES: [f32; 6] = [0.01, 0.14, 0.25, 0.38, 0.20, 0.02];

    fn states(stage: Stage) -> Vec<(Backgammon, State)> {
        let game = |length| Backgammon::with_rules(15, Rules::Match { length }).unwrap();
        let all = [
            (7, 1, None, [7, 7], false),
            (7, 1, None, [2, 5], false),
            (5, 1, None, [3, 1], false),
            (9, 2, Some(0), [5, 9], false),
            (9, 2, Some(1), [9, 4], false),
            (7, 4, Some(0), [7, 6], false),
            (7, 1, None, [1, 4], true),
        ];
        let state = |(length, cube, owner, away, crawford)| {
            let stakes = Stakes::new(cube, owner, away, crawford).unwrap();
            (game(length), State { stage, stakes, ..State::to_roll(Position::start(15)) })
        };
        all.into_iter().map(state).collect()
    }

    /// From equities by the model of the cube as outputs follow the values that a network without the cube has by this model.
    #[test]
    fn values_are_those_of_the_model_with_its_equities() {
        let (encoder, model) = (WithScore::new(Points), CubeModel::of(15));
        let chances = Chances::of_classes(CLASSES.map(f64::from)).other();
        let efficiency = model.efficiency.at(Position::start(15));
        for stage in [Stage::Rolling, Stage::Roll, Stage::Cube, Stage::Doubled] {
            for (game, state) in states(stage) {
                let decides = matches!(stage, Stage::Cube | Stage::Doubled);
                if decides && !state.stakes.may_double(0) {
                    continue;
                }
                let output =
                    |state: &State| (-model.equity(efficiency, chances, game.terms(state)) / MOST) as f32;
                for player in 0..2 {
                    let after = Afterstate { state: &state, action: None, player };
                    let Derived { state: first, second, rule, scale } =
                        encoder.derived(&game, after).unwrap();
                    let outputs: Vec<f32> =
                        [Some(&first), second.as_ref()].into_iter().flatten().map(output).collect();
                    let found = f64::from(rule.of(&outputs));
                    let adapted = game.results().adapted.unwrap();
                    let expected = match stage {
                        Stage::Cube => {
                            let terms = game.terms(&state);
                            let value = model.values(state.position(), chances, terms).value();
                            let value = 2.0 * model.match_chance_of(value, terms).unwrap() - 1.0;
                            if player == 0 { value } else { -value }
                        }
                        _ => {
                            let mut classes = CLASSES;
                            if player == 0 {
                                classes.reverse();
                            }
                            f64::from((adapted.value)(&game, &state, player).of(&classes))
                        }
                    };
                    let text = game.position_text(&state);
                    assert!((found - expected).abs() < 3e-4, "{text}, player {player}: {found}, {expected}");
                    assert_eq!(scale.is_some(), !decides, "{text}");
                    if let Some(scale) = scale {
                        assert!((scale.output(found as f32) - outputs[0]).abs() < 1e-4, "{text}");
                    }
                }
            }
        }
    }

    /// Points count as in money games far from the end of a match, and more or less near it.
    #[test]
    fn rows_tell_what_points_are_worth() {
        let row = |(game, state): &(Backgammon, State)| {
            let (mut dense, mut index) = ([0.0; 202 + INPUTS], [0; 2]);
            let row = RowMut { dense: &mut dense, index: &mut index };
            WithScore::new(Points).encode(game, Afterstate { state, action: None, player: 1 }, row);
            (<[f32; INPUTS]>::try_from(&dense[202..]).unwrap(), index)
        };
        let rows: Vec<_> = states(Stage::Roll).iter().map(row).collect();
        let (even, index) = rows[0];
        assert_eq!((&even[..5], index), (&[1.0, 0.0, 0.0, 1.0, 1.0][..], [0, 15]));
        assert!(even[5..].iter().all(|worth| (0.6..1.4).contains(worth)), "{even:?}");
        // The side that rolls needs 2 of 7 points: a gammon wins it the match, and more points are worth no more.
        let (close, index) = rows[1];
        assert_eq!(index, [0, 4 * 3 + 1]);
        assert!(close[10] > 0.9 && close[11] < close[10] && close[14] < 0.5, "{close:?}");
        // After the Crawford game, the trailer owns all doubles; in it, nobody doubles.
        assert_eq!((rows[2].0[3], rows[2].0[4], rows[2].1), (0.0, 1.0, [0, 2]));
        assert_eq!((rows[6].0[3..5].to_vec(), rows[6].1), (vec![0.0, 0.0], [3, 4 * 2]));
        // A cube of 2 is at the side to roll, then at the other.
        assert_eq!([rows[3].1[0], rows[4].1[0]], [2, 1]);
        assert_eq!(
            (rows[3].0[..3].to_vec(), rows[4].0[..3].to_vec()),
            (vec![0.0, 0.0, 1.0], vec![0.0, 1.0, 0.0])
        );
    }
}
