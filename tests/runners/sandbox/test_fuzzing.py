"""Random and mutated programs: each gets one verdict (10,000 in `make test-all`, else 800)."""

import gc
import random
import re
from collections import Counter
from itertools import islice
from typing import get_args

from agon.app.sandbox import RunLimits, RunOutcome, RunRequest
from agon.runners.sandbox.isolation import isolation_of
from agon.runners.sandbox.pool import Pool
from runners.processes import descendants, open_descriptors, resident_kib
from runners.sandbox.mutating import CORRECT, mutants, random_bytes
from sizes import ALL

PROGRAMS = 10_000 if ALL else 300
LIMITS = RunLimits(cpu_s=0.03, wall_s=20, memory_mib=64, output_bytes=65_536)
INTEGER = re.compile(r"0|-?[1-9][0-9]*", re.ASCII)


def test_every_random_program_gets_exactly_one_verdict() -> None:
    """Half of them bytes, half of them mutants; the workers survive and nothing grows."""
    dice = random.Random(1001)  # repeatable programs, no secret
    sources = [random_bytes(dice) for _ in range(PROGRAMS // 2)]
    sources += islice(mutants(dice), PROGRAMS - len(sources))
    dice.shuffle(sources)
    jobs = [
        RunRequest(source=source, n_check=20, limits=LIMITS, name=str(at))
        for at, source in enumerate(sources)
    ]
    given: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    with Pool(isolation_of("bwrap"), workers=2) as sandbox:
        zygotes = descendants()
        before = open_descriptors()
        memory = 0
        for at, (job, run) in enumerate(sandbox.run_many(jobs)):
            given[job.name] += 1
            outcomes[run.outcome] += 1
            assert all(INTEGER.fullmatch(term) for term in run.terms), sources[int(job.name)]
            assert run.reason.isprintable(), sources[int(job.name)]
            if at == PROGRAMS // 5:
                gc.collect(1)  # not what other tests left
                memory = resident_kib()
        gc.collect(1)
        assert resident_kib() - memory < 8192
        assert open_descriptors() == before
        assert descendants() == zygotes, "a zygote was lost"
        assert sandbox.run(RunRequest(source=CORRECT[0].encode(), n_check=6)).terms == (
            "1", "1", "2", "3", "5", "8",
        )  # fmt: skip
    assert given == Counter({str(at): 1 for at in range(PROGRAMS)})
    assert set(outcomes) <= set(get_args(RunOutcome)) - {"sandbox_error"}
    kinds = ("ok", "wrong_type", "runtime_error", "syntax_error")
    assert min(outcomes[kind] for kind in kinds) > PROGRAMS // 40
