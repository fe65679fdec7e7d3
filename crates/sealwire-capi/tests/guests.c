/* Who may connect at all, by address and process; what a ROUTER and a CURVE server ask of clients. */
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    int lets_in;
    int asked;
    int destroyed;
} door;

static int count_of(int *count) {
    return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}

static void destroy(void *user) {
    __atomic_add_fetch(&((door *)user)->destroyed, 1, __ATOMIC_SEQ_CST);
}

/* A decision that is being made keeps the callback a little longer. */
static void await_destroyed(door *at) {
    for (int i = 0; i < TIMEOUT && count_of(&at->destroyed) == 0; i++) {
        sealwire_poll(NULL, 0, 1, NULL);
    }
    CHECK(count_of(&at->destroyed) == 1);
}

static int by_number(const void *left, const void *right) {
    gid_t a = *(const gid_t *)left, b = *(const gid_t *)right;
    return (a > b) - (a < b);
}

/* Those of this process, which is the peer. */
static void check_groups(const sealwire_guest *guest) {
    gid_t own[256];
    uint32_t groups[256];
    size_t count = 999, again = 0;
    OK(sealwire_guest_groups(guest, NULL, 0, &count));
    CHECK(count <= 256);
    OK(sealwire_guest_groups(guest, groups, count, &again));
    CHECK(again == count);
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_guest_groups(guest, groups, count, NULL));
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_guest_groups(NULL, groups, count, &again));
#ifdef __linux__
    int expected = getgroups(256, own);
    CHECK(expected >= 0 && count == (size_t)expected);
    qsort(own, count, sizeof *own, by_number);
    qsort(groups, count, sizeof *groups, by_number);
    CHECK(memcmp(own, groups, count * sizeof *own) == 0);
#else
    CHECK(count == 0);
    (void)own;
    (void)by_number;
#endif
}

static void check_process(sealwire_status status, int32_t process, uint32_t user, uint32_t group) {
#ifdef __linux__
    CHECK(status == SEALWIRE_OK);
    CHECK(process == getpid() && user == getuid() && group == getgid());
#else
    CHECK(status == SEALWIRE_ERROR_UNSUPPORTED && process == 0 && user == 0 && group == 0);
#endif
}

static void admit(const sealwire_guest *guest, sealwire_decision *decision, void *user) {
    door *at = (door *)user;
    int32_t process = 0;
    uint32_t owner = 0, group = 0;
    sealwire_status status = sealwire_guest_process(guest, &process, &owner, &group);
    CHECK(strncmp(sealwire_guest_address(guest), "ipc://", 6) == 0);
    check_process(status, process, owner, group);
    check_groups(guest);
    __atomic_add_fetch(&at->asked, 1, __ATOMIC_SEQ_CST);
    if (at->lets_in) {
        OK(sealwire_decision_allow(decision, NULL));
    }
}

static void check_password(const char *username, const void *password, size_t size,
                           const sealwire_guest *guest, sealwire_decision *decision, void *user) {
    int32_t process = 0;
    uint32_t owner = 0, group = 0;
    sealwire_status status = sealwire_guest_process(guest, &process, &owner, &group);
    check_process(status, process, owner, group);
    CHECK(user == NULL && size == 6 && memcmp(password, "secret", 6) == 0);
    OK(sealwire_decision_allow(decision, username));
}

static void ipc_endpoint(char *into, size_t size) {
    static int number;
    snprintf(into, size, "ipc:///tmp/sealwire-capi-%d-%d", (int)getpid(), number++);
}

