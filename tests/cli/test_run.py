"""Every command ends with one message and one exit code, without a traceback."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from array import array
from pathlib import Path

import pytest

from agon.app.analysis import score
from cli.command import Cli, run_process
from sizes import ALL


def test_a_misspelled_command_gives_a_suggestion(agon: Cli) -> None:
    """Users can correct a typo at once."""
    ended = agon("scroe")
    assert ended.code == 2
    assert "No such command 'scroe'" in ended.err
    assert "Did you mean 'score'?" in ended.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("rate",), "Did you mean 'agon arena rate'?"),
        (("contest", "replay", "spring"), "Did you mean 'agon replay'?"),
        (("arena-rate",), "Did you mean 'agon arena rate'?"),
        (("contest", "delete", "x"), "'agon contest annul', 'agon contest edit'"),
        (("contest", "undo", "x"), "'agon contest rollback', 'agon contest unfinalize'"),
        (("publish",), "'agon contest publish', 'agon dojo publish'"),
        (("jobs", "lst"), "Did you mean 'list'?"),
        (("dojo", "hunypots"), "Did you mean 'agon attack honeypots'?"),
        (("contest", "qqq"), "No such command 'qqq'.\n"),
    ],
)
def test_a_command_of_another_group_is_suggested(
    agon: Cli, words: tuple[str, ...], hint: str
) -> None:
    """Users remember the verb and forget where it is; what is far away would mislead."""
    ended = agon(*words)
    assert (ended.code, hint in ended.err) == (2, True), ended.err


def test_a_contest_with_a_similar_name_is_suggested(agon: Cli, tmp_path: Path) -> None:
    """The list of contests is another command; only what the caller may see is named."""
    database = ("--database", f"sqlite:///{tmp_path}/agon.db")
    assert agon("contest", "create", "community-cup", "--discipline", "arena", *database).code == 0
    for words in (("contest", "show"), ("contest", "freeze"), ("cases", "list")):
        ended = agon(*words, "comunity-cup", *database)
        assert ended.code == 3
        assert (
            ended.err == "Error: there is no contest 'comunity-cup': did you mean community-cup?\n"
        )


def test_unimplemented_commands_do_not_exist(agon: Cli) -> None:
    """A stub would be misleading."""
    assert agon("attack").code == 2


def test_a_missing_argument_is_a_usage_error(agon: Cli) -> None:
    """The exit code is 2 and the usage is printed."""
    ended = agon("score", "arena")
    assert ended.code == 2
    assert "Usage: agon score" in ended.err


@pytest.mark.sample(9)
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("score", "arina", "{arena}"), 2, "did you mean arena?"),
        (("score", "arena", "nowhere"), 3, "nowhere"),
        (("score", "arena", "{arena}/bots.csv"), 2, "bots.csv"),
        (("score", "arena", "{arena}", "--edition", "sentience-9"), 3, "sentience-1"),
        (("score", "arena", "{arena}", "--set", "k_nw=3"), 2, "did you mean k_new?"),
        (("score", "arena", "{arena}", "--set", "k_new=-3"), 2, "k_new"),
        (("score", "arena", "{arena}", "--set", "k_new"), 2, "key=value"),
        (("score", "arena", "{arena}", "--set", "k_new=1", "--set", "k_new=2"), 2, "twice"),
        (("score", "arena", "{arena}", "--board", "bot"), 3, "did you mean bots?"),
        (("score", "arena", "{arena}", "--as-of", "yesterday"), 2, "ISO 8601"),
        (("score", "arena", "{arena}", "--top", "0"), 2, "--top"),
        (
            ("score", "arena", "{arena}", "--top", "x"),
            2,
            "expected a whole number from 1 on, got 'x'",
        ),
        (("serve", "--port", "x"), 2, "expected a whole number from 0 to 65,535, got 'x'"),
        (("score", "arena", "{arena}", "--set", "new=3"), 2, "did you mean k_new"),
        (("arena", "rate", "{arena}", "--interval"), 2, "Did you mean '--ci'?"),
        (("score", "arena", "{arena}", "--overrides", "k_new=3"), 2, "Did you mean '--set'?"),
        (("rules", "list", "--overrides", "k_new=3"), 2, "No such option '--overrides'.\n"),
        (("rules", "show", "arena"), 3, "its default edition is arena/"),
        (("score", "arena", "{arena}", "--format", "xml"), 2, "'xml'"),
        (("score", "arena", "{arena}", "--format", "parquet"), 2, "--output"),
        (("score", "arena", "{arena}", "--output", "no/such/board.csv"), 3, "no/such"),
        (("explain", "arena", "{arena}", "dan"), 3, "dan"),
        (("compare", "arena", "{arena}", *["--edition", "sentience-1"] * 3), 2, "twice"),
        (("rules", "show", "sentience-9"), 3, "sentience-9"),
        (("rules", "diff", "dojo/0.1", "arena/sentience-1"), 4, "different disciplines"),
        (("simulate", "arena", "--out", "{arena}"), 4, "exists"),
        (("simulate", "arena", "--out", "{arena}/new", "--attack", "colusion"), 3, "collusion"),
        (("import", "arena-battle", "x.csv", "--out", "{arena}/new"), 2, "arena-battles"),
        (("import", "arena-battles", "x.csv", "--out", "{arena}/new"), 3, "x.csv"),
        (("dojo", "canonicalize", "no.py"), 3, "no.py"),
        (("dojo", "canonicalize", "{arena}"), 2, "arena"),
    ],
)
def test_every_error_has_its_exit_code_and_a_remedy(
    agon: Cli, arena: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    """Scripts use the code, users the message; stdout stays empty."""
    ended = agon(*(argument.format(arena=arena) for argument in arguments))
    assert (ended.code, ended.out) == (code, "")
    assert message in ended.err
    assert "Traceback" not in ended.err


def test_an_internal_error_is_reported_as_a_bug(
    agon: Cli, arena: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no traceback, and the exit code is distinct."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr(score, "score", broken)
    ended = agon("score", "arena", arena)
    assert ended.code == 70
    assert ended.err.splitlines()[0] == "Error: this is a bug in agon: RuntimeError: first line"
    monkeypatch.setenv("AGON_DEBUG", "1")
    with pytest.raises(RuntimeError):
        agon("score", "arena", arena)


def wait_until_it_reads(pipe: int, process: int) -> None:
    """Wait until a process sleeps in a read of an empty pipe.

    A signal between two reads is handled only after the next one.
    """
    end = time.monotonic() + 100
    while unread_bytes(pipe) or Path(f"/proc/{process}/stat").read_text().split()[2] != "S":
        assert time.monotonic() < end, "it does not read"
        time.sleep(0.01)


def unread_bytes(pipe: int) -> int:
    """Return the number of bytes in a pipe."""
    size = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, size)
    return size[0]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("number", "code", "message"),
    [(signal.SIGINT, 130, b"interrupted"), (signal.SIGTERM, 143, b"")],
)
def test_an_interrupted_command_ends_cleanly(number: int, code: int, message: bytes) -> None:
    """Interruption is normal; the shell gets the usual exit codes."""
    with subprocess.Popen(
        [sys.executable, "-m", "agon", "dojo", "canonicalize", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(
            b"#" * 300_000
        )  # more than the buffer of a pipe: the command is reading now
        process.stdin.flush()
        wait_until_it_reads(process.stdin.fileno(), process.pid)
        process.send_signal(number)
        assert process.wait(timeout=100) == code
        assert process.stderr.read().strip() == message


def test_a_closed_pipe_is_not_an_error(tmp_path: Path) -> None:
    """With ``| head`` a command ends silently with the code of a broken pipe."""
    program = tmp_path / "long.py"
    program.write_text("def solver():\n" + "    x = 1\n" * 200_000)
    with subprocess.Popen(
        [sys.executable, "-m", "agon", "dojo", "canonicalize", str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"def solver():\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=100) == 141


CLOSED = (
    ("score", "arena", "{arena}"),
    ("score", "arena", "{arena}", "--format", "csv"),
    ("explain", "arena", "{arena}", "ann", "--format", "json"),
    ("contest", "list", "--help"),
    ("--version",),
    ("contst",),
    ("score", "arena", "{arena}", "--edition", "0.2000"),
)
"""Commands with output of each kind: tables, data, help, a line, errors."""


@pytest.mark.exhaustive
def test_output_that_nobody_reads_ends_with_the_code_of_a_closed_pipe(
    arena: Path, tmp_path: Path
) -> None:
    """With ``set -o pipefail``, 1 would be a failed check, whatever the output is.

    All of it goes into pipes that are closed already; the commands run side by side.
    """
    reading, writing = os.pipe()
    os.close(reading)
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "agon", *(word.format(arena=arena) for word in words)],
            stdout=writing,
            stderr=writing,
            cwd=tmp_path,
        )
        for words in (CLOSED if ALL else CLOSED[::3])
    ]
    os.close(writing)
    assert [process.wait(timeout=300) for process in running] == [141] * len(running)


def test_a_full_disk_is_an_error(arena: Path) -> None:
    """A partial board must not look complete; the exit code is 5."""
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [sys.executable, "-m", "agon", "score", "arena", str(arena), "--format", "csv"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert process.returncode == 5
    assert "No space left" in process.stderr
    assert "Traceback" not in process.stderr


def test_out_of_memory_is_not_reported_as_a_bug(
    agon: Cli, arena: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the cause."""

    def greedy(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(score, "score", greedy)
    ended = agon("score", "arena", arena)
    assert ended.code == 5
    assert "out of memory" in ended.err


def test_data_goes_to_stdout_and_the_rest_to_stderr(agon: Cli, tmp_path: Path) -> None:
    """Scripts read stdout, which must contain only data."""
    ended = agon("simulate", "arena", "--out", tmp_path / "new", "--size", "20")
    assert ended.code == 0
    assert all(len(line.split("\t")) == 2 for line in ended.out.splitlines())
    assert "wrote" in ended.err


@pytest.mark.exhaustive
def test_piped_output_has_no_colors(
    agon: Cli, arena: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pipes and NO_COLOR disable escape sequences."""
    assert "\x1b" not in agon("score", "arena", arena).out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in agon("score", "arena", arena).out
    monkeypatch.setenv("NO_COLOR", "1")
    plain = agon("score", "arena", arena).out
    assert "\x1b" not in plain.replace("\x1b[1m", "").replace("\x1b[0m", "")


@pytest.mark.exhaustive
def test_escape_sequences_in_ids_are_escaped(agon: Cli, arena: Path) -> None:
    """Records must not control the terminal."""
    bots = (arena / "bots.csv").read_text()
    (arena / "bots.csv").write_text(bots + "\x1b[2Jdan,o1,Dan\n")
    matches = (arena / "matches.csv").read_text()
    (arena / "matches.csv").write_text(matches + "5,2026-01-05T10:00:00Z,\x1b[2Jdan,ann,rated,a\n")
    ended = agon("score", "arena", arena)
    assert "\\x1b[2Jdan" in ended.out
    assert "\x1b" not in ended.out
    assert "\x1b" not in agon("explain", "arena", arena, "\x1b[2Jdam").err


@pytest.mark.exhaustive
def test_no_command_prints_a_control_of_direction(agon: Cli, arena: Path) -> None:
    """Names turned the scores beside them around; warnings and notes printed them as they came."""
    bots, matches = (arena / "bots.csv").read_text(), (arena / "matches.csv").read_text()
    (arena / "bots.csv").write_text(f"{bots}\u202edan,o1,\u202eDan\n\u202edan ,o1,Dan\n")
    played = "5,2026-01-05T10:00:00Z,\u202edan,ann,rated,a\n"
    (arena / "matches.csv").write_text(matches + played)
    for command in (
        ("score", "arena", arena),
        ("explain", "arena", arena, "\u202edan"),
        ("check", "arena", arena),
        ("compare", "arena", arena, "--edition", "sentience-1", "--set", "k_new=9"),
    ):  # fmt: skip
        ended = agon(*command)
        said = ended.out + ended.err
        assert "dan" in said, command
        assert "\u202e" not in said, command


def test_options_are_read_from_environment_variables(
    agon: Cli, arena: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Containers are configured without a command line."""
    monkeypatch.setenv("AGON_SCORE_FORMAT", "csv")
    monkeypatch.setenv("AGON_SCORE_TOP", "1")
    monkeypatch.setenv("AGON_SCORE_SET", "k_new=10 round_changes=false")
    ended = agon("score", "arena", arena)
    assert ended.code == 0
    assert len(ended.out.splitlines()) == 2
    assert "1005.0" not in ended.out.splitlines()[0]


def test_the_command_and_the_module_are_equivalent(arena: Path) -> None:
    """``agon`` and ``python -m agon`` have the same output."""
    command = Path(sys.executable).with_name("agon")
    process = subprocess.run(
        [str(command), "score", "arena", str(arena)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    assert process.stdout == run_process("score", "arena", arena).out
