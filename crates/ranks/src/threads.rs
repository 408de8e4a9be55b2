//! Ranks that are threads of one process, for tests and simulations.

use crate::link::Link;
use crate::{Ranks, lock};
use std::sync::{Arc, Barrier, Mutex};

/// Shared state of the ranks: the pieces that each has sent, by receiver.
#[derive(Debug)]
struct SharedPieces {
    barrier: Barrier,
    sent: Vec<Mutex<Vec<Vec<u8>>>>,
}

#[derive(Debug)]
struct Thread {
    rank: usize,
    board: Arc<SharedPieces>,
}

/// Creates a group of ranks in this process, each for its own thread.
pub fn threads(size: usize) -> Vec<Ranks> {
    let sent = (0..size).map(|_| Mutex::new(Vec::new())).collect();
    let board = Arc::new(SharedPieces { barrier: Barrier::new(size), sent });
    (0..size).map(|rank| Ranks::new(Arc::new(Thread { rank, board: board.clone() }))).collect()
}

impl Thread {
    /// Sends these pieces, and copies the pieces that each rank has sent to this one.
    fn pass(&self, pieces: Vec<Vec<u8>>, receive: &mut [u8]) {
        *lock(&self.board.sent[self.rank]) = pieces;
        self.board.barrier.wait();
        let mut at = 0;
        for sent in &self.board.sent {
            let sent = lock(sent);
            // A broadcast piece is stored once.
            let piece = sent.get(self.rank).unwrap_or(&sent[0]);
            receive[at..at + piece.len()].copy_from_slice(piece);
            at += piece.len();
        }
        assert_eq!(at, receive.len(), "the counts of all ranks agree");
        self.board.barrier.wait();
    }
}

impl Link for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.board.sent.len()
    }

    fn node(&self) -> String {
        "threads".into()
    }

    fn exchange(&self, send: &[u8], sends: &[usize], receive: &mut [u8], _: &[usize]) {
        let mut rest = send;
        let pieces = sends.iter().map(|&n| {
            let (piece, more) = rest.split_at(n);
            rest = more;
            piece.to_vec()
        });
        self.pass(pieces.collect(), receive);
    }

    fn gather(&self, send: &[u8], receive: &mut [u8], _: &[usize]) {
        self.pass(vec![send.to_vec()], receive);
    }

    fn abort(&self, status: i32) -> ! {
        std::process::exit(status)
    }
}
