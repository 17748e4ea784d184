// The file of this program, and how a program is started in the way in which this one was: by the
// kernel; or by a loader that was called by name, with libraries that it was told of, as on a
// machine that lacks them (director/launch/bundle.h). Then /proc/self/exe is the loader.
//
// Threads: any.
#pragma once

#include <string>
#include <vector>

namespace galley {

// Absolute; empty: it is not known.
const std::string& OwnProgram();
// {program}, or {loader, its options..., program}: arguments may follow.
std::vector<std::string> CommandOf(const std::string& program);

}  // namespace galley
