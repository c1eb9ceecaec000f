"""Hash exchange: rows to partitions by the hash of a key, and rows of one partition to groups.

Kernels of metric families, `_core` and the engine may import this family. It imports `numeric` and `columns`. Start
with `hash_partition.pyx`.

Layout. A block of rows is reordered so that each partition is a contiguous range; `offsets` has one element more than
there are partitions. Blocks fit the second-level cache. A text key is a slot of 16 bytes: its length, its first bytes,
and either the other bytes or the address of the text.

Hashes. Integer keys are hashed by a bijection of 64 bits, so equal hashes are equal keys. Of two numbers, the hash and
the second number are the key. Text keys with equal hashes are compared. Other keys of several columns become bytes that
are different for different tuples (`tuple_keys.pyx`), and then are text. The top bits of the hash select the partition.
The hash functions are part of file formats (spilled rows, states): they must not change. Tables use other hashes, which
depend on seeds of the process (`numeric/table_hash.h`).

Tables. `key_counts.pyx` counts keys in hash tables that grow, in shards (`key_shards.pxd`) by the first bits of the
hash. Counts are int64; a count above 2**63 - 1 is an error. A shard has at most 2**31 - 1 keys. `cell_counts.pyx`
counts, numbers and weighs cells (pairs of labels) in one table that fits the cache while cells are few.

Groups. `partition_groups.pyx` has the columns of partitions, which kernels of groups read, and the memory in which the
groups of a partition are found (`group_table.pxd`). These objects and `columns/column_blocks.pyx` keep the memory that
kernels read and write, and check its lengths.

Slices. `slice_rows.pyx` numbers the slices of rows, and counts the pairs won inside every slice of a bucket of scores,
`slice_cells.pyx` those of a group. Both read the words of `ordered_rows.pxd`, which brings groups into the order of
their scores; `bucket_order.pxd` does so for buckets.

Sorting. `radix_sort_descending.pxd` sorts rows by descending score, stably.

Bounds. A block has at most 2**31 - 1 rows, a text less than 2**32 bytes.
"""
