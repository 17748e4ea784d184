// NotedLooks: what a watched program found elsewhere, and missed in the folder (Looks), as it comes
// to light call by call; without what the program made itself, and what differs on any machine.
//
// What a call is to make counts as made when it is there at the thread's next call: the kernel may
// refuse it, when the call has been let go on, and then the program has found that it is not there.
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
  explicit NotedLooks(const WatchedProgram* program) : program_(*program) {}  // which outlives it

  // The program found this, or that it is not there. `is_opened`: it may read its bytes or names.
  void Note(const Place& place, bool is_opened);
  // Its thread is about to make this.
  void Makes(pid_t thread, const Place& place);
  // The last call of the thread has ended.
  void EndCallOf(pid_t thread);
  // The last call of the thread was not carried out.
  void DropCallOf(pid_t thread) { making_.erase(thread); }
  // The program made it, or it is in its own folder.
  bool IsOwn(std::string_view path);

  // REQUIRES: the program has ended.
  const Looks& All();
  // FAILED_PRECONDITION: it found more than is kept (Looks::kMax).
  const absl::Status& error() const { return error_; }
  void Forgive() { error_ = absl::OkStatus(); }

 private:
  using Making = std::map<pid_t, std::string>;

  void End(Making::iterator making);
  void NoteOne(const std::string& path, Looks::Found found, bool is_opened);

  const WatchedProgram& program_;
  Looks looks_;
  absl::Status error_;
  Making making_;                            // what a thread's last call was to make
  std::set<std::string, std::less<>> made_;  // by the program, elsewhere
};

}  // namespace galley::worker
