//! Tables of tuples with indexes, and the steps of a join over them.

use super::program::{Atom, Pattern};
use super::terms::{Symbol, Term, Terms};
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::hash::BuildHasher;

/// A column of a table, then an argument of what stands there, and so on.
pub(crate) type Path = SmallVec<[u8; 6]>;
type Key = SmallVec<[Term; 4]>;

const NONE: u32 = u32::MAX;
/// By how much a step without a bound variable counts as larger than it is.
const APART: f64 = 8.0;

/// The tuples of a relation, in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    arity: usize,
    data: Vec<Term>,
    count: u32,
    known: HashTable<u32>,
    indexes: Vec<Index>,
    /// Different terms at the end of a path, and the size of the table when they were counted.
    spread: FxHashMap<Path, (u32, u32)>,
}

/// What an index looks at: tuples with these functors, by their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shape {
    heads: Vec<(Path, Symbol, usize)>,
    values: Vec<Path>,
}

#[derive(Clone, Debug, Default)]
struct Index {
    shape: Shape,
    /// First and last tuple of a key, and the tuple after each.
    ends: FxHashMap<Key, (u32, u32)>,
    next: Vec<u32>,
}

/// The term at the end of a path that exists.
fn at(terms: &Terms, tuple: &[Term], path: &Path) -> Term {
    path[1..].iter().fold(tuple[usize::from(path[0])], |term, &arg| terms.args(term)[usize::from(arg)])
}

impl Shape {
    fn fits(&self, terms: &Terms, tuple: &[Term]) -> bool {
        self.heads.iter().all(|(path, head, count)| {
            let term = at(terms, tuple, path);
            terms.head(term) == *head && terms.args(term).len() == *count
        })
    }

    fn key(&self, terms: &Terms, tuple: &[Term]) -> Key {
        self.values.iter().map(|path| at(terms, tuple, path)).collect()
    }
}

impl Table {
    pub(crate) fn new(arity: usize) -> Self {
        Self { arity, ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    /// Memory of the tuples.
    pub(crate) fn bytes(&self) -> usize {
        self.len() * (self.arity * 4 + 16)
    }

    pub(crate) fn tuple(&self, number: u32) -> &[Term] {
        &self.data[number as usize * self.arity..][..self.arity]
    }

    /// The number of a tuple.
    pub(crate) fn find(&self, tuple: &[Term]) -> Option<u32> {
        self.known.find(FxBuildHasher.hash_one(tuple), |&number| self.tuple(number) == tuple).copied()
    }

    /// Adds a tuple. Returns whether it is new.
    pub(crate) fn add(&mut self, tuple: &[Term]) -> bool {
        let code = FxBuildHasher.hash_one(tuple);
        if self.known.find(code, |&number| self.tuple(number) == tuple).is_some() {
            return false;
        }
        self.data.extend_from_slice(tuple);
        let (data, arity) = (&self.data, self.arity);
        self.known.insert_unique(code, self.count, |&number| {
            FxBuildHasher.hash_one(&data[number as usize * arity..][..arity])
        });
        self.count += 1;
        true
    }

    /// Brings an index up to date.
    pub(crate) fn refresh(&mut self, index: usize, terms: &Terms) {
        let mut current = std::mem::take(&mut self.indexes[index]);
        for number in current.next.len() as u32..self.count {
            current.next.push(NONE);
            let tuple = self.tuple(number);
            if !current.shape.fits(terms, tuple) {
                continue;
            }
            let Index { shape, ends, next } = &mut current;
            let ends = ends.entry(shape.key(terms, tuple)).or_insert((number, number));
            if ends.1 != number {
                next[ends.1 as usize] = number;
                ends.1 = number;
            }
        }
        self.indexes[index] = current;
    }

    fn index(&mut self, shape: Shape) -> usize {
        let known = self.indexes.iter().position(|index| index.shape == shape);
        known.unwrap_or_else(|| {
            self.indexes.push(Index { shape, ends: FxHashMap::default(), next: Vec::new() });
            self.indexes.len() - 1
        })
    }

    /// Number of different terms at the end of a path, as of a while ago.
    fn spread(&mut self, terms: &Terms, path: &Path) -> u32 {
        if let Some(&(different, count)) = self.spread.get(path)
            && (count == self.count || self.count < count.saturating_mul(2) && count > 64)
        {
            return different;
        }
        let step = (self.len() / 4096).max(1);
        let mut seen = FxHashSet::default();
        'tuples: for number in (0..self.count).step_by(step) {
            let mut term = self.tuple(number)[usize::from(path[0])];
            for &arg in &path[1..] {
                match terms.args(term).get(usize::from(arg)) {
                    Some(&inner) => term = inner,
                    None => continue 'tuples,
                }
            }
            seen.insert(term);
        }
        let different = seen.len().max(1) as u32;
        self.spread.insert(path.clone(), (different, self.count));
        different
    }
}

/// Where the value of an index comes from.
#[derive(Clone, Debug)]
enum Source {
    Term(Term),
    Variable(usize),
    Built(Pattern),
}

/// A condition without `not`, as a step of a join: the tuples that fit what is bound, and what they bind.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) table: usize,
    /// None if all arguments are bound.
    index: Option<usize>,
    shape: Shape,
    key: Vec<Source>,
    pub(crate) binds: Vec<(Path, usize)>,
    /// A variable that this step has bound stands there again.
    again: Vec<(Path, usize)>,
    /// About how many tuples fit.
    pub(crate) matches: f64,
}

