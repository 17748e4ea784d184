#include "worker/cookers/shader/text_guard.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "worker/cookers/shader/glsl_scanner.h"
#include "worker/cookers/verdict_error.h"

namespace galley::worker {
namespace {

constexpr uint64_t kSaturated = uint64_t{1} << 40;

uint64_t Add(uint64_t a, uint64_t b) { return std::min(a + b, kSaturated); }

// Whether `token` is an operator with two operands: a chain of such operators becomes nested nodes.
bool IsOperator(std::string_view token) {
  constexpr std::string_view kAlone = "+-*/%<>&|^";
  if (token.size() == 1) return kAlone.find(token[0]) != std::string_view::npos;
  constexpr std::string_view kDoubled = "<>&|^=";  // "==" is an operator here, "=" is not
  constexpr std::string_view kBeforeEqual = "<>!";
  if (token.size() != 2) return false;
  return (token[1] == token[0] && kDoubled.find(token[0]) != std::string_view::npos) ||
         (token[1] == '=' && kBeforeEqual.find(token[0]) != std::string_view::npos);
}

// Whether a "(" behind this word begins arguments.
bool IsName(std::string_view token) {
  static const std::set<std::string_view> kStatements = {"return", "if",   "while", "for",
                                                         "switch", "else", "do",    "case"};
  return IsWordStart(token[0]) && !kStatements.contains(token);
}

bool IsSign(std::string_view token, char sign) { return token.size() == 1 && token[0] == sign; }

bool IsPostfix(std::string_view token) {
  return IsSign(token, '.') || IsSign(token, '[') || IsSign(token, ']') || IsSign(token, ')');
}

// Whether a "{" behind this word opens a structure or a block.
bool OpensStructure(std::string_view word) {
  switch (word[0]) {
    case 's':
      return word == "struct";
    case 'b':
      return word == "buffer";
    case 'u':
      return word == "uniform";
    case 'i':
      return word == "in";
    case 'o':
      return word == "out";
    default:
      return false;
  }
}

}  // namespace

// Reads a text.
class TextGuard::Reader {
 public:
  Reader(TextGuard& guard, std::string_view file, std::string_view text)
      : guard_(guard), file_(file), scanner_(text) {}

  absl::Status Run();

 private:
  struct Bracket {
    char open;
    bool is_call;            // the bracket is behind a name: its commas separate arguments
    uint64_t around = 0;     // operators around the bracket
    uint64_t operators = 0;  // operators in it and around it
  };
  // The brackets that were open where an `#if` began, and at the ends of its parts.
  struct Condition {
    std::vector<Bracket> before;
    std::vector<Bracket> deepest;
    bool has_else = false;
  };
  // A structure or block that is being read.
  struct Open {
    std::string_view name;
    Structure structure;
    size_t brackets;  // the number of open brackets in its body
    Structure type;   // the present member's type
    bool has_type = false;
  };
  static std::string_view NameOf(const Open& open) {
    return open.name.empty() ? "without a name" : open.name;
  }
  absl::Status TooMuch(std::string_view text) const {
    return VerdictError("{}:{}: {}", file_, scanner_.line(), text);
  }
  absl::Status ReadDirective();
  void ReadDefine();
  absl::Status ReadCondition(std::string_view name);
  void EndPart();
  void SkipPart();
  std::vector<std::string_view> RestOfLine();
  std::string_view ReadText();
  absl::Status ReadToken(std::string_view token);
  absl::Status OpenBracket(char open);
  void CloseBracket();
  absl::Status CountOperators(uint64_t count);
  absl::Status ReadMember(std::string_view token);
  absl::Status CloseStructure();

