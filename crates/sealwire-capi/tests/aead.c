/* The AEAD against the published vectors, in every form that it has. */
#include "test.h"

/* Made of vectors/chacha20-blake3.json and blake3-derive-key.json by check.sh. */
#include "aead_vectors.h"

static void one_by_one(const vector *v) {
    size_t sealed_size = v->size + SEALWIRE_AEAD_TAG_SIZE;
    uint8_t *sealed = (uint8_t *)malloc(sealed_size), *opened = (uint8_t *)malloc(sealed_size);
    uint8_t tag[SEALWIRE_AEAD_TAG_SIZE];
    CHECK(sealed != NULL && opened != NULL);
    OK(sealwire_aead_seal(v->key, v->nonce, v->aad, v->aad_size, v->plaintext, v->size, sealed));
    CHECK(memcmp(sealed, v->ciphertext, v->size) == 0);
    CHECK(memcmp(sealed + v->size, v->tag, sizeof tag) == 0);
    OK(sealwire_aead_open(v->key, v->nonce, v->aad, v->aad_size, sealed, sealed_size, opened));
    CHECK(memcmp(opened, v->plaintext, v->size) == 0);

    /* In place. */
    memcpy(opened, v->plaintext, v->size);
    OK(sealwire_aead_seal(v->key, v->nonce, v->aad, v->aad_size, opened, v->size, opened));
    CHECK(memcmp(opened, sealed, sealed_size) == 0);
    OK(sealwire_aead_open(v->key, v->nonce, v->aad, v->aad_size, opened, sealed_size, opened));
    CHECK(memcmp(opened, v->plaintext, v->size) == 0);
    OK(sealwire_aead_seal_detached(v->key, v->nonce, v->aad, v->aad_size, opened, v->size, tag));
    CHECK(memcmp(opened, v->ciphertext, v->size) == 0 && memcmp(tag, v->tag, sizeof tag) == 0);
    OK(sealwire_aead_open_detached(v->key, v->nonce, v->aad, v->aad_size, opened, v->size, tag));
    CHECK(memcmp(opened, v->plaintext, v->size) == 0);

    /* Forged: nothing is written. */
    sealed[sealed_size - 1] ^= 1;
    memset(opened, 0xaa, sealed_size);
    RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC, sealwire_aead_open(v->key, v->nonce, v->aad, v->aad_size,
                                                             sealed, sealed_size, opened));
    for (size_t i = 0; i < sealed_size; i++) {
        CHECK(opened[i] == 0xaa);
    }
    tag[0] ^= 1;
    memcpy(opened, v->ciphertext, v->size);
    RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC, sealwire_aead_open_detached(v->key, v->nonce, v->aad,
                                                                      v->aad_size, opened, v->size, tag));
    CHECK(memcmp(opened, v->ciphertext, v->size) == 0);
    free(sealed);
    free(opened);
}

static void all_at_once(void) {
    uint8_t(*tags)[SEALWIRE_AEAD_TAG_SIZE] =
        (uint8_t(*)[SEALWIRE_AEAD_TAG_SIZE])calloc(VECTORS, SEALWIRE_AEAD_TAG_SIZE);
    sealwire_aead_job *jobs = (sealwire_aead_job *)calloc(VECTORS, sizeof *jobs);
    CHECK(tags != NULL && jobs != NULL);
    /* The vectors have keys of their own; a batch has one for all. */
    for (size_t i = 0; i < VECTORS; i++) {
        const vector *v = &vectors[i];
        jobs[i].nonce = v->nonce;
        jobs[i].aad = v->aad;
        jobs[i].aad_size = v->aad_size;
        jobs[i].size = v->size;
        jobs[i].tag = tags[i];
        jobs[i].buffer = (uint8_t *)malloc(v->size + 1);
        CHECK(jobs[i].buffer != NULL);
        memcpy(jobs[i].buffer, v->plaintext, v->size);
    }
    OK(sealwire_aead_seal_batch(vectors[0].key, jobs, VECTORS));
    for (size_t i = 0; i < VECTORS; i++) {
        const vector *v = &vectors[i];
        uint8_t *alone = (uint8_t *)malloc(v->size + SEALWIRE_AEAD_TAG_SIZE);
        CHECK(alone != NULL);
        OK(sealwire_aead_seal(vectors[0].key, v->nonce, v->aad, v->aad_size, v->plaintext, v->size, alone));
        CHECK(memcmp(alone, jobs[i].buffer, v->size) == 0);
        CHECK(memcmp(alone + v->size, tags[i], SEALWIRE_AEAD_TAG_SIZE) == 0);
        free(alone);
    }
    tags[3][5] ^= 1;
    RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC, sealwire_aead_open_batch(vectors[0].key, jobs, VECTORS));
    for (size_t i = 0; i < VECTORS; i++) {
        CHECK(jobs[i].authentic == (i != 3));
        if (i != 3) {
            CHECK(memcmp(jobs[i].buffer, vectors[i].plaintext, vectors[i].size) == 0);
        }
    }
    jobs[1].tag = NULL;
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_open_batch(vectors[0].key, jobs, VECTORS));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_seal_batch(vectors[0].key, jobs, VECTORS));
    for (size_t i = 0; i < VECTORS; i++) {
        free(jobs[i].buffer);
    }
    free(jobs);
    free(tags);
    OK(sealwire_aead_seal_batch(vectors[0].key, NULL, 0));
}

