"""Games that are stepped, one by one and side by side."""

import copy
import os
import pickle
import random
import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tictactoe import TicTacToe

import adept

ROOT = Path(__file__).parents[3]
GAMES = ["tictactoe", "connect-four", "bearoff:6", "hypergammon", "backgammon", "kuhn", "leduc", "liars-dice:openspiel:1-1:6"]


def play(game, rng):
    """The states of a random game."""
    state = game.start()
    states = [state]
    while not state.is_over:
        if state.is_chance:
            state = state.apply(state.sample(rng.randrange(2**32)))
        else:
            state = state.apply(rng.choice(state.actions()))
        states.append(state)
    return states


def test_a_game_of_tic_tac_toe():
    game = adept.game("tictactoe")
    assert (game.name, game.players, game.hides, game.action_space) == ("tictactoe", 2, False, 9)
    start = game.start()
    assert (start.player, start.is_over, start.is_chance, start.just_acted) == (0, False, False, None)
    assert len(start.actions()) == 9
    corner = start.actions()[0]
    after = start.apply(corner)
    assert str(after) == "X........" and str(start) == "........."
    assert after.player == 1 and after.just_acted == 0
    assert after == game.from_text("X........") and hash(after) == hash(game.from_text("X........"))
    assert after != start and after != "X........"
    assert start.apply(str(corner)) == after
    won = game.from_text("XXXOO....")
    assert won.is_over and won.returns() == [1.0, -1.0] and len(won.actions()) == 0
    assert won.player is None


def test_actions_are_a_sequence():
    actions = adept.game("tictactoe").from_text("XO.......").actions()
    assert [action.number for action in actions] == list(range(2, 9)) == actions.numbers().tolist()
    assert actions[-1] == list(actions)[-1] and len(actions[1:3]) == 2
    assert [str(action) for action in actions] == actions.texts()
    assert actions[0] in actions and "2" not in actions
    # The same action of another state is equal, and hashes alike.
    others = adept.game("tictactoe").from_text("X.O......").actions()
    assert actions[-1] == others[-1] and hash(actions[-1]) == hash(others[-1]) and actions[-1] != actions[0]
    with pytest.raises(IndexError):
        actions[7]
    assert repr(actions).startswith("<adept.Actions ")
    assert isinstance(actions, Sequence) and actions.index(actions[3]) == 3 and actions.count(actions[3]) == 1
    assert actions == adept.game("tictactoe").from_text("XO.......").actions() != others


@pytest.mark.parametrize("name", GAMES)
def test_random_games_keep_what_they_promise(name):
    game, rng = adept.game(name), random.Random(1)
    for _ in range(5):
        states = play(game, rng)
        returns = states[-1].returns()
        assert len(returns) == game.players and abs(sum(returns)) < 1e-9
        for state in states:
            # Backgammon's texts are written from the side of the player to move, whoever that is.
            assert game.from_text(str(state)) == state or name in ("bearoff:6", "hypergammon", "backgammon")
            assert pickle.loads(pickle.dumps(state)) == state
            assert copy.copy(state) is state and copy.deepcopy(state) is state
            if state.player is not None:
                assert 1 <= len(state.actions()) <= game.most_actions
                numbers = state.actions().numbers()
                assert len(set(numbers.tolist())) == len(numbers)
                assert state.info(state.player) == state.info(state.player)
                assert state.board() and state.board(state.player)
            elif state.is_chance and state != states[0]:  # the bear-off has very many beginnings
                outcomes = state.outcomes()
                assert abs(sum(p for _, p in outcomes) - 1) < 1e-9
                action = outcomes[0][0]
                assert pickle.loads(pickle.dumps(action)) == action
                assert state.apply(action) == state.apply(str(action))


@pytest.mark.parametrize("name", ["holdem:limit:2", "bearoff:6"])
def test_what_was_sampled_is_pickled_by_its_seed(name):
    game, rng = adept.game(name), random.Random(4)
    for _ in range(4):
        state = game.start()
        while not state.is_over:
            if state.is_chance:
                action = state.sample(rng.randrange(2**48))
                again = pickle.loads(pickle.dumps(action))
                assert again == action and state.apply(again) == state.apply(action)
            else:
                action = rng.choice(state.actions())
            state = state.apply(action)
            copied = pickle.loads(pickle.dumps(state))
            assert copied == state and str(copied) == str(state)
            if state.is_chance:
                # The copy draws as the state does.
                assert copied.apply(copied.sample(5)) == state.apply(state.sample(5))


