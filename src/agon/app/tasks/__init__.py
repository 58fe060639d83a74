"""Run agents on tasks: read task folders, run trials in containers, summarize the results.

Scoring runs nothing: the results of a run become the table ``task_results``.
"""
