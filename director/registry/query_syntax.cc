#include "director/registry/query_syntax.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::director {
namespace {

using Kind = QueryNode::Kind;

constexpr std::array<std::pair<std::string_view, EdgeKind>, 5> kKindNames{{
    {"hard", EdgeKind::kHard},
    {"soft", EdgeKind::kSoft},
    {"editor", EdgeKind::kEditor},
    {"generated", EdgeKind::kGenerated},
    {"build", EdgeKind::kBuild},
}};

struct Function {
  std::string_view name;
  Kind kind;
  std::string_view usage;
};
constexpr std::array<Function, 15> kFunctions{{
    {"all", Kind::kAll, "all()"},
    {"path", Kind::kPath, "path(GLOB)"},
    {"class", Kind::kClass, "class(NAME, ...)"},
    {"tag", Kind::kTag, "tag(NAME), tag(NAME, VALUE) or tag(NAME, FROM..TO)"},
    {"size", Kind::kSize, "size(FROM..TO) or size(FROM..TO, PLATFORM), as in size(1MiB..)"},
    {"platform", Kind::kPlatform, "platform(NAME, ...)"},
    {"in_cook", Kind::kInCook, "in_cook() or in_cook(PLATFORM, ...)"},
    {"failed", Kind::kFailed, "failed() or failed(PLATFORM, ...)"},
    {"kind", Kind::kKind, "kind(hard, soft, editor, generated, build)"},
    {"roots", Kind::kRoots, "roots()"},
    {"deps", Kind::kDeps, "deps(X), with kind(...) or platform(...) behind it"},
    {"rdeps", Kind::kRdeps, "rdeps(X), with kind(...) or platform(...) behind it"},
    {"closure", Kind::kClosure, "closure(X), with kind(...) or platform(...) behind it"},
    {"path_between", Kind::kPathBetween, "path_between(A, B)"},
    {"paths", Kind::kPaths, "paths(A, B)"},
}};

const Function* FunctionNamed(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &Function::name);
  return found == kFunctions.end() ? nullptr : &*found;
}
std::string_view UsageOf(Kind kind) {
  return std::ranges::find(kFunctions, kind, &Function::kind)->usage;
}
// How many sets a function takes.
size_t SetsOf(Kind kind) {
  switch (kind) {
    case Kind::kDeps:
    case Kind::kRdeps:
    case Kind::kClosure:
      return 1;
    case Kind::kPathBetween:
    case Kind::kPaths:
      return 2;
    default:
      return 0;
  }
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsWordChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<double> UnitOf(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 10> kUnits{
      {{"", 1},
       {"B", 1},
       {"kB", 1e3},
       {"KB", 1e3},
       {"MB", 1e6},
       {"GB", 1e9},
       {"KiB", 1024},
       {"MiB", 1024.0 * 1024},
       {"GiB", 1024.0 * 1024 * 1024},
       {"TiB", 1024.0 * 1024 * 1024 * 1024}}};
  const auto found = std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
  return found == kUnits.end() ? std::nullopt : std::optional(found->second);
}

// "12", "-1.5", with a unit "64KiB". nullopt: it is no number.
std::optional<double> NumberIn(std::string_view text, bool with_unit) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
  while (!rest.empty() && IsSpace(rest.front())) rest.remove_prefix(1);
  if (!with_unit && !rest.empty()) return std::nullopt;
  const std::optional<double> unit = UnitOf(rest);
  return unit ? std::optional(value * *unit) : std::nullopt;
}

// "5", "5..", "..7", "5..7".
std::optional<QueryRange> RangeIn(std::string_view text, bool with_unit) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    const std::optional<double> one = NumberIn(text, with_unit);
    return one ? std::optional(QueryRange{*one, *one}) : std::nullopt;
  }
  QueryRange range;
  const std::string_view from = Trimmed(text.substr(0, dots)), to = Trimmed(text.substr(dots + 2));
  if (from.empty() && to.empty()) return std::nullopt;
  const auto read = [&](std::string_view bound, double& into) {
    const std::optional<double> number = NumberIn(bound, with_unit);
    into = number.value_or(into);
    return bound.empty() || number.has_value();
  };
  const bool is_range = read(from, range.min) && read(to, range.max) && range.min <= range.max;
  return is_range ? std::optional(range) : std::nullopt;
}

