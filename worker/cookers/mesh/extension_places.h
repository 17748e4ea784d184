// DropMisplacedExtensions: removes extensions from places where they have no meaning.
#pragma once

#include <string>

#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// Removes an "extensions" member or an extension that is no object, and a known extension at a
// place where it has no meaning. Every removal gives a warning.
void DropMisplacedExtensions(Json& json, Warnings& warnings);

}  // namespace galley::worker::mesh
