//! Random games of a GDL game in parallel lanes: 512, or 64 if the circuit is large or few games are wanted.
//!
//! In each step, the circuit computes legal moves and finished games, every role draws a legal move, and the circuit
//! computes the next facts. Recursive gates are iterated until no lane changes.

use super::compiled::Compiled;
use crate::net::Circuit;
use super::session::{FORCED, LONGEST, State};
use crate::circuit::Literal;
use crate::lanes::{BYTES, Lanes, Numbers, Pool, Random, Wide, Work, compute, value, widest};
use adept_game::Stream;
use rustc_hash::FxHashMap;

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

/// Compiled rules that every step reads. Nodes are false, the facts, the moves, the gates in evaluation order, open
/// gates.
#[derive(Debug)]
struct Plan {
    nodes: usize,
    first: usize,
    facts: usize,
    /// First move of each role, and the end of the last one's.
    roles: Vec<(u32, u32)>,
    /// End of the inputs of each gate.
    ends: Vec<u32>,
    inputs: Vec<Literal>,
    phases: [Vec<GateRange>; PHASES],
    end: Literal,
    legal: Vec<Literal>,
    /// Role, value and condition of each goal; the highest of a role first.
    goals: Vec<(u8, u8, Literal)>,
    next: Vec<Literal>,
}

/// A range of gates to evaluate in order.
#[derive(Debug)]
struct GateRange {
    begin: u32,
    end: u32,
    /// For a cycle: open gates with the gate index before which they take the value of their definition.
    opens: Vec<(u32, u32, Literal)>,
}

impl Plan {
    /// None if the values of all nodes in 64 lanes take more than 32 MiB, or gates have more than 4 million inputs.
    fn new(rules: &Compiled) -> Option<Self> {
        if rules.net.size() > INPUTS || rules.net.nodes() > BYTES / size_of::<u64>() {
            return None;
        }
        let circuit = rules.net.circuit();
        let output = |bit: u32| circuit.outputs[bit as usize];
        let next: Vec<Literal> = (0..rules.facts.len() as u32).map(output).collect();
        let legal =
            rules.ranges.iter().zip(&rules.legal).flat_map(|(&(begin, end), &word)| {
                (begin..end).map(move |number| word * 64 + number - begin)
            });
        let legal: Vec<Literal> = legal.map(output).collect();
        let end = output(rules.end * 64);
        let goals = (rules.end * 64 + 1..).zip(&rules.goals);
        let goals: Vec<(u8, u8, Literal)> =
            goals.map(|(bit, &(role, value))| (role, value, output(bit))).collect();
        let definitions: FxHashMap<u32, Literal> =
            circuit.opens.iter().map(|&(node, definition, _)| (node, definition)).collect();
        let of_position = needed(&circuit, &definitions, legal.iter().copied().chain([end]));
        let of_goals = needed(&circuit, &definitions, goals.iter().map(|&(.., literal)| literal));
        let of_next = needed(&circuit, &definitions, next.iter().copied());
        // Gates that goals and the next step share are computed once, in all positions.
        let phase = |gate: usize| match (of_position[gate], of_goals[gate], of_next[gate]) {
            (true, ..) | (_, true, true) => Some(POSITION),
            (_, true, _) => Some(GOALS),
            (.., true) => Some(NEXT),
            _ => None,
        };
        let phases: Vec<Option<usize>> = (0..circuit.ends.len()).map(phase).collect();
        let order = Order::new(&circuit, &phases);
        let rename = |literal: Literal| order.rename(literal);
        let (mut ends, mut inputs) = (Vec::with_capacity(order.gates.len()), Vec::new());
        for &gate in &order.gates {
            inputs.extend(circuit.inputs_of(gate as usize).iter().map(|&input| rename(input)));
            ends.push(inputs.len() as u32);
        }
        Some(Self {
            nodes: circuit.first + ends.len() + circuit.opens.len(),
            first: circuit.first,
            facts: rules.facts.len(),
            roles: rules.ranges.clone(),
            phases: order.parts(&circuit),
            ends,
            inputs,
            end: rename(end),
            legal: legal.into_iter().map(rename).collect(),
            goals: goals.into_iter().map(|(role, value, literal)| (role, value, rename(literal))).collect(),
            next: next.into_iter().map(rename).collect(),
        })
    }

