// WatchedCall: a system call that waits until it is answered when a watched program makes it
// (CallWatch), and which of its arguments say what it looks at or changes.
//
// The table is of all of them. What is done with others, CallFilter says (call_filter.h).
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

// An argument is its place among the call's six. -1: there is none.
struct WatchedCall {
  enum class What : uint8_t {
    kLook,
    kOpen,
    kOpenByStruct,
    kRun,
    kReadLink,
    kMake,          // something new
    kChange,        // something that is there
    kChangeOpened,  // of a descriptor
    kTellPlace,     // getcwd
    kTalk,          // to a socket, by its address
    kRefuse,
  };

  uint32_t number = 0;
  const char* name = "";
  What what = What::kLook;
  int8_t path = 0;
  int8_t folder = -1;  // a descriptor to which the path is relative
  // Of open (none: those of creat), of kTalk the size of the address; else AT_SYMLINK_NOFOLLOW and
  // the like.
  int8_t flags = -1;
  bool follows = true;      // a link at the path's end, unless `flags` say otherwise
  int8_t second_path = -1;  // that changes, too
  int8_t second_folder = -1;
  int error = EROFS;        // of a change
  int8_t if_argument = -1;  // only with this one
};

// All but ioctl.
std::span<const WatchedCall> WatchedCalls();
// It is watched for some of its commands only.
const WatchedCall& WatchedIoctl();

// Null: a call of that number is not watched, or is of another ABI. `architecture` as audit says.
const WatchedCall* FindWatchedCall(uint32_t architecture, uint32_t number);

}  // namespace galley::worker
