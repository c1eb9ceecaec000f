/* Ambiguous word matches of METEOR: selects those with the fewest crossings and then the fewest chunks.

   Items. An item is a set of words of the hypothesis and of the reference that can be matched with each other. In a
   GROUP every word can be matched with every other; mostly these are occurrences of one word. So all words of the
   smaller side are matched, and `slack` words of the larger side remain unmatched. If two matches of a group cross,
   exchanging their ends adds no crossing and removes this one. So the best matches of a group never cross each other,
   and the only choice is which words remain. In other items (synonyms that are not transitive) each word of the
   hypothesis has its own mask, and `slack` is the number of words that a maximum matching leaves unmatched.

   Costs. Matches cost FM_CROSSING_COST for every pair that crosses, less 1 for every pair that is adjacent in both
   texts, because such a pair saves a chunk. The fixed matches (
       of earlier stages, and of items without a choice
   ) determine a
   cost for every possible match. From these, a table per group has the least cost of its remaining words, whatever the
   other groups do.

   Search. The words of the hypothesis in all items are the layers, decided from left to right. A state is the set of
   used words of the reference, and the last match if the next word can be adjacent to it. Equal states are merged: the
   cheaper one stays, and of equally cheap ones the one generated first. States that cannot become as cheap as the
   separate optima of all items together are dropped. The search is exact unless a layer has more than `width` states.
   Then only the most promising states continue (a beam). Sizes beyond any sentence use simpler rules, see LIMITS. */

#ifndef FASTMETRICS_TEXT_METEOR_CROSSINGS_H
#define FASTMETRICS_TEXT_METEOR_CROSSINGS_H

#include "numeric/bit_count.h"
#include "numeric/table_hash.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FM_CROSSING_COST ((int64_t)1 << 20)
#define FM_INFINITE ((int64_t)1 << 60)

/* LIMITS */
#define FM_MAX_CELLS ((int64_t)1 << 20)  /* cells of all tables; a group beyond is matched in order */
#define FM_MAX_TOKENS ((int64_t)1 << 20) /* tokens of a text; in a longer one all groups are matched in order */
#define FM_MAX_LAYERS 4096               /* layers; beyond, every item has its separate optimum */
#define FM_MAX_REFERENCE_WORDS 1024      /* words of the reference in all items; likewise */
#define FM_MAX_STATES 65536              /* approximate number of states; it limits the width of the beam */
#define FM_MAX_WIDTH 1024
#define FM_MAX_MASKED_WORDS 64           /* words on either side of an item that is not a group */

typedef struct {
    int64_t h, n_h; /* its words: a range of h_positions, and one of r_positions; ascending */
    int64_t r, n_r;
    int64_t slack;
    int64_t cell;    /* first cell of its table */
    int64_t edges;   /* first of its masks; -1: a group */
    int64_t decided; /* number of its words that have a layer */
} fm_item;

typedef struct {
    int64_t cost, bound, last, sequence;
    int64_t parent, choice;
} fm_state;

typedef struct {
    fm_item* items;
    int64_t n_items, item_capacity;
    int64_t* h_positions;
    int64_t n_h, h_capacity;
    int64_t* r_positions;
    int64_t n_r, r_capacity;
    uint64_t* edges;
    int64_t n_edges, edge_capacity;
    int64_t* memory;
    int64_t capacity;
    int64_t* back;
    int64_t n_back, back_capacity;
    char* states;
    int64_t state_capacity;
    int exact;
    /* arrays of one alignment, inside `memory` */
    int64_t n_layers, n_r_words, n_words, width, max_options;
    int64_t *layer_h, *layer_item, *layer_s, *potential, *choice, *separate, *bit, *n_fixed_before,
        *tree, *match_cost, *min_cost;
} fm_crossings;

static inline int fm_reserve(void** memory, int64_t* capacity, int64_t needed, size_t size) {
    void* larger;
    if (needed <= *capacity) return 1;
    needed += needed / 2 + 64;
    larger = realloc(*memory, (size_t)needed * size);
    if (larger == NULL) return 0;
    *memory = larger;
    *capacity = needed;
    return 1;
}

