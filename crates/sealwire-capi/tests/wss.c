/* wss: messages and calls over TLS, certificates that are not accepted, and what cannot be used. */
#include "test.h"
#include "wss_certificates.h"

#include <sys/stat.h>
#include <unistd.h>

/* Milliseconds, for a receive whose end is known. */
#define SHORT 1

static char folder[] = "/tmp/sealwire-wss-XXXXXX";

/* A file in the folder; its path is valid until the next call. */
static const char *path_of(const char *name) {
    static char path[256];
    CHECK(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
    return path;
}

static void write_file(const char *name, const char *text, mode_t mode) {
    const char *path = path_of(name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    CHECK(fputs(text, file) >= 0 && fclose(file) == 0);
    CHECK(chmod(path, mode) == 0);
}

static sealwire_tls_identity *identity_of(const char *chain, const char *key) {
    sealwire_tls_identity *identity = NULL;
    OK(sealwire_tls_identity_from_pem(chain, strlen(chain), key, strlen(key), &identity));
    return identity;
}

static sealwire_tls_trust *trust_in(const char *authorities) {
    sealwire_tls_trust *trust = NULL;
    OK(sealwire_tls_trust_from_pem(authorities, strlen(authorities), &trust));
    return trust;
}

/* Gives both to options, which have what they need of them after that. */
static void set_tls(sealwire_options *options, sealwire_tls_identity *identity,
                    sealwire_tls_trust *trust) {
    if (identity != NULL) {
        OK(sealwire_options_set_tls_identity(options, identity));
    }
    if (trust != NULL) {
        OK(sealwire_options_set_tls_trust(options, trust));
    }
    sealwire_tls_identity_free(identity);
    sealwire_tls_trust_free(trust);
}

/* A socket that shows this certificate, or trusts these authorities. */
static sealwire_socket *secured(int32_t type, const sealwire_security *security,
                                sealwire_tls_identity *identity, sealwire_tls_trust *trust) {
    sealwire_options *options = options_with_timeouts();
    sealwire_socket *socket = NULL;
    set_tls(options, identity, trust);
    OK(sealwire_socket_new(type, security, options, &socket));
    sealwire_options_free(options);
    return socket;
}

static char *bound_to(const sealwire_socket *socket) {
    char *endpoint = NULL;
    OK(sealwire_socket_bind(socket, "wss://127.0.0.1:0/zeromq", &endpoint));
    CHECK(strncmp(endpoint, "wss://127.0.0.1:", 16) == 0);
    return endpoint;
}

/* Requests and replies, small ones and one of many TLS records. */
static void exchanges(sealwire_tls_identity *identity, sealwire_tls_trust *trust) {
    mechanism with = make_mechanism_of_alice();
    sealwire_socket *server = secured(SEALWIRE_REP, with.server, identity, NULL);
    sealwire_socket *client = secured(SEALWIRE_REQ, with.client, NULL, trust);
    char *endpoint = bound_to(server);
    OK(sealwire_socket_connect(client, endpoint));
    for (int i = 0; i < 10; i++) {
        send_text(client, "question");
        sealwire_message *question = receive(server);
        CHECK(says(question, "question"));
        CHECK(strcmp(sealwire_peer_user_id(sealwire_message_peer(question)), "alice") == 0);
        sealwire_message_free(question);
        send_text(server, "answer");
        receive_text(client, "answer");
    }
    size_t size = 1000003;
    char *large = (char *)malloc(size);
    CHECK(large != NULL);
    for (size_t i = 0; i < size; i++) {
        large[i] = (char)(i % 251);
    }
    OK(sealwire_socket_send_bytes(client, large, size, SEALWIRE_WAIT));
    sealwire_message *message = receive(server);
    CHECK(sealwire_message_size(message) == size);
    CHECK(memcmp(sealwire_message_data(message), large, size) == 0);
    sealwire_message_free(message);
    free(large);
    sealwire_socket_free(client);
    sealwire_socket_free(server);
    sealwire_string_free(endpoint);
    free_mechanism(&with);
}

static void await_tls_failure(const sealwire_monitor *monitor, const char *text) {
    sealwire_event *event = await_event(monitor, SEALWIRE_EVENT_FAILED);
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_TLS);
    if (strstr(sealwire_event_text(event), text) == NULL) {
        fprintf(stderr, "'%s' does not speak of '%s'\n", sealwire_event_text(event), text);
        exit(1);
    }
    sealwire_event_free(event);
}

/* The client does not accept the certificate: both sides are told, and nothing goes over it. */
static void is_refused(sealwire_tls_identity *identity, sealwire_tls_trust *trust, const char *reason) {
    mechanism with = make_mechanism("BLAKE3");
    sealwire_socket *server = secured(SEALWIRE_PUSH, with.server, identity, NULL);
    sealwire_socket *client = secured(SEALWIRE_PULL, with.client, NULL, trust);
    sealwire_monitor *at_server = NULL, *at_client = NULL;
    sealwire_message *message = NULL;
    sealwire_peers *peers = NULL;
    OK(sealwire_monitor_new(server, &at_server));
    OK(sealwire_monitor_new(client, &at_client));
    char *endpoint = bound_to(server);
    OK(sealwire_socket_connect(client, endpoint));
    await_tls_failure(at_client, reason);
    await_tls_failure(at_server, "the peer refuses");
    RETURNS(SEALWIRE_ERROR_HANDSHAKE, sealwire_socket_recv(client, SHORT, &message));
    CHECK(strstr(sealwire_last_error(), reason) != NULL);
    RETURNS(SEALWIRE_ERROR_HANDSHAKE, sealwire_socket_send_bytes(server, "x", 1, SHORT));
    OK(sealwire_peers_of_socket(server, &peers));
    CHECK(sealwire_peers_size(peers) == 0);
    sealwire_peers_free(peers);
    sealwire_monitor_free(at_server);
    sealwire_monitor_free(at_client);
    sealwire_socket_free(client);
    sealwire_socket_free(server);
    sealwire_string_free(endpoint);
    free_mechanism(&with);
}

static void certificates_that_are_not_accepted(void) {
    is_refused(identity_of(HERE_CHAIN_PEM, HERE_KEY_PEM), trust_in(OTHER_AUTHORITY_PEM), "authority");
    is_refused(identity_of(EXPIRED_CHAIN_PEM, EXPIRED_KEY_PEM), trust_in(AUTHORITY_PEM), "expired");
    is_refused(identity_of(NAMED_CHAIN_PEM, NAMED_KEY_PEM), trust_in(AUTHORITY_PEM), "another host");
    sealwire_tls_trust *trust = trust_in(AUTHORITY_PEM);
    OK(sealwire_tls_trust_set_host_name(trust, "example.org"));
    is_refused(identity_of(HERE_CHAIN_PEM, HERE_KEY_PEM), trust, "example.org");
}

static void other_names_and_several_authorities(void) {
    sealwire_tls_trust *trust = trust_in(OTHER_AUTHORITY_PEM);
    OK(sealwire_tls_trust_add_pem(trust, AUTHORITY_PEM, strlen(AUTHORITY_PEM)));
    OK(sealwire_tls_trust_set_host_name(trust, "example.org"));
    /* What fails leaves it as it was. */
    RETURNS(SEALWIRE_ERROR_TLS_HOST_NAME, sealwire_tls_trust_set_host_name(trust, "a b"));
    RETURNS(SEALWIRE_ERROR_TLS_CERTIFICATE, sealwire_tls_trust_add_pem(trust, "no PEM", 6));
    exchanges(identity_of(NAMED_CHAIN_PEM, NAMED_KEY_PEM), trust);
}

/* Before there is a thread that reads the environment. */
static void the_system_s_authorities(void) {
    sealwire_tls_trust *trust = NULL;
    write_file("empty.pem", "", 0644);
    write_file("authority.pem", AUTHORITY_PEM, 0644);
    CHECK(unsetenv("SSL_CERT_DIR") == 0);
    CHECK(setenv("SSL_CERT_FILE", path_of("empty.pem"), 1) == 0);
    RETURNS(SEALWIRE_ERROR_TLS_SYSTEM_TRUST, sealwire_tls_trust_system(&trust));
    CHECK(trust == NULL);
    sealwire_tls_trust *both = trust_in(OTHER_AUTHORITY_PEM);
    RETURNS(SEALWIRE_ERROR_TLS_SYSTEM_TRUST, sealwire_tls_trust_add_system(both));
    CHECK(setenv("SSL_CERT_FILE", path_of("authority.pem"), 1) == 0);
    OK(sealwire_tls_trust_system(&trust));
    OK(sealwire_tls_trust_add_system(both));
    CHECK(unsetenv("SSL_CERT_FILE") == 0);
    exchanges(identity_of(HERE_CHAIN_PEM, HERE_KEY_PEM), trust);
    exchanges(identity_of(HERE_CHAIN_PEM, HERE_KEY_PEM), both);
}

static void from_files(void) {
    char chain[sizeof folder + 16];
    char key[sizeof folder + 16];
    sealwire_tls_identity *identity = NULL;
    sealwire_tls_trust *trust = NULL;
    write_file("chain.pem", HERE_CHAIN_PEM, 0644);
    strcpy(chain, path_of("chain.pem"));
    write_file("key.pem", HERE_KEY_PEM, 0644);
    strcpy(key, path_of("key.pem"));
    RETURNS(SEALWIRE_ERROR_KEY_FILE_PERMISSIONS, sealwire_tls_identity_read(chain, key, &identity));
    CHECK(chmod(key, 0640) == 0);
    OK(sealwire_tls_identity_read(chain, key, &identity));
    sealwire_tls_identity_free(identity);
    identity = NULL;
    CHECK(chmod(key, 0600) == 0);
    RETURNS(SEALWIRE_ERROR_KEY_FILE, sealwire_tls_identity_read(path_of("none"), key, &identity));
    RETURNS(SEALWIRE_ERROR_KEY_FILE, sealwire_tls_identity_read(chain, path_of("none"), &identity));
    RETURNS(SEALWIRE_ERROR_TLS_CERTIFICATE, sealwire_tls_identity_read(key, key, &identity));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_tls_identity_read(NULL, key, &identity));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_tls_identity_read(chain, NULL, &identity));
    CHECK(identity == NULL);
    OK(sealwire_tls_identity_read(chain, key, &identity));
    RETURNS(SEALWIRE_ERROR_KEY_FILE, sealwire_tls_trust_read(path_of("none"), &trust));
    RETURNS(SEALWIRE_ERROR_TLS_CERTIFICATE, sealwire_tls_trust_read(path_of("empty.pem"), &trust));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_tls_trust_read(NULL, &trust));
    CHECK(trust == NULL);
    OK(sealwire_tls_trust_read(path_of("authority.pem"), &trust));
    exchanges(identity, trust);
}

