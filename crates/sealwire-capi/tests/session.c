/* The continuous keystream against what another implementation recorded. */
#include "test.h"

/* Made of vectors/blake3zmq-continuous.json by check.sh. */
#include "session_vectors.h"

static sealwire_aead_session *start(const recording *r) {
    sealwire_aead_session *session = NULL;
    OK(sealwire_aead_session_new(r->encryption_key, r->authentication_key, r->nonce, &session));
    CHECK(sealwire_aead_session_block_counter(session) == 0);
    return session;
}

static void recorded(const recording *r) {
    sealwire_aead_session *sealing = start(r), *opening = start(r);
    CHECK(r->count == 10);
    for (size_t i = 0; i < r->count; i++) {
        const frame *f = &r->frames[i];
        uint8_t *text = (uint8_t *)malloc(f->size + 1), tag[SEALWIRE_AEAD_TAG_SIZE];
        CHECK(text != NULL);
        memcpy(text, f->plaintext, f->size);
        CHECK(sealwire_aead_session_block_counter(sealing) == f->first_block);
        OK(sealwire_aead_session_seal(sealing, f->header, f->header_size, text, f->size, tag));
        CHECK(memcmp(text, f->ciphertext, f->size) == 0);
        CHECK(memcmp(tag, f->tag, sizeof tag) == 0);

        /* Forged: nothing is decrypted, and the same message is expected as before. */
        tag[i] ^= 1;
        RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC,
                sealwire_aead_session_open(opening, f->header, f->header_size, text, f->size, tag));
        CHECK(memcmp(text, f->ciphertext, f->size) == 0);
        CHECK(sealwire_aead_session_block_counter(opening) == f->first_block);
        OK(sealwire_aead_session_open(opening, f->header, f->header_size, text, f->size, f->tag));
        CHECK(memcmp(text, f->plaintext, f->size) == 0);
        free(text);
    }
    sealwire_aead_session_free(sealing);
    sealwire_aead_session_free(opening);
}

static void one_direction(void) {
    sealwire_aead_session *session = start(&recordings[0]);
    uint8_t text[3] = {1, 2, 3}, tag[SEALWIRE_AEAD_TAG_SIZE];
    OK(sealwire_aead_session_seal(session, NULL, 0, text, sizeof text, tag));
    RETURNS(SEALWIRE_ERROR_STATE, sealwire_aead_session_open(session, NULL, 0, text, sizeof text, tag));
    sealwire_aead_session_free(session);
    session = start(&recordings[0]);
    OK(sealwire_aead_session_open(session, NULL, 0, text, sizeof text, tag));
    CHECK(text[0] == 1 && text[1] == 2 && text[2] == 3);
    memset(tag, 0xaa, sizeof tag);
    RETURNS(SEALWIRE_ERROR_STATE, sealwire_aead_session_seal(session, NULL, 0, text, sizeof text, tag));
    CHECK(text[0] == 1 && tag[0] == 0xaa);
    sealwire_aead_session_free(session);
}

int main(void) {
    sealwire_aead_session *session = NULL;
    uint8_t bytes[64] = {0};
    recorded(&recordings[0]);
    recorded(&recordings[1]);
    one_direction();
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_session_new(NULL, bytes, bytes, &session));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_session_new(bytes, NULL, bytes, &session));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_session_new(bytes, bytes, NULL, &session));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_session_new(bytes, bytes, bytes, NULL));
    CHECK(session == NULL && sealwire_aead_session_block_counter(NULL) == 0);
    session = start(&recordings[0]);
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_session_seal(NULL, NULL, 0, bytes, 1, bytes + 32));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_session_seal(session, NULL, 1, bytes, 1, bytes + 32));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_session_seal(session, NULL, 0, NULL, 1, bytes + 32));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_session_seal(session, NULL, 0, bytes, 1, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_aead_session_open(session, NULL, 0, bytes, 1, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT,
            sealwire_aead_session_seal(session, NULL, 0, bytes, SIZE_MAX, bytes + 32));
    /* A call with bad arguments decides no direction. */
    OK(sealwire_aead_session_seal(session, NULL, 0, bytes, 1, bytes + 32));
    sealwire_aead_session_free(session);
    sealwire_aead_session_free(NULL);
    return 0;
}
