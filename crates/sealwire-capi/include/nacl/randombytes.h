/* NaCl's header of randombytes: all of its names that there are. */
#include <sealwire_nacl.h>
