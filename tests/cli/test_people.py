"""The people of a contest from the command line: listed, invited together, and treated as one."""

import csv
from datetime import UTC, datetime, timedelta

from cli.command import Cli
from cli.targets import Target


def test_a_class_is_invited_and_one_of_them_gets_more_time(target: Target, agon: Cli) -> None:
    """Links are for one user each; what is changed for a person shows in the list."""
    name = target.contest
    users = [f"{name}-{each}" for each in ("alan", "grace")]
    people = target.folder / "class.csv"
    people.write_text(f"user,note\n{users[0]},Alan Turing\n{users[1]}\n")
    out = target.folder / "links.csv"
    invited = target.good("contest", "invite-all", name, people, "--out", out)
    assert (invited.out, "2 invitations" in invited.err) == ("", True)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["user"] for row in rows] == users
    join = ("contest", "join", rows[0]["link"], *(() if target.far else target.options))
    assert agon(*join, "--out", target.folder / "alan.token").code == 0
    end = datetime.now(UTC) + timedelta(days=1)
    target.good("contest", "edit", name, "--ends", end.isoformat())
    later = (end + timedelta(hours=1)).isoformat()
    why = ("--reason", "power cut")
    target.good("contest", "extend", name, users[0], "--until", later, "--attempts", 2, *why)
    target.good("contest", "withdraw", name, users[0], *why)
    listed = {each["user"]: each for each in target.json("contest", "people", name)["members"]}
    terms = listed[users[0]]["terms"]
    assert (terms["attempts"], terms["reason"]) == (2, "power cut")
    assert terms["withdrawn_at"] is not None
    assert users[1] not in listed
    target.good("contest", "reinstate", name, users[0], *why)
    target.good("contest", "hide", name, users[0], *why)
    assert target("contest", "hide", name, users[0], *why).code == 4
    target.good("contest", "unhide", name, users[0], *why)
    assert target("contest", "extend", name, users[1], "--attempts", 1, *why).code == 3
    target.good("contest", "extend", name, users[0], "--until", later, *why)
    neither = target("contest", "extend", name, users[0], *why)
    assert (neither.code, "nothing to change; give" in neither.err) == (2, True)
    assert "0 cases not decided" in target.good("contest", "pending", name).out
    assert target("contest", "withdraw", name, users[0]).code == 2
