"""Publish, judge, reveal and verify problems of the dojo: what organizers do around scoring.

Scoring reads the records that judging writes; nothing here computes a score.
"""
