"""Partition rows by the hash of their group's key.

A block of rows is reordered so that the rows of one partition are contiguous. Blocks are small enough for the scatter
to stay in the second-level cache. All rows of a group are then in one partition, which is the range between two
offsets in every block.

Integer keys are hashed by a bijection of 64 bits (multiply and xor-shift, both invertible): equal hashes mean equal
keys, and `unhash_keys` returns the key. Text is hashed to 64 bits as well, but different texts may have equal hashes.
Text therefore travels with its row, in a slot of 16 bytes (short text itself, longer text by its address), and is
compared when rows are grouped.

The partition number is the hash's top bits. The bits below them split a partition again, and hash tables in cache use
the low bits. A block has at most 2**31 - 1 rows.
"""

from cpython.exc cimport PyErr_Format
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy, memset

from fastmetrics._kernels.columns.column_blocks cimport ColumnBlocks
from fastmetrics._kernels.numeric.length_checks cimport need_below, need_length
from fastmetrics._kernels.exchange.group_table cimport place_slot, prefetch, same_text_slot
from fastmetrics._kernels.numeric.table_hash cimport table_hash, table_hash_pair, use_table_seeds
from fastmetrics._kernels.numeric.table_seeds import SEEDS as _SEEDS

use_table_seeds(_SEEDS)

ctypedef fused integer_t:
    int32_t
    int64_t
    uint64_t

ctypedef fused offset_t:
    int32_t
    int64_t

ctypedef fused column_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef enum:
    PREFETCH_ROWS = 16          # how many rows ahead to prefetch
    SHORT_TEXT = 12
    ASCII_END = 0x80
    TWO_BYTES_END = 0x800
    THREE_BYTES_END = 0x10000
    MOST_ROWS = 0x7FFFFFFF      # of a block
    DIGIT_BITS = 10             # of the hashes that rows are ordered by, twice
    DIGIT_VALUES = 1024
    ROW_BITS = 21               # of the words that have a digit and a row
    MOST_ORDERED_ROWS = 0x200000
    MOST_TEXT_BYTES = 0xFFFFFFFF

MOST_ORDERED = MOST_ORDERED_ROWS
SHORT_TEXT_BYTES = SHORT_TEXT   # the slot of a longer text holds its address


cdef extern from "numeric/vector_math.h":
    uint64_t hash_integer "fm_hash_integer"(uint64_t key) noexcept nogil
    void hash_i32 "fm_hash_i32"(const int32_t* keys, Py_ssize_t n, uint64_t* out) noexcept nogil
    void hash_u64 "fm_hash_u64"(const uint64_t* keys, Py_ssize_t n, uint64_t* out) noexcept nogil


cdef inline uint64_t unhash_integer(uint64_t key) noexcept nogil:
    # Xor with a shift by half the width is its own inverse. The odd factor has an inverse modulo 2**64.
    key ^= key >> 32
    key *= <uint64_t>0xCFEE444D8B59A89B
    key ^= key >> 32
    key *= <uint64_t>0xCFEE444D8B59A89B
    key ^= key >> 32
    return key


cdef inline uint64_t hash_bytes(const uint8_t* text, int64_t length) noexcept nogil:
    cdef uint64_t state = <uint64_t>length * <uint64_t>0x9E3779B97F4A7C15
    cdef uint64_t word
    while length >= 8:
        memcpy(&word, text, 8)
        state = (state ^ word) * <uint64_t>0xD6E8FEB86659FD93
        state ^= state >> 32
        text += 8
        length -= 8
    word = 0
    while length > 0:
        word = (word << 8) | text[0]
        text += 1
        length -= 1
    return hash_integer(state ^ word)


def hash_keys(const integer_t[::1] keys, uint64_t[::1] out):
    """out[i] = hash of keys[i]. Signed keys are sign-extended to 64 bits."""
    cdef Py_ssize_t n = keys.shape[0]
    need_length(b"out", out.shape[0], n)
    if n == 0:
        return
    with nogil:
        if integer_t is int32_t:
            hash_i32(&keys[0], n, &out[0])
        else:
            hash_u64(<const uint64_t*>&keys[0], n, &out[0])


