//! A compiled description: facts, moves, and the circuit that computes the rules.

use super::effects::{Facts, Folder};
use super::gates::{GATE, Gates, Grounder};
use super::program::{DOES, GOAL, INIT, LEGAL, NEXT, Program, TERMINAL, TRUE};
use super::reach::{Reached, check_stop, idle, reach, table_of, too_little};
use super::sums::{Group, possible_sums};
use super::tables::IndexedTuples;
use super::terms::{Symbol, Term, Terms};
use crate::circuit::{FALSE, Literal, TRUE as ALWAYS};
use crate::error::{Place, RuleError};
use crate::net::{Arranged, Contradiction, Net, arrange};
use adept_ground::limits::Claim;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Limit on facts and on moves.
const MOST: usize = 1 << 18;

/// Largest number of circuits per game.
const CIRCUITS: usize = 3;

/// Limit on characters of all facts and moves.
const LETTERS: usize = 1 << 25;

/// Compiled rules.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) terms: Terms,
    pub(crate) roles: Vec<Term>,
    /// Possible facts, sorted.
    pub(crate) facts: Vec<Term>,
    /// Role and term of each move, sorted by role.
    pub(crate) moves: Vec<(u8, Term)>,
    /// First move of each role, and the end of the last one's.
    pub(crate) ranges: Vec<(u32, u32)>,
    pub(crate) start: Facts,
    /// Facts that hold in every position.
    pub(crate) fixed: Facts,
    /// Role and value of each goal.
    pub(crate) goals: Vec<(u8, u8)>,
    /// Possible sums of the goals of two roles, if each has one. None if there are not two roles, or if computing it
    /// takes too long.
    pub(crate) sums: Option<BTreeSet<u16>>,
    pub(crate) net: Net,
    /// A smaller circuit without the next facts, combined with precomputed effects of moves, if not too large.
    pub(crate) lean: Option<Lean>,
    /// First output word of the legal moves of each role. The words before hold the next facts.
    pub(crate) legal: Vec<u32>,
    /// The output word whose lowest bit is the end of the game; the other bits and the words after it are the goals.
    pub(crate) end: u32,
    pub(crate) notes: Vec<String>,
    pub(crate) unused: Vec<String>,
    /// Places of rules that can never apply.
    pub(crate) never: Vec<Place>,
    /// Memory reservation of the circuits.
    _claim: Claim,
}

/// A circuit for legal moves and endings only; the effects of moves are stored separately.
#[derive(Debug)]
pub(crate) struct Lean {
    pub(crate) net: Net,
    pub(crate) folder: Folder,
}

impl Lean {
    fn new(arranged: Arranged, places: &[u32], bits: usize, facts: usize, moves: usize) -> Option<Self> {
        let (next, legal) =
            (arranged.outputs[..facts].to_vec(), arranged.outputs[facts..facts + moves].to_vec());
        let kept = places.iter().enumerate().filter(|&(at, &bit)| at >= facts && (bit as usize) < bits);
        let (kept, literals): (Vec<u32>, Vec<Literal>) =
            kept.map(|(at, &bit)| (bit, arranged.outputs[at])).unzip();
        let folder = Folder::new(arranged.builder, facts, next, legal)?;
        let net = Net::new(&arrange(folder.builder(), &literals).ok()?, &kept, bits);
        Some(Self { net, folder })
    }
}

const START: Place = Place { line: 1, column: 1 };

/// The inputs of the circuit, in order.
pub(crate) struct Inputs {
    /// Tuples of `true`, sorted.
    pub(crate) facts: Vec<u32>,
    /// Tuples of `does`, sorted by role.
    pub(crate) moves: Vec<u32>,
}

impl Inputs {
    pub(crate) fn new(program: &Program, tables: &[IndexedTuples]) -> Self {
        let terms = &program.terms;
        let mut facts: Vec<u32> = (0..tables[TRUE].len() as u32).collect();
        facts.sort_by(|&a, &b| terms.compare(tables[TRUE].tuple(a)[0], tables[TRUE].tuple(b)[0]));
        let role = |tuple: u32| program.roles.iter().position(|&role| role == tables[DOES].tuple(tuple)[0]);
        let mut moves: Vec<u32> =
            (0..tables[DOES].len() as u32).filter(|&tuple| role(tuple).is_some()).collect();
        moves.sort_by(|&a, &b| {
            let what = |tuple: u32| tables[DOES].tuple(tuple)[1];
            role(a).cmp(&role(b)).then_with(|| terms.compare(what(a), what(b)))
        });
        Self { facts, moves }
    }
}

