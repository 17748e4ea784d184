#include "worker/cookers/shader/defines.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/log.h"
#include "common/base/plain_text.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

using Table = std::map<std::string, std::string>;

bool IsIdentifier(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && IsAlphanumericOr(name, "_");
}

bool IsVariantName(std::string_view name) { return !name.empty() && IsAlphanumericOr(name, "_-"); }

absl::StatusOr<std::string> ValueOf(const nlohmann::json& value) {
  if (value.is_boolean()) return std::string(value.get<bool>() ? "1" : "0");
  if (value.is_number()) return value.dump();
  if (!value.is_string()) return VerdictError("expected a string, a number, or true or false");
  std::string text = value.get<std::string>();
  if (std::ranges::any_of(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7F'; }) ||
      text.ends_with('\\')) {
    return VerdictError(
        "a value is one line without control characters and without '\\' at its end");
  }
  return text;
}

absl::Status AddTo(Table& table, const nlohmann::json& given, std::string_view where) {
  if (!given.is_object()) return VerdictError("{}: expected a table of defines", where);
  for (const auto& [name, value] : given.items()) {
    if (!IsIdentifier(name))
      return VerdictError("{}: \"{}\" is no name for a define", where, EscapeControl(name));
    auto text = ValueOf(value);
    if (!text.ok()) return Annotate(text.status(), fmt::format("{}.{}", where, name));
    table[name] = *std::move(text);
  }
  return absl::OkStatus();
}

std::string Lines(const Table& table) {
  std::string lines;
  for (const auto& [name, value] : table) lines += fmt::format("#define {} {}\n", name, value);
  return lines;
}

}  // namespace

absl::StatusOr<std::vector<Variant>> ParseVariants(const nlohmann::json& defines,
                                                   const nlohmann::json& variants) {
  Table base;
  RETURN_IF_ERROR(AddTo(base, defines, "defines"));
  if (!variants.is_object()) return VerdictError("variants: expected a table, name -> defines");
  if (variants.size() > kVariantsMax)
    return VerdictError("variants: {} are given; at most {}", variants.size(), kVariantsMax);
  std::vector<Variant> all = {{.name = "", .preamble = Lines(base)}};
  for (const auto& [name, given] : variants.items()) {
    if (!IsVariantName(name)) {
      return VerdictError(
          "variants: \"{}\" is no name for a variant; expected letters, digits, '_' and '-'",
          EscapeControl(name));
    }
    Table table = base;
    RETURN_IF_ERROR(AddTo(table, given, "variants." + name));
    all.push_back({.name = name, .preamble = Lines(table)});
  }
  return all;
}

}  // namespace galley::worker
