// The syntax that the fields of HTTP have in common.
//
// Threads: none; pure functions.   Source: RFC 9110, 5.1, 5.3, 5.5 and 5.6.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace galley::http {

// A field as it was received. The views are those of the caller.
struct Field {
  std::string_view name;
  std::string_view value;
};

// Whether `text` is a token, like the name of a field or of a coding. Source: RFC 9110, 5.6.2.
bool IsToken(std::string_view text);

// Whether `text` is a number in decimal digits without a sign; it may have any length.
bool IsDigits(std::string_view text);

// Compares ASCII letters without case, other bytes exactly.
bool EqualsIgnoringCase(std::string_view a, std::string_view b);

// `text` without spaces and tabs at its ends. Source: OWS of RFC 9110, 5.6.3.
std::string_view TrimSpace(std::string_view text);

// The elements of a list without quoted strings; empty ones are left out. Source: RFC 9110, 5.6.1.
std::vector<std::string_view> SplitList(std::string_view value);

// The values of all fields of that name in their order, joined by ", ". nullopt: there is no such
// field. Source: RFC 9110, 5.3.
std::optional<std::string> JoinedValue(std::span<const Field> fields, std::string_view name);

}  // namespace galley::http
