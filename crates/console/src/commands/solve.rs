//! The command `solve`.

use crate::args::{SolveArgs, SolveMethod};
use crate::output;
use adept_arena::cfr::{SolveOptions, SolverKind};
use adept_lab::Catalogue;
use anyhow::Result;

pub(crate) fn run(games: &dyn Catalogue, args: &SolveArgs, as_json: bool) -> Result<()> {
    let method = match args.method {
        SolveMethod::CfrPlus => SolverKind::CfrPlus,
        SolveMethod::Mccfr => SolverKind::Mccfr,
    };
    let options =
        SolveOptions { method, iterations: args.iterations, seed: args.seed, agents: args.agents.clone() };
    let solved = games.find(&args.game)?.solve(&options)?;
    if as_json {
        return output::json(&solved);
    }
    let mut text = format!(
        "{}: {} public states, {} information sets\n\n",
        solved.game, solved.public_states, solved.information_sets
    );
    let curve = solved.curve.iter();
    let rows = curve.map(|p| vec![p.iterations.to_string(), format!("{:.6}", p.exploitability)]);
    text += &output::table(&["iterations", "exploitability"], rows);
    text += &format!(
        "\nvalue for player 1 {:+.6}; {} iterations in {:.2} s, {:.0} a second\n\n",
        solved.value, solved.iterations, solved.seconds, solved.iterations_per_second
    );
    let agents = solved.agents.iter();
    let rows =
        agents.map(|a| vec![a.agent.clone(), format!("{:+.4}", a.value), format!("{:.4}", a.exploitability)]);
    text += &output::table(&["agent", "value against itself", "exploitability"], rows);
    output::text(&text)
}
