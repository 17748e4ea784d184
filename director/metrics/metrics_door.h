// MetricsDoor: the address where Prometheus asks a director for its figures: HTTP on loopback, GET
// /metrics.
//
// The door has neither TLS nor a token: whoever reaches it reads the names of workers and platforms
// and all counts, so the door listens only on addresses of this machine. docs/metrics.md says how
// to reach the door from another machine.
// Threads: one; `read` is called on others.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "director/metrics/exporter.h"

namespace galley::metrics {

// INVALID_ARGUMENT, for people: not "HOST:PORT" with a loopback host. OK for an empty address: no
// metrics.
absl::Status CheckAddress(std::string_view address);

class MetricsDoor {
 public:
  struct Options {
    std::string address;       // port 0: any free port
    std::string address_file;  // gets the address with its port; empty: no file
    std::string library;       // empty: the installed library, in ../lib/galley
    // REQUIRES: ends soon.
    std::function<Figures()> read;
  };
  // Errors: as CheckAddress; UNAVAILABLE: the address cannot be listened on, or the library cannot
  // be loaded.
  static absl::StatusOr<std::unique_ptr<MetricsDoor>> Open(Options options);
  // Ends all calls of `read`.
  ~MetricsDoor();

  const std::string& address() const { return address_; }  // with the bound port

 private:
  MetricsDoor(std::unique_ptr<Exporter> exporter, std::string address, std::string file);

  const std::unique_ptr<Exporter> exporter_;
  const std::string address_;
  const std::string file_;
};

}  // namespace galley::metrics
