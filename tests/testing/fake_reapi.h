// FakeReapi: a server of the Remote Execution API's caching half, in this process and in memory,
// that has the faults and the customs which real ones have. It is right unless told otherwise.
//
// Threads: any; what is told it holds from the next call on.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/digest.h"

namespace galley::testing {

struct FakeReapiManners {
  // Capabilities, as it advertises them.
  uint64_t batch_bytes_max = 0;  // advertised, and kept to when not 0
  bool has_zstd = true;
  bool has_sha256 = true;
  bool takes_results = true;
  std::string token;  // the authorization that it demands

  // Faults when it reads.
  bool corrupts = false;             // flips a byte of whatever it reads
  absl::Duration read_delay;         // before each blob that it reads; one in `slow_one_in` of them
  uint64_t slow_one_in = 1;          // by the blob's digest
  bool shortens = false;             // leaves the last byte out
  bool lengthens = false;            // goes on and on
  bool ignores_read_offset = false;  // always from the start
  bool omits_batch_status = false;   // in BatchReadBlobs, of what is compressed (bazel-remote)
  bool fails_batches = false;        // INVALID_ARGUMENT for any batch, read or written
  bool has_no_zstd_streams = false;  // UNIMPLEMENTED, though it says that it has
  int break_reads = 0;               // so many streams end with UNAVAILABLE after half of the blob

  // Faults when it writes.
  enum class Committed { kSize, kReceived, kMinusOne, kNonsense };
  Committed committed = Committed::kReceived;
  bool forgets_writes = false;        // says OK and keeps nothing
  bool overwrites = false;            // takes what it has again; else it says OK and keeps the old
  int break_writes = 0;               // so many streams end with UNAVAILABLE after half of the blob
  bool refuses_write_offset = false;  // UNKNOWN for any but 0 (bazel-remote)
  bool has_no_write_status = false;   // UNIMPLEMENTED (bb-storage)

  // Faults in its knowledge of what it has.
  bool evicts_after_find_missing = false;  // what it reported present is gone
  bool says_all_present = false;
  bool strips_inline = false;     // of results, unless it is asked for them by name
  bool ignores_inline = false;    // and then, too
  bool reorders_results = false;  // writes them with other fields, and unknown ones

  // Failures of calls.
  int fail_calls = 0;  // so many calls, of whatever kind
  absl::StatusCode fail_code = absl::StatusCode::kUnavailable;
  std::optional<absl::Duration> retry_info;  // beside that
  bool hangs = false;                        // no call is answered before other manners are set
};

class FakeReapi {
 public:
  FakeReapi();
  ~FakeReapi();

  std::string url() const;  // "grpc://127.0.0.1:<port>"
  // Ends, as a process that was killed; what it had is kept. Comes back on the same port.
  void Kill();
  void Restart();

  void Set(const FakeReapiManners& manners);
  void Put(const Digest& digest, std::string_view bytes);
  std::optional<std::string> Get(const Digest& digest) const;
  void PutResult(const Digest& key, std::string_view result);
  std::optional<std::string> GetResult(const Digest& key) const;
  size_t blob_count() const;
  void Empty();  // all blobs and results
  void Drop(const Digest& digest);
  // One in so many blobs, by digest, has a wrong byte until it is written anew.
  void Rot(uint64_t one_in);
  size_t result_count() const;
  // How often a method was called ("BatchReadBlobs"), whatever came of it.
  uint64_t Calls(std::string_view method) const;
  void ForgetCalls();

  struct State;

 private:
  const std::unique_ptr<State> state_;
};

}  // namespace galley::testing