static void fm_free_crossings(fm_crossings* work) {
    free(work->items);
    free(work->h_positions);
    free(work->r_positions);
    free(work->edges);
    free(work->memory);
    free(work->back);
    free(work->states);
}

/* --------------------------------------------------------------------------------------------------- adding items */

static void fm_clear_items(fm_crossings* work) {
    work->n_items = work->n_h = work->n_r = work->n_edges = 0;
    work->exact = 1;
}

static int fm_add_item(fm_crossings* work, const int64_t* h, int64_t n_h, const int64_t* r, int64_t n_r) {
    fm_item* item;
    if (!fm_reserve((void**)&work->items, &work->item_capacity, work->n_items + 1, sizeof(fm_item))) return 0;
    if (!fm_reserve((void**)&work->h_positions, &work->h_capacity, work->n_h + n_h, sizeof(int64_t))) return 0;
    if (!fm_reserve((void**)&work->r_positions, &work->r_capacity, work->n_r + n_r, sizeof(int64_t))) return 0;
    item = &work->items[work->n_items++];
    item->h = work->n_h;
    item->n_h = n_h;
    item->r = work->n_r;
    item->n_r = n_r;
    item->slack = n_h > n_r ? n_h - n_r : n_r - n_h;
    item->edges = -1;
    item->decided = 0;
    memcpy(work->h_positions + work->n_h, h, (size_t)n_h * sizeof(int64_t));
    memcpy(work->r_positions + work->n_r, r, (size_t)n_r * sizeof(int64_t));
    work->n_h += n_h;
    work->n_r += n_r;
    return 1;
}

/* Makes the last item one that is not a group. Every word of its hypothesis side has a mask of reference words. */
static int fm_add_edges(fm_crossings* work, const uint64_t* masks) {
    fm_item* item = &work->items[work->n_items - 1];
    if (!fm_reserve((void**)&work->edges, &work->edge_capacity, work->n_edges + item->n_h, sizeof(uint64_t))) return 0;
    memcpy(work->edges + work->n_edges, masks, (size_t)item->n_h * sizeof(uint64_t));
    item->edges = work->n_edges;
    work->n_edges += item->n_h;
    return 1;
}

/* ----------------------------------------------------------------------------------------------- maximum matchings */

static int fm_augment(const uint64_t* masks, int64_t h, uint64_t* visited, int64_t* matched_with) {
    uint64_t candidates;
    while ((candidates = masks[h] & ~*visited) != 0) {
        int64_t t = fm_bit_count((candidates & (0 - candidates)) - 1);
        *visited |= (uint64_t)1 << t;
        if (matched_with[t] < 0 || fm_augment(masks, matched_with[t], visited, matched_with)) {
            matched_with[t] = h;
            return 1;
        }
    }
    return 0;
}

/* Finds a maximum matching of an item that is not a group, by Kuhn's augmenting paths. match[s] is an index of
   r_positions or -1. Returns its size. */
static int64_t fm_maximum_matching(const fm_crossings* work, const fm_item* item, int64_t* match) {
    int64_t matched_with[FM_MAX_MASKED_WORDS], s, t, size = 0;
    for (t = 0; t < item->n_r; t++) matched_with[t] = -1;
    for (s = 0; s < item->n_h; s++) {
        uint64_t visited = 0;
        match[s] = -1;
        size += fm_augment(work->edges + item->edges, s, &visited, matched_with);
    }
    for (t = 0; t < item->n_r; t++)
        if (matched_with[t] >= 0) match[matched_with[t]] = item->r + t;
    return size;
}

/* ---------------------------------------------------------------------------------------------------- one alignment */

static inline void fm_link(fm_crossings* work, int64_t h, int64_t position, int64_t* h_link, int64_t* r_link) {
    if (position < 0) return;
    h_link[h] = work->r_positions[position];
    r_link[work->r_positions[position]] = h;
}

static inline int64_t fm_cells(const fm_item* item) {
    return item->edges >= 0 ? item->n_h * item->n_r : (item->n_h + 1) * (item->slack + 1);
}

