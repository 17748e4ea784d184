// MakeStateFolder: makes the folder `.galley` of a project, where Galley writes all files unless
// the project says otherwise.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace galley::project {

// Makes `<root>/.galley` if absent, and in it a `.gitignore` with `*`, so that version control
// ignores the folder. An existing `.gitignore` stays as it is.
absl::Status MakeStateFolder(const std::string& root);

}  // namespace galley::project