def unhash_keys(const uint64_t[::1] hashes, uint64_t[::1] out):
    """The inverse of hash_keys: the 64 bits of the (sign-extended) key."""
    cdef Py_ssize_t i
    need_length(b"out", out.shape[0], hashes.shape[0])
    with nogil:
        for i in range(hashes.shape[0]):
            out[i] = unhash_integer(hashes[i])


def make_text_slots(
    const uint8_t[::1] data, const offset_t[::1] offsets, uint64_t[::1] heads, uint64_t[::1] tails,
    uint64_t[::1] hashes, int64_t[::1] n_long_bytes
):
    """Write a 16-byte slot and the hash for every row's text data[offsets[i]:offsets[i + 1]].

    The head holds the length (low 32 bits) and the first four bytes. For texts of up to SHORT_TEXT bytes the tail holds
    the other bytes, padded with zeros, so equal slots are equal texts. For longer texts the tail is the text's address:
    compare the bytes. The bytes of all long texts are added to n_long_bytes[0]. A text has less than 2**32 bytes.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n = heads.shape[0]
    cdef const uint8_t* text
    cdef const uint8_t* end = NULL
    cdef const uint8_t* base = NULL
    cdef int64_t start, length
    cdef int64_t n_long = 0
    cdef uint64_t first, second, head, tail
    cdef uint64_t words[2]
    cdef bint fits = True
    need_length(b"offsets", offsets.shape[0], n + 1)
    need_length(b"tails", tails.shape[0], n)
    need_length(b"hashes", hashes.shape[0], n)
    need_length(b"n_long_bytes", n_long_bytes.shape[0], 1)
    if data.shape[0]:
        base = &data[0]
        end = base + data.shape[0]
    with nogil:
        for i in range(n):
            start = offsets[i]
            length = offsets[i + 1] - start
            if start < 0 or length < 0 or length > MOST_TEXT_BYTES or length > data.shape[0] - start:
                fits = False
                break
            text = base + start
            if length > SHORT_TEXT:
                memcpy(&head, text, 8)
                heads[i] = (head << 32) | <uint64_t>length
                tails[i] = <uint64_t><uintptr_t>text
                hashes[i] = hash_bytes(text, length)
                n_long += length
                continue
            if end - text >= 16:
                memcpy(words, text, 16)
            else:
                words[0] = 0
                words[1] = 0
                if length:
                    memcpy(words, text, <size_t>length)
            first = words[0]
            second = words[1]
            if length <= 4:
                first = first & (((<uint64_t>1) << (8 * length)) - 1)
                tail = 0
            else:
                tail = (first >> 32) | (second << 32)
                if length < SHORT_TEXT:
                    tail &= ((<uint64_t>1) << (8 * (length - 4))) - 1
            head = (first << 32) | <uint64_t>length
            heads[i] = head
            tails[i] = tail
            head *= <uint64_t>0xD6E8FEB86659FD93
            hashes[i] = hash_integer((head ^ (head >> 32)) ^ tail)
    if not fits:
        raise ValueError(f"offsets: text {i} is not a part of {data.shape[0]} bytes")
    n_long_bytes[0] += n_long


def copy_long_texts(const uint64_t[::1] heads, uint64_t[::1] tails, const uint8_t[::1] data, uint8_t[::1] out):
    """Copy the long texts from `data` to `out`, one after the other, and update their addresses in `tails`.

    `out` has 16 bytes more than the long texts need: 16 bytes are copied at a time, and the next text overwrites the
    excess.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n = heads.shape[0]
    cdef Py_ssize_t n_bytes = 0
    cdef int64_t length
    cdef uint8_t* position
    cdef const uint8_t* text
    cdef const uint8_t* end
    need_length(b"tails", tails.shape[0], n)
    with nogil:
        for i in range(n):
            if (heads[i] & 0xFFFFFFFFu) > SHORT_TEXT:
                n_bytes += <Py_ssize_t>(heads[i] & 0xFFFFFFFFu)
    if n_bytes == 0:
        return
    need_length(b"out", out.shape[0], n_bytes + 16)
    position = &out[0]
    end = &data[0] + data.shape[0] if data.shape[0] else NULL
    with nogil:
        for i in range(n):
            if i + PREFETCH_ROWS < n and (heads[i + PREFETCH_ROWS] & 0xFFFFFFFFu) > SHORT_TEXT:
                prefetch(<const void*><uintptr_t>tails[i + PREFETCH_ROWS])
            length = <int64_t>(heads[i] & 0xFFFFFFFFu)
            if length > SHORT_TEXT:
                text = <const uint8_t*><uintptr_t>tails[i]
                tails[i] = <uint64_t><uintptr_t>position
                if end - text >= length + 16:
                    while length > 0:
                        memcpy(position, text, 16)
                        position += 16
                        text += 16
                        length -= 16
                    position += length
                else:
                    memcpy(position, text, <size_t>length)
                    position += length


