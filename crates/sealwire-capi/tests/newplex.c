/* Newplex against what its reference in Go gives. */
#include "newplex.h"

/* Made of vectors/newplex.json by check.sh. */
#include "newplex_vectors.h"

#define INSTANCES 300


/* Whether the room holds these bytes, and nothing was written behind them. */
static int holds(const uint8_t *made, blob expected) {
    return memcmp(made, expected.data, expected.size) == 0 && untouched(made + expected.size, 8);
}

static uint8_t *copy_of(blob bytes) {
    uint8_t *made = room(bytes.size);
    memcpy(made, bytes.data, bytes.size);
    return made;
}

static blob rest_of(blob bytes, size_t from) {
    bytes.data += from;
    bytes.size -= from;
    return bytes;
}

static int is_in_state(const sealwire_newplex_protocol *protocol, blob state) {
    uint8_t *found = room(SEALWIRE_NEWPLEX_STATE_SIZE);
    OK(sealwire_newplex_protocol_to_bytes(protocol, found));
    CHECK(state.size == SEALWIRE_NEWPLEX_STATE_SIZE);
    int same = holds(found, state);
    free(found);
    return same;
}

/* Opens into other memory and in place, which must agree. */
static void open_sealed(sealwire_newplex_protocol *protocol, const operation *o) {
    size_t size = o->input.size < 16 ? 0 : o->input.size - 16;
    uint8_t *text = room(size), *in_place = copy_of(o->input);
    sealwire_newplex_protocol *other = NULL;
    OK(sealwire_newplex_protocol_clone(protocol, &other));
    if (o->refused) {
        RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC,
                sealwire_newplex_protocol_open(protocol, o->label, o->input.data, o->input.size, text));
        CHECK(untouched(text, size + 8));
        RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC,
                sealwire_newplex_protocol_open(other, o->label, in_place, o->input.size, in_place));
        CHECK(holds(in_place, o->input));
    } else {
        CHECK(o->output.size == size);
        OK(sealwire_newplex_protocol_open(protocol, o->label, o->input.data, o->input.size, text));
        CHECK(holds(text, o->output));
        OK(sealwire_newplex_protocol_open(other, o->label, in_place, o->input.size, in_place));
        CHECK(memcmp(in_place, o->output.data, size) == 0);
    }
    sealwire_newplex_protocol_free(other);
    free(text);
    free(in_place);
}

static void seal(sealwire_newplex_protocol *protocol, const operation *o) {
    uint8_t *sealed = room(o->input.size + 16), *in_place = room(o->input.size + 16);
    sealwire_newplex_protocol *other = NULL;
    OK(sealwire_newplex_protocol_clone(protocol, &other));
    OK(sealwire_newplex_protocol_seal(protocol, o->label, o->input.data, o->input.size, sealed));
    CHECK(o->output.size == o->input.size + 16 && holds(sealed, o->output));
    memcpy(in_place, o->input.data, o->input.size);
    OK(sealwire_newplex_protocol_seal(other, o->label, in_place, o->input.size, in_place));
    CHECK(holds(in_place, o->output));
    sealwire_newplex_protocol_free(other);
    free(sealed);
    free(in_place);
}

static void fork_each(sealwire_newplex_protocol **live, const operation *o) {
    const uint8_t *values[SEALWIRE_NEWPLEX_BRANCHES_MAX];
    size_t sizes[SEALWIRE_NEWPLEX_BRANCHES_MAX], count = o->count - 1;
    sealwire_newplex_protocol *branches[SEALWIRE_NEWPLEX_BRANCHES_MAX];
    for (size_t i = 0; i < count; i++) {
        values[i] = o->values[i].data;
        sizes[i] = o->values[i].size;
    }
    OK(sealwire_newplex_protocol_fork(live[o->instances[0]], o->label, values, sizes, count, branches));
    for (size_t i = 0; i < count; i++) {
        live[o->instances[i + 1]] = branches[i];
    }
}

