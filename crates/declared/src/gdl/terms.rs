//! Interned constants and compound terms.

use super::slots::{Slots, code};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Index of a name.
pub(crate) type Symbol = u32;
/// Index of a ground term.
pub(crate) type Term = u32;

/// Greatest depth and length in characters of a term.
const DEEPEST: u32 = 100;
const LONGEST: u32 = 10_000;

/// All names and terms of a description.
#[derive(Clone, Debug, Default)]
pub(crate) struct Terms {
    names: Vec<Arc<str>>,
    by_name: FxHashMap<Arc<str>, Symbol>,
    /// Head of each term, and the end of its arguments.
    heads: Vec<(Symbol, u32)>,
    /// Depth and length in characters of each term.
    sizes: Vec<(u32, u32)>,
    is_too_large: bool,
    args: Vec<Term>,
    known: Slots,
}

impl Terms {
    /// The number of a name.
    pub(crate) fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(&symbol) = self.by_name.get(name) {
            return symbol;
        }
        let (name, symbol): (Arc<str>, _) = (name.into(), self.names.len() as Symbol);
        self.names.push(name.clone());
        self.by_name.insert(name, symbol);
        symbol
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &str {
        &self.names[symbol as usize]
    }

    /// The term with this head and arguments; a constant without arguments.
    pub(crate) fn term(&mut self, head: Symbol, args: &[Term]) -> Term {
        let term = self.heads.len() as Term;
        let (heads, all) = (&self.heads, &self.args);
        let is = |term: Term| heads[term as usize].0 == head && Self::range(heads, all, term) == args;
        let code = code([head].into_iter().chain(args.iter().copied()));
        if let Some(term) = self.known.put(code, term, false, is) {
            return term;
        }
        let inner = args.iter().map(|&arg| self.sizes[arg as usize]);
        let (depth, letters) = inner.fold((0, 0_u32), |(depth, letters), (inner, more)| {
            (depth.max(inner), letters.saturating_add(more).saturating_add(1))
        });
        let letters = letters.saturating_add(self.name(head).len() as u32);
        self.sizes.push((depth + 1, letters));
        self.is_too_large |= depth >= DEEPEST || letters > LONGEST;
        self.args.extend_from_slice(args);
        self.heads.push((head, self.args.len() as u32));
        term
    }

    fn range<'a>(heads: &[(Symbol, u32)], args: &'a [Term], term: Term) -> &'a [Term] {
        let begin = if term == 0 { 0 } else { heads[term as usize - 1].1 };
        &args[begin as usize..heads[term as usize].1 as usize]
    }

    /// The first word of a term.
    pub(crate) fn head(&self, term: Term) -> Symbol {
        self.heads[term as usize].0
    }

    pub(crate) fn args(&self, term: Term) -> &[Term] {
        Self::range(&self.heads, &self.args, term)
    }

    /// Whether some term is too deep or too long to be printed.
    pub(crate) fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// Length of a term in characters.
    pub(crate) fn letters(&self, term: Term) -> usize {
        self.sizes[term as usize].1 as usize
    }

    /// Memory of the terms, in bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        (self.heads.capacity() + self.sizes.capacity()) * 8 + self.args.capacity() * 4 + self.known.bytes()
    }

    /// The integer that a constant denotes, if any.
    pub(crate) fn number(&self, term: Term) -> Option<i64> {
        if !self.args(term).is_empty() {
            return None;
        }
        self.name(self.head(term)).parse().ok()
    }

    /// A term in the notation of positions and moves: `mark(1,2)`.
    pub(crate) fn shown(&self, term: Term) -> String {
        let mut text = String::new();
        self.show(term, &mut text);
        text
    }

    fn show(&self, term: Term, text: &mut String) {
        text.push_str(self.name(self.head(term)));
        for (i, &arg) in self.args(term).iter().enumerate() {
            text.push(if i == 0 { '(' } else { ',' });
            self.show(arg, text);
        }
        if !self.args(term).is_empty() {
            text.push(')');
        }
    }

    /// A term in GDL: `(mark 1 2)`.
    pub(crate) fn written(&self, term: Term) -> String {
        let name = self.name(self.head(term));
        match self.args(term) {
            [] => name.into(),
            args => {
                let args: Vec<String> = args.iter().map(|&arg| self.written(arg)).collect();
                format!("({name} {})", args.join(" "))
            }
        }
    }

    /// Sort order of terms in lists: by name, then by arguments; numbers by value and before names.
    pub(crate) fn compare(&self, a: Term, b: Term) -> std::cmp::Ordering {
        if a == b {
            return std::cmp::Ordering::Equal;
        }
        let key = |term: Term| (self.number(term).is_none(), self.number(term), self.args(term).len());
        let names = || self.name(self.head(a)).cmp(self.name(self.head(b)));
        let (x, y) = (key(a), key(b));
        (x.0, x.1).cmp(&(y.0, y.1)).then_with(names).then(x.2.cmp(&y.2)).then_with(|| {
            let pairs = self.args(a).iter().zip(self.args(b));
            pairs.map(|(&a, &b)| self.compare(a, b)).find(|order| order.is_ne()).unwrap_or(a.cmp(&b))
        })
    }
}
