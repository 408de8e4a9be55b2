//! Games of self-play as arrays, and λ-returns along them. The class around them is in `python/adept/_trajectories.py`.

use crate::errors::guarded;
use crate::fault;
use adept_library::game::OutcomeClass;
use adept_library::model::Head;
use adept_trainer::config::{Along, Rewards, TdSettings};
use adept_trainer::run::{InWords, Recorded};
use adept_trainer::td::{self, Bootstrap, Columns, Shown};
use numpy::{Element, IntoPyArray, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{exceptions::PyTypeError, intern};

/// Positions and moves of games in words.
#[pyclass(frozen, module = "adept._adept")]
pub(crate) struct Texts(Box<InWords>);

#[pymethods]
impl Texts {
    /// The state, the action and the state after it of moves of a game, by the numbers of moves before them.
    fn shown(&self, py: Python<'_>, game: usize, plies: Vec<u32>) -> PyResult<Vec<(String, String, String)>> {
        let shown = py.detach(|| guarded(|| self.0(game, &plies)))?;
        if shown.len() != plies.len() {
            return Err(fault(format!("game {game} has other moves than {plies:?}")));
        }
        Ok(shown.into_iter().map(|Shown { state, action, after }| (state, action, after)).collect())
    }
}

/// What a row of a game leads to.
struct Following {
    /// The next row of the same player, and of any.
    next: Vec<i64>,
    reply: Vec<i64>,
    /// What the player gets until the next row of the player, at the end with the result.
    reward: Vec<f32>,
}

impl Following {
    fn of(columns: &Columns, rows: usize, discount: f32) -> Self {
        let mut found = Self { next: vec![-1; rows], reply: vec![-1; rows], reward: vec![0.0; rows] };
        // The decision of each player that follows, by number.
        let mut later: Vec<Option<usize>> = vec![None; columns.players];
        for (game, pair) in columns.starts.windows(2).enumerate() {
            later.fill(None);
            let (first, end) = (pair[0] as usize, pair[1] as usize);
            for i in (first..end).rev() {
                let player = columns.player[i] as usize;
                if let Ok(row) = usize::try_from(columns.row[i]) {
                    let result = columns.result[game * columns.players + player];
                    found.reply[row] = if i + 1 < end { columns.row[i + 1] } else { -1 };
                    (found.next[row], found.reward[row]) = match later[player] {
                        None => (-1, result),
                        Some(next) if columns.row[next] < 0 => (-1, columns.reward[next] + discount * result),
                        Some(next) => (columns.row[next], columns.reward[next]),
                    };
                }
                later[player] = Some(i);
            }
        }
        found
    }
}

/// Recorded games as the object of Python, for a config with these settings.
pub(crate) fn into_python<'py>(
    py: Python<'py>,
    recorded: Recorded,
    settings: &TdSettings,
) -> PyResult<Bound<'py, PyAny>> {
    let Recorded { rows, columns, lambda, first, head, bootstrap, classes, zero_sum, texts } = recorded;
    let (n, games, players) = (rows.len(), columns.games(), columns.players);
    let decisions = columns.decisions();
    let Following { next, reply, reward } = Following::of(&columns, n, bootstrap.discount);
    let (mut game, mut starts) = (Vec::with_capacity(n), vec![0i64; games + 1]);
    let kept: Vec<usize> = (0..decisions).filter(|&i| columns.row[i] >= 0).collect();
    for (number, pair) in columns.starts.windows(2).enumerate() {
        let here = (pair[0]..pair[1]).filter(|&i| columns.row[i as usize] >= 0).count();
        game.extend(std::iter::repeat_n(number as i64, here));
        starts[number + 1] = game.len() as i64;
    }
    let of_rows = PyDict::new(py);
    let (dense, index) = (rows.dense_width(), rows.index_width());
    of_rows.set_item("dense", rows.dense.into_pyarray(py).reshape([n, dense])?)?;
    // The same bits: PyTorch has no whole numbers without a sign.
    let words = rows.index.into_pyarray(py).call_method1("view", ("int64",))?;
    of_rows.set_item("index", words.call_method1("reshape", (n, index))?)?;
    of_rows.set_item("game", game.into_pyarray(py))?;
    let of = |column: &[i64]| -> Vec<i64> { kept.iter().map(|&i| column[i]).collect() };
    let floats = |column: &[f32]| -> Vec<f32> { kept.iter().map(|&i| column[i]).collect() };
    of_rows.set_item("ply", of(&columns.ply).into_pyarray(py))?;
    of_rows.set_item("player", of(&columns.player).into_pyarray(py))?;
    of_rows.set_item("value", floats(&columns.own).into_pyarray(py))?;
    of_rows.set_item("best", floats(&columns.best).into_pyarray(py))?;
    of_rows.set_item("reward", reward.into_pyarray(py))?;
    let explored: Vec<bool> = kept.iter().map(|&i| columns.explored[i]).collect();
    of_rows.set_item("explored", explored.into_pyarray(py))?;
    of_rows.set_item("next", next.into_pyarray(py))?;
    of_rows.set_item("reply", reply.into_pyarray(py))?;
    of_rows.set_item("weights", vec![1.0f32; n].into_pyarray(py))?;

    let of_decisions = PyDict::new(py);
    of_decisions.set_item("row", columns.row.into_pyarray(py))?;
    of_decisions.set_item("player", columns.player.into_pyarray(py))?;
    of_decisions.set_item("value", columns.value.into_pyarray(py))?;
    of_decisions.set_item("best", columns.best.into_pyarray(py))?;
    of_decisions.set_item("reward", columns.reward.into_pyarray(py))?;
    let each = columns.outcomes.len().checked_div(decisions).unwrap_or(0);
    of_decisions.set_item("outcomes", columns.outcomes.into_pyarray(py).reshape([decisions, each])?)?;

    let possible: Vec<i64> = columns.possible.iter().map(|&bits| bits as i64).collect();
    of_decisions.set_item("possible", possible.into_pyarray(py))?;

    let of_games = PyDict::new(py);
    let numbers: Vec<i64> = (0..games).map(|i| (first + i as u64) as i64).collect();
    of_games.set_item("number", numbers.into_pyarray(py))?;
    of_games.set_item("lambda", lambda.into_pyarray(py))?;
    of_games.set_item("result", columns.result.into_pyarray(py).reshape([games, players])?)?;
    of_games.set_item("utility", columns.utility.into_pyarray(py).reshape([games, players])?)?;
    of_games.set_item("outcome", columns.outcome.into_pyarray(py).reshape([games, players])?)?;
    let each = columns.end.len().checked_div(games).unwrap_or(0);
    of_games.set_item("end", columns.end.into_pyarray(py).reshape([games, each])?)?;

    let about = PyDict::new(py);
    about.set_item("players", players)?;
    about.set_item("discount", bootstrap.discount)?;
    about.set_item("chosen", bootstrap.chosen)?;
    about.set_item("clip", bootstrap.clip)?;
    let names: Vec<String> = classes.into_iter().map(|class| class.name).collect();
    about.set_item("classes", names)?;
    let head = head.classes();
    let mirror: Option<Vec<usize>> = head.map(|all| all.iter().map(|class| class.mirror).collect());
    about.set_item("mirror", mirror)?;
    about.set_item("along", if settings.along == Along::Both { "both" } else { "player" })?;
    let no_both = match settings.rewards {
        _ if !zero_sum => {
            Some("replies count in zero-sum games of two players without hidden information alone")
        }
        Rewards::Steps => Some("replies count where the outcome alone is learned, not rewards on the way"),
        Rewards::Outcome => None,
    };
    about.set_item("no_both", no_both)?;

    let starts = (starts.into_pyarray(py), columns.starts.into_pyarray(py));
    let texts = Bound::new(py, Texts(texts))?;
    let class = py.import(intern!(py, "adept._trajectories"))?.getattr(intern!(py, "Trajectories"))?;
    class.call_method1(intern!(py, "_of"), (of_rows, of_decisions, of_games, starts, about, texts))
}

