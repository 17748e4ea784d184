#include "worker/executor/view_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/base/folder_names.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"

namespace galley::worker {
namespace {

constexpr std::string_view kOwner = ".owner";
constexpr std::string_view kBusy = ".busy";
constexpr const char* kNameBegin = "view-";

FileDescriptor OpenLock(const std::string& path, bool makes) {
  return FileDescriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC | (makes ? O_CREAT : 0), 0600));
}

bool Lock(const FileDescriptor& file, int how) {
  return file.valid() && ::flock(file.get(), how) == 0;
}

void Remove(const std::string& path) {
  if (const absl::Status status = RemoveAll(path); !status.ok())
    LogWarning("view {}", MessageOf(status));
}

void RemoveWithLocks(const std::string& path) {
  Remove(path);
  ::unlink((path + std::string(kBusy)).c_str());
  ::unlink((path + std::string(kOwner)).c_str());
}

// Sets the time of use from the clock. The time that a file system sets by itself is some
// milliseconds old, and the same for two views that were used one after the other.
void NoteUse(const FileDescriptor& busy) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const timespec times[] = {now, now};
  ::futimens(busy.get(), times);
}

void WriteBytes(const FileDescriptor& busy, uint64_t bytes, const std::string& path) {
  ::ftruncate(busy.get(), 0);
  ::lseek(busy.get(), 0, SEEK_SET);
  WriteAll(busy.get(), std::to_string(bytes), path).IgnoreError();
}

struct Held {
  int64_t used_ns = 0;
  uint64_t bytes = 0;
  std::string path;
};

// Lists the views of living processes; removes those of dead processes.
std::vector<Held> AllIn(const std::string& parent) {
  std::vector<Held> all;
  for (const std::string& name : NamesIn(parent)) {
    const std::string file = JoinPath(parent, name);
    if (!file.ends_with(kOwner)) continue;
    const std::string path = file.substr(0, file.size() - kOwner.size());
    if (Lock(OpenLock(file, false), LOCK_EX | LOCK_NB)) {
      RemoveWithLocks(path);
      continue;
    }
    const std::string busy = path + std::string(kBusy);
    const auto text = ReadFile(busy, 64);
    const auto stat = StatFile(busy);
    if (!text.ok() || !stat.ok()) continue;
    Held held{.used_ns = stat->mtime_ns, .path = path};
    std::from_chars(text->data(), text->data() + text->size(), held.bytes);
    all.push_back(std::move(held));
  }
  return all;
}

void MakeRoom(const std::string& parent, uint64_t bytes_max) {
  const FileDescriptor lock = OpenLock(JoinPath(parent, "lock"), true);
  if (!Lock(lock, LOCK_EX | LOCK_NB)) return;  // another process makes room
  std::vector<Held> all = AllIn(parent);
  uint64_t sum = 0;
  for (const Held& one : all) sum += one.bytes;
  std::ranges::sort(all, [](const Held& a, const Held& b) { return a.used_ns < b.used_ns; });
  for (const Held& one : all) {
    if (sum <= bytes_max) return;
    const FileDescriptor busy = OpenLock(one.path + std::string(kBusy), false);
    if (one.bytes == 0 || !Lock(busy, LOCK_EX | LOCK_NB)) continue;  // a job uses the view
    Remove(one.path);
    WriteBytes(busy, 0, one.path);
    sum -= one.bytes;
  }
}

}  // namespace

absl::StatusOr<ViewFolder> ViewFolder::Make(const std::string& parent, uint64_t bytes_max) {
  RETURN_IF_ERROR(CreateDirectories(parent));
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(parent.c_str(), nullptr), &::free);
  if (real == nullptr) return ErrnoStatus(errno, "follow", parent);
  ViewFolder made;
  made.parent_ = real.get();
  made.bytes_max_ = bytes_max;
  // Under the lock nobody sees the owner's file before it is locked.
  const FileDescriptor lock = OpenLock(JoinPath(made.parent_, "lock"), true);
  if (!Lock(lock, LOCK_EX)) return ErrnoStatus(errno, "lock", made.parent_);
  ASSIGN_OR_RETURN(made.path_, MakeTemporaryDirectory(made.parent_, kNameBegin));
  made.busy_ = OpenLock(made.path_ + std::string(kBusy), true);
  made.owner_ = OpenLock(made.path_ + std::string(kOwner), true);
  if (!Lock(made.busy_, LOCK_EX) || !Lock(made.owner_, LOCK_EX))
    return ErrnoStatus(errno, "lock", made.path_);
  return made;
}

ViewFolder::~ViewFolder() {
  if (owner_.valid()) RemoveWithLocks(path_);
}

bool ViewFolder::Use() { return Lock(busy_, LOCK_EX) && FileExists(path_); }

void ViewFolder::Release(uint64_t bytes) {
  const bool has_grown = bytes > bytes_;
  bytes_ = bytes;
  if (has_grown) WriteBytes(busy_, bytes, path_);
  NoteUse(busy_);
  Lock(busy_, LOCK_UN);
  if (has_grown) MakeRoom(parent_, bytes_max_);
}

}  // namespace galley::worker
