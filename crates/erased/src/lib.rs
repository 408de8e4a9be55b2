//! Type erasure in one place: [`macro@erased`] declares a trait by its one generic implementation, so that a method of an erased
//! game is written once.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

use proc_macro::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};

/// Declares the trait that an `impl` block implements. The trait gets the attributes and the documentation of the block and
/// of its methods.
///
/// ```
/// use adept_erased::erased;
/// use std::fmt::Debug;
///
/// /// A value without its type.
/// #[erased(trait Shown: Send)]
/// impl<T: Debug + Send> Shown for T {
///     /// Its text.
///     fn text(&self) -> String {
///         format!("{self:?}")
///     }
/// }
///
/// let all: [Box<dyn Shown>; 2] = [Box::new(1), Box::new("one")];
/// assert_eq!(all.map(|one| one.text()), ["1", "\"one\""]);
/// ```
#[proc_macro_attribute]
pub fn erased(header: TokenStream, item: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let Some(TokenTree::Group(body)) = tokens.pop() else {
        return "compile_error!(\"`erased` is for an `impl` block\");".parse().unwrap_or_default();
    };
    let block = tokens.split_off(attributes(&tokens));
    let (mut declared, mut implemented) = (TokenStream::new(), TokenStream::new());
    let mut method: Vec<TokenTree> = Vec::new();
    for token in body.stream() {
        if !matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace) {
            method.push(token);
            continue;
        }
        let signature = method.split_off(attributes(&method));
        declared.extend(method.drain(..).chain(signature.iter().cloned()));
        declared.extend([TokenTree::Punct(Punct::new(';', Spacing::Alone))]);
        implemented.extend(signature.into_iter().chain([token]));
    }
    let braced = |found: TokenStream| {
        let mut group = Group::new(Delimiter::Brace, found);
        group.set_span(body.span());
        TokenTree::Group(group)
    };
    let whole = tokens.into_iter().chain(header).chain([braced(declared)]);
    whole.chain(block).chain([braced(implemented)]).collect()
}

/// Number of tokens of the attributes at the start: each is `#` and a group.
fn attributes(tokens: &[TokenTree]) -> usize {
    let is_attribute =
        |pair: &&[TokenTree]| matches!(&pair[0], TokenTree::Punct(sign) if sign.as_char() == '#');
    2 * tokens.chunks(2).take_while(is_attribute).count()
}
