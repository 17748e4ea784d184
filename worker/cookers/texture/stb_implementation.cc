// The only place where the single-file library of libstb-dev is compiled, without our warnings
// (CMakeLists.txt).
#include <cstring>  // stb_dxt.h needs it

#define STB_DXT_IMPLEMENTATION
#include "stb_dxt.h"
