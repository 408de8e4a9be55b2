"""Games of self-play as arrays: what stands in them, λ-returns, and learning from them."""

import copy
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import adept

sys.path.insert(0, str(Path(__file__).parent))
ROOT = Path(__file__).resolve().parents[3]


def config(rules="tictactoe", encoder=None, head="value", **td):
    game = {"rules": rules, **({"encoder": encoder} if encoder else {})}
    td = {"games": 400, "lambda": {"from": 0.9, "to": 0.2}, "explore": {"from": 0.4, "to": 0.1}, **td}
    return {
        "name": "trajectories",
        "head": head,
        "game": game,
        "architecture": {"mlp": {"hidden": [6]}},
        "learn": {"rate": 0.01, "optimiser": "adam", "td": td},
        "evaluate": {"every": 400, "suites": ["matches"], "against": ["random"], "games": 10},
    }


CONFIGS = {
    "value": config(),
    "against an agent": config(against="ttt"),
    "both": config(along="both"),
    "outcomes": config(head="outcomes"),
    "outcomes, both": config(head="outcomes", along="both"),
    "temperature": config(explore={"from": 0, "to": 0}, temperature={"from": 0.5, "to": 0.5}),
    "chosen": config(next="chosen", rewards="steps"),
    "dice": config("declared:pig", explore={"from": 0.2, "to": 0.2}),
    "hypergammon": config("hypergammon", head="outcomes", along="both"),
    "a search": config(search="2"),
    "several players": config("liars-dice:soar:4x5", against="self"),
}


def in_the_order_of_play(played, along):
    """The numbers of the rows of `SelfPlay.play`, which go from the last to the first of each player in each game."""
    chain = np.zeros_like(played.player) if along == "both" else played.player
    back = np.lexsort((-np.arange(len(played.game)), chain, played.game))
    return np.argsort(back)


@pytest.mark.parametrize("about", CONFIGS.values(), ids=CONFIGS.keys())
def test_rows_and_returns_are_those_of_play(about):
    plain, whole = adept.SelfPlay(about), adept.SelfPlay(about)
    for games in (7, 300, 1):
        samples, played = plain.play(games), whole.play(games, trajectories=True)
        assert len(played) == games and plain.played == whole.played
        order = in_the_order_of_play(played, about["learn"]["td"].get("along", "own"))
        assert np.array_equal(samples["dense"][order], played.dense)
        # Keys of tables have 64 bits and no sign.
        assert np.array_equal(samples["index"][order], played.index.view(np.uint64))
        # The λ of a call of more than 256 games is that of each part.
        assert np.array_equal(samples["targets"][order], played.lambda_returns())
        assert np.array_equal(samples["weights"], played.weights)
    assert np.array_equal(played.number, [307])


def by_hand(played, game, lam):
    """λ-returns of the rows of a game along each player, where nobody explores."""
    found = {}
    for i in reversed(range(played.starts[game], played.starts[game + 1])):
        following = played.next[i]
        found[i] = played.reward[i]
        if following >= 0:
            assert played.player[following] == played.player[i] and played.game[following] == game and following > i
            found[i] += (1 - lam) * played.value[following] + lam * found[following]
    return [found[i] for i in sorted(found)]


def test_arrays_say_what_happened():
    played = adept.SelfPlay(config(explore={"from": 0, "to": 0})).play(200, trajectories=True)
    n = len(played.dense)
    assert played.starts[0] == 0 and played.starts[-1] == n and np.array_equal(np.bincount(played.game), np.diff(played.starts))
    assert played.dense.dtype == np.float32 and played.index.dtype == np.int64 and played.index.shape[0] == n
    assert not played.explored.any() and np.array_equal(played.value, played.best)
    assert set(played.player) == {0, 1} and np.array_equal(played.player, played.ply % 2)
    assert played.classes == ["loss", "draw", "win"]
    assert np.array_equal(played.utility[:, 0], -played.utility[:, 1]) and np.array_equal(played.outcome - 1, played.utility)
    for game in range(len(played)):
        rows = slice(played.starts[game], played.starts[game + 1])
        ply, reward = played.ply[rows], played.reward[rows]
        assert np.array_equal(ply, np.arange(len(ply)))
        last = played.next[rows] < 0
        assert last.sum() == 2 and not reward[~last].any()
        assert np.array_equal(reward[last], played.utility[game][played.player[rows][last]])
        reply = played.reply[rows]
        assert np.array_equal(reply[:-1], np.arange(rows.start + 1, rows.stop)) and reply[-1] == -1
        assert np.allclose(by_hand(played, game, 0.7), played.lambda_returns(0.7)[rows], atol=1e-6)