def read_text_slots(const uint64_t[::1] heads, const uint64_t[::1] tails) -> list[bytes]:
    """The texts of slots, as a list of bytes objects."""
    cdef Py_ssize_t i
    cdef uint64_t words[2]
    cdef uint64_t length
    cdef list texts = []
    need_length(b"tails", tails.shape[0], heads.shape[0])
    for i in range(heads.shape[0]):
        length = heads[i] & 0xFFFFFFFFu
        if length > SHORT_TEXT:
            texts.append((<const char*><uintptr_t>tails[i])[:length])
        else:
            words[0] = (heads[i] >> 32) | (tails[i] << 32)
            words[1] = tails[i] >> 32
            texts.append((<const char*>words)[:length])
    return texts


def copy_texts(const uint64_t[::1] heads, const uint64_t[::1] tails, const int64_t[::1] offsets, uint8_t[::1] out):
    """Write the text of slot i to out[offsets[i]:offsets[i + 1]], which is as long as the text."""
    cdef Py_ssize_t i
    cdef Py_ssize_t n = heads.shape[0]
    cdef uint64_t words[2]
    cdef const void* text
    cdef int64_t length
    cdef bint fits = True
    need_length(b"tails", tails.shape[0], n)
    need_length(b"offsets", offsets.shape[0], n + 1)
    with nogil:
        for i in range(n):
            length = <int64_t>(heads[i] & 0xFFFFFFFFu)
            if not (0 <= offsets[i] <= out.shape[0] - length and offsets[i + 1] == offsets[i] + length):
                fits = False
                break
            words[0] = (heads[i] >> 32) | (tails[i] << 32)
            words[1] = tails[i] >> 32
            text = <const void*><uintptr_t>tails[i] if length > SHORT_TEXT else <const void*>words
            if length:
                memcpy(&out[offsets[i]], text, <size_t>length)
    if not fits:
        raise ValueError(f"offsets: text {i} has {length} bytes, and not those of {out.shape[0]} bytes")


cdef void count_partitions(
    const uint64_t* hashes, Py_ssize_t n, int shift, uint64_t first_partition, int32_t[::1] offsets
) noexcept nogil:
    """Count the rows of every partition; the last offset counts rows of no partition."""
    cdef Py_ssize_t i
    cdef uint64_t n_partitions = <uint64_t>offsets.shape[0] - 1
    for i in range(n):
        offsets[<Py_ssize_t>min((hashes[i] >> shift) - first_partition, n_partitions)] += 1


cdef bint begin_partitions(int32_t[::1] offsets) noexcept nogil:
    """Replace the counts by the first row of every partition. Returns False if a row has none."""
    cdef Py_ssize_t i
    cdef int32_t total = 0
    cdef int32_t count
    if offsets[offsets.shape[0] - 1]:
        return False
    for i in range(offsets.shape[0] - 1):
        count = offsets[i]
        offsets[i] = total
        total += count
    return True


