// CallWatch: sees the calls by which a program and all that it starts look into a folder whose
// files come only when they are needed, and has that folder made ready before each of them happens
// (seccomp user notification, seccomp_unotify(2)).
//
// Calls that name a path wait for Serve: it finds out where the path leads (from the caller's
// working directory or descriptor, through links and ".."), and every folder of ours on the way is
// filled; a file that is opened or run gets its bytes. Then the kernel carries the call out as it
// stands. Calls that would change something in the folder are answered EROFS, hard links to its
// files EXDEV. Calls by which a program could look around us (mounts, another root, another
// processor's ABI) end the run: has_failed. io_uring and clone3 are answered ENOSYS, as by an older
// kernel.
//
// It is no wall: a program that wants to get around it can (it may change a path while we read it).
// What it misses, the folder does not have: it holds empty files of the right size until then.
//
// When a file cannot be had, its call is answered EIO, and the run has failed.
//
// Cost: 10 to 20 us for each call that names a path, on a machine with a free core.
// Kernel: 5.10 with CONFIG_SECCOMP_FILTER; CanWatchCalls tells.
// Threads: one owner.
#pragma once

#include <sys/types.h>

#include <cstdint>
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
};

class CallWatch final : public ChildWatch {
 public:
  // `folder` outlives it.
  explicit CallWatch(ReadyFolder& folder);
  ~CallWatch() override;

  int BeginInChild() const override;
  void Take(FileDescriptor calls) override;
  int descriptor() const override { return calls_.get(); }
  void Serve() override;
  bool has_failed() const override { return !trouble_.ok(); }
  // Why; OK: it has not. FAILED_PRECONDITION: the program calls what cannot be watched; else as the
  // folder told.
  const absl::Status& trouble() const { return trouble_; }

 private:
  struct Call;
  struct Place;
  int Answer(const Call& call);
  int Look(const Call& call);
  int Open(const Call& call);
  int Run(const Call& call);
  int Change(const Call& call);
  int Fail(absl::Status status);
  int Refuse(const Call& call);
  absl::StatusOr<Place> Walk(const Call& call, size_t path_argument, int folder_argument,
                             bool follows_last);
  absl::StatusOr<Place> WalkFrom(const Call& call, std::string folder, std::string path,
                                 bool follows_last);
  absl::Status FillInterpreters(const Call& call, const Place& program, int depth);
  bool IsOurs(std::string_view path) const;

  ReadyFolder& folder_;
  const std::vector<char> filter_;  // sock_filter, in the child's memory too
  FileDescriptor calls_;
  std::vector<char> request_, response_;
  absl::Status trouble_;
};

// OK: programs can be watched on this machine. Tried once, with a process; later calls know.
absl::Status CanWatchCalls();

}  // namespace galley::worker
