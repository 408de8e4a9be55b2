//! Resolves the names of a rule file and checks its content.

use super::declaration::{
    Board, Condition, Declaration, Effect, Ending, Expression, Grade, Kind, ONE, Object, Operator, Relation,
    Rule, Summand, Tuple, Type,
};
use super::parse::{self, Source, Statement, Sum, Word};
use crate::error::{Place, RuleError, unknown};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Limit on objects of a game.
const OBJECTS: usize = 4096;
/// Limit on tuples of a relation in its file.
const TUPLES: usize = 1 << 18;
/// Largest value of `limit`.
const LIMIT: i32 = 1_000_000;
/// Limit on players.
pub(crate) const PLAYERS: usize = 8;
/// Largest amount of a win or loss, in hundredths.
const AMOUNT: f64 = 10_000.0;
/// Limit on relations, including types.
const RELATIONS: usize = 512;

/// Resolves names.
#[derive(Default)]
pub(crate) struct Reader {
    objects: Vec<String>,
    values: Vec<Option<i32>>,
    by_name: FxHashMap<String, Object>,
    types: Vec<Type>,
    relations: Vec<Relation>,
}

/// The variables of a rule.
#[derive(Default)]
struct Scope {
    names: Vec<String>,
}

impl Declaration {
    /// Parses and checks a rule file.
    pub(crate) fn read(source: &str) -> Result<Self, RuleError> {
        Reader::default().read(parse::parse(source)?)
    }
}

impl Reader {
    pub(crate) fn read(mut self, source: Source) -> Result<Declaration, RuleError> {
        let statements = source.statements;
        for (statement, _) in &statements {
            if let Statement::Objects { name, members } = statement {
                self.objects(name, members)?;
            }
        }
        let mut players = None;
        for (statement, place) in &statements {
            if let Statement::Players(word) = statement {
                let count =
                    word.text.parse().ok().filter(|n| (1..=PLAYERS).contains(n)).ok_or_else(|| {
                        let what = format!("{} players; a game has 1 to {PLAYERS}", word.text);
                        RuleError::new(word.place, what)
                    })?;
                once(&mut players, count, "players", *place)?;
            }
        }
        let players = players.unwrap_or(2);
        for (statement, _) in &statements {
            match statement {
                Statement::Flip { name, cycles } => self.flip(name, cycles, players)?,
                Statement::Relation { dynamic, name, types, tuples } => {
                    self.relation(*dynamic, name, types, tuples)?;
                }
                _ => {}
            }
        }
        // Heads come first, because rules may be written in any order.
        for (statement, _) in &statements {
            if let Statement::Derive { head, .. } = statement {
                self.head(&head.relation, head.args.len())?;
            }
        }
        let (mut stuck, mut limit, mut about, mut rules) = (None, None, None, Vec::new());
        let (mut operators, mut endings, mut board, mut marks) =
            (Vec::<Operator>::new(), Vec::new(), None, Vec::new());
        for (statement, place) in statements {
            match statement {
                Statement::Derive { head, when } => self.derive(&head, &when, place)?,
                Statement::Operator(operator) => {
                    if operators.iter().any(|other| other.name == operator.name.text) {
                        let what = format!("there is another operator `{}`", operator.name.text);
                        return Err(RuleError::new(operator.name.place, what));
                    }
                    operators.push(self.operator(&operator)?);
                }
                Statement::Ending { result, amount, when } => {
                    let rule = self.rule(Scope::default(), &[], &[], &when, place)?;
                    endings.push((grade(&result, amount.as_ref())?, rule));
                }
                Statement::Stuck(result, amount) => {
                    once(&mut stuck, grade(&result, amount.as_ref())?, "stuck", place)?;
                }
                Statement::Limit(word) => {
                    let most = word.text.parse().ok().filter(|n| (1..=LIMIT).contains(n));
                    let Some(most) = most else {
                        let what = format!("a limit of {} moves; it may be from 1 to {LIMIT}", word.text);
                        return Err(RuleError::new(word.place, what));
                    };
                    once(&mut limit, most as u32, "limit", place)?;
                }
                Statement::Rules(text) => rules.push(text),
                Statement::About(text) => once(&mut about, text, "about", place)?,
                Statement::Board { relation, roles, rows } => {
                    once(&mut board, self.board(&relation, &roles, &rows)?, "board", place)?;
                }
                Statement::Marks(list) => marks.extend(list),
                Statement::Objects { .. }
                | Statement::Players(_)
                | Statement::Flip { .. }
                | Statement::Relation { .. } => {}
            }
        }
        if let Some(board) = &mut board {
            self.marks(board, &marks)?;
        }
        operators.sort_by_key(|operator| operator.weight.is_some());
        endings.sort_by_key(|((ending, amount), _): &(Grade, Rule)| (*ending, Reverse(*amount)));
        if operators.first().is_none_or(|operator| operator.weight.is_some()) {
            return Err(RuleError::new(
                Place { line: 1, column: 1 },
                "a game without an operator: nobody can move",
            ));
        }
        if players > 1 {
            self.fix(&operators, &endings)?;
        }
        let order = self.order()?;
        let by_value = self.values.iter().enumerate();
        Ok(Declaration {
            name: source.name,
            about,
            rules,
            players,
            by_value: by_value.filter_map(|(i, value)| Some(((*value)?, i as Object))).collect(),
            objects: self.objects,
            values: self.values,
            types: self.types,
            relations: self.relations,
            order,
            operators,
            endings,
            stuck: stuck.unwrap_or((Ending::Draw, 0)),
            limit,
            board,
        })
    }

