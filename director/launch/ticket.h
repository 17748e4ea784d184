// Ticket: everything that a worker of another machine is told of its director when it is launched.
// One line of JSON; whoever has the ticket can attach as one of its workers, so it travels through
// standard input, the body of a script, or a file of mode 0600, never through arguments, variables
// or logs.
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

// Without a line's end.
std::string EncodeTicket(const Ticket& ticket);
// INVALID_ARGUMENT: the line is no ticket.
absl::StatusOr<Ticket> DecodeTicket(std::string_view line);

}  // namespace galley::director
