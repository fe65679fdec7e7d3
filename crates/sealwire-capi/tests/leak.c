/* Leaks on purpose: what valgrind has to notice. */
#include "test.h"

int main(void) {
    sealwire_message *message = NULL;
    OK(sealwire_message_from_bytes("lost", 4, &message));
    message = NULL;
    return message != NULL;
}
