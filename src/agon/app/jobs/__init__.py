"""Do long work on leases: claimed, kept alive, completed once, whatever dies meanwhile."""
