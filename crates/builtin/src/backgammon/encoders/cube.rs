//! Adds the owner of the cube to another encoder, for networks that learn money games with the cube.

use crate::backgammon::cubeful::answered;
use crate::backgammon::{Backgammon, Rules, Stage, Stakes, State};
use adept_game::{Afterstate, Channel, ChannelKind, Derived, Encoder, Game, RowMut, Scale, ValueRule};

/// The encoder `NAME+cube`: the inputs of another encoder and the owner of the cube.
///
/// A row is a position before a roll, seen by the side that does not roll. The output is the equity of this side for each unit of the
/// cube, as a share of the 3 points of a backgammon, if the other side rolls without doubling. What a double, a take and a drop are
/// worth follows from such equities, so that the network need not learn it. A cube of 64 is dead: its row lies between those of both owners.
#[derive(Clone, Debug)]
pub struct WithCube<E> {
    inputs: E,
    /// Number of dense and of index columns of the other encoder.
    widths: [usize; 2],
    name: String,
    channels: Vec<Channel>,
}

/// The most that a game counts for each unit of the cube.
pub(super) const MOST: f64 = 3.0;

/// Weight of the equity without a double before a decision to double: keeps moves in order where the opponent cashes after each of them,
/// and so little that it does not matter elsewhere.
pub(super) const DOUBT: f64 = 2e-4;

impl<E: Encoder<Backgammon>> WithCube<E> {
    /// Wraps an encoder.
    pub fn new(inputs: E) -> Self {
        const OWNERS: &str = "in the middle, of the side that does not roll, of the side that rolls";
        let owner = [
            Channel::fixed("cube", ChannelKind::Dense(3), "").about(format!(
                "1 for where the cube is: {OWNERS}; ½ for both sides if it is at 64 and dead"
            )),
            Channel::fixed("owner", ChannelKind::Index(3), "").about(format!("0 to 2: the cube is {OWNERS}")),
        ];
        let widths = widths(inputs.channels());
        let name = format!("{}+cube", inputs.name());
        let channels = inputs.channels().iter().cloned().chain(owner).collect();
        Self { inputs, widths, name, channels }
    }
}

/// Number of dense and of index columns.
pub(super) fn widths(channels: &[Channel]) -> [usize; 2] {
    channels.iter().fold([0, 0], |[dense, index], channel| {
        [dense + channel.kind.dense_width(), index + channel.kind.index_width()]
    })
}

/// Where the cube is, as the rows count.
pub(super) fn place(state: &State) -> usize {
    match state.stakes.owner() {
        None => 0,
        Some(owner) => 1 + usize::from(owner == state.player),
    }
}

impl<E: Encoder<Backgammon>> Encoder<Backgammon> for WithCube<E> {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn fits(&self, game: &Backgammon) -> Result<(), String> {
        match game.rules() {
            Rules::Money { .. } => Ok(()),
            _ => Err(format!(
                "the encoder `{}` is for money games with the cube: take `{}`",
                self.name,
                self.inputs.name()
            )),
        }
    }

    fn encode(&self, game: &Backgammon, after: Afterstate<'_, Backgammon>, row: RowMut<'_>) {
        let Afterstate { state, action, .. } = after;
        let (dense, cube) = row.dense.split_at_mut(self.widths[0]);
        let (index, owner) = row.index.split_at_mut(self.widths[1]);
        self.inputs.encode(
            game,
            Afterstate { state, action, player: 1 - state.player },
            RowMut { dense, index },
        );
        match state.stakes.can_turn(1) {
            true => cube[place(state)] = 1.0,
            // Networks that never saw it interpolate between the owners.
            false => cube[1..].fill(0.5),
        }
        owner[0] = place(state) as u64;
    }

    fn needs_action(&self) -> bool {
        false
    }

    fn derives(&self) -> bool {
        true
    }

    fn derived(&self, game: &Backgammon, after: Afterstate<'_, Backgammon>) -> Option<Derived<Backgammon>> {
        let Afterstate { state, player, .. } = after;
        let unit = f64::from(state.stakes.cube()) / game.scale();
        // Of the player, by the equity of the side to roll.
        let sign = if player == state.player { unit } else { -unit };
        let may_beaver = game.allows_beavers() && state.stakes.can_turn(2);
        let after_take =
            || State { stage: Stage::Roll, stakes: state.stakes.turned_to(1 - state.player), ..*state };
        let roller = |output: f32| -MOST * f64::from(output);
        Some(match state.stage {
            Stage::Cube => Derived {
                state: State { stage: Stage::Rolling, ..*state },
                second: Some(after_take()),
                rule: ValueRule::new(move |outputs| {
                    let [rolls, takes] = [outputs[0], outputs[1]].map(roller);
                    let value = rolls.max(answered(2.0 * takes, may_beaver));
                    (sign * (value + DOUBT * (rolls - value))) as f32
                }),
                scale: None,
            },
            Stage::Doubled | Stage::Beavered => {
                let is_beavered = state.stage == Stage::Beavered;
                let rule = move |outputs: &[f32]| {
                    let take = 2.0 * roller(outputs[0]);
                    (sign * if is_beavered { take.max(-1.0) } else { answered(take, may_beaver) }) as f32
                };
                Derived { state: after_take(), second: None, rule: ValueRule::new(rule), scale: None }
            }
            Stage::Opening | Stage::Dropped | Stage::Resigned(_) => {
                Derived { state: *state, second: None, rule: ValueRule::new(|_| 0.0), scale: None }
            }
            Stage::Roll | Stage::Rolling | Stage::Move(_) => Derived {
                state: *state,
                second: None,
                rule: ValueRule::new(move |outputs| (sign * roller(outputs[0])) as f32),
                scale: Some(Scale { factor: (-sign * MOST) as f32, offset: 0.0 }),
            },
        })
    }
}

