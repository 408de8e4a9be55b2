"""Whose values, classes and rewards are: in positions far from symmetric, so that a swap of sides shows, with either side on roll."""

import random
from pathlib import Path

import numpy as np
import pytest

import adept

ROOT = Path(__file__).parents[3]
BACKGAMMON = ROOT / "checkpoints/backgammon/single-256-32"
# The side with capital letters has four checkers left, on its first point. The other one has all 15 on one point, far from home. So the
# first wins a gammon, whoever rolls: 2 of 3 points.
AHEAD, BEHIND = 1, -1


def position(turn, dice="00"):
    return f"XGID=-D-----o------------------:0:0:{turn}:{dice}:0:0:0:0:10"


def play(state, rng):
    """The decisions of a random game from here, and its end."""
    states = []
    while not state.is_over:
        if state.is_chance:
            state = state.apply(state.sample(rng.randrange(2**32)))
        else:
            states.append(state)
            state = state.apply(rng.choice(state.actions()))
    return [*states, state]


def test_values_are_for_the_player_to_move():
    model = adept.open(BACKGAMMON)
    for turn in (AHEAD, BEHIND):
        to_roll, rolled = position(turn), position(turn, "21")
        assert (turn * model.values([to_roll, rolled]) > 0.6).all()
        moves = model.moves(rolled)
        assert all(turn * move["value"] > 0.6 for move in moves)
        looked = adept.search(BACKGAMMON, rolled, plies=1)
        assert all(turn * move["value"] > 0.6 for move in looked["moves"])
        (played,) = adept.rollout([to_roll], BACKGAMMON, trials=36)
        assert turn * played["equity"] > 1.5
    oracle = adept.Oracle(6)
    assert oracle.value("1,0,0,0,0,0/0,0,0,0,0,6") == 1 and oracle.value("0,0,0,0,0,6/1,0,0,0,0,0") < -0.9


def test_classes_are_those_of_the_player_who_just_moved():
    model = adept.open(BACKGAMMON)
    classes = [outcome["name"] for outcome in model.description["head"]["outcomes"]]
    utilities = np.array([outcome["utility"] for outcome in model.description["head"]["outcomes"]])
    for turn, expected in ((AHEAD, "win_gammon"), (BEHIND, "loss_gammon")):
        # Before the roll, the other player has just moved.
        dense, index = model.encode([position(-turn)])
        (shares,) = model.outcomes(dense, index)
        assert classes[shares.argmax()] == expected and shares.max() > 0.8
        assert shares @ utilities == pytest.approx(model.evaluate(dense, index)[0], abs=1e-5)
        # Positions are valued by tables where these know them, rows by the network alone.
        assert model.values([position(-turn)])[0] == pytest.approx(-model.evaluate(dense, index)[0], abs=0.03)
        state = adept.game("backgammon").from_text(position(turn, "21"))
        rows = state.rows(model.encoder)
        assert {classes[best] for best in model.outcomes(rows.dense, rows.index).argmax(1)} == {expected}


def test_returns_are_in_the_order_of_players():
    game, rng = adept.game("backgammon"), random.Random(1)
    for turn in (AHEAD, BEHIND):
        state = game.from_text(position(turn, "21"))
        mine = [2.0, -2.0] if turn == AHEAD else [-2.0, 2.0]
        assert play(state, rng)[-1].returns() == (mine if state.player == 0 else mine[::-1])


@pytest.mark.parametrize("name", ["hypergammon", "bearoff:4"])
def test_who_bears_off_last_wins_in_each_seat(name):
    game, rng, winners = adept.game(name), random.Random(2), set()
    for _ in range(12):
        *_, before, end = play(game.start(), rng)
        winner, returns = before.player, end.returns()
        winners.add(winner)
        assert end.just_acted == winner and returns[winner] > 0 > returns[1 - winner]
        # The rows of the decision are the mover's, and so is the exact value of the winning move.
        best = np.nanmax(before.rows().exact)
        assert best * game.description["scale"] >= returns[winner] > 0
        for player in (0, 1):
            assert game.encode([end], player=player).exact[0] * game.description["scale"] == pytest.approx(returns[player])
    assert winners == {0, 1}


def test_rewards_of_batches_are_in_the_order_of_players():
    batch, winners = adept.game("hypergammon").batch(64, seed=3), set()
    while batch.finished < 100:
        movers = batch.player.copy()
        step = batch.step(batch.random())
        for game in np.flatnonzero(step.over):
            winners.add(int(movers[game]))
            assert step.rewards[game, movers[game]] >= 1 and step.rewards[game].sum() == 0
        assert not step.rewards[~step.over].any()
    assert winners == {0, 1}


def test_exact_values_have_the_sign_of_their_player():
    game = adept.game("tictactoe")
    # O is to move, and wins.
    assert game.from_text("XX.OO...X").player == 1 and game.from_text("XX.OO...X").minimax() == 1
    first, second = game.equity(["minimax", "random"]), game.equity(["random", "minimax"])
    assert first[0] > 0.9 > second[1] > 0.7 and first[1] == -first[0] and second[0] == -second[1]
    best = game.best_responses("random")
    assert best[0] > first[0] and best[0] > best[1] > second[1]


def test_trajectories_tell_each_player_its_own_result():
    games = adept.SelfPlay(ROOT / "configs/tictactoe/single-80.toml", settings=["learn.td.against=self"])
    played = games.play(200, trajectories=True)
    won = {0: 0, 1: 0}
    for game in range(len(played)):
        utility = played.utility[game]
        assert utility.sum() == 0
        for player in (0, 1):
            assert played.classes[played.outcome[game, player]] == {1: "win", 0: "draw", -1: "loss"}[int(utility[player])]
            rows = np.flatnonzero((played.game == game) & (played.player == player))
            assert played.reward[rows].sum() == utility[player]
            won[player] += utility[player] > 0
    assert won[0] > won[1] > 0
