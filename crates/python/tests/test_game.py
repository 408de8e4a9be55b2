"""Games written in Python."""

import itertools
import os
import random
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tictactoe import SAME, TicTacToe

import adept

ROOT = Path(__file__).resolve().parents[3]
CONFIG = ROOT / "configs/tictactoe/single-40.toml"


def settings(rules, games=600):
    return [*SAME[rules], f"learn.td.games={games}", f"evaluate.every={games // 2}", "evaluate.against=['random']"]


def train(out, rules, **more):
    return adept.train(CONFIG, out=out, settings=settings(rules, **more))


def test_a_game_in_python_learns_the_same_bits_as_the_built_in_one(tmp_path):
    adept.register(TicTacToe())
    runs = [train(tmp_path / rules, rules) for rules in SAME]
    ours, built_in = (run.open().weights() for run in reversed(runs))
    assert len(ours) > 300 and ours.tobytes() == built_in.tobytes()
    equity = [[line["equity"] for line in run.metrics()] for run in runs]
    assert equity[0] == equity[1]


class Squares(TicTacToe):
    """With the last square as an index, as the built-in encoder `fields` has it."""

    name = "squares-in-python"
    indices = {"square": 9}
    needs_action = True

    def encode(self, state, player, action):
        return [*super().encode(state, player, action), action]


def test_an_index_chooses_the_experts_of_the_built_in_game(tmp_path):
    adept.register(Squares())
    about = ["learn.td.against=self", "learn.td.games=600", "evaluate.every=600", "evaluate.against=['random']"]
    config = ROOT / "configs/tictactoe/symbolic-9x20.toml"
    own = [f"game.rules={Squares.name}", "game.encoder=inputs"]
    runs = [adept.train(config, out=tmp_path / str(len(rules)), settings=[*about, *rules]) for rules in ([], own)]
    built_in, ours = (run.open().weights() for run in runs)
    assert len(ours) > 9 * 200 and ours.tobytes() == built_in.tobytes()
    assert runs[0].metrics()[-1]["equity"] == runs[1].metrics()[-1]["equity"]


class Counted(TicTacToe):
    """With the number of stones of each player as indices, in an array."""

    name = "counted-in-python"
    indices = {"own": 6, "other": 6}

    def encode(self, state, player, action):
        counts = [state.count(stone) for stone in ("XO"[player], "XO"[1 - player])]
        return np.array([*super().encode(state, player, action), *counts], dtype=np.float32)


def test_cells_of_two_indices_choose_experts(tmp_path):
    adept.register(Counted())
    cells = {"by": ["own", "other"], "experts": 3, "probe": 2000, "expert": {"mlp": {"hidden": [4]}}}
    config = {
        "name": "counted",
        "game": {"rules": Counted.name},
        "architecture": {"cells": cells},
        "learn": {"rate": 0.01, "td": {"games": 200}},
        "evaluate": {"every": 200, "against": ["random"]},
    }
    model = adept.train(config, out=tmp_path / "run").open()
    dense, index = model.encode(["XX.O.....", "XXOO....X"])
    assert dense.shape == (2, 9) and index.tolist() == [[2, 1], [3, 2]]
    assert model.evaluate(dense, index).shape == (2,)
    config["architecture"] = {"cells": {**cells, "by": ["own", "others"]}}
    with pytest.raises(adept.AdeptError, match="no index channel `others`"):
        adept.train(config, out=tmp_path / "wrong")


