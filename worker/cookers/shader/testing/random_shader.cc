#include "worker/cookers/shader/testing/random_shader.h"

#include <utility>
#include <vector>

#include "fmt/format.h"

namespace galley::worker {
namespace {

constexpr int kLoopDepthMax = 3;
constexpr int kBlockDepthMax = 5;
constexpr int kFunctionStatements = 3;
constexpr int kStatementsMin = 4;  // in main
constexpr int kStatementsMax = 16;

// Writes a shader, top down. A scope's variables are forgotten when the scope ends.
class ShaderWriter {
 public:
  explicit ShaderWriter(uint64_t seed) : state_(seed), is_sparse_(OneIn(2)) {}

  std::string Write();

 private:
  // splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
  uint64_t Next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  int Below(int end) { return static_cast<int>(Next() % static_cast<uint64_t>(end)); }
  bool OneIn(int n) { return Below(n) == 0; }
  template <typename... Text>
  void Line(fmt::format_string<Text...> format, Text&&... text) {
    text_.append(static_cast<size_t>(2 * indent_), ' ');
    text_ += fmt::format(format, std::forward<Text>(text)...) + "\n";
  }
  std::string AnyOf(const std::vector<std::string>& names) {
    return names[static_cast<size_t>(Below(static_cast<int>(names.size())))];
  }

  std::string Int(int depth);
  std::string Uint(int depth);
  std::string Bool(int depth);
  std::string IntPlace();

  void WriteBlock();
  void WriteStatement();
  void WriteAssignment();
  void WriteIf();
  void WriteAccumulated();
  void WriteFor();
  void WriteWhile();
  void WriteSwitch();
  void WriteJump();
  void WriteFunction(int number);
  void WriteMain();

