"""A log in partitions, for engines that move rows themselves: Spark.

A task turns the rows of a partition into states and shards of score ranges (`partition_scan`). The engine brings the
shards of a range together, and a task turns them into states (`range_shards`). The driver merges all states
(`partition_merger`). Spark imports this package; it imports `scan` and what lies below. Read `partition_state` first.
"""
