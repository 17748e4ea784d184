// ClientCalls: answers the calls of clients to a resident director
// (proto/galley/v1/director.proto). StatusCalls: answers the calls to a director that a command
// hosts for one cook. DirectorDoor receives the calls.
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
    kNothingYet,  // no event came within `patience`
    kEnd,         // the report and everything after it were read
  };
  virtual ~CookReader() = default;
  virtual Got Next(absl::Duration patience, v1::CookEvent& event) = 0;
};

// Audience: receives the output of a command. Threads: the thread of the call.
class Audience {
 public:
  virtual ~Audience() = default;
  // Blocks while the receiver is slow. False: the receiver is gone.
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
  // Runs a command; returns when its output was told. CANCELLED: the audience is gone.
  virtual absl::Status Show(const v1::ShowAsk& ask, Audience& audience) = 0;
};

}  // namespace galley::director
