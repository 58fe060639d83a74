"""No input causes a traceback or is reported as an internal error."""

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agon.cli.run import run
from cli.command import MATCHES, arena_folder
from sizes import size

KNOWN = {0, 1, 2, 3, 4, 5}
FUZZ = settings(
    max_examples=size(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
WORDS = st.one_of(
    st.sampled_from(
        ["score", "explain", "compare", "check", "rules", "list", "show", "lint", "arena", "rate",
         "dojo", "challenge", "community", "weights", "--edition", "--set", "--board", "--top",
         "--as-of", "--format", "json", "csv", "--ci", "-1", "0", "ann", "sentience-1", "k_new=8",
         "k_new=", "=", "2026-01-01", "{arena}", "--", "-", "", "bots", "judges"]
    ),
    st.text(max_size=12),
)  # fmt: skip


@pytest.fixture(autouse=True)
def quiet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Capture the output and provide an empty standard input."""
    assert capsys is not None
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small arena."""
    return arena_folder(tmp_path_factory.mktemp("fuzz") / "arena")


@FUZZ
@given(st.lists(WORDS, max_size=7))
def test_no_arguments_break_a_command(small: Path, words: list[str]) -> None:
    """For any arguments the exit code is a documented one."""
    assert run([word.replace("{arena}", str(small)) for word in words]) in KNOWN


@FUZZ
@given(st.text(max_size=20), st.text(max_size=20))
def test_no_override_and_no_time_breaks_scoring(small: Path, rule: str, time_text: str) -> None:
    """Unknown rules and invalid times exit with code 2."""
    assert run(["score", "arena", str(small), "--set", f"{rule}={time_text}"]) in {0, 2}
    assert run(["score", "arena", str(small), f"--as-of={time_text}"]) in {0, 2}


MANGLED = st.one_of(
    st.binary(max_size=200),
    st.text(max_size=80).map(lambda text: (MATCHES + text).encode(errors="surrogatepass")),
    st.tuples(st.integers(0, len(MATCHES)), st.text(max_size=6)).map(
        lambda cut: (MATCHES[: cut[0]] + cut[1] + MATCHES[cut[0] :]).encode(errors="surrogatepass")
    ),
)


@FUZZ
@given(MANGLED, st.sampled_from([".csv", ".csv.gz", ".ndjson", ".parquet"]))
def test_no_file_breaks_scoring_or_checking(content: bytes, ending: str) -> None:
    """Random content is rejected as unreadable or invalid in every format."""
    with TemporaryDirectory() as folder:
        arena = arena_folder(Path(folder))
        (arena / "matches.csv").unlink()
        (arena / f"matches{ending}").write_bytes(content)
        assert run(["score", "arena", folder]) in {0, 2}
        assert run(["check", "arena", folder]) in {0, 1, 2}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["model_a", "model_b", "winner", "tstamp", "left", "right", "worker", "id", "uid",
             "validator", "score", "stake", "epoch", "x"]
        ),
        inner,
        max_size=6,
    ),
    max_leaves=12,
)  # fmt: skip


@FUZZ
@given(
    JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60),
    st.sampled_from(["arena-battles", "comparisons", "bittensor-evaluations"]),
    st.sampled_from([".json", ".ndjson", ".csv", ".parquet"]),
)
def test_no_file_breaks_an_import(content: bytes, form: str, ending: str) -> None:
    """An import writes either all records or none."""
    with TemporaryDirectory() as folder:
        file = Path(folder, f"given{ending}")
        file.write_bytes(content)
        code = run(["import", form, str(file), "--out", str(Path(folder, "out"))])
        assert code in {0, 2}
        assert Path(folder, "out").exists() is (code == 0)


@FUZZ
@given(st.binary(max_size=120) | st.text(max_size=60).map(str.encode))
def test_no_program_breaks_the_dojo_tools(content: bytes) -> None:
    """Hostile source is rejected without crashing."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "s.py")
        file.write_bytes(content)
        assert run(["dojo", "canonicalize", str(file)]) in {0, 2}
        assert run(["dojo", "check", str(file), "--kind", "setter"]) in {0, 1, 2}
