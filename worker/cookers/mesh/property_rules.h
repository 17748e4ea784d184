// The rules for values of glTF's JSON that the cooker passes on without a use of its own: types,
// numbers of elements, ranges. What breaks them is told with the code that Khronos' validator has
// for it, and never fails a file.
#pragma once

#include <string>
#include <vector>

#include "worker/cookers/mesh/json_fields.h"

namespace galley::worker::mesh {

// Takes out lists without elements, which glTF does not allow and which say nothing.
void DropEmptyArrays(Json& json);
// Takes out values of a wrong type, whose default counts then, and tells them; tells those that are
// out of their range or that are missing.
void RepairProperties(Json& json, std::vector<std::string>& warnings);
// Tells the cameras, lights, indices of refraction and mappings of variants that cannot be.
void CheckParameters(const Json& json, std::vector<std::string>& warnings);

}  // namespace galley::worker::mesh
