//! Games written down, for a learner elsewhere: the decisions of the learner, and how each game ended.

use super::returns::{Bootstrap, Returns, Step, backwards, outcomes_backwards};
use adept_game::{Game, Kit, OutcomeClass, Turn, outcome_classes, outcome_of};
use adept_model::{Channel, Head, OutcomeMask, Rows};

/// A decision as it is written down.
pub(crate) struct Decided {
    pub(crate) step: Step,
    /// Value of its row by the network, where that was not asked when it was chosen.
    pub(crate) own: f32,
    /// Moves of players before it.
    pub(crate) ply: u32,
    pub(crate) explored: bool,
    /// The possible classes of outcomes of its row.
    pub(crate) possible: OutcomeMask,
}

/// The decisions of several games and the results of these, column by column. The decisions of a game stand in the order of play.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Columns {
    /// Players of the game.
    pub players: usize,
    /// The first decision of each game, and the number of all.
    pub starts: Vec<i64>,
    /// The row of the state that a decision led to; −1 if the game ended there.
    pub row: Vec<i64>,
    /// Who decided.
    pub player: Vec<i64>,
    /// Moves of players before.
    pub ply: Vec<i64>,
    /// Value that the decision was chosen by.
    pub value: Vec<f32>,
    /// Highest value among the candidates.
    pub best: Vec<f32>,
    /// Value of the row by the network.
    pub own: Vec<f32>,
    /// Rewards since the player's previous decision.
    pub reward: Vec<f32>,
    /// Whether the move was drawn at random, or with a temperature was not the best.
    pub explored: Vec<bool>,
    /// For a head with classes of outcomes: the distributions of the chosen and of the best candidate, `[decisions, 2, classes]`.
    pub outcomes: Vec<f32>,
    /// The classes that are possible after each decision, as [`OutcomeMask::bits`]; all for other heads.
    pub possible: Vec<u64>,
    /// What each game was worth to each player, with the rewards since the last decision, `[games, players]`.
    pub result: Vec<f32>,
    /// The same as distributions, for a head with classes of outcomes, `[games, players, classes]`.
    pub end: Vec<f32>,
    /// Utilities, `[games, players]`; where a table knew how the game would end, what it says.
    pub utility: Vec<f64>,
    /// Classes of outcomes by number, `[games, players]`; −1 if the game has none, or ended where a table knew its value.
    pub outcome: Vec<i64>,
}

impl Columns {
    /// Number of games.
    pub fn games(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Number of decisions.
    pub fn decisions(&self) -> usize {
        self.row.len()
    }

    /// Checks that the columns fit together, for a head with so many numbers a row and so many rows. Columns that
    /// [`lambda_returns`] does not read are not looked at.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self, head: &Head, rows: usize) -> Result<(), String> {
        let (games, n) = (self.games(), self.decisions());
        let classes = head.classes().map_or(0, <[_]>::len);
        let lengths = [
            ("player", self.player.len(), n),
            ("value", self.value.len(), n),
            ("best", self.best.len(), n),
            ("reward", self.reward.len(), n),
            ("outcomes", self.outcomes.len(), 2 * n * classes),
            ("possible", self.possible.len(), n),
            ("result", self.result.len(), games * self.players),
            ("end", self.end.len(), games * self.players * classes),
        ];
        if let Some((name, found, needed)) = lengths.into_iter().find(|(_, found, needed)| found != needed) {
            return Err(format!("the column `{name}` has {found} numbers, {needed} are needed"));
        }
        let whole = self.starts.first() == Some(&0) && self.starts.last() == Some(&(n as i64));
        if !whole || self.starts.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err("the games do not cover the decisions".into());
        }
        if self.player.iter().any(|&player| !(0..self.players as i64).contains(&player)) {
            return Err(format!("a player is not among the {}", self.players));
        }
        match self.row.iter().any(|&row| !(-1..rows as i64).contains(&row)) {
            true => Err(format!("a row is not among the {rows}")),
            false => Ok(()),
        }
    }
}

