// Extensions of glTF that this cooker knows, and what becomes of the others.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "worker/cookers/mesh/json_fields.h"

namespace galley::worker::mesh {

inline constexpr const char* kMeshQuantization = "KHR_mesh_quantization";

// Those that may be required: kept, decoded or taken up.
std::span<const std::string_view> KnownExtensions();

// INVALID_ARGUMENT names an extension that the source requires and this cooker does not know, and
// says what to do.
absl::Status CheckRequiredExtensions(const Json& json);
// Takes out every use of an extension that is not known: it may hold indices of what is renumbered
// here. One warning for each name.
void DropUnknownExtensions(Json& json, std::vector<std::string>& warnings);
// Whether what lies under `key` is the author's own, whatever its members are called: "extras", and
// the payload of KHR_xmp_json_ld.
bool IsAuthorsOwn(std::string_view key);
// Sets extensionsUsed and extensionsRequired to what `json` uses now. `is_quantized`: some vertex
// attribute has a format that needs KHR_mesh_quantization.
void ListExtensions(Json& json, bool is_quantized);

}  // namespace galley::worker::mesh