static void apply(sealwire_newplex_protocol **live, const operation *o) {
    size_t p = o->instances[0];
    CHECK(p < INSTANCES);
    uint8_t *buffer = o->kind == DERIVE || o->kind == FINAL ? room(o->output.size) : copy_of(o->input);
    if (o->kind == FINAL && o->state.size > 0) {
        CHECK(is_in_state(live[p], o->state));
    }
    switch (o->kind) {
    case INIT: live[p] = protocol_for(o->label); break;
    case UNMARSHAL:
        sealwire_newplex_protocol_free(live[p]);
        OK(sealwire_newplex_protocol_from_bytes(o->input.data, o->input.size, &live[p]));
        break;
    case CLONE: OK(sealwire_newplex_protocol_clone(live[p], &live[o->instances[1]])); break;
    case FORK: fork_each(live, o); break;
    case MIX: OK(sealwire_newplex_protocol_mix(live[p], o->label, o->input.data, o->input.size)); break;
    case MASK:
    case UNMASK:
        OK((o->kind == MASK ? sealwire_newplex_protocol_mask : sealwire_newplex_protocol_unmask)(
            live[p], o->label, buffer, o->input.size));
        CHECK(o->output.size == o->input.size && holds(buffer, o->output));
        break;
    case DERIVE:
    case FINAL:
        OK(sealwire_newplex_protocol_derive(live[p], o->label, buffer, o->output.size));
        CHECK(holds(buffer, o->output));
        break;
    case SEAL: seal(live[p], o); break;
    case OPEN: open_sealed(live[p], o); break;
    case RATCHET: OK(sealwire_newplex_protocol_ratchet(live[p], o->label)); break;
    case MARSHAL: CHECK(is_in_state(live[p], o->output)); break;
    case EQUAL: {
        uint8_t state[SEALWIRE_NEWPLEX_STATE_SIZE];
        blob other = {state, sizeof state};
        OK(sealwire_newplex_protocol_to_bytes(live[o->instances[1]], state));
        CHECK(is_in_state(live[p], other) == !o->refused);
        break;
    }
    default: CHECK(0);
    }
    if (o->kind != FINAL && o->state.size > 0) {
        CHECK(is_in_state(live[p], o->state));
    }
    free(buffer);
}

static void transcripts_are_those_of_the_reference(void) {
    for (size_t i = 0; i < TRANSCRIPTS; i++) {
        sealwire_newplex_protocol *live[INSTANCES] = {NULL};
        for (size_t j = 0; j < transcripts[i].count; j++) {
            apply(live, &transcripts[i].operations[j]);
        }
        for (size_t j = 0; j < INSTANCES; j++) {
            sealwire_newplex_protocol_free(live[j]);
        }
    }
    for (size_t i = 0; i < STATES; i++) {
        sealwire_newplex_protocol *protocol = NULL;
        blob state = states[i].state;
        if (states[i].accept) {
            OK(sealwire_newplex_protocol_from_bytes(state.data, state.size, &protocol));
            uint8_t *derived = room(16);
            OK(sealwire_newplex_protocol_derive(protocol, "after", derived, 16));
            CHECK(holds(derived, states[i].derived));
            free(derived);
            sealwire_newplex_protocol_free(protocol);
        } else {
            RETURNS(SEALWIRE_ERROR_ARGUMENT,
                    sealwire_newplex_protocol_from_bytes(state.data, state.size, &protocol));
            CHECK(protocol == NULL);
        }
    }
}

static void digests_are_those_of_the_reference(void) {
    for (size_t i = 0; i < DIGESTS; i++) {
        const digested *d = &digests[i];
        size_t half = d->message.size / 2;
        uint8_t *value = room(d->value.size);
        if (d->keyed) {
            sealwire_newplex_keyed_digest *digest = NULL;
            OK(sealwire_newplex_keyed_digest_new(d->domain, d->key.data, d->key.size, &digest));
            OK(sealwire_newplex_keyed_digest_update(digest, d->message.data, half));
            OK(sealwire_newplex_keyed_digest_value(digest, value));
            OK(sealwire_newplex_keyed_digest_update(digest, d->message.data + half, d->message.size - half));
            OK(sealwire_newplex_keyed_digest_value(digest, value));
            CHECK(holds(value, d->value));
            for (size_t at = 0; at < SEALWIRE_NEWPLEX_TAG_SIZE; at++) {
                OK(sealwire_newplex_keyed_digest_verify(digest, value));
                value[at] ^= 1;
                RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC, sealwire_newplex_keyed_digest_verify(digest, value));
                value[at] ^= 1;
            }
            sealwire_newplex_keyed_digest_free(digest);
        } else {
            sealwire_newplex_digest *digest = NULL;
            OK(sealwire_newplex_digest_new(d->domain, &digest));
            OK(sealwire_newplex_digest_update(digest, d->message.data, half));
            OK(sealwire_newplex_digest_value(digest, value));
            OK(sealwire_newplex_digest_update(digest, d->message.data + half, d->message.size - half));
            OK(sealwire_newplex_digest_value(digest, value));
            CHECK(holds(value, d->value));
            sealwire_newplex_digest_free(digest);
        }
        free(value);
    }
}

