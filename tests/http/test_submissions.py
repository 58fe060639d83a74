"""Problems and submissions show solvers the disclosed terms and nothing hidden."""

from datetime import timedelta

import pytest

from agon.app.contests.lifecycle.transitions import freeze
from fakes.autumn import CUBES, RIGHT, SQUARES, autumn, judged, publish
from fakes.instance import Instance
from fakes.service import ORGANISER


def submit(
    instance: Instance, problem: str, role: str = "participant", **more: object
) -> dict[str, object]:
    """Submit a correct program."""
    body = {"problem": problem, "content": {"source": RIGHT}, **more}
    response = instance.post("/contests/autumn/submissions", role, json=body)
    assert response.status_code == 202, response.text
    submission: dict[str, object] = response.json()
    assert response.headers["location"] == f"/api/v1/contests/autumn/submissions/{submission['id']}"
    return submission


def test_a_problem_shows_its_disclosed_terms_and_no_hidden_ones(instance: Instance) -> None:
    """Solvers get fifty terms of odd index; the others decide the verdict."""
    name = autumn(instance.service)
    body = instance.get(f"/contests/autumn/problems/{name}").json()
    assert len(body["disclosed"]) == 50
    assert body["disclosed"][0] == {"n": 1, "a": "1"}
    assert body["disclosed"][-1] == {"n": 99, "a": str(99 * 99)}
    assert (body["N_check"], body["revealed"]) == (200, False)
    assert body["source"] is body["terms"] is None
    [listed] = instance.get("/contests/autumn/problems").json()["items"]
    assert listed == body | {"judging": None}
    assert instance.get("/contests/autumn/problems/none").status_code == 404


def test_a_revealed_problem_shows_its_answer_only_in_detail(instance: Instance) -> None:
    """Lists stay small."""
    autumn(instance.service)
    at = (instance.service.clock() + timedelta(seconds=2)).isoformat().replace("+00:00", ".000000Z")
    name = publish(instance.service, CUBES, freeze_started_at=at)
    path = f"/contests/autumn/problems/{name}"
    assert instance.get(path).json()["freeze_started_at"] is not None
    assert instance.post(f"{path}/reveal", "organiser").status_code == 200
    body = instance.get(path).json()
    assert (body["revealed"], body["source"], body["terms"][1]) == (True, CUBES, "8")
    listed = instance.get("/contests/autumn/problems").json()["items"]
    assert [(one["revealed"], one["terms"]) for one in listed] == [(False, None), (True, None)]


def test_problems_are_paginated(instance: Instance) -> None:
    """A season has hundreds."""
    first = autumn(instance.service)
    names = [first] + [
        publish(instance.service, f"def seq(n):\n    return n + {more}\n") for more in range(3)
    ]
    page = instance.get("/contests/autumn/problems?limit=3").json()
    rest = instance.get(f"/contests/autumn/problems?limit=3&cursor={page['next']}").json()
    assert [one["id"] for one in (*page["items"], *rest["items"])] == names
    assert rest["next"] is None


def test_problems_published_after_a_freeze_are_visible_only_to_staff(instance: Instance) -> None:
    """A republished problem is shown in its earlier version."""
    name = autumn(instance.service)
    freeze(instance.service, "autumn", by=ORGANISER)
    before = instance.get("/contests/autumn/problems").json()
    later = publish(instance.service, CUBES)
    assert instance.get("/contests/autumn/problems").json() == before
    assert instance.get(f"/contests/autumn/problems/{later}").status_code == 404
    listed = instance.get("/contests/autumn/problems", "organiser").json()["items"]
    assert [one["id"] for one in listed] == [name, later]


def test_participants_list_their_own_submissions_without_positions(
    instance: Instance,
) -> None:
    """A position would reveal how much was recorded during a freeze."""
    name = autumn(instance.service)
    own = [submit(instance, name) for _ in range(3)]
    other = submit(instance, name, "organiser", user="bob")
    assert [one["seq"] for one in own] == [None, None, None]
    assert isinstance(other["seq"], int)
    path = "/contests/autumn/submissions"
    page = instance.get(f"{path}?limit=2", "participant").json()
    rest = instance.get(f"{path}?limit=2&cursor={page['next']}", "participant").json()
    assert [one["id"] for one in (*page["items"], *rest["items"])] == [one["id"] for one in own]
    assert rest["next"] is None
    assert {one["seq"] for one in (*page["items"], *rest["items"])} == {None}
    body = instance.get(f"{path}/{own[0]['id']}", "participant").json()
    assert (body["user"], body["seq"], body["records"]) == ("ada", None, [])
    assert instance.get(f"{path}/{other['id']}", "participant").status_code == 404
    assert instance.get(f"{path}/{other['id']}", "organiser").json()["seq"] == other["seq"]
    assert len(instance.get(path, "organiser").json()["items"]) == 4
    assert instance.get(f"{path}?cursor=Im5vbmUi", "participant").status_code == 422


def test_a_verdict_is_shown_as_of_the_freeze(instance: Instance) -> None:
    """A later replacement is hidden, and the earlier verdict stays visible."""
    name = autumn(instance.service)
    first, second = submit(instance, name), submit(instance, name)
    judged(instance.service, str(first["id"]), name)
    freeze(instance.service, "autumn", by=ORGANISER)
    judged(instance.service, str(first["id"]), name, replace=True, verdict="time_limit")
    judged(instance.service, str(second["id"]), name)

    def verdicts(role: str) -> list[list[str]]:
        listed = instance.get("/contests/autumn/submissions", role).json()["items"]
        return [[row["verdict"] for row in one["records"]] for one in listed]

    assert verdicts("participant") == [["ok"], []]
    assert verdicts("organiser") == [["time_limit"], ["ok"]]


@pytest.mark.exhaustive
@pytest.mark.parametrize("role", [None, "viewer", "judge", "worker"])
def test_submissions_of_other_participants_are_not_visible(
    instance: Instance, role: str | None
) -> None:
    """Programs are secret until their authors disclose them."""
    submission = submit(instance, autumn(instance.service))
    response = instance.get(f"/contests/autumn/submissions/{submission['id']}", role)
    assert response.status_code == (401 if role is None else 403)
    assert SQUARES not in response.text
