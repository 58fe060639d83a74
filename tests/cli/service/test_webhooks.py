"""Webhooks from the command line, at a local database and at a real server."""

import stat
from pathlib import Path

from cli.command import Cli
from cli.targets import Target


def test_a_webhook_is_added_tested_inspected_and_removed(target: Target) -> None:
    """Organisers can manage webhooks without HTTP requests."""
    name, secret = target.contest, target.folder / "hook.secret"
    add = ("webhooks", "add", name, "https://hooks.invalid/agon", "--out", secret)
    added = target.good(*add, "--event", "contest-frozen", "--public-only")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert secret.read_text().startswith("whsec_")
    [hook] = target.json("webhooks", "list", name)["webhooks"]
    assert (hook["events"], hook["staff"]) == (["contest-frozen"], False)
    assert f"agon webhooks test {name} {hook['id']}" in added.err
    assert target(*add).code == 4
    result = target.good("webhooks", "test", name, hook["id"])
    deliveries = target.json("webhooks", "deliveries", name, hook["id"])["deliveries"]
    assert [item["id"] for item in deliveries] == [result.out.strip()]
    assert result.out.strip() in target.good("webhooks", "deliveries", name, hook["id"]).out
    changed = target.good("webhooks", "change", name, hook["id"], "--off", "--all-events")
    assert "is off: all kinds to https://hooks.invalid/agon" in changed.out
    result = target("webhooks", "test", name, hook["id"])
    assert (result.code, "switched off" in result.err) == (4, True)
    assert target("webhooks", "change", name, hook["id"]).code == 2
    assert target("webhooks", "redeliver", name, hook["id"], "none").code in {3, 4}
    assert "removed" in target.good("webhooks", "remove", name, hook["id"]).out
    assert target("webhooks", "remove", name, hook["id"]).code == 3
    assert "no webhooks" in target.good("webhooks", "list", name).out


def test_a_webhook_url_of_a_private_network_is_rejected(target: Target) -> None:
    """The message contains a remedy."""
    result = target("webhooks", "add", target.contest, "http://127.0.0.1/hook")
    assert result.code == 2
    assert "https" in result.err


def test_the_error_of_a_failed_delivery_is_shown(agon: Cli, tmp_path: Path) -> None:
    """A separate column was omitted on narrow terminals."""
    base = ("--database", f"sqlite:///{tmp_path}/agon.db")
    assert agon("contest", "create", "spring", "--discipline", "arena", *base).code == 0
    hooks = ("webhooks", "add", "spring", "https://hooks.invalid/agon")
    assert agon(*hooks, "--out", tmp_path / "hook.secret", *base).code == 0
    deliveries = agon("webhooks", "list", "spring", "--format", "json", *base).json()
    [hook] = [item["id"] for item in deliveries["webhooks"]]
    result = agon("webhooks", "test", "spring", hook, *base).out.strip()
    assert agon("worker", "--once", "--kinds", "deliver", *base).code == 0
    output = agon("webhooks", "deliveries", "spring", hook, *base).out
    assert f"{result}: the name leads to no address" in output
