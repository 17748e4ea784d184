#include "worker/cookers/command/result_file.h"

#include <string>
#include <utility>

#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "fmt/format.h"
#include "worker/cookers/data/json_source.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kGeneratedBytesMax = uint64_t{256} << 20;

absl::Status Bad(std::string_view expected) { return VerdictError("expected {}", expected); }

// The string member `name`; `fallback` when it is absent. Without `fallback` it must be there.
absl::StatusOr<std::string> Text(const Json& object, const char* name,
                                 const char* fallback = nullptr) {
  const auto member = object.find(name);
  if (member == object.end() && fallback != nullptr) return std::string(fallback);
  if (member == object.end() || !member->is_string())
    return Bad(fmt::format("a string \"{}\"", name));
  return member->get<std::string>();
}

absl::Status AddReference(CookContext& context, const Json& entry) {
  ASSIGN_OR_RETURN(const std::string path, Text(entry, "path"));
  ASSIGN_OR_RETURN(const std::string kind, Text(entry, "kind", "hard"));
  if (const auto normal = content::NormalizeAsked(path); !normal.ok()) return normal.status();
  for (const auto each : {record::ReferenceKind::kHard, record::ReferenceKind::kSoft,
                          record::ReferenceKind::kEditor}) {
    if (kind != record::ReferenceKindName(each)) continue;
    context.AddReference(each, path);
    return absl::OkStatus();
  }
  return Bad("\"kind\" hard, soft or editor");
}

absl::Status AddGenerated(CookContext& context, const Workspace& workspace, const Json& entry) {
  ASSIGN_OR_RETURN(const std::string name, Text(entry, "name"));
  ASSIGN_OR_RETURN(const std::string file, Text(entry, "file"));
  ASSIGN_OR_RETURN(const std::string cooker, Text(entry, "cooker", ""));
  const Json settings = entry.value("settings", Json::object());
  if (!settings.is_object()) return Bad("a table \"settings\"");
  ASSIGN_OR_RETURN(const std::string relative, workspace.Relative(file));
  auto bytes = workspace.Read(relative, kGeneratedBytesMax);
  if (!bytes.ok()) return absl::InvalidArgumentError(MessageOf(bytes.status()));
  return context.AddGenerated(name, *std::move(bytes), cooker,
                              settings.empty() ? "" : settings.dump());
}

absl::StatusOr<std::string> VirtualPath(const Workspace& workspace, const Json& entry) {
  ASSIGN_OR_RETURN(const std::string path, Text(entry, "path"));
  if (path.starts_with('/') && !path.starts_with(workspace.root() + "/")) return path;
  ASSIGN_OR_RETURN(const std::string relative, workspace.Relative(path));
  return "/" + relative;
}

absl::Status Observe(CookContext& context, const Workspace& workspace, const Json& entry) {
  ASSIGN_OR_RETURN(const std::string kind, Text(entry, "kind"));
  if (kind == "env") {
    ASSIGN_OR_RETURN(const std::string name, Text(entry, "name"));
    return context.Environment(name).status();
  }
  if (kind == "tool") {
    ASSIGN_OR_RETURN(const std::string path, Text(entry, "path"));
    const absl::Status status = context.Tool(path).status();
    return absl::IsNotFound(status) ? absl::OkStatus() : status;
  }
  ASSIGN_OR_RETURN(const std::string path, VirtualPath(workspace, entry));
  if (kind == "file") return context.ReadFile(path).status();
  if (kind == "exists") return context.Exists(path).status();
  if (kind == "list") return context.List(path).status();
  if (kind != "glob") return Bad("\"kind\" file, exists, list, glob, env or tool");
  ASSIGN_OR_RETURN(const std::string pattern, Text(entry, "pattern"));
  return context.Glob(path, pattern).status();
}

absl::Status AddTags(CookContext& context, const Json& tags) {
  if (!tags.is_object()) return Bad("a table \"tags\"");
  for (const auto& [name, value] : tags.items()) {
    if (value.is_string()) {
      context.AddTag(name, value.get<std::string>());
    } else if (value.is_number()) {
      context.AddTag(name, value.get<double>());
    } else if (value.is_boolean()) {
      context.AddTag(name, value.get<bool>());
    } else {
      return Bad(fmt::format("tag \"{}\" to be a string, a number, true or false", name));
    }
  }
  return absl::OkStatus();
}

template <typename Apply>
absl::Status ForEach(const Json& file, const char* list, Apply apply) {
  const auto entries = file.find(list);
  if (entries == file.end()) return absl::OkStatus();
  if (!entries->is_array()) return Bad(fmt::format("an array \"{}\"", list));
  for (size_t i = 0; i < entries->size(); ++i) {
    const Json& entry = (*entries)[i];
    const absl::Status status = apply(entry);
    if (!status.ok())
      return absl::IsAborted(status) ? status : Annotate(status, fmt::format("{}[{}]", list, i));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyResult(CookContext& context, const Workspace& workspace, std::string_view json,
                         bool only_observations) {
  ASSIGN_OR_RETURN(const Json file, ParseJsonSource(json));
  if (!file.is_object()) return Bad("a JSON object");
  for (const auto& [name, value] : file.items()) {
    if (name != "references" && name != "generated" && name != "tags" && name != "warnings" &&
        name != "observations") {
      return Bad(
          fmt::format("references, generated, tags, warnings or observations; not \"{}\"", name));
    }
  }
  RETURN_IF_ERROR(ForEach(file, "observations", [&](const Json& entry) -> absl::Status {
    if (!entry.is_object()) return Bad("an object");
    return Observe(context, workspace, entry);
  }));
  if (only_observations) return absl::OkStatus();
  RETURN_IF_ERROR(ForEach(file, "references", [&](const Json& entry) -> absl::Status {
    if (!entry.is_object()) return Bad("an object");
    return AddReference(context, entry);
  }));
  RETURN_IF_ERROR(ForEach(file, "generated", [&](const Json& entry) -> absl::Status {
    if (!entry.is_object()) return Bad("an object");
    return AddGenerated(context, workspace, entry);
  }));
  RETURN_IF_ERROR(ForEach(file, "warnings", [&](const Json& entry) -> absl::Status {
    if (!entry.is_string()) return Bad("a string");
    context.AddWarning(record::WarningKind::kProgramWarning, entry.get<std::string>());
    return absl::OkStatus();
  }));
  const auto tags = file.find("tags");
  return tags == file.end() ? absl::OkStatus() : AddTags(context, *tags);
}

}  // namespace galley::worker