cdef void place_in_partitions(
    const uint64_t* hashes, Py_ssize_t n, int shift, uint64_t first_partition, int32_t[::1] offsets,
    uint32_t* destinations
) noexcept nogil:
    """Write every row's destination. The offset of a partition becomes that after its last row so far."""
    cdef Py_ssize_t i, partition
    for i in range(n):
        partition = <Py_ssize_t>((hashes[i] >> shift) - first_partition)
        destinations[i] = <uint32_t>offsets[partition]
        offsets[partition] += 1


cdef void end_partitions(int32_t[::1] offsets) noexcept nogil:
    """Bring every offset back to the first row of its partition."""
    cdef Py_ssize_t i = offsets.shape[0] - 1
    while i > 0:
        offsets[i] = offsets[i - 1]
        i -= 1
    offsets[0] = 0


cdef void one_partition(int32_t[::1] offsets, uint32_t[::1] destinations) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(destinations.shape[0]):
        destinations[i] = <uint32_t>i
    offsets[0] = 0
    offsets[1] = <int32_t>destinations.shape[0]


cdef Py_ssize_t find_bad_segment(
    const Py_ssize_t* block_lengths, const int64_t[::1] starts, const int64_t[::1] lengths, Py_ssize_t* n_rows
) noexcept nogil:
    """The first segment that has rows which its block has not, or -1; n_rows[0] is the number of rows of all."""
    cdef Py_ssize_t segment
    for segment in range(lengths.shape[0]):
        if not (0 <= starts[segment] <= block_lengths[segment]
                and 0 <= lengths[segment] <= block_lengths[segment] - starts[segment]):
            return segment
        n_rows[0] += lengths[segment]
    return -1


cdef Py_ssize_t check_segments(
    const char* name, ColumnBlocks column, const int64_t[::1] starts, const int64_t[::1] lengths, Py_ssize_t item_bytes
) except -1:
    """The rows of segments, which are rows that the blocks of the column have."""
    cdef Py_ssize_t segment
    cdef Py_ssize_t n_rows = 0
    column.check(name, lengths.shape[0], item_bytes)
    need_length(b"starts", starts.shape[0], lengths.shape[0])
    segment = find_bad_segment(column.lengths, starts, lengths, &n_rows)
    if segment >= 0:
        PyErr_Format(
            ValueError, b"segment %zd of %s has %zd rows", segment, name, column.lengths[segment])
    return n_rows


cdef int check_partitions(int shift, Py_ssize_t n_offsets, Py_ssize_t n_rows, Py_ssize_t n_destinations) except -1:
    if n_rows != n_destinations or n_rows > MOST_ROWS:
        raise ValueError(f"{n_destinations} destinations of {n_rows} rows, of which there are at most {MOST_ROWS}")
    if n_offsets < 2 or (n_offsets > 2 and not 0 <= shift < 64):
        raise ValueError(f"{n_offsets} offsets of partitions by hashes that are shifted by {shift} bits")
    return 0


def partition_block(
    const uint64_t[::1] hashes, int shift, uint64_t first_partition, int32_t[::1] offsets, uint32_t[::1] destinations
):
    """Stable counting sort of a block by partition, (hash >> shift) - first_partition.

    Writes the partitions' offsets and every row's destination. There are offsets.shape[0] - 1 partitions, and every row
    belongs to one of them. With a single partition the hashes are not read: a shift by 64 would be undefined.
    """
    cdef Py_ssize_t n = hashes.shape[0]
    cdef bint have_partitions = True
    check_partitions(shift, offsets.shape[0], n, destinations.shape[0])
    with nogil:
        if offsets.shape[0] == 2:
            one_partition(offsets, destinations)
        elif n == 0:
            memset(&offsets[0], 0, <size_t>offsets.shape[0] * sizeof(int32_t))
        else:
            memset(&offsets[0], 0, <size_t>offsets.shape[0] * sizeof(int32_t))
            count_partitions(&hashes[0], n, shift, first_partition, offsets)
            have_partitions = begin_partitions(offsets)
            if have_partitions:
                place_in_partitions(&hashes[0], n, shift, first_partition, offsets, &destinations[0])
                end_partitions(offsets)
    if not have_partitions:
        raise ValueError("a row belongs to none of the partitions")


