// PastResults: results of packages in an older world, from the action cache alone: what a session
// of that world asks for, and its tree does not have.
//
// The key is made from the sources as the older world had them. A source that was not hashed then,
// and has changed since, has no key any more; neither has a package that reads cooked outputs of
// others, unless they are given. The journal is not asked, since it speaks of the present world.
//
// Threads: any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"
#include "director/core/ids.h"
#include "director/journal/journal.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"

namespace galley::director {

struct PastQuestion {
  std::string package;
  std::optional<Digest> generated_source;  // of a generated package
  PlatformIndex platform = 0;
  RecipesPtr recipes;  // in the older world
  SourcesPtr sources;  // of the older world
  std::string trust_domain;
  std::vector<std::string> read_trust;
};

struct PastResult {
  Digest action_key;
  record::Result result;  // its outputs may be gone: Remaker makes them again
};

// nullopt: no result is known, or several that differ. May hash files, and blocks. Errors: the
// store's.
absl::StatusOr<std::optional<PastResult>> FindPastResult(store::Store& store, Journal& journal,
                                                         const PastQuestion& question);

}  // namespace galley::director
