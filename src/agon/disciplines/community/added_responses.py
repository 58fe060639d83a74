"""Responses of a community that grew: those of single prompts, before and after rows were added."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from agon.disciplines.community.difficulty import (
    SCORES,
    AllResponses,
    ModelTotals,
    Responses,
    best_models,
    model_totals,
    read_unscored,
    sota_of,
)
from agon.disciplines.community.facts import Facts
from agon.disciplines.community.grown import Grown
from agon.disciplines.community.id_index import IdIndex, integers, sum_and_count
from agon.disciplines.community.stored_ids import GrownIds, id_arrays
from agon.disciplines.community.stored_pairs import (
    StoredPairs,
    distinct,
    ordered_pairs,
    pair_arrays,
)

IntArray = npt.NDArray[np.int64]


def response_arrays(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield what :class:`AddedResponses` continues from."""
    responses = facts.responses
    # The engine's join returns rows in no order; ids in order may be a range.
    order = _by_id(responses.ids.ids)
    yield from id_arrays("responses", IdIndex(responses.ids.ids.take(pa.array(order))))
    prompt = responses.prompt[order]
    yield "response_prompt", prompt
    yield "response_name", responses.name[order]
    yield "response_total", responses.total[order]
    yield "response_count", responses.count[order]
    yield "names", pa.array(responses.names, pa.string())
    code = np.flatnonzero(prompt >= 0)
    yield from pair_arrays("answers", *ordered_pairs(prompt[code], code), size=len(facts.prompts))
    if facts.rules.sota_list == "dynamic":
        totals = model_totals(responses)
        yield "model_slugs", pa.array(totals, pa.string())
        yield "model_totals", np.array([*totals.values()], dtype=np.int64).reshape(-1, 3)


def _by_id(ids: Any) -> IntArray:
    if not pa.types.is_integer(ids.type):
        return np.arange(len(ids))
    return np.argsort(integers(ids, empty=0))


class AddedResponses:
    """Stored responses, and the added responses and scores."""

    def __init__(self, grown: Grown) -> None:
        self._grown, self._stored = grown, grown.stored
        self._answers = StoredPairs(grown.stored, "answers")

    def read(self) -> None:
        """Read the added rows; what is counted of them reads no others."""
        _ = self._new, self._scored

    @cached_property
    def prompts(self) -> IntArray:
        """Return the prompts with added responses or scores, in order."""
        code, _, _ = self._scored
        late = code >= self._ids.earlier
        of_scores = self._stored["response_prompt"][code[~late]]
        prompts = distinct(np.append(of_scores, self._new.prompt))
        return prompts[prompts >= 0]

    def of(self, prompts: IntArray) -> Responses:
        """Return the responses on some prompts, of which ``prompt`` is the place in ``prompts``.

        Args:
            prompts: codes in order.
        """
        at, code = self._answers.of(prompts)
        place = np.searchsorted(prompts, self._new.prompt)
        late = np.flatnonzero(_are_at(prompts, place, self._new.prompt))
        name = np.append(self._stored["response_name"][code], self._new_names[late])
        none = np.zeros(len(late), dtype=np.int64)
        total = np.append(self._stored["response_total"][code], none)
        count = np.append(self._stored["response_count"][code], none)
        code = np.append(code, late + self._ids.earlier)
        scored, totals, counts = self._scored
        place_of_code = np.searchsorted(scored, code)
        hit = np.flatnonzero(_are_at(scored, place_of_code, code))
        total[hit] += totals[place_of_code[hit]]
        count[hit] += counts[place_of_code[hit]]
        return Responses(np.append(at, place[late]), name, self._names, total, count)

    def earlier_of(self, prompts: IntArray) -> Responses:
        """Return the stored responses on some prompts, without added scores."""
        at, code = self._answers.of(prompts)
        stored = self._stored
        return Responses(
            at,
            stored["response_name"][code],
            self._names,
            stored["response_total"][code].astype(np.int64),
            stored["response_count"][code].astype(np.int64),
        )

    @cached_property
    def sota(self) -> frozenset[str] | None:
        """Return the slugs of state-of-the-art models; None: others than before."""
        rules = self._grown.rules
        if rules.sota_list == "fixed":
            return sota_of(self._new, rules)
        slugs = self._stored["model_slugs"].to_pylist()
        before = dict(zip(slugs, map(tuple, self._stored["model_totals"].tolist()), strict=True))
        added, removed = (
            model_totals(responses(self.prompts)) for responses in (self.of, self.earlier_of)
        )
        after = {name: _change(name, before, added, removed) for name in {*before, *added}}
        best = best_models(after, rules)
        return best if best == best_models(before, rules) else None

    @cached_property
    def _new(self) -> AllResponses:
        return read_unscored(self._grown.rows, self._grown.prompts)

    @cached_property
    def _ids(self) -> GrownIds:
        return GrownIds(self._stored, "responses", self._new.ids.ids)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._stored["names"].to_pylist(), *self._new.names)))

    @cached_property
    def _new_names(self) -> IntArray:
        place = {name: at for at, name in enumerate(self._names)}
        return np.array([place[name] for name in self._new.names], dtype=np.int64)[self._new.name]

    @cached_property
    def _scored(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the responses with added scores, in order, with their sum and their number."""
        scores = self._grown.rows.sql(SCORES)
        ids = IdIndex(scores["response_id"].unique())
        total, count = sum_and_count(ids, scores.to_batches(), "response_id", "score")
        code = self._ids.of(ids.ids)
        order = np.argsort(code)
        order = order[code[order] >= 0]
        return code[order], total[order], count[order]


def _are_at(ordered: IntArray, place: IntArray, values: Any) -> npt.NDArray[np.bool_]:
    """Return which values are at their place in an ordered array."""
    if not len(ordered):
        return np.zeros(len(values), dtype=bool)
    return ordered[np.minimum(place, len(ordered) - 1)] == values


def _change(name: str, *totals: dict[str, ModelTotals]) -> ModelTotals:
    """Return a model's totals before rows were added, with those added, without those removed."""
    before, added, removed = (of.get(name, (0, 0, 0)) for of in totals)
    return tuple(b + a - r for b, a, r in zip(before, added, removed, strict=True))  # type: ignore[return-value] # three
