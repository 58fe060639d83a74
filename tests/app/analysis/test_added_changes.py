"""Every change that added rows can make is counted as by a full run, and is drawn."""

import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agon.app.analysis.incremental import score_incrementally
from agon.app.analysis.score import score
from agon.disciplines.community.added_facts import AddedFacts
from agon.disciplines.community.components import COMPONENTS
from agon.records import added
from disciplines.community.communities import DAY, MODELS
from disciplines.community.test_oracle import EASY
from sizes import ALL, size

PARTS = 3
"""The first files of all tables, and two that are added one after the other."""

OF = {component.count.name: component.count.of for component in COMPONENTS}

RULES: list[dict[str, Any]] = [
    {"wrong_answer_unit": "responses"},
    {"sota_list": "dynamic", "sota_min_prompts": 1, "sota_top": 1},
    {"sota_list": "dynamic", "sota_min_prompts": 2, "sota_top": 2},
    {"repeated_feedback": "all"},
    {"self_feedback": "ignore"},
    {"feedback_targets": "prompts"},
    {"min_collaborator_prompts": 1},
    {"likes_per_creator": 1},
    {"owner_contribution": "always"},
    {"diversity": True, "consistency": True, "impact": True},
]

CHANGES = {
    "added prompts",
    "added users",
    "added benchmarks",
    "added prompts of earlier benchmarks",
    "earlier prompts of earlier benchmarks",
    "responses on earlier prompts",
    "responses on added prompts",
    "scores of earlier responses",
    "replaced opinions",
    "new opinions on earlier prompts",
    "more quality prompts",
    "less quality prompts",
    "other wrong models",
    "h-indices that rose",
    "h-indices that fell",
    "helped_by of earlier benchmarks",
    "run_by of earlier benchmarks",
    "owned_by of earlier benchmarks",
    "more collaborators",
    "other models of the state of the art",
    "the same models of the state of the art",
    "wrong responses",
    "consecutive ids",
    "ids with gaps",
    "ids in no order",
    "ids of text",
    "prompts counted from all rows",
    "no change",
}
"""What added rows change, next to nothing; ids are those of the prompts."""