/// The numbers of an array of this type.
fn column<T: Element + Copy>(columns: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>> {
    let found = columns.get_item(name)?.ok_or_else(|| fault(format!("no column `{name}`")))?;
    let array: PyReadonlyArrayDyn<'_, T> = found
        .extract()
        .map_err(|_| PyTypeError::new_err(format!("{name}: an array of another type is needed")))?;
    Ok(array.as_array().iter().copied().collect())
}

/// λ-returns of all rows: see `Trajectories.lambda_returns`. `how` is the discount, whether the value of the chosen action counts, and
/// the largest absolute value; `mirror` has the class of the other player for each class of outcomes.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the arrays of an object of Python")]
pub(crate) fn lambda_returns<'py>(
    py: Python<'py>,
    columns: &Bound<'py, PyDict>,
    rows: usize,
    players: usize,
    both: bool,
    how: (f32, bool, f32),
    mirror: Option<Vec<usize>>,
    values: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let found = Columns {
        players,
        starts: column(columns, "starts")?,
        row: column(columns, "row")?,
        player: column(columns, "player")?,
        value: column(columns, "value")?,
        best: column(columns, "best")?,
        reward: column(columns, "reward")?,
        outcomes: column(columns, "outcomes")?,
        possible: column::<i64>(columns, "possible")?.into_iter().map(|bits| bits as u64).collect(),
        result: column(columns, "result")?,
        end: column(columns, "end")?,
        ..Columns::default()
    };
    let lambda: Vec<f32> = column(columns, "lambda")?;
    let head = match mirror {
        None => Head::Value,
        Some(mirror) => Head::Outcomes(mirror.into_iter().map(|m| OutcomeClass::new("", 0.0, m)).collect()),
    };
    let outputs = head.outputs();
    found.check(&head, rows).map_err(fault)?;
    if head.classes().is_some_and(|classes| classes.iter().any(|class| class.mirror >= outputs))
        || lambda.len() != found.games()
    {
        return Err(fault("the columns of games do not fit together"));
    }
    let fresh = values.map(|values| fresh_values(values, rows, outputs)).transpose()?;
    let (discount, chosen, clip) = how;
    let bootstrap = Bootstrap { lambda: 0.0, discount, chosen, clip };
    let returns =
        py.detach(|| td::lambda_returns(&found, &head, rows, both, &lambda, bootstrap, fresh.as_deref()));
    let returns = returns.into_pyarray(py);
    match outputs {
        1 => Ok(returns.into_any()),
        outputs => Ok(returns.reshape([rows, outputs])?.into_any()),
    }
}

/// Numbers of all rows in place of those of the time when they were played.
fn fresh_values(given: &Bound<'_, PyAny>, rows: usize, outputs: usize) -> PyResult<Vec<f32>> {
    let py = given.py();
    let array = py.import("numpy")?.call_method1("asarray", (given, "float32"))?;
    let array: PyReadonlyArrayDyn<'_, f32> = array.extract()?;
    let shape = array.shape();
    let fits = shape == [rows, outputs] || outputs == 1 && shape == [rows];
    if !fits {
        let needed = if outputs == 1 { format!("({rows},)") } else { format!("({rows}, {outputs})") };
        return Err(fault(format!("values of shape {shape:?}: {needed} is needed, a number for each row")));
    }
    let found: Vec<f32> = array.as_array().iter().copied().collect();
    match found.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(fault(format!("values: row {} has {}", at / outputs, found[at]))),
        None => Ok(found),
    }
}
