"""Games written in Python."""

import ast
import math
import numbers
import random

from . import _adept

# Moves of a game, and of one whose play is measured exactly.
MOST = 10_000
MOST_EXACT = 1000
PURE = "methods must not draw or count; chance is the turn of adept.CHANCE"
UNSMALL = 'set small = False, and measure by `evaluate.suites = ["matches"]`'

CHANCE = "chance"
"""Returned by `Game.turn` where dice, cards or lots decide."""


class Game:
    """A game of your own: subclass it, set `name` and `inputs`, write the methods, and call `adept.register`.

    States, actions and chance outcomes are immutable values with `==` and `hash`, such as tuples, strings and frozen
    dataclasses (which need their own `text` and `parse`). All methods are pure: `apply` returns a new state. Players are numbered from 0.
    """

    name = ""
    """Name of the rule set, as in `game.rules` of a config."""
    about = ""
    """Description in a line."""
    players = 2
    inputs = 0
    """How many numbers `encode` returns; or a dict with the sizes of named groups, which architectures may read."""
    indices = {}
    """Whole numbers that choose experts, such as a phase of the game: a dict of names and of how many values each has. `encode` returns
    them behind the inputs, each from 0. `by` of an architecture names them."""
    scale = 1.0
    """Largest absolute utility."""
    unit = None
    """What results of matches count: None for games won, or the name of what a utility of 1 is, such as `"points"`, for mean
    utilities. Set it if games have stakes."""
    small = False
    """Whether all states can be listed. Play is then measured exactly. No state may come twice in a game, and games have
    fewer than 1,000 moves. The limit is about a million states. Other games have at most 10,000 moves."""
    zero_sum = None
    """Whether what one of two players wins the other loses. Default: yes, if there are two players."""
    hides = False
    """Whether players do not see everything. `encode` then gets the state before the action, and reads only what
    `player` knows."""
    needs_action = False
    """Whether `encode` needs the action, and cannot do with None. A position then has a row only with its last move."""
    most_actions = None
    """Upper bound on the legal actions of a state. Environments of Gymnasium, PettingZoo and OpenSpiel need it in a game of more than
    20,000 states; in others they count."""
    scripts = {}
    """Policies by name: functions of a state and its legal actions, which return an action, or a dict with the
    probabilities of actions. They are opponents in training and measurement."""

    def start(self):
        """The state in which a game begins."""
        raise _missing(self, "start")

    def turn(self, state):
        """The player to move, `adept.CHANCE`, or None if the game is over."""
        raise _missing(self, "turn")

    def actions(self, state):
        """The legal actions of the player to move, in a fixed order."""
        raise _missing(self, "actions")

    def apply(self, state, action):
        """The state after an action or a chance outcome."""
        raise _missing(self, "apply")

    def utility(self, state, player):
        """What a finished game is worth to a player, within ± `scale`."""
        raise _missing(self, "utility")

    def encode(self, state, player, action):
        """The inputs for the value of a state for `player`, who has just reached it by `action`: a list or an array of
        `inputs` numbers of order one, and then a number for each of `indices`. `action` may be None."""
        raise _missing(self, "encode")

    def outcomes(self, state):
        """The chance outcomes with their probabilities, as pairs."""
        raise _missing(self, "outcomes", ": turn has returned adept.CHANCE")

    def info(self, state, player):
        """What a player knows, in a game that hides something; equal if and only if the player cannot tell the states
        apart."""
        raise _missing(self, "info", ": the game hides something")

    def just_acted(self, state):
        """The player whose action led to this state, if the state shows it. `Model.encode`, and `Model.values` of positions
        before a chance event and of finished games, need it, and so do `[learn.supervised]`, files of labelled positions and the
        suite `rms`; TD and `Model.moves` do not."""
        return None

    def text(self, state):
        """A position on one line."""
        return repr(state)

    def parse(self, text):
        """The state that `text` writes."""
        return ast.literal_eval(text)

    def action_text(self, state, action):
        """An action as people write it."""
        return str(action)


def _missing(game, method, why=""):
    return NotImplementedError(f"{type(game).__name__} needs the method `{method}`{why}")


