"""The attack lab of the community: strategies of users against the user score."""

from agon.attacks.community import (
    affiliation_mill,
    bad_mouthing,
    collaboration_mill,
    easy_prompts,
    feedback_spam,
    reciprocal_ring,
    self_feedback,
    sock_puppets,
    threshold_hugging,
    whitewashing,
)
from agon.attacks.community.season import Season
from agon.attacks.community.world import DAYS, observed_world, simulated_world
from agon.attacks.lab import Lab, play_days

LAB = Lab(
    discipline="community",
    strategies=(
        sock_puppets.STRATEGY,
        reciprocal_ring.STRATEGY,
        threshold_hugging.STRATEGY,
        easy_prompts.STRATEGY,
        feedback_spam.STRATEGY,
        self_feedback.STRATEGY,
        affiliation_mill.STRATEGY,
        collaboration_mill.STRATEGY,
        bad_mouthing.STRATEGY,
        whitewashing.STRATEGY,
    ),
    simulated_world=simulated_world,
    observed_world=observed_world,
    actors={"users": "id"},
    undone_boards=("user-score",),
    play=play_days(Season, DAYS),
)
