// Published keys: the journal knows for each package and platform the action key that it has in the
// root last published. They are as the sandbox: a cook by the book takes out all that its root does
// not hold; a narrower one adds, replaces, and takes out its own failed packages.
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
  // Packages that the root has no more: of a narrower cook those that failed, of a difference those
  // that went.
  std::vector<std::string> left_out;
};

// Records the keys after the root was published, in one synced write with its sequence. Keys that
// the journal knows already (StoredResult::is_published) are not written again.
absl::Status RecordRoot(Journal& journal, const std::string& platform, const PublishedIn& in,
                        const RootContent& content);

// At the start of a director: where the last root of the store is not the one that the journal
// knows (a director died between the two; the store is another one), its keys are not known: the
// journal forgets them.
absl::Status ForgetOvertakenKeys(store::Store& store, Journal& journal,
                                 const std::vector<std::string>& platforms);

}  // namespace galley::director
