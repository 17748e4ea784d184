#include "worker/walls/call_filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "worker/walls/watched_calls.h"

namespace galley::worker {
namespace {

// Calls from this number on are newer than this code (statmount, 6.8).
constexpr uint32_t kUnknownCalls = 457;
// Calls that, with this flag in the first argument, give the program mounts of its own.
constexpr uint32_t kWithNamespaces[] = {SYS_clone, SYS_unshare};
// Programs do without these calls on older kernels. No filter sees the work of io_uring, and no
// filter can read the flags of clone3, which lie in memory.
constexpr uint32_t kMissing[] = {SYS_io_uring_setup, SYS_clone3, 452 /* fchmodat2 */};
// Ioctls that change a file by its descriptor: FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR,
// FS_IOC_ENABLE_VERITY.
constexpr uint32_t kChangingIoctls[] = {0x40086602, 0x401c5820, 0x40806685};

}  // namespace

std::vector<char> CallFilter() {
  std::vector<sock_filter> code;
  const auto load = [&](size_t offset) {
    code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
  };
  const auto answer = [&](uint32_t action) { code.push_back(BPF_STMT(BPF_RET | BPF_K, action)); };
  const auto if_equal = [&](uint32_t value, uint32_t action) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    answer(action);
  };
  load(offsetof(seccomp_data, arch));
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  answer(SECCOMP_RET_USER_NOTIF);
  load(offsetof(seccomp_data, nr));
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kOtherAbi, 0, 1));
  answer(SECCOMP_RET_USER_NOTIF);
  // Little endian: half 0 is the lower half.
  const auto load_half = [&](size_t argument, size_t half) {
    load(offsetof(seccomp_data, args) + argument * sizeof(uint64_t) + half * sizeof(uint32_t));
  };
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kUnknownCalls, 0, 1));
  answer(SECCOMP_RET_ERRNO | ENOSYS);
  for (const WatchedCall& call : WatchedCalls()) {
    if (call.if_argument < 0) {
      if_equal(call.number, SECCOMP_RET_USER_NOTIF);
      continue;
    }
    const auto argument = static_cast<size_t>(call.if_argument);
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call.number, 0, 7));
    for (const size_t half : {0u, 1u}) {
      load_half(argument, half);
      code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
      answer(SECCOMP_RET_USER_NOTIF);
    }
    answer(SECCOMP_RET_ALLOW);
  }
  for (const uint32_t number : kMissing) if_equal(number, SECCOMP_RET_ERRNO | ENOSYS);
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, WatchedIoctl().number, 0,
                          static_cast<uint8_t>(2 * std::size(kChangingIoctls) + 2)));
  load_half(1, 0);
  for (const uint32_t command : kChangingIoctls) if_equal(command, SECCOMP_RET_USER_NOTIF);
  answer(SECCOMP_RET_ALLOW);
  for (const uint32_t number : kWithNamespaces) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4));
    load_half(0, 0);
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWNS, 0, 1));
    answer(SECCOMP_RET_USER_NOTIF);
    answer(SECCOMP_RET_ALLOW);
  }
  answer(SECCOMP_RET_ALLOW);
  std::vector<char> bytes(code.size() * sizeof(sock_filter));
  std::memcpy(bytes.data(), code.data(), bytes.size());
  return bytes;
}

}  // namespace galley::worker
