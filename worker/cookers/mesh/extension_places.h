// The places where glTF's extensions have a meaning.
#pragma once

#include <string>
#include <vector>

#include "worker/cookers/mesh/json_fields.h"

namespace galley::worker::mesh {

// Takes out, with a warning for each: an "extensions" or an extension that is no object; a known
// extension at a place where it means nothing.
void DropMisplacedExtensions(Json& json, std::vector<std::string>& warnings);

}  // namespace galley::worker::mesh
