#include "director/cli/open_store.h"

#include <algorithm>
#include <span>
#include <vector>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/tree/linked_directory.h"
#include "director/cli/resolve_digest.h"

namespace galley::cli {

absl::StatusOr<OpenedStore> OpenStoreAndProject(const GlobalOptions& options) {
  OpenedStore opened;
  ASSIGN_OR_RETURN(opened.store, OpenStoreOf(options));
  if (auto project = OpenProject(options); project.ok()) opened.project_id = ProjectId(*project);
  return opened;
}

ExitCode CodeOf(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? kUsage : kInfrastructure;
}

absl::StatusOr<Digest> FindRoot(const OpenedStore& opened, std::string_view text) {
  ASSIGN_OR_RETURN(const Digest root, ResolveRoot(*opened.store, opened.project_id, text));
  ASSIGN_OR_RETURN(const std::vector<Digest> missing,
                   opened.store->FindMissing(std::span(&root, 1)));
  if (missing.empty()) {
    // The command that reads the root reports damage.
    const absl::StatusOr<Blob> blob = opened.store->Get(root);
    if (!blob.ok() || tree::DecodeLinkedDirectory(**blob).ok()) return root;
    return InvalidArgumentError(
        "{}: the store holds it, but it is no tree; expected a root (galley roots and "
        "galley store pins list them)",
        text);
  }
  // A root that was published, pinned or leased was lost: the command that reads it reports that.
  ASSIGN_OR_RETURN(const std::vector<store::PublishedRoot> roots, opened.store->Roots(""));
  ASSIGN_OR_RETURN(const std::vector<store::RootLease> leases, opened.store->Leases());
  const auto is_it = [&](const auto& one) { return one.root == root; };
  const bool is_known = std::ranges::any_of(roots, is_it) || std::ranges::any_of(leases, is_it);
  if (is_known) return root;
  return InvalidArgumentError(
      "{}: the store holds no such tree (galley roots and galley store pins list those that it "
      "keeps)",
      text);
}

ExitCode CodeOfRoot(const absl::Status& status) {
  return absl::IsInvalidArgument(status) ? kUsage : kInfrastructure;
}

}  // namespace galley::cli
