#include "worker/main/look_context.h"

#include <sys/stat.h>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"

namespace galley::worker {
namespace {

// The folder of a source that lies in no mount.
constexpr const char* kOwnFolder = "/Here";

absl::Status NotHere(std::string_view what) {
  return absl::UnavailableError(std::string("a look has no ") + std::string(what));
}

}  // namespace

LookContext::LookContext(const LookWorld& world, std::string file, std::string extension,
                         Blob source, nlohmann::json settings)
    : world_(world),
      file_(std::move(file)),
      extension_(std::move(extension)),
      source_(std::move(source)),
      settings_(std::move(settings)),
      mounts_(world.mounts) {
  for (const auto& [path, folder] : mounts_) {
    if (name_.empty() && file_.starts_with(folder + "/"))
      name_ = path + file_.substr(folder.size());
  }
  if (!name_.empty()) return;
  const size_t slash = file_.rfind('/');
  name_ = kOwnFolder + file_.substr(slash);
  mounts_.emplace_back(kOwnFolder, file_.substr(0, slash));
}

absl::StatusOr<std::string> LookContext::HostPath(std::string_view path) const {
  ASSIGN_OR_RETURN(const std::string asked, content::NormalizeAsked(path));
  ASSIGN_OR_RETURN(const std::string resolved, content::ResolveAsked(name_, asked));
  for (const auto& [mount, folder] : mounts_) {
    if (content::IsUnder(resolved, mount)) return folder + resolved.substr(mount.size());
  }
  return std::string();
}

absl::StatusOr<FileContent> LookContext::ReadFile(std::string_view path) {
  ASSIGN_OR_RETURN(const Kind kind, Exists(path));
  if (kind != Kind::kFile) return FileContent{.kind = kind, .bytes = nullptr};
  ASSIGN_OR_RETURN(const std::string host_path, HostPath(path));
  ASSIGN_OR_RETURN(std::string bytes, galley::ReadFile(host_path, world_.file_bytes_max));
  reads.emplace(path);
  return FileContent{.kind = Kind::kFile, .bytes = MakeBlob(std::move(bytes))};
}

absl::Status LookContext::CheckFile(std::string_view path) { return ReadFile(path).status(); }

absl::StatusOr<Kind> LookContext::Exists(std::string_view path) {
  ASSIGN_OR_RETURN(const std::string host_path, HostPath(path));
  const auto stat = StatFile(host_path);
  if (host_path.empty() || !stat.ok()) return Kind::kAbsent;
  if (S_ISDIR(stat->mode)) return Kind::kFolder;
  return S_ISREG(stat->mode) ? Kind::kFile : Kind::kAbsent;
}

absl::StatusOr<std::optional<std::vector<std::string>>> LookContext::List(std::string_view) {
  return NotHere("lists of folders");
}
absl::StatusOr<std::vector<std::string>> LookContext::Glob(std::string_view, std::string_view) {
  return NotHere("lists of files");
}
absl::StatusOr<Blob> LookContext::Cooked(std::string_view, std::string_view) {
  return NotHere("cooked files");
}
absl::StatusOr<bool> LookContext::CookedTo(std::string_view, std::string_view, const std::string&) {
  return NotHere("cooked files");
}
absl::StatusOr<std::string> LookContext::Tool(std::string_view) { return NotHere("tools"); }
absl::StatusOr<std::optional<std::string>> LookContext::Environment(std::string_view) {
  return NotHere("environment");
}
absl::StatusOr<std::string> LookContext::ScratchDirectory() { return NotHere("folder to work in"); }
absl::Status LookContext::ShowMounts(const std::string&) { return NotHere("folder to work in"); }

absl::StatusOr<std::optional<std::string>> LookContext::Platform(std::string_view parameter) {
  const auto found = world_.platform.find(std::string(parameter));
  if (found == world_.platform.end()) return std::optional<std::string>();
  return std::optional<std::string>(found->second);
}

void LookContext::AddReference(record::ReferenceKind kind, std::string_view path_as_written) {
  references.emplace(path_as_written, kind);
}

absl::Status LookContext::AddGenerated(std::string_view name, std::string, std::string_view,
                                       std::string_view) {
  generated.emplace(name);
  return absl::OkStatus();
}

void LookContext::AddTag(std::string_view name, std::variant<std::string, double, bool> value) {
  tags.insert_or_assign(std::string(name), std::move(value));
}

// A look keeps no outputs.
absl::Status LookContext::AddOutput(std::string_view, std::string, bool) {
  return absl::OkStatus();
}
absl::Status LookContext::AddSourceAsOutput(std::string_view) { return absl::OkStatus(); }
absl::Status LookContext::AddOutputFile(std::string_view, const std::string&) {
  return absl::OkStatus();
}

}  // namespace galley::worker
