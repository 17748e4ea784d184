// ResolvedPackages: the packages of one snapshot with their recipes. A package is resolved on the
// first question about it; all packages are resolved together, in parallel, on the first question
// about all.
//
// The packages of a successor snapshot share what was resolved before. There are two layers at
// most: the names that were looked at again (`refreshed_`), and below them either the list of all
// packages of an earlier snapshot (`base_`) or, while nobody has asked for all, the packages that
// were asked for one by one (`asked_`). The upper layer is copied by each successor; when it has
// more than kRefreshedMin names and a 64th of the files, a new lower layer is made.
//
//   Town.level, Wood.png, Oak.png     base_ of snapshot 1, shared by 2 and 3
//   2: Wood.png.cook was written      refreshed_ = {Wood.png}
//   3: Elm.png came, Oak.png went     refreshed_ = {Wood.png, Elm.png, Oak.png}
//
// Cost: Find is logarithmic; TakeOver is linear in the names that were looked at again since the
// lower layer was made; TakeAll is linear in all files, and after TakeOver resolves only names
// that were looked at again.
// Threads: any, after TakeOver.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/mutex.h"
#include "common/content/snapshot.h"
#include "director/shell/sources.h"

namespace galley::director {

// ResolvedPackage: the judgement of rules, sidecar and file on one package.
struct ResolvedPackage {
  // nullptr: the rules or the sidecar are wrong. Also set if the error is the file's own.
  RecipesPtr recipes;
  std::string error;  // not empty: why the package cannot be cooked
  bool never_cook = false;
};

// ResolvedFile: a file, which may be a package.
struct ResolvedFile {
  std::optional<ResolvedPackage> package;  // nullopt: no rule and no sidecar makes it a package
  std::vector<std::string> errors;         // all errors of the rules and of the sidecar
  bool is_sidecar_unread = false;          // the sidecar could not be read; the package fails
};

class ResolvedPackages {
 public:
  static constexpr size_t kRefreshedMin = 256;
  // Resolves a file that is no sidecar. `sidecar`: nullptr: the file has none. Called by several
  // threads at once.
  using ResolveFile = std::function<ResolvedFile(const content::FileEntry& file,
                                                 const content::FileEntry* sidecar)>;

  // The list of all packages, sorted by name.
  struct All {
    std::vector<std::string> names;
    std::vector<ResolvedPackage> packages;                      // parallel to `names`
    std::map<std::string, std::vector<std::string>> errors_of;  // of packages that have errors
    std::vector<std::string> errors;                            // each text once, by name
    const ResolvedPackage* Find(std::string_view name) const;   // nullptr: no such package
    void Add(std::string name, const ResolvedFile& file);       // REQUIRES: in order of names
    void CollectErrors();                                       // fills in `errors`
  };

  // `snapshot` outlives the object. `threads`: of TakeAll; 0: one for each core.
  ResolvedPackages(const content::Snapshot& snapshot, ResolveFile resolve, unsigned threads);
  ~ResolvedPackages();
  ResolvedPackages(const ResolvedPackages&) = delete;
  ResolvedPackages& operator=(const ResolvedPackages&) = delete;

  // Takes over the packages of `before` that `looked_at` leaves alone. REQUIRES: no other function
  // was called yet; both resolve a file alike; the snapshot is the one of `before`, refreshed at
  // these paths (Snapshot::Refresh), or a revision of it. If too many files lie at the paths,
  // nothing is taken over.
  void TakeOver(const ResolvedPackages& before, std::span<const std::string> looked_at);

  // nullptr: there is no such package. Valid as long as this object.
  const ResolvedPackage* Find(std::string_view name) const;
  // Resolves all packages. Valid as long as this object.
  const All& TakeAll() const;
  // True: the sidecar of some package that was resolved could not be read.
  bool HasUnreadSidecars() const;

 private:
  using FilePtr = std::shared_ptr<const ResolvedFile>;
  class Slot;
  class Asked;
  using Refreshed = absl::flat_hash_map<std::string, std::shared_ptr<Slot>>;

  std::shared_ptr<const All> KnownAll() const;
  void ShareAll(std::shared_ptr<const All> all);
  void MakeLowerLayer();
  FilePtr FindFile(std::string_view name) const;
  FilePtr ResolveNow(std::string_view name) const;
  void NoteUnread(std::string_view name, const ResolvedFile& file) const;
  std::shared_ptr<const All> ResolveAll() const;
  std::vector<ResolvedFile> ResolveFiles(const content::FileList& files) const;
  std::shared_ptr<const All> MergeAll() const;

  const content::Snapshot& snapshot_;
  const ResolveFile resolve_;
  const unsigned threads_;

  // Constant after TakeOver.
  Refreshed refreshed_;
  std::shared_ptr<const All> base_;  // nullptr: `asked_` is the lower layer
  std::shared_ptr<Asked> asked_;

  mutable base::Mutex mutex_;
  mutable std::set<std::string> unread_ GALLEY_GUARDED_BY(mutex_);  // packages by name
  mutable std::atomic<const All*> known_all_ = nullptr;  // points into all_, read without the lock
  mutable base::Mutex all_mutex_;
  mutable std::shared_ptr<const All> all_ GALLEY_GUARDED_BY(all_mutex_);
};

// Returns the packages, and the files that are none, whose rules, sidecars or errors may differ
// between two snapshots of which `now` is `before` refreshed at `looked_at`: sorted. nullopt: there
// are more than `names_max`.
//
// With a file that came or went also those change which lie below it, or of which it is a folder
// (overlaid mounts hide them), and its twins but for case, whose errors name one another.
std::optional<std::vector<std::string>> RefreshedNames(const content::Snapshot& before,
                                                       const content::Snapshot& now,
                                                       std::span<const std::string> looked_at,
                                                       size_t names_max);

}  // namespace galley::director
