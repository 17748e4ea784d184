// The file of this program, and the command that starts a program as this program was started: by
// the kernel, or by a loader that was called by name and given libraries that the machine lacks
// (director/launch/bundle.h). Then /proc/self/exe is the loader.
//
// Threads: any.
#pragma once

#include <string>
#include <vector>

namespace galley {

// An absolute path; empty: unknown.
const std::string& OwnProgram();
// {program}, or {loader, its options..., program}; arguments may be appended.
std::vector<std::string> CommandOf(const std::string& program);

}  // namespace galley
