//! Tables of tuples with indexes, and the steps of a join over them.

use super::program::{Atom, Pattern};
use super::terms::{Symbol, Term, Terms};
use crate::slots::{Slots, code};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// A column of a table, then an argument of what stands there, and so on.
pub(crate) type Path = SmallVec<[u8; 6]>;
type Key = SmallVec<[Term; 8]>;

const NONE: u32 = u32::MAX;
/// By how much a step without a bound variable counts as larger than it is.
const APART: f64 = 8.0;

/// The tuples of a relation, in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    arity: usize,
    data: Vec<Term>,
    count: u32,
    known: Slots,
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
    /// The last tuple of each key, and the tuple before each.
    last: Slots,
    before: Vec<u32>,
}

/// The term at the end of a path that exists.
#[inline]
fn at(terms: &Terms, tuple: &[Term], path: &Path) -> Term {
    if let &[column] = &path[..] {
        return tuple[usize::from(column)];
    }
    path[1..].iter().fold(tuple[usize::from(path[0])], |term, &arg| terms.args(term)[usize::from(arg)])
}

impl Shape {
    fn fits(&self, terms: &Terms, tuple: &[Term]) -> bool {
        self.heads.iter().all(|(path, head, count)| {
            let term = at(terms, tuple, path);
            terms.head(term) == *head && terms.args(term).len() == *count
        })
    }

    /// What a tuple has at the ends of the paths.
    fn key<'a>(&'a self, terms: &'a Terms, tuple: &'a [Term]) -> impl Iterator<Item = Term> + 'a {
        self.values.iter().map(|path| at(terms, tuple, path))
    }
}

impl Table {
    pub(crate) fn new(arity: usize) -> Self {
        Self { arity, ..Self::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    /// Memory of the tuples, in bytes.
    #[inline]
    pub(crate) fn own_bytes(&self) -> usize {
        self.data.capacity() * 4 + self.known.bytes()
    }

    /// Memory of the tuples and of their indexes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let indexes = self.indexes.iter().map(|index| index.last.bytes() + index.before.capacity() * 4);
        self.own_bytes() + indexes.sum::<usize>()
    }

    /// Leaves the tuples alone.
    pub(crate) fn forget_indexes(&mut self) {
        self.indexes = Vec::new();
    }

    #[inline]
    pub(crate) fn tuple(&self, number: u32) -> &[Term] {
        &self.data[number as usize * self.arity..][..self.arity]
    }

    #[inline]
    fn is(&self, number: u32, tuple: &[Term]) -> bool {
        self.tuple(number).iter().zip(tuple).all(|(a, b)| a == b)
    }

    /// The number of a tuple.
    #[inline]
    pub(crate) fn find(&self, tuple: &[Term]) -> Option<u32> {
        self.known.find(code(tuple.iter().copied()), |number| self.is(number, tuple))
    }

    /// Adds a tuple. Returns whether it is new.
    #[inline]
    pub(crate) fn add(&mut self, tuple: &[Term]) -> bool {
        let (data, arity) = (&self.data, self.arity);
        let is =
            |number: u32| data[number as usize * arity..][..arity].iter().zip(tuple).all(|(a, b)| a == b);
        if self.known.put(code(tuple.iter().copied()), self.count, false, is).is_some() {
            return false;
        }
        self.data.extend_from_slice(tuple);
        self.count += 1;
        true
    }

    /// Brings an index up to date. Returns how many tuples were new to it.
    pub(crate) fn refresh(&mut self, index: usize, terms: &Terms) -> usize {
        if self.indexes[index].before.len() == self.len() {
            return 0;
        }
        let mut current = std::mem::take(&mut self.indexes[index]);
        let first = current.before.len() as u32;
        let Index { shape, last, before } = &mut current;
        for number in first..self.count {
            let tuple = self.tuple(number);
            if !shape.fits(terms, tuple) {
                before.push(NONE);
                continue;
            }
            let is_same = |other: u32| shape.key(terms, self.tuple(other)).eq(shape.key(terms, tuple));
            let other = last.put(code(shape.key(terms, tuple)), number, true, is_same);
            before.push(other.unwrap_or(NONE));
        }
        self.indexes[index] = current;
        (self.count - first) as usize
    }

    fn index(&mut self, shape: Shape) -> usize {
        let known = self.indexes.iter().position(|index| index.shape == shape);
        known.unwrap_or_else(|| {
            self.indexes.push(Index { shape, last: Slots::default(), before: Vec::new() });
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

/// Results by the terms that they depend on.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    keys: Table,
    results: Vec<u32>,
}

impl Memo {
    /// For keys of so many terms.
    pub(crate) fn new(width: usize) -> Self {
        Self { keys: Table::new(width), results: Vec::new() }
    }

    #[inline]
    pub(crate) fn get(&self, key: &[Term]) -> Option<u32> {
        self.keys.find(key).map(|number| self.results[number as usize])
    }

    /// Keeps the result of a key that has none.
    pub(crate) fn keep(&mut self, key: &[Term], result: u32) {
        if self.keys.add(key) {
            self.results.push(result);
        }
    }

    /// About the memory of one more result, in bytes.
    pub(crate) fn entry(&self) -> usize {
        self.keys.arity * 4 + 20
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
    /// All from this one on, up to another.
    All(u32, u32),
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

    /// Number of terms that are compared, bound or built for a tuple.
    pub(crate) fn size(&self) -> usize {
        let built = self.key.iter().map(|source| match source {
            Source::Built(pattern) => pattern.size(),
            _ => 1,
        });
        built.sum::<usize>() + self.binds.len() + self.again.len() + self.shape.heads.len()
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

    /// Brings the index of this step up to date. Returns how many tuples were new to it.
    pub(crate) fn refresh(&self, tables: &mut [Table], terms: &Terms) -> usize {
        self.index.map_or(0, |index| tables[self.table].refresh(index, terms))
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
            return Cursor::All(0, table.count);
        }
        let key: Key = self.key.iter().map(&mut value).collect();
        let Index { shape, last, .. } = &table.indexes[index];
        let terms = &*terms;
        let is_same = |number: u32| shape.key(terms, table.tuple(number)).eq(key.iter().copied());
        Cursor::Chain(last.find(code(key.iter().copied()), is_same).unwrap_or(NONE))
    }

    /// The next tuple that fits, or None.
    pub(crate) fn advance(&self, table: &Table, cursor: &mut Cursor) -> Option<u32> {
        match cursor {
            Cursor::One(found) => found.take(),
            Cursor::All(next, end) => (*next < *end).then(|| {
                *next += 1;
                *next - 1
            }),
            Cursor::Chain(next) => {
                let (number, index) = (*next, self.index?);
                (number != NONE).then(|| {
                    *next = table.indexes[index].before[number as usize];
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