def test_what_was_sampled_for_an_equal_state_is_pickled():
    game = adept.game("holdem:limit:2")
    betting = game.from_text("cr:5hKc|Kd5d")
    far = betting.apply(betting.action(1))
    near = game.from_text(str(far))
    assert near == far and near.is_chance and near.apply(near.sample(3)) != far.apply(far.sample(3))
    after = near.apply(far.sample(3))
    assert pickle.loads(pickle.dumps(after)) == after == far.apply(far.sample(3))


def test_what_a_player_knows_hides_the_rest():
    game = adept.game("kuhn")
    deals = {}
    for seed in range(40):
        state = game.start()
        while state.is_chance:
            state = state.apply(state.sample(seed))
            seed += 1000
        deals[str(state)] = state
    assert len(deals) > 3
    infos = {state.info(0) for state in deals.values()}
    assert len(infos) == 3 < len(deals)


def test_rows_are_those_of_the_model():
    game = adept.game("tictactoe")
    state = game.from_text("X...O....")
    rows = state.rows("stones")
    assert rows.dense.shape[0] == len(state.actions()) and np.isnan(rows.exact).all()
    again = game.encode([state.apply(action) for action in state.actions()], "stones")
    assert (again.dense == rows.dense).all()
    third = game.encode([state] * len(state.actions()), "stones", actions=state.actions())
    assert (third.dense == rows.dense).all()
    # The move that wins has its exact value.
    rows = game.from_text("XX.OO....").rows("stones")
    assert np.nanmax(rows.exact) == 1 and np.isnan(rows.exact).sum() == len(rows.exact) - 1


def test_rows_are_those_of_a_checkpoint():
    model = adept.open(ROOT / "checkpoints/bearoff/residual-10")
    game, rng = adept.game(model.game), random.Random(2)
    positions = [state for state in play(game, rng)[2:] if state.is_chance]
    dense, index = model.encode([str(state) for state in positions])
    rows = game.encode(positions, model.encoder)
    assert (dense == rows.dense).all() and (index == rows.index).all()
    with_dice = next(state for state in play(game, rng) if state.player is not None)
    rows = with_dice.rows(model.encoder)
    best = max(model.evaluate(rows.dense, rows.index))
    assert model.values([str(with_dice)])[0] == pytest.approx(best, abs=1e-6)


def test_faults_say_what_to_do():
    game, other = adept.game("tictactoe"), adept.game("connect-four")
    start = game.start()
    later = start.apply(start.actions()[0])
    with pytest.raises(adept.AdeptError, match="is an action of `\\.{9}`, not of `X\\.{8}`"):
        later.apply(start.actions()[5])
    with pytest.raises(adept.AdeptError, match="not of"):
        start.apply(other.start().actions()[0])
    with pytest.raises(adept.AdeptError, match="states\\[0\\] is a state of connect-four, not of tictactoe"):
        game.encode([other.start()], "stones")
    with pytest.raises(adept.AdeptError, match="`nowhere` is not a square"):
        start.apply("nowhere")
    with pytest.raises(TypeError, match="action: "):
        start.apply(3.5)
    assert start.action(4) == start.actions()[4]
    with pytest.raises(adept.AdeptError, match="action 9 is not legal"):
        start.action(9)
    with pytest.raises(TypeError, match="a list with an agent"):
        game.equity("random")
    with pytest.raises(adept.AdeptError, match="the game is not over"):
        start.returns()
    with pytest.raises(adept.AdeptError, match="players are 0 to 1"):
        start.info(2)
    with pytest.raises(adept.AdeptError, match="no game named `tictactoes`"):
        adept.game("tictactoes")
    with pytest.raises(TypeError, match="an adept.Game is needed"):
        adept.game(3)
    with pytest.raises(adept.AdeptError, match="not chance's turn"):
        start.sample(1)
    with pytest.raises(adept.AdeptError):
        game.from_text("XX")
    with pytest.raises(TypeError, match="a list of states"):
        game.encode("X........", "stones")