/* The authenticator is told whose process has the key. */
static void authenticate(const sealwire_client *client, sealwire_decision *decision, void *user) {
    door *at = (door *)user;
    int32_t process = 0;
    uint32_t owner = 0, group = 0;
    sealwire_status status = sealwire_client_process(client, &process, &owner, &group);
    CHECK(strncmp(sealwire_client_address(client), "ipc://", 6) == 0);
    check_process(status, process, owner, group);
    __atomic_add_fetch(&at->asked, 1, __ATOMIC_SEQ_CST);
    if (status == SEALWIRE_OK) {
        /* Each number by itself. */
        process = 0;
        owner = group = (uint32_t)-1;
        OK(sealwire_client_process(client, &process, NULL, NULL));
        OK(sealwire_client_process(client, NULL, &owner, NULL));
        OK(sealwire_client_process(client, NULL, NULL, &group));
        check_process(SEALWIRE_OK, process, owner, group);
    }
    RETURNS(SEALWIRE_ERROR_NULL, sealwire_client_process(NULL, &process, &owner, &group));
    OK(sealwire_decision_allow(decision, NULL));
}

static void authenticating(const char *name) {
    char endpoint[100];
    door at = {1, 0, 0};
    uint8_t key[SEALWIRE_KEY_SIZE];
    sealwire_keys *keys = NULL;
    sealwire_authenticator *authenticator = NULL;
    sealwire_security *serving = NULL, *asking = NULL;
    OK(sealwire_keys_generate(&keys));
    OK(sealwire_keys_public(keys, key));
    OK(sealwire_authenticator_callback(authenticate, &at, destroy, &authenticator));
    if (strcmp(name, "CURVE") == 0) {
        OK(sealwire_security_curve_server(keys, authenticator, &serving));
        OK(sealwire_security_curve_client(key, NULL, &asking));
    } else {
        OK(sealwire_security_blake3_server(keys, authenticator, &serving));
        OK(sealwire_security_blake3_client(key, NULL, &asking));
    }
    sealwire_authenticator_free(authenticator);
    sealwire_keys_free(keys);
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, serving);
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, asking);
    sealwire_security_free(serving);
    sealwire_security_free(asking);
    ipc_endpoint(endpoint, sizeof endpoint);
    OK(sealwire_socket_bind(pull, endpoint, NULL));
    OK(sealwire_socket_connect(push, endpoint));
    send_text(push, "let in");
    receive_text(pull, "let in");
    CHECK(count_of(&at.asked) > 0);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    await_destroyed(&at);
}

/* Where a guest came from, and from where nobody may come. */
typedef struct {
    door at;
    const char *refused;
    char seen[100];
} gate;

static void admit_by_address(const sealwire_guest *guest, sealwire_decision *decision, void *user) {
    gate *here = (gate *)user;
    int32_t process = 0;
    uint32_t owner = 0, group = 0;
    size_t groups = 1;
    const char *address = sealwire_guest_address(guest);
    CHECK(sealwire_guest_process(guest, &process, &owner, &group) == SEALWIRE_ERROR_UNSUPPORTED);
    CHECK(process == 0 && owner == 0 && group == 0);
    OK(sealwire_guest_groups(guest, NULL, 0, &groups));
    CHECK(groups == 0);
    if (here->refused != NULL && strncmp(address, here->refused, strlen(here->refused)) == 0) {
        OK(sealwire_decision_refuse(decision, 400, "not from there"));
    } else {
        snprintf(here->seen, sizeof here->seen, "%s", address);
        OK(sealwire_decision_allow(decision, NULL));
    }
    __atomic_add_fetch(&here->at.asked, 1, __ATOMIC_SEQ_CST);
}