/// Where the search for tuples of a step begins.
pub(crate) enum Cursor {
    /// At most this one.
    One(Option<u32>),
    /// This one, and those behind it in the index.
    Chain(u32),
    /// All from this one on.
    All(u32),
}

/// The term that a pattern is, once its variables are bound.
pub(crate) fn known_term(terms: &mut Terms, pattern: &Pattern, binding: &[Term]) -> Term {
    match pattern {
        Pattern::Variable(v) => binding[*v],
        Pattern::Ground(term) => *term,
        Pattern::Compound(head, args) => {
            let args: SmallVec<[Term; 8]> = args.iter().map(|arg| known_term(terms, arg, binding)).collect();
            terms.term(*head, &args)
        }
    }
}

impl Step {
    /// A step for an atom, with an index for what is bound.
    pub(crate) fn new(atom: &Atom, number: usize, table: &mut Table, terms: &Terms, bound: &[bool]) -> Self {
        let mut step = Self {
            table: number,
            index: None,
            shape: Shape::default(),
            key: Vec::new(),
            binds: Vec::new(),
            again: Vec::new(),
            matches: 1.0,
        };
        for (column, arg) in atom.args.iter().enumerate() {
            step.arrange(SmallVec::from_slice(&[column as u8]), arg, bound);
        }
        let mut matches = f64::from(table.count);
        if step.binds.is_empty() && step.shape.heads.is_empty() && step.again.is_empty() {
            matches = matches.min(1.0);
        } else {
            for path in &step.shape.values {
                matches /= f64::from(table.spread(terms, path));
            }
            // What shares no variable with what is bound multiplies the cases.
            let is_apart = !step.key.iter().any(|source| !matches!(source, Source::Term(_)));
            if is_apart && bound.contains(&true) {
                matches *= APART;
            }
            step.index = Some(table.index(step.shape.clone()));
        }
        step.matches = matches;
        step
    }

    fn arrange(&mut self, path: Path, pattern: &Pattern, bound: &[bool]) {
        let source = match pattern {
            Pattern::Ground(term) => Source::Term(*term),
            Pattern::Variable(v) if bound[*v] => Source::Variable(*v),
            Pattern::Variable(v) => {
                let known = self.binds.iter().any(|(_, other)| other == v);
                let list = if known { &mut self.again } else { &mut self.binds };
                list.push((path, *v));
                return;
            }
            Pattern::Compound(..) if pattern.is_bound(bound) => Source::Built(pattern.clone()),
            Pattern::Compound(head, args) => {
                self.shape.heads.push((path.clone(), *head, args.len()));
                for (i, arg) in args.iter().enumerate() {
                    let mut inner = path.clone();
                    inner.push(i as u8);
                    self.arrange(inner, arg, bound);
                }
                return;
            }
        };
        self.shape.values.push(path);
        self.key.push(source);
    }

    /// Brings the index of this step up to date.
    pub(crate) fn refresh(&self, tables: &mut [Table], terms: &Terms) {
        if let Some(index) = self.index {
            tables[self.table].refresh(index, terms);
        }
    }

    /// Where to begin, with what is bound.
    pub(crate) fn begin(&self, table: &Table, terms: &mut Terms, binding: &[Term]) -> Cursor {
        let mut value = |source: &Source| match source {
            Source::Term(term) => *term,
            Source::Variable(v) => binding[*v],
            Source::Built(pattern) => known_term(terms, pattern, binding),
        };
        let Some(index) = self.index else {
            let tuple: Key = self.key.iter().map(value).collect();
            return Cursor::One(table.find(&tuple));
        };
        if self.key.is_empty() && self.shape.heads.is_empty() {
            return Cursor::All(0);
        }
        let key: Key = self.key.iter().map(&mut value).collect();
        Cursor::Chain(table.indexes[index].ends.get(&key).map_or(NONE, |(first, _)| *first))
    }

    /// The next tuple that fits, or None.
    pub(crate) fn advance(&self, table: &Table, cursor: &mut Cursor) -> Option<u32> {
        match cursor {
            Cursor::One(found) => found.take(),
            Cursor::All(next) => (*next < table.count).then(|| {
                *next += 1;
                *next - 1
            }),
            Cursor::Chain(next) => {
                let (number, index) = (*next, self.index?);
                (number != NONE).then(|| {
                    *next = table.indexes[index].next[number as usize];
                    number
                })
            }
        }
    }

    /// Binds the variables that a tuple gives. Returns whether it fits where they stand more than once.
    pub(crate) fn bind(&self, table: &Table, terms: &Terms, number: u32, binding: &mut [Term]) -> bool {
        let tuple = table.tuple(number);
        for (path, v) in &self.binds {
            binding[*v] = at(terms, tuple, path);
        }
        self.again.iter().all(|(path, v)| at(terms, tuple, path) == binding[*v])
    }

    /// Whether a tuple that was not found by the index fits the step.
    pub(crate) fn fits(&self, table: &Table, terms: &mut Terms, number: u32, binding: &[Term]) -> bool {
        let tuple = table.tuple(number);
        self.shape.fits(terms, tuple)
            && self.shape.values.iter().zip(&self.key).all(|(path, source)| {
                let wanted = match source {
                    Source::Term(term) => *term,
                    Source::Variable(v) => binding[*v],
                    Source::Built(pattern) => known_term(terms, pattern, binding),
                };
                at(terms, tuple, path) == wanted
            })
    }
}
