// Property rules: types, numbers of elements and ranges of the JSON values that the cooker passes
// on without using them. A value that breaks a rule gives a warning with the code of Khronos'
// validator, and never an error.
#pragma once

#include <string>

#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// Removes empty lists, which glTF does not allow and which mean nothing.
void DropEmptyArrays(Json& json);
// Removes values of a wrong type, so that their default counts, with warnings. Warns also of values
// that are missing or out of their range.
void RepairProperties(Json& json, Warnings& warnings);
// Warns of impossible cameras, lights, indices of refraction and mappings of variants.
void CheckParameters(const Json& json, Warnings& warnings);

}  // namespace galley::worker::mesh
