//! Values and choices on given positions, compared with other programs, whose values are read from files.

use super::positions::{ComparedPositions, baselines, fine_oracle, losses, values};
use adept_arena::{Decision, Evaluator, GameModel, OpenError, each_after};
use adept_game::{Example, GameError, Kit, Turn};
use adept_trainer::positions::PositionErrors;
use adept_trainer::run::TrainError;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Another program, represented by its values of positions.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Name in reports.
    pub name: String,
    /// File of its values, in the format of example files.
    pub file: PathBuf,
}

/// Errors of V on the positions of a file, and the value lost by choices on all their rolls.
#[derive(Clone, Debug, Serialize)]
pub struct DecisionsReport {
    /// Positions of the file.
    pub positions: u64,
    /// Unforced decisions.
    pub decisions: u64,
    /// The checkpoint, then untrained baselines, then the peers, all on the same decisions.
    pub rows: Vec<DecisionsRow>,
}

/// Results of the checkpoint, a baseline or a peer.
#[derive(Clone, Debug, Serialize)]
pub struct DecisionsRow {
    /// `checkpoint`, the name of a baseline, or the name of a peer. `constant` is the mean of the exact values
    /// and chooses at random.
    pub name: String,
    /// Root mean square error of V on the positions.
    pub rms: f64,
    /// Mean value lost per unforced decision, weighted by the probability of its roll.
    pub loss_per_decision: f64,
    /// Share of these decisions with a wrong choice, weighted in the same way.
    pub wrong_share: f64,
}

/// The name of the checkpoint's row.
const CHECKPOINT: &str = "checkpoint";

/// Values of a file by position.
struct FileValues<'a, G: Kit> {
    peer: &'a Peer,
    /// The number of a position.
    number: fn(&G::State) -> u64,
    /// Values for the player who acted last, by the number of the position.
    values: FxHashMap<u64, f64>,
    /// The first position that was looked up but is missing.
    missing: Option<String>,
}

impl<'a, G: Kit> FileValues<'a, G> {
    fn read(game: &G, peer: &'a Peer) -> Result<Self, OpenError> {
        let examples = game.files().read_examples(game, &peer.file)?;
        let (mut values, number) = (FxHashMap::default(), game.positions().number);
        for Example { state, value, .. } in examples {
            let before = values.insert(number(&state), value);
            if before.is_some_and(|before| before != value) {
                let what = format!("has two values of the position {}", game.position_text(&state));
                return Err(GameError::data(&peer.file, what).into());
            }
        }
        Ok(Self { peer, number, values, missing: None })
    }

    /// The value of a position before a chance event; NaN if it is missing.
    fn value(&mut self, game: &G, state: &G::State) -> f64 {
        self.values.get(&(self.number)(state)).copied().unwrap_or_else(|| {
            self.missing.get_or_insert_with(|| game.position_text(state));
            f64::NAN
        })
    }
}

impl<G: Kit> Evaluator<G> for FileValues<'_, G> {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        values.clear();
        each_after(at.game, at.state, actions, |after, _| {
            values.push(match at.game.turn(after) {
                Turn::Over => at.game.utility(after, at.player) / at.game.scale(),
                _ => self.value(at.game, after),
            } as f32);
        });
    }
}

