/* What Newplex refuses, and that it leaves everything as it was. */
#include "newplex.h"

/* Keys that are none, and what cannot be a block: nothing is written. */
static void what_has_no_meaning_is_refused(void) {
    uint8_t zero[32] = {0}, ones[32], *out = room(80);
    memset(ones, 0xff, sizeof ones);
    RETURNS(SEALWIRE_ERROR_KEY, sealwire_newplex_keys_public(zero, out));
    RETURNS(SEALWIRE_ERROR_KEY, sealwire_newplex_keys_public(ones, out));
    RETURNS(SEALWIRE_ERROR_KEY, sealwire_newplex_sign("test", ones, NULL, 0, NULL, 0, out));
    RETURNS(SEALWIRE_ERROR_KEY, sealwire_newplex_verify("test", zero, NULL, 0, out));
    RETURNS(SEALWIRE_ERROR_KEY, sealwire_newplex_verify("test", ones, NULL, 0, out));

    sealwire_newplex_sealer *sealer = NULL;
    OK(sealwire_newplex_sealer_new(protocol_for("test"), &sealer));
    uint8_t *large = room(SEALWIRE_NEWPLEX_BLOCK_TEXT_MAX + 1 + SEALWIRE_NEWPLEX_BLOCK_OVERHEAD);
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_newplex_sealer_seal(sealer, large, 0, out));
    RETURNS(SEALWIRE_ERROR_ARGUMENT,
            sealwire_newplex_sealer_seal(sealer, large, SEALWIRE_NEWPLEX_BLOCK_TEXT_MAX + 1, large));
    CHECK(untouched(out, 80));
    OK(sealwire_newplex_sealer_seal(sealer, large, SEALWIRE_NEWPLEX_BLOCK_TEXT_MAX, large));
    CHECK(untouched(large + SEALWIRE_NEWPLEX_BLOCK_TEXT_MAX + SEALWIRE_NEWPLEX_BLOCK_OVERHEAD, 9));
    sealwire_newplex_opener *opener = NULL;
    bool ended = true;
    OK(sealwire_newplex_opener_new(protocol_for("test"), &opener));
    OK(sealwire_newplex_opener_open(
        opener, large, SEALWIRE_NEWPLEX_BLOCK_TEXT_MAX + SEALWIRE_NEWPLEX_BLOCK_OVERHEAD, large, &ended));
    CHECK(!ended && untouched(large, SEALWIRE_NEWPLEX_BLOCK_TEXT_MAX));
    sealwire_newplex_opener_free(opener);
    sealwire_newplex_sealer_free(sealer);
    free(large);
    free(out);
}