/// The stakes of a money game whose cube is in the middle, owned by player 0, or by player 1.
pub(in crate::backgammon) fn stakes_by_owner() -> [Stakes; 3] {
    let centred = Stakes::default();
    [centred, centred.turned_to(0), centred.turned_to(1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::{Points, Position};

    fn money(beavers: bool) -> Backgammon {
        Backgammon::with_rules(15, Rules::Money { jacoby: true, beavers }).unwrap()
    }

    /// The start with player 0 to roll, the cube turned so often, the last time by player 1.
    fn state(stage: Stage, turns: u8) -> State {
        let stakes = (0..turns).fold(Stakes::default(), |stakes, turn| {
            stakes.turned_to(usize::from((turns - turn).is_multiple_of(2)))
        });
        State { stage, stakes, ..State::to_roll(Position::start(15)) }
    }

    fn derived(game: &Backgammon, state: &State, player: usize) -> Derived<Backgammon> {
        WithCube::new(Points).derived(game, Afterstate { state, action: None, player }).unwrap()
    }

    /// The equity of player 0, in points, of a state whose rows have these equities for the side that rolls.
    fn equity(game: &Backgammon, state: &State, equities: &[f64]) -> f64 {
        let outputs: Vec<f32> = equities.iter().map(|equity| (-equity / MOST) as f32).collect();
        let [own, other] =
            [0, 1].map(|player| f64::from(derived(game, state, player).rule.of(&outputs)) * game.scale());
        assert!((own + other).abs() < 1e-4);
        own
    }

    /// The channels of the cube in the row of a state.
    fn row(state: &State) -> ([f32; 3], u64) {
        let (mut dense, mut index) = ([0.0; 205], [0]);
        let row = RowMut { dense: &mut dense, index: &mut index };
        WithCube::new(Points).encode(&money(false), Afterstate { state, action: None, player: 1 }, row);
        (std::array::from_fn(|at| dense[202 + at]), index[0])
    }

    /// A beaver doubles what the taker expects, and the doubler drops it where that is worse than losing the doubled cube.
    #[test]
    fn beavers_are_answered() {
        let doubled = state(Stage::Doubled, 0);
        for (take, plain, beavered) in
            [(0.8, 1.0, 1.0), (0.3, 0.6, 0.6), (-0.2, -0.4, -0.8), (-0.9, -1.8, -2.0)]
        {
            for (beavers, expected) in [(false, plain), (true, beavered)] {
                let found = equity(&money(beavers), &doubled, &[take]);
                assert!((found - expected).abs() < 1e-4, "{take}, {beavers}: {found}");
            }
            // After the beaver the cube is at 2 and is turned to 4, or the doubler loses 2.
            let found = equity(&money(true), &state(Stage::Beavered, 1), &[take]);
            assert!((found - (4.0 * take).max(-2.0)).abs() < 1e-4, "{take}: {found}");
        }
        // A cube of 32 is turned once more, not twice.
        let last = state(Stage::Doubled, 5);
        assert!((equity(&money(true), &last, &[-0.2]) - 32.0 * -0.4).abs() < 1e-3);
    }

    /// Nobody turns a cube of 64, whoever owns it; a double from 32 leads to it.
    #[test]
    fn a_cube_of_64_is_dead() {
        let dead = state(Stage::Roll, 6);
        assert_eq!((dead.stakes.cube(), row(&dead)), (64, ([0.0, 0.5, 0.5], 2)));
        let other = State { stakes: state(Stage::Roll, 5).stakes.turned_to(1), ..dead };
        assert_eq!(row(&other), ([0.0, 0.5, 0.5], 1));
        assert_eq!(row(&state(Stage::Rolling, 5)), ([0.0, 0.0, 1.0], 2));
        assert_eq!(row(&state(Stage::Rolling, 0)), ([1.0, 0.0, 0.0], 0));

        let game = money(false);
        assert!((equity(&game, &dead, &[0.25]) - 16.0).abs() < 1e-3);
        let before = state(Stage::Cube, 5);
        let Derived { second, scale, .. } = derived(&game, &before, 0);
        assert_eq!((second.map(|taken| row(&taken).0), scale), (Some([0.0, 0.5, 0.5]), None));
        // Rolls at 32 for 0.3, or plays on at 64 for 0.2.
        let found = equity(&game, &before, &[0.3, 0.2]);
        assert!((found - 32.0 * 0.4).abs() < 1e-2, "{found}");
        // Samples are learned from at every value of the cube: the value is a multiple of the output.
        for turns in [0, 5, 6] {
            let stage = if turns == 6 { Stage::Roll } else { Stage::Rolling };
            let Derived { rule, scale, .. } = derived(&game, &state(stage, turns), 1);
            assert_eq!(scale.unwrap().output(rule.of(&[0.5])), 0.5);
        }
    }
}