def test_all_functions_know_a_registered_game(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    class Scripted(TicTacToe):
        name = "scripted"
        scripts = {
            "first": lambda state, actions: actions[0],
            "even": lambda state, actions: {action: 1 / len(actions) for action in actions},
        }

    adept.register(Scripted())
    assert "scripted" in [game["name"] for game in adept.games()]
    assert [encoder["name"] for encoder in adept.encoders("scripted")] == ["inputs"]
    own = ["game.rules=scripted", "game.encoder=inputs", "learn.td.games=300", "evaluate.every=300"]
    run = adept.train(CONFIG, out="run", settings=[*own, "learn.td.against=first", "evaluate.against=['even', 'random']"])
    model = run.open()
    moves = model.moves("XX.OO....")
    assert moves[0]["action"] == "2" and moves[0]["value"] == 1.0 and moves[0]["after"] == "XXXOO...."
    assert len(model.values(["X........"])) == 1 and model.encode(["X........"])[0].shape == (1, 9)
    with pytest.raises(adept.AdeptError, match="nine of X"):
        model.values(["nonsense"])
    agents = [{"name": "run"}, {"name": "first"}, {"name": "even"}]
    table = adept.arena({"name": "meeting", "game": "scripted", "games": 60, "agents": agents}, out="arena")
    assert len(table["pairs"]) == 3
    assert adept.export("run", "net.onnx")["encoder"] == "inputs"


class Dice(adept.Game):
    """Each player throws a die, and may throw once more; the higher one wins."""

    name = "dice-in-python"
    inputs = {"die": 7, "other": 7}
    small = True

    def start(self):
        return 0, 0, "throw", 0  # dice, what is next, who throws

    def turn(self, state):
        return {"throw": adept.CHANCE, "choose": state[3], "over": None}[state[2]]

    def outcomes(self, state):
        return [(face, 1 / 6) for face in range(1, 7)]

    def actions(self, state):
        return ["keep", "again"]

    def apply(self, state, action):
        *dice, following, player = state
        if following == "throw":
            again = dice[player] > 0
            dice[player] = action
            return (*dice, "choose", player) if not again else self.passed(dice, player)
        return (*dice, "throw", player) if action == "again" else self.passed(dice, player)

    def passed(self, dice, player):
        return (*dice, "throw", 1) if player == 0 else (*dice, "over", 1)

    def utility(self, state, player):
        return 0.0 if state[0] == state[1] else 1.0 if state[player] > state[1 - player] else -1.0

    def encode(self, state, player, action):
        row = [0.0] * 14
        # After "again" the die counts for nothing.
        row[0 if action == "again" else state[player]] = 1.0
        row[7 + state[1 - player]] = 1.0
        return row

    needs_action = True


def test_chance_is_listed_and_play_is_measured_exactly(tmp_path):
    adept.register(Dice())
    config = {
        "name": "dice",
        "game": {"rules": "dice-in-python"},
        "architecture": {"mlp": {"hidden": [16]}},
        "learn": {"rate": 0.05, "td": {"games": 4000, "lambda": 0.7, "explore": 0.1}},
        "evaluate": {"every": 4000, "against": ["random"]},
    }
    found = dict(adept.train(config, out=tmp_path / "run").metrics()[-1]["equity"])
    # Perfect play against perfect play is worth 0; keeping what is above 3 wins against random choices.
    assert 0.05 < found["random"]["equity"] < 0.5


class Kuhn(adept.Game):
    """Kuhn poker: three cards, a bet of one."""

    name = "kuhn-in-python"
    inputs = {"card": 3, "betting": 5, "action": 2}
    scale = 2.0
    hides = True
    scripts = {"passes": lambda state, actions: "p"}

    def start(self):
        return (), ""

    def turn(self, state):
        cards, moves = state
        if len(cards) < 2:
            return adept.CHANCE
        return None if moves in ("pp", "bp", "bb", "pbp", "pbb") else len(moves) % 2

    def outcomes(self, state):
        left = [card for card in range(3) if card not in state[0]]
        return [(card, 1 / len(left)) for card in left]

    def actions(self, state):
        return ["p", "b"]

    def apply(self, state, action):
        cards, moves = state
        return ((*cards, action), moves) if len(cards) < 2 else (cards, moves + action)

    def utility(self, state, player):
        cards, moves = state
        if moves.endswith("bp"):
            folds = (len(moves) - 1) % 2
            return -1.0 if player == folds else 1.0
        stake = 2.0 if moves.endswith("bb") else 1.0
        return stake if cards[player] > cards[1 - player] else -stake

    def info(self, state, player):
        cards, moves = state
        return cards[player : player + 1], len(cards), moves

    def encode(self, state, player, action):
        cards, moves = state
        row = [0.0] * 10
        row[cards[player]] = 1.0
        row[3 + ["", "p", "b", "pb"].index(moves)] = 1.0
        row[8 + "pb".index(action)] = 1.0
        return row


def test_a_game_that_hides_something_learns_from_what_a_player_knows(tmp_path):
    adept.register(Kuhn())
    config = {
        "name": "kuhn",
        "game": {"rules": "kuhn-in-python"},
        "architecture": {"mlp": {"hidden": [16]}},
        "learn": {"rate": 0.02, "td": {"games": 4000, "lambda": 1.0, "explore": 0.2, "against": "passes"}},
        "evaluate": {"every": 4000, "against": ["passes"], "games": 2000},
    }
    run = adept.train(config, out=tmp_path / "run")
    # A player who always passes loses every bet, and half of all showdowns at the second seat.
    assert run.metrics()[-1]["matches"][0]["score"] > 0.6
    moves = {move["action"]: move["value"] for move in run.open().moves("((2, 0), '')")}
    assert moves["b"] > 0.4


COUNT = itertools.count()


def broken(**changes):
    return type("Broken", (TicTacToe,), {"name": "broken", **changes})()


@pytest.mark.parametrize(
    "changes, error, text",
    [
        ({"scripts": {"random": max}}, ValueError, "scripts: random is the name"),
        ({"scripts": {"best": None}}, TypeError, "scripts: \"best\" is None"),
        ({"scripts": {"": max}}, ValueError, "scripts: \"\": a name has"),
        ({"scripts": [max]}, ValueError, "scripts must be a dict"),
        ({"scripts": {"worst": lambda state, actions: "9"}}, ValueError, "'9' is not a legal action"),
        ({"players": "two"}, TypeError, "players = 'two': must be a whole number"),
        ({"scale": None}, TypeError, "scale = None: must be a positive number"),
        ({"small": "yes"}, TypeError, "small = 'yes': must be True or False"),
        ({"inputs": {"squares": "nine"}}, ValueError, "inputs: squares = nine"),
        ({"indices": ["square"]}, TypeError, "indices = .*: must be a dict"),
        ({"indices": {"square": "nine"}}, ValueError, "indices: square = nine"),
        ({"indices": {"square": 0}}, ValueError, "indices: square = 0: must lie in"),
        ({"indices": {"inputs": 9}}, ValueError, "indices: `inputs` is the name of inputs"),
        ({"indices": {"square": 9}}, ValueError, "returned 9 numbers, but inputs and indices have 10"),
        ({"indices": {"square": 8}, "encode": lambda self, *_: [0.0] * 9 + [8]}, ValueError, "8 as `square`: a whole number in 0..8"),
        ({"indices": {"square": 8}, "encode": lambda self, *_: [0.0] * 9 + [0.5]}, ValueError, "0.5 as `square`"),
        ({"unit": 3}, TypeError, "unit = 3: must be a text"),
        ({"encode": lambda self, state, player, action: [random.random()] * 9}, ValueError, "must not draw or count"),
        ({"actions": lambda self, state: set("012345678")}, TypeError, "a set has no fixed order"),
        ({"actions": lambda self, state: None}, TypeError, "a list is needed, found None"),
        ({"actions": lambda self, state: [[1]]}, TypeError, "an action must be immutable"),
        ({"utility": lambda self, state, player: "win"}, TypeError, "a number is needed, found 'win'"),
        ({"encode": lambda self, state, player, action: None}, TypeError, "encode of .* returned None"),
        ({"encode": lambda self, state, player, action: (0.0 for _ in range(9))}, TypeError, "encode of .* returned <generator"),
        ({"actions": lambda self, state: random.sample(range(20), 9)}, ValueError, "must not draw or count"),
        ({"turn": lambda self, state: 0.0}, ValueError, "players are 0 to 1"),
        ({"parse": lambda self, text: 1 / 0}, ValueError, "write `text` and `parse`"),
        ({"start": lambda self: list(".........")}, TypeError, "a state must be immutable"),
        ({"turn": lambda self, state: 2}, ValueError, "players are 0 to 1"),
        ({"encode": lambda self, state, player, action: [float("nan")] * 9}, ValueError, "encode of .* found nan"),
        ({"name": "tictactoe"}, adept.AdeptError, "built-in game"),
        ({"name": "two words"}, ValueError, "a name has"),
        ({"inputs": 8}, ValueError, "encode of .* returned 9 numbers, but inputs has 8"),
        ({"players": 65}, ValueError, "players = 65"),
        ({"text": lambda self, state: "........."}, ValueError, "is not the state"),
        ({"utility": lambda self, state, player: 2.0}, ValueError, "exceed"),
        ({"actions": lambda self, state: []}, ValueError, "no action"),
        ({"apply": lambda self, state, square: 1 / 0}, ZeroDivisionError, "division"),
        ({"apply": lambda self, state, square: list(state)}, TypeError, r"apply\('\.{9}', .\): a state must be immutable"),
        ({"apply": lambda self, state, square: "XO"[next(COUNT) % 2] + state[1:]}, ValueError, "leads to two states"),
        ({"actions": lambda self, state: [[1]]}, TypeError, r"actions of '\.{9}': an action must be immutable"),
        ({"utility": lambda self, state, player: random.random()}, ValueError, "utility of .* when it is asked again"),
        ({"turn": lambda self, state: next(COUNT) % 2}, ValueError, "turn of .* when it is asked again"),
        ({"start": lambda self: "X" * (next(COUNT) % 2) + "." * 9}, ValueError, "start returns .* when it is asked again"),
        ({"most_actions": 8}, ValueError, r"actions of '\.{9}': there are 9, but most_actions is 8"),
        ({"most_actions": 0}, ValueError, "most_actions = 0: must lie in"),
        ({"most_actions": "nine"}, TypeError, "most_actions = 'nine': must be a whole number or None"),
    ],
)
def test_what_a_game_must_not_do_is_found_when_it_is_registered(changes, error, text):
    with pytest.raises(error, match=text):
        adept.register(broken(**changes))


class Walk(TicTacToe):
    """A walk between two ends, on which positions come again."""

    name = "walk"
    inputs = 5

    def start(self):
        return 2, 0

    def turn(self, state):
        return None if state[0] in (0, 4) else state[1]

    def actions(self, state):
        return [-1, 1]

    def apply(self, state, step):
        return state[0] + step, 1 - state[1]

    def utility(self, state, player):
        return 1.0 if (state[0] == 4) == (player == 0) else -1.0

    def encode(self, state, player, action):
        return [float(state[0] == place) for place in range(5)]

    text = adept.Game.text
    parse = adept.Game.parse
    just_acted = adept.Game.just_acted


@pytest.mark.parametrize("game", [TicTacToe(), Dice(), Kuhn(), type("Long", (Walk,), {"small": False})()])
def test_games_of_these_tests_keep_the_laws(game):
    report = adept.check(game, games=50)
    assert report["breaches"] == [] and report["game"] == game.name
    assert report["games"] == 50 and report["states"] > 100 and report["left"] == 0


def revealing(self, state, player):
    return state


@pytest.mark.parametrize(
    "game, law, found, ply, position",
    [
        # After the first move of player 0.
        (broken(just_acted=lambda self, state: 1), "names who acted", "player 1, but player 0 acted", 1, None),
        (broken(action_text=lambda self, state, square: "here"), "reads back to the same", "the action `here`", 0, "........."),
        (type("Open", (Kuhn,), {"name": "open", "info": revealing})(), "`info` follows", "hides something", None, None),
        (type("Twice", (Dice,), {"name": "twice", "outcomes": lambda self, state: [(1, 0.5), (1, 0.5)]})(), "outcomes", "listed twice", 0, "(0, 0, 'throw', 0)"),
    ],
)
def test_breaches_of_laws_are_reported_and_refused(game, law, found, ply, position):
    (breach,) = adept.check(game)["breaches"]
    assert law in breach["law"] and found in breach["found"] and breach["seed"] >= 1
    assert ply in (None, breach["ply"]) and position in (None, breach["position"])
    if ply == 1:
        assert breach["position"].count("X") == 1 and breach["position"].count("O") == 0
    with pytest.raises(ValueError, match=f"`{game.name}` breaks a law of games, .*seed {breach['seed']}, ply {breach['ply']}"):
        adept.register(game)


def test_an_exception_while_the_laws_are_checked_is_raised():
    # Only the laws ask for texts of actions.
    class Fails(TicTacToe):
        def action_text(self, state, action):
            raise RuntimeError("no words")

    for call in (adept.check, adept.register):
        with pytest.raises(RuntimeError, match="no words"):
            call(Fails())


def test_positions_that_come_again_are_not_measured_exactly():
    with pytest.raises(ValueError, match="comes twice in a game"):
        adept.register(Walk())
    adept.register(type("Long", (Walk,), {"small": False})())


def test_a_game_without_end_under_some_policy_is_an_error(tmp_path):
    class Stays(Walk):
        name = "stays"
        small = False
        scripts = {"stays": lambda state, steps: steps[state[0] < 3]}

    adept.register(Stays())
    agents = [{"name": "stays"}, {"name": "again", "agent": "stays"}]
    with pytest.raises(ValueError, match="`stays` has gone on for 10000 moves, to .* count moves in the state"):
        adept.arena({"name": "m", "game": "stays", "games": 10, "agents": agents}, out=tmp_path / "arena")


def test_inputs_that_show_what_is_hidden_are_refused():
    class Cheats(Kuhn):
        name = "cheats"

        def encode(self, state, player, action):
            row = super().encode(state, player, action)
            row[0] = float(state[0][1 - player] == 2)
            return row

    with pytest.raises(ValueError, match="encode tells two states apart in which player . knows the same"):
        adept.register(Cheats())


def test_games_with_stakes_are_measured_in_their_unit(tmp_path):
    class Stakes(Kuhn):
        name = "stakes"
        unit = "chips"
        scripts = {"passes": lambda state, actions: "p", "bets": lambda state, actions: "b"}

    adept.register(Stakes())
    agents = [{"name": "bets"}, {"name": "passes"}]
    table = adept.arena({"name": "m", "game": "stakes", "games": 600, "agents": agents}, out=tmp_path / "arena")
    # Who always passes gives up at a bet: each game is worth one chip to the other.
    assert table["unit"] == "chips" and table["pairs"][0]["score"] == 1.0


@pytest.mark.parametrize(
    "outcomes, error, text",
    [
        ([1, 2], TypeError, "pairs of an outcome"),
        ([(1, -0.5), (2, 1.5)], ValueError, "1 has the probability -0.5"),
        ([(face, np.float32(1 / 6)) for face in range(1, 7)], ValueError, "float32 is too coarse"),
        ([(face, 1 / 6) for face in np.arange(1, 7)], ValueError, "such as int"),
    ],
)
def test_what_outcomes_must_not_be(outcomes, error, text):
    with pytest.raises(error, match=text):
        adept.register(type("Wrong", (Dice,), {"name": "wrong", "outcomes": lambda self, state: outcomes})())


def test_a_run_of_other_rules_is_not_taken_for_one_of_these(tmp_path):
    adept.register(broken(name="changes"))
    own = [*settings("tictactoe-in-python", games=20), "game.rules=changes"]
    first = adept.train(CONFIG, out=tmp_path / "run", settings=own)
    adept.register(broken(name="changes"))
    assert adept.train(CONFIG, out=tmp_path / "run", settings=own).record["seconds"] == first.record["seconds"]
    adept.register(broken(name="changes", scripts={"noisy": lambda state, actions: random.choice(actions)}))
    adept.train(CONFIG, out=tmp_path / "run", settings=own)
    for change in ({"utility": lambda self, state, player: -TicTacToe.utility(self, state, player)}, {"unit": "points"}):
        adept.register(broken(name="changes", **change))
        with pytest.raises(adept.AdeptError, match="a game `changes` with other rules or inputs"):
            adept.train(CONFIG, out=tmp_path / "run", settings=own)


def test_a_small_game_with_dice_is_measured_without_minimax(tmp_path):
    adept.register(Dice())
    config = {
        "name": "dice",
        "game": {"rules": "dice-in-python"},
        "architecture": {"mlp": {"hidden": [4]}},
        "learn": {"rate": 0.05, "td": {"games": 20, "lambda": 0.7, "explore": 0.1}},
        "evaluate": {"every": 20, "against": ["random"]},
    }
    found = adept.evaluate(adept.train(config, out=tmp_path / "run"))
    assert [name for name, _ in found["equity"]["opponents"]] == ["random"]
    with pytest.raises(adept.AdeptError, match="without chance"):
        adept.evaluate(tmp_path / "run", "grade")


def test_a_class_to_check_or_an_unfinished_game_is_refused():
    with pytest.raises(TypeError, match="register"):
        adept.check(TicTacToe)
    with pytest.raises(NotImplementedError, match="Unfinished needs the method `start`"):
        adept.register(type("Unfinished", (adept.Game,), {"name": "unfinished", "inputs": 1})())


def test_an_exception_in_a_game_reaches_the_caller_and_the_run_goes_on_from_its_checkpoint(tmp_path):
    calls = 0

    class Fails(TicTacToe):
        name = "fails"

        def apply(self, state, square):
            nonlocal calls
            calls += 1
            # What is prepared before the first game applies some 16,500 moves, and 100 games some 4,500.
            if calls == 24_000:
                raise RuntimeError("out of squares")
            return super().apply(state, square)

    adept.register(Fails())
    own = [*settings("tictactoe-in-python"), "game.rules=fails", "checkpoints.every=100"]
    with pytest.raises(RuntimeError, match="out of squares"):
        adept.train(CONFIG, out=tmp_path / "run", settings=own)
    assert 0 < adept.Run(tmp_path / "run").record["step"] < 600
    run = adept.train(CONFIG, out=tmp_path / "run", settings=own, resume=True)
    whole = train(tmp_path / "whole", "tictactoe")
    assert run.finished and run.open().weights().tobytes() == whole.open().weights().tobytes()


def test_ctrl_c_stops_a_game_in_python_and_saves(tmp_path):
    adept.register(TicTacToe())

    def interrupts(event):
        if event["kind"] == "progress":
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="resume=True"):
        own = settings("tictactoe-in-python", games=10_000_000)
        adept.train(CONFIG, out=tmp_path / "run", settings=own, on_progress=interrupts)
    assert adept.Run(tmp_path / "run").record["step"] > 0


