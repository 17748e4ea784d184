#include "worker/session/byte_fetcher.h"

#include <sys/stat.h>

#include <future>
#include <memory>
#include <string>

#include "common/base/file.h"
#include "common/base/testing/await.h"
#include "common/content/testing/test_tree.h"
#include "common/store/local/layout.h"
#include "common/store/local/segment_writer.h"
#include "common/wire/convert.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/session/testing/fake_director_bytes.h"

namespace galley::worker {
namespace {

using testing::HasSubstr;

class ByteFetcherTest : public ::testing::Test {
 protected:
  ByteFetcherTest()
      : folder_(*MakeTemporaryDirectory(::testing::TempDir(), "fetch-")),
        cache_(*BlobCache::Open(folder_ + "/cache", 1 << 20)),
        fetcher_(std::make_unique<ByteFetcher>(director_, cache_)) {
    EXPECT_TRUE(CreateDirectories(folder_ + "/tables").ok());
    fetcher_->SetTables(folder_ + "/tables");
  }
  ~ByteFetcherTest() override {
    fetcher_->Close();
    fetcher_.reset();
    RemoveAll(folder_).IgnoreError();
  }

  static v1::ExecutorWant File(const std::string& path) {
    v1::ExecutorWant want;
    want.set_path(path);
    return want;
  }
  static v1::ExecutorWant Blob(const std::string& bytes) {
    v1::ExecutorWant want;
    wire::ToProto(Digest::Of(bytes), want.mutable_blob());
    return want;
  }
  static v1::ExecutorWant Known(v1::ExecutorWant want, const std::string& bytes) {
    wire::ToProto(Digest::Of(bytes), want.mutable_digest());
    return want;
  }

  // Jobs get the attempts 7, 8, ...
  v1::Job JobOf(const std::string& package) {
    v1::Job job;
    job.set_attempt(next_attempt_++);
    job.set_package(package);
    return job;
  }
  static v1::Job Known(v1::Job job, const std::string& source) {
    wire::ToProto(Digest::Of(source), job.mutable_source());
    return job;
  }
  // Attempts 7 to 9. Their sources occupy all calls that fetch ahead: each needs a call of its own,
  // and the calls do not end.
  std::vector<v1::Job> HeldJobs() {
    std::vector<v1::Job> jobs;
    for (const char* name : {"1", "2", "3"}) {
      director_.held.insert(std::string("/Game/large-") + name);
      jobs.push_back(JobOf(std::string("/Game/large-") + name));
      jobs.back().mutable_source()->set_hash(std::string(64, *name));
      jobs.back().mutable_source()->set_size_bytes(ByteFetcher::kCallBytesMax);
    }
    return jobs;
  }
  void FetchAhead(const std::vector<v1::Job>& jobs) {
    fetcher_->FetchAhead({jobs.begin(), jobs.end()});
  }

  v1::ExecutorBytes Ask(const v1::ExecutorWant& want, uint64_t attempt = 7) {
    const WaitLimit limit("bytes that were wanted");
    std::promise<v1::ExecutorBytes> answered;
    fetcher_->Want(attempt, want,
                   [&](v1::ExecutorBytes bytes) { answered.set_value(std::move(bytes)); });
    return answered.get_future().get();
  }
  std::string InCache(const std::string& bytes) {
    const auto found = store::ReadBlobAt(cache_.directory(), Digest::Of(bytes), {});
    return found.ok() ? **found : "<none>";
  }

