// Texts to ids, for the forward pass that follows: printable ASCII without a bracket becomes what
// tokenizer.py makes of it; of other texts the ids are given.
//
// The texts of a call lie one after another in a buffer. Each is its characters and a NUL, or GIVEN
// and then u32, unaligned: how many ids, the ids. END follows the last. A run reads as many as it
// can take, and the next goes on behind them.
#include "ops.h"
#include "tern.h"

#define GIVEN 1
#define END 2
#define MAX_WORD 100  // a longer word is unknown, whatever it says: see _normalize.py
#define CONTINUATION 2  // characters of the "##" before a piece that does not start its word

// Hash of the characters so far of a piece that starts a word, or of one that continues it.
#define SEED(continues) ((continues) ? 0x9747b28cu : 0x811c9dc5u)
INLINE uint32_t hash_on(uint32_t hash, uint8_t character) {
    return (hash ^ character) * 0x01000193u;
}

INLINE uint32_t slot_of(uint32_t hash, uint32_t slots) {
    return (hash ^ hash >> 15) & (slots - 1);
}

// Lays out a vocabulary for op_read(). `pieces` are `size` bytes, a piece a line. Where each begins
// goes to offsets u32 [pieces + 1], and its id + 1 to slots u32 [slot_count], zeroed, at a place that
// its hash tells. Returns the number of pieces.
EXPORT(learn_pieces)
uint32_t learn_pieces(uint32_t pieces, uint32_t size, uint32_t offsets, uint32_t slots,
                      uint32_t slot_count) {
    const uint8_t *text = bytes(pieces);
    uint32_t *slot = (uint32_t *)ints(slots), *offset = (uint32_t *)ints(offsets), count = 0;
    // Up to `size` itself: the last piece may be empty.
    for (uint32_t at = 0; at <= size; at++) {
        uint32_t start = at, ascii = 1;
        while (at < size && text[at] != '\n') ascii &= text[at++] < 0x80;
        offset[count++] = start;
        if (!ascii) continue;  // no word that is looked up here
        int continues = at - start > CONTINUATION && text[start] == '#' && text[start + 1] == '#';
        uint32_t hash = SEED(continues);
        for (uint32_t i = start + (continues ? CONTINUATION : 0); i < at; i++) {
            hash = hash_on(hash, text[i]);
        }
        uint32_t place = slot_of(hash, slot_count);
        while (slot[place]) place = (place + 1) & (slot_count - 1);
        slot[place] = count;
    }
    offset[count] = size + 1;
    return count;
}

// Id of the piece that says these characters, or -1.
static int32_t find(const struct read_operands *o, const uint8_t *word, uint32_t length,
                    uint32_t hash, int continues) {
    const uint32_t *slot = (const uint32_t *)ints(o->slots);
    const uint32_t *offset = (const uint32_t *)ints(o->offsets);
    uint32_t skip = continues ? CONTINUATION : 0;
    for (uint32_t place = slot_of(hash, o->slot_count); slot[place];
         place = (place + 1) & (o->slot_count - 1)) {
        uint32_t id = slot[place] - 1;
        if (offset[id + 1] - offset[id] - 1 != length + skip) continue;
        const uint8_t *piece = bytes(o->pieces) + offset[id];
        if (continues && (piece[0] != '#' || piece[1] != '#')) continue;
        uint32_t i = 0;
        while (i < length && piece[skip + i] == word[i]) i++;
        if (i == length) return (int32_t)id;
    }
    return -1;
}

// The ids of one word: its longest start in the vocabulary, and so on with the rest. Returns how
// many, at most `length`.
static uint32_t read_word(const struct read_operands *o, const uint8_t *word, uint32_t length,
                          uint32_t *ids) {
    uint32_t count = 0, hashes[MAX_WORD];
    for (uint32_t start = 0, end; start < length; start = end) {
        uint32_t hash = SEED(start);
        for (end = start; end < minimum(start + o->longest, length); end++) {
            hashes[end] = hash = hash_on(hash, word[end]);
        }
        int32_t id = -1;
        for (; end > start; end--) {
            id = find(o, word + start, end - start, hashes[end - 1], start > 0);
            if (id >= 0) break;
        }
        if (id < 0) {
            ids[0] = o->unknown;
            return 1;
        }
        ids[count++] = (uint32_t)id;
    }
    return count;
}

INLINE uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

INLINE int is_alphanumeric(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// The ids of the characters from *at to a NUL, of which `limit` are kept. Leaves *at behind the NUL.
static uint32_t read_plain(const struct read_operands *o, const uint8_t **at, uint32_t *ids,
                           uint32_t limit) {
    const uint8_t *text = *at;
    uint32_t count = 0;
    while (*text) {
        uint8_t word[MAX_WORD];
        uint32_t length = 0, found[MAX_WORD], pieces = 1;
        for (uint8_t c; is_alphanumeric(c = lower(*text)); text++, length++) {
            if (length < MAX_WORD) word[length] = c;
        }
        if (length == 0) word[length++] = *text++;
        if (word[0] == ' ' || count == limit) continue;
        if (length > MAX_WORD) found[0] = o->unknown;
        else pieces = read_word(o, word, length, found);
        for (uint32_t i = 0; i < pieces && count < limit; i++) ids[count++] = found[i];
    }
    *at = text + 1;
    return count;
}

// As read_plain(), of a text whose ids are given.
static uint32_t read_given(const uint8_t **at, uint32_t *ids, uint32_t limit) {
    uint32_t count;
    __builtin_memcpy(&count, *at, sizeof count);
    *at += sizeof count;
    __builtin_memcpy(ids, *at, minimum(count, limit) * sizeof *ids);
    *at += count * sizeof *ids;
    return minimum(count, limit);
}

static uint32_t next_text;  // where the next run begins to read

void read_from(uint32_t offset) { next_text = offset; }

// Returns the number of texts.
uint32_t op_read(const struct read_operands *o) {
    const uint8_t *at = bytes(o->texts) + next_text;
    uint32_t texts = 0, tokens = 0;
    while (texts < o->most_texts && *at != END) {
        const uint8_t *text = at + (*at == GIVEN);
        uint32_t *ids = (uint32_t *)ints(o->ids) + tokens, count;
        if (*at == GIVEN) {
            count = read_given(&text, ids, o->longest_text);
        } else {
            ids[0] = o->start;
            count = 1 + read_plain(o, &text, ids + 1, o->longest_text - 2);
            ids[count++] = o->end;
        }
        if (tokens + count > o->most_tokens) break;
        ints(o->lengths)[texts++] = (int32_t)count;
        tokens += count;
        at = text;
    }
    next_text = (uint32_t)(at - bytes(o->texts));
    return texts;
}
