// Words that are names in Vulkan GLSL and have a meaning in a target's language or library.
#include "worker/cookers/shader/reserved_words.h"

#include <regex>
#include <sstream>

#include "worker/cookers/shader/testing/shader_fixture.h"
#include "worker/cookers/shader/word_lists.h"

namespace galley::worker {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// No text may have a word of its target's list; each word is a legal name in GLSL 4.50.
constexpr const char* kForMsl[] = {
    "new",       "delete",     "operator", "and",      "or",        "xor",          "compl",
    "bitand",    "not_eq",     "private",  "virtual",  "protected", "friend",       "explicit",
    "constexpr", "nullptr",    "auto",     "char",     "signed",    "typename",     "try",
    "catch",     "throw",      "mutable",  "wchar_t",  "alignas",   "decltype",     "register",
    "export",    "const_cast", "divide",   "saturate", "float4",    "half3",        "uchar",
    "size_t",    "kernel",     "device",   "constant", "thread",    "fragment",     "vertex",
    "metal",     "rsqrt",      "fmod",     "select",   "powr",      "sincos",       "INFINITY",
    "M_PI_F",    "NULL",       "simd_sum", "as_type",  "main0",     "texture2d",    "depth2d",
    "coord",     "atan2",      "popcount", "clz",      "_Bool",     "packed_float3"};

// A vertex shader in which `word` names everything.
std::string Vertex(const std::string& word, bool is_constant) {
  const std::string& w = word;
  if (is_constant) {
    return "#version 450\nlayout(constant_id = 3) const float " + w +
           " = 2.0;\nlayout(location = 0) in vec4 at;\nvoid main() { gl_Position = at * " + w +
           "; }\n";
  }
  return "#version 450\nstruct Part { float " + w +
         "; float last; };\nlayout(binding = 0) uniform Frame { Part " + w +
         "; vec4 other; } frame;\nlayout(push_constant) uniform Push { float " + w +
         "; } push;\nlayout(location = 0) in vec4 at;\nlayout(location = 1) out float "
         "passed;\nfloat Twice(float " +
         w + ") { float more = " + w + "; return more * 2.0; }\nvoid main() { float " + w +
         " = at.x; " + w + " += Twice(frame." + w + "." + w + ") + push." + w + "; passed = " + w +
         "; gl_Position = frame.other * " + w + "; }\n";
}

// An input, an output, a function, a block or a structure of the name `w`.
std::string Named(const std::string& kind, const std::string& w) {
  const std::string head = "#version 450\nlayout(location = 0) out vec4 color;\n";
  if (kind == "input")
    return head + "layout(location = 2) in vec4 " + w + ";\nvoid main() { color = " + w + "; }\n";
  if (kind == "output")
    return "#version 450\nlayout(location = 0) out vec4 " + w + ";\nvoid main() { " + w +
           " = vec4(1); }\n";
  if (kind == "function")
    return head + "layout(location = 0) in vec4 at;\nvec4 " + w +
           "(vec4 a) { return a.wzyx; }\nfloat " + w +
           "(float a) { return a + 1.0; }\nvoid main() { color = " + w + "(at) * " + w +
           "(at.x); }\n";
  if (kind == "block")
    return head + "layout(binding = 0) uniform " + w +
           " { vec4 v; } inside;\nvoid main() { color = inside.v; }\n";
  if (kind == "instance")
    return head + "layout(binding = 0) uniform B { vec4 v; } " + w +
           ";\nvoid main() { color = " + w + ".v; }\n";
  if (kind == "structure")
    return head + "struct " + w + " { vec4 v; };\nlayout(binding = 0) uniform B { " + w +
           " s; } b;\nvoid main() { color = b.s.v; }\n";
  if (kind == "sampler")
    return head + "layout(binding = 0) uniform sampler2D " + w +
           ";\nvoid main() { color = texture(" + w + ", vec2(0)); }\n";
  return head + "layout(binding = 0) uniform texture2D " + w +
         ";\nlayout(binding = 1) uniform sampler how;\nvoid main() { color = texture(sampler2D(" +
         w + ", how), vec2(0)); }\n";
}

constexpr const char* kKinds[] = {"input",    "output",    "function", "block",
                                  "instance", "structure", "sampler",  "texture"};

class ReservedWordsTest : public ShaderTargetTest {
 protected:
  // Expects that the text equals the text with a harmless name, apart from the name.
  void ExpectRenamed(const std::string& target, const std::string& stage, const std::string& word,
                     const std::string& with_word, const std::string& harmless) {
    const std::string written =
        WrittenName(target.starts_with("msl") ? ShaderLanguage::kMsl : ShaderLanguage::kEssl, word);
    ASSERT_NE(written, word);
    const std::string text = Cook(target, stage, with_word, {{"optimize", false}});
    const std::string expected = Cook(target, stage, harmless, {{"optimize", false}});
    EXPECT_EQ(std::regex_replace(text, std::regex("\\b" + written), "zz"), expected)
        << word << text;
  }
};

TEST_F(ReservedWordsTest, EachKindOfNameIsChangedInMsl) {
  for (const char* word : kForMsl) {
    for (const bool is_constant : {false, true})
      ExpectRenamed("msl-2.3", "vert", word, Vertex(word, is_constant), Vertex("zz", is_constant));
  }
  for (const char* word :
       {"new", "and", "divide", "float4", "kernel", "INFINITY", "main0", "virtual"}) {
    for (const char* kind : kKinds)
      ExpectRenamed("msl-2.0", "frag", word, Named(kind, word), Named(kind, "zz"));
  }
}

TEST_F(ReservedWordsTest, EachKindOfNameIsChangedInEssl) {
  for (const char* word :
       {"clamp", "determinant", "imageAtomicAnd", "atomicAnd", "barrier", "spvThing"}) {
    for (const char* version : {"essl-310", "essl-320"}) {
      ExpectRenamed(version, "vert", word, Vertex(word, true), Vertex("zz", true));
      for (const char* kind : {"block", "instance", "structure", "sampler"})
        ExpectRenamed(version, "frag", word, Named(kind, word), Named(kind, "zz"));
    }
  }
  ExpectRenamed("essl-310", "vert", "determinant", Vertex("determinant", false),
                Vertex("zz", false));
}

// Every word of the lists, in places where GLSL lets it be a name.
TEST_F(ReservedWordsTest, NoWordOfTheListsStays) {
  std::vector<std::string> words;
  for (const std::string_view list :
       {kGlslWords, kGlslFunctions, kCppWords, kMslWords, kMslTypes, kMslFunctions, kMslMacros}) {
    std::istringstream all{std::string(list)};
    for (std::string word; all >> word;) words.push_back(word);
  }
  EXPECT_GT(words.size(), 1'000u);
  for (const std::string& word : words) {
    EXPECT_TRUE(IsReserved(ShaderLanguage::kMsl, word)) << word;
    EXPECT_FALSE(IsReserved(ShaderLanguage::kMsl, WrittenName(ShaderLanguage::kMsl, word))) << word;
    EXPECT_EQ(WrittenName(ShaderLanguage::kSpirv, word), word);
  }
}

TEST_F(ReservedWordsTest, NamesDoNotBecomeOne) {
  const std::string fragment =
      "#version 450\nlayout(location = 0) out vec4 color;\nlayout(binding = 0) uniform B { float "
      "new; float own_new; "
      "float a__b; float a_b; float own_a_b; } b;\nvoid main() { color = vec4(b.new, b.own_new, "
      "b.a__b, b.a_b + "
      "b.own_a_b); }\n";
  const std::string text = Cook("msl-2.1", "frag", fragment);
  EXPECT_THAT(text, AllOf(HasSubstr("float own_new;"), HasSubstr("float own_own_new;"),
                          HasSubstr("float own_a_b_2;"), HasSubstr("float a_b;"),
                          HasSubstr("float own_a_b;")));
  EXPECT_THAT(text, HasSubstr("b.own_new, b.own_own_new, b.own_a_b_2, b.a_b + b.own_a_b"));
  EXPECT_THAT(Cook("essl-310", "frag", fragment),
              AllOf(HasSubstr("float own_a_b_2;"), Not(HasSubstr("__"))));
}

TEST_F(ReservedWordsTest, StagesOfAProgramAgree) {
  const std::string block = "layout(binding = 0) uniform clamp { vec4 determinant; } barrier;\n";
  const std::string vertex =
      Cook("essl-320", "vert",
           "#version 450\n" + block +
               "layout(location = 0) out vec4 atomicAnd;\nvoid main() { atomicAnd = "
               "barrier.determinant; gl_Position = atomicAnd; }\n");
  const std::string fragment =
      Cook("essl-320", "frag",
           "#version 450\n" + block +
               "layout(location = 0) in vec4 atomicAnd;\nlayout(location = 0) out vec4 "
               "c;\nvoid main() { c = atomicAnd + barrier.determinant; }\n");
  for (const std::string& text : {vertex, fragment}) {
    EXPECT_THAT(text, AllOf(HasSubstr("uniform own_clamp"), HasSubstr("vec4 own_determinant;"),
                            HasSubstr(" own_atomicAnd;")));
  }
}

TEST_F(ReservedWordsTest, TheReflectionHasBothNames) {
  Cook("msl-2.3", "frag",
       "#version 450\nlayout(constant_id = 4) const int delete = 1;\nstruct virtual { vec4 "
       "private; };\n"
       "layout(binding = 0) uniform operator { virtual and; vec4 plain; } new;\n"
       "layout(push_constant) uniform P { vec4 xor; } or;\nlayout(location = 0) in vec4 divide;\n"
       "layout(location = 1) in vec4 plain;\nlayout(location = 0) out vec4 fmod;\nvoid main() { "
       "fmod = "
       "new.and.private * delete + new.plain + or.xor + divide + plain; }\n");
  const Json all = Reflection();
  const Json& binding = all.at("bindings").at(0);
  EXPECT_EQ(binding.at("name"), "new");
  EXPECT_EQ(binding.at("written"), "own_new");
  const Json& block = binding.at("block");
  EXPECT_EQ(block.at("name"), "operator");
  EXPECT_EQ(block.at("written"), "own_operator");
  const Json& member = block.at("members").at(0);
  EXPECT_EQ(member.at("name"), "and");
  EXPECT_EQ(member.at("written"), "own_and");
  EXPECT_EQ(member.at("struct"), "virtual");
  EXPECT_EQ(member.at("written_struct"), "own_virtual");
  EXPECT_EQ(member.at("members").at(0).at("written"), "own_private");
  EXPECT_FALSE(block.at("members").at(1).contains("written"));
  EXPECT_EQ(all.at("push_constants").at("written"), "own_or");
  EXPECT_EQ(all.at("push_constants").at("members").at(0).at("written"), "own_xor");
  EXPECT_EQ(all.at("inputs").at(0).at("written"), "own_divide");
  EXPECT_FALSE(all.at("inputs").at(1).contains("written"));
  EXPECT_EQ(all.at("outputs").at(0).at("written"), "own_fmod");
  EXPECT_EQ(all.at("specialization_constants").at(0).at("name"), "delete");
  EXPECT_EQ(all.at("specialization_constants").at(0).at("written"), "own_delete");
}

TEST_F(ReservedWordsTest, TheReflectionOfEsslNamesWhatGoesBetweenStages) {
  Cook("essl-310", "vert",
       "#version 450\nlayout(location = 3) out vec4 a;\nlayout(location = 5) out B { vec4 c; } "
       "b;\nvoid main() { a = "
       "vec4(1); b.c = a; gl_Position = a; }\n");
  EXPECT_EQ(Reflection().at("outputs").at(0).at("written"), "io_at3");
  EXPECT_EQ(Reflection().at("outputs").at(1).at("name"), "b.c");
  EXPECT_EQ(Reflection().at("outputs").at(1).at("written"), "io_at5");
}

// spirv-cross makes up names for a texture's sampler and for a constant's value.
TEST_F(ReservedWordsTest, NamesThatTheTranslatorMakesAreKeptFree) {
  const std::string text = Cook("msl-2.1", "frag",
                                "#version 450\nlayout(constant_id = 0) const int count = "
                                "1;\nlayout(binding = 0) uniform sampler2D a;\n"
                                "layout(binding = 1) uniform sampler2D aSmplr;\nlayout(location = "
                                "0) out vec4 c;\nvec4 count_tmp(vec4 v) { "
                                "return v.wzyx; }\nvoid main() { c = count_tmp(texture(a, vec2(0)) "
                                "* count + texture(aSmplr, vec2(0))); }\n",
                                {{"optimize", false}});
  EXPECT_THAT(text, AllOf(HasSubstr("sampler aSmplr [[sampler(0)]]"),
                          HasSubstr("texture2d<float> own_aSmplr [[texture(1)]]"),
                          HasSubstr("own_count_tmp(")));
}

TEST_F(ReservedWordsTest, SpirvKeepsAllNames) {
  Cook("spirv-1.5", "frag", Named("input", "new"));
  EXPECT_EQ(Reflection().at("inputs").at(0).at("name"), "new");
  EXPECT_FALSE(Reflection().at("inputs").at(0).contains("written"));
}

class SpecializationTest : public ShaderTargetTest {};

std::string Constants(const std::string& declared) {
  return "#version 450\nlayout(local_size_x = 1) in;\nlayout(constant_id = 7) const int first = "
         "3;\n" +
         declared +
         "layout(binding = 0) buffer B { int x[]; } b;\nvoid main() { b.x[0] = first; b.x[1] = "
         "int(second); }\n";
}

TEST_F(SpecializationTest, AConstantThatIsAnothersDefaultIsRefusedByName) {
  for (const char* target : {"spirv-1.0", "spirv-1.6", "msl-2.1", "essl-310"}) {
    for (const bool optimize : {false, true}) {
      EXPECT_THAT(
          Error(target, "comp", Constants("layout(constant_id = 8) const int second = first;\n"),
                {{"optimize", optimize}}),
          AllOf(HasSubstr("first (constant_id = 7) and second (constant_id = 8)"),
                HasSubstr("give each a literal")));
      EXPECT_THAT(
          Error(target, "comp",
                Constants("layout(constant_id = 8) const int second = first + 1;\n"),
                {{"optimize", optimize}}),
          AllOf(HasSubstr("second (constant_id = 8)"), HasSubstr("is computed from other")));
    }
  }
  EXPECT_THAT(
      Error(
          "spirv-1.3", "comp",
          Constants(
              "layout(constant_id = 8) const int third = first;\nlayout(constant_id = 9) const int "
              "second = third;\n")),
      HasSubstr(
          "first (constant_id = 7) and third (constant_id = 8) and second (constant_id = 9)"));
}

TEST_F(SpecializationTest, AConstantWithoutIdMayBeComputedFromOthers) {
  Cook("spirv-1.3", "comp", Constants("const int second = first + 1;\n"));
  Cook("msl-2.1", "comp", Constants("const int second = first;\n"));
  Cook("essl-310", "comp", Constants("layout(constant_id = 8) const int second = 1 + 2;\n"));
  EXPECT_EQ(Reflection().at("specialization_constants").size(), 2);
  Cook("spirv-1.6", "comp",
       "#version 450\nlayout(local_size_x_id = 7) in;\nlayout(constant_id = 7) const uint first = "
       "3;\nlayout(binding = 0) "
       "buffer B { uint x; } b;\nvoid main() { b.x = first; }\n");
}

}  // namespace
}  // namespace galley::worker
