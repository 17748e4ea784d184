// Copy: the output is the source, byte for byte, under the empty suffix.
//
// Takes any extension, has no settings, and looks at nothing but the source.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateCopyCooker();

}  // namespace galley::worker
