/* Matches of words that leave a choice: which of them cross others least, and then make the fewest chunks.

   An item is a set of words of the hypothesis and of the reference that may be matched with each other. In a GROUP
   every word may be matched with every other (occurrences of one word, mostly), so all of the smaller side are matched, and
   of the larger side `slack` words remain without a match. Two crossing matches of a group would cross nothing more, and
   each other no longer, if they exchanged their ends: the best matches of a group never cross each other, and what is
   left to choose is who remains. In other items (synonyms that are not transitive) each word of the hypothesis has a mask
   of its own, and `slack` is what a largest matching leaves over.

   The cost of matches is CROSS for every pair that crosses, less 1 for every pair of neighbours here and there (each
   saves a chunk). Matches that are fixed (of earlier stages, and of items without a choice) give every possible match a cost
   of its own; from these a table per group says what its remaining words cost at least, whatever the other groups do.
   The words of all items are then decided from left to right: a state is the set of words of the reference that are
   taken, and the last match where the next word may stand beside it. Equal states are merged, the cheaper one stays,
   among equals the one whose words were matched first and farthest to the left. States that cannot become as cheap as all
   groups' own optima together are dropped. That is exact, unless a step has more than `width` states: then the most
   promising ones go on (a beam). Sizes beyond any sentence are cut short, see LIMITS. */

#ifndef FASTMETRICS_CROSSINGS_H
#define FASTMETRICS_CROSSINGS_H

#include "bitcount.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FM_CROSS ((int64_t)1 << 20)
#define FM_NEVER ((int64_t)1 << 60)

/* LIMITS */
#define FM_MOST_CELLS ((int64_t)1 << 20) /* of all tables; a group beyond is matched in order, first with first */
#define FM_LONGEST ((int64_t)1 << 20)    /* tokens of a text; of a longer one all groups are */
#define FM_MOST_LAYERS 4096              /* words to decide; beyond, every group takes its own optimum */
#define FM_MOST_TAKEN 1024               /* words of the reference among them */
#define FM_MOST_STEPS 65536              /* states looked at, about, which says how wide a beam may be */
#define FM_WIDEST 1024
#define FM_GENERAL 64                    /* words on either side of an item that is no group */

typedef struct {
    int64_t h, n_h; /* places of its words in h_places and r_places, ascending */
    int64_t r, n_r;
    int64_t slack;
    int64_t cell;    /* where its table begins */
    int64_t edges;   /* where its masks begin; -1: a group */
    int64_t decided; /* how many of its words are, while layers are made */
} fm_item;

typedef struct {
    int64_t cost, bound, last, seq;
    int64_t parent, choice;
} fm_state;

typedef struct {
    fm_item* items;
    int64_t n_items, item_room;
    int64_t* h_places;
    int64_t n_h, h_room;
    int64_t* r_places;
    int64_t n_r, r_room;
    uint64_t* edges;
    int64_t n_edges, edge_room;
    int64_t* memory;
    int64_t room;
    int64_t* back;
    int64_t n_back, back_room;
    char* states;
    int64_t state_room;
    int exact;
    /* of one problem, inside `memory` */
    int64_t n_layers, n_taken, n_words, width, most_options;
    int64_t *layer_h, *layer_item, *layer_s, *potential, *choice, *alone, *bit, *before, *tree, *own, *least;
} fm_crossings;

static inline int fm_room_for(void** memory, int64_t* room, int64_t wanted, size_t size) {
    void* larger;
    if (wanted <= *room) return 1;
    wanted += wanted / 2 + 64;
    larger = realloc(*memory, (size_t)wanted * size);
    if (larger == NULL) return 0;
    *memory = larger;
    *room = wanted;
    return 1;
}

static void fm_free_crossings(fm_crossings* x) {
    free(x->items);
    free(x->h_places);
    free(x->r_places);
    free(x->edges);
    free(x->memory);
    free(x->back);
    free(x->states);
}

/* ------------------------------------------------------------------------------------------------- taking items in */

static void fm_clear_items(fm_crossings* x) {
    x->n_items = x->n_h = x->n_r = x->n_edges = 0;
    x->exact = 1;
}

