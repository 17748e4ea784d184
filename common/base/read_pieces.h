// Reads and writes files in pieces, without holding them in memory.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/digest.h"

namespace galley {

inline constexpr size_t kPieceBytesMax = 256 << 10;

// `piece` is valid during the call only. An error ends the stream, which returns it.
using TakePiece = std::function<absl::Status(std::string_view piece)>;
// Calls `take` with all bytes, in order.
using PieceStream = std::function<absl::Status(const TakePiece& take)>;

// Calls `take` with the bytes of a file, in order. Errors as ReadFile (file.h).
absl::Status ReadInPieces(const std::string& path, const TakePiece& take);
absl::StatusOr<Digest> DigestOfFile(const std::string& path);
// Writes the bytes of `stream`, and returns their digest. After an error a part of the file stays.
absl::StatusOr<Digest> WriteInPieces(const std::string& path, const PieceStream& stream);

}  // namespace galley
