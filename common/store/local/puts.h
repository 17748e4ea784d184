// Puts: what others give to a store: small blobs go to the owner's segment, large ones to files.
// They are pending (own_log.h) until a commit; when too many are, that commit is made here.
//
// Errors: as Store::Put.
// Threads: any. May commit, and so takes StoreWriter's lock.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/interface/blob_stream.h"
#include "common/store/interface/store.h"
#include "common/store/local/commits.h"
#include "common/store/local/store_reader.h"

namespace galley::store {

class Puts {
 public:
  Puts(StoreState& state, StoreReader& reader, Commits& commits)
      : state_(state), reader_(reader), commits_(commits) {}

  // Store::PutMany.
  std::vector<absl::Status> PutMany(std::span<const BlobView> blobs);
  absl::Status Put(const Digest& digest, std::string_view bytes);
  // A writer of a blob that is larger than kSmallBlobBytesMax. It does not outlive this object.
  absl::StatusOr<std::unique_ptr<BlobWriter>> NewFileWriter(const Digest& digest);
  // Notes a blob whose file lies in its place and is not synced.
  absl::Status NoteFile(const Digest& digest);

 private:
  absl::Status PutFile(const BlobView& blob);
  absl::Status PutSmall(std::span<const BlobView> blobs);
  absl::Status CommitIfMany();

  StoreState& state_;
  StoreReader& reader_;
  Commits& commits_;
};

}  // namespace galley::store
