// ParseWhole: the number that a text is from its first byte to its last.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace galley {

// nullopt: the text is no number, a number and more, or a number that T does not hold.
template <typename T>
std::optional<T> ParseWhole(std::string_view text, int base = 10) {
  T number{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, base);
  if (error != std::errc() || end != last) return std::nullopt;
  return number;
}

}  // namespace galley