class Drawn:
    """A community whose rows come in three parts, none of which refers to a later one."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice
        self._ids: dict[str, list[list[Any]]] = {}
        self.parts: list[dict[str, pa.Table]] = [{} for _ in range(PARTS)]
        self._style = dice.choice(["range", "gaps", "no order", "text"])
        for name, most in (("user", 7), ("prompt", 9), ("set", 4), ("response", 14)):
            self._ids[name] = self._draw_ids(name, most)
        for part in range(PARTS):
            self._add(part, self.parts[part])

    def _draw_ids(self, name: str, most: int) -> list[list[Any]]:
        """Return ids by part; the first part has at least two."""
        numbers = list(range(5, 5 + self._dice.randint(4, most)))
        if self._style in ("gaps", "no order"):
            numbers = [number * 3 for number in numbers]
        if self._style == "no order":
            self._dice.shuffle(numbers)
        ids = [f"{name}{number}" if self._style == "text" else number for number in numbers]
        first = self._dice.randint(2, len(ids))
        second = self._dice.randint(first, len(ids))
        return [ids[:first], ids[first:second], ids[second:]]

    def _one(self, name: str, part: int) -> Any:
        """Return an id of a part or an earlier one."""
        return self._dice.choice([one for ids in self._ids[name][: part + 1] for one in ids])

    def _some(self, most: int) -> range:
        return range(self._dice.randint(0, most))

    def _add(self, part: int, tables: dict[str, pa.Table]) -> None:
        dice, one, kind = (
            self._dice,
            self._one,
            pa.string() if self._style == "text" else pa.int64(),
        )

        def table(name: str, rows: list[dict[str, Any]], **kinds: pa.DataType) -> None:
            if rows or not part:
                schema = pa.schema(list(kinds.items()))
                tables[name] = pa.Table.from_pylist(rows, schema=schema)

        table("users", [{"id": id_} for id_ in self._ids["user"][part]], id=kind)
        prompts = [
            {"id": id_, "uploader_id": dice.choice([one("user", part), one("user", part), None])}
            for id_ in self._ids["prompt"][part]
        ]
        table("prompts", prompts, id=kind, uploader_id=kind)
        sets = [
            {"id": id_, "owner_id": one("user", part), "category": dice.choice("ab"),
             "deleted_at": dice.choice([None, None, None, DAY])}
            for id_ in self._ids["set"][part]
        ]  # fmt: skip
        table("prompt_sets", sets, id=kind, owner_id=kind, category=pa.string(),
              deleted_at=pa.timestamp("us"))  # fmt: skip
        held = [
            {"prompt_set_id": one("set", part), "prompt_id": one("prompt", part),
             "status": dice.choice(["included", "included", "excluded", None])}
            for _ in self._some(10)
        ]  # fmt: skip
        table("prompt_set_prompts", held, prompt_set_id=kind, prompt_id=kind, status=pa.string())
        roles = [
            {"prompt_set_id": one("set", part), "user_id": one("user", part),
             "role": dice.choice(["owner", "admin", "collaborator", "reviewer"])}
            for _ in self._some(3)
        ]  # fmt: skip
        table("user_role_on_prompt_set", roles, prompt_set_id=kind, user_id=kind, role=pa.string())
        responses = [
            {"id": id_, "prompt_id": one("prompt", part), "user_id": one("user", part),
             "model": dice.choice(MODELS)}
            for id_ in self._ids["response"][part]
        ]  # fmt: skip
        table("responses", responses, id=kind, prompt_id=kind, user_id=kind, model=pa.string())
        scores = [
            {"response_id": one("response", part), "score": dice.randint(0, 10) / 10}
            for _ in self._some(20)
        ]
        table("scores", scores, response_id=kind, score=pa.float64())
        table("quick_feedbacks", [self._feedback(part) for _ in self._some(40 if part else 80)],
              user_id=kind, prompt_id=kind, response_id=kind, opinion=pa.string(),
              created_at=pa.timestamp("us"))  # fmt: skip
        users = [{"user_id": one("user", part), "org_id": 1} for _ in self._some(2)]
        table("org_to_people", users, user_id=kind, org_id=pa.int64())

    def _feedback(self, part: int) -> dict[str, Any]:
        target = self._dice.choice(["prompt", "prompt", "prompt", "response"])
        # Later parts have more negative opinions, which end quality prompts.
        positive = self._dice.random() < (0.4 if part else 0.7)
        return {
            "user_id": self._one("user", part),
            f"{target}_id": self._one(target, part),
            "opinion": "positive" if positive else "negative",
            "created_at": self._dice.choice([None, DAY, DAY.replace(day=2 + part)]),
        }


def test_every_change_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """In full size each one is drawn, so that none is left out without notice."""
    monkeypatch.setattr(added, "_MAX_SHARE", 100.0)
    drawn: Counter[str] = Counter()
    for seed in range(size(150, dear=True)):
        dice = Random(seed)  # noqa: S311 - draws communities
        community, rules = Drawn(dice), dict(EASY)
        for chosen in dice.sample(RULES, dice.choice([0, 1, 1, 2])):
            rules |= chosen
        with tempfile.TemporaryDirectory() as place:
            drawn.update(compare(Path(place), community, rules))
    missing = CHANGES - drawn.keys()
    assert drawn.keys() <= CHANGES
    assert not ALL or not missing


def compare(place: Path, community: Drawn, rules: dict[str, Any]) -> set[str]:
    """Compare boards after each part was added; return what the added rows changed."""
    folder, cache, found = place / "records", place / "cache", set()
    for part, tables in enumerate(community.parts):
        for name, rows in tables.items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            pq.write_table(rows, folder / name / f"{part}.parquet")
        counted = score_incrementally("community", folder, cache, overrides=rules)
        whole = score("community", folder, overrides=rules)
        with counted.records, whole.records:
            for board in ("user-score", "contributor"):
                assert counted.board(board).sha256 == whole.board(board).sha256
            facts = counted.scored.facts  # type: ignore[attr-defined] # of a community
            assert isinstance(facts, AddedFacts) == bool(part)
            if part:
                found |= changes(facts)
    return found


def changes(facts: AddedFacts) -> set[str]:
    """Return which of :data:`CHANGES` the added rows of a community made."""
    found = {*_changed_ids(facts), *_changed_benchmarks(facts)}
    if facts.rules.likes_per_creator is not None:
        return {*found, "prompts counted from all rows"}
    return {*found, *_changed_prompts(facts)}


def _changed_ids(facts: AddedFacts) -> set[str]:
    stored, prompts = facts._grown.stored, facts._grown.prompts
    return _names(
        {
            "added prompts": len(prompts.added),
            "added users": len(facts._grown.people.added),
            "consecutive ids": "prompts_range" in stored,
            "ids with gaps": isinstance(stored.get("prompts"), np.ndarray),
            "ids in no order": "prompts_order" in stored,
            "ids of text": isinstance(stored.get("prompts"), pa.Array),
            "wrong responses": facts.rules.wrong_answer_unit == "responses",
        }
    )


def _changed_benchmarks(facts: AddedFacts) -> set[str]:
    earlier, opinions = facts._grown.prompts.earlier, facts._feedback.opinions
    benchmarks: Any = facts._added_benchmarks
    (sets, held), known = benchmarks._added.holds, benchmarks._added.sets.earlier
    found = {
        "added benchmarks": len(benchmarks._added.sets.added),
        "added prompts of earlier benchmarks": ((sets < known) & (held >= earlier)).any(),
        "earlier prompts of earlier benchmarks": ((sets < known) & (held < earlier)).any(),
        "replaced opinions": opinions.change.any(),
        "new opinions on earlier prompts": (opinions.prompt < earlier).any(),
        "no change": not len(opinions.prompt) and not len(sets),
    }
    for name in ("helped_by", "run_by", "owned_by"):
        found[f"{name} of earlier benchmarks"] = (benchmarks._pairs(name).new[0] < known).any()
    if not facts.rules.min_collaborator_prompts:
        before = facts._grown.stored["collaborators"]
        found["more collaborators"] = benchmarks.collaborator_counts().sum() > len(before)
    return _names(found)


def _changed_prompts(facts: AddedFacts) -> set[str]:
    prompts, earlier = facts._added_prompts, facts._grown.prompts.earlier
    now, before = prompts._changed
    more = now.is_quality.sum() - before.is_quality.sum()
    rise = facts.count_of("h_index", OF["h_index"]) - facts._grown.by_user("h_index")
    responses: Any = prompts._responses
    dynamic = facts.rules.sota_list == "dynamic"
    return _names(
        {
            "responses on earlier prompts": (responses._new.prompt < earlier).any(),
            "responses on added prompts": (responses._new.prompt >= earlier).any(),
            "scores of earlier responses": (responses._scored[0] < responses._ids.earlier).any(),
            "more quality prompts": more > 0,
            "less quality prompts": more < 0,
            "other wrong models": now.difficulty.wrong.sum() != before.difficulty.wrong.sum(),
            "h-indices that rose": (rise > 0).any(),
            "h-indices that fell": (rise < 0).any(),
            "other models of the state of the art": dynamic and prompts.has_other_models,
            "the same models of the state of the art": dynamic and not prompts.has_other_models,
        }
    )


def _names(found: dict[str, Any]) -> set[str]:
    return {name for name, is_so in found.items() if is_so}
