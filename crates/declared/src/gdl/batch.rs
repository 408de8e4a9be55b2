//! Random games of a GDL game in parallel lanes: 512, or 64 if the circuit is large or few games are wanted.
//!
//! In each step, the circuit computes legal moves and finished games, every role draws a legal move, and the circuit
//! computes the next facts. Recursive gates are iterated until no lane changes.

use super::compiled::Compiled;
use super::session::{FORCED, State};
use crate::circuit::{Cone, Literal};
use crate::counting::LONGEST;
use crate::lanes::{BYTES, Lanes, Numbers, Pool, Random, Wide, Work, choose, restart, value, widest};
use adept_game::Stream;

/// Limit on inputs of all gates.
const INPUTS: usize = 4 << 20;

/// Up to this many games use 64 lanes.
const FEW: u64 = 128;
/// Break-even constants: gate inputs that lanes read in the time of one incremental change, and the overhead of a step
/// in such changes.
const WORTH: u64 = 25;
const OVERHEAD: u64 = 20;

/// Phases of a step: the end and the legal moves; the goals of finished games; the next facts.
const POSITION: usize = 0;
const GOALS: usize = 1;
const NEXT: usize = 2;
const PHASES: usize = 3;

/// A circuit for lanes, with idle runs.
#[derive(Debug)]
pub(crate) struct Batch {
    plan: Plan,
    /// Number of gate inputs per game above which incremental play of single games is faster.
    worth: u64,
    wide: Pool<Run<Wide>>,
    narrow: Pool<Run<u64>>,
}

/// Compiled rules that every step reads.
#[derive(Debug)]
struct Plan {
    facts: usize,
    /// First move of each role, and the end of the last one's.
    roles: Vec<(u32, u32)>,
    /// Role and value of each goal; the highest of a role first.
    goals: Vec<(u8, u8)>,
    /// The first outputs are the legal moves and the end, then the goals, then the next facts.
    phases: [Cone; PHASES],
}

impl Plan {
    /// None if the values of all nodes in 64 lanes take more than 32 MiB, or gates have more than 4 million inputs.
    fn new(rules: &Compiled) -> Option<Self> {
        if rules.net.size() > INPUTS || rules.net.nodes() > BYTES / size_of::<u64>() {
            return None;
        }
        let (circuit, outputs) = rules.net.circuit();
        let outputs = |bits: &mut dyn Iterator<Item = u32>| -> Vec<Literal> {
            bits.map(|bit| outputs[bit as usize]).collect()
        };
        let end = rules.end * 64;
        let legal = rules.ranges.iter().zip(&rules.legal);
        let legal = legal
            .flat_map(|(&(begin, end), &word)| (begin..end).map(move |number| word * 64 + number - begin));
        let position = outputs(&mut legal.chain([end]));
        let goals = outputs(&mut (end + 1..).take(rules.goals.len()));
        let next = outputs(&mut (0..rules.facts.len() as u32));
        let phases = [&position[..], &goals, &next];
        let [of_position, of_goals, of_next] = phases.map(|outputs| circuit.needed(outputs));
        // Gates that goals and the next step share are computed once, in all positions.
        let phase = |gate: usize| match (of_position[gate], of_goals[gate], of_next[gate]) {
            (true, ..) | (_, true, true) => Some(POSITION),
            (_, true, _) => Some(GOALS),
            (.., true) => Some(NEXT),
            _ => None,
        };
        let stages: Vec<Option<usize>> = (0..circuit.len()).map(phase).collect();
        Some(Self {
            facts: rules.facts.len(),
            roles: rules.ranges.clone(),
            goals: rules.goals.clone(),
            phases: circuit.cones(&stages, phases),
        })
    }

    /// Number of moves.
    fn moves(&self) -> usize {
        self.phases[POSITION].outputs().len() - 1
    }

    /// Number of nodes.
    fn nodes(&self) -> usize {
        1 + self.facts + self.moves() + self.phases.iter().map(Cone::len).sum::<usize>()
    }
}

/// Games in parallel lanes.
#[derive(Debug)]
struct Run<L> {
    values: Vec<L>,
    /// Legal moves in unfinished games, and each role's number of them.
    legal: Vec<L>,
    counts: Vec<Numbers<L>>,
    next: Vec<L>,
    random: Random<L>,
    /// Sum of the goals of each role.
    sums: Vec<u64>,
}

/// A request for games from a state.
struct Play<'a, L> {
    plan: &'a Plan,
    run: &'a mut Run<L>,
    state: &'a State,
    games: u64,
}

impl<L: Lanes> Run<L> {
    fn new(plan: &Plan) -> Self {
        Self {
            values: vec![L::NONE; plan.nodes()],
            legal: vec![L::NONE; plan.moves()],
            counts: vec![Numbers::new(); plan.roles.len()],
            next: vec![L::NONE; plan.facts],
            random: Random::default(),
            sums: vec![0; plan.roles.len()],
        }
    }

