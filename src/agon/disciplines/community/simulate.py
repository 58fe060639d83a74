"""Simulate a community: honest users and attackers who game the score, with the ground truth.

Honest users write prompts as good as they are skilled, and rate what they see; models answer by
their strength and a prompt's difficulty. Attackers are added, in groups that grow with the size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from agon.disciplines.capabilities import Simulation
from agon.disciplines.community.attackers import ATTACKS, Columns, SimulatedPeople, play
from agon.kernel.arrays import FloatArray
from agon.kernel.progress import stages

__all__ = ["ATTACKS", "Density", "simulate"]

START = 1_704_067_200_000_000  # 2024-01-01, microseconds since 1970
SPAN = 500 * 86_400_000_000  # five hundred days
_MIN_USERS = 10
_ON_PROMPTS, _ON_RESPONSES = 0.85, 0.10  # shares of feedback; the rest is on scores
_NOBODYS, _IN_TWO, _DELETED, _AFFILIATED = 0.01, 0.2, 0.02, 0.3  # shares
_MODELS = (
    "anthropic/claude-sonnet-4.5",
    "openai/gpt-4o-2024-08-06",
    "openai/o1",
    "google/gemini-2.0-flash",
    "google/gemini-2.0-pro",
    "deepseek/deepseek-chat-v3",
    "openai/gpt-4o-mini",
    "mistral/mistral-small",
    "meta/llama-3.1-8b",
    "qwen/qwen-2.5-7b",
    "google/gemma-2-9b",
    "microsoft/phi-3-mini",
)
_CATEGORIES = ("logic", "law", "medicine", "mathematics", "history", "code", "poetry", "physics")
_TABLES = (
    "users", "org_to_people", "prompt_sets", "prompts", "prompt_set_prompts",
    "user_role_on_prompt_set", "responses", "scores", "quick_feedbacks", "comments", "flags",
    "nominations",
)  # fmt: skip
_CONSONANTS, _VOWELS = "bdfgklmnprst", "aeiou"


@dataclass(frozen=True, kw_only=True)
class Density:
    """How many records there are for each honest user, prompt and response.

    Attributes:
        prompts: prompts per user.
        feedbacks: feedbacks per user, less the few that are drawn on own prompts.
        responses: responses per prompt, each of another model.
        scores: scores per response.
    """

    prompts: int = 10
    feedbacks: int = 100
    responses: int = 5
    scores: int = 2


_USUAL = Density()


def simulate(
    *, size: int, seed: int, attacks: Sequence[str] = (), density: Density = _USUAL
) -> Simulation:
    """Return a simulation of ``size`` honest users and the named attacks.

    There are 10 prompts, 50 responses, 100 scores and 100 feedbacks per honest user, less the few
    feedbacks drawn on own prompts, unless ``density`` states other numbers.

    Args:
        size: number of honest users, at least 10.
        seed: equal arguments give equal records.
        attacks: names from ``ATTACKS``; a group per 500 users and attack, at least one.
        density: how many records there are per user.

    Raises:
        NotFound: the attack does not exist; the message suggests one.
        ValueError: when ``size`` is below 10.

    Example:
        >>> simulation = simulate(size=10, seed=1)
        >>> simulation.tables["prompts"].num_rows, simulation.truth["people"].num_rows
        (100, 10)
    """
    if size < _MIN_USERS:
        raise ValueError(f"expected a size of at least {_MIN_USERS} users, got {size}")
    rng = np.random.default_rng(seed)
    people = SimulatedPeople.honest(rng, size, handles=_handles(rng, size), start=START, span=SPAN)
    with stages("drawing", total=5) as advance:
        prompts = _prompts(rng, people, density)
        advance()
        feedback = _feedback(rng, people, prompts, density)
        advance()
        tables = _benchmarks(rng, people, prompts) | _models(rng, prompts, density)
        advance()
        play(attacks, rng, people, prompts, feedback)
        advance()
        return _tables(rng, people, prompts, feedback, tables)


def _handles(rng: np.random.Generator, size: int) -> pa.Array:
    """Return pronounceable handles that differ in at least two letters.

    Five syllables encode the user's number; the sixth is their sum, so that two always differ.
    """
    syllables = [consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS]
    base = len(syllables)
    number = (np.arange(size) * 7_368_787 + int(rng.integers(base**5))) % base**5
    digits = [number // base**place % base for place in range(5)]
    digits.append(np.sum(digits, axis=0) % base)
    names = pa.array(syllables)
    return pc.binary_join_element_wise(*(names.take(pa.array(digit)) for digit in digits), "")


def _prompts(rng: np.random.Generator, people: SimulatedPeople, density: Density) -> Columns:
    count = people.count * density.prompts
    creator = rng.choice(people.count, count, p=people.activity)
    joined = people.joined[creator]
    return {
        "creator": np.where(rng.random(count) < _NOBODYS, -1, creator),
        "quality": people.skill[creator] + rng.normal(0, 0.7, count),
        "difficulty": rng.normal(0, 1.5, count),
        "created": joined + (rng.random(count) * (START + SPAN - joined)).astype(np.int64),
    }


def _feedback(
    rng: np.random.Generator, people: SimulatedPeople, prompts: Columns, density: Density
) -> Columns:
    """Return honest users' feedback: good prompts are rated and liked more; none rates own ones."""
    count, written = people.count * density.feedbacks, len(prompts["creator"])
    user = rng.choice(people.count, count, p=people.activity)
    seen = np.exp(0.5 * prompts["quality"]) * (rng.pareto(1.5, written) + 0.2)
    seen = np.minimum(seen, 200 * seen.mean())
    target = rng.choice(written, count, p=seen / seen.sum())
    for _ in range(3):
        own = np.flatnonzero(prompts["creator"][target] == user)
        target[own] = rng.integers(written, size=len(own))
    others = prompts["creator"][target] != user
    user, target = user[others], target[others]
    drawn = rng.random(len(user))
    on_prompt, on_score = drawn < _ON_PROMPTS, drawn >= _ON_PROMPTS + _ON_RESPONSES
    response = target * density.responses + rng.integers(density.responses, size=len(user))
    score = response * density.scores + rng.integers(density.scores, size=len(user))
    opens = np.maximum(people.joined[user], prompts["created"][target])
    liking = prompts["quality"][target] + 0.7 + people.leniency[user]
    return {
        "user": user,
        "prompt": np.where(on_prompt, target, -1),
        "response": np.where(on_prompt | on_score, -1, response),
        "score": np.where(on_score, score, -1),
        "positive": rng.random(len(user)) < _sigmoid(1.5 * liking),
        "created": opens + (rng.random(len(user)) * (START + SPAN - opens)).astype(np.int64),
    }


