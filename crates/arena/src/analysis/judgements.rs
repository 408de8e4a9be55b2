//! The judgements of a reviewed game, to write down.

use super::steps::{Step, StepKind};
use crate::values::{Decision, Evaluator, state_after};
use adept_game::{GameError, JudgedAction, Judgement, Kit, Turn, WholeGame};

/// The steps of a game as [judgements](adept_game::Records::write_judged), with the probabilities of results and the answers to doubles,
/// which steps do not have, by the same evaluator.
///
/// # Errors
/// If a text of a step cannot be read.
pub fn judgements<G: Kit>(
    game: &G,
    whole: &WholeGame<G::Action>,
    steps: &[Step],
    evaluator: &mut dyn Evaluator<G>,
) -> Result<Vec<Judgement<G::Action>>, GameError> {
    let mut state = match &whole.from {
        Some(text) => game.parse_position(text)?.0,
        None => game.start(),
    };
    let (mut found, mut left) = (Vec::new(), steps.iter().peekable());
    for (place, (_, played)) in whole.actions.iter().enumerate() {
        if let Some(step) = left.next_if(|step| step.place == place) {
            let mut actions = Vec::new();
            if let (Some(assessment), Turn::Player(player)) = (&step.assessment, game.turn(&state)) {
                let at = Decision::new(game, &state, player);
                evaluator.set_stage(assessment.judge);
                for one in &assessment.candidates {
                    let action = game.parse_action(&state, &one.action)?;
                    let next = state_after(game, &state, &action);
                    let (mut chances, mut answers) = (Vec::new(), Vec::new());
                    match game.turn(&next) {
                        Turn::Over => {}
                        // The other player answers at once.
                        Turn::Player(other) if step.kind == StepKind::Double && other != player => {
                            let (mut replies, mut values) = (Vec::new(), Vec::new());
                            game.actions(&next, &mut replies);
                            evaluator.values(Decision::new(game, &next, other), &replies, &mut values);
                            let values = values.iter().map(|value| f64::from(*value) * game.scale());
                            answers = replies.into_iter().zip(values).collect();
                        }
                        _ => evaluator.outcomes(at, &action, &mut chances),
                    }
                    actions.push(JudgedAction { action, value: one.value, chances, answers });
                }
            }
            if step.luck.is_some() || !actions.is_empty() {
                found.push(Judgement { place, luck: step.luck, actions });
            }
        }
        game.apply(&mut state, played);
    }
    Ok(found)
}