    fn objects(&mut self, name: &Word, members: &[Word]) -> Result<(), RuleError> {
        let mut of = Type {
            name: name.text.clone(),
            members: Vec::new(),
            flip: FxHashMap::default(),
            is_exchanged: false,
        };
        for word in members {
            let next = self.objects.len();
            let object = *self.by_name.entry(word.text.clone()).or_insert(next as Object);
            if usize::from(object) == next {
                if next == OBJECTS {
                    return Err(RuleError::new(word.place, format!("more than {OBJECTS} objects")));
                }
                self.objects.push(word.text.clone());
                self.values.push(word.text.parse().ok());
            }
            if of.members.contains(&object) {
                return Err(RuleError::new(word.place, format!("`{}` is listed twice", word.text)));
            }
            of.members.push(object);
        }
        // A type is also a relation, so that conditions can test it.
        let tuples = of.members.iter().map(|&object| vec![object]).collect();
        let types = vec![self.types.len()];
        self.add(name, Kind::Static, 1, types, tuples)?;
        self.types.push(of);
        Ok(())
    }

    fn flip(&mut self, name: &Word, cycles: &[Vec<Word>], players: usize) -> Result<(), RuleError> {
        let of = self.type_of(name)?;
        let members = self.types[of].members.clone();
        if !self.types[of].flip.is_empty() {
            return Err(RuleError::new(name.place, format!("`{}` is flipped twice", name.text)));
        }
        // After a turn of each player, all objects must be back. In a solitaire nothing is ever flipped.
        let check = |length: usize, place: Place| match length {
            _ if players == 1 || players.is_multiple_of(length) => Ok(()),
            _ => {
                let what = format!(
                    "a cycle of {length} objects in a game of {players} players; the number of players must be a multiple, so that \
                     all objects come back after a turn of each"
                );
                Err(RuleError::new(place, what))
            }
        };
        if cycles.is_empty() {
            check(2.min(members.len()), name.place)?;
            self.types[of].flip = members.iter().copied().zip(members.iter().rev().copied()).collect();
            return Ok(());
        }
        self.types[of].is_exchanged = true;
        for cycle in cycles {
            let objects = cycle.iter().map(|word| self.member(word, of)).collect::<Result<Vec<_>, _>>()?;
            check(cycle.len(), cycle[0].place)?;
            let flip = &mut self.types[of].flip;
            for (i, word) in cycle.iter().enumerate() {
                let next = objects[(i + 1) % objects.len()];
                if flip.insert(objects[i], next).is_some_and(|other| other != next) {
                    let what = format!("`{}` is flipped to two objects", word.text);
                    return Err(RuleError::new(word.place, what));
                }
            }
        }
        Ok(())
    }

