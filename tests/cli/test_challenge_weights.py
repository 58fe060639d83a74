"""The commands ``agon challenge weights --all``, ``forecast``, ``plot`` and ``submit``."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow.parquet as pq
import pytest

from agon.app.challenge.weight_setting import Order
from cli.command import Cli

COLUMNS = ["epoch", "uid", "weight", "u16", "burn"]


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a simulated challenge."""
    from agon.app.analysis.simulate import simulate, write_simulation

    folder = tmp_path_factory.mktemp("challenge") / "season"
    write_simulation(simulate("challenge", size=800, seed=2), folder)
    return folder


def test_all_formats_have_the_same_weights_of_all_epochs(
    agon: Cli, season: Path, tmp_path: Path
) -> None:
    """A weight must not depend on its format."""
    value = agon("challenge", "weights", season, "--all", "--format", "json").json()
    rows = value["rows"]
    assert list(rows[0]) == COLUMNS
    comma = agon("challenge", "weights", season, "--all", "--format", "csv").out
    assert [[float(cell) for cell in line.values()]
            for line in csv.DictReader(io.StringIO(comma))] == [
        [float(row[name]) for name in COLUMNS] for row in rows
    ]  # fmt: skip
    lines = agon("challenge", "weights", season, "--all", "--format", "ndjson").out.splitlines()
    assert [json.loads(line) for line in lines] == rows
    file = tmp_path / "weights.parquet"
    assert agon("challenge", "weights", season, "--all", "--output", file).code == 0
    assert pq.read_table(file).to_pylist() == rows


@pytest.mark.exhaustive
def test_json_of_all_epochs_contains_hashes_rules_and_epochs(agon: Cli, season: Path) -> None:
    """It has the keys of ``score`` and the epochs; ``--epoch`` sets the last one."""
    value = agon("challenge", "weights", season, "--all", "--epoch", 3, "--format", "json").json()
    alone = agon("challenge", "weights", season, "--epoch", 3, "--format", "json").json()
    for name in ("discipline", "edition", "rules_sha256", "records_sha256", "as_of", "board"):
        assert value[name] == alone[name]
    assert len(value["board_sha256"]) == 64
    assert value["epochs"] == {"first": 0, "last": 3}
    last = {str(row["uid"]): row["weight"] for row in value["rows"] if row["epoch"] == 3}
    assert last == {row["id"]: row["weight"] for row in alone["rows"]
                    if row["weight"] or row["id"] == "0"}  # fmt: skip


