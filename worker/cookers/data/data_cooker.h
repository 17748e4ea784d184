// Data: JSON to CBOR, with its references. docs/cookers/data.md describes the settings and the
// output.
//
// Everything is found out in Load (references, generated cells, tags); nothing but the source is
// looked at.
#pragma once

#include <memory>

#include "worker/cookers/cooker.h"

namespace galley::worker {

std::unique_ptr<Cooker> CreateDataCooker();

}  // namespace galley::worker
