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

  // Checks that every sandbox is the project's or free, and can be written. Called before anything
  // is cooked, so that such an error does not come after the roots are published. Changes nothing.
  // `project_id`: empty: the project has no id yet. Errors: outcome_status.h.
  absl::Status CheckAll(const std::vector<std::string>& platforms,
                        const std::string& project_id) const;
  // Checks the sandbox again, because the folder may have been used during the cook, and claims it
  // for the project. Errors: as CheckSandbox and ClaimSandbox.
  absl::Status Claim(const std::string& platform, const std::string& project_id) const;

 private:
  SandboxOwner OwnerOf(const std::string& platform, const std::string& project_id) const;
  SandboxRules RulesOfStage() const;

  const project::Project& project_;
  const Rules rules_;
};

}  // namespace galley::director
