// The same program in C++, with the other headers.
#include <zmq_sealwire.h>
#include <zmq_utils.h>

#include "../program.c"
