"""For each integrity check of the community, the simulated attack that measures its power."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agon.attacks.detectors.simulated import Case, Contests, Tables


def _on_own_prompts(tables: Tables, actions: pa.Table, attackers: set[Any]) -> int:
    """Count feedback on prompts of the attackers and of those whom they promote."""
    prompts = tables["prompts"]
    own = pc.is_in(prompts["uploader_id"], value_set=pa.array(list(attackers)))
    chosen = prompts.filter(own)["id"].combine_chunks()
    return int(pc.sum(pc.is_in(actions["prompt_id"], value_set=chosen)).as_py() or 0)


_FEEDBACK = ("quick_feedbacks", "user_id")

CONTESTS = Contests(
    discipline="community",
    size=400,
    attacks={
        "threshold-hugging": Case("threshold-hugging"),
        "self-feedback": Case("self-feedback", _FEEDBACK, _on_own_prompts),
        "reciprocal-ring": Case("reciprocal-ring", _FEEDBACK, _on_own_prompts),
        "feedback-burst": Case("feedback-burst", _FEEDBACK),
        "one-target-reviewer": Case("one-target-reviewer", _FEEDBACK, _on_own_prompts),
        "near-duplicate-handle": Case("near-duplicate-handle"),
        "target-group": Case("target-group", _FEEDBACK, _on_own_prompts),
    },
    opt_ins={"target_groups": True},
    notes=frozenset({"near-duplicate-handle"}),
)