/* Matches groups whose tables would be too large in order, first with first. */
static void fm_link_large_groups(fm_crossings* work, int64_t* h_link, int64_t* r_link, int64_t n_longest) {
    int64_t number, s, cells = 0;
    for (number = 0; number < work->n_items; number++) {
        fm_item* item = &work->items[number];
        int64_t n_matches = item->n_h < item->n_r ? item->n_h : item->n_r;
        if (item->edges < 0 && (n_longest > FM_MAX_TOKENS || item->slack >= FM_MAX_CELLS || item->n_h >= FM_MAX_CELLS
                                || cells + fm_cells(item) > FM_MAX_CELLS)) {
            for (s = 0; s < n_matches; s++) fm_link(work, work->h_positions[item->h + s], item->r + s, h_link, r_link);
            item->n_h = item->n_r = item->slack = 0;
            work->exact = 0;
            continue;
        }
        item->cell = cells;
        cells += fm_cells(item);
    }
}

static int fm_make_layers(fm_crossings* work, int64_t n_hypothesis, int64_t n_reference) {
    int64_t number, t, position, cells = 0, n_layers = 0, n_r_words = 0, needed;
    int64_t* memory;
    for (number = 0; number < work->n_items; number++) {
        cells += fm_cells(&work->items[number]);
        n_layers += work->items[number].n_h;
        n_r_words += work->items[number].n_r;
    }
    work->n_layers = n_layers;
    work->n_r_words = n_r_words;
    work->n_words = (n_r_words + 63) / 64;
    if (n_layers == 0) return 1;
    needed = 2 * cells + 5 * (n_layers + 1) + work->n_h + work->n_r + 2 * (n_reference + 2) + n_hypothesis
        + work->n_words;
    if (!fm_reserve((void**)&work->memory, &work->capacity, needed, sizeof(int64_t))) return 0;
    memory = work->memory;
    work->match_cost = memory, memory += cells;
    work->min_cost = memory, memory += cells;
    work->layer_h = memory, memory += n_layers + 1;
    work->layer_item = memory, memory += n_layers + 1;
    work->layer_s = memory, memory += n_layers + 1;
    work->potential = memory, memory += n_layers + 1;
    work->choice = memory, memory += n_layers + 1;
    work->separate = memory, memory += work->n_h;
    work->bit = memory, memory += work->n_r;
    work->n_fixed_before = memory, memory += n_reference + 2;
    work->tree = memory, memory += n_reference + 2;
    /* Layers: the words of the hypothesis in all items, in text order. */
    memset(memory, 0, (size_t)n_hypothesis * sizeof(int64_t));
    for (number = 0; number < work->n_items; number++)
        for (t = 0; t < work->items[number].n_h; t++) memory[work->h_positions[work->items[number].h + t]] = number + 1;
    n_layers = 0;
    for (position = 0; position < n_hypothesis; position++) {
        if (memory[position] == 0) continue;
        work->layer_h[n_layers] = position;
        work->layer_item[n_layers] = memory[position] - 1;
        work->layer_s[n_layers++] = work->items[memory[position] - 1].decided++;
    }
    /* Bits: the words of the reference in all items, in text order. */
    memset(work->tree, 0, (size_t)(n_reference + 2) * sizeof(int64_t));
    for (number = 0; number < work->n_items; number++)
        for (t = 0; t < work->items[number].n_r; t++)
            work->tree[work->r_positions[work->items[number].r + t]] = work->items[number].r + t + 1;
    n_r_words = 0;
    for (position = 0; position < n_reference; position++)
        if (work->tree[position]) work->bit[work->tree[position] - 1] = n_r_words++;
    memset(work->tree, 0, (size_t)(n_reference + 2) * sizeof(int64_t));
    return 1;
}

/* A Fenwick tree counts the fixed matches to the left of a word by the position of their other end. */
static inline void fm_tree_add(int64_t* tree, int64_t n, int64_t position) {
    for (position++; position <= n; position += position & -position) tree[position]++;
}

