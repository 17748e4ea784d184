// References in cooked JSON: an object with one key, "$ref" (hard), "$soft" or "$editor", whose
// value is a string.
//
//   {"albedo": {"$ref": "../textures/wall.png"}, "music": {"$soft": "/Game/audio/town.wav"}}
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/record/result.h"
#include "nlohmann/json.hpp"

namespace galley::worker {

struct FoundReference {
  record::ReferenceKind kind = record::ReferenceKind::kHard;
  std::string* path = nullptr;  // within the visited value; may be written through
  std::string pointer;          // RFC 6901: "/items/3/mesh"
};

// Calls `on_reference` for every reference in `value`: arrays in document order, objects by key. An
// object that has a reference's key in any other form is plain data; since it is mostly a mistake,
// `on_stray` is told its pointer and the key. Stops at the first error of `on_reference` and
// returns it. `pointer`: the place of `value`.
absl::Status VisitReferences(
    nlohmann::json& value, const std::string& pointer,
    const std::function<absl::Status(const FoundReference&)>& on_reference,
    const std::function<void(std::string_view pointer, std::string_view key)>& on_stray);

// The path of a reference as it must read in a generated package of the same generator
// ("<package>/_gen/x") to mean what it meant in the generator: relative paths go two folders up,
// "_gen/..." loses its folder. INVALID_ARGUMENT: no path at all.
absl::StatusOr<std::string> SeenFromGenerated(const std::string& path_as_written);

}  // namespace galley::worker