  uint64_t state_;
  // Expressions are single values: a variable that is seldom read meets other faults of optimisers.
  const bool is_sparse_;
  std::string text_;
  int indent_ = 0;
  int loops_ = 0;     // around the present place
  int switches_ = 0;  // around the present place, within the innermost loop
  int loops_max_ = kLoopDepthMax;
  int counters_ = 0;
  int functions_ = 0;                  // functions that may be called
  int statements_ = 0;                 // statements that may still be written
  std::string returns_;                // the value behind `return`
  std::vector<std::string> ints_;      // ints that may be read
  std::vector<std::string> writable_;  // ints that may be written
  std::vector<std::string> uints_;
};

std::string ShaderWriter::Int(int depth) {
  if (depth <= 0 || is_sparse_ || OneIn(4)) {
    switch (Below(5)) {
      case 0:
        return fmt::format("{}", Below(12) - 3);
      case 1:
      case 2:
        return fmt::format("source[{}]", Below(kRandomShaderInputs));
      default:
        return AnyOf(ints_);
    }
  }
  const std::string a = Int(depth - 1);
  const std::string b = Int(depth - 1);
  switch (Below(15)) {
    case 0:
    case 1:
      return fmt::format("({} + {})", a, b);
    case 2:
      return fmt::format("({} - {})", a, b);
    case 3:
      return fmt::format("({} * {})", a, b);
    case 4:
      return fmt::format("({} & {})", a, b);
    case 5:
      return fmt::format("({} ^ {})", a, b);
    case 6:
      return fmt::format("({} << ({} & 7))", a, b);
    case 7:
      return fmt::format("({} >> ({} & 7))", a, b);
    case 8:
      return fmt::format("({} / (({} & 7) + 1))", a, b);
    case 9:
      return fmt::format("({} ? {} : {})", Bool(depth - 1), a, b);
    case 10:
      return fmt::format("cells[{} & 3]", a);
    case 11:
      return fmt::format("lanes[{} & 3]", a);
    case 12:
      return fmt::format("{}({}, {})", OneIn(2) ? "min" : "max", a, b);
    case 13:
      return fmt::format("int({})", Uint(depth - 1));
    default:
      return fmt::format("source[({}) & 15]", a);
  }
}

std::string ShaderWriter::Uint(int depth) {
  if (depth <= 0 || is_sparse_ || OneIn(3))
    return OneIn(3) ? fmt::format("{}u", Below(9)) : AnyOf(uints_);
  const std::string a = Uint(depth - 1);
  const std::string b = Uint(depth - 1);
  switch (Below(6)) {
    case 0:
      return fmt::format("({} + {})", a, b);
    case 1:
      return fmt::format("({} * {})", a, b);
    case 2:
      return fmt::format("({} % (({} & 7u) + 1u))", a, b);
    case 3:
      return fmt::format("({} >> ({} & 15u))", a, b);
    case 4:
      return fmt::format("uint({})", Int(depth - 1));
    default:
      return fmt::format("({} | {})", a, b);
  }
}

std::string ShaderWriter::Bool(int depth) {
  static const std::vector<std::string> kComparisons = {"<", ">", "<=", ">=", "==", "!="};
  if (depth <= 0 || !OneIn(4)) {
    if (OneIn(4))
      return fmt::format("({} {} {})", Uint(depth - 1), AnyOf(kComparisons), Uint(depth - 1));
    return fmt::format("({} {} {})", Int(depth - 1), AnyOf(kComparisons), Int(depth - 1));
  }
  if (OneIn(4)) return fmt::format("!{}", Bool(depth - 1));
  return fmt::format("({} {} {})", Bool(depth - 1), OneIn(2) ? "&&" : "||", Bool(depth - 1));
}

std::string ShaderWriter::IntPlace() {
  switch (Below(8)) {
    case 0:
      return fmt::format("cells[{} & 3]", Int(1));
    case 1:
      return fmt::format("lanes[{} & 3]", Int(1));
    case 2:
      return OneIn(2) ? "lanes.z" : "cells[1]";
    default:
      return AnyOf(writable_);
  }
}

void ShaderWriter::WriteAssignment() {
  static const std::vector<std::string> kOperators = {"=", "=", "+=", "-=", "^=", "*="};
  switch (is_sparse_ ? 4 + Below(7) : Below(16)) {
    case 0:
      return Line("{} {} {};", AnyOf(uints_), AnyOf(kOperators), Uint(1));
    case 1:
      if (functions_ == 0) break;
      return Line("{} = f{}({}, {});", IntPlace(), Below(functions_), Int(1), AnyOf(writable_));
    case 2:
      return Line("pair = Pair({}, {});", Int(2), Uint(1));
    case 3:
      return Line("lanes {} ivec4({}, {}, {}, {});", AnyOf(kOperators), Int(1), Int(1), Int(1),
                  Int(1));
    case 4:
    case 5:
    case 6:
      return Line("{} = {};", AnyOf(writable_), Below(3));
    case 7:
    case 8:
    case 9:
      return Line("{} {} {};", AnyOf(writable_), AnyOf(kOperators), AnyOf(ints_));
    default:
      break;
  }
  Line("{} {} {};", IntPlace(), AnyOf(kOperators), Int(Below(3)));
}

void ShaderWriter::WriteIf() {
  Line("if ({}) {{", Bool(1));
  WriteBlock();
  const bool leaves = loops_ + switches_ > 0 && OneIn(2);
  ++indent_;
  if (leaves && OneIn(2)) WriteJump();
  if (leaves) Line("{};", loops_ > 0 && OneIn(3) ? "continue" : "break");
  --indent_;
  if (leaves || OneIn(2)) {
    Line("}} else {{");
    leaves&& loops_ < loops_max_&& OneIn(2) ? WriteAccumulated() : WriteBlock();
  }
  Line("}}");
}

// Writes a variable that is set before a loop and changed after it, as an accumulator is.
void ShaderWriter::WriteAccumulated() {
  const std::string sum = AnyOf(writable_);
  Line("{} = {};", sum, OneIn(2) ? fmt::format("{}", Below(3)) : AnyOf(ints_));
  OneIn(3) ? WriteWhile() : WriteFor();
  Line("{} {} {};", sum, OneIn(2) ? "+=" : "|=", AnyOf(ints_));
}

void ShaderWriter::WriteFor() {
  const std::string counter = fmt::format("i{}", counters_++);
  Line("for (int {0} = {1}; {0} < {2}; ++{0}) {{", counter, Below(2), 2 + Below(3));
  const auto ints = ints_.size();
  ints_.push_back(counter);
  const int switches = std::exchange(switches_, 0);
  ++loops_;
  OneIn(3) ? WriteIf() : WriteBlock();
  --loops_;
  switches_ = switches;
  ints_.resize(ints);
  Line("}}");
}

// The counter rises before anything else, so that a `continue` does not make the loop endless.
void ShaderWriter::WriteWhile() {
  const std::string counter = fmt::format("i{}", counters_++);
  const bool is_do = OneIn(2);
  const std::string condition =
      fmt::format("{} < {} && {}", counter, 2 + Below(3), OneIn(2) ? "true" : Bool(1));
  Line("int {} = 0;", counter);
  ints_.push_back(counter);
  Line("{} {{", is_do ? "do" : fmt::format("while ({})", condition));
  const int switches = std::exchange(switches_, 0);
  ++loops_;
  ++indent_;
  Line("++{};", counter);
  --indent_;
  WriteBlock();
  --loops_;
  switches_ = switches;
  Line("{}", is_do ? fmt::format("}} while ({});", condition) : "}");
}

void ShaderWriter::WriteSwitch() {
  Line("switch ({} & 3) {{", Int(2));
  ++switches_;
  const int cases = 1 + Below(4);
  for (int i = 0; i < cases; ++i) {
    const bool is_last = i + 1 == cases;
    Line("{}:", is_last && OneIn(2) ? "default" : fmt::format("case {}", i));
    WriteBlock();
    ++indent_;
    if (is_last || !OneIn(3)) Line("break;");
    --indent_;
  }
  --switches_;
  Line("}}");
}

void ShaderWriter::WriteJump() {
  const bool is_return = loops_ == 0 ? switches_ == 0 || OneIn(2) : OneIn(5);
  if (is_return) {
    Line("if ({}) return{};", Bool(1), returns_.empty() ? "" : " " + returns_);
  } else if (loops_ > 0 && OneIn(2)) {
    Line("if ({}) continue;", Bool(1));
  } else {
    Line("if ({}) break;", Bool(1));
  }
}

void ShaderWriter::WriteStatement() {
  const bool is_deep = indent_ >= kBlockDepthMax;
  switch (Below(14)) {
    case 0:
    case 1:
      if (!is_deep) return WriteIf();
      break;
    case 2:
    case 3:
    case 4:
    case 8:
      if (!is_deep && loops_ < loops_max_) return OneIn(2) ? WriteAccumulated() : WriteFor();
      break;
    case 5:
      if (!is_deep) return WriteSwitch();
      break;
    case 6:
    case 7:
      return WriteJump();
    default:
      break;
  }
  WriteAssignment();
}

void ShaderWriter::WriteBlock() {
  const auto ints = ints_.size();
  const auto writable = writable_.size();
  ++indent_;
  if (OneIn(3)) {
    const std::string name = fmt::format("i{}", counters_++);
    Line("int {} = {};", name, Int(1));
    ints_.push_back(name);
    writable_.push_back(name);
  }
  const int statements = 1 + Below(3);
  for (int i = 0; i < statements && statements_-- > 0; ++i) WriteStatement();
  --indent_;
  ints_.resize(ints);
  writable_.resize(writable);
}

void ShaderWriter::WriteFunction(int number) {
  Line("int f{}(int p, inout int q) {{", number);
  ints_ = {"p", "q", "g", "pair.i"};
  writable_ = {"p", "q", "g", "pair.i"};
  uints_ = {"h", "pair.u"};
  returns_ = "p ^ q";
  loops_max_ = 1;
  statements_ = kFunctionStatements;
  WriteBlock();
  Line("  return p + q;\n}}");
}

void ShaderWriter::WriteMain() {
  Line("void main() {{");
  ++indent_;
  Line("int invocation = int(gl_LocalInvocationIndex);");
  for (int i = 0; i < 4; ++i) Line("int a{} = source[(invocation + {}) & 15];", i, 3 * i);
  Line("uint u = uint(invocation);");
  Line("g = a1; h = 5u; pair = Pair(2, 3u);");
  Line("lanes = ivec4(invocation, 1, 2, 3);");
  Line("for (int i = 0; i < 4; ++i) cells[i] = i;");
  --indent_;
  ints_ = {"a0", "a1", "a2", "a3", "g", "pair.i", "invocation"};
  writable_ = {"a0", "a1", "a2", "a3", "g", "pair.i"};
  uints_ = {"u", "h", "pair.u"};
  returns_.clear();
  loops_max_ = kLoopDepthMax;
  statements_ = kStatementsMin + Below(kStatementsMax - kStatementsMin);
  while (statements_ > 0) WriteBlock();
  ++indent_;
  const std::vector<std::string> results = {
      "a0",      "a1",       "a2",          "a3",
      "g",       "pair.i",   "int(pair.u)", "int(u)",
      "int(h)",  "lanes.x",  "lanes.y",     "lanes.z",
      "lanes.w", "cells[0]", "cells[1]",    "cells[2] ^ cells[3]"};
  for (size_t i = 0; i < results.size(); ++i)
    Line("result[invocation * {} + {}] = {};", kRandomShaderResults, i, results[i]);
  --indent_;
  Line("}}");
}

std::string ShaderWriter::Write() {
  Line("#version 450");
  Line("layout(local_size_x = {}) in;", kRandomShaderInvocations);
  Line("layout(std430, binding = 0) readonly buffer Source {{ int source[]; }};");
  Line("layout(std430, binding = 1) buffer Result {{ int result[]; }};");
  Line("struct Pair {{ int i; uint u; }};");
  Line("int g; uint h; Pair pair; ivec4 lanes; int cells[4];");
  const int functions = Below(3);
  for (int i = 0; i < functions; ++i) WriteFunction(i);
  functions_ = functions;  // only main calls functions: the loops of nested calls would multiply
  WriteMain();
  return text_;
}

}  // namespace

std::string RandomShader(uint64_t seed) { return ShaderWriter(seed).Write(); }

}  // namespace galley::worker
