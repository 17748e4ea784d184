// DirectorBytes: moves bytes from and to the director, by its calls Fetch, FindMissing and Upload
// (proto/galley/v1/worker.proto).
//
// Threads: any; Cancel ends the calls that are under way, and later calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/wire/client_tls.h"
#include "galley/v1/worker.pb.h"

namespace galley::worker {

class DirectorBytes {
 public:
  virtual ~DirectorBytes() = default;
  // An error ends the call; `take` has got the pieces before the error.
  virtual absl::Status Fetch(const std::vector<v1::FetchItem>& items,
                             const std::function<void(const v1::FetchPiece&)>& take) = 0;
  // Returns the digests that the director does not have. An error: try again. REQUIRES: at most
  // kFindMax digests.
  static constexpr size_t kFindMax = 4'096;
  virtual absl::StatusOr<std::vector<Digest>> FindMissing(std::span<const Digest> digests) = 0;
  // Uploads blob files of `directory`. INVALID_ARGUMENT: a file's bytes are not the digest's, or
  // cannot be read; RESOURCE_EXHAUSTED: the director has no room; other codes: try again.
  virtual absl::Status Upload(const std::string& directory, std::span<const Digest> digests) = 0;
  virtual void Cancel() = 0;
  // Takes effect from the next call on.
  virtual void UseTls(const wire::ClientTls& tls) = 0;
};

std::unique_ptr<DirectorBytes> ConnectDirectorBytes(const std::string& address,
                                                    const wire::ClientTls& tls,
                                                    const v1::Caller& caller);

}  // namespace galley::worker
