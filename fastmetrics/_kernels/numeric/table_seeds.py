"""The random words on which the hashes of all tables in memory depend (table_hash.h): other ones in each process.

Kernels read them where they are, so they are never moved. No result depends on them.
"""

import os
from array import array

SEEDS = array("Q", os.urandom(32))
