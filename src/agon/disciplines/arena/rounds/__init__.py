"""Draw and judge rounds of a live arena: commitment, pairs, prompts, honeypots, panels, faults."""