    fn relation(
        &mut self,
        dynamic: bool,
        name: &Word,
        types: &[Word],
        tuples: &[Vec<Word>],
    ) -> Result<(), RuleError> {
        let types = types.iter().map(|word| self.type_of(word)).collect::<Result<Vec<_>, _>>()?;
        if tuples.len() > TUPLES {
            return Err(RuleError::new(name.place, format!("`{}` has more than {TUPLES} tuples", name.text)));
        }
        let read = |words: &Vec<Word>| {
            words.iter().zip(&types).map(|(word, &of)| self.member(word, of)).collect::<Result<Tuple, _>>()
        };
        let tuples = tuples.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let kind = if dynamic { Kind::Dynamic } else { Kind::Static };
        self.add(name, kind, types.len(), types, tuples)
    }

    /// Turns static relations that distinguish players into facts. These facts never change, and players see them
    /// exchanged, like all others. Refuses those that name all pieces of both players, because either meaning is possible.
    fn fix(&mut self, operators: &[Operator], endings: &[(Grade, Rule)]) -> Result<(), RuleError> {
        let named = self.named(operators, endings);
        let (relations, types) = (&mut self.relations, &self.types);
        for relation in relations.iter_mut().filter(|relation| relation.kind == Kind::Static) {
            if relation.is_same_flipped(types) {
                continue;
            }
            if relation.names_players(types) {
                (relation.kind, relation.is_fixed) = (Kind::Dynamic, true);
                continue;
            }
            let is_of_pieces = |of: usize| types[of].is_of_pieces(|object| named.contains(&(of, object)));
            let mut args = relation.types.iter().enumerate();
            if let Some((at, &of)) =
                args.find(|(at, of)| is_of_pieces(**of) && relation.names_all(types, *at))
            {
                let first: Vec<&str> =
                    relation.tuples[0].iter().map(|&object| &*self.objects[usize::from(object)]).collect();
                let (name, of) = (&relation.name, &types[of].name);
                let what = format!(
                    "`{name}` names all objects that `flip {of}` exchanges, in more than one cycle: it may hold for each player, or for \
                     the player to move. For each player, write `dynamic {name}` in place of `static {name}`; for the player to move, \
                     a rule for each tuple, such as `derive {name}({}) if {of}({})`",
                    first.join(", "),
                    first[at]
                );
                return Err(RuleError::new(relation.place, what));
            }
        }
        Ok(())
    }

    /// The objects that rules name as arguments, each with the type of the argument.
    fn named(&self, operators: &[Operator], endings: &[(Grade, Rule)]) -> FxHashSet<(usize, Object)> {
        let mut named = FxHashSet::default();
        let mut name = |relation: usize, args: &[Expression]| {
            for (arg, &of) in args.iter().zip(&self.relations[relation].types) {
                if let [(_, Summand::Object(object))] = arg.0[..] {
                    named.insert((of, object));
                }
            }
        };
        let effects = || operators.iter().flat_map(|operator| &operator.effects);
        let of_operators =
            operators.iter().flat_map(|operator| operator.turns.iter().chain([&operator.rule]));
        let rules = self.relations.iter().flat_map(|relation| &relation.rules);
        let rules = rules.chain(endings.iter().map(|(_, rule)| rule)).chain(of_operators);
        for rule in rules.chain(effects().map(|effect| &effect.rule)) {
            for condition in &rule.body {
                if let Condition::Holds { relation, args, .. } = condition {
                    name(*relation, args);
                }
            }
        }
        effects().for_each(|effect| name(effect.relation, &effect.rule.head));
        named
    }

    fn add(
        &mut self,
        name: &Word,
        kind: Kind,
        arity: usize,
        types: Vec<usize>,
        tuples: Vec<Tuple>,
    ) -> Result<(), RuleError> {
        if self.relations.iter().any(|other| other.name == name.text) {
            let what = format!("there is another relation or type `{}`", name.text);
            return Err(RuleError::new(name.place, what));
        }
        if name.text == "not" || self.by_name.contains_key(&name.text) {
            let what = format!(
                "`{}` cannot be the name of a relation or type, because it has another meaning",
                name.text
            );
            return Err(RuleError::new(name.place, what));
        }
        if self.relations.len() == RELATIONS {
            return Err(RuleError::new(name.place, format!("more than {RELATIONS} relations and types")));
        }
        self.relations.push(Relation {
            name: name.text.clone(),
            place: name.place,
            arity,
            types,
            kind,
            tuples,
            is_fixed: false,
            rules: Vec::new(),
        });
        Ok(())
    }

