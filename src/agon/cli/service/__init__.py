"""Commands of those who run a service: processes, database, people, jobs."""
