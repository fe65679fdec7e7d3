/* Messages without copies: each buffer is freed exactly once, whatever becomes of the message. */
#include "test.h"

enum { SIZE = 100000 };

/* Threads of the library free buffers too. */
static void count_and_free(void *data, void *hint) {
    __atomic_add_fetch((int *)hint, 1, __ATOMIC_SEQ_CST);
    free(data);
}

static int freed(int *count) {
    return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}

static uint8_t *buffer(size_t size) {
    uint8_t *data = (uint8_t *)malloc(size);
    CHECK(data != NULL);
    memset(data, 0x5a, size);
    return data;
}

int main(void) {
    mechanism with = make_mechanism("BLAKE3");
    sealwire_message *message = NULL, *other = NULL;
    int count = 0;

    /* Not sent. */
    uint8_t *data = buffer(SIZE);
    OK(sealwire_message_from_buffer(data, SIZE, count_and_free, &count, &message));
    CHECK(sealwire_message_data(message) == data && sealwire_message_size(message) == SIZE);
    CHECK(sealwire_message_peer(message) == NULL);
    CHECK(freed(&count) == 0);
    OK(sealwire_message_clone(message, &other));
    CHECK(sealwire_message_data(other) == data);
    sealwire_message_free(message);
    CHECK(freed(&count) == 0);
    sealwire_message_free(other);
    CHECK(freed(&count) == 1);

    /* Refused: the buffer stays with the caller. */
    data = buffer(SIZE);
    RETURNS(SEALWIRE_ERROR_NULL,
            sealwire_message_from_buffer(data, SIZE, count_and_free, &count, NULL));
    RETURNS(SEALWIRE_ERROR_ARGUMENT,
            sealwire_message_from_buffer(data, SIZE_MAX, count_and_free, &count, &message));
    CHECK(freed(&count) == 1);
    free(data);

    /* Sent, in several frames, one of them static. */
    static const char envelope[] = "envelope";
    char *endpoint = NULL;
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, with.server);
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, with.client);
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(push, endpoint));
    enum { ROUNDS = 20 };
    for (int round = 0; round < ROUNDS; round++) {
        OK(sealwire_message_new(&message));
        CHECK(sealwire_message_frames(message) == 0 && sealwire_message_data(message) == NULL);
        RETURNS(SEALWIRE_ERROR_MESSAGE, sealwire_socket_send(push, message, SEALWIRE_WAIT));
        OK(sealwire_message_add_buffer(message, (void *)envelope, 8, NULL, NULL));
        OK(sealwire_message_add(message, "copied", 6));
        OK(sealwire_message_add_buffer(message, buffer(SIZE), SIZE, count_and_free, &count));
        OK(sealwire_socket_send(push, message, SEALWIRE_WAIT));
        message = receive(pull);
        CHECK(sealwire_message_frames(message) == 3 && sealwire_message_size(message) == SIZE);
        CHECK(memcmp(sealwire_message_frame(message, 0), envelope, 8) == 0);
        CHECK(((const uint8_t *)sealwire_message_data(message))[SIZE - 1] == 0x5a);
        sealwire_message_free(message);
    }
    /* Closing waits for the thread that sends. */
    OK(sealwire_socket_close(push));
    sealwire_socket_free(push);
    CHECK(freed(&count) == 1 + ROUNDS);

    /* Handed over without a copy within the process, and held beyond both sockets. */
    sealwire_security *none = no_security();
    sealwire_socket *from = make_socket(SEALWIRE_PAIR, none), *to = make_socket(SEALWIRE_PAIR, none);
    OK(sealwire_socket_bind(to, "inproc://zero-copy", NULL));
    OK(sealwire_socket_connect(from, "inproc://zero-copy"));
    data = buffer(SIZE);
    OK(sealwire_message_from_buffer(data, SIZE, count_and_free, &count, &message));
    OK(sealwire_socket_send(from, message, SEALWIRE_WAIT));
    message = receive(to);
    sealwire_socket_free(from);
    sealwire_socket_free(to);
    CHECK(sealwire_message_data(message) == data);
    CHECK(freed(&count) == 1 + ROUNDS);
    sealwire_message_free(message);
    CHECK(freed(&count) == 2 + ROUNDS);

    sealwire_security_free(none);
    sealwire_socket_free(pull);
    sealwire_string_free(endpoint);
    free_mechanism(&with);
    return 0;
}
