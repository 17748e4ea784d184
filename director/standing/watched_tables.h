// WatchedTables: checks tables of stamps again at the cost of what happened since the last check.
//
// A FolderWatch that began before a check knows the folders in which nothing happened since: there
// the table still holds. A later check looks only at the other folders, at files that can change
// unseen (links, files with other names), and at the top folders, whose paths may lead elsewhere by
// now. If some folder cannot be watched, each check looks at the whole table.
//
// Threads: any.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "common/content/folder_watch.h"
#include "common/content/stamp_table.h"

namespace galley::director {

class WatchedTables {
 public:
  // Null: nothing is watched.
  explicit WatchedTables(std::unique_ptr<content::FolderWatch> watch) : watch_(std::move(watch)) {}

  using OpenFunction = std::function<absl::StatusOr<content::StampTable>()>;

  // Returns StampTable::Check of the table `id`, which `open` opens. `name`: the subject of the
  // table; findings about an older table of this name are dropped. `changes_max`: as in
  // StampTable::CheckOptions. `is_kept`: the caller writes a table with renewed stamps, if there is
  // one, in place of this table. Errors: those of `open`.
  absl::StatusOr<content::StampCheck> Check(const std::string& name, const std::string& id,
                                            const OpenFunction& open, Cancellation* stop,
                                            size_t changes_max = 0, bool is_kept = true);

  // Notes that table `by` replaces the table `id` of this name. REQUIRES: `by` differs only in
  // patches (StampTable::With), so that findings about folders hold for it.
  void Replace(const std::string& name, const std::string& id, content::StampTable by);

  // Returns "812 folders are watched", or the reason why each cook looks at all files.
  std::string State() const;

 private:
  struct Known {
    explicit Known(content::StampTable of) : table(std::move(of)) {}
    content::StampTable table;
    std::string id;
    bool is_behind = false;  // `id` is of the table with renewed stamps; `table` is older
    absl::flat_hash_map<std::string, uint32_t> folders;  // by path
    std::vector<bool> is_dirty;                          // by number
    std::vector<uint32_t> dirty;
    std::vector<content::FileInTable> elsewhere;
    absl::flat_hash_set<uint32_t> elsewhere_files;  // numbers of the files in `elsewhere`
    std::vector<std::pair<std::string, FileStat>> tops;
    // The table held except for dirty folders, and all of its folders were watched before.
    bool is_checked = false;
  };

  void TakeChanges() GALLEY_REQUIRES(mutex_);
  static void CatchUp(Known& known, const OpenFunction& open);
  static void MarkDirty(Known& known, uint32_t folder);
  bool WatchAll(Known& known) GALLEY_REQUIRES(mutex_);
  bool CannotWatch(const std::string& why);
  bool AreTopsTheSame(const Known& known) const;
  content::StampCheck CheckAll(Known& known, Cancellation* stop, size_t changes_max)
      GALLEY_REQUIRES(mutex_);
  content::StampCheck CheckDirty(Known& known, Cancellation* stop, size_t changes_max)
      GALLEY_REQUIRES(mutex_);
  void Renewed(const std::string& name, const content::StampCheck& check) GALLEY_REQUIRES(mutex_);

  const std::unique_ptr<content::FolderWatch> watch_;
  mutable base::Mutex mutex_;
  std::map<std::string, std::unique_ptr<Known>> tables_ GALLEY_GUARDED_BY(mutex_);
  mutable base::Mutex state_mutex_;  // locked after mutex_, and only briefly
  // The last reason; empty: all folders are watched.
  std::string why_not_ GALLEY_GUARDED_BY(state_mutex_);
};

}  // namespace galley::director
