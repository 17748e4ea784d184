// WatchedTables: checks tables of stamps again at the cost of what happened since the last check.
//
// A table that held once is known to hold for all folders in which nothing happened since, by a
// FolderWatch that was there before the check. Only the others are looked at; and files that can
// change unseen (links, files with other names), and the top folders, whose paths may lead to
// others by now. Where not all folders can be watched, all of the table is looked at each time.
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

  // As StampTable::Check of the table with this id, which `open` opens. `name`: of whatever the
  // table is of; of an older table with this name nothing is kept. `changes_max`: as in
  // StampTable::CheckOptions. `is_kept`: the caller writes the table with renewed stamps, if there
  // is one, in place of this one. Errors: those of `open`.
  absl::StatusOr<content::StampCheck> Check(const std::string& name, const std::string& id,
                                            const OpenFunction& open, Cancellation* stop,
                                            size_t changes_max = 0, bool is_kept = true);

  // The table `id` of this name is replaced by one that differs from it in patches only
  // (StampTable::With): what is known of folders is known of that one.
  void Replace(const std::string& name, const std::string& id, content::StampTable by);

  // "812 folders are watched"; or why all files are looked at in each cook.
  std::string State() const;

 private:
  struct Known {
    explicit Known(content::StampTable of) : table(std::move(of)) {}
    content::StampTable table;
    std::string id;
    bool is_behind = false;  // `id` is of the table with renewed stamps, and this is the one before
    absl::flat_hash_map<std::string, uint32_t> folders;  // by path
    std::vector<bool> is_dirty;                          // by number
    std::vector<uint32_t> dirty;
    std::vector<content::FileInTable> elsewhere;
    absl::flat_hash_set<uint32_t> elsewhere_files;  // their numbers
    std::vector<std::pair<std::string, FileStat>> tops;
    // It held but for what is dirty, and all of its folders were watched before.
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
  mutable base::Mutex state_mutex_;                      // after mutex_; never held for long
  std::string why_not_ GALLEY_GUARDED_BY(state_mutex_);  // the last reason; empty: all are watched
};

}  // namespace galley::director