impl Compiled {
    /// Compiles a description, unless `stop` is set meanwhile.
    pub(crate) fn read(text: &str, stop: &Arc<AtomicBool>) -> Result<Self, RuleError> {
        let mut program = Program::read(text)?;
        let mut reached = reach(&mut program, stop)?;
        let never = idle(&mut program, &mut reached)?;
        let Reached { mut tables, budget, .. } = reached;
        check_sizes(&program.terms, &tables)?;
        let Inputs { facts, moves } = Inputs::new(&program, &tables);
        let role = |tuple: u32| program.roles.iter().position(|&role| role == tables[DOES].tuple(tuple)[0]);
        let fact_terms: Vec<Term> = facts.iter().map(|&tuple| tables[TRUE].tuple(tuple)[0]).collect();
        let roles: Vec<u8> = moves.iter().filter_map(|&tuple| role(tuple)).map(|role| role as u8).collect();
        let move_terms: Vec<(u8, Term)> = roles
            .into_iter()
            .zip(&moves)
            .map(|(role, &tuple)| (role, tables[DOES].tuple(tuple)[1]))
            .collect();
        let range = |role: usize| {
            let begin = move_terms.partition_point(|(of, _)| usize::from(*of) < role) as u32;
            (begin, move_terms.partition_point(|(of, _)| usize::from(*of) <= role) as u32)
        };
        let ranges: Vec<(u32, u32)> = (0..program.roles.len()).map(range).collect();
        let (ends, goals) = (tables[TERMINAL].len() as u32, tables[GOAL].len() as u32);
        for (&role, (begin, end)) in program.roles.iter().zip(&ranges) {
            if begin == end {
                let what = format!("no move of {} can ever be legal", program.terms.shown(role));
                return Err(RuleError::new(START, what));
            }
        }
        let mut grounder = Grounder::new(&mut program, &mut tables, &facts, &moves, budget);
        let mut all = |relation: usize, tuples: &[u32]| -> Result<Vec<Literal>, RuleError> {
            tuples.iter().map(|&tuple| grounder.literal(relation, tuple)).collect()
        };
        let (init, next) = (all(INIT, &facts)?, all(NEXT, &facts)?);
        let legal_gates = all(LEGAL, &moves)?;
        let ends: Vec<u32> = (0..ends).collect();
        let ends = all(TERMINAL, &ends)?.first().copied().unwrap_or(FALSE);
        let goal_tuples: Vec<u32> = (0..goals).collect();
        let goal_gates = all(GOAL, &goal_tuples)?;
        let gates = grounder.finish()?;
        check_stop(stop, START)?;
        // Only goals and possible contradictions are named below.
        let mut is_named = vec![false; tables.len()];
        is_named[GOAL] = true;
        gates.opened.values().for_each(|&(relation, _)| is_named[table_of(relation)] = true);
        for (is_named, table) in is_named.into_iter().zip(&mut tables) {
            match is_named {
                true => table.forget_indexes(),
                false => *table = IndexedTuples::default(),
            }
        }
        // The outputs: next facts, legal moves, the end and the goals, each starting at a word boundary.
        let mut outputs: Vec<(u32, Literal)> = Vec::new();
        outputs.extend((0..).zip(next));
        let mut word = facts.len().div_ceil(64).max(1) as u32;
        let mut legal = Vec::new();
        for &(begin, end) in &ranges {
            legal.push(word);
            for number in begin..end {
                outputs.push((word * 64 + number - begin, legal_gates[number as usize]));
            }
            word += (end - begin).div_ceil(64);
        }
        let end = word;
        outputs.push((end * 64, ends));
        let goals = goals_of(&mut program, &tables[GOAL], &goal_gates);
        for (bit, (_, _, literal)) in (end * 64 + 1..).zip(&goals) {
            outputs.push((bit, *literal));
        }
        // Facts of the start position that never change need no output.
        let words = end as usize + (1 + goals.len()).div_ceil(64);
        outputs.extend((words as u32 * 64..).zip(init));
        let bits = words * 64 + facts.len();
        let (places, literals): (Vec<u32>, Vec<Literal>) = outputs.into_iter().unzip();
        let arranged = arrange(&gates.builder, &literals)
            .map_err(|Contradiction(open)| contradiction(&program, &tables, &gates, open))?;
        check_stop(stop, START)?;
        let claim = Claim::new((CIRCUITS * GATE * gates.builder.size()) as u64);
        let claim = claim.map_err(|short| too_little(short, START))?;
        let ends_and_goals = facts.len() + move_terms.len();
        let sums = match program.roles.len() {
            2 => {
                let gates = &arranged.outputs[ends_and_goals..];
                let goals: Vec<_> =
                    goals.iter().zip(&gates[1..]).map(|(goal, &gate)| (goal.0, goal.1, gate)).collect();
                let groups = groups_of(&program.terms, &fact_terms, &arranged);
                possible_sums(&arranged.builder, gates[0], &goals, &groups)
            }
            _ => None,
        };
        let mut net = Net::new(&arranged, &places, bits);
        let shown = net.first_outputs(words);
        let mut start = Facts::from_elem(0, facts.len().div_ceil(64).max(1));
        start.iter_mut().zip(shown).for_each(|(word, shown)| *word = shown);
        let fixed = fixed_of(&program, &fact_terms, &start);
        let lean = Lean::new(arranged, &places, words * 64, facts.len(), move_terms.len());
        Ok(Self {
            roles: program.roles,
            terms: program.terms,
            facts: fact_terms,
            moves: move_terms,
            ranges,
            start,
            fixed,
            goals: goals.into_iter().map(|(role, value, _)| (role, value)).collect(),
            sums,
            _claim: claim,
            net,
            lean,
            legal,
            end,
            notes: program.notes,
            unused: program.unused,
            never,
        })
    }
}

