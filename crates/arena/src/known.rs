//! What is known of positions without a model: values, such as those of tables of races, and which classes of outcomes are possible.
//! It stands for what the model says, in play and as targets.

use crate::agents::Decision;
use crate::evaluator::{Evaluator, each_after};
use crate::open::OpenError;
use crate::part;
use adept_game::{Afterstate, Channel, Encoder, Game, Kit, References, RowMut, RowSink, Turn, Valuation};
use adept_model::{Explanation, Head, OutcomeMask, Predictor, Rows};
use std::sync::Arc;

/// Prefix of known values in an encoder's name, and of an agent that plays by them.
pub(crate) const KNOWN: &str = "known";

/// The word for no tables at all, in the name of an agent.
pub(crate) const NONE: &str = "none";

/// An encoder with valuations of the game that stand for the model where they know the value. The first that knows it counts.
pub(crate) struct WithKnown<G: Game> {
    name: String,
    inner: Arc<dyn Encoder<G>>,
    tables: Vec<Arc<dyn Valuation<G>>>,
}

impl<G: Kit> WithKnown<G> {
    /// An encoder of this name with the tables of these names.
    ///
    /// # Errors
    /// [`OpenError::Unknown`] for a name that is no table of the game. Errors of opening it.
    pub(crate) fn new(
        game: &G,
        name: &str,
        inner: Arc<dyn Encoder<G>>,
        tables: &[&str],
    ) -> Result<Self, OpenError> {
        let all = game.tables();
        let names: Vec<&str> = all.iter().map(|table| &*table.name).collect();
        let unknown = |table: &str| {
            let known = match names.is_empty() {
                true => "; it has no tables that stand for a network".into(),
                false => format!("; it has {}", names.join(", ")),
            };
            OpenError::Unknown(format!("{} has no table `{table}`{known}", game.name()))
        };
        // What one player gains the other loses: the end of a game of learning takes that for granted.
        if !(game.zero_sum() && game.players() == 2) {
            return Err(OpenError::Unknown(format!(
                "{} is not a zero-sum game of two players: `{KNOWN}:` needs one",
                game.name()
            )));
        }
        let opened = tables.iter().map(|table| Ok(game.table(table).ok_or_else(|| unknown(table))??));
        Ok(Self { name: name.into(), inner, tables: opened.collect::<Result<_, OpenError>>()? })
    }
}

impl<G: Game> Encoder<G> for WithKnown<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        self.inner.channels()
    }

    fn fits(&self, game: &G) -> Result<(), String> {
        self.inner.fits(game)
    }

    #[inline]
    fn encode(&self, game: &G, after: Afterstate<'_, G>, row: RowMut<'_>) {
        self.inner.encode(game, after, row);
    }

    fn decides(&self) -> bool {
        self.inner.decides()
    }

    fn decide(
        &self,
        game: &G,
        state: &G::State,
        player: usize,
        actions: &mut Vec<G::Action>,
        rows: &mut dyn RowSink,
    ) {
        self.inner.decide(game, state, player, actions, rows);
    }

    fn key_text(&self, game: &G, channel: &str, key: u64) -> Option<String> {
        self.inner.key_text(game, channel, key)
    }

    fn fetch(&self, game: &G, after: Afterstate<'_, G>) {
        self.inner.fetch(game, after);
    }

    fn fetches(&self) -> bool {
        self.inner.fetches()
    }

    fn needs_action(&self) -> bool {
        self.inner.needs_action()
    }

    fn known(&self, game: &G, after: Afterstate<'_, G>, outcomes: &mut Vec<f32>) -> Option<f32> {
        self.tables.iter().find_map(|table| table.tell(game, after, outcomes)).map(|value| value as f32)
    }

    fn knows(&self) -> bool {
        true
    }
}

/// The value of an afterstate that an encoder knows, with its distribution over the classes of a head; empty without classes.
pub fn known<G: Game>(
    encoder: &dyn Encoder<G>,
    head: &Head,
    game: &G,
    after: Afterstate<'_, G>,
) -> Option<(f32, Vec<f32>)> {
    if !encoder.knows() {
        return None;
    }
    let mut outcomes = Vec::new();
    let value = encoder.known(game, after, &mut outcomes)?;
    match head.classes() {
        None => Some((value, Vec::new())),
        Some(classes) => (outcomes.len() == classes.len()).then_some((value, outcomes)),
    }
}