/// λ-returns of all rows, `[rows, outputs]`, along the decisions of each player, or of `both` in turn. `lambda` is that of each
/// game. `fresh` are outputs for the rows, `[rows, outputs]`, in place of those of the time when the games were played; what was
/// exploring then, and the highest value there, stay. Impossible classes have no probability in them. The columns must have passed [`Columns::check`], and `fresh` must have a
/// number for each output.
pub fn lambda_returns(
    columns: &Columns,
    head: &Head,
    rows: usize,
    both: bool,
    lambda: &[f32],
    bootstrap: Bootstrap,
    fresh: Option<&[f32]>,
) -> Vec<f32> {
    let (outputs, players) = (head.outputs(), columns.players);
    let classes = head.classes().map_or(0, <[_]>::len);
    let mut found = vec![0.0; rows * outputs];
    let restricted = fresh.filter(|_| classes > 0).map(|fresh| {
        let mut fresh = fresh.to_vec();
        for (row, possible) in columns.row.iter().zip(&columns.possible) {
            let possible = OutcomeMask::from_bits(*possible);
            if let (Ok(row), false) = (usize::try_from(*row), possible.is_all()) {
                possible.restrict(&mut fresh[row * classes..][..classes]);
            }
        }
        fresh
    });
    let fresh = restricted.as_deref().or(fresh);
    let (mut steps, mut places) = (Vec::new(), Vec::new());
    for (game, pair) in columns.starts.windows(2).enumerate() {
        let bootstrap = Bootstrap { lambda: lambda[game], ..bootstrap };
        for chain in 0..if both { 1 } else { players } {
            steps.clear();
            places.clear();
            for i in pair[0] as usize..pair[1] as usize {
                let player = columns.player[i] as usize;
                if !both && player != chain {
                    continue;
                }
                let row = u32::try_from(columns.row[i]).ok();
                let (then, greedy) = (columns.value[i], columns.best[i]);
                let value = match (fresh, row) {
                    (Some(fresh), Some(row)) if classes == 0 => fresh[row as usize],
                    _ => then,
                };
                steps.push(Step {
                    row,
                    value,
                    greedy,
                    reward: columns.reward[i],
                    player,
                    cuts: then < greedy,
                });
                places.push(i);
            }
            let Some(last) = steps.last() else { continue };
            let place = game * players + last.player;
            if classes == 0 {
                backwards(&steps, columns.result[place], bootstrap, |step, target| {
                    if let Some(row) = step.row {
                        found[row as usize] = target;
                    }
                });
                continue;
            }
            let outcomes = |t: usize| {
                let (own, best) =
                    columns.outcomes[2 * places[t] * classes..][..2 * classes].split_at(classes);
                match (fresh, steps[t].row) {
                    (Some(fresh), Some(row)) => [&fresh[row as usize * classes..][..classes], best],
                    _ => [own, best],
                }
            };
            let end = &columns.end[place * classes..][..classes];
            outcomes_backwards(&steps, outcomes, end, head, bootstrap, |step, target| {
                if let Some(row) = step.row {
                    found[row as usize * classes..][..classes].copy_from_slice(target);
                }
            });
        }
    }
    found
}

/// A decision in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The position in which it was made.
    pub state: String,
    /// What was chosen.
    pub action: String,
    /// The position after it.
    pub after: String,
}

/// Games as they are written down.
pub struct Record<G: Game> {
    /// The rows of the states that decisions led to, in the order of play.
    pub rows: Rows,
    /// The decisions, and how the games ended.
    pub columns: Columns,
    /// Classes of outcomes of the game.
    classes: Vec<OutcomeClass>,
    /// Where each game began, and all that was done in it.
    begins: Vec<G::State>,
    actions: Vec<G::Action>,
    /// The first action of each game, and the number of all.
    firsts: Vec<usize>,
}

