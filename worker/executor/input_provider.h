// InputProvider: the world as a job may see it. Two of them stand behind the same executor code:
// SnapshotInputs (live, over the director's snapshot) and ActionInputs (an Action's input root:
// only what was observed).
//
// A look is asked for as a record::Observation whose path is in normal form, and answered with its
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
  Blob bytes;             // of a file or cooked output, when asked for and present
  std::string host_path;  // of a tool that is present
};

// kChecked: no bytes, and a value of bytes that are there now.
enum class Want { kValue, kChecked, kBytes };

struct SourceContent {
  Blob bytes;  // nullptr: StreamSource has them
  Digest digest;
};

// BytesLoaded: what a job was given to read so far. A look that RecordingContext answers itself is
// none.
struct BytesLoaded {
  uint64_t cold = 0;  // from disk or store
  uint64_t warm = 0;  // from WarmFiles
};

// Why an attempt must end without a result.
struct NeedsPackage {
  std::string package;  // absolute virtual path
  bool operator==(const NeedsPackage&) const = default;
};
struct StaleFile {
  std::string path;  // virtual
  bool operator==(const StaleFile&) const = default;
};
// This machine has another tool than the director's.
struct OtherTool {
  std::string path;
  std::string wanted, found;  // values of the observation
  bool operator==(const OtherTool&) const = default;
};
using Interruption = std::variant<NeedsPackage, StaleFile, OtherTool>;

absl::Status InterruptedBy(const Interruption& interruption);
// nullopt when `status` was not made by InterruptedBy.
std::optional<Interruption> InterruptionOf(const absl::Status& status);

class InputProvider {
 public:
  virtual ~InputProvider() = default;
  // The bytes of one that is larger than `bytes_max` are left out.
  virtual absl::StatusOr<SourceContent> Source(uint64_t bytes_max) = 0;
  // REQUIRES: Source was called. What was handed out is worth nothing unless this is OK: an
  // error (of a live job StaleFile) when it was not what Source had told.
  virtual absl::Status StreamSource(const TakePiece& take) = 0;
  virtual absl::StatusOr<Look> Observe(uint32_t platform, const record::Observation& what,
                                       Want want) = 0;
  // The bytes of a cooked output that is present. Errors as Observe.
  virtual absl::Status StreamCooked(uint32_t platform, const record::Observation& what,
                                    const TakePiece& take) = 0;
  virtual absl::Status ShowMounts(const std::string& directory) = 0;
  // As CookContext::Watch.
  virtual ChildWatch* Watch() { return nullptr; }
  // As WalledPrograms::Walls.
  virtual absl::StatusOr<const ChildWalls*> Walls() { return nullptr; }
  // Whether the source and the tools among `observed` are still what they were: StaleFile for the
  // source, UNAVAILABLE for a tool. Cost: a stat for each; what changed lately is read again. After
  // Watch failed: why.
  virtual absl::Status CheckUnchanged(
      const std::map<record::Observation, std::string>& observed) = 0;
  // An empty folder, removed with the provider.
  virtual absl::StatusOr<std::string> ScratchDirectory() = 0;
  virtual BytesLoaded bytes_loaded() const = 0;
};

}  // namespace galley::worker
