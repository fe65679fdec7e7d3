/* What the tests of Newplex share. */
#ifndef SEALWIRE_NEWPLEX_TEST_H
#define SEALWIRE_NEWPLEX_TEST_H

#include "test.h"

/* Room for `size` bytes, which hold 0xaa, and for some behind them, which nobody may write to. */
static inline uint8_t *room(size_t size) {
    uint8_t *made = (uint8_t *)malloc(size + 8);
    CHECK(made != NULL);
    memset(made, 0xaa, size + 8);
    return made;
}

static inline int untouched(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0xaa) {
            return 0;
        }
    }
    return 1;
}

static inline sealwire_newplex_protocol *protocol_for(const char *domain) {
    sealwire_newplex_protocol *protocol = NULL;
    OK(sealwire_newplex_protocol_new(domain, &protocol));
    return protocol;
}

#endif
