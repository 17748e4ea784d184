// LastSlot: lets a single one of a machine's sessions work on, with one slot, when all are short of
// memory: the session that holds a lock on a file beside their scratch folders. The kernel releases
// the lock when its holder dies.
// Threads: one owner.
#pragma once

#include <string>

#include "common/base/file.h"

namespace galley::worker {

class LastSlot {
 public:
  // Tries to take the lock, without waiting. True: this session holds the lock, or the file cannot
  // be locked at all: working without memory is better than waiting endlessly.
  bool Take(const std::string& path);
  void Release() { file_.Reset(); }
  bool is_held() const { return file_.valid(); }

 private:
  FileDescriptor file_;
};

}  // namespace galley::worker
