//! Rows for the rule set `soar`: a player's knowledge, an action, and its deliberated value.

use crate::liars_dice::deliberation::{Deliberate, DeliberateSettings};
use crate::liars_dice::dice::Dice;
use crate::liars_dice::rules::{Action, LiarsDice, Target};
use crate::liars_dice::state::{Bid, Said, State};
use adept_game::deliberation::{Deliberation, Deliberator, preference};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, RowMut, RowSink};
use std::cell::RefCell;

/// The candidates of deliberation, with inputs for a network. `dice` has more candidates, and the own dice, all exposed dice
/// and the last acts among its inputs.
pub(super) struct Soar {
    plain: Deliberate,
    modelled: Deliberate,
    wide: bool,
}

/// Number of inputs of the channel `view`.
const VIEW: usize = 56;

/// Number of inputs of the channel `hand`.
const HAND: usize = 18;

/// Number of acts in the channel `acts`, and of inputs of each.
const ACTS: usize = 6;
const ACT: usize = 13;

static CHANNELS: [Channel; 5] = [
    Channel::fixed(
        "hand",
        ChannelKind::Dense(HAND),
        "numbers of dice by face / 5: 0..6 under the own cup, 6..12 pushed by oneself, 12..18 pushed by others",
    ),
    Channel::fixed(
        "acts",
        ChannelKind::Dense(ACTS * ACT),
        "the last six acts of the round, newest first, each: 0 it is there, 1 by oneself, 2 by the next player, 3 a pass, 4..10 \
             the face of a bid, 10 its count / dice in play, 11 dice pushed with it / 5, 12 P(true) by the own dice",
    ),
    Channel::fixed(
        "view",
        ChannelKind::Dense(VIEW),
        "0..7 what it is: a bid, one with a push, challenge of a bid, of the last pass, of the one before, pass, exact; chances \
             of success 7 by the dice alone (P), 8 with a model of the last bidder (PM), 9 the highest by PM among the candidates, 10 of \
             the challenge, 11 this one less the highest; for the bid considered (the action's bid, else \
             the standing bid): 12 count / \
             dice in play, 13 P(true) after it seen by the next player without own dice, 14..20 its face, 20 known dice that count / \
             5, 21 hidden ones / 10, 22 wild ones known / 5; 23 pushed with it / 5, 24 rolled again / 5; 25 dice under the own cup / \
             5, 26 own pushed ones / 5, 27 own dice / 5, 28 dice in play / 20, 29 players left / 6, 30 own share of the dice; dice of \
             31 the next player / 5, 32 under its cup, 33 the last player, 34 under its cup; 35 whether the round is special; 36 a pass \
             would be true, 37 passed since the last roll, 38 exact is used, 39 the next player's; 40 acts in this round / 8; 41 the last \
             act was a pass, 42 came with a push; 43 own dice of the standing bid's face, wild ones too / 5, 44 its count / dice in \
             play, 45 its P(true) by the own dice; 46 the next player bid this face last, 47 the last bidder did; 48 dice of one face at \
             most / 5 under the own cup; 49 count above the standing one / 2, 50 how far its rank is below the highest / 200; 51 the own last bid \
             had this face; 52 own dice = 1, 53 next player's = 1, 54 dice in play at most 4, 55 the others together have one",
    ),
    Channel::fixed("phase", ChannelKind::Index(4), "phase by the dice in play, at most 4, 8, 13, more"),
    Channel::fixed(
        "deliberated",
        ChannelKind::Value,
        "2p − 1, where p is the chance of success with a model of the last bidder (PM)",
    ),
];

#[derive(Default)]
struct Deliberations {
    plain: Deliberation<Action>,
    modelled: Deliberation<Action>,
}

thread_local! {
    static FOUND: RefCell<Deliberations> = RefCell::default();
}

impl Soar {
    pub(super) fn new(wide: bool) -> Option<Self> {
        let agent = |name: &str| {
            let agent = Deliberate::new(name, DeliberateSettings::named(name)?).ok()?;
            Some(if wide { agent.widened() } else { agent })
        };
        Some(Self { plain: agent("P")?, modelled: agent("PM")?, wide })
    }

    /// Calls `each` with the index of every candidate.
    fn weigh(
        &self,
        game: &LiarsDice,
        state: &State,
        player: usize,
        mut each: impl FnMut(&Deliberations, usize),
    ) {
        FOUND.with_borrow_mut(|found| {
            self.plain.deliberate(game, state, player, &mut found.plain);
            self.modelled.deliberate(game, state, player, &mut found.modelled);
            (0..found.plain.candidates.len().min(found.modelled.candidates.len()))
                .for_each(|i| each(found, i));
        });
    }
}

impl Encoder<LiarsDice> for Soar {
    fn name(&self) -> &str {
        if self.wide { "dice" } else { "soar" }
    }

    fn channels(&self) -> &[Channel] {
        if self.wide { &CHANNELS } else { &CHANNELS[2..] }
    }