// Parser: recursive descent. The first error ends it.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::variant<QueryNode, QueryError> Parse() {
    if (text_.size() > kQueryBytesMax)
      return QueryError{1, fmt::format("the query is longer than {} bytes", kQueryBytesMax)};
    QueryNode node = Expression();
    SkipSpace();
    if (!error_ && at_ < text_.size())
      Fail(at_,
           text_[at_] == ')' ? "there is no ( for this )" : "expected `and`, `or`, `-` or the end");
    if (error_) return *std::move(error_);
    return node;
  }

 private:
  struct Argument {
    std::string text;
    size_t at = 0;
    bool is_quoted = false;
  };

  void Fail(size_t at, std::string text) {
    if (!error_) error_ = QueryError{at + 1, std::move(text)};
  }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  bool TakeChar(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view WordAt(size_t at) const {
    size_t end = at;
    while (end < text_.size() && IsWordChar(text_[end])) ++end;
    return text_.substr(at, end - at);
  }
  // Takes the operator if it is the next thing: a sign, or a word of its own.
  bool TakeOperator(std::string_view name) {
    SkipSpace();
    const bool is_word = IsWordChar(name[0]);
    if (is_word ? WordAt(at_) != name : !text_.substr(at_).starts_with(name)) return false;
    at_ += name.size();
    return true;
  }

  QueryNode Expression() {
    QueryNode left = Term();
    while (!error_) {
      Kind kind = Kind::kOr;
      if (TakeOperator("-")) {
        kind = Kind::kMinus;
      } else if (!TakeOperator("or") && !TakeOperator("+") && !TakeOperator("|")) {
        break;
      }
      Join(kind, left, Term());
    }
    return left;
  }
  QueryNode Term() {
    QueryNode left = Factor();
    while (!error_ && (TakeOperator("and") || TakeOperator("&"))) Join(Kind::kAnd, left, Factor());
    return left;
  }
  // A list of a thousand names is no deep tree.
  void Join(Kind kind, QueryNode& left, QueryNode right) {
    if (left.kind != kind) {
      QueryNode joined{.kind = kind, .column = left.column};
      joined.operands.push_back(std::move(left));
      joined.height = joined.operands[0].height + 1;
      left = std::move(joined);
    }
    AddOperand(left, std::move(right));
  }
  void AddOperand(QueryNode& node, QueryNode operand) {
    node.height = std::max(node.height, operand.height + 1);
    if (node.height > kQueryDepthMax) FailDeep(operand.column - 1);
    node.operands.push_back(std::move(operand));
  }
  void FailDeep(size_t at) {
    Fail(at, fmt::format("the query is nested more than {} deep", kQueryDepthMax));
  }

  QueryNode Factor() {
    SkipSpace();
    const size_t at = at_;
    QueryNode node{.column = at + 1};
    // The calls of this parser are nested as the text is.
    if (++depth_ > kQueryDepthMax) FailDeep(at);
    if (error_) return node;
    if (at == text_.size()) {
      Fail(at, "expected a package, a function or ( here");
    } else if (TakeChar('(')) {
      node = Expression();
      if (!error_ && !TakeChar(')')) Fail(at, "this ( is never closed");
    } else if (text_[at] == '"') {
      node.kind = Kind::kName;
      node.text = Quoted();
    } else if (text_[at] == '/') {
      node.kind = Kind::kName;
      node.text = BareName();
    } else if (WordAt(at) == "not") {
      at_ += 3;
      node.kind = Kind::kNot;
      AddOperand(node, Factor());
    } else {
      node = Call();
    }
    --depth_;
    return node;
  }

  // In double quotes; `\"` and `\\` stand for themselves.
  std::string Quoted() {
    const size_t begin = at_++;
    std::string text;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      text += text_[at_];
    }
    if (at_ == text_.size()) Fail(begin, "this \" is never closed");
    ++at_;
    return text;
  }

  // A name may have spaces in it: it ends before an operator only where an operand follows it.
  std::string BareName() {
    const size_t begin = at_;
    size_t end = begin;
    for (; end < text_.size() && text_[end] != ',' && text_[end] != ')'; ++end) {
      const bool begins_spaces = IsSpace(text_[end]) && !IsSpace(text_[end - 1]);
      if (begins_spaces && IsOperatorBehind(end)) break;
    }
    at_ = end;
    while (IsSpace(text_[end - 1])) --end;
    return std::string(text_.substr(begin, end - begin));
  }
  bool IsOperatorBehind(size_t at) const {
    const auto skip = [&] {
      while (at < text_.size() && IsSpace(text_[at])) ++at;
    };
    skip();
    const std::string_view word = WordAt(at);
    const bool is_sign =
        at < text_.size() && std::string_view("-+|&").find(text_[at]) != std::string_view::npos;
    if (word != "and" && word != "or" && !is_sign) return false;
    at += is_sign ? 1 : word.size();
    if (at < text_.size() && !IsSpace(text_[at])) return false;
    skip();
    const std::string_view next = WordAt(at);
    size_t behind = at + next.size();
    while (behind < text_.size() && IsSpace(text_[behind])) ++behind;
    const bool is_call = !next.empty() && behind < text_.size() && text_[behind] == '(';
    return at == text_.size() || text_[at] == '/' || text_[at] == '"' || text_[at] == '(' ||
           is_call || next == "not";
  }

  QueryNode Call() {
    const size_t at = at_;
    const std::string_view word = WordAt(at);
    QueryNode node{.column = at + 1};
    const Function* const function = FunctionNamed(word);
    if (function == nullptr) {
      std::vector<std::string_view> names;
      for (const Function& one : kFunctions) names.push_back(one.name);
      Fail(at, word.empty()
                   ? std::string("expected a package, which begins with /, a function or (")
                   : fmt::format("`{}` is none of the functions {}", word, fmt::join(names, ", ")));
      return node;
    }
    at_ += word.size();
    node.kind = function->kind;
    if (!TakeChar('(')) {
      Fail(at_, fmt::format("expected ( behind `{}`: {}", word, function->usage));
      return node;
    }
    if (SetsOf(node.kind) > 0) {
      Sets(node);
    } else {
      Arguments(node, at);
    }
    return node;
  }

  // The sets, then kind(...) and platform(...).
  void Sets(QueryNode& node) {
    const size_t at = node.column - 1;
    do {
      SkipSpace();
      const size_t begin = at_;
      QueryNode one = Expression();
      if (error_) return;
      const bool restricts = node.operands.size() == SetsOf(node.kind);
      if (!restricts) {
        AddOperand(node, std::move(one));
      } else if (one.kind == Kind::kKind && node.along.kinds.empty()) {
        node.along.kinds = std::move(one.words);
      } else if (one.kind == Kind::kPlatform && node.along.platforms.empty()) {
        node.along.platforms = std::move(one.words);
      } else {
        return Fail(begin, fmt::format("expected one kind(...) and one platform(...): {}",
                                       UsageOf(node.kind)));
      }
    } while (TakeChar(','));
    if (!TakeChar(')')) return Fail(at_, "expected , or )");
    if (node.operands.size() < SetsOf(node.kind))
      Fail(at, fmt::format("too few sets: {}", UsageOf(node.kind)));
  }

  // Words up to "," or ")".
  std::optional<std::vector<Argument>> Words() {
    std::vector<Argument> words;
    if (TakeChar(')')) return words;
    do {
      SkipSpace();
      Argument word{.at = at_};
      if (at_ < text_.size() && text_[at_] == '"') {
        word.text = Quoted();
        word.is_quoted = true;
        SkipSpace();
      } else {
        size_t end = at_;
        int braces = 0;  // of a glob, in which a comma divides alternatives
        for (; end < text_.size() && (text_[end] != ',' || braces > 0) && text_[end] != ')';
             ++end) {
          braces += text_[end] == '{' ? 1 : 0;
          braces -= text_[end] == '}' ? 1 : 0;
        }
        word.text = std::string(text_.substr(at_, end - at_));
        at_ = end;
        while (!word.text.empty() && IsSpace(word.text.back())) word.text.pop_back();
        if (word.text.empty()) Fail(word.at, "expected a word here");
      }
      words.push_back(std::move(word));
    } while (!error_ && TakeChar(','));
    if (!error_ && !TakeChar(')')) Fail(at_, "expected , or )");
    if (error_) return std::nullopt;
    return words;
  }

  void Arguments(QueryNode& node, size_t at) {
    const std::optional<std::vector<Argument>> words = Words();
    if (!words) return;
    const std::string usage(UsageOf(node.kind));
    const size_t count = words->size();
    const auto takes = [&](size_t min, size_t max) {
      const bool is_right = min <= count && count <= max;
      if (!is_right) Fail(at, "expected " + usage);
      return is_right;
    };
    const auto add_words = [&](size_t from) {
      for (size_t i = from; i < count; ++i) node.words.push_back((*words)[i].text);
    };
    if (node.kind == Kind::kAll || node.kind == Kind::kRoots) {
      takes(0, 0);
    } else if (node.kind == Kind::kPath) {
      if (takes(1, 1)) node.text = (*words)[0].text;
    } else if (node.kind == Kind::kTag) {
      if (takes(1, 2)) Tag(node, *words);
    } else if (node.kind == Kind::kSize) {
      if (!takes(1, SIZE_MAX)) return;
      const std::optional<QueryRange> range = RangeIn((*words)[0].text, /*with_unit=*/true);
      if (!range) return Fail((*words)[0].at, "expected a size such as 64KiB or 1MiB..: " + usage);
      node.value = *range;
      add_words(1);
    } else {
      const bool may_be_none = node.kind == Kind::kInCook || node.kind == Kind::kFailed;
      if (!takes(may_be_none ? 0 : 1, SIZE_MAX)) return;
      add_words(0);
      if (node.kind == Kind::kKind) CheckKinds(*words);
    }
  }

  void CheckKinds(const std::vector<Argument>& words) {
    for (const Argument& word : words) {
      if (std::ranges::none_of(kKindNames, [&](const auto& one) { return one.first == word.text; }))
        Fail(word.at,
             fmt::format("`{}` is no kind: hard, soft, editor, generated or build", word.text));
    }
  }

  void Tag(QueryNode& node, const std::vector<Argument>& words) {
    node.text = words[0].text;
    if (words.size() == 1) return;
    const Argument& value = words[1];
    const std::optional<QueryRange> range =
        value.is_quoted ? std::nullopt : RangeIn(value.text, /*with_unit=*/false);
    const bool is_bad_range =
        !range && !value.is_quoted && value.text.find("..") != std::string::npos;
    if (is_bad_range) {
      Fail(value.at,
           "expected a range of numbers such as 512..1024; a text with .. in it is written in "
           "quotes");
    } else if (range) {
      node.value = *range;
    } else if (!value.is_quoted && (value.text == "true" || value.text == "false")) {
      node.value = value.text == "true";
    } else {
      node.value = value.text;
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
  size_t depth_ = 0;
  std::optional<QueryError> error_;
};

}  // namespace

std::string_view EdgeKindName(EdgeKind kind) {
  return std::ranges::find(kKindNames, kind, &std::pair<std::string_view, EdgeKind>::second)->first;
}

std::variant<QueryNode, QueryError> ParseQuery(std::string_view text) {
  return Parser(text).Parse();
}

std::string ShowQueryError(std::string_view text, const QueryError& error) {
  std::string line(text.substr(0, kQueryBytesMax));
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  // Bytes behind the first one of a character take no column on a screen.
  size_t columns = 0;
  for (size_t i = 0; i + 1 < error.column && i < line.size(); ++i)
    columns += (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80 ? 1 : 0;
  return fmt::format("column {}: {}\n  {}\n  {}^", error.column, error.text, line,
                     std::string(columns, ' '));
}

}  // namespace galley::director