static void what_cannot_be_used(void) {
    const char *chain = HERE_CHAIN_PEM, *key = HERE_KEY_PEM, *other = NAMED_KEY_PEM;
    const size_t chain_size = strlen(chain), key_size = strlen(key), other_size = strlen(other);
    sealwire_tls_identity *identity = NULL;
    sealwire_tls_trust *trust = NULL;
    RETURNS(SEALWIRE_ERROR_TLS_CERTIFICATE,
            sealwire_tls_identity_from_pem(NULL, 0, key, key_size, &identity));
    RETURNS(SEALWIRE_ERROR_TLS_CERTIFICATE,
            sealwire_tls_identity_from_pem(chain, chain_size / 2, key, key_size, &identity));
    RETURNS(SEALWIRE_ERROR_TLS_PRIVATE_KEY,
            sealwire_tls_identity_from_pem(chain, chain_size, chain, chain_size, &identity));
    RETURNS(SEALWIRE_ERROR_TLS_KEY_MISMATCH,
            sealwire_tls_identity_from_pem(chain, chain_size, other, other_size, &identity));
    RETURNS(SEALWIRE_ERROR_NULL,
            sealwire_tls_identity_from_pem(NULL, chain_size, key, key_size, &identity));
    RETURNS(SEALWIRE_ERROR_NULL,
            sealwire_tls_identity_from_pem(chain, chain_size, NULL, key_size, &identity));
    RETURNS(SEALWIRE_ERROR_ARGUMENT,
            sealwire_tls_identity_from_pem(chain, SIZE_MAX, key, key_size, &identity));
    RETURNS(SEALWIRE_ERROR_NULL,
            sealwire_tls_identity_from_pem(chain, chain_size, key, key_size, NULL));
    RETURNS(SEALWIRE_ERROR_TLS_CERTIFICATE, sealwire_tls_trust_from_pem("x", 1, &trust));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_tls_trust_from_pem(NULL, 1, &trust));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_tls_trust_from_pem(chain, chain_size, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_tls_trust_system(NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_tls_trust_add_pem(NULL, chain, chain_size));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_tls_trust_add_system(NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_tls_trust_set_host_name(NULL, "localhost"));
    CHECK(identity == NULL && trust == NULL);
    sealwire_tls_identity_free(NULL);
    sealwire_tls_trust_free(NULL);

    sealwire_options *options = options_with_timeouts();
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_options_set_tls_identity(options, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_options_set_tls_trust(options, NULL));
    identity = identity_of(HERE_CHAIN_PEM, HERE_KEY_PEM);
    trust = trust_in(AUTHORITY_PEM);
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_options_set_tls_identity(NULL, identity));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_options_set_tls_trust(NULL, trust));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_tls_trust_set_host_name(trust, NULL));
    sealwire_tls_identity_free(identity);
    sealwire_tls_trust_free(trust);
    sealwire_options_free(options);

    /* A socket without what wss needs. */
    sealwire_security *none = no_security();
    sealwire_socket *bare = make_socket(SEALWIRE_PAIR, none);
    RETURNS(SEALWIRE_ERROR_TRANSPORT, sealwire_socket_bind(bare, "wss://127.0.0.1:0", NULL));
    CHECK(strstr(sealwire_last_error(), "certificate") != NULL);
    RETURNS(SEALWIRE_ERROR_TRANSPORT, sealwire_socket_connect(bare, "wss://127.0.0.1:9"));
    sealwire_socket_free(bare);
    sealwire_security_free(none);
}

