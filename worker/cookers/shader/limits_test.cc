// Shaders that ask too much of the libraries: each ends soon, with the limit, and kills nothing.
#include "worker/cookers/shader/testing/shader_fixture.h"

namespace galley::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ShaderLimitsTest : public ShaderTargetTest {};

std::string Repeated(std::string_view text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

std::string Compute(const std::string& body, const std::string& before = "") {
  return "#version 450\n#extension GL_EXT_buffer_reference : enable\nlayout(local_size_x = 1) in;\n"
         "layout(std430, binding = 0) buffer B { int x[]; } b;\n" +
         before + "void main() {\n  int v = b.x[0];\n" + body + "\n  b.x[0] = v;\n}\n";
}

constexpr const char* kNode = "layout(buffer_reference) buffer Node;\n";

// Declarations and a body. Each list leads back to itself through structures, which spirv-cross
// compares endlessly: such a list overflowed the stack.
const std::vector<std::pair<std::string, std::string>>& Lists() {
  static const std::string node = kNode;
  static const std::vector<std::pair<std::string, std::string>> lists = {
      {node + "layout(buffer_reference) buffer Node { Node next; int i; };\n"
              "layout(std430, binding = 1) buffer First { Node head; } first;\n",
       "  v = first.head.next.i;"},
      {node + "struct Link { Node next; };\nlayout(buffer_reference) buffer Node { int i; Link "
              "link; };\n"
              "layout(std430, binding = 1) buffer First { Link link; } first;\n",
       "  Link all[2]; all[0] = first.link; all[1] = all[0].next.link;\n  v = all[v & 1].next.i;"},
      {node + "struct Link { int a; Node next[3]; };\n"
              "layout(buffer_reference) buffer Node { int i; Link link[2]; };\n"
              "layout(std430, binding = 1) buffer First { Link link[4]; } first;\n"
              "layout(std140, binding = 2) uniform Second { Link link; } second;\n",
       "  v = first.link[1].next[2].link[0].a + second.link.a;"},
      {"layout(buffer_reference) buffer P;\nlayout(buffer_reference) buffer Q;\n"
       "struct S { Q q; };\nstruct T { P p; };\n"
       "layout(buffer_reference) buffer P { int i; S s; };\n"
       "layout(buffer_reference) buffer Q { int j; T t; };\n"
       "layout(std430, binding = 1) buffer First { P p; S s; T t; } first;\n",
       "  S s = first.s; T t = first.t; v = s.q.t.p.i + t.p.s.q.j + first.p.s.q.j;"}};
  return lists;
}

TEST_F(ShaderLimitsTest, ABufferReferenceThatLeadsBackIsTakenAsSpirv) {
  for (const auto& [declared, body] : Lists()) {
    for (const bool optimize : {false, true}) {
      Cook("spirv-1.5", "comp", Compute(body, declared), {{"optimize", optimize}});
      // The names in the reflection are the source's.
      EXPECT_THAT(Reflection().dump(), Not(HasSubstr("parted")));
    }
  }
}

TEST_F(ShaderLimitsTest, ABufferReferenceThatLeadsBackEndsInMslAndEssl) {
  for (const auto& [declared, body] : Lists()) {
    const absl::Status metal = TryCook("msl-2.3", "comp", Compute(body, declared));
    ASSERT_TRUE(metal.ok() || absl::IsInvalidArgument(metal)) << metal;
    if (metal.ok()) {
      EXPECT_THAT(context_->output(".msl"), Not(HasSubstr("parted")));
    }
    EXPECT_THAT(Error("essl-310", "comp", Compute(body, declared)),
                HasSubstr("this shader cannot be written as essl-310"));
  }
}

TEST_F(ShaderLimitsTest, StructuresOfStructuresHaveALimit) {
  std::string declared = "struct S0 { vec4 a, b; vec4 c; vec4 d; };\n";
  for (int i = 1; i < 13; ++i) {
    const std::string inner = "S" + std::to_string(i - 1);
    declared += "struct S" + std::to_string(i) + " { " + inner + " a, b; " + inner + " c; " +
                inner + " d; };\n";
  }
  EXPECT_THAT(
      Error("spirv-1.5", "comp",
            Compute("  v = 1;", declared + "layout(binding = 1) buffer C { S12 s; } c;\n")),
      AllOf(HasSubstr("ERROR: source:"), HasSubstr("structure S8 has more than 65536 members")));
  // The structures are made by macros.
  std::string by_macros =
      "#define STRUCT(n, m) struct n { m a; m b; m c; m d; };\nSTRUCT(S0, vec4)\n";
  for (int i = 1; i < 9; ++i)
    by_macros += "STRUCT(S" + std::to_string(i) + ", S" + std::to_string(i - 1) + ")\n";
  EXPECT_THAT(Error("spirv-1.5", "comp",
                    Compute("  v = int(c.s.a.a.a.a.a.a.a.a.a.x);",
                            by_macros + "layout(binding = 1) buffer C { S8 s; } c;\n")),
              HasSubstr("structure S8 has more than 65536 members"));
}

TEST_F(ShaderLimitsTest, StructuresNestToALimit) {
  std::string declared = "struct S0 { vec4 a; };\n";
  for (int i = 1; i < 300; ++i) {
    declared += "struct S" + std::to_string(i) + " { S" + std::to_string(i - 1) + " a; };\n";
  }
  EXPECT_THAT(Error("spirv-1.5", "comp", Compute("", declared)),
              HasSubstr("nests deeper than 255"));
}

TEST_F(ShaderLimitsTest, MacrosHaveALimit) {
  std::string declared = "#define M0 1 + 1\n";
  for (int i = 1; i < 40; ++i) {
    const std::string inner = "M" + std::to_string(i - 1);
    declared += "#define M" + std::to_string(i) + " (" + inner + ") + (" + inner + ")\n";
  }
  EXPECT_THAT(Error("spirv-1.5", "comp", Compute("  v = M39;", declared)),
              HasSubstr("macros write more than 2000000 words and signs"));
  EXPECT_THAT(Error("spirv-1.5", "comp",
                    Compute("  v = " + Repeated("F(", 40) + "1" + Repeated(")", 40) + ";",
                            "#define F(a) (a) + (a)\n")),
              HasSubstr("macros write more than 2000000"));
  // Through the name of a macro, through parts of a name, and from an include.
  EXPECT_THAT(Error("spirv-1.5", "comp",
                    Compute("  v = " + Repeated("APPLY(F, ", 40) + "1" + Repeated(")", 40) + ";",
                            "#define APPLY(f, a) f(a)\n#define F(a) (a) + (a)\n")),
              HasSubstr("macros write more than 2000000"));
  EXPECT_THAT(Error("spirv-1.5", "comp",
                    Compute("  v = " + Repeated("F(", 40) + "1" + Repeated(")", 40) + ";",
                            "#define F G\n#define G(a) (a) + (a)\n")),
              HasSubstr("macros write more than 2000000"));
  EXPECT_THAT(Error("spirv-1.5", "comp",
                    Compute("  v = " + Repeated("F(", 2'000) + "1" + Repeated(")", 2'000) + ";",
                            "#define F(a) a\n")),
              HasSubstr("more than"));
}

TEST_F(ShaderLimitsTest, MacrosOfAnIncludeHaveALimitWhereTheyAreUsed) {
  const std::string source =
      "#version 450\n#include \"bomb.glsl\"\nlayout(local_size_x = 1) in;\nlayout(std430, binding "
      "= 0) "
      "buffer B { int x; } b;\nvoid main() { b.x = M39; }\n";
  std::string macros = "#define M0 1 + 1\n";
  for (int i = 1; i < 40; ++i) {
    const std::string inner = "M" + std::to_string(i - 1);
    macros += "#define M" + std::to_string(i) + " (" + inner + ") + (" + inner + ")\n";
  }
  context_ = std::make_unique<FakeCookContext>(cooker_->description(), "/Game/a.comp", source,
                                               Json::object());
  context_->SetPlatform("shader", "spirv-1.5");
  context_->AddFile("/Game/bomb.glsl", macros);
  EXPECT_THAT(MessageOf(LoadAndCook(*cooker_, *context_)),
              AllOf(HasSubstr("macros write more than 2000000"), HasSubstr("source:5")));
}

TEST_F(ShaderLimitsTest, ABlankMakesAParenthesisTheBodyOfAMacro) {
  // If A were called, it would take the text behind it for its arguments, and B its own name.
  Cook("spirv-1.5", "comp",
       Compute("  v = A + B(2) + C;",
               "#define A (v)\n#define B(v) ((v) + A)\n#define C\t(A (3))\n#undef C\n#define C /* "
               "x */ (4)\n"));
  EXPECT_THAT(Error("spirv-1.5", "comp",
                    Compute("  v = " + Repeated("A ", 1) + "D39;",
                            [] {
                              std::string all = "#define A (v) +\n#define D0 (v)\n";
                              for (int i = 1; i < 40; ++i) {
                                const std::string inner = "D" + std::to_string(i - 1);
                                all += "#define D" + std::to_string(i) + " (" + inner + " + " +
                                       inner + ")\n";
                              }
                              return all;
                            }())),
              HasSubstr("macros write more than 2000000"));
}

TEST_F(ShaderLimitsTest, CodeThatNestsWithoutEndIsRefused) {
  const std::string open = Repeated("(", 200'000);
  EXPECT_THAT(
      Error("spirv-1.5", "comp", Compute("  v = " + open + "v" + Repeated(")", 200'000) + ";")),
      HasSubstr("brackets nest deeper than 1000"));
  EXPECT_THAT(Error("spirv-1.5", "comp", Compute("  v = v" + Repeated(" + v", 200'000) + ";")),
              HasSubstr("more than 4096 operators in a row"));
  EXPECT_THAT(Error("spirv-1.5", "comp", Compute("  v = (v" + Repeated(", v", 20'000) + ");")),
              HasSubstr("more than 4096 operators in a row"));
  EXPECT_THAT(Error("spirv-1.5", "comp", Compute("", "int q" + Repeated("[1]", 20'000) + ";\n")),
              HasSubstr("more than 255 dimensions"));
  EXPECT_THAT(
      Error("spirv-1.5", "comp", "#version 450\n#if " + Repeated("!", 100'000) + "1\n#endif\n"),
      HasSubstr("the condition has more than 4096"));
  EXPECT_THAT(Error("spirv-1.5", "comp", Compute(Repeated("if (v == 1) ", 20'000) + "v = 2;")),
              HasSubstr("the code nests too deep"));
}

TEST_F(ShaderLimitsTest, MembersOfMembersInARowHaveALimit) {
  EXPECT_THAT(Error("spirv-1.5", "comp",
                    Compute("  vec4 q = vec4(v); q = q" + Repeated(".wzyx", 30'000) + ";")),
              HasSubstr("more than 4096 members of members in a row"));
  EXPECT_THAT(Error("spirv-1.5", "comp",
                    Compute("  v = v" + Repeated(" + (v" + Repeated(" + v", 900), 10) +
                            Repeated(")", 10) + ";")),
              HasSubstr("more than 4096 operators in a row"));
}

TEST_F(ShaderLimitsTest, LongSumsListsAndTablesAreTaken) {
  Cook("spirv-1.5", "comp",
       Compute("  vec4 q = vec4(v); float s = q.x" + Repeated(" + q.y * q.z", 1'500) +
               "; v = int(s);"));
  EXPECT_THAT(
      Error("spirv-1.5", "comp", Compute("  if ((v" + Repeated(", v", 20'000) + ") == 1) v = 2;")),
      HasSubstr("more than 4096 operators in a row"));
  Cook("spirv-1.5", "comp",
       Compute("  vec4 q = vec4(v);\n" + Repeated("  Nothing(q.x, q.y);\n", 2'500),
               "void Nothing(float a, float b) {}\n"),
       {{"optimize", false}});
  std::string table = "const vec2 table[3000] = {vec2(0.0 - 1.0, 2.0 * 3.0)";
  table += Repeated(", vec2(1.0 - 0.5, -(2.0 + 1.0))", 2'999) + "};\n";
  Cook("spirv-1.5", "comp", Compute("  v = int(table[v & 7].x);", table));
}

TEST_F(ShaderLimitsTest, ControlFlowNestsToALimit) {
  for (const std::string& code :
       {"  " + Repeated("if (v == 1) ", 600) + "v = 2;",
        "  " + Repeated("for (int i = 0; i < v; ++i) ", 300) + "v = 2;",
        "  if (v == 1) v = 2; " + Repeated("else if (v == 3) v = 4; ", 600)}) {
    EXPECT_THAT(
        Error("spirv-1.5", "comp", Compute(code), {{"optimize", false}}),
        HasSubstr("nests deeper than 400 (each else if counts, and a loop twice): use a switch"));
  }
  Cook("spirv-1.5", "comp",
       Compute("  if (v == 1) v = 2; " + Repeated("else if (v == 3) v = 4; ", 60)));
}

// The optimiser would put 2^23 copies of f0 into main, and 250,000 variables in the place of one.
TEST_F(ShaderLimitsTest, WhatTheOptimizerWouldUnfoldIsWrittenWithoutIt) {
  std::string declared = "int f0(int a) { return a * 3 + b.x[1]; }\n";
  for (int i = 1; i < 24; ++i) {
    const std::string inner = "f" + std::to_string(i - 1);
    declared += "int f" + std::to_string(i) + "(int a) { return " + inner + "(a) + " + inner +
                "(a + 1); }\n";
  }
  Cook("spirv-1.5", "comp", Compute("  v = f23(v);", declared));
  EXPECT_THAT(context_->warnings(), testing::ElementsAre(HasSubstr(
                                        "the optimiser cannot do this shader (more than 100000 "
                                        "instructions in one function, with each call replaced")));
  Cook("spirv-1.5", "comp",
       Compute("  int q[64][64][64]; q[0][0][v & 1] = v; int r[64][64][64] = q; v = r[0][0][0];"));
  EXPECT_THAT(context_->warnings(),
              testing::ElementsAre(HasSubstr("a local variable of more than 16384 elements")));
}

TEST_F(ShaderLimitsTest, StructuresOfArraysOfStructuresAreTaken) {
  std::string declared = "struct S0 { vec4 a[4]; };\n";
  for (int i = 1; i < 10; ++i)
    declared += "struct S" + std::to_string(i) + " { S" + std::to_string(i - 1) + " a[4]; };\n";
  Cook("spirv-1.5", "comp",
       Compute("  v = int(c.s.a[0].a[v].a[0].a[0].a[0].a[0].a[0].a[0].a[0].a[0].x);",
               declared + "layout(std430, binding = 1) buffer C { S9 s; } c;\n"));
}

// Every function opens a bracket in each part of a condition, and a lone one in a skipped part.
TEST_F(ShaderLimitsTest, PartsOfConditionsDoNotAddUp) {
  std::string functions;
  for (int i = 0; i < 1'500; ++i) {
    const std::string n = std::to_string(i);
    functions += "#ifdef FLOATS\nint f" + n + "(float a) {\n#else\nint f" + n +
                 "(int a) {\n#endif\n  return 1; }\n#if 0\nit's broken :( {\n#endif\n";
  }
  Cook("spirv-1.5", "comp", Compute("  v = f3(v);", functions), {{"optimize", false}});
}

TEST_F(ShaderLimitsTest, WhatPeopleWriteIsTaken) {
  Cook("spirv-1.5", "comp",
       Compute("  v = MAX(MAX(MAX(1, v), MAX(2, v)), 3) + table[v & 7] + S(1).m;",
               "#define MAX(a, b) ((a) > (b) ? (a) : (b))\nstruct S { int m; };\n"
               "const int table[2048] = int[](0" +
                   Repeated(", 1 + 2", 2047) + ");\nint Sum(in S s) { return s.m; }\n"));
}

}  // namespace
}  // namespace galley::worker
