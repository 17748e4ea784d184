// ReapiServer: serves a store as a REAPI v2 cache for other programs: Capabilities,
// ContentAddressableStorage, ActionCache, ByteStream; gRPC health and reflection. The methods are
// documented in reapi_core.h, reapi_results.h, tree_pages.h, blob_reads.h and uploads.h; the rights
// in methods.h and gate.h.
//
// Connections are accepted by our own loop (common/listen/accept_loop.h), which hands them to gRPC.
//
// Limits, told to clients or enforced: messages of 4 MiB and 64 KiB, metadata of 16 KiB, 128 calls
// on a connection and calls_max in all, uploads (uploads.h), 256 MiB for messages in work,
// reply_bytes_max for replies that nobody has read yet, and a deadline for each call, even if its
// client set none. Messages compressed by gRPC are refused: blobs have a compression of their own.
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
  std::vector<Identity> identities;  // empty: everybody may call
  // The file of `identities`, read again when it has changed; "": they stay.
  std::string identities_file;
  wire::TlsFiles tls;                               // read again when the files change
  absl::Duration tls_interval = absl::Seconds(10);  // between two checks of the TLS files by Sweep
  listen::DoorLimits door;                          // connections, common/listen/accept_loop.h
  size_t calls_max = 4096;
  size_t reply_bytes_max = size_t{256} << 20;  // of replies that are not taken yet, reply_budget.h
  size_t threads = 0;                          // for handlers; 0: two for each processor
  size_t tasks_max = 1024;                     // that wait for a thread
  bool sweeps_by_itself = true;                // false: tests call Sweep
  // For tests that wait for another thread: called after each step of a call, before the client
  // sees the reply, and when a call has ended. Must not block.
  std::function<void()> on_step;
};

// Threads: any.
class ReapiServer {
 public:
  // `store` and `clock` must outlive the server. INVALID_ARGUMENT, FAILED_PRECONDITION: as
  // CheckListener. UNAVAILABLE: an address cannot be listened on.
  static absl::StatusOr<std::unique_ptr<ReapiServer>> Start(Store& store, Clock& clock,
                                                            const ReapiServerOptions& options);
  // Gives open calls a second to end.
  virtual ~ReapiServer() = default;

  // Returns the addresses as given, with the chosen ports.
  virtual std::vector<std::string> addresses() const = 0;
  // Ends overdue calls and uploads, and loads identities and certificates whose files have changed.
  virtual void Sweep() = 0;
  virtual size_t open_calls() const = 0;
  virtual size_t open_uploads() const = 0;
  virtual listen::DoorFigures door() const = 0;
};

}  // namespace galley::store