static void null_is_refused(void) {
    uint8_t bytes[SEALWIRE_NEWPLEX_STATE_SIZE] = {1};
    const uint8_t *values[256];
    size_t sizes[256], size;
    sealwire_newplex_protocol *p = protocol_for("test"), *out = NULL, *branches[256] = {NULL};
    sealwire_newplex_digest *digest = NULL;
    sealwire_newplex_keyed_digest *keyed = NULL;
    sealwire_newplex_aead *aead = NULL;
    sealwire_newplex_sealer *sealer = NULL;
    sealwire_newplex_opener *opener = NULL;
    bool ended;
    uint8_t before[SEALWIRE_NEWPLEX_STATE_SIZE], after[SEALWIRE_NEWPLEX_STATE_SIZE];
    OK(sealwire_newplex_protocol_to_bytes(p, before));
    for (int i = 0; i < 256; i++) {
        values[i] = bytes;
        sizes[i] = 1;
    }
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_new(NULL, &out));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_new("test", NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_newplex_protocol_new("\xff", &out));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_clone(NULL, &out));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_clone(p, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_mix(NULL, "a", bytes, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_mix(p, NULL, bytes, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_mix(p, "a", NULL, 1));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_newplex_protocol_mix(p, "a", bytes, SIZE_MAX));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_derive(p, NULL, bytes, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_derive(p, "a", NULL, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_mask(p, "a", NULL, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_unmask(p, "a", NULL, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_seal(p, "a", NULL, 1, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_seal(p, "a", bytes, 1, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_seal(p, "a", bytes, 0, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_open(p, "a", NULL, 17, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_open(p, "a", bytes, 17, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_ratchet(p, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_fork(p, "a", NULL, sizes, 1, branches));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_fork(p, "a", values, NULL, 1, branches));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_fork(p, "a", values, sizes, 1, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_newplex_protocol_fork(p, "a", values, sizes, 256, branches));
    values[1] = NULL;
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_fork(p, "a", values, sizes, 2, branches));
    CHECK(branches[0] == NULL && out == NULL);
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_to_bytes(p, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_to_bytes(NULL, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_from_bytes(NULL, 130, &out));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_protocol_from_bytes(bytes, 130, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_newplex_protocol_from_bytes(bytes, 129, &out));
    /* None of them changed the state. */
    OK(sealwire_newplex_protocol_to_bytes(p, after));
    CHECK(memcmp(after, before, sizeof after) == 0);

    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_digest_new(NULL, &digest));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_digest_new("test", NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_digest_update(NULL, bytes, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_digest_value(NULL, bytes));
    OK(sealwire_newplex_digest_new("test", &digest));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_digest_update(digest, NULL, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_digest_value(digest, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_keyed_digest_new("test", NULL, 1, &keyed));
    OK(sealwire_newplex_keyed_digest_new("test", NULL, 0, &keyed));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_keyed_digest_update(keyed, NULL, 1));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_keyed_digest_value(keyed, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_keyed_digest_verify(keyed, NULL));

    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_aead_new("test", NULL, 32, &aead));
    OK(sealwire_newplex_aead_new("test", bytes, 32, &aead));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_aead_seal(NULL, bytes, NULL, 0, bytes, 1, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_aead_seal(aead, NULL, NULL, 0, bytes, 1, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_aead_seal(aead, bytes, NULL, 1, bytes, 1, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_aead_seal(aead, bytes, NULL, 0, NULL, 1, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_aead_seal(aead, bytes, NULL, 0, bytes, 1, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_aead_open(aead, bytes, NULL, 0, bytes, 17, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_aead_open(aead, NULL, NULL, 0, bytes, 17, bytes));
    RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC, sealwire_newplex_aead_open(aead, bytes, NULL, 0, bytes, 15, NULL));

    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_sealer_new(NULL, &sealer));
    /* A call that fails leaves the protocol. */
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_sealer_new(p, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_opener_new(p, NULL));
    OK(sealwire_newplex_sealer_new(p, &sealer));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_sealer_seal(sealer, NULL, 1, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_sealer_seal(sealer, bytes, 1, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_sealer_end(sealer, NULL, NULL));
    OK(sealwire_newplex_opener_new(protocol_for("test"), &opener));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_opener_block_size(opener, NULL, &size));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_opener_block_size(opener, bytes, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_opener_open(opener, NULL, 19, bytes, &ended));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_opener_open(opener, bytes, 19, NULL, &ended));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_opener_open(opener, bytes, 19, bytes, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_opener_end(opener, NULL));
    /* None of them closed the streams. */
    OK(sealwire_newplex_sealer_end(sealer, bytes, NULL));
    OK(sealwire_newplex_opener_open(opener, bytes, SEALWIRE_NEWPLEX_BLOCK_OVERHEAD, NULL, &ended));
    CHECK(ended);

    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_keys_generate(NULL, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_keys_generate(bytes, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_keys_public(NULL, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_sign(NULL, before, bytes, 1, NULL, 0, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_sign("test", NULL, bytes, 1, NULL, 0, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_sign("test", bytes, bytes, 1, NULL, 0, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_verify("test", NULL, bytes, 1, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_newplex_verify("test", bytes, bytes, 1, NULL));

    sealwire_newplex_digest_free(digest);
    sealwire_newplex_keyed_digest_free(keyed);
    sealwire_newplex_aead_free(aead);
    sealwire_newplex_sealer_free(sealer);
    sealwire_newplex_opener_free(opener);
    sealwire_newplex_protocol_free(NULL);
    sealwire_newplex_digest_free(NULL);
    sealwire_newplex_keyed_digest_free(NULL);
    sealwire_newplex_aead_free(NULL);
    sealwire_newplex_sealer_free(NULL);
    sealwire_newplex_opener_free(NULL);
}

int main(void) {
    what_has_no_meaning_is_refused();
    null_is_refused();
    return 0;
}
