/* The libzmq peer's mechanisms, keys and authenticator. */

#include <sodium.h>
#include <string.h>
#include <zmq.h>

#include "zmq_peer.h"

static void key_bytes(const char *hex, unsigned char key[32])
{
    size_t size = 0;
    if (hex == NULL || sodium_hex2bin(key, 32, hex, strlen(hex), NULL, &size, NULL) != 0 || size != 32)
        fail("a key has 64 hexadecimal digits");
}

enum { ZAP_FRAMES = 12, ZAP_FRAME = 256 };

/* Lets in the one user or the one key that was named, or answers as it was told (ZAP, RFC 27). */
static void authenticate(void *handler)
{
    unsigned char allowed[32];
    if (args.allow)
        key_bytes(args.allow, allowed);
    for (;;) {
        unsigned char frame[ZAP_FRAMES][ZAP_FRAME];
        int size[ZAP_FRAMES] = { 0 }, frames = 0, more = 1;
        while (more) {
            int at = frames < ZAP_FRAMES ? frames : ZAP_FRAMES - 1;
            size[at] = zmq_recv(handler, frame[at], ZAP_FRAME - 1, 0);
            if (size[at] < 0) {
                zmq_close(handler);
                return;
            }
            frame[at][size[at] < ZAP_FRAME ? size[at] : ZAP_FRAME - 1] = 0;
            frames++;
            size_t more_size = sizeof more;
            zmq_getsockopt(handler, ZMQ_RCVMORE, &more, &more_size);
        }
        /* version, id, domain, address, routing id, mechanism, credentials */
        int good = 0;
        if (args.mechanism == NULL_MECHANISM)
            good = frames == 6;
        else if (args.mechanism == CURVE)
            good = frames >= 7 && size[6] == 32 && (!args.allow || !memcmp(frame[6], allowed, 32));
        else if (args.mechanism == PLAIN)
            good = frames >= 8 && !strcmp((char *) frame[6], args.username) &&
                   !strcmp((char *) frame[7], args.password);
        zmq_send(handler, "1.0", 3, ZMQ_SNDMORE);
        zmq_send(handler, frame[1], (size_t) size[1], ZMQ_SNDMORE);
        zmq_send(handler, !good ? "400" : args.zap ? args.zap : "200", 3, ZMQ_SNDMORE);
        zmq_send(handler, "", 0, ZMQ_SNDMORE);
        /* A user id would never let libzmq's REQ send: it takes the id for an answer. */
        zmq_send(handler, "", 0, ZMQ_SNDMORE);
        zmq_send(handler, "", 0, 0);
    }
}

void protect(void *context)
{
    unsigned char secret[32], public[32], server[32];
    if (args.mechanism == NULL_MECHANISM && !args.zap)
        return;
    if (args.server || args.mechanism == NULL_MECHANISM) {
        void *handler = zmq_socket(context, ZMQ_REP);
        check(zmq_bind(handler, "inproc://zeromq.zap.01"), "ZAP");
        zmq_threadstart(authenticate, handler);
        set_bytes(ZMQ_ZAP_DOMAIN, "test", 4, "ZAP domain");
    }
    if (args.mechanism == NULL_MECHANISM) {
        return;
    } else if (args.mechanism == CURVE) {
        key_bytes(args.secret_key, secret);
        crypto_scalarmult_base(public, secret);
        set_bytes(ZMQ_CURVE_SECRETKEY, secret, sizeof secret, "secret key");
        if (args.server) {
            set_int(ZMQ_CURVE_SERVER, 1, "CURVE server");
        } else {
            key_bytes(args.server_key, server);
            set_bytes(ZMQ_CURVE_PUBLICKEY, public, sizeof public, "public key");
            set_bytes(ZMQ_CURVE_SERVERKEY, server, sizeof server, "server key");
        }
    } else if (args.server) {
        set_int(ZMQ_PLAIN_SERVER, 1, "PLAIN server");
    } else {
        set_bytes(ZMQ_PLAIN_USERNAME, args.username, strlen(args.username), "username");
        set_bytes(ZMQ_PLAIN_PASSWORD, args.password, strlen(args.password), "password");
    }
}
