#include "common/content/patched_file.h"

#include <algorithm>
#include <random>
#include <string>

#include "common/base/file.h"
#include "gtest/gtest.h"

namespace galley::content {
namespace {

constexpr std::string_view kTestMagic = "GLYTEST1";
constexpr size_t kBlock = PatchedFile::kBlockBytes;

class PatchedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = *MakeTemporaryDirectory(testing::TempDir(), "patched_file_test_");
    file_ = JoinPath(dir_, "table");
    for (size_t i = 0; i < 3 * kBlock + 100; ++i) payload_ += static_cast<char>('a' + i * 7 % 26);
    ASSERT_TRUE(PatchedFile::Write(file_, PatchedFile::Seal(kTestMagic, payload_)).ok());
  }
  void TearDown() override { EXPECT_TRUE(RemoveAll(dir_).ok()); }

  absl::StatusOr<std::unique_ptr<PatchedFile>> Open() const {
    return PatchedFile::Open(file_, kTestMagic);
  }
  // Writes these ranges, also to payload_.
  void Replace(const PatchedFile::Ranges& ranges) {
    const auto bytes = (*Open())->With(ranges);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    ASSERT_TRUE(PatchedFile::Write(file_, *bytes).ok());
    EXPECT_EQ((*Open())->id(), PatchedFile::IdOf(*bytes));
    for (const auto& [at, text] : ranges) payload_.replace(at, text.size(), text);
  }
  void ExpectPayload() const {
    const auto opened = Open();
    ASSERT_TRUE(opened.ok()) << opened.status();
    ASSERT_EQ((*opened)->size(), payload_.size());
    const char* const all = (*opened)->At(0, payload_.size());
    ASSERT_NE(all, nullptr);
    EXPECT_TRUE(std::string_view(all, payload_.size()) == payload_);
  }
  bool HasPatch() const { return FileExists(PatchedFile::PatchOf(file_)); }

  std::string dir_, file_, payload_;
};

TEST_F(PatchedFileTest, WhatWasReplacedIsReadWithTheRest) {
  ExpectPayload();
  Replace({{10, "XYZ"}, {kBlock - 2, "over"}, {payload_.size() - 3, "end"}});
  EXPECT_TRUE(HasPatch());
  ExpectPayload();
  Replace({{10, "123"}, {2 * kBlock, "!"}});
  ExpectPayload();
}

TEST_F(PatchedFileTest, EachContentHasAnIdOfItsOwn) {
  const std::string whole = (*Open())->id();
  Replace({{10, "A"}});
  const std::string one = (*Open())->id();
  Replace({{10, "B"}});
  const std::string other = (*Open())->id();
  EXPECT_NE(whole, one);
  EXPECT_NE(one, other);
  EXPECT_NE(whole, other);
  // Another file has the same bytes replaced.
  payload_[0] = '?';
  ASSERT_TRUE(PatchedFile::Write(file_, PatchedFile::Seal(kTestMagic, payload_)).ok());
  Replace({{10, "B"}});
  EXPECT_NE((*Open())->id(), other);
}

TEST_F(PatchedFileTest, APatchOfAnotherFileIsLeftOutOfAccount) {
  Replace({{10, "old"}});
  const std::string patch = *ReadFile(PatchedFile::PatchOf(file_));
  payload_[5] = '?';
  const std::string whole = PatchedFile::Seal(kTestMagic, payload_);
  ASSERT_TRUE(PatchedFile::Write(file_, whole).ok());
  EXPECT_FALSE(HasPatch());
  // The writer of the file was killed before it removed the patch.
  ASSERT_TRUE(WriteFileAtomic(PatchedFile::PatchOf(file_), patch).ok());
  ExpectPayload();
  EXPECT_EQ((*Open())->id(), PatchedFile::IdOf(whole));
  EXPECT_TRUE(absl::IsFailedPrecondition(PatchedFile::Write(file_, patch)));
}

TEST_F(PatchedFileTest, OnceThePatchIsLargeTheFileIsWrittenAnew) {
  std::mt19937 random(1);
  bool was_patch = false;
  for (int i = 0; i < 40; ++i) {
    PatchedFile::Ranges ranges;
    for (int k = 0; k < 100; ++k)
      ranges[random() % (payload_.size() / 64) * 64] = std::string(48, 'n');
    Replace(ranges);
    ExpectPayload();
    if (was_patch && !HasPatch()) return;
    was_patch = HasPatch();
  }
  ADD_FAILURE() << "it never was";
}

TEST_F(PatchedFileTest, OpeningLooksAtNoBlockAndReadingAtThoseThatAreRead) {
  std::string bytes = *ReadFile(file_);
  bytes[bytes.size() - 1] ^= 1;
  ASSERT_TRUE(WriteFileAtomic(file_, bytes).ok());
  const auto opened = Open();
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_NE((*opened)->At(0, 3 * kBlock), nullptr);
  EXPECT_FALSE((*opened)->is_damaged());
  EXPECT_EQ((*opened)->At(3 * kBlock - 1, 2), nullptr);
  EXPECT_TRUE((*opened)->is_damaged());
  EXPECT_TRUE(absl::IsDataLoss((*opened)->With({{0, "x"}}).status()));
  EXPECT_TRUE(absl::IsDataLoss((*Open())->Verify()));
}

TEST_F(PatchedFileTest, WhatIsNotInItIsNotRead) {
  const auto opened = Open();
  EXPECT_EQ((*opened)->At(payload_.size(), 1), nullptr);
  EXPECT_EQ((*opened)->At(1, UINT64_MAX), nullptr);
  EXPECT_TRUE((*opened)->is_damaged());
}

// Whatever byte of the two files changes, no read gives bytes that were never written.
TEST_F(PatchedFileTest, NoDamageIsReadAsContent) {
  Replace({{10, "XYZ"}, {kBlock - 2, "over"}});
  std::mt19937 random(2);
  for (const std::string& file : {file_, PatchedFile::PatchOf(file_)}) {
    const std::string good = *ReadFile(file);
    for (size_t i = 0; i < 400; ++i) {
      // The heads are changed byte by byte, and other bytes here and there.
      const size_t at = i < 150 ? std::min(i, good.size() - 1) : random() % good.size();
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
      if (i % 50 == 49) bad.resize(at);
      ASSERT_TRUE(WriteFileAtomic(file, bad).ok());
      const auto opened = Open();
      if (!opened.ok()) {
        const bool is_version = file == file_ && at == 7;
        EXPECT_TRUE(is_version ? absl::IsFailedPrecondition(opened.status())
                               : absl::IsInvalidArgument(opened.status()))
            << opened.status();
        continue;
      }
      EXPECT_NE(file, PatchedFile::PatchOf(file_)) << at;
      bool is_found = false;
      for (size_t from = 0; from < (*opened)->size(); from += 1000) {
        const size_t size = std::min<size_t>(1000, (*opened)->size() - from);
        const char* const read = (*opened)->At(from, size);
        is_found |= read == nullptr;
        if (read == nullptr) continue;
        ASSERT_TRUE(std::string_view(read, size) == payload_.substr(from, size)) << at;
      }
      EXPECT_TRUE(is_found) << at;
    }
    ASSERT_TRUE(WriteFileAtomic(file, good).ok());
  }
}

}  // namespace
}  // namespace galley::content
