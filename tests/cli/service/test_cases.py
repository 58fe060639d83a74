"""Cases from the command line, at a local database and at a real server."""

import pytest

from cli.targets import Target


@pytest.mark.sample(1)
def test_a_case_is_opened_decided_and_closed(target: Target) -> None:
    """Every step of a case has its author and reason."""
    name = target.contest
    case_ = target.json("cases", "open", name, "--about", "ann", "--title", "Votes",
                        "--text", "bob complained")  # fmt: skip
    case = case_["id"]
    assert (case_["state"], case_["subjects"]) == ("open", ["ann"])
    target.good("cases", "note", name, case, "--text", "asked")
    decided = target.good("cases", "decide", name, case, "--decision", "dismissed",
                         "--reason", "a slow network")  # fmt: skip
    assert "dismissed: a slow network" in decided.out
    assert target.json("cases", "appeal", name, case, "--text", "why")["state"] == "appealed"
    assert target("cases", "appeal", name, case, "--text", "why").code == 4
    target.good("cases", "close", name, case, "--text", "done")
    details = target.json("cases", "show", name, case)
    assert [step["kind"] for step in details["steps"]] == [
        "opened", "note", "decision", "appeal", "closed",
    ]  # fmt: skip
    drawn = target.good("cases", "show", name, case).out
    assert all(step["text"] in drawn for step in details["steps"])
    assert target("cases", "note", name, case, "--text", "late").code == 4
    assert [step["id"] for step in target.json("cases", "list", name)["cases"]] == [case]
    assert case in target.good("cases", "list", name).out


def test_a_case_needs_a_subject(target: Target) -> None:
    """Named subjects must exist."""
    name = target.contest
    assert target("cases", "open", name, "--text", "look").code == 2
    assert target("cases", "open", name, "--text", "look", "--finding", 99).code == 3
    assert target("cases", "show", name, "none").code == 3
    assert target("cases", "decide", name, "none", "--decision", "d", "--reason", "r").code == 3
