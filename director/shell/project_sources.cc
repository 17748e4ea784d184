#include "director/shell/project_sources.h"

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/glob.h"
#include "common/content/name.h"
#include "director/shell/stage_path.h"

namespace galley::director {

using record::ObservationKind;

RecipesPtr ProjectSources::RecipesOf(std::string_view package, bool is_generated) const {
  return is_generated ? world_->table->GeneratedRecipesOf(package)
                      : world_->table->RecipesOf(package);
}

RecipesPtr ProjectSources::RecipesAsListed(std::string_view package,
                                           const record::Generated& generated) const {
  world_->table->Generated(package, generated.cooker, generated.settings);
  return world_->table->GeneratedRecipesOf(package);
}

uint64_t ProjectSources::SizeOf(std::string_view path) const {
  const content::FileEntry* const file = world_->snapshot->Find(path);
  return file == nullptr ? 0 : file->stat.size_bytes;
}

absl::StatusOr<Digest> ProjectSources::DigestOf(std::string_view path,
                                                const Cancellation* stop) const {
  absl::StatusOr<Digest> digest = world_->snapshot->DigestOf(path, stop);
  if (kept_ != nullptr && digest.ok()) kept_->KeepSoon(world_, path, *digest);
  return digest;
}

absl::Status ProjectSources::LearnDigest(std::string_view path, const Digest& digest) const {
  absl::Status learned = world_->snapshot->LearnDigest(path, digest);
  if (kept_ != nullptr && learned.ok()) kept_->KeepSoon(world_, path, digest);
  return learned;
}

absl::StatusOr<std::string> ProjectSources::FileValue(std::string_view asked,
                                                      std::string_view package,
                                                      bool with_digest) const {
  const auto path = content::ResolveAsked(package, asked);
  // The path leaves the mounts: nothing is there.
  if (!path.ok()) return std::string(record::kAbsent);
  switch (world_->snapshot->Kind(*path)) {
    case content::EntryKind::kAbsent:
      return std::string(record::kAbsent);
    case content::EntryKind::kFolder:
      return std::string(record::kFolder);
    case content::EntryKind::kFile:
      break;
  }
  if (!with_digest) return std::string(record::kIsFile);
  const auto digest = DigestOf(*path, /*stop=*/nullptr);
  if (!digest.ok()) return Annotate(digest.status(), *path);
  return digest->ToString();
}

absl::StatusOr<std::string> ProjectSources::Look(const record::Observation& what,
                                                 std::string_view package) const {
  switch (what.kind) {
    case ObservationKind::kFile:
      return FileValue(what.subject, package, true);
    case ObservationKind::kExists:
      return FileValue(what.subject, package, false);
    case ObservationKind::kList: {
      const auto folder = content::ResolveAsked(package, what.subject);
      const auto names = folder.ok() ? world_->snapshot->List(*folder) : std::nullopt;
      return names ? record::LinesValue(*names) : std::string(record::kAbsent);
    }
    case ObservationKind::kGlob: {
      const auto root = content::ResolveAsked(package, what.subject);
      const auto glob = content::Glob::Parse(what.detail);
      if (!root.ok() || !glob.ok()) return std::string();
      return record::LinesValue(world_->snapshot->Matches(*root, *glob));
    }
    case ObservationKind::kTool:
      return tools_.ValueOf(AbsolutePath(what.subject, world_->project->root));
    case ObservationKind::kEnv: {
      const auto found = world_->environment.find(what.subject);
      return found == world_->environment.end() ? std::string(record::kUnset)
                                                : record::SetValue(found->second);
    }
    case ObservationKind::kCooked:
    case ObservationKind::kPlatform:
    case ObservationKind::kName:
      break;
  }
  return absl::InternalError("an observation of the asker, not of the project");
}

std::string ProjectSources::StagePath(std::string_view package) const {
  return director::StagePath(*world_->project, package);
}

}  // namespace galley::director
