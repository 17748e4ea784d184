// The store and the project with which commands about roots begin.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/store/interface/store_admin.h"
#include "director/cli/exit_code.h"
#include "director/cli/global_options.h"

namespace galley::cli {

// The store, and the id of the project whose roots are meant: with --store and no project, every
// project's.
struct OpenedStore {
  std::unique_ptr<store::StoreDirectory> store;
  std::string project_id;
};
absl::StatusOr<OpenedStore> OpenStoreAndProject(const GlobalOptions& options);

// The exit code when a store could not be opened: 3, but 2 when it is not known which one is meant.
ExitCode CodeOf(const absl::Status& status);

// ResolveRoot, for commands that read the tree. INVALID_ARGUMENT: also for a whole digest that the
// store neither holds nor ever published, and for a blob that is no tree.
absl::StatusOr<Digest> FindRoot(const OpenedStore& opened, std::string_view text);
ExitCode CodeOfRoot(const absl::Status& status);

}  // namespace galley::cli
