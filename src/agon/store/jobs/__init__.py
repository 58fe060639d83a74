"""The queue of jobs and leases: claims, and how long a job will wait."""
