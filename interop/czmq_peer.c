/*
 * czmq itself, driven by a test: its certificates, and PUSH and PULL that use them.
 *
 *   czmq-peer --make FILE             a new certificate: FILE and FILE_secret
 *   czmq-peer --read FILE             what czmq reads in FILE or FILE_secret
 *   czmq-peer --type TYPE --bind ENDPOINT --certificate FILE --allow-certificates FOLDER
 *   czmq-peer --type TYPE --connect ENDPOINT --certificate FILE --server-certificate FILE
 *
 * TYPE is `push`, which sends one message, or `pull`, which receives one. Who binds is the server,
 * with an authenticator that lets in the certificates of a folder. Events are those of the other
 * peers; README.md describes them.
 */

#include <czmq.h>

static void fail(const char *what)
{
    printf("{\"event\": \"error\", \"reason\": \"%s\"}\n", what);
    exit(1);
}

static zcert_t *load(const char *file)
{
    zcert_t *certificate = zcert_load(file);
    if (!certificate)
        fail("the certificate cannot be read");
    return certificate;
}

static void print_certificate(zcert_t *certificate)
{
    const byte none[32] = { 0 }, *secret = zcert_secret_key(certificate);
    printf("{\"event\": \"certificate\", \"public\": \"%s\"", zcert_public_txt(certificate));
    if (memcmp(secret, none, sizeof none) != 0)
        printf(", \"secret\": \"%s\"", zcert_secret_txt(certificate));
    printf("}\n");
}

int main(int argc, char **argv)
{
    const char *make = NULL, *read_file = NULL, *type = "", *bind = NULL, *connect = NULL;
    const char *certificate = NULL, *server = NULL, *allowed = NULL;
    int timeout_ms = 30000;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (streq(name, "--make"))
            make = value;
        else if (streq(name, "--read"))
            read_file = value;
        else if (streq(name, "--type"))
            type = value;
        else if (streq(name, "--bind"))
            bind = value;
        else if (streq(name, "--connect"))
            connect = value;
        else if (streq(name, "--certificate"))
            certificate = value;
        else if (streq(name, "--server-certificate"))
            server = value;
        else if (streq(name, "--allow-certificates"))
            allowed = value;
        else if (streq(name, "--timeout-s"))
            timeout_ms = atoi(value) * 1000;
        else
            fail("an unknown option");
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (make) {
        zcert_t *made = zcert_new();
        zcert_set_meta(made, "name", "%s", "made by czmq");
        if (zcert_save(made, make) != 0)
            fail("the certificate cannot be written");
        print_certificate(made);
        return 0;
    }
    if (read_file) {
        print_certificate(load(read_file));
        return 0;
    }
    int sends = streq(type, "push");
    if ((!sends && !streq(type, "pull")) || !certificate || !bind == !connect)
        fail("needs --type, --certificate and one of --bind and --connect");
    zsys_set_linger(5000);
    zactor_t *authenticator = NULL;
    if (bind) {
        authenticator = zactor_new(zauth, NULL);
        zstr_sendx(authenticator, "CURVE", allowed ? allowed : CURVE_ALLOW_ANY, NULL);
        zsock_wait(authenticator);
    }
    zsock_t *socket = zsock_new(sends ? ZMQ_PUSH : ZMQ_PULL);
    zsock_set_rcvtimeo(socket, timeout_ms);
    zsock_set_sndtimeo(socket, timeout_ms);
    zcert_apply(load(certificate), socket);
    if (bind) {
        zsock_set_curve_server(socket, 1);
        int port = zsock_bind(socket, "%s", bind);
        if (port < 0)
            fail("cannot bind");
    } else {
        zsock_set_curve_serverkey(socket, zcert_public_txt(load(server)));
        if (zsock_connect(socket, "%s", connect) != 0)
            fail("cannot connect");
    }
    printf("{\"event\": \"ready\", \"endpoint\": \"%s\"}\n", bind ? zsock_last_endpoint(socket) : connect);
    if (sends) {
        if (zstr_send(socket, "sent by czmq") != 0)
            fail("cannot send");
    } else {
        char *text = zstr_recv(socket);
        if (!text)
            fail("nothing was received");
        printf("{\"event\": \"message\", \"parts\": [{\"length\": %zu, \"hex\": \"", strlen(text));
        for (const char *at = text; *at; at++)
            printf("%02x", (unsigned char) *at);
        printf("\"}]}\n");
    }
    printf("{\"event\": \"done\", \"sent\": %d, \"received\": %d}\n", sends, !sends);
    /* Held open until standard input ends, so that what was sent can be read at leisure. */
    while (getchar() != EOF)
        ;
    zsock_destroy(&socket);
    zactor_destroy(&authenticator);
    return 0;
}
