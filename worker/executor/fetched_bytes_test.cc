#include "worker/executor/fetched_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "common/base/file.h"
#include "common/content/testing/test_tree.h"
#include "common/store/local/blob_file.h"
#include "common/store/local/layout.h"
#include "common/wire/convert.h"
#include "gmock/gmock.h"

namespace galley::worker {
namespace {

// A session that answers as the test says.
class FakeLink final : public ByteLink {
 public:
  absl::StatusOr<v1::ExecutorBytes> Want(const v1::ExecutorWant& want) override {
    wants.push_back(want);
    return answer(want);
  }
  std::function<absl::StatusOr<v1::ExecutorBytes>(const v1::ExecutorWant&)> answer;
  std::vector<v1::ExecutorWant> wants;
};

class FetchedBytesTest : public content::ContentTest {
 protected:
  void SetUp() override {
    ContentTest::SetUp();
    Write("content/a.txt", "source");
    snapshot_ = Scan();
    // The file is gone, so that the executor knows only the table.
    ASSERT_TRUE(RemoveAll(Host("content/a.txt")).ok());
    cache_ = Host("cache");
    ASSERT_TRUE(CreateDirectories(store::TemporaryDirectory(cache_)).ok());
    link_.answer = [this](const v1::ExecutorWant& want) { return Bring("source", want); };
  }

  absl::StatusOr<v1::ExecutorBytes> Bring(const std::string& bytes, const v1::ExecutorWant& want) {
    EXPECT_TRUE(want.is_digest_only() ||
                store::WriteBlobFile(cache_, Digest::Of(bytes), bytes).ok());
    v1::ExecutorBytes answer;
    wire::ToProto(Digest::Of(bytes), answer.mutable_digest());
    return answer;
  }
  void FailWith(absl::StatusCode code) {
    link_.answer = [code](const v1::ExecutorWant&) { return absl::Status(code, "why"); };
  }

