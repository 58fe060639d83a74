"""Problems are addressed by their slugs wherever their ids are, and ids and ledgers stay."""

from datetime import timedelta
from typing import Any

import orjson
import pytest

from agon.app.contests.boards.publish import publish as publish_boards
from agon.app.contests.ledgers.slugs import slugs
from agon.app.contests.lifecycle.transitions import freeze
from agon.app.contests.submissions.problems import publish_problem
from agon.app.dojo.problems import packaged_problem
from agon.app.queue.leases import Commit
from agon.app.worker.problem_gate import store_gate
from agon.disciplines.dojo.canonical import source_hash
from agon.errors import Conflict
from fakes.autumn import CUBES, RIGHT, SQUARES, autumn, judged, publish
from fakes.instance import Instance
from fakes.service import ORGANISER, Clock

PATH = "/contests/autumn"


def _package(source: str = CUBES, **declared: Any) -> dict[str, Any]:
    return {"source": source, "N_check": 4, "first_index": 1, **declared}


def _gate(instance: Instance, source: str = CUBES, **declared: Any) -> Commit:
    """Return the function that publishes a package, as after its setter passed."""
    package = _package(source, **declared)
    job = publish_problem(instance.service, "autumn", package, by=ORGANISER)[1]
    canceled = instance.post(f"/jobs/{job.id}/cancel", "operator")  # a later one has another id
    assert canceled.status_code == 200, canceled.text
    space: dict[str, Any] = {}
    exec(source, space)  # noqa: S102 (a setter of these tests)
    terms = [str(space["seq"](n)) for n in range(1, 5)]
    return store_gate(instance.service, job, {"terms": terms})


def _publish(instance: Instance, source: str = CUBES, **declared: Any) -> str:
    finish = _gate(instance, source, **declared)
    with instance.service.store.write() as session:
        return str(finish(session)["problem"])


@pytest.mark.exhaustive
def test_a_slug_stands_for_the_id_in_every_path(instance: Instance) -> None:
    """64 hex digits are hard to type; responses and ledger name the id."""
    autumn(instance.service)
    name = publish(instance.service, CUBES, slug="cubes")
    judged(instance.service, "s1", name)
    publish_boards(instance.service, "autumn")
    problem = instance.get(f"{PATH}/problems/cubes").json()
    assert (problem["id"], problem["slug"]) == (name, "cubes")
    assert problem == instance.get(f"{PATH}/problems/{name}").json()
    by_id, by_slug = f"{PATH}/boards/problem:{name}", f"{PATH}/boards/problem:cubes"
    row = instance.get(by_id).json()["rows"][0]["id"]
    for end in ("", "/explanations/" + row, "/history/" + row, "?around=" + row, "?format=csv"):
        first, second = instance.get(by_id + end), instance.get(by_slug + end)
        assert (second.status_code, second.content) == (first.status_code, first.content), end
    assert instance.get(by_slug).json()["board"] == f"problem:{name}"
    page = instance.get(by_slug + "?limit=1").json()
    assert page["rows"][0]["id"] == row
    body = {"problem": "cubes", "content": {"source": RIGHT}, "external_id": "e1"}
    sent = [
        instance.post(f"{PATH}/submissions", "participant", json={**body, "problem": problem_})
        for problem_ in ("cubes", name)
    ]
    assert [response.status_code for response in sent] == [202, 202]
    assert sent[0].json()["id"] == sent[1].json()["id"]
    [listed] = instance.get(f"{PATH}/submissions", "participant").json()["items"]
    assert listed["problem"] == name
    for unknown in ("cube", "CUBES", "cubes ", "x" * 400):
        assert instance.get(f"{PATH}/problems/{unknown}").status_code == 404
        assert instance.get(f"{PATH}/boards/problem:{unknown}").status_code == 404