def check(game, games=20):
    """Plays random games, and raises an exception at the first thing that a `Game` must not do: a value of a wrong type, a state
    that is changed in place. Then checks the laws of all games along as many others, and returns a dict: `games`, `states`, and
    `breaches`, a list with the first breach of each law, with `law`, `found`, `seed`, `ply` and `position`. The list is empty if no
    law is broken. An exception in a method is raised as it is."""
    if not isinstance(game, Game):
        raise TypeError("a game is an object of a subclass of adept.Game, as in register(Nim())")
    _adept.look_at(game)
    taken = {"random", "minimax", "self"} & set(game.scripts)
    _must(not taken, f"scripts: {', '.join(sorted(taken))} is the name of an agent of every game: choose another")
    _same(_hashed(game.start(), "start: a state"), game.start(), "start returns")
    draw, known = random.Random(1), {}
    for _ in range(games):
        _play(game, draw, known)
    _adept.rehearse(game)
    return _adept.check_laws(game, games)


def _play(game, draw, known):
    """Plays a random game. `known` has the inputs of what players knew."""
    state, seen = game.start(), set()
    try:
        for _ in range(MOST_EXACT if game.small else MOST + 1):
            if game.small:
                twice = f"{_short(state)} comes twice in a game, so play cannot be measured exactly: {UNSMALL}"
                _must(state not in seen, twice)
                seen.add(state)
            turn = _turn(game, state)
            if turn is None:
                _check_end(game, state)
                return
            state = _step(game, state, turn, draw, known)
    except Exception as error:
        # What a method itself raises does not tell the state. Python 3.11 shows notes with the traceback.
        if hasattr(error, "add_note"):
            error.add_note(f"in a random game of `{game.name}`, at the state {_short(state)}")
        raise
    hint = UNSMALL if game.small else "count moves in the state, and end the game"
    raise ValueError(f"a random game of `{game.name}` does not end within {MOST_EXACT if game.small else MOST} moves: {hint}")


def _turn(game, state):
    shown = _short(state)
    _must(state == _parsed(game, state), f"parse(text(state)) is not the state {shown}")
    turn = game.turn(state)
    _same(turn, game.turn(state), f"turn of {shown} is")
    _must(
        turn is None or turn == CHANCE or isinstance(turn, numbers.Integral) and turn in range(game.players),
        f"turn of {shown} is {turn!r}, but players are 0 to {game.players - 1}",
    )
    return turn


def _step(game, state, turn, draw, known):
    """The state after a random action or outcome."""
    shown = _short(state)
    before = repr(state), hash(state), game.text(state)
    if turn == CHANCE:
        outcomes, chances = _chances(game, state)
        _must((outcomes, chances) == _chances(game, state), f"outcomes of {shown} differ when they are asked twice: {PURE}")
        action = draw.choices(outcomes, chances)[0]
    else:
        action = draw.choice(_actions(game, state, turn))
    after = game.apply(state, action)
    now = repr(state), hash(state), game.text(state)
    _must(now == before, f"apply has changed {before[2]}: return a new state")
    call = f"apply({shown}, {action!r})"
    _hashed(after, f"{call}: a state")
    _must(after == game.apply(state, action), f"{call} leads to two states: {PURE}")
    if turn != CHANCE:
        seen = state if game.hides else after
        row = _row(game, seen, turn, action)
        _must(row == _row(game, seen, turn, action), f"encode of {_short(seen)} differs when it is asked twice: {PURE}")
        if game.hides:
            what = turn, _hashed(game.info(state, turn), f"info of {shown}: what player {turn} knows"), action
            _must(
                known.setdefault(what, row) == row,
                f"encode tells two states apart in which player {turn} knows the same, {what[1]!r}: encode only what `info` has",
            )
    if game.hides:
        for player in range(game.players):
            info = game.info(after, player)
            _must(info is not None, f"info of {_short(after)} for player {player} is None")
            _hashed(info, f"info of {_short(after)}: what player {player} knows")
    return after


def _actions(game, state, turn):
    shown = _short(state)
    actions = _listed(game.actions(state), f"actions of {shown}")
    _must(actions, f"no action in {shown}, but it is the turn of player {turn}")
    for action in actions:
        _hashed(action, f"actions of {shown}: an action")
    _must(len(set(actions)) == len(actions), f"an action is listed twice in {shown}")
    _must(actions == list(game.actions(state)), f"actions of {shown} differ when they are asked twice: {PURE}")
    most = game.most_actions
    _must(most is None or len(actions) <= most, f"actions of {shown}: there are {len(actions)}, but most_actions is {most}")
    return actions


