"""Games of self-play as arrays."""

from typing import Any, TypedDict

import numpy as np

from . import _adept

# Columns of the decisions and of the games that λ-returns follow from.
_OF_DECISIONS = ("row", "player", "value", "best", "reward", "outcomes", "possible")
_OF_GAMES = ("lambda", "result", "end")


class Samples(TypedDict):
    """Rows with targets: what `adept.torch.Network.loss` takes."""

    dense: Any
    index: Any
    targets: Any
    weights: Any


class Trajectories:
    """Games that `SelfPlay.play` wrote down: what the learner saw, did and got, a row for each move that did not end its game.

    Rows stand in the order of play, game after game. An object has these arrays, of `n` rows and `g` games; numbers of rows, games and
    players count from 0:

    - `dense` `(n, dense_width)` and `index` `(n, index_width)`: the input of the network for the position after the move, as the
      player who made it sees it. `index` is `int64`; keys of tables have 64 bits, so that some are negative.
    - `game`, `ply`, `player`: the game of a row, the moves of players before it in the game, and who moved.
    - `value`: of the row, by the network of the time when it was played. `best`: the highest value among the moves that
      `player` had, which this one has too unless it explored.
    - `explored`: whether the move was drawn at random (which may draw the best one), or with a temperature was not the best.
    - `reward`: what `player` got after the row, until `next`: the rewards on the way, if `learn.td.rewards = "steps"`. In the last row of
      a player in a game it is with the result, utility / scale, times `learn.td.discount` if the player's own move ends the game. Without
      rewards on the way it is 0 but for the last row.
    - `next`: the row after the same player's next move, −1 if the game ends before that or with it. `reply`: the next row of the game,
      whoever moved.
    - `weights`: 1 for each row.
    - `utility` `(g, players)`: what a game was worth; `outcome` `(g, players)`: the number of its class in `classes`, −1 where the
      game has no classes, or ended because a table knew its value. `number` `(g,)`: of the game in its self-play.
    - `starts` `(g + 1,)`: rows `starts[i]` to `starts[i + 1] − 1` are those of game `i`.

    Its length is the number of games. `trajectories[3]`, `[2:5]`, `[[1, 4]]` and a mask select games. Only moves of the learner have
    rows, not those of other agents in `learn.td.against` or `field`. A pickle has all arrays and texts.
    """

    def __init__(self):
        raise TypeError("SelfPlay.play(n, trajectories=True) makes trajectories")

    @classmethod
    def _of(cls, rows, decisions, games, starts, about, texts, numbers=None):
        """`texts` is what finds texts, in which the games have these `numbers`; or the texts of all rows."""
        new = cls.__new__(cls)
        new._rows, new._decisions, new._games, new._starts, new._about, new._texts = rows, decisions, games, starts, about, texts
        new._numbers = numbers
        new.__dict__.update(rows)
        new.starts, new.number = starts[0], games["number"]
        new.utility, new.outcome, new.classes = games["utility"], games["outcome"], about["classes"]
        return new

    def __len__(self):
        return len(self.number)

    def __repr__(self):
        return f"<adept.Trajectories of {len(self)} games, {len(self.dense)} rows>"

    def __getitem__(self, games):
        """The trajectories of one game, of a slice, or of several games by number or mask."""
        n = len(self)
        if isinstance(games, slice):
            first, end, step = games.indices(n)
            if step == 1:
                return self._part(first, max(first, end))
            games = np.arange(first, end, step)
        games = np.asarray(games)
        if games.dtype == bool:
            if games.shape != (n,):
                raise IndexError(f"a mask of shape {games.shape} for {n} games")
            games = games.nonzero()[0]
        if games.size and games.dtype.kind not in "iu":
            raise TypeError(f"games are selected by number, slice or mask, not by {games.dtype}")
        if games.ndim > 1:
            raise IndexError(f"games are selected by one list of numbers, not by an array of shape {games.shape}")
        if games.size and not (-n <= games.min() and games.max() < n):
            raise IndexError(f"game {games.max() if games.max() >= n else games.min()}: there are {n} games")
        games = games.astype(np.int64) % max(n, 1)
        return self._part(int(games), int(games) + 1) if games.ndim == 0 else self._selected(games)

    def __iter__(self):
        return self.games()

    def games(self):
        """The games one by one, each as trajectories of its own that share the arrays."""
        return (self._part(i, i + 1) for i in range(len(self)))

    def _part(self, first, end):
        """A range of games: views of the arrays, but for numbers of rows and games."""
        rows, decisions = (slice(int(starts[first]), int(starts[end])) for starts in self._starts)
        return self._taken(slice(first, end), rows, decisions, np.arange(first, end))

    def _selected(self, games):
        rows, decisions = (_ranges(starts, games) for starts in self._starts)
        return self._taken(games, rows, decisions, games)

    def _taken(self, which, rows, decisions, numbers):
        """The games `numbers`, with the rows and decisions that they have."""
        starts = tuple(np.concatenate([[0], np.cumsum(np.diff(starts)[which])]) for starts in self._starts)
        lengths = np.diff(starts[0])
        # How far the rows of each game move to the front.
        moved = self.starts[numbers] - starts[0][:-1]
        of_rows = {name: column[rows] for name, column in self._rows.items()}
        of_rows["game"] = np.repeat(np.arange(len(numbers)), lengths)
        for name in ("next", "reply"):
            to = of_rows[name]
            of_rows[name] = np.where(to < 0, -1, to - np.repeat(moved, lengths))
        of_decisions = {name: column[decisions] for name, column in self._decisions.items()}
        row = of_decisions["row"]
        of_decisions["row"] = np.where(row < 0, -1, row - np.repeat(moved, np.diff(starts[1])))
        games = {name: column[which] for name, column in self._games.items()}
        if isinstance(self._texts, list):
            texts = [self._texts[i] for i in np.arange(len(self.dense))[rows]]
            return self._of(of_rows, of_decisions, games, starts, self._about, texts)
        known = numbers if self._numbers is None else self._numbers[numbers]
        return self._of(of_rows, of_decisions, games, starts, self._about, self._texts, known)

    def split(self, fraction=0.8, seed=0):
        """Two parts without a game in common, such as training and validation: `fraction` of the games, drawn at random by `seed`,
        and the others. The games of each part stay in order."""
        if not 0 <= fraction <= 1:
            raise ValueError(f"fraction = {fraction}: must lie in 0..1")
        drawn = np.random.default_rng(seed).permutation(len(self))
        count = round(fraction * len(self))
        return self._selected(np.sort(drawn[:count])), self._selected(np.sort(drawn[count:]))

    def lambda_returns(self, lam=None, *, along=None, values=None):
        """λ-returns of all rows for the player who moved: `(n,)`, or with `head = "outcomes"` distributions `(n, classes)`.

        `lam` is λ, by default that of the config when each game was played. The return runs along the decisions of each player,
        `"player"`, or of both in turn, `"both"`, where the value of a reply counts with the opposite sign; by default as
        `learn.td.along` says. The discount, `learn.td.next` and `learn.td.clip` are those of the config. So
        `lambda_returns()` are the targets of `SelfPlay.play`. A move that explored and was not the best ends a return, and
        leaves the highest value of the time (Watkins), unless `learn.td.next = "chosen"`.

        `values` are outputs of a network for all rows, in place of those of the time: `(n,)`, or `(n, classes)`, from which
        impossible classes are taken."""
        about = self._about
        if along is None:
            both = about["along"] == "both"
        elif along in ("player", "both"):
            both = along == "both"
        else:
            raise ValueError(f'along = {along!r}: "player" or "both"')
        if both and about["no_both"]:
            raise _adept.AdeptError(f'along = "both": {about["no_both"]}: leave it out')
        columns = {name: self._decisions[name] for name in _OF_DECISIONS}
        columns.update((name, self._games[name]) for name in _OF_GAMES)
        columns["starts"] = self._starts[1]
        if lam is not None:
            if not 0 <= lam <= 1:
                raise ValueError(f"lam = {lam}: must lie in 0..1")
            columns["lambda"] = np.full(len(self), lam, dtype=np.float32)
        if hasattr(values, "detach"):
            values = values.detach().cpu().numpy()
        how = about["discount"], about["chosen"], about["clip"]
        return _adept.lambda_returns(columns, len(self.dense), about["players"], both, how, about["mirror"], values)

    def samples(self, lam=None, *, along=None, values=None):
        """What `SelfPlay.play` returns without trajectories, in the order of play: `dense`, `index`, `targets` and `weights`, for
        `Network.loss(**samples)`. Arguments are those of `lambda_returns`."""
        targets = self.lambda_returns(lam, along=along, values=values)
        return {"dense": self.dense, "index": self.index, "targets": targets, "weights": self.weights}

    def torch(self):
        """The arrays with a number for each row, as tensors of PyTorch that share their memory. Indices are `int64`."""
        import torch

        return {name: torch.from_numpy(column) for name, column in self._rows.items()}

    def state_text(self, row):
        """The position in which the move of a row was made."""
        return self._shown(row)[0]

    def action_text(self, row):
        """The move of a row."""
        return self._shown(row)[1]

    def after_text(self, row):
        """The position after the move of a row: `Model.encode` has its row, where the text tells all that the encoder reads."""
        return self._shown(row)[2]

    @property
    def states(self):
        """The positions in which moves were made, as a list of texts: made anew each time."""
        return [texts[0] for texts in self._all_texts()]

    @property
    def actions(self):
        """The moves, as a list of texts: made anew each time."""
        return [texts[1] for texts in self._all_texts()]

    @property
    def afterstates(self):
        """The positions after the moves, as a list of texts: made anew each time."""
        return [texts[2] for texts in self._all_texts()]

    def _shown(self, row):
        n = len(self.dense)
        if not -n <= row < n:
            raise IndexError(f"row {row}: there are {n} rows")
        row = int(row) % n
        if isinstance(self._texts, list):
            return self._texts[row]
        return self._texts.shown(self._number_of(self.game[row]), [int(self.ply[row])])[0]

    def _all_texts(self):
        if isinstance(self._texts, list):
            return self._texts
        found, ply = [], self.ply.tolist()
        for game, (first, end) in enumerate(zip(self.starts[:-1].tolist(), self.starts[1:].tolist())):
            found += self._texts.shown(self._number_of(game), ply[first:end])
        return found

    def _number_of(self, game):
        return int(game if self._numbers is None else self._numbers[game])

    def __reduce__(self):
        # A view would take along all that it is a view of.
        whole = lambda of: {name: np.ascontiguousarray(column) for name, column in of.items()}
        of_all = whole(self._rows), whole(self._decisions), whole(self._games)
        return _restored, (*of_all, self._starts, self._about, self._all_texts())


def _restored(*state):
    return Trajectories._of(*state)


def _ranges(starts, games):
    """The numbers from `starts[game]` to `starts[game + 1] − 1` of each game, one after the other."""
    lengths = np.diff(starts)[games]
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts[games] - (ends - lengths), lengths)
