// PublishedKeys: for each package and platform the journal holds the action key in the last
// published root. The keys follow the sandbox: a cook by the book removes every key that its root
// does not hold; a narrower cook adds and replaces keys, and removes those of its failed packages.
//
// Threads: the commit thread, or another thread while no commits run.
#pragma once

#include <string>
#include <vector>

#include "common/store/interface/store.h"
#include "director/journal/journal.h"
#include "director/shell/result_table.h"

namespace galley::director {

struct RootContent {
  std::vector<StoredResultPtr> results;  // sorted by package name
  bool by_the_book = false;
  // Packages whose keys are removed: the failed packages of a narrower cook, or the packages that
  // are gone in a difference.
  std::vector<std::string> left_out;
};

// Records the keys of a published root and its sequence number, in one synced write. Keys that the
// journal has already (StoredResult::is_published) are not written again.
absl::Status RecordRoot(Journal& journal, const std::string& platform, const PublishedIn& in,
                        const RootContent& content);

// Makes the journal forget the keys of a platform if its last root in the store is not the
// journal's last root: a director died between the two writes, or the store was replaced. Called at
// the start of a director, and when it opens a replaced store.
absl::Status ForgetOvertakenKeys(store::Store& store, Journal& journal,
                                 const std::vector<std::string>& platforms);

}  // namespace galley::director
