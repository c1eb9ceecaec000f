/* Hashes of the tables in memory. They depend on random words of the process, so that nobody can prepare keys that
 * collide: what a key adds is multiplied by what nobody knows, and both halves of the product count. The numbers that
 * tables give do not depend on these hashes. Hashes that files, exchanges or units depend on are others, and fixed.
 */
#ifndef FASTMETRICS_NUMERIC_TABLEHASH_H
#define FASTMETRICS_NUMERIC_TABLEHASH_H

#include <stdint.h>
#include <string.h>
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))
#include <intrin.h>
#endif

#define FM_TABLE_SEEDS 4

/* Each kernel points to the words of table_seeds.py when it is loaded. */
static const uint64_t fm_no_table_seeds[FM_TABLE_SEEDS];
static const uint64_t* fm_table_seeds = fm_no_table_seeds;

static inline void fm_use_table_seeds(const void* seeds) { fm_table_seeds = (const uint64_t*)seeds; }

/* The xor of both halves of the product. */
static inline uint64_t fm_fold_product(uint64_t x, uint64_t y) {
#if defined(__SIZEOF_INT128__)
    unsigned __int128 product = (unsigned __int128)x * y;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))
    return (x * y) ^ __umulh(x, y);
#else
    const uint64_t mask = UINT64_C(0xffffffff);
    uint64_t low = (x & mask) * (y & mask);
    uint64_t first = (x >> 32) * (y & mask) + (low >> 32);
    uint64_t second = (x & mask) * (y >> 32) + (first & mask);
    return (x * y) ^ ((x >> 32) * (y >> 32) + (first >> 32) + (second >> 32));
#endif
}

/* Both factors depend on the key: with one of them fixed, keys at equal distances would be at equal distances again. */
static inline uint64_t fm_table_hash(uint64_t key) {
    return fm_fold_product(key ^ fm_table_seeds[0], (key << 32 | key >> 32) ^ fm_table_seeds[1]);
}

static inline uint64_t fm_table_seed(int number) { return fm_table_seeds[number]; }

static inline uint64_t fm_table_hash_pair(uint64_t first, uint64_t second) {
    uint64_t state = fm_fold_product(first ^ fm_table_seeds[0], second ^ fm_table_seeds[1]);
    return fm_fold_product(state ^ fm_table_seeds[2], (state << 32 | state >> 32) ^ fm_table_seeds[3]);
}

static inline uint64_t fm_word_at(const uint8_t* bytes) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    return word;
}

/* The hash of `length` bytes. No other byte is read. */
static inline uint64_t fm_table_hash_bytes(const uint8_t* bytes, int64_t length) {
    const uint8_t* end = bytes + length;
    uint64_t state = (uint64_t)length ^ fm_table_seeds[2], first = 0, second = 0;
    uint32_t low, high;
    if (length > 16) {
        for (; end - bytes > 16; bytes += 16)
            state = fm_fold_product(fm_word_at(bytes) ^ fm_table_seeds[0], fm_word_at(bytes + 8) ^ state);
        first = fm_word_at(end - 16);
        second = fm_word_at(end - 8);
    } else if (length >= 8) {
        first = fm_word_at(bytes);
        second = fm_word_at(end - 8);
    } else if (length >= 4) {
        memcpy(&low, bytes, 4);
        memcpy(&high, end - 4, 4);
        first = (uint64_t)high << 32 | low;
    } else if (length > 0) {
        first = (uint64_t)bytes[length - 1] << 16 | (uint64_t)bytes[length >> 1] << 8 | bytes[0];
    }
    return fm_table_hash_pair(first, second ^ state);
}

#endif