/// Checks that the peers had all positions that were looked up.
fn complete<G: Kit>(looked: &[FileValues<'_, G>]) -> Result<(), TrainError> {
    for FileValues { peer, missing, .. } in looked {
        if let Some(position) = missing {
            let what = format!(
                "lacks the position {position}; a peer's file must contain the measured positions and all their \
                 afterstates"
            );
            return Err(GameError::data(&peer.file, what).into());
        }
    }
    Ok(())
}

/// Measures a checkpoint, baselines and peers on the positions of a file, each before a chance event, and on all
/// decisions that follow.
pub(super) fn decisions<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    file: &Path,
    peers: &[Peer],
) -> Result<DecisionsReport, TrainError> {
    let examples = game.files().read_examples(game, file)?;
    if examples.is_empty() {
        return Err(GameError::data(file, "has no rows").into());
    }
    // Read all files before opening the exact values, which may take long.
    let mut looked = peers.iter().map(|peer| FileValues::read(game, peer)).collect::<Result<Vec<_>, _>>()?;
    let states: Vec<G::State> = examples.into_iter().map(|example| example.state).collect();
    for peer in &mut looked {
        for state in &states {
            let _ = peer.value(game, state);
        }
    }
    complete(&looked)?;
    let (truth, known) = (fine_oracle(game)?, baselines(game)?);
    let names = [CHECKPOINT, "constant"].into_iter().chain(known.iter().map(|(name, _)| name.as_str()));
    let names: Vec<String> = names.chain(peers.iter().map(|p| p.name.as_str())).map(String::from).collect();
    if let Some(i) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
        let what = format!("`{}` is the name of another row: choose another name for the peer", names[i]);
        return Err(OpenError::Unknown(what).into());
    }

    // Values in the file may be inexact.
    let exact = values(game, &*truth, &states);
    let of_peer = |peer: &mut FileValues<'_, G>| {
        let errors = states.iter().zip(&exact).map(|(state, exact)| peer.value(game, state) - exact);
        PositionErrors::of(errors).rms
    };
    let of_peers: Vec<f64> = looked.iter_mut().map(of_peer).collect();
    let losses = losses(game, &*truth, bound, &known, &mut looked, states.iter().cloned());
    complete(&looked)?;
    let positions = states.len() as u64;
    let all = ComparedPositions::new(game, bound, &known, states, exact).errors("all", &|_| true);
    let rms = [all.errors.rms].into_iter().chain(all.baselines.into_iter().map(|b| b.1)).chain(of_peers);
    let row = |((name, rms), loss): ((String, f64), &adept_arena::MoveLoss)| DecisionsRow {
        name,
        rms,
        loss_per_decision: loss.loss_per_decision,
        wrong_share: loss.wrong_share,
    };
    Ok(DecisionsReport {
        positions,
        decisions: losses[0].decisions,
        rows: names.into_iter().zip(rms).zip(&losses).map(row).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_arena::open;
    use adept_builtin::bearoff::Bearoff;
    use adept_game::{Afterstate, Game, stream};
    use std::fmt::Write;
    use std::fs;

    const HEADER: &str = "own1,own2,own3,own4,own5,own6,opp1,opp2,opp3,opp4,opp5,opp6,value\n";

    fn game() -> Bearoff {
        Bearoff::new(4).unwrap()
    }

    /// An untrained network.
    fn bound() -> GameModel<Bearoff> {
        let encoder = open::encoder(&game(), Some("one-sided")).unwrap();
        let architecture =
            serde_json::from_value(serde_json::json!({ "mlp": { "hidden": [3], "init": 0.3 } })).unwrap();
        let (channels, mut rng) = (encoder.channels().to_vec(), stream(1, "test", 0));
        let learner = adept_model::build(
            &architecture,
            &channels,
            &adept_model::Head::Value,
            Default::default(),
            &mut rng,
        )
        .unwrap();
        GameModel::new(&game(), encoder, learner)
    }

    /// All positions as rows of a file, with their values by a valuation.
    fn all(valuation: &str) -> Vec<String> {
        let (game, halves) = (game(), game().values().halves.unwrap()().unwrap());
        let valuation = game.values().valuations.open(valuation).unwrap().unwrap();
        let pairs = (0..halves.count()).flat_map(|i| (0..halves.count()).map(move |j| (i, j)));
        let row = |(mover, roller)| {
            let state = &halves.state(mover, roller);
            let player = game.just_acted(state).unwrap();
            let value = -valuation.value(&game, Afterstate { state, action: None, player });
            format!("{},{},{value}\n", state.position().own, state.position().opponent)
        };
        pairs.map(row).collect()
    }

    struct Files(tempfile::TempDir);

    impl Files {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn write(&self, name: &str, rows: impl IntoIterator<Item = impl AsRef<str>>) -> Peer {
            let mut text = HEADER.to_string();
            rows.into_iter().for_each(|row| write!(text, "{}", row.as_ref()).unwrap());
            let file = self.0.path().join(name);
            fs::write(&file, text).unwrap();
            Peer { name: name.into(), file }
        }
    }

    fn measure(positions: &Peer, peers: &[Peer]) -> Result<DecisionsReport, String> {
        decisions(&game(), &mut bound(), &positions.file, peers).map_err(|e| e.to_string())
    }

    #[test]
    fn peers_are_looked_up() {
        let files = Files::new();
        let (exact, same) = (all("oracle-32"), all("convolution"));
        let positions = files.write("positions", exact.iter().step_by(97));
        let peers = [files.write("exact", &exact), files.write("same", &same)];
        let report = measure(&positions, &peers).unwrap();
        let names: Vec<&str> = report.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["checkpoint", "constant", "convolution", "normal", "kleinman", "exact", "same"]);
        assert_eq!(report.positions, exact.len().div_ceil(97) as u64);
        assert!(report.decisions > 5000 && report.decisions < 21 * report.positions);
        let row = |name: &str| report.rows.iter().find(|row| row.name == name).unwrap();
        let figures = |name: &str| (row(name).rms, row(name).loss_per_decision, row(name).wrong_share);
        assert!(row("exact").rms < 1e-12 && row("exact").loss_per_decision < 1e-8, "{report:?}");
        assert_eq!(row("exact").wrong_share, 0.0);
        // A valuation read from a file equals that valuation.
        assert_eq!(figures("same"), figures("convolution"));
        assert!(row("same").rms > 1e-4 && row("checkpoint").rms > row("normal").rms, "{report:?}");
        assert!(row("constant").loss_per_decision > 10.0 * row("normal").loss_per_decision);
        assert!(measure(&positions, &[]).is_ok_and(|report| report.rows.len() == 5));
    }

    #[test]
    fn what_a_file_lacks_is_named() {
        let files = Files::new();
        let rows = all("oracle-32");
        // The position itself, and its afterstates for the roll 2-1, where the opponent is to roll.
        let positions = files.write("positions", ["0,0,0,0,0,2,0,0,0,1,0,0,0\n"]);
        for (lacking, named) in [
            ("0,0,0,0,0,2,0,0,0,1,0,0,", "0,0,0,0,0,2/0,0,0,1,0,0"),
            ("0,0,0,1,0,0,0,0,0,1,1,0,", "0,0,0,1,0,0/0,0,0,1,1,0"),
        ] {
            let peer = files.write("peer", rows.iter().filter(|row| !row.starts_with(lacking)));
            let error = measure(&positions, &[peer]).unwrap_err();
            assert!(error.contains(&format!("peer: lacks the position {named};")), "{error}");
        }
        // Positions that no decision leads to may be missing.
        let peer =
            files.write("peer", rows.iter().filter(|row| !row.starts_with("0,0,0,1,0,0,0,0,0,0,0,3,")));
        assert!(measure(&positions, &[peer]).is_ok());

        let twice = files.write("twice", [&rows[0], &rows[1], &rows[0]]);
        assert!(
            measure(&positions, &[twice]).unwrap_err().contains("lacks"),
            "the same again is not a fault"
        );
        let other = rows[0].rsplit_once(',').unwrap().0.to_string() + ",0.25\n";
        let twice = files.write("twice", [&rows[0], &other]);
        assert!(measure(&positions, &[twice]).unwrap_err().contains("has two values of the position"));
        let taken = Peer { name: "normal".into(), ..files.write("peer", &rows) };
        assert!(measure(&positions, &[taken]).unwrap_err().contains("`normal` is the name of another row"));
        assert!(measure(&files.write("none", [""; 0]), &[]).unwrap_err().contains("has no rows"));
    }
}