@pytest.mark.exhaustive
def test_the_table_has_a_line_for_each_epoch(
    agon: Cli, season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines show burn, number of paid miners and the largest share, for the last hundred epochs."""
    monkeypatch.setenv("COLUMNS", "80")
    out = agon("challenge", "weights", season, "--all", "--epoch", 3).out
    assert out.startswith("weights of epochs 0 to 3 · challenge/term-1")
    assert [line.split()[0] for line in out.splitlines()[3:]] == ["0", "1", "2", "3"]
    assert max(map(len, out.splitlines())) <= 80
    long = agon("challenge", "weights", season, "--all", "--epoch", 240)
    assert "141 earlier epochs; --format csv shows all" in long.out


def test_the_table_takes_no_burn_for_a_miner(agon: Cli, tmp_path: Path) -> None:
    """Where another uid burns, it is not among the paid, and a miner of uid 0 is."""
    uids = {"a": 0, "b": 3, "c": 9}
    (tmp_path / "submissions.csv").write_text(
        "id,miner_uid,submitted_at\n"
        + "".join(f"{name},{uid},2026-01-01\n" for name, uid in uids.items())
    )
    (tmp_path / "validators.csv").write_text("id,stake\nv1,1\nv2,1\nv3,1\n")
    (tmp_path / "evaluations.csv").write_text(
        "submission_id,validator_id,score\n"
        + "".join(f"{name},v{number},0.5\n" for name in uids for number in (1, 2, 3))
    )
    out = agon("challenge", "weights", tmp_path, "--all", "--set", "burn_uid=9").out
    assert " ".join(out.splitlines()[-1].split()) == "0 0.333333 2 0 (0.3333), 3 (0.3333)"


@pytest.mark.parametrize(
    "options",
    [("--bittensor",), ("--top", 3), ("--epoch", 2, "--set", "epoch=3"), ("--format", "parquet")],
)
def test_all_cannot_be_combined_with_contradicting_options(
    agon: Cli, season: Path, options: tuple[object, ...]
) -> None:
    """Otherwise one of the two would be silently ignored."""
    ended = agon("challenge", "weights", season, "--all", *options)
    assert (ended.code, ended.out) == (2, "")


@pytest.mark.exhaustive
def test_the_forecast_names_the_epochs_that_matter(agon: Cli, season: Path) -> None:
    """Table and JSON agree."""
    value = agon("challenge", "forecast", season, "--format", "json").json()
    (competition,) = value["competitions"]
    assert competition["maximum_in_epoch"] == competition["last_improvement"] + 10 + 16
    assert competition["decay_begins_in_epoch"] == competition["last_improvement"] + 11
    assert value["epoch"] + value["epochs_ahead"] == competition["maximum_in_epoch"] + 3
    assert {"rules_sha256", "records_sha256"} <= set(value)
    ended = agon("challenge", "forecast", season)
    assert ended.code == 0
    assert f" {competition['maximum_in_epoch']} " in ended.out
    assert "linear (in force)" in " ".join(ended.out.split()) or "linear" in ended.out
    rows = list(csv.DictReader(io.StringIO(
        agon("challenge", "forecast", season, "--format", "csv", "--epochs", 30).out)))  # fmt: skip
    assert len(rows) == 31
    assert [float(row["burn_percent"]) for row in rows] == [float(row["linear"]) for row in rows]


def test_the_forecast_accepts_rules_and_one_competition(
    agon: Cli, season: Path, tmp_path: Path
) -> None:
    """A misspelled competition is an error with a suggestion."""
    file = tmp_path / "ahead.json"
    ended = agon("challenge", "forecast", season, "--set", "decay_curve=exponential",
                 "--competition", "main", "--output", file)  # fmt: skip
    assert (ended.code, ended.out) == (0, "")
    value = json.loads(file.read_text())
    assert value["competitions"][0]["decay_curve"] == "exponential"
    assert value["rows"][-1]["burn_percent"] == value["rows"][-1]["exponential"]
    missing = agon("challenge", "forecast", season, "--competition", "mian")
    assert missing.code == 3
    assert "did you mean main?" in missing.err


@pytest.mark.exhaustive
def test_plot_writes_one_file_of_each_kind(agon: Cli, season: Path, tmp_path: Path) -> None:
    """Each file is valid SVG; plotting again writes equal bytes."""
    out = tmp_path / "pictures"
    ended = agon("challenge", "plot", season, "--out", out)
    assert (ended.code, ended.out) == (0, "")
    files = sorted(out.iterdir())
    assert [file.name for file in files] == ["burn.svg", "forecast.svg", "weights.svg"]
    contents = [file.read_bytes() for file in files]
    for content in contents:
        assert ET.fromstring(content).tag.endswith("}svg")  # noqa: S314 - our own text
    assert agon("challenge", "plot", season, "--out", out).code == 0
    assert [file.read_bytes() for file in files] == contents


@pytest.mark.exhaustive
def test_plot_writes_to_the_named_file(agon: Cli, season: Path, tmp_path: Path) -> None:
    """The default kind is weights."""
    for kinds, heading in (((), "Shares of the emission"), (("--kind", "burn"), "Burn by decay")):
        file = tmp_path / "picture.svg"
        assert agon("challenge", "plot", season, "--out", file, *kinds).code == 0
        assert heading in file.read_text()


def test_plot_skips_kinds_without_data(agon: Cli, season: Path, tmp_path: Path) -> None:
    """Without decay there is no forecast; requesting it alone is an error."""
    still = ("--set", "decay_rate=0")
    ended = agon("challenge", "plot", season, "--out", tmp_path / "p", *still)
    assert ended.code == 0
    assert "no forecast: nothing decays" in ended.err
    assert len(list((tmp_path / "p").iterdir())) == 2
    alone = agon("challenge", "plot", season, "--out", tmp_path / "p", "--kind", "forecast", *still)
    assert alone.code == 2


def test_plot_checks_its_output_path_before_it_scores(
    agon: Cli, season: Path, tmp_path: Path
) -> None:
    """Errors are two plots in one file, a format unlike the extension, and a missing folder."""
    file = tmp_path / "one.svg"
    assert agon("challenge", "plot", season, "--out", file, "--kind", "burn",
                "--kind", "weights").code == 2  # fmt: skip
    assert agon("challenge", "plot", season, "--out", file, "--format", "png").code == 2
    assert agon("challenge", "plot", season, "--out", tmp_path / "no" / "where").code == 3
    assert agon("challenge", "plot", season, "--out", tmp_path / "no" / "one.svg").code == 3
    assert list(tmp_path.iterdir()) == []


def test_png_without_its_renderer_writes_nothing(
    agon: Cli, season: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the extra; no empty folder is left."""
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    ended = agon("challenge", "plot", season, "--out", tmp_path / "p", "--format", "png")
    assert ended.code == 5
    assert "agon-engine[plots]" in ended.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive
def test_png_is_the_output_of_the_renderer(
    agon: Cli, season: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The renderer gets the same SVG."""
    monkeypatch.setattr("agon.wiring.png", lambda svg: b"PNG of " + svg.encode())
    file = tmp_path / "weights.png"
    assert agon("challenge", "plot", season, "--out", file).code == 0
    agon("challenge", "plot", season, "--out", tmp_path / "weights.svg")
    assert file.read_bytes() == b"PNG of " + (tmp_path / "weights.svg").read_bytes()


def test_submit_is_a_dry_run_by_default(
    agon: Cli, season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dry run needs no SDK and prints the payload."""
    monkeypatch.setitem(sys.modules, "bittensor", None)
    ended = agon("challenge", "submit", season, "--netuid", 5)
    assert ended.code == 0
    assert "nothing was sent" in ended.out
    value = agon("challenge", "submit", season, "--netuid", 5, "--format", "json").json()
    payload = agon("challenge", "weights", season, "--bittensor").json()
    assert {name: value[name] for name in payload} == payload
    assert (value["sent"], value["answer"], value["network"]) == (False, None, "finney")
    assert {"rules_sha256", "records_sha256", "epoch"} <= set(value)
    result = agon("challenge", "submit", season, "--netuid", 5, "--no-dry-run")
    assert (result.code, result.out) == (5, "")
    assert "agon-engine[bittensor]" in result.err


class Chain:
    """A fake chain that accepts every call."""

    def __init__(self) -> None:
        self.orders: list[Order] = []

    def set_weights(self, order: Order) -> str:
        """Record the call."""
        self.orders.append(order)
        return "in block 812"

    def owner_uid(self, *, netuid: int, network: str) -> int | None:
        """Return the owner's uid, which differs on one subnet."""
        return 4 if (netuid, network) == (6, "finney") else 0


def test_submit_without_dry_run_sends_once(
    agon: Cli, season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Network and wallet come from options or environment variables."""
    chain = Chain()
    monkeypatch.setattr("agon.wiring.weight_setter", lambda: chain)
    monkeypatch.setenv("AGON_CHALLENGE_SUBMIT_WALLET", "validator")
    arguments: list[Any] = ["challenge", "submit", season, "--netuid", 5, "--network", "test"]
    ended = agon(*arguments, "--epoch", 2, "--no-dry-run")
    assert ended.code == 0
    assert "answer: in block 812" in ended.out
    (order,) = chain.orders
    assert (order.netuid, order.network, order.wallet, order.hotkey, order.epoch) == (
        5, "test", "validator", "default", 2,
    )  # fmt: skip
    value = agon(*arguments, "--no-dry-run", "--format", "json").json()
    assert (value["sent"], value["answer"]) == (True, "in block 812")
    assert len(chain.orders) == 2


@pytest.mark.exhaustive
def test_submit_refuses_a_burn_that_would_pay_somebody(
    agon: Cli, season: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner of this subnet holds uid 4, and what burns would go to the miner of uid 0."""
    chain = Chain()
    monkeypatch.setattr("agon.wiring.weight_setter", lambda: chain)
    burning: list[Any] = ["--netuid", 6, "--no-dry-run", "--set", "max_burn=100", "--epoch", 99]
    refused = agon("challenge", "submit", season, *burning)
    assert (refused.code, chain.orders) == (4, [])
    assert "the owner of subnet 6 holds uid 4; score with --set burn_uid=4" in refused.err
    assert agon("challenge", "submit", season, *burning, "--burn-uid-anyway").code == 0
    assert agon("challenge", "submit", season, *burning, "--set", "burn_uid=4").code == 0
    assert [order.burn_uid for order in chain.orders] == [0, 4]


@pytest.mark.exhaustive
def test_an_epoch_after_the_records_gives_a_warning(agon: Cli, season: Path) -> None:
    """Weights of an unevaluated epoch are carried forward, so a typo must be visible."""
    last = agon("challenge", "weights", season, "--format", "json").json()["last_epoch"]
    beyond = ("--epoch", last + 79)
    warning = f"warning: epoch {last + 79} is after the last one in the records, {last}"
    table = agon("challenge", "weights", season, *beyond)
    assert warning in table.err
    assert f"epoch {last + 79} (the records end at {last})" in table.out.splitlines()[0]
    for command in (("weights", season, "--bittensor"), ("weights", season, "--all"),
                    ("forecast", season), ("submit", season, "--netuid", 1)):  # fmt: skip
        assert warning in agon("challenge", *command, *beyond).err, command
    value = agon("challenge", "weights", season, *beyond, "--format", "json").json()
    assert (value["epoch"], value["overrides"]) == (last + 79, {"epoch": last + 79})
    rows = agon("challenge", "weights", season, *beyond, "--format", "csv").out.splitlines()
    assert rows[0].endswith(",epoch")
    assert all(row.endswith(f",{last + 79}") for row in rows[1:])
    payload = agon("challenge", "weights", season, *beyond, "--bittensor").json()
    assert payload["epoch"] == last + 79
    assert "warning" not in agon("challenge", "weights", season, "--epoch", last).err


@pytest.mark.exhaustive
def test_submitting_uids_numbered_by_an_import_gives_a_warning(agon: Cli, tmp_path: Path) -> None:
    """UID 1 of a file of hotkeys is another miner on the chain."""
    rows = [f"{key},v{n},0.5,100" for key in ("5Fa", "5Fb") for n in range(3)]
    file = tmp_path / "evaluations.csv"
    file.write_text("\n".join(["hotkey,validator,score,stake", *rows]) + "\n")
    records = tmp_path / "records"
    assert agon("import", "bittensor-evaluations", file, "--out", records).code == 0
    warning = "warning: 2 submissions have miner_uids that an import has numbered, such as 1"
    assert warning in agon("challenge", "weights", records, "--bittensor").err
    submit = agon("challenge", "submit", records, "--netuid", 1, "--format", "json")
    assert warning in submit.err
    assert submit.json()["warnings"][0].startswith("2 submissions have miner_uids")
    assert "numbered" not in agon("challenge", "weights", records).err
    known = ["uid," + "hotkey,validator,score,stake", *(f"{n % 2 + 1},{row}" for n, row in
             enumerate(sorted(rows, key=lambda row: row.split(",")[1])))]  # fmt: skip
    file.write_text("\n".join(known) + "\n")
    assert agon("import", "bittensor-evaluations", file, "--out", tmp_path / "with").code == 0
    assert agon("challenge", "weights", tmp_path / "with", "--bittensor").err == ""
