//! Speed of search: `cargo bench -p adept-arena --bench search -- RUN`, with a run or checkpoint of Connect Four.

use adept_arena::search::{Search, SearchOptions};
use adept_arena::{Decision, open};
use adept_builtin::connect_four::ConnectFour;
use adept_game::{Draw, Game, Kit, Turn, stream};
use std::path::PathBuf;
use std::time::Instant;

fn main() {
    let Some(run) = std::env::args().nth(1).filter(|arg| !arg.starts_with('-')) else {
        println!("give a run or checkpoint of Connect Four");
        return;
    };
    let game = ConnectFour;
    let draw: Draw<ConnectFour> = game.positions().draw("late").expect("it has late positions");
    println!("{:>8} {:>12} {:>12} {:>10}", "search", "nodes", "nodes/s", "ms a move");
    for text in ["2", "4", "6", "8", "100ms"] {
        let options: SearchOptions = text.parse().expect("a budget");
        let (bound, _) = open::open(&game, &PathBuf::from(&run), false).expect("a checkpoint");
        let mut search = Search::new(&game, bound, options);
        let (mut nodes, mut plies) = (0, 0);
        let (begin, mut rng, mut actions) = (Instant::now(), stream(1, "bench", 0), Vec::new());
        let positions = 50;
        for _ in 0..positions {
            let board = draw(&mut rng);
            let Turn::Player(player) = game.turn(&board) else { continue };
            game.actions(&board, &mut actions);
            let found = search.search(Decision::new(&game, &board, player), &actions);
            nodes += found.nodes;
            plies += found.plies;
        }
        let seconds = begin.elapsed().as_secs_f64();
        println!(
            "{text:>8} {nodes:>12} {:>12.0} {:>10.2} {:>5.1}",
            nodes as f64 / seconds,
            1e3 * seconds / f64::from(positions),
            f64::from(plies) / f64::from(positions)
        );
    }
}
