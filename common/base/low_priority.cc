#include "common/base/low_priority.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace galley {
namespace {

// A third of the share that other work has. With the least (19) a cook of half a second waited 12
// to 30 s for its end on a busy machine.
constexpr int kNice = 5;
// ioprio_set(2), https://docs.kernel.org/block/ioprio.html: the last of the eight priorities that
// share the disk. The class below, idle, might wait for ever on a busy machine.
constexpr int kIoOfThread = 1;              // IOPRIO_WHO_PROCESS
constexpr int kIoBestEffort = 2 << 13 | 7;  // IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7)

// On Linux both are a thread's own. Where they are refused the work is done all the same.
void LowerPriority() {
  const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
  static_cast<void>(::setpriority(PRIO_PROCESS, thread, kNice));
  static_cast<void>(::syscall(SYS_ioprio_set, kIoOfThread, thread, kIoBestEffort));
}

}  // namespace

void RunAtLowPriority(const std::function<void()>& work) {
  std::thread thread([&] {
    LowerPriority();
    work();
  });
  thread.join();
}

}  // namespace galley