static void sealed_messages_are_those_of_the_reference(void) {
    for (size_t i = 0; i < SEALINGS; i++) {
        const sealing *s = &sealings[i];
        size_t size = s->sealed.size < 16 ? 0 : s->sealed.size - 16;
        uint8_t *text = room(size), *sealed = room(s->sealed.size), *in_place = copy_of(s->sealed);
        sealwire_newplex_aead *aead = NULL;
        OK(sealwire_newplex_aead_new(s->domain, s->key.data, s->key.size, &aead));
        if (s->forged) {
            RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC,
                    sealwire_newplex_aead_open(aead, s->nonce.data, s->aad.data, s->aad.size, s->sealed.data,
                                               s->sealed.size, text));
            CHECK(untouched(text, size + 8));
            RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC,
                    sealwire_newplex_aead_open(aead, s->nonce.data, s->aad.data, s->aad.size, in_place,
                                               s->sealed.size, in_place));
            CHECK(holds(in_place, s->sealed));
        } else {
            OK(sealwire_newplex_aead_seal(aead, s->nonce.data, s->aad.data, s->aad.size, s->plaintext.data,
                                          s->plaintext.size, sealed));
            CHECK(holds(sealed, s->sealed));
            OK(sealwire_newplex_aead_open(aead, s->nonce.data, s->aad.data, s->aad.size, s->sealed.data,
                                          s->sealed.size, text));
            CHECK(holds(text, s->plaintext));
        }
        sealwire_newplex_aead_free(aead);
        free(text);
        free(sealed);
        free(in_place);
    }
}

static sealwire_newplex_protocol *set_up(const streamed *s) {
    sealwire_newplex_protocol *protocol = protocol_for(s->domain);
    for (size_t i = 0; i < s->setup_count; i++) {
        OK(sealwire_newplex_protocol_mix(protocol, s->setup[i].label, s->setup[i].input.data,
                                         s->setup[i].input.size));
    }
    return protocol;
}

/* Both sides go on from the same state. */
static void goes_on(sealwire_newplex_protocol *protocol, const streamed *s) {
    uint8_t *derived = room(32);
    OK(sealwire_newplex_protocol_derive(protocol, "final", derived, 32));
    CHECK(holds(derived, s->final));
    free(derived);
    sealwire_newplex_protocol_free(protocol);
}

static void write_stream(const streamed *s) {
    uint8_t *sealed = room(s->sealed.size), *at = sealed;
    sealwire_newplex_sealer *sealer = NULL;
    sealwire_newplex_protocol *protocol = NULL;
    OK(sealwire_newplex_sealer_new(set_up(s), &sealer));
    for (size_t i = 0; i < s->write_count; i++) {
        blob text = s->writes[i];
        if (i % 2 == 0) {
            OK(sealwire_newplex_sealer_seal(sealer, text.data, text.size, at));
        } else {
            /* In place. */
            memcpy(at, text.data, text.size);
            OK(sealwire_newplex_sealer_seal(sealer, at, text.size, at));
        }
        at += text.size + SEALWIRE_NEWPLEX_BLOCK_OVERHEAD;
    }
    OK(sealwire_newplex_sealer_end(sealer, at, &protocol));
    CHECK(at + SEALWIRE_NEWPLEX_BLOCK_OVERHEAD == sealed + s->sealed.size && holds(sealed, s->sealed));
    goes_on(protocol, s);
    RETURNS(SEALWIRE_ERROR_STATE, sealwire_newplex_sealer_seal(sealer, s->sealed.data, 1, sealed));
    RETURNS(SEALWIRE_ERROR_STATE, sealwire_newplex_sealer_end(sealer, sealed, NULL));
    CHECK(holds(sealed, s->sealed));
    sealwire_newplex_sealer_free(sealer);
    free(sealed);
}

