"""Rules are gated like code: no change makes a known attack cheaper without being seen."""

import pytest

from agon.attacks.runner import Runner, select
from attacks.gate import Price, attacks, cheaper, price, result, runner, stored


def test_the_file_has_every_attack_under_every_edition() -> None:
    """A new attack is priced at once."""
    named = [(name, attack) for name, prices in stored().items() for attack in prices]
    assert named == list(attacks())


@pytest.mark.sample(3)
@pytest.mark.parametrize(("name", "attack"), list(attacks()))
def test_no_attack_became_cheaper(name: str, attack: str) -> None:
    """By more than 5 %; one that no plan reached may not become possible."""
    before, now = stored()[name][attack], price(name, attack)
    assert not cheaper(before, now), f"{before} before, {now} now"


DEAR = {"money": 100.0, "accounts": 20, "actions": 40}


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (DEAR, DEAR | {"money": 96}, False),
        (DEAR, DEAR | {"money": 94}, True),
        (DEAR, DEAR | {"accounts": 18}, True),
        (DEAR, DEAR | {"actions": 37, "accounts": 30}, True),
        (None, DEAR, True),
        (DEAR, None, False),
        (None, None, False),
    ],
)
def test_a_fall_is_noticed(before: Price | None, now: Price | None, *, expected: bool) -> None:
    """The gate itself can fail."""
    assert cheaper(before, now) is expected


@pytest.mark.sample(1)
@pytest.mark.parametrize("attack", ["dust-validators", "dust-denial"])
def test_validators_with_little_stake_decide_under_the_literal_rules_alone(attack: str) -> None:
    """The known holes: more identities than the honest ones make honest reports outliers."""
    literal = result("challenge/term-1", attack)
    assert literal.reached
    assert literal.gain.ranks > 0
    assert literal.harm.honest_moved > 0
    assert literal.detected == ()
    hardened = result("challenge/hardened-1", attack)
    assert not hardened.reached
    assert hardened.gain.ranks <= 0
    assert hardened.harm.worst_fall < literal.harm.worst_fall


@pytest.mark.exhaustive
def test_one_report_inside_the_outlier_bound_ends_the_decay_where_any_agent_may() -> None:
    """Document 001 asks for a new agent; without that, a push of an old one is another hole."""
    under = runner("challenge/term-1")
    anyone = Runner(under.lab, under.world, under.rules.override({"improvement_by": "any"}))
    strategy = select(under.lab, ["decay-reset"])[0]
    assert anyone.run(strategy).reached
    assert not result("challenge/term-1", "decay-reset").reached
    assert not result("challenge/hardened-1", "decay-reset").reached


@pytest.mark.exhaustive
def test_a_verdict_that_counts_terms_gives_them_away() -> None:
    """The hole that ``dojo/0.2`` closed: half of 200 bits are guessed wrong, and then known."""
    literal = result("dojo/0.1", "prefix-reading")
    assert literal.reached
    assert not result("dojo/0.2", "prefix-reading").reached
