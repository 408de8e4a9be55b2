//! Indexed tables of tuples, and the steps of a join over them.

use super::program::{Atom, Pattern};
use super::slots::{Slots, code};
use super::terms::{Symbol, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Path to a subterm: a column of a table, then argument indices.
pub(crate) type Path = SmallVec<[u8; 6]>;
type Key = SmallVec<[Term; 8]>;

const NONE: u32 = u32::MAX;
/// Size penalty of a join step without a bound variable.
const CROSS_PRODUCT: f64 = 8.0;

/// The tuples of a relation, in order of discovery.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexedTuples {
    arity: usize,
    data: Vec<Term>,
    count: u32,
    known: Slots,
    indexes: Vec<Index>,
    /// Number of different terms at the end of a path, with the size of the table when they were counted.
    spread: FxHashMap<Path, (u32, u32)>,
}

/// Scope of an index: tuples with these functors, keyed by their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shape {
    heads: Vec<(Path, Symbol, usize)>,
    values: Vec<Path>,
}

#[derive(Clone, Debug, Default)]
struct Index {
    shape: Shape,
    /// The last tuple of each key, and the previous tuple with the same key.
    last: Slots,
    before: Vec<u32>,
}

/// The term at the end of an existing path.
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

    /// A tuple's terms at the ends of the paths.
    fn key<'a>(&'a self, terms: &'a Terms, tuple: &'a [Term]) -> impl Iterator<Item = Term> + 'a {
        self.values.iter().map(|path| at(terms, tuple, path))
    }
}

impl IndexedTuples {
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

    /// Drops the indexes and keeps the tuples.
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

    /// The index of a tuple.
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

    /// Updates an index. Returns how many tuples were new to it.
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

    /// Estimated number of different terms at the end of a path.
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

/// Memoised results by the terms that they depend on.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    keys: IndexedTuples,
    results: Vec<u32>,
}

impl Memo {
    /// Creates a memo for keys of `width` terms.
    pub(crate) fn new(width: usize) -> Self {
        Self { keys: IndexedTuples::new(width), results: Vec::new() }
    }

    #[inline]
    pub(crate) fn get(&self, key: &[Term]) -> Option<u32> {
        self.keys.find(key).map(|number| self.results[number as usize])
    }

    /// Stores the result of a new key.
    pub(crate) fn keep(&mut self, key: &[Term], result: u32) {
        if self.keys.add(key) {
            self.results.push(result);
        }
    }

    /// Approximate memory of one more result, in bytes.
    pub(crate) fn entry(&self) -> usize {
        self.keys.arity * 4 + 20
    }
}

/// Source of a value of an index key.
#[derive(Clone, Debug)]
enum Source {
    Term(Term),
    Variable(usize),
    Built(Pattern),
}

/// A positive condition as a join step: the tuples that match the bound variables, and the variables that they bind.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) table: usize,
    /// None if all arguments are bound.
    index: Option<usize>,
    shape: Shape,
    key: Vec<Source>,
    pub(crate) binds: Vec<(Path, usize)>,
    /// Other occurrences of variables that this step binds.
    again: Vec<(Path, usize)>,
    /// Estimated number of matching tuples.
    pub(crate) matches: f64,
}

/// Position in the tuples of a step.
pub(crate) enum Cursor {
    /// At most this tuple.
    One(Option<u32>),
    /// This tuple, and those after it in the index.
    Chain(u32),
    /// A range of tuples.
    All(u32, u32),
}

/// The term of a pattern whose variables are bound.
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
    /// Creates a step for an atom, with an index for its bound arguments.
    pub(crate) fn new(
        atom: &Atom,
        number: usize,
        table: &mut IndexedTuples,
        terms: &Terms,
        bound: &[bool],
    ) -> Self {
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
            // A condition that shares no variable with the bound ones multiplies the cases.
            let is_cross_product = !step.key.iter().any(|source| !matches!(source, Source::Term(_)));
            if is_cross_product && bound.contains(&true) {
                matches *= CROSS_PRODUCT;
            }
            step.index = Some(table.index(step.shape.clone()));
        }
        step.matches = matches;
        step
    }

    /// Number of terms that are compared, bound or built per tuple.
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

    /// Updates the index of this step. Returns how many tuples were new to it.
    pub(crate) fn refresh(&self, tables: &mut [IndexedTuples], terms: &Terms) -> usize {
        self.index.map_or(0, |index| tables[self.table].refresh(index, terms))
    }

    /// A cursor for the current bindings.
    pub(crate) fn begin(&self, table: &IndexedTuples, terms: &mut Terms, binding: &[Term]) -> Cursor {
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

    /// The next matching tuple, or none.
    pub(crate) fn advance(&self, table: &IndexedTuples, cursor: &mut Cursor) -> Option<u32> {
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

    /// Binds the variables of a tuple. Returns whether repeated variables agree.
    pub(crate) fn bind(
        &self,
        table: &IndexedTuples,
        terms: &Terms,
        number: u32,
        binding: &mut [Term],
    ) -> bool {
        let tuple = table.tuple(number);
        for (path, v) in &self.binds {
            binding[*v] = at(terms, tuple, path);
        }
        self.again.iter().all(|(path, v)| at(terms, tuple, path) == binding[*v])
    }

    /// Whether a tuple that was not found by the index matches the step.
    pub(crate) fn fits(
        &self,
        table: &IndexedTuples,
        terms: &mut Terms,
        number: u32,
        binding: &[Term],
    ) -> bool {
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
