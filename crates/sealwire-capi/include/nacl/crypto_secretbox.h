/* NaCl's header of crypto_secretbox: all of its names that there are. */
#include <sealwire_nacl.h>
