// Sandboxes: the folders to which a project's trees are staged, one for each platform, and the
// right to stage there (director/stage/ownership.h).
//
// Threads: none.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/project/project.h"
#include "director/stage/ownership.h"

namespace galley::director {

class Sandboxes {
 public:
  struct Rules {
    bool adopt = false;  // CookAsk::adopt
    bool exact = false;
  };
  // `project` outlives Sandboxes.
  Sandboxes(const project::Project& project, const Rules& rules)
      : project_(project), rules_(rules) {}

  std::string PathOf(const std::string& platform) const;

  // Called before anything is cooked, because a sandbox that cannot be written, or is somebody's
  // folder, would otherwise be found only after the roots are published. `project_id`: empty: the
  // project has no id yet. Changes nothing. Errors: outcome_status.h.
  absl::Status CheckAll(const std::vector<std::string>& platforms,
                        const std::string& project_id) const;
  // Checks the sandbox once more, for somebody may have used the folder while the cook ran, and
  // claims it for the project. Errors: those of CheckSandbox and ClaimSandbox.
  absl::Status Claim(const std::string& platform, const std::string& project_id) const;

 private:
  SandboxOwner OwnerOf(const std::string& platform, const std::string& project_id) const;
  SandboxRules RulesOfStage() const;

  const project::Project& project_;
  const Rules rules_;
};

}  // namespace galley::director
