//! What is known of positions without a model: values, such as those of tables of races, and which classes of outcomes are possible.
//! It stands for what the model says, in play and as targets.

use adept_game::{Afterstate, Derived, Encoder, Game, Kit, ValueRule, possible_outcomes};
use adept_model::{Explanation, Head, OutcomeMask, Predictor, RowMut, Rows};

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

/// The explanation of an afterstate's row by a model, with the value and distribution that the encoder knows in place of the
/// model's, and without impossible classes, also in the distributions of experts.
pub(crate) fn explain<G: Kit, M: Predictor + ?Sized>(
    model: &mut M,
    encoder: &dyn Encoder<G>,
    game: &G,
    after: Afterstate<'_, G>,
    row: &Rows,
) -> Explanation {
    let mut found = model.explain(row);
    if let Some(derived) = derived(encoder, game, after) {
        let second = derived.second.map(|state| {
            let mut rows = row.empty();
            encoder.encode(game, Afterstate { state: &state, ..after }, rows.push());
            model.explain(&rows)
        });
        derive(&mut found, &derived.rule, second.as_ref());
        return found;
    }
    let head = model.head();
    let (seen, adaption) = adapt(game, head, after);
    if let Some((value, outcomes)) = known(encoder, head, game, seen) {
        found = Explanation { value, outcomes, name: found.name, ..Explanation::default() };
    } else {
        let possible = possible(head, game, seen.state, seen.player);
        if !possible.is_all() {
            restrict(&mut found, head, possible);
        }
    }
    if let Some(adaption) = adaption {
        adaption.explain(&mut found, head);
    }
    found
}

/// How the value of an afterstate follows from outputs of a model, if they are not its value.
#[inline]
fn derived<G: Game>(encoder: &dyn Encoder<G>, game: &G, after: Afterstate<'_, G>) -> Option<Derived<G>> {
    if encoder.derives() { encoder.derived(game, after) } else { None }
}

/// Replaces the output of a node and those of its experts by the values that follow from them and from their outputs for the second state,
/// or from that of the whole network where an expert does not see it.
fn derive(found: &mut Explanation, rule: &ValueRule, second: Option<&Explanation>) {
    if !found.corrects {
        found.value = match second {
            Some(second) => rule.of(&[found.value, second.value]),
            None => rule.of(&[found.value]),
        };
    }
    for (number, expert) in found.experts.iter_mut().enumerate() {
        let there =
            second.map(|second| second.experts.get(number).and_then(Option::as_ref).unwrap_or(second));
        expert.iter_mut().for_each(|expert| derive(expert, rule, there));
    }
}

/// How the outputs of a network of another rule set become those of a row.
#[derive(Clone, Debug)]
struct Adaption {
    /// Whether the network sees the state as the opponent.
    mirrored: bool,
    rule: ValueRule,
}

impl Adaption {
    /// Replaces the network's probabilities by those for the player, and returns their value.
    fn value(&self, head: &Head, probabilities: &mut [f32]) -> f32 {
        if self.mirrored {
            let seen = probabilities.to_vec();
            let classes = head.classes().unwrap_or_default();
            probabilities.iter_mut().zip(classes).for_each(|(p, class)| *p = seen[class.mirror]);
        }
        self.rule.of(probabilities)
    }

    /// The same for a node and its experts.
    fn explain(&self, found: &mut Explanation, head: &Head) {
        if !found.corrects && !found.outcomes.is_empty() {
            found.value = self.value(head, &mut found.outcomes);
        }
        found.experts.iter_mut().flatten().for_each(|expert| self.explain(expert, head));
    }
}