/* Over TCP the address is what there is to go by. */
static void by_address(const char *refused, const char *source, sealwire_security *serving, sealwire_security *asking) {
    gate here = {{1, 0, 0}, refused, ""};
    char *bound = NULL, from[200];
    sealwire_socket *pull = NULL;
    sealwire_monitor *monitor = NULL;
    sealwire_options *options = options_with_timeouts();
    OK(sealwire_options_set_admit(options, admit_by_address, &here, destroy));
    OK(sealwire_socket_new(SEALWIRE_PULL, serving, options, &pull));
    sealwire_options_free(options);
    OK(sealwire_monitor_new(pull, &monitor));
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &bound));
    snprintf(from, sizeof from, "tcp://%s%s", source, bound + strlen("tcp://"));
    sealwire_socket *other = make_socket(SEALWIRE_PUSH, asking);
    if (refused != NULL) {
        OK(sealwire_socket_connect(other, from));
        sealwire_event *event = await_event(monitor, SEALWIRE_EVENT_FAILED);
        CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_REFUSED);
        CHECK(strstr(sealwire_event_text(event), "not from there") != NULL);
        CHECK(strncmp(sealwire_event_address(event), refused, strlen(refused)) == 0);
        sealwire_event_free(event);
    }
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, asking);
    /* Whose address is not the refused one. */
    if (refused == NULL || source[0] != '\0') {
        OK(sealwire_socket_connect(push, bound));
        send_text(push, "let in");
        sealwire_message *message = receive(pull);
        CHECK(says(message, "let in") && count_of(&here.at.asked) > 0);
        CHECK(strncmp(here.seen, "tcp://127.0.0.1:", 16) == 0);
        CHECK(strcmp(here.seen, sealwire_peer_address(sealwire_message_peer(message))) == 0);
        sealwire_message_free(message);
    }
    sealwire_monitor_free(monitor);
    sealwire_socket_free(other);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    sealwire_string_free(bound);
    await_destroyed(&here.at);
}

/* Whatever the mechanism, the callback is asked before anything is proved. */
static void by_process(int lets_in, sealwire_security *serving, sealwire_security *asking) {
    char endpoint[100];
    door at = {lets_in, 0, 0}, replaced = {1, 0, 0};
    sealwire_monitor *monitor = NULL;
    sealwire_socket *pull = NULL;
    sealwire_options *options = options_with_timeouts();
    OK(sealwire_options_set_admit(options, admit, &replaced, destroy));
    OK(sealwire_options_set_admit(options, admit, &at, destroy));
    CHECK(count_of(&replaced.destroyed) == 1);
    OK(sealwire_socket_new(SEALWIRE_PULL, serving, options, &pull));
    sealwire_options_free(options);
    OK(sealwire_monitor_new(pull, &monitor));
    ipc_endpoint(endpoint, sizeof endpoint);
    OK(sealwire_socket_bind(pull, endpoint, NULL));
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, asking);
    OK(sealwire_socket_connect(push, endpoint));
    if (lets_in) {
        int32_t process = 0;
        uint32_t owner = 0, group = 0;
        send_text(push, "let in");
        sealwire_message *message = receive(pull);
        const sealwire_peer *peer = sealwire_message_peer(message);
        sealwire_status status = sealwire_peer_process(peer, &process, &owner, &group);
        check_process(status, process, owner, group);
        CHECK(says(message, "let in"));
        sealwire_message_free(message);
    } else {
        sealwire_event *event = await_event(monitor, SEALWIRE_EVENT_FAILED);
        CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_REFUSED);
        CHECK(strstr(sealwire_event_text(event), "this peer is not allowed here") != NULL);
        sealwire_event_free(event);
    }
    CHECK(count_of(&at.asked) > 0 && count_of(&replaced.asked) == 0);
    sealwire_monitor_free(monitor);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    await_destroyed(&at);
    CHECK(count_of(&replaced.destroyed) == 1);
}