  TextGuard& guard_;
  const std::string_view file_;
  GlslScanner scanner_;
  std::vector<Bracket> brackets_ = {{.open = ' ', .is_call = false}};
  std::vector<Open> open_;
  std::string_view before_;  // the token before
  std::string_view named_;   // `struct X`, or a block's name: the name of what a `{` would open
  bool opens_structure_ = false;
  std::vector<Condition> conditions_;
  bool is_line_start_ = true;
  absl::Status status_;      // the status of directives, which are read between the tokens
  uint64_t members_ = 0;     // .a.b.c in a row
  uint64_t dimensions_ = 0;  // [..][..] in a row
};

std::vector<std::string_view> TextGuard::Reader::RestOfLine() {
  std::vector<std::string_view> tokens;
  for (std::string_view token = scanner_.Next(); !token.empty() && token != "\n";
       token = scanner_.Next())
    tokens.push_back(token);
  return tokens;
}

void TextGuard::Reader::ReadDefine() {
  const std::string_view name = scanner_.Next();
  if (name.empty() || name == "\n") return;
  std::vector<std::string_view> tokens = {name};
  bool has_parameters = false;
  for (std::string_view token = scanner_.Next(); !token.empty() && token != "\n";
       token = scanner_.Next()) {
    // `#define A (x)` has no parameters.
    if (tokens.size() == 1) has_parameters = token == "(" && !scanner_.is_behind_blank();
    tokens.push_back(token);
  }
  guard_.macros_.Define(tokens, has_parameters);
}

// Closes the brackets that a part of an `#if` opened. The part with most open brackets counts.
void TextGuard::Reader::EndPart() {
  if (conditions_.empty()) return;
  Condition& condition = conditions_.back();
  if (brackets_.size() > condition.deepest.size()) condition.deepest = brackets_;
  brackets_ = condition.before;
}

// Skips the text of an `#if 0`, up to its `#else`, `#elif` or `#endif`.
void TextGuard::Reader::SkipPart() {
  size_t inner = 0;
  bool is_line_start = true;
  for (std::string_view token = scanner_.Next(); !token.empty(); token = scanner_.Next()) {
    if (token == "#" && is_line_start) {
      const std::string_view name = scanner_.Next();
      if (inner == 0 && (name == "else" || name == "elif" || name == "endif")) {
        status_ = ReadCondition(name);
        return;
      }
      if (name == "if" || name == "ifdef" || name == "ifndef") ++inner;
      if (name == "endif") --inner;
      is_line_start = name == "\n";
      continue;
    }
    is_line_start = token == "\n";
  }
}

absl::Status TextGuard::Reader::ReadCondition(std::string_view name) {
  if (name == "endif") {
    RestOfLine();
    if (conditions_.empty()) return absl::OkStatus();
    EndPart();
    Condition ended = std::move(conditions_.back());
    conditions_.pop_back();
    if (ended.deepest.size() > brackets_.size() || ended.has_else)
      brackets_ = std::move(ended.deepest);
    return absl::OkStatus();
  }
  if (name == "else" || name == "elif") {
    EndPart();
    if (name == "else" && !conditions_.empty()) conditions_.back().has_else = true;
  } else {
    conditions_.push_back({.before = brackets_, .deepest = {}});
  }
  const std::vector<std::string_view> line = RestOfLine();
  if (name == "if" && line.size() == 1 && line.front() == "0") {
    SkipPart();
    return status_;
  }
  if (name != "if" && name != "elif") return absl::OkStatus();
  const auto expanded = guard_.macros_.ExpandLine(line);
  if (!expanded.ok()) return TooMuch(MessageOf(expanded.status()));
  if (expanded->size() <= kConditionTokensMax) return absl::OkStatus();
  return TooMuch(
      fmt::format("the condition has more than {} words and signs; divide it into several",
                  kConditionTokensMax));
}

absl::Status TextGuard::Reader::ReadDirective() {
  const std::string_view name = scanner_.Next();
  static const std::set<std::string_view> kConditions = {"if",   "ifdef", "ifndef",
                                                         "elif", "else",  "endif"};
  if (kConditions.contains(name)) return ReadCondition(name);
  if (name == "define") {
    ReadDefine();
    return absl::OkStatus();
  }
  if (name == "undef") guard_.macros_.Undefine(scanner_.Next());
  if (name != "\n") RestOfLine();
  return absl::OkStatus();
}

absl::Status TextGuard::Reader::OpenBracket(char open) {
  if (brackets_.size() > kBracketDepthMax)
    return TooMuch(
        fmt::format("brackets nest deeper than {}; use variables or functions for what is inside",
                    kBracketDepthMax));
  const bool is_call = open == '(' && !before_.empty() && (IsName(before_) || before_ == "]");
  // Operators around a bracket are nodes above the operators in the bracket.
  const uint64_t around = open == '{' ? 0 : brackets_.back().operators;
  brackets_.push_back({.open = open, .is_call = is_call, .around = around, .operators = around});
  if (open == '{' && opens_structure_) {
    open_.push_back({.name = named_, .structure = {}, .brackets = brackets_.size(), .type = {}});
  }
  opens_structure_ = false;
  return absl::OkStatus();
}

void TextGuard::Reader::CloseBracket() {
  if (brackets_.size() > 1) brackets_.pop_back();
}

absl::Status TextGuard::Reader::CountOperators(uint64_t count) {
  Bracket& bracket = brackets_.back();
  bracket.operators = Add(bracket.operators, count);
  if (bracket.operators <= kOperatorChainMax) return absl::OkStatus();
  return TooMuch(
      fmt::format("one expression has more than {} operators in a row; use variables for its parts",
                  kOperatorChainMax));
}

// Reads a member, `qualifiers type name, name[..];`: its type is the last word before the first
// name that is a known structure.
absl::Status TextGuard::Reader::ReadMember(std::string_view token) {
  Open& open = open_.back();
  if (brackets_.size() != open.brackets) return absl::OkStatus();
  if (token == "," || token == ";") {
    const uint64_t members = open.has_type ? open.type.members : 1;
    if (before_ != "{" && before_ != ";") {
      open.structure.members = Add(open.structure.members, std::max<uint64_t>(members, 1));
      if (open.has_type) open.structure.depth = std::max(open.structure.depth, open.type.depth + 1);
    }
    if (token == ";") open.has_type = false;
  } else if (const auto found = guard_.structures_.find(token);
             found != guard_.structures_.end() && !open.has_type) {
    open.type = found->second;
    open.has_type = true;
  }
  if (open.structure.members > kUnfoldedMembersMax) {
    return TooMuch(
        fmt::format("structure {} has more than {} members, those of the structures in it counted "
                    "each time; make arrays of them, or fewer levels",
                    NameOf(open), kUnfoldedMembersMax));
  }
  if (open.structure.depth > kStructureDepthMax) {
    return TooMuch(fmt::format("structure {} nests deeper than {}; make it flatter", NameOf(open),
                               kStructureDepthMax));
  }
  return absl::OkStatus();
}

absl::Status TextGuard::Reader::CloseStructure() {
  if (open_.empty() || brackets_.size() != open_.back().brackets) return absl::OkStatus();
  Open closed = std::move(open_.back());
  open_.pop_back();
  if (!closed.name.empty()) guard_.structures_[std::string(closed.name)] = closed.structure;
  // `struct A { struct B { .. } b; }`: the following names have B's members.
  if (!open_.empty()) {
    open_.back().type = closed.structure;
    open_.back().has_type = true;
  }
  return absl::OkStatus();
}

absl::Status TextGuard::Reader::ReadToken(std::string_view token) {
  if (IsSign(before_, ']') && token[0] != '[') dimensions_ = 0;
  if (!IsWordStart(token[0]) && !IsPostfix(token)) members_ = 0;
  if (!open_.empty() && token != "}") {
    if (absl::Status read = ReadMember(token); !read.ok()) return read;
  }
  switch (token[0]) {
    case '[':
      if (IsSign(before_, ']') && ++dimensions_ > kArrayDimensionsMax)
        return TooMuch(
            fmt::format("an array has more than {} dimensions; use fewer", kArrayDimensionsMax));
      return OpenBracket('[');
    case '(':
    case '{':
      return OpenBracket(token[0]);
    case '}':
      if (absl::Status closed = CloseStructure(); !closed.ok()) return closed;
      CloseBracket();
      brackets_.back().operators = 0;
      return absl::OkStatus();
    case ')':
      opens_structure_ = false;  // `f(in T x) {` is a function
      CloseBracket();
      return absl::OkStatus();
    case ']':
      CloseBracket();
      return absl::OkStatus();
    case ';':
      brackets_.back().operators = 0;
      opens_structure_ = false;
      return absl::OkStatus();
    case ',':
      // Arguments and declared names are lists; in plain parentheses a comma nests.
      if (brackets_.back().open == '(' && !brackets_.back().is_call) return CountOperators(1);
      brackets_.back().operators = brackets_.back().around;
      return absl::OkStatus();
    default:
      break;
  }
  if (IsSign(token, '.')) {
    if (++members_ <= kOperatorChainMax) return absl::OkStatus();
    return TooMuch(fmt::format("more than {} members of members in a row", kOperatorChainMax));
  }
  if (!IsWordStart(token[0])) {
    return IsOperator(token) ? CountOperators(1) : absl::OkStatus();
  }
  if (OpensStructure(token)) {
    opens_structure_ = true;
    named_ = {};
  } else if (opens_structure_) {
    named_ = token;
  }
  return absl::OkStatus();
}

// The next token that belongs to no directive.
std::string_view TextGuard::Reader::ReadText() {
  for (std::string_view token = scanner_.Next(); !token.empty() && status_.ok();
       token = scanner_.Next()) {
    if (IsSign(token, '\n')) {
      is_line_start_ = true;
      return token;
    }
    if (!is_line_start_ || !IsSign(token, '#')) {
      is_line_start_ = false;
      return token;
    }
    status_ = ReadDirective();
  }
  return {};
}

absl::Status TextGuard::Reader::Run() {
  guard_.macros_.BeginText([this] { return ReadText(); });
  for (;;) {
    const auto token = guard_.macros_.Next();
    RETURN_IF_ERROR(status_);
    if (!token.ok()) return TooMuch(MessageOf(token.status()));
    if (token->empty()) return absl::OkStatus();
    if (IsSign(*token, '\n')) continue;
    RETURN_IF_ERROR(ReadToken(*token));
    before_ = *token;
  }
}

absl::Status TextGuard::Read(std::string_view file, std::string_view text) {
  texts_.try_emplace(std::string(file), Text{.text = text, .includer = {}});
  return Reader(*this, file, text).Run();
}

absl::Status TextGuard::ReadInclude(std::string_view file, std::string_view text,
                                    std::string_view includer) {
  texts_[std::string(file)] = {.text = text, .includer = std::string(includer)};
  macros_.TakeRisky();
  RETURN_IF_ERROR(Read(file, text));
  if (!macros_.TakeRisky()) return absl::OkStatus();
  constexpr int kIncludersMax = 64;
  auto each = texts_.find(includer);
  for (int i = 0; each != texts_.end() && i < kIncludersMax; ++i) {
    const uint64_t spent = macros_.spent();
    macros_.SetSpent(0);
    RETURN_IF_ERROR(Read(each->first, each->second.text));
    macros_.SetSpent(spent);
    each = texts_.find(each->second.includer);
  }
  return absl::OkStatus();
}

}  // namespace galley::worker
