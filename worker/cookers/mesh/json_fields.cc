#include "worker/cookers/mesh/json_fields.h"

#include <cmath>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker::mesh {
namespace {

constexpr size_t kShownMax = 60;
constexpr double kExactMax = 9007199254740992.0;  // 2^53

// Escapes a key for a JSON pointer (RFC 6901).
std::string Escaped(std::string_view key) {
  std::string text;
  for (const char c : key) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

absl::Status Flaw(std::string_view pointer, std::string_view text) {
  return VerdictError("{}: {}", pointer.empty() ? "the file" : pointer, text);
}

std::string Shown(const Json& value) {
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kShownMax) text = text.substr(0, kShownMax) + "...";
  return text;
}

const Json* Member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

Json* Member(Json& object, std::string_view key) {
  return const_cast<Json*>(Member(std::as_const(object), key));
}

const Json* Extension(const Json& object, std::string_view name) {
  const Json* extensions = Member(object, "extensions");
  return extensions == nullptr ? nullptr : Member(*extensions, name);
}

const Json* Array(const Json& object, std::string_view key) {
  const Json* member = Member(object, key);
  return member != nullptr && member->is_array() ? member : nullptr;
}

Json* Array(Json& object, std::string_view key) {
  return const_cast<Json*>(Array(std::as_const(object), key));
}

size_t ArraySize(const Json& object, std::string_view key) {
  const Json* array = Array(object, key);
  return array == nullptr ? 0 : array->size();
}

absl::StatusOr<uint64_t> WholeNumber(const Json& value, uint64_t max, const std::string& pointer) {
  if (value.is_number_unsigned() && value.get<uint64_t>() <= max) return value.get<uint64_t>();
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number >= 0 && number <= kExactMax && std::floor(number) == number &&
        static_cast<uint64_t>(number) <= max) {
      return static_cast<uint64_t>(number);
    }
  }
  return Flaw(pointer, fmt::format("expected an integer from 0 to {}, not {}", max, Shown(value)));
}

absl::StatusOr<uint64_t> NumberOr(const Json& object, const char* key, uint64_t default_value,
                                  uint64_t max, const std::string& pointer) {
  const Json* member = Member(object, key);
  if (member == nullptr) return default_value;
  return WholeNumber(*member, max, pointer + "/" + key);
}

absl::StatusOr<bool> BoolOr(const Json& object, const char* key, bool default_value,
                            const std::string& pointer) {
  const Json* member = Member(object, key);
  if (member == nullptr) return default_value;
  if (member->is_boolean()) return member->get<bool>();
  return Flaw(pointer + "/" + key, "expected true or false, not " + Shown(*member));
}

absl::StatusOr<std::string> TextOr(const Json& object, const char* key, std::string_view otherwise,
                                   const std::string& pointer) {
  const Json* member = Member(object, key);
  if (member == nullptr) return std::string(otherwise);
  if (member->is_string()) return member->get<std::string>();
  return Flaw(pointer + "/" + key, "expected a string, not " + Shown(*member));
}

absl::Status VisitJson(Json& value, std::string_view pattern, const std::string& pointer,
                       const JsonVisitor& visit) {
  if (pattern.empty()) return visit(value, pointer);
  const size_t slash = pattern.find('/');
  const std::string_view head = pattern.substr(0, slash);
  const std::string_view rest =
      slash == std::string_view::npos ? std::string_view() : pattern.substr(slash + 1);
  if (head == "*") {
    if (!value.is_array()) return Flaw(pointer, "expected an array, not " + Shown(value));
    for (size_t i = 0; i < value.size(); ++i)
      RETURN_IF_ERROR(VisitJson(value[i], rest, fmt::format("{}/{}", pointer, i), visit));
    return absl::OkStatus();
  }
  if (!value.is_object()) return Flaw(pointer, "expected an object, not " + Shown(value));
  if (head == "{}") {
    for (const auto& item : value.items()) {
      RETURN_IF_ERROR(
          VisitJson(item.value(), rest, fmt::format("{}/{}", pointer, Escaped(item.key())), visit));
    }
    return absl::OkStatus();
  }
  Json* member = Member(value, head);
  if (member == nullptr) return absl::OkStatus();
  return VisitJson(*member, rest, fmt::format("{}/{}", pointer, head), visit);
}

}  // namespace galley::worker::mesh
