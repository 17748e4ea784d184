// PackageQueryClient: asks the director that has a project now about packages (worker.proto, Ask).
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "common/wire/client_tls.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

class PackageQueryClient {
 public:
  // The cook whose director was to have its socket at `socket_path` (WorkerService::Start). Null:
  // no cook runs, or none can be reached.
  static std::unique_ptr<PackageQueryClient> Find(const std::string& socket_path);
  // The director of another machine (OpenClientDoor). No connection is made yet.
  static std::unique_ptr<PackageQueryClient> At(const std::string& address,
                                                const wire::ClientTls& tls);
  virtual ~PackageQueryClient() = default;

  // With at most `limit` reasons. NOT_FOUND: the package is in no request of this cook (yet).
  // FAILED_PRECONDITION: no cook runs in this director. UNAVAILABLE: it does not answer, or ends.
  virtual absl::StatusOr<v1::PackageAnswer> Ask(const std::string& package, size_t limit) = 0;
};

}  // namespace galley::director