  std::unique_ptr<content::Snapshot> snapshot_;
  std::string cache_;
  FakeLink link_;
};

TEST_F(FetchedBytesTest, AFileIsAskedForOnceAndThenReadFromTheCache) {
  FetchedBytes bytes(*snapshot_, cache_, link_);
  EXPECT_EQ(*bytes.DigestOf("/Game/a.txt"), Digest::Of("source"));
  EXPECT_TRUE(link_.wants[0].is_digest_only());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(*bytes.Read("/Game/a.txt", 100)->bytes, "source");
  EXPECT_EQ(link_.wants.size(), 2u);
  std::string streamed;
  EXPECT_EQ(*bytes.Stream("/Game/a.txt",
                          [&](std::string_view piece) {
                            streamed += piece;
                            return absl::OkStatus();
                          }),
            Digest::Of("source"));
  EXPECT_EQ(streamed, "source");
  EXPECT_TRUE(absl::IsResourceExhausted(bytes.Read("/Game/a.txt", 3).status()));
  EXPECT_EQ(link_.wants.size(), 2u);
}

TEST_F(FetchedBytesTest, WhatLiesThereWrongIsAskedForAsDamaged) {
  FetchedBytes bytes(*snapshot_, cache_, link_);
  ASSERT_TRUE(bytes.Read("/Game/a.txt", 100).ok());
  const std::string file = store::BlobFilePath(cache_, Digest::Of("source"));
  ::unlink(file.c_str());
  ASSERT_TRUE(WriteFileAtomic(file, "SOURCE").ok());
  link_.wants.clear();
  link_.answer = [&](const v1::ExecutorWant& want) {
    if (want.is_damaged()) ::unlink(file.c_str());
    return Bring("source", want);
  };
  EXPECT_EQ(*bytes.Read("/Game/a.txt", 100)->bytes, "source");
  ASSERT_EQ(link_.wants.size(), 1u);
  EXPECT_TRUE(link_.wants[0].is_damaged());
}

TEST_F(FetchedBytesTest, ADirectorThatHasAnotherFileByNowMakesTheJobStale) {
  FetchedBytes bytes(*snapshot_, cache_, link_);
  link_.answer = [this](const v1::ExecutorWant& want) { return Bring("longer by now", want); };
  EXPECT_TRUE(absl::IsAborted(bytes.Read("/Game/a.txt", 100).status()));
  FailWith(absl::StatusCode::kAborted);
  EXPECT_TRUE(absl::IsAborted(bytes.DigestOf("/Game/a.txt").status()));
}

TEST_F(FetchedBytesTest, AllOtherTroubleIsTheMachines) {
  const auto nothing = [](std::string_view) { return absl::OkStatus(); };
  for (const absl::StatusCode code :
       {absl::StatusCode::kNotFound, absl::StatusCode::kPermissionDenied,
        absl::StatusCode::kDataLoss, absl::StatusCode::kInvalidArgument}) {
    FetchedBytes bytes(*snapshot_, cache_, link_);
    FailWith(code);
    EXPECT_TRUE(absl::IsUnavailable(bytes.Read("/Game/a.txt", 100).status()));
    EXPECT_TRUE(absl::IsUnavailable(bytes.Stream("/Game/a.txt", nothing).status()));
    EXPECT_TRUE(absl::IsUnavailable(bytes.ReadBlob(Digest::Of("blob")).status()));
    EXPECT_TRUE(absl::IsUnavailable(bytes.StreamBlob(Digest::Of("blob"), nothing)));
  }
}

TEST_F(FetchedBytesTest, AFileThatTheSnapshotDoesNotHaveIsNotAskedFor) {
  FetchedBytes bytes(*snapshot_, cache_, link_);
  EXPECT_TRUE(absl::IsNotFound(bytes.Read("/Game/none", 100).status()));
  EXPECT_TRUE(absl::IsAborted(
      bytes.Stream("/Game/none", [](std::string_view) { return absl::OkStatus(); }).status()));
  EXPECT_TRUE(link_.wants.empty());
}

TEST_F(FetchedBytesTest, AFileIsReadAtTheSharedPathIfItsBytesAreTheDirectors) {
  FetchedBytes bytes(*snapshot_, cache_, link_);
  bytes.ReadInPlace(Host("content"), Host("shared"));
  const auto read = [&] {
    link_.wants.clear();
    EXPECT_EQ(*bytes.Read("/Game/a.txt", 100)->bytes, "source");
    std::string streamed;
    const auto take = [&](std::string_view piece) {
      streamed += piece;
      return absl::OkStatus();
    };
    EXPECT_EQ(*bytes.Stream("/Game/a.txt", take), Digest::Of("source"));
    EXPECT_EQ(streamed, "source");
  };
  Write("shared/a.txt", "source");
  read();
  ASSERT_EQ(link_.wants.size(), 1u) << "what it should be is the director's to say";
  EXPECT_TRUE(link_.wants[0].is_digest_only());
  read();
  EXPECT_EQ(link_.wants.size(), 0u);
  EXPECT_FALSE(StatFile(store::BlobFilePath(cache_, Digest::Of("source"))).ok());
  // Another file of the same size, a file of another size, no file: the bytes are fetched, by
  // digest.
  for (const std::string there : {"SOURCE", "longer than it"}) {
    Write("shared/a.txt", there);
    ::unlink(store::BlobFilePath(cache_, Digest::Of("source")).c_str());
    read();
    ASSERT_EQ(link_.wants.size(), 1u) << there;
    EXPECT_FALSE(link_.wants[0].is_digest_only());
    EXPECT_EQ(*wire::FromProto(link_.wants[0].digest()), Digest::Of("source"));
  }
  ASSERT_TRUE(RemoveAll(Host("shared")).ok());
  read();
  EXPECT_EQ(link_.wants.size(), 0u) << "they lie in the cache by now";
}

TEST_F(FetchedBytesTest, AFileOutsideOfTheProjectIsNotLookedForThere) {
  FetchedBytes bytes(*snapshot_, cache_, link_);
  bytes.ReadInPlace(Host("con"), Host("shared"));
  Write("shared/tent/a.txt", "source");
  EXPECT_EQ(*bytes.Read("/Game/a.txt", 100)->bytes, "source");
  EXPECT_FALSE(link_.wants[0].is_digest_only());
}

TEST_F(FetchedBytesTest, WhatIsReadIsMarkedAsUsed) {
  FetchedBytes bytes(*snapshot_, cache_, link_);
  ASSERT_TRUE(bytes.Read("/Game/a.txt", 100).ok());
  const std::string file = store::BlobFilePath(cache_, Digest::Of("source"));
  const timespec old[2] = {{.tv_sec = 1000, .tv_nsec = 0}, {.tv_sec = 1000, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), old, 0), 0);
  ASSERT_TRUE(bytes.Read("/Game/a.txt", 100).ok());
  EXPECT_GT(StatFile(file)->mtime_ns, 1'000'000'000'000);
}

}  // namespace
}  // namespace galley::worker