def partition_segments(
    ColumnBlocks hashes not None, const int64_t[::1] starts, const int64_t[::1] lengths, int shift,
    uint64_t first_partition, int32_t[::1] offsets, uint32_t[::1] destinations
):
    """As partition_block, for hashes in several segments: lengths[s] hashes from element starts[s] of block s on."""
    cdef Py_ssize_t segment
    cdef Py_ssize_t row = 0
    cdef bint have_partitions = True
    cdef const uint64_t** blocks = <const uint64_t**>hashes.starts
    check_partitions(
        shift, offsets.shape[0], check_segments(b"hashes", hashes, starts, lengths, 8), destinations.shape[0])
    with nogil:
        if offsets.shape[0] == 2:
            one_partition(offsets, destinations)
        else:
            memset(&offsets[0], 0, <size_t>offsets.shape[0] * sizeof(int32_t))
            for segment in range(lengths.shape[0]):
                count_partitions(blocks[segment] + starts[segment], lengths[segment], shift, first_partition, offsets)
            have_partitions = begin_partitions(offsets)
            if have_partitions:
                for segment in range(lengths.shape[0]):
                    place_in_partitions(
                        blocks[segment] + starts[segment], lengths[segment], shift, first_partition, offsets,
                        &destinations[0] + row)
                    row += lengths[segment]
                end_partitions(offsets)
    if not have_partitions:
        raise ValueError("a row belongs to none of the partitions")


def scatter_segments(
    ColumnBlocks column not None, const int64_t[::1] starts, const int64_t[::1] lengths,
    const uint32_t[::1] destinations, column_t[::1] out
):
    """As scatter, for a column in several segments (see partition_segments)."""
    cdef Py_ssize_t segment, i
    cdef Py_ssize_t row = 0
    cdef const column_t* values
    cdef Py_ssize_t n_rows = check_segments(b"column", column, starts, lengths, sizeof(column_t))
    need_length(b"destinations", destinations.shape[0], n_rows)
    if n_rows == 0:
        return
    need_below(b"destinations", &destinations[0], n_rows, out.shape[0])
    with nogil:
        for segment in range(lengths.shape[0]):
            values = <const column_t*>column.starts[segment] + starts[segment]
            for i in range(lengths[segment]):
                out[destinations[row]] = values[i]
                row += 1


cdef void begin_digits(uint32_t* counts) noexcept nogil:
    """Replace the rows of every digit by the rows before it."""
    cdef Py_ssize_t i
    cdef uint32_t before = 0
    cdef uint32_t count
    for i in range(DIGIT_VALUES):
        count = counts[i]
        counts[i] = before
        before += count


