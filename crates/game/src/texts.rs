//! Games in words and pictures, for people.

use crate::game::Game;

/// How a game speaks to people: drawings, sentences about moves and chance, the rules in short. [`Plain`] makes do with the texts of
/// positions and actions.
///
/// `play`, the page and Python show them; reports of positions (`value`, `review`) use the texts of positions and actions.
///
/// ```
/// use adept_game::{Game, Plain, Texts, tiny::{Nim, Take}};
///
/// /// Says how things are taken, and leaves the rest as it is.
/// struct Words;
/// impl Texts<Nim> for Words {
///     fn told(&self, _: &Nim, _: &<Nim as Game>::State, take: &Take, who: &str, you: bool) -> String {
///         format!("{who} {} {} from heap {}.", if you { "take" } else { "takes" }, take.count, take.heap + 1)
///     }
/// }
/// let (game, take) = (Nim::default(), Take { heap: 1, count: 2 });
/// assert_eq!(Words.told(&game, &game.start(), &take, "You", true), "You take 2 from heap 2.");
/// assert_eq!(Plain.told(&game, &game.start(), &take, "You", true), "You move 2 from 2.");
/// ```
pub trait Texts<G: Game>: Send + Sync {
    /// The rules in short and how to write a move, for a person at a terminal: paragraphs with blank lines between them, and
    /// list items that begin with `- `.
    fn rules(&self, _game: &G) -> Option<String> {
        None
    }

    /// A drawing of the position on several lines. `marks` puts a few characters, such as a value, beside legal actions. Games that show
    /// the side of the player to move show that of the player in `seat` where nobody is to move.
    ///
    /// ```
    /// use adept_game::{Game, Plain, Texts, tiny::{Nim, Take}};
    ///
    /// let game = Nim::default();
    /// let marks = [(Take { heap: 0, count: 2 }, "+1.00".to_string())];
    /// assert_eq!(Plain.board(&game, &game.start(), &marks, 0), "3 4 5 @1\n  2 from 1  +1.00\n");
    /// ```
    fn board(&self, game: &G, state: &G::State, marks: &[(G::Action, String)], _seat: usize) -> String {
        let mut text = game.position_text(state) + "\n";
        for (action, mark) in marks {
            text.push_str(&format!("  {}  {mark}\n", game.action_text(state, action)));
        }
        text
    }

    /// The texts of several actions of a state, in their order.
    fn actions(&self, game: &G, state: &G::State, actions: &[G::Action]) -> Vec<String> {
        actions.iter().map(|action| game.action_text(state, action)).collect()
    }

    /// An action as something that a player does, such as `You move b2.` `who` is the player's name, `you` whether it is the
    /// reader.
    fn told(&self, game: &G, state: &G::State, action: &G::Action, who: &str, you: bool) -> String {
        let text = game.action_text(state, action);
        let mut all = Vec::new();
        if text == "pass" {
            game.actions(state, &mut all);
        }
        match all.len() {
            1 => format!("{who} {} no legal move.", if you { "have" } else { "has" }),
            _ => format!("{who} {} {text}.", if you { "move" } else { "moves" }),
        }
    }

    /// A chance outcome as a sentence for the player in `seat`, who is its only reader.
    fn chance(&self, game: &G, state: &G::State, action: &G::Action, _seat: usize) -> String {
        format!("Chance brings {}.", game.action_text(state, action))
    }

    /// What a player's action reveals to everyone, as a sentence for the player in `seat`.
    fn event(&self, _game: &G, _state: &G::State, _action: &G::Action, _seat: usize) -> Option<String> {
        None
    }

    /// Whether the other players do not see this action when it is made.
    fn is_secret(&self, _game: &G, _state: &G::State, _action: &G::Action) -> bool {
        false
    }

    /// What this player must know to decide and a position read from text can lack, such as `its cards`. None if nothing is
    /// missing.
    ///
    /// ```
    /// use adept_game::{Game, Kit, tiny::Bluff};
    ///
    /// let (hand, _) = Bluff.parse_position("? 3 -")?;
    /// assert_eq!(Bluff.texts().missing(&Bluff, &hand, 0), Some("its card"));
    /// assert_eq!(Bluff.texts().missing(&Bluff, &hand, 1), None); // it decides without
    /// # Ok::<(), adept_game::GameError>(())
    /// ```
    fn missing(&self, _game: &G, _state: &G::State, _player: usize) -> Option<&'static str> {
        None
    }

    /// A position as text for lists, which [`parse_position`](Game::parse_position) reads: its usual text, or a shorter one.
    fn short(&self, game: &G, state: &G::State) -> String {
        game.position_text(state)
    }

    /// A position on one line with the action that led to it, if the game's text form includes it.
    fn afterstate(&self, game: &G, state: &G::State, _action: Option<&G::Action>) -> String {
        game.position_text(state)
    }
}

/// The texts of positions and actions.
pub struct Plain;

impl<G: Game> Texts<G> for Plain {}
