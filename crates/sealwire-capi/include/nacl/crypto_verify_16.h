/* NaCl's header of crypto_verify_16: all of its names that there are. */
#include <sealwire_nacl.h>