def test_what_explores_cuts_a_return():
    played = adept.SelfPlay(config(explore={"from": 0.6, "to": 0.6})).play(200, trajectories=True)
    assert 0.5 < played.explored.mean() < 0.7
    returns = played.lambda_returns(1)
    cut = played.value < played.best
    assert cut.any() and not (cut & ~played.explored).any()
    for i in np.flatnonzero(played.next >= 0):
        following = played.next[i]
        if cut[following]:
            assert returns[i] == played.best[following]
    # Without λ, the highest value that the player could have had next.
    assert np.allclose(played.lambda_returns(0)[played.next >= 0], played.best[played.next[played.next >= 0]], atol=1e-6)


def test_the_value_is_that_of_the_network(tmp_path):
    for head in ("value", "outcomes"):
        games = adept.SelfPlay(config(head=head))
        played = games.play(100, trajectories=True)
        games.save(tmp_path / head, games.weights())
        model = adept.open(tmp_path / head)
        # Where classes are impossible, the network alone knows nothing of that.
        decisions = played._decisions
        whole = decisions["possible"][decisions["row"] >= 0] == -1
        assert whole.mean() > 0.5 and (head == "outcomes" or whole.all())
        assert np.allclose(model.evaluate(played.dense, played.index)[whole], played.value[whole], atol=1e-6)
        assert np.array_equal(model.encode(played.afterstates[:20])[0], played.dense[:20])


def test_values_of_another_network_are_taken():
    for head, outputs in (("value", ()), ("outcomes", (3,))):
        for along in ("player", "both"):
            played = adept.SelfPlay(config(head=head)).play(50, trajectories=True)
            fresh = np.zeros((len(played.dense), *outputs), dtype=np.float32)
            if outputs:
                fresh[:, 1] = 1
            found = played.lambda_returns(0, along=along, values=fresh)
            following = played.next if along == "player" else played.reply
            kept = (following >= 0) & ~(played.value < played.best)[following]
            assert kept.any() and np.array_equal(found[kept], fresh[kept])
            last = played.next < 0 if along == "player" else following < 0
            ends = played.reward if not outputs else np.eye(3)[played.outcome[played.game, played.player]]
            # The last move of the game may have explored, too.
            assert (np.isclose(found[last], ends[last]).reshape(last.sum(), -1).all(axis=1)).mean() > 0.5
    n = len(played.dense)
    with pytest.raises(adept.AdeptError, match="is needed"):
        played.lambda_returns(values=np.zeros(n + 1))
    with pytest.raises(adept.AdeptError, match="row 2 has NaN"):
        played.lambda_returns(values=np.where(np.arange(n)[:, None] == 2, np.nan, np.ones((n, 3))))
    with pytest.raises(ValueError, match="lam = 2"):
        played.lambda_returns(2)
    with pytest.raises(ValueError, match="along"):
        played.lambda_returns(along="own")


def test_returns_along_both_are_those_of_such_a_config():
    one, both = (adept.SelfPlay(config(along=along)).play(200, trajectories=True) for along in ("own", "both"))
    assert np.array_equal(one.dense, both.dense)
    assert np.array_equal(one.lambda_returns(along="both"), both.lambda_returns())
    assert np.array_equal(one.lambda_returns(), both.lambda_returns(along="player"))
    assert not np.array_equal(one.lambda_returns(), both.lambda_returns())
    with pytest.raises(adept.AdeptError, match="zero-sum"):
        adept.SelfPlay(config("liars-dice:soar:4x5")).play(2, trajectories=True).lambda_returns(along="both")
    with pytest.raises(adept.AdeptError, match="rewards"):
        adept.SelfPlay(config(rewards="steps")).play(2, trajectories=True).lambda_returns(along="both")


@pytest.mark.parametrize("rules", ["tictactoe", "hypergammon"])
def test_texts_tell_positions_and_moves(rules):
    played = adept.SelfPlay(config(rules)).play(30, trajectories=True)
    states, actions, after = played.states, played.actions, played.afterstates
    assert len(states) == len(actions) == len(after) == len(played.dense)
    for i in (0, 3, len(states) - 1, -1):
        assert (states[i], actions[i], after[i]) == (played.state_text(i), played.action_text(i), played.after_text(i))
    if rules == "tictactoe":
        assert states[0] == "........." and after[0].count("X") == 1
        follows = played.reply >= 0
        assert [after[i].split("@")[0] for i in np.flatnonzero(follows)] == [states[i] for i in played.reply[follows]]
    with pytest.raises(IndexError, match="rows"):
        played.state_text(len(states))


