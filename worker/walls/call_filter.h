// CallFilter: the program by which the kernel decides about each call of a watched program
// (seccomp(2)).
//
//   waits for an answer   the calls of WatchedCalls(), ioctls that change a file, calls that give
//                         the program mounts of its own, and all calls of another ABI
//   ENOSYS                calls that no filter can see through (io_uring, clone3), and calls that
//                         are newer than this code
//   goes on               every other call
//
// Threads: any.
#pragma once

#include <vector>

namespace galley::worker {

// An array of sock_filter, as bytes: a child uses it, in whose memory nothing may be allocated.
std::vector<char> CallFilter();

}  // namespace galley::worker
