"""Detect suspicious votes, copied responses and accounts; a finding never changes a score."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.arena.checks.accounts import (
    handle_base,
    networks_of_owners,
    similar_handles,
    similarity,
)
from agon.disciplines.arena.checks.detectors import favorite_bot, low_agreement
from agon.disciplines.arena.checks.panels import judge_burst, panel_share
from agon.disciplines.arena.checks.plagiarism import EarlierAnswers, are_copies
from agon.disciplines.arena.checks.voting import (
    agreeing_judges,
    audit_disagreement,
    collusion,
    position_bias,
)
from agon.disciplines.arena.facts import RATED, Facts, facts_of
from agon.disciplines.arena.formulas import NONE, Ints
from agon.disciplines.arena.history import results_of
from agon.disciplines.arena.judges.quality import kappas_of
from agon.disciplines.arena.rules import ArenaRules
from agon.errors import NotScorable
from agon.kernel.agreement.krippendorff_alpha import krippendorff_alpha
from agon.kernel.findings import Check, Finding, RecordRefs, Severity, meanings, run_checks
from agon.kernel.rounding import publish
from agon.kernel.text.captions import count_text
from agon.records import Records


@dataclass(frozen=True)
class Inspection:
    """The records of an arena under examination."""

    records: Records
    facts: Facts
    rules: ArenaRules


def find(records: Records, rules: ArenaRules) -> list[Finding]:
    """Return the findings of the spec page, each with its statistic and what chance would give."""
    return inspect(Inspection(records, facts_of(records), rules))


def inspect(inspection: Inspection) -> list[Finding]:
    """Return the findings of records whose facts are known."""
    return run_checks(TABLE, inspection)


def agreement(facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report the agreement of all judges on rated matches, if κ and α are defined."""
    votes = facts.votes
    rated = facts.matches.kind[votes.match] == RATED
    try:
        alpha = krippendorff_alpha(votes.match[rated], votes.judge[rated], votes.side[rated])
    except NotScorable:
        return
    kappas = kappas_of(facts, results_of(facts, rules))
    values = np.array(list(kappas.values()))
    mean = f"; mean κ with the consensus {values.mean():.2f}" if len(values) else ""
    yield Finding(
        "agreement",
        Severity.INFO,
        (),
        "Krippendorff's α",
        publish(alpha.value),
        0.0,
        None,
        f"{len(np.unique(votes.judge[rated]))} judges agree on {alpha.units:,} matches with "
        f"α = {alpha.value:.2f} (0 is chance, 1 full agreement){mean}",
    )