static inline int64_t fm_tree_count_below(const int64_t* tree, int64_t position) {
    int64_t count = 0;
    for (; position > 0; position -= position & -position) count += tree[position];
    return count;
}

/* Returns the cost of a match given all fixed ones. */
static inline int64_t fm_match_cost(const fm_crossings* work, int64_t h, int64_t r, int64_t n_left,
                                    const int64_t* h_link, int64_t n_hypothesis, int64_t n_reference) {
    int64_t crossings = n_left + work->n_fixed_before[r] - 2 * fm_tree_count_below(work->tree, r);
    int64_t n_adjacent = h > 0 && r > 0 && h_link[h - 1] == r - 1;
    n_adjacent += h + 1 < n_hypothesis && r + 1 < n_reference && h_link[h + 1] == r + 1;
    return crossings * FM_CROSSING_COST - n_adjacent;
}

/* Returns which word of the reference the s-th word of a group has at offset d of the table; -1: none. */
static inline int64_t fm_partner(const fm_item* item, int64_t s, int64_t d) {
    int64_t t = item->n_h < item->n_r ? s + d : s - d;
    return t >= 0 && t < item->n_r ? t : -1;
}

static void fm_compute_match_costs(
    fm_crossings* work, const int64_t* h_link, int64_t n_hypothesis, int64_t n_reference
) {
    int64_t layer, d, t, position = 0, n_left = 0;
    work->n_fixed_before[0] = 0;
    for (t = 0; t <= n_reference; t++) work->n_fixed_before[t] = 0;
    for (t = 0; t < n_hypothesis; t++)
        if (h_link[t] >= 0) work->n_fixed_before[h_link[t] + 1] = 1;
    for (t = 0; t < n_reference; t++) work->n_fixed_before[t + 1] += work->n_fixed_before[t];
    for (layer = 0; layer < work->n_layers; layer++) {
        const fm_item* item = &work->items[work->layer_item[layer]];
        int64_t h = work->layer_h[layer], s = work->layer_s[layer];
        for (; position < h; position++) {
            if (h_link[position] < 0) continue;
            fm_tree_add(work->tree, n_reference, h_link[position]);
            n_left++;
        }
        if (item->edges >= 0) {
            for (t = 0; t < item->n_r; t++)
                work->match_cost[item->cell + s * item->n_r + t] =
                    fm_match_cost(work, h, work->r_positions[item->r + t], n_left, h_link, n_hypothesis, n_reference);
            continue;
        }
        for (d = 0; d <= item->slack; d++) {
            t = fm_partner(item, s, d);
            work->match_cost[item->cell + s * (item->slack + 1) + d] =
                t < 0 ? FM_INFINITE
                      : fm_match_cost(
                          work, h, work->r_positions[item->r + t], n_left, h_link, n_hypothesis, n_reference
                      );
        }
    }
}

/* min_cost[s][d]: the least cost of the words from the s-th on, if d words of the larger side are unmatched so far. */
static void fm_compute_min_costs(fm_crossings* work, const fm_item* item) {
    int64_t stride = item->slack + 1, s, d;
    const int64_t* match_cost = work->match_cost + item->cell;
    int64_t* min_cost = work->min_cost + item->cell;
    for (d = 0; d < stride; d++)
        min_cost[item->n_h * stride + d] = item->n_h < item->n_r || d == item->slack ? 0 : FM_INFINITE;
    for (s = item->n_h - 1; s >= 0; s--) {
        for (d = item->slack; d >= 0; d--) {
            int64_t unmatched = FM_INFINITE, matched = FM_INFINITE;
            if (d < item->slack)
                unmatched = item->n_h < item->n_r ? min_cost[s * stride + d + 1] : min_cost[(s + 1) * stride + d + 1];
            if (match_cost[s * stride + d] < FM_INFINITE && min_cost[(s + 1) * stride + d] < FM_INFINITE)
                matched = match_cost[s * stride + d] + min_cost[(s + 1) * stride + d];
            min_cost[s * stride + d] = matched < unmatched ? matched : unmatched;
        }
    }
}

