// SealedText: a small text file that Galley wrote, with a checksum, so that a cut or an edit is
// found.
//
//   line 1       <kind> <version>
//   then         <key> <value>, control characters and backslashes of the value as \xNN
//   last line    sum <SHA-256 of all bytes before this line, in hex>
//
// Version rule: a reader skips unknown keys; the version is raised only when an older reader must
// not use the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley {

struct SealedLine {
  std::string key;  // without spaces, not "sum"
  std::string value;
  bool operator==(const SealedLine&) const = default;
};

std::string Seal(std::string_view kind, int version, const std::vector<SealedLine>& lines);

// DATA_LOSS: the text is damaged or of another kind. FAILED_PRECONDITION: of another version.
absl::StatusOr<std::vector<SealedLine>> Unseal(std::string_view kind, int version,
                                               std::string_view text);

// The value of the first line with this key; empty when there is none.
std::string_view ValueOf(const std::vector<SealedLine>& lines, std::string_view key);

}  // namespace galley
