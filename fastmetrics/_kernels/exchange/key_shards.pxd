"""Shards of a hash table of keys: the place of a key, finding its entry, and adding counts to it (key_counts.pyx).

A shard stores an entry for each of its keys: the words of the key, then its counts. The tail of a long text is its
position in the shard's text. Slots find an entry by open addressing with linear probing; see key_counts.pyx.
"""

from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcmp, memcpy, memset

from fastmetrics._kernels.numeric.table_hash cimport table_hash, table_hash_bytes, table_hash_pair

cdef enum:
    KEY_SHARD_BITS = 6
    PARTITION_BITS = 3           # of the place, below those of the shard
    SLOT_BITS = 2                # of the slots for each entry: with half as many, twice the time
    SLOTS_PER_ENTRY = 1 << SLOT_BITS
    SHORT_TEXT = 12              # the slot of a longer text has its address


cdef struct Shard:
    uint32_t* slots
    uint64_t* entries
    uint8_t* text
    int64_t capacity             # entries
    int64_t size
    int64_t text_capacity
    int64_t text_size
    int slot_shift               # 64 minus the bits of a slot's number
    bint overflowed


cdef struct KeyRows:
    # Rows to add: their keys `stride` words apart, their counts (NULL: one each) `count_stride` apart. A long text is
    # at `text` + its tail.
    const uint64_t* hashes
    const uint64_t* heads
    const uint64_t* tails
    const int64_t* counts
    uintptr_t text
    Py_ssize_t stride
    Py_ssize_t count_stride


cdef inline int64_t text_length(uint64_t head) noexcept nogil:
    """The bytes of the text of a slot."""
    return <int64_t>(head & <uint64_t>0xFFFFFFFF)


cdef inline bint is_long(uint64_t head) noexcept nogil:
    return text_length(head) > SHORT_TEXT


cdef inline uint64_t place_key(
    uint64_t hashed, uint64_t head, uint64_t tail, const uint8_t* text, int key_words
) noexcept nogil:
    """The place of a key. A long text begins at text + tail."""
    if key_words == 1:
        return table_hash(hashed)
    if key_words == 2:
        return table_hash_pair(hashed, head)
    if is_long(head):
        return table_hash_bytes(text + tail, text_length(head))
    return table_hash_pair(head, tail)


cdef inline uint64_t place_entry(
    const Shard* shard, const uint64_t* entry, int key_words, int first_bit
) noexcept nogil:
    """The place of an entry's key from `first_bit` on."""
    cdef uint64_t head = entry[1] if key_words > 1 else 0
    cdef uint64_t tail = entry[2] if key_words > 2 else 0
    return place_key(entry[0], head, tail, shard.text, key_words) << first_bit


cdef inline int shard_number(uint64_t place) noexcept nogil:
    return <int>(place >> (64 - KEY_SHARD_BITS))


cdef inline int partition_number(uint64_t place) noexcept nogil:
    """The number of a key's partition in its shard."""
    return <int>((place << KEY_SHARD_BITS) >> (64 - PARTITION_BITS))


cdef inline uint64_t first_slot(const Shard* shard, uint64_t place) noexcept nogil:
    """The slot where probing starts."""
    return (place << KEY_SHARD_BITS) >> shard.slot_shift


cdef inline uint64_t place_row(const KeyRows* rows, Py_ssize_t row, int key_words, int first_bit) noexcept nogil:
    """The place of a row's key from `first_bit` on."""
    cdef uint64_t head = rows.heads[row * rows.stride] if key_words > 1 else 0
    cdef uint64_t tail = rows.tails[row * rows.stride] if key_words > 2 else 0
    return place_key(rows.hashes[row * rows.stride], head, tail, <const uint8_t*>rows.text, key_words) << first_bit


cdef inline bint is_key(
    const Shard* shard, const uint64_t* entry, const KeyRows* rows, Py_ssize_t row, int key_words
) noexcept nogil:
    """Return whether an entry is that of a row's key."""
    cdef uint64_t head
    if entry[0] != rows.hashes[row * rows.stride]:
        return False
    if key_words == 1:
        return True
    head = rows.heads[row * rows.stride]
    if entry[1] != head or key_words == 2:
        return entry[1] == head
    if not is_long(head):
        return entry[2] == rows.tails[row * rows.stride]
    return memcmp(
        shard.text + entry[2], <const void*>(rows.text + rows.tails[row * rows.stride]),
        <size_t>text_length(head)) == 0


cdef inline uint64_t* new_entry(
    Shard* shard, const KeyRows* rows, Py_ssize_t row, int key_words, Py_ssize_t n_counts
) noexcept nogil:
    """An entry for the key of a row, with counts of 0; NULL if the shard is full."""
    cdef uint64_t* entry
    cdef uint64_t head
    cdef int64_t length
    if shard.size == shard.capacity:
        return NULL
    entry = shard.entries + shard.size * (key_words + n_counts)
    if key_words > 1:
        entry[1] = rows.heads[row * rows.stride]
    if key_words > 2:
        head = entry[1]
        entry[2] = rows.tails[row * rows.stride]
        if is_long(head):
            length = text_length(head)
            if shard.text_size + length > shard.text_capacity:
                return NULL
            memcpy(shard.text + shard.text_size, <const void*>(rows.text + entry[2]), <size_t>length)
            entry[2] = <uint64_t>shard.text_size
            shard.text_size += length
    entry[0] = rows.hashes[row * rows.stride]
    memset(entry + key_words, 0, <size_t>n_counts * sizeof(uint64_t))
    shard.size += 1
    return entry


cdef inline bint add_row(
    Shard* shard, uint64_t place, const KeyRows* rows, Py_ssize_t row, int key_words, Py_ssize_t n_counts
) noexcept nogil:
    """Add the counts of a row. Returns False if the shard is full, or if a count overflows."""
    cdef uint64_t mask = SLOTS_PER_ENTRY * <uint64_t>shard.capacity - 1
    cdef uint64_t slot = first_slot(shard, place)
    cdef uint64_t* entry
    cdef int64_t* sums
    cdef int64_t count
    cdef uint32_t number
    cdef Py_ssize_t i
    while True:
        number = shard.slots[slot]
        if number == 0:
            entry = new_entry(shard, rows, row, key_words, n_counts)
            if entry == NULL:
                return False
            shard.slots[slot] = <uint32_t>shard.size
            break
        entry = shard.entries + (number - 1) * (key_words + n_counts)
        if is_key(shard, entry, rows, row, key_words):
            break
        slot = (slot + 1) & mask
    sums = <int64_t*>(entry + key_words)
    for i in range(n_counts):
        count = 1 if rows.counts == NULL else rows.counts[row * rows.count_stride + i]
        if count > INT64_MAX - sums[i]:
            shard.overflowed = True
            return False
        sums[i] += count
    return True