def test_a_second_ctrl_c_ends_a_game_that_never_ends(tmp_path):
    """Random games end; those of a player that stays do not."""

    class Endless(TicTacToe):
        name = "endless"
        calls = 0

        def apply(self, state, square):
            self.calls += 1
            if self.calls > 2000:
                # Pressed twice.
                if self.calls in (2001, 2500):
                    os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.001)
                return state
            return super().apply(state, square)

    adept.register(Endless(), games=1)
    with pytest.raises(KeyboardInterrupt):
        adept.train(CONFIG, out=tmp_path / "run", settings=[*settings("tictactoe"), "game.rules=endless", "game.encoder=inputs"])
    # Games go on afterwards.
    train(tmp_path / "next", "tictactoe-in-python", games=20)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_second_ctrl_c_ends_a_method_that_never_ends(tmp_path, threads):
    class Loops(TicTacToe):
        name = "loops"
        loops = False

        def apply(self, state, square):
            while self.loops:
                pass
            return super().apply(state, square)

    game = adept.register(Loops(), games=1)
    timers = [threading.Timer(after, signal.raise_signal, [signal.SIGINT]) for after in (0.3, 0.6)]
    own = [*settings("tictactoe"), "game.rules=loops", "game.encoder=inputs", "learn.td.workers=2", "learn.batch=20"]

    # Before a run has begun there is nothing to save, and one Ctrl-C ends it.
    def begins(event):
        if event["kind"] == "started":
            game.loops = True
            [timer.start() for timer in timers]

    with pytest.raises(KeyboardInterrupt):
        adept.train(CONFIG, out=tmp_path / "run", settings=own, threads=threads, on_progress=begins)
    # The caller is interrupted once.
    time.sleep(0.2)
    game.loops = False
    train(tmp_path / "next", "tictactoe-in-python", games=20)


