#include "director/core/conflict_text.h"

namespace galley::director {
namespace {

constexpr std::string_view kOutput = "its output ";
constexpr std::string_view kConflict = " is in conflict with that of ";
constexpr std::string_view kReason = ": ";

}  // namespace

std::string ConflictText(const ConflictParts& parts) {
  std::string text;
  for (const std::string_view part :
       {kOutput, parts.path, kConflict, parts.other, kReason, parts.reason})
    text += part;
  return text;
}

std::optional<ConflictParts> ReadConflict(std::string_view text) {
  if (!text.starts_with(kOutput)) return std::nullopt;
  const size_t conflict = text.find(kConflict);
  if (conflict == std::string_view::npos) return std::nullopt;
  const size_t other = conflict + kConflict.size();
  const size_t reason = text.find(kReason, other);
  if (reason == std::string_view::npos) return std::nullopt;
  return ConflictParts{.path = text.substr(kOutput.size(), conflict - kOutput.size()),
                       .other = text.substr(other, reason - other),
                       .reason = text.substr(reason + kReason.size())};
}

}  // namespace galley::director