def same(one, other):
    for name, column in one._rows.items():
        assert np.array_equal(column, other._rows[name]), name
    for name in ("starts", "number", "utility", "outcome"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(one.lambda_returns(0.5), other.lambda_returns(0.5))
    assert one.states == other.states and one.actions == other.actions


@pytest.mark.parametrize("head", ["value", "outcomes"])
def test_games_are_selected(head):
    played = adept.SelfPlay(config(head=head)).play(40, trajectories=True)
    returns = played.lambda_returns()
    assert sum(len(game.dense) for game in played.games()) == len(played.dense)
    for number, game in enumerate(played):
        rows = slice(played.starts[number], played.starts[number + 1])
        assert len(game) == 1 and np.array_equal(game.dense, played.dense[rows])
        assert np.array_equal(game.lambda_returns(), returns[rows])
        assert game.states == played.states[rows]
        same(game, played[[number]])
    some = played[[5, 2, -1]]
    assert list(some.number) == [5, 2, 39] and np.array_equal(np.unique(some.game), [0, 1, 2])
    same(some[1], played[2])
    same(played[10:20:3], played[[10, 13, 16, 19]])
    same(played[played.utility[:, 0] > 0], played[np.flatnonzero(played.utility[:, 0] > 0)])
    assert len(played[3:3]) == 0 and len(played[3:3].lambda_returns()) == 0 and len(played[[]]) == 0
    train, validation = played.split(0.75, seed=3)
    assert len(train) == 30 and len(validation) == 10
    assert sorted([*train.number, *validation.number]) == list(range(40))
    same(train, played.split(0.75, seed=3)[0])
    assert not np.array_equal(train.number, played.split(0.75, seed=4)[0].number)
    for wrong, error in ((40, IndexError), ([-41], IndexError), ([0.5], TypeError), (np.ones(3, dtype=bool), IndexError)):
        with pytest.raises(error):
            played[wrong]
    with pytest.raises(ValueError, match="fraction"):
        played.split(2)


def test_a_pickle_has_arrays_and_texts():
    played = adept.SelfPlay(config(head="outcomes")).play(20, trajectories=True)
    twin = pickle.loads(pickle.dumps(played))
    same(played, twin)
    same(played[4:9], twin[4:9])
    same(played[[3, 1]], pickle.loads(pickle.dumps(twin[[3, 1]])))
    same(played, copy.deepcopy(played))
    # A pickle of one game does not take along the others.
    assert len(pickle.dumps(played[0])) < len(pickle.dumps(played)) / 4


def test_games_in_python_have_trajectories():
    from tictactoe import TicTacToe

    adept.register(TicTacToe())
    about = config("tictactoe-in-python", "inputs")
    about["evaluate"] = {"every": 400, "suites": ["matches"], "against": ["random"]}
    samples, played = adept.SelfPlay(about).play(20), adept.SelfPlay(about).play(20, trajectories=True)
    order = in_the_order_of_play(played, "own")
    assert np.array_equal(samples["targets"][order], played.lambda_returns())
    assert played.states[0] == TicTacToe().text(TicTacToe().start())
    same(played, pickle.loads(pickle.dumps(played)))


def test_wrong_calls_are_refused():
    games = adept.SelfPlay(config())
    with pytest.raises(adept.AdeptError, match="games = -1"):
        games.play(-1, trajectories=True)
    with pytest.raises(TypeError, match="SelfPlay.play"):
        adept.Trajectories()
    assert len(games.play(0, trajectories=True)) == 0
    assert "5 games" in repr(games.play(5, trajectories=True))


def test_tensors_share_memory_with_the_arrays():
    torch = pytest.importorskip("torch")
    played = adept.SelfPlay(config()).play(20, trajectories=True)
    tensors = played.torch()
    assert tensors["index"].dtype == tensors["next"].dtype == torch.int64 and tensors["dense"].dtype == torch.float32
    assert set(tensors) >= {"dense", "index", "game", "ply", "player", "value", "reward", "explored", "next", "weights"}
    for name, tensor in tensors.items():
        assert tensor.numel() == 0 or tensor.data_ptr() == getattr(played, name).ctypes.data, name


def test_a_network_learns_from_trajectories(tmp_path):
    torch = pytest.importorskip("torch")
    import adept.torch

    about = config(games=20_000)
    about["architecture"] = {"mlp": {"hidden": [20]}}
    games = adept.SelfPlay(about)
    network = adept.torch.Network(games)
    optimiser = torch.optim.Adam(network.groups(0.01))
    for _ in range(60):
        train, validation = games.play(64, trajectories=True).split(0.75)
        rows = train.torch()
        with torch.no_grad():
            values = network(rows["dense"], rows["index"])
        targets = torch.from_numpy(train.lambda_returns(0.5, values=values))
        optimiser.zero_grad()
        loss = (network(rows["dense"], rows["index"]) - targets).square().mean()
        loss.backward()
        optimiser.step()
        network.constrain()
        games.adopt(network.weights())
        assert np.isfinite(float(network.loss(**validation.samples()).detach()))
    network.save(tmp_path / "learned")
    report = adept.evaluate(tmp_path / "learned", "matches", samples=400, against="random")
    assert report["matches"]["score"] > 0.8, report["matches"]
