#include "common/store/interface/pins.h"

#include <algorithm>
#include <map>

#include "common/base/errors.h"
#include "common/base/plain_text.h"
#include "common/base/status_macros.h"
#include "common/tree/tree.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

constexpr size_t kAskedAtOnce = 16'384;

absl::Status Write(Store& store, const Pin& pin) {
  return store
      .Publish({.project_id = std::string(kPinProject),
                .platform = pin.name,
                .root = pin.root,
                .time = pin.time})
      .status();
}

absl::StatusOr<std::vector<tree::TreeFile>> FilesOf(Store& store, const Digest& root) {
  auto files = tree::ListTree(root, [&](const Digest& digest) { return store.Get(digest); });
  if (!absl::IsInvalidArgument(files.status())) return files;
  return InvalidArgumentError("{} is no tree that galley made: {}", root.ToString(),
                              MessageOf(files.status()));
}

absl::Status CheckWhole(Store& store, const Digest& root) {
  ASSIGN_OR_RETURN(const std::vector<tree::TreeFile> files, FilesOf(store, root));
  std::map<Digest, const std::string*> paths;
  for (const tree::TreeFile& file : files) paths.emplace(file.digest, &file.path);
  std::vector<Digest> asked;
  for (auto at = paths.begin(); at != paths.end();) {
    asked.push_back(at->first);
    if (++at != paths.end() && asked.size() < kAskedAtOnce) continue;
    ASSIGN_OR_RETURN(const std::vector<Digest> missing, store.FindMissing(asked));
    if (!missing.empty()) {
      return NotFoundError("the store has not {} of tree {}: cook it again first",
                           *paths.at(missing[0]), root.ToString());
    }
    asked.clear();
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidatePinName(std::string_view name) {
  if (!name.empty() && name.size() <= kPinNameBytesMax && IsAlphanumericOr(name, "._-+/"))
    return absl::OkStatus();
  return InvalidArgumentError(
      "expected a pin's name of letters, digits and ._-+/, at most {} bytes", kPinNameBytesMax);
}

bool IsRemovedPin(const PublishedRoot& root) {
  return root.project_id == kPinProject && root.root == Digest();
}

absl::StatusOr<std::vector<Pin>> Pins(Store& store) {
  ASSIGN_OR_RETURN(const std::vector<PublishedRoot> roots, store.Roots(kPinProject));
  std::map<std::string, Pin> newest;
  for (const PublishedRoot& root : roots)  // newest first
    newest.try_emplace(root.platform, Pin{root.platform, root.root, root.time});
  std::vector<Pin> pins;
  for (auto& [name, pin] : newest) {
    if (pin.root != Digest()) pins.push_back(std::move(pin));
  }
  return pins;
}

absl::Status SetPin(Store& store, const Pin& pin) {
  RETURN_IF_ERROR(ValidatePinName(pin.name));
  if (pin.root == Digest()) return absl::InvalidArgumentError("an empty tree needs no pin");
  RETURN_IF_ERROR(CheckWhole(store, pin.root));
  ASSIGN_OR_RETURN(const std::vector<Pin> before, Pins(store));
  RETURN_IF_ERROR(Write(store, pin));
  // A collection that chose what goes before it was pinned may have dropped some of it since.
  const absl::Status whole = CheckWhole(store, pin.root);
  if (whole.ok()) return whole;
  const auto old =
      std::ranges::find_if(before, [&](const Pin& one) { return one.name == pin.name; });
  if (old == before.end() || !Write(store, {pin.name, old->root, pin.time}).ok())
    RETURN_IF_ERROR(Write(store, {pin.name, Digest(), pin.time}));
  return whole;
}

absl::Status RemovePin(Store& store, std::string_view name, absl::Time time) {
  ASSIGN_OR_RETURN(const std::vector<Pin> pins, Pins(store));
  const bool is_there = std::ranges::any_of(pins, [&](const Pin& pin) { return pin.name == name; });
  if (!is_there)
    return NotFoundError("there is no pin \"{}\" (galley store pins lists them)", name);
  return Write(store, {std::string(name), Digest(), time});
}

std::string NameOfRoot(const PublishedRoot& root) {
  return root.project_id == kPinProject
             ? "pin " + root.platform
             : fmt::format("{}#{} of project {}", root.platform, root.sequence, root.project_id);
}

}  // namespace galley::store