static void on_request(sealwire_rpc_request *request, void *user) {
    (void)user;
    OK(sealwire_rpc_request_reply(request, sealwire_rpc_request_data(request),
                                  sealwire_rpc_request_size(request)));
}

static void calls(void) {
    mechanism with = make_mechanism_of_alice();
    sealwire_rpc_handler handler = {on_request, NULL, NULL, NULL, 0};
    sealwire_options *of_server = NULL, *of_client = NULL, *of_stranger = NULL;
    sealwire_rpc_server *server = NULL;
    sealwire_rpc_client *client = NULL;
    sealwire_rpc_reply *reply = NULL;
    char *endpoint = NULL;
    OK(sealwire_options_new(&of_server));
    OK(sealwire_options_new(&of_client));
    OK(sealwire_options_new(&of_stranger));
    set_tls(of_server, identity_of(HERE_CHAIN_PEM, HERE_KEY_PEM), NULL);
    set_tls(of_client, NULL, trust_in(AUTHORITY_PEM));
    set_tls(of_stranger, NULL, trust_in(OTHER_AUTHORITY_PEM));
    OK(sealwire_rpc_server_new(with.server, of_server, &handler, &server));
    OK(sealwire_rpc_server_bind(server, "wss://127.0.0.1:0", &endpoint));
    OK(sealwire_rpc_client_new(endpoint, with.client, of_client, NULL, &client));
    OK(sealwire_rpc_stream_answer(open_call(client, "hello", 5), &reply, NULL));
    CHECK(sealwire_rpc_reply_size(reply) == 5);
    sealwire_rpc_reply_free(reply);
    sealwire_rpc_client_free(client);
    OK(sealwire_rpc_client_new(endpoint, with.client, of_stranger, NULL, &client));
    /* A busy machine may take too long to come as far as the certificate. */
    int refused = 0;
    for (int i = 0; i < 100 && !refused; i++) {
        RETURNS(SEALWIRE_ERROR_RPC_CONNECT,
                sealwire_rpc_client_request(client, "hello", 5, TIMEOUT, &reply, NULL));
        refused = strstr(sealwire_last_error(), "authority") != NULL;
    }
    CHECK(refused);
    sealwire_rpc_client_free(client);
    sealwire_rpc_server_free(server);
    sealwire_options_free(of_server);
    sealwire_options_free(of_client);
    sealwire_options_free(of_stranger);
    sealwire_string_free(endpoint);
    free_mechanism(&with);
}

int main(void) {
    CHECK(mkdtemp(folder) != NULL);
    the_system_s_authorities();
    exchanges(identity_of(HERE_CHAIN_PEM, HERE_KEY_PEM), trust_in(AUTHORITY_PEM));
    from_files();
    certificates_that_are_not_accepted();
    other_names_and_several_authorities();
    what_cannot_be_used();
    calls();
    const char *files[] = {"empty.pem", "authority.pem", "chain.pem", "key.pem"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        CHECK(unlink(path_of(files[i])) == 0);
    }
    CHECK(rmdir(folder) == 0);
    return 0;
}
