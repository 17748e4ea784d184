// ClientCalls: what the clients of a resident director ask of it (proto/galley/v1/director.proto).
// DirectorDoor passes the calls on.
//
// Threads: any, many at once.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "galley/v1/director.pb.h"

namespace galley::director {

// CookReader: one reader of what happens in a cook. Threads: one owner.
class CookReader {
 public:
  enum class Got {
    kEvent,
    kNothingYet,  // within the time
    kEnd,         // the report was read, and all that follows it
  };
  virtual ~CookReader() = default;
  virtual Got Next(absl::Duration patience, v1::CookEvent& event) = 0;
};

class ClientCalls {
 public:
  virtual ~ClientCalls() = default;

  virtual v1::HelloAnswer Hello(const v1::HelloAsk& ask) = 0;
  // The number of the new cook.
  virtual absl::StatusOr<uint64_t> Cook(const v1::CookAsk& ask) = 0;
  virtual absl::StatusOr<std::unique_ptr<CookReader>> Read(uint64_t cook) = 0;
  virtual absl::Status Cancel(uint64_t cook) = 0;
  virtual absl::StatusOr<v1::StatusAnswer> Status(const v1::StatusAsk& ask) = 0;
  virtual absl::StatusOr<v1::DrainAnswer> Drain(const v1::DrainAsk& ask) = 0;
  virtual absl::StatusOr<v1::CleanAnswer> Clean(const v1::CleanAsk& ask) = 0;
  virtual v1::StopAnswer Stop() = 0;
};

}  // namespace galley::director
