// CallFilter: the program by which the kernel decides what becomes of each call of a watched
// program (seccomp(2)).
//
//   waits for an answer   what WatchedCalls() names, ioctls that change a file, views of one's own
//                         of what is mounted, and all calls of another ABI
//   ENOSYS                what no filter can see (io_uring, clone3), and what is newer than this
//                         code
//   goes on               everything else
//
// Threads: any.
#pragma once

#include <vector>

namespace galley::worker {

// An array of sock_filter, as bytes: it is read in a child's memory, where nothing may be made.
std::vector<char> CallFilter();

}  // namespace galley::worker
