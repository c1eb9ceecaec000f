/* The mixing function of SplitMix64 (S. Vigna). A sequence that starts at s has the words mix(s + i * increment). */
#ifndef FASTMETRICS_NUMERIC_SPLITMIX64_H
#define FASTMETRICS_NUMERIC_SPLITMIX64_H

#include <stdint.h>

#define FM_SPLITMIX64_INCREMENT UINT64_C(0x9E3779B97F4A7C15)
#define FM_FIRST_FACTOR UINT64_C(0xBF58476D1CE4E5B9)
#define FM_SECOND_FACTOR UINT64_C(0x94D049BB133111EB)

static inline uint64_t fm_splitmix64_mix(uint64_t word) {
    word = (word ^ (word >> 30)) * FM_FIRST_FACTOR;
    word = (word ^ (word >> 27)) * FM_SECOND_FACTOR;
    return word ^ (word >> 31);
}

#endif
