//! Rows for the rule set `openspiel`: own dice, all bids so far, and a bid or a challenge.

use crate::liars_dice::rules::{Action, LiarsDice, RuleSet};
use crate::liars_dice::state::{Bid, Said};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, RowMut};

/// The complete knowledge of a player in a small game, and an action. Bids are in rank order: by count, then by face.
pub(super) struct Bids {
    name: String,
    dice: [usize; 2],
    faces: usize,
    channels: [Channel; 1],
}

/// Number of inputs outside one-hot groups.
const SINGLE: usize = 7;

impl Bids {
    /// The encoder named `bids:A-B:F`, for games with A and B dice of F faces.
    pub(super) fn new(name: &str) -> Option<Self> {
        let game = LiarsDice::named(&format!("liars-dice:openspiel:{}", name.strip_prefix("bids:")?))?;
        let [a, b] = game.dice()[..] else { return None };
        // One name per game; what is wild is in the rules of the game.
        if name != format!("bids:{a}-{b}:{}", game.faces()) {
            return None;
        }
        let (dice, faces) = ([usize::from(a), usize::from(b)], usize::from(game.faces()));
        let (own, bids) = (dice[0].max(dice[1]) * faces, (dice[0] + dice[1]) * faces);
        let from = |width: usize, start: &mut usize| {
            let range = format!("{}..{}", start, *start + width);
            *start += width;
            range
        };
        let mut at = SINGLE;
        let about = format!(
            "0 whether the first player moves, 1 whether it is a challenge; for the bid considered (the \
             standing bid for a challenge, else the \
             new bid): 2 P(it is true given the own dice), 3 own dice that match / own dice, 4 dice missing \
             for it / the opponent's \
             dice; 5 P(the standing bid is true given the own dice), 6 whether the own dice alone make it \
             true; {} own dice, for \
             each face whether there is one of it, two, …; {} the bids made in this game; {} the standing bid; {} the new bid",
            from(own, &mut at),
            from(bids, &mut at),
            from(bids, &mut at),
            from(bids, &mut at),
        );
        let channel = Channel::new("view", ChannelKind::Dense(at)).about(about);
        Some(Self { name: name.into(), dice, faces, channels: [channel] })
    }

    /// Index of a bid among all bids.
    fn place(&self, bid: Bid) -> usize {
        (usize::from(bid.count).max(1) - 1) * self.faces + usize::from(bid.face).max(1) - 1
    }
}

impl Encoder<LiarsDice> for Bids {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn fits(&self, game: &LiarsDice) -> Result<(), String> {
        let same = matches!(game.rules(), RuleSet::OpenSpiel { .. })
            && game.dice().iter().map(|n| usize::from(*n)).eq(self.dice)
            && usize::from(game.faces()) == self.faces;
        if same {
            return Ok(());
        }
        let wanted = match (game.rules(), game.dice()) {
            (RuleSet::OpenSpiel { .. }, [a, b]) => format!("write `bids:{a}-{b}:{}`", game.faces()),
            _ => "use a game such as liars-dice:openspiel:1-1:6".into(),
        };
        Err(format!("the encoder `{}` is for games with other dice: {wanted}", self.name))
    }

    fn encode(&self, game: &LiarsDice, after: Afterstate<'_, LiarsDice>, row: RowMut<'_>) {
        let (state, player) = (after.state, after.player);
        let own = &state.seats[player].cup;
        let others = state.dice_in_play() - own.total();
        let (own_width, bids) =
            (self.dice[0].max(self.dice[1]) * self.faces, (self.dice[0] + self.dice[1]) * self.faces);
        let (x, many) = row.dense.split_at_mut(SINGLE);
        let (hand, many) = many.split_at_mut(own_width);
        let (made, many) = many.split_at_mut(bids);
        let (last, new) = many.split_at_mut(bids);
        let missing =
            |bid: Bid| i32::from(bid.count) - i32::from(game.matching(state.special, own, bid.face));
        let chance = |bid: Bid| game.odds(state.special, bid.face).at_least(others, missing(bid)) as f32;
        let standing = state.standing().map(|(_, _, bid)| bid);
        x[0] = f32::from(u8::from(player == 0));
        x[1] = f32::from(u8::from(matches!(after.action, Some(Action::Challenge(_)))));
        let question = match after.action {
            Some(Action::Bid { bid, .. }) => {
                new[self.place(*bid)] = 1.0;
                Some(*bid)
            }
            _ => standing,
        };
        if let Some(bid) = question {
            x[2] = chance(bid);
            x[3] = f32::from(game.matching(state.special, own, bid.face)) / f32::from(own.total().max(1));
            x[4] = missing(bid).max(0) as f32 / f32::from(others.max(1));
        }
        if let Some(bid) = standing {
            x[5] = chance(bid);
            x[6] = f32::from(u8::from(missing(bid) <= 0));
            last[self.place(bid)] = 1.0;
        }
        let most = own_width / self.faces;
        for face in 1..=game.faces() {
            let first = usize::from(face - 1) * most;
            hand[first..first + usize::from(own.count(face)).min(most)].fill(1.0);
        }
        for act in &state.acts {
            if let Said::Bid { bid, .. } = act.said {
                made[self.place(bid)] = 1.0;
            }
        }
    }
}
