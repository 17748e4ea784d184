// ProjectReader: the project file of a resident director, read again when a cook begins.
//
// A changed file is taken up, but for what only a restart can change ([store], [farm] listen,
// [director]), which stays as it was. One with an error changes nothing.
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

  // `first`: as the director was opened.
  ProjectReader(Load load, std::shared_ptr<const project::Project> first);

  // The project as it is now: the same object as before when nothing changed. INVALID_ARGUMENT,
  // NOT_FOUND: what is wrong with the file.
  absl::StatusOr<std::shared_ptr<const project::Project>> Read();

  // Reads where the file is another one than Read saw, or was wrong.
  void Renew();

  // How a cook of the present project ended: `refusal` says why it was refused, for what only a
  // look at rules and files can tell (INVALID_ARGUMENT); empty: it was not. It is a note until the
  // file is another one, or a cook is not refused.
  void NoteEnd(const std::string& refusal);

  // For people: what waits for a restart, what is wrong with the file, why a cook was refused.
  std::vector<std::string> notes() const;

 private:
  void Keep(project::Project& project, std::vector<std::string>& notes) const;

  const Load load_;
  const std::shared_ptr<const project::Project> first_;
  base::Mutex reading_;  // before mutex_
  std::shared_ptr<const project::Project> present_ GALLEY_GUARDED_BY(reading_);
  std::string present_text_ GALLEY_GUARDED_BY(reading_);  // of the file
  absl::StatusOr<FileStat> seen_ GALLEY_GUARDED_BY(reading_);
  mutable base::Mutex mutex_;
  std::vector<std::string> notes_ GALLEY_GUARDED_BY(mutex_);
  std::string refusal_ GALLEY_GUARDED_BY(mutex_);
  bool is_unreadable_ GALLEY_GUARDED_BY(mutex_) = false;  // the project file, when it was read last
};

// A value of which the client's differs from the director's, and that difference matters.
// `theirs` are those of the client. Values that only say how the director works matter when the
// client was told them expressly; those that can decide a byte always do. Empty: none.
//
//   "store.trust is \"main\" for the director (default) and \"nightly\" here (GALLEY_STORE_TRUST)"
std::string DifferenceThatMatters(const std::vector<project::Origin>& ours,
                                  const std::vector<project::Origin>& theirs);

}  // namespace galley::director