static int fm_add_item(fm_crossings* x, const int64_t* h, int64_t n_h, const int64_t* r, int64_t n_r) {
    fm_item* item;
    if (!fm_room_for((void**)&x->items, &x->item_room, x->n_items + 1, sizeof(fm_item))) return 0;
    if (!fm_room_for((void**)&x->h_places, &x->h_room, x->n_h + n_h, sizeof(int64_t))) return 0;
    if (!fm_room_for((void**)&x->r_places, &x->r_room, x->n_r + n_r, sizeof(int64_t))) return 0;
    item = &x->items[x->n_items++];
    item->h = x->n_h;
    item->n_h = n_h;
    item->r = x->n_r;
    item->n_r = n_r;
    item->slack = n_h > n_r ? n_h - n_r : n_r - n_h;
    item->edges = -1;
    item->decided = 0;
    memcpy(x->h_places + x->n_h, h, (size_t)n_h * sizeof(int64_t));
    memcpy(x->r_places + x->n_r, r, (size_t)n_r * sizeof(int64_t));
    x->n_h += n_h;
    x->n_r += n_r;
    return 1;
}

/* The last item is no group: one mask over its words of the reference for every word of the hypothesis. */
static int fm_add_edges(fm_crossings* x, const uint64_t* masks) {
    fm_item* item = &x->items[x->n_items - 1];
    if (!fm_room_for((void**)&x->edges, &x->edge_room, x->n_edges + item->n_h, sizeof(uint64_t))) return 0;
    memcpy(x->edges + x->n_edges, masks, (size_t)item->n_h * sizeof(uint64_t));
    item->edges = x->n_edges;
    x->n_edges += item->n_h;
    return 1;
}

/* ----------------------------------------------------------------------------------------------- largest matchings */

static int fm_find_end(const uint64_t* masks, int64_t h, uint64_t* seen, int64_t* taken_by) {
    uint64_t left;
    while ((left = masks[h] & ~*seen) != 0) {
        int64_t t = fm_bits_set((left & (0 - left)) - 1);
        *seen |= (uint64_t)1 << t;
        if (taken_by[t] < 0 || fm_find_end(masks, taken_by[t], seen, taken_by)) {
            taken_by[t] = h;
            return 1;
        }
    }
    return 0;
}

/* A largest matching of an item that is no group (Kuhn's augmenting paths): match[s] is a place of r_places or -1.
   Returns its size. */
static int64_t fm_largest(const fm_crossings* x, const fm_item* item, int64_t* match) {
    int64_t taken_by[FM_GENERAL], s, t, size = 0;
    for (t = 0; t < item->n_r; t++) taken_by[t] = -1;
    for (s = 0; s < item->n_h; s++) {
        uint64_t seen = 0;
        match[s] = -1;
        size += fm_find_end(x->edges + item->edges, s, &seen, taken_by);
    }
    for (t = 0; t < item->n_r; t++)
        if (taken_by[t] >= 0) match[taken_by[t]] = item->r + t;
    return size;
}

/* -------------------------------------------------------------------------------------------------------- one problem */

static inline void fm_link(fm_crossings* x, int64_t h, int64_t place, int64_t* h_link, int64_t* r_link) {
    if (place < 0) return;
    h_link[h] = x->r_places[place];
    r_link[x->r_places[place]] = h;
}

static inline int64_t fm_cells(const fm_item* item) {
    return item->edges >= 0 ? item->n_h * item->n_r : (item->n_h + 1) * (item->slack + 1);
}

/* Groups whose tables would be too large are matched in order. */
static void fm_link_giants(fm_crossings* x, int64_t* h_link, int64_t* r_link, int64_t longest) {
    int64_t number, s, cells = 0;
    for (number = 0; number < x->n_items; number++) {
        fm_item* item = &x->items[number];
        int64_t few = item->n_h < item->n_r ? item->n_h : item->n_r;
        if (item->edges < 0 && (longest > FM_LONGEST || item->slack >= FM_MOST_CELLS || item->n_h >= FM_MOST_CELLS
                                || cells + fm_cells(item) > FM_MOST_CELLS)) {
            for (s = 0; s < few; s++) fm_link(x, x->h_places[item->h + s], item->r + s, h_link, r_link);
            item->n_h = item->n_r = item->slack = 0;
            x->exact = 0;
            continue;
        }
        item->cell = cells;
        cells += fm_cells(item);
    }
}

