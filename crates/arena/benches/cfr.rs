//! Iterations of CFR+ a second on one core: `cargo bench -p adept-arena --bench cfr`.
//!
//! Liar's dice with one die each, of four to six faces, with two dice each, and with two against one; poker of Kuhn and of Leduc. The
//! last column is a checksum of the average policy after 100 iterations. It is the same on every processor, for one version of Rust.

use adept_arena::cfr::{CfrPlus, Policy, Tree};
use adept_builtin::liars_dice::LiarsDice;
use adept_builtin::small_poker::SmallPoker;
use adept_game::Game;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

fn checksum(policy: &Policy) -> u64 {
    let mut hasher = DefaultHasher::new();
    for node in 0..policy.tree().len() {
        for private in 0..policy.tree().mover(node).map_or(0, |player| policy.tree().privates(player).len()) {
            policy.row(node, private).iter().for_each(|p| p.to_bits().hash(&mut hasher));
        }
    }
    hasher.finish()
}

fn main() {
    let mut trees: Vec<(String, Tree)> = Vec::new();
    for name in ["1-1:4", "1-1:5", "1-1:6", "1-1:6:no-wild", "2-2:3", "2-1:5"] {
        let name = format!("liars-dice:openspiel:{name}");
        let game = LiarsDice::named(&name).expect("a game");
        trees.push((name, Tree::new(&game).expect("it is small")));
    }
    for game in [SmallPoker::KUHN, SmallPoker::LEDUC] {
        trees.push((game.name().into(), Tree::new(&game).expect("it is small")));
    }
    for (name, tree) in trees {
        let (nodes, mut solver) = (tree.len(), CfrPlus::on(Arc::new(tree)));
        solver.iterate(100);
        let sum = checksum(&solver.average());
        let rate = |_| {
            let begin = Instant::now();
            let before = solver.iterations();
            while begin.elapsed().as_secs_f64() < 0.5 {
                solver.iterate(20);
            }
            (black_box(&solver).iterations() - before) as f64 / begin.elapsed().as_secs_f64()
        };
        let best = (0..3).map(rate).fold(0.0, f64::max);
        println!("{name:34} {nodes:8} public states {best:10.0} iterations a second  {sum:016x}");
    }
}
