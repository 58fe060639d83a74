"""Run jobs: one module for each kind of job, and the loop that claims them."""