static int fm_plan(fm_crossings* x, int64_t n_hypothesis, int64_t n_reference) {
    int64_t number, t, place, cells = 0, n_layers = 0, n_taken = 0, need;
    int64_t* memory;
    for (number = 0; number < x->n_items; number++) {
        cells += fm_cells(&x->items[number]);
        n_layers += x->items[number].n_h;
        n_taken += x->items[number].n_r;
    }
    x->n_layers = n_layers;
    x->n_taken = n_taken;
    x->n_words = (n_taken + 63) / 64;
    if (n_layers == 0) return 1;
    need = 2 * cells + 5 * (n_layers + 1) + x->n_h + x->n_r + 2 * (n_reference + 2) + n_hypothesis + x->n_words;
    if (!fm_room_for((void**)&x->memory, &x->room, need, sizeof(int64_t))) return 0;
    memory = x->memory;
    x->own = memory, memory += cells;
    x->least = memory, memory += cells;
    x->layer_h = memory, memory += n_layers + 1;
    x->layer_item = memory, memory += n_layers + 1;
    x->layer_s = memory, memory += n_layers + 1;
    x->potential = memory, memory += n_layers + 1;
    x->choice = memory, memory += n_layers + 1;
    x->alone = memory, memory += x->n_h;
    x->bit = memory, memory += x->n_r;
    x->before = memory, memory += n_reference + 2;
    x->tree = memory, memory += n_reference + 2;
    /* Layers: the words of all items in their order. */
    memset(memory, 0, (size_t)n_hypothesis * sizeof(int64_t));
    for (number = 0; number < x->n_items; number++)
        for (t = 0; t < x->items[number].n_h; t++) memory[x->h_places[x->items[number].h + t]] = number + 1;
    n_layers = 0;
    for (place = 0; place < n_hypothesis; place++) {
        if (memory[place] == 0) continue;
        x->layer_h[n_layers] = place;
        x->layer_item[n_layers] = memory[place] - 1;
        x->layer_s[n_layers++] = x->items[memory[place] - 1].decided++;
    }
    /* Bits: the words of the reference among them, in their order. */
    memset(x->tree, 0, (size_t)(n_reference + 2) * sizeof(int64_t));
    for (number = 0; number < x->n_items; number++)
        for (t = 0; t < x->items[number].n_r; t++)
            x->tree[x->r_places[x->items[number].r + t]] = x->items[number].r + t + 1;
    n_taken = 0;
    for (place = 0; place < n_reference; place++)
        if (x->tree[place]) x->bit[x->tree[place] - 1] = n_taken++;
    memset(x->tree, 0, (size_t)(n_reference + 2) * sizeof(int64_t));
    return 1;
}

/* Fixed matches to the left of a word, counted by the place of their other end: a Fenwick tree. */
static inline void fm_count_in(int64_t* tree, int64_t n, int64_t place) {
    for (place++; place <= n; place += place & -place) tree[place]++;
}

static inline int64_t fm_count_below(const int64_t* tree, int64_t place) {
    int64_t count = 0;
    for (; place > 0; place -= place & -place) count += tree[place];
    return count;
}

/* What a match costs beside all fixed ones. */
static inline int64_t fm_cost_of(const fm_crossings* x, int64_t h, int64_t r, int64_t n_left, const int64_t* h_link,
                                 int64_t n_hypothesis, int64_t n_reference) {
    int64_t crossings = n_left + x->before[r] - 2 * fm_count_below(x->tree, r);
    int64_t beside = h > 0 && r > 0 && h_link[h - 1] == r - 1;
    beside += h + 1 < n_hypothesis && r + 1 < n_reference && h_link[h + 1] == r + 1;
    return crossings * FM_CROSS - beside;
}

/* Which word of the reference the s-th of a group meets at offset d of its table; -1: none. */
static inline int64_t fm_partner(const fm_item* item, int64_t s, int64_t d) {
    int64_t t = item->n_h < item->n_r ? s + d : s - d;
    return t >= 0 && t < item->n_r ? t : -1;
}