/* Traces the separate optimum of a group. match[s] is an index of r_positions or -1. */
static void fm_trace_optimum(const fm_crossings* work, const fm_item* item, int64_t* match) {
    int64_t stride = item->slack + 1, s, d = 0;
    const int64_t* match_cost = work->match_cost + item->cell;
    const int64_t* min_cost = work->min_cost + item->cell;
    for (s = 0; s < item->n_h; s++) {
        if (item->n_h < item->n_r) {
            while (match_cost[s * stride + d] + min_cost[(s + 1) * stride + d] != min_cost[s * stride + d]) d++;
            match[s] = item->r + s + d;
        } else if (match_cost[s * stride + d] < FM_INFINITE
                   && match_cost[s * stride + d] + min_cost[(s + 1) * stride + d] == min_cost[s * stride + d]) {
            match[s] = item->r + s - d;
        } else {
            match[s] = -1;
            d++;
        }
    }
}

static inline int64_t fm_match_cost_at(const fm_crossings* work, const fm_item* item, int64_t s, int64_t position) {
    int64_t t = position - item->r;
    if (item->edges >= 0) return work->match_cost[item->cell + s * item->n_r + t];
    return work->match_cost[item->cell + s * (item->slack + 1) + (item->n_h < item->n_r ? t - s : s - t)];
}

static inline int64_t fm_count_used_above(const uint64_t* used, int64_t n_words, int64_t bit) {
    int64_t word = bit >> 6, count = fm_bit_count((used[word] >> (bit & 63)) >> 1);
    for (word++; word < n_words; word++) count += fm_bit_count(used[word]);
    return count;
}

/* Writes the separate optimum of each item to `choice`, by layer. Returns the cost of all of them together. */
static int64_t fm_choose_separately(fm_crossings* work, int with_cost) {
    int64_t number, layer, cost = 0, last = -1;
    uint64_t* used = (uint64_t*)work->tree;
    for (number = 0; number < work->n_items; number++) {
        fm_item* item = &work->items[number];
        if (item->n_h == 0) continue;
        if (item->edges < 0) {
            fm_compute_min_costs(work, item);
            fm_trace_optimum(work, item, work->separate + item->h);
        } else {
            item->slack = item->n_h - fm_maximum_matching(work, item, work->separate + item->h);
        }
    }
    for (layer = 0; layer < work->n_layers; layer++)
        work->choice[layer] = work->separate[work->items[work->layer_item[layer]].h + work->layer_s[layer]];
    if (!with_cost) return 0;
    memset(used, 0, (size_t)work->n_words * sizeof(uint64_t));
    for (layer = 0; layer < work->n_layers; layer++) {
        int64_t position = work->choice[layer], bit;
        const fm_item* item = &work->items[work->layer_item[layer]];
        if (position < 0) continue;
        bit = work->bit[position];
        cost += fm_match_cost_at(work, item, work->layer_s[layer], position);
        cost += FM_CROSSING_COST * fm_count_used_above(used, work->n_words, bit);
        used[bit >> 6] |= (uint64_t)1 << (bit & 63);
        if (layer > 0 && work->layer_h[layer - 1] + 1 == work->layer_h[layer]) {
            last = work->choice[layer - 1];
            if (last >= 0 && work->r_positions[last] + 1 == work->r_positions[position]) cost--;
        }
    }
    return cost;
}

/* potential[layer]: how far the cost of the layers from there on can be below the bounds, by adjacent matches and by
   the items that are not groups. Returns the number of options of all layers. */
static int64_t fm_compute_potentials(fm_crossings* work) {
    int64_t layer, t, options = 0;
    work->max_options = 1;
    work->potential[work->n_layers] = 0;
    for (layer = work->n_layers - 1; layer >= 0; layer--) {
        const fm_item* item = &work->items[work->layer_item[layer]];
        int64_t gain = 0, layer_options;
        if (layer > 0 && work->layer_h[layer - 1] + 1 == work->layer_h[layer]) gain = 1;
        if (item->edges >= 0) {
            int64_t lowest = 0;
            for (t = 0; t < item->n_r; t++) {
                int64_t cost = work->match_cost[item->cell + work->layer_s[layer] * item->n_r + t];
                if (cost < lowest) lowest = cost;
            }
            gain -= lowest;
            layer_options = item->n_r + 1;
        } else {
            layer_options = item->n_h < item->n_r ? item->slack + 1 : 2;
        }
        work->potential[layer] = work->potential[layer + 1] + gain;
        options += layer_options;
        if (layer_options > work->max_options) work->max_options = layer_options;
    }
    return options;
}