def test_a_problem_is_revealed_rejudged_and_adjusted_by_its_slug(instance: Instance) -> None:
    """Entries and change sets hold the id."""
    autumn(instance.service)
    at = (
        (instance.service.clock() + timedelta(seconds=60)).isoformat().replace("+00:00", ".000000Z")
    )
    name = publish(instance.service, CUBES, slug="cubes", freeze_started_at=at)
    body = {"problem": "cubes", "content": {"source": RIGHT}}
    sent = instance.post(f"{PATH}/submissions", "participant", json=body).json()
    judged(instance.service, str(sent["id"]), name)
    publish_boards(instance.service, "autumn")
    for kind, params in (
        ("adjustment", {"board": "problem:cubes", "id": "ada", "points": 1}),
        ("rejudge", {"problem": "cubes"}),
    ):
        change = instance.post(
            f"{PATH}/change-sets", "organiser", json={"kind": kind, "params": params, "reason": "r"}
        )
        assert change.status_code < 300, change.text
        assert name in change.text
    clock = instance.service.clock
    assert isinstance(clock, Clock)
    clock.at += timedelta(seconds=60)
    assert instance.post(f"{PATH}/problems/cubes/reveal", "organiser").status_code == 200
    assert instance.get(f"{PATH}/problems/{name}").json()["revealed"] is True


def test_a_slug_is_unique_in_its_contest_when_requested_and_when_published(
    instance: Instance,
) -> None:
    """Two setters may be validated at the same time; the second is not published."""
    autumn(instance.service)
    first, second = _gate(instance, slug="cubes"), _gate(instance, SQUARES + "\n#\n", slug="cubes")
    with instance.service.store.write() as session:
        name = str(first(session)["problem"])
    with (
        pytest.raises(Conflict, match="autumn has a problem 'cubes' already"),
        instance.service.store.write() as session,
    ):
        second(session)
    request = {"package": _package(SQUARES + "\n\n#\n", slug="cubes")}
    taken = instance.post(f"{PATH}/problems", "organiser", json=request)
    assert (taken.status_code, "choose another slug" in taken.json()["detail"]) == (409, True)
    assert _publish(instance, slug="cubes") == name, "the problem keeps its own slug"
    assert _publish(instance) == name
    assert instance.get(f"{PATH}/problems/cubes").json()["id"] == name
    assert _publish(instance, slug="third-powers") == name
    with instance.service.store.read() as session:
        contest = session.contests.get("autumn")
        assert slugs(session, contest) == {"third-powers": name}
    assert instance.get(f"{PATH}/problems/cubes").status_code == 404


@pytest.mark.sample(2)
@pytest.mark.parametrize("slug", ["", "A", "a b", "-a", "a" * 64, "ü", 7, ["a"], "a\n"])
def test_an_invalid_slug_is_rejected(instance: Instance, slug: object) -> None:
    """It stands in URLs and cannot be confused with an id, which has 64 digits."""
    autumn(instance.service)
    request = {"package": _package(slug=slug)}
    response = instance.post(f"{PATH}/problems", "organiser", json=request)
    assert response.status_code == 422
    assert "1 to 63 lowercase letters" in response.text


@pytest.mark.exhaustive
def test_a_problem_without_a_slug_is_published_with_the_bytes_of_before(
    instance: Instance,
) -> None:
    """Ledgers that exist keep their hashes."""
    autumn(instance.service)
    name = _publish(instance)
    with instance.service.store.read() as session:
        no = session.contests.get("autumn").no
        *_, entry = session.entries.of_kind(no, ["problem-published"])
        body = orjson.loads(entry.line)["body"]
    assert set(body["package"]) == {
        "N_check", "first_index", "freeze_started_at", "interface", "setter_user_id", "source",
        "terms", "title",
    }  # fmt: skip
    assert name == source_hash(packaged_problem(body["package"]).source)
    assert instance.get(f"{PATH}/problems/{name}").json()["slug"] is None


def test_the_slug_of_a_problem_published_after_a_freeze_is_unknown_to_the_public(
    instance: Instance,
) -> None:
    """A lookup would disclose that there is a new problem."""
    autumn(instance.service)
    freeze(instance.service, "autumn", by=ORGANISER)
    name = publish(instance.service, CUBES, slug="cubes")
    assert instance.get(f"{PATH}/problems/cubes").status_code == 404
    assert instance.get(f"{PATH}/problems/cubes", "organiser").json()["id"] == name
