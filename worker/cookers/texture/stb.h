// stb: the part that we use, the fast BC1, BC3, BC4 and BC5 encoder.
#pragma once

#include "stb_dxt.h"
