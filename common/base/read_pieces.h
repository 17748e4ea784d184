// Reads and writes files in pieces, without holding them in memory.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley {

inline constexpr size_t kPieceBytesMax = 256 << 10;

// `piece` is valid during the call only. An error ends the stream and is its error.
using TakePiece = std::function<absl::Status(std::string_view piece)>;
// Hands out all bytes in order.
using PieceStream = std::function<absl::Status(const TakePiece& take)>;

// Hands out the bytes of a file. Errors as ReadFile (file.h).
absl::Status ReadInPieces(const std::string& path, const TakePiece& take);
absl::StatusOr<Digest> DigestOfFile(const std::string& path);
// Writes what `stream` hands out, and returns its digest. An error leaves a part of the file.
absl::StatusOr<Digest> WriteInPieces(const std::string& path, const PieceStream& stream);

}  // namespace galley
