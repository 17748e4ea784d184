// ResolveDigest: digests and roots as the command line names them.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "director/cli/global_options.h"

namespace galley::cli {

// Returns a root that is named as in docs/cli.md, "Roots": <hex>/<size>, a unique prefix of a
// published, pinned or leased root, PLATFORM@latest, PLATFORM@last, PLATFORM@N (N cooks ago),
// PLATFORM#N (sequence number N), pin:NAME. INVALID_ARGUMENT says which names are known.
absl::StatusOr<Digest> ResolveRoot(store::Store& store, const std::string& project_id,
                                   std::string_view text);

// Returns the digest for <hex>/<size>, or for a unique prefix of a printed digest: a root, a pin, a
// lease, a file of their trees; and, if there is a project, every key, source, output and log in
// its journal. Reads the journal and the folders of all kept and leased trees, but only for a
// prefix. INVALID_ARGUMENT: no digest has the prefix, or several have.
absl::StatusOr<Digest> ResolveDigest(const GlobalOptions& options, store::Store& store,
                                     std::string_view text);

}  // namespace galley::cli
