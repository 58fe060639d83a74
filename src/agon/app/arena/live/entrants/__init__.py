"""Register who takes part in an arena: bots, their owners and versions, people who judge."""