/* ------------------------------------------------------------------------------------------------- states by layers */

typedef struct {
    fm_state* states;
    uint64_t* used;
    int64_t n;
} fm_state_set;

typedef struct {
    fm_crossings* work;
    fm_state_set from, into;
    int64_t* table; /* hash table: 1 + index of a state of `into` */
    int64_t n_slots, limit, sequence, layer, n_words;
} fm_search;

static inline int fm_is_used(const uint64_t* used, int64_t bit) { return (int)(used[bit >> 6] >> (bit & 63) & 1); }

static inline uint64_t fm_hash_state(const uint64_t* used, int64_t n_words, int64_t last) {
    return fm_table_hash_pair(fm_table_hash_bytes((const uint8_t*)used, 8 * n_words), (uint64_t)last);
}

/* Adds the state in which the word of the layer is matched with an index of r_positions, or with none (-1). */
static void fm_add_state(fm_search* search, int64_t parent, int64_t position, int64_t cost_of_match, int64_t bound) {
    fm_crossings* work = search->work;
    const fm_state* parent_state = &search->from.states[parent];
    const uint64_t* parent_used = search->from.used + parent * search->n_words;
    uint64_t* used = search->into.used + search->into.n * search->n_words;
    int64_t cost = parent_state->cost, last = -1, sequence = search->sequence++, slot, layer = search->layer;
    fm_state* state;
    if (position >= 0) {
        int64_t bit = work->bit[position];
        cost += cost_of_match + FM_CROSSING_COST * fm_count_used_above(parent_used, search->n_words, bit);
        if (parent_state->last >= 0 && parent_state->last + 1 == work->r_positions[position]) cost--;
    }
    if (cost + bound - work->potential[layer + 1] > search->limit) return;
    memcpy(used, parent_used, (size_t)search->n_words * sizeof(uint64_t));
    if (position >= 0) {
        used[work->bit[position] >> 6] |= (uint64_t)1 << (work->bit[position] & 63);
        if (layer + 1 < work->n_layers && work->layer_h[layer + 1] == work->layer_h[layer] + 1)
            last = work->r_positions[position];
    }
    slot = (int64_t)(fm_hash_state(used, search->n_words, last) & (uint64_t)(search->n_slots - 1));
    while (search->table[slot]) {
        int64_t number = search->table[slot] - 1;
        state = &search->into.states[number];
        if (state->last == last
            && memcmp(search->into.used + number * search->n_words, used, (size_t)search->n_words * 8) == 0) {
            if (state->cost <= cost) return;
            state->cost = cost;
            state->sequence = sequence;
            state->parent = parent;
            state->choice = position;
            return;
        }
        slot = (slot + 1) & (search->n_slots - 1);
    }
    search->table[slot] = search->into.n + 1;
    state = &search->into.states[search->into.n++];
    state->cost = cost;
    state->bound = bound;
    state->last = last;
    state->sequence = sequence;
    state->parent = parent;
    state->choice = position;
}