impl<G: Kit> Record<G> {
    /// An empty record, for rows of these channels.
    pub fn new(game: &G, channels: &[Channel]) -> Self {
        Self {
            rows: Rows::new(channels),
            columns: Columns { players: game.players(), starts: vec![0], ..Columns::default() },
            // A game without classes has none to tell.
            classes: outcome_classes(game).unwrap_or_default(),
            begins: Vec::new(),
            actions: Vec::new(),
            firsts: vec![0],
        }
    }

    /// The classes of the column `outcome`.
    pub fn classes(&self) -> &[OutcomeClass] {
        &self.classes
    }

    /// About how many bytes it takes, without what states and actions hold on the heap.
    pub fn bytes(&self) -> usize {
        let Columns { row, outcomes, end, result, .. } = &self.columns;
        4 * self.rows.dense.len()
            + 8 * self.rows.index.len()
            + 72 * row.len()
            + 4 * (outcomes.len() + end.len())
            + 24 * result.len()
            + size_of::<G::Action>() * self.actions.len()
            + size_of::<G::State>() * self.begins.len()
    }

    #[inline]
    pub(crate) fn begin(&mut self, state: &G::State) {
        self.begins.push(state.clone());
    }

    #[inline]
    pub(crate) fn acts(&mut self, action: &G::Action) {
        self.actions.push(action.clone());
    }

    /// Writes down the last decision of a chain.
    #[inline]
    pub(crate) fn decides(&mut self, decided: &Decided, chain: &Returns) {
        let Decided { step, own, ply, explored, possible } = decided;
        let to = &mut self.columns;
        to.row.push(match step.row {
            Some(row) => {
                self.rows.push_from(&chain.rows, row as usize);
                self.rows.len() as i64 - 1
            }
            None => -1,
        });
        to.player.push(step.player as i64);
        to.ply.push(i64::from(*ply));
        to.value.push(step.value);
        to.best.push(step.greedy);
        to.own.push(*own);
        to.reward.push(step.reward);
        to.explored.push(*explored);
        // Two distributions a decision, or nothing.
        let each = chain.outcomes.len() / chain.decisions.len().max(1);
        to.outcomes.extend_from_slice(&chain.outcomes[chain.outcomes.len() - each..]);
        to.possible.push(possible.bits());
    }

    /// Writes down how a game ended for a player, all of whom follow each other: its last state, or what it was worth where a
    /// table knew that, and its result.
    pub(crate) fn ends(
        &mut self,
        game: &G,
        player: usize,
        over: Result<&G::State, f32>,
        result: f32,
        end: &[f32],
    ) {
        let state = over.ok();
        let to = &mut self.columns;
        to.result.push(result);
        to.end.extend_from_slice(end);
        to.utility.push(match over {
            Ok(state) => game.utility(state, player),
            Err(value) => f64::from(value) * game.scale(),
        });
        let class = state.filter(|_| !self.classes.is_empty());
        let class = class.and_then(|state| outcome_of(game, &self.classes, state, player));
        to.outcome.push(class.map_or(-1, |class| class as i64));
        if player + 1 == to.players {
            to.starts.push(to.row.len() as i64);
            self.firsts.push(self.actions.len());
        }
    }

