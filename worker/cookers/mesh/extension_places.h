// DropMisplacedExtensions: the places where glTF's extensions have a meaning.
#pragma once

#include <string>

#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

// Takes out an "extensions" member or an extension that is no object, and a known extension at a
// place where it means nothing. Each gives a warning.
void DropMisplacedExtensions(Json& json, Warnings& warnings);

}  // namespace galley::worker::mesh
