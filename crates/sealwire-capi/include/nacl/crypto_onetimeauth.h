/* NaCl's header of crypto_onetimeauth: all of its names that there are. */
#include <sealwire_nacl.h>
