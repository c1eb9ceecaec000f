/* Prefetches memory that is needed soon. */

#ifndef FASTMETRICS_RESAMPLING_PREFETCH_H
#define FASTMETRICS_RESAMPLING_PREFETCH_H

static inline void fm_prefetch(const void *memory)
{
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(memory);
#else
    (void)memory;
#endif
}

#endif