    /// Declares a derived relation at its first rule.
    fn head(&mut self, name: &Word, arity: usize) -> Result<(), RuleError> {
        match self.relations.iter().find(|relation| relation.name == name.text) {
            Some(relation) if relation.kind != Kind::Derived => {
                let what =
                    format!("`{}` is declared as static or dynamic and cannot be derived too", name.text);
                Err(RuleError::new(name.place, what))
            }
            Some(relation) => arguments(name, relation.arity, arity),
            None => self.add(name, Kind::Derived, arity, Vec::new(), Vec::new()),
        }
    }

    fn type_of(&self, name: &Word) -> Result<usize, RuleError> {
        self.types.iter().position(|of| of.name == name.text).ok_or_else(|| {
            let names = self.types.iter().map(|of| &of.name);
            let what = format!(
                "`{}` is not a type of objects: declare it with `objects {} = …`",
                name.text, name.text
            );
            RuleError::new(name.place, unknown(what, &name.text, names))
        })
    }

    /// An object of this type.
    fn member(&self, word: &Word, of: usize) -> Result<Object, RuleError> {
        let of = &self.types[of];
        let found = self.by_name.get(&word.text).filter(|object| of.members.contains(object));
        found.copied().ok_or_else(|| {
            let names = of.members.iter().map(|&object| &self.objects[usize::from(object)]);
            let what = format!("`{}` is not an object of type {}", word.text, of.name);
            RuleError::new(word.place, unknown(what, &word.text, names))
        })
    }

    fn find(&self, name: &Word, arity: usize) -> Result<usize, RuleError> {
        let found = self.relations.iter().position(|relation| relation.name == name.text);
        let Some(found) = found else {
            let names = self.relations.iter().map(|relation| &relation.name);
            let what = format!("there is no relation `{}`", name.text);
            return Err(RuleError::new(name.place, unknown(what, &name.text, names)));
        };
        arguments(name, self.relations[found].arity, arity)?;
        Ok(found)
    }

    fn derive(
        &mut self,
        head: &parse::Atom,
        when: &[parse::Condition],
        place: Place,
    ) -> Result<(), RuleError> {
        let relation = self.find(&head.relation, head.args.len())?;
        let rule = self.rule(Scope::default(), &head.args, &[], when, place)?;
        self.relations[relation].rules.push(rule);
        Ok(())
    }

    fn operator(&self, operator: &parse::Operator) -> Result<Operator, RuleError> {
        let mut scope = Scope::default();
        let mut types = Vec::new();
        for (variable, of) in &operator.params {
            if self.by_name.contains_key(&variable.text) {
                let what = format!("`{}` is an object and cannot be a variable", variable.text);
                return Err(RuleError::new(variable.place, what));
            }
            if scope.names.contains(&variable.text) {
                return Err(RuleError::new(
                    variable.place,
                    format!("two parameters are called `{}`", variable.text),
                ));
            }
            scope.names.push(variable.text.clone());
            types.push(self.type_of(of)?);
        }
        let head: Vec<Sum> =
            operator.params.iter().map(|(variable, _)| vec![(false, variable.clone())]).collect();
        let names = scope.names.clone();
        let rule = self.rule(scope, &head, &types, &operator.when, operator.name.place)?;
        let mut effects = Vec::new();
        for effect in &operator.effects {
            let relation = self.find(&effect.atom.relation, effect.atom.args.len())?;
            if self.relations[relation].kind != Kind::Dynamic {
                let what =
                    format!("`{}` is not dynamic, so no operator can change it", effect.atom.relation.text);
                return Err(RuleError::new(effect.atom.relation.place, what));
            }
            let scope = Scope { names: names.clone() };
            let rule =
                self.rule(scope, &effect.atom.args, &types, &effect.when, effect.atom.relation.place)?;
            self.fit(&rule.head, relation, &effect.atom)?;
            effects.push(Effect { place: effect.atom.relation.place, adds: effect.adds, relation, rule });
        }
        let turns = operator.turns.iter().map(|(when, place)| {
            let scope = Scope { names: names.clone() };
            self.rule(scope, &[], &types, when, *place)
        });
        let turns = turns.collect::<Result<Vec<_>, _>>()?;
        let weight = self.weight(operator, names)?;
        let (name, place) = (operator.name.text.clone(), operator.name.place);
        Ok(Operator { name, place, types, rule, effects, weight, turns })
    }

