//! Values that are known without a model, such as those of tables of races: they stand for those of the model, in play and as targets.

use crate::agents::Decision;
use crate::evaluator::{Evaluator, each_after};
use crate::open::OpenError;
use crate::part;
use adept_game::{Afterstate, Channel, Encoder, Game, Kit, References, RowMut, RowSink, Turn, Valuation};
use adept_model::Head;
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

/// Puts known values in place of those that a model has for these states, each right after a move.
pub fn put_known<G: Game>(
    game: &G,
    encoder: &dyn Encoder<G>,
    head: &Head,
    states: &[G::State],
    values: &mut [f32],
) {
    if !encoder.knows() {
        return;
    }
    for (value, state) in values.iter_mut().zip(states) {
        let after = Afterstate { state, action: None, player: game.just_acted(state).unwrap_or(0) };
        if let Some((found, _)) = known(encoder, head, game, after) {
            *value = found;
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
