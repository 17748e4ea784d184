// MetricsDoor: where Prometheus asks a director for its figures: HTTP on loopback, GET /metrics.
//
// There is neither TLS nor a token: whoever reaches it reads the names of the workers and platforms
// and how much is cooked, so only addresses of this machine are taken. docs/metrics.md says how a
// Prometheus elsewhere gets at it.
// Threads: one; `read` is called on others.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "director/metrics/exporter.h"

namespace galley::metrics {

// INVALID_ARGUMENT, for people: not "HOST:PORT" with a loopback host. `address` may be empty: no
// metrics are asked for.
absl::Status CheckAddress(std::string_view address);

class MetricsDoor {
 public:
  struct Options {
    std::string address;       // port 0: any that is free
    std::string address_file;  // gets the address with its port; empty: none
    std::string library;       // empty: the one beside this program
    // REQUIRES: ends soon.
    std::function<Figures()> read;
  };
  // As CheckAddress; UNAVAILABLE: it cannot be listened on, or the library is not there.
  static absl::StatusOr<std::unique_ptr<MetricsDoor>> Open(Options options);
  // `read` is not called any more.
  ~MetricsDoor();

  const std::string& address() const { return address_; }  // with the port that it has

 private:
  MetricsDoor(std::unique_ptr<Exporter> exporter, std::string address, std::string file);

  const std::unique_ptr<Exporter> exporter_;
  const std::string address_;
  const std::string file_;
};

}  // namespace galley::metrics
