// Puts: takes blobs into a store: small blobs go to the owner's segment, large blobs to files. They
// are pending (own_log.h) until a commit; above a limit of pending blobs, Puts commits.
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

  // See BlobStore::PutMany.
  std::vector<absl::Status> PutMany(std::span<const BlobView> blobs);
  absl::Status Put(const Digest& digest, std::string_view bytes);
  // Returns a writer for a blob larger than kSmallBlobBytesMax. It must not outlive this object.
  absl::StatusOr<std::unique_ptr<BlobWriter>> NewFileWriter(const Digest& digest);
  // Notes a blob as pending. REQUIRES: its file lies in its place; it need not be synced.
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
