//! Decisions of one player in one game, or of both, and their targets.

use adept_model::{Head, Rows, Samples};

/// One decision of one player.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// Row of the chosen afterstate among the rows of the chain; `None` if it ended the game.
    pub(crate) row: Option<u32>,
    /// Value of the chosen afterstate.
    pub(crate) value: f32,
    /// Highest value among the candidates.
    pub(crate) greedy: f32,
    /// Rewards since the previous decision.
    pub(crate) reward: f32,
    /// Who decided.
    pub(crate) player: usize,
    /// Whether the move was exploring and not greedy.
    pub(crate) cuts: bool,
}

/// How the target of a decision follows from the next decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// λ, in [0, 1].
    pub lambda: f32,
    /// γ from one decision to the next.
    pub discount: f32,
    /// Whether to use the value of the chosen action (SARSA) instead of the highest value (Q-learning).
    pub chosen: bool,
    /// Largest absolute value of a target.
    pub clip: f32,
}

/// Goes through decisions from the last to the first, and gives each with its λ-return to `put`. `z` is the result.
///
/// G_t = (1 − λ) V_{t+1} + λ G_{t+1} (Sutton 1988), where G of the last afterstate is the outcome z. If the
/// next move was exploring and not greedy, G_t is the greedy value there (Watkins), unless `chosen` is set.
/// With rewards and a discount, G_t is r + γ times this. If the next decision is the opponent's, in a zero-sum game,
/// its value counts with the opposite sign.
#[inline]
pub(crate) fn backwards(steps: &[Step], z: f32, bootstrap: Bootstrap, mut put: impl FnMut(&Step, f32)) {
    let Bootstrap { lambda, discount, chosen, clip } = bootstrap;
    let mut target = z;
    for (t, step) in steps.iter().enumerate().rev() {
        if let Some(next) = steps.get(t + 1) {
            let follows = match next.cuts && !chosen {
                true => next.greedy,
                false => next.value + lambda * (target - next.value),
            };
            // What is good for the opponent is bad for the player.
            let sign = if next.player == step.player { 1.0 } else { -1.0 };
            target = next.reward + sign * discount * follows;
        }
        put(step, target.clamp(-clip, clip));
    }
}

/// The same with distributions over the classes of outcomes: P_{t+1} in place of V_{t+1}, and that of the result, `end`,
/// in place of z. `outcomes` gives the distributions of the chosen and of the greedy candidate of a decision, side by side. If the
/// next decision is the opponent's, its distribution counts mirrored. There are no rewards, no discount and no limit.
pub(crate) fn outcomes_backwards<'a>(
    steps: &[Step],
    outcomes: impl Fn(usize) -> [&'a [f32]; 2],
    end: &[f32],
    head: &Head,
    bootstrap: Bootstrap,
    mut put: impl FnMut(&Step, &[f32]),
) {
    let Bootstrap { lambda, chosen, .. } = bootstrap;
    let (mut target, mut mirrored) = (end.to_vec(), Vec::with_capacity(end.len()));
    for (t, step) in steps.iter().enumerate().rev() {
        if let Some(next) = steps.get(t + 1) {
            let [own, greedy] = outcomes(t + 1);
            match next.cuts && !chosen {
                true => target.copy_from_slice(greedy),
                false => target.iter_mut().zip(own).for_each(|(g, p)| *g = p + lambda * (*g - p)),
            }
            if next.player != step.player {
                mirrored.clear();
                head.mirrored(&target, &mut mirrored);
                target.copy_from_slice(&mirrored);
            }
        }
        put(step, &target);
    }
}

/// Decisions of one game, in order.
#[derive(Debug)]
pub(crate) struct Returns {
    pub(crate) decisions: Vec<Step>,
    /// Rows of the chosen afterstates.
    pub(crate) rows: Rows,
    /// For a head with classes of outcomes: the distributions of the chosen and of the greedy candidate of each decision,
    /// `[decisions, 2, classes]`.
    pub(crate) outcomes: Vec<f32>,
}

