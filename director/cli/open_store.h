// OpenStore: opens the store and the project for commands about roots.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/store/interface/store_admin.h"
#include "director/cli/exit_code.h"
#include "director/cli/global_options.h"

namespace galley::cli {

// OpenedStore: the store, and the id of the project whose roots are meant. With --store and without
// a project the id is empty: the roots of every project are meant.
struct OpenedStore {
  std::unique_ptr<store::StoreDirectory> store;
  std::string project_id;
};
absl::StatusOr<OpenedStore> OpenStoreAndProject(const GlobalOptions& options);

// Returns the exit code for a store that could not be opened: 3, or 2 if the command line does not
// tell which store.
ExitCode CodeOf(const absl::Status& status);

// ResolveRoot for commands that read the tree. INVALID_ARGUMENT also for a whole digest that the
// store neither holds nor ever published, and for a blob that is no tree.
absl::StatusOr<Digest> FindRoot(const OpenedStore& opened, std::string_view text);
ExitCode CodeOfRoot(const absl::Status& status);

}  // namespace galley::cli