    #[inline(always)]
    fn gates<L: Lanes>(&self, begin: u32, end: u32, values: &mut [L]) {
        let (begin, end) = (begin as usize, end as usize);
        let first = if begin == 0 { 0 } else { self.ends[begin - 1] };
        compute(&self.inputs, first, &self.ends[begin..end], self.first + begin, values);
    }

    /// Computes the values of all nodes of a phase.
    #[inline(always)]
    fn compute<L: Lanes>(&self, phase: usize, values: &mut [L]) {
        for part in &self.phases[phase] {
            if part.opens.is_empty() {
                self.gates(part.begin, part.end, values);
                continue;
            }
            part.opens.iter().for_each(|&(_, open, _)| values[open as usize] = L::NONE);
            loop {
                let (mut begin, mut changed) = (part.begin, L::NONE);
                for &(end, open, definition) in &part.opens {
                    self.gates(begin, end, values);
                    begin = end;
                    let raised = value(values, definition);
                    changed = changed.or(raised.xor(values[open as usize]));
                    values[open as usize] = raised;
                }
                self.gates(begin, part.end, values);
                if !changed.any() {
                    break;
                }
            }
        }
    }
}

/// Marks the gates that outputs need.
fn needed(
    circuit: &Circuit,
    definitions: &FxHashMap<u32, Literal>,
    outputs: impl IntoIterator<Item = Literal>,
) -> Vec<bool> {
    let mut needed = vec![false; circuit.ends.len()];
    let mut open: Vec<u32> = outputs.into_iter().map(|output| output / 2).collect();
    while let Some(node) = open.pop() {
        let Some(gate) = (node as usize).checked_sub(circuit.first) else { continue };
        if !std::mem::replace(&mut needed[gate], true) {
            open.extend(definitions.get(&node).map(|&definition| definition / 2));
            open.extend(circuit.inputs_of(gate).iter().map(|&input| input / 2));
        }
    }
    needed
}

/// Evaluation order of gates.
struct Order {
    first: usize,
    gates: Vec<u32>,
    /// New numbers of nodes.
    renamed: Vec<u32>,
    /// For each phase: ranges of gates, each with the open gates that belong to it.
    parts: [Vec<(usize, usize, Vec<usize>)>; PHASES],
}

impl Order {
    /// Orders gates by phase.
    fn new(circuit: &Circuit, phases: &[Option<usize>]) -> Self {
        let first = circuit.first;
        // The gates of a cycle are contiguous: its open gates, then all up to its last definition.
        let mut cycles: Vec<(usize, usize)> = Vec::new();
        let mut opened: FxHashMap<usize, usize> = FxHashMap::default();
        for (number, &(node, definition, cycle)) in circuit.opens.iter().enumerate() {
            let (node, definition) = (node as usize, definition as usize / 2);
            opened.insert(node, number);
            match cycles.get_mut(cycle as usize) {
                Some((begin, last)) => (*begin, *last) = (node.min(*begin), definition.max(node).max(*last)),
                None => cycles.push((node, definition.max(node))),
            }
        }
        let mut order = Self {
            first,
            gates: Vec::new(),
            renamed: (0..(first + circuit.ends.len()) as u32).collect(),
            parts: Default::default(),
        };
        for (phase, parts) in order.parts.iter_mut().enumerate() {
            let mut last = None;
            for gate in (0..phases.len()).filter(|&gate| phases[gate] == Some(phase)) {
                let node = first + gate;
                let place = cycles.partition_point(|&(begin, _)| begin <= node);
                let cycle = place.checked_sub(1).filter(|&cycle| node <= cycles[cycle].1);
                if parts.is_empty() || last != cycle {
                    parts.push((order.gates.len(), order.gates.len(), Vec::new()));
                    last = cycle;
                }
                let Some((_, end, opens)) = parts.last_mut() else { continue };
                match opened.get(&node) {
                    Some(&number) => opens.push(number),
                    None => {
                        order.renamed[node] = (first + order.gates.len()) as u32;
                        order.gates.push(gate as u32);
                        *end = order.gates.len();
                    }
                }
            }
        }
        for (number, &(node, ..)) in circuit.opens.iter().enumerate() {
            order.renamed[node as usize] = (first + order.gates.len() + number) as u32;
        }
        order
    }

    fn rename(&self, literal: Literal) -> Literal {
        self.renamed[literal as usize / 2] * 2 + literal % 2
    }

