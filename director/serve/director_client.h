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

// CookStream: the stream of a cook's events from the director. Threads: Next and End: one; Leave:
// any.
class CookStream {
 public:
  virtual ~CookStream() = default;
  // Waits for the next event. False: there is none.
  virtual bool Next(v1::CookEvent& event) = 0;
  // Cancels the stream; Next soon returns false.
  virtual void Leave() = 0;
  // Returns why the stream ended. UNAVAILABLE: the director is gone. Called once. REQUIRES: Next
  // returned false.
  virtual absl::Status End() = 0;
};

// ShownStream: the output of a command on the director's machine. Threads: as CookStream.
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
  // How long a client waits for an answer. A director on this machine whose process runs gets
  // kBusyPatience, because the machine may be overloaded.
  static constexpr absl::Duration kPatience = absl::Seconds(5);
  static constexpr absl::Duration kBusyPatience = absl::Seconds(60);

  // Returns a client of the resident director whose socket is at `socket_path`. Null: nobody
  // listens, or a command listens that hosts one cook. PERMISSION_DENIED: the socket belongs to
  // another user. DEADLINE_EXCEEDED: the director does not answer; the text says what to do.
  static absl::StatusOr<std::unique_ptr<DirectorClient>> Find(const std::string& socket_path,
                                                              const v1::BuildIdentity& own);
  // Returns a client of the resident director of another machine (OpenClientDoor), at "host:port".
  // UNAVAILABLE: no director with a certificate of the authority answers; UNAUTHENTICATED,
  // PERMISSION_DENIED: roles.h.
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
  // True: the director's process listens no more, or another process does. False: it listens, or
  // does not answer.
  virtual bool HasEnded() = 0;
};

// HostedClient: a director that a command hosts for one cook.
class HostedClient {
 public:
  // Null: nobody listens at `socket_path`.
  static std::unique_ptr<HostedClient> Find(const std::string& socket_path);
  virtual ~HostedClient() = default;
  // UNIMPLEMENTED: the director is resident, or of another build; UNAVAILABLE: the cook has ended.
  virtual absl::StatusOr<v1::StatusAnswer> Status(const v1::StatusAsk& ask = {}) = 0;
};

}  // namespace galley::director