    /// Computes the legal moves in lanes `live`. Returns the lanes whose games are over.
    #[inline(always)]
    fn arrive(&mut self, plan: &Plan, live: L) -> L {
        plan.phases[POSITION].compute(&mut self.values);
        let [legal_moves @ .., end] = plan.phases[POSITION].outputs() else { return live };
        let mut over = value(&self.values, *end);
        for (count, &(begin, end)) in self.counts.iter_mut().zip(&plan.roles) {
            *count = Numbers::new();
            let own = begin as usize..end as usize;
            for (slot, &literal) in self.legal[own.clone()].iter_mut().zip(&legal_moves[own]) {
                let legal = value(&self.values, literal).and(live);
                *slot = legal;
                if legal.any() {
                    count.add(legal);
                }
            }
            // A role without a legal move ends the game.
            over = over.or(L::ALL.without(count.any()));
        }
        over.and(live)
    }

    /// Adds the goals of finished games.
    #[inline(always)]
    fn add_goals(&mut self, plan: &Plan, over: L) {
        plan.phases[GOALS].compute(&mut self.values);
        let (mut open, mut of) = (over, None);
        for (&(role, worth), &literal) in plan.goals.iter().zip(plan.phases[GOALS].outputs()) {
            if of != Some(role) {
                (open, of) = (over, Some(role));
            }
            let reached = value(&self.values, literal).and(open);
            open = open.without(reached);
            self.sums[usize::from(role)] += u64::from(worth) * reached.count();
        }
    }

    /// Draws a move of every role in lanes `going`. Lanes in `first` keep the moves `chosen`. Returns the lanes in
    /// which some role had a choice.
    #[inline(always)]
    fn choose(&mut self, plan: &Plan, going: L, first: L, chosen: &[u32]) -> L {
        let moves = 1 + plan.facts;
        let mut chooses = L::NONE;
        for (count, &(begin, end)) in self.counts.iter().zip(&plan.roles) {
            chooses = chooses.or(count.several());
            let (begin, end) = (begin as usize, end as usize);
            let drawn = &mut self.values[moves + begin..moves + end];
            choose(count, &mut self.random, &self.legal[begin..end], going, drawn);
        }
        if first.any() {
            for &number in chosen {
                let of = |&&(begin, end): &&(u32, u32)| (begin..end).contains(&number);
                let Some(&(begin, end)) = plan.roles.iter().find(of) else { continue };
                for other in begin..end {
                    let drawn = &mut self.values[moves + other as usize];
                    *drawn = if other == number { drawn.or(first) } else { drawn.without(first) };
                }
            }
        }
        chooses
    }

    /// Applies the moves. Games in `again` restart with these facts.
    #[inline(always)]
    fn step(&mut self, plan: &Plan, again: L, facts: &[u64]) {
        plan.phases[NEXT].compute(&mut self.values);
        for (next, &literal) in self.next.iter_mut().zip(plan.phases[NEXT].outputs()) {
            *next = value(&self.values, literal);
        }
        self.values[1..1 + plan.facts].copy_from_slice(&self.next);
        if again.any() {
            restart(&mut self.values[1..1 + plan.facts], facts, again);
        }
    }
}

impl<L: Lanes> Work for Play<'_, L> {
    /// Whether all games have ended, instead of none for so long that the run is aborted.
    type Output = bool;

    #[inline(always)]
    fn work(self) -> bool {
        let Self { plan, run, state, games } = self;
        let mut live = L::ALL.first(games);
        let mut left = games - live.count();
        // Lanes in which a game starts.
        let mut first = live;
        restart(&mut run.values[1..1 + plan.facts], &state.facts, L::ALL);
        // Lanes in which no role has had a choice since the last check, and steps since then and since a game ended.
        let (mut forced, mut seen, mut quiet) = (L::ALL, 0, 0);
        loop {
            let over = run.arrive(plan, live);
            let mut again = L::NONE;
            if over.any() {
                run.add_goals(plan, over);
                again = over.first(left);
                left -= again.count();
                live = live.without(over).or(again);
                quiet = 0;
                if !live.any() {
                    return true;
                }
            }
            let going = live.without(again);
            let chooses = run.choose(plan, going, first.and(going), &state.chosen);
            forced = forced.and(going).without(chooses);
            (seen, quiet) = (seen + 1, quiet + 1);
            if seen == FORCED / 2 {
                // Single games end after this many forced steps by other rules.
                if forced.any() {
                    return false;
                }
                (forced, seen) = (L::ALL, 0);
            }
            if quiet > LONGEST {
                return false;
            }
            run.step(plan, again, &state.facts);
            first = again;
        }
    }
}

impl Batch {
    /// None if the circuit is too large. `work` is the mean number of nodes that change in a step.
    pub(crate) fn new(rules: &Compiled, work: u64) -> Option<Self> {
        let plan = Plan::new(rules)?;
        let worth = WORTH * (work + OVERHEAD);
        Some(Self { plan, worth, wide: Pool::default(), narrow: Pool::default() })
    }

