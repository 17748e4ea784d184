// PackageQueryClient: asks the director of a project about packages (worker.proto, Ask).
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
  // Returns a client of the director whose socket is at `socket_path` (DirectorDoor). Null: no
  // director listens there, or the socket belongs to another user.
  static std::unique_ptr<PackageQueryClient> Find(const std::string& socket_path);
  // Returns a client of a director of another machine (OpenClientDoor). Makes no connection yet.
  static std::unique_ptr<PackageQueryClient> At(const std::string& address,
                                                const wire::ClientTls& tls);
  virtual ~PackageQueryClient() = default;

  // Returns why the package is in the cook, with at most `limit` reasons. NOT_FOUND: the package is
  // not in the cook, at least not yet. FAILED_PRECONDITION: no cook runs in this director.
  // UNAVAILABLE: the director does not answer, or ends.
  virtual absl::StatusOr<v1::PackageAnswer> Ask(const std::string& package, size_t limit) = 0;
};

}  // namespace galley::director
