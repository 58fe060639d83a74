"""The attack lab of the dojo: strategies of users against the season's board."""

from agon.attacks.dojo import (
    hidden_tables,
    prefix_reading,
    renamed_copies,
    resubmission_races,
    source_sharing,
    tag_farming,
)
from agon.attacks.dojo.season import Season
from agon.attacks.dojo.world import DAYS, observed_world, simulated_world
from agon.attacks.lab import Lab, play_days

LAB = Lab(
    discipline="dojo",
    strategies=(
        tag_farming.STRATEGY,
        source_sharing.STRATEGY,
        renamed_copies.STRATEGY,
        hidden_tables.STRATEGY,
        prefix_reading.STRATEGY,
        resubmission_races.STRATEGY,
    ),
    simulated_world=simulated_world,
    observed_world=observed_world,
    actors={"submissions": "user_id"},
    undone_boards=("season",),
    joint_rules=(("max_string_literal_chars", "max_string_bytes"),),
    play=play_days(Season, DAYS),
)
