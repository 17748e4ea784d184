#include "director/shell/sources.h"

#include <algorithm>

#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "director/core/packages/package_data.h"
#include "fmt/format.h"

namespace galley::director {

using record::ObservationKind;

namespace {

absl::StatusOr<std::string> CookedValue(const record::Observation& what, const Asker& asker,
                                        std::string* needs) {
  ASSIGN_OR_RETURN(std::string name, AskedName(asker.package, what.subject));
  const auto found = asker.cooked.find(name);
  if (found == asker.cooked.end()) {
    *needs = std::move(name);
    return std::string();
  }
  for (const record::Output& output : found->second) {
    if (output.suffix == what.detail) return output.digest.ToString();
  }
  return std::string(record::kAbsent);
}

std::string PlatformValue(const std::string& parameter, const project::Platform& platform) {
  if (parameter == "name") return record::SetValue(platform.name);
  const auto found = platform.parameters.find(parameter);
  return found == platform.parameters.end() ? std::string(record::kUnset)
                                            : record::SetValue(found->second);
}

}  // namespace

const CookedOutputs& CookedFor(const std::vector<CookedOutputs>& cooked, PlatformIndex platform) {
  static const CookedOutputs& none = *new CookedOutputs();
  return platform < cooked.size() ? cooked[platform] : none;
}

bool IsOfFiles(ObservationKind kind) {
  switch (kind) {
    case ObservationKind::kFile:
    case ObservationKind::kExists:
    case ObservationKind::kList:
    case ObservationKind::kGlob:
      return true;
    case ObservationKind::kCooked:
    case ObservationKind::kPlatform:
    case ObservationKind::kTool:
    case ObservationKind::kEnv:
    case ObservationKind::kName:
      return false;
  }
  return false;
}

absl::StatusOr<std::string> AskedName(std::string_view package, std::string_view asked) {
  if (asked.starts_with("_gen/")) return fmt::format("{}/{}", package, asked);
  return content::ResolveAsked(package, asked);
}

absl::StatusOr<std::string> ValueOf(const Sources& sources, const record::Observation& what,
                                    const Asker& asker, std::string* needs) {
  switch (what.kind) {
    case ObservationKind::kCooked:
      return CookedValue(what, asker, needs);
    case ObservationKind::kPlatform:
      return PlatformValue(what.subject, asker.platform);
    case ObservationKind::kName:
      return std::string(asker.package);
    case ObservationKind::kFile:
    case ObservationKind::kExists:
    case ObservationKind::kList:
    case ObservationKind::kGlob:
    case ObservationKind::kTool:
    case ObservationKind::kEnv:
      return sources.Look(what, asker.package);
  }
  return absl::InternalError("unknown observation kind");
}

absl::StatusOr<bool> StillHolds(const Sources& sources, const Asker& asker,
                                const std::vector<record::Observed>& observed,
                                std::string* stale_path) {
  for (const record::Observed& seen : observed) {
    if (asker.has_hashed && seen.what.kind == ObservationKind::kFile) {
      const auto path = content::ResolveAsked(asker.package, seen.what.subject);
      const auto digest = Digest::Parse(seen.value);
      if (path.ok() && digest.ok()) {
        const absl::Status learned = sources.LearnDigest(*path, *digest);
        if (absl::IsAborted(learned)) return false;
        if (learned.ok()) continue;
        if (!absl::IsNotFound(learned)) return learned;
      }
    }
    std::string needs;
    const auto value = ValueOf(sources, seen.what, asker, &needs);
    if (absl::IsAborted(value.status()) && stale_path != nullptr) {
      const auto path = content::ResolveAsked(asker.package, seen.what.subject);
      if (path.ok()) *stale_path = *path;
    }
    RETURN_IF_ERROR(value.status());
    if (!needs.empty() || *value != seen.value) return false;
  }
  return true;
}

bool FilesStillHold(const Sources& sources, const StoredResult& stored) {
  if (stored.holds_in == sources.number()) return true;
  if (GeneratorName(stored.package).empty()) {
    // A generated source is a blob, which the reader of the key compares.
    const auto digest = sources.DigestOf(stored.package);
    if (!digest.ok() || *digest != stored.source) return false;
  }
  for (const record::Observed& seen : stored.observed) {
    if (!IsOfFiles(seen.what.kind)) continue;
    const auto value = sources.Look(seen.what, stored.package);
    if (!value.ok() || *value != seen.value) return false;
  }
  return true;
}

std::vector<std::string> PackagesRead(const Sources& sources, std::string_view package,
                                      const std::vector<record::Observed>& observed) {
  std::vector<std::string> read;
  for (const record::Observed& seen : observed) {
    if (seen.what.kind != record::ObservationKind::kFile || seen.value == record::kAbsent ||
        seen.value == record::kFolder)
      continue;
    auto name = AskedName(package, seen.what.subject);
    if (name.ok() && *name != package && sources.RecipesOf(*name, false) != nullptr)
      read.push_back(*std::move(name));
  }
  SortUnique(read);
  return read;
}

}  // namespace galley::director
