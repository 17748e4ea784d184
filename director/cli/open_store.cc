#include "director/cli/open_store.h"

#include "common/base/status_macros.h"

namespace galley::cli {

absl::StatusOr<OpenedStore> OpenStoreAndProject(const GlobalOptions& options) {
  OpenedStore opened;
  ASSIGN_OR_RETURN(opened.store, OpenStoreOf(options));
  if (auto project = OpenProject(options); project.ok()) opened.project_id = ProjectId(*project);
  return opened;
}

ExitCode CodeOf(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kUsage : kInfrastructure;
}

}  // namespace galley::cli
