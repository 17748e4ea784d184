// BlobTrust: what one cook has learnt of a remote store's bytes: the wrong blobs, whether the store
// is still read from (remote_verdict.h), and the outcome for wrong blobs that were made and sent
// again.
//
// A protocol that names blobs by their digests has no call to replace a blob: a server may keep its
// blob and return OK. So the first few wrong blobs are read back after they were sent again,
// separately for large blobs (ByteStream.Write) and small blobs (BatchUpdateBlobs). If none of them
// is right then, no more blobs of that kind are sent again.
//
// Threads: any.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/store/reapi/client/remote_verdict.h"

namespace galley::store {

class BlobTrust {
 public:
  // `stream_bytes_min`: larger blobs are sent by ByteStream.Write.
  explicit BlobTrust(uint64_t stream_bytes_min, const RemoteVerdictOptions& options = {})
      : stream_bytes_min_(stream_bytes_min), verdict_(options) {}

  // --- Blobs that came.
  void CameRight(uint64_t blobs);
  void CameWrong(const Digest& digest);
  void ReadTook(const RemoteVerdict::Read& read);
  bool IsKnownWrong(const Digest& digest) const;

  // --- The verdict.
  bool has_given_up() const { return given_up_.is_cancelled(); }
  // Cancelled when the verdict falls; ends running reads.
  Cancellation& given_up() { return given_up_; }
  absl::Duration LeftToLose() const;

  // --- Blobs that are sent again.
  // Returns those of `digests` to send even if the server claims to have them: their bytes there
  // are wrong; or so many blobs were wrong that the server is trusted only for blobs that this cook
  // sent.
  std::vector<Digest> Doubted(std::span<const Digest> digests);
  // Returns the blobs of `sent` to read back, to learn whether this server replaces a blob that it
  // has.
  std::vector<Digest> ToReadBack(std::span<const Digest> sent) const;
  void ReadBack(const Digest& digest, bool is_right);
  // Notes that blobs were sent. Call after ReadBack for the blobs of ToReadBack.
  void Sent(std::span<const Digest> digests);

  struct Counts {
    RemoteVerdict::Reason given_up = RemoteVerdict::Reason::kNone;
    uint64_t blobs_came = 0, blobs_wrong = 0;
    absl::Duration lost;
    uint64_t blobs_repaired = 0;    // wrong blobs that are right after sending again
    uint64_t blobs_kept_wrong = 0;  // wrong blobs that were made again and are still wrong
  };
  Counts counts() const;

 private:
  struct Kind {
    uint64_t taken = 0, kept = 0;  // blobs that were read back: replaced, not replaced
    bool takes_none() const { return taken == 0 && kept > 0; }
  };
  size_t KindOf(const Digest& digest) const {
    return digest.size_bytes() > stream_bytes_min_ ? 1 : 0;
  }
  void TakeVerdict() GALLEY_REQUIRES(mutex_);
  void BecomesRight(const Digest& digest) GALLEY_REQUIRES(mutex_);

  const uint64_t stream_bytes_min_;
  Cancellation given_up_;
  mutable base::Mutex mutex_;
  RemoteVerdict verdict_ GALLEY_GUARDED_BY(mutex_);
  std::set<Digest> wrong_ GALLEY_GUARDED_BY(mutex_);
  std::set<Digest> sent_ GALLEY_GUARDED_BY(mutex_);        // since the verdict kWrong
  std::set<Digest> made_again_ GALLEY_GUARDED_BY(mutex_);  // of `wrong_`
  uint64_t repaired_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::array<Kind, 2> kinds_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
