// NotedLooks: gathers, call by call, the looks of a watched program outside of the folder, and the
// paths in the folder that it opened or found absent (Looks). Leaves out files that the program
// made itself, and paths that are the same everywhere or differ on every machine.
//
// A file that a call is to make counts as made when it is there at the thread's next call. The
// kernel may refuse a call that went on; then the program has found that the file is not there.
//
// Threads: one.
#pragma once

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "worker/walls/looks.h"
#include "worker/walls/path_walk.h"
#include "worker/walls/watched_program.h"

namespace galley::worker {

class NotedLooks {
 public:
  // `program` outlives the object.
  explicit NotedLooks(const WatchedProgram* program) : program_(*program) {}

  // The program found `place`, or found that it is absent. `is_opened`: the program may read the
  // bytes or names.
  void Note(const Place& place, bool is_opened);
  // `thread` is about to make a file at `place`.
  void Makes(pid_t thread, const Place& place);
  // The last call of the thread has ended.
  void EndCallOf(pid_t thread);
  // The last call of the thread was not carried out.
  void DropCallOf(pid_t thread) { making_.erase(thread); }
  // Whether the program made the file, or the file is in the program's own folder.
  bool IsOwn(std::string_view path);

  // REQUIRES: the program has ended.
  const Looks& All();
  // FAILED_PRECONDITION: the program found more files than are kept (Looks::kMax).
  const absl::Status& error() const { return error_; }
  void Forgive() { error_ = absl::OkStatus(); }

 private:
  using Making = std::map<pid_t, std::string>;

  void End(Making::iterator making);
  void NoteOne(const std::string& path, Looks::Found found, bool is_opened);

  const WatchedProgram& program_;
  Looks looks_;
  absl::Status error_;
  Making making_;                            // thread -> the file that its last call was to make
  std::set<std::string, std::less<>> made_;  // files that the program made elsewhere
};

}  // namespace galley::worker
