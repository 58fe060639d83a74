"""Tests on Apache Spark run where ``make test-engines`` installed it."""

import os

collect_ignore = [] if "SPARK_HOME" in os.environ else ["test_apache_spark.py"]