static void stream(void) {
    uint8_t key[SEALWIRE_AEAD_KEY_SIZE], nonce[SEALWIRE_AEAD_NONCE_SIZE];
    uint8_t tags[3][SEALWIRE_AEAD_TAG_SIZE];
    char texts[3][6] = {"one  ", "two  ", "three"};
    sealwire_aead_stream *sealing = NULL;
    sealwire_aead_opener *opening = NULL;
    uint64_t position = 99;
    OK(sealwire_aead_generate_key(key));
    OK(sealwire_aead_generate_nonce(nonce));
    OK(sealwire_aead_stream_new(key, nonce, 0, &sealing));
    OK(sealwire_aead_opener_new(key, nonce, 0, &opening));
    for (int i = 0; i < 3; i++) {
        OK(sealwire_aead_stream_seal(sealing, octets("aad"), 3, (uint8_t *)texts[i], 5, tags[i], &position));
        CHECK(position == (uint64_t)i);
    }
    OK(sealwire_aead_opener_open(opening, octets("aad"), 3, (uint8_t *)texts[0], 5, tags[0]));
    /* Out of order, then in order. */
    RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC,
            sealwire_aead_opener_open(opening, octets("aad"), 3, (uint8_t *)texts[2], 5, tags[2]));
    OK(sealwire_aead_opener_open(opening, octets("aad"), 3, (uint8_t *)texts[1], 5, tags[1]));
    OK(sealwire_aead_opener_open(opening, octets("aad"), 3, (uint8_t *)texts[2], 5, tags[2]));
    CHECK(strcmp(texts[0], "one  ") == 0 && strcmp(texts[2], "three") == 0);
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_stream_seal(NULL, NULL, 0, key, 1, tags[0], NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_stream_seal(sealing, NULL, 0, key, 1, NULL, NULL));
    sealwire_aead_stream_free(sealing);
    sealwire_aead_opener_free(opening);

    /* Going on where another stopped, up to the last number there is. */
    OK(sealwire_aead_stream_new(key, nonce, UINT64_MAX - 1, &sealing));
    OK(sealwire_aead_opener_new(key, nonce, UINT64_MAX - 1, &opening));
    OK(sealwire_aead_stream_seal(sealing, NULL, 0, (uint8_t *)texts[0], 5, tags[0], &position));
    CHECK(position == UINT64_MAX - 1);
    RETURNS(SEALWIRE_ERROR_STREAM_EXHAUSTED,
            sealwire_aead_stream_seal(sealing, NULL, 0, (uint8_t *)texts[1], 5, tags[1], &position));
    CHECK(strcmp(texts[1], "two  ") == 0);
    OK(sealwire_aead_opener_open(opening, NULL, 0, (uint8_t *)texts[0], 5, tags[0]));
    RETURNS(SEALWIRE_ERROR_STREAM_EXHAUSTED,
            sealwire_aead_opener_open(opening, NULL, 0, (uint8_t *)texts[0], 5, tags[0]));
    CHECK(strcmp(texts[0], "one  ") == 0);
    sealwire_aead_stream_free(sealing);
    sealwire_aead_opener_free(opening);
}

static void derived_keys(void) {
    static uint8_t material[102400], long_key[SEALWIRE_AEAD_DERIVED_SIZE_MAX];
    uint8_t key[256];
    for (size_t i = 0; i < sizeof material; i++) {
        material[i] = (uint8_t)(i % 251);
    }
    CHECK(DERIVATIONS == 35);
    for (size_t i = 0; i < DERIVATIONS; i++) {
        const derivation *d = &derivations[i];
        CHECK(d->size < sizeof key && d->material_size <= sizeof material);
        memset(key, 0xaa, sizeof key);
        OK(sealwire_aead_derive_key(derivation_context, material, d->material_size, key, d->size));
        CHECK(memcmp(key, d->derived, d->size) == 0 && key[d->size] == 0xaa);
    }
    OK(sealwire_aead_derive_key(derivation_context, NULL, 0, long_key, sizeof long_key));
    CHECK(memcmp(long_key, derivations[0].derived, derivations[0].size) == 0);
    /* Where the material is. */
    OK(sealwire_aead_derive_key(derivation_context, material, 64, material, 64));
    CHECK(memcmp(material, derivations[10].derived, 64) == 0);

    memset(key, 0xaa, sizeof key);
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_aead_derive_key("context", material, 8, key, 0));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_aead_derive_key("context", material, 8, key, 65536));
    RETURNS(SEALWIRE_ERROR_ARGUMENT, sealwire_aead_derive_key("\xff", material, 8, key, 32));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_derive_key(NULL, material, 8, key, 32));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_derive_key("context", NULL, 8, key, 32));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_derive_key("context", material, 8, NULL, 32));
    for (size_t i = 0; i < sizeof key; i++) {
        CHECK(key[i] == 0xaa);
    }
}

int main(void) {
    uint8_t bytes[64] = {0};
    CHECK(VECTORS > 10);
    derived_keys();
    for (size_t i = 0; i < VECTORS; i++) {
        one_by_one(&vectors[i]);
    }
    all_at_once();
    stream();
    RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC, sealwire_aead_open(bytes, bytes, NULL, 0, bytes, 31, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_seal(NULL, bytes, NULL, 0, bytes, 1, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_seal(bytes, NULL, NULL, 0, bytes, 1, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_seal(bytes, bytes, NULL, 1, bytes, 1, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_seal(bytes, bytes, NULL, 0, NULL, 1, bytes));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_seal(bytes, bytes, NULL, 0, bytes, 1, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_open(bytes, bytes, NULL, 0, bytes, 33, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_generate_key(NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_generate_nonce(NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT,
            sealwire_aead_seal_detached(bytes, bytes, NULL, 0, bytes, SIZE_MAX, bytes + 32));
    return 0;
}