    /// The moves before which these numbers of moves had been made in a game, in words. The numbers grow.
    pub fn shown(&self, game: &G, number: usize, plies: &[u32]) -> Vec<Shown> {
        let (Some(begin), Some(pair)) = (self.begins.get(number), self.firsts.get(number..number + 2)) else {
            return Vec::new();
        };
        let (mut state, mut ply, mut shown) = (begin.clone(), 0, Vec::with_capacity(plies.len()));
        for action in &self.actions[pair[0]..pair[1]] {
            let Some(next) = plies.get(shown.len()) else { break };
            let moves = matches!(game.turn(&state), Turn::Player(_));
            if moves && *next == ply {
                let (before, name) = (game.position_text(&state), game.action_text(&state, action));
                game.apply(&mut state, action);
                let after = game.texts().afterstate(game, &state, Some(action));
                shown.push(Shown { state: before, action: name, after });
            } else {
                game.apply(&mut state, action);
            }
            ply += u32::from(moves);
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Along, TraceKind};
    use crate::td::{PlaySettings, Seats, TdPlayer};
    use adept_arena::{LearnerModel, open};
    use adept_builtin::backgammon::Backgammon;
    use adept_game::stream;
    use adept_model::{Architecture, Optimiser, Samples, build};

    /// Games of hypergammon with many exploring moves, as samples and written down.
    fn played(encoder: &str, head: &Head, along: Along) -> (Samples, Record<Backgammon>) {
        played_for(encoder, head, along, None)
    }

    /// The same with a factor on rewards and outcomes.
    fn played_for(
        encoder: &str,
        head: &Head,
        along: Along,
        rewards: Option<f32>,
    ) -> (Samples, Record<Backgammon>) {
        let game = Backgammon::new(3).unwrap();
        let encoder = open::encoder(&game, Some(encoder)).unwrap();
        let channels = encoder.channels().to_vec();
        let architecture: Architecture = serde_json::from_str(r#"{"mlp": {"hidden": [4]}}"#).unwrap();
        let learner = build(&architecture, &channels, head, Optimiser::default(), &mut stream(1, "net", 0));
        let mut bound = LearnerModel::learning(&game, encoder, learner.unwrap());
        let settings = PlaySettings {
            bootstrap: bootstrap(),
            explore: 0.3,
            temperature: None,
            rewards,
            rate: 0.1,
            traces: TraceKind::Backward,
            along,
        };
        let mut player = TdPlayer::new(&game, &*bound.model, None);
        let mut play = |player: &mut TdPlayer<Backgammon>| {
            for number in 0..30 {
                let seats = Seats { agents: &mut [], by_seat: &[None, None] };
                let mut rng = stream(5, "games", number);
                player.play(&game, &mut bound, game.start(), seats, settings, &mut rng).unwrap();
            }
        };
        play(&mut player);
        let samples = player.samples.take();
        player.record = Some(Record::new(&game, &channels));
        play(&mut player);
        assert!(player.samples.is_empty());
        (samples, player.record.take().unwrap())
    }

    fn bootstrap() -> Bootstrap {
        Bootstrap { lambda: 0.7, discount: 1.0, chosen: false, clip: f32::INFINITY }
    }

    /// No target has mass on an impossible class, from values of the time and from fresh ones, whatever these say of it.
    #[test]
    fn targets_have_no_impossible_outcomes() {
        let head = Head::Outcomes(adept_game::outcome_classes(&Backgammon::new(3).unwrap()).unwrap());
        for along in [Along::Own, Along::Both] {
            let (_, record) = played("points", &head, along);
            let (columns, rows) = (&record.columns, record.rows.len());
            let (lambda, both) = (vec![0.5; columns.games()], along == Along::Both);
            let fresh = vec![1.0 / 6.0; 6 * rows];
            for fresh in [None, Some(&*fresh)] {
                let found = lambda_returns(columns, &head, rows, both, &lambda, bootstrap(), fresh);
                let mut restricted = 0;
                for (row, bits) in columns.row.iter().zip(&columns.possible).filter(|(row, _)| **row >= 0) {
                    let (target, mask) = (&found[*row as usize * 6..][..6], OutcomeMask::from_bits(*bits));
                    assert!((0..6).all(|k| mask.allows(k) || target[k] == 0.0), "{target:?} {mask:?}");
                    assert!((target.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{target:?}");
                    restricted += usize::from(!mask.is_all());
                }
                assert!(restricted > 20, "{restricted} of {rows}");
            }
        }
    }

    /// The rows of a record in the order of samples: of each game and chain from the last to the first.
    fn in_the_order_of_samples(columns: &Columns, along: Along) -> Vec<usize> {
        let mut order = Vec::new();
        for pair in columns.starts.windows(2) {
            for chain in 0..if along == Along::Both { 1 } else { columns.players as i64 } {
                let here = (pair[0] as usize..pair[1] as usize).rev();
                let own = here.filter(|&i| along == Along::Both || columns.player[i] == chain);
                order.extend(own.filter_map(|i| usize::try_from(columns.row[i]).ok()));
            }
        }
        order
    }

    #[test]
    fn returns_of_records_are_the_targets_of_samples() {
        let classes = Head::Outcomes(adept_game::outcome_classes(&Backgammon::new(3).unwrap()).unwrap());
        for head in [Head::Value, classes] {
            for (along, encoder) in
                [(Along::Own, "points"), (Along::Both, "points"), (Along::Both, "points+known:race-8")]
            {
                let (samples, record) = played(encoder, &head, along);
                let (columns, rows) = (&record.columns, record.rows.len());
                assert_eq!((rows, columns.games()), (samples.len(), 30));
                columns.check(&head, rows).unwrap();
                let lambda = vec![0.7; 30];
                let both = along == Along::Both;
                let found = lambda_returns(columns, &head, rows, both, &lambda, bootstrap(), None);
                let order = in_the_order_of_samples(columns, along);
                for (sample, &row) in order.iter().enumerate() {
                    assert_eq!(samples.rows.dense_row(sample), record.rows.dense_row(row));
                    let k = head.outputs();
                    assert_eq!(samples.targets[sample * k..][..k], found[row * k..][..k]);
                }
                // Values of the time of play change nothing.
                if head.is_value() {
                    let kept: Vec<f32> = (0..columns.decisions())
                        .filter(|&i| columns.row[i] >= 0)
                        .map(|i| columns.value[i])
                        .collect();
                    assert_eq!(
                        found,
                        lambda_returns(columns, &head, rows, both, &lambda, bootstrap(), Some(&kept))
                    );
                }
            }
        }
    }

    /// Also where a table knew the end, and the result is discounted.
    #[test]
    fn utilities_are_those_of_the_game() {
        let (_, record) = played_for("points+known:race-8", &Head::Value, Along::Own, Some(0.5));
        let Columns { result, utility, outcome, .. } = &record.columns;
        assert!(outcome.contains(&-1) && result.len() == 60);
        let scale = Backgammon::new(3).unwrap().scale();
        for (result, utility) in result.iter().zip(utility) {
            assert!((f64::from(*result) - 0.5 * utility / scale).abs() < 1e-6, "{result} {utility}");
        }
    }

    #[test]
    fn columns_that_do_not_fit_are_refused() {
        let (_, record) = played("points", &Head::Value, Along::Own);
        let rows = record.rows.len();
        let wrong = |change: &dyn Fn(&mut Columns)| {
            let mut columns = record.columns.clone();
            change(&mut columns);
            columns.check(&Head::Value, rows).is_err()
        };
        assert!(!wrong(&|_| ()));
        assert!(wrong(&|c| c.row[0] = rows as i64));
        assert!(wrong(&|c| c.row[0] = -2));
        assert!(wrong(&|c| c.player[0] = 2));
        assert!(wrong(&|c| c.starts[1] = -1));
        assert!(wrong(&|c| c.starts[30] += 1));
        assert!(wrong(&|c| c.result.truncate(1)));
        assert!(wrong(&|c| c.best.clear()));
    }

    #[test]
    fn moves_are_told_in_words() {
        let game = Backgammon::new(3).unwrap();
        let (_, record) = played("points", &Head::Value, Along::Own);
        let Columns { starts, ply, .. } = &record.columns;
        for (number, pair) in starts.windows(2).enumerate() {
            let plies: Vec<u32> = ply[pair[0] as usize..pair[1] as usize].iter().map(|&p| p as u32).collect();
            let shown = record.shown(&game, number, &plies);
            assert_eq!(shown.len(), plies.len());
            let one = record.shown(&game, number, &plies[2..3]);
            assert_eq!(one, shown[2..3]);
            assert!(shown.iter().all(|s| s.state != s.after && !s.action.is_empty()));
        }
    }
}
