// CallWatch: sees the calls by which a program and all that it starts look into a folder whose
// files come only when they are needed, and has that folder made ready before each of them happens
// (seccomp user notification, seccomp_unotify(2)).
//
// Calls that name a path wait for Serve: it finds out where the path leads (from the caller's
// working directory or descriptor, through links and ".."), and every folder of ours on the way is
// filled; a file that is opened or run gets its bytes. Then the kernel carries the call out as it
// stands. Calls that would change something in the folder are answered EROFS, hard links to its
// files EXDEV.
//
// What the program found elsewhere is noted (Looks), for whoever knows what it would have found
// beside the project; but not what it made itself, and not what differs on any machine (/proc,
// /dev). What it wanted to make counts as made when it is there: the kernel may refuse it, when the
// call has been let go on, and then the program has found that it is not there.
//
// Calls by which a program could look around us (mounts, another root, another processor's ABI), by
// which it learns where the folder really is (readlink, getcwd), and by which others could look for
// it (servers: sockets) end the run: has_failed. io_uring, clone3 and calls that are newer than
// this code are answered ENOSYS, as by an older kernel.
//
// It is no wall: a program that wants to get around it can (it may change a path while we read it).
// What it misses, the folder does not have: it holds empty files of the right size until then.
//
// When a file cannot be had, its call is answered EIO, and the run has failed.
//
// Cost: 10 to 20 us for each call that names a path, on a machine with a free core.
// Kernel: 5.10 with CONFIG_SECCOMP_FILTER; CanWatchCalls tells.
// Threads: one owner; while the program starts, another thread serves (ChildProcess::Start).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/child_process.h"
#include "common/base/file.h"

namespace galley::worker {

// The folder. Paths are host paths, without links, `root()` or below it.
class ReadyFolder {
 public:
  virtual ~ReadyFolder() = default;
  virtual const std::string& root() const = 0;
  // All names of the folder are there afterwards; of one that is none, nothing happens.
  virtual absl::Status FillFolder(const std::string& path) = 0;
  // The file has its bytes afterwards; of one that is none, nothing happens.
  virtual absl::Status FillFile(const std::string& path) = 0;
  // The path below root() of what this is, if it is ours: it may have been reached by another way
  // (a bind mount). Empty: it is not.
  virtual std::string PathOf(uint64_t device, uint64_t inode) const = 0;
};

// Looks: what a program found, by host paths without links in their folders.
struct Looks {
  static constexpr size_t kMax = 65'536;

  enum class Found : uint8_t { kAbsent, kFile, kFolder, kOther };
  // What it found first.
  std::map<std::string, Found> found;
  // Of these: files whose bytes, or folders whose names it may have read.
  std::set<std::string> opened;
};

struct WatchedProgram {
  ReadyFolder* folder = nullptr;  // outlives the watch
  // What is in there is the program's own (its working directory): it is not noted.
  std::string own;
  // Where the project's tools are put: nothing can be changed there, either. Empty: nowhere.
  std::string tools;
};

class CallWatch final : public ChildWatch {
 public:
  explicit CallWatch(WatchedProgram program);
  ~CallWatch() override;

  int BeginInChild() const override;
  void Take(FileDescriptor calls) override;
  int descriptor() const override { return calls_.get(); }
  void Serve() override;
  bool has_failed() const override { return !trouble_.ok(); }
  absl::Status CheckWritten(const std::string& folder) const override;
  // Why; OK: it has not. FAILED_PRECONDITION: the program calls what cannot be watched; else as the
  // folder told.
  const absl::Status& trouble() const { return trouble_; }
  // REQUIRES: the program has ended.
  const Looks& looks();

 private:
  struct Call;
  struct Place;
  int Answer(const Call& call);
  int Look(const Call& call);
  int ReadLink(const Call& call);
  int Open(const Call& call);
  int Run(const Call& call);
  int Change(const Call& call);
  int ChangeOpened(const Call& call);
  int TellPlace(const Call& call);
  int Talk(const Call& call);
  int TalkTo(const Call& call, uint64_t address, uint64_t size_bytes);
  int Fail(const Call& call, absl::Status status);
  int Refuse(const Call& call, std::string_view what);
  bool Waits(const Call& call) const;
  absl::StatusOr<Place> Walk(const Call& call, size_t path_argument, int folder_argument,
                             bool follows_last);
  absl::StatusOr<Place> WalkFrom(const Call& call, std::string folder, std::string path,
                                 bool follows_last);
  absl::Status FillInterpreters(const Call& call, const Place& program, int depth);
  std::string Known(std::string path) const;
  bool IsOurs(std::string_view path) const;
  bool IsGuarded(std::string_view path) const;
  bool IsOwn(std::string_view path);
  void Makes(const Call& call, const Place& place);
  void EndMaking(std::map<pid_t, std::string>::iterator making);
  void Note(const Place& place, bool is_opened);
  void NoteOne(const std::string& path, Looks::Found found, bool is_opened);

  const WatchedProgram program_;
  const std::vector<char> filter_;  // sock_filter, in the child's memory too
  FileDescriptor calls_;
  std::vector<char> request_, response_;
  absl::Status trouble_;
  Looks looks_;
  std::map<pid_t, std::string> making_;         // what a thread's last call was to make
  std::set<std::string, std::less<>> made_;     // by the program, elsewhere
  std::set<std::string, std::less<>> servers_;  // likewise: names of sockets without a file
};

// OK: programs can be watched on this machine. Tried once, with a process; later calls know.
absl::Status CanWatchCalls();

}  // namespace galley::worker
