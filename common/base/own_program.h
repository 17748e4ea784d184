// The file of this program, and the command that starts a program as this program was started: by
// the kernel, or by a loader that is called by name with libraries that the machine lacks
// (director/launch/bundle.h). Then /proc/self/exe is the loader.
//
// Threads: any.
#pragma once

#include <string>
#include <vector>

namespace galley {

// The absolute path of this program; empty: unknown.
const std::string& OwnProgram();
// The command that starts `program`: {program}, or {loader, its options..., program}. Arguments may
// be appended.
std::vector<std::string> CommandOf(const std::string& program);

}  // namespace galley