def order_segments(
    ColumnBlocks hashes not None, const int64_t[::1] starts, const int64_t[::1] lengths, uint64_t first, int shift,
    uint32_t[::1] words, uint32_t[::1] destinations
):
    """Write the destinations of rows in several segments (see partition_segments) in the order of their hashes.

    A stable radix sort by the highest 20 bits of (hash - first) << shift: few rows stand between those of one hash.
    `words` is working memory, one of each row. There are at most 2**21 rows.
    """
    cdef Py_ssize_t segment, i
    cdef uint32_t row = 0
    cdef uint32_t digits, word
    cdef uint32_t low[DIGIT_VALUES]
    cdef uint32_t high[DIGIT_VALUES]
    cdef const uint64_t* own
    cdef Py_ssize_t n = check_segments(b"hashes", hashes, starts, lengths, 8)
    need_length(b"words", words.shape[0], n)
    need_length(b"destinations", destinations.shape[0], n)
    if n > MOST_ORDERED_ROWS or not 0 <= shift < 64:
        raise ValueError(f"{n} rows, of which there are at most {MOST_ORDERED_ROWS}, or a shift by {shift} bits")
    with nogil:
        memset(low, 0, sizeof(low))
        memset(high, 0, sizeof(high))
        for segment in range(lengths.shape[0]):
            own = <const uint64_t*>hashes.starts[segment] + starts[segment]
            for i in range(lengths[segment]):
                digits = <uint32_t>(((own[i] - first) << shift) >> (64 - 2 * DIGIT_BITS))
                low[digits & (DIGIT_VALUES - 1)] += 1
                high[digits >> DIGIT_BITS] += 1
        begin_digits(low)
        begin_digits(high)
        for segment in range(lengths.shape[0]):
            own = <const uint64_t*>hashes.starts[segment] + starts[segment]
            for i in range(lengths[segment]):
                digits = <uint32_t>(((own[i] - first) << shift) >> (64 - 2 * DIGIT_BITS))
                words[low[digits & (DIGIT_VALUES - 1)]] = digits >> DIGIT_BITS << ROW_BITS | row
                low[digits & (DIGIT_VALUES - 1)] += 1
                row += 1
        for i in range(n):
            word = words[i]
            destinations[word & (MOST_ORDERED_ROWS - 1)] = high[word >> ROW_BITS]
            high[word >> ROW_BITS] += 1


def place_keys(
    ColumnBlocks hashes not None, ColumnBlocks heads or None, ColumnBlocks tails or None, const int64_t[::1] starts,
    const int64_t[::1] lengths, uint64_t[::1] out
):
    """out[row] = a hash of the whole key that depends on the seeds of the process, for columns in several segments.

    Other than the hashes of rows, which are fixed, it separates keys that somebody prepared. Keys that are single
    numbers have no heads, pairs of numbers no tails.
    """
    cdef Py_ssize_t segment, i
    cdef Py_ssize_t row = 0
    cdef bint has_heads = heads is not None
    cdef bint has_tails = tails is not None
    cdef const uint64_t* own_hashes
    cdef const uint64_t* own_heads = NULL
    cdef const uint64_t* own_tails = NULL
    need_length(b"out", out.shape[0], check_segments(b"hashes", hashes, starts, lengths, 8))
    if has_heads:
        check_segments(b"heads", heads, starts, lengths, 8)
    if has_tails:
        check_segments(b"tails", tails, starts, lengths, 8)
    if has_tails and not has_heads:
        raise ValueError("tails without heads")
    with nogil:
        for segment in range(lengths.shape[0]):
            own_hashes = <const uint64_t*>hashes.starts[segment] + starts[segment]
            if has_heads:
                own_heads = <const uint64_t*>heads.starts[segment] + starts[segment]
            if has_tails:
                own_tails = <const uint64_t*>tails.starts[segment] + starts[segment]
            for i in range(lengths[segment]):
                if not has_heads:
                    out[row] = table_hash(own_hashes[i])
                elif not has_tails:
                    out[row] = table_hash_pair(own_hashes[i], own_heads[i])
                else:
                    out[row] = place_slot(own_heads[i], own_tails[i])
                row += 1


