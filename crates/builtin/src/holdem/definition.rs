//! Game definition files of the Annual Computer Poker Competition.

use super::rules::{Holdem, NO_LIMIT, Stakes};
use super::state::{MAX_PLAYERS, ROUNDS};
use adept_game::GameError;
use std::fmt::Write;

/// The entries that a definition must contain besides the stakes, for this number of players: keys and numbers.
fn fixed(players: usize) -> [(&'static str, Vec<u32>); 6] {
    // Heads-up the button acts first, otherwise the player after the big blind: with three players the button, player
    // 3.
    let first = if players == 2 { 2 } else { 3 };
    [
        ("numRounds", vec![ROUNDS as u32]),
        ("firstPlayer", vec![first, 1, 1, 1]),
        ("numSuits", vec![4]),
        ("numRanks", vec![13]),
        ("numHoleCards", vec![2]),
        ("numBoardCards", vec![0, 3, 1, 1]),
    ]
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

impl Holdem {
    /// Formats the game as a definition file of the Annual Computer Poker Competition.
    pub fn definition(&self) -> String {
        let (seats, stakes) = (self.seats(), &self.stakes);
        let mut blinds = vec![0; seats];
        for (seat, blind) in self.blind_seats().into_iter().zip(stakes.blinds) {
            blinds[seat] = blind;
        }
        let mut text = format!("GAMEDEF\nlimit\nnumPlayers = {seats}\n");
        let [rounds, first, rest @ ..] = fixed(seats);
        let mut line = |key: &str, numbers: &[u32]| {
            let _ = writeln!(text, "{key} = {}", list(numbers));
        };
        line(rounds.0, &rounds.1);
        let stacks = &stakes.stacks[..seats];
        if stacks.iter().any(|stack| *stack != NO_LIMIT) {
            // The dealer writes this number for unlimited chips.
            let shown = stacks.iter().map(|stack| if *stack == NO_LIMIT { i32::MAX as u32 } else { *stack });
            line("stack", &shown.collect::<Vec<_>>());
        }
        line("blind", &blinds);
        line("raiseSize", &stakes.bets);
        line(first.0, &first.1);
        line("maxRaises", &stakes.raises.map(u32::from));
        for (key, numbers) in &rest {
            line(key, numbers);
        }
        text.push_str("END GAMEDEF\n");
        text
    }

    /// Parses a definition file of the Annual Computer Poker Competition.
    ///
    /// # Errors
    /// The invalid line or the missing entry, and what was expected.
    pub fn of_definition(text: &str) -> Result<Self, GameError> {
        let mut read = Reader::default();
        for (number, line) in text.lines().enumerate() {
            read.line(line).map_err(|what| GameError::new(format!("line {}: {what}", number + 1)))?;
        }
        read.game().map_err(GameError::new)
    }
}

/// State of parsing a definition.
#[derive(Default)]
struct Reader {
    begun: bool,
    ended: bool,
    limit: bool,
    /// Lowercase keys with their numbers.
    keys: Vec<(String, Vec<u32>)>,
}

/// Keys of a definition, as the dealer spells them.
const KEYS: [&str; 11] = [
    "numPlayers",
    "numRounds",
    "stack",
    "blind",
    "raiseSize",
    "firstPlayer",
    "maxRaises",
    "numSuits",
    "numRanks",
    "numHoleCards",
    "numBoardCards",
];

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let line = line.split('#').next().unwrap_or_default().trim();
        let lower = line.to_lowercase();
        match lower.as_str() {
            "" => Ok(()),
            _ if self.ended => Err(format!("`{line}` comes after END GAMEDEF")),
            "gamedef" if !self.begun => {
                self.begun = true;
                Ok(())
            }
            _ if !self.begun => Err(format!("a game definition begins with GAMEDEF, found `{line}`")),
            "end gamedef" => {
                self.ended = true;
                Ok(())
            }
            "limit" => {
                self.limit = true;
                Ok(())
            }
            "nolimit" => Err("`nolimit`: only games with fixed limits can be played, `limit`".into()),
            _ => self.key(line, &lower),
        }
    }

    fn key(&mut self, line: &str, lower: &str) -> Result<(), String> {
        let Some((key, numbers)) = lower.split_once('=') else {
            return Err(format!("`{line}` is neither `limit` nor a key with its numbers, `blind = 10 5`"));
        };
        let key = key.trim();
        if !KEYS.iter().any(|known| known.eq_ignore_ascii_case(key)) {
            return Err(format!(
                "`{key}` is not a key of a game definition; the keys are {}",
                KEYS.join(", ")
            ));
        }
        if self.keys.iter().any(|(known, _)| known == key) {
            return Err(format!("`{key}` comes twice"));
        }
        let read: Result<Vec<u32>, _> = numbers.split_whitespace().map(str::parse).collect();
        match read {
            Ok(read) if !read.is_empty() && read.len() <= MAX_PLAYERS => {
                self.keys.push((key.into(), read));
                Ok(())
            }
            _ => Err(format!("`{line}`: after the key come 1 to {MAX_PLAYERS} whole numbers")),
        }
    }

    fn find(&self, key: &str) -> Option<&[u32]> {
        let mut all = self.keys.iter();
        all.find(|(known, _)| known.eq_ignore_ascii_case(key)).map(|(_, numbers)| &numbers[..])
    }

    /// The `N` numbers of a key.
    fn numbers<const N: usize>(&self, key: &str) -> Result<[u32; N], String> {
        let found = self.find(key).ok_or_else(|| format!("`{key}` is missing"))?;
        found.try_into().map_err(|_| format!("`{key} = {}`: expected {N} numbers", list(found)))
    }

    fn game(&self) -> Result<Holdem, String> {
        if !self.ended {
            return Err("the definition has no line END GAMEDEF".into());
        }
        if !self.limit {
            return Err("the definition has no line `limit`".into());
        }
        let [players] = self.numbers("numPlayers")?;
        let players = players as usize;
        if !(2..=MAX_PLAYERS).contains(&players) {
            return Err(format!("`numPlayers = {players}`: expected 2 to {MAX_PLAYERS}"));
        }
        for (key, expected) in fixed(players) {
            // As in the dealer, player 1 acts first in all rounds by default.
            let found = self.find(key).unwrap_or(if key == "firstPlayer" { &[1, 1, 1, 1] } else { &[] });
            if found.is_empty() {
                return Err(format!("`{key}` is missing; hold'em has `{}`", list(&expected)));
            }
            if found != expected {
                return Err(format!("`{key} = {}`: hold'em has `{}`", list(found), list(&expected)));
            }
        }
        let blinds = self.find("blind").ok_or("`blind` is missing")?;
        let (at, rest): ([usize; 2], _) = if players == 2 { ([1, 0], 2) } else { ([0, 1], 2) };
        if blinds.len() != players || blinds[rest..].iter().any(|blind| *blind > 0) {
            return Err(format!(
                "`blind = {}`: expected the small and the big blind in the seats of {}, and 0 in all others",
                list(blinds),
                if players == 2 { "players 2 and 1" } else { "players 1 and 2" }
            ));
        }
        let mut stakes = Stakes {
            blinds: at.map(|seat| blinds[seat]),
            bets: self.numbers("raiseSize")?,
            ..Stakes::default()
        };
        let raises: [u32; ROUNDS] = self.numbers("maxRaises")?;
        for (own, found) in stakes.raises.iter_mut().zip(raises) {
            *own = u8::try_from(found)
                .map_err(|_| format!("`maxRaises = {}`: too many raises", list(&raises)))?;
        }
        if let Some(stacks) = self.find("stack") {
            if stacks.len() != players {
                return Err(format!("`stack = {}`: expected {players} numbers", list(stacks)));
            }
            for (own, found) in stakes.stacks.iter_mut().zip(stacks) {
                *own = if *found == i32::MAX as u32 { NO_LIMIT } else { *found };
            }
        }
        Holdem::new(players, stakes).map_err(|e| e.to_string())
    }
}
