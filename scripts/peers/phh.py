#!/usr/bin/env python3
"""Plays hand histories again in PokerKit and compares what every player wins with `_won`.

    scripts/peers/phh.py FILE.phhs…

Needs `pip install pokerkit`. Two rules differ where stacks are short, and such hands are counted apart:

- an all-in raise of half a bet or more lets others raise again; in PokerKit only one of a whole bet does;
- odd chips of several shared pots go to the first winner of each; PokerKit spreads them otherwise.

Exit status 1 if any other hand differs or is refused.
"""

import sys
from collections import Counter
from math import isinf

from pokerkit import HandHistory
from pokerkit.notation import parse_action


def refusal(hand):
    """What PokerKit says about the first action that it refuses."""
    state = hand.create_state()
    for action in hand.actions:
        try:
            while state.can_burn_card():
                state.burn_card("??")
            parse_action(state, action)
        except (ValueError, KeyError) as error:
            return f"{action}: {error}"
    return "nothing"


def outcome(hand):
    """How a hand ends in PokerKit, and what is wrong."""
    expected = hand.user_defined_fields["_won"]
    # PokerKit subtracts what is left from what was there: for endless stacks it takes a number that is surely enough.
    hand.starting_stacks = [10**6 if isinf(stack) else stack for stack in hand.starting_stacks]
    try:
        state = None
        for state in hand:
            pass
    except (ValueError, KeyError):
        refused = refusal(hand)
        if "Short all-in cannot be raised" in refused:
            return "another rule for all-in raises of half a bet", None
        return "wrong", refused
    if state is None or state.status:
        return "wrong", "the hand is not over"
    found = [int(payoff) for payoff in state.payoffs]
    if found == expected:
        return "agree", None
    several_pots = len(hand.starting_stacks) > 2 and min(hand.starting_stacks) < 10**6
    if several_pots and all(abs(a - b) <= 1 for a, b in zip(found, expected)):
        return "another place for odd chips", None
    return "wrong", f"PokerKit pays {found}, the file has {expected}"


def main(paths):
    results = Counter()
    for path in paths:
        with open(path, "rb") as file:
            hands = list(HandHistory.load_all(file))
        for number, hand in enumerate(hands, 1):
            how, fault = outcome(hand)
            results[how] += 1
            if fault:
                print(f"{path}: hand {number}: {fault}")
    print(", ".join(f"{how}: {count}" for how, count in results.most_common()))
    return 1 if results["wrong"] or not results["agree"] else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