def plagiarism(records: Records, facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report bots whose responses repeat those of others: in a match, or earlier in the contest."""
    yield from _copied_in_match(records, facts, rules)
    if rules.plagiarism_scope == "contest":
        yield from _copied_earlier(records, facts, rules)


def _copied_earlier(records: Records, facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report bots whose responses repeat earlier ones of other owners (``plagiarism_scope``)."""
    written = records.sql(
        "SELECT id::VARCHAR AS id, response_a, response_b FROM matches WHERE kind <> 'honeypot'"
    )
    texts = {row["id"]: row for row in written.to_pylist()}
    owners, matches = facts.bots.owner.to_pylist(), facts.matches
    earlier = EarlierAnswers(rules.plagiarism_jaccard)
    copied: dict[int, list[int]] = defaultdict(list)
    for place, name in enumerate(map(str, matches.ids.to_pylist())):
        sides = (("response_a", matches.bot_a), ("response_b", matches.bot_b))
        answers = [
            (int(bots[place]), text)
            for column, bots in sides
            if bots[place] != NONE and (text := texts.get(name, {}).get(column)) is not None
        ]
        authors = [owners[bot] or str(facts.bots.ids[bot]) for bot, _ in answers]
        for (bot, text), author in zip(answers, authors, strict=True):
            if earlier.source_of(text, author=author) is not None:
                copied[bot].append(place)
        for (_, text), author in zip(answers, authors, strict=True):
            earlier.add(text, author=author, match=name)
    for bot, positions in sorted(copied.items()):
        rated = int(np.count_nonzero(matches.kind[positions] == RATED))
        yield Finding(
            "plagiarism",
            Severity.WARNING if rated else Severity.INFO,
            (str(facts.bots.ids[bot]),),
            "answers that repeat earlier ones of others",
            len(positions),
            0.0,
            None,
            f"bot {facts.bots.ids[bot]} wrote the words of earlier answers of others in "
            f"{count_text(len(positions), 'match')}, {rated} of them rated; the rules skip such "
            "matches",
            (RecordRefs.of("matches", matches.names(positions)),),
        )


def _copied_in_match(records: Records, facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report bots whose responses repeat their opponents' words (document 003, Plagiarism).

    The texts do not show who copied whom: a copied match is attributed to the one of its bots that
    has more of them, to both when they have equally many.
    """
    written = records.sql(
        "SELECT id, response_a, response_b FROM matches "
        "WHERE kind <> 'honeypot' AND response_a IS NOT NULL AND response_b IS NOT NULL"
    )
    copied = [
        name
        for name, first, second in zip(*(column.to_pylist() for column in written), strict=True)
        if are_copies(first, second, threshold=rules.plagiarism_jaccard)
    ]
    if not copied:
        return
    matches = facts.matches
    places = np.sort(_places(matches.ids, copied))
    pairs = list(zip(matches.bot_a[places].tolist(), matches.bot_b[places].tolist(), strict=True))
    copies_per_bot = Counter(bot for pair in pairs for bot in pair if bot != NONE)
    # Which of two equal answers is the copy is unknown: the bot that is in more of such pairs is
    # blamed, both where they are in equally many.
    blamed: dict[int, list[int]] = defaultdict(list)
    for place, pair in zip(places.tolist(), pairs, strict=True):
        most = max(copies_per_bot[bot] for bot in pair)
        for bot in pair:
            if bot != NONE and copies_per_bot[bot] == most:
                blamed[bot].append(place)
    for bot, positions in sorted(blamed.items()):
        rated = int(np.count_nonzero(matches.kind[positions] == RATED))
        name = str(facts.bots.ids[bot])
        yield Finding(
            "plagiarism",
            Severity.WARNING if rated else Severity.INFO,
            (name,),
            "matches with copied responses",
            len(positions),
            0.0,
            None,
            f"bot {name} and its opponent wrote the same words in "
            f"{count_text(len(positions), 'match')}, {rated} of them rated; the rules skip such "
            "matches",
            (RecordRefs.of("matches", matches.names(positions)),),
        )


def shared_network(records: Records, facts: Facts) -> Iterator[Finding]:
    """Report owners on one network, by ``network`` or else ``ip``; neither is ever shown.

    It is a warning where their bots played each other, or where they, as people or with their bots,
    judged each other or sat on one panel, otherwise a note: homes and universities share networks
    too.
    """
    groups: dict[str, list[str]] = defaultdict(list)
    for name, network in networks_of_owners(records).items():
        groups[network].append(name)
    shared = sorted(sorted(group) for group in groups.values() if len(group) > 1)
    group_of = {name: number for number, group in enumerate(shared) for name in group}
    dealings = _dealings(facts, group_of, len(shared))
    for number, group in enumerate(shared):
        yield Finding(
            "shared-network",
            dealings[number].severity,
            tuple(group),
            "owners on one network",
            len(group),
            1.0,
            None,
            f"{len(group)} owners share one network; {dealings[number]}",
            (RecordRefs.of("owners", group),),
        )


@dataclass(frozen=True)
class _Dealings:
    """What the owners of a group had to do with each other.

    Attributes:
        met: matches among their bots.
        judged: votes of theirs on matches of their bots.
        together: panels on which two or more of their judges sat.
    """

    met: int
    judged: int
    together: int

    @property
    def severity(self) -> Severity:
        """A warning where there is any; accounts that are only similar are a note."""
        return Severity.WARNING if self.met + self.judged + self.together else Severity.INFO

    def __str__(self) -> str:
        sat = f"; {self.together} panels had several of them" if self.together else ""
        return (
            f"their bots met in {self.met} matches and cast {self.judged} votes on each other's "
            f"matches{sat}"
        )


def _dealings(facts: Facts, group_of: dict[str, int], groups: int) -> list[_Dealings]:
    """Count the dealings of each group of owners."""
    bots, judges = (
        np.array([group_of.get(owner, NONE) for owner in table.owner.to_pylist()] + [NONE])
        for table in (facts.bots, facts.judges)
    )
    # A honeypot's robotic side is bot −1, which reads the entry added at the end.
    bot_a, bot_b = bots[facts.matches.bot_a], bots[facts.matches.bot_b]
    among = bot_a[(bot_a == bot_b) & (bot_a != NONE)]
    voter, match = judges[facts.votes.judge], facts.votes.match
    on_own = voter[(voter != NONE) & ((bot_a[match] == voter) | (bot_b[match] == voter))]
    seats = (match[voter != NONE].astype(np.int64)) * max(groups, 1) + voter[voter != NONE]
    panels, members = np.unique(seats, return_counts=True)
    together = panels[members > 1] % max(groups, 1)
    counts = (
        np.bincount(selected, minlength=groups).tolist() for selected in (among, on_own, together)
    )
    return [_Dealings(*each) for each in zip(*counts, strict=True)]


def handle_similarity(records: Records, facts: Facts, rules: ArenaRules) -> Iterator[Finding]:
    """Report owners with almost the same handle; a warning where their bots interacted.

    The expected value is the similarity of handles that are neighbors in alphabetical order.
    """
    owners = records.sql("SELECT id, handle FROM owners ORDER BY _row")
    names = [str(name) for name in owners["id"].to_pylist()]
    handles = owners["handle"].to_pylist()
    groups_found = _join_pairs(
        similar_handles(
            handles, threshold=rules.handle_similarity, base_length=rules.handle_base_length
        )
    )
    if not groups_found:
        return
    group_of = {
        names[index]: number for number, (group, _) in enumerate(groups_found) for index in group
    }
    dealings = _dealings(facts, group_of, len(groups_found))
    ordinary = _ordinary_similarity(handles)
    for number, (group, share) in enumerate(groups_found):
        ids = sorted(names[index] for index in group)
        handles_listed = ", ".join(sorted(handles[index] for index in group)[:5])
        yield Finding(
            "handle-similarity",
            dealings[number].severity,
            tuple(ids),
            "largest edit similarity of handles",
            publish(share),
            ordinary,
            None,
            f"{len(ids)} owners have almost the same handle ({handles_listed}); {dealings[number]}",
            (RecordRefs.of("owners", ids),),
        )


def _ordinary_similarity(handles: list[str], *, most: int = 1000) -> float:
    """Return the mean similarity of alphabetical neighbors, over a limited number of them."""
    bases = sorted({handle_base(handle) for handle in handles})
    near = list(pairwise(bases))[:: max(1, len(bases) // most)]
    shares = sorted(similarity(first, second) for first, second in near)
    return publish(sum(shares) / len(shares)) if shares else 0.0


def _join_pairs(pairs: list[tuple[int, int, float]]) -> list[tuple[list[int], float]]:
    """Join pairs that share a member into groups, each with its largest similarity."""
    group: dict[int, set[int]] = {}
    for first, second, _ in pairs:
        merged = group.get(first, {first}) | group.get(second, {second})
        group.update(dict.fromkeys(merged, merged))
    largest: dict[tuple[int, ...], float] = defaultdict(float)
    for first, _, share in pairs:
        members = tuple(sorted(group[first]))
        largest[members] = max(largest[members], share)
    return [(list(members), share) for members, share in sorted(largest.items())]


def _places(ids: pa.Array, names: list[int | str]) -> Ints:
    """Return the indices of matches by id, in order of play."""
    return pc.index_in(pa.array(names, ids.type), value_set=ids).to_numpy()


TABLE: tuple[Check[Inspection], ...] = (
    Check(
        "agreement",
        "How far all judges agree beyond chance: Krippendorff's α, and the mean of Cohen's κ "
        "with the consensus (a note, not a suspicion).",
        lambda arena: agreement(arena.facts, arena.rules),
    ),
    Check(
        "agreeing-judges",
        "Two judges cast equal votes on nearly all common matches, more often than either does "
        "with all other judges.",
        lambda arena: agreeing_judges(arena.facts, arena.rules),
    ),
    Check(
        "audit-disagreement",
        "A judge agrees with fewer than half of the audits it voted under.",
        lambda arena: audit_disagreement(arena.facts, arena.rules),
    ),
    Check(
        "collusion",
        "A judge's recent votes went to one bot more than ten times, against how often other "
        "judges choose that bot.",
        lambda arena: collusion(arena.facts, arena.rules),
    ),
    Check(
        "position-bias",
        "More than four in five of a judge's recent votes have one label; not asked of models, "
        "which see both orders.",
        lambda arena: position_bias(arena.facts, arena.rules),
    ),
    Check(
        "plagiarism",
        "A bot's responses repeat the words of its opponents, or of earlier answers.",
        lambda arena: plagiarism(arena.records, arena.facts, arena.rules),
    ),
    Check(
        "shared-network",
        "Several owners, people who judge among them, share one network (the keyed hash of a /24 "
        "or /48).",
        lambda arena: shared_network(arena.records, arena.facts),
    ),
    Check(
        "handle-similarity",
        "Owners' handles are the same but for trailing digits, or a letter apart.",
        lambda arena: handle_similarity(arena.records, arena.facts, arena.rules),
    ),
    Check(
        "low-agreement",
        "A judge agrees with the other judges less often than honest judges do (with "
        "`detector_false_alarms`).",
        lambda arena: low_agreement(arena.facts, arena.rules),
    ),
    Check(
        "favorite-bot",
        "A judge votes for one bot more often than the other judges do on such matches (with "
        "`detector_false_alarms`).",
        lambda arena: favorite_bot(arena.facts, arena.rules),
    ),
    Check(
        "panel-share",
        "One person sits on far more panels than a fair draw explains (with `panel_share`).",
        lambda arena: panel_share(arena.facts, arena.rules),
    ),
    Check(
        "judge-burst",
        "Many accounts of judges were created at once (with `burst_judges`).",
        lambda arena: judge_burst(arena.facts, arena.rules),
    ),
)
"""The checks, in the order in which they run."""

CHECKS = meanings(TABLE)
"""The meaning of each check by the code of its findings."""