    fn encode(&self, game: &LiarsDice, after: Afterstate<'_, LiarsDice>, row: RowMut<'_>) {
        let Some(action) = after.action else { return };
        let mut row = Some(row);
        self.weigh(game, after.state, after.player, |found, i| {
            if found.plain.candidates[i].action == *action
                && let Some(row) = row.take()
            {
                Situation::new(game, after.state, after.player, found, self.wide).write(found, i, row);
            }
        });
    }

    fn decides(&self) -> bool {
        true
    }

    fn decide(
        &self,
        game: &LiarsDice,
        state: &State,
        player: usize,
        actions: &mut Vec<Action>,
        rows: &mut dyn RowSink,
    ) {
        actions.clear();
        let mut situation = None;
        self.weigh(game, state, player, |found, i| {
            actions.push(found.plain.candidates[i].action);
            let situation =
                situation.get_or_insert_with(|| Situation::new(game, state, player, found, self.wide));
            situation.write(found, i, rows.push());
        });
    }
}

/// Writes the own and all exposed dice by face, and the last acts of the round.
fn hand_and_acts(
    game: &LiarsDice,
    state: &State,
    player: usize,
    known: &Dice,
    unknown: u8,
) -> [f32; HAND + ACTS * ACT] {
    let mut x = [0.0; HAND + ACTS * ACT];
    let own = &state.seats[player];
    let shown = known.without(&own.cup).and_then(|shown| shown.without(&own.pushed)).unwrap_or_default();
    for (part, dice) in [&own.cup, &own.pushed, &shown].into_iter().enumerate() {
        for (x, n) in x[6 * part..].iter_mut().zip(dice.0) {
            *x = f32::from(n) / 5.0;
        }
    }
    let in_play = f32::from(state.dice_in_play().max(1));
    let next = state.next_alive(player as u8);
    for (act, x) in state.acts.iter().rev().zip(x[HAND..].chunks_exact_mut(ACT)) {
        x[0] = 1.0;
        x[1] = flag(usize::from(act.player) == player);
        x[2] = flag(act.player == next);
        match act.said {
            Said::Pass { .. } => x[3] = 1.0,
            Said::Bid { bid, push } => {
                x[3 + usize::from(bid.face)] = 1.0;
                x[10] = f32::from(bid.count) / in_play;
                x[11] = f32::from(push.total()) / 5.0;
                let have = game.matching(state.special, known, bid.face);
                let odds = game.odds(state.special, bid.face);
                x[12] = odds.at_least(unknown, i32::from(bid.count) - i32::from(have)) as f32;
            }
        }
    }
    x
}

/// Values that all rows of a decision share.
struct Situation<'a> {
    game: &'a LiarsDice,
    state: &'a State,
    player: usize,
    known: Dice,
    unknown: u8,
    standing: Option<(u8, Bid)>,
    highest: f32,
    challenge: f32,
    /// Inputs that are the same in every row.
    shared: [f32; VIEW],
    /// The channels `hand` and `acts`, for `dice`.
    wide: [f32; HAND + ACTS * ACT],
}

fn flag(is: bool) -> f32 {
    f32::from(u8::from(is))
}

impl<'a> Situation<'a> {
    fn new(game: &'a LiarsDice, state: &'a State, player: usize, found: &Deliberations, wide: bool) -> Self {
        let pushed = state.seats.iter().fold(Dice::default(), |sum, seat| sum.with(&seat.pushed));
        let own = &state.seats[player];
        let known = own.cup.with(&pushed);
        let in_play = state.dice_in_play();
        let unknown = in_play - known.total();
        let standing = state.standing().map(|(_, bidder, bid)| (bidder, bid));
        let success = |i: usize| found.modelled.candidates[i].success as f32;
        let all = 0..found.modelled.candidates.len();
        let highest = all.clone().map(success).fold(0.0, f32::max);
        let is_challenge = |i: &usize| found.modelled.candidates[*i].action == Action::Challenge(Target::Bid);
        let challenge = all.clone().find(is_challenge).map_or(0.0, success);
        let next = &state.seats[usize::from(state.next_alive(player as u8))];
        let last = state.acts.last();
        let before = last.map(|act| &state.seats[usize::from(act.player)]);
        let under = |seat: &crate::liars_dice::state::Seat| f32::from(seat.dice - seat.pushed.total()) / 5.0;
        let mut x = [0.0; VIEW];
        x[9] = highest;
        x[10] = challenge;
        x[25] = f32::from(own.cup.total()) / 5.0;
        x[26] = f32::from(own.pushed.total()) / 5.0;
        x[27] = f32::from(own.dice) / 5.0;
        x[28] = f32::from(in_play) / 20.0;
        x[29] = state.alive() as f32 / 6.0;
        x[30] = f32::from(own.dice) / f32::from(in_play.max(1));
        x[31] = f32::from(next.dice) / 5.0;
        x[32] = under(next);
        x[33] = before.map_or(0.0, |seat| f32::from(seat.dice) / 5.0);
        x[34] = before.map_or(0.0, under);
        x[35] = flag(state.special);
        x[36] = flag(own.cup.with(&own.pushed).uniform().is_some());
        x[37] = flag(own.passed);
        x[38] = flag(own.exacted);
        x[39] = flag(next.exacted);
        x[40] = state.acts.len() as f32 / 8.0;
        x[41] = flag(matches!(last, Some(act) if matches!(act.said, Said::Pass { .. })));
        x[42] =
            flag(matches!(last, Some(act) if matches!(act.said, Said::Bid { push, .. } if !push.is_empty())));
        if let Some((_, bid)) = standing {
            let have = game.matching(state.special, &own.cup, bid.face);
            let all_known = game.matching(state.special, &known, bid.face);
            x[43] = f32::from(have) / 5.0;
            x[44] = f32::from(bid.count) / f32::from(in_play.max(1));
            let odds = game.odds(state.special, bid.face);
            x[45] = odds.at_least(unknown, i32::from(bid.count) - i32::from(all_known)) as f32;
        }
        x[48] = f32::from(own.cup.0.into_iter().max().unwrap_or(0)) / 5.0;
        x[52] = flag(own.dice == 1);
        x[53] = flag(next.dice == 1);
        x[54] = flag(in_play <= 4);
        x[55] = flag(in_play - own.dice == 1);
        let wide = if wide { hand_and_acts(game, state, player, &known, unknown) } else { [0.0; _] };
        Self { game, state, player, known, unknown, standing, highest, challenge, shared: x, wide }
    }

