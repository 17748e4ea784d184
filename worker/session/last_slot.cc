#include "worker/session/last_slot.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "common/base/log.h"

namespace galley::worker {

bool LastSlot::Take(const std::string& path) {
  if (file_.valid()) return true;
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file.valid() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
    file_ = std::move(file);
    return true;
  }
  if (file.valid() && errno == EWOULDBLOCK) return false;
  LogWarning("memory: {} cannot be locked; this session works on with one slot", path);
  return true;
}

}  // namespace galley::worker