impl Returns {
    pub(crate) fn new(rows: Rows) -> Self {
        Self { decisions: Vec::new(), rows, outcomes: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.decisions.clear();
        self.rows.clear();
        self.outcomes.clear();
    }

    /// Appends the afterstates with their λ-returns as targets: see [`backwards`].
    #[inline]
    pub(crate) fn targets(&self, z: f32, bootstrap: Bootstrap, samples: &mut Samples) {
        backwards(&self.decisions, z, bootstrap, |step, target| {
            if let Some(row) = step.row {
                samples.rows.push_from(&self.rows, row as usize);
                samples.targets.push(target);
                samples.weights.push(1.0);
            }
        });
    }

    /// The same with distributions over the classes of outcomes: see [`outcomes_backwards`].
    pub(crate) fn target_outcomes(
        &self,
        end: &[f32],
        head: &Head,
        bootstrap: Bootstrap,
        samples: &mut Samples,
    ) {
        let classes = end.len();
        let outcomes = |t: usize| {
            let (own, greedy) = self.outcomes[2 * t * classes..][..2 * classes].split_at(classes);
            [own, greedy]
        };
        outcomes_backwards(&self.decisions, outcomes, end, head, bootstrap, |step, target| {
            if let Some(row) = step.row {
                samples.rows.push_from(&self.rows, row as usize);
                samples.targets.extend_from_slice(target);
                samples.weights.push(1.0);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_model::{Channel, ChannelKind};

    fn chain(decisions: &[(f32, f32)]) -> Returns {
        let mut rows = Rows::new(&[Channel::new("x", ChannelKind::Dense(1))]);
        for (i, _) in decisions.iter().enumerate() {
            rows.push().dense[0] = i as f32;
        }
        let decisions = decisions
            .iter()
            .enumerate()
            .map(|(i, &(value, greedy))| {
                let cuts = value < greedy;
                Step { row: Some(i as u32), value, greedy, reward: 0.0, player: 0, cuts }
            })
            .collect();
        Returns { decisions, rows, outcomes: Vec::new() }
    }

    fn targets(chain: &Returns, z: f32, lambda: f32) -> Vec<f32> {
        let mut samples = Samples::new(&[Channel::new("x", ChannelKind::Dense(1))]);
        chain.targets(
            z,
            Bootstrap { lambda, discount: 1.0, chosen: false, clip: f32::INFINITY },
            &mut samples,
        );
        // The last comes first: restore the order of play by row number.
        let mut by_row: Vec<_> = samples.rows.dense.iter().zip(&samples.targets).collect();
        by_row.sort_by(|a, b| a.0.total_cmp(b.0));
        by_row.into_iter().map(|(_, t)| *t).collect()
    }

    #[test]
    fn lambda_zero_takes_the_next_value_and_one_the_outcome() {
        let chain = chain(&[(0.1, 0.1), (0.2, 0.2), (0.4, 0.4)]);
        assert_eq!(targets(&chain, 1.0, 0.0), [0.2, 0.4, 1.0]);
        assert_eq!(targets(&chain, 1.0, 1.0), [1.0, 1.0, 1.0]);
    }

    /// The written-out sum (1 − λ) Σ λⁿ V + λᵀ z.
    #[test]
    fn the_recursion_is_the_weighted_sum_of_n_step_returns() {
        let chain = chain(&[(0.1, 0.1), (0.2, 0.2), (0.4, 0.4)]);
        let l = 0.8f32;
        let first = (1.0 - l) * 0.2 + (1.0 - l) * l * 0.4 - l * l;
        let second = (1.0 - l) * 0.4 - l;
        for (found, expected) in targets(&chain, -1.0, l).iter().zip([first, second, -1.0]) {
            assert!((found - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn targets_are_clipped_and_returns_are_not() {
        let chain = chain(&[(0.1, 0.1), (0.2, 0.2)]);
        let mut samples = Samples::new(&[Channel::new("x", ChannelKind::Dense(1))]);
        let bootstrap = Bootstrap { lambda: 0.5, discount: 1.0, chosen: false, clip: 0.9 };
        chain.targets(-1.0, bootstrap, &mut samples);
        assert_eq!(samples.targets, [-0.9, 0.2 + 0.5 * (-1.0 - 0.2)]);
    }

    #[test]
    fn an_exploring_move_cuts_the_trace_and_leaves_the_greedy_value() {
        let chain = chain(&[(0.1, 0.1), (-0.5, 0.3), (0.4, 0.4)]);
        assert_eq!(targets(&chain, -1.0, 1.0), [0.3, -1.0, -1.0]);
    }

    #[test]
    fn the_value_of_a_reply_counts_with_the_opposite_sign() {
        let mut chain = chain(&[(0.1, 0.1), (-0.5, 0.3), (0.4, 0.4)]);
        chain.decisions[1].player = 1;
        // The reply explores: what it gave up does not help the first player.
        assert_eq!(targets(&chain, -1.0, 1.0), [-0.3, 1.0, -1.0]);
        assert_eq!(targets(&chain, -1.0, 0.0), [-0.3, -0.4, -1.0]);
    }

    /// Two classes are another form of one value: 2 p(win) − 1 of each target is the target of a value.
    #[test]
    fn returns_of_two_outcomes_are_those_of_values() {
        let head = Head::Outcomes(adept_game::OutcomeClass::loss_win());
        let chosen = [(0.1, 0.1), (-0.5, 0.3), (0.4, 0.4), (-0.2, -0.2)];
        for (both, lambda, sarsa) in
            [(false, 0.0, false), (false, 0.7, false), (true, 0.7, false), (true, 1.0, true)]
        {
            let mut chain = chain(&chosen);
            for (t, decision) in chain.decisions.iter_mut().enumerate() {
                decision.player = if both { t % 2 } else { 0 };
            }
            let two = |v: f32| [(1.0 - v) / 2.0, (1.0 + v) / 2.0];
            chain.outcomes = chosen.iter().flat_map(|&(v, greedy)| [two(v), two(greedy)].concat()).collect();
            let bootstrap = Bootstrap { lambda, discount: 1.0, chosen: sarsa, clip: f32::INFINITY };
            let channels = [Channel::new("x", ChannelKind::Dense(1))];
            let (mut values, mut outcomes) = (Samples::new(&channels), Samples::new(&channels));
            chain.targets(1.0, bootstrap, &mut values);
            chain.target_outcomes(&[0.0, 1.0], &head, bootstrap, &mut outcomes);
            assert_eq!((outcomes.len(), outcomes.outputs()), (4, 2));
            for (value, p) in values.targets.iter().zip(outcomes.targets.chunks(2)) {
                assert!(
                    (p[1] - p[0] - value).abs() < 1e-6 && (p[0] + p[1] - 1.0).abs() < 1e-6,
                    "{value} {p:?}"
                );
            }
        }
    }

    /// Draws stay draws, and what is a win for one is a loss for the other.
    #[test]
    fn distributions_are_mirrored_where_the_player_changes() {
        let head = Head::Outcomes(adept_game::OutcomeClass::loss_draw_win());
        let mut chain = chain(&[(0.0, 0.0), (0.5, 0.5), (0.0, 0.0)]);
        chain.decisions[1].player = 1;
        let distribution = [0.1, 0.3, 0.6];
        chain.outcomes = distribution.repeat(6);
        let mut samples = Samples::new(&[Channel::new("x", ChannelKind::Dense(1))]);
        let bootstrap = Bootstrap { lambda: 0.5, discount: 1.0, chosen: false, clip: f32::INFINITY };
        chain.target_outcomes(&[0.0, 1.0, 0.0], &head, bootstrap, &mut samples);
        // From last to first: the result; half of P, half of the result, mirrored; the same once more.
        let second = [0.3, 0.65, 0.05];
        let first = [(0.6 + 0.05) / 2.0, (0.3 + 0.65) / 2.0, (0.1 + 0.3) / 2.0];
        for (found, expected) in samples.targets.chunks(3).zip([[0.0, 1.0, 0.0], second, first]) {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {expected:?}");
        }
    }

    #[test]
    fn rewards_come_before_what_is_discounted() {
        let mut chain = chain(&[(0.1, 0.1), (-0.5, 0.3), (0.4, 0.4)]);
        (chain.decisions[1].reward, chain.decisions[2].reward) = (1.0, -1.0);
        let of = |chosen: bool| {
            let mut samples = Samples::new(&[Channel::new("x", ChannelKind::Dense(1))]);
            chain.targets(
                0.5,
                Bootstrap { lambda: 0.0, discount: 0.9, chosen, clip: f32::INFINITY },
                &mut samples,
            );
            samples.targets
        };
        let near = |found: Vec<f32>, expected: [f32; 3]| {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
        };
        // From last to first: SARSA takes the value of the chosen action, Q-learning the highest value.
        near(of(true), [0.5, -1.0 + 0.9 * 0.4, 1.0 + 0.9 * -0.5]);
        near(of(false), [0.5, -1.0 + 0.9 * 0.4, 1.0 + 0.9 * 0.3]);
    }
}
