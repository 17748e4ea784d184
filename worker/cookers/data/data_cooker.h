// Data: JSON to CBOR, with its references. docs/cookers/data.md describes the settings and the
// output.
//
// Load finds out everything (references, generated cells, tags) and looks at nothing but the
// source.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateDataCooker();

}  // namespace galley::worker
