"""Networks of a trial: its services, its proxy, and what they hand over."""
