#include "worker/cookers/data/references.h"

#include <array>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"

namespace galley::worker {
namespace {

using record::ReferenceKind;

constexpr std::array<std::pair<std::string_view, ReferenceKind>, 3> kKeys = {{
    {"$ref", ReferenceKind::kHard},
    {"$soft", ReferenceKind::kSoft},
    {"$editor", ReferenceKind::kEditor},
}};

std::string Member(const std::string& pointer, std::string_view key) {
  std::string escaped = pointer + "/";
  for (const char c : key) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

absl::Status VisitReferences(
    nlohmann::json& value, const std::string& pointer,
    const std::function<absl::Status(const FoundReference&)>& on_reference,
    const std::function<void(std::string_view, std::string_view)>& on_stray) {
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      RETURN_IF_ERROR(
          VisitReferences(value[i], pointer + "/" + std::to_string(i), on_reference, on_stray));
    }
    return absl::OkStatus();
  }
  if (!value.is_object()) return absl::OkStatus();
  for (const auto& [key, kind] : kKeys) {
    const auto member = value.find(std::string(key));
    if (member == value.end()) continue;
    if (value.size() == 1 && member->is_string()) {
      return on_reference(
          {.kind = kind, .path = &member->get_ref<std::string&>(), .pointer = pointer});
    }
    on_stray(pointer, key);
  }
  for (auto member = value.begin(); member != value.end(); ++member) {
    RETURN_IF_ERROR(
        VisitReferences(member.value(), Member(pointer, member.key()), on_reference, on_stray));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> SeenFromGenerated(const std::string& path_as_written) {
  constexpr std::string_view kGenerated = "_gen/";
  const absl::StatusOr<std::string> normal = content::NormalizeAsked(path_as_written);
  if (!normal.ok()) return normal.status();
  if (normal->starts_with('/')) return path_as_written;
  if (normal->starts_with(kGenerated)) return normal->substr(kGenerated.size());
  return "../../" + path_as_written;
}

}  // namespace galley::worker
