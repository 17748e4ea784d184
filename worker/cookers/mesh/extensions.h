// Extensions: the extensions of glTF that this cooker knows, and the removal of others.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "worker/cookers/mesh/json_fields.h"
#include "worker/cookers/mesh/warnings.h"

namespace galley::worker::mesh {

inline constexpr const char* kMeshQuantization = "KHR_mesh_quantization";

// The extensions that a source may require: they are kept, decoded or applied.
std::span<const std::string_view> KnownExtensions();

// INVALID_ARGUMENT names an extension that the source requires and this cooker does not know, and
// says what to do.
absl::Status CheckRequiredExtensions(const Json& json);
// Removes every use of an unknown extension, since its indices may be renumbered here. Warns once
// for each name.
void DropUnknownExtensions(Json& json, Warnings& warnings);
// Whether the value under `key` is the author's own data, whose member names mean nothing here:
// "extras", and the payload of KHR_xmp_json_ld.
bool IsAuthorsOwn(std::string_view key);
// Sets extensionsUsed and extensionsRequired to the extensions that `json` uses now.
// `is_quantized`: some vertex attribute has a format that needs KHR_mesh_quantization.
void ListExtensions(Json& json, bool is_quantized);

}  // namespace galley::worker::mesh
