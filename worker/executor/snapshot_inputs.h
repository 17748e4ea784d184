// SnapshotInputs: the inputs of a live job: the director's snapshot, the cooked inputs that came
// with the job, the platforms' parameters, the tools of this machine, and the director's
// environment variables. Bytes come from a ByteSource.
//
// Values equal, to the byte, the values that the director computes for a look-up. A cooked input
// that did not come with the job interrupts the job (NeedsPackage), and so does a file that differs
// from the snapshot (StaleFile).
// Threads: one owner. The snapshot, the bytes and the caches outlive the SnapshotInputs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/content/snapshot.h"
#include "worker/executor/byte_source.h"
#include "worker/executor/far_tools.h"
#include "worker/executor/fetched_bytes.h"
#include "worker/executor/input_provider.h"
#include "worker/executor/lazy_view.h"
#include "worker/executor/mount_view.h"
#include "worker/executor/scratch.h"
#include "worker/executor/tool_digests.h"
#include "worker/executor/warm_files.h"
#include "worker/walls/call_watch.h"
#include "worker/walls/project_walls.h"

namespace galley::worker {

struct PlatformInfo {
  std::string name;
  std::map<std::string, std::string> parameters;
};

struct SnapshotInputsOptions {
  content::Snapshot* snapshot = nullptr;
  std::string package;
  std::optional<Digest> generated_source;
  // (package, platform) -> suffix -> digest.
  std::map<std::pair<std::string, uint32_t>, std::map<std::string, Digest>> cooked;
  ByteSource* bytes = nullptr;
  const std::vector<PlatformInfo>* platforms = nullptr;
  // The director's variables; null: all are unset.
  const std::map<std::string, std::string>* environment = nullptr;
  std::string project_root;
  std::string scratch_directory;
  WarmFiles* warm_files = nullptr;  // null: every file is read
  // For programs, on the project's machine:
  ToolDigests* tools = nullptr;
  MountView* view = nullptr;
  // For programs, on other machines, where `bytes` and `fetched` are the same object:
  FetchedBytes* fetched = nullptr;
  FarTools* far_tools = nullptr;
  LazyView* lazy_view = nullptr;
  ProjectWalls* walls = nullptr;  // around programs; null: no walls
  uint64_t read_bytes_max = UINT64_MAX;
};

class SnapshotInputs final : public InputProvider {
 public:
  explicit SnapshotInputs(SnapshotInputsOptions options);
  ~SnapshotInputs() override;

  absl::StatusOr<SourceContent> Source(uint64_t bytes_max) override;
  absl::Status StreamSource(const TakePiece& take) override;
  absl::Status StreamCooked(uint32_t platform, const record::Observation& what,
                            const TakePiece& take) override;
  absl::StatusOr<Look> Observe(uint32_t platform, const record::Observation& what,
                               Want want) override;
  absl::Status ShowMounts(const std::string& directory) override;
  ChildWatch* Watch() override;
  absl::StatusOr<const ChildWalls*> Walls() override;
  absl::Status CheckUnchanged(const std::map<record::Observation, std::string>& observed) override;
  absl::StatusOr<std::string> ScratchDirectory() override { return scratch_.Directory(); }
  BytesLoaded bytes_loaded() const override { return bytes_loaded_; }

 private:
  absl::StatusOr<Look> File(const std::string& path, Want want);
  absl::StatusOr<Look> List(const std::string& folder) const;
  absl::StatusOr<Look> Glob(const std::string& root, const std::string& pattern) const;
  absl::StatusOr<Look> Cooked(const std::string& package, const std::string& suffix,
                              uint32_t platform, Want want);
  absl::StatusOr<Look> Platform(uint32_t platform, const std::string& parameter) const;
  absl::StatusOr<Look> Tool(const std::string& path);
  Blob FindWarm(const Digest& digest);
  void KeepWarm(const Digest& digest, const Blob& bytes);
  absl::StatusOr<Blob> ReadBlob(const Digest& digest);
  // Takes the blob from the warm files, or reads it and keeps it there.
  absl::StatusOr<Blob> ReadWarmBlob(const Digest& digest);
  absl::Status StreamBlob(const Digest& digest, const TakePiece& take);
  absl::Status ShowUnder(const std::string& directory);
  absl::Status CheckSource();
  absl::Status CheckSize(const std::string& path) const;
  absl::Status FromSnapshot(const absl::Status& status, const std::string& path) const;

  SnapshotInputsOptions options_;
  Scratch scratch_;
  std::optional<Digest> source_;  // the digest that Source returned
  BytesLoaded bytes_loaded_;
  // Set when a program runs without the project: the watch, and the program's own folder.
  std::optional<CallWatch> watch_;
  std::string watched_;
};

}  // namespace galley::worker
