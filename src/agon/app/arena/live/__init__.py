"""Run an arena: bots register, rounds are drawn, answered, judged and settled."""