    fn write(&self, found: &Deliberations, candidate: usize, row: RowMut<'_>) {
        let (game, state) = (self.game, self.state);
        let action = found.plain.candidates[candidate].action;
        let success = found.modelled.candidates[candidate].success;
        let Some((deliberated, x)) = row.dense.split_last_mut() else { return };
        *deliberated = preference(success) as f32;
        let (wide, x) = x.split_at_mut(x.len() - VIEW);
        if !wide.is_empty() {
            wide.copy_from_slice(&self.wide);
        }
        x.copy_from_slice(&self.shared);
        let (kind, bid, push) = match action {
            Action::Bid { bid, push } if push.is_empty() => (0, Some(bid), push),
            Action::Bid { bid, push } => (1, Some(bid), push),
            Action::Challenge(Target::Bid) => (2, None, Dice::default()),
            Action::Challenge(Target::Pass) => (3, None, Dice::default()),
            Action::Challenge(Target::PassBefore) => (4, None, Dice::default()),
            Action::Pass => (5, None, Dice::default()),
            Action::Exact | Action::Starter(_) | Action::Roll(_) => (6, None, Dice::default()),
        };
        x[kind] = 1.0;
        x[7] = found.plain.candidates[candidate].success as f32;
        x[8] = success as f32;
        x[11] = success as f32 - if kind == 2 { self.highest } else { self.highest.max(self.challenge) };
        let in_play = state.dice_in_play();
        if let Some(in_question) = bid.or(self.standing.map(|(_, bid)| bid)) {
            let (face, count) = (in_question.face, i32::from(in_question.count));
            x[12] = f32::from(in_question.count) / f32::from(in_play.max(1));
            let own = &state.seats[self.player];
            let rest = own.cup.without(&push).unwrap_or_default();
            let shown = self.known.without(&own.cup).unwrap_or_default().with(&push);
            let hidden = self.unknown + rest.total();
            let exposed = game.matching(state.special, &shown, face);
            x[13] = game.odds(state.special, face).at_least(hidden, count - i32::from(exposed)) as f32;
            x[13 + usize::from(face)] = 1.0;
            let known = if push.is_empty() { self.known } else { shown };
            x[20] = f32::from(game.matching(state.special, &known, face)) / 5.0;
            x[21] = f32::from(in_play - known.total()) / 10.0;
            x[22] = game.wild(state.special).map_or(0.0, |wild| f32::from(known.count(wild)) / 5.0);
            x[23] = f32::from(push.total()) / 5.0;
            x[24] = if push.is_empty() { 0.0 } else { f32::from(rest.total()) / 5.0 };
            let last_face = |by: u8| {
                state.acts.iter().rev().find_map(|act| match act.said {
                    Said::Bid { bid, .. } if act.player == by => Some(bid.face),
                    _ => None,
                })
            };
            x[46] = flag(last_face(state.next_alive(self.player as u8)) == Some(face));
            x[47] = flag(self.standing.is_some_and(|(_, last)| bid.is_some() && last.face == face));
            x[49] = self.standing.map_or(0.0, |(_, last)| (count - i32::from(last.count)) as f32 / 2.0);
            let top = Bid { count: in_play, face: game.faces() };
            let above = game.rank(state.special, top).saturating_sub(game.rank(state.special, in_question));
            x[50] = above as f32 / 200.0;
            x[51] = flag(last_face(self.player as u8) == Some(face));
        }
        row.index[0] = match in_play {
            0..=4 => 0,
            5..=8 => 1,
            9..=13 => 2,
            _ => 3,
        };
    }
}
