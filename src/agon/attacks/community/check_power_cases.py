"""For each integrity check of the community, the simulated attack that measures its power."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from agon.attacks.detectors.simulated import FindingCase, SimulatedContests, Tables


def _on_own_prompts(tables: Tables, actions: pa.Table, attackers: set[Any]) -> int:
    """Count feedback on prompts of the attackers and of those whom they promote."""
    prompts = tables["prompts"]
    own = pc.is_in(prompts["uploader_id"], value_set=pa.array(list(attackers)))
    chosen = prompts.filter(own)["id"].combine_chunks()
    return int(pc.sum(pc.is_in(actions["prompt_id"], value_set=chosen)).as_py() or 0)


_FEEDBACK = ("quick_feedbacks", "user_id")

CONTESTS = SimulatedContests(
    discipline="community",
    size=400,
    attacks={
        "threshold-hugging": FindingCase("threshold-hugging"),
        "self-feedback": FindingCase("self-feedback", _FEEDBACK, _on_own_prompts),
        "reciprocal-ring": FindingCase("reciprocal-ring", _FEEDBACK, _on_own_prompts),
        "feedback-burst": FindingCase("feedback-burst", _FEEDBACK),
        "one-target-reviewer": FindingCase("one-target-reviewer", _FEEDBACK, _on_own_prompts),
        "near-duplicate-handle": FindingCase("near-duplicate-handle"),
        "target-group": FindingCase("target-group", _FEEDBACK, _on_own_prompts),
    },
    opt_ins={"target_groups": True},
    notes=frozenset({"near-duplicate-handle"}),
)
