"""The files of deploy/ say what the code says."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agon.runners.sandbox.isolation import isolation_of
from agon.settings import SETTINGS, load, origins, require_auth_if_public, to_toml

DEPLOY = Path(__file__).parents[2] / "deploy"
UNITS = ("agon.service", "agon-worker@.service")
EXAMPLE = DEPLOY / "agon.toml"
ENVIRON = {"AGON_CONFIG": str(EXAMPLE)}


def test_the_example_holds_every_setting_under_its_meaning() -> None:
    """It is what agon config show --format toml writes for it, below its own first lines."""
    head, _, rest = EXAMPLE.read_text().partition("\n\n")
    assert all(line.startswith("#") for line in head.splitlines())
    assert rest == to_toml(origins(environ=ENVIRON))
    assert names_in(rest) == sorted(SETTINGS)


def names_in(text: str) -> list[str]:
    """Return the settings of a file: those of a table have its name before theirs."""
    names, table = [], ""
    for line in text.splitlines():
        if header := re.fullmatch(r"(?:# )?\[([a-z.]+)\]", line):
            table = header[1].replace(".", "_") + "_"
        elif setting := re.match(r"(?:# )?([a-z_]+) = ", line):
            names.append(table + setting[1])
    return sorted(names)


def test_the_example_can_be_started_with() -> None:
    """Copied as it is."""
    settings = load(environ=ENVIRON)
    require_auth_if_public(settings)
    assert settings.auth == "required"
    assert settings.server_key_path == Path("/var/lib/agon/agon-server.key")


def lines(unit: str) -> list[str]:
    """Return a unit's lines without remarks."""
    return [line for line in (DEPLOY / unit).read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize("unit", UNITS)
def test_units_leave_the_sandbox_its_namespaces(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is added by habit would end all judging."""
    said = {line.partition("=")[0]: line.partition("=")[2] for line in lines(unit)}
    assert said.keys().isdisjoint({"ProtectHostname", "MemoryDenyWriteExecute", "PrivateUsers"})
    allowed = said["RestrictNamespaces"].split()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    needed = {
        argument.removeprefix("--unshare-").removesuffix("-try")
        for argument in isolation_of("bwrap").prefix
        if argument.startswith("--unshare-")
    }
    assert {*allowed} == {*needed, "mnt"}
    assert re.fullmatch("[1-9][0-9]*G", said["MemoryMax"])
    assert said["SystemCallFilter"].startswith("~")
    assert "AF_NETLINK" in said["RestrictAddressFamilies"].split()
    assert (said["NoNewPrivileges"], said["ProtectSystem"]) == ("yes", "strict")
    assert said["Environment"] == "AGON_CONFIG=/etc/agon/agon.toml"


def test_both_units_have_the_same_restrictions() -> None:
    """Workers run untrusted programs; the server must not have weaker restrictions."""

    def restrictions(unit: str) -> list[str]:
        unit_lines = lines(unit)
        return unit_lines[unit_lines.index("NoNewPrivileges=yes") : unit_lines.index("[Install]")]

    assert restrictions(UNITS[0]) == restrictions(UNITS[1])


def test_systemd_finds_nothing_wrong_with_the_units(tmp_path: Path) -> None:
    """A misspelt line is ignored by a running systemd, with a warning that is not read."""
    analyze = shutil.which("systemd-analyze")
    assert analyze is not None, "install the Debian package systemd"
    for unit in UNITS:
        text = (DEPLOY / unit).read_text().replace("/opt/agon/bin/agon", "/bin/true")
        (tmp_path / unit.replace("@", "@1")).write_text(text)
    checked = subprocess.run(
        [analyze, "verify", *(str(path) for path in tmp_path.iterdir())],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_the_image_is_built_in_the_format_that_keeps_its_health_check() -> None:
    """Podman's own format drops it with a warning, and an engine that restarts sees all is well."""
    assert re.search(r"^HEALTHCHECK ", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    howto = DEPLOY.parent / "docs" / "howto" / "deploy.md"
    commands = [
        line.removeprefix("#").strip()
        for path in (DEPLOY / "Containerfile", howto)
        for line in path.read_text().splitlines()
        if re.match(r"(#   )?podman (build|run) ", line)
    ]
    assert commands[:2] == commands[2:]
    assert "--format docker" in commands[0]
    assert "--init" in commands[1]


def test_the_volume_holds_what_agon_keeps_and_nothing_else() -> None:
    """A home made by useradd comes with a shell's files, and a new volume copies them."""
    text = (DEPLOY / "Containerfile").read_text()
    assert "--no-create-home" in text
    assert "--create-home" not in text.replace("--no-create-home", "")


def test_the_image_copies_what_is_there_and_sets_what_is_a_setting() -> None:
    """It cannot be built everywhere; this can be checked everywhere."""
    text = (DEPLOY / "Containerfile").read_text()
    copied = [part for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE)
              for part in sources.split()]  # fmt: skip
    assert copied
    assert [name for name in copied if not (DEPLOY.parent / name).exists()] == []
    variables = {setting.variable for setting in SETTINGS.values()}
    named = set(re.findall(r"\b(AGON_[A-Z_]+)=", text))
    assert named <= variables
    assert "--require-hashes" in text
    assert re.search(r"^USER agon$", text, re.MULTILINE)
    assert "/healthz" in text
