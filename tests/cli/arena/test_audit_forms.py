"""The audit says the same in every form: one computation, and equal digits."""

import csv
import io
import json
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import agon as library
from cli.command import Cli
from disciplines.arena.planted import a_judge_with_a_favorite


@pytest.fixture(scope="module")
def battles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of battles in which a judge has a favorite."""
    file = tmp_path_factory.mktemp("battles") / "battles.ndjson"
    rows = a_judge_with_a_favorite(np.random.default_rng(3))[:1500]
    words = {"a": "model_a", "b": "model_b", "tie": "tie"}
    battles = [
        {"model_a": row["bot_a"], "model_b": row["bot_b"], "winner": words[row["winner"]],
         "judge": row["judge"], "prompt_id": row["prompt_id"]}
        for row in rows
    ]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in battles))
    return file


def test_table_json_csv_and_picture_say_what_the_library_says(agon: Cli, battles: Path) -> None:
    """A figure that is quoted from a picture has to be found in the table and in the download."""
    probes = library.audit(battles).probes
    assert {probe.verdict for probe in probes} >= {"fine", "look"}
    shown = {form: agon("arena", "audit", battles, "--format", form).out
             for form in ("table", "json", "csv", "svg")}  # fmt: skip
    rows = [json.loads(json.dumps({**vars(probe), "records": probe.records})) for probe in probes]
    stated = json.loads(shown["json"])
    assert (stated["probes"] if isinstance(stated, dict) else stated) == rows
    listed = list(csv.DictReader(io.StringIO(shown["csv"])))
    for probe, line in zip(probes, listed, strict=True):
        figures = (probe.figure, probe.expected)
        assert tuple(float(line[name]) if line[name] else None
                     for name in ("figure", "expected")) == figures  # fmt: skip
        assert (line["name"], line["verdict"], line["sentence"]) == (
            probe.name, probe.verdict, probe.sentence
        )  # fmt: skip
        assert any(
            each.split(maxsplit=1)[0] == probe.name and each.endswith(probe.sentence)
            and probe.verdict in each
            for each in shown["table"].splitlines()
        )  # fmt: skip
        said = f"{probe.name}, {probe.verdict}: {probe.sentence}."
        assert said in " ".join(unescape(shown["svg"]).split())
