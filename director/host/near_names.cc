#include "director/host/near_names.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/content/expand_braces.h"
#include "common/content/glob.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kToldMax = 3;
constexpr size_t kEditsMin = 2, kEditsMax = 8;
// Names that are worse than the best name by more than this were hardly meant.
constexpr size_t kWorseMax = 1;
// The same last segment in another folder counts as this many edits.
constexpr size_t kElsewhere = 3;

// Token: one step of a pattern.
struct Token {
  enum class Kind { kLetter, kAny, kStar, kStars };
  Kind kind = Kind::kLetter;
  char letter = 0;
};

std::vector<Token> Tokens(std::string_view pattern) {
  std::vector<Token> tokens;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const std::string_view rest = pattern.substr(at);
    if (rest.starts_with("**")) {
      tokens.push_back({Token::Kind::kStars});
      at += rest.starts_with("**/") ? 2 : 1;
    } else if (rest[0] == '*') {
      tokens.push_back({Token::Kind::kStar});
    } else if (rest[0] == '[' && rest.find(']', 2) != std::string_view::npos) {
      tokens.push_back({Token::Kind::kAny});
      at += rest.find(']', 2);
    } else if (rest[0] == '?') {
      tokens.push_back({Token::Kind::kAny});
    } else {
      tokens.push_back(
          {Token::Kind::kLetter, absl::ascii_tolower(static_cast<unsigned char>(rest[0]))});
    }
  }
  return tokens;
}

size_t Letters(const std::vector<Token>& tokens) {
  return static_cast<size_t>(std::ranges::count_if(
      tokens, [](const Token& token) { return token.kind == Token::Kind::kLetter; }));
}

// Levenshtein's distance, row by row over a name's letters; stars match at no cost.
size_t Edits(const std::vector<Token>& tokens, std::string_view name, size_t limit) {
  const auto is_free = [&](size_t t) {
    return tokens[t].kind == Token::Kind::kStar || tokens[t].kind == Token::Kind::kStars;
  };
  std::vector<size_t> above(tokens.size() + 1), row(tokens.size() + 1);
  for (size_t t = 0; t < tokens.size(); ++t) above[t + 1] = above[t] + (is_free(t) ? 0 : 1);
  for (const char raw : name) {
    const char c = absl::ascii_tolower(static_cast<unsigned char>(raw));
    row[0] = above[0] + 1;
    size_t least = row[0];
    for (size_t t = 0; t < tokens.size(); ++t) {
      const size_t skipped = row[t] + (is_free(t) ? 0 : 1);
      size_t taken = 0;
      size_t extra = above[t + 1] + 1;
      switch (tokens[t].kind) {
        case Token::Kind::kLetter:
          taken = above[t] + (tokens[t].letter == c ? 0 : 1);
          break;
        case Token::Kind::kAny:
          taken = above[t] + (c == '/' ? 1 : 0);
          break;
        case Token::Kind::kStar:
          taken = above[t + 1] + (c == '/' ? 1 : 0);
          break;
        case Token::Kind::kStars:
          taken = above[t + 1];
          break;
      }
      row[t + 1] = std::min({skipped, taken, extra});
      least = std::min(least, row[t + 1]);
    }
    if (least > limit) return limit + 1;
    std::swap(above, row);
  }
  return above[tokens.size()];
}

std::string Quoted(const std::string& name) {
  return name.starts_with('/') ? name : fmt::format("\"{}\"", name);
}

}  // namespace

size_t EditsUntilMatch(std::string_view pattern, std::string_view name, size_t limit) {
  return Edits(Tokens(pattern), name, limit);
}

std::vector<std::string> NearNames(std::string_view pattern, std::span<const std::string> names,
                                   size_t comparisons_max) {
  const absl::StatusOr<std::vector<std::string>> expanded = content::ExpandBraces(pattern);
  std::vector<std::pair<size_t, size_t>> near;  // (edits, index): the best names so far, sorted
  for (const std::string& one :
       expanded.ok() ? *expanded : std::vector<std::string>{std::string(pattern)}) {
    if (names.size() > comparisons_max) break;
    comparisons_max -= names.size();
    const std::vector<Token> tokens = Tokens(one);
    const std::vector<Token> last = Tokens(LastSegment(one));
    const bool tells_last = Letters(last) > 0;
    const size_t limit = std::clamp(Letters(tokens) / 3, kEditsMin, kEditsMax);
    for (size_t i = 0; i < names.size(); ++i) {
      size_t edits = Edits(tokens, names[i], limit);
      const bool is_near = edits <= limit;
      const bool is_elsewhere = (!is_near || edits > kElsewhere) && tells_last &&
                                Edits(last, LastSegment(names[i]), 0) == 0;
      if (!is_near && !is_elsewhere) continue;
      if (is_elsewhere) edits = kElsewhere;
      const auto known =
          std::ranges::find_if(near, [i](const auto& other) { return other.second == i; });
      if (known != near.end()) {
        known->first = std::min(known->first, edits);
      } else {
        near.emplace_back(edits, i);
      }
      std::ranges::sort(near);
      if (near.size() > kToldMax) near.resize(kToldMax);
    }
  }
  std::vector<std::string> told;
  for (const auto& [edits, index] : near) {
    if (edits <= near[0].first + kWorseMax) told.push_back(names[index]);
  }
  return told;
}

std::string NearText(std::span<const std::string> near) {
  if (near.empty()) return "";
  if (near.size() == 1) return fmt::format("; did you mean {}?", Quoted(near[0]));
  std::string text = "; the nearest are ";
  for (size_t i = 0; i < near.size(); ++i)
    text += (i == 0 ? "" : i + 1 == near.size() ? " and " : ", ") + Quoted(near[i]);
  return text;
}

}  // namespace galley::director
