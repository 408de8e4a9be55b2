//! The bear-off's [`Kit`]: encoders, valuations, distributions and files.

use super::game::Words;
use super::labelled::{Labelled, Places};
use super::{
    Bearoff, Distribution, MAX_CHECKERS, Position, Side, Stage, State, encoders, labelled, rank, valuations,
};
use crate::Family;
use adept_game::sheet::{Row, Sheet, Values};
use adept_game::{
    Card, Encoders, Example, Found, GameError, Kit, Listing, Named, Numbering, OutcomeClass, ParsedPosition,
    PositionClass, PositionFiles, Positions, Results, TextFiles, Texts,
};
use adept_ground::limits;
use rand::Rng;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

impl Family for Bearoff {
    const USUAL: &str = "bearoff";

    fn named(name: &str) -> Found<Self> {
        let ours = name == "bearoff" || name.starts_with("bearoff:");
        let most = Self::MOST_CHECKERS;
        let wrong = || {
            GameError::new(format!(
                "`{name}`: write bearoff, which has at most 14 checkers per side, or bearoff:N with at most N, 1 to {most}"
            ))
        };
        ours.then(|| Self::named(name).ok_or_else(wrong))
    }
}

/// The positions whose larger side has exactly this many checkers: with the larger side as `own`, and with it as `opponent`.
fn of_class(checkers: u8) -> PositionClass<Bearoff> {
    let large = rank::of_count(checkers);
    let (first, larger, smaller) = (large.start, large.len(), large.start - 1);
    let other = larger + 2 * smaller;
    let position = move |number: u64| {
        let (one, two) = (number as usize / other, number as usize % other);
        let (own, opponent) = match two {
            _ if two < larger + smaller => {
                (first + one, if two < larger { first + two } else { 1 + two - larger })
            }
            _ => (1 + two - larger - smaller, first + one),
        };
        State::to_roll(Position { own: Side::of_rank(own), opponent: Side::of_rank(opponent) })
    };
    PositionClass { class: checkers.into(), count: (larger * other) as u64, position: Box::new(position) }
}

impl Kit for Bearoff {
    fn card(&self) -> Card {
        Card {
            about: "the end of backgammon, points 1 to 6, at most 14 checkers per side; bearoff:N for at most N, 1 to 15"
            .into(),
            starter: Some(include_str!("starter.toml").into()),
            ..Card::of(self)
        }
    }

    fn results(&self) -> Results<Self> {
        Results::of(|_| Ok(OutcomeClass::loss_win()))
    }

    /// A double moves checkers four times. How often each moves decides the result, C(N + 3, 4) ways, and so do the points from which
    /// they move, C(9, 4) ways.
    fn action_numbers(&self) -> Numbering<Self> {
        let n = usize::from(self.checkers());
        Numbering::at_most((n * (n + 1) * (n + 2) * (n + 3) / 24).min(126))
    }

    fn texts(&self) -> &dyn Texts<Self> {
        &Words
    }

    fn encoders(&self) -> Encoders<'_, Self> {
        Encoders::<Self>::new(Named::list(&encoders::ALL), |name| {
            Some(Arc::new(encoders::Sides::parse(name)?))
        })
    }

    fn values(&self) -> adept_game::Values<'_, Self> {
        adept_game::Values {
            // The default of 16 bits is too coarse for small losses.
            judge: "oracle-32",
            references: Some(Box::new(|| valuations::references(self))),
            for_positions: Some(Box::new(|positions, purpose| {
                valuations::for_positions(self, positions, purpose)
            })),
            halves: Some(Box::new(|| valuations::halves(self))),
            ..adept_game::Values::of(Listing::new(Named::list(&valuations::ALL), |name| {
                valuations::valuation(self, name)
            }))
        }
    }

    fn positions(&self) -> Positions<Self> {
        let number = |state: &State| {
            let Position { own, opponent } = state.position();
            own.rank() as u64 * rank::sides(MAX_CHECKERS) as u64 + opponent.rank() as u64
        };
        let distribution = |(name, about): (&'static str, _)| {
            let (kind, checkers) = (name.parse::<Distribution>().ok()?, self.checkers());
            let draw = move |rng: &mut dyn Rng| State::to_roll(kind.sample(checkers, rng));
            Some(adept_game::Distribution::new(name, about, draw))
        };
        Positions {
            class: |state| state.position().checkers().into(),
            class_name: "checkers of the larger side",
            classes: (1..=self.checkers()).map(of_class).collect(),
            ..Positions::new(Distribution::ALL.into_iter().filter_map(distribution).collect(), number)
        }
    }

    fn files(&self) -> &dyn PositionFiles<Self> {
        &Columns
    }
}

/// Tables of positions with a column for each point; see [`labelled`].
struct Columns;

impl PositionFiles<Bearoff> for Columns {
    /// Reads the columns of a table, with own to roll, or one position per line in text form.
    fn read(&self, game: &Bearoff, path: &Path) -> Result<Vec<ParsedPosition<Bearoff>>, GameError> {
        let sheet = Sheet::read(path)?;
        let Some(places @ Places::Points(_)) = Places::find(&sheet)? else {
            return adept_game::files::positions(game, &sheet);
        };
        let values = Values::of(&sheet)?.map(Values::column);
        sheet.note_ignored(&[places.columns(), values.as_slice()].concat());
        let read = |row: Result<Row<'_>, GameError>| {
            let row = row?;
            let position = places.of_row(&row)?;
            game.check(position).map_err(|why| row.fault(&why))?;
            Ok((State::to_roll(position), None))
        };
        sheet.rows().map(read).collect()
    }

    /// Reads positions with values for the side to roll.
    fn read_examples(&self, game: &Bearoff, path: &Path) -> Result<Vec<Example<State>>, GameError> {
        let check = |position: Position| {
            game.check(position)?;
            match position.is_over() {
                true => Err("a side has no checkers, so the game is over and its value is known".into()),
                false => Ok(()),
            }
        };
        // Values in a file are for the side to roll; examples are for the side that just moved.
        let example = |row: Labelled| Example {
            outcomes: Vec::new(),
            state: State::to_roll(row.position),
            value: -row.value,
            line: row.line,
        };
        Ok(labelled::read_checked(path, check)?.into_iter().map(example).collect())
    }

    fn has_values(&self, _game: &Bearoff, path: &Path) -> Result<bool, GameError> {
        limits::check_lasting(path).map_err(GameError::file(path))?;
        let sheet = Sheet::read(path)?;
        Ok(Places::find(&sheet)?.is_some() && Values::of(&sheet)?.is_some())
    }

    fn write(&self, game: &Bearoff, positions: &[ParsedPosition<Bearoff>], values: &[f32]) -> String {
        // The columns cannot hold a position with a roll to play.
        if positions.iter().any(|(state, _)| matches!(state.stage, Stage::Move(_))) {
            return TextFiles.write(game, positions, values);
        }
        let mut text = format!("{}\n", labelled::COLUMNS.join(","));
        for ((state, _), value) in positions.iter().zip(values) {
            let Position { own, opponent } = state.position();
            let _ = writeln!(text, "{own},{opponent},{value:.9}");
        }
        text
    }
}