static void fm_own_costs(fm_crossings* x, const int64_t* h_link, int64_t n_hypothesis, int64_t n_reference) {
    int64_t layer, d, t, place = 0, n_left = 0;
    x->before[0] = 0;
    for (t = 0; t <= n_reference; t++) x->before[t] = 0;
    for (t = 0; t < n_hypothesis; t++)
        if (h_link[t] >= 0) x->before[h_link[t] + 1] = 1;
    for (t = 0; t < n_reference; t++) x->before[t + 1] += x->before[t];
    for (layer = 0; layer < x->n_layers; layer++) {
        const fm_item* item = &x->items[x->layer_item[layer]];
        int64_t h = x->layer_h[layer], s = x->layer_s[layer];
        for (; place < h; place++) {
            if (h_link[place] < 0) continue;
            fm_count_in(x->tree, n_reference, h_link[place]);
            n_left++;
        }
        if (item->edges >= 0) {
            for (t = 0; t < item->n_r; t++)
                x->own[item->cell + s * item->n_r + t] =
                    fm_cost_of(x, h, x->r_places[item->r + t], n_left, h_link, n_hypothesis, n_reference);
            continue;
        }
        for (d = 0; d <= item->slack; d++) {
            t = fm_partner(item, s, d);
            x->own[item->cell + s * (item->slack + 1) + d] =
                t < 0 ? FM_NEVER
                      : fm_cost_of(x, h, x->r_places[item->r + t], n_left, h_link, n_hypothesis, n_reference);
        }
    }
}

/* least[s][d]: what the words from the s-th on cost at least, d words of the larger side left over so far. */
static void fm_least_costs(fm_crossings* x, const fm_item* item) {
    int64_t wide = item->slack + 1, s, d;
    const int64_t* own = x->own + item->cell;
    int64_t* least = x->least + item->cell;
    for (d = 0; d < wide; d++) least[item->n_h * wide + d] = item->n_h < item->n_r || d == item->slack ? 0 : FM_NEVER;
    for (s = item->n_h - 1; s >= 0; s--) {
        for (d = item->slack; d >= 0; d--) {
            int64_t other = FM_NEVER, matched = FM_NEVER;
            if (d < item->slack) other = item->n_h < item->n_r ? least[s * wide + d + 1] : least[(s + 1) * wide + d + 1];
            if (own[s * wide + d] < FM_NEVER && least[(s + 1) * wide + d] < FM_NEVER)
                matched = own[s * wide + d] + least[(s + 1) * wide + d];
            least[s * wide + d] = matched < other ? matched : other;
        }
    }
}

/* The group's own optimum: match[s] is a place of r_places or -1. */
static void fm_follow(const fm_crossings* x, const fm_item* item, int64_t* match) {
    int64_t wide = item->slack + 1, s, d = 0;
    const int64_t* own = x->own + item->cell;
    const int64_t* least = x->least + item->cell;
    for (s = 0; s < item->n_h; s++) {
        if (item->n_h < item->n_r) {
            while (own[s * wide + d] + least[(s + 1) * wide + d] != least[s * wide + d]) d++;
            match[s] = item->r + s + d;
        } else if (own[s * wide + d] < FM_NEVER && own[s * wide + d] + least[(s + 1) * wide + d] == least[s * wide + d]) {
            match[s] = item->r + s - d;
        } else {
            match[s] = -1;
            d++;
        }
    }
}

static inline int64_t fm_own_of(const fm_crossings* x, const fm_item* item, int64_t s, int64_t place) {
    int64_t t = place - item->r;
    if (item->edges >= 0) return x->own[item->cell + s * item->n_r + t];
    return x->own[item->cell + s * (item->slack + 1) + (item->n_h < item->n_r ? t - s : s - t)];
}

static inline int64_t fm_taken_above(const uint64_t* taken, int64_t n_words, int64_t bit) {
    int64_t word = bit >> 6, count = fm_bits_set((taken[word] >> (bit & 63)) >> 1);
    for (word++; word < n_words; word++) count += fm_bits_set(taken[word]);
    return count;
}

/* Each item's own choice into x->choice, by layer; returns what all of them cost together. */
static int64_t fm_choose_alone(fm_crossings* x, int with_cost) {
    int64_t number, layer, cost = 0, last = -1;
    uint64_t* taken = (uint64_t*)x->tree;
    for (number = 0; number < x->n_items; number++) {
        fm_item* item = &x->items[number];
        if (item->n_h == 0) continue;
        if (item->edges < 0) {
            fm_least_costs(x, item);
            fm_follow(x, item, x->alone + item->h);
        } else {
            item->slack = item->n_h - fm_largest(x, item, x->alone + item->h);
        }
    }
    for (layer = 0; layer < x->n_layers; layer++)
        x->choice[layer] = x->alone[x->items[x->layer_item[layer]].h + x->layer_s[layer]];
    if (!with_cost) return 0;
    memset(taken, 0, (size_t)x->n_words * sizeof(uint64_t));
    for (layer = 0; layer < x->n_layers; layer++) {
        int64_t place = x->choice[layer], bit;
        const fm_item* item = &x->items[x->layer_item[layer]];
        if (place < 0) continue;
        bit = x->bit[place];
        cost += fm_own_of(x, item, x->layer_s[layer], place);
        cost += FM_CROSS * fm_taken_above(taken, x->n_words, bit);
        taken[bit >> 6] |= (uint64_t)1 << (bit & 63);
        if (layer > 0 && x->layer_h[layer - 1] + 1 == x->layer_h[layer]) {
            last = x->choice[layer - 1];
            if (last >= 0 && x->r_places[last] + 1 == x->r_places[place]) cost--;
        }
    }
    return cost;
}

