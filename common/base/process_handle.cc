#include "common/base/process_handle.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "common/base/child_process.h"

namespace galley {
namespace {

constexpr int kRoundsMax = 200;  // of KillTree: what it kills may have children
constexpr useconds_t kRoundUs = 5'000;
constexpr size_t kProcessesMax = 4'096;  // held at a time; the next round goes on

}  // namespace

ProcessHandle ProcessHandle::Open(pid_t pid) {
  ProcessHandle handle;
  handle.pid_ = pid;
  handle.descriptor_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return handle;
}

bool ProcessHandle::HasEnded() const {
  pollfd event{descriptor_.get(), POLLIN, 0};
  return ::poll(&event, 1, 0) > 0;
}

void ProcessHandle::Signal(int signal) const {
  ::syscall(SYS_pidfd_send_signal, descriptor_.get(), signal, nullptr, 0u);
}

// The processes below this one that live. Each is proved to be below: its number was that of a
// child of a process that is held, while both lived.
std::vector<ProcessHandle> ProcessHandle::Below() const {
  std::vector<ProcessHandle> below;
  for (size_t next = 0; next <= below.size() && below.size() < kProcessesMax; ++next) {
    const pid_t parent = next == 0 ? pid_ : below[next - 1].pid();
    std::vector<ProcessHandle> opened;
    for (const pid_t child : ChildrenOf(parent)) opened.push_back(Open(child));
    const std::vector<pid_t> children = ChildrenOf(parent);
    if ((next == 0 ? *this : below[next - 1]).HasEnded()) continue;
    for (ProcessHandle& child : opened) {
      if (child.valid() && !child.HasEnded() &&
          std::ranges::find(children, child.pid()) != children.end())
        below.push_back(std::move(child));
    }
  }
  return below;
}

void ProcessHandle::KillTree() const {
  Signal(SIGSTOP);
  // An orphan may fall to another parent just after the look at that parent: only when nobody was
  // found twice is nobody there.
  for (int round = 0, empty_rounds = 0; round < kRoundsMax && empty_rounds < 2; ++round) {
    const std::vector<ProcessHandle> below = Below();
    empty_rounds = below.empty() ? empty_rounds + 1 : 0;
    for (auto process = below.rbegin(); process != below.rend(); ++process)
      process->Signal(SIGKILL);
    if (!below.empty()) ::usleep(kRoundUs);
  }
  Signal(SIGKILL);
}

}  // namespace galley