def test_a_game_in_python_is_stepped_and_pickled():
    mine, built_in = adept.game(TicTacToe()), adept.game("tictactoe")
    rng, twin = random.Random(3), random.Random(3)
    here, there = play(mine, rng), play(built_in, twin)
    assert [str(state) for state in here] == [str(state) for state in there]
    assert here[-1].returns() == there[-1].returns()
    assert pickle.loads(pickle.dumps(here[3])) == here[3]
    assert mine == adept.game("tictactoe-in-python")
    batch = mine.batch(8, seed=2)
    twins = built_in.batch(8, seed=2)
    for _ in range(30):
        # Both draw alike: places are the same.
        chosen, theirs = batch.random(places=True), twins.random(places=True)
        assert (chosen == theirs).all()
        one, two = batch.step(chosen, places=True), twins.step(theirs, places=True)
        assert (one.rewards == two.rewards).all() and (one.over == two.over).all()


@pytest.mark.parametrize("name", GAMES)
def test_a_batch_plays_like_its_games(name):
    game = adept.game(name)
    batch = game.batch(20, seed=5)
    states = [batch.state(i) for i in range(len(batch))]
    for _ in range(60):
        first, numbers = batch.legal()
        mask, counts = batch.mask(), batch.counts
        assert (np.diff(first) == counts).all() and first[-1] == len(numbers)
        assert (mask.sum(1) == counts).all()
        assert batch.player.tolist() == [state.player for state in states]
        for i, state in enumerate(states):
            assert state.actions().numbers().tolist() == numbers[first[i] : first[i + 1]].tolist()
        chosen = batch.random()
        assert mask[np.arange(len(batch)), chosen].all()
        step = batch.step(chosen)
        for i, state in enumerate(states):
            here = numbers[first[i] : first[i + 1]].tolist().index(chosen[i])
            after = state.apply(state.actions()[here])
            if after.is_over:
                assert step.over[i] and np.allclose(step.rewards[i], after.returns())
            elif after.player is not None:
                assert not step.over[i] and after == batch.state(i)
        states = [batch.state(i) for i in range(len(batch))]
    assert batch.finished > 0 or name == "backgammon"


def test_batches_depend_on_the_seed_alone():
    game = adept.game("hypergammon")

    def trace(n, threads):
        batch, found = game.batch(n, seed=9, threads=threads), []
        for _ in range(20):
            step = batch.step(batch.random())
            found.append((batch.player[:300].copy(), step.rewards[:300], step.over[:300]))
        return found, batch.rows().dense.sum()

    one, rows = trace(600, 1)
    two, rows_of_two = trace(600, 2)
    fewer, _ = trace(300, 1)
    for a, b, c in zip(one, two, fewer):
        assert all((x == y).all() for x, y in zip(a, b)) and all((x == y).all() for x, y in zip(a, c))
    assert rows == rows_of_two


def test_a_step_without_actions_draws_them():
    game = adept.game("hypergammon")
    one, two = game.batch(10, seed=3), game.batch(10, seed=3)
    for _ in range(40):
        drawn, own = one.step(one.random()), two.step()
        assert (drawn.rewards == own.rewards).all() and (one.player == two.player).all()


def test_rows_of_a_batch_are_those_of_its_states():
    game = adept.game("hypergammon")
    batch = game.batch(5, seed=1)
    for _ in range(20):
        batch.step(batch.random())
    rows = batch.rows()
    for i in range(5):
        own = batch.state(i).rows()
        part = slice(rows.first[i], rows.first[i + 1])
        assert (rows.dense[part] == own.dense).all()
        assert np.array_equal(rows.exact[part], own.exact, equal_nan=True)


def test_faults_of_batches_change_nothing():
    game = adept.game("tictactoe")
    for n in (0, -1, 10**9, 2**80):
        with pytest.raises(adept.AdeptError, match="a batch has 1 to"):
            game.batch(n)
    batch = game.batch(2, seed=1)
    with pytest.raises(adept.AdeptError, match="3 actions for 2 games"):
        batch.step([0, 1, 2])
    with pytest.raises(adept.AdeptError, match=r"actions\[1\] = 9 is not legal in `\.{9}`: 0, 1"):
        batch.step([0, 9])
    with pytest.raises(TypeError, match="whole numbers"):
        batch.step([0.5, 1.5])
    assert str(batch.state(0)) == "........."
    with pytest.raises(IndexError):
        batch.state(2)
    cut = game.batch(3, seed=1, longest=2)
    assert not cut.step(cut.random()).truncated.any()
    step = cut.step(cut.random())
    assert step.truncated.all() and not step.over.any() and str(cut.state(0)) == "........."