/* potential[layer]: how much less than the bounds the layers from there on may cost, by standing side by side and by
   words of items that are no group. Returns how many options the layers have. */
static int64_t fm_potentials(fm_crossings* x) {
    int64_t layer, t, options = 0;
    x->most_options = 1;
    x->potential[x->n_layers] = 0;
    for (layer = x->n_layers - 1; layer >= 0; layer--) {
        const fm_item* item = &x->items[x->layer_item[layer]];
        int64_t own = 0, here;
        if (layer > 0 && x->layer_h[layer - 1] + 1 == x->layer_h[layer]) own = 1;
        if (item->edges >= 0) {
            int64_t least = 0;
            for (t = 0; t < item->n_r; t++) {
                int64_t cost = x->own[item->cell + x->layer_s[layer] * item->n_r + t];
                if (cost < least) least = cost;
            }
            own -= least;
            here = item->n_r + 1;
        } else {
            here = item->n_h < item->n_r ? item->slack + 1 : 2;
        }
        x->potential[layer] = x->potential[layer + 1] + own;
        options += here;
        if (here > x->most_options) x->most_options = here;
    }
    return options;
}

/* ------------------------------------------------------------------------------------------------- states by layers */

typedef struct {
    fm_state* states;
    uint64_t* taken;
    int64_t n;
} fm_layer;

typedef struct {
    fm_crossings* x;
    fm_layer from, into;
    int64_t* table; /* 1 + state of `into`, by hash */
    int64_t n_slots, limit, seq, layer, n_words;
} fm_search;

static inline int fm_is_taken(const uint64_t* taken, int64_t bit) { return (int)(taken[bit >> 6] >> (bit & 63) & 1); }

