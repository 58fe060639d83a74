"""Queue jobs and hand them out on leases."""
