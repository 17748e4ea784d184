// JSON fields: reading of foreign JSON, every step checked. Errors are INVALID_ARGUMENT and begin
// with the JSON pointer of the place: "/accessors/3/count: expected an integer of at least 1, not
// \"x\"".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace galley::worker::mesh {

using Json = nlohmann::json;

// INVALID_ARGUMENT with "<pointer>: <text>"; an empty pointer is "the file".
absl::Status Flaw(std::string_view pointer, std::string_view text);
// A short text of `value` for messages.
std::string Shown(const Json& value);
// The member of an object; nullptr when there is none, or when `object` is no object.
const Json* Member(const Json& object, std::string_view key);
Json* Member(Json& object, std::string_view key);
// The extension `name` of an object; nullptr as of Member.
const Json* Extension(const Json& object, std::string_view name);
// A member that is an array; nullptr when absent or of another type.
const Json* Array(const Json& object, std::string_view key);
Json* Array(Json& object, std::string_view key);
size_t ArraySize(const Json& object, std::string_view key);

// A whole number, also written 5.0, from 0 to `max`.
absl::StatusOr<uint64_t> WholeNumber(const Json& value, uint64_t max, const std::string& pointer);
// Members of `object`, which lies at `pointer`; the default where a member is absent.
absl::StatusOr<uint64_t> NumberOr(const Json& object, const char* key, uint64_t default_value,
                                  uint64_t max, const std::string& pointer);
absl::StatusOr<bool> BoolOr(const Json& object, const char* key, bool default_value,
                            const std::string& pointer);
absl::StatusOr<std::string> TextOr(const Json& object, const char* key, std::string_view otherwise,
                                   const std::string& pointer);

// Calls `visit` for every value that `pattern` leads to: keys joined with '/', "*" for each element
// of an array, "{}" for each member of an object ("meshes/*/primitives/*/targets/*/{}"). Absent
// members are passed over. A value on the way that is not the array or object that the pattern asks
// for is an error. Stops at the first error.
using JsonVisitor = std::function<absl::Status(Json& value, const std::string& pointer)>;
absl::Status VisitJson(Json& value, std::string_view pattern, const std::string& pointer,
                       const JsonVisitor& visit);

}  // namespace galley::worker::mesh