    /// The weight of an outcome of chance: a number, or a sum with its variables. None for operators of players.
    fn weight(
        &self,
        operator: &parse::Operator,
        names: Vec<String>,
    ) -> Result<Option<(Expression, Place)>, RuleError> {
        if !operator.is_chance {
            return Ok(None);
        }
        let Some((sum, place)) = &operator.weight else {
            let one = Expression(vec![(false, Summand::Number(1))]);
            return Ok(Some((one, operator.name.place)));
        };
        let mut scope = Scope { names };
        let expression = self.expression(&mut scope, sum)?;
        for (_, word) in sum {
            let place = scope.names.iter().position(|name| *name == word.text);
            if place.is_some_and(|place| place >= operator.params.len()) {
                let what = format!(
                    "the weight of an outcome is a sum of numbers and of its variables, and `{}` is neither",
                    word.text
                );
                return Err(RuleError::new(word.place, what));
            }
        }
        Ok(Some((expression, *place)))
    }

    /// A rule whose first variables, the parameters, have these types.
    fn rule(
        &self,
        mut scope: Scope,
        head: &[Sum],
        params: &[usize],
        when: &[parse::Condition],
        place: Place,
    ) -> Result<Rule, RuleError> {
        let mut waiting = Vec::new();
        for condition in when {
            waiting.push(match condition {
                parse::Condition::Holds { negated, atom } => {
                    let relation = self.find(&atom.relation, atom.args.len())?;
                    let args = self.expressions(&mut scope, &atom.args)?;
                    self.fit(&args, relation, atom)?;
                    (Condition::Holds { negated: *negated, relation, args }, atom.relation.place)
                }
                parse::Condition::Compare { left, sign, right, place } => {
                    let (left, right) =
                        (self.expression(&mut scope, left)?, self.expression(&mut scope, right)?);
                    (Condition::Compare { left, sign, right }, *place)
                }
            });
        }
        let head_expressions = self.expressions(&mut scope, head)?;
        for (variable, &of) in params.iter().enumerate() {
            let args = vec![Expression(vec![(false, Summand::Variable(variable))])];
            // Types come first in the list of relations, in their order.
            waiting.push((Condition::Holds { negated: false, relation: of, args }, place));
        }
        let mut bound = vec![false; scope.names.len()];
        let mut body = Vec::new();
        while !waiting.is_empty() {
            let best =
                (0..waiting.len()).filter_map(|i| Some((self.effort(&waiting[i].0, &bound)?, i))).min();
            let Some((_, i)) = best else {
                let (condition, place) = &waiting[0];
                let free = first_free(condition, &bound).map_or("", |v| scope.names[v].as_str());
                return Err(unbound(free, *place));
            };
            let (condition, _) = waiting.remove(i);
            variables_of(&condition, |v| bound[v] = true);
            body.push(condition);
        }
        for (expression, sum) in head_expressions.iter().zip(head) {
            for (&(_, summand), (_, word)) in expression.0.iter().zip(sum) {
                if matches!(summand, Summand::Variable(v) if !bound[v]) {
                    return Err(unbound(&word.text, word.place));
                }
            }
        }
        Ok(Rule { place, head: head_expressions, variables: scope.names.len(), body })
    }