/// The goals of each role, highest first, with the gates of their conditions. `gates` are those of the table's tuples.
fn goals_of(program: &mut Program, table: &IndexedTuples, gates: &[Literal]) -> Vec<(u8, u8, Literal)> {
    let mut goals = Vec::new();
    for (tuple, &literal) in (0..).zip(gates) {
        let &[role, value] = table.tuple(tuple) else { continue };
        let Some(role) = program.roles.iter().position(|&known| known == role) else { continue };
        let Some(value) = program.terms.number(value).filter(|value| (0..=100).contains(value)) else {
            // Possibly this never occurs.
            let role = program.terms.shown(program.roles[role]);
            program.notes.push(format!(
                "`{}` cannot be a goal of {role}, and counts as none: goals are whole numbers from 0 to 100",
                program.terms.shown(value)
            ));
            continue;
        };
        goals.push((role as u8, value as u8, literal));
    }
    goals.sort_by_key(|&(role, value, _)| (role, std::cmp::Reverse(value)));
    goals
}

/// Those facts of the start that never change.
fn fixed_of(program: &Program, facts: &[Term], start: &Facts) -> Facts {
    let mut fixed = start.clone();
    for (fact, &term) in facts.iter().enumerate() {
        let kind = (program.terms.head(term), program.terms.args(term).len());
        if !program.fixed.contains(&kind) {
            fixed[fact / 64] &= !(1 << (fact % 64));
        }
    }
    fixed
}

/// Most facts in a group.
const GROUP: usize = 64;

/// Facts with the same name and one argument, such as `(control ?role)`, exactly one of which holds at the start.
fn groups_of(terms: &Terms, facts: &[Term], arranged: &Arranged) -> Vec<Group> {
    let mut groups: Vec<(Symbol, Vec<usize>)> = Vec::new();
    for (fact, &term) in facts.iter().enumerate().filter(|(_, term)| terms.args(**term).len() == 1) {
        // Facts are sorted by name.
        match groups.last_mut().filter(|(name, _)| *name == terms.head(term)) {
            Some((_, group)) => group.push(fact),
            None => groups.push((terms.head(term), vec![fact])),
        }
    }
    // The last outputs are the facts at the start.
    let start = arranged.outputs.len() - facts.len();
    let begins = |fact: &&usize| arranged.outputs[start + **fact] == ALWAYS;
    let is_one = |group: &Vec<usize>| group.len() <= GROUP && group.iter().filter(begins).count() == 1;
    let literals = |fact: usize| (arranged.builder.fact(fact), arranged.outputs[fact]);
    let groups = groups.into_iter().map(|(_, group)| group).filter(is_one);
    groups.map(|group| group.into_iter().map(literals).collect()).collect()
}

/// Checks the number and length of facts and moves before sorting them.
fn check_sizes(terms: &Terms, tables: &[IndexedTuples]) -> Result<(), RuleError> {
    let (facts, moves) = (&tables[TRUE], &tables[DOES]);
    if facts.len() > MOST || moves.len() > MOST {
        let what = format!("{} facts and {} moves; a game may have {MOST} of each", facts.len(), moves.len());
        return Err(RuleError::new(START, what));
    }
    let letters = |table: &IndexedTuples, column: usize| -> usize {
        (0..table.len() as u32).map(|tuple| terms.letters(table.tuple(tuple)[column])).sum()
    };
    let letters = letters(facts, 0) + letters(moves, 1);
    if letters > LETTERS {
        let what = format!("facts and moves have {letters} letters in all; they may have {LETTERS}");
        return Err(RuleError::new(START, what));
    }
    Ok(())
}

fn contradiction(program: &Program, tables: &[IndexedTuples], gates: &Gates, open: Literal) -> RuleError {
    let found = gates.opened.get(&open).map(|&(relation, tuple)| {
        let args = tables[table_of(relation)].tuple(tuple);
        let args: Vec<String> = args.iter().map(|&term| program.terms.written(term)).collect();
        let name = &program.relations[relation].name;
        let rule = program.relations[relation].rules.first().map(|&rule| program.rules[rule].place);
        let shown = if args.is_empty() { name.clone() } else { format!("({name} {})", args.join(" ")) };
        (rule.unwrap_or(START), shown)
    });
    let (place, shown) = found.unwrap_or((START, "a relation".into()));
    RuleError::new(place, format!("`{shown}` follows from its own negation"))
}
