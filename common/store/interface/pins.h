// Pins: named trees that are kept until people remove the pin.
//
// A pin is stored as a published root of project kPinProject, with the pin's name as the platform.
// So a pin is as durable as a root, and code that keeps roots keeps pins. The newest root of a name
// counts; the digest of the empty blob as root means that the pin was removed.
// Threads: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/store/interface/store.h"

namespace galley::store {

// No project has this id: ids of projects are 32 hex digits.
inline constexpr std::string_view kPinProject = "pin";
inline constexpr size_t kPinNameBytesMax = 200;

struct Pin {
  std::string name;
  Digest root;
  absl::Time time;
};

// INVALID_ARGUMENT unless the name has only letters, digits and "._-+/", and at most
// kPinNameBytesMax bytes.
absl::Status ValidatePinName(std::string_view name);

bool IsRemovedPin(const PublishedRoot& root);

// Lists the pins by name.
absl::StatusOr<std::vector<Pin>> Pins(Store& store);

// Sets a pin, in place of an older pin of this name. Looks for all blobs under `root`. NOT_FOUND
// names an absent blob; the older pin stays, if its tree still exists. INVALID_ARGUMENT: `root` is
// no tree, or an empty tree. If two callers set a name at the same time, either pin may win.
absl::Status SetPin(Store& store, const Pin& pin);
// NOT_FOUND: there is no such pin.
absl::Status RemovePin(Store& store, std::string_view name, absl::Time time);

// For people: "windows#12 of project 0123...", "pin sdk".
std::string NameOfRoot(const PublishedRoot& root);

}  // namespace galley::store
