/* NaCl's header of crypto_scalarmult: all of its names that there are. */
#include <sealwire_nacl.h>
