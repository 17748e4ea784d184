// InputProvider: the world as a job may see it. The same executor code works with two providers:
// SnapshotInputs, for a live job over the director's snapshot, and ActionInputs, for an Action,
// whose input root holds only what was observed.
//
// The question of a look is a record::Observation whose path is in normal form; the answer is its
// canonical value. Errors of Observe: ABORTED with an Interruption in it (InterruptionOf) ends the
// attempt; INVALID_ARGUMENT: the question itself is wrong; OUT_OF_RANGE: a file is larger than the
// job's memory (OutOfMemoryError); every other code is trouble of the machine.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "common/base/blob.h"
#include "common/base/child_process.h"
#include "common/base/digest.h"
#include "common/base/read_pieces.h"
#include "common/record/observation.h"

namespace galley::worker {

struct Look {
  std::string value;
  Blob bytes;             // for a file or cooked output that is present, when asked for
  std::string host_path;  // for a tool that is present
};

// kChecked: reads the bytes now, and returns only their value.
enum class Want { kValue, kChecked, kBytes };

struct SourceContent {
  Blob bytes;  // nullptr: StreamSource has them
  Digest digest;
};

// BytesLoaded: the bytes that a job has read. Looks that RecordingContext answers itself do not
// count.
struct BytesLoaded {
  uint64_t cold = 0;  // from disk or store
  uint64_t warm = 0;  // from WarmFiles
};

// --- Reasons why an attempt must end without a result.
struct NeedsPackage {
  std::string package;  // absolute virtual path
  bool operator==(const NeedsPackage&) const = default;
};
struct StaleFile {
  std::string path;  // virtual
  bool operator==(const StaleFile&) const = default;
};
// This machine has another tool than the director's machine.
struct OtherTool {
  std::string path;
  std::string wanted, found;  // values of the observation
  bool operator==(const OtherTool&) const = default;
};
using Interruption = std::variant<NeedsPackage, StaleFile, OtherTool>;

absl::Status InterruptedBy(const Interruption& interruption);
// nullopt: InterruptedBy did not make `status`.
std::optional<Interruption> InterruptionOf(const absl::Status& status);

class InputProvider {
 public:
  virtual ~InputProvider() = default;
  // The package's source. A source larger than `bytes_max` comes without bytes.
  virtual absl::StatusOr<SourceContent> Source(uint64_t bytes_max) = 0;
  // Streams the source. On an error the pieces must not be used; StaleFile: the source has changed
  // since Source. REQUIRES: Source was called.
  virtual absl::Status StreamSource(const TakePiece& take) = 0;
  virtual absl::StatusOr<Look> Observe(uint32_t platform, const record::Observation& what,
                                       Want want) = 0;
  // Streams the bytes of a cooked output that is present. Errors as Observe.
  virtual absl::Status StreamCooked(uint32_t platform, const record::Observation& what,
                                    const TakePiece& take) = 0;
  virtual absl::Status ShowMounts(const std::string& directory) = 0;
  // See CookContext::Watch.
  virtual ChildWatch* Watch() { return nullptr; }
  // See WalledPrograms::Walls.
  virtual absl::StatusOr<const ChildWalls*> Walls() { return nullptr; }
  // OK: the source and the tools among `observed` are unchanged. StaleFile: the source has changed;
  // UNAVAILABLE: a tool has changed. If the watch has failed, returns the reason. Cost: a stat for
  // each; files that changed lately are read again.
  virtual absl::Status CheckUnchanged(
      const std::map<record::Observation, std::string>& observed) = 0;
  // An empty folder, removed with the provider.
  virtual absl::StatusOr<std::string> ScratchDirectory() = 0;
  virtual BytesLoaded bytes_loaded() const = 0;
};

}  // namespace galley::worker
