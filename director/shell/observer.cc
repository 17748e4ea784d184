#include "director/shell/observer.h"

#include <sys/stat.h>

#include "common/base/status_macros.h"
#include "common/content/glob.h"
#include "common/content/name.h"
#include "director/core/package_data.h"
#include "fmt/format.h"

namespace galley::director {

using record::ObservationKind;

absl::StatusOr<std::string> ToolDigests::ValueOf(const std::string& host_path) {
  const auto stat = StatFile(host_path);
  if (!stat.ok() || !S_ISREG(stat->mode)) return std::string(record::kAbsent);
  {
    base::MutexLock lock(mutex_);
    const auto found = known_.find(host_path);
    if (found != known_.end() && found->second.stat == *stat)
      return found->second.digest.ToString();
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(host_path));
  const Digest digest = Digest::Of(bytes);
  base::MutexLock lock(mutex_);
  known_[host_path] = Known{*stat, digest};
  return digest.ToString();
}

absl::StatusOr<std::string> AskedName(std::string_view package, std::string_view asked) {
  if (asked.starts_with("_gen/")) return fmt::format("{}/{}", package, asked);
  return content::ResolveAsked(package, asked);
}

absl::StatusOr<std::string> Observer::FileValue(std::string_view asked, const Asker& asker,
                                                bool with_digest) const {
  const auto path = content::ResolveAsked(asker.package, asked);
  if (!path.ok()) return std::string(record::kAbsent);  // leaves the mounts: nothing is there
  switch (world_.snapshot->Kind(*path)) {
    case content::EntryKind::kAbsent:
      return std::string(record::kAbsent);
    case content::EntryKind::kFolder:
      return std::string(record::kFolder);
    case content::EntryKind::kFile:
      break;
  }
  if (!with_digest) return std::string(record::kIsFile);
  auto digest = world_.snapshot->DigestOf(*path);
  if (!digest.ok()) return Annotate(digest.status(), *path);
  return digest->ToString();
}

absl::StatusOr<std::string> Observer::ValueOf(const record::Observation& what, const Asker& asker,
                                              std::string* needs) const {
  switch (what.kind) {
    case ObservationKind::kFile:
      return FileValue(what.subject, asker, true);
    case ObservationKind::kExists:
      return FileValue(what.subject, asker, false);
    case ObservationKind::kList: {
      const auto folder = content::ResolveAsked(asker.package, what.subject);
      const auto names = folder.ok() ? world_.snapshot->List(*folder) : std::nullopt;
      return names ? record::LinesValue(*names) : std::string(record::kAbsent);
    }
    case ObservationKind::kGlob: {
      const auto root = content::ResolveAsked(asker.package, what.subject);
      const auto glob = content::Glob::Parse(what.detail);
      if (!root.ok() || !glob.ok()) return std::string();
      return record::LinesValue(world_.snapshot->Matches(*root, *glob));
    }
    case ObservationKind::kCooked: {
      ASSIGN_OR_RETURN(std::string name, AskedName(asker.package, what.subject));
      if (asker.cooked != nullptr) {
        if (const auto found = asker.cooked->find(name); found != asker.cooked->end()) {
          for (const record::Output& output : found->second) {
            if (output.suffix == what.detail) return output.digest.ToString();
          }
          return std::string(record::kAbsent);
        }
      }
      *needs = std::move(name);
      return std::string();
    }
    case ObservationKind::kPlatform: {
      const project::Platform& platform = world_.project->platforms[asker.platform];
      if (what.subject == "name") return record::SetValue(platform.name);
      const auto found = platform.parameters.find(what.subject);
      return found == platform.parameters.end() ? std::string(record::kUnset)
                                                : record::SetValue(found->second);
    }
    case ObservationKind::kTool:
      return tools_.ValueOf(AbsolutePath(what.subject, world_.project->root));
    case ObservationKind::kEnv: {
      const auto found = world_.environment.find(what.subject);
      return found == world_.environment.end() ? std::string(record::kUnset)
                                               : record::SetValue(found->second);
    }
    case ObservationKind::kName:
      return std::string(asker.package);
  }
  return absl::InternalError("unknown observation kind");
}

absl::StatusOr<bool> StillHolds(const World& world, ToolDigests& tools, std::string_view package,
                                PlatformIndex platform, const CookedOutputs& cooked,
                                const std::vector<record::Observed>& observed,
                                std::string* stale_path) {
  const Observer observer(world, tools);
  for (const record::Observed& seen : observed) {
    if (seen.what.kind == ObservationKind::kFile) {
      const auto path = content::ResolveAsked(package, seen.what.subject);
      const auto digest = Digest::Parse(seen.value);
      if (path.ok() && digest.ok() && world.snapshot->Kind(*path) == content::EntryKind::kFile) {
        const absl::Status learned = world.snapshot->LearnDigest(*path, *digest);
        if (absl::IsAborted(learned)) return false;
        RETURN_IF_ERROR(learned);
        continue;
      }
    }
    std::string needs;
    const auto value = observer.ValueOf(
        seen.what, {.package = package, .platform = platform, .cooked = &cooked}, &needs);
    if (absl::IsAborted(value.status()) && stale_path != nullptr) {
      const auto path = content::ResolveAsked(package, seen.what.subject);
      if (path.ok()) *stale_path = *path;
    }
    RETURN_IF_ERROR(value.status());
    if (!needs.empty() || *value != seen.value) return false;
  }
  return true;
}

bool FilesStillHold(const World& world, ToolDigests& tools, std::string_view package,
                    const Digest& source, const std::vector<record::Observed>& observed) {
  if (GeneratorName(package).empty()) {  // otherwise a blob, which the reader of the key compares
    if (world.snapshot->Find(package) == nullptr) return false;
    const auto digest = world.snapshot->DigestOf(package);
    if (!digest.ok() || *digest != source) return false;
  }
  const Observer observer(world, tools);
  for (const record::Observed& seen : observed) {
    switch (seen.what.kind) {
      case ObservationKind::kFile:
      case ObservationKind::kExists:
      case ObservationKind::kList:
      case ObservationKind::kGlob: {
        std::string needs;
        const auto value = observer.ValueOf(seen.what, {.package = package}, &needs);
        if (!value.ok() || *value != seen.value) return false;
        break;
      }
      case ObservationKind::kCooked:
      case ObservationKind::kPlatform:
      case ObservationKind::kTool:
      case ObservationKind::kEnv:
      case ObservationKind::kName:
        break;
    }
  }
  return true;
}

}  // namespace galley::director