/* Returns whether the end was reached; all that is handed out before is what the reference hands out. */
static int read_stream(const streamed *s) {
    sealwire_newplex_opener *opener = NULL;
    sealwire_newplex_protocol *protocol = NULL;
    blob rest = s->sealed, text = s->text;
    bool ended = false;
    OK(sealwire_newplex_opener_new(set_up(s), &opener));
    while (!ended && rest.size >= SEALWIRE_NEWPLEX_BLOCK_HEADER_SIZE) {
        size_t size = 0, again = 0;
        OK(sealwire_newplex_opener_block_size(opener, rest.data, &size));
        OK(sealwire_newplex_opener_block_size(opener, rest.data, &again));
        CHECK(size == again && size >= SEALWIRE_NEWPLEX_BLOCK_OVERHEAD);
        if (size > rest.size) {
            break;
        }
        size_t carried = size - SEALWIRE_NEWPLEX_BLOCK_OVERHEAD;
        uint8_t *opened = room(carried);
        RETURNS(SEALWIRE_ERROR_STATE, sealwire_newplex_opener_end(opener, &protocol));
        if (sealwire_newplex_opener_open(opener, rest.data, size, opened, &ended) != SEALWIRE_OK) {
            CHECK(untouched(opened, carried + 8));
            /* And none after it. */
            RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC,
                    sealwire_newplex_opener_open(opener, rest.data, size, opened, &ended));
            CHECK(untouched(opened, carried + 8) && !ended);
            free(opened);
            break;
        }
        blob block = {text.data, carried};
        CHECK(carried <= text.size && holds(opened, block) && ended == (carried == 0));
        text = rest_of(text, carried);
        rest = rest_of(rest, size);
        free(opened);
    }
    if (ended) {
        CHECK(text.size == 0);
        uint8_t end[SEALWIRE_NEWPLEX_BLOCK_OVERHEAD] = {0};
        RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC,
                sealwire_newplex_opener_open(opener, end, sizeof end, NULL, &ended));
        OK(sealwire_newplex_opener_end(opener, &protocol));
        if (s->final.size > 0) {
            goes_on(protocol, s);
        } else {
            sealwire_newplex_protocol_free(protocol);
        }
    }
    RETURNS(SEALWIRE_ERROR_STATE, sealwire_newplex_opener_end(opener, &protocol));
    sealwire_newplex_opener_free(opener);
    return ended;
}

static void streams_are_those_of_the_reference(void) {
    for (size_t i = 0; i < STREAMS; i++) {
        if (streams[i].final.size > 0) {
            write_stream(&streams[i]);
        }
        CHECK(read_stream(&streams[i]) == streams[i].accept);
    }
}

static void signatures_are_those_of_the_reference(void) {
    for (size_t i = 0; i < SIGNATURES; i++) {
        const signed_message *s = &signatures[i];
        uint8_t key[SEALWIRE_NEWPLEX_KEY_SIZE], *signature = room(SEALWIRE_NEWPLEX_SIGNATURE_SIZE);
        if (s->secret_key.size > 0) {
            OK(sealwire_newplex_keys_public(s->secret_key.data, key));
            CHECK(memcmp(key, s->public_key.data, sizeof key) == 0);
            OK(sealwire_newplex_sign(s->domain, s->secret_key.data, s->message.data, s->message.size,
                                     s->random.data, s->random.size, signature));
            CHECK(holds(signature, s->signature));
        }
        sealwire_status verdict = sealwire_newplex_verify(
            s->domain, s->public_key.data, s->message.data, s->message.size, s->signature.data);
        if (s->accept) {
            CHECK(verdict == SEALWIRE_OK);
        } else {
            CHECK(verdict == SEALWIRE_ERROR_NOT_AUTHENTIC || verdict == SEALWIRE_ERROR_KEY);
        }
        free(signature);
    }

    uint8_t public_key[2][32], secret_key[2][32], again[32], signature[64];
    for (int i = 0; i < 2; i++) {
        OK(sealwire_newplex_keys_generate(public_key[i], secret_key[i]));
        OK(sealwire_newplex_keys_public(secret_key[i], again));
        CHECK(memcmp(again, public_key[i], 32) == 0);
    }
    CHECK(memcmp(secret_key[0], secret_key[1], 32) != 0);
    OK(sealwire_newplex_sign("test", secret_key[0], octets("text"), 4, NULL, 0, signature));
    OK(sealwire_newplex_verify("test", public_key[0], octets("text"), 4, signature));
    RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC,
            sealwire_newplex_verify("test", public_key[1], octets("text"), 4, signature));
    RETURNS(SEALWIRE_ERROR_NOT_AUTHENTIC,
            sealwire_newplex_verify("other", public_key[0], octets("text"), 4, signature));
}

int main(void) {
    transcripts_are_those_of_the_reference();
    digests_are_those_of_the_reference();
    sealed_messages_are_those_of_the_reference();
    streams_are_those_of_the_reference();
    signatures_are_those_of_the_reference();
    return 0;
}