    /// Sum of the goals of each role over `games` games from an unfinished state. None if playing them one by one is
    /// faster, or if one of them may never end.
    pub(crate) fn play(&self, state: &State, games: u64, rng: &mut Stream) -> Option<Vec<u64>> {
        let is_wide = games > FEW && self.plan.nodes() <= BYTES / size_of::<Wide>();
        let lanes = if is_wide { Wide::COUNT } else { u64::COUNT };
        let inputs: usize = self.plan.phases.iter().map(Cone::size).sum();
        if games.min(lanes as u64).saturating_mul(self.worth) < inputs as u64 {
            return None;
        }
        match is_wide {
            true => self.play_in(&self.wide, state, games, rng),
            false => self.play_in(&self.narrow, state, games, rng),
        }
    }

    fn play_in<L: Lanes>(
        &self,
        pool: &Pool<Run<L>>,
        state: &State,
        games: u64,
        rng: &mut Stream,
    ) -> Option<Vec<u64>> {
        pool.with(
            || Run::new(&self.plan),
            |run| {
                run.random = Random::new(rng);
                run.sums.fill(0);
                widest(Play { plan: &self.plan, run, state, games }).then(|| run.sums.clone())
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::game::Described;
    use super::super::session::Session;
    use super::super::tests::{all, rare_ends};
    use super::{Lanes, Plan, Random, Run, Wide};
    use adept_game::{Game, stream};

    /// Compares lanes with the incremental circuit of a single game.
    fn follow<L: Lanes>(name: &str, text: &str) {
        let game = Described::read("g.kif", text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let rules = &*game.rules;
        let plan = Plan::new(rules).unwrap();
        let mut run: Run<L> = Run::new(&plan);
        run.random = Random::new(&mut stream(1, "lanes", 0));
        let lanes = [0, 1, L::COUNT / 2 + 1, L::COUNT - 1];
        let holds = |lanes: &L, lane: usize| lanes.words()[lane / 64] >> (lane % 64) & 1 == 1;
        let lane = |lane: usize| {
            let mut only = L::NONE;
            only.words_mut()[lane / 64] |= 1 << (lane % 64);
            only
        };
        let start = game.start().facts;
        run.step(&plan, L::ALL, &start);
        let mut sessions = lanes.map(|_| Session::new(rules));
        sessions.iter_mut().for_each(|session| session.go(rules, &start));
        let mut ended = 0;
        for _ in 0..80 {
            let over = run.arrive(&plan, L::ALL);
            let mut again = L::NONE;
            for (session, &of) in sessions.iter_mut().zip(&lanes) {
                let roles = 0..rules.roles.len();
                let mut is_over = session.is_terminal(rules);
                for role in roles.clone() {
                    let (begin, end) = rules.ranges[role];
                    let mut legal = Vec::new();
                    session.each(rules, role, |number| legal.push(number));
                    let found = (begin..end).filter(|&number| holds(&run.legal[number as usize], of));
                    assert_eq!(legal, found.collect::<Vec<u32>>(), "{name}");
                    is_over |= legal.is_empty();
                }
                assert_eq!(is_over, holds(&over, of), "{name}");
                run.sums.fill(0);
                run.add_goals(&plan, lane(of));
                let goals = roles.map(|role| session.goals(rules, role).next().unwrap_or(0).into());
                assert_eq!(run.sums, goals.collect::<Vec<u64>>(), "{name}");
                if is_over {
                    session.go(rules, &start);
                    again = again.or(lane(of));
                    ended += 1;
                }
            }
            run.choose(&plan, L::ALL, L::NONE, &[]);
            for (session, &of) in sessions.iter_mut().zip(&lanes).filter(|&(_, &of)| !holds(&again, of)) {
                let chosen = &run.values[1 + plan.facts..][..plan.moves()];
                let moves: Vec<u32> = (0..)
                    .zip(chosen)
                    .filter(|(_, lanes)| holds(lanes, of))
                    .map(|(number, _)| number)
                    .collect();
                assert_eq!(moves.len(), rules.roles.len(), "{name}");
                for (role, &number) in moves.iter().enumerate() {
                    assert_eq!(usize::from(rules.moves[number as usize].0), role, "{name}");
                    assert!(holds(&run.legal[number as usize], of), "{name}");
                }
                session.step(rules, &moves);
            }
            run.step(&plan, again, &start);
            for (session, &of) in sessions.iter().zip(&lanes) {
                for fact in 0..plan.facts {
                    let expected = session.holding()[fact / 64] >> (fact % 64) & 1 == 1;
                    assert_eq!(expected, holds(&run.values[1 + fact], of), "{name}");
                }
            }
        }
        assert!(ended > 0, "{name}");
    }

    #[test]
    fn lanes_follow_the_rules() {
        let ends = ("rare ends", rare_ends("(<= terminal (true rare))"));
        for (name, text) in all().into_iter().chain([ends]) {
            follow::<u64>(name, &text);
            follow::<Wide>(name, &text);
        }
    }
}
