use super::*;

const MODELS: [(Depends, Criterion); 6] = [
    (Depends::Constant, Criterion::Error),
    (Depends::Constant, Criterion::Loss),
    (Depends::Owner, Criterion::Error),
    (Depends::Owner, Criterion::Loss),
    (Depends::Class, Criterion::Error),
    (Depends::Class, Criterion::Loss),
];

/// Cases of two classes for all chances of winning, whose exact equities are those of a model.
fn cases(model: &Efficiencies) -> Vec<Case> {
    let case = |k: u32| {
        let chances = Chances::of_equity(f64::from(k) / 500.0 - 1.0);
        let kind = CaseKind { class: k % 2, usual: 0.6 };
        let case = Case::new(&CubeEquities::new([0.0; 3]), chances, false, kind);
        let exact = CubeOwner::ALL.map(|owner| case.modelled(Some(model)).no_double(owner) as f32);
        Case { exact, ..case }
    };
    (1..1000).map(case).collect()
}

/// The cases in pieces.
fn pieces(cases: &[Case]) -> Vec<Vec<Case>> {
    cases.chunks(100).map(<[Case]>::to_vec).collect()
}

fn figures(cases: &[Case], model: &Efficiencies) -> [Figures; 3] {
    CubeOwner::ALL.map(|owner| {
        let mut figures = Figures::default();
        for (case, other) in cases.iter().zip(cases.iter().rev()) {
            figures.add(case, Some(model), owner);
            figures.add_move(&[After::Before(*case), After::Before(*other)], Some(model), owner);
        }
        figures
    })
}

#[test]
fn exact_equities_lose_nothing() {
    let model = vec![[0.2, 0.5, 0.8], [0.4, 0.6, 0.7]];
    for exact in figures(&cases(&model), &model) {
        assert!(exact.positions == 999 && exact.rms() < 1e-7, "{exact:?}");
        for decisions in [exact.doubles, exact.takes, exact.moves] {
            assert_eq!((decisions.lost, decisions.wrong, decisions.missed), (0.0, 0, 0), "{exact:?}");
        }
    }
    let [centred, own, theirs] = figures(&cases(&model), &vec![[0.6; 3]; 2]);
    assert!(centred.doubles.lost > 0.0 && centred.takes.lost > 0.0 && own.doubles.lost > 0.0);
    assert!(theirs.rms() > 0.01 && theirs.doubles.all == 0 && theirs.takes.all == 0);
}

#[test]
fn models_give_the_values_of_the_usual_model() {
    for win in [0.0, 0.05, 0.3, 0.5, 0.72, 0.81, 0.999, 1.0] {
        for jacoby in [false, true] {
            let chances = Chances::of_classes([
                0.0,
                0.2 * (1.0 - win),
                0.8 * (1.0 - win),
                0.7 * win,
                0.25 * win,
                0.05 * win,
            ]);
            let case =
                Case::new(&CubeEquities::new([0.0; 3]), chances, jacoby, CaseKind { class: 0, usual: 0.6 });
            assert_eq!(case.modelled(None), case.modelled(Some(&vec![[0.6f32.into(); 3]])));
            for x in [0.0, 0.6, 1.0] {
                let found = case.modelled(Some(&vec![[x; 3]]));
                for (owner, at) in
                    [(CubeOwner::Centred, CubeOwner::Centred), (CubeOwner::Own, CubeOwner::Own)]
                {
                    let terms = Terms { owner, ..Terms::money(jacoby) };
                    let values = CubeModel::usual().values_at(x, chances, terms);
                    assert!((values.no_double - found.no_double(at)).abs() < 1e-6, "{win} {x}");
                    assert!((values.double_take.unwrap() - found.double_take()).abs() < 1e-6, "{win} {x}");
                }
            }
        }
    }
}

