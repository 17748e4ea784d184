// The folder `.galley` of a project, in which all that Galley writes is unless the project says
// otherwise.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace galley::project {

// Makes `<root>/.galley` when it is absent, and in it a `.gitignore` that holds `*`, so that
// version control leaves the folder alone. A `.gitignore` that is there already stays as it is.
absl::Status MakeStateFolder(const std::string& root);

}  // namespace galley::project
