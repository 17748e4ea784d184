// FetchedBytes: bytes on a machine where nothing of the director's is read. They lie as blob files
// in a cache that the machine's workers share, and the session, which is asked for what is not
// there, has them from the director. What the cache gives was hashed when it was read: whoever
// writes there decides nothing.
//
// Threads: one owner.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "galley/v1/executor.pb.h"
#include "worker/executor/byte_source.h"

namespace galley::worker {

// ByteLink: asks the session, and waits for its answer.
class ByteLink {
 public:
  virtual ~ByteLink() = default;
  // The error that the answer tells, or UNAVAILABLE: there is no session any more.
  virtual absl::StatusOr<v1::ExecutorBytes> Want(const v1::ExecutorWant& want) = 0;
};

class FetchedBytes final : public ByteSource {
 public:
  // All outlive it.
  FetchedBytes(content::Snapshot& snapshot, const std::string& cache_directory, ByteLink& link)
      : snapshot_(snapshot), cache_directory_(cache_directory), link_(link) {}

  // Files of the project are read at their place below `shared_path` ([farm] shared_path), as long
  // as the bytes there are those that the director has; else as ever.
  void ReadInPlace(const std::string& project_root, const std::string& shared_path) {
    project_root_ = project_root;
    shared_path_ = shared_path;
  }

  absl::StatusOr<Digest> DigestOf(const std::string& path) override;
  absl::StatusOr<content::Snapshot::Content> Read(const std::string& path,
                                                  uint64_t size_bytes_max) override;
  absl::StatusOr<Digest> Stream(const std::string& path, const TakePiece& take) override;
  // Programs do not see files at their places here.
  absl::Status CheckUnchanged(const std::string&, const Digest&) override {
    return absl::OkStatus();
  }
  absl::StatusOr<Blob> ReadBlob(const Digest& digest) override;
  absl::Status StreamBlob(const Digest& digest, const TakePiece& take) override;

  // A tool as the director has it: `digest`, or `is_absent`. Errors as Read; FAILED_PRECONDITION:
  // it does not tell of such files.
  absl::StatusOr<v1::ExecutorBytes> DirectorsTool(const std::string& path);
  // What there is for each of these on the director's machine, in their order. Errors as
  // DirectorsTool.
  absl::StatusOr<std::vector<v1::FoundThere>> DirectorsFinds(
      const std::vector<v1::ProgramLook>& looks);
  absl::Status StreamTool(const std::string& path, const Digest& digest, const TakePiece& take);

 private:
  absl::StatusOr<v1::ExecutorBytes> AskOfPrograms(const v1::ExecutorWant& want);
  absl::StatusOr<Digest> Ask(const v1::ExecutorWant& want, const std::string& path);
  absl::StatusOr<Digest> Have(const std::string& path);
  // Where the file may lie, if one of its size does.
  std::optional<std::string> PlaceOf(const std::string& path) const;
  absl::StatusOr<Blob> ReadFromCache(const Digest& digest, v1::ExecutorWant want);
  absl::Status StreamFromCache(const Digest& digest, v1::ExecutorWant want, const TakePiece& take);

  content::Snapshot& snapshot_;
  const std::string& cache_directory_;
  ByteLink& link_;
  std::string project_root_, shared_path_;  // empty: nothing is shared
};

}  // namespace galley::worker
