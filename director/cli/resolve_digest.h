// Digests and roots as they are named on the command line.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "director/cli/global_options.h"

namespace galley::cli {

// A root as docs/cli.md, "Roots", names it: <hex>/<size>, a unique prefix of a published or pinned
// one, PLATFORM@latest, PLATFORM@last, PLATFORM@N (N cooks ago), PLATFORM#N (sequence number N),
// pin:NAME. INVALID_ARGUMENT says what is known.
absl::StatusOr<Digest> ResolveRoot(store::Store& store, const std::string& project_id,
                                   std::string_view text);

// <hex>/<size>, or a unique prefix of what was printed: a root, a pin, a file of their trees; and
// of the project, if there is one, each key, source, output and log that its journal has. Reads the
// journal and the folders of all kept trees, for a prefix only. INVALID_ARGUMENT: none, or several.
absl::StatusOr<Digest> ResolveDigest(const GlobalOptions& options, store::Store& store,
                                     std::string_view text);

}  // namespace galley::cli
