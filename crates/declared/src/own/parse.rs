//! Parser of rule files.

use super::lex::{Token, words};
use crate::error::{Place, RuleError};

/// A word with its place.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) place: Place,
}

/// An argument: a sum of names and numbers, each with whether it is subtracted.
pub(crate) type Sum = Vec<(bool, Word)>;

/// A relation with arguments.
#[derive(Clone, Debug)]
pub(crate) struct Atom {
    pub(crate) relation: Word,
    pub(crate) args: Vec<Sum>,
}

/// A condition of a rule.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// The relation holds or, negated, does not.
    Holds { negated: bool, atom: Atom },
    /// A comparison with `=`, `!=`, `<`, `<=`, `>` or `>=`.
    Compare { left: Sum, sign: &'static str, right: Sum, place: Place },
}

/// `add` or `delete`, with the condition after `where`.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub(crate) adds: bool,
    pub(crate) atom: Atom,
    pub(crate) when: Vec<Condition>,
}

/// An operator, or an outcome of chance.
#[derive(Clone, Debug)]
pub(crate) struct Operator {
    pub(crate) name: Word,
    /// Whether this is an outcome of chance.
    pub(crate) is_chance: bool,
    /// Relative weight of an outcome of chance.
    pub(crate) weight: Option<(Sum, Place)>,
    /// Variable and type of each parameter.
    pub(crate) params: Vec<(Word, Word)>,
    pub(crate) when: Vec<Condition>,
    pub(crate) effects: Vec<Effect>,
    /// `again` or `pass`: alternative lists of conditions.
    pub(crate) turns: Vec<(Vec<Condition>, Place)>,
}

/// A statement of a rule file.
#[derive(Clone, Debug)]
pub(crate) enum Statement {
    About(String),
    /// A paragraph of the rules in prose.
    Rules(String),
    Players(Word),
    /// A type with its objects.
    Objects {
        name: Word,
        members: Vec<Word>,
    },
    /// A type whose objects are exchanged in cycles when the next player moves; without cycles, their order is
    /// reversed.
    Flip {
        name: Word,
        cycles: Vec<Vec<Word>>,
    },
    /// A relation with its types and initial tuples.
    Relation {
        dynamic: bool,
        name: Word,
        types: Vec<Word>,
        tuples: Vec<Vec<Word>>,
    },
    Derive {
        head: Atom,
        when: Vec<Condition>,
    },
    Operator(Operator),
    /// `win if`, `lose if`, `draw if`.
    Ending {
        result: Word,
        amount: Option<Word>,
        when: Vec<Condition>,
    },
    /// The result for a player without a legal operator, and its amount.
    Stuck(Word, Option<Word>),
    Limit(Word),
    /// The role of each argument of a drawn relation, and the squares row by row.
    Board {
        relation: Word,
        roles: Vec<Word>,
        rows: Vec<Vec<Word>>,
    },
    Marks(Vec<(Word, String)>),
}

/// A parsed file: its name and statements.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) statements: Vec<(Statement, Place)>,
}

/// First words of statements.
const STATEMENTS: &str = "about, rules, players, objects, flip, static, dynamic, derive, operator, chance, win, lose, draw, stuck, limit, board or marks";

/// Limit on objects in a range, such as `1..9`.
pub(crate) const RANGE: i64 = 4096;

/// Limit on conditions of a rule.
const CONDITIONS: usize = 256;
/// Limit on changes of an operator, each counted with its conditions.
const EFFECTS: usize = 1 << 16;
/// Limit on arguments of a relation or operator, and on summands of an argument.
const ARGUMENTS: usize = 16;

/// Parses a rule file.
pub(crate) fn parse(source: &str) -> Result<Source, RuleError> {
    let mut parser = Parser { words: words(source)?, at: 0 };
    parser.keyword("game")?;
    let name = parser.text("the name of the game")?;
    let mut statements = Vec::new();
    while *parser.peek() != Token::End {
        let place = parser.place();
        statements.push((parser.statement()?, place));
    }
    Ok(Source { name, statements })
}

