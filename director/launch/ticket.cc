#include "director/launch/ticket.h"

#include <nlohmann/json.hpp>

namespace galley::director {
namespace {

constexpr const char* kSchema = "galley.worker-ticket.v1";

}  // namespace

std::string EncodeTicket(const Ticket& ticket) {
  nlohmann::json json = {{"schema", kSchema},
                         {"director", ticket.director},
                         {"token", ticket.token},
                         {"names", ticket.names}};
  if (!ticket.ca.empty()) json["ca"] = ticket.ca;
  if (!ticket.shared_path.empty()) json["shared_path"] = ticket.shared_path;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

absl::StatusOr<Ticket> DecodeTicket(std::string_view line) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  Ticket ticket;
  const auto text = [&json](const char* key, std::string& value) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string()) return false;
    value = found->get<std::string>();
    return true;
  };
  std::string schema;
  const bool is_ticket = json.is_object() && text("schema", schema) && schema == kSchema &&
                         text("director", ticket.director) && text("token", ticket.token) &&
                         json.contains("names") && json["names"].is_array();
  if (!is_ticket) {
    return absl::InvalidArgumentError(
        "it is no ticket of a worker (one line of JSON that a director's launcher writes)");
  }
  for (const nlohmann::json& name : json["names"]) {
    if (!name.is_string()) return absl::InvalidArgumentError("`names`: expected texts");
    ticket.names.push_back(name.get<std::string>());
  }
  if (json.contains("shared_path") && !text("shared_path", ticket.shared_path))
    return absl::InvalidArgumentError("`shared_path`: expected a text");
  if (json.contains("ca") && !text("ca", ticket.ca))
    return absl::InvalidArgumentError("`ca`: expected a text");
  return ticket;
}

}  // namespace galley::director