def order_by_slice(const uint16_t[::1] slices, int64_t[::1] starts, uint32_t[::1] destinations):
    """Stable counting sort of a block by slice. Writes where each slice starts and every row's destination.

    There are starts.shape[0] - 1 slices, numbered from 0.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n_slices = starts.shape[0] - 1
    cdef int64_t total = 0
    cdef int64_t count
    need_length(b"starts", starts.shape[0], 1)
    need_length(b"destinations", destinations.shape[0], slices.shape[0])
    if slices.shape[0]:
        need_below(b"slices", &slices[0], slices.shape[0], n_slices)
    with nogil:
        for i in range(n_slices + 1):
            starts[i] = 0
        for i in range(slices.shape[0]):
            starts[slices[i]] += 1
        for i in range(n_slices):
            count = starts[i]
            starts[i] = total
            total += count
        for i in range(slices.shape[0]):
            destinations[i] = <uint32_t>starts[slices[i]]
            starts[slices[i]] += 1
        i = n_slices
        while i > 0:
            starts[i] = starts[i - 1]
            i -= 1
        starts[0] = 0


def mark_rows_of_key(
    const uint64_t[::1] hashes, const uint64_t[::1] heads, const uint64_t[::1] tails, uint64_t hash_, uint64_t head,
    uint64_t tail, uint8_t[::1] out
):
    """out[i] = 1 if row i has the given key, else 0. heads and tails are empty for integer keys."""
    cdef Py_ssize_t i
    cdef bint has_text = heads.shape[0] > 0
    need_length(b"out", out.shape[0], hashes.shape[0])
    if has_text:
        need_length(b"heads", heads.shape[0], hashes.shape[0])
        need_length(b"tails", tails.shape[0], hashes.shape[0])
    with nogil:
        for i in range(hashes.shape[0]):
            out[i] = hashes[i] == hash_ and (not has_text or same_text_slot(heads[i], tails[i], head, tail))


def scatter(const column_t[::1] column, const uint32_t[::1] destinations, column_t[::1] out):
    """out[destinations[i]] = column[i]. Columns are passed as unsigned integers of their width."""
    cdef Py_ssize_t i
    need_length(b"column", column.shape[0], destinations.shape[0])
    if destinations.shape[0]:
        need_below(b"destinations", &destinations[0], destinations.shape[0], out.shape[0])
    with nogil:
        for i in range(destinations.shape[0]):
            out[destinations[i]] = column[i]


def encode_utf8(const uint32_t[:, ::1] codes, int64_t[::1] out_offsets, uint8_t[::1] out) -> int:
    """Encode NumPy's fixed-width text (rows of code points, padded with zeros) as UTF-8 with offsets.

    out has 4 bytes per code point. Returns -1, or the first row with a surrogate or with a value that is not a code
    point.
    """
    cdef Py_ssize_t i, j, length
    cdef Py_ssize_t width = codes.shape[1]
    cdef Py_ssize_t bad = -1
    cdef uint32_t code
    cdef int64_t position = 0
    need_length(b"out_offsets", out_offsets.shape[0], codes.shape[0] + 1)
    need_length(b"out", out.shape[0], 4 * codes.shape[0] * width)
    with nogil:
        out_offsets[0] = 0
        for i in range(codes.shape[0]):
            length = width
            while length > 0 and codes[i, length - 1] == 0:
                length -= 1
            for j in range(length):
                code = codes[i, j]
                if code < ASCII_END:
                    out[position] = <uint8_t>code
                    position += 1
                elif code < TWO_BYTES_END:
                    out[position] = <uint8_t>(0xC0 | (code >> 6))
                    out[position + 1] = <uint8_t>(0x80 | (code & 0x3F))
                    position += 2
                elif code < THREE_BYTES_END:
                    if 0xD800 <= code < 0xE000:
                        bad = i
                        break
                    out[position] = <uint8_t>(0xE0 | (code >> 12))
                    out[position + 1] = <uint8_t>(0x80 | ((code >> 6) & 0x3F))
                    out[position + 2] = <uint8_t>(0x80 | (code & 0x3F))
                    position += 3
                elif code < 0x110000:
                    out[position] = <uint8_t>(0xF0 | (code >> 18))
                    out[position + 1] = <uint8_t>(0x80 | ((code >> 12) & 0x3F))
                    out[position + 2] = <uint8_t>(0x80 | ((code >> 6) & 0x3F))
                    out[position + 3] = <uint8_t>(0x80 | (code & 0x3F))
                    position += 4
                else:
                    bad = i
                    break
            if bad >= 0:
                break
            out_offsets[i + 1] = position
    return bad
