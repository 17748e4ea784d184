// Result: the outcome of a cook, as stored in the action cache: a REAPI ActionResult.
//
//   output_files        one for each output, path "out/output<suffix>"; and "out/details" with
//                       its contents inline
//   exit_code           0; 1 for the cooker's own verdict that the inputs are wrong, 2 for a
//                       dispute (both kept locally only)
//   stderr_raw          the error text of a verdict; stderr_digest its log, if any
//   execution_metadata  worker, times; auxiliary_metadata: Any of galley.v1.Provenance (cost,
//                       cooker identity, machine)
//
// Outputs and details decide a root and are deterministic; execution_metadata is not, and
// comparisons (SameOutcome) ignore it. References are kept as written: the director resolves them
// anew in every cook.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/digest.h"

namespace galley::record {

enum class ReferenceKind : uint8_t { kHard = 1, kSoft = 2, kEditor = 3 };
std::string_view ReferenceKindName(ReferenceKind kind);  // "hard", "soft", "editor"

struct Output {
  std::string suffix;  // ".ktx2", ".d/lod1.glb", ""
  Digest digest;
  bool is_executable = false;
  auto operator<=>(const Output&) const = default;
};

struct Reference {
  std::string path;  // as written
  ReferenceKind kind = ReferenceKind::kHard;
  auto operator<=>(const Reference&) const = default;
};

// Generated: a package that this package's load produced. Its virtual path is "<package>/<name>",
// and `name` begins with "_gen/".
struct Generated {
  std::string name;      // "_gen/cell_0_1.level"
  Digest source;         // its bytes, a blob in the store
  std::string cooker;    // empty: by the rules
  std::string settings;  // canonical JSON object on top of the rules'; empty: none
  auto operator<=>(const Generated&) const = default;
};

struct Tag {
  std::string name;
  std::variant<std::string, double, bool> value;
  bool operator==(const Tag&) const = default;
};

struct Details {
  std::vector<Reference> references;  // sorted, unique
  std::vector<Generated> generated;   // sorted by name
  std::vector<Tag> tags;              // sorted by name
  std::vector<std::string> warnings;  // in the order given
  bool operator==(const Details&) const = default;
};

struct Provenance {
  std::string worker;    // "local-1"
  std::string machine;   // host name
  std::string identity;  // cooker identity
  absl::Time started;
  absl::Duration load_time;
  absl::Duration save_time;
  uint64_t memory_peak_bytes = 0;
  // URL of the store that the result came from; empty: cooked for this store.
  std::string received_from;
  // The weak key of the result's observations; the digest of no bytes: unknown.
  Digest weak_key;
  // When the director took the result; infinite past: an older Galley did not note it. The director
  // sets `worker`, too.
  absl::Time taken = absl::InfinitePast();
};

struct Result {
  std::vector<Output> outputs;  // sorted by suffix; empty for a verdict
  Details details;
  bool is_verdict = false;   // the cooker's own judgement that its inputs are wrong
  bool is_disputed = false;  // a verdict of the store: two cooks differ (dispute.h)
  std::string error;         // of a verdict
  std::optional<Digest> log;
  Provenance provenance;
};

// True when outputs, details, verdict and error agree.
bool SameOutcome(const Result& a, const Result& b);

// Limits for decoding; more is INVALID_ARGUMENT.
inline constexpr size_t kDetailsBytesMax = 64 << 20;
inline constexpr size_t kResultBytesMax = 80 << 20;
inline constexpr size_t kSuffixBytesMax = 1024;
inline constexpr size_t kGeneratedNameMax = 1024;

// Canonical encoding of Details (fields in docs/formats.md); the file out/details.
std::string EncodeDetails(const Details& details);
// INVALID_ARGUMENT: not written by EncodeDetails, unknown kinds, numbers that are not finite, or
// generated names that ValidateGeneratedName refuses.
absl::StatusOr<Details> DecodeDetails(std::string_view bytes);
// INVALID_ARGUMENT: `name` is not "_gen/" and plain segments.
absl::Status ValidateGeneratedName(std::string_view name);

// The details are inline and also an output file: whoever stores a result stores EncodeDetails as a
// blob, too, since other servers check that all blobs exist. The outputs are sorted by suffix;
// `error` is written for a verdict only.
std::string EncodeResult(const Result& result);
// INVALID_ARGUMENT: a suffix that ValidateSuffix refuses, so that no output leaves the package's
// own path; output folders and links. FAILED_PRECONDITION: a server took the inline details away;
// the message names their digest. Unknown fields are skipped, since other servers write results
// anew.
absl::StatusOr<Result> DecodeResult(std::string_view bytes);
// The suffixes of further outputs begin so.
inline constexpr std::string_view kFurtherOutputs = ".d/";
// INVALID_ARGUMENT says what is wrong. A suffix is "" or ".ext" (no '/') or ".d/<name>" with <name>
// of plain segments.
absl::Status ValidateSuffix(std::string_view suffix);

}  // namespace galley::record
