#include "common/base/repairs.h"

#include <set>
#include <utility>

#include "common/base/log.h"
#include "common/base/mutex.h"

namespace galley {
namespace {

struct Notes {
  base::Mutex mutex;
  std::vector<std::string> fresh GALLEY_GUARDED_BY(mutex);
  std::set<std::string> said GALLEY_GUARDED_BY(mutex);
};

Notes& TheNotes() {
  static Notes& notes = *new Notes();  // threads may note until the process is gone
  return notes;
}

}  // namespace

void NoteRepair(const std::string& text) {
  Notes& notes = TheNotes();
  {
    const base::MutexLock lock(notes.mutex);
    if (!notes.said.insert(text).second) return;
    notes.fresh.push_back(text);
  }
  LogInfo("healed: {}", text);
}

std::vector<std::string> TakeRepairs() {
  Notes& notes = TheNotes();
  const base::MutexLock lock(notes.mutex);
  return std::exchange(notes.fresh, {});
}

}  // namespace galley