    /// Estimated cost of evaluating this condition next. None if it cannot be evaluated yet.
    fn effort(&self, condition: &Condition, bound: &[bool]) -> Option<(u8, usize)> {
        let free = |e: &Expression| {
            e.0.iter().filter(|(_, s)| matches!(s, Summand::Variable(v) if !bound[*v])).count()
        };
        let alone = |e: &Expression| matches!(e.0[..], [(false, Summand::Variable(_))]);
        match condition {
            Condition::Compare { left, sign, right } => match (free(left), free(right)) {
                (0, 0) => Some((0, 0)),
                (0, 1) if *sign == "=" && alone(right) => Some((1, 0)),
                (1, 0) if *sign == "=" && alone(left) => Some((1, 0)),
                _ => None,
            },
            Condition::Holds { negated, relation, args } => {
                let count: usize = args.iter().map(&free).sum();
                match count {
                    0 => Some((0, 1)),
                    _ if *negated || args.iter().any(|e| free(e) > 0 && !alone(e)) => None,
                    _ => {
                        let relation = &self.relations[*relation];
                        let is_type = relation.kind == Kind::Static && relation.arity == 1;
                        Some((
                            if relation.kind == Kind::Static { 2 } else { 3 } + u8::from(is_type) * 2,
                            count,
                        ))
                    }
                }
            }
        }
    }

    fn expressions(&self, scope: &mut Scope, sums: &[Sum]) -> Result<Vec<Expression>, RuleError> {
        sums.iter().map(|sum| self.expression(scope, sum)).collect()
    }

    fn expression(&self, scope: &mut Scope, sum: &Sum) -> Result<Expression, RuleError> {
        let summand = |(subtracted, word): &(bool, Word)| {
            let found = match self.by_name.get(&word.text) {
                Some(&object) if sum.len() > 1 && self.values[usize::from(object)].is_none() => {
                    let what = format!("`{}` is not a number and cannot be added", word.text);
                    return Err(RuleError::new(word.place, what));
                }
                Some(&object) => Summand::Object(object),
                None => match word.text.parse() {
                    Ok(number) => Summand::Number(number),
                    Err(_) => Summand::Variable(
                        scope.names.iter().position(|name| *name == word.text).unwrap_or_else(|| {
                            scope.names.push(word.text.clone());
                            scope.names.len() - 1
                        }),
                    ),
                },
            };
            Ok((*subtracted, found))
        };
        Ok(Expression(sum.iter().map(summand).collect::<Result<_, _>>()?))
    }

    /// Checks that objects written as arguments have the right type.
    fn fit(&self, args: &[Expression], relation: usize, atom: &parse::Atom) -> Result<(), RuleError> {
        for ((expression, &of), sum) in args.iter().zip(&self.relations[relation].types).zip(&atom.args) {
            if let ([(false, Summand::Object(_) | Summand::Number(_))], [(_, word)]) =
                (&expression.0[..], &sum[..])
            {
                self.member(word, of)?;
            }
        }
        Ok(())
    }

    fn board(&self, name: &Word, roles: &[Word], rows: &[Vec<Word>]) -> Result<Board, RuleError> {
        let relation = self.find(name, roles.len())?;
        let of = &self.relations[relation];
        if of.kind != Kind::Dynamic {
            return Err(RuleError::new(
                name.place,
                format!("`{}` is not dynamic; draw a dynamic relation", name.text),
            ));
        }
        let place = |role: &str| roles.iter().position(|word| word.text == role);
        let count = |role: &str| roles.iter().filter(|word| word.text == role).count();
        let members = |at: usize| self.types[of.types[at]].members.iter().copied();
        let fault = || {
            let what = "a board has one `mark` and either one `square`, followed by `= …` with the squares row by row, or `across` and `up` or `down`";
            RuleError::new(name.place, what)
        };
        let mark = place("mark").filter(|_| count("mark") == 1).ok_or_else(fault)?;
        let cell = |pairs: &[(usize, Object)]| {
            let mut tuple = vec![0; roles.len()];
            pairs.iter().for_each(|&(at, object)| tuple[at] = object);
            tuple
        };
        let vertical = place("up").map(|at| (at, true)).or(place("down").map(|at| (at, false)));
        let rows = match (place("square"), place("across"), vertical) {
            (Some(square), None, None) if roles.len() == 2 && !rows.is_empty() => rows
                .iter()
                .map(|row| {
                    row.iter()
                        .map(|word| Ok(cell(&[(square, self.member(word, of.types[square])?)])))
                        .collect()
                })
                .collect::<Result<Vec<Vec<_>>, RuleError>>()?,
            (None, Some(across), Some((vertical, up))) if roles.len() == 3 && rows.is_empty() => {
                let row = |y: Object| members(across).map(|x| cell(&[(across, x), (vertical, y)])).collect();
                let mut rows: Vec<Vec<_>> = members(vertical).map(row).collect();
                if up {
                    rows.reverse();
                }
                rows
            }
            _ => return Err(fault()),
        };
        let marks = members(mark).map(|object| {
            let name = &self.objects[usize::from(object)];
            (object, name.chars().next().unwrap_or('?').to_ascii_uppercase())
        });
        Ok(Board { relation, mark, rows, marks: marks.collect() })
    }

