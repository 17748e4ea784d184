// ReadSections: checks the layers' single values and stores them in the sections of a Project.
#pragma once

#include "absl/status/status.h"
#include "common/project/layers.h"
#include "common/project/project.h"

namespace galley::project {

// Sets all single values of `project`: its name, the scan, [cook], [warnings], [store], [output],
// [director] and [farm], and the origins of the values. REQUIRES: `project.root` is set.
// INVALID_ARGUMENT: a value is wrong; names its file and line.
absl::Status ReadSections(const Layers& layers, Project& project);

}  // namespace galley::project
