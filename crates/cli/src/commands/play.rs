//! `play`.

use crate::args::PlayArgs;
use crate::output::{self, say};
use adept_play::{PlayOptions, play};
use anyhow::Result;
use std::io::{stderr, stdin, stdout};

pub(crate) fn run(args: &PlayArgs, as_json: bool) -> Result<()> {
    let options = PlayOptions {
        opponent: args.opponent.clone(),
        game: args.game.clone(),
        seat: args.seat as usize - 1,
        seed: args.seed,
        hints: args.hints,
        best: args.best,
    };
    if args.opponent == "oracle" {
        say("without a table in datasets, the oracle is solved first: a few seconds and 3.1 GB");
    }
    let mut input = stdin().lock();
    if as_json {
        let played = play(&options, &mut input, &mut stderr().lock())?;
        return output::json(&played);
    }
    play(&options, &mut input, &mut stdout().lock())?;
    Ok(())
}
