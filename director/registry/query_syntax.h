// The language of `galley query`: set expressions over packages (docs/registry.md). Pure.
//
//   expression := term { ("or" | "+" | "|" | "-") term }       from left to right
//   term       := factor { ("and" | "&") factor }
//   factor     := "not" factor | "(" expression ")" | function | name
//   function   := word "(" [ argument { "," argument } ] ")"
//   name       := "/Game/..." up to "," or ")" or an operator between spaces, or in double quotes
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace galley::director {

// How one package leads to another. The numbers are those of the registry's table.
enum class EdgeKind : uint8_t {
  kHard = 1,
  kSoft = 2,
  kEditor = 3,
  kGenerated = 4,  // the package made the other one
  kBuild = 5,      // the package's cook read the other one's output
};
inline constexpr size_t kEdgeKinds = 6;
std::string_view EdgeKindName(EdgeKind kind);  // "hard"

struct QueryRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool Has(double value) const { return min <= value && value <= max; }
  bool operator==(const QueryRange&) const = default;
};

struct QueryNode {
  enum class Kind : uint8_t {
    kAll,
    kName,      // text
    kPath,      // text: a glob
    kClass,     // words
    kTag,       // text: the tag's name; value, or any
    kSize,      // value: a range; words: platforms
    kPlatform,  // words
    kInCook,    // words: platforms; empty: any
    kFailed,    // likewise
    kKind,      // words: kinds: what such a reference leads to
    kRoots,
    kDeps,         // operands[0], and `along`
    kRdeps,        // likewise
    kClosure,      // likewise
    kPathBetween,  // operands[0], operands[1], and `along`
    kPaths,        // likewise
    kNot,          // operands[0]
    kAnd,          // all operands, two or more
    kOr,           // likewise
    kMinus,        // operands[0] without the others
  };
  // Restricts the references that are followed; empty lists restrict nothing.
  struct Along {
    std::vector<std::string> kinds;
    std::vector<std::string> platforms;
    bool operator==(const Along&) const = default;
  };

  Kind kind = Kind::kAll;
  size_t column = 0;  // of its first character, from 1
  std::string text;
  std::vector<std::string> words;
  std::optional<std::variant<QueryRange, std::string, bool>> value;
  Along along;
  std::vector<QueryNode> operands;
  size_t height = 1;  // of the tree: 1 + that of the highest operand; at most kQueryDepthMax
};

// An error of a query, and its column, from 1 in bytes.
struct QueryError {
  size_t column = 1;
  std::string text;
};

inline constexpr size_t kQueryBytesMax = 64 << 10;
inline constexpr size_t kQueryDepthMax = 200;

std::variant<QueryNode, QueryError> ParseQuery(std::string_view text);

// Returns the query with a line below it that points at the column.
std::string ShowQueryError(std::string_view text, const QueryError& error);

}  // namespace galley::director