static void fm_expand(fm_search* search, int64_t parent) {
    fm_crossings* work = search->work;
    const fm_item* item = &work->items[work->layer_item[search->layer]];
    const uint64_t* used = search->from.used + parent * search->n_words;
    int64_t s = work->layer_s[search->layer], bound = search->from.states[parent].bound, t, d = 0;
    int64_t stride = item->slack + 1;
    const int64_t* match_cost = work->match_cost + item->cell;
    const int64_t* min_cost = work->min_cost + item->cell;
    if (item->edges >= 0) {
        int64_t matched = 0;
        for (t = 0; t < item->n_r; t++) matched += fm_is_used(used, work->bit[item->r + t]);
        for (t = 0; t < item->n_r; t++)
            if ((work->edges[item->edges + s] >> t & 1) && !fm_is_used(used, work->bit[item->r + t]))
                fm_add_state(search, parent, item->r + t, match_cost[s * item->n_r + t], bound);
        if (s - matched < item->slack) fm_add_state(search, parent, -1, 0, bound);
        return;
    }
    if (item->n_h < item->n_r) {
        if (s > 0) {
            for (d = item->slack; d > 0; d--)
                if (fm_is_used(used, work->bit[item->r + s - 1 + d])) break;
        }
        bound -= min_cost[s * stride + d];
        for (; d <= item->slack; d++)
            fm_add_state(
                search, parent, item->r + s + d, match_cost[s * stride + d], bound + min_cost[(s + 1) * stride + d]
            );
        return;
    }
    t = s > item->slack ? s - item->slack : 0;
    while (t < s && t < item->n_r && fm_is_used(used, work->bit[item->r + t])) t++;
    d = s - t;
    bound -= min_cost[s * stride + d];
    if (t < item->n_r && min_cost[(s + 1) * stride + d] < FM_INFINITE)
        fm_add_state(search, parent, item->r + t, match_cost[s * stride + d], bound + min_cost[(s + 1) * stride + d]);
    if (d < item->slack && min_cost[(s + 1) * stride + d + 1] < FM_INFINITE)
        fm_add_state(search, parent, -1, 0, bound + min_cost[(s + 1) * stride + d + 1]);
}

typedef struct {
    int64_t key, sequence, number;
} fm_rank;