static void admission(void) {
    sealwire_security *none = no_security(), *serving = NULL, *asking = NULL;
    mechanism blake3 = make_mechanism("BLAKE3"), curve = make_mechanism("CURVE");
    OK(sealwire_security_plain_server(check_password, NULL, NULL, &serving));
    OK(sealwire_security_plain_client("alice", "secret", 6, &asking));
    for (int lets_in = 0; lets_in <= 1; lets_in++) {
        by_process(lets_in, none, none);
        by_process(lets_in, serving, asking);
        by_process(lets_in, blake3.server, blake3.client);
        by_process(lets_in, curve.server, curve.client);
    }
    by_address(NULL, "", none, none);
    by_address("tcp://127.0.0.1:", "", none, none);
    by_address(NULL, "", curve.server, curve.client);
    by_address("tcp://127.0.0.1:", "", curve.server, curve.client);
#ifdef __linux__
    /* Elsewhere this machine has not all addresses of 127.0.0.0/8. */
    by_address("tcp://127.0.0.3:", "127.0.0.3:0;", none, none);
    by_address("tcp://127.0.0.3:", "127.0.0.3:0;", blake3.server, blake3.client);
#endif
    /* STREAM has nobody to ask about. */
    door at = {1, 0, 0};
    sealwire_socket *stream = NULL;
    sealwire_options *options = options_with_timeouts();
    OK(sealwire_options_set_admit(options, admit, &at, destroy));
    RETURNS(SEALWIRE_ERROR_OPTION, sealwire_socket_new(SEALWIRE_STREAM, none, options, &stream));
    CHECK(stream == NULL && count_of(&at.destroyed) == 0);
    sealwire_options_free(options);
    CHECK(count_of(&at.destroyed) == 1);
    free_mechanism(&blake3);
    free_mechanism(&curve);
    sealwire_security_free(serving);
    sealwire_security_free(asking);
    sealwire_security_free(none);
}

static sealwire_socket *dealer_called(const char *routing_id, const sealwire_security *security) {
    sealwire_socket *dealer = NULL;
    sealwire_options *options = options_with_timeouts();
    OK(sealwire_options_set_bytes(options, SEALWIRE_OPTION_ROUTING_ID, routing_id,
                                  strlen(routing_id)));
    OK(sealwire_socket_new(SEALWIRE_DEALER, security, options, &dealer));
    sealwire_options_free(options);
    return dealer;
}

/* A routing id that is not the owner's is refused, though the key is on the list. */
static void names_of_their_own(void) {
    sealwire_socket *router = NULL;
    sealwire_monitor *monitor = NULL;
    char *endpoint = NULL;
    mechanism with = make_mechanism_of_alice();
    sealwire_options *options = options_with_timeouts();
    OK(sealwire_options_set(options, SEALWIRE_OPTION_ROUTING_ID_IS_USER_ID, 1));
    OK(sealwire_socket_new(SEALWIRE_ROUTER, with.server, options, &router));
    OK(sealwire_monitor_new(router, &monitor));
    OK(sealwire_socket_bind(router, "tcp://127.0.0.1:0", &endpoint));
    sealwire_socket *dealer = dealer_called("bob", with.client);
    OK(sealwire_socket_connect(dealer, endpoint));
    sealwire_event *event = await_event(monitor, SEALWIRE_EVENT_FAILED);
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_REJECTED);
    sealwire_event_free(event);
    sealwire_socket_free(dealer);
    dealer = dealer_called("alice", with.client);
    OK(sealwire_socket_connect(dealer, endpoint));
    send_text(dealer, "mine");
    sealwire_message *message = receive(router);
    CHECK(memcmp(sealwire_message_frame(message, 0), "alice", 5) == 0);
    sealwire_message_free(message);
    sealwire_monitor_free(monitor);
    sealwire_socket_free(dealer);
    sealwire_socket_free(router);
    sealwire_options_free(options);
    sealwire_string_free(endpoint);
    free_mechanism(&with);
}