def test_a_game_that_raises_leaves_no_samples_behind():
    class Fails(TicTacToe):
        name = "raises-once"
        calls = 0

        def apply(self, state, square):
            self.calls += 1
            if self.calls == 1000:
                raise RuntimeError("once")
            return super().apply(state, square)

    game = adept.register(Fails(), games=1)
    own = [*settings("tictactoe"), "game.rules=raises-once", "game.encoder=inputs", "evaluate.suites=['matches']"]
    games = adept.SelfPlay(CONFIG, settings=own)
    assert game.calls < 1000
    with pytest.raises(RuntimeError, match="once"):
        games.play(100)
    assert len(games.play(0)["targets"]) == 0


def test_a_game_that_asks_for_games_when_it_ends_can_be_replaced():
    class Asks(TicTacToe):
        name = "asks"

        def __del__(self):
            adept.games()

    for _ in range(2):
        adept.register(Asks(), games=1)


def test_an_exception_reaches_the_caller_from_other_threads_too(tmp_path):
    class Fails(TicTacToe):
        name = "fails-later"
        left = 3000

        def apply(self, state, square):
            self.left -= 1
            if not self.left:
                raise RuntimeError("out of squares")
            return super().apply(state, square)

    adept.register(Fails(), games=1)
    own = [*settings("tictactoe-in-python"), "game.rules=fails-later", "learn.td.workers=2", "learn.batch=20"]
    with pytest.raises(RuntimeError, match="out of squares"):
        adept.train(CONFIG, out=tmp_path / "run", settings=[*own, "learn.td.overlap=true"])
    adept.register(Fails(), games=1)
    meeting = {"name": "m", "game": "fails-later", "games": 4000, "agents": [{"name": "random"}, {"name": "2", "agent": "random"}]}
    with pytest.raises(RuntimeError, match="out of squares"):
        adept.arena(meeting, out=tmp_path / "arena")


