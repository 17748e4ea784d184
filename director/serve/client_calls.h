// ClientCalls: the calls of clients to a resident director (proto/galley/v1/director.proto).
// StatusCalls: the calls to a director that a command hosts for one cook. DirectorDoor passes the
// calls on.
//
// Threads: any, many at once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

// CookReader: one reader of a cook's events. Threads: one owner.
class CookReader {
 public:
  enum class Got {
    kEvent,
    kNothingYet,  // nothing came within the time
    kEnd,         // the report was read, and everything after it
  };
  virtual ~CookReader() = default;
  virtual Got Next(absl::Duration patience, v1::CookEvent& event) = 0;
};

// Audience: hears what a command prints. Threads: that of the call.
class Audience {
 public:
  virtual ~Audience() = default;
  // Waits until there is room. False: nobody hears it.
  virtual bool Tell(const v1::Shown& shown) = 0;
  virtual bool IsThere() const = 0;
};

class StatusCalls {
 public:
  virtual ~StatusCalls() = default;
  virtual absl::StatusOr<v1::StatusAnswer> Status(const v1::StatusAsk& ask) = 0;
};

class ClientCalls : public StatusCalls {
 public:
  // UNAVAILABLE: the director could not open.
  virtual absl::StatusOr<v1::HelloAnswer> Hello(const v1::HelloAsk& ask) = 0;
  // Returns the number of the new cook.
  virtual absl::StatusOr<uint64_t> Cook(const v1::CookAsk& ask) = 0;
  virtual absl::StatusOr<std::unique_ptr<CookReader>> Read(uint64_t cook) = 0;
  virtual absl::Status Cancel(uint64_t cook) = 0;
  virtual absl::StatusOr<v1::DrainAnswer> Drain(const v1::DrainAsk& ask) = 0;
  virtual absl::StatusOr<v1::CleanAnswer> Clean(const v1::CleanAsk& ask) = 0;
  // `who`: who asks, for the log.
  virtual v1::StopAnswer Stop(const std::string& who) = 0;
  // Returns when everything was told. CANCELLED: nobody listens any more.
  virtual absl::Status Show(const v1::ShowAsk& ask, Audience& audience) = 0;
};

}  // namespace galley::director
