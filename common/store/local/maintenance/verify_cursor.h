// VerifyCursor: the progress of a verify, so that the next verify goes on from there. It is kept in
// the file `verify` in the store's folder, which is replaced as a whole:
//
//   galley-verify 1
//   begun <seconds since 1970>
//   at <phase, 1 to 7> <key that was read last, <hex>/<size>, or -> <segment that was read last>
//   read <blobs> <bytes>
//   untold <problems that are not listed>
//   problem <one line>                    (any number of them)
//   end <16 hex>                          (the checksum of all bytes before this line)
//
// A file of another form counts as absent: everything is read again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/digest.h"

namespace galley::store {

// VerifyPhase: in the order of the phases; the numbers are stored.
enum class VerifyPhase {
  kBlobs = 1,
  kResults = 2,
  kActionResults = 3,
  kObservationSets = 4,
  kRoots = 5,
  kSegments = 6,  // damage that no index entry points to
  kSalvage = 7,   // needed blobs that lie whole in the store and are not indexed
};
std::string_view NameOf(VerifyPhase phase);

struct VerifyCursor {
  static constexpr size_t kProblemsMax = 10'000;

  absl::Time begun;
  VerifyPhase phase = VerifyPhase::kBlobs;
  std::optional<Digest> after;  // the last key that was read; nullopt: none yet
  uint64_t after_segment = 0;
  uint64_t blobs = 0, bytes = 0;
  std::vector<std::string> problems;
  uint64_t problems_untold = 0;  // number beyond kProblemsMax
  bool operator==(const VerifyCursor&) const = default;

  void AddProblem(std::string text);
  // Moves to the first key of phase `next`.
  void EnterPhase(VerifyPhase next);
};

std::string EncodeVerifyCursor(const VerifyCursor& cursor);
// DATA_LOSS: the text has another form.
absl::StatusOr<VerifyCursor> DecodeVerifyCursor(std::string_view text);

// NOT_FOUND: there is no cursor.
absl::StatusOr<VerifyCursor> ReadVerifyCursor(const std::string& store_directory);
absl::Status WriteVerifyCursor(const std::string& store_directory, const VerifyCursor& cursor);
absl::Status RemoveVerifyCursor(const std::string& store_directory);

}  // namespace galley::store