    fn marks(&self, board: &mut Board, marks: &[(Word, String)]) -> Result<(), RuleError> {
        let of = self.relations[board.relation].types[board.mark];
        for (word, text) in marks {
            let object = self.member(word, of)?;
            let mut characters = text.chars();
            match (characters.next(), characters.next()) {
                (Some(c), None) if !c.is_whitespace() && !c.is_control() && !"./@".contains(c) => {
                    board.marks.insert(object, c);
                }
                _ => {
                    let what = format!(
                        "\"{}\" must be one character that is not a space, ., / or @",
                        text.escape_debug()
                    );
                    return Err(RuleError::new(word.place, what));
                }
            }
        }
        let objects = &self.types[of].members;
        let twice = objects.iter().enumerate().find_map(|(i, a)| {
            objects[..i].iter().find(|b| board.marks[b] == board.marks[a]).map(|b| (*a, *b))
        });
        if let Some((a, b)) = twice {
            let [a, b] = [a, b].map(|object| &self.objects[usize::from(object)]);
            let what = format!("{b} and {a} are drawn by the same character; choose others with `marks`");
            return Err(RuleError::new(Place { line: 1, column: 1 }, what));
        }
        Ok(())
    }

    /// The error that relation `a` negates `b`, which depends on `a`.
    fn without_meaning(&self, a: usize, b: usize, parts: &[BTreeSet<(usize, bool)>]) -> RuleError {
        // The shortest path back from b to a.
        let mut ways = vec![vec![b]];
        let mut seen = BTreeSet::from([b]);
        let mut at = 0;
        while at < ways.len() && ways[at].last() != Some(&a) {
            let way = ways[at].clone();
            for &(next, _) in way.last().into_iter().flat_map(|&last| &parts[last]) {
                if seen.insert(next) {
                    ways.push(way.iter().copied().chain([next]).collect());
                }
            }
            at += 1;
        }
        let name = |relation: usize| self.relations[relation].name.as_str();
        let way = ways.get(at).map(Vec::as_slice).unwrap_or_default();
        let way: Vec<String> = way.iter().map(|&relation| format!("`{}`", name(relation))).collect();
        let has = |rule: &&Rule| {
            let is = |condition: &Condition| matches!(condition, Condition::Holds { negated: true, relation, .. } if *relation == b);
            rule.body.iter().any(is)
        };
        let of = &self.relations[a];
        let place = of.rules.iter().find(has).map_or(of.place, |rule| rule.place);
        let what = format!(
            "`{}` depends on itself through `not`, so it has no meaning: `{}` → not {}",
            name(a),
            name(a),
            way.join(" → ")
        );
        RuleError::new(place, what)
    }

