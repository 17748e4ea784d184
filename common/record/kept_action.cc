#include "common/record/kept_action.h"

#include <algorithm>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/record/observation.h"
#include "common/record/recipe.h"
#include "common/tree/tree.h"

namespace galley::record {
namespace {

// An Action and the top folder of an input root have few fields of bounded size, but for the trust
// domain.
constexpr size_t kSmallBytesMax = 1 << 20;

absl::StatusOr<Blob> ReadAtMost(size_t bytes_max, std::string_view name, const Digest& digest,
                                const ReadKeptBlob& read) {
  if (digest.size_bytes() > bytes_max) {
    return InvalidArgumentError("{} {}: more than {} bytes", name, digest.ToString(), bytes_max);
  }
  return read(name, digest);
}

absl::StatusOr<Digest> FileIn(const tree::Directory& root, std::string_view name) {
  const auto found = std::ranges::find(root.files, name, &tree::FileNode::name);
  if (found == root.files.end()) return InvalidArgumentError("an input root without {}", name);
  return found->digest;
}

}  // namespace

std::vector<std::string_view> BlobsToKeep(const Action& action) {
  std::vector<std::string_view> blobs = {action.action, action.directories.back()};
  for (const InputFile& file : action.files) {
    if (file.bytes.has_value()) blobs.push_back(*file.bytes);
  }
  return blobs;
}

absl::StatusOr<KeptAction> ReadKeptAction(const Digest& key, const ReadKeptBlob& read) {
  ASSIGN_OR_RETURN(const Blob action, ReadAtMost(kSmallBytesMax, "the Action", key, read));
  ASSIGN_OR_RETURN(ActionMessage message, DecodeAction(*action));
  ASSIGN_OR_RETURN(const Blob folder,
                   ReadAtMost(kSmallBytesMax, "the input root", message.input_root, read));
  ASSIGN_OR_RETURN(const tree::Directory root, tree::DecodeDirectory(*folder));
  KeptAction kept;
  ASSIGN_OR_RETURN(kept.inputs.source, FileIn(root, kSourcePath));
  ASSIGN_OR_RETURN(const Digest recipe, FileIn(root, kRecipePath));
  ASSIGN_OR_RETURN(const Digest observed, FileIn(root, kObservationsPath));
  ASSIGN_OR_RETURN(const Blob recipe_bytes,
                   ReadAtMost(kRecipeBytesMax, "the recipe", recipe, read));
  ASSIGN_OR_RETURN(kept.inputs.recipe, DecodeRecipe(*recipe_bytes));
  ASSIGN_OR_RETURN(const Blob observed_bytes,
                   ReadAtMost(kEncodedSetBytesMax, "the observations", observed, read));
  ASSIGN_OR_RETURN(kept.inputs.observed, DecodeObserved(*observed_bytes));
  kept.inputs.trust_domain = std::move(message.trust_domain);
  ASSIGN_OR_RETURN(kept.action, BuildAction(kept.inputs));
  if (kept.action.key != key) {
    return InvalidArgumentError("the Action {} is not what its recipe and observations come to",
                                key.ToString());
  }
  return kept;
}

std::vector<Digest> BlobsOf(const KeptAction& kept) {
  std::vector<Digest> blobs = {kept.action.key, Digest::Of(kept.action.directories.back())};
  for (const InputFile& file : kept.action.files) blobs.push_back(file.digest);
  return blobs;
}

}  // namespace galley::record
