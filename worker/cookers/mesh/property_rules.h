// Property rules: types, numbers of elements and ranges of the JSON values that the cooker passes
// on without a use of its own. A value that breaks a rule is told with the code of Khronos'
// validator, and never fails a file.
#pragma once

#include <string>

#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// Takes out empty lists, which glTF does not allow and which say nothing.
void DropEmptyArrays(Json& json);
// Takes out values of a wrong type, so that their default counts, and warns of them. Warns also of
// values that are missing or out of their range.
void RepairProperties(Json& json, Warnings& warnings);
// Warns of impossible cameras, lights, indices of refraction and mappings of variants.
void CheckParameters(const Json& json, Warnings& warnings);

}  // namespace galley::worker::mesh
