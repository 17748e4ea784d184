// FakeReapi: a server of the caching half of the Remote Execution API, in this process and in
// memory, with the faults and customs of real servers. It works correctly unless told otherwise.
//
// Threads: any; new manners count from the next call on.
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
  // --- Advertised capabilities.
  uint64_t batch_bytes_max = 0;  // advertised, and enforced when not 0
  bool has_zstd = true;
  bool has_sha256 = true;
  bool takes_results = true;
  std::string token;  // the authorization that the server demands

  // --- Faults when it reads.
  bool corrupts = false;             // flips a byte of every blob
  absl::Duration read_delay;         // before each blob; only for one in `slow_one_in`
  uint64_t slow_one_in = 1;          // chosen by the blob's digest
  bool shortens = false;             // leaves the last byte out
  bool lengthens = false;            // sends too many bytes
  bool ignores_read_offset = false;  // always reads from the start
  bool omits_batch_status = false;   // in BatchReadBlobs, for compressed blobs (bazel-remote)
  bool fails_batches = false;        // INVALID_ARGUMENT for any batch, read or written
  bool has_no_zstd_streams = false;  // UNIMPLEMENTED, though it advertises them
  int break_reads = 0;               // so many streams end with UNAVAILABLE after half of the blob

  // --- Faults when it writes.
  enum class Committed { kSize, kReceived, kMinusOne, kNonsense };
  Committed committed = Committed::kReceived;
  bool forgets_writes = false;        // says OK and keeps nothing
  bool overwrites = false;            // accepts known blobs again; else says OK and keeps the old
  int break_writes = 0;               // so many streams end with UNAVAILABLE after half of the blob
  bool refuses_write_offset = false;  // UNKNOWN for any offset but 0 (bazel-remote)
  bool has_no_write_status = false;   // UNIMPLEMENTED (bb-storage)

  // --- Faults in its knowledge of its blobs.
  bool evicts_after_find_missing = false;  // drops blobs that it has reported present
  bool says_all_present = false;
  bool strips_inline = false;     // from results, unless the request names them
  bool ignores_inline = false;    // from results, even if the request names them
  bool reorders_results = false;  // writes them with other fields, and unknown ones

  // --- Failures of calls.
  int fail_calls = 0;  // so many calls fail, of whatever kind
  absl::StatusCode fail_code = absl::StatusCode::kUnavailable;
  std::optional<absl::Duration> retry_info;  // sent with fail_code
  bool hangs = false;                        // answers no call before other manners are set
};

class FakeReapi {
 public:
  FakeReapi();
  ~FakeReapi();

  std::string url() const;  // "grpc://127.0.0.1:<port>"
  // Kill ends the server, like a killed process; it keeps its blobs. Restart serves on the same
  // port.
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
  // Puts a wrong byte into one in `one_in` blobs, by digest, until the blob is written anew.
  void Rot(uint64_t one_in);
  size_t result_count() const;
  // How often a method ("BatchReadBlobs") was called, whatever the result.
  uint64_t Calls(std::string_view method) const;
  void ForgetCalls();

  struct State;

 private:
  const std::unique_ptr<State> state_;
};

}  // namespace galley::testing
