#include "director/host/named_programs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "common/base/file.h"

namespace galley::director {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class NamedProgramsTest : public testing::Test {
 protected:
  void SetUp() override {
    project_.root = MakeTemporaryDirectory(testing::TempDir(), "named_programs").value();
  }
  ~NamedProgramsTest() override { static_cast<void>(RemoveAll(project_.root)); }

  void AddRule(std::string settings, std::map<std::string, std::string> of_platforms = {}) {
    project::Rule rule{.match = content::Glob::Parse("/**").value()};
    rule.body.settings = std::move(settings);
    rule.body.platform_settings = std::move(of_platforms);
    project_.rules.push_back(std::move(rule));
  }
  void WriteProgram(const std::string& name, const std::string& bytes) {
    ASSERT_TRUE(WriteFileAtomic(JoinPath(project_.root, name), bytes).ok());
  }
  // The text of a director that begins now.
  std::string Text() {
    ToolDigests tools;
    return TextOfNamedPrograms(project_, tools);
  }

  project::Project project_;
};

TEST_F(NamedProgramsTest, AProgramOfARuleIsNamedByItsBytes) {
  AddRule(R"({"argv": ["./bake", "{input}"]})");
  const std::string absent = Text();
  EXPECT_THAT(absent, HasSubstr(JoinPath(project_.root, "bake") + " absent"));
  WriteProgram("bake", "one");
  const std::string one = Text();
  EXPECT_THAT(one, HasSubstr(Digest::Of("one").ToString()));
  EXPECT_EQ(Text(), one);
  WriteProgram("bake", "two");
  EXPECT_THAT(Text(), HasSubstr(Digest::Of("two").ToString()));
}

TEST_F(NamedProgramsTest, AProgramOfOnePlatformCountsAndOneWithoutAFolderIsSearched) {
  AddRule("", {{"linux", R"({"argv": ["./bake"]})"}});
  AddRule(R"({"argv": ["galley-no-such-program"]})");
  EXPECT_THAT(Text(), HasSubstr("/bake absent"));
  EXPECT_THAT(Text(), HasSubstr("/usr/bin/galley-no-such-program absent"));
}

TEST_F(NamedProgramsTest, OtherRulesNameNone) {
  AddRule("");
  AddRule(R"({"quality": 3})");
  AddRule(R"({"argv": []})");
  EXPECT_THAT(Text(), IsEmpty());
}

}  // namespace
}  // namespace galley::director