def test_a_fault_in_a_game_of_python_leaves_a_batch_unusable_and_says_so():
    class Faulty(TicTacToe):
        name = "faulty"
        bad = False

        def apply(self, state, square):
            if self.bad:
                raise ZeroDivisionError("on purpose")
            return super().apply(state, square)

    mine = Faulty()
    batch = adept.game(mine).batch(3, seed=1)
    mine.bad = True
    with pytest.raises(ZeroDivisionError, match="on purpose"):
        batch.step(batch.random())
    with pytest.raises(adept.AdeptError, match="left halfway"):
        batch.step([0, 0, 0])


def test_exact_values():
    game = adept.game("tictactoe")
    assert game.start().minimax() == 0 and game.from_text("XX.OO....").minimax() == 1
    assert game.equity(["random", "random"])[0] == pytest.approx(0.5849206 - 0.2880952, abs=1e-6)
    assert game.exploitability("minimax") == 0
    assert 0.9 < game.exploitability("random") < 1
    # In Python too, and with chance.
    mine = adept.game(TicTacToe())
    assert mine.equity(["random", "random"]) == pytest.approx(game.equity(["random", "random"]))
    kuhn = adept.game("kuhn")
    assert kuhn.exploitability("random") == pytest.approx(0.4583333, abs=1e-6)
    with pytest.raises(adept.AdeptError, match="3 agents for 2 players"):
        game.equity(["random"] * 3)
    with pytest.raises(adept.AdeptError, match="too many"):
        adept.game("connect-four").start().minimax()


class HiddenCoin(adept.Game):
    """A coin is tossed; player 0 sees it and says a side; player 1 believes it or not."""

    name, inputs, hides, small = "hidden-coin", 1, True, True

    def start(self):
        return ()

    def turn(self, state):
        return (adept.CHANCE, 0, 1, None)[len(state)]

    def outcomes(self, state):
        return [("heads", 0.5), ("tails", 0.5)]

    def actions(self, state):
        return ["heads", "tails"] if len(state) == 1 else ["believe", "doubt"]

    def apply(self, state, action):
        return (*state, action)

    def utility(self, state, player):
        right = (state[0] == state[1]) == (state[2] == "believe")
        return 1.0 if right == (player == 1) else -1.0

    def info(self, state, player):
        return (player, state) if player == 0 else (player, state[1:])

    def encode(self, state, player, action):
        return [0.0]


def test_best_responses_in_a_game_of_python_that_hides():
    game = adept.game(HiddenCoin())
    # Against random doubt nothing can be won; against random words belief is worth nothing.
    assert game.best_responses("random") == pytest.approx([0.0, 0.0])
    assert game.exploitability("random") == pytest.approx(0.0)


def test_who_forgets_has_no_best_response():
    class Forgetful(adept.Game):
        name, inputs, hides, small = "forgetful", 1, True, True

        def start(self):
            return ()

        def turn(self, state):
            return (0, 0, 1, None)[len(state)]

        def actions(self, state):
            return [0, 1]

        def apply(self, state, action):
            return (*state, action)

        def utility(self, state, player):
            return (1.0 if state[0] == state[1] else -1.0) * (1 if player == 0 else -1)

        def info(self, state, player):
            return (player, len(state))

        def encode(self, state, player, action):
            return [0.0]

    with pytest.raises(adept.AdeptError, match="forgets in"):
        adept.game(Forgetful()).best_responses("random")


def test_one_seed_draws_anew_at_each_chance_event():
    game, deals = adept.game("kuhn"), set()
    for seed in range(100):
        state = game.start()
        while state.is_chance:
            state = state.apply(state.sample(seed))
        deals.add(str(state))
    assert len(deals) == 6


def test_a_changed_rule_file_is_another_game(tmp_path):
    rules = ROOT / "crates/declared/games"
    path = tmp_path / "my.game"
    path.write_text((rules / "tic-tac-toe.game").read_text())
    before = adept.game(f"file:{path}")
    saved = pickle.dumps(before.start())
    assert pickle.loads(saved) == before.start() and before == adept.game(f"file:{path}")
    path.write_text((rules / "hex.game").read_text())
    after = adept.game(f"file:{path}")
    assert after != before and after.start() != before.start()
    with pytest.raises(adept.AdeptError, match="not of"):
        after.start().apply(before.start().actions()[0])
    with pytest.raises(adept.AdeptError, match="have changed"):
        pickle.loads(saved)


def test_threads_share_states_of_a_game_in_python():
    game = adept.game(TicTacToe())
    for _ in range(200):
        state = game.start()
        threads = [threading.Thread(target=call) for call in (state.actions, lambda: hash(state), lambda: state == state)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]


