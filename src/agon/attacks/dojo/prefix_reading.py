"""The attacker reads hidden terms off the verdicts of many entries.

Where a verdict says how many first terms are right, each entry corrects one wrong guess: a sequence
of 200 bits takes about 100 entries and no idea of its rule. It then fits into one number. Where a
verdict says only which gates were passed, an entry says nothing.
"""

from hashlib import sha256
from itertools import islice

from agon.attacks.dojo.season import Season
from agon.attacks.strategy import Plan, Strategy


def act(season: Season, plan: Plan) -> None:
    """Send entries to some unsolved problems on the first day."""
    if season.day == 1:
        for problem in islice(season.open_problems(), int(plan["problems"])):
            _read(season, problem, int(plan["entries"]))


def _read(season: Season, problem: str, entries: int) -> None:
    terms = season.terms_of(problem)
    hidden, guess = _hidden_bits(problem, terms), [0] * terms
    discloses_terms = season.rules.feedback != "gate"
    for entry in range(entries):
        wrong = [index for index in range(terms) if hidden[index] != guess[index]]
        matched = wrong[0] if wrong else terms
        if not season.submit(problem, _program(guess), matched=matched, kind="entry"):
            return
        if not wrong:
            return
        # The verdict names the first wrong term; without it the next guess is blind.
        index = matched if discloses_terms else entry % terms
        guess[index] = 1 - guess[index]


def _hidden_bits(problem: str, terms: int) -> list[int]:
    """Return the terms of a problem, which no attacker sees."""
    blocks = range(terms // 256 + 1)
    text = b"".join(sha256(f"{problem}/{block}".encode()).digest() for block in blocks)
    return [text[index // 8] >> index % 8 & 1 for index in range(terms)]


def _program(bits: list[int]) -> str:
    number = sum(bit << index for index, bit in enumerate(bits))
    return (
        f"def solver():\n    n = {number:#x}\n    return [n >> i & 1 for i in range({len(bits)})]\n"
    )


STRATEGY = Strategy(
    name="prefix-reading",
    description=__doc__,
    source="Blum and Hardt, The Ladder, ICML 2015 (arXiv 1502.04585)",
    controls="entries",
    knows="its own verdicts",
    goal="rank+1",
    plans=tuple(
        {"problems": problems, "entries": entries}
        for problems in (1, 3)
        for entries in (60, 150, 300)
    ),
    act=act,
)
