#include "director/remake/made_outputs.h"

#include "director/remake/testing/kept_record.h"

namespace galley::director {
namespace {

class MadeOutputsTest : public KeptRecordTest {
 protected:
  void SetUp() override {
    result_ = CopyResult("output");
    result_.outputs.push_back({.suffix = ".d/lod1.txt", .digest = Digest::Of("lod")});
    Write("out/output.txt", "output");
    Write("out/output.d/lod1.txt", "lod");
    Write("out/details", record::EncodeDetails(result_.details));
  }
  void Write(std::string_view path, std::string_view bytes) {
    const std::string host = JoinPath(In("action"), path);
    ASSERT_TRUE(CreateDirectories(std::filesystem::path(host).parent_path().string()).ok());
    ASSERT_TRUE(WriteFileAtomic(host, bytes).ok());
  }
  std::optional<UnequalOutput> Compare() {
    const auto unequal = CompareOutputs(In("action"), result_);
    EXPECT_TRUE(unequal.ok()) << unequal.status();
    return unequal.value_or(std::nullopt);
  }

  record::Result result_;
};

TEST_F(MadeOutputsTest, EqualOutputsAreEqual) { EXPECT_FALSE(Compare().has_value()); }

TEST_F(MadeOutputsTest, OtherBytesAreNamedWithBothDigests) {
  Write("out/output.d/lod1.txt", "other");
  const auto unequal = Compare();
  ASSERT_TRUE(unequal.has_value());
  EXPECT_EQ(unequal->path, "out/output.d/lod1.txt");
  EXPECT_EQ(unequal->recorded, Digest::Of("lod"));
  EXPECT_EQ(unequal->made, Digest::Of("other"));
}

TEST_F(MadeOutputsTest, AnOutputThatIsAbsentOrTooManyIsNamed) {
  Write("out/output.more", "more");
  EXPECT_EQ(Compare()->path, "out/output.more");
  EXPECT_EQ(Compare()->recorded, std::nullopt);
  std::filesystem::remove(JoinPath(In("action"), "out/output.more"));
  std::filesystem::remove(JoinPath(In("action"), "out/output.txt"));
  EXPECT_EQ(Compare()->path, "out/output.txt");
  EXPECT_EQ(Compare()->made, std::nullopt);
}

TEST_F(MadeOutputsTest, DetailsAndExecutableBitsCount) {
  result_.outputs[0].is_executable = true;
  EXPECT_EQ(Compare()->path, "out/output.txt");
  ASSERT_EQ(::chmod(JoinPath(In("action"), "out/output.txt").c_str(), 0755), 0);
  EXPECT_FALSE(Compare().has_value());
  result_.details.warnings = {"dark"};
  EXPECT_EQ(Compare()->path, "out/details");
}

}  // namespace
}  // namespace galley::director