  const std::string folder_;
  uint64_t next_attempt_ = 7;
  BlobCache cache_;
  FakeDirectorBytes director_;
  std::unique_ptr<ByteFetcher> fetcher_;
};

TEST_F(ByteFetcherTest, AFileIsFetchedOnceAndLiesInTheCache) {
  director_.files["/Game/a"] = "alpha";
  const v1::ExecutorBytes answer = Ask(File("/Game/a"));
  EXPECT_EQ(answer.code(), 0u) << answer.error();
  EXPECT_EQ(*wire::FromProto(answer.digest()), Digest::Of("alpha"));
  EXPECT_EQ(InCache("alpha"), "alpha");
  EXPECT_EQ(Ask(Known(File("/Game/a"), "alpha")).code(), 0u);
  EXPECT_EQ(director_.calls.size(), 2u) << "its digest was known, and it was there";
  EXPECT_EQ(fetcher_->counts().bytes, 5u);
}

TEST_F(ByteFetcherTest, OfALargeFileTheDigestIsAskedFirst) {
  const std::string large(ByteFetcher::kUnaskedBytesMax + 1, 'x');
  director_.files["/Game/a"] = large;
  ASSERT_TRUE(cache_.Put(Digest::Of(large), large).ok());
  EXPECT_EQ(Ask(File("/Game/a")).code(), 0u);
  EXPECT_EQ(director_.sent_bytes, 0u) << "it lay in the cache";
  ::unlink(store::BlobFilePath(cache_.directory(), Digest::Of(large)).c_str());
  EXPECT_EQ(Ask(File("/Game/a")).code(), 0u);
  EXPECT_EQ(director_.sent_bytes, large.size());
  EXPECT_EQ(InCache(large), large);
}

TEST_F(ByteFetcherTest, WhereFilesLieInTheCacheTheirDigestsAreAskedFirst) {
  for (int i = 0; i < 30; ++i) {
    const std::string bytes(1'000, static_cast<char>('a' + i));
    director_.files["/Game/" + std::to_string(i)] = bytes;
    const bool lies_here = i < 20;
    EXPECT_TRUE(!lies_here || cache_.Put(Digest::Of(bytes), bytes).ok());
  }
  for (int i = 0; i < 20; ++i) Ask(File("/Game/" + std::to_string(i)));
  EXPECT_EQ(director_.sent_bytes, 0u);
  director_.calls.clear();
  for (int i = 20; i < 30; ++i) Ask(File("/Game/" + std::to_string(i)));
  EXPECT_EQ(director_.calls.size(), 18u) << "eight in vain, then they come unasked";
}

TEST_F(ByteFetcherTest, OfAToolTheDigestComesFirstAndItsBytesWhenTheyAreWanted) {
  director_.tools["tools/bake"] = "#!/bin/sh";
  v1::ExecutorWant want;
  want.set_tool("tools/bake");
  want.set_is_digest_only(true);
  v1::ExecutorBytes answer = Ask(want);
  EXPECT_EQ(*wire::FromProto(answer.digest()), Digest::Of("#!/bin/sh"));
  EXPECT_TRUE(answer.is_executable());
  EXPECT_EQ(director_.sent_bytes, 0u);
  v1::ExecutorWant of_bytes;
  of_bytes.set_tool("tools/bake");
  EXPECT_EQ(Ask(Known(of_bytes, "#!/bin/sh")).code(), 0u);
  EXPECT_EQ(InCache("#!/bin/sh"), "#!/bin/sh");
  EXPECT_EQ(Ask(Known(of_bytes, "#!/bin/sh")).code(), 0u);
  EXPECT_EQ(director_.calls.size(), 2u) << "it was there";
  want.set_tool("tools/none");
  answer = Ask(want);
  EXPECT_TRUE(answer.is_absent());
  EXPECT_EQ(answer.code(), 0u) << answer.error();
}

TEST_F(ByteFetcherTest, TheSourceAndWhatTheLastCookReadAreFetchedAheadAndNothingElse) {
  director_.files = {{"/Game/a", "alpha"}, {"/Game/inc", "include"}, {"/Game/new", "now known"}};
  director_.blobs[Digest::Of("cooked")] = "cooked";
  director_.blobs[Digest::Of("its other output")] = "its other output";
  v1::Job job = JobOf("/Game/a");
  v1::CookedInput& input = *job.add_cooked();
  wire::ToProto(Digest::Of("its other output"), input.add_outputs()->mutable_digest());
  wire::ToProto(Digest::Of("cooked"), input.add_outputs()->mutable_digest());
  wire::ToProto(Digest::Of("cooked"), job.add_likely_reads()->mutable_digest());
  job.add_likely_reads()->set_path("/Game/inc");
  v1::LikelyRead& known = *job.add_likely_reads();
  known.set_path("/Game/new");
  wire::ToProto(Digest::Of("now known"), known.mutable_digest());
  FetchAhead({job});
  EXPECT_EQ(*wire::FromProto(Ask(File("/Game/a")).digest()), Digest::Of("alpha"));
  EXPECT_EQ(*wire::FromProto(Ask(File("/Game/inc")).digest()), Digest::Of("include"));
  EXPECT_EQ(*wire::FromProto(Ask(File("/Game/new")).digest()), Digest::Of("now known"))
      << "of which its executor's snapshot knew no digest";
  EXPECT_EQ(Ask(Blob("cooked")).code(), 0u);
  for (const char* bytes : {"alpha", "include", "now known", "cooked"})
    EXPECT_EQ(InCache(bytes), bytes);
  EXPECT_EQ(InCache("its other output"), "<none>");
  EXPECT_EQ(director_.sent_bytes, 5u + 7u + 9u + 6u);
}

TEST_F(ByteFetcherTest, WhatIsKnownOfSeveralJobsIsFetchedInOneCall) {
  std::vector<v1::Job> jobs;
  for (const std::string name : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
    director_.files["/Game/" + name] = name;
    jobs.push_back(Known(JobOf("/Game/" + name), name));
  }
  FetchAhead(jobs);
  director_.AwaitCalls(1);
  EXPECT_EQ(Ask(Known(File("/Game/8"), "8")).code(), 0u);
  EXPECT_EQ(director_.calls, std::vector<size_t>{8});
}

TEST_F(ByteFetcherTest, WhatWasTakenBackIsNotFetchedAhead) {
  director_.files = {{"/Game/a", "alpha"}, {"/Game/b", "beta"}, {"/Game/both", "both"}};
  std::vector<v1::Job> jobs = HeldJobs();
  jobs.push_back(Known(JobOf("/Game/a"), "alpha"));    // attempt 10
  jobs.push_back(JobOf("/Game/b"));                    // attempt 11; unknown digest
  jobs.push_back(Known(JobOf("/Game/both"), "both"));  // attempt 12
  jobs.push_back(Known(JobOf("/Game/both"), "both"));
  jobs.push_back(Known(JobOf("/Game/last"), "last"));
  director_.files["/Game/last"] = "last";
  FetchAhead(jobs);
  director_.AwaitCalls(3);
  fetcher_->DropAhead(std::vector<uint64_t>{10, 11, 12});
  director_.GoOn();
  EXPECT_EQ(Ask(Known(File("/Game/both"), "both"), 13).code(), 0u) << "of another job, too";
  EXPECT_EQ(Ask(Known(File("/Game/last"), "last"), 14).code(), 0u);
  EXPECT_EQ(InCache("alpha"), "<none>");
  EXPECT_EQ(InCache("beta"), "<none>");
  EXPECT_EQ(Ask(File("/Game/b"), 11).code(), 0u) << "it can be asked for all the same";
}

TEST_F(ByteFetcherTest, WhatIsWaitedForGoesBeforeWhatIsFetchedAhead) {
  director_.files = {{"/Game/now", "now"}, {"/Game/soon", "soon"}, {"/Game/first", "first"}};
  std::vector<v1::Job> jobs = HeldJobs();
  jobs.push_back(Known(JobOf("/Game/soon"), "soon"));
  jobs.push_back(JobOf("/Game/first"));  // nobody knows its digest
  FetchAhead(jobs);
  director_.AwaitCalls(3);
  EXPECT_EQ(Ask(File("/Game/now")).code(), 0u) << "it was not known that it would be read";
  EXPECT_EQ(Ask(Known(File("/Game/soon"), "soon")).code(), 0u);
  EXPECT_EQ(*wire::FromProto(Ask(File("/Game/first"), 11).digest()), Digest::Of("first"));
  EXPECT_EQ(InCache("first"), "first");
  director_.GoOn();
}

TEST_F(ByteFetcherTest, WhereTheDirectorKnowsTheSourceAndItLiesHereNothingIsAsked) {
  ASSERT_TRUE(cache_.Put(Digest::Of("alpha"), "alpha").ok());
  v1::Job job = JobOf("/Game/a");
  wire::ToProto(Digest::Of("alpha"), job.mutable_source());
  FetchAhead({job});
  EXPECT_EQ(*wire::FromProto(Ask(File("/Game/a")).digest()), Digest::Of("alpha"));
  EXPECT_TRUE(director_.calls.empty());
}

TEST_F(ByteFetcherTest, WhereFilesAreSharedSourcesDoNotComeAheadButTheirDigestsDo) {
  fetcher_->SetShared("/mnt/project");
  director_.files["/Game/a"] = "alpha";
  v1::Job job = JobOf("/Game/a");
  FetchAhead({job});
  v1::ExecutorWant want = File("/Game/a");
  want.set_is_digest_only(true);
  EXPECT_EQ(*wire::FromProto(Ask(want).digest()), Digest::Of("alpha"));
  EXPECT_EQ(director_.calls.size(), 1u) << "it came ahead";
  EXPECT_EQ(fetcher_->counts().bytes, 0u);
  EXPECT_EQ(fetcher_->counts().not_shared, 0u);
  EXPECT_EQ(Ask(Known(File("/Game/a"), "alpha")).code(), 0u);
  EXPECT_EQ(InCache("alpha"), "alpha") << "it was not there, or was another file";
  EXPECT_EQ(fetcher_->counts().not_shared, 1u);
  wire::ToProto(Digest::Of("alpha"), job.mutable_source());
  job.set_attempt(8);
  FetchAhead({job});
  EXPECT_EQ(fetcher_->counts().not_shared, 1u) << "nobody looked for it there";
}

TEST_F(ByteFetcherTest, WhatDidNotComeAheadIsAskedForAgain) {
  director_.files["/Game/b"] = "beta";
  v1::Job job = JobOf("/Game/gone");
  FetchAhead({job});
  EXPECT_EQ(static_cast<absl::StatusCode>(Ask(File("/Game/gone")).code()),
            absl::StatusCode::kAborted);
  EXPECT_EQ(Ask(File("/Game/b")).code(), 0u) << "another file than its source";
}

TEST_F(ByteFetcherTest, WhoWantsADigestGetsNoBytes) {
  director_.files["/Game/a"] = "alpha";
  v1::ExecutorWant want = File("/Game/a");
  want.set_is_digest_only(true);
  EXPECT_EQ(*wire::FromProto(Ask(want).digest()), Digest::Of("alpha"));
  EXPECT_EQ(director_.sent_bytes, 0u);
}

TEST_F(ByteFetcherTest, ADamagedFileOfTheCacheIsFetchedAgain) {
  director_.blobs[Digest::Of("right")] = "right";
  ASSERT_TRUE(cache_.Put(Digest::Of("right"), "right").ok());
  const std::string path = store::BlobFilePath(cache_.directory(), Digest::Of("right"));
  ::chmod(path.c_str(), 0644);
  ASSERT_TRUE(WriteFileAtomic(path, "wrong").ok());
  EXPECT_EQ(Ask(Blob("right")).code(), 0u);
  EXPECT_NE(InCache("right"), "right") << "nobody has read it here";
  v1::ExecutorWant damaged = Blob("right");
  damaged.set_is_damaged(true);
  EXPECT_EQ(Ask(damaged).code(), 0u);
  EXPECT_EQ(InCache("right"), "right");
}

TEST_F(ByteFetcherTest, OtherBytesThanTheDigestSaysAreNotKept) {
  director_.blobs[Digest::Of("right")] = "right";
  director_.lies[Digest::Of("right")] = "wrong";
  const v1::ExecutorBytes answer = Ask(Blob("right"));
  EXPECT_EQ(static_cast<absl::StatusCode>(answer.code()), absl::StatusCode::kUnavailable);
  EXPECT_THAT(answer.error(), HasSubstr("are other bytes"));
  EXPECT_EQ(InCache("right"), "<none>");
  EXPECT_EQ(InCache("wrong"), "<none>");
}

TEST_F(ByteFetcherTest, AFileThatIsAnotherOneByNowIsStale) {
  director_.files["/Game/a"] = "new";
  EXPECT_EQ(static_cast<absl::StatusCode>(Ask(Known(File("/Game/a"), "old")).code()),
            absl::StatusCode::kAborted);
  EXPECT_EQ(static_cast<absl::StatusCode>(Ask(File("/Game/gone")).code()),
            absl::StatusCode::kAborted);
}

TEST_F(ByteFetcherTest, ACallThatBreaksOffIsMadeAgain) {
  director_.files["/Game/a"] = "alpha";
  director_.fails = {absl::UnavailableError("cut"), absl::UnavailableError("cut")};
  EXPECT_EQ(Ask(File("/Game/a")).code(), 0u);
  EXPECT_EQ(director_.calls.size(), 4u) << "the digest, twice in vain, and the bytes";
}

TEST_F(ByteFetcherTest, SeveralThatWantTheSameBytesAtOnceGetThemFromOneCall) {
  director_.blobs[Digest::Of("shared")] = "shared";
  const WaitLimit limit("the same bytes for all who want them");
  std::vector<std::promise<uint32_t>> answers(20);
  for (auto& answer : answers)
    fetcher_->Want(7, Blob("shared"),
                   [&answer](const v1::ExecutorBytes& bytes) { answer.set_value(bytes.code()); });
  for (auto& answer : answers) EXPECT_EQ(answer.get_future().get(), 0u);
  EXPECT_EQ(director_.sent_bytes, 6u);
}

TEST_F(ByteFetcherTest, ATableComesWithTheOneThatItStandsOn) {
  const std::string source = folder_ + "/source";
  ASSERT_TRUE(CreateDirectories(source + "/content").ok());
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) {
    names.push_back("/Game/" + std::to_string(i));
    ASSERT_TRUE(WriteFileAtomic(source + "/content/" + std::to_string(i), "x").ok());
  }
  const auto first = *content::Snapshot::Scan(
      {.mounts = {{.path = "/Game", .directory = source + "/content"}}, .threads = 1});
  ASSERT_TRUE(first->WriteTable(source + "/snapshot-1.table", "one").ok());
  const auto read = *content::Snapshot::ReadTable(source + "/snapshot-1.table");
  ASSERT_TRUE(WriteFileAtomic(source + "/content/5", "y").ok());
  const std::string changed = "/Game/5";
  const auto next = *read->Refresh(std::span(&changed, 1));
  ASSERT_TRUE(next->WriteTable(source + "/snapshot-1.2.table", "two").ok());
  const std::string base = *content::Snapshot::BaseOfTable(source + "/snapshot-1.2.table");
  for (const char* name : {"snapshot-1.table", "snapshot-1.2.table"})
    director_.tables[name] = *ReadFile(source + "/" + name);
  v1::ExecutorWant want;
  want.set_table("snapshot-1.2.table");
  const v1::ExecutorBytes answer = Ask(want);
  ASSERT_EQ(answer.code(), 0u) << answer.error();
  const auto there = content::Snapshot::ReadTable(answer.table_file());
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_EQ((*there)->identity(), "two");
  EXPECT_EQ(director_.calls.size(), base.empty() ? 1u : 2u);
  EXPECT_EQ(Ask(want).table_file(), answer.table_file());
  EXPECT_EQ(director_.calls.size(), base.empty() ? 1u : 2u);
}

TEST_F(ByteFetcherTest, ATableOfAnotherFolderIsNone) {
  director_.tables["../secret"] = "x";
  v1::ExecutorWant want;
  want.set_table("../secret");
  EXPECT_NE(Ask(want).code(), 0u);
  EXPECT_FALSE(ReadFile(folder_ + "/secret").ok());
}

}  // namespace
}  // namespace galley::worker
