// LastSlot: of all sessions of a machine that are short of memory one may work on, with one slot;
// it is the one that holds a lock on a file beside their scratch folders. The kernel gives the lock
// back when its holder dies.
// Threads: one owner.
#pragma once

#include <string>

#include "common/base/file.h"

namespace galley::worker {

class LastSlot {
 public:
  // True: it is held. Does not wait. Where no lock can be had (no such folder, no descriptors) it
  // counts as held: to work without memory is better than to wait for ever.
  bool Take(const std::string& path);
  void Release() { file_.Reset(); }
  bool is_held() const { return file_.valid(); }

 private:
  FileDescriptor file_;
};

}  // namespace galley::worker
