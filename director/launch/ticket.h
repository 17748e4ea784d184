// Ticket: tells a worker that is launched on another machine how to attach to its director; one
// line of JSON. Whoever has the ticket can attach as one of its workers, so it travels through
// standard input, the body of a script, or a file of mode 0600, never through arguments,
// environment variables or logs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/record/worker_offer.h"

namespace galley::director {

struct Ticket {
  std::string director;            // "cook.studio:9010", or "unix:/path" of the worker's machine
  std::string token;               // of all workers of the ticket
  std::vector<std::string> names;  // of the workers; a worker takes the name at its index
  std::string shared_path = {};    // the project on the worker's machine; empty: none
  std::string ca;  // PEM: the authority of the director's certificate; empty: no TLS
  record::WorkerOffer offer = {};  // of each worker's machine, as far as the director knows
};

inline constexpr size_t kTicketBytesMax = 256 << 10;

// Returns the ticket as JSON, without a newline.
std::string EncodeTicket(const Ticket& ticket);
// INVALID_ARGUMENT: the line is no ticket.
absl::StatusOr<Ticket> DecodeTicket(std::string_view line);

}  // namespace galley::director