def _check_end(game, state):
    what = f"utility of {_short(state)}"
    won = [_number(game.utility(state, player), what) for player in range(game.players)]
    _same(won, [float(game.utility(state, player)) for player in range(game.players)], f"{what} is")
    _must(all(abs(u) <= game.scale for u in won), f"{what}: {won} exceed ± scale, {game.scale}")
    zero_sum = game.players == 2 if game.zero_sum is None else game.zero_sum
    _must(not zero_sum or math.isclose(sum(won), 0, abs_tol=1e-9), f"{what}: {won} do not sum to 0")


def _same(one, two, what):
    _must(one == two, f"{what} {_short(one)}, and {_short(two)} when it is asked again: {PURE}")


def _hashed(found, what):
    try:
        hash(found)
    except TypeError as error:
        raise TypeError(f"{what} must be immutable, such as a tuple: {found!r}: {error}") from None
    return found


def _row(game, state, player, action):
    found = game.encode(state, player, action)
    if isinstance(found, str) or not hasattr(found, "__len__") or getattr(found, "ndim", 1) != 1 or not hasattr(found, "__getitem__"):
        raise TypeError(f"encode of {_short(state)} returned {_short(found)}: a list or an array of {game.inputs} numbers is needed")
    row = [_number(number, f"encode of {_short(state)}") for number in found]
    width = (sum(game.inputs.values()) if isinstance(game.inputs, dict) else game.inputs) + len(game.indices)
    what = "inputs and indices have" if game.indices else "inputs has"
    _must(len(row) == width, f"encode of {_short(state)} returned {len(row)} numbers, but {what} {width}")
    _must(all(map(math.isfinite, row)), f"encode of {_short(state)} returned {_short(row)}")
    return row


def _listed(found, what):
    """A list of what a method returned, in a fixed order."""
    if isinstance(found, (set, frozenset)):
        raise TypeError(f"{what}: a set has no fixed order: return a list, such as sorted(…)")
    try:
        return list(found)
    except TypeError:
        raise TypeError(f"{what}: a list is needed, found {_short(found)}") from None


def _chances(game, state):
    what = f"outcomes of {_short(state)}"
    listed = _listed(game.outcomes(state), what)
    _must(listed, f"no outcome in {_short(state)}, but it is the turn of chance")
    try:
        outcomes, chances = zip(*listed, strict=True)
    except (TypeError, ValueError):
        raise TypeError(f"{what}: pairs of an outcome and its probability are needed, found {_short(listed)}") from None
    for outcome, chance in listed:
        _hashed(outcome, f"{what}: an outcome")
        _must(_number(chance, what) >= 0, f"{what}: {outcome!r} has the probability {chance}")
    chances = [float(chance) for chance in chances]
    total = sum(chances)
    hint = ": give float, since float32 is too coarse" if abs(total - 1) < 1e-4 else ""
    _must(abs(total - 1) < 1e-9, f"{what}: probabilities sum to {total}{hint}")
    return outcomes, chances


def _number(found, what):
    try:
        number = float(found)
    except (TypeError, ValueError):
        raise TypeError(f"{what}: a number is needed, found {_short(found)}") from None
    _must(not isinstance(found, str) and not math.isnan(number), f"{what}: a number is needed, found {found!r}")
    return number


def _short(found):
    text = repr(found)
    return text if len(text) < 200 else f"{text[:200]}…"


def _parsed(game, state):
    text = game.text(state)
    try:
        return game.parse(text)
    except Exception as error:
        hint = "give states Python's own numbers, such as int(d)" if "np." in text else "write `text` and `parse`"
        raise ValueError(f"parse cannot read {text!r}, the text of a state: {hint}") from error


def _must(holds, otherwise):
    if not holds:
        raise ValueError(otherwise)


def register(game, games=20):
    """Makes a game known to `train`, `open`, `arena` and the others. Plays `games` random games first, and raises an
    exception if the game does something that it must not. A game of the same name is replaced. A class is called without arguments
    for its game, so that `@adept.register` may stand before a class, and is returned."""
    if isinstance(game, type):
        register(game(), games)
        return game
    for breach in check(game, games)["breaches"]:
        where = f"seed {breach['seed']}, ply {breach['ply']}, position {breach['position']!r}"
        raise ValueError(f"`{game.name}` breaks a law of games, {breach['law']}: {breach['found']} ({where})")
    _adept.add_game(game)
    return game
