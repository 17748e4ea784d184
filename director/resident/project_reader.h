// ProjectReader: reads the project file of a resident director again for each cook.
//
// Changes take effect, except in [store], [director] and [farm] listen, which need a restart. An
// error in the file: nothing changes.
//
// Threads: any.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/project/project.h"

namespace galley::director {

class ProjectReader {
 public:
  using Load = std::function<absl::StatusOr<project::Project>()>;

  // `first`: the project with which the director was opened.
  ProjectReader(Load load, std::shared_ptr<const project::Project> first);

  // Reads the file and returns the project; the same object as before if nothing changed.
  // INVALID_ARGUMENT, NOT_FOUND: the text says what is wrong with the file.
  absl::StatusOr<std::shared_ptr<const project::Project>> Read();

  // Reads the file again if it has changed, or if there are notes.
  void Renew();

  // Called when a cook of the present project has ended. `refusal`: why the cook was refused, for
  // errors that only the resolution of rules and files finds (INVALID_ARGUMENT); empty: it was not
  // refused. A refusal stays a note until the file changes, or a cook is not refused.
  void NoteEnd(const std::string& refusal);

  // Returns notes for people: changes that wait for a restart, errors of the file, and why the last
  // cook was refused.
  std::vector<std::string> notes() const;

 private:
  void Keep(project::Project& project, std::vector<std::string>& notes) const;

  const Load load_;
  const std::shared_ptr<const project::Project> first_;
  base::Mutex reading_;  // locked before mutex_
  std::shared_ptr<const project::Project> present_ GALLEY_GUARDED_BY(reading_);
  std::string present_text_ GALLEY_GUARDED_BY(reading_);  // text of the file
  absl::StatusOr<FileStat> seen_ GALLEY_GUARDED_BY(reading_);
  mutable base::Mutex mutex_;
  std::vector<std::string> notes_ GALLEY_GUARDED_BY(mutex_);
  std::string refusal_ GALLEY_GUARDED_BY(mutex_);
  // The last read of the project file failed.
  bool is_unreadable_ GALLEY_GUARDED_BY(mutex_) = false;
};

// Returns a difference between the configuration of the director, `ours`, and of the client,
// `theirs`, for which the cook must be refused; empty: none. A value that can decide a byte must
// always be equal; any other value must be equal if the client got it from elsewhere than the
// project file and the defaults. For example:
//
//   "store.trust is \"main\" for the director (default) and \"nightly\" here (GALLEY_STORE_TRUST)"
std::string DifferenceThatMatters(const std::vector<project::Origin>& ours,
                                  const std::vector<project::Origin>& theirs);

}  // namespace galley::director
