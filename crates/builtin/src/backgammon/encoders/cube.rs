//! Adds the owner of the cube to another encoder, for networks that learn money games with the cube.

use crate::backgammon::cubeful::answered;
use crate::backgammon::{Backgammon, Rules, Stage, Stakes, State};
use adept_game::{Afterstate, Channel, ChannelKind, Derived, Encoder, Game, RowMut, ValueRule};

/// The encoder `NAME+cube`: the inputs of another encoder and the owner of the cube.
///
/// A row is a position before a roll, seen by the side that does not roll. The output is the equity of this side for each unit of the
/// cube, as a share of the 3 points of a backgammon, if the other side rolls without doubling. What a double, a take and a drop are
/// worth follows from such equities, so that the network need not learn it.
#[derive(Clone, Debug)]
pub struct WithCube<E> {
    inputs: E,
    /// Number of dense and of index columns of the other encoder.
    widths: [usize; 2],
    name: String,
    channels: Vec<Channel>,
}

/// The most that a game counts for each unit of the cube.
const MOST: f64 = 3.0;

/// Weight of the equity without a double before a decision to double: keeps moves in order where the opponent cashes after each of them,
/// and so little that it does not matter elsewhere.
const DOUBT: f64 = 2e-4;

impl<E: Encoder<Backgammon>> WithCube<E> {
    /// Wraps an encoder.
    pub fn new(inputs: E) -> Self {
        const OWNERS: &str = "in the middle, of the side that does not roll, of the side that rolls";
        let owner = [
            Channel::fixed("cube", ChannelKind::Dense(3), "")
                .about(format!("1 for where the cube is: {OWNERS}")),
            Channel::fixed("owner", ChannelKind::Index(3), "").about(format!("0 to 2: the cube is {OWNERS}")),
        ];
        let widths = inputs.channels().iter().fold([0, 0], |[dense, index], channel| {
            [dense + channel.kind.dense_width(), index + channel.kind.index_width()]
        });
        let name = format!("{}+cube", inputs.name());
        let channels = inputs.channels().iter().cloned().chain(owner).collect();
        Self { inputs, widths, name, channels }
    }
}

/// Where the cube is, as the rows count.
fn place(state: &State) -> usize {
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
        cube[place(state)] = 1.0;
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
                factor: None,
            },
            Stage::Doubled | Stage::Beavered => {
                let is_beavered = state.stage == Stage::Beavered;
                let rule = move |outputs: &[f32]| {
                    let take = 2.0 * roller(outputs[0]);
                    (sign * if is_beavered { take.max(-1.0) } else { answered(take, may_beaver) }) as f32
                };
                Derived { state: after_take(), second: None, rule: ValueRule::new(rule), factor: None }
            }
            Stage::Opening | Stage::Dropped | Stage::Resigned(_) => {
                Derived { state: *state, second: None, rule: ValueRule::new(|_| 0.0), factor: None }
            }
            Stage::Roll | Stage::Rolling | Stage::Move(_) => Derived {
                state: *state,
                second: None,
                rule: ValueRule::new(move |outputs| (sign * roller(outputs[0])) as f32),
                // Rows do not tell that a cube is at its highest value.
                factor: state.stakes.can_turn(1).then_some((-sign * MOST) as f32),
            },
        })
    }
}

/// The stakes of a money game whose cube is in the middle, owned by player 0, or by player 1.
pub(in crate::backgammon) fn stakes_by_owner() -> [Stakes; 3] {
    let centred = Stakes::default();
    [centred, centred.turned_to(0), centred.turned_to(1)]
}
