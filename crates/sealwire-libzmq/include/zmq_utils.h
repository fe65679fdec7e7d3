/* Its functions are in zmq.h. */
#include <zmq.h>