    /// Derived relations in topological order; mutually recursive ones are one group. Relations that depend only on
    /// static ones become static.
    fn order(&mut self) -> Result<Vec<Vec<usize>>, RuleError> {
        let n = self.relations.len();
        let mut dynamic: Vec<bool> =
            self.relations.iter().map(|relation| relation.kind == Kind::Dynamic).collect();
        let parts = |relation: &Relation| -> BTreeSet<(usize, bool)> {
            let body = relation.rules.iter().flat_map(|rule| &rule.body);
            body.filter_map(|condition| match condition {
                Condition::Holds { negated, relation, .. } => Some((*relation, *negated)),
                Condition::Compare { .. } => None,
            })
            .collect()
        };
        let parts: Vec<_> = self.relations.iter().map(parts).collect();
        // reaches[a][b]: how a depends on b, at any depth; 2 through a negation.
        let mut reaches = vec![vec![0_u8; n]; n];
        let mut changed = true;
        while changed {
            changed = false;
            for a in 0..n {
                for &(b, negated) in &parts[a] {
                    if dynamic[b] && !dynamic[a] {
                        (dynamic[a], changed) = (true, true);
                    }
                    let own = 1 + u8::from(negated);
                    if reaches[a][b] < own {
                        (reaches[a][b], changed) = (own, true);
                    }
                    let further = reaches[b].clone();
                    for (reached, further) in reaches[a].iter_mut().zip(further) {
                        let through = if further == 0 { 0 } else { own.max(further) };
                        if *reached < through {
                            (*reached, changed) = (through, true);
                        }
                    }
                }
            }
        }
        for a in 0..n {
            let negated = parts[a].iter().find(|&&(b, negated)| negated && (a == b || reaches[b][a] > 0));
            if let Some(&(b, _)) = negated {
                return Err(self.without_meaning(a, b, &parts));
            }
        }
        let mut order: Vec<usize> = (0..n).filter(|&a| self.relations[a].kind == Kind::Derived).collect();
        // A dependency reaches fewer relations, or the same ones if it is recursive. Mutually recursive relations reach
        // the same ones and each other.
        let key = |a: usize| {
            let reached: Vec<bool> = reaches[a].iter().map(|&r| r > 0).collect();
            (reached.iter().filter(|&&r| r).count(), reaches[a][a] == 0, reached)
        };
        order.sort_by_cached_key(|&a| key(a));
        for &a in &order {
            if !dynamic[a] {
                self.relations[a].kind = Kind::Static;
            }
        }
        Ok(order.chunk_by(|&a, &b| reaches[a][b] > 0 && reaches[b][a] > 0).map(<[usize]>::to_vec).collect())
    }
}

fn arguments(name: &Word, expected: usize, found: usize) -> Result<(), RuleError> {
    if expected == found {
        return Ok(());
    }
    let s = if expected == 1 { "" } else { "s" };
    let what = format!("`{}` has {expected} argument{s}, found {found}", name.text);
    Err(RuleError::new(name.place, what))
}

fn ending(word: &Word) -> Result<Ending, RuleError> {
    match word.text.as_str() {
        "win" => Ok(Ending::Win),
        "lose" => Ok(Ending::Lose),
        "draw" => Ok(Ending::Draw),
        other => {
            Err(RuleError::new(word.place, format!("`{other}` where `win`, `lose` or `draw` was expected")))
        }
    }
}

fn grade(result: &Word, amount: Option<&Word>) -> Result<Grade, RuleError> {
    let ending = ending(result)?;
    let Some(word) = amount else {
        return Ok((ending, if ending == Ending::Draw { 0 } else { ONE }));
    };
    let hundredths = word.text.parse::<f64>().map_or(0.0, |amount| amount * f64::from(ONE));
    let whole = hundredths.round();
    if !(1.0..=AMOUNT).contains(&whole) || (hundredths - whole).abs() > 1e-6 {
        let what = format!(
            "an amount of {}; it may be from 0.01 to {}, with two digits behind the point at most",
            word.text,
            AMOUNT / f64::from(ONE)
        );
        return Err(RuleError::new(word.place, what));
    }
    Ok((ending, whole as u16))
}

fn once<T>(slot: &mut Option<T>, value: T, what: &str, place: Place) -> Result<(), RuleError> {
    match slot.replace(value) {
        Some(_) => Err(RuleError::new(place, format!("a second `{what}`"))),
        None => Ok(()),
    }
}

fn unbound(variable: &str, place: Place) -> RuleError {
    let what = format!(
        "nothing tells what `{variable}` stands for: it is not an object, and no relation without `not` binds it"
    );
    RuleError::new(place, what)
}

fn variables_of(condition: &Condition, mut visit: impl FnMut(usize)) {
    let mut each = |expression: &Expression| {
        for (_, summand) in &expression.0 {
            if let Summand::Variable(v) = summand {
                visit(*v);
            }
        }
    };
    match condition {
        Condition::Holds { args, .. } => args.iter().for_each(each),
        Condition::Compare { left, right, .. } => {
            each(left);
            each(right);
        }
    }
}

fn first_free(condition: &Condition, bound: &[bool]) -> Option<usize> {
    let mut free = None;
    variables_of(condition, |v| {
        if !bound[v] && free.is_none() {
            free = Some(v);
        }
    });
    free
}
