// ForeignSource: the error for a source that is not in the format that a cooker reads: what was
// expected, how the file begins, and what to do. The director adds which rule chose the cooker.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace galley::worker {

// Advice for a file that is not for the cooker.
inline constexpr std::string_view kOtherCookers =
    "for a file of another kind choose the cooker `copy` or `command`";

// The flaw of a file whose name has `extension` but whose first bytes are not that format's: "a
// JPEG under the name .png" where the bytes announce another format, "not what .png files begin
// with" where they announce none, or "empty". `announced`: "JPEG", or "" for no format.
std::string MisnamedFlaw(std::string_view extension, std::string_view bytes,
                         std::string_view announced);
// "`<!DOCTYPE html>`" for text, "the bytes 00 01 02 ff" for other bytes. At most 24 characters or 8
// bytes.
std::string FirstBytes(std::string_view bytes);
// INVALID_ARGUMENT: `bytes` are a Git LFS pointer, in the place of a file that was not fetched.
absl::Status CheckNoLfsPointer(std::string_view bytes);
// INVALID_ARGUMENT: the bytes are no text, but a file that another cooker takes: "the file is no
// glTF: it is a PNG image, which the cooker `texture` takes; ...".
absl::Status CheckNoOtherCookers(std::string_view format, std::string_view bytes);
// The error of CheckNoLfsPointer or of CheckNoOtherCookers, else INVALID_ARGUMENT: "the file is no
// png: it begins with `<!DOCTYPE`; convert it, or ...". REQUIRES: `bytes` are not empty.
absl::Status ForeignSource(std::string_view format, std::string_view bytes);

}  // namespace galley::worker
