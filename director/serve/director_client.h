// DirectorClient: talks to a resident director over its socket.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/wire/client_tls.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

// CookStream: the events of a cook, as the director tells them. Threads: Next and End: one; Leave:
// any.
class CookStream {
 public:
  virtual ~CookStream() = default;
  // Waits. False: there is no further event.
  virtual bool Next(v1::CookEvent& event) = 0;
  // Called when nobody wants to know more; Next soon returns false.
  virtual void Leave() = 0;
  // Says why there are no further events. UNAVAILABLE: the director is gone. REQUIRES: Next
  // returned false; once.
  virtual absl::Status End() = 0;
};

// ShownStream: what a command prints on the director's machine. Threads: as CookStream.
class ShownStream {
 public:
  virtual ~ShownStream() = default;
  virtual bool Next(v1::Shown& shown) = 0;
  virtual void Leave() = 0;
  virtual absl::Status End() = 0;
};

// Returns how this process names itself to a director: "anna, process 4711".
std::string OwnCaller();

class DirectorClient {
 public:
  // How long a director may take to answer. A director of this machine that is seen to run may take
  // kBusyPatience, because it may have more to do than the machine can.
  static constexpr absl::Duration kPatience = absl::Seconds(5);
  static constexpr absl::Duration kBusyPatience = absl::Seconds(60);

  // Returns the resident director whose socket is at `socket_path`. Null: nobody listens, or only a
  // command that hosts one cook. PERMISSION_DENIED: the socket is another user's.
  // DEADLINE_EXCEEDED: the director is silent; the text says for how long, and what to do.
  static absl::StatusOr<std::unique_ptr<DirectorClient>> Find(const std::string& socket_path,
                                                              const v1::BuildIdentity& own);
  // Returns the resident director of another machine (OpenClientDoor), at "host:port". UNAVAILABLE:
  // nobody with a certificate of the authority answers there; UNAUTHENTICATED, PERMISSION_DENIED:
  // roles.h.
  static absl::StatusOr<std::unique_ptr<DirectorClient>> Connect(const std::string& address,
                                                                 const wire::ClientTls& tls,
                                                                 const v1::BuildIdentity& own);
  virtual ~DirectorClient() = default;

  virtual const v1::HelloAnswer& director() const = 0;

  virtual std::unique_ptr<CookStream> Cook(const v1::CookAsk& ask) = 0;
  virtual std::unique_ptr<CookStream> Follow(uint64_t cook) = 0;
  virtual absl::Status Cancel(uint64_t cook) = 0;
  virtual absl::StatusOr<v1::StatusAnswer> Status(const v1::StatusAsk& ask = {}) = 0;
  virtual absl::StatusOr<v1::DrainAnswer> Drain(const v1::DrainAsk& ask) = 0;
  virtual absl::StatusOr<v1::CleanAnswer> Clean(const v1::CleanAsk& ask) = 0;
  virtual absl::StatusOr<v1::StopAnswer> Stop() = 0;
  virtual std::unique_ptr<ShownStream> Show(const v1::ShowAsk& ask) = 0;
  // True: no process listens there any more, or another process does. Also false when that cannot
  // be known.
  virtual bool HasEnded() = 0;
};

// HostedClient: a director that a command hosts for one cook.
class HostedClient {
 public:
  // Null: no such director listens at `socket_path`.
  static std::unique_ptr<HostedClient> Find(const std::string& socket_path);
  virtual ~HostedClient() = default;
  // UNIMPLEMENTED: the director is resident, or of another build; UNAVAILABLE: the cook has ended.
  virtual absl::StatusOr<v1::StatusAnswer> Status(const v1::StatusAsk& ask = {}) = 0;
};

}  // namespace galley::director