/// An evaluator whose values give way to those of references where they know them. The first that knows a value counts.
pub struct Informed<G: Kit, E> {
    references: References<G>,
    evaluator: E,
    known: Vec<Option<f32>>,
    errors: Vec<f32>,
}

impl<G: Kit, E: Evaluator<G>> Informed<G, E> {
    /// An evaluator with these references.
    pub fn new(references: References<G>, evaluator: E) -> Self {
        Self { references, evaluator, known: Vec::new(), errors: Vec::new() }
    }

    /// Puts known values in place of those that `inner` finds, which is not asked if all are known.
    fn put(
        &mut self,
        at: Decision<'_, G>,
        actions: &mut Vec<G::Action>,
        values: &mut Vec<f32>,
        inner: impl Fn(&mut E, &mut Vec<G::Action>, &mut Vec<f32>),
    ) {
        let look_up = |references: &References<G>, actions: &[G::Action], known: &mut Vec<Option<f32>>| {
            known.clear();
            each_after(at.game, at.state, actions, |state, action| {
                let after = Afterstate { state, action: Some(action), player: at.player };
                known.push(match at.game.turn(state) {
                    Turn::Over => Some((at.game.utility(state, at.player) / at.game.scale()) as f32),
                    _ => references
                        .iter()
                        .map(|(_, reference)| reference.value(at.game, after))
                        .find(|value| !value.is_nan())
                        .map(|value| value as f32),
                });
            });
        };
        look_up(&self.references, actions, &mut self.known);
        self.errors.clear();
        if self.known.iter().any(Option::is_none) {
            inner(&mut self.evaluator, actions, values);
            // An evaluator may leave actions out, and list them in another order.
            look_up(&self.references, actions, &mut self.known);
            self.errors.extend_from_slice(self.evaluator.errors());
        } else {
            values.clear();
            values.resize(actions.len(), 0.0);
        }
        for (i, known) in self.known.iter().enumerate() {
            let Some(value) = known else { continue };
            values[i] = *value;
            if let Some(error) = self.errors.get_mut(i) {
                *error = 0.0;
            }
        }
    }
}

impl<G: Kit, E: Evaluator<G>> Evaluator<G> for Informed<G, E> {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        let mut listed = actions.to_vec();
        self.put(at, &mut listed, values, |inner, actions, values| inner.values(at, actions, values));
    }

    fn weigh(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
        at.game.actions(at.state, actions);
        self.put(at, actions, values, |inner, actions, values| inner.weigh(at, actions, values));
    }

    fn study(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
        at.game.actions(at.state, actions);
        self.put(at, actions, values, |inner, actions, values| inner.study(at, actions, values));
    }

    fn errors(&self) -> &[f32] {
        &self.errors
    }
}

/// An encoder's name with these tables, joined by `+`, in place of its own; without any for `none`.
pub(crate) fn with_tables(encoder: &str, tables: &str) -> String {
    let own = part::parts(encoder).into_iter().filter(|part| known_part(part).is_none()).map(String::from);
    let new = tables.split('+').filter(|table| *table != NONE).map(|table| format!("{KNOWN}:{table}"));
    own.chain(new).collect::<Vec<_>>().join("+")
}

/// The explanation of an afterstate's row by a model, with the value and distribution that the encoder knows in place of the
/// model's, and without impossible classes. Those of experts stay as they are.
pub(crate) fn explain<G: Kit, M: Predictor + ?Sized>(
    model: &mut M,
    encoder: &dyn Encoder<G>,
    game: &G,
    after: Afterstate<'_, G>,
    row: &Rows,
) -> Explanation {
    let mut found = model.explain(row);
    let head = model.head();
    if let Some((value, outcomes)) = known(encoder, head, game, after) {
        return Explanation { value, outcomes, name: found.name, ..Explanation::default() };
    }
    let possible = possible(head, game, after.state, after.player);
    if !possible.is_all() {
        possible.restrict(&mut found.outcomes);
        found.value = head.value_of(&found.outcomes);
    }
    found
}

/// The possible classes of a head; all for other heads.
#[inline]
fn possible<G: Kit>(head: &Head, game: &G, state: &G::State, player: usize) -> OutcomeMask {
    head.classes().map_or(OutcomeMask::ALL, |classes| game.possible_outcomes(classes, state, player))
}

