#include "worker/walls/watched_calls.h"

#include <sys/syscall.h>

#include <algorithm>

namespace galley::worker {
namespace {

using What = WatchedCall::What;

#define GALLEY_CALL(call) static_cast<uint32_t>(SYS_##call), #call
constexpr WatchedCall kWatched[] = {
    {GALLEY_CALL(openat), What::kOpen, 1, 0, 2},
    {GALLEY_CALL(openat2), What::kOpenByStruct, 1, 0, 2},
    {GALLEY_CALL(newfstatat), What::kLook, 1, 0, 3},
    {GALLEY_CALL(statx), What::kLook, 1, 0, 2},
    {GALLEY_CALL(faccessat), What::kLook, 1, 0},
    {GALLEY_CALL(faccessat2), What::kLook, 1, 0, 3},
    {GALLEY_CALL(readlinkat), What::kReadLink, 1, 0, -1, false},
    {GALLEY_CALL(statfs), What::kLook, 0},
    {GALLEY_CALL(chdir), What::kLook, 0},
    {GALLEY_CALL(getxattr), What::kLook, 0},
    {GALLEY_CALL(lgetxattr), What::kLook, 0, -1, -1, false},
    {GALLEY_CALL(listxattr), What::kLook, 0},
    {GALLEY_CALL(llistxattr), What::kLook, 0, -1, -1, false},
    {GALLEY_CALL(inotify_add_watch), What::kLook, 1},
    {GALLEY_CALL(execve), What::kRun, 0},
    {GALLEY_CALL(execveat), What::kRun, 1, 0, 4},
    {GALLEY_CALL(truncate), What::kChange, 0},
    {GALLEY_CALL(mkdirat), What::kMake, 1, 0, -1, false},
    {GALLEY_CALL(mknodat), What::kMake, 1, 0, -1, false},
    {GALLEY_CALL(unlinkat), What::kChange, 1, 0, -1, false},
    {GALLEY_CALL(symlinkat), What::kMake, 2, 1, -1, false},
    {GALLEY_CALL(linkat), What::kChange, 1, 0, 4, false, 3, 2, EXDEV},
    {GALLEY_CALL(renameat2), What::kChange, 1, 0, -1, false, 3, 2},
    {GALLEY_CALL(fchmodat), What::kChange, 1, 0},
    {GALLEY_CALL(fchownat), What::kChange, 1, 0, 4},
    {GALLEY_CALL(utimensat), What::kChange, 1, 0, 3},
    {GALLEY_CALL(setxattr), What::kChange, 0},
    {GALLEY_CALL(lsetxattr), What::kChange, 0, -1, -1, false},
    {GALLEY_CALL(removexattr), What::kChange, 0},
    {GALLEY_CALL(lremovexattr), What::kChange, 0, -1, -1, false},
    {GALLEY_CALL(fchmod), What::kChangeOpened, -1, 0},
    {GALLEY_CALL(fchown), What::kChangeOpened, -1, 0},
    {GALLEY_CALL(fsetxattr), What::kChangeOpened, -1, 0},
    {GALLEY_CALL(fremovexattr), What::kChangeOpened, -1, 0},
    {GALLEY_CALL(getcwd), What::kTellPlace, -1},
    {GALLEY_CALL(bind), What::kTalk, 1, -1, 2},
    {GALLEY_CALL(connect), What::kTalk, 1, -1, 2},
    {GALLEY_CALL(sendto), What::kTalk, 4, -1, 5, true, -1, -1, 0, 4},
    {GALLEY_CALL(sendmsg), What::kTalk, 1},
    {GALLEY_CALL(sendmmsg), What::kRefuse},
    {GALLEY_CALL(chroot), What::kRefuse},
    {GALLEY_CALL(pivot_root), What::kRefuse},
    {GALLEY_CALL(mount), What::kRefuse},
    {GALLEY_CALL(umount2), What::kRefuse},
    {GALLEY_CALL(setns), What::kRefuse},
    {GALLEY_CALL(open_by_handle_at), What::kRefuse},
    {GALLEY_CALL(open_tree), What::kRefuse},
    {GALLEY_CALL(move_mount), What::kRefuse},
    {GALLEY_CALL(fsopen), What::kRefuse},
    {GALLEY_CALL(fspick), What::kRefuse},
    {GALLEY_CALL(fsmount), What::kRefuse},
#ifdef SYS_renameat
    {GALLEY_CALL(renameat), What::kChange, 1, 0, -1, false, 3, 2},
#endif
// Older calls, which newer architectures never had.
#ifdef SYS_open
    {GALLEY_CALL(open), What::kOpen, 0, -1, 1},
    {GALLEY_CALL(creat), What::kOpen, 0},
    {GALLEY_CALL(stat), What::kLook, 0},
    {GALLEY_CALL(lstat), What::kLook, 0, -1, -1, false},
    {GALLEY_CALL(access), What::kLook, 0},
    {GALLEY_CALL(readlink), What::kReadLink, 0, -1, -1, false},
    {GALLEY_CALL(mkdir), What::kMake, 0, -1, -1, false},
    {GALLEY_CALL(mknod), What::kMake, 0, -1, -1, false},
    {GALLEY_CALL(rmdir), What::kChange, 0, -1, -1, false},
    {GALLEY_CALL(unlink), What::kChange, 0, -1, -1, false},
    {GALLEY_CALL(symlink), What::kMake, 1, -1, -1, false},
    {GALLEY_CALL(link), What::kChange, 0, -1, -1, false, 1, -1, EXDEV},
    {GALLEY_CALL(rename), What::kChange, 0, -1, -1, false, 1},
    {GALLEY_CALL(chmod), What::kChange, 0},
    {GALLEY_CALL(chown), What::kChange, 0},
    {GALLEY_CALL(lchown), What::kChange, 0, -1, -1, false},
    {GALLEY_CALL(utime), What::kChange, 0},
    {GALLEY_CALL(utimes), What::kChange, 0},
    {GALLEY_CALL(futimesat), What::kChange, 1, 0},
#endif
};
constexpr WatchedCall kIoctl = {GALLEY_CALL(ioctl), What::kChangeOpened, -1, 0};

#undef GALLEY_CALL

}  // namespace

std::span<const WatchedCall> WatchedCalls() { return kWatched; }

const WatchedCall& WatchedIoctl() { return kIoctl; }

const WatchedCall* FindWatchedCall(uint32_t architecture, uint32_t number) {
  if (architecture != kArchitecture || number >= kOtherAbi) return nullptr;
  if (number == kIoctl.number) return &kIoctl;
  const auto* const end = std::end(kWatched);
  const auto* const found = std::find_if(
      std::begin(kWatched), end, [&](const WatchedCall& one) { return one.number == number; });
  return found == end ? nullptr : found;
}

}  // namespace galley::worker
