#include "director/host/sandboxes.h"

#include <algorithm>

#include "common/base/file.h"
#include "common/base/real_path.h"
#include "common/base/status_macros.h"
#include "director/host/outcome_status.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// Returns the given name; empty: the project has its folder's name, which no other folder has.
std::string NameGiven(const project::Project& project) {
  const auto origin = std::ranges::find_if(
      project.origins, [](const project::Origin& one) { return one.key == "project.name"; });
  return origin == project.origins.end() || origin->source == "default" ? "" : project.name;
}

}  // namespace

std::string Sandboxes::PathOf(const std::string& platform) const {
  return JoinPath(project_.output_directory, platform);
}

SandboxOwner Sandboxes::OwnerOf(const std::string& platform, const std::string& project_id) const {
  return {.project_id = project_id,
          .project_name = NameGiven(project_),
          .project_folder = RealPath(project_.root),
          .platform = platform};
}

SandboxRules Sandboxes::RulesOfStage() const {
  SandboxRules rules{.adopt = rules_.adopt, .exact = rules_.exact};
  rules.apart_from = {RealPath(project_.root), RealPath(project_.store.directory)};
  for (const content::Mount& mount : project_.mounts)
    rules.apart_from.push_back(RealPath(mount.directory));
  return rules;
}

absl::Status Sandboxes::CheckAll(const std::vector<std::string>& platforms,
                                 const std::string& project_id) const {
  for (const std::string& platform : platforms) {
    const absl::Status free = CheckSandbox(PathOf(platform), OwnerOf(platform, project_id),
                                           project_.state_directory(), RulesOfStage());
    if (absl::IsFailedPrecondition(free)) return WrongUse(free);
    if (!free.ok()) return Infrastructure("the output cannot be looked at", free);
  }
  for (const std::string& platform : platforms) {
    const absl::Status writable = CheckWritable(PathOf(platform));
    if (!writable.ok()) {
      return Infrastructure(
          fmt::format("the output cannot be written: {}; choose another with [output] dir or "
                      "--out, or fix its permissions",
                      MessageOf(writable)));
    }
  }
  return absl::OkStatus();
}

absl::Status Sandboxes::Claim(const std::string& platform, const std::string& project_id) const {
  const std::string sandbox = PathOf(platform);
  const SandboxOwner owner = OwnerOf(platform, project_id);
  RETURN_IF_ERROR(CheckSandbox(sandbox, owner, project_.state_directory(), RulesOfStage()));
  return ClaimSandbox(sandbox, owner, project_.state_directory());
}

}  // namespace galley::director
