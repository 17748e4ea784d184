#include "common/http/content_coding.h"

#include <cstddef>

#include "common/http/field_syntax.h"

namespace galley::http {
namespace {

// A coding in the field, whose elements are added one by one.
struct Mention {
  bool is_listed = false;
  bool is_refused = false;

  void Add(bool refuses) {
    is_listed = true;
    is_refused = is_refused || refuses;
  }
};

// Whether `weight` is above 0: "q=0.5". A malformed one is not.
bool IsPositiveWeight(std::string_view weight) {
  if (weight.size() < 3 || (weight[0] != 'q' && weight[0] != 'Q') || weight[1] != '=') return false;
  const std::string_view number = weight.substr(2);
  const bool is_one = number[0] == '1';
  if (!is_one && number[0] != '0') return false;
  if (number.size() == 1) return is_one;
  const std::string_view decimals = number.substr(2);
  if (number[1] != '.' || decimals.size() > 3) return false;
  if (decimals.find_first_not_of(is_one ? "0" : "0123456789") != std::string_view::npos)
    return false;
  return is_one || decimals.find_first_not_of('0') != std::string_view::npos;
}

bool Refuses(std::string_view element) {
  const size_t semicolon = element.find(';');
  if (semicolon == std::string_view::npos) return false;
  return !IsPositiveWeight(TrimSpace(element.substr(semicolon + 1)));
}

bool Accepts(const Mention& coding, const Mention& star) {
  const Mention& said = coding.is_listed ? coding : star;
  return said.is_listed && !said.is_refused;
}

}  // namespace

std::string_view NameOf(ContentCoding coding) {
  switch (coding) {
    case ContentCoding::kIdentity:
      return "identity";
    case ContentCoding::kGzip:
      return "gzip";
    case ContentCoding::kZstd:
      return "zstd";
  }
  return "identity";
}

ContentCoding ChooseContentCoding(std::optional<std::string_view> accept_encoding) {
  Mention zstd, gzip, star;
  for (const std::string_view element : SplitList(accept_encoding.value_or(""))) {
    const std::string_view name = TrimSpace(element.substr(0, element.find(';')));
    if (EqualsIgnoringCase(name, "zstd")) zstd.Add(Refuses(element));
    // The old name of gzip is x-gzip. Source: RFC 9110, 8.4.1.3.
    if (EqualsIgnoringCase(name, "gzip") || EqualsIgnoringCase(name, "x-gzip"))
      gzip.Add(Refuses(element));
    if (name == "*") star.Add(Refuses(element));
  }
  if (Accepts(zstd, star)) return ContentCoding::kZstd;
  if (Accepts(gzip, star)) return ContentCoding::kGzip;
  return ContentCoding::kIdentity;
}

}  // namespace galley::http