#[test]
fn the_efficiencies_behind_the_values_are_found() {
    let by_class = vec![[0.2, 0.5, 0.8], [0.4, 0.6, 0.7]];
    for (depends, truth) in [
        (Depends::Constant, vec![[0.3; 3]; 2]),
        (Depends::Owner, vec![[0.2, 0.5, 0.8]; 2]),
        (Depends::Class, by_class),
    ] {
        let cases = cases(&truth);
        let found = fit(&pieces(&cases), 2, depends, Criterion::Error);
        for (found, truth) in found.as_flattened().iter().zip(truth.as_flattened()) {
            assert!((found - truth).abs() < 1e-5, "{depends:?}: {found}, {truth}");
        }
        let found = fit(&pieces(&cases), 2, depends, Criterion::Loss);
        let lost: f64 = figures(&cases, &found).iter().map(|f| f.doubles.lost + f.takes.lost).sum();
        assert!(lost < 1e-3, "{depends:?}: {found:?} loses {lost}");
    }
}

/// What is chosen by the loss loses no more than what is chosen by the error, and more freedom helps.
#[test]
fn each_criterion_is_best_by_itself() {
    let mut cases = cases(&vec![[0.2, 0.5, 0.8], [0.4, 0.6, 0.7]]);
    for (k, case) in cases.iter_mut().enumerate() {
        case.exact = case.exact.map(|e| (e + 0.1 * (k as f32).sin()).clamp(-1.0, 1.0));
    }
    let (mut errors, mut losses) = (Vec::new(), Vec::new());
    for (depends, criterion) in MODELS {
        let found = figures(&cases, &fit(&pieces(&cases), 2, depends, criterion));
        errors.push(found.iter().map(|f| f.rms().powi(2)).sum::<f64>());
        losses.push(found.iter().map(|f| f.doubles.lost + f.takes.lost).sum::<f64>());
    }
    for k in [0, 2, 4] {
        assert!(
            errors[k] <= errors[k + 1] + 1e-9 && losses[k + 1] <= losses[k] + 1e-2,
            "{errors:?} {losses:?}"
        );
    }
    assert!(errors[4] <= errors[2] && errors[2] <= errors[0], "{errors:?}");
}

#[test]
fn decisions_are_counted() {
    let mut decisions = Decisions::default();
    for (acts, gain) in [(true, -0.2), (true, 0.1), (false, 0.05), (false, -0.5), (true, 0.0), (false, 0.3)] {
        decisions.add(acts, gain);
    }
    assert!((decisions.lost - 0.55).abs() < 1e-12);
    let expected =
        Decisions { all: 6, close: 4, lost: 0.55, worst: 0.3, wrong: 1, missed: 2, ..Decisions::default() };
    assert_eq!(Decisions { lost: 0.55, ..decisions }, expected);
    assert!(
        (decisions.loss() - 0.55 / 6.0).abs() < 1e-12 && (decisions.close_loss() - 0.55 / 4.0).abs() < 1e-12
    );
    assert_eq!(decisions.and(decisions).close, 8);
    assert_eq!(Decisions::default().loss(), 0.0);
}

/// With one decision a unit, the error is that of a plain mean; a game counts as one draw, however many decisions it has.
#[test]
fn errors_are_those_of_units() {
    let gains: Vec<f64> = (0..200).map(|k| f64::from(k % 7) * 0.05).collect();
    let usual = |gain: f64| gain > 0.2;
    let (mut single, mut doubled) = (Decisions::default(), Decisions::default());
    for &gain in &gains {
        for (all, copies) in [(&mut single, 1), (&mut doubled, 2)] {
            let [mut unit, mut of_usual] = [Decisions::default(); 2];
            for _ in 0..copies {
                unit.add(false, gain);
                of_usual.add(usual(gain), gain);
            }
            unit.end_unit(&of_usual);
            *all = all.and(unit);
        }
    }
    let half = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (mean, 1.96 * (squares / (n - 1.0) / n).sqrt())
    };
    let lost = half(&gains);
    let excess: Vec<f64> = gains.iter().map(|&gain| if usual(gain) { gain } else { 0.0 }).collect();
    for decisions in [single, doubled] {
        let found = decisions.sampled_loss().unwrap();
        assert!((found.mean - lost.0).abs() < 1e-12 && (found.half - lost.1).abs() < 1e-12, "{found:?}");
        let (found, expected) = (decisions.sampled_excess().unwrap(), half(&excess));
        assert!((found.mean - expected.0).abs() < 1e-12 && (found.half - expected.1).abs() < 1e-12);
        assert!(found.ci95()[0] < expected.0 && expected.0 < found.ci95()[1]);
    }
    assert_eq!(Decisions::default().sampled_loss(), None);
}