def test_what_is_at_work_cannot_be_asked_from_within():
    class Asking(TicTacToe):
        name = "asking"
        batch = None

        def apply(self, state, square):
            if self.batch is not None:
                self.batch.finished
            return super().apply(state, square)

    mine = Asking()
    batch = adept.game(mine).batch(3, seed=1)
    mine.batch = batch
    with pytest.raises(adept.AdeptError, match="at work: a game that it calls"):
        batch.step()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_an_agent_that_was_at_work_at_a_fork_says_so():
    game = adept.game("connect-four")
    agent = game.agent("uct:3000000")
    thread = threading.Thread(target=agent.choose, args=(game.start(), 1))
    thread.start()
    time.sleep(0.3)
    child = os.fork()
    if child == 0:
        try:
            agent.choose(game.start(), 1)
        except adept.AdeptError as error:
            os._exit(7 if "was forked" in str(error) else 8)
        os._exit(9)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    thread.join()
    assert ended == 7


def test_control_c_leaves_a_long_search():
    game = adept.game("connect-four")
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        game.agent("uct:5000000").choose(game.start(), 1)
    assert game.agent("random").choose(game.start(), 1) in game.start().actions()


def test_masks_of_a_batch_have_a_bound(tmp_path):
    text = (ROOT / "crates/declared/games/breakthrough.game").read_text()
    wide = tmp_path / "wide.game"
    wide.write_text(text.replace("1..8", "1..20"))
    game = adept.game(f"file:{wide}")
    assert game.action_space > 1000 and game.batch(8).mask().shape == (8, game.action_space)
    with pytest.raises(adept.AdeptError, match="a mask of .* is too large: take `legal"):
        game.batch(2**28 // game.action_space + 1).mask()


def test_rows_of_a_batch_have_a_bound():
    with pytest.raises(adept.AdeptError, match="take fewer games"):
        adept.game("connect-four").batch(1 << 20).rows("cells")


def test_agents_choose():
    game = adept.game("tictactoe")
    agent = game.agent("minimax")
    assert str(agent.choose(game.from_text("XX.OO...."), seed=1)) == str(game.from_text("XX.OO....").actions()[0])
    assert agent.policy(game.start()).sum() == pytest.approx(1)
    assert agent.choose(game.start(), seed=4) == agent.choose(game.start(), seed=4)
    again = pickle.loads(pickle.dumps(agent))
    assert again.name == "minimax" and repr(agent) == "<adept.Agent minimax of tictactoe>"
    with pytest.raises(adept.AdeptError, match="not of tictactoe"):
        agent.choose(adept.game("connect-four").start())
    with pytest.raises(adept.AdeptError):
        game.agent("nobody")
    assert str(game.agent("uct:200").choose(game.from_text("XX.OO...."), seed=1)) == str(
        game.from_text("XX.OO....").actions()[0]
    )


def test_positions_by_id_rollouts_and_search():
    game = adept.game("backgammon")
    state = game.from_text("4HPwATDgc/ABMA 31")
    assert state.player is not None and "8/5 6/5" in state.actions().texts()
    assert game.from_text(state.short_text) == state and state.short_text.startswith("4HPwATDgc/ABMA")
    path = ROOT / "checkpoints/hypergammon/td-128-32"
    start = next(s for s in play(adept.game("hypergammon"), random.Random(1)) if s.is_chance)
    shares = []
    found = adept.rollout(start, path, trials=36, on_progress=lambda event: shares.append(event["share"]))
    assert len(found) == 1 and found[0]["trials"] == 36 and found[0]["ci95"][0] <= found[0]["equity"] <= found[0]["ci95"][1]
    assert shares[-1] == 1 and found == adept.rollout([str(start)], path, trials=36, threads=1)
    decision = next(s for s in play(adept.game("hypergammon"), random.Random(2)) if s.player is not None)
    looked = adept.search(path, decision, plies=2)
    assert looked["search"]["plies"] == 2 and len(looked["moves"]) == len(decision.actions())
    with pytest.raises(TypeError, match="one of plies, seconds and nodes"):
        adept.search(path, decision)
    with pytest.raises(adept.AdeptError, match="trials"):
        adept.rollout(start, path, trials=1)
    with pytest.raises(adept.AdeptError, match="name the `game`"):
        adept.rollout(start, "nowhere")
