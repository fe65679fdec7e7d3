/* What the files of the libzmq peer share. */

#ifndef ZMQ_PEER_H
#define ZMQ_PEER_H

#include <stddef.h>

enum { MAX_PARTS = 64, MAX_TOPICS = 16, MAX_SIZES = 64 };

struct arguments {
    int type, send, parts, recv, cancel, echo, delimiter, lockstep, heartbeat_ms, timeout_s, monitor;
    int high_water_mark, receive_buffer, handover;
    int size[MAX_SIZES], sizes;
    const char *bind, *connect, *next, *identity, *topic, *subscribe[MAX_TOPICS];
    int topics;
    enum { NULL_MECHANISM, PLAIN, CURVE } mechanism;
    int server;
    const char *secret_key, *server_key, *allow, *username, *password, *zap;
};

extern struct arguments args;

/* The socket that the script uses. */
extern void *sock;

/* Prints the event `error` and ends the program. */
void fail(const char *format, ...);

/* Fails unless the result says that all went well. */
void check(int result, const char *what);

void set_int(int option, int value, const char *what);
void set_bytes(int option, const void *value, size_t size, const char *what);

/* Reads the command line into `args`. */
void parse(int argc, char **argv);

/* Sets mechanism, keys and the authenticator. */
void protect(void *context);

/* Prints the events of the socket's connections from now on. */
void watch(void *context);

#endif