struct Parser {
    words: Vec<(Token, Place)>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.words[self.at].0
    }

    fn place(&self) -> Place {
        self.words[self.at].1
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.words.len() - 1);
        token
    }

    fn expected<T>(&self, what: &str) -> Result<T, RuleError> {
        Err(RuleError::new(self.place(), format!("found {} where {what} was expected", self.peek().shown())))
    }

    fn accept(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        if found {
            self.next();
        }
        found
    }

    fn sign(&mut self, sign: &str) -> Result<(), RuleError> {
        if self.accept(sign) { Ok(()) } else { self.expected(&format!("`{sign}`")) }
    }

    fn is_keyword(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(name) if name == word)
    }

    fn accept_keyword(&mut self, word: &str) -> bool {
        let found = self.is_keyword(word);
        if found {
            self.next();
        }
        found
    }

    fn keyword(&mut self, word: &str) -> Result<(), RuleError> {
        if self.accept_keyword(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    fn text(&mut self, what: &str) -> Result<String, RuleError> {
        match self.peek().clone() {
            Token::Text(text) => {
                self.next();
                Ok(text)
            }
            _ => self.expected(&format!("{what} in double quotes")),
        }
    }

    fn name(&mut self, what: &str) -> Result<Word, RuleError> {
        let place = self.place();
        match self.peek().clone() {
            Token::Name(text) => {
                self.next();
                Ok(Word { text, place })
            }
            _ => self.expected(what),
        }
    }

    fn number(&mut self, what: &str) -> Result<Word, RuleError> {
        let place = self.place();
        match *self.peek() {
            Token::Number(number) => {
                self.next();
                Ok(Word { text: number.to_string(), place })
            }
            _ => self.expected(what),
        }
    }

    /// Parses a name or a number.
    fn object(&mut self) -> Result<Word, RuleError> {
        if matches!(self.peek(), Token::Number(_)) {
            self.number("an object")
        } else {
            self.name("an object, a name or a whole number,")
        }
    }

    /// Parses one or more items separated by commas.
    fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, RuleError>,
    ) -> Result<Vec<T>, RuleError> {
        let mut items = vec![item(self)?];
        while self.accept(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Parses items separated by commas in parentheses. If there are none, the parentheses may be omitted.
    fn bracketed<T>(
        &mut self,
        item: impl FnMut(&mut Self) -> Result<T, RuleError>,
    ) -> Result<Vec<T>, RuleError> {
        if !self.accept("(") || self.accept(")") {
            return Ok(Vec::new());
        }
        let place = self.place();
        let items = self.list(item)?;
        if items.len() > ARGUMENTS {
            return Err(RuleError::new(place, format!("more than {ARGUMENTS} arguments")));
        }
        self.sign(")")?;
        Ok(items)
    }

    fn statement(&mut self) -> Result<Statement, RuleError> {
        let first = self.name(&format!("a statement ({STATEMENTS})"))?;
        Ok(match first.text.as_str() {
            "rules" => Statement::Rules(self.text("a paragraph about how to play")?),
            "about" => Statement::About(self.text("one line about the game")?),
            "players" => Statement::Players(self.number("the number of players")?),
            "objects" => {
                let name = self.name("the name of a type of objects")?;
                self.sign("=")?;
                let members = self.list(Self::members)?.into_iter().flatten().collect();
                Statement::Objects { name, members }
            }
            "flip" => {
                let name = self.name("a type of objects")?;
                let cycles = match self.accept_keyword("reversed") {
                    true => Vec::new(),
                    false => self.list(Self::cycle)?,
                };
                Statement::Flip { name, cycles }
            }
            "static" | "dynamic" => {
                let name = self.name("the name of a relation")?;
                let types = self.bracketed(|p| p.name("a type of objects"))?;
                let tuple = |p: &mut Self| types.iter().map(|_| p.object()).collect::<Result<Vec<_>, _>>();
                let tuples = match self.accept("=") {
                    // A relation without arguments holds or does not.
                    true if types.is_empty() => {
                        self.keyword("true")?;
                        vec![Vec::new()]
                    }
                    true => self.list(tuple)?,
                    false => Vec::new(),
                };
                Statement::Relation { dynamic: first.text == "dynamic", name, types, tuples }
            }
            "derive" => {
                let head = self.atom()?;
                Statement::Derive { head, when: self.conditions("if")? }
            }
            "operator" | "chance" => Statement::Operator(self.operator(&first)?),
            "win" | "lose" | "draw" => {
                let amount = self.amount(&first)?;
                Statement::Ending { result: first, amount, when: self.conditions("if")? }
            }
            "stuck" => {
                let result = self.name("`win`, `lose` or `draw`")?;
                let amount = self.amount(&result)?;
                Statement::Stuck(result, amount)
            }
            "limit" => Statement::Limit(self.number("the most moves of a game")?),
            "board" => {
                let relation = self.name("a dynamic relation")?;
                let roles = self.bracketed(|p| p.name("`mark`, `square`, `across`, `up` or `down`"))?;
                let mut rows = Vec::new();
                if self.accept("=") {
                    loop {
                        let mut row = vec![self.object()?];
                        while matches!(self.peek(), Token::Name(_) | Token::Number(_))
                            && !self.begins_statement()
                        {
                            row.push(self.object()?);
                        }
                        rows.push(row);
                        if !self.accept("/") {
                            break;
                        }
                    }
                }
                Statement::Board { relation, roles, rows }
            }
            "marks" => Statement::Marks(
                self.list(|p| Ok((p.object()?, p.text("a character to draw, such as \"X\",")?)))?,
            ),
            other => {
                let what = format!("`{other}` begins no statement; statements begin with {STATEMENTS}");
                return Err(RuleError::new(first.place, what));
            }
        })
    }

    /// An operator, or an event of chance, after this word.
    fn operator(&mut self, first: &Word) -> Result<Operator, RuleError> {
        let is_chance = first.text == "chance";
        let name = self.name(&format!("the name of the {}", first.text))?;
        let params = self.bracketed(|p| {
            let variable = p.name("a variable with its type, such as `s: square`,")?;
            p.sign(":")?;
            Ok((variable, p.name("a type of objects")?))
        })?;
        let place = self.place();
        let weight = match is_chance && self.accept_keyword("weight") {
            true => Some((self.sum()?, place)),
            false => None,
        };
        let when = if self.is_keyword("if") { self.conditions("if")? } else { Vec::new() };
        let (mut effects, mut copies) = (Vec::new(), 0);
        while self.is_keyword("add") || self.is_keyword("delete") {
            let adds = self.name("`add`")?.text == "add";
            let atoms = self.list(Self::atom)?;
            let when = if self.is_keyword("where") { self.conditions("where")? } else { Vec::new() };
            copies += atoms.len() * (1 + when.len());
            if copies > EFFECTS {
                let what =
                    format!("an operator with more than {EFFECTS} changes, each counted with its conditions");
                return Err(RuleError::new(place, what));
            }
            effects.extend(atoms.into_iter().map(|atom| Effect { adds, atom, when: when.clone() }));
        }
        if effects.is_empty() {
            return self.expected("`add` or `delete` (an operator changes something)");
        }
        let mut turns = Vec::new();
        let keyword = if is_chance { "pass" } else { "again" };
        loop {
            let place = self.place();
            if !self.accept_keyword(keyword) {
                break;
            }
            turns.push((if self.is_keyword("if") { self.conditions("if")? } else { Vec::new() }, place));
        }
        Ok(Operator { name, is_chance, weight, params, when, effects, turns })
    }

    /// Parses a cycle of two or more objects.
    fn cycle(&mut self) -> Result<Vec<Word>, RuleError> {
        let mut cycle = vec![self.object()?, self.object()?];
        while matches!(self.peek(), Token::Name(_) | Token::Number(_)) && !self.begins_statement() {
            cycle.push(self.object()?);
        }
        Ok(cycle)
    }

    /// Parses the amount of a win or a loss, if given.
    fn amount(&mut self, result: &Word) -> Result<Option<Word>, RuleError> {
        let (text, place) = match self.peek() {
            Token::Number(number) => (number.to_string(), self.place()),
            Token::Decimal(number) => (number.clone(), self.place()),
            _ => return Ok(None),
        };
        if result.text == "draw" {
            return Err(RuleError::new(place, "a draw counts 0 and has no amount"));
        }
        self.next();
        Ok(Some(Word { text, place }))
    }

    /// Whether the next word starts a statement, after a list without commas.
    fn begins_statement(&self) -> bool {
        matches!(self.peek(), Token::Name(name) if STATEMENTS.split([',', ' ']).any(|word| word == name))
    }

    /// Parses an object, or a range of numbers.
    fn members(&mut self) -> Result<Vec<Word>, RuleError> {
        let first = self.object()?;
        if !self.accept("..") {
            return Ok(vec![first]);
        }
        let last = self.number("the last number of the range")?;
        let (Ok(from), Ok(to)) = (first.text.parse::<i64>(), last.text.parse::<i64>()) else {
            return Err(RuleError::new(first.place, "a range goes from a number to a number"));
        };
        if from > to || to - from >= RANGE {
            let what = format!("a range from {from} to {to}; it must go up and have at most {RANGE} numbers");
            return Err(RuleError::new(first.place, what));
        }
        Ok((from..=to).map(|n| Word { text: n.to_string(), place: first.place }).collect())
    }

    fn conditions(&mut self, keyword: &str) -> Result<Vec<Condition>, RuleError> {
        self.keyword(keyword)?;
        let place = self.place();
        let conditions = self.list(Self::condition)?;
        if conditions.len() > CONDITIONS {
            return Err(RuleError::new(place, format!("more than {CONDITIONS} conditions")));
        }
        Ok(conditions)
    }

    fn condition(&mut self) -> Result<Condition, RuleError> {
        let place = self.place();
        if self.accept_keyword("not") {
            return Ok(Condition::Holds { negated: true, atom: self.atom()? });
        }
        let left = self.sum()?;
        for sign in ["=", "!=", "<", "<=", ">", ">="] {
            if self.accept(sign) {
                return Ok(Condition::Compare { left, sign, right: self.sum()?, place });
            }
        }
        match <[_; 1]>::try_from(left) {
            Ok([(false, relation)]) if relation.text.parse::<i64>().is_err() => {
                let args = self.bracketed(Self::sum)?;
                Ok(Condition::Holds { negated: false, atom: Atom { relation, args } })
            }
            _ => self.expected("a comparison (=, !=, <, <=, >, >=)"),
        }
    }

    fn atom(&mut self) -> Result<Atom, RuleError> {
        let relation = self.name("a relation")?;
        Ok(Atom { relation, args: self.bracketed(Self::sum)? })
    }

    fn sum(&mut self) -> Result<Sum, RuleError> {
        let mut sum = vec![(false, self.object()?)];
        loop {
            let subtracted = match () {
                () if self.accept("+") => false,
                () if self.accept("-") => true,
                () => return Ok(sum),
            };
            if sum.len() == ARGUMENTS {
                return Err(RuleError::new(self.place(), format!("more than {ARGUMENTS} summands")));
            }
            sum.push((subtracted, self.object()?));
        }
    }
}
