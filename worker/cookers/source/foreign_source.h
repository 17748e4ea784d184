// The error for a source that is not in the one format that a cooker reads: what was expected, how
// the file begins, and what to do. The director adds which rule chose the cooker.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace galley::worker {

// Advice for a file that the cooker is not for.
inline constexpr std::string_view kOtherCookers =
    "for a file of another kind choose the cooker `copy` or `command`";

// The flaw of a file whose first bytes announce another format than its name: "a JPEG under
// the name .png", "not what .png files begin with" where they announce none, "empty". `announced`:
// "JPEG", or "".
std::string MisnamedFlaw(std::string_view extension, std::string_view bytes,
                         std::string_view announced);
// "`<!DOCTYPE html>`" of text, "the bytes 00 01 02 ff" of all else. At most 24 characters or 8
// bytes.
std::string FirstBytes(std::string_view bytes);
// INVALID_ARGUMENT: the file is what Git LFS leaves in the place of one that was not fetched.
absl::Status CheckNoLfsPointer(std::string_view bytes);
// INVALID_ARGUMENT: the bytes are not text but those of a file that another cooker takes: "the file
// is no glTF: it is a PNG image, which the cooker `texture` takes; ...".
absl::Status CheckNoOtherCookers(std::string_view format, std::string_view bytes);
// CheckNoLfsPointer's, CheckNoOtherCookers', or INVALID_ARGUMENT: "the file is no png: it begins
// with `<!DOCTYPE`; convert it, or ...". `bytes` are not empty.
absl::Status ForeignSource(std::string_view format, std::string_view bytes);

}  // namespace galley::worker
