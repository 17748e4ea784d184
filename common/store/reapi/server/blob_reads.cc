#include "common/store/reapi/server/blob_reads.h"

#include <algorithm>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"

namespace galley::store {
namespace {

std::string ReadResponse(std::string_view data) {
  WireWriter response;
  response.Bytes(10, data);
  return response.Take();
}

}  // namespace

absl::Status ByteStreamRead::Begin(std::string_view request) {
  ASSIGN_OR_RETURN(const ReadRequest asked, DecodeRead(request));
  RETURN_IF_ERROR(CheckInstance(options_, caller_, asked.name.instance));
  const bool is_packed = asked.name.compressor == Compressor::kZstd;
  if (is_packed && asked.limit != 0)
    return absl::InvalidArgumentError("read_limit: expected 0, the blob is asked for compressed");
  const uint64_t size = asked.name.digest.size_bytes();
  if (asked.offset < 0 || asked.limit < 0 || static_cast<uint64_t>(asked.offset) > size) {
    return OutOfRangeError(
        "read_offset {}, read_limit {}: expected 0 or more, and an offset up to the size {}",
        asked.offset, asked.limit, size);
  }
  const auto offset = static_cast<uint64_t>(asked.offset);
  left_ = size - offset;
  if (asked.limit != 0) left_ = std::min(left_, static_cast<uint64_t>(asked.limit));
  if (is_packed) compressor_.emplace();
  ASSIGN_OR_RETURN(reader_, store_.NewReader(asked.name.digest, offset));
  return absl::OkStatus();
}

// Answers a piece when the next one was read, and what is behind a limit is read for its verdict
// only.
absl::StatusOr<Step> ByteStreamRead::Piece() {
  while (true) {
    ASSIGN_OR_RETURN(const std::string_view piece, reader_->Next(kReadPieceBytes));
    if (piece.empty()) {
      Step last;
      if (!held_.empty()) last.reply = ReadResponse(held_);
      return last;
    }
    const std::string_view wanted = piece.substr(0, left_);
    if (wanted.empty()) continue;
    left_ -= wanted.size();
    const std::string told = std::exchange(held_, std::string(wanted));
    if (!told.empty()) return Step{.reply = ReadResponse(told), .next = Step::Next::kContinue};
  }
}

absl::StatusOr<Step> ByteStreamRead::PackedPiece() {
  while (held_.size() < kReadPieceBytes) {
    ASSIGN_OR_RETURN(const std::string_view piece, reader_->Next(kReadPieceBytes));
    if (piece.empty()) {
      compressor_->Finish(held_);
      return Step{.reply = ReadResponse(held_)};
    }
    compressor_->Append(piece, held_);
  }
  return Step{.reply = ReadResponse(std::exchange(held_, "")), .next = Step::Next::kContinue};
}

Step ByteStreamRead::OnMessage(std::string_view request) {
  const absl::Status begun = Begin(request);
  return begun.ok() ? OnContinue() : Step{.status = LossAsAbsence(begun)};
}

Step ByteStreamRead::OnContinue() {
  absl::StatusOr<Step> step = compressor_.has_value() ? PackedPiece() : Piece();
  return step.ok() ? *std::move(step) : Step{.status = LossAsAbsence(step.status())};
}

}  // namespace galley::store