def test_workers_share_a_game_in_python(tmp_path):
    adept.register(TicTacToe())
    own = [*settings("tictactoe-in-python"), "learn.td.workers=2", "learn.batch=20"]
    built_in = [*settings("tictactoe"), "learn.td.workers=2", "learn.batch=20"]
    runs = [adept.train(CONFIG, out=tmp_path / str(i), settings=s) for i, s in enumerate([own, built_in])]
    assert runs[0].open().weights().tobytes() == runs[1].open().weights().tobytes()


def test_a_checkpoint_of_an_unknown_game_says_so(tmp_path):
    adept.register(broken(name="passing"))
    own = [*settings("tictactoe-in-python", games=20), "game.rules=passing"]
    adept.train(CONFIG, out=tmp_path / "run", settings=own)
    script = f"import adept; adept.open({str(tmp_path / 'run')!r})"
    import subprocess
    import sys

    found = subprocess.run([sys.executable, "-c", script], text=True, capture_output=True)
    assert "call adept.register first" in found.stderr


def test_ctrl_c_ends_the_work_of_the_main_thread_alone(tmp_path):
    """A run of a game in Python goes on while a measurement is interrupted."""
    adept.register(TicTacToe())

    class Slow(TicTacToe):
        name = "slow"

        def actions(self, state):
            if measures:
                time.sleep(0.005)
            return super().actions(state)

    measures = False
    adept.register(Slow(), games=1)
    own = [*settings("tictactoe-in-python", games=20), "game.rules=slow"]
    run = adept.train(CONFIG, out=tmp_path / "slow", settings=own)
    measures, found = True, []
    other = threading.Thread(target=lambda: found.append(train(tmp_path / "other", "tictactoe-in-python", games=6000)))
    other.start()
    interrupt = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        interrupt.start()
        adept.evaluate(run.path, "matches", against="random", samples=100_000)
    # Games go on here and there.
    measures = False
    assert len(run.open().moves(".........")) == 9
    other.join()
    assert found[0].finished
