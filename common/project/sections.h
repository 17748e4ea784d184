// Sections: what the layers of single values say, checked, as the sections of a Project.
#pragma once

#include "absl/status/status.h"
#include "common/project/layers.h"
#include "common/project/project.h"

namespace galley::project {

// Fills in everything of `project` that is a single value: its name, what is scanned, [cook],
// [warnings], [store], [output], [director] and [farm], and where each value comes from.
// REQUIRES: `project.root` is set. INVALID_ARGUMENT: a value is wrong; names its file and line.
absl::Status ReadSections(const Layers& layers, Project& project);

}  // namespace galley::project
