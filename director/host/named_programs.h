// NamedPrograms: the programs that the rules of a project name in `argv`, and which files they are
// now. They lie outside the mounts, so no snapshot tells of them.
//
// Programs that only a sidecar or a generator names, and files that programs read outside the
// mounts, are not found here: what was observed of these is checked where a result is looked up.
//
// Threads: any.
#pragma once

#include <string>

#include "common/project/project.h"
#include "director/shell/tool_digests.h"

namespace galley::director {

// Returns a line for each place where a rule's program is looked for, sorted: the path, and the
// digest of the file, "absent", or "unreadable". Equal texts mean equal programs, also of another
// director. Cost: a stat for each place; a file that changed is hashed.
std::string TextOfNamedPrograms(const project::Project& project, ToolDigests& tools);

}  // namespace galley::director