static inline uint64_t fm_hash_state(const uint64_t* taken, int64_t n_words, int64_t last) {
    uint64_t hash = (uint64_t)last * 0xD6E8FEB86659FD93u;
    int64_t word;
    for (word = 0; word < n_words; word++) {
        hash = (hash ^ taken[word]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash ^ (hash >> 32);
}

/* A word is matched with a place of r_places, or with none (-1). */
static void fm_step(fm_search* search, int64_t parent, int64_t place, int64_t own, int64_t bound) {
    fm_crossings* x = search->x;
    const fm_state* old = &search->from.states[parent];
    const uint64_t* old_taken = search->from.taken + parent * search->n_words;
    uint64_t* taken = search->into.taken + search->into.n * search->n_words;
    int64_t cost = old->cost, last = -1, seq = search->seq++, slot, layer = search->layer;
    fm_state* state;
    if (place >= 0) {
        int64_t bit = x->bit[place];
        cost += own + FM_CROSS * fm_taken_above(old_taken, search->n_words, bit);
        if (old->last >= 0 && old->last + 1 == x->r_places[place]) cost--;
    }
    if (cost + bound - x->potential[layer + 1] > search->limit) return;
    memcpy(taken, old_taken, (size_t)search->n_words * sizeof(uint64_t));
    if (place >= 0) {
        taken[x->bit[place] >> 6] |= (uint64_t)1 << (x->bit[place] & 63);
        if (layer + 1 < x->n_layers && x->layer_h[layer + 1] == x->layer_h[layer] + 1) last = x->r_places[place];
    }
    slot = (int64_t)(fm_hash_state(taken, search->n_words, last) & (uint64_t)(search->n_slots - 1));
    while (search->table[slot]) {
        int64_t number = search->table[slot] - 1;
        state = &search->into.states[number];
        if (state->last == last
            && memcmp(search->into.taken + number * search->n_words, taken, (size_t)search->n_words * 8) == 0) {
            if (state->cost <= cost) return;
            state->cost = cost;
            state->seq = seq;
            state->parent = parent;
            state->choice = place;
            return;
        }
        slot = (slot + 1) & (search->n_slots - 1);
    }
    search->table[slot] = search->into.n + 1;
    state = &search->into.states[search->into.n++];
    state->cost = cost;
    state->bound = bound;
    state->last = last;
    state->seq = seq;
    state->parent = parent;
    state->choice = place;
}

static void fm_expand(fm_search* search, int64_t parent) {
    fm_crossings* x = search->x;
    const fm_item* item = &x->items[x->layer_item[search->layer]];
    const uint64_t* taken = search->from.taken + parent * search->n_words;
    int64_t s = x->layer_s[search->layer], bound = search->from.states[parent].bound, t, d = 0;
    int64_t wide = item->slack + 1;
    const int64_t* own = x->own + item->cell;
    const int64_t* least = x->least + item->cell;
    if (item->edges >= 0) {
        int64_t matched = 0;
        for (t = 0; t < item->n_r; t++) matched += fm_is_taken(taken, x->bit[item->r + t]);
        for (t = 0; t < item->n_r; t++)
            if ((x->edges[item->edges + s] >> t & 1) && !fm_is_taken(taken, x->bit[item->r + t]))
                fm_step(search, parent, item->r + t, own[s * item->n_r + t], bound);
        if (s - matched < item->slack) fm_step(search, parent, -1, 0, bound);
        return;
    }
    if (item->n_h < item->n_r) {
        if (s > 0) {
            for (d = item->slack; d > 0; d--)
                if (fm_is_taken(taken, x->bit[item->r + s - 1 + d])) break;
        }
        bound -= least[s * wide + d];
        for (; d <= item->slack; d++)
            fm_step(search, parent, item->r + s + d, own[s * wide + d], bound + least[(s + 1) * wide + d]);
        return;
    }
    t = s > item->slack ? s - item->slack : 0;
    while (t < s && t < item->n_r && fm_is_taken(taken, x->bit[item->r + t])) t++;
    d = s - t;
    bound -= least[s * wide + d];
    if (t < item->n_r && least[(s + 1) * wide + d] < FM_NEVER)
        fm_step(search, parent, item->r + t, own[s * wide + d], bound + least[(s + 1) * wide + d]);
    if (d < item->slack && least[(s + 1) * wide + d + 1] < FM_NEVER)
        fm_step(search, parent, -1, 0, bound + least[(s + 1) * wide + d + 1]);
}

typedef struct {
    int64_t key, seq, number;
} fm_rank;

static int fm_by_key(const void* one, const void* other) {
    const fm_rank *a = (const fm_rank*)one, *b = (const fm_rank*)other;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static int fm_by_seq(const void* one, const void* other) {
    const fm_rank *a = (const fm_rank*)one, *b = (const fm_rank*)other;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* The order of the new states (by what they were made of), only the most promising where there are too many. */
static void fm_rank_states(fm_search* search, fm_rank* ranks) {
    fm_crossings* x = search->x;
    int64_t number, n = search->into.n;
    int sorted = 1;
    for (number = 0; number < n; number++) {
        const fm_state* state = &search->into.states[number];
        ranks[number].key = state->cost + state->bound;
        ranks[number].seq = state->seq;
        ranks[number].number = number;
        if (number && ranks[number - 1].seq > state->seq) sorted = 0;
    }
    if (n > x->width) {
        qsort(ranks, (size_t)n, sizeof(fm_rank), fm_by_key);
        n = x->width;
        x->exact = 0;
        sorted = 0;
    }
    if (!sorted) qsort(ranks, (size_t)n, sizeof(fm_rank), fm_by_seq);
    search->into.n = n;
}

/* Decide all layers; x->choice holds the result. Returns 0 without memory. */
static int fm_decide(fm_crossings* x, int64_t limit) {
    int64_t options = fm_potentials(x), layer, number, n_raw, best, n_words = x->n_words, raw_room, order_room, slots;
    int64_t bytes, at;
    char* memory;
    fm_search search;
    fm_layer swap;
    fm_rank* ranks;
    int64_t* order;
    int64_t* layer_back;
    x->width = FM_MOST_STEPS / options;
    if (x->width > FM_WIDEST) x->width = FM_WIDEST;
    if (x->width < 1) x->width = 1;
    raw_room = x->width * x->most_options + 1;
    order_room = raw_room;
    for (slots = 64; slots < 2 * raw_room; slots *= 2) {}
    bytes = 2 * raw_room * (int64_t)(sizeof(fm_state) + (size_t)n_words * 8) + raw_room * (int64_t)sizeof(fm_rank)
        + order_room * 8 + slots * 8 + x->n_layers * 8;
    if (!fm_room_for((void**)&x->states, &x->state_room, bytes, 1)) return 0;
    memory = x->states;
    search.x = x;
    search.n_words = n_words;
    search.limit = limit;
    search.from.states = (fm_state*)memory;
    search.into.states = search.from.states + raw_room;
    ranks = (fm_rank*)(search.into.states + raw_room);
    search.from.taken = (uint64_t*)(ranks + raw_room);
    search.into.taken = search.from.taken + raw_room * n_words;
    order = (int64_t*)(search.into.taken + raw_room * n_words);
    search.table = order + order_room;
    layer_back = search.table + slots;
    memset(search.from.taken, 0, (size_t)n_words * 8);
    search.from.n = 1;
    search.from.states[0].cost = 0;
    search.from.states[0].last = -1;
    search.from.states[0].bound = 0;
    order[0] = 0;
    for (number = 0; number < x->n_items; number++)
        if (x->items[number].n_h && x->items[number].edges < 0)
            search.from.states[0].bound += x->least[x->items[number].cell];
    x->n_back = 0;
    for (layer = 0; layer < x->n_layers; layer++) {
        search.layer = layer;
        search.into.n = 0;
        search.seq = 0;
        for (search.n_slots = 64; search.n_slots < 2 * search.from.n * x->most_options; search.n_slots *= 2) {}
        memset(search.table, 0, (size_t)search.n_slots * 8);
        for (number = 0; number < search.from.n; number++) fm_expand(&search, order[number]);
        n_raw = search.into.n;
        if (n_raw == 0) break; /* a beam that missed every largest matching: the choice made alone stands */
        fm_rank_states(&search, ranks);
        layer_back[layer] = x->n_back;
        if (!fm_room_for((void**)&x->back, &x->back_room, x->n_back + 2 * n_raw, sizeof(int64_t))) return 0;
        for (number = 0; number < n_raw; number++) {
            x->back[x->n_back++] = search.into.states[number].parent;
            x->back[x->n_back++] = search.into.states[number].choice;
        }
        for (number = 0; number < search.into.n; number++) order[number] = ranks[number].number;
        swap = search.from;
        search.from = search.into;
        search.into = swap;
    }
    if (layer == x->n_layers) {
        best = order[0];
        for (number = 1; number < search.from.n; number++)
            if (search.from.states[order[number]].cost < search.from.states[best].cost) best = order[number];
        for (layer = x->n_layers - 1; layer >= 0; layer--) {
            at = layer_back[layer] + 2 * best;
            x->choice[layer] = x->back[at + 1];
            best = x->back[at];
        }
    }
    return 1;
}

/* Match the words of all items; h_link and r_link hold the fixed matches, -1 elsewhere. Returns 0 without memory. */
static int fm_resolve(fm_crossings* x, int64_t* h_link, int64_t n_hypothesis, int64_t* r_link, int64_t n_reference) {
    int64_t layer, limit, neighbours = 0;
    int large;
    if (x->n_items == 0) return 1;
    fm_link_giants(x, h_link, r_link, n_hypothesis > n_reference ? n_hypothesis : n_reference);
    if (!fm_plan(x, n_hypothesis, n_reference)) return 0;
    if (x->n_layers == 0) return 1;
    fm_own_costs(x, h_link, n_hypothesis, n_reference);
    for (layer = 1; layer < x->n_layers; layer++) neighbours += x->layer_h[layer - 1] + 1 == x->layer_h[layer];
    large = x->n_layers > FM_MOST_LAYERS || x->n_taken > FM_MOST_TAKEN;
    limit = fm_choose_alone(x, !large);
    if (large) {
        x->exact = 0;
    } else if (x->n_items > 1 || x->items[0].edges >= 0 || neighbours) {
        if (!fm_decide(x, limit)) return 0;
    }
    for (layer = 0; layer < x->n_layers; layer++) fm_link(x, x->layer_h[layer], x->choice[layer], h_link, r_link);
    return 1;
}

#endif
