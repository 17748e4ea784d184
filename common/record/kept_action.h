// KeptAction: an Action of which the store keeps as little as suffices to make its outputs again.
//
// The action key is the digest of the Action. So the bytes of the Action, kept as a blob, lead from
// a key to everything else:
//
//   Action          found by the action key; names the input root, and holds the trust domain
//   root Directory  the top folder of the input root; names the source and the two below
//   recipe          shared by all packages that are cooked alike
//   observations    with their values, which name the other inputs
//
// The Command and the folders below the top follow from these (BuildAction), and are not kept.
// Inputs of the Action are the files in its input root: source, files, cooked outputs, tools.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/blob.h"
#include "common/base/digest.h"
#include "common/record/action.h"

namespace galley::record {

// Returns the bytes of the four blobs, as views into `action`.
std::vector<std::string_view> BlobsToKeep(const Action& action);

struct KeptAction {
  ActionInputs inputs;
  Action action;
};

// Returns a blob. `name`: for people, "the recipe".
using ReadKeptBlob =
    std::function<absl::StatusOr<Blob>(std::string_view name, const Digest& digest)>;
// Reads the Action of an action key. INVALID_ARGUMENT: blobs are no Action of ours, or do not come
// to the key. Other errors: those of `read`.
absl::StatusOr<KeptAction> ReadKeptAction(const Digest& key, const ReadKeptBlob& read);

// Returns the digests of the four blobs and of all inputs; a digest may come twice.
std::vector<Digest> BlobsOf(const KeptAction& kept);

}  // namespace galley::record