    /// The ranges of all phases.
    fn parts(&self, circuit: &Circuit) -> [Vec<GateRange>; PHASES] {
        let part = |&(begin, end, ref opens): &(usize, usize, Vec<usize>)| {
            let opens = opens.iter().map(|&number| {
                let (node, definition, _) = circuit.opens[number];
                let definition = self.rename(definition);
                let known = (definition as usize / 2 + 1).saturating_sub(self.first).clamp(begin, end);
                (known as u32, self.renamed[node as usize], definition)
            });
            let mut opens: Vec<(u32, u32, Literal)> = opens.collect();
            opens.sort_unstable();
            GateRange { begin: begin as u32, end: end as u32, opens }
        };
        std::array::from_fn(|phase| self.parts[phase].iter().map(part).collect())
    }
}

/// No game has ended for so long that the run is aborted.
#[derive(Debug)]
struct Endless;

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
            values: vec![L::NONE; plan.nodes],
            legal: vec![L::NONE; plan.legal.len()],
            counts: vec![Numbers::new(); plan.roles.len()],
            next: vec![L::NONE; plan.facts],
            random: Random::default(),
            sums: vec![0; plan.roles.len()],
        }
    }

    /// Computes the legal moves in lanes `live`. Returns the lanes whose games are over.
    #[inline(always)]
    fn arrive(&mut self, plan: &Plan, live: L) -> L {
        plan.compute(POSITION, &mut self.values);
        let mut over = value(&self.values, plan.end);
        for (count, &(begin, end)) in self.counts.iter_mut().zip(&plan.roles) {
            *count = Numbers::new();
            for number in begin as usize..end as usize {
                let legal = value(&self.values, plan.legal[number]).and(live);
                self.legal[number] = legal;
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
        plan.compute(GOALS, &mut self.values);
        let (mut open, mut of) = (over, None);
        for &(role, worth, literal) in &plan.goals {
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
            let mut left = count.draw(&mut self.random);
            let mut open = going;
            for number in begin as usize..end as usize {
                let legal = self.legal[number].and(open);
                let drawn = if legal.any() { left.take(legal) } else { L::NONE };
                open = open.without(drawn);
                self.values[moves + number] = drawn;
            }
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
        plan.compute(NEXT, &mut self.values);
        for (next, &literal) in self.next.iter_mut().zip(&plan.next) {
            *next = value(&self.values, literal);
        }
        self.values[1..1 + plan.facts].copy_from_slice(&self.next);
        if again.any() {
            for (fact, value) in self.values[1..1 + plan.facts].iter_mut().enumerate() {
                let holds = facts[fact / 64] >> (fact % 64) & 1 == 1;
                *value = if holds { value.or(again) } else { value.without(again) };
            }
        }
    }
}

impl<L: Lanes> Work for Play<'_, L> {
    type Output = Result<(), Endless>;

    #[inline(always)]
    fn work(self) -> Result<(), Endless> {
        let Self { plan, run, state, games } = self;
        let mut live = L::ALL.first(games);
        let mut left = games - live.count();
        // Lanes in which a game starts.
        let mut first = live;
        for (fact, value) in run.values[1..1 + plan.facts].iter_mut().enumerate() {
            *value = if state.facts[fact / 64] >> (fact % 64) & 1 == 1 { L::ALL } else { L::NONE };
        }
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
                    return Ok(());
                }
            }
            let going = live.without(again);
            let chooses = run.choose(plan, going, first.and(going), &state.chosen);
            forced = forced.and(going).without(chooses);
            (seen, quiet) = (seen + 1, quiet + 1);
            if seen == FORCED / 2 {
                // Single games end after this many forced steps by other rules.
                if forced.any() {
                    return Err(Endless);
                }
                (forced, seen) = (L::ALL, 0);
            }
            if quiet > LONGEST {
                return Err(Endless);
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
        let is_wide = games > FEW && self.plan.nodes <= BYTES / size_of::<Wide>();
        let lanes = if is_wide { Wide::COUNT } else { u64::COUNT };
        if games.min(lanes as u64).saturating_mul(self.worth) < self.plan.inputs.len() as u64 {
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
                widest(Play { plan: &self.plan, run, state, games }).ok()?;
                Some(run.sums.clone())
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
                let chosen = &run.values[1 + plan.facts..][..plan.legal.len()];
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
