//! A backgammon player for the protocols: moves by an agent, cube decisions by the model of the cube from a network's chances.

use adept_arena::{Agent, Decision, GameModel, Scratch};
use adept_builtin::backgammon::cube::{Chances, CubeModel, CubeOwner, CubeValues, Scoring, Terms};
use adept_builtin::backgammon::{self, Action, Backgammon, Position, Rules, Stage, Stakes, State};
use adept_builtin::dice::Roll;
use adept_game::{Afterstate, Game, GameError, stream};

/// An agent with a network.
pub(super) struct Bot {
    agent: Box<dyn Agent<Backgammon>>,
    /// The agent's network; none for an agent without values, which hardly doubles and always takes.
    values: Option<GameModel<Backgammon>>,
    scratch: Scratch<Backgammon>,
    /// Whether moves are chosen with the cube at the score.
    pub(super) cubeful: bool,
    /// Seed of the agent's draws.
    pub(super) seed: u64,
    /// Number of moves so far.
    moves: u64,
}

impl Bot {
    /// Creates a bot from an agent and its network.
    pub(super) fn new(
        agent: Box<dyn Agent<Backgammon>>,
        values: Option<GameModel<Backgammon>>,
        seed: u64,
    ) -> Self {
        Self { agent, values, scratch: Scratch::default(), cubeful: true, seed, moves: 0 }
    }

    /// The game with the cube of these terms, and its state in a stage, with player 0 to roll. None for terms that the game does not
    /// have, such as a cube of 128, and without the classes of results, from which values with the cube follow.
    fn with_cube(&self, to_roll: Position, terms: Terms, stage: Stage) -> Option<(Backgammon, State)> {
        self.values.as_ref()?.model.head().classes()?;
        let (rules, away, crawford) = match terms.scoring {
            Scoring::Money { jacoby } => (Rules::Money { jacoby, beavers: false }, [0, 0], false),
            Scoring::Match { away, crawford } => {
                let [own, other] = away.map(|points| u8::try_from(points).unwrap_or(u8::MAX));
                (Rules::Match { length: own.max(other) }, [own, other], crawford)
            }
        };
        let owner = match terms.owner {
            CubeOwner::Centred => None,
            CubeOwner::Own => Some(0),
            CubeOwner::Theirs => Some(1),
        };
        let stakes = Stakes::new(terms.cube, owner, away, crawford).ok()?;
        let game = Backgammon::with_rules(Backgammon::default().checkers(), rules)?;
        Some((game, State { stage, stakes, ..State::to_roll(to_roll) }))
    }

    fn choose(&mut self, game: &Backgammon, state: &State, player: usize) -> Result<Action, GameError> {
        let mut rng = stream(self.seed, "backgammon server choices", self.moves);
        self.moves += 1;
        self.agent.choose(Decision::new(game, state, player), &mut self.scratch, &mut rng)
    }

    /// Chooses a move for a roll with this cube at this score. Returns it by single die as `24/18 18/16`, empty if no move is possible,
    /// and the position after it from the same side's view.
    ///
    /// # Errors
    /// As for [`Agent::choose`].
    pub(super) fn play(
        &mut self,
        position: Position,
        roll: Roll,
        terms: Terms,
    ) -> Result<(String, Position), GameError> {
        let stage = Stage::Move(roll);
        let without = || (Backgammon::default(), State { stage, ..State::to_roll(position) });
        let with = self.cubeful.then(|| self.with_cube(position, terms, stage)).flatten();
        let (game, state) = with.unwrap_or_else(without);
        match self.choose(&game, &state, 0)? {
            Action::Move(after) => Ok((backgammon::die_by_die(position, roll, after), after)),
            _ => Err(GameError::new("the agent does not move")),
        }
    }

    /// The chances of the side that rolls next, if there is a network: from its six classes, or from its equity, as if
    /// there were no gammons.
    pub(super) fn chances(&mut self, to_roll: Position) -> Option<Chances> {
        let values = self.values.as_mut()?;
        let (game, state) = (Backgammon::default(), State::to_roll(to_roll));
        // Networks take the view of the side that has just moved.
        let rows = values.encode(&game, &state, None, 1);
        let found = values.explained(&game, Afterstate { state: &state, action: None, player: 1 }, &rows);
        let outputs = if found.outcomes.is_empty() { vec![found.value] } else { found.outcomes };
        match outputs[..] {
            [value] => Some(Chances::of_equity(-f64::from(value) * game.scale())),
            [lb, lg, l, w, wg, wb] => Some(Chances::of_classes([wb, wg, w, l, lg, lb].map(f64::from))),
            _ => None,
        }
    }

    /// The values of a position for the side to roll with this cube at this score, if there is a network.
    pub(super) fn cube(&mut self, to_roll: Position, terms: Terms) -> Option<CubeValues> {
        let chances = self.chances(to_roll)?;
        Some(CubeModel::usual().values(to_roll, chances, terms))
    }

    /// Whether the side to roll doubles. In a match it does even without a network where the opponent wins the match with this game
    /// anyway.
    pub(super) fn doubles(&mut self, to_roll: Position, terms: Terms) -> bool {
        if !terms.may_double() {
            return false;
        }
        let loses_anyway =
            matches!(terms.scoring, Scoring::Match { away: [_, other], .. } if other <= terms.cube);
        self.cube(to_roll, terms).map_or(loses_anyway, |values| values.doubles())
    }

