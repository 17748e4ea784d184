// Pins: trees that are kept until people take the pin away, by name.
//
// A pin is a published root (of kPinProject, the name in the platform's place), so it is as durable
// as one, and what keeps roots keeps pins. The newest of a name counts; one whose root is the
// digest of no bytes says that the pin was taken away.
// Threads: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/store/interface/store.h"

namespace galley::store {

// No project has this id: theirs are 32 hex digits.
inline constexpr std::string_view kPinProject = "pin";
inline constexpr size_t kPinNameBytesMax = 200;

struct Pin {
  std::string name;
  Digest root;
  absl::Time time;
};

// Letters, digits and "._-+/", at most so many bytes. INVALID_ARGUMENT.
absl::Status ValidatePinName(std::string_view name);

bool IsRemovedPin(const PublishedRoot& root);

// Lists the pins by name.
absl::StatusOr<std::vector<Pin>> Pins(Store& store);

// Sets a pin, in place of the one of this name. All blobs under `root` are asked for: NOT_FOUND
// names what is absent, and the pin is what it was, or gone when its tree is; INVALID_ARGUMENT: it
// is no tree, or an empty one. When a name is set twice at a time, one of the two counts.
absl::Status SetPin(Store& store, const Pin& pin);
// NOT_FOUND.
absl::Status RemovePin(Store& store, std::string_view name, absl::Time time);

// For people: "windows#12 of project 0123...", "pin sdk".
std::string NameOfRoot(const PublishedRoot& root);

}  // namespace galley::store