/// The afterstate as networks see it, and what becomes of their outputs if they are those of another rule set.
#[inline]
fn adapt<'a, G: Kit>(
    game: &G,
    head: &Head,
    after: Afterstate<'a, G>,
) -> (Afterstate<'a, G>, Option<Adaption>) {
    // Networks that learned this rule set itself have no classes.
    let Some(adapted) = game.results().adapted.filter(|_| head.classes().is_some()) else {
        return (after, None);
    };
    let Afterstate { state, player, .. } = after;
    let viewer = (adapted.viewer)(game, state, player);
    let adaption = Adaption { mirrored: viewer != player, rule: (adapted.value)(game, state, player) };
    (Afterstate { player: viewer, ..after }, Some(adaption))
}

/// The row of an afterstate.
pub(super) fn encode<G: Kit>(
    game: &G,
    head: &Head,
    encoder: &dyn Encoder<G>,
    after: Afterstate<'_, G>,
    row: RowMut<'_>,
) {
    match derived(encoder, game, after) {
        Some(derived) => encoder.encode(game, Afterstate { state: &derived.state, ..after }, row),
        None => encoder.encode(game, adapt(game, head, after).0, row),
    }
}

/// Restricts the distributions of a node and of its experts to the possible classes. Corrections of logits stay as they are.
fn restrict(found: &mut Explanation, head: &Head, possible: OutcomeMask) {
    if !found.corrects && !found.outcomes.is_empty() {
        possible.restrict(&mut found.outcomes);
        found.value = head.value_of(&found.outcomes);
    }
    found.experts.iter_mut().flatten().for_each(|expert| restrict(expert, head, possible));
}

/// The possible classes of a head; all for other heads.
#[inline]
fn possible<G: Kit>(head: &Head, game: &G, state: &G::State, player: usize) -> OutcomeMask {
    head.classes().map_or(OutcomeMask::ALL, |classes| possible_outcomes(game, classes, state, player))
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
    /// The rows of networks of another rule set, in order.
    adapted: Vec<(u32, Adaption)>,
    /// The rows whose values follow from their outputs, in order.
    derived: Vec<DerivedRow>,
    /// The rows of their second states. None before the first.
    second: Option<Rows>,
}

/// A row whose value follows from its output, and from that of a row of the second states.
#[derive(Clone, Debug)]
struct DerivedRow {
    row: u32,
    second: Option<u32>,
    rule: ValueRule,
}

impl KnownRows {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.values.clear();
        self.outcomes.clear();
        self.restricted.clear();
        self.adapted.clear();
        self.derived.clear();
        self.second.iter_mut().for_each(Rows::clear);
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
        if let Some(Derived { state, second, rule, .. }) = derived(encoder, game, after) {
            encoder.encode(game, Afterstate { state: &state, ..after }, rows.push());
            let second = second.map(|state| {
                let all = self.second.get_or_insert_with(|| rows.empty());
                encoder.encode(game, Afterstate { state: &state, ..after }, all.push());
                all.len() as u32 - 1
            });
            self.derived.push(DerivedRow { row: rows.len() as u32 - 1, second, rule });
            return;
        }
        let (after, adaption) = adapt(game, head, after);
        encoder.encode(game, after, rows.push());
        let row = rows.len() - 1;
        self.adapted.extend(adaption.map(|adaption| (row as u32, adaption)));
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
        let classes = model.head().classes().map_or(0, <[_]>::len);
        if self.rows.len() == rows.len() {
            values.clone_from(&self.values);
            outcomes.clone_from(&self.outcomes);
        } else if classes == 0 {
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
        for (row, adaption) in &self.adapted {
            let row = *row as usize;
            values[row] = adaption.value(model.head(), &mut outcomes[row * classes..][..classes]);
        }
        let mut others = Vec::new();
        if let Some(second) = self.second.as_ref().filter(|rows| !rows.is_empty()) {
            model.evaluate(second, &mut others);
        }
        for DerivedRow { row, second, rule } in &self.derived {
            let value = &mut values[*row as usize];
            *value = match second {
                Some(second) => rule.of(&[*value, others[*second as usize]]),
                None => rule.of(&[*value]),
            };
        }
    }
}
