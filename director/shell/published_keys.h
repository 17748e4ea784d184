// PublishedKeys: for each package and platform the journal knows the action key in the root last
// published. The keys follow the sandbox: a cook by the book takes out every key that its root does
// not hold; a narrower cook adds, replaces, and takes out its own failed packages.
//
// Threads: the commit thread, or none beside it.
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
  // Packages that the root no longer has: in a narrower cook the packages that failed, in a
  // difference the packages that went.
  std::vector<std::string> left_out;
};

// Records the keys after the root was published, in one synced write with the sequence number of
// the root. Keys that the journal knows already (StoredResult::is_published) are not written again.
absl::Status RecordRoot(Journal& journal, const std::string& platform, const PublishedIn& in,
                        const RootContent& content);

// Called at the start of a director: if the last root of the store is not the root that the journal
// knows (a director died between the two writes, or the store is another one), the keys of the root
// are not known, and the journal forgets them.
absl::Status ForgetOvertakenKeys(store::Store& store, Journal& journal,
                                 const std::vector<std::string>& platforms);

}  // namespace galley::director
