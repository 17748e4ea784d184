#include "director/launch/ticket.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/base/status_macros.h"

namespace galley::director {
namespace {

constexpr const char* kSchema = "galley.worker-ticket.v1";

// nullopt: the value is no list of texts. An absent value is an empty list.
std::optional<std::vector<std::string>> Texts(const nlohmann::json& json, const char* key) {
  std::vector<std::string> texts;
  const auto found = json.find(key);
  if (found == json.end()) return texts;
  if (!found->is_array()) return std::nullopt;
  for (const nlohmann::json& text : *found) {
    if (!text.is_string()) return std::nullopt;
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

}  // namespace

std::string EncodeTicket(const Ticket& ticket) {
  nlohmann::json json = {{"schema", kSchema},
                         {"director", ticket.director},
                         {"token", ticket.token},
                         {"names", ticket.names}};
  if (!ticket.ca.empty()) json["ca"] = ticket.ca;
  if (!ticket.shared_path.empty()) json["shared_path"] = ticket.shared_path;
  if (!ticket.offer.labels.empty()) json["labels"] = ticket.offer.labels;
  if (!ticket.offer.resources.empty())
    json["resources"] = record::ResourceTexts(ticket.offer.resources);
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
  auto names = Texts(json, "names");
  if (!names.has_value()) return absl::InvalidArgumentError("`names`: expected texts");
  ticket.names = *std::move(names);
  if (json.contains("shared_path") && !text("shared_path", ticket.shared_path))
    return absl::InvalidArgumentError("`shared_path`: expected a text");
  if (json.contains("ca") && !text("ca", ticket.ca))
    return absl::InvalidArgumentError("`ca`: expected a text");
  const auto labels = Texts(json, "labels"), resources = Texts(json, "resources");
  if (!labels.has_value() || !resources.has_value())
    return absl::InvalidArgumentError("`labels`, `resources`: expected texts");
  ASSIGN_OR_RETURN(ticket.offer, record::ParseOffer(*labels, *resources));
  return ticket;
}

}  // namespace galley::director
