"""Live arenas in the database: bots, rounds, work, the use of model judges."""
