#include "director/shell/describe.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "common/base/digest.h"
#include "common/base/repairs.h"
#include "common/content/testing/test_tree.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"

namespace galley::director {
namespace {

using testing::HasSubstr;

// The worker is a shell script that notes each run.
class DescribeTest : public content::ContentTest {
 protected:
  void SetUp() override {
    ContentTest::SetUp();
    WriteWorker("1");
  }
  void WriteScript(const std::string& body) {
    Write("worker", "#!/bin/sh\n" + body);
    ASSERT_EQ(::chmod(Host("worker").c_str(), 0755), 0);
  }
  void WriteWorker(std::string_view identity) {
    const std::string json =
        record::EncodeDescriptions({{.name = "copy", .identity = std::string(identity)}});
    WriteScript(fmt::format("echo run >> {}\ncat <<'END'\n{}\nEND\n", Host("runs"), json));
  }
  int Runs() const {
    const auto text = ReadFile(Host("runs"));
    return text.ok() ? static_cast<int>(std::count(text->begin(), text->end(), '\n')) : 0;
  }
  absl::StatusOr<Cookers> Describe(bool binary_identity = false) {
    return DescribeCookers(Host("worker"), Host("cache"), binary_identity);
  }
  std::string Identity(bool binary_identity = false) {
    const auto cookers = Describe(binary_identity);
    return cookers.ok() ? cookers->descriptions.at(0).identity : cookers.status().ToString();
  }
};

TEST_F(DescribeTest, TheWorkerIsAskedAgainOnlyWhenItsBinaryChanged) {
  EXPECT_EQ(Identity(), "1");
  EXPECT_EQ(Runs(), 1);
  EXPECT_EQ(Identity(), "1");
  EXPECT_EQ(Runs(), 1);
  WriteWorker("2");
  EXPECT_EQ(Identity(), "2");
  EXPECT_EQ(Runs(), 2);
  EXPECT_EQ(Identity(), "2");
  EXPECT_EQ(Runs(), 2);
}

TEST_F(DescribeTest, WithoutACacheTheWorkerIsAskedEachTime) {
  ASSERT_TRUE(DescribeCookers(Host("worker"), "", false).ok());
  ASSERT_TRUE(DescribeCookers(Host("worker"), "", false).ok());
  EXPECT_EQ(Runs(), 2);
  EXPECT_FALSE(FileExists(Host("cache")));
}

TEST_F(DescribeTest, ADamagedCacheIsMadeAgainAndTold) {
  ASSERT_EQ(Identity(), "1");
  const std::string good = ReadFile(Host("cache")).value();
  std::vector<std::string> damages = {good.substr(0, good.size() / 2), std::string(good.size(), 0),
                                      "[]", "", good + " "};
  for (size_t at = 0; at < good.size(); ++at) {
    damages.push_back(good);
    damages.back()[at] ^= 1;
  }
  int runs = 1;
  TakeRepairs();
  for (const std::string& bytes : damages) {
    Write("cache", bytes);
    EXPECT_EQ(Identity(), "1") << bytes;
    EXPECT_EQ(Runs(), ++runs) << bytes;
    EXPECT_EQ(ReadFile(Host("cache")).value(), good);
  }
  EXPECT_THAT(TakeRepairs(), testing::ElementsAre(
                                 AllOf(HasSubstr(Host("cache")), HasSubstr("its checksum is wrong"),
                                       HasSubstr("the cookers were asked again"))));
}

TEST_F(DescribeTest, AFolderInThePlaceOfTheCacheIsMovedAside) {
  Write("cache/mine", "a person's");
  TakeRepairs();
  EXPECT_EQ(Identity(), "1");
  EXPECT_EQ(Identity(), "1");
  EXPECT_EQ(Runs(), 1) << "the cache is there again";
  EXPECT_TRUE(FileExists(Host("cache.broken-1/mine")));
  EXPECT_THAT(TakeRepairs(), testing::ElementsAre(HasSubstr("it is a folder; it was moved aside")));
}

TEST_F(DescribeTest, ACacheOfAnOlderGalleyIsMadeAgainWithoutAWord) {
  Write("cache", fmt::format(R"({{"cookers":"","files":{{}},"program":"{}"}})", Host("worker")));
  TakeRepairs();
  EXPECT_EQ(Identity(), "1");
  EXPECT_EQ(Runs(), 1);
  EXPECT_THAT(TakeRepairs(), testing::IsEmpty());
}

TEST_F(DescribeTest, ACacheWithDescriptionsOfAnotherSchemaIsMadeAgainWithoutAWord) {
  ASSERT_EQ(Identity(), "1");
  const std::string good = ReadFile(Host("cache")).value();
  nlohmann::json cache = nlohmann::json::parse(good);
  auto cookers = cache["of"]["cookers"].get<std::string>();
  const size_t schema = cookers.find("galley.cookers.v2");
  ASSERT_NE(schema, std::string::npos);
  cache["of"]["cookers"] = cookers.replace(schema, 17, "galley.cookers.v1");
  cache["sum"] = Digest::Of(cache["of"].dump()).hex();
  Write("cache", cache.dump());
  ASSERT_TRUE(JudgeCookerCache(cache.dump()).ok());
  TakeRepairs();
  EXPECT_EQ(Identity(), "1");
  EXPECT_EQ(Runs(), 2);
  EXPECT_EQ(ReadFile(Host("cache")).value(), good);
  EXPECT_THAT(TakeRepairs(), testing::IsEmpty());
}

TEST_F(DescribeTest, AWorkerThatDescribesInAnotherSchemaIsNamed) {
  WriteScript(R"(echo '{"schema":"galley.cookers.v1","cookers":[]}')");
  EXPECT_THAT(Identity(), AllOf(HasSubstr(Host("worker") + " describe"),
                                HasSubstr("cookers.schema: expected galley.cookers.v2")));
}

TEST_F(DescribeTest, ACacheOfAnotherProgramIsNotUsed) {
  ASSERT_EQ(Identity(), "1");
  Write("other/worker", ReadFile(Host("worker")).value());
  ASSERT_EQ(::chmod(Host("other/worker").c_str(), 0755), 0);
  ASSERT_TRUE(DescribeCookers(Host("other/worker"), Host("cache"), false).ok());
  EXPECT_EQ(Runs(), 2);
}

TEST_F(DescribeTest, TheJsonIsWhatEveryWorkerMustSay) {
  EXPECT_EQ(Describe()->json, record::EncodeDescriptions({{.name = "copy", .identity = "1"}}));
  EXPECT_EQ(Describe()->json, Describe(true)->json)
      << "identity = \"binary\" changes keys, not what a worker says";
}

TEST_F(DescribeTest, BinaryIdentityIsTheProgramsDigest) {
  EXPECT_EQ(Identity(true), "binary=" + Digest::Of(ReadFile(Host("worker")).value()).ToString());
}

TEST_F(DescribeTest, AWorkerThatCannotBeAskedIsNamed) {
  WriteScript("exit 3\n");
  EXPECT_THAT(Identity(), HasSubstr(Host("worker")));
  WriteScript("echo nonsense\n");
  EXPECT_THAT(Identity(), HasSubstr(Host("worker")));
  EXPECT_FALSE(Describe().ok()) << "nonsense is not cached as if it were an answer";
  ASSERT_TRUE(RemoveAll(Host("worker")).ok());
  EXPECT_THAT(Identity(), HasSubstr(Host("worker")));
}

TEST_F(DescribeTest, AWorkerThatNeverAnswersIsEnded) {
  for (const char* script : {"exec sleep 1000\n", "exec >&-\nexec sleep 1000\n"}) {
    WriteScript(script);
    const auto cookers = DescribeCookers(Host("worker"), "", false, absl::Milliseconds(300));
    EXPECT_TRUE(absl::IsUnavailable(cookers.status())) << cookers.status();
    EXPECT_THAT(cookers.status().ToString(), HasSubstr("did not end within"));
  }
}

TEST_F(DescribeTest, AWorkerThatNeverStopsTalkingIsEnded) {
  WriteScript("exec yes\n");
  EXPECT_TRUE(absl::IsUnavailable(Describe().status())) << Describe().status();
}

}  // namespace
}  // namespace galley::director
