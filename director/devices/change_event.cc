#include "director/devices/change_event.h"

#include "common/base/parse_whole.h"
#include "fmt/format.h"

namespace galley::devices {

std::string TextOf(const EventId& id) { return fmt::format("{}-{}", id.term, id.number); }

std::optional<EventId> ParseEventId(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::optional<uint32_t> term = ParseWhole<uint32_t>(text.substr(0, dash));
  const std::optional<uint64_t> number = ParseWhole<uint64_t>(text.substr(dash + 1));
  if (!term || !number) return std::nullopt;
  const EventId id{.term = *term, .number = *number};
  // Leading zeros: an id has one text.
  return TextOf(id) == text ? std::optional(id) : std::nullopt;
}

size_t ChangeEvent::entries() const {
  return added.size() + modified.size() + removed.size() + stale.size() + failures.size() +
         healed.size() + conflicts.size();
}

}  // namespace galley::devices
