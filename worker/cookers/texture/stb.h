// What we use of stb: readers for TGA, BMP and HDR, and the fast BC1, BC3, BC4 and BC5 encoder.
// Every file that needs them includes this one, so that all see the same configuration.
#pragma once

#define STBI_ONLY_TGA
#define STBI_ONLY_BMP
#define STBI_ONLY_HDR
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 65535
#define STBI_FAILURE_USERMSG

#include "stb_dxt.h"
#include "stb_image.h"
