//! Lists of things that users choose by name.

use std::borrow::Cow;

/// A name that users write, with a one-line description.
///
/// ```
/// use adept_game::Named;
///
/// let names = Named::list(&[("heaps", "the things left in each heap")]);
/// assert_eq!((&*names[0].name, &*names[0].about), ("heaps", "the things left in each heap"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name, or its form with parameters after colons.
    pub name: Cow<'static, str>,
    /// One-line description for lists.
    pub about: Cow<'static, str>,
}

impl Named {
    /// Builds a list from names and descriptions.
    pub fn list(entries: &[(&'static str, &'static str)]) -> Vec<Self> {
        entries.iter().map(|&(name, about)| Self { name: name.into(), about: about.into() }).collect()
    }
}

/// Opens a thing by its name. None if the name is unknown.
type Open<'a, T> = Box<dyn Fn(&str) -> Option<T> + 'a>;

/// Things of one kind that users choose by name, such as the encoders of a game: their names, and the function that opens one.
/// Nothing is opened before somebody asks for it. A name can be a form, such as `equity:T`, whose parameters the function reads.
///
/// ```
/// use adept_game::Listing;
///
/// let all = Listing::one("one", "the number 1", 1).with("two", "the number 2", || 2);
/// assert_eq!((all.names().len(), all.open("two"), all.open("three")), (2, Some(2), None));
/// ```
pub struct Listing<'a, T> {
    names: Vec<Named>,
    open: Vec<Open<'a, T>>,
}

impl<T> Default for Listing<'_, T> {
    /// A list of nothing.
    fn default() -> Self {
        Self { names: Vec::new(), open: Vec::new() }
    }
}

impl<'a, T> Listing<'a, T> {
    /// A list of these names. `open` opens the thing with a given name, and gives none for an unknown one.
    pub fn new(names: Vec<Named>, open: impl Fn(&str) -> Option<T> + 'a) -> Self {
        Self { names, open: vec![Box::new(open)] }
    }

    /// A list of one thing.
    pub fn one(name: impl Into<Cow<'static, str>>, about: impl Into<Cow<'static, str>>, thing: T) -> Self
    where
        T: Clone + 'a,
    {
        Self::default().with(name, about, move || thing.clone())
    }

    /// The list with one more entry at its end, which `make` makes.
    #[must_use]
    pub fn with(
        mut self,
        name: impl Into<Cow<'static, str>>,
        about: impl Into<Cow<'static, str>>,
        make: impl Fn() -> T + 'a,
    ) -> Self {
        let name = name.into();
        self.names.push(Named { name: name.clone(), about: about.into() });
        self.open.push(Box::new(move |wanted| (wanted == name).then(&make)));
        self
    }

    /// Names and descriptions. The first one is the default where there is a default.
    pub fn names(&self) -> &[Named] {
        &self.names
    }

    /// Opens the thing named `name`. None if the name is unknown.
    pub fn open(&self, name: &str) -> Option<T> {
        self.open.iter().find_map(|open| open(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_opens_what_it_lists() {
        let one = Listing::one("one", "the number 1", 1);
        let all = one.with("two", "the number 2", || 2);
        let names: Vec<&str> = all.names().iter().map(|named| &*named.name).collect();
        assert_eq!(names, ["one", "two"]);
        assert_eq!(["one", "two", "three"].map(|name| all.open(name)), [Some(1), Some(2), None]);
        let forms = Listing::new(Named::list(&[("N", "any number")]), |name| name.parse::<i32>().ok());
        assert_eq!((forms.open("17"), forms.open("x")), (Some(17), None));
        assert!(Listing::<i32>::default().names().is_empty());
    }
}
