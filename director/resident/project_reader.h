// ProjectReader: the project file of a resident director, which is read again when a cook begins.
//
// A changed file is taken up, except for sections that only a restart can change ([store], [farm]
// listen, [director]), which stay the same. A file with an error changes nothing.
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

  // Returns the present project: the same object as before when nothing changed. INVALID_ARGUMENT,
  // NOT_FOUND: what is wrong with the file.
  absl::StatusOr<std::shared_ptr<const project::Project>> Read();

  // Reads the file if it has changed since Read, or was wrong.
  void Renew();

  // Notes how a cook of the present project ended: `refusal` says why the cook was refused, for
  // errors that only a look at rules and files can find (INVALID_ARGUMENT); empty: it was not
  // refused. A refusal is a note until the file changes, or a cook is not refused.
  void NoteEnd(const std::string& refusal);

  // Returns notes for people: what waits for a restart, what is wrong with the file, why a cook was
  // refused.
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

// Returns a value for which the client differs from the director in a way that matters. `theirs`
// are the client's values. Values that only say how the director works matter when the client was
// told them expressly; values that can decide a byte always matter. Empty: none.
//
//   "store.trust is \"main\" for the director (default) and \"nightly\" here (GALLEY_STORE_TRUST)"
std::string DifferenceThatMatters(const std::vector<project::Origin>& ours,
                                  const std::vector<project::Origin>& theirs);

}  // namespace galley::director