static int fm_compare_keys(const void* one, const void* other) {
    const fm_rank *a = (const fm_rank*)one, *b = (const fm_rank*)other;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static int fm_compare_sequence(const void* one, const void* other) {
    const fm_rank *a = (const fm_rank*)one, *b = (const fm_rank*)other;
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

/* Sorts the new states by sequence number. If there are too many, only the most promising ones are kept. */
static void fm_rank_states(fm_search* search, fm_rank* ranks) {
    fm_crossings* work = search->work;
    int64_t number, n = search->into.n;
    int sorted = 1;
    for (number = 0; number < n; number++) {
        const fm_state* state = &search->into.states[number];
        ranks[number].key = state->cost + state->bound;
        ranks[number].sequence = state->sequence;
        ranks[number].number = number;
        if (number && ranks[number - 1].sequence > state->sequence) sorted = 0;
    }
    if (n > work->width) {
        qsort(ranks, (size_t)n, sizeof(fm_rank), fm_compare_keys);
        n = work->width;
        work->exact = 0;
        sorted = 0;
    }
    if (!sorted) qsort(ranks, (size_t)n, sizeof(fm_rank), fm_compare_sequence);
    search->into.n = n;
}

/* Decides all layers, and writes the result to `choice`. Returns 0 if memory is exhausted. */
static int fm_decide_layers(fm_crossings* work, int64_t limit) {
    int64_t options = fm_compute_potentials(work), layer, number, n_raw, best, n_words = work->n_words,
            raw_capacity, order_capacity, slots;
    int64_t bytes, entry;
    char* memory;
    fm_search search;
    fm_state_set swap;
    fm_rank* ranks;
    int64_t* order;
    int64_t* layer_back;
    work->width = FM_MAX_STATES / options;
    if (work->width > FM_MAX_WIDTH) work->width = FM_MAX_WIDTH;
    if (work->width < 1) work->width = 1;
    raw_capacity = work->width * work->max_options + 1;
    order_capacity = raw_capacity;
    for (slots = 64; slots < 2 * raw_capacity; slots *= 2) {}
    bytes = 2 * raw_capacity * (int64_t)(sizeof(fm_state) + (size_t)n_words * 8)
        + raw_capacity * (int64_t)sizeof(fm_rank) + order_capacity * 8 + slots * 8 + work->n_layers * 8;
    if (!fm_reserve((void**)&work->states, &work->state_capacity, bytes, 1)) return 0;
    memory = work->states;
    search.work = work;
    search.n_words = n_words;
    search.limit = limit;
    search.from.states = (fm_state*)memory;
    search.into.states = search.from.states + raw_capacity;
    ranks = (fm_rank*)(search.into.states + raw_capacity);
    search.from.used = (uint64_t*)(ranks + raw_capacity);
    search.into.used = search.from.used + raw_capacity * n_words;
    order = (int64_t*)(search.into.used + raw_capacity * n_words);
    search.table = order + order_capacity;
    layer_back = search.table + slots;
    memset(search.from.used, 0, (size_t)n_words * 8);
    search.from.n = 1;
    search.from.states[0].cost = 0;
    search.from.states[0].last = -1;
    search.from.states[0].bound = 0;
    order[0] = 0;
    for (number = 0; number < work->n_items; number++)
        if (work->items[number].n_h && work->items[number].edges < 0)
            search.from.states[0].bound += work->min_cost[work->items[number].cell];
    work->n_back = 0;
    for (layer = 0; layer < work->n_layers; layer++) {
        search.layer = layer;
        search.into.n = 0;
        search.sequence = 0;
        for (search.n_slots = 64; search.n_slots < 2 * search.from.n * work->max_options; search.n_slots *= 2) {}
        memset(search.table, 0, (size_t)search.n_slots * 8);
        for (number = 0; number < search.from.n; number++) fm_expand(&search, order[number]);
        n_raw = search.into.n;
        if (n_raw == 0) break; /* the beam missed all maximum matchings: keep the separate optima */
        fm_rank_states(&search, ranks);
        layer_back[layer] = work->n_back;
        if (!fm_reserve((void**)&work->back, &work->back_capacity, work->n_back + 2 * n_raw, sizeof(int64_t))) return 0;
        for (number = 0; number < n_raw; number++) {
            work->back[work->n_back++] = search.into.states[number].parent;
            work->back[work->n_back++] = search.into.states[number].choice;
        }
        for (number = 0; number < search.into.n; number++) order[number] = ranks[number].number;
        swap = search.from;
        search.from = search.into;
        search.into = swap;
    }
    if (layer == work->n_layers) {
        best = order[0];
        for (number = 1; number < search.from.n; number++)
            if (search.from.states[order[number]].cost < search.from.states[best].cost) best = order[number];
        for (layer = work->n_layers - 1; layer >= 0; layer--) {
            entry = layer_back[layer] + 2 * best;
            work->choice[layer] = work->back[entry + 1];
            best = work->back[entry];
        }
    }
    return 1;
}

/* Matches the words of all items. h_link and r_link have the fixed matches and -1 elsewhere. Returns 0 if memory is
   exhausted. */
static int fm_resolve(fm_crossings* work, int64_t* h_link, int64_t n_hypothesis, int64_t* r_link, int64_t n_reference) {
    int64_t layer, limit, neighbors = 0;
    int large;
    if (work->n_items == 0) return 1;
    fm_link_large_groups(work, h_link, r_link, n_hypothesis > n_reference ? n_hypothesis : n_reference);
    if (!fm_make_layers(work, n_hypothesis, n_reference)) return 0;
    if (work->n_layers == 0) return 1;
    fm_compute_match_costs(work, h_link, n_hypothesis, n_reference);
    for (layer = 1; layer < work->n_layers; layer++) neighbors += work->layer_h[layer - 1] + 1 == work->layer_h[layer];
    large = work->n_layers > FM_MAX_LAYERS || work->n_r_words > FM_MAX_REFERENCE_WORDS;
    limit = fm_choose_separately(work, !large);
    if (large) {
        work->exact = 0;
    } else if (work->n_items > 1 || work->items[0].edges >= 0 || neighbors) {
        if (!fm_decide_layers(work, limit)) return 0;
    }
    for (layer = 0; layer < work->n_layers; layer++) fm_link(
        work, work->layer_h[layer], work->choice[layer], h_link, r_link
    );
    return 1;
}

#endif