def _benchmarks(
    rng: np.random.Generator, people: SimulatedPeople, prompts: Columns
) -> dict[str, Columns]:
    count, written = max(people.count // 3, 3), len(prompts["creator"])
    crowd = rng.lognormal(0, 0.7, count)
    home = rng.choice(count, written, p=crowd / crowd.sum())
    again = np.flatnonzero(rng.random(written) < _IN_TWO)
    status = rng.choice(3, written + len(again), p=(0.8, 0.1, 0.1))
    helped = count * 2
    return {
        "prompt_sets": {
            "owner": rng.choice(people.count, count, p=people.activity),
            "category": rng.integers(len(_CATEGORIES), size=count),
            "created": np.full(count, START),
            "deleted": rng.random(count) < _DELETED,
        },
        "prompt_set_prompts": {
            "set": np.concatenate([home, rng.integers(count, size=len(again))]),
            "prompt": np.concatenate([np.arange(written), again]),
            "status": status,
        },
        "user_role_on_prompt_set": {
            "user": rng.choice(people.count, helped, p=people.activity),
            "set": rng.integers(count, size=helped),
            "role": rng.choice(4, helped, p=(0.2, 0.4, 0.3, 0.1)),
        },
    }


def _models(rng: np.random.Generator, prompts: Columns, density: Density) -> dict[str, Columns]:
    """Return a few models' answers to every honest prompt, with their scores."""
    written = len(prompts["creator"])
    prompt = np.repeat(np.arange(written), density.responses)
    first, step = rng.integers(len(_MODELS), size=written), rng.choice((1, 5, 7), written)
    turn = np.tile(np.arange(density.responses), written)
    model = (first[prompt] + turn * step[prompt]) % len(_MODELS)
    strength = np.linspace(1.5, -0.5, len(_MODELS))
    able = strength[model] - prompts["difficulty"][prompt] + rng.normal(0, 0.5, len(prompt))
    right = np.repeat(_sigmoid(2 * able), density.scores)
    judged = np.clip(right + rng.normal(0, 0.1, len(right)), 0, 1)
    return {
        "responses": {"prompt": prompt, "model": model},
        "scores": {
            "response": np.repeat(np.arange(len(prompt)), density.scores),
            "score": np.round(judged, 2),
        },
    }


def _tables(
    rng: np.random.Generator,
    people: SimulatedPeople,
    prompts: Columns,
    feedback: Columns,
    made: dict[str, Columns],
) -> Simulation:
    """Return the tables; users' ids are random, so that they do not reveal roles."""
    ids = rng.permutation(people.count) + 1
    order = np.argsort(ids)
    drawn = _activities(rng, people)
    users = {
        "id": ids[order],
        "created_at": _time(people.joined[order]),
        "handle": people.handles.take(pa.array(order)),
        "reputation": np.round(people.skill + drawn["luck"], 3)[order],
    }
    uploader = prompts["creator"]
    written = {
        "id": _numbers(uploader),
        "created_at": _time(prompts["created"]),
        "uploader_id": _optional(ids[np.maximum(uploader, 0)], uploader < 0),
    }
    tables = {
        "users": pa.table(users),
        **_activity_tables(drawn, ids),
        **_benchmark_tables(made, ids),
        "prompts": pa.table(written),
        **_model_tables(made),
        "quick_feedbacks": _feedback_table(feedback, ids),
    }
    truth = {
        "id": ids[order],
        "role": people.roles.take(pa.array(order)),
        "skill": people.skill[order],
    }
    return Simulation(
        tables={name: tables[name] for name in _TABLES}, truth={"people": pa.table(truth)}
    )


def _activities(rng: np.random.Generator, people: SimulatedPeople) -> Columns:
    """Draw what users do besides prompts and feedback; people are numbers from 0."""
    member = np.flatnonzero(rng.random(people.count) < _AFFILIATED)
    talk = rng.choice(people.count, people.count * 2)
    flagged = rng.choice(people.count, max(people.count // 100, 1))
    praised, praising = rng.choice(people.count, (2, max(people.count // 20, 1)))
    luck = rng.normal(0, 1, people.count)
    organization = rng.integers(1, 200, size=len(member))
    since = START + SPAN - people.joined[talk]
    return {
        "member": member,
        "organization": organization,
        "talk": talk,
        "talked": people.joined[talk] + (rng.random(len(talk)) * since).astype(int),
        "flagged": flagged,
        "praised": praised,
        "praised_by": praising,
        "luck": luck,
    }


def _activity_tables(drawn: Columns, ids: npt.NDArray[Any]) -> dict[str, pa.Table]:
    comments = {
        "id": _numbers(drawn["talk"]),
        "user_id": ids[drawn["talk"]],
        "created_at": _time(drawn["talked"]),
    }
    flags = {"user_id": ids[drawn["flagged"]], "reason": ["spam"] * len(drawn["flagged"])}
    nominations = {"user_id": ids[drawn["praised"]], "by_user_id": ids[drawn["praised_by"]]}
    members = {"user_id": np.sort(ids[drawn["member"]]), "org_id": drawn["organization"]}
    return {
        "org_to_people": pa.table(members),
        "comments": pa.table(comments),
        "flags": pa.table(flags),
        "nominations": pa.table(nominations),
    }


def _benchmark_tables(made: dict[str, Columns], ids: npt.NDArray[Any]) -> dict[str, pa.Table]:
    sets, roles = made["prompt_sets"], made["user_role_on_prompt_set"]
    contents = made["prompt_set_prompts"]
    deleted = pa.array(np.full(len(sets["owner"]), START + SPAN), mask=~sets["deleted"])
    owned = {
        "id": _numbers(sets["owner"]),
        "owner_id": ids[sets["owner"]],
        "category": pa.array(_CATEGORIES).take(pa.array(sets["category"])),
        "created_at": _time(sets["created"]),
        "deleted_at": deleted.cast(pa.timestamp("us")),
    }
    prompts = {
        "prompt_set_id": contents["set"] + 1,
        "prompt_id": contents["prompt"] + 1,
        "status": _choices(("included", "draft", "excluded"), contents["status"]),
    }
    helpers = {
        "user_id": ids[roles["user"]],
        "prompt_set_id": roles["set"] + 1,
        "role": _choices(("admin", "collaborator", "reviewer", "none"), roles["role"]),
    }
    return {
        "prompt_sets": pa.table(owned),
        "prompt_set_prompts": pa.table(prompts),
        "user_role_on_prompt_set": pa.table(helpers),
    }


def _model_tables(made: dict[str, Columns]) -> dict[str, pa.Table]:
    results, scores = made["responses"], made["scores"]
    answers = {
        "id": _numbers(results["prompt"]),
        "prompt_id": results["prompt"] + 1,
        "model": _choices(_MODELS, results["model"]),
    }
    judged = {
        "id": _numbers(scores["response"]),
        "response_id": scores["response"] + 1,
        "score": scores["score"],
    }
    return {"responses": pa.table(answers), "scores": pa.table(judged)}


def _feedback_table(feedback: Columns, ids: npt.NDArray[Any]) -> pa.Table:
    """Return the feedback in order of time."""
    by_time = np.argsort(feedback["created"], kind="stable")
    rows = {name: column[by_time] for name, column in feedback.items()}
    targets = {
        f"{kind}_id": _optional(rows[kind] + 1, rows[kind] < 0)
        for kind in ("prompt", "response", "score")
    }
    return pa.table(
        {
            "id": _numbers(rows["user"]),
            "user_id": ids[rows["user"]],
            **targets,
            "opinion": _choices(("negative", "positive"), rows["positive"].astype(np.int64)),
            "created_at": _time(rows["created"]),
        }
    )


def _numbers(rows: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return ids from 1, one for each row."""
    return np.arange(1, len(rows) + 1)


def _sigmoid(x: FloatArray) -> FloatArray:
    return 1 / (1 + np.exp(-x))


def _time(microseconds: npt.NDArray[Any]) -> pa.Array:
    return pa.array(microseconds).cast(pa.timestamp("us"))


def _optional(values: npt.NDArray[Any], empty: npt.NDArray[np.bool_]) -> pa.Array:
    return pa.array(values, mask=empty)


def _choices(names: Sequence[str], places: npt.NDArray[Any]) -> pa.Array:
    """Write choices as dictionary-encoded text."""
    return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), pa.array(names))