/// What is known of rows without the model: values by tables, and which classes of outcomes are possible. All outputs of a model for
/// rows of positions go through [`evaluate`](Self::evaluate).
#[derive(Clone, Debug, Default)]
pub struct KnownRows {
    /// The rows whose values are known, in order.
    rows: Vec<u32>,
    values: Vec<f32>,
    /// Distributions over the classes of outcomes, `[known rows, classes]`; empty for other heads.
    outcomes: Vec<f32>,
    /// The rows with impossible classes, in order.
    restricted: Vec<(u32, OutcomeMask)>,
}

impl KnownRows {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.values.clear();
        self.outcomes.clear();
        self.restricted.clear();
    }

    /// Appends the row of an afterstate to `rows`, and notes what is known of it.
    #[inline]
    pub fn add<G: Kit>(
        &mut self,
        rows: &mut Rows,
        head: &Head,
        encoder: &dyn Encoder<G>,
        game: &G,
        after: Afterstate<'_, G>,
    ) {
        encoder.encode(game, after, rows.push());
        let row = rows.len() - 1;
        self.restrict(row, head, game, after.state, after.player);
        if encoder.knows() {
            self.note(row, head, |outcomes| encoder.known(game, after, outcomes));
        }
    }

    /// Notes which classes are possible for a player in a state.
    #[inline]
    pub fn restrict<G: Kit>(&mut self, row: usize, head: &Head, game: &G, state: &G::State, player: usize) {
        let possible = possible(head, game, state, player);
        if !possible.is_all() {
            self.restricted.push((row as u32, possible));
        }
    }

    /// Notes a row if `known` gives its value and, where the head has classes, its distribution.
    fn note(&mut self, row: usize, head: &Head, known: impl FnOnce(&mut Vec<f32>) -> Option<f32>) {
        let (before, classes) = (self.outcomes.len(), head.classes().map_or(0, <[_]>::len));
        let value = known(&mut self.outcomes);
        let given = self.outcomes.len() - before;
        match value.filter(|_| classes == 0 || given == classes) {
            Some(value) => {
                self.outcomes.truncate(before + classes);
                self.rows.push(row as u32);
                self.values.push(value);
            }
            None => self.outcomes.truncate(before),
        }
    }

    /// The known value of a row, and its distribution over the classes of outcomes, which is empty for other heads.
    pub fn find(&self, row: u32) -> Option<(f32, &[f32])> {
        let place = self.rows.binary_search(&row).ok()?;
        let classes = self.outcomes.len() / self.rows.len();
        Some((self.values[place], &self.outcomes[place * classes..][..classes]))
    }

    /// The possible classes of a row.
    pub fn possible(&self, row: u32) -> OutcomeMask {
        let place = self.restricted.binary_search_by_key(&row, |(row, _)| *row);
        place.map_or(OutcomeMask::ALL, |place| self.restricted[place].1)
    }

    /// Replaces `values` by the values of all rows, and `outcomes` by their distributions over the classes of outcomes,
    /// `[rows, classes]`, which is empty for other heads. What is known stands for what the model says, and impossible classes have
    /// the probability 0.
    pub fn evaluate<M: Predictor + ?Sized>(
        &self,
        model: &mut M,
        rows: &Rows,
        values: &mut Vec<f32>,
        outcomes: &mut Vec<f32>,
    ) {
        if self.rows.len() == rows.len() {
            values.clone_from(&self.values);
            outcomes.clone_from(&self.outcomes);
            return;
        }
        let classes = model.head().classes().map_or(0, <[_]>::len);
        if classes == 0 {
            outcomes.clear();
            model.evaluate(rows, values);
        } else {
            model.outputs(rows, outcomes);
            let head = model.head();
            for (row, possible) in &self.restricted {
                possible.restrict(&mut outcomes[*row as usize * classes..][..classes]);
            }
            values.clear();
            values.extend(outcomes.chunks_exact(classes).map(|p| head.value_of(p)));
        }
        for (place, &row) in self.rows.iter().enumerate() {
            values[row as usize] = self.values[place];
            outcomes[row as usize * classes..][..classes]
                .copy_from_slice(&self.outcomes[place * classes..][..classes]);
        }
    }
}

/// An encoder's name without its tables: what the inputs of a network are.
pub fn without_tables(encoder: &str) -> String {
    with_tables(encoder, NONE)
}

/// The table that a part of an encoder's name names.
pub(crate) fn known_part(part: &str) -> Option<&str> {
    part.strip_prefix(KNOWN)?.strip_prefix(':')
}
