// FetchedBytes: the byte source of a machine without the director's files. The bytes are blob files
// in a cache that the machine's workers share. The session is asked for missing blobs, and fetches
// them from the director. Bytes from the cache are hashed when they are read, so that other writers
// of the cache cannot falsify them.
//
// Threads: one owner.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "galley/v1/executor.pb.h"
#include "worker/executor/byte_source.h"

namespace galley::worker {

// ByteLink: asks the session, and waits for the answer.
class ByteLink {
 public:
  virtual ~ByteLink() = default;
  // The answer, or its error. UNAVAILABLE: the session is gone.
  virtual absl::StatusOr<v1::ExecutorBytes> Want(const v1::ExecutorWant& want) = 0;
};

class FetchedBytes final : public ByteSource {
 public:
  // The arguments outlive the FetchedBytes.
  FetchedBytes(content::Snapshot& snapshot, const std::string& cache_directory, ByteLink& link)
      : snapshot_(snapshot), cache_directory_(cache_directory), link_(link) {}

  // Reads files of the project in their place below `shared_path` ([farm] shared_path), as long as
  // the bytes there are the director's; other files are fetched.
  void ReadInPlace(const std::string& project_root, const std::string& shared_path) {
    project_root_ = project_root;
    shared_path_ = shared_path;
  }

  absl::StatusOr<Digest> DigestOf(const std::string& path) override;
  absl::StatusOr<content::Snapshot::Content> Read(const std::string& path,
                                                  uint64_t size_bytes_max) override;
  absl::StatusOr<Digest> Stream(const std::string& path, const TakePiece& take) override;
  // Programs on such a machine do not read files in their places.
  absl::Status CheckUnchanged(const std::string&, const Digest&) override {
    return absl::OkStatus();
  }
  absl::StatusOr<Blob> ReadBlob(const Digest& digest) override;
  absl::Status StreamBlob(const Digest& digest, const TakePiece& take) override;

  // The director's tool at `path`: `digest`, or `is_absent`. Errors as Read; FAILED_PRECONDITION:
  // the director does not answer for such a file.
  absl::StatusOr<v1::ExecutorBytes> DirectorsTool(const std::string& path);
  // The result of each look on the director's machine, in the order of `looks`. Errors as
  // DirectorsTool.
  absl::StatusOr<std::vector<v1::FoundThere>> DirectorsFinds(
      const std::vector<v1::ProgramLook>& looks);
  absl::Status StreamTool(const std::string& path, const Digest& digest, const TakePiece& take);

 private:
  absl::StatusOr<v1::ExecutorBytes> AskOfPrograms(const v1::ExecutorWant& want);
  absl::StatusOr<Digest> Ask(const v1::ExecutorWant& want, const std::string& path);
  absl::StatusOr<Digest> Have(const std::string& path);
  // The place below shared_path_ where a file of this size lies.
  std::optional<std::string> PlaceOf(const std::string& path) const;
  absl::StatusOr<Blob> ReadFromCache(const Digest& digest, v1::ExecutorWant want);
  absl::Status StreamFromCache(const Digest& digest, v1::ExecutorWant want, const TakePiece& take);

  content::Snapshot& snapshot_;
  const std::string& cache_directory_;
  ByteLink& link_;
  std::string project_root_, shared_path_;  // empty: no path is shared
};

}  // namespace galley::worker
