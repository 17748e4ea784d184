// Losses: handles blobs whose bytes are wrong, or gone from the disk: moves wrong bytes to the
// quarantine, takes the blobs out of the store, and raises the loss epoch.
//
// Threads: any; takes StoreWriter's lock.
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/local/store_reader.h"
#include "common/store/local/store_writer.h"

namespace galley::store {

class Losses {
 public:
  Losses(StoreState& state, StoreReader& reader, StoreWriter& writer)
      : state_(state), reader_(reader), writer_(writer) {}

  // Reads a blob, and takes it out if it is wrong. True: it was wrong. False: it is right by now,
  // or absent.
  absl::StatusOr<bool> QuarantineIfWrong(const Digest& digest);
  // Handles wrong bytes of a blob, reported by `loss`. Returns `loss` with the action taken; OK:
  // the blob is right by now, or absent.
  absl::Status GiveUp(const Digest& digest, const absl::Status& loss);
  // See Store::FindLost.
  absl::StatusOr<std::vector<Digest>> FindLost(std::span<const Digest> digests);

 private:
  absl::Status DropLost(std::span<const Digest> digests);
  absl::Status NoteGoneSegments() GALLEY_REQUIRES(writer_.mutex());

  StoreState& state_;
  StoreReader& reader_;
  StoreWriter& writer_;
};

}  // namespace galley::store