/* Who accepts gaps is warned of it, at either end. */
static void gaps(void) {
    sealwire_keys *keys = NULL;
    sealwire_authenticator *anyone = NULL;
    sealwire_security *serving = NULL, *asking = NULL;
    sealwire_monitor *of_server = NULL, *of_client = NULL;
    uint8_t key[SEALWIRE_KEY_SIZE];
    char *endpoint = NULL;
    OK(sealwire_keys_generate(&keys));
    OK(sealwire_keys_public(keys, key));
    OK(sealwire_authenticator_anyone(&anyone));
    OK(sealwire_security_curve_server_accepting_gaps_unauthenticated_order(keys, anyone, &serving));
    OK(sealwire_security_curve_client_accepting_gaps_unauthenticated_order(key, NULL, &asking));
    sealwire_socket *rep = make_socket(SEALWIRE_REP, serving);
    sealwire_socket *req = make_socket(SEALWIRE_REQ, asking);
    OK(sealwire_monitor_new(rep, &of_server));
    OK(sealwire_monitor_new(req, &of_client));
    OK(sealwire_socket_bind(rep, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(req, endpoint));
    sealwire_event_free(await_event(of_server, SEALWIRE_EVENT_WARNING));
    sealwire_event_free(await_event(of_client, SEALWIRE_EVENT_WARNING));
    send_text(req, "question");
    receive_text(rep, "question");
    sealwire_monitor_free(of_server);
    sealwire_monitor_free(of_client);
    sealwire_socket_free(req);
    sealwire_socket_free(rep);
    sealwire_security_free(serving);
    sealwire_security_free(asking);
    sealwire_authenticator_free(anyone);
    sealwire_keys_free(keys);
    sealwire_string_free(endpoint);
}

static void replace(const char *path, const char *content) {
    char other[100];
    snprintf(other, sizeof other, "%s.new", path);
    int fd = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd != -1 && write(fd, content, strlen(content)) == (ssize_t)strlen(content));
    CHECK(close(fd) == 0 && rename(other, path) == 0);
}

/* Users come from a file that is read again: one who is taken out loses the connection. */
static void by_password_file(void) {
    char path[100], *endpoint = NULL;
    sealwire_security *serving = NULL, *asking = NULL;
    sealwire_monitor *monitor = NULL;
    snprintf(path, sizeof path, "/tmp/sealwire-capi-%d-passwords", (int)getpid());
    RETURNS(SEALWIRE_ERROR_KEY_FILE, sealwire_security_plain_server_file(path, &serving));
    replace(path, "alice secret\n");
    CHECK(chmod(path, 0644) == 0);
    RETURNS(SEALWIRE_ERROR_KEY_FILE_PERMISSIONS, sealwire_security_plain_server_file(path, &serving));
    CHECK(serving == NULL && chmod(path, 0600) == 0);
    OK(sealwire_security_plain_server_file(path, &serving));
    OK(sealwire_security_plain_client("alice", "secret", 6, &asking));
    sealwire_socket *pull = make_socket(SEALWIRE_PULL, serving);
    sealwire_socket *push = make_socket(SEALWIRE_PUSH, asking);
    OK(sealwire_monitor_new(pull, &monitor));
    OK(sealwire_socket_bind(pull, "tcp://127.0.0.1:0", &endpoint));
    OK(sealwire_socket_connect(push, endpoint));
    send_text(push, "let in");
    sealwire_message *message = receive(pull);
    CHECK(strcmp(sealwire_peer_user_id(sealwire_message_peer(message)), "alice") == 0);
    sealwire_message_free(message);
    replace(path, "bob secret\n");
    sealwire_event *event = await_event(monitor, SEALWIRE_EVENT_FAILED);
    CHECK(sealwire_event_cause(event) == SEALWIRE_CAUSE_REJECTED);
    sealwire_event_free(event);
    CHECK(unlink(path) == 0);
    sealwire_monitor_free(monitor);
    sealwire_socket_free(push);
    sealwire_socket_free(pull);
    sealwire_security_free(serving);
    sealwire_security_free(asking);
    sealwire_string_free(endpoint);
}

int main(void) {
    by_password_file();
    admission();
    authenticating("BLAKE3");
    authenticating("CURVE");
    names_of_their_own();
    gaps();
    return 0;
}
