// BlobTrust: what one cook has learnt of the bytes that a remote store answers with: which blobs
// are wrong there, whether it is still read from (remote_verdict.h), and what became of the wrong
// ones when they were made and sent again.
//
// A protocol that names blobs by their digests has no call that replaces one: a server may keep
// what it has and say OK. So the first few that were wrong are read back after they were sent, of
// large ones (ByteStream.Write) and small ones (BatchUpdateBlobs) each; where none of them is right
// then, no more of that kind are sent again.
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
  // Larger blobs go by another call than smaller ones.
  explicit BlobTrust(uint64_t stream_bytes_min, const RemoteVerdictOptions& options = {})
      : stream_bytes_min_(stream_bytes_min), verdict_(options) {}

  // --- Blobs that came.
  void CameRight(uint64_t blobs);
  void CameWrong(const Digest& digest);
  void ReadTook(const RemoteVerdict::Read& read);
  bool IsKnownWrong(const Digest& digest) const;

  // --- The verdict.
  bool has_given_up() const { return given_up_.is_cancelled(); }
  // Ends the reads that are under way.
  Cancellation& given_up() { return given_up_; }
  absl::Duration LeftToLose() const;

  // --- Blobs that are sent again.
  // Those of `digests` that the server may say it has, and that are to be sent all the same: they
  // are wrong there; or so many are that nothing is believed which this cook did not send.
  std::vector<Digest> Doubted(std::span<const Digest> digests);
  // The blobs of `sent` to read back: they show whether this server replaces a blob that it has.
  std::vector<Digest> ToReadBack(std::span<const Digest> sent) const;
  void ReadBack(const Digest& digest, bool is_right);
  // Called after the blobs of `sent` that are to be read back were.
  void Sent(std::span<const Digest> digests);

  struct Counts {
    RemoteVerdict::Reason given_up = RemoteVerdict::Reason::kNone;
    uint64_t blobs_came = 0, blobs_wrong = 0;
    absl::Duration lost;
    uint64_t blobs_repaired = 0;    // were wrong, and were sent again
    uint64_t blobs_kept_wrong = 0;  // were made again, and the server keeps the wrong ones
  };
  Counts counts() const;

 private:
  struct Kind {
    uint64_t taken = 0, kept = 0;  // of those that were read back
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
  std::set<Digest> sent_ GALLEY_GUARDED_BY(mutex_);        // since the verdict was that it is wrong
  std::set<Digest> made_again_ GALLEY_GUARDED_BY(mutex_);  // of `wrong_`
  uint64_t repaired_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::array<Kind, 2> kinds_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
