// The one place where the single-file libraries of libstb-dev are compiled, without our warnings
// (see CMakeLists.txt).
#include "worker/cookers/texture/stb.h"

#define STB_IMAGE_IMPLEMENTATION
#include "stb_image.h"
#define STB_DXT_IMPLEMENTATION
#include "stb_dxt.h"