    /// Whether the opponent of the side to roll takes a double. `terms` are those of the side to roll, before the double. Without a
    /// network it takes.
    pub(super) fn takes(&mut self, to_roll: Position, terms: Terms) -> bool {
        if let Some((game, state)) = self.with_cube(to_roll, terms, Stage::Doubled)
            && let Ok(action) = self.choose(&game, &state, 1)
        {
            return action == Action::Take;
        }
        let model = CubeModel::usual();
        self.chances(to_roll).is_none_or(|chances| model.takes(to_roll, chances, terms))
    }

    /// Whether the side to roll, which has doubled, accepts a beaver. Without a network it does.
    pub(super) fn takes_beaver(&mut self, to_roll: Position) -> bool {
        let model = CubeModel::usual();
        self.chances(to_roll).is_none_or(|chances| model.takes_beaver(to_roll, chances))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use adept_builtin::backgammon::cube::CubeOwner;
    use adept_game::Kit;
    use adept_model::{Head, Optimiser};

    /// A network with random weights and six classes.
    pub(crate) fn network() -> GameModel<Backgammon> {
        let game = Backgammon::default();
        let encoder = game.encoders().open("points").unwrap();
        let architecture = serde_json::from_str(r#"{ "mlp": { "hidden": [4] } }"#).unwrap();
        let head = Head::Outcomes(adept_game::outcome_classes(&game).unwrap());
        let mut rng = stream(3, "network", 0);
        let learner =
            adept_model::build(&architecture, encoder.channels(), &head, Optimiser::default(), &mut rng);
        GameModel::new(&game, encoder, learner.unwrap())
    }

    /// A bot that plays by a random network.
    pub(crate) fn bot() -> Bot {
        Bot::new(Box::new(adept_arena::Greedy::new(network())), Some(network()), 1)
    }

    fn position(text: &str) -> Position {
        Backgammon::default().parse_position(text).unwrap().0.position()
    }

    #[test]
    fn chances_are_those_of_the_side_to_roll() {
        let (mut bot, mut network) = (bot(), network());
        let (game, position) = (Backgammon::default(), position("24:2 13:5 8:3 6:5/20:2 13:4 8:4 6:5"));
        let rows = network.encode(&game, &State::to_roll(position), None, 1);
        let mut value = Vec::new();
        network.model.evaluate(&rows, &mut value);
        let chances = bot.chances(position).unwrap();
        assert!((chances.equity() + 3.0 * f64::from(value[0])).abs() < 1e-5, "{chances:?} {value:?}");
        assert!((chances.equity() + chances.other().equity()).abs() < 1e-12);
    }

    /// The side that bears off its last checker first wins, whatever the network.
    #[test]
    fn chances_tell_winners_from_losers() {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/backgammon/small-88-24");
        let game = Backgammon::default();
        let open = || adept_arena::open::open(&game, &folder, false).unwrap().0;
        let mut bot = Bot::new(Box::new(adept_arena::Greedy::new(open())), Some(open()), 1);
        // A gammon for the side to roll; a gammon against it; a single win; a single loss.
        for (text, points) in [
            ("1:1 off:14/1:15", 2.0),
            ("10:15/1:1 off:14", -2.0),
            ("1:1 off:14/3:5 off:10", 1.0),
            ("3:5 off:10/1:1 off:14", -1.0),
        ] {
            let chances = bot.chances(position(text)).unwrap();
            assert!((chances.equity() - points).abs() < 0.15, "{text}: {chances:?}");
            assert!((chances.win() - f64::from(points > 0.0)).abs() < 0.05, "{text}: {chances:?}");
            // The side that does not roll takes only what it can still win.
            assert_eq!(bot.takes(position(text), Terms::money(false)), points < 0.0, "{text}");
        }
    }

    #[test]
    fn the_score_of_a_match_decides_without_a_network() {
        let start = position("4HPwATDgc/ABMA");
        let at = |away| Terms {
            cube: 2,
            owner: CubeOwner::Own,
            scoring: Scoring::Match { away, crawford: false },
        };
        let mut unknowing = Bot::new(Box::new(adept_arena::Random), None, 1);
        assert!(unknowing.doubles(start, at([3, 1])) && !unknowing.doubles(start, at([2, 1])));
        assert!(
            !unknowing.doubles(start, Terms::money(false)) && unknowing.takes(start, Terms::money(false))
        );
        // With one, a side that loses the match with this game takes any double.
        assert!(bot().takes(position("1:1 off:14/1:15"), Terms { cube: 4, ..at([4, 9]) }));
    }

    #[test]
    fn moves_are_written_die_by_die() {
        let mut bot = bot();
        let (text, after) = bot
            .play(position("6:2 off:13/6:1 off:14"), Roll::new(6, 6).unwrap(), Terms::money(false))
            .unwrap();
        assert_eq!((&*text, after.own.off()), ("6/off 6/off", 15));
        let closed = "bar:1 6:14/6:3 5:3 4:3 3:2 2:2 1:2";
        let (text, after) =
            bot.play(position(closed), Roll::new(6, 5).unwrap(), Terms::money(false)).unwrap();
        assert_eq!((&*text, after), ("", position(closed)));
        let (text, _) = bot
            .play(position("24:1 off:14/6:3 off:12"), Roll::new(3, 3).unwrap(), Terms::money(false))
            .unwrap();
        assert_eq!(text, "24/21 21/18 18/15 15/12");
    }
}
