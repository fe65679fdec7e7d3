/* NaCl's header of crypto_box: all of its names that there are. */
#include <sealwire_nacl.h>
