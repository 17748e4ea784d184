// ReapiServer: a store as a REAPI v2 cache for other programs: Capabilities,
// ContentAddressableStorage, ActionCache, ByteStream; gRPC health and reflection. What each method
// means is said in reapi_core.h, reapi_results.h, tree_pages.h, blob_reads.h and uploads.h; who may
// call it in methods.h and gate.h.
//
// Connections come through a door of ours (common/listen/accept_loop.h), which hands them to gRPC.
//
// Limits, told to clients or enforced: messages of 4 MiB and 64 KiB, metadata of 16 KiB, 128 calls
// on a connection and calls_max in all, uploads (uploads.h), 256 MiB for what is under way,
// reply_bytes_max for replies that nobody has read yet, and a deadline for each call, whether its
// caller set one or not. Messages packed by gRPC are refused: blobs have a compression of their
// own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/listen/door_figures.h"
#include "common/listen/doorkeeper.h"
#include "common/store/interface/store.h"
#include "common/store/reapi/server/gate.h"
#include "common/store/reapi/server/listeners.h"
#include "common/store/reapi/server/reapi_core.h"
#include "common/store/reapi/server/uploads.h"
#include "common/wire/tls_pair.h"

namespace galley::store {

struct ReapiServerOptions {
  std::vector<std::string> addresses;  // "host:port" (port 0: any), "unix:/path"
  ReapiOptions reapi;
  Uploads::Options uploads;
  std::vector<Identity> identities;  // none: everybody
  // The file that they were read from: read again when it has changed. "": they stay.
  std::string identities_file;
  wire::TlsFiles tls;                               // as they are now; read again when they change
  absl::Duration tls_interval = absl::Seconds(10);  // how often Sweep looks at them
  listen::DoorLimits door;                          // connections, common/listen/accept_loop.h
  size_t calls_max = 4096;
  size_t reply_bytes_max = size_t{256} << 20;  // not taken yet, reply_budget.h
  size_t threads = 0;                          // that work on calls; 0: two for each processor
  size_t tasks_max = 1024;                     // that wait for one of them
  bool sweeps_by_itself = true;                // else Sweep is called: tests
  // Called after each step of a call, before its caller hears of it, and when a call has ended;
  // must not wait. Tests that wait for what another thread does.
  std::function<void()> on_step;
};

// Threads: any.
class ReapiServer {
 public:
  // `store` and `clock` outlive it. INVALID_ARGUMENT, FAILED_PRECONDITION as CheckListener;
  // UNAVAILABLE: an address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<ReapiServer>> Start(Store& store, Clock& clock,
                                                            const ReapiServerOptions& options);
  // Calls that are open are given a second.
  virtual ~ReapiServer() = default;

  // The addresses as given, with the ports that were chosen.
  virtual std::vector<std::string> addresses() const = 0;
  // Ends what is overdue, and takes identities and certificates whose files have changed.
  virtual void Sweep() = 0;
  virtual size_t open_calls() const = 0;
  virtual size_t open_uploads() const = 0;
  virtual listen::DoorFigures door() const = 0;
};

}  // namespace galley::store
