// WatchedCall: a system call that waits for an answer when a watched program makes it (CallWatch),
// and the arguments that say what the call looks at or changes.
//
// The table holds all watched calls; CallFilter decides about all other calls (call_filter.h).
#pragma once

#include <linux/audit.h>

#include <cerrno>
#include <cstdint>
#include <span>

namespace galley::worker {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr uint32_t kOtherAbi = 0x40000000;  // x32: the same architecture, with this bit in numbers
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr uint32_t kOtherAbi = 0xFFFFFFFF;
#else
#error "Which system calls are there, and under which name does audit know this architecture?"
#endif

// An argument is given by its place among the call's six; -1: the call has no such argument.
struct WatchedCall {
  enum class What : uint8_t {
    kLook,
    kOpen,
    kOpenByStruct,
    kRun,
    kReadLink,
    kMake,          // makes something new
    kChange,        // changes something that is there
    kChangeOpened,  // changes by a descriptor
    kTellPlace,     // getcwd
    kTalk,          // talks to a socket, by its address
    kRefuse,
  };

  uint32_t number = 0;
  const char* name = "";
  What what = What::kLook;
  int8_t path = 0;
  int8_t folder = -1;  // a descriptor to which the path is relative
  // For kOpen the flags of open (-1: those of creat), for kTalk the size of the address, else
  // AT_SYMLINK_NOFOLLOW and the like.
  int8_t flags = -1;
  bool follows = true;      // whether a link at the path's end is followed, unless `flags` say
  int8_t second_path = -1;  // a second path, which changes, too
  int8_t second_folder = -1;
  int error = EROFS;        // the error for a change
  int8_t if_argument = -1;  // not watched if this argument is null
};

// Every watched call except ioctl.
std::span<const WatchedCall> WatchedCalls();
// Ioctl is watched only for some of its commands.
const WatchedCall& WatchedIoctl();

// Null: a call of this number is not watched, or is of another ABI. `architecture`: as audit names
// it.
const WatchedCall* FindWatchedCall(uint32_t architecture, uint32_t number);

}  // namespace galley::worker
