/* NaCl's header of crypto_stream: all of its names that there are. */
#include <sealwire_nacl.h>
